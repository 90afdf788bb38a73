/* exchange_cuda.c: traces at cut faces between devices: stores into the neighbour's memory, or copies through the host's.
 * Each part has a second stream, whose blocks start first, for them and for border elements; the first one computes inner
 * elements meanwhile. Only border elements read ghosts, so that the second stream of a stage needs of the first one no more
 * than its stage before:
 *
 *     begin    packs what border elements were in the stage before; `sent`
 *     end      waits for `sent` of each neighbour; unpacks
 *     border   waits for the first stream's stage before; border elements; the first stream waits for them
 *
 * Kernels of several functions, which share memory, compute border elements after the inner ones, on the first stream.
 * An event is recorded before anything is queued that waits for it, and by the thread that queues all: nothing on a device
 * waits for what may come later. Next: cuda/common/state.cu (traces). */
#include "../solver/cuda_ranks.h"
#include "cuda.h"
#include "rank.h"

#include "common/index.h"

struct cuda_exchange {
    struct gpu_stream *stream;
    struct gpu_event *ready, *sent, *received;
    gpu_ptr own, ghost; /* [cut face]: num_face * elem + face */
    gpu_ptr from[2], packed[2];
    char *host[2]; /* page-locked, as `packed`: by way of the host */
    struct gpu_pool pool;
    double more; /* bytes of filling for each byte of traces; 0: none */
    gpu_ptr filling, filling_from[2];
    char *filling_host[2];
    struct gpu_pool filling_pool;
    struct cuda_ranks ranks; /* of a process: by NCCL */
    unda_solver **neighbor;  /* [neighbour]: its part */
    int64_t *there;          /* [neighbour]: where it has the message for this part [bytes] */
};

static struct cuda_exchange *own(const unda_solver *s)
{
    return s->exchange->of;
}
static const struct mesh_part *cut_of(const unda_solver *s)
{
    return &dg_tables(s)->space.mesh->part;
}

/* ---- kernels ---- */

static unda_status launch(unda_solver *s, gpu_ptr faces, int64_t num, uintptr_t packed, bool unpack)
{
    struct dg_cuda *t = tables(s);
    const struct space *space = &dg_tables(s)->space;
    struct trace_args a = {.state = POINTER(t->buffer[BUF_Q]),
                           .packed = (void *)packed,
                           .face = POINTER(faces),
                           .face_node = POINTER(t->face_node),
                           .num = num,
                           .total = space_num_total(space) * space->num_node,
                           .num_face = space->num_face,
                           .num_face_node = space->num_face_node,
                           .num_node = space->num_node,
                           .num_field = dg_tables(s)->physics->num_field,
                           .unpack = unpack};
    struct gpu_shape shape = gpu_threads(num * dg_num_trace(s));
    return num ? gpu_launch(&t->traces, own(s)->stream, &shape, &a, sizeof a) : UNDA_OK;
}

/* What was queued on the first stream so far comes before what follows on the second. */
unda_status dg_cuda_exchange_follow(unda_solver *s)
{
    TRY(gpu_event_record(own(s)->ready, tables(s)->stream));
    return gpu_stream_wait(own(s)->stream, own(s)->ready);
}

/* ---- filling, for measurements ---- */

/* Of so many bytes of traces: the sum of parts' is at most that of their sum. */
static int64_t filling_bytes(const unda_solver *s, int64_t bytes)
{
    return (int64_t)(own(s)->more * (double)bytes) & ~(int64_t)15;
}

static unda_status send_filling(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    if (c->more > 0 && c->filling_host[0])
        return gpu_download_async(c->stream, c->filling_host[x->turn], c->filling,
                                  filling_bytes(s, x->bytes));
    for (int32_t i = 0; c->more > 0 && i < cut_of(s)->num_neighbor; i++)
        TRY(gpu_copy_async(
            c->stream, own(c->neighbor[i])->filling_from[x->turn] + (gpu_ptr)filling_bytes(s, c->there[i]),
            c->filling, filling_bytes(s, x->link[i].bytes)));
    return UNDA_OK;
}

static unda_status fetch_filling(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    int64_t at = 0;
    for (int32_t i = 0; c->filling_host[0] && i < cut_of(s)->num_neighbor; i++) {
        TRY(gpu_upload_async(c->stream, c->filling_from[x->turn] + (gpu_ptr)filling_bytes(s, at),
                             own(c->neighbor[i])->filling_host[x->turn] + filling_bytes(s, c->there[i]),
                             filling_bytes(s, x->link[i].bytes)));
        at += x->link[i].bytes;
    }
    return UNDA_OK;
}

