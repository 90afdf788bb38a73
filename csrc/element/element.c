/* element.c: the public calls on reference elements: check, build, copy out.
 * No numerics here: operators.c, tet.c. Cubature: cubature.c.
 * Next: unda.h, section "reference element". */
#include "internal.h"

#include <math.h>
#include <string.h>

static bool known(int32_t shape, int32_t degree)
{
    return element_shape(shape) && degree >= 1 && degree <= element_shape(shape)->max_degree;
}

int32_t unda_element_num_node(int32_t shape, int32_t degree)
{
    return known(shape, degree) ? element_shape(shape)->num_node(degree) : -1;
}

int32_t unda_element_num_face_node(int32_t shape, int32_t degree)
{
    return known(shape, degree) ? element_shape(shape)->num_face_node(degree) : -1;
}

int element_num_turn(int shape)
{
    return element_shape(shape)->num_turn;
}

void element_expand_dense(const struct element *element, const unda_element_arrays *to)
{
    int64_t n = element->num_node, m = element->num_face_node;
    array_give(to->derivative, element->derivative, 3 * n * n, sizeof(double));
    array_give(to->lift, element->lift, element->num_face * n * m, sizeof(double));
    array_give(to->mass, element->mass, n * n, sizeof(double));
    array_give(to->inv_mass, element->inv_mass, n * n, sizeof(double));
}

static void clear(double *array, int64_t count)
{
    if (array)
        memset(array, 0, (size_t)count * sizeof *array);
}

unda_status unda_element_get_arrays(int32_t shape, int32_t degree, const unda_element_arrays *arrays)
{
    TRY(fork_check());
    CHECK_SIZE(arrays, unda_element_arrays);
    struct element *element;
    TRY(element_new(&element, shape, degree));
    int64_t n = element->num_node, m = element->num_face_node;
    array_give(arrays->nodes, element->nodes, 3 * n, sizeof(double));
    array_give(arrays->face_node, element->face_node, element->num_face * m, sizeof(int32_t));
    clear(arrays->derivative, 3 * n * n);
    clear(arrays->lift, element->num_face * n * m);
    clear(arrays->mass, n * n);
    clear(arrays->inv_mass, n * n);
    element_shape(shape)->expand(element, arrays);
    element_free(element);
    return UNDA_OK;
}

static unda_status check_points(int64_t num_point, const double *points)
{
    for (int64_t i = 0; i < num_point; i++)
        for (int axis = 0; axis < 3; axis++)
            if (!isfinite(points[3 * i + axis]))
                FAIL(UNDA_ERR_ARG, "points[%lld][%d] is %g, expected a finite number", (long long)i, axis,
                     points[3 * i + axis]);
    return UNDA_OK;
}

unda_status unda_element_interpolate(int32_t shape, int32_t degree, int64_t num_point, const double *points,
                                     double *matrix)
{
    TRY(fork_check());
    if (num_point < 0)
        FAIL(UNDA_ERR_ARG, "num_point is %lld, expected 0 or more", (long long)num_point);
    if (num_point > 0 && (!points || !matrix))
        FAIL(UNDA_ERR_ARG, "%s is NULL", points ? "matrix" : "points");
    TRY(check_points(num_point, points));
    struct element *element;
    TRY(element_new(&element, shape, degree));
    for (int64_t i = 0; i < num_point; i++)
        element_basis(element, points + 3 * i, matrix + i * element->num_node, NULL);
    element_free(element);
    return UNDA_OK;
}
