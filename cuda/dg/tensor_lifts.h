/* tensor_lifts.h: what lifted jumps add to the sums of kernel tensor. Of the traces to be lifted (`lifted` of the
 * physics) a chunk takes two of each face, number l = 0 and 1. By symmetry (tensor_rows.h) the lift of face 1 is that of
 * faces 2 and 3 as well, in other rows, and so an operator for all three. Sums are in units of unscale_sums. */
#ifndef UNDA_DG_TENSOR_LIFTS_H
#define UNDA_DG_TENSOR_LIFTS_H

#include "dg/tensor_fragments.h"

/* Which trace number l of a chunk is; the sum of the chunk to which faces 1, 2, 3 add it, and whether they take it away;
 * the same of face 0, where it may be added to several: cuda/space. */
static __device__ __forceinline__ int trace_of_chunk(int chunk, int l)
{
    return GRAD_DIV ? GRAD_DIV * l + chunk : 2 * chunk + l;
}
static __device__ constexpr int lift_sum(int face, int l)
{
    return GRAD_DIV ? (l == 0 ? 0 : face) : (face + 1 - l) % 3;
}
static __device__ constexpr bool lift_subtracts(int l)
{
    return GRAD_DIV && l == 1;
}
static __device__ constexpr int lift_sign_of_face0(int l, int i)
{
    return GRAD_DIV ? (l == 0) == (i == 0) : i == 0 ? -1 : i == 1 + l;
}

/* acc += a step of the lift of face 0. row: where this lane's word of the chunk's first trace is, were its row 0. */
template <int DEPTH>
static __device__ __forceinline__ void lift_step_of_face0(const step_operator<DEPTH, 1> &op, const REAL *row,
                                                          const lane_place &at, int k,
                                                          float acc[CHUNK_SUMS][3][4])
{
    int node = row_of_step<DEPTH, NFP>(at, k);
#pragma unroll
    for (int l = 0; l < 2; l++) {
        state_part<DEPTH> state[3];
        float part[3][4] = {};
#pragma unroll
        for (int r = 0; r < 3; r++)
            load_state_part<DEPTH>(state[r], row + turned<FACE_RUN_ROWS>(node, r) * PITCH_S +
                                                 (trace_of_chunk(0, l) - trace_of_chunk(0, 0)) * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int r = 0; r < 3; r++)
                multiply_part<DEPTH>(part[r], product, state[r], op.of[0]);
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            if (lift_sign_of_face0(l, i))
#pragma unroll
                for (int r = 0; r < 3; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        acc[i][r][c] += lift_sign_of_face0(l, i) < 0 ? -part[r][c] : part[r][c];
    }
}

/* The same of faces 1, 2 and 3. */
template <int DEPTH>
static __device__ __forceinline__ void lift_step_of_others(const step_operator<DEPTH, 3> &op, const REAL *row,
                                                           const lane_place &at, int k,
                                                           float acc[CHUNK_SUMS][3][4])
{
    float part[CHUNK_SUMS][3][4] = {};
    int node = row_of_step<DEPTH, NFP>(at, k);
#pragma unroll
    for (int face = 1; face < NUM_FACE; face++) {
        state_part<DEPTH> state[2];
#pragma unroll
        for (int l = 0; l < 2; l++)
            load_state_part<DEPTH>(state[l], row + (face * NFP + node) * PITCH_S +
                                                 (trace_of_chunk(0, l) - trace_of_chunk(0, 0)) * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int l = 0; l < 2; l++)
#pragma unroll
                for (int r = 0; r < 3; r++)
                    multiply_part<DEPTH>(part[lift_sum(face, l)][(r + face - 1) % 3], product, state[l],
                                         op.of[r]);
    }
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++)
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                acc[i][r][c] += lift_subtracts(i > 0) ? -part[i][r][c] : part[i][r][c];
}

/* acc += all lifts of a chunk. */
static __device__ __forceinline__ void lifts(const int *table, const tile &s, const lane_place &at,
                                             float acc[CHUNK_SUMS][3][4])
{
    constexpr int WHOLE = DEPTH_FACE / 16 * 16;
    const int *others = table + OPERATOR + at.tile * OPERATOR_WORDS + VOLUME_WORDS, *face0 = others + LIFT_WORDS;
    const REAL *row = s.s + trace_of_chunk(at.chunk, 0) * TILE, *now = row + word_of_lane<16>(at),
               *last = row + word_of_lane<8>(at);
#pragma unroll(UNROLL)
    for (int k = 0; k < WHOLE; k += 16) {
        step_operator<16, 1> first;
        step_operator<16> op;
        first.load(face0 + STEP_WORDS * k, at.lane);
        op.load(others + 3 * STEP_WORDS * k, at.lane);
        lift_step_of_face0<16>(first, now, at, k, acc);
        lift_step_of_others<16>(op, now, at, k, acc);
    }
    if constexpr (DEPTH_FACE % 16) {
        step_operator<8, 1> first;
        step_operator<8> op;
        first.load(face0 + STEP_WORDS * WHOLE, at.lane);
        op.load(others + 3 * STEP_WORDS * WHOLE, at.lane);
        lift_step_of_face0<8>(first, last, at, WHOLE, acc);
        lift_step_of_others<8>(op, last, at, WHOLE, acc);
    }
}

#endif
