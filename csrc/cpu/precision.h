/* precision.h: what the files cpu_*.c are written in, each of which is compiled with REAL_BITS 32 and 64: REAL,
 * of which LANES fill 64 bytes; PRECISION(name), for what other files or profilers see. */
#ifndef UNDA_PRECISION_H
#define UNDA_PRECISION_H

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

#if REAL_BITS == 32
#define REAL            float
#define LANES           16
#define SQRT            sqrtf
#define FMA             __builtin_fmaf
#define PRECISION(name) name##f32
#elif REAL_BITS == 64
#define REAL            double
#define LANES           8
#define SQRT            sqrt
#define FMA             __builtin_fma
#define PRECISION(name) name##f64
#else
#error "REAL_BITS is to be 32 or 64; make lib compiles files cpu_*.c for both"
#endif
#define DEVICE static inline __attribute__((always_inline, unused))

#endif
