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

/* Values that stand side by side are a loop of their own, which fills vectors. */
#define EACH_VALUE(r, i, body)                                                                               \
    if ((r).step == 1)                                                                                       \
        for (int64_t i = 0; i < (r).num; i++) {                                                              \
            REAL p = (r).sign * (r).value[i];                                                                \
            body;                                                                                            \
        }                                                                                                    \
    else                                                                                                     \
        for (int64_t i = 0; i < (r).num; i++) {                                                              \
            REAL p = (r).sign * (r).value[i * (r).step];                                                     \
            body;                                                                                            \
        }

CLONES static void set_values(REAL *kept, struct row r){EACH_VALUE(r, i, kept[i] = p)}

CLONES static void keep_largest(REAL *restrict kept,
                                struct row r){EACH_VALUE(r, i, kept[i] = p > kept[i] ? p : kept[i])}

CLONES static void keep_smallest(REAL *restrict kept,
                                 struct row r){EACH_VALUE(r, i, kept[i] = p < kept[i] ? p : kept[i])}

CLONES static void add_squares(double *restrict sum,
                               struct row r){EACH_VALUE(r, i, sum[i] += (double)p * (double)p)}

CLONES static void add_wave(double *restrict sum, struct row r, double wave)
{
    EACH_VALUE(r, i, sum[i] += wave * (double)p)
}

static void clear(double *sum, int64_t num)
{
    memset(sum, 0, (size_t)num * sizeof *sum);
}

/* apart: accumulators of an array. */
static void add_row(void *sums, int64_t at, int64_t apart, struct row r, const struct monitor_sample *sample)
{
    bool extreme = sample->statistic == UNDA_MAXIMUM || sample->statistic == UNDA_MINIMUM;
    if (extreme && sample->first)
        set_values((REAL *)sums + at, r);
    else if (sample->statistic == UNDA_MAXIMUM)
        keep_largest((REAL *)sums + at, r);
    else if (sample->statistic == UNDA_MINIMUM)
        keep_smallest((REAL *)sums + at, r);
    int32_t num = extreme ? 0 : sample->statistic == UNDA_SQUARES ? 1 : 2 * sample->num_frequency;
    for (int32_t i = 0; i < num; i++) {
        double *sum = (double *)sums + i * apart + at;
        if (sample->first)
            clear(sum, r.num);
        if (sample->statistic == UNDA_SQUARES)
            add_squares(sum, r);
        else
            add_wave(sum, r, sample->wave[i]);
    }
}

/* Values one after the other are taken at once. */
static int64_t run_length(const int64_t *place, int64_t num)
{
    int64_t n = num; /* places ascend but for the last one, which may be an image */
    while (n > 1 && place[n - 1] != place[0] + n - 1)
        n--;
    return place[0] < 0 ? 1 : n;
}

static inline int64_t magnitude(int64_t place)
{
    return place < 0 ? ~place : place;
}

void PRECISION(monitor_cpu_rows_)(const struct monitor_piece *piece, const struct monitor_view *view,
                                  const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end)
{
    const int64_t *x = piece->place, *y = x + piece->num_axis[0], *z = y + piece->num_axis[1];
    int64_t num_y = piece->num_axis[1], num = piece->num_axis[2], all = piece->num_row * num;
    const REAL *plane = (const REAL *)view->base + magnitude(x[i]) * view->stride[0] + view->value;
    for (; j < end; j++) {
        const REAL *at = plane + magnitude(y[j]) * view->stride[1];
        for (int64_t k = 0, n; k < num; k += n) {
            n = run_length(z + k, num - k);
            REAL sign = (x[i] < 0) ^ (y[j] < 0) ^ (z[k] < 0) ? -1 : 1;
            add_row(piece->sums, (i * num_y + j) * num + k, all,
                    (struct row){at + magnitude(z[k]) * view->step, view->step, n, sign}, sample);
        }
    }
}
