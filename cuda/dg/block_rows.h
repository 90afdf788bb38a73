/* block_rows.h: rows of the four blocks of kernel blocks (csrc/dg/blocks.h), their inputs in shared memory and tables.
 * A row has 2 columns of 3 directions for each element of the tile, [row][direction][column][TILE]. Inputs: block by
 * block the sums of nodes, then those of face nodes that it multiplies. Results, in their place: block by block, in
 * tiles of ROWS. Defines: NODE_SUMS, FACE_SUMS (sums of each character), ROWS, TILE. The host counts the same in
 * csrc/dg/kernel_blocks.c. */
#ifndef UNDA_DG_BLOCK_ROWS_H
#define UNDA_DG_BLOCK_ROWS_H

#include "dg/block_columns.h"

struct block_rows {
    int columns[4];              /* of each block */
    int input[4], tile[5];       /* first input, first row tile */
    int matrix[4];               /* where its matrix begins */
    int num_input, zero;         /* zero: a row of zeros after all others */
    constexpr block_rows() : columns(), input(), tile(), matrix(), num_input(0), zero(0)
    {
        constexpr int nodes[4] = {NODE_SUMS}, faces[4] = {FACE_SUMS};
        int words = 0;
        tile[0] = 0;
        for (int b = 0; b < 4; b++) {
            int tiles = (nodes[b] + ROWS - 1) / ROWS;
            columns[b] = nodes[b ^ 1] + faces[b];
            input[b] = num_input;
            matrix[b] = words;
            tile[b + 1] = tile[b] + tiles;
            num_input += columns[b];
            words += tiles * ROWS * columns[b];
        }
        zero = num_input > tile[4] * ROWS ? num_input : tile[4] * ROWS;
    }
};

static __device__ constexpr int first_sum(bool faces)
{
    constexpr int of_nodes[4] = {NODE_SUMS}, of_faces[4] = {FACE_SUMS};
    return faces ? of_faces[0] : of_nodes[0];
}

enum {
    ORBITS = first_sum(false), /* every orbit has a sum of the first character */
    FACE_ORBITS = first_sum(true),
    RECORD_WORDS = 8,
    PITCH = 6 * TILE + 4, /* of a row: eight rows of four elements stand in different banks */
    NUM_TILES = block_rows().tile[4],
    ZERO_ROW = block_rows().zero,
    ABSENT = 0xffff
};

/* The four members of an orbit, by direction, and the rows of its sums. */
struct orbit {
    int member[3], input[4];
};

static __device__ __forceinline__ orbit load_orbit(const int *table, int i)
{
    int4 members = __ldg((const int4 *)table + 2 * i), inputs = __ldg((const int4 *)table + 2 * i + 1);
    return {{members.x, members.y, members.z},
            {inputs.x & 0xffff, (int)((unsigned)inputs.x >> 16), inputs.y & 0xffff, (int)((unsigned)inputs.y >> 16)}};
}

/* What makes a node's derivatives of four results: sum over s of chi_s(g) of result s, by direction. */
struct node_results {
    int row[3][4], g[3];
};

static __device__ __forceinline__ node_results load_results(const int *table, int node)
{
    const int4 *record = (const int4 *)table + 2 * (ORBITS + FACE_ORBITS + node);
    int4 a = __ldg(record), b = __ldg(record + 1);
    int pair[6] = {a.x, a.y, a.z, a.w, b.x, b.y};
    node_results to;
#pragma unroll
    for (int j = 0; j < 3; j++) {
        to.row[j][0] = pair[2 * j] & 0xffff;
        to.row[j][1] = (int)((unsigned)pair[2 * j] >> 16);
        to.row[j][2] = pair[2 * j + 1] & 0xffff;
        to.row[j][3] = (int)((unsigned)pair[2 * j + 1] >> 16);
        to.g[j] = b.z >> 2 * j & 3;
    }
    return to;
}

#endif
