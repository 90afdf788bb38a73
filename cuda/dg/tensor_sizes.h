/* tensor_sizes.h: which values of a tile of kernel tensor share a scale (tensor_split.h), and the largest sizes among
 * them, which threads find while they fill the tile. */
#ifndef UNDA_DG_TENSOR_SIZES_H
#define UNDA_DG_TENSOR_SIZES_H

#include "dg/block_columns.h"
#include "dg/tensor_rows.h"

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

/* A tile's words hold in turn: states as they come, [group][element][NODE_PITCH]; the split state, [row][NUM_REF][TILE];
 * the sums, [chunk][element][NODE_PITCH][CHUNK_SUMS]. NODE_PITCH is odd for the banks' sake. */
enum { NODE_PITCH = NP | 1 };
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define TILE_WORDS   LARGER(NP *PITCH_U, NUM_REF *TILE *NODE_PITCH)
#define TILE_LANES   (THREADS / TILE)
#define TILE_JUMPS   (NUM_JUMP + MADE_JUMPS) /* those made of the others have no size of their own */
#include "dg/tile.h"

enum { LEAST_SIZE = 15 << 23 }; /* 2^-112, which takes the place of what is smaller */

/* Of NUM sizes, the largest that a thread has seen. */
template <int NUM> struct largest {
    REAL of[NUM];
    __device__ __forceinline__ largest() : of()
    {
    }
    __device__ __forceinline__ void see(int i, REAL x)
    {
        of[i] = fmaxf(of[i], fabsf(x));
    }
    /* Into rows first, first + 1, .. of the sizes of an element. */
    __device__ __forceinline__ void put(tile &s, int first, int e) const
    {
#pragma unroll
        for (int i = 0; i < NUM; i++)
            atomicMax(&s.most[first + i][e], (int)__float_as_uint(of[i]));
    }
};

/* Before any size is put; not yet in all threads' eyes. */
static __device__ __forceinline__ void clear_sizes(tile &s)
{
    for (int i = threadIdx.x; i < NUM_SCALE * TILE; i += THREADS)
        s.most[i / TILE][i % TILE] = LEAST_SIZE;
}

/* The size of any jump of a face of an element, or a bound; after all have been put. */
static __device__ __forceinline__ int size_of_jump(const tile &s, int face, int k, int e)
{
#if MADE_JUMPS
    if (k >= NUM_JUMP) {
        REAL lift_coef[NUM_LIFT_COEF], sizes[NUM_JUMP];
#pragma unroll
        for (int i = 0; i < NUM_LIFT_COEF; i++)
            lift_coef[i] = fabsf(s.lift_coef[face][i][e]);
#pragma unroll
        for (int i = 0; i < NUM_JUMP; i++)
            sizes[i] = __uint_as_float((unsigned)s.most[jump_scale(face, i)][e]);
        int size = (int)__float_as_uint(made_jump(sizes, lift_coef));
        return LARGER(size, LEAST_SIZE);
    }
#endif
    return s.most[jump_scale(face, k)][e];
}

/* What incident.h asks. */
static __device__ __forceinline__ REAL *jump_place(const dg_args &a, tile &s, int face, int m, int k, int e)
{
    int row = row_of_face(__ldg(a.table + FACE_ROWS + face * NFP + m)).jump;
    return s.s + (face * NFP + row) * PITCH_S + k * TILE + e;
}
static __device__ __forceinline__ void jump_changed(tile &s, int face, int k, int e, REAL value)
{
    atomicMax(&s.most[jump_scale(face, k)][e], (int)__float_as_uint(fabsf(value)));
}

#endif
