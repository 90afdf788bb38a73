/* parallel.h: threads and vectors on the CPU: number of threads, instruction sets that functions are built
 * for, treatment of subnormal numbers.
 * Not here: the loops themselves (cpu_*.c). */
#ifndef UNDA_PARALLEL_H
#define UNDA_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* Three versions of a function in one binary; the loader chooses the best one for the machine. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(UNDA_NO_CLONES)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/* Of a function that another one replaces on processors with AVX-512. */
#define NARROW_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
/* Of a function that is built for AVX-512 only, and called where parallel_has_avx512. */
#define HAS_AVX512 1
#define AVX512     __attribute__((target("arch=x86-64-v4")))
#else
#define CLONES
#define NARROW_CLONES
#define HAS_AVX512 0
#endif

/* Of things that threads have side by side: each begins a line of the cache, as arrays do, so that no two threads write to
 * one. */
#define OWN_LINE _Alignas(64)

bool parallel_has_avx512(void);
/* Threads this process may use (its affinity mask and OMP_NUM_THREADS), or `wanted` if positive. */
int32_t parallel_threads(int32_t wanted);
/* The same for steps that update so many values, of which a thread is to have at least so many: in less than
 * about 0.1 ms a thread does not earn what it costs to wake and to wait for, most of all beside other load.
 * */
int32_t parallel_worth(int32_t wanted, int64_t values, int64_t least);
enum { LEAST_SCALAR = 1 << 16, LEAST_COUPLED = 1 << 13 }; /* 1.3 ns a node, about 10 ns an unknown */

/* The same, but no more than what the memory keeps busy: for setting up, where each byte is seen once. */
int32_t parallel_few(int32_t wanted);
/* memcpy by so many threads, where it is worth it. */
void parallel_copy(void *to, const void *from, int64_t bytes, int32_t threads);

/* Calls of(user, begin, end) for parts of 0..num on about so many threads, which end before it returns: a process that
 * has made a mesh may still be forked, which OpenMP's would not survive (fork.c). */
void parallel_parts(int32_t threads, int64_t num, void (*of)(void *user, int64_t begin, int64_t end),
                    void *user);
/* As many threads as such parts are worth, of about so many nanoseconds each: 1 below a few milliseconds. */
int32_t parallel_parts_worth(int64_t num, int64_t nanoseconds);

/* From here on this thread flushes subnormal numbers to 0, if its processor can: each would cost about a
 * hundred cycles, and they occur at every wave front. Returns the state that parallel_restore needs. */
uint32_t parallel_flush(void);
void parallel_restore(uint32_t kept);

#endif
