/* cpu.c: arrays with ghosts on the CPU, their planes, single nodes, sources and receivers, for all
 * schemes. Results do not depend on the number of threads. Not here: ghosts (cpu_ghosts.c), steps (the
 * engines). */
#include "cpu.h"

#include "../base/parallel.h"
#include "../solver/messages.h"

#include <math.h>
#include <string.h>

static const struct fd_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &fd_cpu_f32 : &fd_cpu_f64;
}

/* ---- arrays ---- */

/* Rows begin at 64 bytes and have room for whole vectors of nodes and their neighbours; an odd number of 64
 * bytes a row keeps neighbouring rows in different sets of the cache. */
void fd_cpu_lay_out(const unda_solver *s, struct fd_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t unit = 64 / s->real_bytes, half = fd->half;
    int64_t row = 1 + (fd->axis[2].total + unit - 1) / unit + (half + unit - 1) / unit;
    t->stride[2] = 1;
    t->stride[1] = (row | 1) * unit;
    t->stride[0] = t->stride[1] * (fd->axis[1].total + 2 * half);
    t->origin = (half - fd->begin) * t->stride[0] + half * t->stride[1] + unit;
    t->count = t->stride[0] * (fd->end - fd->begin + 2 * half);
}

int64_t fd_cpu_bytes(const unda_solver *s, const struct fd_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t count = (fd->num_array + fd->num_material) * t->count;
    for (int i = 0; i < fd->num_memory; i++)
        count += fd_memory_count(&fd->memory[i]);
    return count * s->real_bytes;
}

unda_status fd_cpu_allocate(unda_solver *s, struct fd_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    for (int i = 0; i < fd->num_array; i++)
        TRY(array_own(&t->owned, &t->array[i], t->count, s->real_bytes, "state"));
    for (int i = 0; i < fd->num_material; i++)
        TRY(array_own(&t->owned, &t->material[i], t->count, s->real_bytes, "materials"));
    for (int i = 0; i < fd->num_memory; i++)
        TRY(array_own(&t->owned, &t->memory[i], fd_memory_count(&fd->memory[i]), s->real_bytes, "layers"));
    return UNDA_OK;
}

unda_status fd_cpu_reals(const unda_solver *s, void **out, const double *from, int64_t num)
{
    if (!*out)
        TRY(array_own(&fd_cpu(s)->owned, out, num, s->real_bytes, "tables"));
    real_copy(s, *out, from, num);
    return UNDA_OK;
}

void fd_cpu_destroy(unda_solver *s)
{
    struct fd_cpu *t = fd_cpu(s);
    arrays_free(&t->owned);
    arrays_free(&t->room);
    arrays_free(&t->lists);
    array_free(t);
    s->data = NULL;
}

/* Planes from one past the last place inside: a field half a cell on has an image there already. Where a slab
 * ends neighbours send theirs. */
void fd_cpu_fill_ghosts(unda_solver *s, void *array, const struct fd_field *field, struct fd_span span,
                        bool sides)
{
    const struct fd *fd = fd_tables(s);
    int64_t num = fd->axis[0].total;
    int64_t first = num - (field->half[0] && field->sign[0][0] != SIDE_PERIODIC), last = num + fd->half;
    int64_t low = !sides || fd_cut(fd, 0) ? 0 : fd->half, high = !sides || fd_cut(fd, 1) ? 0 : last - first;
#pragma omp parallel num_threads(s->threads)
    {
#pragma omp for schedule(static)
        for (int64_t x = span.begin; x < span.end; x++)
            code(s)->plane_ghosts(fd, fd_cpu(s), array, field, x);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < low + high; i++)
            code(s)->ghost_plane(fd, fd_cpu(s), array, field, i < low ? -1 - i : first + i - low);
    }
}

/* Of a CPU engine, or of one that streams. */
static int32_t threads_of(const unda_solver *s)
{
    return s->threads > 0 ? s->threads : parallel_threads(s->options.threads);
}

unda_status fd_cpu_box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    const struct fd_cpu *t = fd_cpu(s);
    int64_t num_y = box->num[1], bytes = box->num[2] * s->real_bytes;
    char *base = fd_cpu_array(t, array);
    int32_t num_thread = parallel_few(threads_of(s));
#pragma omp parallel for schedule(static) num_threads(num_thread) if (num_y * bytes > 1 << 18)
    for (int64_t i = 0; i < box->num[0] * num_y; i++) {
        int64_t x = box->first[0] + i / num_y, y = box->first[1] + i % num_y;
        char *row = base + fd_cpu_place(t, x, y, box->first[2]) * s->real_bytes;
        if (out)
            memcpy((char *)out + i * bytes, row, (size_t)bytes);
        else
            memcpy(row, (const char *)in + i * bytes, (size_t)bytes);
    }
    return UNDA_OK;
}

