/* cpu_fluxes.inc.h: the stages of PHYSICS on elements of SPACE under names NAMED(name), which lift one jump, lift
 * both, or take materials by node. On LINES, whose lift costs nothing, there is no gain in lifting one.
 * Next: cpu_stage.inc.h (the stage). */
#include "cpu_common.h"

#ifndef LINES
#define LINES 0
#endif
#define VAL     VEC
#define ROOT(x) vector_sqrt(x)
#define BY_NODE 0
#if !LINES
#define BOTH_JUMPS 0
#define FN(name)   NAMED(one_##name)
#include "cpu_stage.inc.h"
#undef BOTH_JUMPS
#undef FN
#endif
#define BOTH_JUMPS 1
#define FN(name)   NAMED(both_##name)
#include "cpu_stage.inc.h"
#undef BY_NODE
#undef FN
#define BY_NODE  1
#define FN(name) NAMED(by_node_##name)
#include "cpu_stage.inc.h"
