/* tensor_lifts.h: what lifted jumps add to the sums of kernel tensor. A chunk lifts CHUNK_JUMPS jumps of each face and
 * adds multiples of them to some of its sums; the multiples, with the scales, are found once a face and element.
 * By symmetry (tensor_rows.h) the lift of face 1 is that of faces 2 and 3 as well, in other rows, and so an operator for
 * all three. */
#ifndef UNDA_DG_TENSOR_LIFTS_H
#define UNDA_DG_TENSOR_LIFTS_H

#include "dg/tensor_fragments.h"

enum { CHUNK_JUMPS = PAIR_JUMPS ? PAIR_JUMPS : NUM_JUMP };

/* Which jump number l of a chunk is. */
static __device__ __forceinline__ int jump_of_chunk(int chunk, int l)
{
#if PAIR_JUMPS
    return pair_jump(chunk, l);
#else
    return l;
#endif
}

/* Whether it may add to sum i, as apply_lift (cuda/space) does. */
static __device__ constexpr bool lift_adds(int face, int l, int i)
{
    bool reached = GRAD_DIV ? i == 0 || face == 0 || i == face : face == 0 || i != face - 1;
    return !PAIR_JUMPS ? reached : l > 0 ? i == 0 : reached && (i > 0 || !BOTH_JUMPS);
}

/* Sum i of a chunk, of all sums. */
static __device__ __forceinline__ REAL sum_of_chunk(const REAL all[NUM_ACC], int chunk, int i)
{
    REAL sum = all[chunk_sum(0, i)];
#pragma unroll
    for (int other = 1; other < CHUNKS; other++)
        sum = chunk == other ? all[chunk_sum(other, i)] : sum;
    return sum;
}

/* A lane's sums are in units of the largest size of what they are made of, so that no factor is a subnormal number that
 * matters. By halves of its elements: 1 / unit, and the unit of the sums that products give. */
struct sum_units {
    REAL inverse[2], of[2];
    __device__ __forceinline__ sum_units(const int *table, const tile &s, const lane_place &at)
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int e = element_of(at, half), most = 0;
#pragma unroll
            for (int i = 0; i < (GRAD_DIV ? 2 : 1); i++) {
                int size = s.most[field_scale(chunk_place(at.chunk, i))][e];
                most = LARGER(most, size);
            }
#pragma unroll
            for (int face = 0; face < NUM_FACE; face++)
#pragma unroll
                for (int l = 0; l < CHUNK_JUMPS; l++) {
                    int size = size_of_jump(s, face, jump_of_chunk(at.chunk, l), e);
                    most = LARGER(most, size);
                }
            inverse[half] = scale(most);
            of[half] = unscale(most) * __uint_as_float((unsigned)__ldg(table));
        }
    }
};

/* What a lifted jump of a face is multiplied by for each sum, by halves of a lane's elements. */
struct lift_factors {
    REAL of[CHUNK_JUMPS][CHUNK_SUMS][2];
};
template <int FACE>
static __device__ __forceinline__ void load_factors(lift_factors &to, REAL unit, const sum_units &units,
                                                    const tile &s, const lane_place &at)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int e = element_of(at, half);
        REAL lift_coef[NUM_LIFT_COEF];
#pragma unroll
        for (int k = 0; k < NUM_LIFT_COEF; k++)
            lift_coef[k] = s.lift_coef[FACE][k][e];
#if PAIR_JUMPS
        REAL factor[PAIR_JUMPS] = {0, 1};
        if (!BOTH_JUMPS)
            pair_factors(at.chunk, lift_coef, factor);
#endif
#pragma unroll
        for (int l = 0; l < CHUNK_JUMPS; l++) {
            REAL by = unscale(size_of_jump(s, FACE, jump_of_chunk(at.chunk, l), e)) * units.inverse[half] *
                      unit;
#if PAIR_JUMPS
            to.of[l][0][half] = factor[l] * by;
#pragma unroll
            for (int i = 1; i < CHUNK_SUMS; i++)
                to.of[l][i][half] = FACE ? -by : by;
#else
            REAL y[NUM_JUMP] = {}, all[NUM_ACC] = {};
            y[l] = by;
            apply_lift(y, FACE, lift_coef, all);
#pragma unroll
            for (int i = 0; i < CHUNK_SUMS; i++)
                to.of[l][i][half] = sum_of_chunk(all, at.chunk, i);
#endif
        }
    }
}

