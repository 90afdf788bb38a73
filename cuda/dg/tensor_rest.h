/* tensor_rest.h: products of kernel tensor for the eight nodes that are left beside a single tile of triples, if REST is 1:
 * whole triples, and nodes that C (tensor_rows.h) leaves alone.
 *
 * Here the state is the left factor, whose 16 rows are two columns (block_columns.h) of eight elements, and the operator
 * the right one, [k][8 nodes]. Direction j of a node n takes row C^-j n of D_1, which other lanes have for their nodes, and
 * the state at rows turned j times, as the products of the tile do; likewise lifts, but of face 0 row n itself. A lane has
 * sums of element lane / 4 at nodes 2 (lane % 4) + i.
 *
 * Table: at REST_ROWS words node + 2^16 k + 2^24 l, of which C^-1 and C^-2 are numbers k and l here; behind the tile's
 * operator that of the rest, D_1, lift of face 1, lift of face 0, each [step][row][lane % 4][hi, lo]. */
#ifndef UNDA_DG_TENSOR_REST_H
#define UNDA_DG_TENSOR_REST_H

#include "dg/tensor_fragments.h"

static_assert(REST == 0 || (ORBIT_TILES == 1 && TILE_LIFTED), "a lane has two traces of each face to lift");

enum {
    REST_WORDS = 8, /* by depth */
    REST_VOLUME = OPERATOR_WORDS,
    REST_LIFT = REST_VOLUME + REST_WORDS * DEPTH_NODES,
    REST_FACE0 = REST_LIFT + REST_WORDS * DEPTH_FACE
};

/* The operator, and where a lane finds its words of it for each direction, in units of them. */
struct rest_operator {
    const int *words;
    int lane[3];
    __device__ __forceinline__ rest_operator(const int *table, int own) : words(table + OPERATOR), lane()
    {
        if (REST) {
            int packed = __ldg(table + REST_ROWS + own / 4);
            lane[0] = own;
            lane[1] = (packed >> 16 & 0xff) * 4 + own % 4;
            lane[2] = (packed >> 24) * 4 + own % 4;
        }
    }
};

/* Its part of a step. */
template <int DEPTH> struct rest_part {
    unsigned hi[DEPTH / 8], lo[DEPTH / 8];
};
static __device__ __forceinline__ void load_rest(rest_part<16> &to, const int *entry, int lane)
{
    int4 words = __ldg((const int4 *)entry + lane);
    to = {{(unsigned)words.x, (unsigned)words.y}, {(unsigned)words.z, (unsigned)words.w}};
}
static __device__ __forceinline__ void load_rest(rest_part<8> &to, const int *entry, int lane)
{
    int2 words = __ldg((const int2 *)entry + lane);
    to = {{(unsigned)words.x}, {(unsigned)words.y}};
}

/* A step of direction or face j, of face 0 with j = 0; give(column, i, x) for each sum. first: its word. */
template <int DEPTH, int COLUMNS, class Give>
static __device__ __forceinline__ void multiply_rest(const rest_operator &rest, int first, int j,
                                                     const state_part<DEPTH> (&state)[COLUMNS], Give give)
{
    if constexpr (REST && COLUMNS == 2) {
        rest_part<DEPTH> op;
        unsigned hi[DEPTH / 4], lo[DEPTH / 4];
        float part[4] = {};
        load_rest(op, rest.words + first, rest.lane[j]);
#pragma unroll
        for (int i = 0; i < DEPTH / 4; i++)
            hi[i] = state[i % 2].hi[i / 2], lo[i] = state[i % 2].lo[i / 2];
        multiply_add(part, lo, op.hi);
        multiply_add(part, hi, op.lo);
        multiply_add(part, hi, op.hi);
#pragma unroll
        for (int i = 0; i < 4; i++)
            give(i / 2, i % 2, part[i]);
    }
}

/* Node number i of a lane's. */
static __device__ __forceinline__ int rest_node(const int *table, const lane_place &at, int i)
{
    return __ldg(table + REST_ROWS + at.lane % 4 * 2 + i) & 0xffff;
}

#endif
