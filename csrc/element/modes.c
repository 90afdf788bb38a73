/* modes.c: orthonormal polynomials of the unit tetrahedron and of the unit triangle.
 * Not here: the nodal basis made from them (operators.c).
 * Next: jacobi.c. */
#include "internal.h"

#include <math.h>
#include <pthread.h>

int num_tet_node(int degree)
{
    return (degree + 1) * (degree + 2) * (degree + 3) / 6;
}

int num_triangle_node(int degree)
{
    return (degree + 1) * (degree + 2) / 2;
}

/* The recurrences (alpha, 0) of all modes: made once, so that evaluating takes no square roots. */
static struct jacobi_step steps[2 * MAX_DEGREE + 3][MAX_DEGREE + 1];
static pthread_once_t steps_once = PTHREAD_ONCE_INIT;

static void make_steps(void)
{
    for (int alpha = 0; alpha <= 2 * MAX_DEGREE + 2; alpha++)
        for (int n = 0; n <= MAX_DEGREE; n++)
            steps[alpha][n] = jacobi_step(n, alpha, 0);
}

/* psi_ijk = 8 2^(2i+j) u^i P_i^(0,0)(a) v^j P_j^(2i+1,0)(b) P_k^(2i+2j+2,0)(c) with the collapsed
 * coordinates u = 1 - r2 - r3, a = (2 r1 - u) / u, v = 1 - r3, b = (2 r2 - v) / v, c = 2 r3 - 1
 * (Koornwinder 1975, Dubiner 1991; Hesthaven & Warburton 2008, section 10.1, on the bi-unit one).
 * The factor is 2 sqrt(2) times 2^i and 2^(i+j) from (1 - b)^i and (1 - c)^(i+j), times sqrt(8)
 * from the volumes. Order: i slowest, k fastest. */
void modes_tet(int degree, const double point[3], struct jet *modes)
{
    wide r1 = point[0], r2 = point[1], r3 = point[2];
    struct jet u = {1 - r2 - r3, {0, -1, -1}}, a = {2 * r1 - u.value, {2, 1, 1}};
    struct jet v = {1 - r3, {0, 0, -1}}, b = {2 * r2 - v.value, {0, 2, 1}};
    struct jet one = {1, {0}}, c = {2 * r3 - 1, {0, 0, 2}};
    struct jet p[3][MAX_DEGREE + 1];
    pthread_once(&steps_once, make_steps);
    jacobi_jets(degree, steps[0], a, u, p[0]);
    for (int i = 0; i <= degree; i++) {
        jacobi_jets(degree - i, steps[2 * i + 1], b, v, p[1]);
        for (int j = 0; i + j <= degree; j++) {
            jacobi_jets(degree - i - j, steps[2 * i + 2 * j + 2], c, one, p[2]);
            struct jet left = jet_multiply(p[0][i], p[1][j]);
            left = jet_combine(ldexpl(8, 2 * i + j), left, 0, left);
            for (int k = 0; i + j + k <= degree; k++)
                *modes++ = jet_multiply(left, p[2][k]);
        }
    }
}

/* psi_ij = 2 sqrt(2) 2^i u^i P_i^(0,0)(a) P_j^(2i+1,0)(b) with u = 1 - s2, a = (2 s1 - u) / u and
 * b = 2 s2 - 1. */
void modes_triangle(int degree, const double point[2], wide *values)
{
    wide s1 = point[0], s2 = point[1];
    struct jet u = {1 - s2, {0}}, a = {2 * s1 - u.value, {0}};
    struct jet one = {1, {0}}, b = {2 * s2 - 1, {0}};
    struct jet p[2][MAX_DEGREE + 1];
    pthread_once(&steps_once, make_steps);
    jacobi_jets(degree, steps[0], a, u, p[0]);
    for (int i = 0; i <= degree; i++) {
        jacobi_jets(degree - i, steps[2 * i + 1], b, one, p[1]);
        for (int j = 0; i + j <= degree; j++)
            *values++ = sqrtl(8) * ldexpl(1, i) * p[0][i].value * p[1][j].value;
    }
}
