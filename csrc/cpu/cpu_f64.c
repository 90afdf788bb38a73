/* cpu_f64.c: the CPU stages in float64. */
#define REAL double
#define LANES 8 /* one 64-byte vector of elements */
#define SQRT sqrt
#define PRECISION(name) name##f64
#include "cpu_variants.inc.h"
