/* cpu_layer_tet.c: the pass over layers on tetrahedra, of all physics. Next: cpu_layer.inc.h. */
#include "cpu_layer.h"

#include "cpu_common.h"

#define ROOT(x)    vector_sqrt(x)
#define BOTH_JUMPS 1
#define SPACE      "space/tet_affine.h"
#define LINES      0

#define PHYSICS    "physics/acoustic.h"
#define NAME(name) PRECISION(tet_acoustic_##name##_)
#include "cpu_layer.inc.h"
#undef PHYSICS
#undef NAME

#define PHYSICS    "physics/elastic.h"
#define NAME(name) PRECISION(tet_elastic_##name##_)
#include "cpu_layer.inc.h"
#undef PHYSICS
#undef NAME

#define PHYSICS    "physics/maxwell.h"
#define NAME(name) PRECISION(tet_maxwell_##name##_)
#include "cpu_layer.inc.h"

const dg_cpu_layer PRECISION(dg_cpu_layer_tet_)[NUM_PHYSICS] = {
    [UNDA_ACOUSTIC] = PRECISION(tet_acoustic_layer_pass_),
    [UNDA_ELASTIC] = PRECISION(tet_elastic_layer_pass_),
    [UNDA_MAXWELL] = PRECISION(tet_maxwell_layer_pass_)};
