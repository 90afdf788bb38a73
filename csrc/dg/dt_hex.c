/* dt_hex.c: the stable time step of waves in hexahedra.
 *
 * In the energy norm, in which p is sqrt(w J / K) p and v is sqrt(w J rho) v, the derivative along a line of
 * axis j couples p at node b and v at node a with sqrt(K_b / J_b) d_ab |J grad r_j|_a / sqrt(rho_a J_a), where d
 * is that of a line of length 1. So one axis by itself has the step `limits` / a_j, a_j the largest product of
 * the two factors on any of its lines, whatever the map and the material.
 *
 * Axes together: with the central flux, skew in that norm, v = sum_j n_j (..)_j gives (sum_j a_j^2)^(1/2), times
 * the square root of 1 + sum_k |n_j.n_k| where they are not orthogonal. The upwind flux damps p at the faces of all
 * axes, v at those of one each, and that of three axes is not the worst of each: (sum_j a_j^p)^(1/p), p <= 1 for high
 * degrees. A component of E or H is damped at the faces of two axes, which gives another bound, with a p of its own.
 * All tables: benchmarks/stability_hex.py, which finds them in boxes. In a solid sum_j a_j^p is the largest
 * eigenvalue of a matrix: v is damped by vp along and by vs across a face's normal, stress by P waves of all axes,
 * whose stresses are not orthogonal (of pressure alone 3 - 4 (vs / vp)^2 of equal axes).
 *
 * Walls are mirrors: a line that ends there is half of a longer one, and has no smaller step (but see SIDE_STRESS).
 * Not here: local laws, tetrahedra (dt.c). */
#include <math.h>

#include "dt.h"

#include "../mesh/vector.h"
#include "common/index.h"

/* What sheared cells, solids and single cells need beyond boxes of equal cells; the central flux needs nothing. */
static const double MARGIN[2] = {[UNDA_UPWIND] = 0.95, [UNDA_CENTRAL] = 0.999};
/* Solids are damped so little at low degrees that their limit is near the imaginary axis: at least this many times
 * that of the central flux's combination of axes. */
static const double SOLID_SKEW = 1.1;
/* Free and fixed sides of solids, which turn P into S waves, are no mirrors: high degrees lose so much a degree, where
 * stress and where v is damped most (bars and cubes of one cell, all vs / vp). */
static const double SIDE_STRESS = 0.01, SIDE_V = 0.006;
/* Absorbing faces damp: among central ones, whose limit is on the imaginary axis, AB3 needs room for that at the
 * corners of a box (0.637 of the step at degree 10, all six faces of one cell). */
static const double CENTRAL_ABSORBING_WEIGHT[2] = {[UNDA_LSRK4] = 1, [UNDA_AB3] = 1.6};

static double stable(int integrator, int flux, int degree)
{
    static const double limits[2][2][MAX_DEGREE + 1] = {
        [UNDA_LSRK4] = {[UNDA_UPWIND] = {0, 1.583, 0.683, 0.4066, 0.275, 0.2002, 0.1532, 0.1215, 0.09906,
                                         0.08254, 0.07},
                        [UNDA_CENTRAL] = {0, 1.67, 0.6596, 0.3669, 0.2341, 0.1618, 0.1181, 0.08981, 0.07051,
                                          0.05678, 0.04668}},
        [UNDA_AB3] = {[UNDA_UPWIND] = {0, 0.2575, 0.1006, 0.05653, 0.03703, 0.02648, 0.02004, 0.01578,
                                       0.01281, 0.01064, 0.008999},
                      [UNDA_CENTRAL] = {0, 0.3618, 0.1428, 0.07947, 0.05072, 0.03504, 0.02558, 0.01945,
                                        0.01527, 0.01229, 0.01011}},
    };
    return MARGIN[flux] * limits[integrator][flux][degree];
}

