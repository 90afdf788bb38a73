/* wants.c: the arrays of an engine: listed once, for forecasts, allocation and clearing.
 * Not here: single allocations (memory.c). */
#include "internal.h"

void gpu_want(struct gpu_wants *w, int kind, gpu_ptr *ptr, int64_t bytes, const char *what)
{
    if (bytes)
        w->list[w->num++] = (struct gpu_want){kind, ptr, bytes, what};
    w->bytes += bytes;
}

unda_status gpu_wants_alloc(struct gpu_wants *w, struct gpu_stream *stream, const char *more)
{
    struct gpu *gpu = stream->gpu;
    int64_t free_bytes;
    TRY(gpu_memory_free(gpu, &free_bytes));
    if (w->bytes > free_bytes)
        FAIL(UNDA_ERR_DEVICE_MEMORY,
             "the simulation needs %lld bytes, %lld of %lld are free on device %d (%s)%s",
             (long long)w->bytes, (long long)free_bytes, (long long)gpu_info(gpu)->total_bytes, gpu->device,
             gpu_info(gpu)->name, more);
    for (int i = 0; i < w->num; i++)
        TRY(gpu_pool_alloc(&w->pool, gpu, w->list[i].ptr, w->list[i].bytes, w->list[i].what));
    return gpu_wants_zero(w, stream, -1);
}

unda_status gpu_wants_zero(const struct gpu_wants *w, struct gpu_stream *stream, int kinds)
{
    for (int i = 0; i < w->num; i++)
        if (w->list[i].kind & kinds)
            TRY(gpu_zero_async(stream, *w->list[i].ptr, w->list[i].bytes));
    return gpu_sync(stream);
}
