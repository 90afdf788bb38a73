/* parallel.c: the number of threads, subnormal numbers.
 * Not here: the loops that use them (*_cpu.inc.h). Next: parallel.h. */
#include "parallel.h"

#include <omp.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

int32_t parallel_threads(int32_t wanted)
{
    return wanted > 0 ? wanted : omp_get_max_threads();
}

#ifdef __SSE__
enum { RESULTS_TO_0 = 1 << 15, OPERANDS_TO_0 = 1 << 6 }; /* of MXCSR */

uint32_t parallel_flush(void)
{
    uint32_t kept = _mm_getcsr();
    _mm_setcsr(kept | RESULTS_TO_0 | OPERANDS_TO_0);
    return kept;
}

void parallel_restore(uint32_t kept)
{
    _mm_setcsr(kept);
}
#else
uint32_t parallel_flush(void)
{
    return 0;
}

void parallel_restore(uint32_t kept)
{
    (void)kept;
}
#endif