static void free_filling(unda_solver *s)
{
    struct cuda_exchange *c = own(s);
    gpu_pool_free(&c->filling_pool);
    for (int turn = 0; turn < 2; turn++) {
        gpu_host_free(tables(s)->gpu, c->filling_host[turn]);
        c->filling_host[turn] = NULL;
    }
    c->more = 0;
}

static unda_status make_filling(unda_solver *s, double more)
{
    struct cuda_exchange *c = own(s);
    struct gpu *gpu = tables(s)->gpu;
    c->more = more;
    int64_t bytes = filling_bytes(s, s->exchange->bytes);
    if (!bytes)
        return UNDA_OK;
    TRY(gpu_pool_alloc(&c->filling_pool, gpu, &c->filling, bytes, "filling of messages"));
    TRY(gpu_zero_async(tables(s)->stream, c->filling, bytes));
    for (int turn = 0; turn < 2; turn++) {
        TRY(gpu_pool_alloc(&c->filling_pool, gpu, &c->filling_from[turn], bytes, "filling of messages"));
        if (c->host[0])
            TRY(gpu_host_alloc(gpu, &c->filling_host[turn], bytes, "filling of messages"));
    }
    return UNDA_OK;
}

unda_status dg_cuda_exchange_fill(unda_solver *s, double more)
{
    for (int i = 0; i < NUM_GRAPH; i++) { /* what was captured is of the exchange before */
        gpu_graph_free(tables(s)->batch[i].graph);
        tables(s)->batch[i].graph = NULL;
    }
    free_filling(s);
    unda_status status = make_filling(s, more);
    if (status != UNDA_OK)
        free_filling(s);
    return status;
}

/* ---- in a stage ---- */

unda_status dg_cuda_exchange_begin(unda_solver *s)
{
    struct exchange *x = s->exchange;
    const struct mesh_part *cut = cut_of(s);
    if (x->border)
        TRY(gpu_event_record(own(s)->ready, tables(s)->stream));
    else
        TRY(dg_cuda_exchange_follow(s));
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        TRY(launch(s, own(s)->own + (gpu_ptr)(8 * cut->first[i]), cut->first[i + 1] - cut->first[i],
                   x->link[i].to[x->turn], false));
    if (x->transport->begin)
        TRY(x->transport->begin(s));
    TRY(send_filling(s));
    return gpu_event_record(own(s)->sent, own(s)->stream);
}

unda_status dg_cuda_exchange_end(unda_solver *s)
{
    struct exchange *x = s->exchange;
    for (int32_t i = 0; own(s)->neighbor && i < cut_of(s)->num_neighbor; i++)
        TRY(gpu_stream_wait(own(s)->stream, own(own(s)->neighbor[i])->sent));
    if (x->transport->end)
        TRY(x->transport->end(s));
    TRY(fetch_filling(s));
    TRY(launch(s, own(s)->ghost, cut_of(s)->num_cut, x->from[x->turn], true));
    x->turn ^= 1;
    if (x->border)
        return UNDA_OK;
    TRY(gpu_event_record(own(s)->received, own(s)->stream));
    return gpu_stream_wait(tables(s)->stream, own(s)->received);
}

/* On the second stream, in the place of the first. */
static unda_status stage_border(unda_solver *s, const struct stage *stage, int64_t end)
{
    struct dg_cuda *t = tables(s);
    struct gpu_stream *first = t->stream;
    TRY(gpu_stream_wait(own(s)->stream, own(s)->ready));
    t->stream = own(s)->stream;
    unda_status status = s->engine->stage(s, stage, 0, end);
    t->stream = first;
    TRY(status);
    TRY(gpu_event_record(own(s)->received, own(s)->stream));
    return gpu_stream_wait(first, own(s)->received);
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
    gpu_ptr to = own(s)->from[x->turn];
    for (int32_t i = 0; i < cut_of(s)->num_neighbor; i++) {
        TRY(gpu_upload_async(own(s)->stream, to, own(own(s)->neighbor[i])->host[x->turn] + own(s)->there[i],
                             x->link[i].bytes));
        to += (gpu_ptr)x->link[i].bytes;
    }
    return UNDA_OK;
}

