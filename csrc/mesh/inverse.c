/* inverse.c: the point of the unit cube that a hexahedron's map takes to a given one, by Newton's method.
 * Where the first attempt ends elsewhere, the cell is divided, and parts that may hold the point are tried:
 * Newton converges from the middle of a part if that is small. Next: locate.c. */
#include "hexahedron.h"
#include "vector.h"

#include <string.h>

enum { MAX_STEP = 30, MAX_DIVISION = 3 };
/* Newton stays so far from the cube: points beyond are not found. */
static const double REACH = 1;
/* Steps end below this: the next one would be its square, times the cell's warp. */
static const double CONVERGED = 1e-9;
/* So far outside the cube a point may be and no other part is tried; above what callers count as inside. */
static const double BESIDE = 1e-6;

/* A curved cell may reach beyond its nodes, but not beyond its Bernstein coefficients (Farin 2002, section
 * 5.1): along a line the middle one is 2 x(1/2) - (x(0) + x(1)) / 2. */
static void bernstein(double (*x)[3])
{
    static const int stride[3] = {1, 3, 9};
    for (int axis = 0; axis < 3; axis++)
        for (int node = 0, step = stride[axis]; node < 27; node++)
            for (int c = 0; c < 3 && node / step % 3 == 1; c++)
                x[node][c] = 2 * x[node][c] - (x[node - step][c] + x[node + step][c]) / 2;
}

void hexahedron_box(const struct hexahedron *cell, double lower[3], double upper[3])
{
    double hull[27][3];
    const double(*x)[3] = cell->node;
    if (cell->degree == 2) {
        memcpy(hull, x, sizeof hull);
        bernstein(hull);
        x = (const double(*)[3])hull;
    }
    for (int c = 0; c < 3; c++)
        lower[c] = upper[c] = x[0][c];
    for (int node = 1; node < (cell->degree == 1 ? 8 : 27); node++)
        for (int c = 0; c < 3; c++) {
            lower[c] = x[node][c] < lower[c] ? x[node][c] : lower[c];
            upper[c] = x[node][c] > upper[c] ? x[node][c] : upper[c];
        }
}

/* dr with dr_1 e_1 + dr_2 e_2 + dr_3 e_3 = gap; false where the edges are flat. */
static bool solve(double edge[3][3], const double gap[3], double dr[3])
{
    double normal[3][3];
    for (int j = 0; j < 3; j++)
        cross(edge[(j + 1) % 3], edge[(j + 2) % 3], normal[j]);
    double det = dot(edge[0], normal[0]);
    for (int j = 0; j < 3; j++)
        dr[j] = dot(gap, normal[j]) / det;
    return isfinite(dr[0]) && isfinite(dr[1]) && isfinite(dr[2]);
}

/* True with the solution in r, or false. */
static bool newton(const struct hexahedron *cell, const double x[3], double r[3])
{
    for (int step = 0; step < MAX_STEP; step++) {
        double at[3], edge[3][3], gap[3], dr[3], moved = 0;
        hexahedron_map(cell, r, at, edge);
        subtract(x, at, gap);
        if (!solve(edge, gap, dr))
            return false;
        bool held = false;
        for (int j = 0; j < 3; j++) {
            double next = fmin(fmax(r[j] + dr[j], -REACH), 1 + REACH);
            held |= next != r[j] + dr[j];
            moved = fmax(moved, fabs(next - r[j]));
            r[j] = next;
        }
        if (moved < CONVERGED)
            return !held;
    }
    return false;
}

static bool inside(const double r[3])
{
    bool in = true;
    for (int j = 0; j < 3; j++)
        in &= r[j] >= -BESIDE && r[j] <= 1 + BESIDE;
    return in;
}

/* The part of a cell over a cube of reference coordinates. */
static void part_of(const struct hexahedron *cell, const double low[3], double width, struct hexahedron *part)
{
    int n = cell->degree + 1;
    double edge[3][3], r[3];
    part->degree = cell->degree;
    for (int node = 0; node < n * n * n; node++) {
        for (int axis = 0, at = node; axis < 3; axis++, at /= n)
            r[axis] = low[axis] + width * (at % n) / cell->degree;
        hexahedron_map(cell, r, part->node[node], edge);
    }
}

static bool may_hold(const struct hexahedron *part, const double x[3])
{
    double lower[3], upper[3];
    bool holds = true;
    hexahedron_box(part, lower, upper);
    for (int c = 0; c < 3; c++) {
        double room = 4 * BESIDE * (upper[c] - lower[c]);
        holds &= x[c] >= lower[c] - room && x[c] <= upper[c] + room;
    }
    return holds;
}

/* In the parts of the cube at low; true with the solution in r. */
static bool divide(const struct hexahedron *cell, const double x[3], const double low[3], double width,
                   int division, double r[3])
{
    width /= 2;
    for (int i = 0; i < 8; i++) {
        double corner[3];
        struct hexahedron part;
        for (int j = 0; j < 3; j++) {
            corner[j] = low[j] + width * (i >> j & 1);
            r[j] = corner[j] + width / 2;
        }
        part_of(cell, corner, width, &part);
        if (!may_hold(&part, x))
            continue;
        if (newton(cell, x, r) && inside(r))
            return true;
        if (division + 1 < MAX_DIVISION && divide(cell, x, corner, width, division + 1, r))
            return true;
    }
    return false;
}

bool mesh_inverse(const unda_mesh *mesh, int64_t elem, const double point[3], double r[3])
{
    struct hexahedron cell;
    double x[3], first[3] = {0.5, 0.5, 0.5};
    hexahedron_get(mesh, elem, &cell);
    subtract(point, mesh->vertices + 3 * mesh->cells[8 * elem], x);
    bool found = newton(&cell, x, first);
    if ((!found || !inside(first)) && may_hold(&cell, x) && divide(&cell, x, (double[3]){0}, 1, 0, r))
        return true;
    memcpy(r, first, sizeof first);
    return found;
}

unda_status mesh_check_point(const unda_mesh *mesh, int64_t elem, const double x[3])
{
    double r[3];
    if (mesh->shape == UNDA_HEX && !mesh_inverse(mesh, elem, x, r))
        FAIL(
            UNDA_ERR_ARG,
            "the point (%g, %g, %g) has no coordinates in element %lld, expected a point in that element, as "
            "unda_mesh_locate finds them",
            x[0], x[1], x[2], (long long)elem);
    return UNDA_OK;
}
