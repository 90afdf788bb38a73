/* cpu_monitor.c: adds a sample to the accumulators of a piece of a monitor, row by row: of the field, minus it, or what is
 * made of three fields,
 *
 *     max <- max(max, p),  min <- min(min, p)     in REAL
 *     sum <- sum + p^2,    sum <- sum + p w       in float64, w of each frequency
 *
 * at once, or once several samples are held. A value is added to by the same operations whatever the threads and the parts.
 * Not here: where values stand (methods). */
#include "monitor.h"

#include "../cpu/precision.h"

#include <math.h>

/* Rows of values: those of one are `step` apart, rows `apart`. Accumulators of all follow one another. */
struct row {
    const REAL *value, *earlier; /* of the sample before, which is added first; NULL: there is none */
    int64_t step, num, num_row, apart;
    REAL sign;
};

/* Values that stand side by side are a loop of their own, which fills vectors. */
#define EACH_VALUE(r, i, body)                                                                               \
    for (int64_t row = 0; row < (r).num_row; row++) {                                                        \
        const REAL *value = (r).value + row * (r).apart;                                                     \
        const REAL *earlier = (r).earlier ? (r).earlier + row * (r).apart : NULL;                            \
        int64_t first = row * (r).num, end = first + (r).num;                                                \
        if (earlier)                                                                                         \
            for (int64_t i = first; i < end; i++) {                                                          \
                REAL p = (r).sign * earlier[i - first];                                                      \
                body;                                                                                        \
                p = (r).sign * value[i - first];                                                             \
                body;                                                                                        \
            }                                                                                                \
        else if ((r).step == 1)                                                                              \
            for (int64_t i = first; i < end; i++) {                                                          \
                REAL p = (r).sign * value[i - first];                                                        \
                body;                                                                                        \
            }                                                                                                \
        else                                                                                                 \
            for (int64_t i = first; i < end; i++) {                                                          \
                REAL p = (r).sign * value[(i - first) * (r).step];                                           \
                body;                                                                                        \
            }                                                                                                \
    }

CLONES static void set_values(REAL *kept, struct row r){EACH_VALUE(r, i, kept[i] = p)}

CLONES static void keep_largest(REAL *restrict kept,
                                struct row r){EACH_VALUE(r, i, kept[i] = p > kept[i] ? p : kept[i])}

CLONES static void keep_smallest(REAL *restrict kept,
                                 struct row r){EACH_VALUE(r, i, kept[i] = p < kept[i] ? p : kept[i])}

CLONES static void add_squares(double *restrict sum,
                               struct row r){EACH_VALUE(r, i, sum[i] += (double)p * (double)p)}

/* The sums of cosines and of sines of a frequency; wave: of both. */
CLONES static void add_wave(double *restrict sum, double *restrict other, struct row r, const double *wave)
{
    const double c = wave[0], s = wave[1];
    EACH_VALUE(r, i, sum[i] += c * (double)p; other[i] += s * (double)p)
}
static void clear(double *sum, int64_t num)
{
    memset(sum, 0, (size_t)num * sizeof *sum);
}

/* The values from `at` on of a piece: added to its accumulators, or held. */
static void add_values(const struct monitor_piece *piece, int64_t at, struct row r,
                       const struct monitor_sample *sample)
{
    int64_t all = monitor_num_value(piece);
    bool extreme = sample->statistic == UNDA_MAXIMUM || sample->statistic == UNDA_MINIMUM;
    if (sample->slot >= 0)
        set_values((REAL *)piece->held + sample->slot * all + at, r);
    else if (extreme && sample->first)
        set_values((REAL *)piece->sums + at, r);
    else if (sample->statistic == UNDA_MAXIMUM)
        keep_largest((REAL *)piece->sums + at, r);
    else if (sample->statistic == UNDA_MINIMUM)
        keep_smallest((REAL *)piece->sums + at, r);
    if (extreme || sample->slot >= 0)
        return;
    double *sum = (double *)piece->sums + at;
    int32_t num = sample->statistic == UNDA_SQUARES ? 1 : 2 * sample->num_frequency;
    for (int32_t i = 0; i < num && sample->first; i++)
        clear(sum + i * all, r.num_row * r.num);
    if (sample->statistic == UNDA_SQUARES)
        add_squares(sum, r);
    else
        for (int32_t i = 0; i < num; i += 2)
            add_wave(sum + i * all, sum + (i + 1) * all, r, sample->wave + i);
}

/* Adds TOGETHER samples that are held, `apart` values from each other, to the sums of `num` frequencies, 1 or 2, which is
 * a constant where this is inlined: a value is converted once, sums stay in registers. wave: [sample][wide]. */
