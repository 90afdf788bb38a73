/* cpu_step.c: rows of the scalar scheme on the CPU. Loops run along z, where gcc vectorises them. Per node
 * and step: 9 M + 9 flop, 6 more from order 4 on, three words of memory at best. Next: cuda/physics/scalar.h (the
 * update). */
#include "../../cpu/precision.h"
#include "cpu.h"

#include "physics/scalar.h"

#include <omp.h>

struct row {
    REAL *next; /* p_old before */
    const REAL *now, *speed, *damp, *addition;
    int64_t num_vector, stride[3];
    REAL weight[3][MAX_HALF + 1], damp_xy;
};

/* Whole vectors, also into the padding behind a row: nothing there is a node or a ghost that must be kept.
 * half, split and layers (0: none, 1: g, 2: additions) are constants where this is inlined. */
DEVICE void step_row(const struct row *r, int half, int split, int layers)
{
    REAL *restrict next = r->next;
    const REAL *restrict now = r->now, *restrict speed = r->speed, *restrict damp = r->damp;
    const REAL *restrict addition = r->addition;
#pragma omp simd
    for (int64_t z = 0; z < r->num_vector * LANES; z++) {
        const REAL p = now[z], g = layers ? r->damp_xy * damp[z] : 1;
        REAL old = next[z], sum = 0;
        if (layers == 2)
            old =
                split ? scalar_previous_split(speed[z], addition[z], old) : scalar_previous(addition[z], old);
#pragma GCC unroll 3
        for (int a = 0; a < 3; a++) {
            const REAL *weight = r->weight[a];
            const int64_t s = r->stride[a];
            sum = scalar_first(weight[1], now[z - s], now[z + s], p, sum);
            if (half > 1)
                sum = scalar_center(weight[0], p, sum);
#pragma GCC unroll 8
            for (int m = 2; m <= half; m++)
                sum = scalar_pair(weight[m], now[z - m * s], now[z + m * s], sum);
        }
        if (split)
            sum =
                layers ? scalar_split_damped(speed[z], sum, p, old, g) : scalar_split(speed[z], sum, p, old);
        else
            sum = layers ? scalar_change_damped(sum, p, old, g) : scalar_change(sum, p, old);
        next[z] = layers ? scalar_advance_damped(p, sum, g) : scalar_advance(p, sum);
    }
}

/* The same with constants for split and layers. */
DEVICE void step_row_half(const struct row *r, int half, int split, int layers)
{
    if (layers == 0)
        split ? step_row(r, half, 1, 0) : step_row(r, half, 0, 0);
    else if (layers == 1)
        split ? step_row(r, half, 1, 1) : step_row(r, half, 0, 1);
    else
        split ? step_row(r, half, 1, 2) : step_row(r, half, 0, 2);
}

/* ---- matched layers ---- */

/* Nodes of a row in a matched layer. Neighbours along its axis are `stride` apart; each = 1 where that
 * axis is z, so that every node has its own factors. */
struct layer {
    const REAL *now;
    REAL *memory[3], *addition;
    const REAL *table[6];
    REAL weight, ratio[MAX_HALF + 1];
    int64_t stride, num;
};

DEVICE void add_layer(const struct layer *r, int half, int each)
{
    const REAL *restrict p = r->now;
    REAL *restrict low = r->memory[0], *restrict high = r->memory[1], *restrict node = r->memory[2];
    REAL *restrict addition = r->addition;
    const REAL *restrict b0 = r->table[0], *restrict b1 = r->table[1], *restrict b2 = r->table[2];
    const REAL *restrict a0 = r->table[3], *restrict a1 = r->table[4], *restrict a2 = r->table[5];
    const int64_t s = r->stride;
#pragma omp simd
    for (int64_t z = 0; z < r->num; z++) {
        const int64_t i = each * z;
        REAL below = scalar_flux(p[z - s], p[z]), above = scalar_flux(p[z], p[z + s]);
#pragma GCC unroll 8
        for (int k = 2; k <= half; k++) {
            below = scalar_flux_pair(r->ratio[k], p[z - k * s], p[z + (k - 1) * s], below);
            above = scalar_flux_pair(r->ratio[k], p[z - (k - 1) * s], p[z + k * s], above);
        }
        low[z] = scalar_memory(b0[i], a0[i], below, low[z]);
        high[z] = scalar_memory(b1[i], a1[i], above, high[z]);
        REAL m = high[z] - low[z];
        node[z] = scalar_memory(b2[i], a2[i], scalar_stretched(r->weight, below, above, m), node[z]);
        addition[z] = addition[z] + (m + node[z]);
    }
}

/* What matched layers add at the nodes of row (x, y), in `now`, and their memory variables one step later;
 * 0 where there is no layer. Returns whether any node of the row is in one. */
