/* stream.c: streams, events for order and timing, and graphs captured from a stream.
 * Events are the driver's handles under another name; a graph is kept instantiated only.
 * Next: launch.c (what goes into a stream). */
#include "internal.h"

struct gpu_event {
    struct gpu *gpu;
    void *handle;
};
struct gpu_graph {
    struct gpu *gpu;
    void *handle; /* CUgraphExec */
};

enum { NON_BLOCKING = 1 }; /* no implicit waiting for the default stream */

unda_status gpu_stream_new(struct gpu_stream **stream, struct gpu *gpu)
{
    struct gpu_stream *s;
    TRY(array_try(&s, 1, sizeof *s, "stream"));
    s->gpu = gpu;
    return COMPLETE(stream, s, gpu_stream_free, CU_IN(gpu, cuStreamCreate, &s->handle, NON_BLOCKING));
}

unda_status gpu_stream_new_first(struct gpu_stream **stream, struct gpu *gpu)
{
    enum { FIRST = -100 }; /* the driver takes the highest priority that there is */
    struct gpu_stream *s;
    TRY(array_try(&s, 1, sizeof *s, "stream"));
    s->gpu = gpu;
    return COMPLETE(stream, s, gpu_stream_free,
                    CU_IN(gpu, cuStreamCreateWithPriority, &s->handle, NON_BLOCKING, FIRST));
}

void gpu_stream_free(struct gpu_stream *stream)
{
    if (!stream)
        return;
    CU_FREE(stream->gpu, cuStreamDestroy, stream->handle);
    array_free(stream);
}

unda_status gpu_sync(struct gpu_stream *stream)
{
    return CU_IN(stream->gpu, cuStreamSynchronize, stream->handle);
}

/* ---- events ---- */

static unda_status new_event(struct gpu_event **event, struct gpu *gpu, unsigned flags)
{
    struct gpu_event *e;
    TRY(array_try(&e, 1, sizeof *e, "event"));
    e->gpu = gpu;
    return COMPLETE(event, e, gpu_event_free, CU_IN(gpu, cuEventCreate, &e->handle, flags));
}

unda_status gpu_event_new(struct gpu_event **event, struct gpu *gpu)
{
    return new_event(event, gpu, 0);
}

unda_status gpu_event_new_order(struct gpu_event **event, struct gpu *gpu)
{
    enum { NO_TIME = 2 };
    return new_event(event, gpu, NO_TIME);
}

void gpu_event_free(struct gpu_event *event)
{
    if (!event)
        return;
    CU_FREE(event->gpu, cuEventDestroy, event->handle);
    array_free(event);
}

unda_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream)
{
    return CU_IN(event->gpu, cuEventRecord, event->handle, stream->handle);
}

unda_status gpu_stream_wait(struct gpu_stream *stream, struct gpu_event *event)
{
    return CU_IN(event->gpu, cuStreamWaitEvent, stream->handle, event->handle, 0);
}

unda_status gpu_event_seconds(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
    float milliseconds = 0;
    TRY(CU_IN(end->gpu, cuEventSynchronize, end->handle));
    TRY(CU_IN(end->gpu, cuEventElapsedTime, &milliseconds, begin->handle, end->handle));
    *seconds = 1e-3 * milliseconds;
    return UNDA_OK;
}

/* ---- graphs ---- */

unda_status gpu_capture_begin(struct gpu_stream *stream)
{
    enum { THREAD_LOCAL = 1 }; /* other threads may allocate and upload meanwhile */
    return CU_IN(stream->gpu, cuStreamBeginCapture, stream->handle, THREAD_LOCAL);
}

/* The captured graph is freed once the executable one is made. */
static unda_status instantiate(struct gpu_graph **graph, struct gpu *gpu, void *captured)
{
    struct gpu_graph *g;
    TRY(array_try(&g, 1, sizeof *g, "graph"));
    g->gpu = gpu;
    return COMPLETE(graph, g, gpu_graph_free, CU(cuGraphInstantiate, &g->handle, captured, 0));
}

unda_status gpu_capture_end(struct gpu_stream *stream, struct gpu_graph **graph)
{
    void *captured = NULL;
    if (!graph) { /* after a failure, whose message must stay */
        if (gpu_try_enter(stream->gpu)) {
            (void)CU_RESULT(cuStreamEndCapture, stream->handle, &captured);
            if (captured)
                (void)CU_RESULT(cuGraphDestroy, captured);
            gpu_leave(stream->gpu);
        }
        return UNDA_OK;
    }
    TRY(gpu_enter(stream->gpu));
    unda_status status = CU(cuStreamEndCapture, stream->handle, &captured);
    if (status == UNDA_OK)
        status = instantiate(graph, stream->gpu, captured);
    if (captured)
        (void)CU_RESULT(cuGraphDestroy, captured);
    return gpu_leave_with(stream->gpu, status);
}

unda_status gpu_graph_launch(struct gpu_graph *graph, struct gpu_stream *stream)
{
    return CU_IN(graph->gpu, cuGraphLaunch, graph->handle, stream->handle);
}

void gpu_graph_free(struct gpu_graph *graph)
{
    if (!graph)
        return;
    CU_FREE(graph->gpu, cuGraphExecDestroy, graph->handle);
    array_free(graph);
}
