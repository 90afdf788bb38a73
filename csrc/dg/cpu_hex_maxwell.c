/* cpu_hex_maxwell.c: Maxwell's equations by DG on parallelepipeds: the stages on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS     "physics/maxwell.h"
#define SPACE       "space/hex_affine.h"
#define NAMED(name) PRECISION(hex_maxwell_##name##_)
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_hex_maxwell_)[2] = {NAMED(upwind_block_stage),
                                                        NAMED(central_block_stage)};
