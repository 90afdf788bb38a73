/* link.c: measures the way between two devices, as two parts of a mesh use it: in a round each sends the other a
 * message, tells it by an event, waits for the other's and, by way of the host, fetches it from there,
 *
 *     seconds of a round = latency + bytes / bandwidth
 *
 * so that two sizes of messages give both. Two buffers take turns, as those of parts. The same device may be both.
 * Not here: one device (limits.c), what parts send (solver/exchange.h). */
#include "internal.h"

#include <pthread.h>

enum { SMALL = 8, LARGE = 64 << 20, MIDDLING = 4 << 20, NUM_REPEAT = 4, NUM_SMALL = 20, NUM_LARGE = 2 };

struct side {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_event *begin, *end, *sent;
    gpu_ptr from, to[2];
    char *host[2];
};

struct link {
    struct side side[2];
    int64_t bytes; /* of the larger message */
    bool by_host;
};

static void side_free(struct side *side)
{
    gpu_free(side->gpu, side->from);
    for (int turn = 0; turn < 2; turn++) {
        gpu_free(side->gpu, side->to[turn]);
        gpu_host_free(side->gpu, side->host[turn]);
    }
    gpu_event_free(side->begin);
    gpu_event_free(side->end);
    gpu_event_free(side->sent);
    gpu_stream_free(side->stream);
    gpu_close(side->gpu);
}

static void link_free(struct link *link)
{
    side_free(&link->side[0]);
    side_free(&link->side[1]);
}

static unda_status side_fill(struct side *side, int64_t bytes, bool by_host)
{
    TRY(gpu_stream_new(&side->stream, side->gpu));
    TRY(gpu_event_new(&side->begin, side->gpu));
    TRY(gpu_event_new(&side->end, side->gpu));
    TRY(gpu_event_new_order(&side->sent, side->gpu));
    TRY(gpu_alloc(side->gpu, &side->from, bytes, "messages"));
    for (int turn = 0; turn < 2; turn++) {
        TRY(gpu_alloc(side->gpu, &side->to[turn], bytes, "messages"));
        if (by_host)
            TRY(gpu_host_alloc(side->gpu, &side->host[turn], bytes, "messages"));
    }
    return gpu_zero_async(side->stream, side->from, bytes);
}

/* Messages of so many bytes, but at most an eighth of what is free on either device. */
static unda_status link_new(struct link *link, int32_t from, int32_t to, int32_t transport, int64_t bytes)
{
    bool reached = false, back = false;
    TRY(gpu_open(&link->side[0].gpu, from));
    TRY(gpu_open(&link->side[1].gpu, to));
    TRY(gpu_reach(link->side[0].gpu, link->side[1].gpu, &reached));
    TRY(gpu_reach(link->side[1].gpu, link->side[0].gpu, &back));
    if (transport == UNDA_TRANSPORT_PEER && !(reached && back))
        FAIL(UNDA_ERR_DEVICE,
             "transport is peer, but devices %d and %d do not reach each other's memory; expected host or "
             "auto",
             from, to);
    link->by_host = transport == UNDA_TRANSPORT_HOST || !(reached && back);
    link->bytes = bytes;
    for (int i = 0; i < 2; i++) {
        int64_t free_bytes = 0;
        TRY(gpu_memory_free(link->side[i].gpu, &free_bytes));
        if (link->bytes > free_bytes / 8)
            link->bytes = free_bytes / 8;
    }
    for (int i = 0; i < 2; i++)
        TRY(side_fill(&link->side[i], link->bytes, link->by_host));
    return UNDA_OK;
}

/* A round of both. */
static unda_status exchange(struct link *link, int64_t bytes, int turn)
{
    for (int i = 0; i < 2; i++) {
        struct side *own = &link->side[i], *other = &link->side[!i];
        TRY(link->by_host ? gpu_download_async(own->stream, own->host[turn], own->from, bytes)
                          : gpu_copy_async(own->stream, other->to[turn], own->from, bytes));
        TRY(gpu_event_record(own->sent, own->stream));
    }
    for (int i = 0; i < 2; i++) {
        struct side *own = &link->side[i], *other = &link->side[!i];
        TRY(gpu_stream_wait(own->stream, other->sent));
        if (link->by_host)
            TRY(gpu_upload_async(own->stream, own->to[turn], other->host[turn], bytes));
    }
    return UNDA_OK;
}

