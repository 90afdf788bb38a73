/* cuda_exchange.h: what a part on a CUDA device sends to its neighbours and receives of them, for all methods. A part has a
 * second stream for it, whose blocks start first, so that what needs nothing of others is computed meanwhile:
 *
 *     begin   the second stream waits for the first one's work; packs; messages leave; `sent`
 *     end     it waits for `sent` of each neighbour; messages arrive; unpacks; the first stream waits for that
 *
 * Of a method that computes borders on the second stream too (`beside`), neither stream waits there for the other: the
 * method queues that (dg/exchange_cuda.c, fd/cuda_send.c). Messages travel (struct transport)
 *
 *     peer, host                       between devices of this process: cuda_exchange.c
 *     mpi by host, mpi by device, nccl between processes: cuda_ranks.c
 *
 * An event is recorded before anything is queued that waits for it, and by the thread that queues all: nothing on a device
 * waits for what may come later. Used by: dg/exchange_cuda.c, sem/exchange_cuda.c, fd/cuda_send.c, which pack. */
#ifndef UNDA_CUDA_EXCHANGE_H
#define UNDA_CUDA_EXCHANGE_H

#include "../gpu/gpu.h"
#include "exchange.h"

/* A part's own, in exchange.of. */
struct cuda_exchange {
    struct gpu *gpu;
    struct gpu_stream *first, *stream,
        *made; /* the engine's; that of the exchange; the same, if it was made here */
    struct gpu_event *ready, *sent, *received;
    gpu_ptr from[2], packed[2];
    char *host[2]; /* page-locked, by way of the host: sent, as `packed`, and received */
    struct gpu_pool pool;
    int32_t num_neighbor;
    unda_solver **neighbor; /* [num_neighbor]; NULL: in another process */
    int64_t *there;         /* [num_neighbor]: where it has the message for this part [bytes] */
    /* Between processes by NCCL, else NULL: borrowed; what is packed, one message a neighbour. */
    unda_nccl *nccl;
    struct gpu_message *message;
    /* Of a method that sends from where values stand: the messages of its next begin, else NULL. */
    const struct gpu_message *direct;
    int32_t num_direct;

    /* Of the method, which sets them once this is made. Functions queue on `stream`. */
    unda_status (*pack)(unda_solver *s, int32_t neighbor, uintptr_t to);
    unda_status (*unpack)(unda_solver *s, uintptr_t from);
    unda_status (*leave)(unda_solver *s);  /* once messages have left; may be NULL, as the next */
    unda_status (*arrive)(unda_solver *s); /* once they have arrived, before `unpack` */
    bool beside;                           /* it computes borders on `stream` */
    bool on_host; /* by way of the host between processes it packs there, and unpacks from there */
};
static inline struct cuda_exchange *cuda_exchange_of(const unda_solver *s)
{
    return s->exchange->of;
}

/* Of a part whose exchange has its links' bytes, on the engine's device and stream; beside: its second stream, which
 * outlives this; NULL: one is made. */
unda_status cuda_exchange_new(unda_solver *s, struct gpu *gpu, struct gpu_stream *first,
                              struct gpu_stream *beside, int32_t num_neighbor);
void cuda_exchange_free(unda_solver *s);
/* Once all are made: neighbor[p][i]: the part that neighbour i of part p is. Chooses how messages travel. */
unda_status cuda_exchange_join(unda_solver *const *part, int32_t num_part, const int32_t *const *neighbor,
                               int transport);
/* Bytes that joining takes of each kind of memory. */
void cuda_exchange_bytes(const struct exchange *x, bool by_host, int64_t *host, int64_t *device);
/* Room for messages of a part: where they arrive and, by way of the host, where they are packed. */
unda_status cuda_exchange_make_room(unda_solver *s, bool by_host);
/* Functions of an engine. */
unda_status cuda_exchange_begin(unda_solver *s);
unda_status cuda_exchange_end(unda_solver *s);
/* What was queued on the first stream so far comes before what follows on the second. */
unda_status cuda_exchange_follow(unda_solver *s);
/* As gpu_sync of a stream that may wait for messages; fails if these cannot come any more. */
unda_status cuda_exchange_wait(unda_solver *s, struct gpu_stream *stream);

/* cuda_ranks.c: of a process's part: messages as ranks.transport says; neighbor[i]: the process that neighbour i is. */
unda_status cuda_exchange_join_rank(unda_solver *part, const unda_ranks *ranks, const int32_t *neighbor);

#endif
