/* monitor.c: monitors of a solver: their pieces, their public functions. Not here: samples (monitor_samples.c), where values
 * stand (dg/monitor.c, fd/monitor.c, sem/monitor.c). */
#include "monitor.h"

#include "../base/parallel.h"
#include "common/monitor_args.h"
#include "cuda_monitor.h"

#include <math.h>
#include <string.h>

/* ---- pieces ---- */

static int64_t bytes_of(const struct monitor *m, int64_t num_value, int64_t real_bytes)
{
    int64_t held = m->batch > 1 && !m->level_bytes ? m->batch * real_bytes : 0;
    return num_value * (m->num_array * m->bytes + held) + m->batch * m->level_bytes;
}

unda_status monitor_add_piece(struct monitor *m, unda_solver *part, const int32_t *num_axis,
                              struct monitor_piece **piece)
{
    struct monitor_piece *p = &m->piece[m->num_piece];
    int64_t num_place = (int64_t)num_axis[0] + num_axis[1] + num_axis[2];
    *p = (struct monitor_piece){
        .part = part, .num_row = (int64_t)num_axis[0] * num_axis[1], .pitch = num_axis[2]};
    memcpy(p->num_axis, num_axis, sizeof p->num_axis);
    if (!m->move)
        TRY(array_own(&m->owned, &p->to, p->num_row, sizeof *p->to, "monitors"));
    TRY(array_own(&m->owned, &p->place, num_place, sizeof *p->place, "monitors"));
    m->num_piece += p->num_row > 0;
    *piece = p;
    return UNDA_OK;
}

unda_status monitor_cpu_new(struct monitor *m, struct monitor_piece *piece)
{
    int64_t num = monitor_num_value(piece), held = m->batch > 1 ? m->batch * num : 0;
    TRY(array_own(&m->owned, &piece->held, held, piece->part->real_bytes, "monitors"));
    return array_own(&m->owned, &piece->sums, num * m->num_array, m->bytes, "monitors");
}

void monitor_cpu_take(const struct monitor_piece *piece, const struct monitor_view *view,
                      const struct monitor_sample *sample)
{
    int64_t all = monitor_num_value(piece);
    int32_t threads = parallel_worth(piece->part->options.threads, all, LEAST_SCALAR);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < piece->num_axis[0]; i++)
        monitor_cpu_rows(piece, view, sample, i, 0, piece->num_axis[1]);
}

void monitor_cpu_rows(const struct monitor_piece *piece, const struct monitor_view *view,
                      const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end)
{
    (piece->part->real_bytes == 4 ? monitor_cpu_rows_f32 : monitor_cpu_rows_f64)(piece, view, sample, i, j,
                                                                                 end);
}

/* Array by array, where the method knows where values go. */
static unda_status move_arrays(const struct monitor *m, const struct monitor_piece *piece, char *out,
                               const char *in)
{
    SCRATCH char *room = NULL;
    int64_t bytes = monitor_num_value(piece) * m->bytes, all = m->num_row * m->row * m->bytes;
    TRY(array_try(&room, piece->cuda ? bytes : 0, 1, "monitors"));
    for (int32_t i = 0; i < m->num_array; i++) {
        char *sums = piece->cuda ? room : (char *)piece->sums + i * bytes;
        if (piece->cuda)
            TRY(cuda_monitor_move(piece->cuda, i * bytes, bytes, sums, NULL));
        m->move(m, piece, sums, out ? out + i * all : NULL, in ? in + i * all : NULL);
        if (in && piece->cuda)
            TRY(cuda_monitor_move(piece->cuda, i * bytes, bytes, NULL, sums));
    }
    return UNDA_OK;
}

/* Accumulators [array][row] of a piece out, or in, by way of a batch of rows in host memory. */
static unda_status move_rows(const struct monitor *m, const struct monitor_piece *piece, char *out,
                             const char *in)
{
    enum { BATCH = 4096 };
    SCRATCH char *room = NULL;
    int64_t row = piece->pitch * m->bytes, total = piece->num_row * m->num_array;
    int64_t batch = total < BATCH ? total : BATCH, of_user = m->row * m->bytes;
    TRY(array_try(&room, batch, row, "monitors"));
    for (int64_t done = 0; done < total; done += batch) {
        int64_t num = total - done < batch ? total - done : batch;
        char *sums = piece->sums ? (char *)piece->sums + done * row : room;
        if (out && piece->cuda)
            TRY(cuda_monitor_move(piece->cuda, done * row, num * row, room, NULL));
        for (int64_t i = 0; i < num; i++) {
            int64_t array = (done + i) / piece->num_row,
                    to = (array * m->num_row + piece->to[(done + i) % piece->num_row]) * of_user;
            char *values = sums + i * row + piece->pad * m->bytes;
            memcpy(out ? out + to : values, out ? values : in + to, (size_t)of_user);
        }
        if (in && piece->cuda)
            TRY(cuda_monitor_move(piece->cuda, done * row, num * row, NULL, room));
    }
    return UNDA_OK;
}

static unda_status move_piece(const struct monitor *m, const struct monitor_piece *piece, char *out,
                              const char *in)
{
    return (m->move ? move_arrays : move_rows)(m, piece, out, in);
}

