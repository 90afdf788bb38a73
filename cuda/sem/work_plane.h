/* work_plane.h: forces of elements, a thread owns the nodes (r_2, r_3) of a plane r_1 = a, in registers: derivatives
 * along r_2 and r_3 need nobody else. Along r_1 a thread has the N lines of r_2 = a of all planes, which pass through
 * shared memory once there and once back; threads of an element are in one warp. Included by sem/tiles.cu. */
#ifndef UNDA_SEM_WORK_PLANE_H
#define UNDA_SEM_WORK_PLANE_H

#include "sem/plane.h"

struct lines_of_thread {
};

/* Slots of all lines come with the nodes. */
DEVICE void find_lines(const sem_tile_args &a, lines_of_thread &, tile &s, const sem_tile &t, const place &p,
                       const unsigned short *lines)
{
    if (p.works)
        plane_metric::ask_early(a, t);
    fetch_words(s.list, lines, num_line_word(t));
}

DEVICE const unsigned short *line_of(const tile &s, const place &p, int k, int b)
{
    return s.list + (p.elem * SQUARE + k * N + b) * LINE_WORDS;
}

/* Where node (k, b) of the thread's plane is, and line k along r_1. */
DEVICE values *node_of(tile &s, const place &p, int k, int b)
{
    return s.first + p.elem * ELEM0 + k * PLANE0 + b * ROW0 + p.a;
}
DEVICE values *row_of(tile &s, const place &p, int k)
{
    return s.first + p.elem * ELEM0 + k * PLANE0 + p.a * ROW0;
}

/* Slopes along r_1 into s.first. */
DEVICE void slope_rows(tile &s, const place &p)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        unsigned short slot[LINE_WORDS];
        REAL x[DIM][N];
        read_words(slot, line_of(s, p, k, p.a));
        pick_line(s.u, slot, x);
        derive<false>(x);
        store_line<1>(row_of(s, p, k), x);
    }
}

/* Fluxes along r_1 in s.first become what they add to the force. */
DEVICE void add_rows(tile &s, const place &p)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        REAL x[DIM][N];
        load_line<1>(row_of(s, p, k), x);
        derive<true>(x);
        store_line<1>(row_of(s, p, k), x);
    }
}

/* Fluxes at the nodes of a plane: those along r_1 into s.first, the others become forces f at once. */
DEVICE void work_on_plane(const sem_tile_args &a, tile &s, const sem_tile &t, const place &p,
                          REAL (&f)[N][N][DIM])
{
    constexpr double weight[N] = {LINE_WEIGHTS}, matrix[N * N] = {LINE_DERIVATIVE};
    REAL u[N][N][DIM];
    plane_metric geometry(a, t, p);
    plane_material material(a, t, p);
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int b = 0; b < N; b++)
#pragma unroll
            for (int i = 0; i < DIM; i++) {
                u[k][b][i] = s.u[line_of(s, p, k, b)[p.a]].v[i];
                f[k][b][i] = 0;
            }
#pragma unroll
    for (int k = 0; k < N; k++) {
        REAL row[DIM][N]; /* along r_2: u, its slopes, fluxes */
#pragma unroll
        for (int b = 0; b < N; b++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                row[i][b] = u[k][b][i];
        derive<false>(row);
        geometry.begin_row(k);
#pragma unroll
        for (int b = 0; b < N; b++) {
            REAL g[3 * DIM], metric[NUM_METRIC], coef[NUM_COEF];
            values *first = node_of(s, p, k, b);
            geometry.get(k, b, metric);
            material.get(k, b, coef);
#pragma unroll
            for (int i = 0; i < DIM; i++) {
                g[i] = first->v[i];
                g[DIM + i] = row[i][b];
                g[2 * DIM + i] = 0;
#pragma unroll
                for (int m = 0; m < N; m++)
                    if (matrix[k * N + m] != 0)
                        g[2 * DIM + i] += (REAL)matrix[k * N + m] * u[m][b][i];
            }
            flux_at(metric, coef, (REAL)(weight[k] * weight[b]), g);
#pragma unroll
            for (int i = 0; i < DIM; i++) {
                first->v[i] = g[i];
                row[i][b] = g[DIM + i];
#pragma unroll
                for (int m = 0; m < N; m++)
                    if (matrix[k * N + m] != 0)
                        f[m][b][i] += (REAL)matrix[k * N + m] * g[2 * DIM + i];
            }
        }
#pragma unroll
        for (int b = 0; b < N; b++)
#pragma unroll
            for (int m = 0; m < N; m++)
#pragma unroll
                for (int i = 0; i < DIM; i++)
                    if (matrix[m * N + b] != 0)
                        f[k][b][i] += (REAL)matrix[m * N + b] * row[i][m];
    }
}

/* Sources in this element: their forces on a plane. */
DEVICE void add_sources(const sem_tile_args &a, const sem_tile &t, const place &p, REAL (&f)[N][N][DIM])
{
    for (int part = a.source_first[t.number]; part < a.source_first[t.number + 1]; part++) {
        if (a.source_elem[part] != p.elem)
            continue;
        REAL amplitude =
            ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + a.source_column[part]];
        const REAL *weight = (const REAL *)a.source_weight + ((long long)part * NP + p.a) * DIM;
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int b = 0; b < N; b++)
#pragma unroll
                for (int i = 0; i < DIM; i++)
                    f[k][b][i] -= amplitude * weight[(k * SQUARE + b * N) * DIM + i];
    }
}

/* From u by slot to the force on element nodes in s.first. */
DEVICE void work(const sem_tile_args &a, tile &s, const sem_tile &t, const place &p, const lines_of_thread &)
{
    REAL f[N][N][DIM];
    if (p.works)
        slope_rows(s, p);
    sync_element();
    if (p.works)
        work_on_plane(a, s, t, p, f);
    sync_element();
    if (p.works)
        add_rows(s, p);
    sync_element();
    if (!p.works)
        return;
    if (a.time >= 0)
        add_sources(a, t, p, f);
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int b = 0; b < N; b++) {
            values *node = node_of(s, p, k, b);
#pragma unroll
            for (int i = 0; i < DIM; i++)
                node->v[i] = -(f[k][b][i] + node->v[i]);
        }
}

#endif
