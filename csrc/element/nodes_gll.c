/* nodes_gll.c: Gauss-Lobatto-Legendre points and weights on [-1, 1].
 * Not here: nodes of the tetrahedron, whose edges have these points (nodes_tet.c).
 * Next: gauss.c, which finds the interior ones. */
#include "internal.h"

/* The ends and the roots of P'_n, n = num_point - 1, which are those of the Jacobi polynomial of
 * degree n - 1 for alpha = beta = 1. Weights 2 / (n (n + 1) L_n(x)^2) with the Legendre polynomial
 * L_n = P_n / sqrt(n + 1/2) (Abramowitz & Stegun 1964, eq. 25.4.32). */
unda_status gauss_lobatto(int num_point, double *points, double *weights)
{
    if (num_point < 2)
        FAIL(UNDA_ERR_ARG, "num_point is %d, expected at least 2", num_point);
    int n = num_point - 1;
    if (n > 1)
        TRY(gauss_jacobi(n - 1, 1, 1, points + 1, weights + 1));
    points[0] = -1;
    points[n] = 1;
    for (int i = 0; i <= n; i++) {
        double p = jacobi(n, 0, 0, points[i]);
        weights[i] = (2.0 * n + 1) / ((double)n * (n + 1) * p * p);
    }
    return UNDA_OK;
}
