/* hex_gll.h: what is special about hexahedra whose nodes are products of Gauss-Lobatto points, warped or not; what
 * tet_affine.h is to tetrahedra, which explains the words and the physics' GRAD_DIV. Included after a physics, as
 * often as that. ROOT(x) is the includer's: of a VAL. Not here: loops over nodes (cuda/dg, csrc/dg).
 *
 * Coordinates 0 <= r_1..r_3 <= 1. A node has a metric of NUM_METRIC numbers: G[j] = J grad r_j, rows j, or of curls
 * the edges e_j = dx/dr_j; then 1/J, J = e_1.(e_2 x e_3) > 0. The products
 *   div b = 1/J sum_j D_j (G[j].b),    grad a = 1/J sum_j G[j] D_j a,    curl v = 1/J sum_i e_i (D_j v_k - D_k v_j)
 * sum by parts exactly, whatever the map, since the quadrature's points are the nodes (Kopriva 2006; Chan & Wilcox
 * 2019); all in a unit of length near the element's size (csrc/dg/metric.c). `acc` is multiplied by 1/J before
 * `from_reference`; coefficients know the material alone. Cells of eight vertices may keep their map in its place: trilinear.h.
 *
 * Faces in the order -r1 +r1 -r2 +r2 -r3 +r3; m = -G[j] and G[j] at their nodes, as long as the face's area
 * element, equal from both sides. A jump at a face changes its own nodes only: it is divided by the weight of the
 * line's last point. */

#define NUM_FACE              6
#define NUM_NODE(degree)      (((degree) + 1) * ((degree) + 1) * ((degree) + 1))
#define NUM_FACE_NODE(degree) (((degree) + 1) * ((degree) + 1))
/* Node (i_1, i_2, i_3) is number i_1 + n i_2 + n^2 i_3. Eight turns: a square on another one. */
#define NUM_SIDE                48
#define NEIGHBOR_ELEM(neighbor) ((neighbor) / NUM_SIDE)
#define NEIGHBOR_SIDE(neighbor) ((neighbor) % NUM_SIDE)
#define FACE_ELEM(face)         ((face) / NUM_FACE)
#define FACE_LOCAL(face)        ((face) % NUM_FACE)
#define NUM_METRIC              10
#include "space/trilinear.h"

/* What the derivatives along a line of axis j take, u[LINE_REF(j, i)], and what each adds to:
 * acc[LINE_ACC(j, i)] += LINE_SIGN(i) D u[LINE_REF(j, i)], i < NUM_LINE. */
#if GRAD_DIV
#define NUM_LINE          (2 * GRAD_DIV)
#define LINE_REF(axis, i) ((i) < GRAD_DIV ? (i) : GRAD_DIV * (axis) + (i))
#define LINE_ACC(axis, i) ((i) < GRAD_DIV ? GRAD_DIV * (1 + (axis)) + (i) : (i) - GRAD_DIV)
#define LINE_SIGN(i)      1
#else
#define NUM_LINE          4
#define LINE_REF(axis, i) (3 - (i) / 2 * 3 + ((axis) + 1 + (i) % 2) % 3)
#define LINE_ACC(axis, i) ((i) / 2 * 3 + ((axis) + 2 - (i) % 2) % 3)
#define LINE_SIGN(i)      (1 - (i) % 2 * 2)
#endif

#if GRAD_DIV
DEVICE void FN(frame)(const VAL *g, int face, VAL *m)
{
    for (int i = 0; i < 3; i++)
        m[i] = face % 2 ? g[face / 2 * 3 + i] : -g[face / 2 * 3 + i];
}

/* The area element |m| of a frame. */
DEVICE VAL FN(area)(const VAL *m)
{
    return ROOT(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
}

/* Trace (a, m.b) from reference components. */
DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *t)
{
    const VAL *b = u + GRAD_DIV * (1 + face / 2);
    for (int i = 0; i < GRAD_DIV; i++) {
        t[i] = u[i];
        t[GRAD_DIV + i] = face % 2 ? b[i] : -b[i];
    }
}

/* Adds the jump y of a face, divided by the weight, to acc. */
DEVICE void FN(apply_lift)(const VAL *y, int face, const VAL *lift_coef, VAL *acc)
{
    VAL z[NUM_TRACE], *along = acc + GRAD_DIV * (1 + face / 2);
    FN(lifted)(y, lift_coef, z);
    for (int i = 0; i < GRAD_DIV; i++) {
        acc[i] += z[i];
        along[i] += face % 2 ? z[GRAD_DIV + i] : -z[GRAD_DIV + i];
    }
}

#else
/* The number of tangent t_1 (second 0) or t_2 of a face: e_1 x e_2 = G[3] and cyclically, in the other order where
 * m = -G[j]. */
#define TANGENT(face, second) (((face) / 2 + ((second) == (face) % 2 ? 2 : 1)) % 3)

DEVICE void FN(frame)(const VAL *e, int face, VAL *t)
{
    for (int i = 0; i < 3; i++) {
        t[i] = e[3 * TANGENT(face, 0) + i];
        t[3 + i] = e[3 * TANGENT(face, 1) + i];
    }
    t[6] = FN(dot)(t, t);
    t[7] = FN(dot)(t, t + 3);
    t[8] = FN(dot)(t + 3, t + 3);
}

/* |t_1 x t_2|. */
DEVICE VAL FN(area)(const VAL *t)
{
    return ROOT(t[6] * t[8] - t[7] * t[7]);
}

DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *to)
{
    for (int half = 0; half < 2; half++)
        for (int a = 0; a < 2; a++)
            to[2 * half + a] = u[3 * half + TANGENT(face, a)];
}

DEVICE void FN(apply_lift)(const VAL *y, int face, const VAL *lift_coef, VAL *acc)
{
    VAL z[NUM_TRACE];
    FN(lifted)(y, lift_coef, z);
    for (int half = 0; half < 2; half++)
        for (int a = 0; a < 2; a++)
            acc[3 * half + TANGENT(face, a)] += z[2 * half + a];
}
#endif

/* Coefficients of a face's materials become those of a node with this area element. */
DEVICE void FN(join_area)(const VAL *material, VAL area, VAL *face_coef)
{
    const signed char power[NUM_FACE_COEF][2] = FACE_COEF_POWERS;
    VAL inverse = 1 / area;
    for (int i = 0; i < NUM_FACE_COEF; i++) {
        face_coef[i] = material[i];
        for (int k = 0; k < power[i][1]; k++)
            face_coef[i] *= area;
        for (int k = 0; k < -power[i][1]; k++)
            face_coef[i] *= inverse;
    }
}
