/* block_split.h: a block times its inputs on tensor cores, in float32 as pairs of FP16 numbers (split.h): lo hi + hi lo +
 * hi hi. Sixteen inputs a step, those of nodes and those of faces in steps of their own, which have scales of their own.
 * Tensor cores round their sums towards zero, so that those of a step are added to the others, and unscaled, outside of
 * them. One load of a warp brings hi and lo of 16 rows and eight columns (common/mma.h). Packing of a step: [tile of 16
 * orbits][hi, lo][lane][four words] as multiply_add takes A. */
#ifndef UNDA_DG_BLOCK_SPLIT_H
#define UNDA_DG_BLOCK_SPLIT_H

#include "dg/block_sums.h"

enum {
    ROW_TILES = ROWS / 8, /* two to a product */
    UNITS = ROWS / 16,
    STEP_ENTRIES = DEPTH * ROWS
};

/* The rows of this lane in the loads of a warp, and what the products of its columns are multiplied by; first inputs of
 * nodes are taken, then those of faces. */
enum { PASSES = 2 };
struct lane_inputs {
    const REAL *node, *face;
    const tile &s;
    const int *head;
    int column;
    REAL unit[COLS][2];
    __device__ __forceinline__ lane_inputs(const dg_args &a, const tile &s, const REAL *x, const REAL *y,
                                           int strip)
        : s(s), head(a.table + SPLIT_HEAD), column(8 * strip + threadIdx.x % 4 * 2)
    {
        int at = threadIdx.x % 16 * PITCH + (8 * strip + threadIdx.x % 32 / 16 * WIDTH) / 2;
        node = x + at;
        face = y + at;
    }
    template <int PASS, int FIRST> __device__ __forceinline__ void begin()
    {
        REAL matrix = __uint_as_float((unsigned)__ldg(head + PASS));
#pragma unroll
        for (int c = 0; c < COLS; c++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int at = column + 8 * c + i, number = at / TILE, e = at % TILE, of = number % COLUMNS;
                unit[c][i] = matrix * unscale(PASS == 0 ? s.most[column_kind(FIRST + of / 2, of % 2)][e]
                                                        : s.bound[number][e]);
            }
    }
};

/* Entries of the next step, of this lane. */
struct fragments {
    const int4 *entry;
    int4 next[UNITS][2];
};

static __device__ __forceinline__ void fetch(fragments &of)
{
#pragma unroll
    for (int r = 0; r < UNITS; r++)
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const int4 *entry = of.entry + 32 * (2 * r + part);
            of.next[r][part] = MATRIX_IN_SHARED ? *entry : __ldg(entry);
        }
}

/* entry: of the warp. */
static __device__ __forceinline__ void fetch_first(fragments &of, const REAL *entry)
{
    of.entry = (const int4 *)entry + threadIdx.x % 32;
    fetch(of);
}

/* acc += so many steps. from: this lane's row of the first. */
template <int COUNT>
static __device__ __forceinline__ void multiply_steps(fragments &of, const REAL *from,
                                                      const REAL unit[COLS][2], REAL acc[ROW_TILES][COLS][2])
{
    constexpr int STEPS = (COUNT + DEPTH - 1) / DEPTH;
#pragma unroll(UNROLL)
    for (int step = 0; step < STEPS; step++, from += DEPTH * PITCH) {
        unsigned a[UNITS][2][4];
#pragma unroll
        for (int r = 0; r < UNITS; r++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int4 words = of.next[r][i];
                a[r][i][0] = (unsigned)words.x;
                a[r][i][1] = (unsigned)words.y;
                a[r][i][2] = (unsigned)words.z;
                a[r][i][3] = (unsigned)words.w;
            }
        /* behind the last step come those of the next block, and what the host adds (block_rows.h) */
        of.entry += STEP_ENTRIES / 4;
        fetch(of);
        /* beyond the last input the entries are zero, and what they multiply must be a number */
        const REAL *row = from;
        int beyond = step * DEPTH + (int)threadIdx.x % 16 - (COUNT - 1);
        if (COUNT % DEPTH && beyond > 0)
            row -= beyond * PITCH;
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            unsigned b[4];
            load_columns(b, row + 4 * c);
            const unsigned hi[2] = {b[0], b[1]}, lo[2] = {b[2], b[3]};
#pragma unroll
            for (int r = 0; r < UNITS; r++) {
                float part[4] = {};
                multiply_add(part, a[r][1], hi);
                multiply_add(part, a[r][0], lo);
                multiply_add(part, a[r][0], hi);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    acc[2 * r + i / 2][c][i % 2] += part[i] * unit[c][i % 2];
            }
        }
    }
}

/* acc += block S times its inputs of a pass. */
template <int S, int PASS>
static __device__ __forceinline__ void multiply_block(fragments &of, const lane_inputs &from,
                                                      REAL acc[ROW_TILES][COLS][2])
{
    constexpr block_rows AT;
    constexpr int I = S ^ 1;
    if (PASS == 0)
        multiply_steps<AT.nodes[I]>(of, from.node + AT.node[I] * PITCH, from.unit, acc);
    else
        multiply_steps<AT.faces[I]>(of, from.face + AT.face[I] * PITCH, from.unit, acc);
}

#endif
