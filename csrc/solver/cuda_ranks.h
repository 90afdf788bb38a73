/* cuda_ranks.h: messages of a part on a CUDA device to those of other processes, out of the device's memory into theirs, by
 * NCCL on the stream of the exchange. An engine packs, queues these, and unpacks, all on that stream: the host waits for
 * nothing, and inner elements are computed meanwhile. Used by: dg/exchange_cuda.c. Not here: by requests of MPI (dg/rank.c). */
#ifndef UNDA_CUDA_RANKS_H
#define UNDA_CUDA_RANKS_H

#include "../gpu/gpu.h"
#include "exchange.h"

struct cuda_ranks {
    unda_nccl *nccl;             /* borrowed */
    struct gpu_message *message; /* [num], one a neighbour */
    int32_t num;
};
/* Lists the messages of an exchange whose links have their bytes, and which lie one after the other from its message[0] and
 * message[1] on; rank[i]: the process that neighbour i is. */
unda_status cuda_ranks_list(struct cuda_ranks *ranks, unda_nccl *nccl, const struct exchange *exchange,
                            const int32_t *rank, int32_t num);
void cuda_ranks_free(struct cuda_ranks *ranks);
unda_status cuda_ranks_queue(const struct cuda_ranks *ranks, struct gpu_stream *stream);

#endif
