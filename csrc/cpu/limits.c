/* limits.c: measures the CPU with the threads that a solver would use: copy bandwidth and multiply-add rates.
 * The loops are plain C that gcc vectorises for each instruction set (CLONES); rates are the best of several
 * runs, since what disturbs a measurement only ever makes it slower. Next: gpu/limits.c, the same for
 * devices. */
#include "limits.h"

#include "../base/parallel.h"

#include <omp.h>

enum { NUM_REPEAT = 5, COPY_BYTES = 128 << 20, ROW_BYTES = 64, CHUNK = 4096 };
static const double enough = 0.02; /* a timed run takes at least this [s] */

/* ---- copying ---- */

CLONES static void copy_values(double *restrict to, const double *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

/* One pass in chunks, each thread with its own contiguous part. */
static double copy_seconds(double *to, const double *from, int64_t count, int threads)
{
    double start = clock_seconds();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < count; i += CHUNK)
        copy_values(to + i, from + i, CHUNK);
    return clock_seconds() - start;
}

/* Memory on the node of the thread that uses it: the pages are touched first by the same loop. */
static unda_status measure_copy(int threads, double *bytes_per_second)
{
    int64_t count = COPY_BYTES / (int64_t)sizeof(double);
    double best = 1e30;
    SCRATCH double *from = NULL, *to = NULL;
    TRY(array_try(&from, count, sizeof *from, "copy source"));
    TRY(array_try(&to, count, sizeof *to, "copy target"));
    for (int i = 0; i < NUM_REPEAT; i++) {
        double seconds = copy_seconds(to, from, count, threads);
        best = seconds < best ? seconds : best;
    }
    *bytes_per_second = 2.0 * COPY_BYTES / best;
    return UNDA_OK;
}

/* ---- multiplying and adding ---- */

/* Independent vectors of 64 bytes hide the latency of a multiply-add (4 cycles, two a cycle: 8 vectors).
 * Twelve fit the 32 registers of AVX-512, six the 16 narrower ones of AVX2, so both are run and the better
 * one counts. Each row is a vector of the compiler, so that it stays in registers. */
typedef float float_row __attribute__((vector_size(ROW_BYTES)));
typedef double double_row __attribute__((vector_size(ROW_BYTES)));

#define DEFINE_CHAINS(NAME, TYPE, ROWS)                                                                      \
    CLONES static double NAME(int64_t num_loop)                                                              \
    {                                                                                                        \
        const TYPE factor = (TYPE)0.999, term = (TYPE)1e-3;                                                  \
        TYPE##_row row[ROWS], sum = {0};                                                                     \
        for (int i = 0; i < ROWS; i++)                                                                       \
            row[i] = sum + (TYPE)(i + 2); /* not 1, the fixed point: gcc would drop that row */              \
        for (int64_t loop = 0; loop < num_loop; loop++)                                                      \
            _Pragma("GCC unroll 12") for (int i = 0; i < ROWS; i++) row[i] = factor * row[i] + term;         \
        for (int i = 0; i < ROWS; i++)                                                                       \
            sum += row[i];                                                                                   \
        return (double)sum[0] + (double)sum[1];                                                              \
    }
DEFINE_CHAINS(float_6, float, 6)
DEFINE_CHAINS(float_12, float, 12)
DEFINE_CHAINS(double_6, double, 6)
DEFINE_CHAINS(double_12, double, 12)

static volatile double keep; /* the sums must be needed, or the loops go */

static double chains_seconds(double (*chains)(int64_t), int64_t num_loop, int threads)
{
    double start = clock_seconds(), sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += chains(num_loop);
    keep = sum;
    return clock_seconds() - start;
}

/* Turns of the loop a second, all threads together. */
static double turns_per_second(double (*chains)(int64_t), int threads)
{
    int64_t num_loop = 1 << 12;
    double best;
    while ((best = chains_seconds(chains, num_loop, threads)) < enough)
        num_loop *= 2;
    for (int i = 0; i < NUM_REPEAT; i++) {
        double seconds = chains_seconds(chains, num_loop, threads);
        best = seconds < best ? seconds : best;
    }
    return (double)num_loop * threads / best;
}

static double measure_chains(double (*six)(int64_t), double (*twelve)(int64_t), double real_bytes,
                             int threads)
{
    double rows_6 = 6 * turns_per_second(six, threads);
    double rows_12 = 12 * turns_per_second(twelve, threads);
    return 2.0 * ROW_BYTES / real_bytes * (rows_6 > rows_12 ? rows_6 : rows_12);
}

unda_status cpu_limits(int32_t threads, unda_limits *limits)
{
    if (threads < 0)
        FAIL(UNDA_ERR_ARG, "threads is %d, expected 0 (all) or more", threads);
    TRY(fork_check());
    fork_mark();
    int num_thread = parallel_threads(threads);
    TRY(measure_copy(num_thread, &limits->copy_bytes_per_second));
    limits->fma32_per_second = measure_chains(float_6, float_12, sizeof(float), num_thread);
    limits->fma64_per_second = measure_chains(double_6, double_12, sizeof(double), num_thread);
    return UNDA_OK;
}
