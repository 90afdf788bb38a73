/* nccl.c: messages from the memory of one process's device to another's, by NCCL on a stream.
 * A communicator that has failed is given up: NCCL ends what it has queued, and the other processes hear of it.
 * Not here: how NCCL is found (api.c), what is sent (solver/cuda_ranks.c, fd/cuda_send.c). */
#include "internal.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { BYTE = 0 }; /* ncclDataType_t */
/* Blocks take multiprocessors from the kernels beside. Scalar grids of 512^3 on two H200, a process each, per cent of
 * one process with both: 96.1 as NCCL chooses, 97.1, 97.7, 97.6 with at most 1, 2, 4. NCCL_MAX_CTAS changes it. */
enum { MOST_BLOCKS = 4 };

struct unda_nccl {
    struct gpu *gpu;
    void *communicator; /* ncclComm_t; NULL: given up */
    int32_t num_rank, which;
};

/* ---- creation ---- */

/* Passes a failure on, whose message is set; ends what is queued. */
static unda_status give_up_on(unda_nccl *n, unda_status failure)
{
    if (failure != UNDA_OK && n->communicator && gpu_try_enter(n->gpu)) {
        (void)nccl.ncclCommAbort(n->communicator);
        n->communicator = NULL;
        gpu_leave(n->gpu);
    }
    return failure;
}

unda_status unda_nccl_find(int32_t *version)
{
    if (!version)
        FAIL(UNDA_ERR_ARG, "version is NULL");
    TRY(nccl_load());
    *version = nccl.version;
    return UNDA_OK;
}

unda_status unda_nccl_new_id(void *id)
{
    struct nccl_id made;
    if (!id)
        FAIL(UNDA_ERR_ARG, "id is NULL");
    TRY(nccl_load());
    TRY(NCCL(ncclGetUniqueId, &made));
    memcpy(id, &made, sizeof made);
    return UNDA_OK;
}

static unda_status connect_all(unda_nccl *n, int32_t device, const void *id)
{
    struct nccl_id given;
    memcpy(&given, id, sizeof given);
    TRY(nccl_load());
    TRY(gpu_open(&n->gpu, device));
    TRY(gpu_enter(n->gpu));
    const struct nccl_config config = {.size = sizeof config,
                                       .magic = 0xcafebeef,
                                       .version = 21700,
                                       .blocking = INT_MIN,
                                       .cluster_size = INT_MIN,
                                       .least_blocks = INT_MIN,
                                       .most_blocks = MOST_BLOCKS};
    unda_status status =
        NCCL(ncclCommInitRankConfig, &n->communicator, n->num_rank, given, n->which, &config);
    return give_up_on(n, gpu_leave_with(n->gpu, status));
}

unda_status unda_nccl_new(unda_nccl **out, int32_t device, const void *id, int32_t num_rank, int32_t which)
{
    TRY(fork_check());
    if (!out || !id)
        FAIL(UNDA_ERR_ARG, "nccl or id is NULL");
    if (which < 0 || which >= num_rank)
        FAIL(UNDA_ERR_ARG, "which is %d of %d processes, expected 0..%d", which, num_rank, num_rank - 1);
    unda_nccl *n;
    TRY(array_try(&n, 1, sizeof *n, "NCCL"));
    n->num_rank = num_rank;
    n->which = which;
    return COMPLETE(out, n, unda_nccl_free, connect_all(n, device, id));
}

void unda_nccl_free(unda_nccl *n)
{
    if (!n)
        return;
    if (n->communicator && gpu_try_enter(n->gpu)) {
        (void)nccl.ncclCommDestroy(n->communicator);
        gpu_leave(n->gpu);
    }
    gpu_close(n->gpu);
    array_free(n);
}

/* ---- messages ---- */

static unda_status check_given_up(const unda_nccl *n)
{
    if (!n->communicator)
        FAIL(UNDA_ERR_DEVICE, "process %d of %d has given up its connection by NCCL after a failure",
             n->which, n->num_rank);
    return UNDA_OK;
}

static unda_status queue_messages(const unda_nccl *n, void *stream, const struct gpu_message *message,
                                  int32_t num)
{
    for (int32_t i = 0; i < num; i++) {
        const struct gpu_message *m = &message[i];
        size_t bytes = (size_t)m->bytes;
        if (m->send)
            TRY(NCCL(ncclSend, POINTER(m->send), bytes, BYTE, m->rank, n->communicator, stream));
        if (m->receive)
            TRY(NCCL(ncclRecv, POINTER(m->receive), bytes, BYTE, m->rank, n->communicator, stream));
    }
    return UNDA_OK;
}

/* A group must end even if a call in it has failed, whose message counts then. */
static unda_status queue_group(const unda_nccl *n, void *stream, const struct gpu_message *message,
                               int32_t num)
{
    TRY(NCCL(ncclGroupStart));
    unda_status status = queue_messages(n, stream, message, num);
    if (status == UNDA_OK)
        return NCCL(ncclGroupEnd);
    (void)nccl.ncclGroupEnd();
    return status;
}

unda_status gpu_nccl_exchange(unda_nccl *n, struct gpu_stream *stream, const struct gpu_message *message,
                              int32_t num)
{
    TRY(gpu_check());
    TRY(check_given_up(n));
    if (num == 0)
        return UNDA_OK;
    TRY(gpu_enter(n->gpu));
    return give_up_on(n, gpu_leave_with(n->gpu, queue_group(n, stream->handle, message, num)));
}

/* What went wrong in queued messages, as far as NCCL knows by now. */
static unda_status check_queued(unda_nccl *n)
{
    int result = 0;
    TRY(check_given_up(n));
    unda_status status = NCCL(ncclCommGetAsyncError, n->communicator, &result);
    return give_up_on(n, status == UNDA_OK ? nccl_status(result, "a message", __FILE__, __LINE__) : status);
}

/* Asks ever more seldom: at first a step may be as short as ten microseconds. */
static void pause_before(int64_t round)
{
    enum { AT_ONCE = 1000, NANOSECONDS = 50000 };
    if (round < AT_ONCE)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
}

unda_status gpu_nccl_sync(unda_nccl *n, struct gpu_stream *stream)
{
    for (int64_t round = 0;; round++) {
        TRY(gpu_enter(n->gpu));
        int result = CU_RESULT(cuStreamQuery, stream->handle);
        gpu_leave(n->gpu);
        if (result && result != CUDA_NOT_READY)
            return cuda_status(result, "cuStreamQuery", __FILE__, __LINE__);
        TRY(check_queued(n));
        if (!result)
            return UNDA_OK;
        pause_before(round);
    }
}
