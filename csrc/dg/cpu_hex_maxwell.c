/* cpu_hex_maxwell.c: electromagnetic waves by DG on hexahedra: the stages on the CPU. Next: cpu_stage.inc.h. */
#define PHYSICS     "physics/maxwell.h"
#define SPACE       "space/hex_gll.h"
#define LINES       1
#define NAMED(name) PRECISION(hex_maxwell_##name##_)
#include "cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_hex_maxwell_)[3] = {NULL, NAMED(both_block_stage),
                                                        NAMED(both_block_stage)};
const dg_cpu_block PRECISION(dg_cpu_cells_maxwell_)[2][3] = CELL_STAGES;
