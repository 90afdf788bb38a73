/* block_sums.h: sums over orbits, four characters of four members, for RUN elements at once: from the tile in shared
 * memory to the inputs of the four blocks. Loads of all directions come before the
 * first store, since the compiler cannot know that it is to another place. */
#ifndef UNDA_DG_BLOCK_SUMS_H
#define UNDA_DG_BLOCK_SUMS_H

#include "dg/block_scales.h"

enum { RUNS = TILE / RUN };

/* v_s = sum over g of chi_s(g) v_g (blocks.h). */
template <int NUM> static __device__ __forceinline__ void sum_orbit(REAL (&v)[4][NUM])
{
#pragma unroll
    for (int i = 0; i < NUM; i++) {
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

/* The inputs of the products: sums times their factors, from word `column` of a row on. */
static __device__ __forceinline__ void store_inputs(REAL *x, int column, const places &at, REAL v[4][RUN],
                                                    const REAL *factor)
{
#pragma unroll
    for (int i = 0; i < 4 * RUN; i++)
        v[i / RUN][i % RUN] *= factor[i % RUN];
#if SPLIT
    static_assert(RUN == 4, "two pairs");
    x += column / 2;
#pragma unroll
    for (int s = 0; s < 4; s++) {
        split_values a = split_two(v[s][0], v[s][1]), b = split_two(v[s][2], v[s][3]);
        int2 *hi = (int2 *)(x + at.of[s]), *lo = (int2 *)(x + at.of[s] + WIDTH / 2);
        if (at.of[s] != ABSENT)
            *hi = make_int2((int)a.hi, (int)b.hi);
        if (at.of[s] != ABSENT)
            *lo = make_int2((int)a.lo, (int)b.lo);
    }
#else
    store_orbit(x + column, at, v);
#endif
}

/* A thread takes all directions of an orbit; with the many threads of tensor cores, one: SPREAD threads share the orbit
 * and need fewer registers. */
enum {
    SPREAD = ON_TENSOR_CORES ? 3 : 1,
    JOINT = 3 / SPREAD,
    /* Columns of an item of nodes: one, or both of a chunk, where that leaves fewer threads idle than it saves
     * addresses (a third). */
    SINGLE_ROUNDS = (SPREAD * ORBITS * COLUMNS * RUNS + THREADS - 1) / THREADS,
    PAIR_ROUNDS = (SPREAD * ORBITS * COLUMNS / 2 * RUNS + THREADS - 1) / THREADS,
    ITEM_COLUMNS = SPLIT && 4 * PAIR_ROUNDS < 3 * SINGLE_ROUNDS ? 2 : 1,
    NODE_COLUMNS = COLUMNS / ITEM_COLUMNS,
    NODE_ITEMS = ORBITS * NODE_COLUMNS * RUNS,
    FACE_ITEMS = FACE_ORBITS * RUNS
};

/* The orbit of an item of nodes, and of face nodes, which is both columns. */
static __device__ __forceinline__ orbit orbit_of(const int *table, int item)
{
    return load_orbit(table, (SPREAD == 1 ? item : item % NODE_ITEMS) / (NODE_COLUMNS * RUNS));
}
static __device__ __forceinline__ orbit face_orbit_of(const int *table, int item)
{
    return load_orbit(table, ORBITS + (SPREAD == 1 ? item : item % FACE_ITEMS) / RUNS);
}

/* A column of an orbit, in directions `of` and so many more. */
template <int FIRST>
static __device__ __forceinline__ void sum_node_column(const tile &s, REAL *x, const orbit &one, int column,
                                                       int of, int e)
{
    int chunk = FIRST + column / 2, c = column % 2;
    REAL factor[RUN], v[JOINT][4][RUN];
#pragma unroll
    for (int n = 0; n < RUN; n++)
        factor[n] = (column_sign(1) == 1 || c == 0 ? 1 : -1) * field_scale(s, chunk, c, e + n);
#pragma unroll
    for (int k = 0; k < JOINT; k++) {
        int j = of + k, field = c == 0 ? column_field(chunk, j, 0) : column_field(chunk, j, 1);
#pragma unroll
        for (int g = 0; g < 4; g++)
            load_vector<RUN>(v[k][g], s.u + member(one, j, g) * PITCH_U + field * TILE + e);
    }
#pragma unroll
    for (int k = 0; k < JOINT; k++) {
        sum_orbit(v[k]);
        store_inputs(x, (COLUMNS * (of + k) + column) * TILE + e, sums_of(one), v[k], factor);
    }
}

/* A thread sums a column of an orbit, or two, in its directions; one: the first. */
template <int FIRST>
static __device__ __forceinline__ void sum_nodes(const int *table, const tile &s, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < SPREAD * NODE_ITEMS; i += THREADS) {
        int of = SPREAD == 1 ? 0 : i / NODE_ITEMS, item = SPREAD == 1 ? i : i % NODE_ITEMS;
        int e = item % RUNS * RUN, column = item / RUNS % NODE_COLUMNS * ITEM_COLUMNS;
        orbit next = orbit_of(table, i + THREADS);
#pragma unroll
        for (int c = 0; c < ITEM_COLUMNS; c++)
            sum_node_column<FIRST>(s, x, one, column + c, of, e);
        one = next;
    }
}

/* Both columns of a chunk, of an orbit of face nodes of the elements from e on, in direction J. */
template <int CHUNK, int FIRST, int J>
static __device__ __forceinline__ void sum_face_columns(const tile &s, REAL *x, const orbit &one, int e)
{
    REAL v[2][4][RUN];
#pragma unroll
    for (int g = 0; g < 4; g++) {
        int face = g % 2 ? J + 1 : 0;
        REAL y[NUM_JUMP][RUN], lift_coef[NUM_LIFT_COEF][RUN];
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            load_vector<RUN>(y[k], s.s + member(one, J, g) * PITCH_S + k * TILE + e);
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
                v[c][g][n] = face > 0 || column_face0(J, c) ? acc[column_sum(CHUNK, J, c)] : 0;
        }
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
        int column = COLUMNS * J + 2 * (CHUNK - FIRST) + c;
        REAL factor[RUN];
#pragma unroll
        for (int n = 0; n < RUN; n++)
            factor[n] = lift_scale(s, column, e + n);
        sum_orbit(v[c]);
        store_inputs(x, column * TILE + e, sums_of(one), v[c], factor);
    }
}

