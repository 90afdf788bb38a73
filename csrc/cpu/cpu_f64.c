/* cpu_f64.c: the CPU stages in float64.
 * Not here: a line of them; each body is written once for both precisions. Next: cpu_variants.inc.h. */
#define REAL            double
#define LANES           8 /* one 64-byte vector of elements */
#define SQRT            sqrt
#define PRECISION(name) name##f64
#include "cpu_variants.inc.h"
