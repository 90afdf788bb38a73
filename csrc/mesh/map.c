/* map.c: the map of a hexahedron from the unit cube, a polynomial of degree 1 in each coordinate, or 2 if it is
 * curved. Relative to vertex 0, so that large coordinates cost no digits. Next: inverse.c; metrics at nodes are those of space/. */
#include "hexahedron.h"
#include "vector.h"

const int hexahedron_corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

int hexahedron_vertex(int degree, int v)
{
    const int *at = hexahedron_corner[v];
    return degree * (at[0] + (degree + 1) * (at[1] + (degree + 1) * at[2]));
}

void hexahedron_straight(double x[8][3], struct hexahedron *out)
{
    out->degree = 1;
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++)
            out->node[hexahedron_vertex(1, v)][i] = x[v][i];
}

void hexahedron_get(const unda_mesh *mesh, int64_t elem, struct hexahedron *out)
{
    if (!mesh->curved) {
        double arm[8][3];
        cell_coordinates(mesh, elem, arm);
        hexahedron_straight(arm, out);
        return;
    }
    out->degree = 2;
    for (int node = 0; node < 27; node++)
        subtract(mesh->curved + 3 * (27 * elem + node), mesh->vertices + 3 * mesh->cells[8 * elem],
                 out->node[node]);
}

/* Lagrange polynomials on the nodes 0, 1 or 0, 1/2, 1 and their derivatives. */
static inline void line(int degree, double r, double value[3], double slope[3])
{
    value[0] = 1 - r;
    value[1] = r;
    slope[0] = -1;
    slope[1] = 1;
    if (degree == 1)
        return;
    value[0] = (1 - r) * (1 - 2 * r);
    value[1] = 4 * r * (1 - r);
    value[2] = r * (2 * r - 1);
    slope[0] = 4 * r - 3;
    slope[1] = 4 - 8 * r;
    slope[2] = 4 * r - 1;
}

/* n: nodes an axis, a constant where this is inlined. */
static inline void map(const double (*row)[3], int n, const double r[3], double x[3], double edge[3][3])
{
    double value[3][3], slope[3][3];
    for (int j = 0; j < 3; j++)
        line(n - 1, r[j], value[j], slope[j]);
    for (int c = 0; c < 3; c++)
        x[c] = edge[0][c] = edge[1][c] = edge[2][c] = 0;
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

void hexahedron_map(const struct hexahedron *cell, const double r[3], double x[3], double edge[3][3])
{
    if (cell->degree == 1)
        map(cell->node, 2, r, x, edge);
    else
        map(cell->node, 3, r, x, edge);
}

void mesh_arm(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    struct hexahedron cell;
    hexahedron_get(mesh, elem, &cell);
    hexahedron_map(&cell, r, x, edge);
}

void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    mesh_arm(mesh, elem, r, x, edge);
    for (int i = 0; i < 3; i++)
        x[i] += mesh->vertices[3 * mesh->cells[8 * elem] + i];
}
