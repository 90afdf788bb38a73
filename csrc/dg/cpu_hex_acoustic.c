/* cpu_hex_acoustic.c: acoustics by DG on hexahedra: the stages on the CPU. Next: cpu_stage.inc.h. */
#define PHYSICS     "physics/acoustic.h"
#define SPACE       "space/hex_gll.h"
#define LINES       1
#define NAMED(name) PRECISION(hex_acoustic_##name##_)
#include "cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_hex_acoustic_)[3] = {NULL, NAMED(both_block_stage),
                                                         NAMED(both_block_stage)};
const dg_cpu_block PRECISION(dg_cpu_cells_acoustic_)[2][3] = CELL_STAGES;
