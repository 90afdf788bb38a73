/* levels.c: levels of a field on a device that stay where they are, as samples of monitors (`level_bytes` of struct
 * monitor). A step whose result would overwrite one goes to another array, so that a sample moves no memory; when as
 * many are there as a monitor adds at once, their arrays are free again. So fields move from array to array: those of
 * the engine, and the spare ones of monitors. Not here: which monitors do so (monitor.c), adding
 * (cuda/common/monitor_levels.h). */
#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cuda.h"

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

static bool is_sample(const unda_solver *s, gpu_ptr array)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor_levels *levels = samples_of(s, i);
        for (int32_t k = 0; levels && k < levels->num; k++)
            if (levels->sample[k] == array)
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

static unda_status find_free(const unda_solver *s, gpu_ptr *array)
{
    const struct fd_cuda *t = fd_cuda(s);
    for (int i = 0; i < num_array(s); i++)
        if (is_free(s, *array = t->home[i]))
            return UNDA_OK;
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor_levels *levels = samples_of(s, i);
        for (int32_t k = 0; levels && k < levels->spare.num; k++)
            if (is_free(s, *array = levels->spare.ptr[k]))
                return UNDA_OK;
    }
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
    for (int i = 0; i < num_array(s); i++) {
        gpu_ptr there, array = t->array[i];
        if (!is_sample(s, array))
            continue;
        TRY(find_free(s, &there));
        TRY(gpu_copy_async(t->stream, there, array, fd_tables(s)->level_bytes));
        for (int32_t k = 0; k < s->num_monitor; k++) {
            struct monitor_levels *levels = samples_of(s, k);
            for (int32_t n = 0; levels && n < levels->num; n++)
                levels->sample[n] = levels->sample[n] == array ? there : levels->sample[n];
        }
    }
    return UNDA_OK;
}

unda_status fd_cuda_monitors_end(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
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

unda_status fd_cuda_take_level(const struct monitor *m, const struct monitor_sample *sample)
{
    struct monitor_levels *levels = cuda_monitor_levels(m->piece);
    const unda_solver *s = m->piece->part;
    const struct fd_cuda *t = fd_cuda(s);
    if (sample->slot >= 0) {
        levels->sample[sample->slot] = t->array[FD_P];
        levels->num = sample->slot + 1;
    }
    if (sample->num == 0)
        return UNDA_OK;
    struct monitor_args args = {.stride = {t->plane, t->pitch}};
    for (int32_t i = 0; i < sample->num; i++)
        args.level[i] = POINTER(fd_cuda_origin(s, levels->sample[i]));
    levels->num = 0;
    return cuda_monitor_add_levels(m->piece, sample, &args);
}
