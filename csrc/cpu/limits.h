/* limits.h: measures the CPU: copy bandwidth and multiply-add rates. Next: limits.c; for devices
 * gpu/limits.c. */
#ifndef UNDA_CPU_LIMITS_H
#define UNDA_CPU_LIMITS_H

#include "../base/base.h"

/* With `threads` threads, 0 for all that the process may use. Takes about a second. */
unda_status cpu_limits(int32_t threads, unda_limits *limits);

#endif
