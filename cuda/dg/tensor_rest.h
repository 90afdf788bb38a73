/* tensor_rest.h: products of kernel tensor for the nodes that do not fill a tile of triples. A tile has REST groups of
 * eight of them beside its triples, of which C (tensor_rows.h) makes no others.
 *
 * Here the state is the left factor, 16 rows which are two columns (block_columns.h) of eight elements, and the operator
 * the right one, [k][8 nodes]: both are in the registers of the tile's own products, or as such. Direction j of a node n
 * takes row C^-j n of D_1, which other lanes have as theirs, and the state at rows turned j times; lifts likewise, that of
 * face 0 row n itself. So a lane has sums of element lane / 4 at nodes 2 (lane % 4) + i of each group. */
#ifndef UNDA_DG_TENSOR_REST_H
#define UNDA_DG_TENSOR_REST_H

#include "dg/tensor_fragments.h"

static_assert(REST == 0 || TILE_LIFTED, "two traces of each face are lifted");

/* Where a lane finds its words of the operator for each direction, in units of them. */
struct rest_lanes {
    int of[REST_ROOM][3];
    __device__ __forceinline__ rest_lanes(const int *table, const lane_place &at)
    {
#pragma unroll
        for (int group = 0; group < REST; group++) {
            int packed = __ldg(table + REST_ROWS + (at.tile * REST + group) * 8 + at.lane / 4);
            of[group][0] = group * 32 + at.lane;
            of[group][1] = (packed >> 16 & 0xff) * 4 + at.lane % 4;
            of[group][2] = (packed >> 24 & 0xff) * 4 + at.lane % 4;
        }
    }
};

/* [k][8 nodes] of a step; in the table [row][lane % 4][hi, lo]. */
template <int DEPTH> struct rest_operator {
    unsigned hi[DEPTH / 8], lo[DEPTH / 8];
};
static __device__ __forceinline__ void load_rest(rest_operator<16> &to, const int *entry, int lane)
{
    int4 words = __ldg((const int4 *)entry + lane);
    to = {{(unsigned)words.x, (unsigned)words.y}, {(unsigned)words.z, (unsigned)words.w}};
}
static __device__ __forceinline__ void load_rest(rest_operator<8> &to, const int *entry, int lane)
{
    int2 words = __ldg((const int2 *)entry + lane);
    to = {{(unsigned)words.x}, {(unsigned)words.y}};
}

/* c += one of the three products, of two columns of the state. */
template <int DEPTH>
static __device__ __forceinline__ void
multiply_pair(float (&c)[4], int product, const state_part<DEPTH> (&state)[2], const rest_operator<DEPTH> &op)
{
    unsigned a[DEPTH / 4];
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++)
#pragma unroll
        for (int column = 0; column < 2; column++)
            a[2 * i + column] = product == 0 ? state[column].lo[i] : state[column].hi[i];
    multiply_add(c, a, product == 1 ? op.lo : op.hi);
}

/* A step of direction or face j, of face 0 with j = 0; give(column, i, x): i is the number of the lane's sum. */
template <int DEPTH, int COLUMNS, class Give>
static __device__ __forceinline__ void multiply_rest(const int *entry, const rest_lanes &lanes, int j,
                                                     const state_part<DEPTH> (&state)[COLUMNS], Give give)
{
    if constexpr (REST > 0 && COLUMNS == 2) {
#pragma unroll
        for (int group = 0; group < REST; group++) {
            rest_operator<DEPTH> op;
            float part[4] = {};
            load_rest(op, entry, lanes.of[group][j]);
#pragma unroll
            for (int product = 0; product < 3; product++)
                multiply_pair<DEPTH>(part, product, state, op);
#pragma unroll
            for (int i = 0; i < 4; i++)
                give(i / 2, 2 * group + i % 2, part[i]);
        }
    }
}

#endif
