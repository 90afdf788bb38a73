/* levels.c: levels of a field on a device that stay where they are, as samples of monitors (`level_bytes` of struct
 * monitor). A step whose result would overwrite one goes to another array, so that a sample moves no memory. When a
 * monitor has as many as it adds at once, their arrays are free again; of large grids, part i of the planes is added to
 * after sample i of so many, so that there is as much to add beside each step. So fields move from array to array: those
 * of the engine, and the spare ones of monitors. Not here: which monitors do so (monitor.c), adding
 * (cuda/common/monitor_levels.h). */
#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cuda.h"

#include <string.h>

/* Arrays of the state that take levels in turn: of the scalar scheme two, else the pressure. */
static int num_array(const unda_solver *s)
{
    return fd_tables(s)->physics ? 1 : 2;
}

/* The list of samples of monitor i; NULL: they do not stay. */
static struct monitor_levels *samples_of(const unda_solver *s, int32_t i)
{
    const struct monitor *m = s->monitors[i];
    return m->level_bytes ? cuda_monitor_levels(m->piece) : NULL;
}

/* Whether adding may still read it, in the order of the engine's stream. */
static bool is_sample(const unda_solver *s, gpu_ptr array)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor_levels *l = samples_of(s, i);
        for (int64_t k = l ? l->num_free : 0; l && k < l->num; k++)
            if (l->sample[k % (2 * s->monitors[i]->batch)] == array)
                return true;
    }
    return false;
}

static bool is_state(const unda_solver *s, gpu_ptr array)
{
    const struct fd_cuda *t = fd_cuda(s);
    for (int i = 0; i < num_array(s); i++)
        if (t->array[i] == array)
            return true;
    return false;
}

static bool is_free(const unda_solver *s, gpu_ptr array)
{
    return !is_state(s, array) && !is_sample(s, array);
}

/* The engine's stream waits until what was queued beside it is added: all but the last turn, or that too. */
static unda_status wait_for(const unda_solver *s, struct monitor_levels *l, bool last)
{
    int which = last ? l->turn : !l->turn;
    TRY(gpu_stream_wait(fd_cuda(s)->stream, l->done[which]));
    l->num_free = l->num_done[which] > l->num_free ? l->num_done[which] : l->num_free;
    return UNDA_OK;
}

static unda_status wait_for_all(const unda_solver *s, bool last)
{
    for (int32_t i = 0; i < s->num_monitor; i++)
        if (samples_of(s, i))
            TRY(wait_for(s, samples_of(s, i), last));
    return UNDA_OK;
}

static bool find(const unda_solver *s, gpu_ptr *array)
{
    const struct fd_cuda *t = fd_cuda(s);
    for (int i = 0; i < num_array(s); i++)
        if (is_free(s, *array = t->home[i]))
            return true;
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor_levels *l = samples_of(s, i);
        for (int32_t k = 0; l && k < l->spare.num; k++)
            if (is_free(s, *array = l->spare.ptr[k]))
                return true;
    }
    return false;
}

static unda_status find_free(const unda_solver *s, gpu_ptr *array)
{
    for (int last = 0; last < 2; last++) {
        if (find(s, array))
            return UNDA_OK;
        TRY(wait_for_all(s, last));
    }
    if (find(s, array))
        return UNDA_OK;
    FAIL(UNDA_ERR_INTERNAL, "no array is free for the next level, expected one");
}

unda_status fd_cuda_next_level(const unda_solver *s, gpu_ptr *next)
{
    *next = fd_cuda(s)->array[num_array(s) - 1];
    return is_sample(s, *next) ? find_free(s, next) : UNDA_OK;
}

unda_status fd_cuda_keep_levels(unda_solver *s)
{
    const struct fd_cuda *t = fd_cuda(s);
    TRY(wait_for_all(s, true));
    for (int i = 0; i < num_array(s); i++) {
        gpu_ptr there, array = t->array[i];
        if (!is_sample(s, array))
            continue;
        TRY(find_free(s, &there));
        TRY(gpu_copy_async(t->stream, there, array, fd_tables(s)->level_bytes));
        for (int32_t k = 0; k < s->num_monitor; k++) {
            struct monitor_levels *l = samples_of(s, k);
            for (int32_t n = 0; l && n < 2 * s->monitors[k]->batch; n++)
                l->sample[n] = l->sample[n] == array ? there : l->sample[n];
        }
    }
    return UNDA_OK;
}

