/* operators.c: a reference element and its nodal basis: mass, derivatives, values at a point.
 * Not here: modes (modes.c), nodes (nodes_tet.c), faces (lift.c); geometry of real elements (space/).
 * Next: lift.c, dense.c, element.c.
 *
 * Nodes are in the order of their indices (i, j, k), i fastest; r = (i, j, k) / N before warping.
 * With the Vandermonde matrix V[node][mode]: D_j = V_rj V^-1, M^-1 = V V^T, M = V^-T V^-1
 * (Hesthaven & Warburton 2008, chapter 10). */
#include "internal.h"

#include <string.h>

const struct element_shape *element_shape(int shape)
{
    static const struct element_shape *const shapes[] = {
        [UNDA_TET] = &element_tet, [UNDA_HEX] = &element_hex};
    return shape >= 0 && shape < (int)(sizeof shapes / sizeof *shapes) ? shapes[shape] : NULL;
}

unda_status element_check(int shape, int degree)
{
    if (!element_shape(shape))
        FAIL(UNDA_ERR_ARG, "shape is %d, expected UNDA_TET (0) or UNDA_HEX (1)", shape);
    if (degree < 1 || degree > element_shape(shape)->max_degree)
        FAIL(UNDA_ERR_ARG, "degree is %d, expected 1..%d", degree, element_shape(shape)->max_degree);
    return UNDA_OK;
}

/* Workspace for building one element. */
struct work {
    wide *vandermonde; /* [node][mode] */
    wide *slope;       /* [3][node][mode]: gradients of the modes */
    wide *dual;        /* [node][mode]: inverse of the Vandermonde matrix, transposed */
    wide *inv_mass;    /* [node][node] */
    wide *product;     /* [node][node] */
};

static void tabulate_modes(const struct element *element, struct work *work)
{
    int n = element->num_node;
    struct jet modes[MAX_TET_NODE];
    for (int node = 0; node < n; node++) {
        element_shape(element->shape)->modes(element->degree, element->nodes + 3 * node, modes);
        for (int mode = 0; mode < n; mode++) {
            work->vandermonde[node * n + mode] = modes[mode].value;
            for (int axis = 0; axis < 3; axis++)
                work->slope[(axis * n + node) * n + mode] = modes[mode].gradient[axis];
        }
    }
}

/* Rounding must not give a constant a derivative: each diagonal entry is minus the sum of its row's
 * others. */
static void keep_constants(int n, double *matrix)
{
    for (int i = 0; i < n; i++) {
        wide others = 0;
        for (int j = 0; j < n; j++)
            others += j == i ? 0 : matrix[i * n + j];
        matrix[i * n + i] = (double)-others;
    }
}

static unda_status build_volume(struct element *element, struct work *work)
{
    int n = element->num_node, size = n * n;
    tabulate_modes(element, work);
    dense_transpose(n, work->vandermonde, work->product);
    TRY(dense_invert(n, work->product, work->dual));
    dense_transpose(n, work->dual, work->product);
    dense_round(size, work->product, element->inv_vandermonde);
    for (int axis = 0; axis < 3; axis++) {
        dense_multiply(n, n, n, work->slope + axis * size, work->dual, work->product);
        dense_round(size, work->product, element->derivative + axis * size);
        keep_constants(n, element->derivative + axis * size);
    }
    dense_multiply(n, n, n, work->dual, work->dual, work->product);
    dense_round(size, work->product, element->mass);
    dense_multiply(n, n, n, work->vandermonde, work->vandermonde, work->inv_mass);
    dense_round(size, work->inv_mass, element->inv_mass);
    return UNDA_OK;
}

unda_status element_build_dense(struct element *element)
{
    const struct element_shape *of = element_shape(element->shape);
    int n = element->num_node, m = element->num_face_node;
    int64_t size = (int64_t)n * n;
    TRY(array_own(&element->owned, &element->derivative, 3 * n * n, sizeof(double), "element derivative"));
    TRY(array_own(&element->owned, &element->lift, of->num_face * n * m, sizeof(double), "element lift"));
    TRY(array_own(&element->owned, &element->mass, n * n, sizeof(double), "element mass"));
    TRY(array_own(&element->owned, &element->inv_mass, n * n, sizeof(double), "element inverse mass"));
    TRY(array_own(&element->owned, &element->inv_vandermonde, n * n, sizeof(double), "element modes"));
    TRY(of->nodes(element->degree, element->nodes));
    SCRATCH wide *room = NULL;
    TRY(array_try(&room, 7 * size, sizeof(wide), "building a reference element"));
    struct work work = {.vandermonde = room,
                        .slope = room + size,
                        .dual = room + 4 * size,
                        .inv_mass = room + 5 * size,
                        .product = room + 6 * size};
    TRY(build_volume(element, &work));
    return element_build_faces(element, work.inv_mass);
}

static unda_status build(struct element *element, int shape, int degree)
{
    const struct element_shape *of = element_shape(shape);
    element->shape = shape;
    element->degree = degree;
    element->num_node = of->num_node(degree);
    element->num_face = of->num_face;
    element->num_side = of->num_face * of->num_turn;
    element->num_face_node = of->num_face_node(degree);
    TRY(array_own(&element->owned, &element->nodes, 3 * element->num_node, sizeof(double), "element nodes"));
    TRY(array_own(&element->owned, &element->face_node, element->num_side * element->num_face_node,
                  sizeof(int32_t), "element face nodes"));
    return of->build(element);
}

unda_status element_new(struct element **element, int shape, int degree)
{
    TRY(element_check(shape, degree));
    struct element *made;
    TRY(array_try(&made, 1, sizeof *made, "a reference element"));
    return COMPLETE(element, made, element_free, build(made, shape, degree));
}

void element_free(struct element *element)
{
    if (!element)
        return;
    arrays_free(&element->owned);
    array_free(element);
}

static void add_mode(int n, wide mode, const double *row, double *sum)
{
    for (int node = 0; node < n; node++)
        sum[node] += (double)mode * row[node];
}

/* basis[node] = sum over modes of modes[mode] V^-1[mode][node]. */
void element_dense_basis(const struct element *element, const double point[3], double *basis,
                         double *gradient)
{
    int n = element->num_node;
    struct jet modes[MAX_TET_NODE];
    element_shape(element->shape)->modes(element->degree, point, modes);
    memset(basis, 0, (size_t)n * sizeof *basis);
    if (gradient)
        memset(gradient, 0, (size_t)(3 * n) * sizeof *gradient);
    for (int mode = 0; mode < n; mode++) {
        const double *row = element->inv_vandermonde + mode * n;
        add_mode(n, modes[mode].value, row, basis);
        for (int axis = 0; gradient && axis < 3; axis++)
            add_mode(n, modes[mode].gradient[axis], row, gradient + axis * n);
    }
}

void element_basis(const struct element *element, const double point[3], double *basis, double *gradient)
{
    element_shape(element->shape)->basis(element, point, basis, gradient);
}