/* Where a chunk's jumps of a face begin, for this lane's words. */
struct jump_words {
    const REAL *of[CHUNK_JUMPS];
};

/* acc += a step of the lift of a face. */
template <int FACE, int DEPTH>
static __device__ __forceinline__ void lift_step(const step_operator<DEPTH, FACE ? 3 : 1> &op,
                                                 const jump_words &words, const lane_place &at, int k,
                                                 const lift_factors &factors, float acc[CHUNK_SUMS][3][4])
{
    constexpr int STATES = FACE ? 1 : 3;
    int node = row_of_step<DEPTH, NFP>(at, k);
#pragma unroll
    for (int l = 0; l < CHUNK_JUMPS; l++) {
        state_part<DEPTH> state[STATES];
        float part[3][4] = {};
#pragma unroll
        for (int r = 0; r < STATES; r++)
            load_state_part<DEPTH>(state[r], words.of[l] + word_of_lane<DEPTH>(at) +
                                                 (FACE * NFP + turned<FACE_RUN_ROWS>(node, r)) * PITCH_S);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int r = 0; r < 3; r++)
                multiply_part<DEPTH>(part[FACE ? (r + FACE - 1) % 3 : r], product, state[r % STATES],
                                     op.of[FACE ? r : 0]);
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            if (lift_adds(FACE, l, i))
#pragma unroll
                for (int r = 0; r < 3; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        acc[i][r][c] += part[r][c] * factors.of[l][i][element_half(c)];
    }
}

/* The same of face 0, or of faces 1, 2 and 3 at once. */
template <bool FIRST> struct face_lifts {
    enum { OPERANDS = FIRST ? 1 : 3 };
    lift_factors factors[OPERANDS];
    template <int DEPTH>
    __device__ __forceinline__ void step(const step_operator<DEPTH, OPERANDS> &op, const jump_words &words,
                                         const lane_place &at, int k, float acc[CHUNK_SUMS][3][4]) const
    {
        if constexpr (FIRST)
            lift_step<0, DEPTH>(op, words, at, k, factors[0], acc);
        else {
            lift_step<1, DEPTH>(op, words, at, k, factors[0], acc);
            lift_step<2, DEPTH>(op, words, at, k, factors[1], acc);
            lift_step<3, DEPTH>(op, words, at, k, factors[2], acc);
        }
    }
    __device__ __forceinline__ void add(const int *table, const tile &s, const lane_place &at,
                                        const sum_units &units, float acc[CHUNK_SUMS][3][4])
    {
        constexpr int WHOLE = DEPTH_FACE / 16 * 16;
        const int *entry =
            table + OPERATOR + at.tile * OPERATOR_WORDS + VOLUME_WORDS + (FIRST ? LIFT_WORDS : 0);
        REAL unit = __uint_as_float((unsigned)__ldg(table + 1)); /* to that of the derivative */
        jump_words words;
#pragma unroll
        for (int l = 0; l < CHUNK_JUMPS; l++)
            words.of[l] = s.s + jump_of_chunk(at.chunk, l) * TILE;
        if constexpr (FIRST)
            load_factors<0>(factors[0], unit, units, s, at);
        else {
            load_factors<1>(factors[0], unit, units, s, at);
            load_factors<2>(factors[1], unit, units, s, at);
            load_factors<3>(factors[2], unit, units, s, at);
        }
#pragma unroll(UNROLL)
        for (int k = 0; k < WHOLE; k += 16) {
            step_operator<16, OPERANDS> op;
            op.load(entry + OPERANDS * STEP_WORDS * k, at.lane);
            step<16>(op, words, at, k, acc);
        }
        if constexpr (DEPTH_FACE % 16) {
            step_operator<8, OPERANDS> op;
            op.load(entry + OPERANDS * STEP_WORDS * WHOLE, at.lane);
            step<8>(op, words, at, WHOLE, acc);
        }
    }
};

#endif
