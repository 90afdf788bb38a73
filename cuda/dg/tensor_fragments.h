/* tensor_fragments.h: how kernel tensor gives tensor cores its operands, and which elements and nodes a lane has sums of.
 *
 * Both operands are hi + lo: three products, lo hi + hi lo + hi hi. Tensor cores round their sums towards zero, so those
 * of a step, 16 or 8 deep, are added to the others outside of them. A warp owns a chunk of fields (block_columns.h) of
 *   tile 8:       8, 16 or 24 triples of nodes times 8 elements: A the operator [node][k], B the state [k][element];
 *   tile 16, 32:  16 elements times 8 triples:                   A the state [element][k], B the operator [k][node].
 * Of such lots it takes LOTS, one after the other, whose sums stay in its registers.
 *
 * Operator (table, 32-bit words): inverse scale as a float, three words that are not used; rows
 * (tensor_rows.h); then by tiles of triples: derivative D_1, lift of face 1, lift of face 0, each [step][piece] in the
 * order of load_operator. The host: csrc/dg/kernel_tensor.c. */
#ifndef UNDA_DG_TENSOR_FRAGMENTS_H
#define UNDA_DG_TENSOR_FRAGMENTS_H

#include "dg/tensor_split.h"

/* One operand of a step, both parts: the left one of a product, or the right one. */
template <int DEPTH, bool LEFT> struct split_operand {
    unsigned hi[DEPTH / (LEFT ? 4 : 8)], lo[DEPTH / (LEFT ? 4 : 8)];
};
template <int DEPTH> using operator_part = split_operand<DEPTH, OPERATOR_LEFT>;
template <int DEPTH> using state_part = split_operand<DEPTH, !OPERATOR_LEFT>;

static __device__ __forceinline__ void load_words(unsigned (&hi)[4], unsigned (&lo)[4], const int *entry)
{
    int4 first = __ldg((const int4 *)entry), second = __ldg((const int4 *)(entry + 128));
    hi[0] = first.x, hi[1] = first.y, hi[2] = first.z, hi[3] = first.w;
    lo[0] = second.x, lo[1] = second.y, lo[2] = second.z, lo[3] = second.w;
}
static __device__ __forceinline__ void load_words(unsigned (&hi)[2], unsigned (&lo)[2], const int *entry)
{
    int4 words = __ldg((const int4 *)entry);
    hi[0] = words.x, hi[1] = words.y, lo[0] = words.z, lo[1] = words.w;
}
static __device__ __forceinline__ void load_words(unsigned (&hi)[1], unsigned (&lo)[1], const int *entry)
{
    int2 words = __ldg((const int2 *)entry);
    hi[0] = words.x, lo[0] = words.y;
}

/* [lane][hi, lo] in 4 or 2 words; of 8 words, [hi, lo][lane]. */
template <int DEPTH>
static __device__ __forceinline__ void load_operator(operator_part<DEPTH> &to, const int *entry, int lane)
{
    constexpr int NUM = sizeof to.hi / 2;
    load_words(to.hi, to.lo, entry + lane * (NUM > 4 ? 4 : NUM));
}

/* What a lane has of the products of a lot: the tile of triples and the chunk; the first of its elements, and the first of
 * its warp's. */
enum { GROUPS = OPERATOR_LEFT ? 1 : TILE / 16, ALL_LOTS = GROUPS * ORBIT_TILES * CHUNKS, WARPS = THREADS / 32 };
static_assert((LOTS - 1) * WARPS < ALL_LOTS && ALL_LOTS <= LOTS * WARPS, "the host counts the same");
struct lane_place {
    int lane, tile, chunk, element, first;
    bool exists;
};
static __device__ __forceinline__ lane_place place_of_lane(int i)
{
    int thread = anew(threadIdx.x), lane = thread % 32, lot = thread / 32 + i * WARPS, first = lot % GROUPS * 16;
    return {lane,
            lot / GROUPS % ORBIT_TILES,
            lot / (GROUPS * ORBIT_TILES),
            OPERATOR_LEFT ? lane % 4 * 2 : first + lane / 4,
            first,
            (i + 1) * WARPS <= ALL_LOTS || lot < ALL_LOTS};
}
/* A lane has sums of two elements and of some triples, number c of one field at nodes of one r. Whether c is of its first
 * or second element; which of its triples. */
enum { LANE_TRIPLES = OPERATOR_LEFT ? RUNS : 2, LANE_SUMS = 2 * LANE_TRIPLES };
static __device__ constexpr int element_half(int c)
{
    return OPERATOR_LEFT ? c % 2 : c / 2;
}
static __device__ __forceinline__ int element_of(const lane_place &at, int half)
{
    return at.element + (OPERATOR_LEFT ? 1 : 8) * half;
}
static __device__ constexpr int triple_half(int c)
{
    return OPERATOR_LEFT ? c / 2 : c % 2;
}
static __device__ __forceinline__ int triple_of(const lane_place &at, int half)
{
    return at.tile * TRIPLES + (OPERATOR_LEFT ? at.lane / 4 + 8 * half : at.lane % 4 * 2 + half);
}

/* Number i of a product by a piece: the r that it is of, or 3; its c. */
static __device__ constexpr int product_run(int piece, int i)
{
    return OPERATOR_LEFT ? (2 * piece + i / 2) / RUNS : piece;
}
static __device__ constexpr int product_sum(int piece, int i)
{
    return OPERATOR_LEFT ? 2 * ((2 * piece + i / 2) % RUNS) + i % 2 : i;
}

