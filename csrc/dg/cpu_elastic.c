/* cpu_elastic.c: the stages of elastic waves on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS "physics/elastic.h"
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_elastic_)[2] = {upwind_block_stage, central_block_stage};
