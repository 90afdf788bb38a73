/* column_metric.h: the metric along a column of nodes, which kernel columns gives to one thread, and at the ends of its
 * lines. Kinds: affine, one for all nodes, in registers; trilinear, polynomials of r_3, in registers; stored, in
 * memory. Next: columns.cu. */
#ifndef UNDA_DG_COLUMN_METRIC_H
#define UNDA_DG_COLUMN_METRIC_H

#include "dg/column_tile.h"

/* What a thread keeps; of stored metrics nothing. Of a trilinear map with r_1, r_2 fixed
 *   e_1 = p_1 + r_3 d_1,    e_2 = p_2 + r_3 d_2,    e_3 constant,
 * so that G[1] = e_2 x e_3 and G[2] = e_3 x e_1 are linear, G[3] = e_1 x e_2 and J = e_3.G[3] quadratic in r_3. */
struct column_metric {
#if METRIC_KIND == METRIC_AFFINE
    REAL one[NUM_METRIC];
#elif METRIC_KIND == METRIC_TRILINEAR
    /* coefficients of 1, r_3, (r_3)^2: of G[1] and G[2], or e_1 and e_2; of G[3], or e_3; of J */
    REAL first[2][3], second[2][3], third[GRAD_DIV ? 3 : 1][3], det[3], per_unit;
#endif
};

#if METRIC_KIND == METRIC_TRILINEAR
static __device__ __forceinline__ REAL inner(const REAL *a, const REAL *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The vectors a_1 .. a_3, m_1 .. m_3, b of an element. */
static __device__ __forceinline__ void load_map(const dg_args &a, long long elem, REAL *map)
{
    load_constant<NUM_MAP>(map, (const REAL *)a.metric + elem * NUM_MAP);
}

static __device__ __forceinline__ void begin_column(const dg_args &a, long long elem, int m, column_metric &c)
{
    REAL map[NUM_MAP], p_1[3], d_1[3], p_2[3], d_2[3], e_3[3];
    REAL r_1 = __ldg(line_point + m % N), r_2 = __ldg(line_point + m / N);
    load_map(a, elem, map);
    const REAL *a_j = map + MAP_LINEAR, *m_j = map + MAP_MIXED, *b = map + MAP_TRIPLE;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        REAL m_1 = m_j[i], m_2 = m_j[3 + i], m_3 = m_j[6 + i];
        p_1[i] = a_j[i] + m_1 * r_2;
        d_1[i] = m_3 + b[i] * r_2;
        p_2[i] = a_j[3 + i] + m_1 * r_1;
        d_2[i] = m_2 + b[i] * r_1;
        e_3[i] = (a_j[6 + i] + m_3 * r_1) + (m_2 + b[i] * r_1) * r_2;
    }
    REAL third[3][3], cross[3];
    cofactor(p_1, p_2, third[0]);
    cofactor(p_1, d_2, third[1]);
    cofactor(d_1, p_2, cross);
    cofactor(d_1, d_2, third[2]);
#pragma unroll
    for (int i = 0; i < 3; i++)
        third[1][i] += cross[i];
#pragma unroll
    for (int power = 0; power < 3; power++)
        c.det[power] = inner(e_3, third[power]);
    c.per_unit = map[MAP_PER_UNIT];
#if GRAD_DIV
    cofactor(p_2, e_3, c.first[0]);
    cofactor(d_2, e_3, c.first[1]);
    cofactor(e_3, p_1, c.second[0]);
    cofactor(e_3, d_1, c.second[1]);
#endif
#pragma unroll
    for (int i = 0; i < 3; i++) {
#if GRAD_DIV
        for (int power = 0; power < 3; power++)
            c.third[power][i] = third[power][i];
#else
        c.first[0][i] = p_1[i];
        c.first[1][i] = d_1[i];
        c.second[0][i] = p_2[i];
        c.second[1][i] = d_2[i];
        c.third[0][i] = e_3[i];
#endif
    }
}
#else
static __device__ __forceinline__ void begin_column(const dg_args &a, long long elem, int m, column_metric &c)
{
#if METRIC_KIND == METRIC_AFFINE
    load_metric(a, elem, m, c.one);
#endif
}
#endif