/* ---- between processes ---- */

/* The host waits, while the first stream computes inner elements. */
static unda_status exchange_messages(unda_solver *s)
{
    TRY(gpu_sync(own(s)->stream));
    TRY(messages_begin(s));
    return messages_end(s);
}

static unda_status to_message(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    return x->bytes ? gpu_download_async(own(s)->stream, x->message[0], own(s)->packed[x->turn], x->bytes)
                    : UNDA_OK;
}

/* What was received before has left the host by the time that messages begin. */
static unda_status from_message(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    TRY(exchange_messages(s));
    return x->bytes ? gpu_upload_async(own(s)->stream, own(s)->from[x->turn], x->message[1], x->bytes)
                    : UNDA_OK;
}

/* MPI finds the device of an address by the context that is current. */
static unda_status exchange_by_device(unda_solver *s)
{
    struct gpu *gpu = tables(s)->gpu;
    TRY(gpu_enter(gpu));
    unda_status status = exchange_messages(s);
    gpu_leave(gpu);
    return status;
}

static unda_status queue_messages(unda_solver *s)
{
    return cuda_ranks_queue(&own(s)->ranks, own(s)->stream);
}

static unda_status wait_for_messages(unda_solver *s)
{
    return gpu_nccl_sync(own(s)->ranks.nccl, tables(s)->stream);
}

static const struct transport between = {.name = "mpi by host", .begin = to_message, .end = from_message};
static const struct transport by_device = {.name = "mpi by device", .end = exchange_by_device};
static const struct transport by_nccl = {.name = "nccl", .begin = queue_messages, .wait = wait_for_messages};
static const struct transport peer = {.name = "peer"};
static const struct transport host = {.name = "host", .begin = to_host, .end = from_host};

/* ---- creation ---- */

