/* timing.c: measures the duration of work on a stream with events. Not here: limits of a device (limits.c),
 * the work itself (dg/cuda.c, fd/cuda_profile.c). */
#include "internal.h"

static unda_status time_once(const struct gpu_work *work, struct gpu_event *begin, struct gpu_event *end,
                             double *seconds)
{
    TRY(gpu_event_record(begin, work->stream));
    TRY(work->queue(work->of));
    TRY(gpu_event_record(end, work->stream));
    return gpu_event_seconds(begin, end, seconds);
}

unda_status gpu_median_seconds(const struct gpu_work *work, int64_t num_run, double *seconds)
{
    enum { WARM_UP = 2 };
    struct gpu_event *begin = NULL, *end = NULL;
    SCRATCH double *sample = NULL;
    TRY(array_try(&sample, num_run, sizeof *sample, "times"));
    unda_status status = gpu_event_new(&begin, work->stream->gpu);
    if (status == UNDA_OK)
        status = gpu_event_new(&end, work->stream->gpu);
    for (int64_t i = -WARM_UP; i < num_run && status == UNDA_OK; i++)
        status = time_once(work, begin, end, &sample[i < 0 ? 0 : i]);
    gpu_event_free(begin);
    gpu_event_free(end);
    if (status == UNDA_OK)
        *seconds = array_median(sample, num_run);
    return status;
}
