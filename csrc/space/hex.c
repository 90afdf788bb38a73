/* hex.c: geometry of hexahedra at their nodes, in float64, relative to each element's first vertex. Cells are
 * isoparametric: their map is the interpolant at the nodes of the mesh's map. Not here: the mesh's map
 * (mesh/map.c), maps of eight vertices (hex_map.c), what kernels do with a metric (cuda/space/hex_gll.h). */
#include "space.h"

#include "../mesh/vector.h"

#include <math.h>

/* Of nodes, relative to vertex 0. */
static void arms(const struct space *space, int64_t elem, double (*x)[3])
{
    for (int n = 0; n < space->num_node; n++) {
        double edge[3][3];
        mesh_arm(space->mesh, space->order[elem], space->element->nodes + 3 * n, x[n], edge);
    }
}

static void hex_coordinates(const struct space *space, int64_t elem, double *x)
{
    double edge[3][3];
    for (int n = 0; n < space->num_node; n++)
        mesh_map(space->mesh, space->order[elem], space->element->nodes + 3 * n, x + 3 * n, edge);
}

/* The cofactors g[j] = e_k x e_l of three edges; returns e_1.(e_2 x e_3). */
static double cofactors(double e[3][3], double g[3][3])
{
    for (int j = 0; j < 3; j++)
        cross(e[(j + 1) % 3], e[(j + 2) % 3], g[j]);
    return dot(e[0], g[0]);
}

static void hex_basis(const struct space *space, int64_t elem, const double *x, double *basis,
                      double *gradient)
{
    int n = space->num_node;
    double r[3], at[3], e[3][3], g[3][3], slope[3 * MAX_NODE];
    mesh_inverse(space->mesh, space->order[elem], x, r);
    element_basis(space->element, r, basis, gradient ? slope : NULL);
    if (!gradient)
        return;
    mesh_arm(space->mesh, space->order[elem], r, at, e);
    double det = cofactors(e, g);
    for (int i = 0; i < 3; i++)
        for (int node = 0; node < n; node++)
            gradient[i * n + node] =
                (g[0][i] * slope[node] + g[1][i] * slope[n + node] + g[2][i] * slope[2 * n + node]) / det;
}

const struct space_geometry space_hex = {hex_coordinates, hex_basis};

/* ---- metric ---- */

/* Derivatives along each axis at the nodes: to[node][axis] of `from` [node][stride]. */
static void differentiate(const struct element *element, const double *from, int stride, double (*to)[3])
{
    int n = element->degree + 1;
    const int step[3] = {1, n, n * n};
    for (int node = 0; node < element->num_node; node++)
        for (int axis = 0; axis < 3; axis++) {
            int at = node / step[axis] % n;
            const double *row = element->line_derivative + at * n;
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += row[k] * from[(node + (k - at) * step[axis]) * stride];
            to[node][axis] = sum;
        }
}

/* J grad r_j as a curl of interpolants, which makes sum_j D_j J grad r_j vanish, so that a constant state stays one,
 * and the two sides of a face agree (Kopriva 2006):
 *   (J grad r_j)_i = D_k p_l - D_l p_k,    p_k = (x_m D_k x_n - x_n D_k x_m) / 2,    (j, k, l), (i, m, n) cyclic. */
static void curl_metric(const struct element *element, double (*x)[3], double (*slope)[MAX_NODE][3], int i,
                        double *metric)
{
    int m = (i + 1) % 3, n = (i + 2) % 3;
    double product[MAX_NODE], derivative[MAX_NODE][3];
    for (int k = 0; k < 3; k++) {
        for (int node = 0; node < element->num_node; node++)
            product[node] = (x[node][m] * slope[n][node][k] - x[node][n] * slope[m][node][k]) / 2;
        differentiate(element, product, 1, derivative);
        int after = (k + 1) % 3, before = (k + 2) % 3;
        for (int node = 0; node < element->num_node; node++) {
            metric[10 * node + 3 * after + i] += derivative[node][before];
            metric[10 * node + 3 * before + i] -= derivative[node][after];
        }
    }
}

/* Of an affine element, from its edges. */
static unda_status affine_metric(const struct space *space, int64_t elem, bool edges, double *metric)
{
    const double origin[3] = {0, 0, 0};
    double x[3], e[3][3], g[3][3];
    mesh_arm(space->mesh, space->order[elem], origin, x, e);
    double det = cofactors(e, g);
    if (!(det > 0))
        FAIL(UNDA_ERR_MESH, "element %lld has the volume %g m3, expected more than 0",
             (long long)space->order[elem], det);
    for (int i = 0; i < 9; i++)
        metric[i] = edges ? e[i / 3][i % 3] : g[i / 3][i % 3];
    metric[9] = 1 / det;
    return UNDA_OK;
}

unda_status space_check_fold(const struct space *space, int64_t elem, int node, double jacobian)
{
    if (!(jacobian > 0))
        FAIL(UNDA_ERR_MESH, "element %lld is folded: its Jacobian is %g m3 at node %d, expected more than 0",
             (long long)space->order[elem], jacobian, node);
    return UNDA_OK;
}

unda_status space_metric(const struct space *space, int64_t elem, bool edges, int num, double *metric)
{
    const struct element *element = space->element;
    if (num == 1)
        return affine_metric(space, elem, edges, metric);
    double x[MAX_NODE][3], slope[3][MAX_NODE][3], g[3][3];
    arms(space, elem, x);
    for (int i = 0; i < 3; i++)
        differentiate(element, x[0] + i, 3, slope[i]);
    double all[10 * MAX_NODE] = {0};
    for (int i = 0; i < 3 && !edges; i++)
        curl_metric(element, x, slope, i, all);
    for (int node = 0; node < element->num_node; node++) {
        double e[3][3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                e[j][i] = slope[i][node][j];
        double det = cofactors(e, g);
        TRY(space_check_fold(space, elem, node, det));
        for (int i = 0; i < 9 && edges; i++)
            all[10 * node + i] = e[i / 3][i % 3];
        all[10 * node + 9] = 1 / det;
    }
    for (int i = 0; i < 10 * num; i++)
        metric[i] = all[i];
    return UNDA_OK;
}
