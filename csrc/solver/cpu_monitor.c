/* cpu_monitor.c: adds a sample to the accumulators of a piece of a monitor, row by row:
 *     max <- max(max, p),  min <- min(min, p)                    in REAL
 *     sum <- sum + p^2,  sum <- sum + p w                        in float64, w of each frequency
 * A value is added to by the same operations whatever the threads and the parts. Not here: where values stand (methods). */
#include "monitor.h"

#include "../cpu/precision.h"

struct row {
    const REAL *value;
    int64_t step, num;
    REAL sign;
};

CLONES static void keep_largest(REAL *kept, struct row r, bool first)
{
    for (int64_t i = 0; i < r.num; i++) {
        REAL p = r.sign * r.value[i * r.step];
        kept[i] = first || p > kept[i] ? p : kept[i];
    }
}

CLONES static void keep_smallest(REAL *kept, struct row r, bool first)
{
    for (int64_t i = 0; i < r.num; i++) {
        REAL p = r.sign * r.value[i * r.step];
        kept[i] = first || p < kept[i] ? p : kept[i];
    }
}

CLONES static void add_squares(double *sum, struct row r, bool first)
{
    for (int64_t i = 0; i < r.num; i++) {
        double p = r.value[i * r.step];
        sum[i] = (first ? 0 : sum[i]) + p * p;
    }
}

CLONES static void add_wave(double *sum, struct row r, bool first, double wave)
{
    for (int64_t i = 0; i < r.num; i++)
        sum[i] = (first ? 0 : sum[i]) + wave * r.value[i * r.step];
}

/* apart: accumulators of an array. */
static void add_row(void *sums, int64_t at, int64_t apart, struct row r, const struct monitor_sample *sample)
{
    if (sample->statistic == UNDA_MAXIMUM)
        keep_largest((REAL *)sums + at, r, sample->first);
    else if (sample->statistic == UNDA_MINIMUM)
        keep_smallest((REAL *)sums + at, r, sample->first);
    else if (sample->statistic == UNDA_SQUARES)
        add_squares((double *)sums + at, r, sample->first);
    for (int32_t i = 0; i < 2 * sample->num_frequency; i++)
        add_wave((double *)sums + i * apart + at, r, sample->first, r.sign * sample->wave[i]);
}

/* Values one after the other are taken at once. */
static int64_t run_length(const int64_t *place, int64_t num)
{
    int64_t n = 1;
    while (n < num && place[0] >= 0 && place[n] == place[0] + n)
        n++;
    return n;
}

static inline int64_t magnitude(int64_t place)
{
    return place < 0 ? ~place : place;
}

void PRECISION(monitor_cpu_take_)(const struct monitor_piece *piece, const struct monitor_view *view,
                                  const struct monitor_sample *sample)
{
    const int64_t *x = piece->place, *y = x + piece->num_axis[0], *z = y + piece->num_axis[1];
    int64_t num_y = piece->num_axis[1], num = piece->num_axis[2], all = piece->num_row * num;
    int32_t threads = parallel_worth(piece->part->options.threads, all, LEAST_SCALAR);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < piece->num_row; row++) {
        int64_t i = x[row / num_y], j = y[row % num_y];
        const REAL *at = (const REAL *)view->base + magnitude(i) * view->stride[0] +
                         magnitude(j) * view->stride[1] + view->value;
        for (int64_t k = 0, n; k < num; k += n) {
            n = run_length(z + k, num - k);
            REAL sign = (i < 0) ^ (j < 0) ^ (z[k] < 0) ? -1 : 1;
            add_row(piece->sums, row * num + k, all,
                    (struct row){at + magnitude(z[k]) * view->step, view->step, n, sign}, sample);
        }
    }
}
