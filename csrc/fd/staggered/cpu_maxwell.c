/* cpu_maxwell.c: Maxwell's equations on staggered grids: a row's update on the CPU.
 * Next: staggered/cpu_pass.inc.h. */
#define STAGGERED "physics/staggered_maxwell.h"
#define FN(name)  PRECISION(staggered_maxwell_##name##_)
#include "cpu_pass.inc.h"

const staggered_update PRECISION(staggered_maxwell_)[2] = {FN(row0), FN(row1)};
