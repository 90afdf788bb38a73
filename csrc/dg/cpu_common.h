/* cpu_common.h: shared by the CPU stages of all physics: vectors [value][LANES] with one value of LANES
 * elements, transposed from memory, which holds [elem][value]. Next: cpu_common.c, cpu_stage.inc.h. */
#ifndef UNDA_DG_CPU_COMMON_H
#define UNDA_DG_CPU_COMMON_H

#include "../cpu/precision.h"
#include "cpu.h"

#include "common/index.h"

#define INLINE static inline __attribute__((always_inline))

typedef REAL VEC __attribute__((vector_size(64)));                /* one value of LANES elements */
typedef REAL QUAD __attribute__((vector_size(4 * sizeof(REAL)))); /* four values of one element */

INLINE VEC vector_sqrt(VEC x)
{
    VEC root;
    for (int l = 0; l < LANES; l++)
        root[l] = sizeof(REAL) == 4 ? (REAL)sqrtf((float)x[l]) : (REAL)sqrt((double)x[l]);
    return root;
}

/* Transposing works on 32 bytes, which AVX2 has too: blocks of four lanes, one in float64, two in float32. */
typedef REAL PART __attribute__((vector_size(32)));
#define PART_LANES ((int)(32 / sizeof(REAL)))
#if LANES == 16
#define BLOCKS(block) block(0), block(4)
#else
#define BLOCKS(block) block(0)
#endif
/* What each block of the result takes from two PARTs; the second one's lanes begin at PART_LANES. */
#define EVEN(i)   (i), (i) + LANES / 2, (i) + 1, (i) + LANES / 2 + 1
#define ODD(i)    (i) + 2, (i) + LANES / 2 + 2, (i) + 3, (i) + LANES / 2 + 3
#define FIRST(i)  (i), (i) + 1, (i) + LANES / 2, (i) + LANES / 2 + 1
#define SECOND(i) (i) + 2, (i) + 3, (i) + LANES / 2 + 2, (i) + LANES / 2 + 3

/* z[j][4 b + i] = z[i][4 b + j] for each block b of four lanes. */
INLINE void transpose(PART z[4])
{
    PART even01 = __builtin_shufflevector(z[0], z[1], BLOCKS(EVEN));
    PART even23 = __builtin_shufflevector(z[2], z[3], BLOCKS(EVEN));
    PART odd01 = __builtin_shufflevector(z[0], z[1], BLOCKS(ODD));
    PART odd23 = __builtin_shufflevector(z[2], z[3], BLOCKS(ODD));
    z[0] = __builtin_shufflevector(even01, even23, BLOCKS(FIRST));
    z[1] = __builtin_shufflevector(even01, even23, BLOCKS(SECOND));
    z[2] = __builtin_shufflevector(odd01, odd23, BLOCKS(FIRST));
    z[3] = __builtin_shufflevector(odd01, odd23, BLOCKS(SECOND));
}

/* Four values at from[0] + i, in float32 followed by four at from[4] + i. */
INLINE PART load_part(const REAL *const *from, int i)
{
    PART part;
#if LANES == 16
    QUAD a, b;
    memcpy(&a, from[0] + i, sizeof a);
    memcpy(&b, from[4] + i, sizeof b);
    part = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    memcpy(&part, from[0] + i, sizeof part);
#endif
    return part;
}

/* to[i][l] = from[l][i] for i < count. */
INLINE void gather(const REAL *const from[LANES], int count, VEC *to)
{
    REAL *out = (REAL *)to;
    for (int l = 0; l < LANES; l += PART_LANES) {
        int i = 0;
        for (; i + 4 <= count; i += 4) {
            PART z[4];
            for (int k = 0; k < 4; k++)
                z[k] = load_part(from + l + k, i);
            transpose(z);
            for (int k = 0; k < 4; k++)
                memcpy(out + (i + k) * LANES + l, z + k, sizeof *z);
        }
        for (; i < count; i++)
            for (int k = l; k < l + PART_LANES; k++)
                out[i * LANES + k] = from[k][i];
    }
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
    /* Updates `count` values from `index` on; see common/index.h. */
    void (*update)(const struct dg_args *a, int kind, int64_t index, int64_t count, const REAL *rhs);
};
extern const struct dg_cpu_common PRECISION(dg_cpu_common_);
#define COMMON PRECISION(dg_cpu_common_)

#endif
