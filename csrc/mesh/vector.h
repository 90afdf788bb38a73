/* vector.h: products of three-component vectors.
 * Not for fields: solvers have their own loops. Next: geometry.c. */
#ifndef UNDA_VECTOR_H
#define UNDA_VECTOR_H

#include <math.h>

static inline void subtract(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++)
        c[i] = a[i] - b[i];
}

static inline void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double norm(const double *a)
{
    return sqrt(dot(a, a));
}

#endif
