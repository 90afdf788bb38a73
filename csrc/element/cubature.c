/* cubature.c: cubature on reference elements, collapsed cubes with Gauss-Jacobi rules (Stroud 1971).
 * Rules with fewer points exist, as tables; these work for every degree.
 * Next: gauss.c. */
#include "internal.h"

enum { MAX_CUBATURE_DEGREE = 40, MAX_LINE = MAX_CUBATURE_DEGREE / 2 + 1 };

/* lines [3][2][MAX_LINE]: points and weights along the axes of the cube from which the element is mapped; the
 * Jacobian is in the weights of the rules, but for a constant. */
static void fill(const struct element_shape *shape, int n, double lines[3][2][MAX_LINE], double *points,
                 double *weights)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, points += 3) {
                shape->from_cube((double[3]){lines[0][0][i], lines[1][0][j], lines[2][0][k]}, points);
                *weights++ = lines[0][1][i] * lines[1][1][j] * lines[2][1][k] / shape->jacobian;
            }
}

unda_status unda_element_cubature(int32_t shape, int32_t degree, int64_t *num_point, double *points,
                                  double *weights)
{
    TRY(fork_check());
    TRY(element_check(shape, 1));
    if (degree < 0 || degree > MAX_CUBATURE_DEGREE)
        FAIL(UNDA_ERR_ARG, "cubature degree is %d, expected 0..%d", degree, MAX_CUBATURE_DEGREE);
    if (!num_point)
        FAIL(UNDA_ERR_ARG, "num_point is NULL");
    if (!points != !weights)
        FAIL(UNDA_ERR_ARG, "%s is NULL, expected both or none", points ? "weights" : "points");
    int n = degree / 2 + 1; /* exact to degree 2 n - 1 in each of a, b, c */
    if (points) {
        double lines[3][2][MAX_LINE];
        for (int axis = 0; axis < 3; axis++)
            TRY(gauss_jacobi(n, element_shape(shape)->collapse[axis], 0, lines[axis][0], lines[axis][1]));
        fill(element_shape(shape), n, lines, points, weights);
    }
    *num_point = (int64_t)n * n * n;
    return UNDA_OK;
}
