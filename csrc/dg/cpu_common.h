/* cpu_common.h: shared by the CPU stages of all physics, whose memory holds [elem][value].
 * Next: cpu_common.c, cpu_stage.inc.h; cpu/lanes.h (vectors). */
#ifndef UNDA_DG_CPU_COMMON_H
#define UNDA_DG_CPU_COMMON_H

#include "../cpu/lanes.h"
#include "cpu_blocks.h"

#include "common/index.h"

/* A part of the stage that is not compiled into it: the stage has more values than there are registers already. */
#define OWN_FUNCTION CLONES static __attribute__((noinline))

INLINE VEC vector_sqrt(VEC x)
{
    VEC root;
    for (int l = 0; l < LANES; l++)
        root[l] = sizeof(REAL) == 4 ? (REAL)sqrtf((float)x[l]) : (REAL)sqrt((double)x[l]);
    return root;
}

/* ---- what is not compiled into every stage (cpu_common.c) ---- */

struct dg_cpu_common {
    /* As `gather`, of many values. */
    void (*gather)(const REAL *const from[LANES], int count, VEC *to);
    /* to[l * stride + i] = from[i][l] for i < count. */
    void (*scatter)(const VEC *from, int count, REAL *to, int64_t stride);
    /* Adds the sources [i, last), all in the block of elements from `first` on, to rhs [elem][num_value]. */
    void (*add_sources)(const struct dg_args *a, int64_t first, int i, int last, int64_t num_value,
                        REAL *rhs);
    /* The same, of `count` values of each element from `begin` on, to rhs [value][lane]. */
    void (*add_sources_part)(const struct dg_args *a, int64_t first, int i, int last, int64_t num_value,
                             int64_t begin, int64_t count, VEC *rhs);
    /* Updates `count` values from `index` on; see common/index.h. */
    void (*update)(const struct dg_args *a, int kind, int64_t index, int64_t count, const REAL *rhs);
    /* The same of several elements: from `index` on, and at `stride` from there, from rhs [elem][count]. */
    void (*update_part)(const struct dg_args *a, int kind, int64_t index, int64_t stride, int64_t lanes,
                        int64_t count, const REAL *rhs);
};
extern const struct dg_cpu_common PRECISION(dg_cpu_common_);
#define COMMON PRECISION(dg_cpu_common_)

/* ---- derivatives and lifts as four blocks (cpu_blocks.c) ---- */

struct dg_cpu_blocks_common {
    /* Inputs x [input][BLOCK_COLUMNS] of nodes, from fields field[column] of u [node][num_ref]. */
    void (*sum_nodes)(const struct dg_cpu_blocks *b, const VEC *u, int num_ref,
                      const signed char field[BLOCK_COLUMNS], VEC *x);
    /* Results y [row][BLOCK_COLUMNS] of a tile. */
    void (*multiply)(const struct dg_cpu_tile *tile, const void *matrix, const VEC *x, VEC *y);
    /* Results become derivatives at nodes. */
    void (*sum_results)(const struct dg_cpu_blocks *b, VEC *y);
};
extern const struct dg_cpu_blocks_common PRECISION(dg_cpu_blocks_common_);
#define BLOCKS_COMMON PRECISION(dg_cpu_blocks_common_)

/* v_s = sum over g of chi_s(g) v_g (blocks.h). */
INLINE void sum_orbit(VEC v[4])
{
    VEC a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
}

#endif
