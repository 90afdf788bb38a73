/* acoustic.h: acoustic waves in velocity-pressure form,
 *   dp/dt + rho c^2 div v = 0,
 *   rho dv/dt + grad p = 0.
 * The method: docs/dg.md. C that gcc, g++ and NVRTC all accept; the includer defines REAL, VAL, FN(name),
 * DEVICE and BOTH_JUMPS. VAL is REAL, or on the CPU a vector of REAL (one element per lane): functions
 * called in a stage only add and multiply. It may be included several times (both precisions, one jump or both).
 * Not here: loops over nodes (cuda/dg, csrc/dg).
 *
 * In reference coordinates r_1..r_3 of an element, G[j] = grad r_j, the products take u = (p, w_1, w_2, w_3),
 * w_j = G[j].v, and give acc = (sum_j D_j w_j, D_1 p, D_2 p, D_3 p): see cuda/space. At a face stands a
 * vector m along the outward normal, of any length; traces are p and m.v.
 *
 * Flux, exact solution of the Riemann problem, d = (+) - (-), Z = rho c (Wilcox et al. 2010):
 *   vn* - vn- = (Z+ dvn - dp) / (Z- + Z+),    p* - p- = -Z- (vn* - vn-).
 * Both jumps share one scalar, lifted once per face, if Z- is the same at all its nodes. Otherwise, and of the
 * central flux, two are lifted (BOTH_JUMPS): jump(.., upwind, ..) is then told which flux to take.
 *
 * A physics with NUM_LOCAL > 0 has a local law, what the fields of a node do to each other there without any
 * derivative: local(q, law, rhs) adds it to dq/dt, and local_rate(material) [1/s] is the fastest at which it
 * lets something decay, which limits dt. Auxiliary fields (memory variables) are the last of NUM_FIELD: they
 * have no trace, `from_reference` gives them 0 and `local` their equation (tests/dg/test_auxiliary_fields.py).
 *
 * Matrix products of fields in physical components, which know no material, use `from_reference` with the
 * coefficients UNIT_COEF; of what they give, `rates` makes dq/dt and leaves auxiliary fields alone. With pairs
 * (GRAD_DIV = n) that is acc_i of the n first fields. */
#include "physics/sum.h"
#include "physics/undefine.h"

#define GRAD_DIV      1 /* pairs of a number and a vector, see cuda/space */
#define FLUIDS        0
#define NUM_FIELD     4 /* p vx vy vz */
#define NUM_MATERIAL  2 /* rho [kg/m3], c [m/s] */
#define NUM_WAVE      1
#define NUM_COEF      2 /* 1/rho, rho c^2 */
#define UNIT_COEF     {-1, -1}
#define NUM_LOCAL     0 /* the last of these, coefficients of the local law */
#define NUM_FACE_COEF 3 /* Z+ / (Z- + Z+), -|m| / (Z- + Z+), -Z- / |m| */
#define NUM_REF       4 /* p w1 w2 w3 */
#define NUM_ACC       4 /* sum_j D_j w_j, D_1 p, D_2 p, D_3 p */
#define NUM_FRAME     3 /* m */
#define NUM_TRACE     2 /* p, m.v */
#define NUM_MIRROR    2 /* factors of the two */
#define NUM_LIFT_COEF 1 /* -Z- / |m| */
/* |m| (vn* - vn-); of BOTH_JUMPS also p* - p-. */
#define NUM_JUMP (1 + BOTH_JUMPS)

/* `coefficients` and `face_coefficients` know the material alone: a kernel's coefficient is a power of what they
 * give times a power of det or |m|, {the one, the other}. */
#define COEF_POWERS      {{1, 0}, {1, 0}}
#define FACE_COEF_POWERS {{1, 0}, {-1, 1}, {1, -1}}

/* What the kernels need of a material, from what the user gave. */
DEVICE void FN(coefficients)(const double *material, double *coef)
{
    double rho = material[0], c = material[1];
    coef[0] = 1 / rho;
    coef[1] = rho * c * c;
}

/* Speed [m/s] and impedance of each kind of wave, the fastest first. */
DEVICE void FN(waves)(const double *material, double *speed, double *impedance)
{
    speed[0] = material[1];
    impedance[0] = material[0] * material[1];
}

