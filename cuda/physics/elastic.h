/* elastic.h: isotropic elastic waves in velocity-stress form,
 *   rho dv/dt = div sigma,
 *   d sigma/dt = lambda (div v) I + mu (grad v + grad v^T).
 * mu = 0 is a fluid: no special case but that of the central flux below, and on warped cells the products at the end. What the includer defines, and what
 * VAL is: acoustic.h. Not here: loops over nodes. The method: docs/dg.md.
 *
 * G[j] and m as in acoustic.h. The products take u = (v, s_1, s_2, s_3), s_j = sigma G[j], and give
 * acc = (sum_j D_j s_j, D_1 v, D_2 v, D_3 v), so that grad v = sum_j (D_j v) G[j]^T. Traces are v and sigma m.
 *
 * Flux, exact solution of the Riemann problem, d = (+) - (-), w = v* - v- (Wilcox et al. 2010):
 *   normal      w_n = (dT_n + Zp+ dv_n) / (Zp- + Zp+),    T_n* - T_n- = Zp- w_n,
 *   tangential  w_t = (dT_t + Zs+ dv_t) / (Zs- + Zs+),    T_t* - T_t- = Zs- w_t,    0 where Zs- + Zs+ = 0.
 * So w alone is lifted. Central: the mean of both states; where one side is a fluid v_t* = v_t-, T_t* = 0. */
#include "physics/sum.h"
#include "physics/undefine.h"

#define GRAD_DIV      3 /* v_i and row i of sigma */
#define FLUIDS        1 /* with products of their own where G varies: */
#define FLUID_COEF    2 /* where this coefficient is 0 */
#define NUM_FIELD     9 /* vx vy vz sxx syy szz syz sxz sxy */
#define NUM_MATERIAL  3 /* rho [kg/m3], vp, vs [m/s] */
#define NUM_WAVE      2
#define NUM_COEF      3 /* 1/rho, lambda, mu */
#define UNIT_COEF     {1, 0, 1}
#define NUM_LOCAL     0
#define NUM_FACE_COEF 8  /* see face_coefficients */
#define NUM_REF       12 /* v, s_1, s_2, s_3 */
#define NUM_ACC       12 /* sum_j D_j s_j, D_1 v, D_2 v, D_3 v */
#define NUM_FRAME     3  /* m */
#define NUM_TRACE     6  /* v, sigma m */
#define NUM_MIRROR    3  /* factors of both, and of the normal part */
#define NUM_LIFT_COEF 5  /* m, |m| Zs-, (Zp- - Zs-) / |m| */
/* v* - v-; of BOTH_JUMPS also |m| (T* - T-). */
#define NUM_JUMP (3 * (1 + BOTH_JUMPS))

/* See acoustic.h. */
#define COEF_POWERS      {{1, 0}, {1, 0}, {1, 0}}
#define FACE_COEF_POWERS {{1, 0}, {1, -1}, {1, -2}, {1, -3}, {1, 1}, {1, -1}, {1, -2}, {1, 0}}

DEVICE void FN(coefficients)(const double *material, double *coef)
{
    double rho = material[0], vp = material[1], vs = material[2];
    coef[0] = 1 / rho;
    coef[1] = rho * (vp * vp - 2 * vs * vs);
    coef[2] = rho * vs * vs;
}

/* With their powers of |m|: w = c0 dv + c1 dtau + (c2 dv.m + c3 dtau.m) m, tau = sigma m; then |m| Zs-,
 * (Zp- - Zs-) / |m|, 1 / |m|^2, and 1 where both sides are solid. */
DEVICE void FN(face_coefficients)(const double *inside, const double *outside, double *c)
{
    double p_in = inside[0] * inside[1], s_in = inside[0] * inside[2];
    double p_out = outside[0] * outside[1], s_out = outside[0] * outside[2];
    double p = 1 / (p_in + p_out), s = s_in + s_out > 0 ? 1 / (s_in + s_out) : 0;
    c[0] = s_out * s;
    c[1] = s;
    c[2] = p_out * p - s_out * s;
    c[3] = p - s;
    c[4] = s_in;
    c[5] = p_in - s_in;
    c[6] = 1;
    c[7] = s_in > 0 && s_out > 0;
}

/* Speed [m/s] and impedance of P and S waves; 0 for S in a fluid. */
DEVICE void FN(waves)(const double *material, double *speed, double *impedance)
{
    for (int i = 0; i < 2; i++) {
        speed[i] = material[1 + i];
        impedance[i] = material[0] * material[1 + i];
    }
}

/* No local law. */
DEVICE double FN(local_rate)(const double *material)
{
    (void)material;
    return 0;
}