/* ---- the public functions ---- */

static void monitor_free(struct monitor *m)
{
    for (int32_t i = 0; i < m->num_piece; i++)
        cuda_monitor_free(m->piece[i].cuda);
    array_free(m->wave);
    arrays_free(&m->owned);
    array_free(m);
}

/* What solvers say that they take, with that of a monitor, or without. */
static void count_bytes(unda_solver *s, const struct monitor *m, int64_t times)
{
    for (int32_t i = 0; i < m->num_piece; i++) {
        int64_t bytes = times * bytes_of(m, monitor_num_value(&m->piece[i]), s->real_bytes);
        *(m->piece[i].sums ? &s->host_bytes : &s->device_bytes) += bytes;
        if (m->piece[i].part != s)
            *(m->piece[i].sums ? &m->piece[i].part->host_bytes : &m->piece[i].part->device_bytes) += bytes;
    }
}

void monitors_free(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        count_bytes(s, s->monitors[i], -1);
        monitor_free(s->monitors[i]);
    }
    array_free(s->monitors);
    s->monitors = NULL;
    s->num_monitor = 0;
}

static unda_status check(const unda_monitor *given)
{
    CHECK_SIZE(given, unda_monitor);
    bool fourier = given->statistic == UNDA_FOURIER;
    if (given->quantity < UNDA_AS_IT_IS || given->quantity > UNDA_MAGNITUDE)
        FAIL(UNDA_ERR_ARG, "monitor: quantity %d, expected 0..%d", given->quantity, UNDA_MAGNITUDE);
    if (given->statistic < UNDA_MAXIMUM || given->statistic > UNDA_FOURIER || given->every < 1 ||
        given->every > INT32_MAX || !isfinite(given->lag))
        FAIL(UNDA_ERR_ARG,
             "monitor: statistic %d, every %lld steps, lag %g s; expected 0..%d, 1 to 2147483647, a number",
             given->statistic, (long long)given->every, given->lag, UNDA_FOURIER);
    if (given->num_frequency < fourier || given->num_frequency > (fourier ? UNDA_MAX_FREQUENCY : 0) ||
        (fourier && !given->frequencies))
        FAIL(UNDA_ERR_ARG, "monitor: %lld frequencies, expected %s", (long long)given->num_frequency,
             fourier ? "1 to 128 of a Fourier transform; another monitor takes more" : "none");
    for (int64_t i = 0; i < given->num_frequency; i++)
        if (!isfinite(given->frequencies[i]))
            FAIL(UNDA_ERR_ARG, "monitor: frequency %lld is %g Hz, expected a finite number", (long long)i,
                 given->frequencies[i]);
    return UNDA_OK;
}

int32_t monitor_hold(const struct monitor *m, int real_bytes, bool on_cpu)
{
    int32_t most = real_bytes == 4 ? MONITOR_BATCH : MONITOR_BATCH / 2;
    if (m->statistic != UNDA_FOURIER)
        return m->statistic == UNDA_SQUARES && real_bytes == 4 && !on_cpu ? most : 1;
    most *= on_cpu && m->num_frequency > 1 ? 2 : 1;
    int32_t room = UNDA_MAX_FREQUENCY / m->num_frequency;
    return room < most ? room : most;
}

unda_status monitor_check_field(const unda_monitor *given, int32_t num_field)
{
    int32_t last = num_field - monitor_num_field(given->quantity);
    if (given->field < 0 || given->field > last)
        FAIL(UNDA_ERR_ARG, "monitor: field %d, expected 0..%d", given->field, last);
    return UNDA_OK;
}

unda_status monitor_check_elem(const unda_monitor *given, int64_t num_elem)
{
    for (int64_t i = 0; given->elem && i < given->num_elem; i++)
        if (given->elem[i] < 0 || given->elem[i] >= num_elem || (i && given->elem[i] <= given->elem[i - 1]))
            FAIL(UNDA_ERR_ARG, "monitor: cell number %lld is %lld, expected cells within 0..%lld that ascend",
                 (long long)i, (long long)given->elem[i], (long long)num_elem - 1);
    return UNDA_OK;
}

/* What is asked for, of options that say the precision. */
static void begin(struct monitor *m, const unda_solver_options *options, const unda_monitor *given)
{
    bool extreme = given->statistic < UNDA_SQUARES;
    m->field = given->field;
    m->statistic = given->statistic;
    m->quantity = given->quantity;
    m->num_moved = monitor_num_field(given->quantity);
    m->num_frequency = (int32_t)given->num_frequency;
    m->num_array = given->statistic == UNDA_FOURIER ? 2 * m->num_frequency : 1;
    m->bytes = extreme && options->precision == UNDA_FLOAT32 ? 4 : 8;
    m->every = given->every;
    m->lag = given->lag;
    m->batch = 1;
}

