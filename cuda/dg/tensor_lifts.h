/* tensor_lifts.h: what lifted jumps add to the sums of kernel tensor. Of the traces to be lifted (`lifted` of the physics)
 * a chunk takes two of each face, number l = 0 and 1; both are multiples of a single jump, if there is one. By symmetry
 * (tensor_rows.h) the lift of face 1 is that of faces 2 and 3 as well, in other rows, and so an operator for all three.
 * Sums are in units of unscale_sums. */
#ifndef UNDA_DG_TENSOR_LIFTS_H
#define UNDA_DG_TENSOR_LIFTS_H

#include "dg/tensor_rest.h"

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

/* Multiples of a single jump, by faces, l and halves of a lane's elements, between the units of sums: the jump has that of
 * the first. Otherwise they are not used. */
struct jump_factors {
    REAL of[NUM_FACE][2][2];
    __device__ __forceinline__ jump_factors(const tile &s, const lane_place &at)
    {
        if (TILE_LIFTED)
            return;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int face = 0; face < NUM_FACE; face++) {
                int e = at.element + half;
                REAL one[NUM_JUMP] = {1}, lift_coef[NUM_LIFT_COEF], z[NUM_TRACE];
#pragma unroll
                for (int k = 0; k < NUM_LIFT_COEF; k++)
                    lift_coef[k] = s.lift_coef[face][k][e];
                lifted(one, lift_coef, z);
                of[face][0][half] = z[0];
                of[face][1][half] =
                    z[1] * (unscale(s.most[trace_scale(0)][e]) * scale(s.most[trace_scale(1)][e]));
            }
    }
    /* Of what is lifted of a face, for sum c, number l. */
    __device__ __forceinline__ REAL times(REAL x, int face, int l, int c) const
    {
        return TILE_LIFTED ? x : x * of[face][l][c % 2];
    }
};

enum { LIFTS = TILE_LIFTED ? 2 : 1 }; /* of a face that a chunk needs */

/* acc += a step of the lift of face 0. row: where this lane's word of the chunk's first trace is, were its row 0. */
template <int DEPTH>
static __device__ __forceinline__ void
lift_step_of_face0(const step_operator<DEPTH, FACE0_PIECES> &op, const rest_operator &rest, const REAL *row,
                   const lane_place &at, int k, const jump_factors &factors, lane_sums &acc)
{
    int node = row_of_step<DEPTH, NFP>(at, k);
    state_part<DEPTH> unturned[LIFTS];
#pragma unroll
    for (int lift = 0; lift < LIFTS; lift++) {
        state_part<DEPTH> state[3];
        float part[3][FACE0_PIECES][4] = {};
#pragma unroll
        for (int r = 0; r < 3; r++)
            load_state_part<DEPTH>(state[r], row + turned<FACE_RUN_ROWS>(node, r) * PITCH_S +
                                                 (trace_of_chunk(0, lift) - trace_of_chunk(0, 0)) * TILE);
        unturned[lift] = state[0];
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int r = 0; r < 3; r++)
#pragma unroll
                for (int piece = 0; piece < FACE0_PIECES; piece++)
                    multiply_part<DEPTH>(part[r][piece], product, state[r], op.of[piece]);
#pragma unroll
        for (int l = lift; l < 2; l += LIFTS)
#pragma unroll
            for (int sum = 0; sum < CHUNK_SUMS; sum++)
                if (lift_sign_of_face0(l, sum))
#pragma unroll
                    for (int r = 0; r < 3; r++)
#pragma unroll
                        for (int piece = 0; piece < FACE0_PIECES; piece++)
#pragma unroll
                            for (int i = 0; i < 4; i++)
                                if (product_run(piece, i) == 0) {
                                    int c = product_sum(piece, i);
                                    float x = factors.times(part[r][piece][i], 0, l, c);
                                    acc.of[sum][r][c] += lift_sign_of_face0(l, sum) < 0 ? -x : x;
                                }
    }
    multiply_rest<DEPTH>(rest, REST_FACE0 + REST_WORDS * k, 0, unturned, [&](int l, int i, float x) {
#pragma unroll
        for (int sum = 0; sum < CHUNK_SUMS; sum++)
            if (lift_sign_of_face0(l, sum))
                acc.rest[sum][i] += lift_sign_of_face0(l, sum) < 0 ? -x : x;
    });
}

