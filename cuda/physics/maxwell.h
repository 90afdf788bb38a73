/* maxwell.h: electromagnetic waves,
 *   eps dE/dt = curl H - sigma E,
 *   mu dH/dt = -curl E.
 * What the includer defines, and what VAL is: acoustic.h. Not here: loops over nodes. The method: docs/dg.md.
 *
 * Frame. An affine element has edges e_j = dx/dr_j and det = e_1.(e_2 x e_3), of either sign. Fields enter
 * the products by their covariant components, u = (E.e_k, H.e_k), because then, (i, j, k) cyclic,
 *   curl H = sum_i e_i (D_j h_k - D_k h_j) / det:
 * 12 products instead of 18. Face f has two edges t_1, t_2 for tangents, ordered so that
 *   t_1 x t_2 = det m_f,    m_f = n_f |grad lambda_f|.
 *
 * Flux, exact solution of the Riemann problem, d = (+) - (-), Z = sqrt(mu/eps) (Mohammadian et al. 1991;
 * Hesthaven & Warburton 2008, section 10.5):
 *   w = n x (H* - H-) = (Z+ n x dH + dE_t) / (Z- + Z+),
 *   n x (E* - E-) = Z- n x w.
 * w is a tangential vector, w = w^1 t_1 + w^2 t_2. From the covariant components A_a = A.t_a, with
 * g_ab = t_a.t_b and n = t_1 x t_2 / (det |m|),
 *   (n x A)^1 = -A_2 / (det |m|),    (n x A)^2 = A_1 / (det |m|),    A^a = (g^-1)_ab A_b,
 * so det |m| w^a are two scalars and are lifted; g_ab enters where dE and n x w need it. */
#undef NUM_FIELD
#undef NUM_MATERIAL
#undef NUM_WAVE
#undef NUM_COEF
#undef NUM_DECAY
#undef NUM_FACE_COEF
#undef NUM_REF
#undef NUM_ACC
#undef NUM_FRAME
#undef NUM_TRACE
#undef NUM_MIRROR
#undef NUM_JUMP
#undef NUM_KEPT
#define NUM_FIELD     6 /* ex ey ez hx hy hz */
#define NUM_MATERIAL  3 /* eps [F/m], mu [H/m], sigma [S/m] */
#define NUM_WAVE      1
#define NUM_COEF      3 /* 1 / (eps det), 1 / (mu det), sigma / eps */
#define NUM_DECAY     3 /* E */
#define NUM_FACE_COEF 3 /* Z+ / (Z- + Z+), 1 / (det |m| (Z- + Z+)), Z- / (det |m|) */
#define NUM_REF       6 /* E.e_k, H.e_k */
#define NUM_ACC       6 /* det curl H and det curl E by e_i */
#define NUM_FRAME     9 /* t_1, t_2, g_11, g_12, g_22 */
#define NUM_TRACE     4 /* E.t_1, E.t_2, H.t_1, H.t_2 */
#define NUM_MIRROR    2 /* factors of E and H */
#define NUM_KEPT      3 /* Z- g_ab / (det |m|) */
#if FLUX_CENTRAL
#define NUM_JUMP 4 /* det |m| w^a, det |m| (n x (E* - E-))^a */
#else
#define NUM_JUMP 2 /* det |m| w^a */
#endif

/* e_j, rows. */
DEVICE void FN(geometry)(const double *edge, const double *gradient, double *metric)
{
    (void)gradient;
    for (int i = 0; i < 9; i++)
        metric[i] = edge[i];
}

DEVICE void FN(coefficients)(const double *material, double det, double *coef)
{
    coef[0] = 1 / (material[0] * det);
    coef[1] = 1 / (material[1] * det);
    coef[2] = material[2] / material[0];
}

/* Speed [m/s] and impedance [Ohm]. */
DEVICE void FN(waves)(const double *material, double *speed, double *impedance)
{
    speed[0] = 1 / sqrt(material[0] * material[1]);
    impedance[0] = sqrt(material[1] / material[0]);
}

DEVICE void FN(face_coefficients)(const double *inside, const double *outside, double scale, double det,
                                  double *face_coef)
{
    double z_in = sqrt(inside[1] / inside[0]), z_out = sqrt(outside[1] / outside[0]);
    face_coef[0] = z_out / (z_in + z_out);
    face_coef[1] = 1 / (det * scale * (z_in + z_out));
    face_coef[2] = z_in / (det * scale);
}

/* Energy density of a state [J/m3]: eps E^2 / 2 + mu H^2 / 2. */
DEVICE double FN(energy)(const double *q, const double *material)
{
    return material[0] / 2 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) +
           material[1] / 2 * (q[3] * q[3] + q[4] * q[4] + q[5] * q[5]);
}

