/* tensor_fragments.h: how kernel tensor gives tensor cores its operands, and which elements and nodes a lane has sums of.
 *
 * A, the operator [node][k], is 16 rows of the nodes of TRIPLES triples, 8 or 16, B the state [k][element] of the tile's
 * eight elements, both as hi + lo: three products, hi lo + lo hi + hi hi. Tensor cores round their sums towards zero, so
 * those of a step, 16 or 8 deep, are added to the others outside of them. A warp owns a tile of triples of one chunk of
 * fields (block_columns.h); of such lots it takes LOTS, one after the other, whose sums stay in its registers.
 *
 * Operator (table, 32-bit words): inverse scale as a float, three words that are not used; rows (tensor_rows.h); then by
 * tiles of triples: derivative D_1, lift of face 1, lift of face 0, each [step][piece] in the order of load_operator. The
 * host: csrc/dg/kernel_tensor.c. */
#ifndef UNDA_DG_TENSOR_FRAGMENTS_H
#define UNDA_DG_TENSOR_FRAGMENTS_H

#include "dg/tensor_split.h"

/* The operands of a step as multiply_add (common/mma.h) takes them. */
template <int DEPTH> struct operator_part {
    unsigned hi[DEPTH / 4], lo[DEPTH / 4];
};
template <int DEPTH> struct state_part {
    unsigned hi[DEPTH / 8], lo[DEPTH / 8];
};

/* [hi, lo][lane]; of depth 8 [lane][hi, lo]: four words at once. */
static __device__ __forceinline__ void load_operator(operator_part<16> &to, const int *entry, int lane)
{
    int4 hi = __ldg((const int4 *)entry + lane), lo = __ldg((const int4 *)entry + 32 + lane);
    to = {{(unsigned)hi.x, (unsigned)hi.y, (unsigned)hi.z, (unsigned)hi.w},
          {(unsigned)lo.x, (unsigned)lo.y, (unsigned)lo.z, (unsigned)lo.w}};
}
static __device__ __forceinline__ void load_operator(operator_part<8> &to, const int *entry, int lane)
{
    int4 words = __ldg((const int4 *)entry + lane);
    to = {{(unsigned)words.x, (unsigned)words.y}, {(unsigned)words.z, (unsigned)words.w}};
}

/* What a lane has of the products of a lot: the tile of triples, the chunk, the first of two elements. */
enum { ALL_LOTS = ORBIT_TILES * CHUNKS, WARPS = THREADS / 32 };
static_assert(TILE == 8 && (LOTS - 1) * WARPS < ALL_LOTS && ALL_LOTS <= LOTS * WARPS,
              "the host counts the same");
struct lane_place {
    int lane, tile, chunk, element;
    bool exists;
};
static __device__ __forceinline__ lane_place place_of_lane(int i)
{
    int thread = anew(threadIdx.x), lane = thread % 32, lot = thread / 32 + i * WARPS;
    return {lane, lot % ORBIT_TILES, lot / ORBIT_TILES, lane % 4 * 2,
            (i + 1) * WARPS <= ALL_LOTS || lot < ALL_LOTS};
}

/* A lane's sums of one field at nodes of one r, by c: element at.element + c % 2, triple number c / 2 of RUNS. */
enum { LANE_SUMS = 2 * RUNS };
static __device__ __forceinline__ int triple_of(const lane_place &at, int number)
{
    return at.tile * TRIPLES + at.lane / 4 + 8 * number;
}

/* Number i of a product by a piece: the r that it is of, or 3; its c. */
static __device__ constexpr int product_run(int piece, int i)
{
    return (2 * piece + i / 2) / RUNS;
}
static __device__ constexpr int product_sum(int piece, int i)
{
    return 2 * ((2 * piece + i / 2) % RUNS) + i % 2;
}

