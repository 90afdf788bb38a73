/* scalar_cpu.c: the CPU engine of the scalar scheme: arrays with ghosts, OpenMP over blocks of rows, points.
 * Kernel step takes one level after the other. Kernel tiled (time skewing: Wolf & Lam 1991) takes `depth`
 * levels of what is in a core's cache: a block of rows marches along x, and at each front takes level after
 * level, each M planes and M rows behind the one before. It then needs nothing of the blocks above, and of
 * the one below only planes that this passed: that runs one front ahead, all blocks at once. Two arrays are
 * enough, since what a block overwrites lies M rows below all that the next one still reads. Every node sees
 * the same operations either way, and results do not depend on the number of threads. Not here: the rows
 * (scalar_cpu.inc.h). */
#include "scalar_cpu.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

static struct scalar_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct scalar_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &scalar_cpu_f32 : &scalar_cpu_f64;
}

static double get(const unda_solver *s, const void *array, int64_t at)
{
    return s->real_bytes == 4 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static void put(const unda_solver *s, void *array, int64_t at, double value)
{
    if (s->real_bytes == 4)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* ---- arrays ---- */

/* Rows begin at 64 bytes; an odd number of these a row keeps neighbouring rows in different sets of the
 * cache. */
static void lay_out(const unda_solver *s, struct scalar_cpu *t)
{
    const struct fd *fd = s->fd;
    int64_t unit = 64 / s->real_bytes, half = fd->half;
    int64_t row = (unit + fd->axis[2].total + half + unit - 1) / unit;
    t->stride[2] = 1;
    t->stride[1] = (row | 1) * unit;
    t->stride[0] = t->stride[1] * (fd->axis[1].total + 2 * half);
    t->origin = half * t->stride[0] + half * t->stride[1] + unit;
    t->count = t->stride[0] * (fd->axis[0].total + 2 * half);
}

enum { TILE_BYTES = 768 << 10, MAX_DEPTH = 8, BLOCK_Y = 16 };

/* Levels of a time tile: the planes of a front, two levels of each and the speeds, shall stay in a core's
 * cache of common size. Small grids stay there anyway; tiles do not close on themselves. */
static void choose_tile(const unda_solver *s, struct scalar_cpu *t)
{
    const struct fd *fd = s->fd;
    int64_t half = fd->half, row = t->stride[1] * s->real_bytes * (fd->uniform ? 2 : 3);
    bool small =
        s->options.kernel == UNDA_KERNEL_AUTO && row * fd->axis[1].total * fd->axis[0].total < TILE_BYTES;
    t->block_y = s->options.plan[1] ? s->options.plan[1] : BLOCK_Y;
    t->depth = s->options.plan[0] ? s->options.plan[0] : MAX_DEPTH;
    while (!s->options.plan[0] && t->depth > 2 &&
           row * (t->depth * half + 2 * half + 1) * (t->block_y + (t->depth + 1) * half) > TILE_BYTES)
        t->depth--;
    if (small || s->options.kernel == UNDA_KERNEL_STEP || fd->axis[0].side[0] == SIDE_PERIODIC ||
        fd->axis[1].side[0] == SIDE_PERIODIC)
        t->depth = 1;
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cpu t = {0};
    lay_out(s, &t);
    int64_t total = s->fd->axis[0].total + s->fd->axis[1].total + s->fd->axis[2].total;
    s->host_bytes = (s->fd->uniform ? 2 : 3) * t.count * s->real_bytes + total * (s->real_bytes + 9);
    s->device_bytes = 0;
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    const struct fd *fd = s->fd;
    struct scalar_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads = parallel_threads(s->options.threads);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    lay_out(s, t);
    choose_tile(s, t);
    for (int i = 0; i < 2; i++)
        TRY(array_try(&t->p[i], t->count, s->real_bytes, "state"));
    if (!fd->uniform)
        TRY(array_try(&t->speed, t->count, s->real_bytes, "speeds"));
    for (int a = 0; a < 3; a++) {
        TRY(array_try(&t->damp[a], fd->axis[a].total, s->real_bytes, "layers"));
        TRY(array_try(&t->damped[a], fd->axis[a].total, 1, "layers"));
        for (int64_t i = 0; i < fd->axis[a].total; i++) {
            put(s, t->damp[a], i, fd->axis[a].damp[i]);
            t->damped[a][i] = fd->axis[a].damp[i] != 1;
            t->damped_z |= a == 2 && t->damped[a][i];
        }
    }
    return UNDA_OK;
}

static void free_samples(struct scalar_cpu *t)
{
    for (int32_t g = 0; g < t->num_samples; g++)
        array_free(t->samples[g].values);
    array_free(t->samples);
    t->samples = NULL;
    t->num_samples = 0;
}

static void destroy(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    for (int i = 0; i < 2; i++)
        array_free(t->p[i]);
    for (int a = 0; a < 3; a++) {
        array_free(t->damp[a]);
        array_free(t->damped[a]);
    }
    array_free(t->speed);
    array_free(t->amplitude);
    free_samples(t);
    array_free(t);
    s->data = NULL;
}

static void *array_of(const unda_solver *s, int array)
{
    struct scalar_cpu *t = tables(s);
    return array == FD_SPEED ? t->speed : t->p[array == FD_PREVIOUS];
}

static int64_t place(const unda_solver *s, int64_t x, int64_t y, int64_t z)
{
    const struct scalar_cpu *t = tables(s);
    return t->origin + x * t->stride[0] + y * t->stride[1] + z;
}

static unda_status planes(unda_solver *s, int array, int64_t first, int64_t count, void *out, const void *in)
{
    int64_t num_y = s->fd->axis[1].total, bytes = s->fd->axis[2].total * s->real_bytes;
    char *base = array_of(s, array);
    for (int64_t i = 0; i < count * num_y; i++) {
        char *row = base + place(s, first + i / num_y, i % num_y, 0) * s->real_bytes;
        if (out)
            memcpy((char *)out + i * bytes, row, (size_t)bytes);
        else
            memcpy(row, (const char *)in + i * bytes, (size_t)bytes);
    }
    return UNDA_OK;
}

static unda_status gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    for (int64_t i = 0; i < count; i++)
        values[i] =
            get(s, array_of(s, array),
                place(s, node[i] / z->total / y->total, node[i] / z->total % y->total, node[i] % z->total));
    return UNDA_OK;
}

static unda_status clear(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    for (int i = 0; i < 2; i++)
        memset(t->p[i], 0, (size_t)(t->count * s->real_bytes));
    return UNDA_OK;
}

/* The first node in the order of [x][y][z], whatever the threads. */
static unda_status find_bad(unda_solver *s, int64_t *index)
{
    const struct fd_axis *axis = s->fd->axis;
    const char *p = tables(s)->p[0];
    int64_t rows = axis[0].total * axis[1].total, num = axis[2].total, first = s->fd->num_node;
#pragma omp parallel for schedule(static) num_threads(s->threads) reduction(min : first)
    for (int64_t row = 0; row < rows; row++) {
        int64_t at = place(s, row / axis[1].total, row % axis[1].total, 0);
        int64_t found = code(s)->find_bad(p + at * s->real_bytes, num);
        if (found < num && row * num + found < first)
            first = row * num + found;
    }
    *index = first < s->fd->num_node ? first : -1;
    return UNDA_OK;
}

/* ---- points ---- */

/* The part of an ascending list of nodes that lies in rows [begin, end) of plane x. */
static int64_t part_of(const unda_solver *s, int64_t num, const int64_t *node, int64_t x, int64_t begin,
                       int64_t end, int64_t *first)
{
    int64_t bound[2] = {(x * s->fd->axis[1].total + begin) * s->fd->axis[2].total,
                        (x * s->fd->axis[1].total + end) * s->fd->axis[2].total};
    for (int i = 0; i < 2; i++) {
        int64_t low = 0, high = num;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (node[middle] < bound[i])
                low = middle + 1;
            else
                high = middle;
        }
        bound[i] = low;
    }
    *first = bound[0];
    return bound[1] - bound[0];
}