/* p of the upwind flux for sound and solids (0) and for light (1). */
static double upwind_power(int light, int integrator, int degree)
{
    static const double powers[2][2][MAX_DEGREE + 1] = {
        {[UNDA_LSRK4] = {0, 1.42, 1.17, 1.02, 0.935, 0.877, 0.836, 0.805, 0.78, 0.758, 0.739},
         [UNDA_AB3] = {0, 1.05, 0.942, 0.88, 0.833, 0.797, 0.767, 0.744, 0.723, 0.706, 0.69}},
        {[UNDA_LSRK4] = {0, 1.53, 1.34, 1.2, 1.07, 0.999, 0.943, 0.901, 0.868, 0.841, 0.818},
         [UNDA_AB3] = {0, 1.2, 1.05, 0.982, 0.929, 0.885, 0.85, 0.821, 0.797, 0.777, 0.759}}};
    return powers[light][integrator][degree];
}

/* p of the two axes that damp a component of E or H, where axes are orthogonal. */
static double pair_power(int integrator, int degree)
{
    static const double powers[2][MAX_DEGREE + 1] = {
        [UNDA_LSRK4] = {0, 1.031, 0.923, 0.846, 0.786, 0.731, 0.681, 0.646, 0.619, 0.597, 0.579},
        [UNDA_AB3] = {0, 1.022, 0.872, 0.76, 0.693, 0.648, 0.615, 0.589, 0.568, 0.551, 0.537}};
    return powers[integrator][degree];
}

/* Squares of the two factors of each axis at one node, for p and for v, and |n_j.n_k| of the axes. */
struct node {
    double stiff[3], light[3], cosine[3]; /* cosine[j]: of the two others */
};

static struct node look(const struct dg *dg, int64_t elem, int at, int kind)
{
    struct wave wave = wave_of(dg, dg_material(dg, elem, at), kind);
    double metric[HEX_METRIC], area[3][3], size[3];
    struct node node;
    dg_metric(dg, elem, at, metric);
    double inverse = metric[9];
    for (int j = 0; j < 3; j++) {
        const double *next = metric + (j + 1) % 3 * 3, *last = metric + (j + 2) % 3 * 3;
        for (int i = 0; i < 3; i++)
            area[j][i] = metric[3 * j + i];
        if (!dg->physics->grad_div)
            cross(next, last, area[j]);
        size[j] = norm(area[j]);
        /* Curls take the edges e_k along a face at both nodes, half of the area at each. */
        node.stiff[j] = wave.impedance * wave.speed * inverse * (dg->physics->grad_div ? 1 : size[j]);
        node.light[j] =
            wave.speed / wave.impedance * inverse * size[j] * (dg->physics->grad_div ? size[j] : 1);
    }
    for (int j = 0; j < 3; j++) {
        int k = (j + 1) % 3, l = (j + 2) % 3;
        node.cosine[j] = fabs(dot(area[k], area[l])) / (size[k] * size[l]);
    }
    return node;
}

/* a_j of each axis by itself, and the largest cosines. */
static void look_along(const struct dg *dg, int64_t elem, int kind, double rate[3], double cosine[3])
{
    int n = dg->space.element->degree + 1, num = dg->space.num_node;
    const int step[3] = {1, n, n * n};
    struct node node[MAX_NODE];
    if (dg->metric_nodes == 1 && dg->material_nodes == 1)
        n = num = 1;
    for (int j = 0; j < 3; j++)
        rate[j] = cosine[j] = 0;
    for (int at = 0; at < num; at++) {
        node[at] = look(dg, elem, at, kind);
        for (int j = 0; j < 3; j++)
            cosine[j] = fmax(cosine[j], node[at].cosine[j]);
    }
    for (int at = 0; at < num; at++)
        for (int j = 0; j < 3; j++) {
            double stiff = 0, light = 0;
            for (int i = 0; i < n && at / step[j] % n == 0; i++) {
                stiff = fmax(stiff, node[at + i * step[j]].stiff[j]);
                light = fmax(light, node[at + i * step[j]].light[j]);
            }
            rate[j] = fmax(rate[j], sqrt(stiff * light));
        }
}

