/* maxwell.h: electromagnetic waves,
 *   eps dE/dt = curl H - sigma E,
 *   mu dH/dt = -curl E.
 * What the includer defines, and what VAL is: acoustic.h. Not here: loops over nodes. The method: docs/dg.md.
 *
 * The products take covariant components u = (E.e_k, H.e_k), e_k = dx/dr_k, and give acc = (det curl H,
 * det curl E) by e_i, det = e_1.(e_2 x e_3): see cuda/space. At a face stand two tangents with
 * t_1 x t_2 = det m, m along the outward normal; traces are E.t_a and H.t_a.
 *
 * Flux, exact solution of the Riemann problem, d = (+) - (-), Z = sqrt(mu/eps) (Mohammadian et al. 1991;
 * Hesthaven & Warburton 2008, section 10.5):
 *   w = n x (H* - H-) = (Z+ n x dH + dE_t) / (Z- + Z+),
 *   n x (E* - E-) = Z- n x w.
 * w is a tangential vector, w = w^1 t_1 + w^2 t_2. From the covariant components A_a = A.t_a, with
 * g_ab = t_a.t_b and n = t_1 x t_2 / (det |m|),
 *   (n x A)^1 = -A_2 / (det |m|),    (n x A)^2 = A_1 / (det |m|),    A^a = (g^-1)_ab A_b,
 * so det |m| w^a are two scalars and are lifted; g_ab enters where dE and n x w need it. */
#include "physics/sum.h"
#include "physics/undefine.h"

#define GRAD_DIV      0 /* curls of two vectors, see cuda/space */
#define FLUIDS        0
#define NUM_FIELD     6 /* ex ey ez hx hy hz */
#define NUM_MATERIAL  3 /* eps [F/m], mu [H/m], sigma [S/m] */
#define NUM_WAVE      1
#define NUM_COEF      3 /* 1 / (eps det), 1 / (mu det), sigma / eps */
#define UNIT_COEF     {1, 1, 0}
#define NUM_LOCAL     1 /* sigma / eps */
#define NUM_FACE_COEF 3 /* Z+ / (Z- + Z+), 1 / (det |m| (Z- + Z+)), Z- / (det |m|) */
#define NUM_REF       6 /* E.e_k, H.e_k */
#define NUM_ACC       6 /* det curl H and det curl E by e_i */
#define NUM_FRAME     9 /* t_1, t_2, g_11, g_12, g_22 */
#define NUM_TRACE     4 /* E.t_1, E.t_2, H.t_1, H.t_2 */
#define NUM_MIRROR    2 /* factors of E and H */
#define NUM_LIFT_COEF 3 /* Z- g_ab / (det |m|) */
/* det |m| w^a; of BOTH_JUMPS also det |m| (n x (E* - E-))^a. */
#define NUM_JUMP (2 * (1 + BOTH_JUMPS))

/* See acoustic.h; at faces the powers are of det |m|. */
#define COEF_POWERS      {{-1, -1}, {-1, -1}, {1, 0}}
#define FACE_COEF_POWERS {{1, 0}, {-1, -1}, {1, -1}}

DEVICE void FN(coefficients)(const double *material, double *coef)
{
    coef[0] = material[0];
    coef[1] = material[1];
    coef[2] = material[2] / material[0];
}

/* Speed [m/s] and impedance [Ohm]. */
DEVICE void FN(waves)(const double *material, double *speed, double *impedance)
{
    speed[0] = 1 / sqrt(material[0] * material[1]);
    impedance[0] = sqrt(material[1] / material[0]);
}

/* Fields decay like exp(-rate t) where nothing else happens [1/s]. */
DEVICE double FN(local_rate)(const double *material)
{
    return material[2] / material[0];
}

DEVICE void FN(face_coefficients)(const double *inside, const double *outside, double *face_coef)
{
    double z_in = sqrt(inside[1] / inside[0]), z_out = sqrt(outside[1] / outside[0]);
    face_coef[0] = z_out / (z_in + z_out);
    face_coef[1] = z_in + z_out;
    face_coef[2] = z_in;
}