static int64_t place_of(const unda_solver *s, int64_t node)
{
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    return place(s, node / z->total / y->total, node / z->total % y->total, node % z->total);
}

/* Adds the sources of step number `time` of the call to those rows. */
static void inject(unda_solver *s, void *p, int64_t time, int64_t x, int64_t begin, int64_t end)
{
    for (int32_t i = 0; i < s->num_source; i++) {
        const struct fd_source *source = fd_source(s, i);
        double amplitude = tables(s)->amplitude[time * s->num_source + i];
        int64_t first, count = part_of(s, source->num, source->node, x, begin, end, &first);
        for (int64_t k = first; k < first + count; k++) {
            int64_t at = place_of(s, source->node[k]);
            double w = source->weight[k], old = get(s, p, at);
            put(s, p, at,
                s->real_bytes == 4 ? fmaf((float)w, (float)amplitude, (float)old) : fma(w, amplitude, old));
        }
    }
}

/* Keeps what receivers need of those rows, which are at the given step; the call began at `start`. */
static void keep_samples(unda_solver *s, const void *p, int64_t step, int64_t start, int64_t x, int64_t begin,
                         int64_t end)
{
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        const struct fd_points *points = group->points;
        if (!receiver_due(group, step))
            continue;
        int64_t sample = (step - group->first) / group->every - (start - group->first) / group->every - 1;
        int64_t first, count = part_of(s, points->num_node, points->node, x, begin, end, &first);
        double *values = tables(s)->samples[g].values + sample * points->num_node;
        for (int64_t k = first; k < first + count; k++)
            values[k] = get(s, p, place_of(s, points->node[k]));
    }
}

