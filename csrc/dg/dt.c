/* dt.c: the stable time step of DG, element by element; waves in tetrahedra. Not here: in hexahedra (dt_hex.c), the
 * choice of dt (solver/solver.c). */
#include <math.h>

#include "dt.h"

#include "common/index.h"

/* The largest dt of a tetrahedron among equal ones is this over (c sum_f |grad lambda_f|); measured on random and
 * sliver meshes by benchmarks/stability.py, which also writes the margins. Walls, jumps of impedance and layers
 * of flat cells have weights. */
static double stable(int integrator, int flux, int degree)
{
    /* [integrator][flux][degree] */
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
    return limits[integrator][flux][degree];
}

/* The largest sqrt(K / rho) within an element, K and rho of any two of its nodes, which derivatives couple:
 * K = Z c, 1 / rho = c / Z. */
static double inner_speed(const struct dg *dg, int64_t elem, int kind)
{
    double most = 0, stiff = 0, light = 0;
    for (int n = 0; n < dg->material_nodes; n++) {
        struct wave at = wave_of(dg, dg_material(dg, elem, n), kind);
        most = fmax(most, at.speed);
        stiff = fmax(stiff, at.impedance * at.speed);
        light = at.impedance > 0 ? fmax(light, at.speed / at.impedance) : light;
    }
    return dg->material_nodes > 1 ? fmax(most, sqrt(stiff * light)) : most;
}

/* The speed that limits dt. The central flux couples p and v across a face with sqrt(K- / rho+), in the
 * energy norm sqrt(Z-/Z+ c- c+), above both speeds where impedances differ; the upwind flux does not. */
static double limiting_speed(const struct dg *dg, int64_t elem, int kind)
{
    double limit = inner_speed(dg, elem, kind);
    int num = dg->flux == UNDA_CENTRAL ? dg->space.num_face * dg->face_materials : 0;
    for (int i = 0; i < num; i++) {
        const double *side[2];
        dg_sides(dg, dg->space.num_face * elem + i / dg->face_materials, i % dg->face_materials, side);
        struct wave in = wave_of(dg, side[0], kind), out = wave_of(dg, side[1], kind);
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

/* How much smaller a face makes an element's step than a face between equal elements does; a wall is like a
 * neighbour without impedance. */
static double face_weight(const struct dg *dg, int64_t face, int kind)
{
    int32_t neighbor = dg->space.neighbor[face];
    if (neighbor == -1 - BOUNDARY_ABSORBING)
        return dg->flux == UNDA_CENTRAL ? CENTRAL_ABSORBING_WEIGHT : 1;
    if (neighbor < 0)
        return neighbor <= -1 - BOUNDARY_EXACT ? 1 : WALL_WEIGHT;
    double weight = 0;
    for (int m = 0; m < dg->face_materials; m++) {
        const double *side[2];
        dg_sides(dg, face, m, side);
        weight = fmax(weight, damping_weight(wave_of(dg, side[0], kind), wave_of(dg, side[1], kind)));
    }
    return weight;
}

static double tet_rate(const struct dg *dg, int64_t elem, int integrator)
{
    double limit = LAYERS[dg->flux] * stable(integrator, dg->flux, dg->space.element->degree);
    double scale[MAX_FACE], rate = 0;
    space_face_scales(&dg->space, elem, scale);
    for (int kind = 0; kind < dg->physics->num_wave; kind++) {
        double sum = 0;
        for (int face = 0; face < dg->space.num_face; face++)
            sum += face_weight(dg, dg->space.num_face * elem + face, kind) * scale[face];
        rate = fmax(rate, limiting_speed(dg, elem, kind) * sum / limit);
    }
    return rate;
}

/* Where an element also has a local law (conduction) or lies in a layer, the rates add up: the stable region holds the
 * triangle between the ends of its axes. In a layer short waves decay like exp(-d t), memory variables like
 * exp(-(d / kappa + alpha) t). */
void dg_stable_steps(struct dg *dg, int integrator)
{
    const struct dg_layers *layers = &dg->layers;
    for (int64_t e = 0, cell = 0; e < dg->space.num_owned; e++) {
        double decay = dg_local_rate(dg, e);
        if (cell < layers->num_elem && layers->elem[cell] == e)
            decay += layers->rate[cell++];
        double rate = (dg->metric_nodes ? dg_hex_rate : tet_rate)(dg, e, integrator);
        dg->elem_dt[e] = 1 / (rate + decay / REAL_AXIS[integrator]);
    }
}