/* Of the row of the state that a lane names in load_columns: the word, from the first of the field. */
template <int DEPTH> static __device__ __forceinline__ int word_of_lane(const lane_place &at)
{
    return at.lane / DEPTH % 2 * PAIRS;
}
/* The row, for a step which begins at k, of so many; behind the last any row will do. */
template <int DEPTH, int COUNT> static __device__ __forceinline__ int row_of_step(const lane_place &at, int k)
{
    int row = k + at.lane % DEPTH;
    return row < COUNT ? row : COUNT - 1;
}
/* The state of a step, both parts at once, of a field whose word the lane names. */
template <int DEPTH>
static __device__ __forceinline__ void load_state_part(state_part<DEPTH> &to, const REAL *word)
{
    unsigned all[DEPTH / 4];
    load_columns(all, word);
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++)
        to.hi[i] = all[i], to.lo[i] = all[DEPTH / 8 + i];
}

template <int DEPTH> static __device__ __forceinline__ state_part<DEPTH> negative(state_part<DEPTH> of)
{
    for (unsigned &word : of.hi)
        word ^= 0x80008000;
    for (unsigned &word : of.lo)
        word ^= 0x80008000;
    return of;
}

/* Product number 0, 1 or 2 of the three. */
template <int DEPTH>
static __device__ __forceinline__ void
multiply_part(float (&c)[4], int product, const state_part<DEPTH> &state, const operator_part<DEPTH> &op)
{
    multiply_add(c, product == 1 ? op.lo : op.hi, product == 0 ? state.lo : state.hi);
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
            load_operator(of[piece], entry + piece * PIECE_WORDS * DEPTH, lane);
    }
};

/* The sums of a chunk. */
struct lane_sums {
    float of[CHUNK_SUMS][3][LANE_SUMS]; /* [sum][r][c] */
    float rest[CHUNK_SUMS][2];          /* tensor_rest.h */
};

/* Products are taken piece by piece of the operator, or where a thread has few registers direction by direction, so that
 * fewer sums and parts of the state are needed at once; it is slower elsewhere (benchmarks/NOTES.md). */
enum { BY_DIRECTION = SINGLE && THREADS * MIN_BLOCKS > 400 };

/* Products of a step: of each piece of the operator with Rule::COLUMNS parts of the state of each of three directions or
 * faces j, which load(j) fills; rows of r are turned j times, r + j. give(j, c, r, i, x) for each of them, i being the c of
 * the lane's sums. Where pieces are those of r = 0, 1, 2, products with the same Rule::slot are added up first, and given
 * with the last j. */
template <class Rule, int DEPTH, class Load, class Give>
static __device__ __forceinline__ void multiply_step(const step_operator<DEPTH> &op,
                                                     const state_part<DEPTH> (&state)[3][Rule::COLUMNS],
                                                     Load load, Give give)
{
    float part[SINGLE ? Rule::SLOTS : 1][3][4] = {};
    auto give_slots = [&](int j) {
#pragma unroll
        for (int c = 0; c < Rule::COLUMNS; c++)
            if (Rule::last(j, c))
#pragma unroll
                for (int r = 0; r < 3; r++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        give(j, c, r, i, part[Rule::slot(j, c)][r][i]);
    };
    if (!BY_DIRECTION)
#pragma unroll
        for (int j = 0; j < 3; j++)
            load(j);
#pragma unroll
    for (int first = 0; first < PIECES; first++) {
        float alone[3][Rule::COLUMNS][4] = {};
        if (BY_DIRECTION)
            load(first);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int second = 0; second < 3; second++)
#pragma unroll
                for (int c = 0; c < Rule::COLUMNS; c++) {
                    int j = BY_DIRECTION ? first : second, piece = BY_DIRECTION ? second : first;
                    multiply_part<DEPTH>(SINGLE ? part[Rule::slot(j, c)][(piece + j) % 3] : alone[j][c],
                                         product, state[j][c], op.of[piece]);
                }
        if (BY_DIRECTION)
            give_slots(first);
        if (SINGLE)
            continue;
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int c = 0; c < Rule::COLUMNS; c++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (product_run(first, i) < 3)
                        give(j, c, (product_run(first, i) + j) % 3, product_sum(first, i), alone[j][c][i]);
    }
    if (SINGLE && !BY_DIRECTION)
#pragma unroll
        for (int j = 0; j < 3; j++)
            give_slots(j);
}

#endif
