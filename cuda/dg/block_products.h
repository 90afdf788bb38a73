/* block_products.h: the products of kernel blocks. A thread owns ROWS rows of one block times a column of all three
 * directions of COLS elements: 3 ROWS COLS FMA for ROWS + 3 COLS words, whatever the physics. Matrix packing: row tiles
 * one after the other, [column of the block][ROWS]. */
#ifndef UNDA_DG_BLOCK_PRODUCTS_H
#define UNDA_DG_BLOCK_PRODUCTS_H

#include "dg/block_rows.h"

enum { TILE_THREADS = 2 * TILE / COLS }; /* that share a row tile */

static __device__ __forceinline__ void store_shared(REAL *to, const REAL *from)
{
    struct __align__(COLS * sizeof(REAL) < 16 ? COLS * sizeof(REAL) : 16) run {
        REAL v[COLS];
    };
    run part;
#pragma unroll
    for (int i = 0; i < COLS; i++)
        part.v[i] = from[i];
    *(run *)to = part;
}

/* Inputs in x become results. */
static __device__ __forceinline__ void multiply(const dg_args &a, REAL *x)
{
    constexpr block_rows AT;
    int tile = threadIdx.x / TILE_THREADS, within = threadIdx.x % TILE_THREADS;
    int block = (tile >= AT.tile[1]) + (tile >= AT.tile[2]) + (tile >= AT.tile[3]);
    int columns = AT.columns[0], input = AT.input[0], first = AT.tile[0], matrix = AT.matrix[0];
#pragma unroll
    for (int b = 1; b < 4; b++)
        if (block == b) {
            columns = AT.columns[b];
            input = AT.input[b];
            first = AT.tile[b];
            matrix = AT.matrix[b];
        }
    int column = within / (TILE / COLS) * TILE + within % (TILE / COLS) * COLS;
    const REAL *entry = (const REAL *)a.matrix + matrix + (tile - first) * ROWS * columns;
    const REAL *from = x + input * PITCH + column;
    bool works = tile < NUM_TILES;
    REAL acc[ROWS][3][COLS] = {};
    if (works)
#pragma unroll(UNROLL)
        for (int k = 0; k < columns; k++, entry += ROWS, from += PITCH) {
            REAL d[ROWS], u[3][COLS];
            load_constant<ROWS>(d, entry);
#pragma unroll
            for (int j = 0; j < 3; j++)
                load_vector<COLS>(u[j], from + 2 * j * TILE);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int j = 0; j < 3; j++)
#pragma unroll
                    for (int c = 0; c < COLS; c++)
                        acc[r][j][c] += d[r] * u[j][c];
        }
    __syncthreads();
    if (works)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int j = 0; j < 3; j++)
                store_shared(x + (tile * ROWS + r) * PITCH + 2 * j * TILE + column, acc[r][j]);
    __syncthreads();
}

#endif
