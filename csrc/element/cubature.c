/* cubature.c: cubature on the unit tetrahedron by collapsed Gauss-Jacobi rules (Stroud 1971).
 * Rules with fewer points exist, as tables; these work for every degree.
 * Next: gauss.c. */
#include "internal.h"

enum { MAX_CUBATURE_DEGREE = 40, MAX_LINE = MAX_CUBATURE_DEGREE / 2 + 1 };

/* r3 = (1 + c) / 2, r2 = (1 - r3) (1 + b) / 2, r1 = (1 - r2 - r3) (1 + a) / 2; the Jacobian
 * (1 - b) (1 - c)^2 / 64 is the weight of the rules in b and c. lines [3][2][MAX_LINE]: points and
 * weights in a, b, c. */
static void fill(int n, double lines[3][2][MAX_LINE], double *points, double *weights)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                int64_t place = ((int64_t)k * n + j) * n + i;
                double below3 = (1 - lines[2][0][k]) / 2;            /* 1 - r3 */
                double below2 = below3 * ((1 - lines[1][0][j]) / 2); /* 1 - r2 - r3 */
                points[3 * place] = below2 * ((1 + lines[0][0][i]) / 2);
                points[3 * place + 1] = below3 * ((1 + lines[1][0][j]) / 2);
                points[3 * place + 2] = (1 + lines[2][0][k]) / 2;
                weights[place] = lines[0][1][i] * lines[1][1][j] * lines[2][1][k] / 64;
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
            TRY(gauss_jacobi(n, axis, 0, lines[axis][0], lines[axis][1]));
        fill(n, lines, points, weights);
    }
    *num_point = (int64_t)n * n * n;
    return UNDA_OK;
}
