/* geometry.c: volume, insphere and quality of one cell.
 * Not the element matrices (csrc/element) and not the solvers' geometric factors.
 * Next: checks.c, which decides what is refused. */
#include "hexahedron.h"
#include "vector.h"

#include <string.h>

static double triple(const double *a, const double *b, const double *c)
{
    double normal[3];
    cross(b, c, normal);
    return dot(a, normal);
}

static double longest_distance(int num_vertex, double x[8][3])
{
    double longest = 0;
    for (int i = 0; i < num_vertex; i++)
        for (int j = 0; j < i; j++) {
            double edge[3];
            subtract(x[i], x[j], edge);
            longest = fmax(longest, norm(edge));
        }
    return longest;
}

/* Half the cross product of the diagonals: exact for triangles (the fourth vertex is the third
 * again) and plane quadrilaterals. */
static double face_area(const struct shape_table *table, int face, double x[8][3])
{
    const int *v = table->face_vertex[face];
    double a[3], b[3], normal[3];
    subtract(x[v[2]], x[v[0]], a);
    subtract(x[v[table->num_face_vertex == 4 ? 3 : 2]], x[v[1]], b);
    cross(a, b, normal);
    return 0.5 * norm(normal);
}

/* Circumradius from the edges a, b, c at one vertex: R = |a^2 bxc + b^2 cxa + c^2 axb| / (12 V). */
static double tet_circumradius(const double *a, const double *b, const double *c, double volume)
{
    double bc[3], ca[3], ab[3], sum[3];
    cross(b, c, bc);
    cross(c, a, ca);
    cross(a, b, ab);
    for (int i = 0; i < 3; i++)
        sum[i] = dot(a, a) * bc[i] + dot(b, b) * ca[i] + dot(c, c) * ab[i];
    return norm(sum) / (12 * fabs(volume));
}

static void tet_geometry(double x[8][3], double surface, struct cell_geometry *out)
{
    double a[3], b[3], c[3];
    subtract(x[1], x[0], a);
    subtract(x[2], x[0], b);
    subtract(x[3], x[0], c);
    out->min_jacobian = triple(a, b, c);
    out->volume = out->min_jacobian / 6;
    out->insphere = 6 * fabs(out->volume) / surface;
    out->quality = 1.5 * out->insphere / tet_circumradius(a, b, c, out->volume);
}

/* The determinant is of degree 3 degree - 1 in each coordinate, so degree + 1 Gauss points an axis give the
 * volume. Its sign and the scaled Jacobian are taken at the nodes. */
static void hex_geometry(const struct hexahedron *cell, double surface, struct cell_geometry *out)
{
    static const double gauss2_point[2] = {0.2113248654051871, 0.7886751345948129},
                        gauss2_weight[2] = {0.5, 0.5};
    const double *point = cell->degree == 1 ? gauss2_point : gauss3_point,
                 *weight = cell->degree == 1 ? gauss2_weight : gauss3_weight;
    int n = cell->degree + 1;
    out->volume = 0;
    out->min_jacobian = INFINITY;
    out->quality = INFINITY;
    for (int i = 0; i < n * n * n; i++) {
        double x[3], edge[3][3], r[3], node[3], share = 1;
        for (int axis = 0, at = i; axis < 3; axis++, at /= n) {
            r[axis] = point[at % n];
            share *= weight[at % n];
            node[axis] = (double)(at % n) / cell->degree;
        }
        hexahedron_map(cell, r, x, edge);
        out->volume += share * triple(edge[0], edge[1], edge[2]);
        hexahedron_map(cell, node, x, edge);
        double jacobian = triple(edge[0], edge[1], edge[2]);
        out->min_jacobian = fmin(out->min_jacobian, jacobian);
        out->quality = fmin(out->quality, jacobian / (norm(edge[0]) * norm(edge[1]) * norm(edge[2])));
    }
    out->insphere = 6 * fabs(out->volume) / surface;
}

/* Longest distance between vertices; returns the surface between them. */
static double outline(int shape, double x[8][3], struct cell_geometry *out)
{
    const struct shape_table *table = &shape_tables[shape];
    double surface = 0;
    for (int face = 0; face < table->num_face; face++)
        surface += face_area(table, face, x);
    out->longest = longest_distance(table->num_vertex, x);
    return surface;
}

struct cell_geometry hexahedron_geometry(const struct hexahedron *cell)
{
    struct cell_geometry out = {0};
    double x[8][3];
    for (int v = 0; v < 8; v++)
        memcpy(x[v], cell->node[hexahedron_vertex(cell->degree, v)], sizeof x[v]);
    hex_geometry(cell, outline(UNDA_HEX, x, &out), &out);
    return out;
}

struct cell_geometry cell_geometry(int shape, double x[8][3])
{
    struct cell_geometry out = {0};
    struct hexahedron cell;
    if (shape == UNDA_HEX) {
        hexahedron_straight(x, &cell);
        return hexahedron_geometry(&cell);
    }
    tet_geometry(x, outline(shape, x, &out), &out);
    return out;
}

void cell_coordinates(const struct unda_mesh *mesh, int64_t elem, double x[8][3])
{
    int num_vertex = mesh->table->num_vertex;
    const int64_t *cell = mesh->cells + elem * num_vertex;
    const double *origin = mesh->vertices + 3 * cell[0];
    for (int v = 0; v < num_vertex; v++)
        subtract(mesh->vertices + 3 * cell[v], origin, x[v]);
}
