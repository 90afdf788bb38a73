/* tet_affine.h: what is special about affine tetrahedra: derivatives in reference coordinates, faces, and
 * where lifted jumps go. Included after a physics (cuda/physics), whose FN, VAL, REAL and DEVICE it uses, as
 * often as that. Not here: equations and fluxes (cuda/physics), loops over nodes (cuda/dg, csrc/dg).
 *
 * Coordinates r_1..r_3 have constant gradients G[j] = grad r_j [1/m] and edges e_j = dx/dr_j, with
 * det = e_1.(e_2 x e_3) of either sign. Face f lies opposite vertex f; its outward normal, as long as
 * |grad lambda_f|, is m_f = -G[f] for f = 1, 2, 3 and G[1] + G[2] + G[3] for f = 0.
 *
 * GRAD_DIV of the physics is the number n of its pairs of a number a and a vector b, of which it takes
 *   grad a = sum_j G[j] D_j a,    div b = sum_j D_j b_j,    b_j = G[j].b.
 * The products take u = (a, b_1, b_2, b_3), n numbers each, and give acc = (div b, D_1 a, D_2 a, D_3 a): 6 n
 * products instead of 12 n. m_f.b is -b_f or b_1 + b_2 + b_3. The metric is G, the frame of a face m_f.
 *
 * GRAD_DIV 0: the physics takes the curls of two vectors v, w by their covariant components v_k = v.e_k:
 *   det curl v = sum_i e_i (D_j v_k - D_k v_j),    (i, j, k) cyclic.
 * The products take u = (v_k, w_k) and give acc = (det curl w, det curl v) by e_i: 12 products instead of 18.
 * The metric is e_1..e_3. The frame of face f is two of its edges with t_1 x t_2 = det m_f, then t_1.t_1,
 * t_1.t_2, t_2.t_2. */

#define NUM_FACE 4
/* Nodes of an element, of a face. */
#define NUM_NODE(degree)      (((degree) + 1) * ((degree) + 2) * ((degree) + 3) / 6)
#define NUM_FACE_NODE(degree) (((degree) + 1) * ((degree) + 2) / 2)
/* Of neighbours between elements. */
#define NEIGHBOR_ELEM(neighbor) ((neighbor) >> 2)
#define NEIGHBOR_FACE(neighbor) ((neighbor) & 3)

#if GRAD_DIV
/* One column of the volume products in two parts that share neither sums nor fields: an engine with few
 * registers takes them one after the other. */
DEVICE void FN(volume_div)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < GRAD_DIV; i++)
            acc[i] += d[j] * u[GRAD_DIV * (1 + j) + i];
}

DEVICE void FN(volume_grad)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < GRAD_DIV; i++)
            acc[GRAD_DIV * (1 + j) + i] += d[j] * u[i];
}

DEVICE void FN(volume)(const REAL *d, const VAL *u, VAL *acc)
{
    FN(volume_div)(d, u, acc);
    FN(volume_grad)(d, u, acc);
}

/* m_f of a face, from the element's gradients. */
DEVICE void FN(frame)(const VAL *g, int face, VAL *m)
{
    for (int i = 0; i < 3; i++)
        m[i] = face == 0 ? g[i] + g[3 + i] + g[6 + i] : -g[3 * (face - 1) + i];
}

/* Trace (a, m.b) from reference components. */
DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *t)
{
    enum { N = GRAD_DIV };
    for (int i = 0; i < N; i++) {
        t[i] = u[i];
        t[N + i] = face == 0 ? u[N + i] + u[2 * N + i] + u[3 * N + i] : -u[N * face + i];
    }
}

/* grad a gains z m_f, that is D_j a gains z at face 0 and -z at face j. */
DEVICE void FN(add_along)(const VAL *z, int face, VAL *acc)
{
    for (int i = 0; i < GRAD_DIV; i++)
        acc[i] += face == 0 ? z[i] : -z[i];
}

/* Adds the lifted jump y of one face to acc. */
DEVICE void FN(apply_lift)(const VAL *y, int face, const VAL *lift_coef, VAL *acc)
{
    VAL z[NUM_TRACE];
    FN(lifted)(y, lift_coef, z);
    for (int i = 0; i < GRAD_DIV; i++)
        acc[i] += z[i];
    if (face == 0 || face == 1)
        FN(add_along)(z + GRAD_DIV, face, acc + GRAD_DIV);
    if (face == 0 || face == 2)
        FN(add_along)(z + GRAD_DIV, face, acc + 2 * GRAD_DIV);
    if (face == 0 || face == 3)
        FN(add_along)(z + GRAD_DIV, face, acc + 3 * GRAD_DIV);
}

#else
/* One column of the volume products. */
DEVICE void FN(volume)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int half = 0; half < 2; half++) {
        const VAL *v = u + 3 - 3 * half;
        VAL *sum = acc + 3 * half;
        sum[0] += d[1] * v[2];
        sum[1] += d[2] * v[0];
        sum[2] += d[0] * v[1];
        sum[0] -= d[2] * v[1];
        sum[1] -= d[0] * v[2];
        sum[2] -= d[1] * v[0];
    }
}

/* t_1, t_2 of a face, from the element's edges, and their products. */
DEVICE void FN(frame)(const VAL *e, int face, VAL *t)
{
    for (int i = 0; i < 3; i++) {
        t[i] = face == 0 ? e[3 + i] - e[i] : face == 1 ? e[6 + i] : face == 2 ? e[i] : e[3 + i];
        t[3 + i] = face == 0 ? e[6 + i] - e[i] : face == 1 ? e[3 + i] : face == 2 ? e[6 + i] : e[i];
    }
    t[6] = FN(dot)(t, t);
    t[7] = FN(dot)(t, t + 3);
    t[8] = FN(dot)(t + 3, t + 3);
}

/* Trace (v.t_a, w.t_a) from reference components. */
DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *to)
{
    for (int half = 0; half < 2; half++) {
        const VAL *v = u + 3 * half;
        to[2 * half] = face == 0 ? v[1] - v[0] : face == 1 ? v[2] : face == 2 ? v[0] : v[1];
        to[2 * half + 1] = face == 0 ? v[2] - v[0] : face == 1 ? v[1] : face == 2 ? v[2] : v[0];
    }
}

/* acc += z_1 t_1 + z_2 t_2 by e_i. */
DEVICE void FN(add_tangent)(VAL z1, VAL z2, int face, VAL *acc)
{
    if (face == 0) {
        acc[0] -= z1 + z2;
        acc[1] += z1;
        acc[2] += z2;
    } else if (face == 1) {
        acc[2] += z1;
        acc[1] += z2;
    } else if (face == 2) {
        acc[0] += z1;
        acc[2] += z2;
    } else {
        acc[1] += z1;
        acc[0] += z2;
    }
}

/* Adds the lifted jump y of one face to acc. */
DEVICE void FN(apply_lift)(const VAL *y, int face, const VAL *lift_coef, VAL *acc)
{
    VAL z[NUM_TRACE];
    FN(lifted)(y, lift_coef, z);
    FN(add_tangent)(z[0], z[1], face, acc);
    FN(add_tangent)(z[2], z[3], face, acc + 3);
}
#endif