static void weigh_samples(unda_solver *s, int64_t start)
{
    for (int32_t g = 0; g < s->num_group; g++) {
        struct receiver_group *group = s->groups[g];
        const struct fd_points *points = group->points;
        int64_t count = (s->step - group->first) / group->every - (start - group->first) / group->every;
        const double *values = tables(s)->samples[g].values;
#pragma omp parallel for schedule(static) num_threads(s->threads)
        for (int64_t i = 0; i < count * group->num_point; i++) {
            double value =
                fd_weigh(points, i % group->num_point, values + i / group->num_point * points->num_node);
            for (int32_t f = 0; f < group->num_field; f++)
                put(s, group->samples, (group->held * group->num_point + i) * group->num_field + f, value);
        }
        group->held += count;
    }
}

/* Room for the samples of max_step steps. */
static unda_status reserve_samples(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    bool enough = t->num_samples == s->num_group && t->point_version == s->point_version;
    for (int32_t g = 0; g < s->num_group && enough; g++)
        enough = t->samples[g].room >= s->max_step / s->groups[g]->every + 1;
    if (enough)
        return UNDA_OK;
    free_samples(t);
    TRY(array_try(&t->samples, s->num_group, sizeof *t->samples, "receiver samples"));
    t->num_samples = s->num_group;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct fd_points *points = s->groups[g]->points;
        t->samples[g].room = s->max_step / s->groups[g]->every + 1;
        TRY(array_try(&t->samples[g].values, t->samples[g].room * points->num_node, sizeof(double),
                      "receiver samples"));
    }
    t->point_version = s->point_version;
    return UNDA_OK;
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    struct scalar_cpu *t = tables(s);
    int64_t count = drive->num_time * s->num_source;
    TRY(fd_need_material(s));
    TRY(reserve_samples(s));
    if (count > t->amplitude_room) {
        array_free(t->amplitude);
        t->amplitude = NULL;
        t->amplitude_room = 0;
        TRY(array_try(&t->amplitude, count, sizeof(double), "source amplitudes"));
        t->amplitude_room = count;
    }
    if (count)
        memcpy(t->amplitude, drive->amplitudes, (size_t)count * sizeof(double));
    return UNDA_OK;
}

/* ---- steps ---- */

