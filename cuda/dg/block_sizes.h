/* block_sizes.h: which inputs of the four blocks share a scale (split.h), and their largest sizes, which threads find while
 * they fill the tile: those of fields by kind, a of a pair or its vector b, v or w of curls; those of lifted jumps by
 * element and column, as a bound, sum over jumps k of |what jump k gives| max |jump k|. */
#ifndef UNDA_DG_BLOCK_SIZES_H
#define UNDA_DG_BLOCK_SIZES_H

#include "dg/block_columns.h"
#include "dg/split.h"

#include "common/async.h"

#define TILE_SEES
/* So many that the elements' threads fill whole warps. */
#define LANES_UNIT (TILE == 4 ? 8 : 4)

enum {
    FIELD_KINDS = GRAD_DIV ? 2 * GRAD_DIV : 2,
    NUM_SEEN = FIELD_KINDS + 4 /* faces */ * NUM_JUMP
};

/* Of NUM_REF. */
static __device__ constexpr int field_kind(int field)
{
    return !GRAD_DIV ? field / 3 : field < GRAD_DIV ? field : GRAD_DIV + field % (GRAD_DIV ? GRAD_DIV : 1);
}
/* What jump k of a face is seen as. */
static __device__ constexpr int jump_seen(int face, int k)
{
    return FIELD_KINDS + face * NUM_JUMP + k;
}
/* Of column c of a chunk. */
static __device__ __forceinline__ int column_kind(int chunk, int c)
{
    return GRAD_DIV ? GRAD_DIV * c + chunk : 1 - chunk;
}

/* Lanes of an element that compare their values by shuffles, and how often an element has so many. */
#define TOGETHER_SEEN (LANES % 8 == 0 ? 8 : 4)
#define SLOTS         (LANES / TOGETHER_SEEN)

/* What a tile keeps of it. */
#define TILE_SEEN                                                                                            \
    __align__(16) REAL seen[NUM_SEEN][SLOTS][TILE]; /* largest size */                                       \
    __align__(16) int most[FIELD_KINDS][TILE];      /* of all slots, as bits, not below LEAST_SIZE */        \
    __align__(16) int bound[3 * COLUMNS][TILE];     /* the same of lifted jumps */

/* The largest of what a thread sees of NUM kinds, and of the threads beside it. */
template <int NUM> struct largest_seen {
    REAL of[NUM];
    __device__ __forceinline__ largest_seen() : of()
    {
    }
    __device__ __forceinline__ void see(int i, REAL x)
    {
        of[i] = fmaxf(of[i], fabsf(x));
    }
    /* As first, first + 1, .. of element e; lane: of its LANES. */
    template <class TILE_TYPE>
    __device__ __forceinline__ void put(TILE_TYPE &s, int first, int e, int lane) const
    {
        constexpr int GROUP = TILE_TYPE::GROUP;
#pragma unroll
        for (int i = 0; i < NUM; i++) {
            REAL most = of[i];
#pragma unroll
            for (int apart = 1; apart < GROUP; apart *= 2)
                most = fmaxf(most, __shfl_xor_sync(~0u, most, apart));
            if (lane % GROUP == 0)
                s.seen[first + i][lane / GROUP][e] = most;
        }
    }
};

#endif
