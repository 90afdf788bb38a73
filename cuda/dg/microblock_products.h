/* microblock_products.h: products of element matrices with the fields of microblocks, one thread a row of them:
 * sum_k M_j[row][k] u[k] of each field u, in kernel microblock for the lift (one matrix) and the derivatives (three).
 *
 * A block takes WP * WI * WS microblocks: WP in parallel, each thread WI of them at once, with the same entry of the
 * matrix, and WS such lots one after the other. Strategies:
 *   field   the fields of WP * WI microblocks in shared memory, AT_ONCE fields at a time; a matrix comes through
 *           the caches, column by column, since neighbouring threads read neighbouring rows
 *   matrix  SEGMENT rows of the matrices in shared memory, of the composite matrix in which they repeat for each
 *           element of a microblock; the block computes these rows of all its microblocks, whose fields come through the
 *           caches. Rows are innermost, so that no two threads of a warp read from one bank, wherever an element
 *           ends. (The paper stores rows one after the other, an odd number of words each.) */
#ifndef UNDA_DG_MICROBLOCK_PRODUCTS_H
#define UNDA_DG_MICROBLOCK_PRODUCTS_H

#include "dg/record.h"

enum { FIELD_SHARED = 1, MATRIX_SHARED = 2 };

/* COLUMNS of NUM matrices; an element's inputs are so many, a microblock's stand LEAD words apart. */
template <int COLUMNS_, int LEAD_, int NUM_, int STRATEGY_, int PARALLEL_, int IN_THREAD_, int TURNS_,
          int FIELDS_>
struct split {
    enum {
        COLUMNS = COLUMNS_,
        LEAD = LEAD_,
        NUM = NUM_,
        PARALLEL = PARALLEL_,   /* wp */
        IN_THREAD = IN_THREAD_, /* wi */
        TURNS = TURNS_,         /* ws */
        AT_ONCE = FIELDS_,      /* fields */
        IN_SHARED = STRATEGY_,
        ROWS = STRATEGY_ == MATRIX_SHARED ? SEGMENT : PITCH, /* of a microblock, that a block computes */
        PARTS = (PITCH + ROWS - 1) / ROWS,                   /* blocks that compute all of them */
        THREADS = ROWS * PARALLEL,
        SHARED = STRATEGY_ == MATRIX_SHARED ? COLUMNS * NUM * SEGMENT : FIELDS_ * PARALLEL * IN_THREAD * LEAD
    };
};

/* What is multiplied: a field's inputs begin `stride` words after those of the field before. */
struct operands {
    const REAL *matrix; /* [column][NUM][row] */
    const REAL *from;
    long long stride;
};

/* Rows of the composite matrices from `row` on into shared memory, [column][NUM][SEGMENT]. */
template <class S>
static __device__ __forceinline__ void load_matrix(REAL *shared, const REAL *matrix, int row)
{
    for (int i = threadIdx.x; i < S::COLUMNS * S::NUM * SEGMENT; i += S::THREADS)
        shared[i] = __ldg(matrix + i / SEGMENT * NP + (row + i % SEGMENT) % NP);
}

/* Fields [first, first + AT_ONCE) of the WP * WI microblocks from `microblock` on into shared memory. */
template <class S>
static __device__ __forceinline__ void load_fields(const dg_args &a, REAL *shared, const operands &o,
                                                   int first, long long microblock)
{
    constexpr int LOT = S::PARALLEL * S::IN_THREAD * S::LEAD, USED = KM * S::COLUMNS;
    long long left = a.num_elem - microblock * KM;
    int count = left < LOT ? (int)left : LOT;
#pragma unroll
    for (int f = 0; f < S::AT_ONCE && first + f < NUM_FIELD; f++) {
        const REAL *from = o.from + (first + f) * o.stride + microblock * S::LEAD;
        for (int i = threadIdx.x; i < LOT; i += S::THREADS) {
            int element = i / S::LEAD * KM + i % S::LEAD / S::COLUMNS;
            if (i % S::LEAD < USED && element < count)
                shared[f * LOT + i] = from[i];
        }
    }
}

