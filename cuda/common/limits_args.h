/* limits_args.h: argument struct of limits.cu, shared with csrc/gpu/limits.c. Plain types only (args.h says
 * why). */
#ifndef UNDA_LIMITS_ARGS_H
#define UNDA_LIMITS_ARGS_H

#include "common/size.h"

struct limits_args {
    const void *from;
    void *to;
    long long num_value; /* copy: 16-byte values */
    long long num_loop;  /* fma: iterations of the loop of NUM_CHAIN multiply-adds */
    double factor, term; /* fma: x = factor x + term; run-time values, so that nothing is folded */
};
SIZE_IS(limits_args, 48);

#define NUM_CHAIN 16 /* independent multiply-adds a thread */

#endif