/* How many times as fast a face's neighbour makes its axis. The central flux couples p and v across a face with
 * sqrt(K- / rho+). */
static double face_weight(const struct dg *dg, int64_t face, int kind, int integrator)
{
    int32_t neighbor = dg->space.neighbor[face];
    bool central = dg->flux == UNDA_CENTRAL;
    if (neighbor < 0)
        return central && neighbor == -1 - BOUNDARY_ABSORBING ? CENTRAL_ABSORBING_WEIGHT[integrator] : 1;
    double weight = 1;
    for (int m = 0; m < dg->face_materials; m++) {
        const double *side[2];
        dg_sides(dg, face, m, side);
        struct wave in = wave_of(dg, side[0], kind), out = wave_of(dg, side[1], kind);
        if (!central)
            weight = fmax(weight, damping_weight(in, out));
        else if (in.impedance > 0 && out.impedance > 0) { /* not S at a fluid: nothing is coupled */
            double contrast = fmax(in.impedance / out.impedance, out.impedance / in.impedance);
            weight = fmax(weight, sqrt(contrast * out.speed / in.speed));
        }
    }
    return weight;
}

/* The least and the largest vs / vp in an element; 0 where there is one kind of wave. */
static void shear(const struct dg *dg, int64_t elem, double *least, double *most)
{
    *least = 1;
    *most = 0;
    for (int n = 0; n < dg->material_nodes; n++) {
        const double *material = dg_material(dg, elem, n);
        double ratio =
            dg->physics->num_wave > 1 ? wave_of(dg, material, 1).speed / wave_of(dg, material, 0).speed : 0;
        *least = fmin(*least, ratio);
        *most = fmax(*most, ratio);
    }
}

/* The largest eigenvalue of the matrix of 3 by 3 numbers M_jj = b_j and, of axes j, k and the other one l,
 * M_jk = product_l sqrt(b_j b_k), where products >= 0: that of sum_j b_j u_j u_j^T, |u_j.u_k| <= product_l. */
static double largest(const double b[3], const double product[3])
{
    double mean = (b[0] + b[1] + b[2]) / 3, squares = 0, off = 0, triple = 2, det;
    for (int l = 0; l < 3; l++) {
        double square = product[l] * product[l] * b[(l + 1) % 3] * b[(l + 2) % 3];
        squares += (b[l] - mean) * (b[l] - mean) + 2 * square;
        off += (b[l] - mean) * square;
        triple *= product[l] * b[l];
    }
    double size = sqrt(squares / 6);
    if (!(size > 0))
        return mean;
    det = (b[0] - mean) * (b[1] - mean) * (b[2] - mean) + triple - off;
    return mean + 2 * size * cos(acos(fmax(-1, fmin(1, det / (2 * size * size * size)))) / 3);
}

/* Of b_j = (a_j / sum of a)^p: their sum, and the ends of what sum_j b_j n_j n_j^T has as eigenvalues. */
struct damping {
    double b[3], all, least, most;
};

static struct damping damp(const double a[3], const double cosine[3], double power)
{
    double sum = a[0] + a[1] + a[2];
    struct damping d = {.least = INFINITY};
    for (int j = 0; j < 3; j++) {
        d.b[j] = pow(a[j] / sum, power);
        d.all += d.b[j];
    }
    for (int j = 0; j < 3; j++) {
        int k = (j + 1) % 3, l = (j + 2) % 3;
        double others = cosine[l] * sqrt(d.b[j] * d.b[k]) + cosine[k] * sqrt(d.b[j] * d.b[l]);
        d.least = fmin(d.least, d.b[j] - others);
    }
    d.least = fmax(d.least, 0);
    d.most = fmin(largest(d.b, cosine), d.all);
    return d;
}

