/* tensor_products.h: the products of kernel tensor on tensor cores.
 *
 * By symmetry (tensor_rows.h) rows C^r a of D_1, r = 0, 1, 2, are all that is stored: D_(j + 1) at the node C^(r + j) a is
 * row C^r a of D_1 times the state at rows turned j times. Lifts of faces 1, 2, 3 likewise by that of face 1, and that
 * of face 0 at C^r a by its row a and jumps turned r times. Operands: tensor_fragments.h. */
#ifndef UNDA_DG_TENSOR_PRODUCTS_H
#define UNDA_DG_TENSOR_PRODUCTS_H

#include "dg/tensor_lifts.h"

/* acc += a step of the volume products. row: as of tensor_lifts.h, of the chunk's first field. */
struct volume_rule {
    enum { COLUMNS = 2, SLOTS = CHUNK_SUMS };
    static __device__ constexpr int slot(int j, int c)
    {
        return turn_sum(j, c);
    }
    static __device__ constexpr bool last(int j, int c)
    {
        return last_turn(turn_sum(j, c)) == j;
    }
};
template <int DEPTH>
static __device__ __forceinline__ void volume_step(const step_operator<DEPTH> &op, const rest_operator &rest,
                                                   const REAL *row, const lane_place &at, int k,
                                                   lane_sums &acc)
{
    state_part<DEPTH> state[3][2];
    int node = row_of_step<DEPTH, NP>(at, k);
    auto load = [&](int j) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            load_state_part<DEPTH>(state[j][c],
                                   row + turned<RUN_ROWS>(node, j) * PITCH_U +
                                       (chunk_place(0, turn_field(j, c)) - chunk_place(0, 0)) * TILE);
            if (column_sign(c) < 0)
                state[j][c] = negative<DEPTH>(state[j][c]);
        }
    };
    multiply_step<volume_rule>(
        op, state, load, [&](int j, int c, int r, int i, float x) { acc.of[turn_sum(j, c)][r][i] += x; });
#pragma unroll
    for (int j = 0; j < 3; j++)
        multiply_rest<DEPTH>(rest, REST_VOLUME + REST_WORDS * k, j, state[j],
                             [&](int c, int i, float x) { acc.rest[turn_sum(j, c)][i] += x; });
}

/* acc += the sums of a chunk. */
static __device__ __forceinline__ void volume_products(const int *table, const tile &s, const lane_place &at,
                                                       const rest_operator &rest, lane_sums &acc)
{
    constexpr int WHOLE = DEPTH_NODES / 16 * 16, STEP_WORDS = PIECES * PIECE_WORDS * 16;
    const int *entry = table + OPERATOR + at.tile * OPERATOR_WORDS;
    const REAL *row = s.u + chunk_place(at.chunk, 0) * TILE;
#pragma unroll(UNROLL)
    for (int k = 0; k < WHOLE; k += 16, entry += STEP_WORDS) {
        step_operator<16> now;
        now.load(entry, at.lane);
        volume_step<16>(now, rest, row + word_of_lane<16>(at), at, k, acc);
    }
    if constexpr (DEPTH_NODES % 16) {
        step_operator<8> last;
        last.load(entry, at.lane);
        volume_step<8>(last, rest, row + word_of_lane<8>(at), at, WHOLE, acc);
    }
}

/* From sums of scaled fields to sums: the first is made of (b_1 b_2 b_3)_i, the others of a_i. */
static __device__ __forceinline__ void unscale_sums(const int *table, const tile &s, const lane_place &at,
                                                    lane_sums &acc)
{
    REAL unit = __uint_as_float((unsigned)__ldg(table)), factor[2][2];
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            factor[i][half] =
                unit *
                unscale(s.most[field_scale(chunk_place(at.chunk, !GRAD_DIV ? 0 : 1 - i))][at.element + half]);
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++)
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int c = 0; c < LANE_SUMS; c++)
                acc.of[i][r][c] *= factor[i > 0][c % 2];
    if (REST)
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++) {
            int field = chunk_place(at.chunk, !GRAD_DIV || i > 0 ? 0 : 1);
#pragma unroll
            for (int c = 0; c < 2; c++)
                acc.rest[i][c] *= unit * unscale(s.most[field_scale(field)][at.lane / 4]);
        }
}

/* Nodes of a lane's triples, or -1. */
struct triple_nodes {
    int of[3][RUNS];
};
static __device__ __forceinline__ triple_nodes nodes_of_triples(const int *table, const lane_place &at)
{
    triple_nodes nodes;
#pragma unroll
    for (int c = 0; c < RUNS; c++) {
        int orbit = triple_of(at, c), kept = orbit - RUN_ROWS;
#pragma unroll
        for (int r = 0; r < 3; r++)
            nodes.of[r][c] =
                kept >= (r == 0 ? KEPT : 0)
                    ? -1
                    : __ldg(table + ROW_NODES + (kept < 0 ? r * RUN_ROWS + orbit : 3 * RUN_ROWS + kept));
    }
    return nodes;
}

/* The sums of a warp's triples, in the place of the state: see tensor_sizes.h. */
static __device__ __forceinline__ REAL *sums_place(tile &s, int chunk, int e, int node)
{
    return s.u + ((chunk * TILE + e) * NODE_PITCH + node) * CHUNK_SUMS;
}
static __device__ __forceinline__ void store_sums(tile &s, const lane_place &at, const triple_nodes &nodes,
                                                  const lane_sums &acc)
{
#pragma unroll
    for (int c = 0; c < LANE_SUMS; c++)
#pragma unroll
        for (int r = 0; r < 3; r++) {
            REAL sums[CHUNK_SUMS];
#pragma unroll
            for (int i = 0; i < CHUNK_SUMS; i++)
                sums[i] = acc.of[i][r][c];
            int node = nodes.of[r][c / 2];
            if (node >= 0)
                store_own_vector<CHUNK_SUMS>(sums_place(s, at.chunk, at.element + c % 2, node), sums);
        }
}

/* Those of the rest. */
static __device__ __forceinline__ void store_rest(const int *table, tile &s, const lane_place &at,
                                                  const lane_sums &acc)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
        REAL sums[CHUNK_SUMS];
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            sums[i] = acc.rest[i][c];
        store_own_vector<CHUNK_SUMS>(sums_place(s, at.chunk, at.lane / 4, rest_node(table, at, c)), sums);
    }
}

/* All sums of a tile, in the place of its fields. */
static __device__ __forceinline__ void multiply(const int *table, tile &s)
{
    lane_sums acc[LOTS] = {};
#pragma unroll
    for (int i = 0; i < LOTS; i++) {
        lane_place at = place_of_lane(i);
        if (at.exists) {
            rest_operator rest(table, at.lane);
            lifts(table, s, at, rest, acc[i]);
            volume_products(table, s, at, rest, acc[i]);
            unscale_sums(table, s, at, acc[i]);
        }
    }
    triple_nodes nodes = nodes_of_triples(table, place_of_lane(0));
    __syncthreads();
#pragma unroll
    for (int i = 0; i < LOTS; i++) {
        lane_place at = place_of_lane(i);
        if (at.exists) {
            store_sums(s, at, i == 0 ? nodes : nodes_of_triples(table, at), acc[i]);
            if (REST)
                store_rest(table, s, at, acc[i]);
        }
    }
}

#endif
