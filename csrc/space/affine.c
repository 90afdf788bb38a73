/* affine.c: geometry of affine elements, in float64, relative to each element's first vertex, so
 * that large coordinates cost no digits. Not here: what kernels do with it (cuda/space/tet_affine.h). */
#include "space.h"

#include "../mesh/vector.h"

void space_edges(const struct space *space, int64_t elem, double e[3][3])
{
    const unda_mesh *mesh = space->mesh;
    const int64_t *v = mesh->sorted + mesh->table->num_vertex * elem;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            e[j][i] = mesh->vertices[3 * v[mesh->table->axis[j]] + i] - mesh->vertices[3 * v[0] + i];
}

/* grad r_1 = e_2 x e_3 / det and cyclically; det may be negative: vertices are sorted. */
double space_gradients(const struct space *space, int64_t elem, double g[9])
{
    double e[3][3];
    space_edges(space, elem, e);
    for (int j = 0; j < 3; j++)
        cross(e[(j + 1) % 3], e[(j + 2) % 3], g + 3 * j);
    double det = dot(e[0], g);
    for (int i = 0; i < 9; i++)
        g[i] /= det;
    return det;
}

double space_volume(const struct space *space, int64_t elem)
{
    double g[9];
    return fabs(space_gradients(space, elem, g)) / space->mesh->table->jacobian;
}

static void affine_coordinates(const struct space *space, int64_t elem, double *x)
{
    const unda_mesh *mesh = space->mesh;
    double e[3][3];
    const double *x0 = mesh->vertices + 3 * mesh->sorted[mesh->table->num_vertex * elem];
    space_edges(space, elem, e);
    for (int n = 0; n < space->num_node; n++) {
        const double *r = space->element->nodes + 3 * n;
        for (int i = 0; i < 3; i++)
            x[3 * n + i] = x0[i] + (r[0] * e[0][i] + r[1] * e[1][i] + r[2] * e[2][i]);
    }
}

static void affine_basis(const struct space *space, int64_t elem, const double *x, double *basis,
                         double *gradient)
{
    const unda_mesh *mesh = space->mesh;
    int n = space->num_node;
    const double *x0 = mesh->vertices + 3 * mesh->sorted[mesh->table->num_vertex * elem];
    double g[9], r[3], slope[3 * MAX_NODE];
    space_gradients(space, elem, g);
    for (int j = 0; j < 3; j++)
        r[j] = g[3 * j] * (x[0] - x0[0]) + g[3 * j + 1] * (x[1] - x0[1]) + g[3 * j + 2] * (x[2] - x0[2]);
    element_basis(space->element, r, basis, gradient ? slope : NULL);
    for (int i = 0; gradient && i < 3; i++)
        for (int node = 0; node < n; node++)
            gradient[i * n + node] =
                g[i] * slope[node] + g[3 + i] * slope[n + node] + g[6 + i] * slope[2 * n + node];
}

const struct space_geometry space_affine = {affine_coordinates, affine_basis};

double space_face_scales(const struct space *space, int64_t elem, double *scale)
{
    double g[9], det = space_gradients(space, elem, g);
    for (int face = 0; face < space->num_face; face++) {
        double m[3] = {0, 0, 0};
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                m[i] += space->mesh->table->normal[face][j] * g[3 * j + i];
        scale[face] = norm(m);
    }
    return det;
}