static unda_status fill(unda_solver *s, struct monitor *m, const unda_monitor *given)
{
    begin(m, &s->options, given);
    TRY(array_own(&m->owned, &m->frequency, m->num_frequency, sizeof *m->frequency, "monitors"));
    for (int32_t i = 0; i < m->num_frequency; i++)
        m->frequency[i] = given->frequencies[i];
    TRY(s->method->monitor(s, m, given));
    for (int32_t i = 0; i < m->num_piece; i++)
        TRY(m->piece[i].part->engine->monitor_new(m, &m->piece[i]));
    return monitor_restart(s, m);
}

/* A sample reads fields; accumulators are read, and written, a maximum where it grows, which is rare. */
static double moved_by(const struct monitor *m, double real_bytes)
{
    double sums = (m->statistic < UNDA_SQUARES ? 1 : 2) * (double)(m->num_array * m->bytes);
    double fields = m->num_moved * real_bytes;
    if (m->batch > 1)
        return fields + (m->level_bytes ? 0 : 2 * real_bytes) + sums / m->batch;
    return fields + sums / (m->pairs ? 2 : 1);
}

unda_status unda_monitor_bytes(const unda_solver_options *options, const unda_monitor *given,
                               int64_t num_value, int64_t *bytes, double *moved)
{
    struct monitor m = {.num_piece = 0};
    __attribute__((cleanup(solver_free_sizes))) unda_solver s = {0};
    TRY(solver_begin(&s, NULL, options));
    TRY(check(given));
    if (num_value < 0)
        FAIL(UNDA_ERR_ARG, "a monitor of %lld values, expected 0 or more", (long long)num_value);
    begin(&m, options, given);
    if (s.method->monitor_ways)
        TRY(s.method->monitor_ways(&s, options, given, num_value, &m));
    if (bytes)
        *bytes = bytes_of(&m, num_value, s.real_bytes);
    if (moved)
        *moved = moved_by(&m, s.real_bytes) * (double)num_value;
    return UNDA_OK;
}

unda_status unda_solver_add_monitor(unda_solver *s, const unda_monitor *given, int32_t *index)
{
    if (!index)
        FAIL(UNDA_ERR_ARG, "index is NULL");
    ENTER(s);
    TRY(check(given));
    if (!s->method->monitor)
        return solver_lacks(s, "monitors");
    struct monitor *m;
    TRY(array_grow(&s->monitors, s->num_monitor, s->num_monitor + 1, sizeof m, "monitors"));
    TRY(array_try(&m, 1, sizeof *m, "monitors"));
    TRY(COMPLETE(&s->monitors[s->num_monitor], m, monitor_free, fill(s, m, given)));
    count_bytes(s, m, 1);
    s->reserved = false;
    *index = s->num_monitor++;
    return UNDA_OK;
}

unda_status unda_solver_clear_monitors(unda_solver *s)
{
    ENTER(s);
    if (s->engine->monitors_end && s->num_monitor)
        TRY(s->engine->monitors_end(s));
    monitors_free(s);
    s->reserved = false; /* engines keep nothing for them any longer */
    return UNDA_OK;
}

static unda_status find(const unda_solver *s, int32_t index, struct monitor **m)
{
    if (index < 0 || index >= s->num_monitor)
        FAIL(UNDA_ERR_ARG, "monitor is %d, expected 0..%d", index, s->num_monitor - 1);
    *m = s->monitors[index];
    return UNDA_OK;
}

unda_status unda_solver_restart_monitor(unda_solver *s, int32_t index)
{
    struct monitor *m = NULL;
    ENTER(s);
    TRY(find(s, index, &m));
    return monitor_restart(s, m);
}

unda_status unda_solver_read_monitor(unda_solver *s, int32_t index, int64_t *first, int64_t *num_sample,
                                     void *values)
{
    struct monitor *m = NULL;
    ENTER(s);
    TRY(find(s, index, &m));
    TRY(monitor_add_held(m));
    for (int32_t i = 0; values && i < m->num_piece; i++)
        TRY(move_piece(m, &m->piece[i], values, NULL));
    if (first)
        *first = m->first;
    if (num_sample)
        *num_sample = m->num_sample;
    return UNDA_OK;
}

unda_status unda_solver_monitor_moved(unda_solver *s, int32_t index, double *bytes)
{
    struct monitor *m = NULL;
    ENTER(s);
    TRY(find(s, index, &m));
    if (!bytes)
        FAIL(UNDA_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    for (int32_t i = 0; i < m->num_piece; i++)
        *bytes += moved_by(m, s->real_bytes) * (double)monitor_num_value(&m->piece[i]) / (double)m->every;
    return UNDA_OK;
}

unda_status unda_solver_write_monitor(unda_solver *s, int32_t index, int64_t first, int64_t num_sample,
                                      const void *values)
{
    struct monitor *m = NULL;
    ENTER(s);
    TRY(find(s, index, &m));
    if (!values || first < 0 || num_sample < 1)
        FAIL(UNDA_ERR_ARG, "values is NULL, or first is %lld, num_sample %lld; expected 0 or more, 1 or more",
             (long long)first, (long long)num_sample);
    TRY(monitor_add_held(m));
    for (int32_t i = 0; i < m->num_piece; i++)
        TRY(move_piece(m, &m->piece[i], NULL, values));
    m->first = first;
    m->num_sample = num_sample;
    return UNDA_OK;
}