/* All chunks of a turn, in the direction `of` or in all. */
template <int CHUNK, int FIRST>
static __device__ __forceinline__ void sum_face_orbit(const tile &s, REAL *x, const orbit &one, int e, int of)
{
    if (SPREAD == 1 || of == 0)
        sum_face_columns<CHUNK, FIRST, 0>(s, x, one, e);
    if (SPREAD == 1 || of == 1)
        sum_face_columns<CHUNK, FIRST, 1>(s, x, one, e);
    if (SPREAD == 1 || of == 2)
        sum_face_columns<CHUNK, FIRST, 2>(s, x, one, e);
    if constexpr (CHUNK + 1 < FIRST + TOGETHER)
        sum_face_orbit<CHUNK + 1, FIRST>(s, x, one, e, of);
}

/* A thread sums all columns of an orbit of face nodes. */
template <int FIRST>
static __device__ __forceinline__ void sum_faces(const int *table, const tile &s, REAL *x, orbit one)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < SPREAD * FACE_ITEMS; i += THREADS) {
        orbit next = face_orbit_of(table, i + THREADS);
        sum_face_orbit<FIRST, FIRST>(s, x, one, i % RUNS * RUN, SPREAD == 1 ? 0 : i / FACE_ITEMS);
        one = next;
    }
}

#endif
