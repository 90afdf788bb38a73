/* block_mma.h: the products of kernel blocks on tensor cores, and the sums of their results. A warp owns ROWS orbits times
 * COLS strips of eight columns, and of all four blocks the row that the orbit has there: C [orbit][column] += A
 * [orbit][input] B [input][column], DEPTH inputs a step, A the block and B the sums in shared memory. So what the four
 * characters give an orbit is summed in registers, and the derivatives go to rows of x by nodes. A block times its
 * inputs: block_double.h, block_split.h.
 *
 * Orbits stand in the order of the characters that they have: all, 0 and 1, 0 and 2, 0 alone; a tile without a character
 * leaves it out. Matrix packing: tiles of orbits one after the other, in room for all characters, [pass][character][step].
 */
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

/* All blocks that these orbits have. */
template <int PASS, int FIRST>
static __device__ __forceinline__ void multiply_blocks(fragments &next, lane_inputs &from, int first,
                                                       REAL acc[4][ROW_TILES][COLS][2])
{
    from.template begin<PASS, FIRST>();
    multiply_block<0, PASS>(next, from, acc[0]);
    if (has_character<1>(first))
        multiply_block<1, PASS>(next, from, acc[1]);
    if (has_character<2>(first))
        multiply_block<2, PASS>(next, from, acc[2]);
    if (has_character<3>(first)) /* which has the others too */
        multiply_block<3, PASS>(next, from, acc[3]);
    if constexpr (PASS + 1 < PASSES)
        multiply_blocks<PASS + 1, FIRST>(next, from, first, acc);
}

/* What the blocks give an orbit in two columns becomes the derivatives at its members, four bytes of a word. */
static __device__ __forceinline__ void store_members(REAL *column, int members, const places &has,
                                                     REAL (&v)[4][2])
{
    sum_orbit(v);
#pragma unroll
    for (int g = 0; g < 4; g++)
        if (has.of[g] != ABSENT)
            store_run<2>(column + (members >> 8 * g & 255) * PITCH, v[g]);
}

/* Results of orbits in x, in the directions of the strips. */
static __device__ __forceinline__ void store_results(const int *table, REAL *x, int first, int strip,
                                                     const REAL acc[4][ROW_TILES][COLS][2])
{
    constexpr int OF_DIRECTION = COLUMNS * TILE / 8; /* strips */
    int lane = threadIdx.x % 32;
    orbit of[ROW_TILES];
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
        of[r] = load_orbit(table, first + 8 * r + lane / 4);
    if (!SPLIT) /* their loads are under way */
        __syncthreads();
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++) {
        if (first + 8 * r + lane / 4 >= ORBITS)
            break;
        places has = results_of(of[r]);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            int j = (strip + (OF_DIRECTION % COLS ? c : 0)) / OF_DIRECTION;
            REAL results[4][2];
#pragma unroll
            for (int s = 0; s < 4; s++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    results[s][i] = acc[s][r][c][i];
            const int4 &members = of[r].members;
            store_members(x + 8 * (strip + c) + lane % 4 * 2,
                          j == 0   ? members.x
                          : j == 1 ? members.y
                                   : members.z,
                          has, results);
        }
    }
}

/* Inputs in x, and those of faces in y, become derivatives in x. ask (SPLIT): for what is needed next, as early as
 * registers are free. */
template <int FIRST, class ASK>
static __device__ __forceinline__ void multiply(const dg_args &a, const int *table, const tile &s,
                                                const REAL *entries, REAL *x, const REAL *y, ASK ask)
{
    constexpr block_rows AT;
    static_assert(COLUMNS * TILE % 8 == 0, "a strip has one direction");
    int warp = threadIdx.x / 32, first = warp / STRIP_GROUPS * ROWS, strip = warp % STRIP_GROUPS * COLS;
    lane_inputs from(a, s, x, y, strip);
    REAL acc[4][ROW_TILES][COLS][2] = {};
    fragments next;
    fetch_first(next, entries + warp / STRIP_GROUPS * AT.steps * STEP_ENTRIES);
    multiply_blocks<0, FIRST>(next, from, first, acc);
    if (SPLIT) {
        ask();
        __syncthreads();
    }
    store_results(table, x, first, strip, acc);
    __syncthreads();
}

/* Nothing is left to be summed. */
static __device__ __forceinline__ void sum_results(const dg_args &, REAL *, const orbit &)
{
}

#endif
