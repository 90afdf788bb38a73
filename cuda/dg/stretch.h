/* stretch.h: what a stretched coordinate changes at a node, by any physics. With the equations u_t = sum_i A_i d_i u, A_i d_i
 * takes only the trace w_i = trace(u) across axis i: p v_i, or v s_ix s_iy s_iz, or E_j E_k H_j H_k (i, j, k cyclic).
 * Included after a physics, with BOTH_JUMPS 1. The method: csrc/dg/layer.c. */

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

/* ---- the upwind flux of each axis: faces of tetrahedra ----
 * At a face whose unit normal is n, d_i w_i lifts n_i z_i, where z_i is the jump w* - w- with
 *     w* = (1 - |n_i|) mean + |n_i| (that of the Riemann problem of a face across axis i):
 * the mean, and a penalty of n_i^2. */

/* The frame of a face whose normal is sign e_axis, 1 or -1. */
DEVICE void FN(axis_side)(int axis, REAL sign, VAL *frame)
{
    VAL zero = {0};
    for (int i = 0; i < NUM_FRAME; i++)
        frame[i] = zero;
#if GRAD_DIV
    frame[axis] += sign;
#else
    frame[(axis + 1) % 3] += 1;
    frame[3 + (axis + 2) % 3] += sign;
    frame[6] += 1;
    frame[8] += 1;
#endif
}

/* The frame of a face of unit normal, or tangents, `face`. */
DEVICE void FN(face_frame)(const REAL *face, VAL *frame)
{
    VAL zero = {0};
#if GRAD_DIV
    for (int i = 0; i < NUM_FRAME; i++)
        frame[i] = zero + face[FACE_NORMAL + i];
#else
    for (int i = 0; i < 6; i++)
        frame[i] = zero + face[FACE_TANGENT + i];
    frame[6] = frame[8] = zero + 1;
    frame[7] = zero;
#endif
}

/* What the products gain at a face from both traces in its frame: `lifted`. */
DEVICE void FN(face_flux)(const VAL *in, const VAL *out, const VAL *frame, const VAL *face_coef, REAL upwind,
                          VAL *z)
{
    VAL zero = {0}, lift_coef[NUM_LIFT_COEF], s[NUM_JUMP];
    FN(lift_coefficients)(frame, face_coef, lift_coef);
    FN(jump)(in, out, frame, face_coef, zero + upwind, s);
    FN(lifted)(s, lift_coef, z);
}

/* The same of axis i in the frame sign e_i, from traces w_i; n_i = sign size. */
DEVICE void FN(axis_flux)(int axis, REAL sign, REAL size, const VAL *in, const VAL *out, const VAL *face_coef,
                          VAL *z)
{
    VAL frame[NUM_FRAME], from[NUM_TRACE], to[NUM_TRACE];
    for (int i = 0; i < NUM_TRACE; i++) {
#if GRAD_DIV
        REAL turn = i < GRAD_DIV ? 1 : sign;
#else
        REAL turn = i % 2 ? sign : 1;
#endif
        from[i] = turn * in[i];
        to[i] = turn * out[i];
    }
    FN(axis_side)(axis, sign, frame);
    FN(face_flux)(from, to, frame, face_coef, size, z);
}

/* n_i (w* - w-) from what the products gain. */
DEVICE void FN(axis_jump)(REAL sign, REAL size, const VAL *z, VAL *jump)
{
    REAL n = sign * size;
#if GRAD_DIV
    for (int i = 0; i < GRAD_DIV; i++) {
        jump[i] = n * z[GRAD_DIV + i];
        jump[GRAD_DIV + i] = size * z[i];
    }
#else
    jump[0] = n * z[3];
    jump[1] = -size * z[2];
    jump[2] = n * z[1];
    jump[3] = -size * z[0];
#endif
}

/* acc += scale times what the products gain in a frame, as derivatives along x, y, z. */
DEVICE void FN(frame_add)(const VAL *frame, REAL scale, const VAL *z, VAL *acc)
{
#if GRAD_DIV
    for (int i = 0; i < GRAD_DIV; i++) {
        acc[i] += scale * z[i];
        for (int j = 0; j < 3; j++)
            acc[GRAD_DIV * (1 + j) + i] += scale * frame[j] * z[GRAD_DIV + i];
    }
#else
    for (int i = 0; i < 3; i++) {
        acc[i] += scale * (z[0] * frame[i] + z[1] * frame[3 + i]);
        acc[3 + i] += scale * (z[2] * frame[i] + z[3] * frame[3 + i]);
    }
#endif
}

/* What `rates` takes, from derivatives along x, y, z. */
DEVICE void FN(unit_rates)(const VAL *acc, VAL *rates)
{
    const REAL unit[NUM_COEF] = UNIT_COEF;
    VAL zero = {0}, one[9], coef[NUM_COEF];
    for (int i = 0; i < 9; i++)
        one[i] = i % 4 ? zero : zero + 1;
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = zero + unit[i];
    FN(from_reference)(acc, one, coef, rates);
}
