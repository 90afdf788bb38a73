/* parallel.c: the number of threads, subnormal numbers.
 * Not here: the loops that use them (cpu_*.c). Next: parallel.h. */
#include "parallel.h"

#include <omp.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

int32_t parallel_threads(int32_t wanted)
{
    return wanted > 0 ? wanted : omp_get_max_threads();
}

int32_t parallel_worth(int32_t wanted, int64_t values, int64_t least)
{
    int64_t worth = 1 + (values - 1) / least, threads = parallel_threads(wanted);
    return (int32_t)(wanted > 0 || threads < worth ? threads : worth);
}

int32_t parallel_few(int32_t wanted)
{
    enum { FEW = 8 };
    int32_t threads = parallel_threads(wanted);
    return threads < FEW ? threads : FEW;
}

void parallel_copy(void *to, const void *from, int64_t bytes, int32_t threads)
{
    enum { PART = 1 << 17 }; /* copying fewer bytes takes less time than waking a thread */
#pragma omp parallel for schedule(static) num_threads(threads) if (bytes > 2 * PART)
    for (int64_t at = 0; at < bytes; at += PART)
        memcpy((char *)to + at, (const char *)from + at, (size_t)(bytes - at < PART ? bytes - at : PART));
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