/* Seconds of a round, of `count` one after the other. */
static unda_status time_rounds(struct link *link, int64_t bytes, int count, double *seconds)
{
    struct side *first = &link->side[0], *second = &link->side[1];
    TRY(gpu_event_record(first->begin, first->stream));
    TRY(gpu_stream_wait(second->stream, first->begin));
    for (int i = 0; i < count; i++)
        TRY(exchange(link, bytes, i % 2));
    TRY(gpu_event_record(second->end, second->stream));
    TRY(gpu_stream_wait(first->stream, second->end));
    TRY(gpu_event_record(first->end, first->stream));
    TRY(gpu_event_seconds(first->begin, first->end, seconds));
    *seconds /= count;
    return UNDA_OK;
}

/* The shortest of several, after one to warm up. */
static unda_status best_round(struct link *link, int64_t bytes, int count, double *seconds)
{
    double one;
    TRY(time_rounds(link, bytes, 1, &one));
    *seconds = 1e30;
    for (int i = 0; i < NUM_REPEAT; i++) {
        TRY(time_rounds(link, bytes, count, &one));
        *seconds = one < *seconds ? one : *seconds;
    }
    return UNDA_OK;
}

static unda_status time_both(struct link *link, double *small, double *large)
{
    TRY(best_round(link, SMALL, NUM_SMALL, small));
    return best_round(link, link->bytes, NUM_LARGE, large);
}

static unda_status measure(struct link *link, unda_link *found)
{
    double small, large;
    TRY(time_both(link, &small, &large));
    if (large <= small)
        FAIL(UNDA_ERR_DEVICE, "a message of %lld bytes took %g s and one of %d bytes %g s, expected more",
             (long long)link->bytes, large, SMALL, small);
    found->latency = small;
    found->bytes_per_second = (double)(link->bytes - SMALL) / (large - small);
    found->by_host = link->by_host;
    return UNDA_OK;
}

static unda_status check_pair(int32_t from, int32_t to)
{
    if (from < 0 || to < 0)
        FAIL(UNDA_ERR_ARG, "devices are %d and %d, expected numbers of CUDA devices, from 0 on", from, to);
    return UNDA_OK;
}

unda_status unda_link_limits(int32_t from, int32_t to, int32_t transport, unda_link *link)
{
    CHECK_SIZE(link, unda_link);
    TRY(check_pair(from, to));
    if (transport < UNDA_TRANSPORT_AUTO || transport > UNDA_TRANSPORT_HOST)
        FAIL(UNDA_ERR_ARG, "transport is %d, expected 0..%d", transport, UNDA_TRANSPORT_HOST);
    unda_link found = {.size_bytes = sizeof found};
    struct link two = {0};
    unda_status status = link_new(&two, from, to, transport, LARGE);
    if (status == UNDA_OK)
        status = measure(&two, &found);
    link_free(&two);
    if (status == UNDA_OK)
        *link = found;
    return status;
}

/* ---- kept ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unda_link known[MAX_DEVICE][MAX_DEVICE]; /* by way of the host; latency 0: not measured */

/* A message's time as a whole over its bytes: the latency counts twice then, and noise cannot make it too fast. */
static unda_status measure_by_host(int one, int other, unda_link *link)
{
    double small = 0, large = 0;
    struct link two = {0};
    unda_status status = link_new(&two, one, other, UNDA_TRANSPORT_HOST, MIDDLING);
    if (status == UNDA_OK)
        status = time_both(&two, &small, &large);
    if (status == UNDA_OK)
        *link = (unda_link){.size_bytes = sizeof *link,
                            .latency = small,
                            .bytes_per_second = (double)two.bytes / large,
                            .by_host = 1};
    link_free(&two);
    return status;
}

unda_status gpu_link_by_host(int one, int other, unda_link *link)
{
    unda_link *kept = one < other ? &known[one][other] : &known[other][one];
    unda_status status = UNDA_OK;
    pthread_mutex_lock(&lock);
    if (kept->latency == 0)
        status = measure_by_host(one, other, kept);
    *link = *kept;
    pthread_mutex_unlock(&lock);
    return status;
}

unda_status unda_device_reach(int32_t from, int32_t to, int32_t *reached)
{
    if (!reached)
        FAIL(UNDA_ERR_ARG, "reached is NULL");
    TRY(check_pair(from, to));
    struct gpu *gpu = NULL, *other = NULL;
    bool found = false;
    TRY(gpu_open(&gpu, from));
    unda_status status = gpu_open(&other, to);
    if (status == UNDA_OK)
        status = gpu_reach(gpu, other, &found);
    gpu_close(other);
    gpu_close(gpu);
    if (status == UNDA_OK)
        *reached = found;
    return status;
}
