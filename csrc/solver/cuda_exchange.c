/* cuda_exchange.c: messages between parts on CUDA devices, in order and in memory. Not here: what is packed
 * (sem/exchange_cuda.c). */
#include "cuda_exchange.h"
#include "messages.h"

#include <string.h>

static struct cuda_exchange *own(const unda_solver *s)
{
    return s->exchange->of;
}

/* ---- in a stage ---- */

unda_status cuda_exchange_begin(unda_solver *s)
{
    struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    TRY(gpu_event_record(c->ready, c->first));
    TRY(gpu_stream_wait(c->stream, c->ready));
    for (int32_t i = 0; i < c->num_neighbor; i++)
        TRY(c->pack(s, i, x->link[i].to[x->turn]));
    if (x->transport->begin)
        TRY(x->transport->begin(s));
    return gpu_event_record(c->sent, c->stream);
}

unda_status cuda_exchange_end(unda_solver *s)
{
    struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    for (int32_t i = 0; i < c->num_neighbor && c->neighbor[i]; i++)
        TRY(gpu_stream_wait(c->stream, c->neighbor[i]->sent));
    if (x->transport->end)
        TRY(x->transport->end(s));
    TRY(c->unpack(s, x->from[x->turn]));
    x->turn ^= 1;
    TRY(gpu_event_record(c->received, c->stream));
    return gpu_stream_wait(c->first, c->received);
}

/* ---- by way of the host ---- */

static unda_status to_host(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    return x->bytes
               ? gpu_download_async(own(s)->stream, own(s)->host[x->turn], own(s)->packed[x->turn], x->bytes)
               : UNDA_OK;
}

/* Message by message, as they stand in the neighbours' memory. */
static unda_status from_host(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    const struct cuda_exchange *c = own(s);
    gpu_ptr to = c->from[x->turn];
    for (int32_t i = 0; i < c->num_neighbor; i++) {
        TRY(gpu_upload_async(c->stream, to, c->neighbor[i]->host[x->turn] + c->there[i], x->link[i].bytes));
        to += (gpu_ptr)x->link[i].bytes;
    }
    return UNDA_OK;
}

/* ---- between processes ---- */

static unda_status to_message(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    return x->bytes ? gpu_download_async(own(s)->stream, x->message[0], own(s)->packed[x->turn], x->bytes)
                    : UNDA_OK;
}

/* The host waits, while the first stream has work. What was received before has left the host by then. */
static unda_status from_message(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    TRY(gpu_sync(own(s)->stream));
    TRY(messages_begin(s));
    TRY(messages_end(s));
    return x->bytes ? gpu_upload_async(own(s)->stream, own(s)->from[x->turn], x->message[1], x->bytes)
                    : UNDA_OK;
}

static const struct transport between = {.name = "mpi by host", .begin = to_message, .end = from_message};
static const struct transport peer = {.name = "peer"};
static const struct transport host = {.name = "host", .begin = to_host, .end = from_host};

/* ---- creation ---- */

void cuda_exchange_free(unda_solver *s)
{
    struct cuda_exchange *c = s->exchange ? s->exchange->of : NULL;
    if (!c)
        return;
    for (int turn = 0; turn < 2; turn++)
        gpu_host_free(c->gpu, c->host[turn]);
    gpu_pool_free(&c->pool);
    gpu_event_free(c->ready);
    gpu_event_free(c->sent);
    gpu_event_free(c->received);
    gpu_stream_free(c->stream);
    array_free(c->neighbor);
    array_free(c->there);
    array_free(c);
    s->exchange->of = NULL;
}

unda_status cuda_exchange_new(unda_solver *s, struct gpu *gpu, struct gpu_stream *first, int32_t num_neighbor)
{
    struct cuda_exchange *c;
    TRY(array_try(&s->exchange->of, 1, sizeof *c, "exchange"));
    c = s->exchange->of;
    c->gpu = gpu;
    c->first = first;
    c->num_neighbor = num_neighbor;
    TRY(gpu_stream_new_first(&c->stream, gpu));
    TRY(gpu_event_new_order(&c->ready, gpu));
    TRY(gpu_event_new_order(&c->sent, gpu));
    TRY(gpu_event_new_order(&c->received, gpu));
    TRY(array_try(&c->neighbor, num_neighbor, sizeof *c->neighbor, "exchange"));
    return array_try(&c->there, num_neighbor, sizeof *c->there, "exchange");
}