DEVICE VAL FN(dot)(const VAL *a, const VAL *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* u = (E.e_k, H.e_k); e: rows e_k. u may be q. */
DEVICE void FN(to_reference)(const VAL *q, const VAL *e, VAL *u)
{
    for (int k = 0; k < 3; k++) {
        u[k] = FN(dot)(q, e + 3 * k);
        u[3 + k] = FN(dot)(q + 3, e + 3 * k);
    }
}

/* One column of the volume products. 12 FMA. */
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

/* t_1, t_2 of a face, from the element's edges, and g_ab = t_a.t_b. */
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

/* Trace (E.t_a, H.t_a) of a state in physical components. */
DEVICE void FN(trace)(const VAL *q, const VAL *t, VAL *to)
{
    for (int a = 0; a < 2; a++) {
        to[a] = FN(dot)(q, t + 3 * a);
        to[2 + a] = FN(dot)(q + 3, t + 3 * a);
    }
}

/* The same from reference components. */
DEVICE void FN(trace_reference)(const VAL *u, int face, VAL *to)
{
    for (int half = 0; half < 2; half++) {
        const VAL *v = u + 3 * half;
        to[2 * half] = face == 0 ? v[1] - v[0] : face == 1 ? v[2] : face == 2 ? v[0] : v[1];
        to[2 * half + 1] = face == 0 ? v[2] - v[0] : face == 1 ? v[1] : face == 2 ? v[2] : v[0];
    }
}

/* The ordinary flux imposes a boundary condition if the outer trace is `reflect` of the inner one. Between
 * elements that changes nothing; an absorbing face sees zero (Silver-Mueller). */
DEVICE void FN(mirror)(int condition, REAL *sign)
{
    sign[0] = condition == BOUNDARY_PMC ? 1 : condition == BOUNDARY_PEC ? -1 : 0;
    sign[1] = -sign[0];
    if (condition == BOUNDARY_NONE)
        sign[0] = sign[1] = 1;
}

DEVICE void FN(reflect)(const VAL *in, const VAL *t, const VAL *face_coef, const VAL *sign, VAL *out)
{
    (void)t, (void)face_coef;
    for (int a = 0; a < 2; a++) {
        out[a] = sign[0] * in[a];
        out[2 + a] = sign[1] * in[2 + a];
    }
}

/* s from both traces. Absorbing faces (1, else 0) always take the upwind state. */
DEVICE void FN(jump)(const VAL *in, const VAL *out, const VAL *t, const VAL *face_coef, VAL absorbing, VAL *s)
{
    VAL de1 = out[0] - in[0], de2 = out[1] - in[1], dh1 = out[2] - in[2], dh2 = out[3] - in[3];
    VAL w1 = face_coef[1] * (t[8] * de1 - t[7] * de2) - face_coef[0] * dh2;
    VAL w2 = face_coef[1] * (t[6] * de2 - t[7] * de1) + face_coef[0] * dh1;
#if FLUX_CENTRAL
    VAL half = (REAL)0.5 - (REAL)0.5 * absorbing, z = absorbing * face_coef[2];
    s[0] = absorbing * w1 - half * dh2;
    s[1] = absorbing * w2 + half * dh1;
    s[2] = -z * (t[7] * w1 + t[8] * w2) - half * de2;
    s[3] = z * (t[6] * w1 + t[7] * w2) + half * de1;
#else
    (void)absorbing;
    s[0] = w1;
    s[1] = w2;
#endif
}

/* What `spread` needs of a face. */
DEVICE void FN(keep)(const VAL *t, const VAL *face_coef, VAL *kept)
{
    for (int i = 0; i < 3; i++)
        kept[i] = face_coef[2] * t[6 + i];
}

/* acc += y_1 t_1 + y_2 t_2 by e_i. */
DEVICE void FN(add_tangent)(VAL y1, VAL y2, int face, VAL *acc)
{
    if (face == 0) {
        acc[0] -= y1 + y2;
        acc[1] += y1;
        acc[2] += y2;
    } else if (face == 1) {
        acc[2] += y1;
        acc[1] += y2;
    } else if (face == 2) {
        acc[0] += y1;
        acc[2] += y2;
    } else {
        acc[1] += y1;
        acc[0] += y2;
    }
}

/* Adds the lifted jump y of one face to acc. */
DEVICE void FN(spread)(const VAL *y, int face, const VAL *kept, VAL *acc)
{
    FN(add_tangent)(y[0], y[1], face, acc);
#if FLUX_CENTRAL
    (void)kept;
    FN(add_tangent)(y[2], y[3], face, acc + 3);
#else
    VAL z1 = -(kept[1] * y[0] + kept[2] * y[1]), z2 = kept[0] * y[0] + kept[1] * y[1];
    FN(add_tangent)(z1, z2, face, acc + 3);
#endif
}

/* dE/dt = sum_i e_i acc_i / (eps det),
 * dH/dt = -sum_i e_i acc_(3+i) / (mu det); conduction: NUM_DECAY. */
DEVICE void FN(from_reference)(const VAL *acc, const VAL *e, const VAL *coef, VAL *rhs)
{
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * (e[i] * acc[0] + e[3 + i] * acc[1] + e[6 + i] * acc[2]);
        rhs[3 + i] = -coef[1] * (e[i] * acc[3] + e[3 + i] * acc[4] + e[6 + i] * acc[5]);
    }
}
