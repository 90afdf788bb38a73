/* cpu_f32.c: the CPU stages in float32.
 * Not here: a line of them; each body is written once for both precisions. Next: cpu_variants.inc.h. */
#define REAL            float
#define LANES           16 /* one 64-byte vector of elements */
#define SQRT            sqrtf
#define PRECISION(name) name##f32
#include "cpu_variants.inc.h"
