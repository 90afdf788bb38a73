/* physics.c: the table of physics, each from its header compiled in float64.
 * To add one: a header in cuda/physics, an entry here, a class in python/unda/medium.py. */
#include "physics.h"

#include "../unda.h"

#include "common/index.h"

#include <math.h>
#include <stddef.h>

#define DEVICE       static inline __attribute__((unused))
#define REAL         double
#define VAL          double
#define FLUX_CENTRAL 0

#define FN(name) acoustic_##name
#include "physics/acoustic.h"

static const char *acoustic_refuse(const double *material)
{
    if (!(isfinite(material[0]) && material[0] > 0))
        return "rho must be positive and finite";
    if (!(isfinite(material[1]) && material[1] > 0))
        return "c must be positive and finite";
    return NULL;
}

static const struct physics acoustic = {
    .name = "acoustic",
    .header = "physics/acoustic.h",
    .num_field = NUM_FIELD,
    .num_material = NUM_MATERIAL,
    .num_coef = NUM_COEF,
    .num_face_coef = NUM_FACE_COEF,
    .num_ref = NUM_REF,
    .num_jump = {1, 2},
    .volume_flops = 12,         /* acoustic_volume: 6 FMA a matrix column */
    .reference_flops = 15 + 19, /* to_reference and from_reference, a node */
    .jump_flops = {12, 13},     /* two traces and the jump, a face node */
    .spread_flops = {4, 4},     /* a node and face, the mean over the faces */
    .coefficients = acoustic_coefficients,
    .impedance = acoustic_impedance,
    .face_coefficients = acoustic_face_coefficients,
    .speed = acoustic_speed,
    .energy = acoustic_energy,
    .refuse = acoustic_refuse,
};

const struct physics *const physics_table[] = {[UNDA_ACOUSTIC] = &acoustic};
const int num_physics = sizeof physics_table / sizeof *physics_table;