/* The same of faces 1, 2 and 3, that is 1 + j. */
struct lift_rule {
    enum { COLUMNS = LIFTS, SLOTS = TILE_LIFTED ? CHUNK_SUMS : 3 };
    static __device__ constexpr int slot(int j, int c)
    {
        return TILE_LIFTED ? lift_sum(1 + j, c) : j;
    }
    static __device__ constexpr bool last(int j, int c)
    {
        return !TILE_LIFTED || last_turn(lift_sum(1 + j, c)) == j;
    }
};
template <int DEPTH>
static __device__ __forceinline__ void
lift_step_of_others(const step_operator<DEPTH> &op, const rest_operator &rest, const REAL *row,
                    const lane_place &at, int k, const jump_factors &factors, lane_sums &acc)
{
    state_part<DEPTH> state[3][LIFTS];
    int node = row_of_step<DEPTH, NFP>(at, k);
    auto load = [&](int j) {
#pragma unroll
        for (int c = 0; c < LIFTS; c++)
            load_state_part<DEPTH>(state[j][c], row + ((1 + j) * NFP + node) * PITCH_S +
                                                    (trace_of_chunk(0, c) - trace_of_chunk(0, 0)) * TILE);
    };
    multiply_step<lift_rule>(op, state, load, [&](int j, int c, int r, int i, float x) {
#pragma unroll
        for (int l = c; l < 2; l += LIFTS) {
            float y = factors.times(x, 1 + j, l, i);
            acc.of[lift_sum(1 + j, l)][r][i] += lift_subtracts(l) ? -y : y;
        }
    });
#pragma unroll
    for (int j = 0; j < 3; j++)
        multiply_rest<DEPTH>(rest, REST_LIFT + REST_WORDS * k, j, state[j], [&](int l, int i, float x) {
            acc.rest[lift_sum(1 + j, l)][i] += lift_subtracts(l) ? -x : x;
        });
}

/* acc += a step of the lifts of face 0, of the others, or of both, whose operators begin at face0 and others. */
template <int DEPTH, bool FACE0, bool OTHERS>
static __device__ __forceinline__ void
lift_step(const int *face0, const int *others, const rest_operator &rest, const REAL *row,
          const lane_place &at, int k, const jump_factors &factors, lane_sums &acc)
{
    step_operator<DEPTH, FACE0_PIECES> first;
    step_operator<DEPTH> op;
    if (FACE0)
        first.load(face0 + FACE0_PIECES * PIECE_WORDS * k, at.lane);
    if (OTHERS)
        op.load(others + PIECES * PIECE_WORDS * k, at.lane);
    if (FACE0)
        lift_step_of_face0<DEPTH>(first, rest, row, at, k, factors, acc);
    if (OTHERS)
        lift_step_of_others<DEPTH>(op, rest, row, at, k, factors, acc);
}

/* acc += all lifts of a chunk; those of face 0 first where a thread has few registers. */
static __device__ __forceinline__ void lifts(const int *table, const tile &s, const lane_place &at,
                                             const rest_operator &rest, lane_sums &acc)
{
    constexpr int WHOLE = DEPTH_FACE / 16 * 16;
    const int *others = table + OPERATOR + at.tile * OPERATOR_WORDS + VOLUME_WORDS,
              *face0 = others + LIFT_WORDS;
    const REAL *row = s.s + trace_of_chunk(at.chunk, 0) * TILE, *now = row + word_of_lane<16>(at),
               *last = row + word_of_lane<8>(at);
    jump_factors factors(s, at);
    if (BY_DIRECTION)
#pragma unroll(UNROLL)
        for (int k = 0; k < WHOLE; k += 16)
            lift_step<16, true, false>(face0, others, rest, now, at, k, factors, acc);
#pragma unroll(UNROLL)
    for (int k = 0; k < WHOLE; k += 16)
        lift_step<16, !BY_DIRECTION, true>(face0, others, rest, now, at, k, factors, acc);
    if constexpr (DEPTH_FACE % 16)
        lift_step<8, true, true>(face0, others, rest, last, at, WHOLE, factors, acc);
}

#endif