/* Energy density of a state [J/m3]: rho v^2 / 2 + dev:dev / (4 mu) + (tr sigma / 3)^2 / (2 K). */
DEVICE double FN(energy)(const double *q, const double *material)
{
    double rho = material[0], mu = rho * material[2] * material[2];
    double bulk = rho * material[1] * material[1] - 4 * mu / 3, mean = (q[3] + q[4] + q[5]) / 3;
    double a = q[3] - mean, b = q[4] - mean, c = q[5] - mean;
    double dev = a * a + b * b + c * c + 2 * (q[6] * q[6] + q[7] * q[7] + q[8] * q[8]);
    return rho / 2 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) + mean * mean / (2 * bulk) +
           (mu > 0 ? dev / (4 * mu) : 0);
}

/* to = sigma m. */
DEVICE void FN(traction)(const VAL *q, const VAL *m, VAL *to)
{
    to[0] = SUM3(q[3], m[0], q[8], m[1], q[7], m[2]);
    to[1] = SUM3(q[8], m[0], q[4], m[1], q[6], m[2]);
    to[2] = SUM3(q[7], m[0], q[6], m[1], q[5], m[2]);
}

DEVICE void FN(to_reference)(const VAL *q, const VAL *g, VAL *u)
{
    for (int j = 0; j < 3; j++)
        FN(traction)(q, g + 3 * j, u + 3 + 3 * j);
    for (int i = 0; i < 3; i++)
        u[i] = q[i];
}

/* Trace (v, sigma m) of a state in physical components. */
DEVICE void FN(trace)(const VAL *q, const VAL *m, VAL *t)
{
    for (int i = 0; i < 3; i++)
        t[i] = q[i];
    FN(traction)(q, m, t + 3);
}

/* The ordinary flux imposes a boundary condition if the outer trace is `reflect` of the inner one. Between
 * elements that changes nothing; an absorbing face sees zero. */
DEVICE void FN(mirror)(int condition, REAL *weight)
{
    weight[0] = weight[1] = weight[2] = 0;
    if (condition == BOUNDARY_NONE)
        weight[0] = weight[1] = 1;
    if (condition == BOUNDARY_FREE || condition == BOUNDARY_SYMMETRY)
        weight[0] = 1, weight[1] = -1;
    if (condition == BOUNDARY_FIXED)
        weight[0] = -1, weight[1] = 1;
    if (condition == BOUNDARY_SYMMETRY)
        weight[2] = -2;
}

DEVICE VAL FN(dot)(const VAL *a, const VAL *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

DEVICE void FN(reflect)(const VAL *in, const VAL *m, const VAL *face_coef, const VAL *weight, VAL *out)
{
    VAL v = weight[2] * face_coef[6] * FN(dot)(in, m), tau = weight[2] * face_coef[6] * FN(dot)(in + 3, m);
    for (int i = 0; i < 3; i++) {
        out[i] = SUM2(weight[0], in[i], v, m[i]);
        out[3 + i] = MINUS2(weight[1], in[3 + i], tau, m[i]);
    }
}

/* s from both traces; upwind 1, or 0 for the central flux. */
DEVICE void FN(jump)(const VAL *in, const VAL *out, const VAL *m, const VAL *face_coef, VAL upwind, VAL *s)
{
    VAL dv[3], dtau[3];
    for (int i = 0; i < 3; i++) {
        dv[i] = out[i] - in[i];
        dtau[i] = out[3 + i] - in[3 + i];
    }
    VAL dv_m = FN(dot)(dv, m), dtau_m = FN(dot)(dtau, m);
    VAL along = SUM2(face_coef[2], dv_m, face_coef[3], dtau_m), w[3];
    for (int i = 0; i < 3; i++)
        w[i] = SUM3(face_coef[0], dv[i], face_coef[1], dtau[i], along, m[i]);
#if BOTH_JUMPS
    VAL half = (REAL)0.5 - (REAL)0.5 * upwind, solid = face_coef[7], fluid = 1 - solid;
    VAL v_n = fluid * face_coef[6] * dv_m, tau_n = fluid * face_coef[6] * dtau_m;
    VAL own_n = face_coef[6] * FN(dot)(in + 3, m), w_n = face_coef[5] * FN(dot)(w, m);
    for (int i = 0; i < 3; i++) {
        s[i] = SUM2(upwind, w[i], half, SUM2(solid, dv[i], v_n, m[i]));
        VAL rest = MINUS(SUM2(solid, dtau[i], tau_n, m[i]), 2 * fluid, MINUS(in[3 + i], own_n, m[i]));
        s[3 + i] = SUM2(upwind, SUM2(face_coef[4], w[i], w_n, m[i]), half, rest);
    }
#else
    (void)upwind;
    for (int i = 0; i < 3; i++)
        s[i] = w[i];
#endif
}

/* What `lifted` needs of a face. */
DEVICE void FN(lift_coefficients)(const VAL *m, const VAL *face_coef, VAL *lift_coef)
{
    for (int i = 0; i < 3; i++)
        lift_coef[i] = m[i];
    lift_coef[3] = face_coef[4];
    lift_coef[4] = face_coef[5];
}

/* The jumps of sigma m and of v from what was lifted. */
DEVICE void FN(lifted)(const VAL *y, const VAL *lift_coef, VAL *z)
{
#if BOTH_JUMPS
    (void)lift_coef;
    for (int i = 0; i < 3; i++)
        z[i] = y[3 + i];
#else
    VAL along = lift_coef[4] * FN(dot)(y, lift_coef);
    for (int i = 0; i < 3; i++)
        z[i] = SUM2(lift_coef[3], y[i], along, lift_coef[i]);
#endif
    for (int i = 0; i < 3; i++)
        z[3 + i] = y[i];
}

/* dv/dt = acc_0 / rho,
 * d sigma/dt = lambda tr(e) I + mu (e + e^T),    e = sum_j acc_j G[j]^T. */
DEVICE void FN(from_reference)(const VAL *acc, const VAL *g, const VAL *coef, VAL *rhs)
{
    VAL e[3][3];
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * acc[i];
        for (int k = 0; k < 3; k++)
            e[i][k] = SUM3(acc[3 + i], g[k], acc[6 + i], g[3 + k], acc[9 + i], g[6 + k]);
    }
    VAL pressure = coef[1] * (e[0][0] + e[1][1] + e[2][2]);
    for (int i = 0; i < 3; i++)
        rhs[3 + i] = PLUS(pressure, 2 * coef[2], e[i][i]);
    rhs[6] = coef[2] * (e[1][2] + e[2][1]);
    rhs[7] = coef[2] * (e[0][2] + e[2][0]);
    rhs[8] = coef[2] * (e[0][1] + e[1][0]);
}

