/* cpu_acoustic.c: acoustics on staggered grids: a row's update on the CPU.
 * Next: staggered/cpu_pass.inc.h. */
#define STAGGERED "physics/staggered_acoustic.h"
#define FN(name)  PRECISION(staggered_acoustic_##name##_)
#include "cpu_pass.inc.h"

const staggered_update PRECISION(staggered_acoustic_)[2] = {FN(row0), FN(row1)};
