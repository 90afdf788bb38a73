/* block_scales.h: what the inputs of kernel blocks are multiplied by before they become pairs of FP16 numbers (SPLIT), or 1.
 */
#ifndef UNDA_DG_BLOCK_SCALES_H
#define UNDA_DG_BLOCK_SCALES_H

#include "dg/block_rows.h"
#include "dg/tile.h"

/* Sums of column c of a chunk. */
static __device__ __forceinline__ REAL field_scale(const tile &s, int chunk, int c, int e)
{
#if SPLIT
    return scale(s.most[column_kind(chunk, c)][e]);
#else
    return 1;
#endif
}

/* Sums of lifted jumps. */
static __device__ __forceinline__ REAL lift_scale(const tile &s, int column, int e)
{
#if SPLIT
    return scale(s.bound[column][e]);
#else
    return 1;
#endif
}

#if SPLIT
/* Of curls a column takes sums of what a jump gives two tangents, which may cancel but for their rounding, 2^-24 of each:
 * what is left may be as large as that. */
static __device__ __forceinline__ REAL rest(const REAL *acc, int chunk)
{
    REAL most = 0;
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++)
        most = fmaxf(most, fabsf(acc[chunk_sum(chunk, i)]));
    return GRAD_DIV ? 0 : most / 65536;
}

/* The largest that a lifted jump of a face can be, in the columns of direction J. */
template <int FIRST, int J>
static __device__ __forceinline__ void see_face(const tile &s, int face, int e, REAL most[COLUMNS])
{
    REAL lift_coef[NUM_LIFT_COEF], sum[COLUMNS] = {};
#pragma unroll
    for (int k = 0; k < NUM_LIFT_COEF; k++)
        lift_coef[k] = s.lift_coef[face][k][e];
#pragma unroll
    for (int k = 0; k < NUM_JUMP; k++) {
        REAL y[NUM_JUMP] = {}, acc[NUM_ACC] = {};
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++)
            y[k] = fmaxf(y[k], s.seen[jump_seen(face, k)][slot][e]);
        apply_lift(y, face, lift_coef, acc);
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
            if (face > 0 || column_face0(J, column % 2))
                sum[column] += fmaxf(fabsf(acc[column_sum(FIRST + column / 2, J, column % 2)]),
                                     rest(acc, FIRST + column / 2));
    }
#pragma unroll
    for (int column = 0; column < COLUMNS; column++)
        most[column] = fmaxf(most[column], sum[column]);
}

template <int FIRST, int J> static __device__ __forceinline__ void find_bounds_of(tile &s, int e)
{
    REAL most[COLUMNS] = {};
    see_face<FIRST, J>(s, 0, e, most);
    see_face<FIRST, J>(s, J + 1, e, most);
#pragma unroll
    for (int column = 0; column < COLUMNS; column++) {
        int bits = (int)__float_as_uint(most[column]);
        s.bound[COLUMNS * J + column][e] = bits > LEAST_SIZE ? bits : LEAST_SIZE;
    }
}

/* The scales of a turn's lifted jumps, after all jumps are seen: a warp for each direction. */
template <int FIRST> static __device__ __forceinline__ void find_bounds(tile &s)
{
    for (int i = threadIdx.x; i < 3 * 32; i += THREADS)
        if (i % 32 < TILE) {
            if (i < 32)
                find_bounds_of<FIRST, 0>(s, i);
            else if (i < 64)
                find_bounds_of<FIRST, 1>(s, i - 32);
            else
                find_bounds_of<FIRST, 2>(s, i - 64);
        }
}
#endif

#endif
