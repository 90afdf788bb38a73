/* cuda_profile.c: times the parts of a step on a CUDA device, and puts back what they overwrite.
 * Not here: the parts (scalar/cuda.c, staggered/cuda.c), the clock (gpu/timing.c). */
#include "cuda.h"

#include <stdio.h>
#include <string.h>

void fd_cuda_add_part(struct fd_cuda_profile *what, struct fd_cuda_part part)
{
    if (part.num > 0)
        what->part[what->num_part++] = part;
}

void fd_cuda_add_points(const unda_solver *s, struct fd_cuda_profile *what,
                        unda_status (*inject)(unda_solver *s, int))
{
    const struct fd_cuda *t = fd_cuda(s);
    int64_t driven = 0, recorded = 0;
    double a_step = 0;
    for (int f = 0; f < fd_tables(s)->num_field; f++)
        driven += t->source[f].num_node > 0;
    for (int32_t i = 0; i < t->num_group; i++)
        if (t->groups[i].nodes->num_node > 0) {
            recorded++;
            a_step += 1.0 / (double)t->groups[i].group->every;
        }
    fd_cuda_add_part(what, (struct fd_cuda_part){"inject", inject, 0, driven, (double)driven});
    fd_cuda_add_part(what, (struct fd_cuda_part){FD_CUDA_RECORD, fd_cuda_take_all, 0, recorded, a_step});
}

struct timed {
    unda_solver *s;
    struct fd_cuda_part part;
};

static unda_status queue_timed(void *of)
{
    const struct timed *timed = of;
    return timed->part.queue(timed->s, timed->part.which);
}

static unda_status time_parts(unda_solver *s, const struct fd_cuda_profile *what, int64_t num_run,
                              unda_profile *out)
{
    struct timed timed = {.s = s};
    struct gpu_work work = {fd_cuda(s)->stream, queue_timed, &timed};
    for (int i = 0; i < what->num_part; i++) {
        const struct fd_cuda_part *part = &what->part[i];
        timed.part = *part;
        TRY(gpu_median_seconds(&work, num_run, &out->seconds[i]));
        snprintf(out->name[i], sizeof out->name[i], "%s", part->name);
        out->seconds[i] /= (double)part->num;
        out->launches[i] = part->a_step;
        out->num_kernel = i + 1;
        if (strcmp(part->name, FD_CUDA_RECORD) != 0)
            out->stage_seconds += out->launches[i] * out->seconds[i];
    }
    timed.part.queue = what->step;
    return what->step ? gpu_median_seconds(&work, num_run, &out->stage_seconds) : UNDA_OK;
}

/* The state into a copy, or back. */
static unda_status copy(unda_solver *s, const struct fd_cuda_profile *what, gpu_ptr kept, bool back)
{
    const struct fd_cuda *t = fd_cuda(s);
    for (int i = 0; i < t->wants.num; i++) {
        const struct gpu_want *want = &t->wants.list[i];
        if (!(want->kind & what->kinds))
            continue;
        TRY(back ? gpu_copy_async(t->stream, *want->ptr, kept, want->bytes)
                 : gpu_copy_async(t->stream, kept, *want->ptr, want->bytes));
        kept += (gpu_ptr)want->bytes;
    }
    return gpu_sync(t->stream);
}

/* Sources act with amplitude 0: otherwise amplitudes left from the last call would accumulate. */
unda_status fd_cuda_profile(unda_solver *s, const struct fd_cuda_profile *what, int64_t num_run,
                            unda_profile *out)
{
    struct fd_cuda *t = fd_cuda(s);
    gpu_ptr kept = 0;
    int64_t bytes = 0;
    for (int i = 0; i < t->wants.num; i++)
        bytes += t->wants.list[i].kind & what->kinds ? t->wants.list[i].bytes : 0;
    s->begin = s->step; /* as in a call */
    TRY(fd_need_material(s));
    if (s->num_source)
        TRY(gpu_zero_async(t->stream, t->amplitude, s->max_step * s->num_source * s->real_bytes));
    TRY(gpu_alloc(t->gpu, &kept, bytes, "a copy of the state while its kernels are timed"));
    unda_status status = copy(s, what, kept, false);
    if (status == UNDA_OK) {
        status = time_parts(s, what, num_run, out);
        unda_status back = copy(s, what, kept, true); /* also after a failure */
        status = status == UNDA_OK ? back : status;
    }
    gpu_free(t->gpu, kept);
    return status;
}