/* Where messages arrive and, by way of the host, where they are packed. */
static unda_status make_room(unda_solver *s, bool by_host)
{
    struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    x->transport = by_host ? &host : &peer;
    for (int turn = 0; turn < 2; turn++) {
        TRY(gpu_pool_alloc(&c->pool, c->gpu, &c->from[turn], x->bytes, "messages of other parts"));
        x->from[turn] = (uintptr_t)c->from[turn];
        if (!by_host)
            continue;
        TRY(gpu_pool_alloc(&c->pool, c->gpu, &c->packed[turn], x->bytes, "messages to other parts"));
        if (x->bytes)
            TRY(gpu_host_alloc(c->gpu, &c->host[turn], x->bytes, "messages to other parts"));
        int64_t at = 0;
        for (int32_t i = 0; i < c->num_neighbor; i++) {
            x->link[i].to[turn] = (uintptr_t)c->packed[turn] + (uintptr_t)at;
            at += x->link[i].bytes;
        }
    }
    s->device_bytes += (by_host ? 4 : 2) * x->bytes;
    return UNDA_OK;
}

unda_status cuda_exchange_join_rank(unda_solver *part)
{
    TRY(make_room(part, true));
    part->exchange->transport = &between;
    for (int i = 0; i < 2; i++)
        part->exchange->message[i] = own(part)->host[i];
    return UNDA_OK;
}

/* Each message's place in its neighbour's list. */
static void link_part(unda_solver *const *part, int32_t p, int32_t *const *neighbor, bool by_host)
{
    struct cuda_exchange *c = own(part[p]);
    for (int32_t i = 0; i < c->num_neighbor; i++) {
        const unda_solver *other = part[neighbor[p][i]];
        c->neighbor[i] = own(other);
        c->there[i] = 0;
        for (int32_t k = 0; neighbor[neighbor[p][i]][k] != p; k++)
            c->there[i] += other->exchange->link[k].bytes;
        for (int turn = 0; turn < 2 && !by_host; turn++)
            part[p]->exchange->link[i].to[turn] = other->exchange->from[turn] + (uintptr_t)c->there[i];
    }
}

/* Equal devices have the same kernels, and these the same bits. */
static unda_status check_equal(const unda_solver *one, const unda_solver *other)
{
    const unda_device_info *a = gpu_info(own(one)->gpu), *b = gpu_info(own(other)->gpu);
    if (a->compute_capability != b->compute_capability || a->num_sm != b->num_sm ||
        strcmp(a->name, b->name) != 0)
        FAIL(UNDA_ERR_ARG,
             "devices %d (%s, %d SMs) and %d (%s, %d SMs) differ, expected equal ones: parts wait for each "
             "other, "
             "and their kernels' bits must be the same",
             one->options.device, a->name, a->num_sm, other->options.device, b->name, b->num_sm);
    return UNDA_OK;
}

unda_status cuda_exchange_join(unda_solver *const *part, int32_t num_part, int32_t *const *neighbor,
                               int transport)
{
    bool reached = transport != UNDA_TRANSPORT_HOST;
    for (int32_t p = 0; p < num_part; p++) {
        TRY(check_equal(part[0], part[p]));
        for (int32_t i = 0; i < own(part[p])->num_neighbor && reached; i++)
            TRY(gpu_reach(own(part[p])->gpu, own(part[neighbor[p][i]])->gpu, &reached));
    }
    if (transport == UNDA_TRANSPORT_PEER && !reached)
        FAIL(UNDA_ERR_DEVICE,
             "transport is peer, but some devices cannot reach each other's memory; expected host or auto");
    for (int32_t p = 0; p < num_part; p++)
        TRY(make_room(part[p], !reached));
    for (int32_t p = 0; p < num_part; p++)
        link_part(part, p, neighbor, !reached);
    return UNDA_OK;
}
