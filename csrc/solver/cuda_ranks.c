/* cuda_ranks.c: messages of a process's part on a CUDA device to those of other processes, by one of three ways:
 *
 *     mpi by host     copied to page-locked memory, by requests of MPI from there, copied back; the host waits
 *     mpi by device   by requests of MPI, which has the addresses on the device; the host waits
 *     nccl            queued on the stream of the exchange; the host waits for nothing
 *
 * While the host waits, the first stream has work. Next: messages.c, gpu/nccl.c. */
#include "cuda_exchange.h"
#include "messages.h"

static struct cuda_exchange *own(const unda_solver *s)
{
    return cuda_exchange_of(s);
}

/* ---- by MPI ---- */

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
    struct gpu *gpu = own(s)->gpu;
    TRY(gpu_enter(gpu));
    unda_status status = exchange_messages(s);
    gpu_leave(gpu);
    return status;
}

/* ---- by NCCL ---- */

static unda_status queue_messages(unda_solver *s)
{
    const struct cuda_exchange *c = own(s);
    return c->direct ? gpu_nccl_exchange(c->nccl, c->stream, c->direct, c->num_direct)
                     : gpu_nccl_exchange(c->nccl, c->stream, c->message, c->num_neighbor);
}

/* ---- of host memory, outside of stages ---- */

static unda_status swap_by_device(unda_solver *s, const void *out, void *in)
{
    const struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    if (!x->bytes)
        return UNDA_OK;
    TRY(gpu_upload(c->stream, c->packed[0], out, x->bytes));
    TRY(c->nccl ? gpu_nccl_exchange(c->nccl, c->stream, c->message, c->num_neighbor) : exchange_by_device(s));
    TRY(cuda_exchange_wait(s, c->stream));
    return gpu_download(c->stream, in, c->from[0], x->bytes);
}

static const struct transport by_host = {.name = "mpi by host", .begin = to_message, .end = from_message};
static const struct transport on_host = {.name = "mpi by host", .end = exchange_messages};
static const struct transport by_device = {
    .name = "mpi by device", .end = exchange_by_device, .swap = swap_by_device};
static const struct transport by_nccl = {.name = "nccl", .begin = queue_messages, .swap = swap_by_device};

/* ---- creation ---- */

/* One buffer each way: what is packed next, or received, follows the messages of the stage before on the same stream, or the
 * host has waited for them. */
static unda_status join_by_device(unda_solver *s)
{
    struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    TRY(gpu_pool_alloc(&c->pool, c->gpu, &c->packed[0], x->bytes, "messages to other processes"));
    TRY(gpu_pool_alloc(&c->pool, c->gpu, &c->from[0], x->bytes, "messages of other processes"));
    cuda_exchange_bytes(x, false, &s->host_bytes, &s->device_bytes);
    messages_place(x, c->num_neighbor, c->packed[0], c->from[0]);
    x->transport = &by_device;
    return UNDA_OK;
}

static unda_status join_by_nccl(unda_solver *s, unda_nccl *nccl, const int32_t *neighbor)
{
    struct cuda_exchange *c = own(s);
    TRY(join_by_device(s));
    TRY(array_try(&c->message, c->num_neighbor, sizeof *c->message, "messages"));
    s->exchange->transport = &by_nccl;
    c->nccl = nccl;
    gpu_ptr send = c->packed[0], receive = c->from[0];
    for (int32_t i = 0; i < c->num_neighbor; i++) {
        int64_t bytes = s->exchange->link[i].bytes;
        c->message[i] = (struct gpu_message){neighbor[i], send, receive, bytes};
        send += (gpu_ptr)bytes;
        receive += (gpu_ptr)bytes;
    }
    return UNDA_OK;
}

static unda_status join_on_host(unda_solver *s)
{
    struct exchange *x = s->exchange;
    struct cuda_exchange *c = own(s);
    for (int i = 0; i < 2 && x->bytes; i++)
        TRY(gpu_host_alloc(c->gpu, &c->host[i], x->bytes, "messages of processes"));
    s->host_bytes += 2 * x->bytes;
    messages_place(x, c->num_neighbor, (uintptr_t)c->host[0], (uintptr_t)c->host[1]);
    x->transport = &on_host;
    return UNDA_OK;
}

static unda_status join_by_host(unda_solver *s)
{
    TRY(cuda_exchange_make_room(s, true));
    s->exchange->transport = &by_host;
    for (int i = 0; i < 2; i++)
        s->exchange->message[i] = own(s)->host[i];
    return UNDA_OK;
}

unda_status cuda_exchange_join_rank(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor)
{
    if (ranks->nccl)
        return join_by_nccl(s, ranks->nccl, neighbor);
    if (ranks->transport == UNDA_TRANSPORT_MPI)
        return join_by_device(s);
    return own(s)->on_host ? join_on_host(s) : join_by_host(s);
}
