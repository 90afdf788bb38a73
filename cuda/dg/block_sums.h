/* block_sums.h: from the tile in shared memory to the inputs of the four blocks: sums over orbits of nodes and of face
 * nodes, in all directions. */
#ifndef UNDA_DG_BLOCK_SUMS_H
#define UNDA_DG_BLOCK_SUMS_H

#include "dg/block_rows.h"
#include "dg/tile.h"

/* Of the values at the members 1, Q, P, PQ of an orbit: the sums of the four characters. */
static __device__ __forceinline__ void sum_orbit(REAL *v)
{
    REAL a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
}

static __device__ __forceinline__ void store_sums(REAL *x, const orbit &one, int column, const REAL *v)
{
#pragma unroll
    for (int s = 0; s < 4; s++)
        if (one.input[s] != ABSENT)
            x[one.input[s] * PITCH + column] = v[s];
}

/* A thread sums a column of an orbit in each direction. */
template <int CHUNK> static __device__ __forceinline__ void sum_nodes(const dg_args &a, const tile &s, REAL *x)
{
    for (int i = threadIdx.x; i < ORBITS * 2 * TILE; i += THREADS) {
        int e = i % TILE, c = i / TILE % 2;
        orbit one = load_orbit(a.table, i / (2 * TILE));
        REAL sign = c == 0 ? 1 : column_sign(1);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int field = c == 0 ? column_field(CHUNK, j, 0) : column_field(CHUNK, j, 1);
            REAL v[4];
#pragma unroll
            for (int g = 0; g < 4; g++)
                v[g] = s.u[(one.member[j] >> 8 * g & 255) * PITCH_U + field * TILE + e];
            sum_orbit(v);
#pragma unroll
            for (int g = 0; g < 4; g++)
                v[g] = column_sign(1) == 1 ? v[g] : sign * v[g];
            store_sums(x, one, (2 * j + c) * TILE + e, v);
        }
    }
}

/* A thread sums both columns of an orbit of face nodes in each direction. */
template <int CHUNK> static __device__ __forceinline__ void sum_faces(const dg_args &a, const tile &s, REAL *x)
{
    for (int i = threadIdx.x; i < FACE_ORBITS * TILE; i += THREADS) {
        int e = i % TILE;
        orbit one = load_orbit(a.table, ORBITS + i / TILE);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            REAL v[2][4];
#pragma unroll
            for (int g = 0; g < 4; g++) {
                int face = g % 2 ? j + 1 : 0;
                REAL y[NUM_JUMP], lift_coef[NUM_LIFT_COEF], acc[NUM_ACC] = {};
#pragma unroll
                for (int k = 0; k < NUM_JUMP; k++)
                    y[k] = s.s[(one.member[j] >> 8 * g & 255) * PITCH_S + k * TILE + e];
#pragma unroll
                for (int k = 0; k < NUM_LIFT_COEF; k++)
                    lift_coef[k] = s.lift_coef[face][k][e];
                apply_lift(y, face, lift_coef, acc);
#pragma unroll
                for (int c = 0; c < 2; c++)
                    v[c][g] = face > 0 || column_face0(j, c) ? acc[column_sum(CHUNK, j, c)] : 0;
            }
#pragma unroll
            for (int c = 0; c < 2; c++) {
                sum_orbit(v[c]);
                store_sums(x, one, (2 * j + c) * TILE + e, v[c]);
            }
        }
    }
}

#endif
