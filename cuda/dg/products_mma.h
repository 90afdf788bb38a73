/* products_mma.h: the products of kernel fused in float64 on tensor cores, and the update from their sums. A warp owns
 * ROWS nodes, in tiles of eight, times COLS strips of eight elements: C [node][element] += A [node][k] B [k][element],
 * four k a step, A the derivative or the lift, B a field or a jump of the tile, where TILE_PAD lets a warp read four rows
 * without a conflict. A lane has node lane / 4 of a tile and elements 2 (lane % 4) and one more of a strip, so that eight
 * lanes read and write nodes beside each other.
 *
 * Matrix packing: warps' rows one after the other, derivative [step][direction], lift [face][step], each [row
 * tile][lane] as multiply_add (common/mma.h) takes A. The host: csrc/dg/kernel_fused.c. */
#ifndef UNDA_DG_PRODUCTS_MMA_H
#define UNDA_DG_PRODUCTS_MMA_H

#define TILE_PAD 4
#define TURNS    1
#include "dg/block_columns.h"
#include "dg/tile.h"
#include "dg/update.h"

#include "common/mma.h" /* with DEVICE of case.h */

enum {
    ROW_TILES = ROWS / 8,
    FRAGMENT = ROW_TILES * 32, /* entries of a step */
    STEPS = (NP + 3) / 4,
    FACE_STEPS = (NFP + 3) / 4,
    WARP_ENTRIES = (3 * STEPS + NUM_FACE * FACE_STEPS) * FRAGMENT
};

/* Sums of the nodes and elements of a lane. */
struct lane_sums {
    double of[ROW_TILES][COLS][NUM_ACC][2];
};

static __device__ __forceinline__ void load_fragment(double a[ROW_TILES], const REAL *entry)
{
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++)
        a[r] = __ldg(entry + 32 * r);
}

/* sums += derivative products. entry: of this lane; e0: the first element of its strips. */
static __device__ __forceinline__ void volume_products(const REAL *entry, const tile &s, int lane, int e0,
                                                       lane_sums &sums)
{
    const REAL *column = s.u + e0 + lane / 4;
    int k = lane % 4;
#pragma unroll(UNROLL_VOLUME)
    for (int step = 0; step < STEPS; step++, k += 4, entry += 3 * FRAGMENT) {
        /* beyond the last node the entries are zero, and what they multiply must be a number */
        const REAL *node = column + (NP % 4 == 0 || k < NP ? k : NP - 1) * PITCH_U;
        double d[3][ROW_TILES];
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_fragment(d[j], entry + j * FRAGMENT);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL u[NUM_REF];
#pragma unroll
            for (int f = 0; f < NUM_REF; f++)
                u[f] = node[f * TILE + 8 * c];
#pragma unroll
            for (int chunk = 0; chunk < CHUNKS; chunk++)
#pragma unroll
                for (int i = 0; i < 6; i++) {
                    int j = i / 2, of = i % 2;
                    REAL b = column_sign(of) * u[column_field(chunk, j, of)];
#pragma unroll
                    for (int r = 0; r < ROW_TILES; r++)
                        multiply_add(sums.of[r][c][column_sum(chunk, j, of)], d[j][r], b);
                }
        }
    }
}

/* sums += lifted jumps, one face after the other. */
static __device__ __forceinline__ void lift_jumps(const REAL *entry, const tile &s, int lane, int e0,
                                                  lane_sums &sums)
{
    const REAL *column = s.s + e0 + lane / 4;
    entry += 3 * STEPS * FRAGMENT;
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++) {
        double y[ROW_TILES][COLS][NUM_JUMP][2] = {};
        int k = lane % 4;
#pragma unroll(UNROLL_LIFT)
        for (int step = 0; step < FACE_STEPS; step++, k += 4, entry += FRAGMENT) {
            const REAL *node = column + (face * NFP + (NFP % 4 == 0 || k < NFP ? k : NFP - 1)) * PITCH_S;
            double l[ROW_TILES];
            load_fragment(l, entry);
#pragma unroll
            for (int c = 0; c < COLS; c++)
#pragma unroll
                for (int i = 0; i < NUM_JUMP; i++) {
                    REAL b = node[i * TILE + 8 * c];
#pragma unroll
                    for (int r = 0; r < ROW_TILES; r++)
                        multiply_add(y[r][c][i], l[r], b);
                }
        }
#pragma unroll
        for (int c = 0; c < 2 * COLS; c++) {
            int e = e0 + c / 2 * 8 + lane % 4 * 2 + c % 2;
            REAL lift_coef[NUM_LIFT_COEF];
#pragma unroll
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                lift_coef[k] = s.lift_coef[face][k][e];
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++) {
                REAL y1[NUM_JUMP], acc[NUM_ACC] = {};
#pragma unroll
                for (int i = 0; i < NUM_JUMP; i++)
                    y1[i] = y[r][c / 2][i][c % 2];
                apply_lift(y1, face, lift_coef, acc);
#pragma unroll
                for (int i = 0; i < NUM_ACC; i++)
                    sums.of[r][c / 2][i][c % 2] += acc[i];
            }
        }
    }
}

/* From the sums to dq/dt and the update. node0: the lane's first node. */
static __device__ __forceinline__ void finish(const dg_args &a, long long first, int count, int lane,
                                              int node0, int e0, bool has_source, lane_sums &sums)
{
    factors by = factors_of(a);
#pragma unroll
    for (int c = 0; c < 2 * COLS; c++) {
        int e = e0 + c / 2 * 8 + lane % 4 * 2 + c % 2;
        if (e >= count)
            break;
        long long elem = first + e;
        REAL g[WORDS];
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++) {
            int node = node0 + 8 * r;
            /* the other lane's node is four away, so that four nodes are stored beside each other */
            int other = node + (lane < 16 ? 4 : -4);
            lane_pair lanes = {16, 4, NP % ROWS == 0 || node < NP, NP % ROWS == 0 || other < NP};
            old_state old;
            if (lanes.own)
                load_old(a, place(elem, node0), old, 8 * r * NODE_STRIDE(NUM_FIELD));
            REAL rhs[NUM_FIELD] = {}, acc[NUM_ACC];
#pragma unroll
            for (int i = 0; i < NUM_ACC; i++)
                acc[i] = sums.of[r][c / 2][i][c % 2];
            if (lanes.own) {
                const REAL *coef = coef_at(a, elem, node, g);
                from_reference(acc, g, coef, rhs);
                add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
                if (has_source)
                    add_few_sources(a, elem, node, rhs);
            }
            update_pair(a, by, place(elem, node0), old, rhs, lanes, 8 * r * NODE_STRIDE(NUM_FIELD));
        }
    }
}

#endif
