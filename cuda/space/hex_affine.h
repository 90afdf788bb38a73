/* hex_affine.h: what is special about parallelepipeds, as tet_affine.h has it, which explains the names and the
 * physics' GRAD_DIV. Faces in the order -r1 +r1 -r2 +r2 -r3 +r3: the outward normal of the two of axis j is
 * m = -G[j] and G[j], and D_j alone gains from them. */

#define NUM_FACE              6
#define NUM_NODE(degree)      (((degree) + 1) * ((degree) + 1) * ((degree) + 1))
#define NUM_FACE_NODE(degree) (((degree) + 1) * ((degree) + 1))
/* Eight turns: a square on another one. */
#define NUM_SIDE                48
#define NEIGHBOR_ELEM(neighbor) ((neighbor) / NUM_SIDE)
#define NEIGHBOR_SIDE(neighbor) ((neighbor) % NUM_SIDE)
#define FACE_ELEM(face)         ((face) / NUM_FACE)
#define FACE_LOCAL(face)        ((face) % NUM_FACE)
#define NEIGHBORS               int6
#define EACH_NEIGHBOR(of)       of(0, a.x) of(1, a.y) of(2, b.x) of(3, b.y) of(4, c.x) of(5, c.y)

#include "space/affine.h"

#if GRAD_DIV
DEVICE void FN(frame)(const VAL *g, int face, VAL *m)
{
    for (int i = 0; i < 3; i++)
        m[i] = face % 2 ? g[face / 2 * 3 + i] : -g[face / 2 * 3 + i];
}

DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *t)
{
    const VAL *b = u + GRAD_DIV * (1 + face / 2);
    for (int i = 0; i < GRAD_DIV; i++) {
        t[i] = u[i];
        t[GRAD_DIV + i] = face % 2 ? b[i] : -b[i];
    }
}

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
/* The number of tangent t_1 (second 0) or t_2 of a face: e_1 x e_2 = det G[3] and cyclically, in the other order
 * where m = -G[j]. */
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
