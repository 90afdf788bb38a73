/* map.c: the map of a hexahedron from the unit cube, a polynomial of degree 1 in each coordinate, or 2 if it is
 * curved. Relative to a point of it, so that large coordinates cost no digits. Next: inverse.c; metrics at nodes are
 * those of space/. */
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

/* Nodes of a curved cell, relative to a point. */
static void curved_nodes(const unda_mesh *mesh, int64_t elem, const double *origin, struct hexahedron *out)
{
    out->degree = 2;
    for (int node = 0; node < 27; node++)
        subtract(mesh->curved + 3 * (27 * elem + node), origin, out->node[node]);
}

void hexahedron_get(const unda_mesh *mesh, int64_t elem, struct hexahedron *out)
{
    if (mesh->curved) {
        curved_nodes(mesh, elem, mesh->vertices + 3 * mesh->cells[8 * elem], out);
        return;
    }
    double arm[8][3];
    cell_coordinates(mesh, elem, arm);
    hexahedron_straight(arm, out);
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

/* The slope of a line through n values. Slopes sum to 0: of differences, which are short, less is lost by rounding. */
static inline double along(int n, const double slope[3], double first, double second, double third)
{
    return n == 2 ? second - first : slope[0] * (first - second) + slope[2] * (third - second);
}

/* n: nodes an axis, a constant where this is inlined. */
static inline void map(const double (*row)[3], int n, const double r[3], double x[3], double edge[3][3])
{
    double value[3][3], slope[3][3];
    for (int j = 0; j < 3; j++)
        line(n - 1, r[j], value[j], slope[j]);
    for (int c = 0; c < 3; c++) {
        double at[3][3] = {{0}}; /* of the line [k][j] along the first axis */
        x[c] = edge[0][c] = edge[1][c] = edge[2][c] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) {
                const double(*node)[3] = row + n * (j + n * k);
                double weight = value[1][j] * value[2][k];
                for (int i = 0; i < n; i++)
                    at[k][j] += value[0][i] * node[i][c];
                x[c] += weight * at[k][j];
                edge[0][c] += weight * along(n, slope[0], node[0][c], node[1][c], node[n - 1][c]);
            }
        for (int k = 0; k < n; k++) {
            edge[1][c] += value[2][k] * along(n, slope[1], at[k][0], at[k][1], at[k][2]);
            edge[2][c] += value[1][k] * along(n, slope[2], at[0][k], at[1][k], at[2][k]);
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
    if (mesh->curved)
        curved_nodes(mesh, elem, mesh->curved + 3 * (27 * elem + 27 / 2), &cell);
    else
        hexahedron_get(mesh, elem, &cell);
    hexahedron_map(&cell, r, x, edge);
}

void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3])
{
    struct hexahedron cell;
    hexahedron_get(mesh, elem, &cell);
    hexahedron_map(&cell, r, x, edge);
    for (int i = 0; i < 3; i++)
        x[i] += mesh->vertices[3 * mesh->cells[8 * elem] + i];
}

void mesh_map_points(const unda_mesh *mesh, int64_t elem, int num, const double *r, double *x)
{
    const double *origin = mesh->vertices + 3 * mesh->cells[8 * elem];
    struct hexahedron cell;
    double edge[3][3];
    hexahedron_get(mesh, elem, &cell);
    for (int i = 0; i < num; i++)
        hexahedron_map(&cell, r + 3 * i, x + 3 * i, edge);
    for (int i = 0; i < 3 * num; i++)
        x[i] += origin[i % 3];
}
