/* stretch.h: what a stretched coordinate changes at a node, by any physics. With the equations u_t = sum_i A_i d_i u, A_i d_i
 * takes only the trace w_i = trace(u) across axis i: p v_i, or v s_ix s_iy s_iz, or E_j E_k H_j H_k (i, j, k cyclic).
 * Included after a physics. The method: csrc/dg/layer.c. */

/* The frame for which `trace` gives w_axis. */
DEVICE void FN(axis_frame)(int axis, VAL *frame)
{
    VAL zero = {0};
    for (int i = 0; i < NUM_FRAME; i++)
        frame[i] = zero;
    for (int i = 0; i < 3; i++) {
#if GRAD_DIV
        frame[i] += (REAL)(i == axis);
#else
        frame[i] += (REAL)(i == (axis + 1) % 3);
        frame[3 + i] += (REAL)(i == (axis + 2) % 3);
#endif
    }
}

/* A_axis z: dq/dt from z in place of d_axis w_axis; coef: of the material alone. */
DEVICE void FN(axis_rates)(int axis, const VAL *z, const VAL *coef, VAL *rhs)
{
    VAL zero = {0}, acc[NUM_ACC], one[9];
    for (int i = 0; i < NUM_ACC; i++)
        acc[i] = zero;
    for (int i = 0; i < 9; i++)
        one[i] = i % 4 ? zero : zero + 1;
#if GRAD_DIV
    for (int i = 0; i < GRAD_DIV; i++) {
        acc[i] = z[GRAD_DIV + i];
        for (int k = 0; k < 3; k++)
            acc[GRAD_DIV * (1 + k) + i] = k == axis ? z[i] : zero;
    }
#else
    for (int i = 0; i < 3; i++) {
        bool j = i == (axis + 1) % 3, k = i == (axis + 2) % 3;
        acc[i] = j ? -z[3] : k ? z[2] : zero;     /* curl H */
        acc[3 + i] = j ? -z[1] : k ? z[0] : zero; /* curl E */
    }
#endif
    FN(from_reference)(acc, one, coef, rhs);
}

/* The trace beyond a boundary: that of the mirror image at a wall, m being its normal, of any length; elsewhere the trace
 * itself, since what is given there enters by the stage's upwind flux alone. */
DEVICE void FN(axis_reflect)(int condition, const VAL *w, const VAL *m, VAL *out)
{
    REAL sign[NUM_MIRROR];
    VAL zero = {0}, weight[NUM_MIRROR], face_coef[NUM_FACE_COEF];
    bool wall = condition > BOUNDARY_ABSORBING && condition < BOUNDARY_EXACT;
    FN(mirror)(wall ? condition : BOUNDARY_NONE, sign);
    for (int i = 0; i < NUM_MIRROR; i++)
        weight[i] = zero + sign[i];
    for (int i = 0; i < NUM_FACE_COEF; i++)
        face_coef[i] = zero;
#if GRAD_DIV == 3
    face_coef[6] = 1 / FN(dot)(m, m);
#endif
    FN(reflect)(w, m, face_coef, weight, out);
}