enum { TOGETHER = LANES / 2, BATCH = 512 };
DEVICE void add_together(double *restrict sum, int64_t all, const REAL *restrict held, int64_t apart,
                         int64_t num_value, const double *wave, int64_t wide, int num)
{
    double w[TOGETHER][4];
    for (int n = 0; n < TOGETHER; n++)
        for (int k = 0; k < 2 * num; k++)
            w[n][k] = wave[n * wide + k];
#pragma omp simd
    for (int64_t i = 0; i < num_value; i++) {
        double a = sum[i], b = sum[all + i], c = 0, d = 0;
        if (num == 2) {
            c = sum[2 * all + i];
            d = sum[3 * all + i];
        }
#pragma GCC unroll 8
        for (int n = 0; n < TOGETHER; n++) {
            double p = (double)held[n * apart + i];
            a += w[n][0] * p;
            b += w[n][1] * p;
            if (num == 2) {
                c += w[n][2] * p;
                d += w[n][3] * p;
            }
        }
        sum[i] = a;
        sum[all + i] = b;
        if (num == 2) {
            sum[2 * all + i] = c;
            sum[3 * all + i] = d;
        }
    }
}
CLONES static void add_waves(double *sum, int64_t all, const REAL *held, int64_t num_value,
                             const double *wave, int64_t wide)
{
    int64_t k = 0;
    for (; k + 4 <= wide; k += 4)
        add_together(sum + k * all, all, held, all, num_value, wave + k, wide, 2);
    if (k < wide)
        add_together(sum + k * all, all, held, all, num_value, wave + k, wide, 1);
}

/* Values that are held, sample after sample; squares those of windows, whose monitors count as a device's. */
static void add_held(const struct monitor_piece *piece, int64_t at, int64_t num_all,
                     const struct monitor_sample *sample)
{
    int64_t all = monitor_num_value(piece), wide = 2 * sample->num_frequency;
    for (int64_t end = at + num_all; at < end; at += BATCH) {
        int64_t num = end - at < BATCH ? end - at : BATCH;
        double *sum = (double *)piece->sums + at;
        const REAL *held = (const REAL *)piece->held + at;
        int32_t n = 0;
        for (; n < sample->num && sample->statistic == UNDA_SQUARES; n++)
            add_squares(sum, (struct row){held + n * all, NULL, 1, num, 1, 0, 1});
        for (; n + TOGETHER <= sample->num; n += TOGETHER)
            add_waves(sum, all, held + n * all, num, sample->wave + n * wide, wide);
        for (; n < sample->num; n++) {
            struct row r = {held + n * all, NULL, 1, num, 1, 0, 1};
            for (int32_t k = 0; k < wide; k += 2)
                add_wave(sum + k * all, sum + (k + 1) * all, r, sample->wave + n * wide + k);
        }
    }
}

/* What a sample is of three fields; q: their rows. */
CLONES static void combine(REAL *restrict p, const struct row *q, int32_t quantity, int64_t first,
                           int64_t num)
{
    int64_t step = q->step;
    const REAL *a = q[0].value + first, *b = q[1].value + first, *c = q[2].value + first;
    if (quantity == UNDA_MINUS_MEAN)
        for (int64_t i = 0; i < num; i++)
            p[i] = -(a[i * step] + b[i * step] + c[i * step]) / 3;
    else
        for (int64_t i = 0; i < num; i++)
            p[i] =
                (REAL)sqrt(a[i * step] * a[i * step] + b[i * step] * b[i * step] + c[i * step] * c[i * step]);
}

static void add_rows(const struct monitor_piece *piece, int64_t at, struct row *q,
                     const struct monitor_sample *sample)
{
    if (sample->quantity == UNDA_MINUS)
        q->sign = -q->sign;
    if (monitor_num_field(sample->quantity) == 1) {
        add_values(piece, at, *q, sample);
        return;
    }
    REAL p[BATCH];
    for (int64_t row = 0; row < q->num_row; row++)
        for (int64_t i = 0; i < q->num; i += BATCH) {
            int64_t num = q->num - i < BATCH ? q->num - i : BATCH;
            combine(p, q, sample->quantity, row * q->apart + i * q->step, num);
            add_values(piece, at + row * q->num + i, (struct row){p, NULL, 1, num, 1, 0, q->sign}, sample);
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

enum { MOST_ROWS = 16 }; /* at a time, which stay in the cache */

void PRECISION(monitor_cpu_rows_)(const struct monitor_piece *piece, const struct monitor_view *view,
                                  const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end)
{
    const int64_t *x = piece->place, *y = x + piece->num_axis[0], *z = y + piece->num_axis[1];
    int64_t num = piece->num_axis[2], first = (i * piece->num_axis[1] + j) * num;
    int64_t plane = magnitude(x[i]) * view->stride[0] + view->value;
    bool whole = run_length(z, num) == num;
    for (int64_t rows; j < end; j += rows, first += rows * num) {
        int64_t at = plane + magnitude(y[j]) * view->stride[1],
                most = end - j < MOST_ROWS ? end - j : MOST_ROWS;
        rows = whole ? run_length(y + j, most) : 1;
        for (int64_t k = 0, n; k < num && (sample->slot >= 0 || sample->num == 0); k += n) {
            n = run_length(z + k, num - k);
            REAL sign = (x[i] < 0) ^ (y[j] < 0) ^ (z[k] < 0) ? -1 : 1;
            struct row q[3];
            for (int f = 0; f < monitor_num_field(sample->quantity); f++)
                q[f] = (struct row){(const REAL *)view->base[f] + at + magnitude(z[k]) * view->step,
                                    NULL,
                                    view->step,
                                    n,
                                    rows,
                                    view->stride[1],
                                    sign};
            if (sample->two)
                q[0].earlier = (const REAL *)view->earlier + (q[0].value - (const REAL *)view->base[0]);
            add_rows(piece, first + k, q, sample);
        }
        if (sample->num > 0)
            add_held(piece, first, rows * num, sample);
    }
}
