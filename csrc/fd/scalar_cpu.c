/* scalar_cpu.c: the CPU engine of the scalar scheme: arrays with ghosts, OpenMP over blocks of rows, points.
 * Results do not depend on the number of threads. Not here: the rows (scalar_cpu.inc.h). */
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

/* Fills the ghosts of p[which]. */
static void fill_ghosts(unda_solver *s, int which)
{
    const struct fd *fd = s->fd;
    struct scalar_cpu *t = tables(s);
#pragma omp parallel num_threads(s->threads)
    {
#pragma omp for schedule(static)
        for (int64_t x = 0; x < fd->axis[0].total; x++)
            code(s)->plane_ghosts(fd, t, which, x);
#pragma omp for schedule(static)
        for (int64_t m = 0; m < 2 * fd->half; m++)
            code(s)->ghost_plane(fd, t, which, m < fd->half ? -1 - m : fd->axis[0].total + m - fd->half);
    }
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

/* First by planes, so that the index does not depend on threads. */
static unda_status find_bad(unda_solver *s, int64_t *index)
{
    const struct fd_axis *axis = s->fd->axis;
    const void *p = tables(s)->p[0];
    int64_t plane = axis[1].total * axis[2].total, first = s->fd->num_node;
#pragma omp parallel for schedule(static) num_threads(s->threads) reduction(min : first)
    for (int64_t x = 0; x < axis[0].total; x++)
        for (int64_t i = 0; i < plane; i++) {
            int64_t at = x * plane + i;
            if (!isfinite(get(s, p, place(s, x, i / axis[2].total, i % axis[2].total))) && at < first)
                first = at;
        }
    *index = first < s->fd->num_node ? first : -1;
    return UNDA_OK;
}

/* ---- steps ---- */

enum { BLOCK_X = 8, BLOCK_Y = 16 }; /* nodes of a block: its rows and their neighbours stay in the cache */

static void step_rows(unda_solver *s)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t num[2] = {(axis[0].total + BLOCK_X - 1) / BLOCK_X, (axis[1].total + BLOCK_Y - 1) / BLOCK_Y};
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t block = 0; block < num[0] * num[1]; block++) {
        int64_t begin[2] = {block % num[0] * BLOCK_X, block / num[0] * BLOCK_Y}, end[2];
        end[0] = begin[0] + BLOCK_X < axis[0].total ? begin[0] + BLOCK_X : axis[0].total;
        end[1] = begin[1] + BLOCK_Y < axis[1].total ? begin[1] + BLOCK_Y : axis[1].total;
        code(s)->rows(s->fd, tables(s), begin, end);
    }
}

static void inject(unda_solver *s, int64_t time)
{
    struct scalar_cpu *t = tables(s);
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    for (int32_t i = 0; i < s->num_source; i++) {
        const struct fd_source *source = fd_source(s, i);
        double amplitude = t->amplitude[time * s->num_source + i];
        for (int64_t k = 0; k < source->num; k++) {
            int64_t node = source->node[k];
            int64_t at = place(s, node / z->total / y->total, node / z->total % y->total, node % z->total);
            double w = source->weight[k], old = get(s, t->p[1], at);
            put(s, t->p[1], at,
                s->real_bytes == 4 ? fmaf((float)w, (float)amplitude, (float)old) : fma(w, amplitude, old));
        }
    }
}

static void swap(struct scalar_cpu *t)
{
    void *kept = t->p[0];
    t->p[0] = t->p[1];
    t->p[1] = kept;
}

/* Ghosts of both levels follow the state, so nothing is filled before the first step but after each. */
static unda_status record(unda_solver *s, struct receiver_group *group)
{
    const struct fd_points *points = group->points;
    const void *p = tables(s)->p[0];
    for (int64_t i = 0; i < group->num_point; i++) {
        const struct fd_point *point = &points->point[i];
        double sum = 0;
        for (int a = 0; a < POINT_WIDTH; a++)
            for (int b = 0; b < POINT_WIDTH; b++)
                for (int c = 0; c < POINT_WIDTH; c++) {
                    double w = point->weight[0][a] * point->weight[1][b] * point->weight[2][c];
                    if (w != 0)
                        sum +=
                            w * get(s, p, place(s, point->node[0][a], point->node[1][b], point->node[2][c]));
                }
        for (int32_t f = 0; f < group->num_field; f++)
            put(s, group->samples, (group->held * group->num_point + i) * group->num_field + f, sum);
    }
    group->held++;
    return UNDA_OK;
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    struct scalar_cpu *t = tables(s);
    int64_t count = drive->num_time * s->num_source;
    TRY(fd_need_material(s));
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

static unda_status run(unda_solver *s, int64_t num_step)
{
    fill_ghosts(s, 0); /* the state may have been set */
    for (int64_t i = 0; i < num_step; i++) {
        step_rows(s);
        inject(s, i);
        swap(tables(s));
        fill_ghosts(s, 0);
        s->step++;
        for (int32_t g = 0; g < s->num_group; g++)
            if (receiver_due(s->groups[g], s->step))
                TRY(record(s, s->groups[g]));
    }
    return UNDA_OK;
}

/* From p and 0 a step gives 2 p + c^2 dt^2 laplace p: half of it is both the next level and the last. */
static unda_status rest(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    memset(t->p[1], 0, (size_t)(t->count * s->real_bytes));
    fill_ghosts(s, 0);
    step_rows(s);
    for (int64_t i = 0; i < t->count; i++)
        put(s, t->p[1], i, 0.5 * get(s, t->p[1], i));
    return UNDA_OK;
}

const struct fd_engine fd_scalar_cpu = {.base = {.name = "cpu",
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .record = record,
                                                 .drive = drive,
                                                 .run = run,
                                                 .find_bad = find_bad,
                                                 .forecast = forecast},
                                        .planes = planes,
                                        .gather = gather,
                                        .clear = clear,
                                        .rest = rest};