/* What the stress of P waves along the axes is damped by: at equal energy those of two axes have the product
 * 1 - 2 (vs / vp)^2 sin^2 of their angle. */
static double damped_stress(const struct damping *d, const double cosine[3], double least, double most)
{
    double product[3];
    for (int l = 0; l < 3; l++) {
        double sine = 1 - cosine[l] * cosine[l];
        product[l] = fmax(fabs(1 - 2 * least * least * sine), fabs(1 - 2 * most * most * sine));
    }
    return largest(d->b, product);
}

/* All axes together; sum: of their a_j; span: 1 + sum_k |n_j.n_k|. */
static double damped_light(const struct dg *dg, int integrator, const double a[3], const double cosine[3],
                           double sum, double span)
{
    int degree = dg->space.element->degree;
    double sound = upwind_power(0, integrator, degree), pair = pair_power(integrator, degree);
    double light = upwind_power(1, integrator, degree);
    /* an E across three normals in a plane is damped by all, as p is */
    double power = light + (sound - light) * fmin(1, span - 1);
    struct damping three = damp(a, cosine, power), two = damp(a, cosine, pair);
    double total = sum * pow(three.all, 1 / power) * pow(span, fmax(0, 1 - 1 / power));
    return fmin(total, sum * pow(two.all - two.least, 1 / pair) * pow(span, fmax(0, 1 - 1 / pair)));
}

static double damped_sound(const struct dg *dg, int64_t elem, int kind, int integrator, const double a[3],
                           const double cosine[3], double sum, double span)
{
    double power = upwind_power(0, integrator, dg->space.element->degree), least = 0, most = 0;
    double sheared = pow(span, fmax(0, 1 - 1 / power));
    struct damping by = damp(a, cosine, power);
    double total = sum * pow(by.all, 1 / power) * sheared;
    if (kind == 0)
        shear(dg, elem, &least, &most);
    if (!(most > 0))
        return total;
    double across = pow(most, power), v = across * by.all + (1 - across) * by.most;
    double stress = damped_stress(&by, cosine, least, most), degree = dg->space.element->degree;
    double solid = sheared * fmax(pow(v, 1 / power) * (1 + SIDE_V * degree),
                                  pow(stress, 1 / power) * (1 + SIDE_STRESS * degree));
    return fmin(total, sum * fmax(solid, SOLID_SKEW * sqrt(damp(a, cosine, 2).all * span)));
}

static double combine(const struct dg *dg, int64_t elem, int kind, int integrator, const double a[3],
                      const double cosine[3])
{
    double sum = a[0] + a[1] + a[2], span = 1;
    for (int j = 0; j < 3; j++)
        span = fmax(span, 1 + cosine[(j + 1) % 3] + cosine[(j + 2) % 3]);
    if (dg->flux == UNDA_CENTRAL)
        return fmin(sum * sqrt(damp(a, cosine, 2).all) * sqrt(span), sum);
    if (dg->physics->grad_div)
        return damped_sound(dg, elem, kind, integrator, a, cosine, sum, span);
    return damped_light(dg, integrator, a, cosine, sum, span);
}

double dg_hex_rate(const struct dg *dg, int64_t elem, int integrator)
{
    double limit = stable(integrator, dg->flux, dg->space.element->degree), rate = 0;
    for (int kind = 0; kind < dg->physics->num_wave; kind++) {
        double axis[3], cosine[3];
        if (!(wave_of(dg, dg_material(dg, elem, 0), kind).speed > 0)) /* then at all nodes */
            continue;
        look_along(dg, elem, kind, axis, cosine);
        for (int j = 0; j < 3; j++)
            axis[j] *= fmax(face_weight(dg, 6 * elem + 2 * j, kind, integrator),
                            face_weight(dg, 6 * elem + 2 * j + 1, kind, integrator));
        rate = fmax(rate, combine(dg, elem, kind, integrator, axis, cosine) / limit);
    }
    return rate;
}
