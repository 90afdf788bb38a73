/* map.c: the map of a hexahedron from the unit cube: trilinear in its eight vertices. Relative to vertex 0, so that
 * large coordinates cost no digits. Not here: its inverse (locate.c), metrics at nodes (space/hex.c). */
#include "internal.h"
#include "vector.h"

static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
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
    for (int i = 0; i < 3; i++)
        x[i] += mesh->vertices[3 * mesh->cells[8 * elem] + i];
}
