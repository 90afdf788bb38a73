/* work_column.h: forces of elements, a thread owns a column of N nodes along r_3. It works on a line along r_1 and on
 * one along r_2 on the way, which pass through shared memory from one owner to the next, who is in the same warp up to
 * N = 5. Included by sem/tiles.cu. */
#ifndef UNDA_SEM_WORK_COLUMN_H
#define UNDA_SEM_WORK_COLUMN_H

#include "sem/column.h"

/* Whether nothing of node k of a column is read or computed before the nodes below it are done. Of a stored metric in
 * float32, and of degree 8, the compiler reads ahead what so long columns have no registers for. */
DEVICE constexpr bool begins_apart(int k)
{
    constexpr bool LONG = ASSEMBLY != 2 && (sizeof(REAL) == 4 ? N > (DIM == 3 ? 8 : 10) : DIM == 3 && N == 9);
    return METRIC_KIND == METRIC_TRILINEAR ? k == N / 2 : METRIC_KIND == METRIC_STORED && LONG && k % 3 == 2;
}

/* Slopes along r_3, fluxes at the nodes of a column; those along r_3 become its force at once. */
DEVICE void work_on_column(const sem_tile_args &a, tile &s, const place &p, long long elem,
                           REAL (&metric)[NUM_METRIC], REAL (&coef)[NUM_COEF], REAL (&slope)[DIM][N])
{
    constexpr double weight[N] = {LINE_WEIGHTS}, point[N] = {LINE_POINTS};
    values *first = s.first + p.elem * ELEM0 + p.b * ROW0 + p.a,
           *second = s.second + p.elem * ELEM1 + p.b * ROW1 + p.a;
    const REAL area = line_weight[p.a] * line_weight[p.b];
    column edges;
    if constexpr (METRIC_KIND == METRIC_TRILINEAR)
        edges = load_column(metric_of(a, elem), p.a, p.b);
#pragma unroll
    for (int i = 0; i < NUM_COEF && MATERIAL_NODES == 1; i++)
        coef[i] *= area;
    derive<false>(slope);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int node = k * SQUARE + p.b * N + p.a;
        REAL g[3 * DIM];
        if (begins_apart(k))
            keep_apart();
        if constexpr (METRIC_KIND == METRIC_TRILINEAR)
            metric_at(edges, (REAL)point[k], metric);
        else if (METRIC_NODES > 1)
            load_metric(a, elem, node, metric);
        if (MATERIAL_NODES > 1)
            load_coef(a, elem, node, area, coef);
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            g[i] = first[k * PLANE0].v[i];
            g[DIM + i] = second[k * PLANE1].v[i];
            g[2 * DIM + i] = slope[i][k];
        }
        flux_at(metric, coef, (REAL)weight[k], g);
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            first[k * PLANE0].v[i] = g[i];
            second[k * PLANE1].v[i] = g[DIM + i];
        }
#pragma unroll
        for (int i = 0; i < DIM; i++)
            slope[i][k] = g[2 * DIM + i];
    }
    derive<true>(slope);
}

/* Where a tile's sources begin, of odd threads where they end, asked for early: what is the same for all threads would
 * be waited for at once. */
DEVICE int find_sources(const sem_tile_args &a, int number)
{
    return a.time >= 0 ? __ldg(a.source_first + number + (int)threadIdx.x % 2) : 0;
}

/* Those in this element: their forces on a column. All threads call this. */
DEVICE void add_sources(const sem_tile_args &a, int found, const place &p, REAL (&f)[DIM][N])
{
    const int first = __shfl_sync(0xffffffffu, found, 0), end = __shfl_sync(0xffffffffu, found, 1);
    for (int part = first; part < end; part++) {
        if (a.source_elem[part] != p.elem)
            continue;
        REAL amplitude =
            ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + a.source_column[part]];
        const REAL *weight = (const REAL *)a.source_weight + ((long long)part * NP + p.b * N + p.a) * DIM;
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                f[i][k] -= amplitude * weight[k * SQUARE * DIM + i];
    }
}

/* A thread's row and column in the first array, its column and its line along r_2 in the second. */
struct lines_in {
    values *row, *column, *second, *line;
};
DEVICE lines_in lines_of(tile &s, const place &p, const place &r)
{
    return {s.first + r.elem * ELEM0 + r.b * PLANE0 + r.a * ROW0, s.first + p.elem * ELEM0 + p.b * ROW0 + p.a,
            s.second + p.elem * ELEM1 + p.b * ROW1 + p.a, s.second + p.elem * ELEM1 + p.b * PLANE1 + p.a};
}

/* What all axes add to the nodes of a column, of which f has what r_3 does: the force. */
DEVICE void add_lines(const lines_in &at, REAL (&f)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i][k] = -(f[i][k] + at.column[k * PLANE0].v[i] + at.second[k * PLANE1].v[i]);
}

/* Whether the thread's column of u is in f already: for more nodes than these there are no registers. */
enum { HAS_COLUMN = ASSEMBLY == 2 && N < 6 };

/* From u in s.first and slopes x along the thread's row to what f and both arrays add to the force; the caller then waits
 * for the others. Who works on a row, `rows`, may be another one than who works on a column. */
DEVICE void work_on_lines(const sem_tile_args &a, tile &s, const place &p, bool rows, const lines_in &at,
                          long long elem, REAL (&x)[DIM][N], REAL (&f)[DIM][N])
{
    REAL y[DIM][N], metric[NUM_METRIC], coef[NUM_COEF];
    if (p.works) {
        load_line<ROW0>(s.first + p.elem * ELEM0 + p.b * PLANE0 + p.a, y);
        if (!HAS_COLUMN)
            load_line<PLANE0>(at.column, f);
        derive<false>(y);
        store_line<ROW1>(at.line, y);
        if (METRIC_KIND == METRIC_AFFINE) /* early: it takes a while */
            load_metric(a, elem, 0, metric);
        if (MATERIAL_NODES == 1)
            load_coef(a, elem, 0, 1, coef);
    }
    sync_element();
    if (rows)
        store_line<1>(at.row, x);
    sync_element();
    if (p.works)
        work_on_column(a, s, p, elem, metric, coef, f);
    sync_element();
    if (rows) {
        load_line<1>(at.row, x);
        derive<true>(x);
        store_line<1>(at.row, x);
    }
    if (p.works) {
        load_line<ROW1>(at.line, y);
        derive<true>(y);
        store_line<ROW1>(at.line, y);
    }
}

#endif
