/* map.c: the map of a hexahedron from the unit cube, trilinear in its eight vertices, and its inverse. Relative to
 * vertex 0, so that large coordinates cost no digits. Not here: metrics at nodes (space/hex.c). */
#include "internal.h"
#include "vector.h"

static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

void mesh_arm(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    double arm[8][3];
    cell_coordinates(mesh, elem, arm);
    for (int i = 0; i < 3; i++)
        x[i] = edge[0][i] = edge[1][i] = edge[2][i] = 0;
    for (int v = 1; v < 8; v++) {
        double weight[3];
        for (int j = 0; j < 3; j++)
            weight[j] = corner[v][j] ? r[j] : 1 - r[j];
        for (int i = 0; i < 3; i++) {
            x[i] += weight[0] * weight[1] * weight[2] * arm[v][i];
            for (int j = 0; j < 3; j++)
                edge[j][i] += (corner[v][j] ? 1 : -1) * weight[(j + 1) % 3] * weight[(j + 2) % 3] * arm[v][i];
        }
    }
}

void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    mesh_arm(mesh, elem, r, x, edge);
    for (int i = 0; i < 3; i++)
        x[i] += mesh->vertices[3 * mesh->cells[8 * elem] + i];
}

/* Newton's method from the centre. */
bool mesh_inverse(const unda_mesh *mesh, int64_t elem, const double point[3], double r[3])
{
    double arm[3];
    subtract(point, mesh->vertices + 3 * mesh->cells[8 * elem], arm);
    r[0] = r[1] = r[2] = 0.5;
    for (int step = 0; step < 30; step++) {
        double x[3], e[3][3], g[3][3], off[3], most = 0;
        mesh_arm(mesh, elem, r, x, e);
        subtract(arm, x, off);
        for (int j = 0; j < 3; j++)
            cross(e[(j + 1) % 3], e[(j + 2) % 3], g[j]);
        double det = dot(e[0], g[0]);
        for (int j = 0; j < 3; j++) {
            double change = dot(g[j], off) / det;
            r[j] = fmin(fmax(r[j] + change, -1), 2);
            most = fmax(most, fabs(change));
        }
        if (most < 1e-14)
            return true;
    }
    return false;
}
