/* physics.c: the table of physics, each from its header compiled in float64.
 * To add one: a header in cuda/physics, an entry here, a class in python/unda/problem/medium.py. */
#include "physics.h"

#include "../unda.h"

#include "common/index.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define DEVICE     static inline __attribute__((unused))
#define REAL       double
#define VAL        double
#define BOTH_JUMPS 0

/* What a header defines; the rest of each entry is written out. */
#define FROM_HEADER(physics)                                                                                 \
    .name = #physics, .header = "physics/" #physics ".h", .num_field = NUM_FIELD,                            \
    .num_material = NUM_MATERIAL, .num_wave = NUM_WAVE, .num_coef = NUM_COEF, .coef_power = COEF_POWERS,     \
    .face_coef_power = FACE_COEF_POWERS, .num_face_coef = NUM_FACE_COEF, .num_ref = NUM_REF,                 \
    .num_trace = NUM_TRACE, .num_jump = {NUM_JUMP, 2 * NUM_JUMP}, .num_lift_coef = NUM_LIFT_COEF,            \
    .grad_div = GRAD_DIV, .coefficients = physics##_coefficients, .waves = physics##_waves,                  \
    .face_coefficients = physics##_face_coefficients, .local_rate = physics##_local_rate,                    \
    .energy = physics##_energy, .refuse = physics##_refuse

static bool positive(double x)
{
    return isfinite(x) && x > 0;
}

/* ---- acoustic ---- */

#define FN(name) acoustic_##name
#include "physics/acoustic.h"

static const char *acoustic_refuse(const double *material)
{
    return !positive(material[0])   ? "rho must be positive and finite"
           : !positive(material[1]) ? "c must be positive and finite"
                                    : NULL;
}

static const struct physics acoustic = {
    .conditions = 1 << BOUNDARY_RIGID | 1 << BOUNDARY_FREE,
    .volume_flops = 12,         /* acoustic_volume: 6 FMA a matrix column */
    .reference_flops = 15 + 19, /* to_reference and from_reference, a node */
    .jump_flops = {12, 13},     /* two traces and the jump, a face node */
    .lift_flops = {4, 4},       /* a node and face, the mean over the faces */
    FROM_HEADER(acoustic),
};

/* ---- elastic ---- */

#undef FN
#define FN(name) elastic_##name
#include "physics/elastic.h"

static const char *elastic_refuse(const double *material)
{
    double vp = material[1], vs = material[2];
    if (!positive(material[0]))
        return "rho must be positive and finite";
    if (!positive(vp) || !isfinite(vs) || vs < 0)
        return "vp must be positive, vs positive or 0 (a fluid), both finite";
    return vp * vp > 4 * vs * vs / 3 ? NULL : "vp must exceed vs sqrt(4/3): the bulk modulus is positive";
}

static const struct physics elastic = {
    .conditions = 1 << BOUNDARY_FREE | 1 << BOUNDARY_FIXED | 1 << BOUNDARY_SYMMETRY,
    .volume_flops = 36,
    .reference_flops = 45 + 63,
    .jump_flops = {58, 84},
    .lift_flops = {23, 8},
    FROM_HEADER(elastic),
};

/* ---- Maxwell ---- */

#undef FN
#define FN(name) maxwell_##name
#include "physics/maxwell.h"

static const char *maxwell_refuse(const double *material)
{
    return !positive(material[0])                         ? "eps must be positive and finite"
           : !positive(material[1])                       ? "mu must be positive and finite"
           : !(isfinite(material[2]) && material[2] >= 0) ? "sigma must be 0 or positive, and finite"
           : !isfinite(material[2] / material[0])         ? "sigma / eps must be finite"
                                                          : NULL;
}

static const struct physics maxwell = {
    .conditions = 1 << BOUNDARY_PEC | 1 << BOUNDARY_PMC,
    .volume_flops = 24,
    .reference_flops = 30 + 36,
    .jump_flops = {40, 60},
    .lift_flops = {12, 5},
    FROM_HEADER(maxwell),
};

const struct physics *const physics_table[NUM_PHYSICS] = {
    [UNDA_ACOUSTIC] = &acoustic, [UNDA_ELASTIC] = &elastic, [UNDA_MAXWELL] = &maxwell};