/* The metric at node k of the column. */
static __device__ __forceinline__ void column_node(const dg_args &a, const column_metric &c, long long elem,
                                                   int m, int k, REAL *metric)
{
#if METRIC_KIND == METRIC_AFFINE
#pragma unroll
    for (int i = 0; i < NUM_METRIC; i++)
        metric[i] = c.one[i];
#elif METRIC_KIND == METRIC_TRILINEAR
    constexpr double point[N] = {LINE_POINT};
    REAL r = (REAL)point[k];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        metric[i] = c.first[0][i] + r * c.first[1][i];
        metric[3 + i] = c.second[0][i] + r * c.second[1][i];
        metric[6 + i] =
            GRAD_DIV ? c.third[0][i] + r * (c.third[GRAD_DIV ? 1 : 0][i] + r * c.third[GRAD_DIV ? 2 : 0][i])
                     : c.third[0][i];
    }
    metric[9] = c.per_unit / (c.det[0] + r * (c.det[1] + r * c.det[2]));
#else
    load_groups<STORED_METRIC>(metric, (const REAL *)a.metric, a.num_metric, elem * NP + m, k * NFP);
    complete_metric(a, elem, metric);
#endif
}

/* Of stored metrics, what lines of axes 1 and 2 need at their ends, at node k of column m of element e. */
static __device__ __forceinline__ void keep_frames(tile &s, int e, int m, int k, const REAL *metric)
{
    int i[2] = {m % N, m / N};
#pragma unroll
    for (int axis = 0; axis < 2 && SHARED_FRAMES; axis++) {
        if (i[axis] % (N - 1) != 0)
            continue;
        REAL *to = s.frame + (e * NUM_FRAME_FACE + 2 * axis + (i[axis] > 0)) * (FRAME_WORDS * NFP) +
                   i[1 - axis] + N * k;
#pragma unroll
        for (int word = 0; word < FRAME_WORDS; word++)
            to[word * NFP] = metric[(3 * (axis + FIRST_ROW) + word) % 9];
    }
}

/* Where add_flux finds the metric of a thread's lines. */
struct frames {
    const tile &s;
    const column_metric &c;
};

/* The metric at an end, its rows turned as if the axis were the first: only the rows that a frame needs. */
static __device__ __forceinline__ void load_rows(const dg_args &a, const frames &f, const line &at, int side,
                                                 REAL *rows)
{
#if METRIC_KIND == METRIC_TRILINEAR
    if (at.axis < 2) {
        /* On r_j = 0 or 1, with r_j m and r_j b added to the vectors of e_k and e_l:
         *   e_k = a_k + r_l m_k,    e_l = a_l + r_k m_k. */
        REAL map[NUM_MAP], e_k[3], e_l[3];
        int j = at.axis, k = (j + 1) % 3, l = (j + 2) % 3;
        REAL first = __ldg(line_point + at.m % N), second = __ldg(line_point + at.m / N);
        REAL r_k = j == 1 ? second : first, r_l = j == 1 ? first : second;
        load_map(a, at.elem, map);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            REAL both = map[MAP_MIXED + 3 * k + i] + (side ? map[MAP_TRIPLE + i] : 0);
            e_k[i] = map[3 * k + i] + (side ? map[MAP_MIXED + 3 * j + i] : 0) + r_l * both;
            e_l[i] = map[3 * l + i] + (side ? map[MAP_MIXED + 3 * l + i] : 0) + r_k * both;
        }
        if (GRAD_DIV)
            cofactor(e_k, e_l, rows);
#pragma unroll
        for (int i = 0; i < 3 && !GRAD_DIV; i++) {
            rows[3 + i] = e_k[i];
            rows[6 + i] = e_l[i];
        }
        return;
    }
#endif
    if (METRIC_KIND == METRIC_STORED && SHARED_FRAMES && at.axis < 2) {
        const REAL *from =
            f.s.frame + (at.e * NUM_FRAME_FACE + 2 * at.axis + side) * (FRAME_WORDS * NFP) + at.m;
#pragma unroll
        for (int word = 0; word < FRAME_WORDS; word++)
            rows[3 * FIRST_ROW + word] = from[word * NFP];
        return;
    }
    int node = line_begin(at, N, NFP) + side * (N - 1) * line_step(at.axis, N, NFP);
#pragma unroll
    for (int word = 0; word < FRAME_WORDS && METRIC_KIND == METRIC_STORED; word++) {
        int value = (3 * (at.axis + FIRST_ROW) + word) % 9;
        rows[3 * FIRST_ROW + word] = __ldg(
            (const REAL *)a.metric + GROUP_INDEX(a.num_metric, STORED_METRIC, at.elem * NP + node, value));
    }
    if (METRIC_KIND != METRIC_STORED) {
        REAL metric[NUM_METRIC];
        column_node(a, f.c, at.elem, at.m, side * (N - 1), metric);
#pragma unroll
        for (int word = 0; word < FRAME_WORDS; word++)
            rows[3 * FIRST_ROW + word] = metric[(3 * (at.axis + FIRST_ROW) + word) % 9];
    }
}

#endif
