/* cuda_ranks.c: a part's messages to other processes by NCCL. Next: gpu/nccl.c. */
#include "cuda_ranks.h"

unda_status cuda_ranks_list(struct cuda_ranks *ranks, unda_nccl *nccl, const struct exchange *exchange,
                            const int32_t *rank, int32_t num)
{
    gpu_ptr send = (uintptr_t)exchange->message[0], receive = (uintptr_t)exchange->message[1];
    TRY(array_try(&ranks->message, num, sizeof *ranks->message, "messages"));
    ranks->nccl = nccl;
    ranks->num = num;
    for (int32_t i = 0; i < num; i++) {
        int64_t bytes = exchange->link[i].bytes;
        ranks->message[i] = (struct gpu_message){rank[i], send, receive, bytes};
        send += (gpu_ptr)bytes;
        receive += (gpu_ptr)bytes;
    }
    return UNDA_OK;
}

void cuda_ranks_free(struct cuda_ranks *ranks)
{
    array_free(ranks->message);
    *ranks = (struct cuda_ranks){0};
}

unda_status cuda_ranks_queue(const struct cuda_ranks *ranks, struct gpu_stream *stream)
{
    return gpu_nccl_exchange(ranks->nccl, stream, ranks->message, ranks->num);
}
