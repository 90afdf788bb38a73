/* monitor_samples.c: samples of monitors: which are due, in steps that run from sample to sample or go on beyond them, and
 * what they add. Not here: accumulating (cpu_monitor.c, cuda_monitor.c), the public functions (monitor.c). */
#include "monitor.h"

#include <math.h>
#include <string.h>

int64_t monitor_until(const unda_solver *s, const struct monitor *m)
{
    return m->every - (s->step - m->first) % m->every;
}

int64_t monitors_until(const unda_solver *s, int64_t most)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        int64_t left = monitor_until(s, s->monitors[i]);
        most = left < most ? left : most;
    }
    return most;
}

int64_t monitors_ahead(const unda_solver *s, int64_t most)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        int64_t left = monitor_until(s, s->monitors[i]);
        most = left < most && !s->monitors[i]->inside ? left : most;
    }
    return most;
}

/* Of a sample at a step. The phase f t is a part of a period, so that cos and sin have small arguments. */
static void make_waves(const unda_solver *s, const struct monitor *m, int64_t step, double *wave)
{
    const double turn = 6.283185307179586477;
    double t = s->t0 + (double)step * s->dt + m->lag;
    for (int32_t i = 0; i < m->num_frequency; i++) {
        double cycles = m->frequency[i] * t, part = cycles - floor(cycles);
        wave[2 * i] = cos(turn * part);
        wave[2 * i + 1] = -sin(turn * part);
    }
}

/* Samples that have been taken at steps up to this one, but for sample 0. */
static int64_t num_until(const struct monitor *m, int64_t step)
{
    return (step - m->first) / m->every;
}

void monitors_begin(unda_solver *s, int64_t num_step)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        struct monitor *m = s->monitors[i];
        int64_t before = num_until(m, s->step), end = num_until(m, s->step + num_step);
        m->num_call = end - before;
        for (int64_t k = before; k < end && m->inside; k++)
            make_waves(s, m, m->first + (k + 1) * m->every,
                       m->wave + (m->num_held + k - before) * 2 * m->num_frequency);
    }
}

/* The sample whose number is `number` among those that were held before the call and those of the call. */
static struct monitor_sample sample_of(const struct monitor *m, int64_t number)
{
    struct monitor_sample sample = {
        .statistic = m->statistic, .quantity = m->quantity, .num_frequency = m->num_frequency, .slot = -1};
    if (m->batch > 1) {
        sample.slot = (int32_t)(number % m->batch);
        sample.num = sample.slot == m->batch - 1 ? m->batch : 0;
    }
    sample.two = m->pairs && number % 2;
    int64_t first = number - (sample.num ? m->batch - 1 : sample.two);
    sample.wave = m->wave + first * 2 * m->num_frequency;
    return sample;
}

bool monitor_due(const unda_solver *s, const struct monitor *m, int64_t step, struct monitor_sample *sample)
{
    int64_t number = num_until(m, step) - num_until(m, s->begin) - 1;
    bool waits = m->pairs && number % 2 == 0 && number < m->num_call - 1; /* for the next one */
    if (!m->inside || (step - m->first) % m->every || waits)
        return false;
    *sample = sample_of(m, m->num_held + number);
    return true;
}

unda_status monitors_reserve(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        struct monitor *m = s->monitors[i];
        int64_t num = m->batch + (m->inside ? s->max_step / m->every + 1 : 0), wide = 2 * m->num_frequency;
        TRY(array_grow(&m->wave, m->num_held * wide, num * wide, sizeof *m->wave, "monitors"));
    }
    return UNDA_OK;
}

static unda_status take(const struct monitor *m, const struct monitor_sample *sample)
{
    for (int32_t i = 0; i < m->num_piece; i++)
        TRY(m->piece[i].part->engine->monitor_take(m, &m->piece[i], sample));
    return UNDA_OK;
}

/* So many samples since num_held was counted were held, or added with others. */
static void count_samples(struct monitor *m, int64_t num)
{
    int64_t all = m->num_held + num, wide = 2 * m->num_frequency;
    m->num_sample += num;
    if (m->batch == 1)
        return;
    m->num_held = (int32_t)(all % m->batch);
    memmove(m->wave, m->wave + (all - m->num_held) * wide, (size_t)(m->num_held * wide) * sizeof *m->wave);
}

unda_status monitors_take(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        struct monitor *m = s->monitors[i];
        if (m->inside) {
            count_samples(m, num_until(m, s->step) - num_until(m, s->begin));
        } else if ((s->step - m->first) % m->every == 0) {
            make_waves(s, m, s->step, m->wave + m->num_held * 2 * m->num_frequency);
            struct monitor_sample sample = sample_of(m, m->num_held);
            TRY(take(m, &sample));
            count_samples(m, 1);
        }
    }
    return UNDA_OK;
}

unda_status monitor_add_held(struct monitor *m)
{
    struct monitor_sample sample = sample_of(m, 0);
    sample.slot = -1;
    sample.num = m->num_held;
    sample.wave = m->wave;
    if (m->num_held > 0 || m->level_bytes)
        TRY(take(m, &sample));
    m->num_held = 0;
    return UNDA_OK;
}

unda_status monitors_settle(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_monitor; i++)
        if (s->monitors[i]->level_bytes)
            TRY(monitor_add_held(s->monitors[i]));
    return UNDA_OK;
}

unda_status monitor_restart(unda_solver *s, struct monitor *m)
{
    double wave[2 * UNDA_MAX_FREQUENCY];
    m->first = s->step;
    m->num_sample = 1;
    m->num_held = 0;
    if (s->engine->settle)
        TRY(s->engine->settle(s));
    make_waves(s, m, s->step, wave);
    struct monitor_sample sample = sample_of(m, 0);
    sample.slot = -1;
    sample.num = 0;
    sample.first = true;
    sample.wave = wave;
    return take(m, &sample);
}

unda_status monitors_set_clock(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_monitor; i++)
        if (s->monitors[i]->first > s->step)
            TRY(monitor_restart(s, s->monitors[i]));
    return UNDA_OK;
}
