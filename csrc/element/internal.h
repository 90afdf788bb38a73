/* internal.h: shared by the files of this folder: extended precision, jets, dense matrices.
 * Other folders use float64 only (element.h).
 * Next: jacobi.c, modes.c, dense.c. */
#ifndef UNDA_ELEMENT_INTERNAL_H
#define UNDA_ELEMENT_INTERNAL_H

#include "element.h"

/* Matrices are computed in extended precision and rounded once, so that the float64 results carry
 * no trace of the condition number of the Vandermonde matrix (about 1e2 at degree 9). */
typedef long double wide;

/* A number and its gradient in the reference coordinates r1, r2, r3. */
struct jet {
    wide value, gradient[3];
};

struct jet jet_combine(wide a, struct jet p, wide b, struct jet q); /* a p + b q */
struct jet jet_multiply(struct jet p, struct jet q);

/* One step of the recurrence of the orthonormal Jacobi polynomials,
 * P_n = (x_n x + t_n) P_{n-1} + back_n P_{n-2} for n > 0, P_0 = constant. */
struct jacobi_step {
    wide constant, x, t, back;
};
struct jacobi_step jacobi_step(int n, wide alpha, wide beta);
/* p[n] = t^n P_n(x / t) for n = 0 .. max_n, given steps [max_n + 1]; t may be 0. */
void jacobi_jets(int max_n, const struct jacobi_step *steps, struct jet x, struct jet t, struct jet *p);
/* Orthonormal modes at one point of the unit tetrahedron and of the unit triangle. */
void modes_tet(int degree, const double point[3], struct jet *modes);
void modes_triangle(int degree, const double point[2], wide *values);

/* inverse = matrix^-1, both [n][n]; matrix is destroyed. */
unda_status dense_invert(int n, wide *matrix, wide *inverse);
/* product [rows][cols] = left [rows][inner] times the transpose of right [cols][inner]. */
void dense_multiply(int rows, int cols, int inner, const wide *left, const wide *right, wide *product);
void dense_transpose(int n, const wide *from, wide *to);
void dense_round(int64_t count, const wide *from, double *to);

/* Tetrahedra and triangles. */
enum { MAX_TET_DEGREE = 9, MAX_TET_NODE = 220, MAX_TRIANGLE_NODE = 55 };
int num_tet_node(int degree); /* also the number of modes */
int num_triangle_node(int degree);

/* What the matrices of a shape are made of. */
struct element_shape {
    int num_face, num_turn, max_degree; /* turn: how a neighbour's face can lie on one */
    int (*num_node)(int degree);
    int (*num_face_node)(int degree);
    /* Nodes and matrices, in arrays of the element. */
    unda_status (*build)(struct element *element);
    /* See element_basis. */
    void (*basis)(const struct element *element, const double point[3], double *basis, double *gradient);
    /* Adds the matrices to arrays of zeros; pointers may be NULL. */
    void (*expand)(const struct element *element, const unda_element_arrays *to);
    unda_status (*nodes)(int degree, double *nodes);
    void (*modes)(int degree, const double point[3], struct jet *modes);
    /* Of a face; all faces have the same nodes, of which those of face `base` are at s = (r1, r2). */
    void (*face_modes)(int degree, const double point[2], wide *values);
    int base;
    /* Nodes of a face in the order of a neighbour: side = num_face * turn + face. */
    void (*list_side)(int degree, int side, int32_t *face_node);
    /* Cubature: a map from [-1, 1]^3, its Jacobian the product of (1 - x_i)^collapse[i] over jacobian. */
    void (*from_cube)(const double cube[3], double r[3]);
    int collapse[3], jacobian;
};
extern const struct element_shape element_tet, element_hex;
/* NULL for an unknown shape. */
const struct element_shape *element_shape(int shape);
/* operators.c, element.c: those of a shape with modes. */
unda_status element_build_dense(struct element *element);
void element_dense_basis(const struct element *element, const double point[3], double *basis,
                         double *gradient);
void element_expand_dense(const struct element *element, const unda_element_arrays *to);
/* Fills face_node and lift, given [node][node] the inverse mass matrix. */
unda_status element_build_faces(struct element *element, const wide *inv_mass);

#endif
