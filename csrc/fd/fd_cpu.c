/* fd_cpu.c: arrays with ghosts on the CPU, their planes, single nodes, sources and receivers, for all
 * schemes. Results do not depend on the number of threads. Not here: ghosts (fd_cpu.inc.h), steps (the
 * engines). */
#include "fd_cpu.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

static const struct fd_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &fd_cpu_f32 : &fd_cpu_f64;
}

double fd_cpu_get(const unda_solver *s, const void *array, int64_t at)
{
    return s->real_bytes == 4 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

void fd_cpu_put(const unda_solver *s, void *array, int64_t at, double value)
{
    if (s->real_bytes == 4)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* ---- arrays ---- */

/* Rows begin at 64 bytes; an odd number of these a row keeps neighbouring rows in different sets of the
 * cache. */
void fd_cpu_lay_out(const unda_solver *s, struct fd_cpu *t)
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

unda_status fd_cpu_allocate(unda_solver *s, struct fd_cpu *t)
{
    const struct fd *fd = s->fd;
    for (int i = 0; i < fd->scheme->num_array(fd); i++)
        TRY(array_try(&t->array[i], t->count, s->real_bytes, "state"));
    for (int i = 0; i < fd->num_material; i++)
        TRY(array_try(&t->material[i], t->count, s->real_bytes, "materials"));
    return UNDA_OK;
}

void fd_cpu_free(struct fd_cpu *t)
{
    for (int i = 0; i < FD_MAX_FIELD; i++)
        array_free(t->array[i]);
    for (int i = 0; i < FD_MAX_MATERIAL; i++)
        array_free(t->material[i]);
    array_free(t->amplitude);
}

static void *array_of(const unda_solver *s, int array)
{
    struct fd_cpu *t = fd_cpu(s);
    return array >= FD_MATERIAL ? t->material[array - FD_MATERIAL] : t->array[array];
}

int64_t fd_cpu_place(const unda_solver *s, int64_t x, int64_t y, int64_t z)
{
    const struct fd_cpu *t = fd_cpu(s);
    return t->origin + x * t->stride[0] + y * t->stride[1] + z;
}

int64_t fd_cpu_at(const unda_solver *s, int64_t node)
{
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    return fd_cpu_place(s, node / z->total / y->total, node / z->total % y->total, node % z->total);
}

/* Planes from one past the last place inside: a field half a cell on has an image there already. */
void fd_cpu_fill_ghosts(unda_solver *s, void *array, const struct fd_field *field)
{
    const struct fd *fd = s->fd;
    int64_t num = fd->axis[0].total;
    int64_t first = num - (field->half[0] && field->sign[0][0] != SIDE_PERIODIC), last = num + fd->half;
#pragma omp parallel num_threads(s->threads)
    {
#pragma omp for schedule(static)
        for (int64_t x = 0; x < num; x++)
            code(s)->plane_ghosts(fd, fd_cpu(s), array, field, x);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < fd->half + last - first; i++)
            code(s)->ghost_plane(fd, fd_cpu(s), array, field, i < fd->half ? -1 - i : first + i - fd->half);
    }
}

unda_status fd_cpu_planes(unda_solver *s, int array, int64_t first, int64_t count, void *out, const void *in)
{
    int64_t num_y = s->fd->axis[1].total, bytes = s->fd->axis[2].total * s->real_bytes;
    char *base = array_of(s, array);
    for (int64_t i = 0; i < count * num_y; i++) {
        char *row = base + fd_cpu_place(s, first + i / num_y, i % num_y, 0) * s->real_bytes;
        if (out)
            memcpy((char *)out + i * bytes, row, (size_t)bytes);
        else
            memcpy(row, (const char *)in + i * bytes, (size_t)bytes);
    }
    return UNDA_OK;
}

unda_status fd_cpu_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = fd_cpu_get(s, array_of(s, array), fd_cpu_at(s, node[i]));
    return UNDA_OK;
}

unda_status fd_cpu_clear(unda_solver *s)
{
    struct fd_cpu *t = fd_cpu(s);
    for (int i = 0; i < s->fd->scheme->num_array(s->fd); i++)
        memset(t->array[i], 0, (size_t)(t->count * s->real_bytes));
    return UNDA_OK;
}

/* First by fields, then planes, so that the index does not depend on threads. */
unda_status fd_cpu_find_bad(unda_solver *s, int64_t *index)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t plane = axis[1].total * axis[2].total, none = s->fd->num_node;
    *index = -1;
    for (int f = 0; f < s->fd->num_field && *index < 0; f++) {
        const void *p = array_of(s, f);
        int64_t first = none;
#pragma omp parallel for schedule(static) num_threads(s->threads) reduction(min : first)
        for (int64_t x = 0; x < axis[0].total; x++)
            for (int64_t i = 0; i < plane; i++) {
                int64_t at = x * plane + i;
                double value = fd_cpu_get(s, p, fd_cpu_place(s, x, i / axis[2].total, i % axis[2].total));
                if (!isfinite(value) && at < first)
                    first = at;
            }
        if (first < none)
            *index = f * none + first;
    }
    return UNDA_OK;
}

/* ---- points ---- */

void fd_cpu_inject(unda_solver *s, void *array, int f, int64_t time)
{
    struct fd_cpu *t = fd_cpu(s);
    for (int32_t i = 0; i < s->num_source; i++) {
        const struct fd_source *source = fd_source(s, i);
        double amplitude = t->amplitude[time * s->num_source + i];
        for (int64_t k = source->first[f]; k < source->first[f + 1]; k++) {
            int64_t at = fd_cpu_at(s, source->node[k]);
            double w = source->weight[k], old = fd_cpu_get(s, array, at);
            fd_cpu_put(s, array, at,
                       s->real_bytes == 4 ? fmaf((float)w, (float)amplitude, (float)old)
                                          : fma(w, amplitude, old));
        }
    }
}

static double sample(const unda_solver *s, const void *array, const struct fd_point *point)
{
    double sum = 0;
    for (int a = 0; a < POINT_WIDTH; a++)
        for (int b = 0; b < POINT_WIDTH; b++)
            for (int c = 0; c < POINT_WIDTH; c++) {
                double w = point->weight[0][a] * point->weight[1][b] * point->weight[2][c];
                if (w != 0)
                    sum += w * fd_cpu_get(
                                   s, array,
                                   fd_cpu_place(s, point->node[0][a], point->node[1][b], point->node[2][c]));
            }
    return sum;
}

unda_status fd_cpu_record(unda_solver *s, struct receiver_group *group)
{
    const struct fd_points *points = group->points;
    for (int64_t i = 0; i < group->num_point * group->num_field; i++)
        fd_cpu_put(s, group->samples, group->held * group->num_point * group->num_field + i,
                   sample(s, array_of(s, points->field[i % group->num_field]), &points->point[i]));
    group->held++;
    return UNDA_OK;
}

unda_status fd_cpu_drive(unda_solver *s, const unda_drive *drive)
{
    struct fd_cpu *t = fd_cpu(s);
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