/* sum [WI][NUM][NUM_FIELD] gains the products of some fields; matrix(k, j), field(k, f, i): the operands. */
template <class S, int FIRST, class MATRIX, class FIELD>
static __device__ __forceinline__ void multiply(const MATRIX &matrix, const FIELD &field,
                                                REAL (*sum)[S::NUM][NUM_FIELD])
{
    constexpr int LAST = FIRST + S::AT_ONCE < NUM_FIELD ? FIRST + S::AT_ONCE : NUM_FIELD;
#pragma unroll 4
    for (int k = 0; k < S::COLUMNS; k++) {
        REAL d[S::NUM];
#pragma unroll
        for (int j = 0; j < S::NUM; j++)
            d[j] = matrix(k, j);
#pragma unroll
        for (int i = 0; i < S::IN_THREAD; i++)
#pragma unroll
            for (int f = FIRST; f < LAST; f++) {
                REAL u = field(k, f, i);
#pragma unroll
                for (int j = 0; j < S::NUM; j++)
                    sum[i][j][f] += d[j] * u;
            }
    }
}

/* Where a thread stands in its block: row `row` of microblocks `own`, `own` + 1, ... */
struct place_in_block {
    int row, element, node, lane, y;
    long long first, own; /* microblocks: of the block's lot, of the thread */
};

/* All fields, AT_ONCE at a time. */
template <class S, int FIRST = 0>
static __device__ __forceinline__ void multiply_fields(const dg_args &a, REAL *shared, const operands &o,
                                                       const place_in_block &at,
                                                       REAL (*sum)[S::NUM][NUM_FIELD])
{
    bool used = at.row < KM * NP;
    if constexpr (S::IN_SHARED == FIELD_SHARED) {
        constexpr int LOT = S::PARALLEL * S::IN_THREAD * S::LEAD;
        __syncthreads();
        load_fields<S>(a, shared, o, FIRST, at.first);
        __syncthreads();
        const REAL *mine = shared + at.y * (S::IN_THREAD * S::LEAD) + at.element * S::COLUMNS;
        if (used)
            multiply<S, FIRST>(
                [&](int k, int j) { return __ldg(o.matrix + (k * S::NUM + j) * NP + at.node); },
                [&](int k, int f, int i) { return mine[(f - FIRST) * LOT + i * S::LEAD + k]; }, sum);
    } else {
        const REAL *mine[S::IN_THREAD];
#pragma unroll
        for (int i = 0; i < S::IN_THREAD; i++) { /* of elements that there are not: the last one's */
            long long elem = (at.own + i) * KM + at.element;
            unsigned e = (unsigned)(elem < a.num_elem ? elem : a.num_elem - 1);
            mine[i] = o.from + (long long)(e / KM) * S::LEAD + e % KM * S::COLUMNS;
        }
        if (used)
            multiply<S, FIRST>([&](int k, int j) { return shared[(k * S::NUM + j) * SEGMENT + at.lane]; },
                               [&](int k, int f, int i) { return __ldg(mine[i] + f * o.stride + k); }, sum);
    }
    if constexpr (FIRST + S::AT_ONCE < NUM_FIELD)
        multiply_fields<S, FIRST + S::AT_ONCE>(a, shared, o, at, sum);
}

/* What a block does: finish(elem, node, sum [NUM][NUM_FIELD]) of each node. */
template <class S, class FINISH>
static __device__ __forceinline__ void multiply_block(const dg_args &a, REAL *shared, const operands &o,
                                                      const FINISH &finish)
{
    place_in_block at;
    at.lane = threadIdx.x % S::ROWS;
    at.y = threadIdx.x / S::ROWS;
    at.row = blockIdx.x % S::PARTS * S::ROWS + at.lane;
    at.element = at.row / NP;
    at.node = at.row % NP;
    if (S::IN_SHARED == MATRIX_SHARED) {
        load_matrix<S>(shared, o.matrix, at.row - at.lane);
        __syncthreads();
    }
    long long lot =
        a.first / KM + (long long)(blockIdx.x / S::PARTS) * (S::PARALLEL * S::IN_THREAD * S::TURNS);
#pragma unroll 1
    for (int turn = 0; turn < S::TURNS; turn++) {
        at.first = lot + turn * (S::PARALLEL * S::IN_THREAD);
        at.own = at.first + at.y * S::IN_THREAD;
        REAL sum[S::IN_THREAD][S::NUM][NUM_FIELD] = {};
        multiply_fields<S>(a, shared, o, at, sum);
#pragma unroll
        for (int i = 0; i < S::IN_THREAD; i++) {
            long long elem = (at.own + i) * KM + at.element;
            if (at.row < KM * NP && elem < a.num_elem)
                finish(elem, at.node, sum[i]);
        }
    }
}

#endif