unda_status fd_cuda_monitors_end(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(wait_for_all(s, true));
    for (int i = 0; i < num_array(s) && fd_tables(s)->level_bytes; i++) {
        bool at_home = false;
        for (int k = 0; k < num_array(s); k++)
            at_home = at_home || t->array[i] == t->home[k];
        for (int k = 0; k < num_array(s) && !at_home; k++) {
            if (is_state(s, t->home[k]))
                continue;
            TRY(gpu_copy_async(t->stream, t->home[k], t->array[i], fd_tables(s)->level_bytes));
            t->array[i] = t->home[k];
            at_home = true;
        }
    }
    return gpu_sync(t->stream);
}

/* ---- adding ---- */

/* Queues samples that part i of the planes has not had. */
static unda_status add_part(const struct monitor *m, struct monitor_levels *l, int32_t i)
{
    const struct fd_cuda *t = fd_cuda(m->piece->part);
    int32_t room = 2 * m->batch, wide = 2 * m->num_frequency, planes = m->piece->num_axis[0];
    int32_t begin = (int32_t)((int64_t)planes * i / l->num_part),
            end = (int32_t)((int64_t)planes * (i + 1) / l->num_part);
    struct monitor_args args = {.stride = {t->plane, t->pitch}};
    double wave[2 * UNDA_MAX_FREQUENCY];
    struct monitor_sample sample = {
        .statistic = m->statistic, .num_frequency = m->num_frequency, .wave = wave};
    for (int64_t k = l->added[i]; k < l->num; k++, sample.num++) {
        args.level[sample.num] = POINTER(fd_cuda_origin(m->piece->part, l->sample[k % room]));
        memcpy(wave + sample.num * wide, l->wave + k % room * wide, (size_t)wide * sizeof *wave);
    }
    l->added[i] = l->num;
    return begin < end && sample.num ? cuda_monitor_add_levels(m->piece, &sample, begin, end, &args)
                                     : UNDA_OK;
}

/* Of the parts those that are due after the last sample, or all. */
static unda_status add_parts(const struct monitor *m, struct monitor_levels *l, bool all)
{
    int32_t each = m->batch / l->num_part, slot = (int32_t)(l->num % m->batch);
    if (!all && slot % each)
        return UNDA_OK;
    l->turn = !l->turn;
    TRY(gpu_event_record(l->taken, fd_cuda(m->piece->part)->stream));
    TRY(gpu_stream_wait(l->beside, l->taken));
    for (int32_t i = 0; i < l->num_part; i++)
        if (all || slot == (i + 1) * each % m->batch)
            TRY(add_part(m, l, i));
    l->num_done[l->turn] = l->num;
    for (int32_t i = 0; i < l->num_part; i++)
        l->num_done[l->turn] = l->added[i] < l->num_done[l->turn] ? l->added[i] : l->num_done[l->turn];
    return gpu_event_record(l->done[l->turn], l->beside);
}

unda_status fd_cuda_drop_levels(const struct monitor *m)
{
    struct monitor_levels *l = cuda_monitor_levels(m->piece);
    TRY(wait_for(m->piece->part, l, true));
    for (int32_t i = 0; i < l->num_part; i++)
        l->added[i] = 0;
    l->num = l->num_free = l->num_done[0] = l->num_done[1] = 0;
    return UNDA_OK;
}

unda_status fd_cuda_take_level(const struct monitor *m, const struct monitor_sample *sample)
{
    struct monitor_levels *l = cuda_monitor_levels(m->piece);
    const unda_solver *s = m->piece->part;
    int32_t room = 2 * m->batch, wide = 2 * m->num_frequency;
    if (sample->slot < 0) {
        TRY(add_parts(m, l, true));
        return fd_cuda_drop_levels(m);
    }
    if (l->num - l->num_free == room)
        TRY(wait_for(s, l, true));
    const double *wave = sample->wave + (sample->num ? m->batch - 1 : 0) * wide;
    memcpy(l->wave + l->num % room * wide, wave, (size_t)wide * sizeof *wave);
    l->sample[l->num++ % room] = fd_cuda(s)->array[FD_P];
    return add_parts(m, l, false);
}
