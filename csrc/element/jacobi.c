/* jacobi.c: orthonormal Jacobi polynomials by their three-term recurrence.
 * Not here: the quadratures built on their roots (gauss.c, nodes_gll.c).
 * Next: modes.c, which multiplies them into modes of the tetrahedron. */
#include "internal.h"

#include <math.h>

struct jet jet_combine(wide a, struct jet p, wide b, struct jet q)
{
    struct jet sum = {a * p.value + b * q.value, {0}};
    for (int axis = 0; axis < 3; axis++)
        sum.gradient[axis] = a * p.gradient[axis] + b * q.gradient[axis];
    return sum;
}

struct jet jet_multiply(struct jet p, struct jet q)
{
    struct jet product = {p.value * q.value, {0}};
    for (int axis = 0; axis < 3; axis++)
        product.gradient[axis] = p.gradient[axis] * q.value + p.value * q.gradient[axis];
    return product;
}

/* Integral of (1 - x)^alpha (1 + x)^beta over [-1, 1]. */
static wide weight_integral(wide alpha, wide beta)
{
    return powl(2, alpha + beta + 1) * tgammal(alpha + 1) * tgammal(beta + 1) / tgammal(alpha + beta + 2);
}

/* The Jacobi matrix, x P_n = a_n P_{n-1} + b_n P_n + a_{n+1} P_{n+1} (Golub & Welsch 1969). A
 * factor alpha + beta + 1 in a_1 and alpha + beta in b_0 cancels; both may be 0. */
static wide off_diagonal(int n, wide alpha, wide beta)
{
    wide sum = 2 * n + alpha + beta;
    wide ratio = n == 1 ? 1 : n * (n + alpha + beta) / (sum - 1);
    return 2 / sum * sqrtl(ratio * (n + alpha) * (n + beta) / (sum + 1));
}

static wide diagonal(int n, wide alpha, wide beta)
{
    wide sum = 2 * n + alpha + beta;
    if (n == 0)
        return (beta - alpha) / (sum + 2);
    return (beta - alpha) * (beta + alpha) / (sum * (sum + 2));
}

struct jacobi_step jacobi_step(int n, wide alpha, wide beta)
{
    if (n == 0)
        return (struct jacobi_step){.constant = 1 / sqrtl(weight_integral(alpha, beta))};
    wide scale = 1 / off_diagonal(n, alpha, beta);
    return (struct jacobi_step){
        .x = scale,
        .t = -scale * diagonal(n - 1, alpha, beta),
        .back = n > 1 ? -scale * off_diagonal(n - 1, alpha, beta) : 0,
    };
}

/* Multiplying the recurrence by t^n leaves no division by t: the modes and their gradients are
 * plain polynomials at the collapsed vertex too. */
void jacobi_jets(int max_n, const struct jacobi_step *steps, struct jet x, struct jet t, struct jet *p)
{
    p[0] = (struct jet){steps[0].constant, {0}};
    for (int n = 1; n <= max_n; n++) {
        struct jet next = jet_multiply(jet_combine(steps[n].x, x, steps[n].t, t), p[n - 1]);
        struct jet back = jet_multiply(jet_multiply(t, t), n > 1 ? p[n - 2] : (struct jet){0});
        p[n] = jet_combine(1, next, steps[n].back, back);
    }
}

/* P_n on the line: x is the first coordinate, t is 1. */
static struct jet jacobi_jet(int n, wide alpha, wide beta, wide point)
{
    struct jacobi_step steps[n + 1];
    struct jet p[n + 1];
    for (int m = 0; m <= n; m++)
        steps[m] = jacobi_step(m, alpha, beta);
    jacobi_jets(n, steps, (struct jet){point, {1, 0, 0}}, (struct jet){1, {0}}, p);
    return p[n];
}

double jacobi(int n, double alpha, double beta, double x)
{
    return (double)jacobi_jet(n, alpha, beta, x).value;
}

double jacobi_derivative(int n, double alpha, double beta, double x)
{
    return (double)jacobi_jet(n, alpha, beta, x).gradient[0];
}
