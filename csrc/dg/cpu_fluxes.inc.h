/* cpu_fluxes.inc.h: the stage of PHYSICS on elements of SPACE with either flux, under names NAMED(name).
 * Next: cpu_stage.inc.h (the stage). */
#include "cpu_common.h"

#define VAL          VEC
#define FLUX_CENTRAL 0
#define FN(name)     NAMED(upwind_##name)
#include "cpu_stage.inc.h"
#undef FLUX_CENTRAL
#undef FN
#define FLUX_CENTRAL 1
#define FN(name)     NAMED(central_##name)
#include "cpu_stage.inc.h"
