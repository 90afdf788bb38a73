/* hex_map.c: hexahedra that are the images of their vertices: which are, the coefficients of their maps, the metric
 * from these, in float64; which metric a method takes. Next: cuda/space/trilinear.h. */
#include "space.h"

#include "../base/parallel.h"
#include "common/index.h"

#include <float.h>
#include <math.h>

#define FN(name) name
#define VAL      double
#define REAL     double
#define DEVICE   static inline
#include "space/trilinear.h"

/* Of vertices; bit j of a number: r_j. */
static void corner_arms(const unda_mesh *mesh, int64_t elem, double (*x)[3])
{
    for (int v = 0; v < 8; v++) {
        double r[3] = {v & 1, v >> 1 & 1, v >> 2}, edge[3][3];
        mesh_arm(mesh, elem, r, x[v], edge);
    }
}

/* The coefficients of products of coordinates: each number's bits say of which. */
static void products(double (*x)[3])
{
    for (int bit = 1; bit < 8; bit *= 2)
        for (int v = 0; v < 8; v++)
            for (int i = 0; i < 3 && (v & bit); i++)
                x[v][i] -= x[v - bit][i];
}

void space_trilinear_map(const struct space *space, int64_t elem, double *map)
{
    double x[8][3];
    corner_arms(space->mesh, space->order[elem], x);
    products(x);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            map[MAP_LINEAR + 3 * j + i] = x[1 << j][i];
            map[MAP_MIXED + 3 * j + i] = x[1 << j | 1 << (j + 1) % 3][i];
        }
        map[MAP_TRIPLE + i] = x[7][i];
    }
}

void space_trilinear_metric(const double *map, const double r[3], bool edges, double *metric)
{
    trilinear_metric(map, r, edges, metric);
}

/* ---- kinds of maps ---- */

/* A cell's map beside the trilinear one of its vertices, or the affine one of its edges at vertex 0. */
static bool is_multilinear(const unda_mesh *mesh, int64_t elem, bool affine)
{
    double c[8][3], room = 0;
    const double *vertex = mesh->vertices + 3 * mesh->cells[8 * elem];
    corner_arms(mesh, elem, c);
    products(c);
    for (int i = 0; i < 3; i++)
        room = fmax(room, fabs(vertex[i]) + fabs(c[1][i]) + fabs(c[2][i]) + fabs(c[4][i]));
    int n = mesh->curved ? 3 : 2; /* points an axis */
    for (int point = 0; point < n * n * n; point++) {
        double r[3] = {point % n / (n - 1.), point / n % n / (n - 1.), point / n / n / (n - 1.)}, x[3],
               edge[3][3];
        mesh_arm(mesh, elem, r, x, edge);
        for (int i = 0; i < 3; i++) {
            double there = c[0][i];
            for (int v = 1; v < 8; v++)
                if (!affine || !(v & (v - 1)))
                    there += c[v][i] * (v & 1 ? r[0] : 1) * (v & 2 ? r[1] : 1) * (v & 4 ? r[2] : 1);
            if (fabs(x[i] - there) > 8 * DBL_EPSILON * room)
                return false;
        }
    }
    return true;
}

struct search {
    const unda_mesh *mesh;
    bool affine;
    int64_t first; /* found so far; num_elem: none */
};

static void search_part(void *user, int64_t begin, int64_t end)
{
    struct search *s = user;
    int64_t first = __atomic_load_n(&s->first, __ATOMIC_RELAXED);
    for (int64_t e = begin; e < end && e < first; e++) {
        if (e % 1024 == 0)
            first = __atomic_load_n(&s->first, __ATOMIC_RELAXED);
        if (is_multilinear(s->mesh, e, s->affine))
            continue;
        while (e < first &&
               !__atomic_compare_exchange_n(&s->first, &first, e, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
}

int64_t space_find_warped(const unda_mesh *mesh, bool affine)
{
    struct search s = {mesh, affine, mesh->num_elem};
    if (affine || mesh->curved)
        parallel_parts(parallel_parts_worth(mesh->num_elem, 500), mesh->num_elem, search_part, &s);
    return s.first < mesh->num_elem ? s.first : -1;
}

/* ---- which metric ---- */

_Static_assert((int)UNDA_METRIC_AFFINE == METRIC_AFFINE && (int)UNDA_METRIC_TRILINEAR == METRIC_TRILINEAR &&
                   (int)UNDA_METRIC_STORED == METRIC_STORED,
               "kernels use the public codes");

/* Refuses a metric that is not exact: of which element, -1 without one. */
static unda_status check_metric(int given, int64_t warped, int64_t curved, int degree)
{
    if (given == UNDA_METRIC_AFFINE && warped >= 0)
        FAIL(UNDA_ERR_ARG,
             "metric is affine and element %lld is no parallelepiped, expected trilinear (degree 2 on) or "
             "stored",
             (long long)warped);
    if (given == UNDA_METRIC_TRILINEAR && curved >= 0)
        FAIL(UNDA_ERR_ARG,
             "metric is trilinear and element %lld is not what its vertices make, expected stored",
             (long long)curved);
    if (given == UNDA_METRIC_TRILINEAR && warped >= 0 && degree == 1)
        FAIL(UNDA_ERR_ARG,
             "metric is trilinear, which does not keep constant states at degree 1, and element %lld is no "
             "parallelepiped, expected stored",
             (long long)warped);
    return UNDA_OK;
}

/* Of a trilinear map e_k x e_l is of degree 2 in a coordinate: at degree 1 only its curl form, which is stored, keeps
 * the constant state. */
unda_status space_choose_metric(const unda_mesh *mesh, int given, int degree, int *kind)
{
    *kind = given ? given : UNDA_METRIC_STORED;
    if (!mesh || given == UNDA_METRIC_STORED)
        return UNDA_OK;
    int64_t warped = space_find_warped(mesh, true), curved = warped < 0 ? -1 : space_find_warped(mesh, false);
    TRY(check_metric(given, warped, curved, degree));
    if (!given && warped < 0)
        *kind = UNDA_METRIC_AFFINE;
    else if (!given && curved < 0 && degree > 1)
        *kind = UNDA_METRIC_TRILINEAR;
    return UNDA_OK;
}
