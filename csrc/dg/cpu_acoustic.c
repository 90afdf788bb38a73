/* cpu_acoustic.c: acoustics by DG: the stages on the CPU. Next: cpu_stage.inc.h. */
#define PHYSICS     "physics/acoustic.h"
#define SPACE       "space/tet_affine.h"
#define NAMED(name) PRECISION(acoustic_##name##_)
#include "cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_acoustic_)[3] = {NAMED(one_block_stage), NAMED(both_block_stage),
                                                     NAMED(by_node_block_stage)};
