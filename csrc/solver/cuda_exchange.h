/* cuda_exchange.h: what parts on CUDA devices send each other: stores into the neighbour's memory, or copies through the
 * host's. Each part has a second stream for it, so that what needs nothing of others is computed meanwhile:
 *
 *     begin   the second stream waits for the first one's work; packs; `sent`
 *     end     it waits for `sent` of each neighbour; unpacks; the first stream waits for that
 *
 * An event is recorded before anything is queued that waits for it, and by the thread that queues all: nothing on a device
 * waits for what may come later. Used by: sem/exchange_cuda.c. */
#ifndef UNDA_CUDA_EXCHANGE_H
#define UNDA_CUDA_EXCHANGE_H

#include "../gpu/gpu.h"
#include "exchange.h"

/* A part's own, in exchange.of. */
struct cuda_exchange {
    struct gpu *gpu;
    struct gpu_stream *first, *stream; /* the engine's, that of the exchange */
    struct gpu_event *ready, *sent, *received;
    gpu_ptr from[2], packed[2];
    char *host[2]; /* page-locked, as `packed`: by way of the host */
    struct gpu_pool pool;
    int32_t num_neighbor;
    struct cuda_exchange **neighbor; /* [num_neighbor]; NULL: in another process */
    int64_t *there;                  /* [num_neighbor]: where it has the message for this part [bytes] */
    /* Of the method, queued on `stream`. */
    unda_status (*pack)(unda_solver *s, int32_t neighbor, uintptr_t to);
    unda_status (*unpack)(unda_solver *s, uintptr_t from);
};

/* Of a part whose exchange has its links' bytes, on the engine's device and stream; the caller then sets the functions. */
unda_status cuda_exchange_new(unda_solver *s, struct gpu *gpu, struct gpu_stream *first,
                              int32_t num_neighbor);
void cuda_exchange_free(unda_solver *s);
/* Once all are made: neighbor[p][i]: the part that neighbour i of part p is. Chooses how messages travel. */
unda_status cuda_exchange_join(unda_solver *const *part, int32_t num_part, int32_t *const *neighbor,
                               int transport);
/* Of a process's part: messages (messages.h) by way of the host. */
unda_status cuda_exchange_join_rank(unda_solver *part);
/* Functions of an engine. */
unda_status cuda_exchange_begin(unda_solver *s);
unda_status cuda_exchange_end(unda_solver *s);

#endif
