/* scalar_cpu.inc.h: rows of the scalar scheme on the CPU; included by csrc/cpu/cpu_*.c, which define REAL,
 * DEVICE and PRECISION(name). Loops run along z, where gcc vectorises them. Per node and step: 9 M + 2 flop,
 * three words of memory at best. Next: cuda/physics/scalar.h (the update). */
#define FMA(a, b, c) _Generic((REAL)0, float: __builtin_fmaf, double: __builtin_fma)(a, b, c)
#include "physics/scalar.h"

struct PRECISION(row_) {
    REAL *next; /* p_old before */
    const REAL *now, *speed, *damp;
    int64_t num_vector, stride[3];
    REAL weight[3][MAX_HALF + 1], center, one_speed, damp_xy;
};

/* Whole vectors, into the room behind a row: what stands there is no node and no ghost that stays. half,
 * split (0, 1: one speed, 2: speeds of nodes) and damped are constants where this is inlined. */
DEVICE void PRECISION(step_row_)(const struct PRECISION(row_) * r, int half, int split, int damped)
{
    REAL *restrict next = r->next;
    const REAL *restrict now = r->now, *restrict speed = r->speed, *restrict damp = r->damp;
#pragma omp simd
    for (int64_t z = 0; z < r->num_vector * LANES; z++) {
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

CLONES static void PRECISION(scalar_rows_)(const struct fd *fd, const struct scalar_cpu *t, const void *now,
                                           void *next, int64_t x, int64_t begin, int64_t end)
{
    struct PRECISION(row_) r = {.num_vector = (fd->axis[2].total + LANES - 1) / LANES,
                                .stride = {t->base.stride[0], t->base.stride[1], t->base.stride[2]},
                                .center = (REAL)fd->center,
                                .one_speed = (REAL)fd->speed,
                                .damp = t->damp[2]};
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= fd->half; m++)
            r.weight[a][m] = (REAL)fd->weight[a][m];
    int split = !fd->split ? 0 : t->base.material[0] ? 2 : 1;
    for (int64_t y = begin; y < end; y++) {
        int64_t at = t->base.origin + x * t->base.stride[0] + y * t->base.stride[1];
        int damped = t->damped_z || t->damped[0][x] || t->damped[1][y];
        r.next = (REAL *)next + at;
        r.now = (const REAL *)now + at;
        r.speed = t->base.material[0] ? (const REAL *)t->base.material[0] + at : NULL;
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

/* Copies a row of nodes times sign. */
static void PRECISION(copy_row_)(REAL *to, const REAL *from, int sign, int64_t num)
{
    for (int64_t z = 0; z < num; z++)
        to[z] = (REAL)sign * from[z];
}

/* What images of these rows stand beside the grid: their own ends in z, rows beyond y, planes beyond x. */
static void PRECISION(scalar_ghosts_)(const struct fd *fd, const struct scalar_cpu *t, void *p, int64_t x,
                                      int64_t begin, int64_t end)
{
    const struct fd_axis *axis = fd->axis;
    int64_t num = axis[2].total;
    REAL *plane = (REAL *)p + t->base.origin + x * t->base.stride[0];
    int64_t image[2 * MAX_HALF];
    REAL signs[2 * MAX_HALF];
    for (int i = 0; i < 2 * fd->half; i++) {
        int sign;
        image[i] = fd_image(&axis[2], i < fd->half ? i - fd->half : num + i - fd->half, &sign);
        signs[i] = (REAL)sign;
    }
    for (int64_t y = begin; y < end; y++) {
        REAL *row = plane + y * t->base.stride[1];
        for (int i = 0; i < fd->half; i++) {
            row[i - fd->half] = signs[i] * row[image[i]];
            row[num + i] = signs[fd->half + i] * row[image[fd->half + i]];
        }
    }
    for (int m = 1; m <= fd->half; m++)
        for (int side = 0; side < 2; side++) {
            int sign;
            int64_t beyond = side ? axis[1].total - 1 + m : -m, y = fd_image(&axis[1], beyond, &sign);
            if (y >= begin && y < end)
                PRECISION(copy_row_)(plane + beyond * t->base.stride[1], plane + y * t->base.stride[1], sign,
                                     num);
            beyond = side ? axis[0].total - 1 + m : -m;
            if (fd_image(&axis[0], beyond, &sign) == x)
                for (y = begin; y < end; y++)
                    PRECISION(copy_row_)(plane + (beyond - x) * t->base.stride[0] + y * t->base.stride[1],
                                         plane + y * t->base.stride[1], sign, num);
        }
}

const struct scalar_cpu_code PRECISION(scalar_cpu_) = {PRECISION(scalar_rows_), PRECISION(scalar_ghosts_)};
#undef FMA
