/* cpu_step.c: rows of the staggered schemes on the CPU, for all physics: the derivatives along the
 * row, their damping in layers, the physics' update of all fields. The derivatives of a row stay in the
 * first-level cache. Next: staggered/cpu_pass.inc.h (the updates). */
#include "../../cpu/precision.h"
#include "cpu.h"

/* Backward differences of num places from `from` on; forward differences are those of the next place. */
DEVICE void difference(int half, int64_t num, const REAL *from, int64_t stride, const REAL *restrict weight,
                       REAL *restrict out)
{
#pragma omp simd
    for (int64_t z = 0; z < num; z++) {
        REAL sum = 0;
#pragma GCC unroll 8
        for (int m = 1; m <= half; m++)
            sum += weight[m] * (from[z + (m - 1) * stride] - from[z - m * stride]);
        out[z] = sum;
    }
}

CLONES static void PRECISION(differences_)(int half, int64_t num, const REAL *from, int64_t stride,
                                           const REAL *weight, REAL *out)
{
#define DIFFERENCE(half) difference(half, num, from, stride, weight, out)
    WITH_HALF(half, DIFFERENCE);
}

/* psi' = b psi + a d, d' = d / kappa + psi'. table: b, `total` further a and 1 / kappa; of each place, or the
 * same for all. */
CLONES static void PRECISION(absorb_)(REAL *restrict d, REAL *restrict psi, const REAL *table, int64_t total,
                                      bool each, int64_t num)
{
    const REAL *b = table, *a = table + total, *k = table + 2 * total;
    if (each)
#pragma omp simd
        for (int64_t i = 0; i < num; i++) {
            psi[i] = b[i] * psi[i] + a[i] * d[i];
            d[i] = k[i] * d[i] + psi[i];
        }
    else {
        REAL b0 = b[0], a0 = a[0], k0 = k[0];
#pragma omp simd
        for (int64_t i = 0; i < num; i++) {
            psi[i] = b0 * psi[i] + a0 * d[i];
            d[i] = k0 * d[i] + psi[i];
        }
    }
}

/* The tables of cpml.c of an axis. */
static const REAL *layer_tables(const struct fd *fd, const struct staggered_cpu *t, int axis, int half)
{
    return (const REAL *)t->table[axis] + 4 * half * fd->axis[axis].total;
}

static void absorb_row(const struct fd *fd, const struct staggered_cpu *t, int derivative, int64_t x,
                       int64_t y, REAL *d)
{
    for (int side = 0; side < 2; side++) {
        if (fd->memory_of[derivative][side] < 0)
            continue;
        const struct fd_memory *memory = &fd->memory[fd->memory_of[derivative][side]];
        int a = memory->axis,
            half = staggered_half(fd->physics, fd->physics->derivative[derivative].target, a);
        int64_t at[2] = {x, y}, first = memory->begin;
        if (a < 2) {
            first = at[a];
            at[a] -= memory->begin;
            if (at[a] < 0 || at[a] >= memory->count)
                continue;
        }
        REAL *psi = (REAL *)t->base.memory[fd->memory_of[derivative][side]] +
                    ((at[0] - memory->first) * memory->num[1] + at[1]) * memory->num[2];
        PRECISION(absorb_)(a == 2 ? d + first : d, psi, layer_tables(fd, t, a, half) + first,
                           fd->axis[a].total, a == 2, memory->num[2]);
    }
}

/* q' = g q, g of the three axes, of a field's row. */
CLONES static void PRECISION(fade_)(REAL *restrict row, REAL across, const REAL *g, int64_t num)
{
#pragma omp simd
    for (int64_t z = 0; z < num; z++)
        row[z] *= across * g[z];
}

static void fade_row(const struct fd *fd, const struct staggered_cpu *t, int field, int64_t x, int64_t y,
                     int64_t at)
{
    const REAL *g[3];
    for (int a = 0; a < 3; a++)
        g[a] = layer_tables(fd, t, a, staggered_half(fd->physics, field, a)) + 3 * fd->axis[a].total;
    REAL across = g[0][x] * g[1][y], *row = (REAL *)t->base.array[field] + at;
    const struct fd_axis *axis = &fd->axis[2];
    int64_t behind = axis->first + axis->num - 1; /* half a cell beyond the last node lies in the layer */
    if (across < 1) {
        PRECISION(fade_)(row, across, g[2], axis->total);
        return;
    }
    PRECISION(fade_)(row, across, g[2], axis->first);
    PRECISION(fade_)(row + behind, across, g[2] + behind, axis->total - behind);
}

/* A field stays 0 on sides about which it is odd. */
static void pin_row(const struct fd *fd, const struct staggered_cpu *t, int field, int64_t x, int64_t y,
                    int64_t at)
{
    REAL *row = (REAL *)t->base.array[field] + at;
    int64_t last = fd->axis[2].total - 1;
    if (fd_pinned(fd, field, 0, x) || fd_pinned(fd, field, 1, y))
        memset(row, 0, (size_t)(last + 1) * sizeof *row);
    if (fd_pinned(fd, field, 2, 0))
        row[0] = 0;
    if (fd_pinned(fd, field, 2, last))
        row[last] = 0;
}

static void pass_row(const struct fd *fd, const struct staggered_cpu *t, int pass, int64_t x, int64_t y,
                     char *scratch)
{
    const struct staggered *p = fd->physics;
    void *difference[FD_MAX_DERIVATIVE];
    int64_t num = fd->axis[2].total;
    int64_t at = t->base.origin + x * t->base.stride[0] + y * t->base.stride[1];
    for (int i = 0; i < p->num_derivative[pass]; i++) {
        int number = pass * p->num_derivative[0] + i;
        const struct staggered_derivative *derivative = &p->derivative[number];
        int64_t stride = t->base.stride[derivative->axis];
        int64_t from = at + (staggered_half(p, derivative->target, derivative->axis) ? stride : 0);
        REAL *d = (REAL *)(scratch + i * t->scratch_row);
        PRECISION(differences_)(fd->half, num, (const REAL *)t->base.array[derivative->source] + from, stride,
                                t->weight[derivative->axis], d);
        absorb_row(fd, t, number, x, y, d);
        difference[i] = d;
    }
    for (int i = 0; i < p->count[pass] && fd->fades; i++)
        fade_row(fd, t, p->first[pass] + i, x, y, at);
    PRECISION(staggered_cpu_).update[p->number][pass](t, difference, at, num);
    for (int i = 0; i < p->count[pass] && fd->fades; i++)
        fade_row(fd, t, p->first[pass] + i, x, y, at);
    for (int i = 0; i < p->count[pass]; i++)
        pin_row(fd, t, p->first[pass] + i, x, y, at);
}

const struct staggered_cpu_code PRECISION(staggered_cpu_) = {
    pass_row, /* updates by unda_physics */
    {PRECISION(staggered_acoustic_), PRECISION(staggered_elastic_), PRECISION(staggered_maxwell_)}};
