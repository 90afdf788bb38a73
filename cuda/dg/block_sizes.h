/* block_sizes.h: which inputs of the four blocks share a scale (split.h), and their largest sizes, which threads find while
 * they fill the tile (block_seen.h): those of fields by kind, a of a pair or its vector b, v or w of curls; those of lifted
 * jumps by element and column, as a bound, sum over jumps k of |what jump k gives| max |jump k| (block_scales.h). */
#ifndef UNDA_DG_BLOCK_SIZES_H
#define UNDA_DG_BLOCK_SIZES_H

#include "dg/block_columns.h"
#define SUMMED_BITS 2
#include "dg/split.h"

#define TILE_SEES
/* So many that the elements' threads fill whole warps. */
#define LANES_UNIT (TILE == 4 ? 8 : 4)
#define TILE_LANES (LEAST(THREADS / TILE, NFP + LANES_UNIT - 1) / LANES_UNIT * LANES_UNIT)

/* A pitch of rows of so many words that lets rows of four words stand in different banks. */
#define ODD_QUADS(words) ((words) / 4 % 2 ? (words) : (words) + 4)

enum { FIELD_KINDS = GRAD_DIV ? 2 * GRAD_DIV : 2, NUM_SEEN = FIELD_KINDS + 4 /* faces */ * NUM_JUMP };

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

/* Lanes of an element that compare what they see by shuffles, and how often an element has so many. */
#define GROUP (LANES % 8 == 0 ? 8 : 4)
#define SLOTS (LANES / GROUP)

/* What a tile keeps. */
#define TILE_SEEN                                                                                            \
    __align__(16) REAL seen[NUM_SEEN][SLOTS][TILE]; /* largest size */                                       \
    __align__(16) int most[FIELD_KINDS][TILE];      /* of all slots, as bits, not below LEAST_SIZE */        \
    __align__(16) int bound[3 * COLUMNS][TILE];     /* the same of lifted jumps */

#endif
