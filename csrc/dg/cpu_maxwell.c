/* cpu_maxwell.c: the stages of Maxwell's equations on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS "physics/maxwell.h"
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_maxwell_)[2] = {upwind_block_stage, central_block_stage};