unda_status fd_cpu_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    const struct fd_cpu *t = fd_cpu(s);
    const int64_t num_z = fd_tables(s)->axis[2].total;
    const void *from = fd_cpu_array(t, array);
    int64_t row = -num_z, at = 0; /* the row of the last node, and where it begins */
    for (int64_t i = 0; i < count; i++) {
        if (node[i] < row || node[i] >= row + num_z) {
            row = node[i] / num_z * num_z;
            at = fd_cpu_at(fd_tables(s), t, row);
        }
        values[i] = real_get(s, from, at + node[i] - row);
    }
    return UNDA_OK;
}

/* The first field that has one, there the first place in the order of [x][y][z], whatever the threads. */
unda_status fd_cpu_find_bad(unda_solver *s, int64_t *index)
{
    const struct fd_cpu *t = fd_cpu(s);
    const struct fd_axis *axis = fd_tables(s)->axis;
    int64_t begin = fd_tables(s)->begin * axis[1].total, end = fd_tables(s)->end * axis[1].total;
    int64_t num = axis[2].total, none = fd_tables(s)->num_node;
    int32_t num_thread = threads_of(s);
    *index = -1;
    for (int f = 0; f < fd_tables(s)->num_field && *index < 0; f++) {
        const char *p = fd_cpu_array(t, f);
        int64_t first = none;
#pragma omp parallel for schedule(static) num_threads(num_thread) reduction(min : first)
        for (int64_t row = begin; row < end; row++) {
            int64_t at = fd_cpu_place(t, row / axis[1].total, row % axis[1].total, 0);
            int64_t found = code(s)->find_bad(p + at * s->real_bytes, num);
            if (found < num && row * num + found < first)
                first = row * num + found;
        }
        if (first < none)
            *index = f * none + first;
    }
    return UNDA_OK;
}

void fd_cpu_multiply(unda_solver *s, int array, double factor)
{
    const struct fd_cpu *t = fd_cpu(s);
    void *values = fd_cpu_array(t, array);
    int32_t num_thread = threads_of(s);
#pragma omp parallel for schedule(static) num_threads(num_thread)
    for (int64_t i = 0; i < t->count; i++)
        real_put(s, values, i, factor * real_get(s, values, i));
}

/* ---- state ---- */

unda_status fd_cpu_memory(unda_solver *s, int number, int64_t first, int64_t count, void *out, const void *in)
{
    const struct fd_memory *memory = &fd_tables(s)->memory[number];
    int64_t plane = memory->num[1] * memory->num[2] * s->real_bytes;
    char *at = (char *)fd_cpu(s)->memory[number] + (first - memory->first) * plane;
    memcpy(out ? out : at, out ? at : in, (size_t)(count * plane));
    return UNDA_OK;
}

void fd_cpu_clear_memory(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    for (int i = 0; i < fd->num_memory; i++)
        memset(fd_cpu(s)->memory[i], 0, (size_t)(fd_memory_count(&fd->memory[i]) * s->real_bytes));
}

unda_status fd_cpu_clear(unda_solver *s)
{
    struct fd_cpu *t = fd_cpu(s);
    for (int i = 0; i < fd_tables(s)->num_array; i++)
        memset(t->array[i], 0, (size_t)(t->count * s->real_bytes));
    fd_cpu_clear_memory(s);
    return UNDA_OK;
}

/* ---- points ---- */

void fd_cpu_inject(unda_solver *s, void *array, int f, int64_t time, int64_t begin, int64_t end)
{
    const struct fd_cpu *t = fd_cpu(s);
    const struct fd_lines *lines = &t->lines[f];
    const double *amplitude = t->amplitude + time * s->num_source;
    int64_t num_y = fd_tables(s)->axis[1].total, num_z = fd_tables(s)->axis[2].total;
    for (int64_t row = begin / num_z; row < end / num_z && lines->row; row++)
        if (lines->row[row].num_line > 0)
            (s->real_bytes == 4 ? fd_cpu_inject_f32 : fd_cpu_inject_f64)(
                lines, row, amplitude,
                (char *)array + fd_cpu_place(t, row / num_y, row % num_y, 0) * s->real_bytes);
}

void fd_cpu_keep(unda_solver *s, const void *array, int f, int64_t step, int64_t begin, int64_t end)
{
    for (int32_t i = 0; i < fd_cpu(s)->num_samples; i++) {
        const struct fd_cpu_samples *samples = &fd_cpu(s)->samples[i];
        const struct receiver_group *group = samples->group;
        const struct fd_nodes *nodes = samples->nodes;
        if (nodes->field != f || !receiver_due(group, step))
            continue;
        const int64_t *node = nodes->node + samples->own.first;
        int64_t last = fd_num_before(node, samples->own.num, end);
        double *values = samples->values + (receiver_num_since(group, s->begin, step) - 1) * samples->own.num;
        for (int64_t k = fd_num_before(node, last, begin); k < last; k++)
            values[k] = real_get(s, array, fd_cpu_at(fd_tables(s), fd_cpu(s), node[k]));
    }
}

