/* block_mma.h: the products of kernel blocks on tensor cores, and the sums of their results. A warp owns ROWS orbits times
 * COLS strips of eight columns, and of all four blocks the row that the orbit has there: C [orbit][column] += A
 * [orbit][input] B [input][column], DEPTH inputs a step, A the block and B the sums in shared memory. So what the four
 * characters give an orbit is summed in registers, and the derivatives go to rows of x by nodes. A block times its
 * inputs: block_double.h, block_split.h.
 *
 * Orbits stand in the order of the characters that they have: all, 0 and 1, 0 and 2, 0 alone; a tile without a character
 * leaves it out. Matrix packing: warps' orbits one after the other, [character][step]. */
#ifndef UNDA_DG_BLOCK_MMA_H
#define UNDA_DG_BLOCK_MMA_H

#if SPLIT
#include "dg/block_split.h"
#else
#include "dg/block_double.h"
#endif

enum {
    STRIPS = WIDTH / 8,
    STRIP_GROUPS = STRIPS / COLS /* warps that share orbits */
};

/* Whether some of the orbits from `first` on has character S. */
template <int S> static __device__ __forceinline__ bool has_character(int first)
{
    constexpr int n[4] = {NODE_SUMS};
    bool all = first < n[3];
    return S == 0   ? first < n[0]
           : S == 1 ? first < n[1]
           : S == 2 ? all || (first + ROWS > n[1] && first < n[1] + n[2] - n[3])
                    : all;
}

/* What the blocks give an orbit in two columns becomes the derivatives at its members, in the direction of the strip. */
static __device__ __forceinline__ void store_members(REAL *column, const orbit &one, int j, REAL (&v)[4][2])
{
    places has = results_of(one);
    sum_orbit(v);
#pragma unroll
    for (int g = 0; g < 4; g++)
        if (has.of[g] != ABSENT)
            store_run<2>(column + member(one, j, g) * PITCH, v[g]);
}

/* Inputs in x, and those of faces in y, become derivatives in x. */
template <int FIRST>
static __device__ __forceinline__ void multiply(const dg_args &a, const tile &s, const REAL *entries, REAL *x,
                                                const REAL *y)
{
    constexpr block_rows AT;
    static_assert(COLUMNS * TILE % 8 == 0, "a strip has one direction");
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / STRIP_GROUPS, first = group * ROWS;
    int strip = warp % STRIP_GROUPS * COLS;
    const REAL *entry = entries + group * AT.steps * STEP_ENTRIES;
    lane_inputs from(a, s, x, y, strip);
    REAL acc[4][ROW_TILES][COLS][2] = {};
    fragments next;
    fetch_first(next, entry);
    multiply_block<0, FIRST>(next, from, acc[0]);
    if (has_character<1>(first))
        multiply_block<1, FIRST>(next, from, acc[1]);
    else
        fetch_first(next, entry + AT.step[2] * STEP_ENTRIES);
    if (has_character<2>(first))
        multiply_block<2, FIRST>(next, from, acc[2]);
    if (has_character<3>(first)) /* which has the others too */
        multiply_block<3, FIRST>(next, from, acc[3]);
    orbit of[ROW_TILES];
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
        of[r] = load_orbit(a.table, first + 8 * r + lane / 4);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL results[4][2];
#pragma unroll
            for (int s1 = 0; s1 < 4; s1++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    results[s1][i] = acc[s1][r][c][i];
            if (first + 8 * r + lane / 4 < ORBITS)
                store_members(x + 8 * (strip + c) + lane % 4 * 2, of[r], (strip + c) * 8 / (COLUMNS * TILE),
                              results);
        }
    __syncthreads();
}

/* Nothing is left to be summed. */
static __device__ __forceinline__ void sum_results(const dg_args &, REAL *, const orbit &)
{
}

#endif
