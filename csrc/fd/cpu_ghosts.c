/* cpu_ghosts.c: ghosts of arrays on the CPU, which are images of nodes inside; the finite check. A field
 * shifted by half a cell has at the last node already the image of its last point inside. Not here: when they
 * are filled (cpu.c). */
#include "../cpu/precision.h"
#include "cpu.h"

static void row_ghosts(const struct fd_axis *axis, int half, const int32_t *signs, int stencil, REAL *row)
{
    int64_t first = axis->total - (half && signs[0] != SIDE_PERIODIC);
    for (int64_t i = -stencil; i < axis->total + stencil; i++) {
        int sign;
        if (i == 0)
            i = first;
        int64_t from = fd_mirror(axis, half, signs, i, &sign);
        row[i] = sign == 0 ? 0 : (REAL)sign * row[from]; /* 0: behind a layer */
    }
}

/* Fills the ghosts of a row in z, then the rows of ghosts in y. */
static void plane_ghosts(const struct fd *fd, const struct fd_cpu *t, void *array,
                         const struct fd_field *field, int64_t x)
{
    const struct fd_axis *ay = &fd->axis[1], *az = &fd->axis[2];
    REAL *plane = (REAL *)array + t->origin + x * t->stride[0];
    int64_t first = ay->total - (field->half[1] && field->sign[1][0] != SIDE_PERIODIC);
    for (int64_t y = 0; y < ay->total; y++)
        row_ghosts(az, field->half[2], field->sign[2], fd->half, plane + y * t->stride[1]);
    for (int64_t y = -fd->half; y < ay->total + fd->half; y++) {
        int sign;
        if (y == 0)
            y = first;
        const REAL *from = plane + fd_mirror(ay, field->half[1], field->sign[1], y, &sign) * t->stride[1];
        REAL *to = plane + y * t->stride[1];
        for (int64_t z = -fd->half; z < az->total + fd->half; z++)
            to[z] = sign == 0 ? 0 : (REAL)sign * from[z];
    }
}

/* Fills plane x beyond the grid, with the ghosts of the plane from which it is copied. */
static void ghost_plane(const struct fd *fd, const struct fd_cpu *t, void *array,
                        const struct fd_field *field, int64_t x)
{
    int sign;
    int64_t from_x = fd_mirror(&fd->axis[0], field->half[0], field->sign[0], x, &sign);
    const REAL *from = (const REAL *)array + t->origin + from_x * t->stride[0];
    REAL *to = (REAL *)array + t->origin + x * t->stride[0];
    for (int64_t y = -fd->half; y < fd->axis[1].total + fd->half; y++)
        for (int64_t z = -fd->half; z < fd->axis[2].total + fd->half; z++)
            to[y * t->stride[1] + z] = sign == 0 ? 0 : (REAL)sign * from[y * t->stride[1] + z];
}

/* The first of `num` values that is not finite; num if none. */
static int64_t find_bad(const void *row, int64_t num)
{
    const REAL *p = row;
    REAL sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t z = 0; z < num; z++)
        sum += p[z] * 0; /* 0, or NaN, which is why the compiler must not fold it */
    if (sum == 0)
        return num;
    for (int64_t z = 0; z < num; z++)
        if (!isfinite(p[z]))
            return z;
    return num;
}

const struct fd_cpu_code PRECISION(fd_cpu_) = {plane_ghosts, ghost_plane, find_bad};
