/* cpu_maxwell.c: Maxwell's equations by DG: the stages on the CPU. Next: cpu_stage.inc.h. */
#define PHYSICS     "physics/maxwell.h"
#define SPACE       "space/tet_affine.h"
#define NAMED(name) PRECISION(maxwell_##name##_)
#include "cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_maxwell_)[3] = {NAMED(one_block_stage), NAMED(both_block_stage),
                                                    NAMED(by_node_block_stage)};
