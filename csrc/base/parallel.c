/* parallel.c: the number of threads.
 * Not here: the loops that use them (*_cpu.inc.h). Next: parallel.h. */
#include "parallel.h"

#include <omp.h>

int32_t parallel_threads(int32_t wanted)
{
    return wanted > 0 ? wanted : omp_get_max_threads();
}
