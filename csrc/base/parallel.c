/* parallel.c: the number of threads, subnormal numbers.
 * Not here: the loops that use them (cpu_*.c). Next: parallel.h. */
#include "parallel.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

int32_t parallel_threads(int32_t wanted)
{
    return wanted > 0 ? wanted : omp_get_max_threads();
}

bool parallel_has_avx512(void)
{
#if HAS_AVX512
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
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

/* ---- threads that end ---- */

enum { MOST_THREAD = 64 };

struct part {
    void (*of)(void *user, int64_t begin, int64_t end);
    void *user;
    int64_t begin, end;
};

static void *do_part(void *given)
{
    const struct part *part = given;
    part->of(part->user, part->begin, part->end);
    return NULL;
}

void parallel_parts(int32_t threads, int64_t num, void (*of)(void *user, int64_t begin, int64_t end),
                    void *user)
{
    struct part part[MOST_THREAD];
    pthread_t thread[MOST_THREAD];
    bool runs[MOST_THREAD] = {0};
    int32_t count = threads < 1 ? 1 : threads < MOST_THREAD ? threads : MOST_THREAD;
    for (int32_t i = count - 1; i >= 0; i--) { /* this thread does part 0, and those that get no thread */
        part[i] = (struct part){of, user, num * i / count, num * (i + 1) / count};
        runs[i] = i > 0 && pthread_create(&thread[i], NULL, do_part, &part[i]) == 0;
        if (!runs[i])
            do_part(&part[i]);
    }
    for (int32_t i = 0; i < count; i++)
        if (runs[i])
            (void)pthread_join(thread[i], NULL);
}

int32_t parallel_parts_worth(int64_t num, int64_t nanoseconds)
{
    const int64_t least = 1000000; /* of a thread, which takes about 50000 to start */
    return parallel_worth(0, num, least / nanoseconds);
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
