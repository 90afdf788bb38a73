/* tensor_sizes.h: which values of a tile of kernel tensor share a scale (tensor_split.h), and the largest sizes among
 * them, which threads find while they fill the tile. */
#ifndef UNDA_DG_TENSOR_SIZES_H
#define UNDA_DG_TENSOR_SIZES_H

#include "dg/block_columns.h"
#define SUMMED_BITS 0
#include "dg/split.h"
#include "dg/tensor_rows.h"

#define TILE_SIZES
enum { NUM_SCALE = GRAD_DIV ? 2 * GRAD_DIV : 2 }; /* (a_i), (b_1 b_2 b_3)_i; or two vectors: cuda/space */

/* Which scale a field of NUM_REF has; trace k of what is lifted (`lifted` of the physics), which is added to the same
 * sums. */
static __device__ constexpr int field_scale(int field)
{
    return !GRAD_DIV ? field / 3 : field < GRAD_DIV ? field : GRAD_DIV + field % (GRAD_DIV ? GRAD_DIV : 1);
}
static __device__ constexpr int trace_scale(int k)
{
    return !GRAD_DIV ? 1 - k / 2 : k < GRAD_DIV ? GRAD_DIV + k : k - GRAD_DIV;
}

/* A tile's words hold in turn: states as they come, [group][element][NODE_PITCH]; the split state, [row][NUM_REF][TILE];
 * the sums, [chunk][element][NODE_PITCH][CHUNK_SUMS]. NODE_PITCH is odd for the banks' sake. */
enum { NODE_PITCH = NP | 1 };
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define TILE_WORDS   LARGER(NP *PITCH_U, NUM_REF *TILE *NODE_PITCH)
#define TILE_LANES   (THREADS / TILE)
/* In the place of jumps stands what is added to the sums when it is lifted, so that a chunk finds its own; a single jump
 * stands for itself, and its lift is added in multiples. */
#define TILE_LIFTED (NUM_JUMP > 1)
#define TILE_JUMPS  (TILE_LIFTED ? NUM_TRACE : 1)
#include "dg/tile.h"

/* The largest sizes that a thread has seen. */
struct largest {
    REAL of[NUM_SCALE];
    __device__ __forceinline__ largest() : of()
    {
    }
    __device__ __forceinline__ void see(int i, REAL x)
    {
        of[i] = fmaxf(of[i], fabsf(x));
    }
    /* Into the sizes of an element, which so many lanes beside each other share: few of them should wait for each other
     * at its words. */
    template <int LANES_BESIDE = 1> __device__ __forceinline__ void put(tile &s, int e)
    {
#pragma unroll
        for (int step = 1; step < LANES_BESIDE; step *= 2)
#pragma unroll
            for (int i = 0; i < NUM_SCALE; i++)
                see(i, __shfl_xor_sync(~0u, of[i], step));
        if (threadIdx.x % LANES_BESIDE == 0)
#pragma unroll
            for (int i = 0; i < NUM_SCALE; i++)
                atomicMax(&s.most[i][e], (int)__float_as_uint(of[i]));
    }
};

/* Before any size is put; not yet in all threads' eyes. */
static __device__ __forceinline__ void clear_sizes(tile &s)
{
    for (int i = threadIdx.x; i < NUM_SCALE * TILE; i += THREADS)
        s.most[i / TILE][i % TILE] = LEAST_SIZE;
}

/* What incident.h asks. */
static __device__ __forceinline__ void add_jumps(const dg_args &a, tile &s, int face, int m, int e,
                                                 const REAL *jumps)
{
    REAL lift_coef[NUM_LIFT_COEF], z[NUM_TRACE];
    int row = row_of_face(__ldg(a.table + FACE_ROWS + face * NFP + m)).jump;
#pragma unroll
    for (int i = 0; i < NUM_LIFT_COEF; i++)
        lift_coef[i] = s.lift_coef[face][i][e];
    lifted(jumps, lift_coef, z);
#pragma unroll
    for (int k = 0; k < TILE_JUMPS; k++) {
        REAL *to = s.s + (face * NFP + row) * PITCH_S + k * TILE + e;
        z[k] = *to += TILE_LIFTED ? z[k] : jumps[k];
    }
    if (!TILE_LIFTED) {
        REAL jump = z[0];
        lifted(&jump, lift_coef, z);
    }
    largest sizes;
#pragma unroll
    for (int k = 0; k < NUM_TRACE; k++)
        sizes.see(trace_scale(k), z[k]);
    sizes.put(s, e);
}

#endif
