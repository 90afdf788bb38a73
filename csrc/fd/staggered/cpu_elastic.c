/* cpu_elastic.c: elastic waves on staggered grids: a row's update on the CPU.
 * Next: staggered/cpu_pass.inc.h. */
#define STAGGERED "physics/staggered_elastic.h"
#define FN(name)  PRECISION(staggered_elastic_##name##_)
#include "cpu_pass.inc.h"

const staggered_update PRECISION(staggered_elastic_)[2] = {FN(row0), FN(row1)};
