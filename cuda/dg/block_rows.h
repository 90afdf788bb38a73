/* block_rows.h: rows of the four blocks of kernel blocks (csrc/dg/blocks.h) in shared memory, and the table of orbits.
 * A row has all columns of three directions for each element of the tile, [row][direction][COLUMNS][TILE]. Inputs: the
 * sums of nodes block by block, then those of face nodes block by block. Results, in the place of the inputs: block by
 * block, in tiles of ROWS; when they are summed to nodes, these take their places. As pairs of FP16 numbers (SPLIT) a row
 * of inputs has hi of all columns, then lo of all. Defines: NODE_SUMS, FACE_SUMS (sums of each character), ROWS, TILE,
 * SPLIT. The host counts the same in csrc/dg/kernel_blocks.c. */
#ifndef UNDA_DG_BLOCK_ROWS_H
#define UNDA_DG_BLOCK_ROWS_H

#include "dg/block_columns.h"
#if SPLIT
#include "dg/block_sizes.h"
#endif
#include "dg/tile.h"

/* Inputs that tensor cores take in a step. As FP16, those of nodes and those of faces have steps of their own. */
enum { DEPTH = SPLIT ? 16 : 4 };
static __device__ constexpr int steps_of(int nodes, int faces)
{
    return SPLIT ? (nodes + DEPTH - 1) / DEPTH + (faces + DEPTH - 1) / DEPTH
                 : (nodes + faces + DEPTH - 1) / DEPTH;
}

/* Blocks with the most columns first, which are 1 0 3 2: what a warp's tiles take then hardly differs. */
struct block_rows {
    int nodes[4], faces[4]; /* sums that each block multiplies */
    int node[4], face[4];   /* the first of them */
    int tile[5], matrix[4]; /* first row tile, where its matrix begins */
    int num_node, num_face, num_orbit, num_face_orbit, num_matrix;
    int step[4], steps; /* on tensor cores, by character: the first step, all of them */
    constexpr block_rows()
        : nodes(), faces(), node(), face(), tile(), matrix(), num_node(0), num_face(0), num_orbit(0),
          num_face_orbit(0), num_matrix(0), step(), steps(0)
    {
        constexpr int node_sums[4] = {NODE_SUMS}, face_sums[4] = {FACE_SUMS};
        int words = 0;
        for (int i = 0; i < 4; i++) {
            int b = i ^ 1, tiles = (node_sums[b] + ROWS - 1) / ROWS;
            nodes[i] = node_sums[b ^ 1];
            faces[i] = face_sums[b];
            node[i] = num_node;
            face[i] = num_face;
            matrix[i] = words;
            tile[i + 1] = tile[i] + tiles;
            num_node += nodes[i];
            num_face += faces[i];
            words += tiles * ROWS * (nodes[i] + faces[i]);
        }
        num_orbit = node_sums[0]; /* every orbit has a sum of the first character */
        num_face_orbit = face_sums[0];
        for (int s = 0; s < 4; s++) {
            step[s] = steps;
            steps += steps_of(nodes[s ^ 1], faces[s ^ 1]);
        }
        /* the last column asks for one more, the last step for two */
        num_matrix = ON_TENSOR_CORES ? ((num_orbit + ROWS - 1) / ROWS * steps + 2) * DEPTH * ROWS
                                     : (words + ROWS + 3) / 4 * 4;
    }
};

enum {
    ORBITS = block_rows().num_orbit,
    FACE_ORBITS = block_rows().num_face_orbit,
    WIDTH = 3 * COLUMNS * TILE,
    PITCH = WIDTH + 4, /* of a row: eight rows of four words stand in different banks */
    NUM_TILES = block_rows().tile[4],
    NODE_ROWS = block_rows().num_node,
    FACE_ROWS = block_rows().num_face,
    /* Sums of jumps take the place of the state, where a single turn has read all of it. */
    FACES_IN_STATE = TURNS == 1 && FACE_ROWS * PITCH <= NP * PITCH_U + TILE_ROOM,
    INPUT_ROWS = NODE_ROWS + (FACES_IN_STATE ? 0 : FACE_ROWS),
    RESULT_ROWS = ON_TENSOR_CORES ? NODE_ROWS : NUM_TILES * ROWS,
    SHARED_ROWS = INPUT_ROWS > RESULT_ROWS ? INPUT_ROWS : RESULT_ROWS,
    NUM_MATRIX = block_rows().num_matrix,
    ABSENT = 0xffff,
    /* Words of the table before the matrices as pairs of FP16 numbers: orbits, then the inverse scales of derivative and
     * lift as floats and two words that are not used. */
    SPLIT_HEAD = 8 * (ORBITS + FACE_ORBITS), /* ORBIT_WORDS */
    SPLIT_MATRIX = SPLIT_HEAD + 4
};

/* Where the rows of the four characters begin: words, or ABSENT. */
struct places {
    int of[4];
};

static __device__ __forceinline__ places unpack(int low, int high)
{
    return {{low & 0xffff, (int)((unsigned)low >> 16), high & 0xffff, (int)((unsigned)high >> 16)}};
}

/* A record of the table, as it comes: an orbit's members, four bytes by direction; where its sums and its results
 * stand. Asked for a turn of a loop, or a barrier, before it is used. SPLIT: the table is in shared memory. */
struct orbit {
    int4 members, rows;
};
enum { ORBIT_WORDS = 8 * (ORBITS + FACE_ORBITS) };

static __device__ __forceinline__ orbit load_orbit(const int *table, int i)
{
    i = i < ORBITS + FACE_ORBITS ? i : 0;
    const int4 *from = (const int4 *)table + 2 * i;
    if (SPLIT)
        return {from[0], from[1]};
    return {__ldg(from), __ldg(from + 1)};
}

/* Member g in direction j, a number of a node or a face node. */
static __device__ __forceinline__ int member(const orbit &one, int j, int g)
{
    return (j == 0 ? one.members.x : j == 1 ? one.members.y : one.members.z) >> 8 * g & 255;
}

static __device__ __forceinline__ places sums_of(const orbit &one)
{
    return unpack(one.rows.x, one.rows.y);
}

static __device__ __forceinline__ places results_of(const orbit &one)
{
    return unpack(one.rows.z, one.rows.w);
}

/* Where the derivatives of a node stand, by direction; more: a constant. */
static __device__ __forceinline__ places load_node_places(const int *table, int node, int more = 0)
{
    if (ON_TENSOR_CORES) { /* derivatives of all directions are in the node's row */
        int row = (node + more) * PITCH;
        return {{row, row, row, row}};
    }
    int2 rows = __ldg((const int2 *)(table + 8 * (ORBITS + FACE_ORBITS)) + node + more);
    return unpack(rows.x, rows.y);
}

/* Elements beside each other to shared memory, in whole vectors: a struct would be stored word by word. */
template <int N> static __device__ __forceinline__ void store_run(REAL *to, const REAL *from)
{
    typedef typename wide<REAL>::quad type;
    constexpr int STEP = 16 / sizeof(REAL);
    if constexpr (N % STEP == 0) {
#pragma unroll
        for (int i = 0; i < N; i += STEP) {
            type part;
#pragma unroll
            for (int k = 0; k < STEP; k++)
                ((REAL *)&part)[k] = from[i + k];
            *(type *)(to + i) = part;
        }
    } else if constexpr (N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2)
            *(float2 *)(to + i) = make_float2((float)from[i], (float)from[i + 1]);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = from[i];
    }
}

#endif
