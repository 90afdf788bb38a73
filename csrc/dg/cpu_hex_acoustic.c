/* cpu_hex_acoustic.c: acoustics by DG on parallelepipeds: the stages on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS     "physics/acoustic.h"
#define SPACE       "space/hex_affine.h"
#define NAMED(name) PRECISION(hex_acoustic_##name##_)
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_hex_acoustic_)[2] = {NAMED(upwind_block_stage),
                                                         NAMED(central_block_stage)};
