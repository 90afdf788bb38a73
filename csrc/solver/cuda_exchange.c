/* cuda_exchange.c: messages between parts on CUDA devices: their order, their memory, and ways within a process. Not here:
 * between processes (cuda_ranks.c), which way (cuda_way.c), what is packed (dg/, sem/exchange_cuda.c, fd/cuda_send.c). */
#include "cuda_exchange.h"

#include "cuda_way.h"

static struct cuda_exchange *own(const unda_solver *s)
{
    return cuda_exchange_of(s);
}

/* ---- in a stage ---- */

unda_status cuda_exchange_follow(unda_solver *s)
{
    TRY(gpu_event_record(own(s)->ready, own(s)->first));
    return gpu_stream_wait(own(s)->stream, own(s)->ready);
}

static unda_status if_any(unda_status (*function)(unda_solver *s), unda_solver *s)
{
    return function ? function(s) : UNDA_OK;
}

unda_status cuda_exchange_begin(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    const struct cuda_exchange *c = own(s);
    TRY(c->beside ? gpu_event_record(c->ready, c->first) : cuda_exchange_follow(s));
    for (int32_t i = 0; i < c->num_neighbor; i++)
        TRY(c->pack(s, i, x->link[i].to[x->turn]));
    TRY(if_any(x->transport->begin, s));
    TRY(if_any(c->leave, s));
    return gpu_event_record(c->sent, c->stream);
}

unda_status cuda_exchange_end(unda_solver *s)
{
    struct exchange *x = s->exchange;
    const struct cuda_exchange *c = own(s);
    for (int32_t i = 0; i < c->num_neighbor && c->neighbor[i]; i++)
        TRY(gpu_stream_wait(c->stream, own(c->neighbor[i])->sent));
    TRY(if_any(x->transport->end, s));
    TRY(if_any(c->arrive, s));
    TRY(c->unpack(s, x->from[x->turn]));
    x->turn ^= 1;
    if (c->beside)
        return UNDA_OK;
    TRY(gpu_event_record(c->received, c->stream));
    return gpu_stream_wait(c->first, c->received);
}

unda_status cuda_exchange_wait(unda_solver *s, struct gpu_stream *stream)
{
    return own(s)->nccl ? gpu_nccl_sync(own(s)->nccl, stream) : gpu_sync(stream);
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
        TRY(gpu_upload_async(c->stream, to, own(c->neighbor[i])->host[x->turn] + c->there[i],
                             x->link[i].bytes));
        to += (gpu_ptr)x->link[i].bytes;
    }
    return UNDA_OK;
}

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
    gpu_stream_free(c->made);
    array_free(c->neighbor);
    array_free(c->there);
    array_free(c->message);
    array_free(c);
    s->exchange->of = NULL;
}

unda_status cuda_exchange_new(unda_solver *s, struct gpu *gpu, struct gpu_stream *first,
                              struct gpu_stream *beside, int32_t num_neighbor)
{
    struct cuda_exchange *c;
    TRY(array_try(&s->exchange->of, 1, sizeof *c, "exchange"));
    c = s->exchange->of;
    c->gpu = gpu;
    c->first = first;
    c->num_neighbor = num_neighbor;
    if (!beside)
        TRY(gpu_stream_new_first(&c->made, gpu));
    c->stream = beside ? beside : c->made;
    TRY(gpu_event_new_order(&c->ready, gpu));
    TRY(gpu_event_new_order(&c->sent, gpu));
    TRY(gpu_event_new_order(&c->received, gpu));
    TRY(array_try(&c->neighbor, num_neighbor, sizeof *c->neighbor, "exchange"));
    return array_try(&c->there, num_neighbor, sizeof *c->there, "exchange");
}

void cuda_exchange_bytes(const struct exchange *x, bool by_host, int64_t *host, int64_t *device)
{
    *host += by_host ? 2 * x->bytes : 0;
    *device += (by_host ? 4 : 2) * x->bytes;
}

unda_status cuda_exchange_make_room(unda_solver *s, bool by_host)
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
    cuda_exchange_bytes(x, by_host, &s->host_bytes, &s->device_bytes);
    return UNDA_OK;
}

/* Each message's place in its neighbour's list. */
static void link_part(unda_solver *const *part, int32_t p, const int32_t *const *neighbor, bool by_host)
{
    struct cuda_exchange *c = own(part[p]);
    for (int32_t i = 0; i < c->num_neighbor; i++) {
        const unda_solver *other = part[neighbor[p][i]];
        c->neighbor[i] = part[neighbor[p][i]];
        c->there[i] = 0;
        for (int32_t k = 0; neighbor[neighbor[p][i]][k] != p; k++)
            c->there[i] += other->exchange->link[k].bytes;
        for (int turn = 0; turn < 2 && !by_host; turn++)
            part[p]->exchange->link[i].to[turn] = other->exchange->from[turn] + (uintptr_t)c->there[i];
    }
}

unda_status cuda_exchange_join(unda_solver *const *part, int32_t num_part, const int32_t *const *neighbor,
                               int transport)
{
    bool by_host;
    SCRATCH struct cuda_way *way = NULL;
    TRY(array_try(&way, num_part, sizeof *way, "exchange"));
    for (int32_t p = 0; p < num_part; p++) {
        const struct exchange *x = part[p]->exchange;
        TRY(gpu_check_equal(own(part[0])->gpu, own(part[p])->gpu));
        way[p] = (struct cuda_way){part[p]->options.device, own(part[p])->num_neighbor, neighbor[p], x->bytes,
                                   x->inner};
    }
    TRY(cuda_way_choose(way, num_part, transport, &by_host));
    for (int32_t p = 0; p < num_part; p++)
        TRY(cuda_exchange_make_room(part[p], by_host));
    for (int32_t p = 0; p < num_part; p++)
        link_part(part, p, neighbor, by_host);
    return UNDA_OK;
}