/* Energy density of a state [J/m3]: eps E^2 / 2 + mu H^2 / 2. */
DEVICE double FN(energy)(const double *q, const double *material)
{
    return material[0] / 2 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) +
           material[1] / 2 * (q[3] * q[3] + q[4] * q[4] + q[5] * q[5]);
}

DEVICE VAL FN(dot)(const VAL *a, const VAL *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

/* u = (E.e_k, H.e_k); e: rows e_k. u may be q. */
DEVICE void FN(to_reference)(const VAL *q, const VAL *e, VAL *u)
{
    for (int k = 0; k < 3; k++) {
        u[k] = FN(dot)(q, e + 3 * k);
        u[3 + k] = FN(dot)(q + 3, e + 3 * k);
    }
}

/* Trace (E.t_a, H.t_a) of a state in physical components. */
DEVICE void FN(trace)(const VAL *q, const VAL *t, VAL *to)
{
    for (int a = 0; a < 2; a++) {
        to[a] = FN(dot)(q, t + 3 * a);
        to[2 + a] = FN(dot)(q + 3, t + 3 * a);
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

/* s from both traces; upwind 1, or 0 for the central flux. */
DEVICE void FN(jump)(const VAL *in, const VAL *out, const VAL *t, const VAL *face_coef, VAL upwind, VAL *s)
{
    VAL de1 = out[0] - in[0], de2 = out[1] - in[1], dh1 = out[2] - in[2], dh2 = out[3] - in[3];
    VAL w1 = MINUS2(face_coef[1], MINUS2(t[8], de1, t[7], de2), face_coef[0], dh2);
    VAL w2 = SUM2(face_coef[1], MINUS2(t[6], de2, t[7], de1), face_coef[0], dh1);
#if BOTH_JUMPS
    VAL half = (REAL)0.5 - (REAL)0.5 * upwind, z = upwind * face_coef[2];
    s[0] = MINUS2(upwind, w1, half, dh2);
    s[1] = SUM2(upwind, w2, half, dh1);
    s[2] = MINUS2(-z, SUM2(t[7], w1, t[8], w2), half, de2);
    s[3] = SUM2(z, SUM2(t[6], w1, t[7], w2), half, de1);
#else
    (void)upwind;
    s[0] = w1;
    s[1] = w2;
#endif
}

/* What `lifted` needs of a face. */
DEVICE void FN(lift_coefficients)(const VAL *t, const VAL *face_coef, VAL *lift_coef)
{
    for (int i = 0; i < 3; i++)
        lift_coef[i] = face_coef[2] * t[6 + i];
}

/* What both curls gain along t_1 and t_2, from what was lifted. */
DEVICE void FN(lifted)(const VAL *y, const VAL *lift_coef, VAL *z)
{
    z[0] = y[0];
    z[1] = y[1];
#if BOTH_JUMPS
    (void)lift_coef;
    z[2] = y[2];
    z[3] = y[3];
#else
    z[2] = -SUM2(lift_coef[1], y[0], lift_coef[2], y[1]);
    z[3] = SUM2(lift_coef[0], y[0], lift_coef[1], y[1]);
#endif
}

/* dq/dt from what `from_reference` gives of UNIT_COEF, (det curl H, -det curl E). */
DEVICE void FN(rates)(const VAL *w, const VAL *coef, VAL *rhs)
{
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * w[i];
        rhs[3 + i] = coef[1] * w[3 + i];
    }
}

/* dE/dt = sum_i e_i acc_i / (eps det),
 * dH/dt = -sum_i e_i acc_(3+i) / (mu det). Conduction: local. */
DEVICE void FN(from_reference)(const VAL *acc, const VAL *e, const VAL *coef, VAL *rhs)
{
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * SUM3(e[i], acc[0], e[3 + i], acc[1], e[6 + i], acc[2]);
        rhs[3 + i] = -coef[1] * SUM3(e[i], acc[3], e[3 + i], acc[4], e[6 + i], acc[5]);
    }
}

/* Conduction, the local law: dE/dt gains -(sigma / eps) E. */
DEVICE void FN(local)(const VAL *q, const VAL *law, VAL *rhs)
{
    for (int i = 0; i < 3; i++)
        rhs[i] = MINUS(rhs[i], law[0], q[i]);
}
