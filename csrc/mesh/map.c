/* map.c: the map of a hexahedron from the unit cube, a polynomial of degree 1 in each coordinate. Relative to
 * vertex 0, so that large coordinates cost no digits. Next: inverse.c; metrics at nodes are those of space/. */
#include "hexahedron.h"

const int hexahedron_corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

void hexahedron_straight(double x[8][3], struct hexahedron *out)
{
    out->degree = 1;
    for (int v = 0; v < 8; v++) {
        const int *at = hexahedron_corner[v];
        for (int i = 0; i < 3; i++)
            out->node[at[0] + 2 * at[1] + 4 * at[2]][i] = x[v][i];
    }
}

void hexahedron_get(const unda_mesh *mesh, int64_t elem, struct hexahedron *out)
{
    double arm[8][3];
    cell_coordinates(mesh, elem, arm);
    hexahedron_straight(arm, out);
}

/* Lagrange polynomials on the nodes 0, 1 and their derivatives. */
static void line(double r, double value[2], double slope[2])
{
    value[0] = 1 - r;
    value[1] = r;
    slope[0] = -1;
    slope[1] = 1;
}

void hexahedron_map(const struct hexahedron *cell, const double r[3], double x[3], double edge[3][3])
{
    double value[3][2], slope[3][2];
    for (int j = 0; j < 3; j++)
        line(r[j], value[j], slope[j]);
    for (int c = 0; c < 3; c++)
        x[c] = edge[0][c] = edge[1][c] = edge[2][c] = 0;
    int n = cell->degree + 1;
    const double(*row)[3] = cell->node;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++, row += n) {
            double weight[3] = {value[1][j] * value[2][k], slope[1][j] * value[2][k],
                                value[1][j] * slope[2][k]};
            for (int c = 0; c < 3; c++) {
                double sum = 0, along = 0;
                for (int i = 0; i < n; i++) {
                    sum += value[0][i] * row[i][c];
                    along += slope[0][i] * row[i][c];
                }
                x[c] += weight[0] * sum;
                edge[0][c] += weight[0] * along;
                edge[1][c] += weight[1] * sum;
                edge[2][c] += weight[2] * sum;
            }
        }
}

void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    struct hexahedron cell;
    hexahedron_get(mesh, elem, &cell);
    hexahedron_map(&cell, r, x, edge);
    for (int i = 0; i < 3; i++)
        x[i] += mesh->vertices[3 * mesh->cells[8 * elem] + i];
}
