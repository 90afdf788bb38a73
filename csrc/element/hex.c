/* hex.c: the reference hexahedron 0 <= r_j <= 1. Nodes are products of Gauss-Lobatto points, which are the points of
 * the quadrature too, so that the mass matrix is diagonal; matrices are those of a line (Kopriva 2009, chapters 3
 * and 8). Faces in the order -r1 +r1 -r2 +r2 -r3 +r3. Node (i, j, k) is number i + n j + n^2 k.
 * Next: nodes_gll.c (points). */
#include "internal.h"

static int num_node(int degree)
{
    return (degree + 1) * (degree + 1) * (degree + 1);
}

static int num_face_node(int degree)
{
    return (degree + 1) * (degree + 1);
}

static void from_cube(const double cube[3], double r[3])
{
    for (int axis = 0; axis < 3; axis++)
        r[axis] = (1 + cube[axis]) / 2;
}

/* A face's corners are listed around it, from the one at its axes' origin along the first of them. Side
 * 6 turn + face: its nodes in the order of a neighbour whose corner 0 is corner turn / 2 of this face, and who
 * goes around it the same way (turn even) or the other one. */
static void list_side(int degree, int side, int32_t *face_node)
{
    static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int face = side % 6, turn = side / 6, n = degree + 1, axis = face / 2;
    const int *origin = corner[turn / 2], *next = corner[(turn / 2 + (turn % 2 ? 3 : 1)) % 4],
              *last = corner[(turn / 2 + (turn % 2 ? 1 : 3)) % 4];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int at[3], *along[2] = {&at[axis == 0], &at[axis == 2 ? 1 : 2]};
            at[axis] = face % 2 * degree;
            for (int k = 0; k < 2; k++)
                *along[k] = origin[k] * degree + (next[k] - origin[k]) * i + (last[k] - origin[k]) * j;
            *face_node++ = at[0] + n * (at[1] + n * at[2]);
        }
}

/* Basis functions of a line at x and, unless NULL, their derivatives: l_i = prod_k (x - x_k) / (x_i - x_k). */
static void line_basis(int n, const double *points, double x, double *basis, double *slope)
{
    for (int i = 0; i < n; i++) {
        wide value = 1, derivative = 0;
        for (int k = 0; k < n; k++)
            if (k != i) {
                wide gap = (wide)points[i] - points[k];
                derivative = (derivative * ((wide)x - points[k]) + value) / gap;
                value *= ((wide)x - points[k]) / gap;
            }
        basis[i] = (double)value;
        if (slope)
            slope[i] = (double)derivative;
    }
}

/* D[i][k] = l_k'(x_i). Rounding must not give a constant a derivative: the diagonal is minus the sum of the
 * others. Nor may it tell a line from its mirror image: D[n - 1 - i][n - 1 - k] = -D[i][k] to the last bit. */
static void build_line(struct element *element, const double *points, const double *weights)
{
    int n = element->degree + 1;
    double basis[MAX_DEGREE + 1], slope[MAX_DEGREE + 1], *d = element->line_derivative;
    for (int i = 0; i < n; i++) {
        element->line_point[i] = (1 + points[i]) / 2;
        element->line_weight[i] = weights[i] / 2;
    }
    for (int i = 0; 2 * i < n; i++) {
        bool middle = 2 * i == n - 1; /* its own image: entries in pairs, and 0 on the diagonal */
        double others = 0;
        line_basis(n, points, points[i], basis, slope);
        for (int k = 0; k < n; k++)
            if (k != i && !(middle && k > i)) {
                d[i * n + k] = 2 * slope[k];
                others += d[i * n + k];
            }
        d[i * n + i] = middle ? 0 : -others;
        for (int k = 0; k < (middle ? i : n); k++)
            d[(n - 1 - i) * n + n - 1 - k] = -d[i * n + k];
    }
}

static unda_status build(struct element *element)
{
    int n = element->degree + 1;
    double points[MAX_DEGREE + 1], weights[MAX_DEGREE + 1];
    TRY(gauss_lobatto(n, points, weights));
    TRY(array_own(&element->owned, &element->line_derivative, n * n, sizeof(double), "element derivative"));
    TRY(array_own(&element->owned, &element->line_point, n, sizeof(double), "element nodes"));
    TRY(array_own(&element->owned, &element->line_weight, n, sizeof(double), "element weights"));
    build_line(element, points, weights);
    for (int i = 0; i < n * n * n; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        for (int axis = 0; axis < 3; axis++)
            element->nodes[3 * i + axis] = element->line_point[at[axis]];
    }
    for (int side = 0; side < element->num_side; side++)
        list_side(element->degree, side, element->face_node + side * n * n);
    return UNDA_OK;
}

static void basis(const struct element *element, const double point[3], double *basis, double *gradient)
{
    int n = element->degree + 1, num = n * n * n;
    double value[3][MAX_DEGREE + 1], slope[3][MAX_DEGREE + 1];
    for (int axis = 0; axis < 3; axis++)
        line_basis(n, element->line_point, point[axis], value[axis], slope[axis]);
    for (int i = 0; i < num; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        double v[3] = {value[0][at[0]], value[1][at[1]], value[2][at[2]]};
        basis[i] = v[0] * v[1] * v[2];
        for (int axis = 0; gradient && axis < 3; axis++)
            gradient[axis * num + i] = slope[axis][at[axis]] * v[(axis + 1) % 3] * v[(axis + 2) % 3];
    }
}

/* As matrices of the whole element, for who asks for them. */
static void expand(const struct element *element, const unda_element_arrays *to)
{
    int n = element->degree + 1, num = n * n * n;
    const double *w = element->line_weight;
    for (int64_t i = 0; i < num; i++) {
        const int at[3] = {(int)i % n, (int)i / n % n, (int)i / n / n}, step[3] = {1, n, n * n};
        double mass = w[at[0]] * w[at[1]] * w[at[2]];
        if (to->mass)
            to->mass[i * num + i] = mass;
        if (to->inv_mass)
            to->inv_mass[i * num + i] = 1 / mass;
        for (int64_t axis = 0; to->derivative && axis < 3; axis++)
            for (int k = 0; k < n; k++)
                to->derivative[(axis * num + i) * num + i + (k - at[axis]) * step[axis]] =
                    element->line_derivative[at[axis] * n + k];
    }
    for (int64_t i = 0; to->lift && i < 6 * n * n; i++)
        to->lift[(i / (n * n) * num + element->face_node[i]) * n * n + i % (n * n)] = 1 / w[0];
}

const struct element_shape element_hex = {.num_face = 6,
                                          .num_turn = 8,
                                          .max_degree = MAX_DEGREE,
                                          .num_node = num_node,
                                          .num_face_node = num_face_node,
                                          .build = build,
                                          .basis = basis,
                                          .expand = expand,
                                          .from_cube = from_cube,
                                          .jacobian = 8};
