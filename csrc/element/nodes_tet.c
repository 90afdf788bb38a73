/* nodes_tet.c: warp & blend interpolation nodes of the unit tetrahedron (Warburton 2006).
 * Not here: which of them lie on a face (operators.c).
 * Next: nodes_gll.c, whose points are on every edge. */
#include "internal.h"

/* Blending parameter that minimises the Lebesgue constant, degree 1 .. 9 (Hesthaven & Warburton
 * 2008, section 10.1). */
static const wide best_alpha[MAX_TET_DEGREE] = {0,       0,       0,       0.1002L, 1.1332L,
                                                1.5608L, 1.3413L, 1.2577L, 1.1603L};

struct warp {
    int degree;
    wide alpha;
    double lobatto[MAX_TET_DEGREE + 1];
};

/* The polynomial q of degree N - 2 for which x + (1 - x^2) q(x) moves the equidistant points of an
 * edge to the Gauss-Lobatto ones. */
static wide edge_warp(const struct warp *warp, wide x)
{
    int n = warp->degree;
    wide q = 0;
    for (int i = 1; i < n; i++) {
        wide even = (wide)(2 * i - n) / n;
        wide term = (warp->lobatto[i] - even) / (1 - even * even);
        for (int j = 1; j < n; j++)
            if (j != i)
                term *= (x - (wide)(2 * j - n) / n) / ((wide)(2 * (i - j)) / n);
        q += term;
    }
    return q;
}

static wide bubble(const struct warp *warp, wide lambda)
{
    return 1 + warp->alpha * lambda * (warp->alpha * lambda);
}

/* Weight at lambda of the warp of the face opposite vertex: 1 on that face, 0 on the others. A
 * point on several faces lies on their common edge; all give it the same warp, in equal shares. */
static wide face_blend(const struct warp *warp, const int index[4], const wide lambda[4], int vertex)
{
    if (index[vertex] == 0) {
        int num_face = 0;
        for (int v = 0; v < 4; v++)
            num_face += index[v] == 0;
        return (wide)1 / num_face;
    }
    wide blend = bubble(warp, lambda[vertex]);
    for (int v = 0; v < 4; v++)
        if (v != vertex)
            blend *= lambda[v] / (lambda[v] + lambda[vertex] / 2);
    return blend;
}

/* Adds the warp of one face: along each of its edges, from vertex b to vertex c. In barycentric
 * coordinates no equilateral tetrahedron is needed, and the symmetry is plain. */
static void add_face_warp(const struct warp *warp, int vertex, wide blend, const wide lambda[4],
                          wide shifted[4])
{
    for (int c = 1; c < 4; c++)
        for (int b = 0; b < c; b++) {
            if (b == vertex || c == vertex)
                continue;
            int third = 6 - vertex - b - c;
            wide shift = 2 * lambda[b] * lambda[c] * edge_warp(warp, lambda[c] - lambda[b]) *
                         bubble(warp, lambda[third]) * blend;
            shifted[b] -= shift;
            shifted[c] += shift;
        }
}

static void place_node(const struct warp *warp, const int index[4], double node[3])
{
    wide lambda[4], shifted[4];
    for (int v = 0; v < 4; v++)
        lambda[v] = shifted[v] = (wide)index[v] / warp->degree;
    for (int v = 0; v < 4; v++)
        add_face_warp(warp, v, face_blend(warp, index, lambda, v), lambda, shifted);
    for (int axis = 0; axis < 3; axis++)
        node[axis] = (double)shifted[axis + 1];
}

unda_status nodes_tet(int degree, double *nodes)
{
    TRY(element_check(UNDA_TET, degree));
    struct warp warp = {.degree = degree, .alpha = best_alpha[degree - 1]};
    double weights[MAX_TET_DEGREE + 1];
    TRY(gauss_lobatto(degree + 1, warp.lobatto, weights));
    for (int k = 0; k <= degree; k++)
        for (int j = 0; j + k <= degree; j++)
            for (int i = 0; i + j + k <= degree; i++, nodes += 3)
                place_node(&warp, (int[4]){degree - i - j - k, i, j, k}, nodes);
    return UNDA_OK;
}
