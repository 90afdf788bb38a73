/* lanes.h: vectors [value][LANES] with one value of LANES elements, transposed from memory, where the values of an
 * element or a node stand together. Next: dg/cpu_common.h, sem/cpu_force.inc.h. */
#ifndef UNDA_LANES_H
#define UNDA_LANES_H

#include "precision.h"

#define INLINE DEVICE

typedef REAL VEC __attribute__((vector_size(64))); /* one value of LANES elements */
#if LANES == 16
typedef int32_t IVEC __attribute__((vector_size(64))); /* lanes of a VEC that a permutation takes, or bits */
#define EACH_LANE(f, x)                                                                                      \
    {f(0, x), f(1, x), f(2, x),  f(3, x),  f(4, x),  f(5, x),  f(6, x),  f(7, x),                            \
     f(8, x), f(9, x), f(10, x), f(11, x), f(12, x), f(13, x), f(14, x), f(15, x)}
#else
typedef int64_t IVEC __attribute__((vector_size(64)));
#define EACH_LANE(f, x) {f(0, x), f(1, x), f(2, x), f(3, x), f(4, x), f(5, x), f(6, x), f(7, x)}
#endif
typedef REAL QUAD __attribute__((vector_size(4 * sizeof(REAL)))); /* four values of one element */

/* x in all lanes. Of x - zero or {x, x, ..} gcc 12 makes a broadcast under a mask, at four times the cost. */
INLINE VEC all_lanes(REAL x)
{
    VEC zero = {0};
    return zero + x;
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

/* to[i][l] = from[l][i] for PART_LANES lanes and four values, of which `keep` are stored. */
INLINE void gather_four(const REAL *const *from, int i, int keep, REAL *to)
{
    PART z[4];
    for (int k = 0; k < 4; k++)
        z[k] = load_part(from + k, i);
    transpose(z);
    for (int k = 0; k < keep; k++)
        memcpy(to + k * LANES, z + k, sizeof *z);
}

/* The same for `count` values; the last of four or more are four once again. */
INLINE void gather_part(const REAL *const *from, int count, REAL *to)
{
    int i = 0;
    for (; i + 4 <= count; i += 4)
        gather_four(from, i, 4, to + i * LANES);
    if (count >= 4 && i < count)
        gather_four(from, count - 4, 4, to + (count - 4) * LANES);
    for (; count < 4 && i < count; i++)
        for (int k = 0; k < PART_LANES; k++)
            to[i * LANES + k] = from[k][i];
}

/* to[i][l] = from[l][i] for i < count. */
INLINE void gather(const REAL *const from[LANES], int count, VEC *to)
{
    for (int l = 0; l < LANES; l += PART_LANES)
        gather_part(from + l, count, (REAL *)to + l);
}

#endif