/* dq/dt from what `from_reference` gives of UNIT_COEF, (div sigma, e + e^T). */
DEVICE void FN(rates)(const VAL *w, const VAL *coef, VAL *rhs)
{
    VAL pressure = coef[1] * ((REAL)0.5 * (w[3] + w[4] + w[5]));
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * w[i];
        rhs[3 + i] = pressure + coef[2] * w[3 + i];
        rhs[6 + i] = coef[2] * w[6 + i];
    }
}

/* ---- fluids where G varies ----
 * sigma = -p I. The divergence of sigma in the products above is that of polynomials -p G[j]: beyond the gradient of p's
 * polynomial it has a part of order h^N without divergence, which no wave of a fluid carries away, so that v would be
 * of order N only (S waves do in solids). In the components of the cell's axes, where G is the identity,
 *   u = (G v, -p e_1, -p e_2, -p e_3),    rho dv/dt = sum_j G[j] D_j (-p),    dp/dt = -K sum_j D_j (G[j].v),
 * as for sound (acoustic.h); the two sum by parts as well. A face gives and takes the parts normal to it. */

DEVICE void FN(fluid_to_reference)(const VAL *q, const VAL *g, VAL *u)
{
    VAL mean = q[3] + ((q[4] - q[3]) + (q[5] - q[3])) * (REAL)(1. / 3);
    for (int j = 0; j < 3; j++) {
        u[j] = FN(dot)(q, g + 3 * j);
        for (int k = 0; k < 3; k++)
            u[3 + 3 * j + k] = j == k ? mean : 0 * mean;
    }
}

/* Trace (v, sigma m) at a face across axis j from v = u[j] and stress = u[3 + 3 j + j]; of v the normal part. */
DEVICE void FN(fluid_trace)(VAL v, VAL stress, int side, const VAL *m, VAL *t)
{
    VAL along = (side ? v : -v) / FN(dot)(m, m);
    for (int i = 0; i < 3; i++) {
        t[i] = along * m[i];
        t[3 + i] = stress * m[i];
    }
}

/* What the jump y of such a face adds to acc[3 + 3 j + j] and to acc[j]. */
DEVICE void FN(fluid_lifted)(const VAL *y, int side, const VAL *m, const VAL *lift_coef, VAL *add)
{
    VAL z[NUM_TRACE];
    FN(lifted)(y, lift_coef, z);
    VAL stress = FN(dot)(z, m) / FN(dot)(m, m);
    add[0] = FN(dot)(z + 3, m);
    add[1] = side ? stress : -stress;
}

DEVICE void FN(fluid_from_reference)(const VAL *acc, const VAL *g, const VAL *coef, VAL *rhs)
{
    VAL pressure = coef[1] * (acc[3] + acc[7] + acc[11]);
    for (int i = 0; i < 3; i++) {
        rhs[i] = coef[0] * (acc[0] * g[i] + acc[1] * g[3 + i] + acc[2] * g[6 + i]);
        rhs[3 + i] = pressure;
        rhs[6 + i] = 0 * pressure;
    }
}