void fd_cpu_weigh(unda_solver *s)
{
    for (int32_t n = 0; n < fd_cpu(s)->num_samples; n++) {
        const struct fd_cpu_samples *samples = &fd_cpu(s)->samples[n];
        const struct receiver_group *group = samples->group;
        const struct fd_nodes *nodes = samples->nodes;
        int64_t count = receiver_num_since(group, s->begin, s->step) * nodes->num_point;
#pragma omp parallel for schedule(static) num_threads(s->threads)
        for (int64_t i = 0; i < count; i++) {
            const double *values = samples->values + i / nodes->num_point * nodes->num_node;
            fd_add_sample(s, group, nodes, i, fd_weigh(nodes, i % nodes->num_point, values));
        }
    }
}

unda_status fd_cpu_list_points(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct fd_cpu *t = fd_cpu(s);
    int32_t num = 0;
    for (int32_t g = 0; g < s->num_group; g++)
        num += fd_num_nodes(s->groups[g]);
    arrays_free(&t->lists);
    t->num_samples = 0;
    TRY(array_own(&t->lists, &t->samples, num, sizeof *t->samples, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++)
        for (int32_t number = 0; number < fd_num_nodes(s->groups[g]); number++) {
            const struct fd_nodes *nodes = fd_nodes_of(s->groups[g], number);
            struct fd_range own = fd_nodes_in(fd, nodes->node, nodes->num_node, fd_planes_of(fd));
            t->samples[t->num_samples++] = (struct fd_cpu_samples){s->groups[g], nodes, own, NULL};
        }
    for (int f = 0; f < fd->num_field; f++) {
        int e = 0;
        while (e < f && !fd_lines_alike(fd_whole(s), e, f))
            e++;
        if (e < f)
            t->lines[f] = t->lines[e];
        else
            TRY(fd_lines_new(s, f, &t->lists, &t->lines[f]));
    }
    return UNDA_OK;
}

unda_status fd_cpu_reserve(unda_solver *s)
{
    struct fd_cpu *t = fd_cpu(s);
    arrays_free(&t->room);
    for (int32_t i = 0; i < t->num_samples; i++) {
        struct fd_cpu_samples *samples = &t->samples[i];
        int64_t room = s->max_step / samples->group->every + 1;
        TRY(array_own(&t->room, &samples->values, room * samples->own.num, sizeof(double),
                      "receiver samples"));
    }
    return UNDA_OK;
}

unda_status fd_cpu_drive(unda_solver *s, const unda_drive *drive)
{
    fd_cpu(s)->amplitude = drive->amplitudes;
    return fd_need_material(s);
}

/* ---- slabs ---- */

/* Where plane x of an array begins, ghosts included. */
static char *plane_at(const unda_solver *s, int array, int64_t x)
{
    const struct fd_cpu *t = fd_cpu(s);
    int64_t real = s->real_bytes, half = fd_tables(s)->half;
    int64_t row = half * t->stride[1] + 64 / real; /* from a plane's beginning to its node (0, 0) */
    return (char *)fd_cpu_array(t, array) + (t->origin - row + x * t->stride[0]) * real;
}

int64_t fd_cpu_plane_bytes(const unda_solver *s)
{
    return fd_cpu(s)->stride[0] * s->real_bytes;
}

unda_status fd_cpu_send(unda_solver *from, unda_solver *to, int array, int64_t plane, int64_t place,
                        int64_t count)
{
    memcpy(plane_at(to, array, place), plane_at(from, array, plane),
           (size_t)(count * fd_cpu_plane_bytes(from)));
    return UNDA_OK;
}

unda_status fd_cpu_join_rank(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor,
                             int32_t num_neighbor)
{
    (void)ranks, (void)neighbor; /* there is one way */
    s->host_bytes += 2 * s->exchange->bytes;
    return messages_on_host(&fd_cpu(s)->owned, s->exchange, num_neighbor);
}

unda_status fd_cpu_carry(unda_solver *s, int32_t neighbor, int array, struct fd_range planes, uintptr_t at,
                         bool arrives)
{
    (void)neighbor;
    char *here = plane_at(s, array, planes.first), *there = (char *)at;
    memcpy(arrives ? here : there, arrives ? there : here, (size_t)(planes.num * fd_cpu_plane_bytes(s)));
    return UNDA_OK;
}

void fd_cpu_values(const unda_solver *s, int32_t list, int64_t i, double *values)
{
    const struct fd_cpu_samples *samples = &fd_cpu(s)->samples[list];
    memcpy(values, samples->values + i * samples->own.num, (size_t)samples->own.num * sizeof *values);
}
