/* cpu_layer_hex.c: the pass over layers on hexahedra, of all physics. Next: cpu_layer.inc.h. */
#include "cpu_layer.h"

#include "cpu_common.h"

#define ROOT(x)    vector_sqrt(x)
#define BOTH_JUMPS 1
#define SPACE      "space/hex_gll.h"
#define LINES      1

#define PHYSICS    "physics/acoustic.h"
#define NAME(name) PRECISION(hex_acoustic_##name##_)
#include "cpu_layer.inc.h"
#undef PHYSICS
#undef NAME

#define PHYSICS    "physics/elastic.h"
#define NAME(name) PRECISION(hex_elastic_##name##_)
#include "cpu_layer.inc.h"
#undef PHYSICS
#undef NAME

#define PHYSICS    "physics/maxwell.h"
#define NAME(name) PRECISION(hex_maxwell_##name##_)
#include "cpu_layer.inc.h"

const dg_cpu_layer PRECISION(dg_cpu_layer_hex_)[NUM_PHYSICS] = {
    [UNDA_ACOUSTIC] = PRECISION(hex_acoustic_layer_pass_),
    [UNDA_ELASTIC] = PRECISION(hex_elastic_layer_pass_),
    [UNDA_MAXWELL] = PRECISION(hex_maxwell_layer_pass_)};
