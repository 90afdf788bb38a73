/* element.h: matrices of the reference elements, in float64.
 * Not here: geometry of real elements (space/).
 * Next: jacobi.c, gauss.c, modes.c (polynomials), tet.c (a shape), operators.c, lift.c, cubature.c,
 * element.c. */
#ifndef UNDA_ELEMENT_H
#define UNDA_ELEMENT_H

#include "../base/base.h"

/* Of any shape; tetrahedra go to degree 9. */
enum { MAX_DEGREE = 10, MAX_NODE = 1331, MAX_FACE_NODE = 121 };

/* P_n^(alpha,beta) orthonormal on [-1, 1], at x, and its derivative. */
double jacobi(int n, double alpha, double beta, double x);
double jacobi_derivative(int n, double alpha, double beta, double x);
/* Gauss-Jacobi (interior) and Gauss-Lobatto-Legendre points and weights on [-1, 1]. */
unda_status gauss_jacobi(int num_point, double alpha, double beta, double *points, double *weights);
unda_status gauss_lobatto(int num_point, double *points, double *weights);

/* Warp & blend nodes of the unit tetrahedron [node][3]; node order: see operators.c. */
unda_status nodes_tet(int degree, double *nodes);

/* One reference element, all matrices (row-major, float64): of a tetrahedron dense ones, of a hexahedron those of a
 * line of n = degree + 1 points; the others are NULL. */
struct element {
    int shape, degree, num_node, num_face, num_side, num_face_node;
    double *nodes;           /* [node][3] */
    double *line_derivative; /* [n][n] */
    double *line_point;      /* [n], in [0, 1] */
    double *line_weight;     /* [n], of the quadrature; their sum is 1 */
    double *derivative;      /* [3][node][node] */
    double *lift;            /* [face][node][face node] */
    double *mass, *inv_mass; /* [node][node] */
    double *inv_vandermonde; /* [mode][node] */
    int32_t *face_node;      /* [side][face node]; the first num_face are the faces */
    void *owned;             /* these arrays */
};
unda_status element_new(struct element **element, int shape, int degree);
void element_free(struct element *element);
/* Refuses shapes and degrees without an element. */
unda_status element_check(int shape, int degree);
/* In how many ways a neighbour's face can lie on one. */
int element_num_turn(int shape);
/* basis[node] at one reference point and, unless NULL, its gradient [3][node] in reference coordinates. */
void element_basis(const struct element *element, const double point[3], double *basis, double *gradient);

#endif
