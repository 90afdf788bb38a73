/* hex.c: geometry of hexahedra at their nodes, in float64, relative to a point of each. Cells are
 * isoparametric: their map is the interpolant at the nodes of the mesh's map. Not here: the mesh's map
 * (mesh/map.c), maps of eight vertices (hex_map.c), what kernels do with a metric (cuda/space/hex_gll.h). */
#include "space.h"

#include "../mesh/vector.h"

#include <math.h>
#include <string.h>

static void hex_coordinates(const struct space *space, int64_t elem, double *x)
{
    mesh_map_points(space->mesh, space->order[elem], space->num_node, space->element->nodes, x);
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

/* In each coordinate. */
static int map_degree(const struct space *space)
{
    return space->mesh->curved ? 2 : 1;
}

/* Places of the nodes, as of mesh_arm, and edges e_j = dx/dr_j there; of a degree that is less than the map's those of
 * its interpolant. */
static void frame(const struct space *space, int64_t elem, double (*x)[3], double (*edge)[3][3])
{
    const struct element *element = space->element;
    for (int node = 0; node < element->num_node; node++)
        mesh_arm(space->mesh, space->order[elem], element->nodes + 3 * node, x[node], edge[node]);
    if (element->degree >= map_degree(space))
        return;
    int n = element->degree + 1;
    const int step[3] = {1, n, n * n};
    for (int node = 0; node < element->num_node; node++)
        for (int axis = 0; axis < 3; axis++) {
            int at = node / step[axis] % n;
            const double *row = element->line_derivative + at * n;
            for (int i = 0; i < 3; i++) {
                edge[node][axis][i] = 0;
                for (int k = 0; k < n; k++)
                    edge[node][axis][i] += row[k] * x[node + (k - at) * step[axis]][i];
            }
        }
}

/* J grad r_j as a curl of interpolants, which makes sum_j D_j J grad r_j vanish, so that a constant state stays one,
 * and the two sides of a face agree (Kopriva 2006):
 *   J grad r_j = D_k q_l - D_l q_k,    q_k = (x - x_a) x e_k / 2,    (j, k, l) cyclic.
 * Any x_a will do, since D_k e_l = D_l e_k. It is that of the node: the large terms of a derivative, of nodes beside it,
 * are short then, and rounding is that of the edges. */
static void curl_metric(const struct element *element, double (*x)[3], double (*edge)[3][3], int node,
                        double g[3][3])
{
    int n = element->degree + 1;
    const int step[3] = {1, n, n * n};
    memset(g, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++) {
        int at = node / step[k] % n, after = (k + 1) % 3, before = (k + 2) % 3;
        for (int i = 0; i < n; i++) {
            int other = node + (i - at) * step[k];
            double half = element->line_derivative[at * n + i] / 2, arm[3], q[3];
            subtract(x[other], x[node], arm);
            cross(arm, edge[other][after], q);
            for (int c = 0; c < 3; c++)
                g[before][c] += half * q[c];
            cross(arm, edge[other][before], q);
            for (int c = 0; c < 3; c++)
                g[after][c] -= half * q[c];
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
             (long long)space_user(space, elem), det);
    for (int i = 0; i < 9; i++)
        metric[i] = edges ? e[i / 3][i % 3] : g[i / 3][i % 3];
    metric[9] = 1 / det;
    return UNDA_OK;
}

unda_status space_check_fold(const struct space *space, int64_t elem, int node, double jacobian)
{
    if (!(jacobian > 0))
        FAIL(UNDA_ERR_MESH, "element %lld is folded: its Jacobian is %g m3 at node %d, expected more than 0",
             (long long)space_user(space, elem), jacobian, node);
    return UNDA_OK;
}

unda_status space_metric(const struct space *space, int64_t elem, bool edges, int num, double *metric)
{
    const struct element *element = space->element;
    if (num == 1)
        return affine_metric(space, elem, edges, metric);
    double x[MAX_NODE][3], edge[MAX_NODE][3][3], all[10 * MAX_NODE];
    frame(space, elem, x, edge);
    for (int node = 0; node < element->num_node; node++) {
        double g[3][3], *to = all + 10 * node;
        double det = cofactors(edge[node], g);
        TRY(space_check_fold(space, elem, node, det));
        /* e_k x e_l is of twice the degree of the map at most; its interpolant is exact, and the curl, from there on */
        if (!edges && element->degree < 2 * map_degree(space))
            curl_metric(element, x, edge, node, g);
        memcpy(to, edges ? edge[node] : g, sizeof g);
        to[9] = 1 / det;
    }
    memcpy(metric, all, 10 * sizeof(double) * (size_t)num);
    return UNDA_OK;
}
