/* dg_cpu_fluxes.inc.h: the stage of PHYSICS on elements of SPACE with either flux, under names NAMED(name).
 * Next: dg_cpu.inc.h (the stage). */
#include "cpu_common.h"

#define VAL          VEC
#define FLUX_CENTRAL 0
#define FN(name)     NAMED(upwind_##name)
#include "dg_cpu.inc.h"
#undef FLUX_CENTRAL
#undef FN
#define FLUX_CENTRAL 1
#define FN(name)     NAMED(central_##name)
#include "dg_cpu.inc.h"
