/* tensor_sizes.h: which values of a tile of kernel tensor share a scale (tensor_split.h), and the largest sizes among
 * them, which threads find while they fill the tile. */
#ifndef UNDA_DG_TENSOR_SIZES_H
#define UNDA_DG_TENSOR_SIZES_H

#include "dg/block_columns.h"

#define TILE_SIZES
enum {
    FIELD_SCALES = GRAD_DIV ? 2 * GRAD_DIV : 2, /* (a_i), (b_1 b_2 b_3)_i; or two vectors: cuda/space */
    NUM_SCALE = FIELD_SCALES + NUM_FACE * NUM_JUMP
};

/* Which scale a field of NUM_REF has, and jump k of a face. */
static __device__ constexpr int field_scale(int field)
{
    return !GRAD_DIV ? field / 3 : field < GRAD_DIV ? field : GRAD_DIV + field % (GRAD_DIV ? GRAD_DIV : 1);
}
static __device__ constexpr int jump_scale(int face, int k)
{
    return FIELD_SCALES + face * NUM_JUMP + k;
}

/* Of NUM sizes, the largest that a thread has seen. */
template <int NUM> struct largest {
    REAL of[NUM];
    __device__ __forceinline__ largest() : of()
    {
    }
    /* Into rows first, first + 1, .. of the sizes of an element, which begin as zeros. */
    __device__ __forceinline__ void put(int (*most)[TILE], int first, int e) const
    {
#pragma unroll
        for (int i = 0; i < NUM; i++)
            atomicMax(&most[first + i][e], (int)__float_as_uint(of[i]));
    }
};

/* What tile.h asks. */
struct tile;
struct state_sizes : largest<FIELD_SCALES> {
    __device__ __forceinline__ void see(const REAL *u)
    {
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            of[field_scale(f)] = fmaxf(of[field_scale(f)], fabsf(u[f]));
    }
    __device__ __forceinline__ void keep(tile &s, int e) const;
};
struct jump_sizes : largest<NUM_JUMP> {
    __device__ __forceinline__ void see(const REAL *jumps)
    {
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            of[k] = fmaxf(of[k], fabsf(jumps[k]));
    }
    __device__ __forceinline__ void keep(tile &s, int face, int e) const;
};

#include "dg/tile.h"

__device__ __forceinline__ void state_sizes::keep(tile &s, int e) const
{
    put(s.most, 0, e);
}
__device__ __forceinline__ void jump_sizes::keep(tile &s, int face, int e) const
{
    put(s.most, jump_scale(face, 0), e);
}

/* Before the tile is filled; no thread stores a size before all are through. */
static __device__ __forceinline__ void clear_sizes(tile &s)
{
    for (int i = threadIdx.x; i < NUM_SCALE * TILE; i += THREADS)
        s.most[i / TILE][i % TILE] = 0;
    __syncthreads();
}

#endif
