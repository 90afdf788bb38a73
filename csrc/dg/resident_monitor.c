/* resident_monitor.c: monitors in launches of many steps. A launch keeps the states of elements that have a monitor,
 * every so many steps: of all monitors' samples the largest common distance. After it a kernel adds the samples of each
 * monitor, in their order (common/monitor.cu), so that sums have the bits of samples between steps. Not here: launches
 * (cuda_resident.c), samples of steps that go stage by stage (monitor.c). */
#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cuda.h"
#include "monitor.h"

#include <stdlib.h>

/* ---- which steps ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Steps from one state that is kept to the next. */
static int64_t distance(const unda_solver *s)
{
    int64_t every = 0;
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor *m = s->monitors[i];
        every = common_divisor(every, m->every);
        every = common_divisor(every, llabs(m->first - s->monitors[0]->first));
    }
    return every;
}

/* Steps to the first of them. */
static int64_t wait(const unda_solver *s, int64_t every)
{
    return every - (s->step - s->monitors[0]->first) % every;
}

/* A monitor that begins again may make the distance shorter than that for which there is room. */
int64_t resident_sample_steps(const unda_solver *s, int64_t num_step)
{
    if (s->num_monitor == 0)
        return num_step;
    int64_t every = distance(s), most = tables(s)->resident.samples.num * every + wait(s, every) - 1;
    return most < num_step ? most : num_step;
}

/* ---- room ---- */

static int64_t num_kept(const unda_solver *s, int64_t num_step)
{
    int64_t every = distance(s);
    return every ? (num_step + every - 1) / every : 0;
}

/* An upper bound: as if all elements had a monitor. */
int64_t resident_sample_bytes(const unda_solver *s, int64_t num_step)
{
    return num_kept(s, num_step) * dg_tables(s)->space.num_owned * dg_elem_bytes(s);
}

/* Numbers the elements of monitors: of each element, and of the rows of each monitor. */
static int64_t number_elements(const unda_solver *s, int32_t *slot, int64_t *rows)
{
    int64_t num = 0;
    for (int64_t i = 0; i < dg_tables(s)->space.num_owned; i++)
        slot[i] = -1;
    for (int32_t i = 0; i < s->num_monitor; i++)
        for (int32_t k = 0; k < s->monitors[i]->num_piece; k++) {
            const struct monitor_piece *piece = &s->monitors[i]->piece[k];
            for (int64_t row = 0; row < piece->num_row; row++) {
                int32_t *of = &slot[piece->place[row]];
                *of = *of < 0 ? (int32_t)num++ : *of;
                *rows++ = *of;
            }
        }
    return num;
}

static int64_t num_row(const unda_solver *s)
{
    int64_t num = 0;
    for (int32_t i = 0; i < s->num_monitor; i++)
        for (int32_t k = 0; k < s->monitors[i]->num_piece; k++)
            num += s->monitors[i]->piece[k].num_row;
    return num;
}

unda_status resident_sample_reserve(unda_solver *s, int64_t num_step)
{
    struct dg_cuda *t = tables(s);
    struct resident_samples *kept = &t->resident.samples;
    int64_t num = dg_tables(s)->space.num_owned, all = num_row(s);
    SCRATCH int32_t *slot = NULL;
    SCRATCH int64_t *rows = NULL;
    *kept = (struct resident_samples){.num = num_kept(s, num_step)};
    if (s->num_monitor == 0)
        return UNDA_OK;
    TRY(array_try(&slot, num, sizeof *slot, "monitors"));
    TRY(array_try(&rows, all, sizeof *rows, "monitors"));
    kept->num_slot = (number_elements(s, slot, rows) + 3) / 4 * 4; /* states begin at whole vectors */
    TRY(gpu_pool_copy(&t->room, t->stream, &kept->slot, slot, 4 * num, "monitors"));
    TRY(gpu_pool_copy(&t->room, t->stream, &kept->rows, rows, 8 * all, "monitors"));
    return gpu_pool_alloc(&t->room, t->gpu, &kept->state, kept->num * kept->num_slot * dg_elem_bytes(s),
                          "monitors");
}

/* ---- launches ---- */

void resident_sample_args(const unda_solver *s, struct dg_resident_args *a)
{
    const struct resident_samples *kept = &tables(s)->resident.samples;
    if (s->num_monitor == 0)
        return;
    int64_t every = distance(s);
    a->samples = POINTER(kept->state);
    a->sample_slot = POINTER(kept->slot);
    a->num_sample_slot = kept->num_slot;
    a->sample_every = (int)every;
    a->sample_wait = (int)wait(s, every);
}

/* Those of one monitor; rows: the numbers of its elements. */
static unda_status add(unda_solver *s, const struct monitor *m, const struct monitor_piece *piece,
                       gpu_ptr rows, int64_t num_step)
{
    const struct resident_samples *kept = &tables(s)->resident.samples;
    int64_t every = distance(s), first = monitor_until(s, m), num_node = dg_tables(s)->space.num_node;
    struct monitor_args args = {.field = m->field, .num_field = dg_tables(s)->physics->num_field};
    args.total = kept->num_slot * num_node;
    int64_t reals = args.total * args.num_field;
    args.stride[0] = m->every / every * reals;
    for (int64_t step = first, num; step <= num_step; step += num * m->every) {
        struct monitor_sample sample;
        int64_t most = m->num_frequency ? UNDA_MAX_FREQUENCY / m->num_frequency : num_step;
        num = (num_step - step) / m->every + 1;
        num = num < most ? num : most;
        if (!monitor_due(s, m, s->step + step, &sample))
            FAIL(UNDA_ERR_INTERNAL, "no sample at step %lld, expected one", (long long)(s->step + step));
        sample.num = (int32_t)num;
        gpu_ptr from = kept->state + (gpu_ptr)((step - wait(s, every)) / every * reals * s->real_bytes);
        args.q[0] = POINTER(from);
        TRY(cuda_monitor_add_kept(piece, &sample, rows, &args));
    }
    return UNDA_OK;
}

unda_status resident_add_samples(unda_solver *s, int64_t num_step)
{
    gpu_ptr rows = tables(s)->resident.samples.rows;
    for (int32_t i = 0; i < s->num_monitor; i++)
        for (int32_t k = 0; k < s->monitors[i]->num_piece; k++) {
            const struct monitor_piece *piece = &s->monitors[i]->piece[k];
            TRY(add(s, s->monitors[i], piece, rows, num_step));
            rows += (gpu_ptr)(8 * piece->num_row);
        }
    return UNDA_OK;
}
