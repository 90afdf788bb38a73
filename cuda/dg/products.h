/* products.h: the matrix products of a row group of COLS elements, from a tile in shared memory to the updated
 * nodes. A matrix entry is used COLS times and a field value ROWS times: 6 ROWS COLS FMA for 3 ROWS + 4 COLS
 * words (acoustic).
 *
 * Matrix packing: derivative [node][3][ROW_GROUPS][ROWS], lift [NUM_FACE NFP][ROW_GROUPS][ROWS]; row group g holds
 * rows g, g + ROW_GROUPS, ...: for each r neighbouring threads then touch neighbouring nodes. The includer
 * defines ROWS, COLS, UNROLL_VOLUME, UNROLL_LIFT and what tile.h asks for. Next: fused.cu, element.cu. */
#ifndef UNDA_DG_PRODUCTS_H
#define UNDA_DG_PRODUCTS_H

#include "dg/tile.h"
#include "dg/update.h"

/* Acoustics of degree 7 by AB3: measured, indices are 6 % faster there than pointers (benchmarks/NOTES.md). */
enum { VOLUME_BY_INDEX = NUM_FIELD == 4 && DEGREE == 7 && UPDATE == UPDATE_AB3 };

/* acc += derivative products. Unrolled, so that many loads of the matrix are in flight at once. Here and in
 * lift_jumps pointers advance by constants, so that a load's address is a register and a constant: with indices
 * the compiler spends two to three instructions on each. */
static __device__ __forceinline__ void volume_products(const REAL *matrix, const tile &s, int group, int e0,
                                                       REAL acc[ROWS][COLS][NUM_ACC])
{
    const REAL *column = matrix + group * ROWS, *node = s.u + e0;
#pragma unroll(UNROLL_VOLUME)
    for (int k = 0; k < NP; k++, column += 3 * ROW_GROUPS * ROWS, node += PITCH_U) {
        REAL d[3][ROWS], u[NUM_REF][COLS];
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_constant<ROWS>(d[j], VOLUME_BY_INDEX ? matrix + ((k * 3 + j) * ROW_GROUPS + group) * ROWS
                                                      : column + j * ROW_GROUPS * ROWS);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            load_vector<COLS>(u[f], VOLUME_BY_INDEX ? &s.u[k * PITCH_U + f * TILE + e0] : node + f * TILE);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                REAL d1[3] = {d[0][r], d[1][r], d[2][r]}, u1[NUM_REF];
#pragma unroll
                for (int f = 0; f < NUM_REF; f++)
                    u1[f] = u[f][c];
                volume(d1, u1, acc[r][c]);
            }
    }
}

/* acc += lifted jumps, one face after the other. */
static __device__ __forceinline__ void lift_jumps(const REAL *matrix, const tile &s, int group, int e0,
                                                  REAL acc[ROWS][COLS][NUM_ACC])
{
    const REAL *column = matrix + group * ROWS, *node = s.s + e0;
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++) {
        REAL y[ROWS][COLS][NUM_JUMP] = {};
#pragma unroll(UNROLL_LIFT)
        for (int m = 0; m < NFP; m++, column += ROW_GROUPS * ROWS, node += PITCH_S) {
            REAL l[ROWS], jumps[NUM_JUMP][COLS];
            load_constant<ROWS>(l, column);
#pragma unroll
            for (int k = 0; k < NUM_JUMP; k++)
                load_vector<COLS>(jumps[k], node + k * TILE);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int c = 0; c < COLS; c++)
#pragma unroll
                    for (int k = 0; k < NUM_JUMP; k++)
                        y[r][c][k] += l[r] * jumps[k][c];
        }
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL lift_coef[NUM_LIFT_COEF];
#pragma unroll
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                lift_coef[k] = s.lift_coef[face][k][e0 + c];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                apply_lift(y[r][c], face, lift_coef, acc[r][c]);
        }
    }
}

/* From the products to dq/dt and the update. */
static __device__ __forceinline__ void finish(const dg_args &a, long long first, int count, int group, int e0,
                                              bool has_source, REAL acc[ROWS][COLS][NUM_ACC])
{
#pragma unroll
    for (int c = 0; c < COLS; c++) {
        if (e0 + c >= count)
            break;
        long long elem = first + e0 + c;
        REAL g[WORDS];
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
        long long at = place(elem, group);
        old_state old[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (NP % ROWS == 0 || group + r * ROW_GROUPS < NP)
                load_old(a, at + r * (ROW_GROUPS * NODE_STRIDE(NUM_FIELD)), old[r]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int node = group + r * ROW_GROUPS;
            if (NP % ROWS && node >= NP)
                break;
            REAL rhs[NUM_FIELD];
            const REAL *coef = coef_at(a, elem, node, g);
            from_reference(acc[r][c], g, coef, rhs);
            add_local(old[r], coef + NUM_COEF - NUM_LOCAL, rhs);
            if (has_source)
                add_sources(a, elem, node, a.source_range[blockIdx.x], a.source_range[blockIdx.x + 1], rhs);
            update(a, at + r * (ROW_GROUPS * NODE_STRIDE(NUM_FIELD)), old[r], rhs);
        }
    }
}

#endif
