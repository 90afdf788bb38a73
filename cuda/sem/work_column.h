/* work_column.h: forces of elements, a thread owns a column of N nodes along r_3. It works on a line along r_1 and on
 * one along r_2 on the way, which pass through shared memory from one owner to the next, who is in the same warp up to
 * N = 5. Included by sem/tiles.cu. */
#ifndef UNDA_SEM_WORK_COLUMN_H
#define UNDA_SEM_WORK_COLUMN_H

#include "sem/column.h"

/* Slopes along r_3, fluxes at the nodes of a column; those along r_3 become its force at once. */
DEVICE void work_on_column(const sem_tile_args &a, tile &s, const place &p, long long elem,
                           REAL (&slope)[DIM][N])
{
    constexpr double weight[N] = {LINE_WEIGHTS}, point[N] = {LINE_POINTS};
    values *first = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *second = s.second + p.elem * ELEM1 + p.b * N + p.a;
    REAL area = line_weight[p.a] * line_weight[p.b], metric[NUM_METRIC], coef[NUM_COEF];
    column edges;
    if constexpr (METRIC_KIND == METRIC_TRILINEAR)
        edges = load_column(metric_of(a, elem), p.a, p.b);
    else
        load_metric(a, elem, 0, metric);
    load_coef(a, elem, 0, area, coef);
    derive<false>(slope);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int node = k * SQUARE + p.b * N + p.a;
        REAL g[3 * DIM];
        if (METRIC_KIND == METRIC_TRILINEAR && k == N / 2)
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

/* Sources in this element: their forces on a column. */
DEVICE void add_sources(const sem_tile_args &a, const sem_tile &t, const place &p, REAL (&f)[DIM][N])
{
    for (int part = a.source_first[t.number]; part < a.source_first[t.number + 1]; part++) {
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

/* What all axes and sources add to the nodes of a column. */
DEVICE void store_force(tile &s, const place &p, const REAL (&f)[DIM][N])
{
    values *first = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *second = s.second + p.elem * ELEM1 + p.b * N + p.a;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            first[k * PLANE0].v[i] = -(f[i][k] + first[k * PLANE0].v[i] + second[k * PLANE1].v[i]);
}

/* Slots along the thread's line along r_1. */
struct lines_of_thread {
    unsigned short slot[LINE_WORDS];
};

DEVICE void find_lines(const sem_tile_args &, lines_of_thread &own, tile &, const sem_tile &, const place &p,
                       const unsigned short *lines)
{
    copy_commit();
    if (p.works)
        load_words(own.slot, lines + (p.elem * SQUARE + p.b * N + p.a) * LINE_WORDS);
}

/* The lines of all threads, from u by slot to the force on element nodes in s.first. */
DEVICE void work(const sem_tile_args &a, tile &s, const sem_tile &t, const place &p,
                 const lines_of_thread &own)
{
    values *row = s.first + p.elem * ELEM0 + p.b * PLANE0 + p.a * N;
    values *column = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *line = s.second + p.elem * ELEM1 + p.b * PLANE1 + p.a;
    REAL x[DIM][N], y[DIM][N], f[DIM][N];
    if (p.works) {
        pick_line(s.u, own.slot, x);
        store_line<1>(row, x);
        derive<false>(x);
    }
    sync_element();
    if (p.works) {
        load_line<N>(s.first + p.elem * ELEM0 + p.b * PLANE0 + p.a, y);
        load_line<PLANE0>(column, f);
        derive<false>(y);
        store_line<N>(line, y);
    }
    sync_element();
    if (p.works)
        store_line<1>(row, x);
    sync_element();
    if (p.works)
        work_on_column(a, s, p, t.first_elem + p.elem, f);
    sync_element();
    if (p.works) {
        load_line<1>(row, x);
        derive<true>(x);
        store_line<1>(row, x);
        load_line<N>(line, y);
        derive<true>(y);
        store_line<N>(line, y);
    }
    sync_element();
    if (p.works) {
        if (a.time >= 0)
            add_sources(a, t, p, f);
        store_force(s, p, f);
    }
}

#endif