CLONES static bool PRECISION(additions_)(const struct fd *fd, const struct scalar_cpu *t, const REAL *now,
                                         int64_t x, int64_t y, REAL *addition)
{
    const struct fd_axis *axis = fd->axis;
    const int64_t at[2] = {fd_matched_at(&axis[0], x), fd_matched_at(&axis[1], y)};
    if (at[0] < 0 && at[1] < 0 && !fd_matched(&axis[2]))
        return false;
    for (int64_t z = 0; z < t->row; z++)
        addition[z] = 0;
    for (int a = 0; a < 3; a++) {
        const struct scalar_cpu_matched *m = &t->matched[a];
        if (a < 2 && at[a] < 0)
            continue;
        struct layer r = {.stride = t->base.stride[a], .weight = (REAL)fd_flux_weight(fd, a, 1)};
        for (int k = 2; k <= fd->half; k++)
            r.ratio[k] = (REAL)(fd_flux_weight(fd, a, k) / fd_flux_weight(fd, a, 1));
        for (int side = 0; side < (a < 2 ? 1 : 2); side++) {
            const int64_t from = a < 2 ? at[a] : side ? axis[2].matched[0] : 0;
            const int64_t z = a < 2 ? 0 : side ? axis[2].total - 1 - axis[2].matched[1] : 1;
            const int64_t row =
                ((a == 0 ? at[0] : x) - m->first) * m->stride[0] + (a == 1 ? at[1] : y) * m->stride[1];
            r.num = a < 2 ? axis[2].total : axis[2].matched[side];
            r.now = now + z;
            r.addition = addition + z;
            for (int k = 0; k < 3; k++)
                r.memory[k] = (REAL *)m->memory[k] + row + (a < 2 ? 0 : from);
            for (int k = 0; k < 6; k++)
                r.table[k] = (const REAL *)m->table + k * fd_matched(&axis[a]) + from;
#define ADD_LAYER(half)   add_layer(&r, half, 0)
#define ADD_LAYER_Z(half) add_layer(&r, half, 1)
            if (a < 2)
                WITH_HALF(fd->half, ADD_LAYER);
            else
                WITH_HALF(fd->half, ADD_LAYER_Z);
        }
    }
    return true;
}

CLONES static void PRECISION(scalar_rows_)(const struct fd *fd, const struct scalar_cpu *t, const void *now,
                                           void *next, int64_t x, int64_t begin, int64_t end)
{
    struct row r = {.num_vector = (fd->axis[2].total + LANES - 1) / LANES,
                    .stride = {t->base.stride[0], t->base.stride[1], t->base.stride[2]},
                    .damp = t->damp[2]};
    for (int a = 0; a < 3; a++)
        for (int m = 0; m <= fd->half; m++)
            r.weight[a][m] = (REAL)fd->weight[a][m];
    REAL *addition = (REAL *)t->addition + omp_get_thread_num() * t->row;
    r.addition = addition;
    for (int64_t y = begin; y < end; y++) {
        int64_t at = t->base.origin + x * t->base.stride[0] + y * t->base.stride[1];
        int layers = t->damped_z || t->damped[0][x] || t->damped[1][y];
        r.next = (REAL *)next + at;
        r.now = (const REAL *)now + at;
        r.speed = t->base.material[0] ? (const REAL *)t->base.material[0] + at : t->speed;
        r.damp_xy = ((const REAL *)t->damp[0])[x] * ((const REAL *)t->damp[1])[y];
        if (t->is_matched && PRECISION(additions_)(fd, t, r.now, x, y, addition))
            layers = 2;
#define STEP_ROW(half) step_row_half(&r, half, fd->split, layers)
        WITH_HALF(fd->half, STEP_ROW);
    }
}

/* Copies a row of nodes times sign. */
static void copy_row(REAL *to, const REAL *from, int sign, int64_t num)
{
    for (int64_t z = 0; z < num; z++)
        to[z] = (REAL)sign * from[z];
}

/* Images of these rows beside the grid: at their own ends in z, in rows beyond y, in planes beyond x. */
static void ghosts(const struct fd *fd, const struct scalar_cpu *t, void *p, int64_t x, int64_t begin,
                   int64_t end)
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
                copy_row(plane + beyond * t->base.stride[1], plane + y * t->base.stride[1], sign, num);
            beyond = side ? axis[0].total - 1 + m : -m;
            if (!fd_cut(fd, side) && fd_image(&axis[0], beyond, &sign) == x)
                for (y = begin; y < end; y++)
                    copy_row(plane + (beyond - x) * t->base.stride[0] + y * t->base.stride[1],
                             plane + y * t->base.stride[1], sign, num);
        }
}

const struct scalar_cpu_code PRECISION(scalar_cpu_) = {PRECISION(scalar_rows_), ghosts};