/* What a face needs of the materials on both sides. */
DEVICE void FN(face_coefficients)(const double *inside, const double *outside, double *face_coef)
{
    double z_in = inside[0] * inside[1], z_out = outside[0] * outside[1];
    face_coef[0] = z_out / (z_in + z_out);
    face_coef[1] = -(z_in + z_out);
    face_coef[2] = -z_in;
}

/* No local law. */
DEVICE double FN(local_rate)(const double *material)
{
    (void)material;
    return 0;
}

/* Energy density of a state [J/m3]: p^2 / (2 rho c^2) + rho v^2 / 2. */
DEVICE double FN(energy)(const double *q, const double *material)
{
    double rho = material[0], c = material[1];
    return q[0] * q[0] / (2 * rho * c * c) + rho / 2 * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

/* u = (p, G v). */
DEVICE void FN(to_reference)(const VAL *q, const VAL *g, VAL *u)
{
    u[0] = q[0];
    u[1] = SUM3(g[0], q[1], g[1], q[2], g[2], q[3]);
    u[2] = SUM3(g[3], q[1], g[4], q[2], g[5], q[3]);
    u[3] = SUM3(g[6], q[1], g[7], q[2], g[8], q[3]);
}

/* Trace (p, m.v) of a state in physical components. */
DEVICE void FN(trace)(const VAL *q, const VAL *m, VAL *t)
{
    t[0] = q[0];
    t[1] = SUM3(m[0], q[1], m[1], q[2], m[2], q[3]);
}

/* The ordinary flux imposes a boundary condition if the outer trace is `reflect` of the inner one. Between
 * elements that changes nothing. */
DEVICE void FN(mirror)(int condition, REAL *sign)
{
    sign[0] = condition == BOUNDARY_RIGID ? 1 : condition == BOUNDARY_FREE ? -1 : 0;
    sign[1] = -sign[0];
    if (condition == BOUNDARY_NONE)
        sign[0] = sign[1] = 1;
}

DEVICE void FN(reflect)(const VAL *in, const VAL *m, const VAL *face_coef, const VAL *sign, VAL *out)
{
    (void)m, (void)face_coef;
    out[0] = sign[0] * in[0];
    out[1] = sign[1] * in[1];
}

/* s from both traces; upwind 1, or 0 for the central flux. */
DEVICE void FN(jump)(const VAL *in, const VAL *out, const VAL *m, const VAL *face_coef, VAL upwind, VAL *s)
{
    (void)m;
    VAL dp = out[0] - in[0], dv = out[1] - in[1];
    VAL w = SUM2(face_coef[0], dv, face_coef[1], dp);
#if BOTH_JUMPS
    VAL half = (REAL)0.5 - (REAL)0.5 * upwind;
    s[0] = SUM2(upwind, w, half, dv);
    s[1] = SUM2(upwind * face_coef[2], w, half, dp);
#else
    (void)upwind;
    s[0] = w;
#endif
}

/* What `lifted` needs of a face. */
DEVICE void FN(lift_coefficients)(const VAL *m, const VAL *face_coef, VAL *lift_coef)
{
    (void)m;
    lift_coef[0] = face_coef[2];
}

/* The jumps of m.v and of p from what was lifted. */
DEVICE void FN(lifted)(const VAL *y, const VAL *lift_coef, VAL *z)
{
    z[0] = y[0];
#if BOTH_JUMPS
    (void)lift_coef;
    z[1] = y[1];
#else
    z[1] = lift_coef[0] * y[0];
#endif
}

/* dq/dt = (-rho c^2 acc_0, -1/rho sum_j G[j] acc_j). */
DEVICE void FN(from_reference)(const VAL *acc, const VAL *g, const VAL *coef, VAL *rhs)
{
    rhs[0] = -coef[1] * acc[0];
    rhs[1] = -coef[0] * SUM3(g[0], acc[1], g[3], acc[2], g[6], acc[3]);
    rhs[2] = -coef[0] * SUM3(g[1], acc[1], g[4], acc[2], g[7], acc[3]);
    rhs[3] = -coef[0] * SUM3(g[2], acc[1], g[5], acc[2], g[8], acc[3]);
}

/* dq/dt from what `from_reference` gives of UNIT_COEF, (div v, grad p). */
DEVICE void FN(rates)(const VAL *w, const VAL *coef, VAL *rhs)
{
    rhs[0] = -coef[1] * w[0];
    for (int i = 1; i < 4; i++)
        rhs[i] = -coef[0] * w[i];
}
