/* cpu_fluxes.inc.h: the stages of PHYSICS on elements of SPACE under names NAMED(name), which lift one jump, lift
 * both, or take materials by node. On LINES, whose lift costs nothing, cells one
 * at a time alone gain by lifting one, or by knowing of materials when they are compiled. Next: cpu_stage.inc.h (the stage). */
#include "cpu_common.h"

#ifndef LINES
#define LINES 0
#endif
#define VAL     VEC
#define ROOT(x) vector_sqrt(x)
#define BY_NODE 0
#if !LINES || HAS_AVX512
#define BOTH_JUMPS 0
#define CELLS_ONLY LINES
#define FN(name)   NAMED(one_##name)
#include "cpu_stage.inc.h"
#undef BOTH_JUMPS
#undef CELLS_ONLY
#undef FN
#endif
#define CELLS_ONLY 0
#define BOTH_JUMPS 1
#define FN(name)   NAMED(both_##name)
#include "cpu_stage.inc.h"
#undef BY_NODE
#undef FN
#if !LINES || HAS_AVX512
#undef CELLS_ONLY
#define CELLS_ONLY LINES
#define BY_NODE    1
#define FN(name)   NAMED(by_node_##name)
#include "cpu_stage.inc.h"
#endif

/* Cells one at a time, by CELL_LINE 4, 8: upwind, central, and where materials are by node. */
#if LINES && HAS_AVX512
#define CELL_STAGES_OF(n)                                                                                    \
    {NAMED(one_cells_stage_##n), NAMED(both_cells_stage_##n), NAMED(by_node_cells_stage_##n)}
#define CELL_STAGES {CELL_STAGES_OF(4), CELL_STAGES_OF(8)}
#else
#define CELL_STAGES                                                                                          \
    {                                                                                                        \
        {NULL, NULL, NULL},                                                                                  \
        {                                                                                                    \
            NULL, NULL, NULL                                                                                 \
        }                                                                                                    \
    }
#endif