/* Rows [begin, end) of plane x from step `time` of the call to the next, with all that belongs to them. */
static void advance(unda_solver *s, int64_t time, int64_t start, int64_t x, int64_t begin, int64_t end)
{
    struct scalar_cpu *t = tables(s);
    void *next = t->p[(time + 1) % 2];
    begin = begin > 0 ? begin : 0;
    end = end < s->fd->axis[1].total ? end : s->fd->axis[1].total;
    if (x < 0 || x >= s->fd->axis[0].total || begin >= end)
        return;
    code(s)->rows(s->fd, t, t->p[time % 2], next, x, begin, end);
    inject(s, next, time, x, begin, end);
    code(s)->ghosts(s->fd, t, next, x, begin, end);
    keep_samples(s, next, start + time + 1, start, x, begin, end);
}

/* `depth` steps, from step `time` of the call on. */
static void advance_tile(unda_solver *s, int64_t time, int64_t start, int64_t depth)
{
    const struct scalar_cpu *t = tables(s);
    int64_t num_x = s->fd->axis[0].total, num_y = s->fd->axis[1].total, half = s->fd->half, rows = t->block_y;
    int64_t num_block = (num_y + rows - 1) / rows;
#pragma omp parallel num_threads(s->threads)
    if (depth == 1) {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < num_x * num_block; i++)
            advance(s, time, start, i % num_x, i / num_x * rows, i / num_x * rows + rows);
    } else {
        for (int64_t front = 0; front < num_x + (depth - 1) * half + num_block - 1; front++) {
#pragma omp for schedule(static)
            for (int64_t block = 0; block < num_block; block++)
                for (int64_t level = 0; level < depth; level++) {
                    int64_t begin = block == 0 ? 0 : block * rows - level * half;
                    int64_t end = block == num_block - 1 ? num_y : (block + 1) * rows - level * half;
                    advance(s, time + level, start, front - block - level * half, begin, end);
                }
        }
    }
}

/* The state may have been set: its ghosts are not there yet. */
static void fill_ghosts(unda_solver *s)
{
    const struct fd_axis *axis = s->fd->axis;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t x = 0; x < axis[0].total; x++)
        code(s)->ghosts(s->fd, tables(s), tables(s)->p[0], x, 0, axis[1].total);
}

static void swap(struct scalar_cpu *t)
{
    void *kept = t->p[0];
    t->p[0] = t->p[1];
    t->p[1] = kept;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct scalar_cpu *t = tables(s);
    int64_t start = s->step;
    fill_ghosts(s);
    for (int64_t done = 0; done < num_step;) {
        int64_t depth = num_step - done < t->depth ? num_step - done : t->depth;
        advance_tile(s, done, start, depth);
        done += depth;
    }
    if (num_step % 2)
        swap(t);
    s->step += num_step;
    weigh_samples(s, start);
    return UNDA_OK;
}

/* From p and 0 a step gives 2 p + c^2 dt^2 laplace p: half of it is both the next level and the last. */
static unda_status rest(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    memset(t->p[1], 0, (size_t)(t->count * s->real_bytes));
    fill_ghosts(s);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t x = 0; x < s->fd->axis[0].total; x++)
        code(s)->rows(s->fd, t, t->p[0], t->p[1], x, 0, s->fd->axis[1].total);
    for (int64_t i = 0; i < t->count; i++)
        put(s, t->p[1], i, 0.5 * get(s, t->p[1], i));
    return UNDA_OK;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    info->kernel = tables(s)->depth > 1 ? UNDA_KERNEL_TILED : UNDA_KERNEL_STEP;
    info->plan[0] = tables(s)->depth;
    info->plan[1] = tables(s)->block_y;
}

const struct fd_engine fd_scalar_cpu = {.base = {.name = "cpu",
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .record = fd_record,
                                                 .drive = drive,
                                                 .run = run,
                                                 .find_bad = find_bad,
                                                 .reserve = reserve_samples,
                                                 .forecast = forecast,
                                                 .describe = describe},
                                        .planes = planes,
                                        .gather = gather,
                                        .clear = clear,
                                        .rest = rest};
