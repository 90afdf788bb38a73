/* block_sums.h: sums over orbits, four characters of four members, for RUN elements at once: from the tile in shared
 * memory to the inputs of the four blocks, and from their results to nodes. Loads of all directions come before the
 * first store, since the compiler cannot know that it is to another place. */
#ifndef UNDA_DG_BLOCK_SUMS_H
#define UNDA_DG_BLOCK_SUMS_H

#include "dg/block_rows.h"
#include "dg/tile.h"

enum { RUNS = TILE / RUN };

/* v_s = sum over g of chi_s(g) v_g (blocks.h). */
static __device__ __forceinline__ void sum_orbit(REAL v[4][RUN])
{
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        REAL a = v[0][i] + v[1][i], b = v[0][i] - v[1][i], c = v[2][i] + v[3][i], d = v[2][i] - v[3][i];
        v[0][i] = a + c;
        v[1][i] = b + d;
        v[2][i] = a - c;
        v[3][i] = b - d;
    }
}

static __device__ __forceinline__ void store_orbit(REAL *column, const places &at, const REAL v[4][RUN])
{
#pragma unroll
    for (int s = 0; s < 4; s++)
        if (at.of[s] != ABSENT)
            store_run<RUN>(column + at.of[s], v[s]);
}

/* The first orbits that a thread sums: of nodes and results a column, of face nodes both. */
static __device__ __forceinline__ orbit first_orbit(const dg_args &a)
{
    return load_orbit(a.table, threadIdx.x / (COLUMNS * RUNS));
}
static __device__ __forceinline__ orbit first_face_orbit(const dg_args &a)
{
    return load_orbit(a.table, ORBITS + threadIdx.x / RUNS);
}

/* A thread sums a column of an orbit in each direction; one: the first. */
template <int FIRST>
static __device__ __forceinline__ void sum_nodes(const dg_args &a, const tile &s, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < ORBITS * COLUMNS * RUNS; i += THREADS) {
        int e = i % RUNS * RUN, column = i / RUNS % COLUMNS, chunk = FIRST + column / 2, c = column % 2;
        orbit next = load_orbit(a.table, (i + THREADS) / (COLUMNS * RUNS));
        REAL sign = c == 0 ? 1 : column_sign(1), v[3][4][RUN];
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int field = c == 0 ? column_field(chunk, j, 0) : column_field(chunk, j, 1);
#pragma unroll
            for (int g = 0; g < 4; g++)
                load_vector<RUN>(v[j][g], s.u + member(one, j, g) * PITCH_U + field * TILE + e);
        }
#pragma unroll
        for (int j = 0; j < 3; j++) {
            sum_orbit(v[j]);
#pragma unroll
            for (int g = 0; g < 4 * RUN; g++)
                v[j][g / RUN][g % RUN] *= column_sign(1) == 1 ? 1 : sign;
            store_orbit(x + (COLUMNS * j + column) * TILE + e, sums_of(one), v[j]);
        }
        one = next;
    }
}

/* Both columns of a chunk, of an orbit of face nodes of the elements from e on, in each direction. */
template <int CHUNK, int FIRST>
static __device__ __forceinline__ void sum_face_orbit(const tile &s, REAL *x, const orbit &one, int e)
{
#pragma unroll
    for (int j = 0; j < 3; j++) {
        REAL v[2][4][RUN];
#pragma unroll
        for (int g = 0; g < 4; g++) {
            int face = g % 2 ? j + 1 : 0;
            REAL y[NUM_JUMP][RUN], lift_coef[NUM_LIFT_COEF][RUN];
#pragma unroll
            for (int k = 0; k < NUM_JUMP; k++)
                load_vector<RUN>(y[k], s.s + member(one, j, g) * PITCH_S + k * TILE + e);
#pragma unroll
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                load_vector<RUN>(lift_coef[k], s.lift_coef[face][k] + e);
#pragma unroll
            for (int n = 0; n < RUN; n++) {
                REAL y1[NUM_JUMP], coef1[NUM_LIFT_COEF], acc[NUM_ACC] = {};
#pragma unroll
                for (int k = 0; k < NUM_JUMP; k++)
                    y1[k] = y[k][n];
#pragma unroll
                for (int k = 0; k < NUM_LIFT_COEF; k++)
                    coef1[k] = lift_coef[k][n];
                apply_lift(y1, face, coef1, acc);
#pragma unroll
                for (int c = 0; c < 2; c++)
                    v[c][g][n] = face > 0 || column_face0(j, c) ? acc[column_sum(CHUNK, j, c)] : 0;
            }
        }
#pragma unroll
        for (int c = 0; c < 2; c++) {
            sum_orbit(v[c]);
            store_orbit(x + (COLUMNS * j + 2 * (CHUNK - FIRST) + c) * TILE + e, sums_of(one), v[c]);
        }
    }
    if constexpr (CHUNK + 1 < FIRST + TOGETHER)
        sum_face_orbit<CHUNK + 1, FIRST>(s, x, one, e);
}

/* A thread sums all columns of an orbit of face nodes. */
template <int FIRST>
static __device__ __forceinline__ void sum_faces(const dg_args &a, const tile &s, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < FACE_ORBITS * RUNS; i += THREADS) {
        orbit next = load_orbit(a.table, ORBITS + (i + THREADS) / RUNS);
        sum_face_orbit<FIRST, FIRST>(s, x, one, i % RUNS * RUN);
        one = next;
    }
}

/* The results of each orbit become the derivatives at its members. */
static __device__ __forceinline__ void sum_results(const dg_args &a, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < ORBITS * COLUMNS * RUNS; i += THREADS) {
        orbit next = load_orbit(a.table, (i + THREADS) / (COLUMNS * RUNS));
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
}

#endif
