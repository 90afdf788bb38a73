/* scalar_cpu.inc.h: rows of the scalar scheme on the CPU; included by csrc/cpu/cpu_*.c, which define REAL,
 * DEVICE and PRECISION(name). Loops run along z, where gcc vectorises them. Per node and step: 9 M + 2 flop,
 * three words of memory at best. Next: cuda/physics/scalar.h (the update). */
#define FMA(a, b, c) _Generic((REAL)0, float: __builtin_fmaf, double: __builtin_fma)(a, b, c)
#include "physics/scalar.h"

struct PRECISION(row_) {
    REAL *next; /* p_old before */
    const REAL *now, *speed, *damp;
    int64_t num, stride[3];
    REAL weight[3][MAX_HALF + 1], center, one_speed, damp_xy;
};

/* half, split (0, 1: one speed, 2: speeds of nodes) and damped are constants where this is inlined. */
DEVICE void PRECISION(step_row_)(const struct PRECISION(row_) * r, int half, int split, int damped)
{
    REAL *restrict next = r->next;
    const REAL *restrict now = r->now, *restrict speed = r->speed, *restrict damp = r->damp;
#pragma omp simd
    for (int64_t z = 0; z < r->num; z++) {
        REAL sum = scalar_center(r->center, now[z]);
#pragma GCC unroll 3
        for (int a = 0; a < 3; a++)
#pragma GCC unroll 8
            for (int m = 1; m <= half; m++)
                sum = scalar_pair(r->weight[a][m], now[z - m * r->stride[a]], now[z + m * r->stride[a]], sum);
        if (split)
            sum = scalar_split(split == 2 ? speed[z] : r->one_speed, sum, now[z]);
        next[z] =
            damped ? scalar_advance_damped(sum, next[z], r->damp_xy * damp[z]) : scalar_advance(sum, next[z]);
    }
}

DEVICE void PRECISION(step_row_half_)(const struct PRECISION(row_) * r, int half, int split, int damped)
{
    if (damped)
        switch (split) {
        case 0:
            PRECISION(step_row_)(r, half, 0, 1);
            break;
        case 1:
            PRECISION(step_row_)(r, half, 1, 1);
            break;
        default:
            PRECISION(step_row_)(r, half, 2, 1);
        }
    else
        switch (split) {
        case 0:
            PRECISION(step_row_)(r, half, 0, 0);
            break;
        case 1:
            PRECISION(step_row_)(r, half, 1, 0);
            break;
        default:
            PRECISION(step_row_)(r, half, 2, 0);
        }
}

CLONES static void PRECISION(scalar_rows_)(const struct fd *fd, const struct scalar_cpu *t,
                                           const int64_t *begin, const int64_t *end)
{
    struct PRECISION(row_) r = {.num = fd->axis[2].total,
                                .stride = {t->stride[0], t->stride[1], t->stride[2]},
                                .center = (REAL)fd->center,
                                .one_speed = (REAL)fd->speed,
                                .damp = t->damp[2]};
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= fd->half; m++)
            r.weight[a][m] = (REAL)fd->weight[a][m];
    int split = !fd->split ? 0 : t->speed ? 2 : 1;
    for (int64_t x = begin[0]; x < end[0]; x++)
        for (int64_t y = begin[1]; y < end[1]; y++) {
            int64_t at = t->origin + x * t->stride[0] + y * t->stride[1];
            int damped = t->damped_z || t->damped[0][x] || t->damped[1][y];
            r.next = (REAL *)t->p[1] + at;
            r.now = (const REAL *)t->p[0] + at;
            r.speed = t->speed ? (const REAL *)t->speed + at : NULL;
            r.damp_xy = ((const REAL *)t->damp[0])[x] * ((const REAL *)t->damp[1])[y];
            switch (fd->half) {
            case 1:
                PRECISION(step_row_half_)(&r, 1, split, damped);
                break;
            case 2:
                PRECISION(step_row_half_)(&r, 2, split, damped);
                break;
            case 3:
                PRECISION(step_row_half_)(&r, 3, split, damped);
                break;
            case 4:
                PRECISION(step_row_half_)(&r, 4, split, damped);
                break;
            default:
                PRECISION(step_row_half_)(&r, fd->half, split, damped);
            }
        }
}

/* A row's ghosts in z, then the rows of ghosts in y. */
static void PRECISION(plane_ghosts_)(const struct fd *fd, const struct scalar_cpu *t, int which, int64_t x)
{
    const struct fd_axis *ay = &fd->axis[1], *az = &fd->axis[2];
    REAL *plane = (REAL *)t->p[which] + t->origin + x * t->stride[0];
    for (int64_t y = 0; y < ay->total; y++) {
        REAL *row = plane + y * t->stride[1];
        for (int m = 1; m <= fd->half; m++) {
            int low, high;
            int64_t i = fd_image(az, -m, &low), j = fd_image(az, az->total - 1 + m, &high);
            row[-m] = (REAL)low * row[i];
            row[az->total - 1 + m] = (REAL)high * row[j];
        }
    }
    for (int m = 1; m <= fd->half; m++)
        for (int side = 0; side < 2; side++) {
            int sign;
            int64_t ghost = side ? ay->total - 1 + m : -m;
            const REAL *from = plane + fd_image(ay, ghost, &sign) * t->stride[1];
            REAL *to = plane + ghost * t->stride[1];
            for (int64_t z = 0; z < az->total; z++)
                to[z] = (REAL)sign * from[z];
        }
}

/* Plane x beyond the grid. */
static void PRECISION(ghost_plane_)(const struct fd *fd, const struct scalar_cpu *t, int which, int64_t x)
{
    int sign;
    const REAL *from =
        (const REAL *)t->p[which] + t->origin + fd_image(&fd->axis[0], x, &sign) * t->stride[0];
    REAL *to = (REAL *)t->p[which] + t->origin + x * t->stride[0];
    for (int64_t y = 0; y < fd->axis[1].total; y++)
        for (int64_t z = 0; z < fd->axis[2].total; z++)
            to[y * t->stride[1] + z] = (REAL)sign * from[y * t->stride[1] + z];
}

const struct scalar_cpu_code PRECISION(scalar_cpu_) = {PRECISION(scalar_rows_), PRECISION(plane_ghosts_),
                                                       PRECISION(ghost_plane_)};
#undef FMA
