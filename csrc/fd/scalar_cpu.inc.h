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
                                .stride = {t->base.stride[0], t->base.stride[1], t->base.stride[2]},
                                .center = (REAL)fd->center,
                                .one_speed = (REAL)fd->speed,
                                .damp = t->damp[2]};
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= fd->half; m++)
            r.weight[a][m] = (REAL)fd->weight[a][m];
    int split = !fd->split ? 0 : t->base.material[0] ? 2 : 1;
    for (int64_t x = begin[0]; x < end[0]; x++)
        for (int64_t y = begin[1]; y < end[1]; y++) {
            int64_t at = t->base.origin + x * t->base.stride[0] + y * t->base.stride[1];
            int damped = t->damped_z || t->damped[0][x] || t->damped[1][y];
            r.next = (REAL *)t->base.array[1] + at;
            r.now = (const REAL *)t->base.array[0] + at;
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

const struct scalar_cpu_code PRECISION(scalar_cpu_) = {PRECISION(scalar_rows_)};
#undef FMA