void dg_cuda_exchange_free(unda_solver *s)
{
    struct cuda_exchange *c = s->exchange ? s->exchange->of : NULL;
    if (!c)
        return;
    struct gpu *gpu = tables(s)->gpu;
    free_filling(s);
    for (int turn = 0; turn < 2; turn++)
        gpu_host_free(gpu, c->host[turn]);
    cuda_ranks_free(&c->ranks);
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

/* Its neighbours' solvers, and where each has what it sends to this part. */
static unda_status list_neighbors(unda_solver *const *part, unda_solver *s)
{
    const struct mesh_part *cut = cut_of(s);
    struct cuda_exchange *c = own(s);
    TRY(array_try(&c->neighbor, cut->num_neighbor, sizeof *c->neighbor, "exchange"));
    TRY(array_try(&c->there, cut->num_neighbor, sizeof *c->there, "exchange"));
    for (int32_t i = 0; i < cut->num_neighbor; i++) {
        c->neighbor[i] = part[cut->neighbor[i]];
        const struct mesh_part *its = cut_of(c->neighbor[i]);
        int32_t back = 0;
        while (its->neighbor[back] != cut->which)
            back++;
        c->there[i] = its->first[back] * dg_num_trace(s) * s->real_bytes;
    }
    return UNDA_OK;
}

void dg_cuda_join_bytes(const struct exchange *x, int64_t num_cut, bool by_host, int64_t *host,
                        int64_t *device)
{
    *host += by_host ? 2 * x->bytes : 0;
    *device += (by_host ? 4 : 2) * x->bytes + 2 * 8 * num_cut;
}

/* All but room for messages. */
static unda_status begin(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct exchange *x = s->exchange;
    struct cuda_exchange *c;
    int64_t faces = 8 * cut_of(s)->num_cut;
    TRY(array_try(&x->of, 1, sizeof *c, "exchange"));
    c = x->of;
    x->border = t->plan.kernel->num_function == 1 ? stage_border : NULL;
    TRY(gpu_stream_new_first(&c->stream, t->gpu));
    TRY(gpu_event_new_order(&c->ready, t->gpu));
    TRY(gpu_event_new_order(&c->sent, t->gpu));
    TRY(gpu_event_new_order(&c->received, t->gpu));
    TRY(gpu_pool_copy(&c->pool, t->stream, &c->own, cut_of(s)->own, faces, "cut faces"));
    return gpu_pool_copy(&c->pool, t->stream, &c->ghost, cut_of(s)->ghost, faces, "cut faces");
}

static unda_status make(unda_solver *s, bool by_host)
{
    struct dg_cuda *t = tables(s);
    struct exchange *x = s->exchange;
    int64_t bytes = x->bytes;
    TRY(begin(s));
    struct cuda_exchange *c = own(s);
    x->transport = by_host ? &host : &peer;
    for (int turn = 0; turn < 2; turn++) {
        TRY(gpu_pool_alloc(&c->pool, t->gpu, &c->from[turn], bytes, "traces at cut faces"));
        x->from[turn] = (uintptr_t)c->from[turn];
        if (!by_host)
            continue;
        TRY(gpu_pool_alloc(&c->pool, t->gpu, &c->packed[turn], bytes, "traces at cut faces"));
        if (bytes)
            TRY(gpu_host_alloc(t->gpu, &c->host[turn], bytes, "traces at cut faces"));
        for (int32_t i = 0; i < cut_of(s)->num_neighbor; i++)
            x->link[i].to[turn] = (uintptr_t)c->packed[turn] +
                                  (uintptr_t)(cut_of(s)->first[i] * dg_num_trace(s) * s->real_bytes);
    }
    dg_cuda_join_bytes(x, cut_of(s)->num_cut, by_host, &s->host_bytes, &s->device_bytes);
    return UNDA_OK;
}

static unda_status join_by_host(unda_solver *part)
{
    TRY(make(part, true));
    part->exchange->transport = &between;
    for (int i = 0; i < 2; i++)
        part->exchange->message[i] = own(part)->host[i];
    return UNDA_OK;
}

/* One buffer each way: what is packed next, or received, follows the messages of the stage before on the same stream, or the
 * host has waited for them. */
static unda_status join_by_device(unda_solver *part, unda_nccl *nccl)
{
    struct exchange *x = part->exchange;
    TRY(begin(part));
    struct cuda_exchange *c = own(part);
    struct gpu *gpu = tables(part)->gpu;
    TRY(gpu_pool_alloc(&c->pool, gpu, &c->packed[0], x->bytes, "traces at cut faces"));
    TRY(gpu_pool_alloc(&c->pool, gpu, &c->from[0], x->bytes, "traces at cut faces"));
    dg_cuda_join_bytes(x, cut_of(part)->num_cut, false, &part->host_bytes, &part->device_bytes);
    messages_place(part->exchange, cut_of(part)->num_neighbor, c->packed[0], c->from[0]);
    x->transport = nccl ? &by_nccl : &by_device;
    return nccl ? cuda_ranks_list(&c->ranks, nccl, x, cut_of(part)->neighbor, cut_of(part)->num_neighbor)
                : UNDA_OK;
}

unda_status dg_cuda_join_rank(unda_solver *part, const unda_ranks *ranks)
{
    bool by_device = ranks->transport == UNDA_TRANSPORT_MPI || ranks->nccl;
    return by_device ? join_by_device(part, ranks->nccl) : join_by_host(part);
}

/* Whether each part reaches the memory of those that it sends to. */
static unda_status reach_all(unda_solver *const *part, int32_t num_part, bool *reached)
{
    *reached = true;
    for (int32_t p = 0; p < num_part; p++)
        for (int32_t i = 0; i < cut_of(part[p])->num_neighbor && *reached; i++)
            TRY(gpu_reach(tables(part[p])->gpu, tables(part[cut_of(part[p])->neighbor[i]])->gpu, reached));
    return UNDA_OK;
}

unda_status dg_cuda_join(unda_solver *const *part, int32_t num_part, int transport)
{
    bool reached = false;
    for (int32_t p = 1; p < num_part; p++)
        TRY(gpu_check_equal(tables(part[0])->gpu, tables(part[p])->gpu));
    if (transport != UNDA_TRANSPORT_HOST)
        TRY(reach_all(part, num_part, &reached));
    if (transport == UNDA_TRANSPORT_PEER && !reached)
        FAIL(UNDA_ERR_DEVICE,
             "transport is peer, but some devices cannot reach each other's memory; expected host or auto");
    for (int32_t p = 0; p < num_part; p++)
        TRY(make(part[p], !reached));
    for (int32_t p = 0; p < num_part; p++)
        TRY(list_neighbors(part, part[p]));
    if (reached)
        dg_link_parts(part, num_part);
    return UNDA_OK;
}
