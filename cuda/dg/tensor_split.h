/* tensor_split.h: the state of a tile and what is lifted as pairs of FP16 numbers, for products on tensor cores.
 *
 * Fields of an element whose sums are added share a scale (split.h), with what is lifted and added to the same sums: the
 * power of two that takes the largest of them to 2^14 and more. So it is a function of the state and its neighbours'
 * traces alone, and the state may grow or shrink by any factor from stage to stage.
 *
 * A row has TILE numbers of each field at one node: TILE numbers hi, then TILE numbers lo. Of jumps both parts take the
 * place of the value; the split state takes the place of the states as they came, which threads keep in registers. */
#ifndef UNDA_DG_TENSOR_SPLIT_H
#define UNDA_DG_TENSOR_SPLIT_H

#include "dg/tensor_load.h"

enum { PAIRS = TILE / 2 };

/* Into a row of which `to` is the word of this pair of elements. lo_first: the order of the stores. */
static __device__ __forceinline__ void store_split(REAL *to, const split_values &x, bool lo_first = false)
{
    to[lo_first ? PAIRS : 0] = __uint_as_float(lo_first ? x.lo : x.hi);
    to[lo_first ? 0 : PAIRS] = __uint_as_float(lo_first ? x.hi : x.lo);
}

/* A thread splits the state of two elements at some of the rows. Lanes: four pairs of elements, two rows, then more
 * pairs, then more rows, so far apart that the rows of a warp lie in different banks. */
enum {
    WARP_ROWS = 32 / PAIRS,
    ROW_STEP = 8 / WARP_ROWS,
    STATE_STEPS = ((NP + 7) / 8 * ROW_STEP + THREADS / 32 - 1) / (THREADS / 32)
};
struct pair_rows {
    int pair, within;
    __device__ __forceinline__ pair_rows()
        : pair(threadIdx.x % 4 + threadIdx.x / 8 * 4 % PAIRS),
          within(threadIdx.x / 4 % 2 + threadIdx.x % 32 / (2 * PAIRS) * 2)
    {
    }
    __device__ __forceinline__ int row(int step) const
    {
        int lot = (int)threadIdx.x / 32 + step * (THREADS / 32);
        return lot / ROW_STEP * 8 + within * ROW_STEP + lot % ROW_STEP;
    }
};

/* What a thread keeps while the place of the states is filled anew; the node of each row, which it asks for early. */
struct state_pairs {
    REAL u[STATE_STEPS][2][NUM_REF];
    int node[STATE_STEPS];
};

static __device__ __forceinline__ void load_row_nodes(const dg_args &a, state_pairs &to)
{
    pair_rows mine;
#pragma unroll
    for (int k = 0; k < STATE_STEPS; k++) {
        int row = mine.row(k);
        to.node[k] = __ldg(a.table + ROW_NODES + (row < NP ? row : NP - 1));
    }
}

/* The states of a thread's pair, in reference components; their sizes. */
static __device__ __forceinline__ void take_states(const dg_args &a, tile &s, long long first, int count,
                                                   state_pairs &to)
{
    pair_rows mine;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int e = 2 * mine.pair + half;
        REAL g[WORDS];
        largest sizes;
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * (first + (e < count ? e : count - 1)));
#pragma unroll
        for (int k = 0; k < STATE_STEPS; k++) {
            REAL q[NUM_FIELD];
            load_own_state(q, s, e, to.node[k]);
            to_reference(q, g, to.u[k][half]);
#pragma unroll
            for (int f = 0; f < NUM_REF; f++)
                sizes.see(field_scale(f), to.u[k][half][f]);
        }
        sizes.put(s, e);
    }
}

static __device__ __forceinline__ void split_states(tile &s, const state_pairs &from)
{
    pair_rows mine;
    REAL factor[NUM_SCALE][2];
#pragma unroll
    for (int i = 0; i < NUM_SCALE; i++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            factor[i][half] = scale(s.most[i][2 * mine.pair + half]);
#pragma unroll
    for (int k = 0; k < STATE_STEPS; k++) {
        int row = mine.row(k);
        if (row < NP)
#pragma unroll
            for (int f = 0; f < NUM_REF; f++)
                store_split(s.u + row * PITCH_U + f * TILE + mine.pair,
                            split_two(from.u[k][0][f] * factor[field_scale(f)][0],
                                      from.u[k][1][f] * factor[field_scale(f)][1]));
    }
}

/* What is lifted, in place: the rows of all faces, a row by one warp. */
static __device__ __forceinline__ void split_jumps(tile &s)
{
    constexpr int ROWS = NUM_FACE * NFP, AT_ONCE = THREADS / PAIRS, STEPS = (ROWS + AT_ONCE - 1) / AT_ONCE;
    int thread = anew(threadIdx.x), pair = thread % PAIRS;
    REAL factor[TILE_JUMPS][2];
#pragma unroll
    for (int k = 0; k < TILE_JUMPS; k++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            factor[k][half] = scale(s.most[trace_scale(k)][2 * pair + half]);
#pragma unroll(STEPS < 4 ? STEPS : 2)
    for (int step = 0; step < STEPS; step++) {
        int row = thread / PAIRS + step * AT_ONCE;
        bool mine = (step + 1) * AT_ONCE <= ROWS || row < ROWS;
        REAL x[TILE_JUMPS][2], *to = s.s + row * PITCH_S;
        if (mine)
#pragma unroll
            for (int k = 0; k < TILE_JUMPS; k++)
                load_vector<2>(x[k], to + k * TILE + 2 * pair);
        __syncwarp();
        if (mine)
#pragma unroll
            for (int k = 0; k < TILE_JUMPS; k++)
                store_split(to + k * TILE + pair, split_two(x[k][0] * factor[k][0], x[k][1] * factor[k][1]));
    }
}

#endif
