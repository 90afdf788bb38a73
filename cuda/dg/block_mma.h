/* block_mma.h: the products of kernel blocks in float64 on tensor cores. A warp owns ROWS rows of one block, in tiles of
 * eight, times COLS strips of eight columns: C [row][column] += A [row][input] B [input][column], four inputs a step, A
 * the block and B the sums in shared memory, where rows of PITCH let a warp read four of them without a conflict.
 *
 * Matrix packing: warps' rows one after the other, [step][row tile][lane] as multiply_add (common/mma.h) takes A; row g
 * of a tile is row place_of(g), so that pairs of rows that are stored together stand in different banks. */
#ifndef UNDA_DG_BLOCK_MMA_H
#define UNDA_DG_BLOCK_MMA_H

#include "dg/block_rows.h"

#include "common/mma.h" /* with DEVICE of case.h */

enum {
    ROW_TILES = ROWS / 8,
    STRIPS = 3 * COLUMNS * TILE / 8,
    STRIP_GROUPS = STRIPS / COLS, /* warps that share rows */
    STEP_ENTRIES = ROW_TILES * 32
};

/* Of row g of a tile: kernel_blocks.c has the same. */
static __device__ __forceinline__ int place_of(int g)
{
    return (g & 4) | (g & 1) << 1 | (g >> 1 & 1);
}

/* The inputs of a block, those of faces behind those of nodes: first words of a row, less where it comes in the block. */
struct block_inputs {
    const REAL *from;
    int nodes, total, node, face; /* numbers of rows; words */
};

/* acc += entries times inputs. entry: of this lane. */
static __device__ __forceinline__ void multiply_rows(const REAL *entry, const block_inputs &in,
                                                     double acc[ROW_TILES][COLS][2])
{
    int steps = (in.total + 3) / 4, row = threadIdx.x % 4;
    REAL next[ROW_TILES];
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
        next[r] = MATRIX_IN_SHARED ? entry[32 * r] : __ldg(entry + 32 * r);
#pragma unroll(UNROLL)
    for (int step = 0; step < steps; step++, row += 4) {
        REAL a[ROW_TILES];
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++)
            a[r] = next[r];
        /* a step ahead, or the products wait for them; behind the last there is one more (block_rows.h) */
        entry += STEP_ENTRIES;
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++)
            next[r] = MATRIX_IN_SHARED ? entry[32 * r] : __ldg(entry + 32 * r);
        /* beyond the last one the entries are zero, and what they multiply must be a number */
        int here = row < in.total ? row : in.total - 1;
        const REAL *from = in.from + here * PITCH + (row < in.nodes ? in.node : in.face);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL b = from[8 * c];
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++)
                multiply_add(acc[r][c], a[r], b);
        }
    }
}

/* Inputs in x, and those of faces in y, become results in x. */
static __device__ __forceinline__ void multiply(const REAL *entries, REAL *x, const REAL *y)
{
    constexpr block_rows AT;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int tile = warp / STRIP_GROUPS, column = warp % STRIP_GROUPS * COLS * 8;
    bool works = tile < NUM_TILES;
    int nodes = AT.nodes[0], faces = AT.faces[0], node = AT.node[0], face = AT.face[0], first = AT.tile[0],
        matrix = AT.matrix[0];
#pragma unroll
    for (int b = 1; b < 4; b++)
        if (tile >= AT.tile[b]) {
            nodes = AT.nodes[b];
            faces = AT.faces[b];
            node = AT.node[b];
            face = AT.face[b];
            first = AT.tile[b];
            matrix = AT.matrix[b];
        }
    int total = nodes + faces;
    const REAL *entry = entries + matrix + (tile - first) * ((total + 3) / 4) * STEP_ENTRIES + lane;
    block_inputs in = {x + column + g, nodes, total, node * PITCH, (int)(y - x) + (face - nodes) * PITCH};
    double acc[ROW_TILES][COLS][2] = {};
    if (works)
        multiply_rows(entry, in, acc);
    __syncthreads();
    if (works) {
        REAL *to = x + (tile * ROWS + place_of(g)) * PITCH + column + 2 * t;
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
            for (int c = 0; c < COLS; c++)
                store_run<2>(to + 8 * r * PITCH + 8 * c, acc[r][c]);
    }
    __syncthreads();
}

#endif
