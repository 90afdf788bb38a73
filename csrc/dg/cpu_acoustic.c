/* cpu_acoustic.c: the stages of acoustics on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS "physics/acoustic.h"
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_acoustic_)[2] = {upwind_block_stage, central_block_stage};
