/* block_mma.h: the products of kernel blocks in float64 on tensor cores, and the sums of their results. A warp owns ROWS
 * orbits, in tiles of eight, times COLS strips of eight columns, and of all four blocks the row that the orbit has there:
 * C [orbit][column] += A [orbit][input] B [input][column], four inputs a step, A the block and B the sums in shared
 * memory, where rows of PITCH let a warp read four of them without a conflict. So what the four characters give an orbit
 * is summed in registers, and the derivatives go to rows of x by nodes.
 *
 * Orbits stand in the order of the characters that they have: all, 0 and 1, 0 and 2, 0 alone; a tile without a character
 * leaves it out. Matrix packing: warps' orbits one after the other, [character][step][row tile][lane] as multiply_add
 * (common/mma.h) takes A. */
#ifndef UNDA_DG_BLOCK_MMA_H
#define UNDA_DG_BLOCK_MMA_H

#include "dg/block_sums.h"

#include "common/mma.h" /* with DEVICE of case.h */

enum {
    ROW_TILES = ROWS / 8,
    STRIPS = 3 * COLUMNS * TILE / 8,
    STRIP_GROUPS = STRIPS / COLS, /* warps that share orbits */
    STEP_ENTRIES = ROW_TILES * 32,
    FETCHED = 2 /* steps whose entries are asked for ahead of the products */
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

/* Entries of the next steps, of this lane. */
struct fragments {
    const REAL *entry;
    REAL next[FETCHED][ROW_TILES];
};

static __device__ __forceinline__ void fetch(fragments &of, int i)
{
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++) {
        const REAL *entry = of.entry + i * STEP_ENTRIES + 32 * r;
        of.next[i][r] = MATRIX_IN_SHARED ? *entry : __ldg(entry);
    }
}

static __device__ __forceinline__ void fetch_first(fragments &of, const REAL *entry)
{
    of.entry = entry;
#pragma unroll
    for (int i = 0; i < FETCHED; i++)
        fetch(of, i);
}

/* acc += block S times its inputs, those of faces in y behind those of nodes in x. */
template <int S>
static __device__ __forceinline__ void multiply_block(fragments &of, const REAL *x, const REAL *y,
                                                      double acc[ROW_TILES][COLS][2])
{
    constexpr block_rows AT;
    constexpr int I = S ^ 1, NODES = AT.nodes[I], TOTAL = NODES + AT.faces[I], DEEP = (TOTAL + 3) / 4;
    int k = threadIdx.x % 4;
    const REAL *row = x + (AT.node[I] + k) * PITCH, *face = y + (AT.face[I] - NODES + k) * PITCH;
#pragma unroll(UNROLL)
    for (int step = 0; step < DEEP; step++, k += 4, row += 4 * PITCH, face += 4 * PITCH) {
        REAL a[ROW_TILES];
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++) {
            a[r] = of.next[0][r];
#pragma unroll
            for (int i = 0; i + 1 < FETCHED; i++)
                of.next[i][r] = of.next[i + 1][r];
        }
        /* behind the last step come those of the next block, and what the host adds (block_rows.h) */
        of.entry += STEP_ENTRIES;
        fetch(of, FETCHED - 1);
        /* beyond the last input the entries are zero, and what they multiply must be a number */
        const REAL *from = k < NODES ? row : face;
        if (TOTAL % 4 && k >= TOTAL)
            from -= (k - TOTAL + 1) * PITCH;
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL b = from[8 * c];
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++)
                multiply_add(acc[r][c], a[r], b);
        }
    }
}

/* What the blocks give an orbit becomes the derivatives at its members, in the direction of the strip. */
static __device__ __forceinline__ void store_members(REAL *column, const orbit &one, int j,
                                                     const double acc[4][2])
{
    REAL v[4][RUN];
    places has = results_of(one);
#pragma unroll
    for (int s = 0; s < 4; s++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            v[s][i] = acc[s][i];
    sum_orbit(v);
#pragma unroll
    for (int g = 0; g < 4; g++)
        if (has.of[g] != ABSENT)
            store_run<2>(column + member(one, j, g) * PITCH, v[g]);
}

/* Inputs in x, and those of faces in y, become derivatives in x. */
static __device__ __forceinline__ void multiply(const dg_args &a, const REAL *entries, REAL *x, const REAL *y)
{
    constexpr block_rows AT;
    static_assert(RUN == 2 && COLUMNS * TILE % 8 == 0, "a lane has two columns, a strip one direction");
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / STRIP_GROUPS, first = group * ROWS;
    int strip = warp % STRIP_GROUPS * COLS;
    const REAL *entry = entries + group * AT.steps * STEP_ENTRIES + lane;
    const REAL *x0 = x + 8 * strip + lane / 4, *y0 = y + 8 * strip + lane / 4;
    double acc[4][ROW_TILES][COLS][2] = {};
    fragments next;
    fetch_first(next, entry);
    multiply_block<0>(next, x0, y0, acc[0]);
    if (has_character<1>(first))
        multiply_block<1>(next, x0, y0, acc[1]);
    else
        fetch_first(next, entry + AT.step[2] * STEP_ENTRIES);
    if (has_character<2>(first))
        multiply_block<2>(next, x0, y0, acc[2]);
    if (has_character<3>(first)) /* which has the others too */
        multiply_block<3>(next, x0, y0, acc[3]);
    orbit of[ROW_TILES];
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
        of[r] = load_orbit(a.table, first + 8 * r + lane / 4);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            double results[4][2];
#pragma unroll
            for (int s = 0; s < 4; s++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    results[s][i] = acc[s][r][c][i];
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
