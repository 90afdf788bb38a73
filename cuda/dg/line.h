/* line.h: lines of nodes of a hexahedron, their ends and their metric; for all kernels that go along lines, wherever
 * they keep the state. The includer defines what case.h asks for, METRIC_KIND, STORED_METRIC (numbers of a stored
 * metric: 10, or 9 where they imply 1/J), LINE_POINT. Next: line_ends.h. */
#ifndef UNDA_DG_LINE_H
#define UNDA_DG_LINE_H

#include "dg/case.h"

enum {
    N = DEGREE + 1,
    RECORD = (MATERIAL_NODES * NUM_COEF + 3) / 4 * 4,
    /* Of a metric at the end of a line along axis j: row j where traces are (a, G[j].b), else rows j + 1, j + 2. */
    FIRST_ROW = GRAD_DIV ? 0 : 1,
    FRAME_WORDS = GRAD_DIV ? 3 : 6,
    AFFINE = METRIC_KIND == METRIC_AFFINE,
    TRILINEAR = METRIC_KIND == METRIC_TRILINEAR
};

/* A line: its element, axis, and where it ends: node m of both faces. */
struct line {
    long long elem;
    int e, axis, m;
};

/* Its first node and, from node to node, the step: in shared memory, or among the element's nodes. */
static __device__ __forceinline__ int line_begin(const line &at, int row, int plane)
{
    int a = at.m % N, b = at.m / N;
    return at.axis == 0 ? a * row + b * plane : at.axis == 1 ? a + b * plane : a + b * row;
}

static __device__ __forceinline__ constexpr int line_step(int axis, int row, int plane)
{
    return axis == 0 ? 1 : axis == 1 ? row : plane;
}

/* Coordinates of the nodes of a line. */
static __device__ const REAL line_point[N] = {LINE_POINT};

/* The metric at a node of a trilinear map. */
static __device__ __forceinline__ void map_metric(const REAL *map, int node, REAL *metric)
{
    REAL r[3] = {__ldg(line_point + node % N), __ldg(line_point + node / N % N),
                 __ldg(line_point + node / NFP)};
    trilinear_metric(map, r, !GRAD_DIV, metric);
}

/* Adds 1/J to a stored metric of nine numbers: the determinant of G[1..3] is J^2, that of edges J, both in the
 * element's unit; 1 / unit of elements stand behind the nodes. */
static __device__ __forceinline__ void complete_metric(const dg_args &a, long long elem, REAL *metric)
{
    if (STORED_METRIC == NUM_METRIC)
        return;
    REAL cross[3], per_unit = __ldg((const REAL *)a.metric + STORED_METRIC * a.num_metric + elem);
    cofactor(metric, metric + 3, cross);
    REAL root = rsqrt(cross[0] * metric[6] + cross[1] * metric[7] + cross[2] * metric[8]);
    metric[9] = per_unit * (GRAD_DIV ? root : root * root);
}

/* Of a node, from memory. */
static __device__ __forceinline__ void load_metric(const dg_args &a, long long elem, int node, REAL *metric)
{
    if constexpr (TRILINEAR) {
        REAL map[NUM_MAP];
        load_constant<NUM_MAP>(map, (const REAL *)a.metric + elem * NUM_MAP);
        map_metric(map, node, metric);
        return;
    }
    if constexpr (AFFINE)
        load_groups<NUM_METRIC>(metric, (const REAL *)a.metric, a.num_metric, elem);
    else {
        load_groups<STORED_METRIC>(metric, (const REAL *)a.metric, a.num_metric, elem * NP + node);
        complete_metric(a, elem, metric);
    }
}

#endif
