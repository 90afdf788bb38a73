/* block_products.h: the products of kernel blocks. A thread owns ROWS rows of one block times a column of all three
 * directions of COLS elements: 3 ROWS COLS FMA for ROWS + 3 COLS words, whatever the physics. Matrix packing: row tiles
 * one after the other, [sum of nodes, then of face nodes][ROWS]. */
#ifndef UNDA_DG_BLOCK_PRODUCTS_H
#define UNDA_DG_BLOCK_PRODUCTS_H

#include "dg/block_sums.h"

enum { TILE_THREADS = COLUMNS * TILE / COLS }; /* that share a row tile */

/* Entries of ROWS rows in a column. */
static __device__ __forceinline__ void load_entries(REAL *to, const REAL *from)
{
    if (MATRIX_IN_SHARED)
        load_vector<ROWS>(to, from);
    else
        load_constant<ROWS>(to, from);
}

/* acc += entries times num rows of inputs. next: the entries of the first, then of the row behind the last, which is
 * there: the next block's, or what the host adds. A step ahead, or the products wait for them. */
static __device__ __forceinline__ void multiply_rows(const REAL *&entry, const REAL *from, int num,
                                                     REAL next[ROWS], REAL acc[ROWS][3][COLS])
{
#pragma unroll(UNROLL)
    for (int k = 0; k < num; k++, from += PITCH) {
        REAL d[ROWS], u[3][COLS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            d[r] = next[r];
        entry += ROWS;
        load_entries(next, entry);
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_vector<COLS>(u[j], from + COLUMNS * j * TILE);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int j = 0; j < 3; j++)
#pragma unroll
                for (int c = 0; c < COLS; c++)
                    acc[r][j][c] += d[r] * u[j][c];
    }
}

/* Inputs in x, and those of faces in y, become results in x. */
template <int, class ASK>
static __device__ __forceinline__ void multiply(const dg_args &, const int *, const tile &,
                                                const REAL *entries, REAL *x, const REAL *y, ASK)
{
    constexpr block_rows AT;
    int tile = threadIdx.x / TILE_THREADS, within = threadIdx.x % TILE_THREADS;
    bool works = tile < NUM_TILES;
    if (works && blockIdx.x * 2654435761u >>
                     31) /* a random bit: schedulers, which warps take in turns, share the work */
        tile = NUM_TILES - 1 - tile;
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
    int column = within / (TILE / COLS) * TILE + within % (TILE / COLS) * COLS;
    const REAL *entry = entries + matrix + (tile - first) * ROWS * (nodes + faces);
    REAL acc[ROWS][3][COLS] = {};
    if (works) {
        REAL next[ROWS];
        load_entries(next, entry);
        multiply_rows(entry, x + node * PITCH + column, nodes, next, acc);
        multiply_rows(entry, y + face * PITCH + column, faces, next, acc);
    }
    __syncthreads();
    if (works)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int j = 0; j < 3; j++)
                store_run<COLS>(x + (tile * ROWS + r) * PITCH + COLUMNS * j * TILE + column, acc[r][j]);
    __syncthreads();
}

/* The results of each orbit become the derivatives at its members. one: the thread's first orbit. */
static __device__ __forceinline__ void sum_results(const dg_args &a, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < NODE_ITEMS; i += THREADS) {
        orbit next = orbit_of(a.table, i + THREADS);
        places at = results_of(one);
        REAL *column = x + i / RUNS % COLUMNS * TILE + i % RUNS * RUN;
        REAL v[3][4][RUN] = {};
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int s = 0; s < 4; s++)
                if (at.of[s] != ABSENT)
                    load_vector<RUN>(v[j][s], column + COLUMNS * j * TILE + at.of[s]);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            sum_orbit(v[j]);
            store_orbit(column + COLUMNS * j * TILE, at, v[j]);
        }
        one = next;
    }
    __syncthreads();
}

#endif
