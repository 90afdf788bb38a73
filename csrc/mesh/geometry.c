/* geometry.c: volume, insphere and quality of one cell.
 * Not the element matrices (csrc/element) and not the solvers' geometric factors.
 * Next: checks.c, which decides what is refused. */
#include "internal.h"
#include "vector.h"

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

static const int hex_corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* Jacobian columns of the trilinear map at r in [0, 1]^3. */
static void hex_jacobian(double x[8][3], const double r[3], double columns[3][3])
{
    for (int axis = 0; axis < 3; axis++) {
        int other = (axis + 1) % 3, third = (axis + 2) % 3;
        for (int i = 0; i < 3; i++)
            columns[axis][i] = 0;
        for (int v = 0; v < 8; v++) {
            double weight = (hex_corner[v][axis] ? 1 : -1) *
                            (hex_corner[v][other] ? r[other] : 1 - r[other]) *
                            (hex_corner[v][third] ? r[third] : 1 - r[third]);
            for (int i = 0; i < 3; i++)
                columns[axis][i] += weight * x[v][i];
        }
    }
}

/* The vertices of a parallelepiped are sums of its edges. */
static double hex_bent(double x[8][3])
{
    double bent = 0;
    for (int v = 0; v < 8; v++) {
        double off[3];
        for (int i = 0; i < 3; i++)
            off[i] = x[v][i] - x[0][i] - hex_corner[v][0] * (x[1][i] - x[0][i]) -
                     hex_corner[v][1] * (x[3][i] - x[0][i]) - hex_corner[v][2] * (x[4][i] - x[0][i]);
        bent = fmax(bent, norm(off));
    }
    return bent;
}

/* The determinant is at most quadratic in each coordinate, so two Gauss points per side give the
 * volume. */
static void hex_geometry(double x[8][3], double surface, struct cell_geometry *out)
{
    const double gauss = 0.5 / sqrt(3.0);
    out->bent = hex_bent(x);
    out->volume = 0;
    out->min_jacobian = INFINITY;
    out->quality = INFINITY;
    for (int point = 0; point < 8; point++) {
        double sign[3], r[3], corner[3], columns[3][3];
        for (int i = 0; i < 3; i++) {
            sign[i] = point >> i & 1 ? 1 : -1;
            r[i] = 0.5 + gauss * sign[i];
            corner[i] = 0.5 + 0.5 * sign[i];
        }
        hex_jacobian(x, r, columns);
        out->volume += triple(columns[0], columns[1], columns[2]) / 8;
        hex_jacobian(x, corner, columns);
        double jacobian = triple(columns[0], columns[1], columns[2]);
        out->min_jacobian = fmin(out->min_jacobian, jacobian);
        out->quality =
            fmin(out->quality, jacobian / (norm(columns[0]) * norm(columns[1]) * norm(columns[2])));
    }
    out->insphere = 6 * fabs(out->volume) / surface;
}

struct cell_geometry cell_geometry(int shape, double x[8][3])
{
    const struct shape_table *table = &shape_tables[shape];
    struct cell_geometry out = {.longest = longest_distance(table->num_vertex, x)};
    double surface = 0;
    for (int face = 0; face < table->num_face; face++)
        surface += face_area(table, face, x);
    if (shape == UNDA_TET)
        tet_geometry(x, surface, &out);
    else
        hex_geometry(x, surface, &out);
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
