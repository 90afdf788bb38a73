/* gauss.c: Gauss-Jacobi points and weights on [-1, 1].
 * Not here: rules that include the end points (nodes_gll.c), rules of the tetrahedron (cubature.c).
 * Next: jacobi.c. */
#include "internal.h"

#include <math.h>
#include <string.h>

enum { MAX_POINT = 64, MAX_NEWTON = 100 };

/* The next root of P_n above the known ones, which are divided out so that Newton's method cannot
 * find them again (Karniadakis & Sherwin 2005, appendix B); p [n + 1]: the polynomials there. */
static bool next_root(int n, const struct jacobi_step *steps, const wide *roots, int num_root, wide *root,
                      struct jet *p)
{
    wide x = -cosl((2 * num_root + 1) * acosl(-1) / (2 * n));
    if (num_root > 0)
        x = (x + roots[num_root - 1]) / 2;
    for (int iteration = 0; iteration < MAX_NEWTON; iteration++) {
        jacobi_jets(n, steps, (struct jet){x, {1, 0, 0}}, (struct jet){1, {0}}, p);
        wide pull = 0;
        for (int i = 0; i < num_root; i++)
            pull += 1 / (x - roots[i]);
        wide step = p[n].value / (p[n].gradient[0] - p[n].value * pull);
        x -= step;
        if (fabsl(step) < 1e-17L) { /* far below float64, and the error is its square */
            *root = x;
            return true;
        }
    }
    return false;
}

/* Rules with alpha = beta are symmetric; make them so to the last bit. */
static void mirror(int num_point, double *points, double *weights)
{
    for (int i = 0; 2 * i < num_point; i++) {
        int opposite = num_point - 1 - i;
        points[opposite] = opposite == i ? 0 : -points[i];
        weights[opposite] = weights[i];
    }
}

unda_status gauss_jacobi(int num_point, double alpha, double beta, double *points, double *weights)
{
    if (num_point < 1 || num_point > MAX_POINT)
        FAIL(UNDA_ERR_ARG, "num_point is %d, expected 1..%d", num_point, MAX_POINT);
    if (!(alpha > -1 && beta > -1 && alpha <= 100 && beta <= 100))
        FAIL(UNDA_ERR_ARG, "alpha, beta are %g, %g, expected numbers in (-1, 100]", alpha, beta);
    struct jacobi_step steps[MAX_POINT + 1];
    for (int n = 0; n <= num_point; n++)
        steps[n] = jacobi_step(n, alpha, beta);
    wide roots[MAX_POINT];
    double found[2][MAX_POINT];
    struct jet p[MAX_POINT + 1];
    for (int i = 0; i < num_point; i++) {
        if (!next_root(num_point, steps, roots, i, &roots[i], p))
            FAIL(UNDA_ERR_INTERNAL, "no root %d of %d of the Jacobi polynomial (%g, %g)", i, num_point, alpha,
                 beta);
        /* Christoffel numbers: 1 / sum over m < n of P_m^2 (Szego 1939, eq. 3.4.8). */
        wide squares = 0;
        for (int m = 0; m < num_point; m++)
            squares += p[m].value * p[m].value;
        found[0][i] = (double)roots[i];
        found[1][i] = (double)(1 / squares);
    }
    if (alpha == beta)
        mirror(num_point, found[0], found[1]);
    memcpy(points, found[0], (size_t)num_point * sizeof *points);
    memcpy(weights, found[1], (size_t)num_point * sizeof *weights);
    return UNDA_OK;
}