/* Of the row of the state that a lane names: the word, from the first of the field. */
template <int DEPTH> static __device__ __forceinline__ int word_of_lane(const lane_place &at)
{
    return OPERATOR_LEFT ? at.lane / DEPTH % 2 * PAIRS : (at.first + at.lane / 8 % 2 * 8) / 2;
}
/* The row, for a step which begins at k, of so many; behind the last any row will do. */
template <int DEPTH, int COUNT> static __device__ __forceinline__ int row_of_step(const lane_place &at, int k)
{
    int row = k + (DEPTH == 8 ? at.lane % 8 : OPERATOR_LEFT ? at.lane % 16 : at.lane % 8 + at.lane / 16 * 8);
    return row < COUNT ? row : COUNT - 1;
}
/* The state of a step, of a field whose word the lane names. */
template <int DEPTH>
static __device__ __forceinline__ void load_state_part(state_part<DEPTH> &to, const REAL *word)
{
    if constexpr (OPERATOR_LEFT) { /* both parts at once */
        unsigned all[DEPTH / 4];
        load_columns(all, word);
#pragma unroll
        for (int i = 0; i < DEPTH / 8; i++)
            to.hi[i] = all[i], to.lo[i] = all[DEPTH / 8 + i];
    } else {
        load_columns(to.hi, word);
        load_columns(to.lo, word + PAIRS);
    }
}

template <int DEPTH>
static __device__ __forceinline__ state_part<DEPTH> negative(state_part<DEPTH> of)
{
    for (unsigned &word : of.hi)
        word ^= 0x80008000;
    for (unsigned &word : of.lo)
        word ^= 0x80008000;
    return of;
}

/* Product number 0, 1 or 2 of the three. */
template <int DEPTH>
static __device__ __forceinline__ void multiply_part(float (&c)[4], int product,
                                                     const state_part<DEPTH> &state,
                                                     const operator_part<DEPTH> &op)
{
    if constexpr (OPERATOR_LEFT)
        multiply_add(c, product == 1 ? op.lo : op.hi, product == 0 ? state.lo : state.hi);
    else
        multiply_add(c, product == 0 ? state.lo : state.hi, product == 1 ? op.lo : op.hi);
}

/* Of a turn (block_columns.h): which of its fields column c of direction j is, which of its sums that is for, and the
 * last direction that adds to a sum. */
static __device__ constexpr int turn_field(int j, int c)
{
    return !GRAD_DIV ? (j + 1 + c) % 3 : c == 0 ? 0 : 1 + j;
}
static __device__ constexpr int turn_sum(int j, int c)
{
    return !GRAD_DIV ? (j + 2 - c) % 3 : c == 0 ? 1 + j : 0;
}
static __device__ constexpr int last_turn(int sum)
{
    return !GRAD_DIV ? (sum == 0 ? 2 : sum == 1 ? 2 : 1) : sum == 0 ? 2 : sum - 1;
}

/* The operator of a step. */
template <int DEPTH, int NUM = PIECES> struct step_operator {
    operator_part<DEPTH> of[NUM];
    __device__ __forceinline__ void load(const int *entry, int lane)
    {
#pragma unroll
        for (int piece = 0; piece < NUM; piece++)
            load_operator<DEPTH>(of[piece], entry + piece * PIECE_WORDS * DEPTH, lane);
    }
};

/* The sums of a chunk. */
struct lane_sums {
    float of[CHUNK_SUMS][3][LANE_SUMS]; /* [sum][r][c] */
};

/* Products of a step: of each piece of the operator with Rule::COLUMNS parts of the state of each of three directions or
 * faces j; rows of r are turned j times, r + j. give(j, c, r, i, x) for each of them, i being the c of the lane's sums. Where
 * pieces are those of r = 0, 1, 2, products with the same Rule::slot are added up first, and given with the last j.
 * after(piece): a piece is not needed any more. */
template <class Rule, int DEPTH, class Give, class After>
static __device__ __forceinline__ void multiply_step(step_operator<DEPTH> &op,
                                                     const state_part<DEPTH> (&state)[3][Rule::COLUMNS],
                                                     Give give, After after)
{
    float part[SINGLE ? Rule::SLOTS : 1][3][4] = {};
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        float alone[3][Rule::COLUMNS][4] = {};
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int j = 0; j < 3; j++)
#pragma unroll
                for (int c = 0; c < Rule::COLUMNS; c++)
                    multiply_part<DEPTH>(SINGLE ? part[Rule::slot(j, c)][(piece + j) % 3] : alone[j][c],
                                         product, state[j][c], op.of[piece]);
        after(piece);
        if (SINGLE)
            continue;
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int c = 0; c < Rule::COLUMNS; c++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (product_run(piece, i) < 3)
                        give(j, c, (product_run(piece, i) + j) % 3, product_sum(piece, i), alone[j][c][i]);
    }
    if (!SINGLE)
        return;
#pragma unroll
    for (int j = 0; j < 3; j++)
#pragma unroll
        for (int c = 0; c < Rule::COLUMNS; c++)
            if (Rule::last(j, c))
#pragma unroll
                for (int r = 0; r < 3; r++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        give(j, c, r, i, part[Rule::slot(j, c)][r][i]);
}

#endif
