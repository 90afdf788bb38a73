/* hex.c: the reference hexahedron 0 <= r_j <= 1: what its matrices are made of. Nodes are products of
 * Gauss-Lobatto points, which are the points of the quadrature too: the mass matrix is diagonal. Faces in the
 * order -r1 +r1 -r2 +r2 -r3 +r3. Next: nodes_gll.c (points); operators.c, lift.c (matrices). */
#include "internal.h"

#include <math.h>

static int num_node(int degree)
{
    return (degree + 1) * (degree + 1) * (degree + 1);
}

static int num_face_node(int degree)
{
    return (degree + 1) * (degree + 1);
}

static unda_status nodes(int degree, double *nodes)
{
    double points[MAX_DEGREE + 1], weights[MAX_DEGREE + 1];
    TRY(gauss_lobatto(degree + 1, points, weights));
    for (int i = 0, n = degree + 1; i < n * n * n; i++, nodes += 3)
        for (int axis = 0, at = i; axis < 3; axis++, at /= n)
            nodes[axis] = (1 + points[at % n]) / 2;
    return UNDA_OK;
}

/* Legendre polynomials on [0, 1], orthonormal under the Lobatto rule, which gives the square of the last one
 * 2 + 1 / N times its integral (Canuto et al. 2006, section 2.3). */
static void line_modes(int degree, int axis, double r, struct jet *p)
{
    struct jacobi_step steps[MAX_DEGREE + 1] = {{0}};
    struct jet x = {2 * (wide)r - 1, {0}};
    x.gradient[axis] = 2;
    for (int n = 0; n <= degree; n++)
        steps[n] = jacobi_step(n, 0, 0);
    jacobi_jets(degree, steps, x, (struct jet){1, {0}}, p);
    for (int n = 0; n <= degree; n++)
        p[n] = jet_combine(n < degree ? sqrtl(2) : sqrtl(2 / (2 + 1 / (wide)degree)), p[n], 0, p[n]);
}

static void modes(int degree, const double point[3], struct jet *modes)
{
    struct jet p[3][MAX_DEGREE + 1];
    for (int axis = 0; axis < 3; axis++)
        line_modes(degree, axis, point[axis], p[axis]);
    for (int i = 0, n = degree + 1; i < n * n * n; i++)
        modes[i] = jet_multiply(jet_multiply(p[0][i % n], p[1][i / n % n]), p[2][i / n / n]);
}

static void face_modes(int degree, const double point[2], wide *values)
{
    struct jet p[2][MAX_DEGREE + 1];
    for (int axis = 0; axis < 2; axis++)
        line_modes(degree, axis, point[axis], p[axis]);
    for (int i = 0, n = degree + 1; i < n * n; i++)
        values[i] = p[0][i % n].value * p[1][i / n].value;
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

static void from_cube(const double cube[3], double r[3])
{
    for (int axis = 0; axis < 3; axis++)
        r[axis] = (1 + cube[axis]) / 2;
}

const struct element_shape element_hex = {.num_face = 6,
                                          .num_turn = 8,
                                          .max_degree = 5,
                                          .num_node = num_node,
                                          .num_face_node = num_face_node,
                                          .nodes = nodes,
                                          .modes = modes,
                                          .face_modes = face_modes,
                                          .list_side = list_side,
                                          .base = 4,
                                          .from_cube = from_cube,
                                          .jacobian = 8};
