/* dt.c: the stable time step of DG, element by element. Not here: the choice of dt (solver/solver.c). */
#include "dg.h"

#include "common/index.h"

#include <math.h>

/* Hexahedra: of one equal element after the other along a line, since the rates of the three axes at most add
 * up. */
double dg_stable(int shape, int integrator, int flux, int degree)
{
    static const double hex[2][2][6] = {
        [UNDA_LSRK4] = {[UNDA_UPWIND] = {0, 3.167, 1.366, 0.8139, 0.5501, 0.4006},
                        [UNDA_CENTRAL] = {0, 3.341, 1.321, 0.7344, 0.4684, 0.3239}},
        [UNDA_AB3] = {[UNDA_UPWIND] = {0, 0.5158, 0.2013, 0.1131, 0.07406, 0.05296},
                      [UNDA_CENTRAL] = {0, 0.7236, 0.2861, 0.1591, 0.1015, 0.07015}},
    };
    /* [integrator][flux][degree], from benchmarks/stability.py. */
    static const double limits[2][2][MAX_DEGREE + 1] = {
        [UNDA_LSRK4] = {[UNDA_UPWIND] = {0, 0.8272, 0.5165, 0.3557, 0.2587, 0.1964, 0.1535, 0.1231, 0.1008,
                                         0.08391},
                        [UNDA_CENTRAL] = {0, 1.066, 0.5979, 0.383, 0.2663, 0.1959, 0.15, 0.1185, 0.09598,
                                          0.07932}},
        [UNDA_AB3] = {[UNDA_UPWIND] = {0, 0.09689, 0.0605, 0.04166, 0.0303, 0.023, 0.01798, 0.01442, 0.0118,
                                       0.009826},
                      [UNDA_CENTRAL] = {0, 0.2116, 0.1286, 0.08296, 0.05769, 0.04243, 0.03249, 0.02566,
                                        0.02079, 0.01718}},
    };
    return shape == UNDA_HEX ? hex[integrator][flux][degree] : limits[integrator][flux][degree];
}

/* One kind of wave in an element: speed and impedance. */
struct wave {
    double speed, impedance;
};

static struct wave wave_of(const struct dg *dg, int64_t elem, int kind)
{
    double speed[MAX_WAVE], impedance[MAX_WAVE];
    dg->physics->waves(dg_material(dg, elem, 0), speed, impedance);
    return (struct wave){speed[kind], impedance[kind]};
}

/* The speed that limits dt. The central flux couples p and v across a face with sqrt(K- / rho+), in the
 * energy norm sqrt(Z-/Z+ c- c+), above both speeds where impedances differ; the upwind flux does not. */
static double limiting_speed(const struct dg *dg, int64_t elem, int kind)
{
    struct wave in = wave_of(dg, elem, kind);
    double limit = in.speed;
    for (int face = 0; dg->flux == UNDA_CENTRAL && face < dg->space.num_face; face++) {
        int32_t neighbor = dg->space.neighbor[dg->space.num_face * elem + face];
        if (neighbor < 0)
            continue;
        struct wave out = wave_of(dg, neighbor / dg->space.num_side, kind);
        if (in.impedance > 0 && out.impedance > 0) { /* not S at a fluid: nothing is coupled */
            double contrast = fmax(in.impedance / out.impedance, out.impedance / in.impedance);
            limit = fmax(limit, sqrt(contrast * in.speed * out.speed));
        }
    }
    return limit;
}

static const double WALL_WEIGHT = 1.2;

/* Layers of flat cells, which the meshes of benchmarks/stability.py do not have, bring the spectrum closer
 * to the limit by this factor (by flux; random boxes, periodic ones too, down to 1:100); absorbing faces,
 * which are upwind among central ones, a little more. */
static const double LAYERS[2] = {[UNDA_UPWIND] = 0.9, [UNDA_CENTRAL] = 0.78};
static const double CENTRAL_ABSORBING_WEIGHT = 1.25;

/* The largest stable step of dq/dt = -q. */
static const double REAL_AXIS[2] = {[UNDA_LSRK4] = 4.6, [UNDA_AB3] = 6. / 11};

/* How much smaller a face makes an element's step than a face between equal elements does: the upwind flux
 * damps its p and vn 2 Z / (Z- + Z+) times as strongly, Z the larger impedance; a wall is like a neighbour
 * without impedance. */
static double face_weight(const struct dg *dg, int64_t face, int kind)
{
    int32_t neighbor = dg->space.neighbor[face];
    if (neighbor == -1 - BOUNDARY_ABSORBING)
        return dg->flux == UNDA_CENTRAL ? CENTRAL_ABSORBING_WEIGHT : 1;
    if (neighbor < 0)
        return neighbor <= -1 - BOUNDARY_EXACT ? 1 : WALL_WEIGHT;
    double z_in = wave_of(dg, face / dg->space.num_face, kind).impedance;
    double z_out = wave_of(dg, neighbor / dg->space.num_side, kind).impedance;
    return z_in > 0 ? 2 * fmax(z_in, z_out) / (z_in + z_out) : 0;
}

/* Where an element also has a local law (conduction), the two rates add up: the stable region holds the
 * triangle between the ends of its axes. */
void dg_stable_steps(struct dg *dg, int integrator)
{
    const struct physics *physics = dg->physics;
    double limit = LAYERS[dg->flux] *
                   dg_stable(dg->space.element->shape, integrator, dg->flux, dg->space.element->degree);
    for (int64_t e = 0; e < dg->space.num_owned; e++) {
        double scale[MAX_FACE], rate = 0;
        space_face_scales(&dg->space, e, scale);
        for (int kind = 0; kind < physics->num_wave; kind++) {
            double sum = 0;
            for (int face = 0; face < dg->space.num_face; face++)
                sum += face_weight(dg, dg->space.num_face * e + face, kind) * scale[face];
            rate = fmax(rate, limiting_speed(dg, e, kind) * sum / limit);
        }
        dg->elem_dt[e] = 1 / (rate + dg_local_rate(dg, e) / REAL_AXIS[integrator]);
    }
}
