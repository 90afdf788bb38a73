/* block_double.h: a block times its inputs on tensor cores, in float64. Four inputs a step, in rows of x of which a warp
 * reads four without a conflict. Packing of a step: [row tile][lane] as multiply_add (common/mma.h) takes A. */
#ifndef UNDA_DG_BLOCK_DOUBLE_H
#define UNDA_DG_BLOCK_DOUBLE_H

#include "dg/block_sums.h"

#include "common/mma.h" /* with DEVICE of case.h */

enum {
    ROW_TILES = ROWS / 8,
    STEP_ENTRIES = ROW_TILES * 32,
    FETCHED = 2 /* steps whose entries are asked for ahead of the products */
};

/* The columns of this lane, from the first of its strips on; they are taken in so many passes. */
enum { PASSES = 1 };
struct lane_inputs {
    const REAL *node, *face;
    __device__ __forceinline__ lane_inputs(const dg_args &, const tile &, const REAL *x, const REAL *y,
                                           int strip)
        : node(x + 8 * strip + threadIdx.x % 32 / 4), face(y + 8 * strip + threadIdx.x % 32 / 4)
    {
    }
    template <int PASS, int FIRST> __device__ __forceinline__ void begin()
    {
    }
};

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

/* entry: of the warp. */
static __device__ __forceinline__ void fetch_first(fragments &of, const REAL *entry)
{
    of.entry = entry + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < FETCHED; i++)
        fetch(of, i);
}

/* acc += block S times its inputs, those of faces behind those of nodes. */
template <int S, int PASS>
static __device__ __forceinline__ void multiply_block(fragments &of, const lane_inputs &from,
                                                      REAL acc[ROW_TILES][COLS][2])
{
    constexpr block_rows AT;
    constexpr int I = S ^ 1, NODES = AT.nodes[I], TOTAL = NODES + AT.faces[I],
                  STEPS = (TOTAL + DEPTH - 1) / DEPTH;
    int k = threadIdx.x % 4;
    const REAL *row = from.node + (AT.node[I] + k) * PITCH,
               *face = from.face + (AT.face[I] - NODES + k) * PITCH;
#pragma unroll(UNROLL)
    for (int step = 0; step < STEPS; step++, k += 4, row += 4 * PITCH, face += 4 * PITCH) {
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
        const REAL *input = k < NODES ? row : face;
        if (TOTAL % 4 && k >= TOTAL)
            input -= (k - TOTAL + 1) * PITCH;
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL b = input[8 * c];
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++)
                multiply_add(acc[r][c], a[r], b);
        }
    }
}

#endif
