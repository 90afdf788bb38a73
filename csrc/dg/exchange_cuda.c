/* exchange_cuda.c: traces at cut faces between devices: packed and unpacked by a kernel; border elements.
 * The second stream has traces and border elements; the first one computes inner elements meanwhile. Only border elements
 * read ghosts, so that the second stream of a stage needs of the first one no more than its stage before:
 *
 *     begin    packs what border elements were in the stage before
 *     end      unpacks
 *     border   waits for the first stream's stage before; border elements; the first stream waits for them
 *
 * Kernels of several functions, which share memory, compute border elements after the inner ones, on the first stream.
 * Not here: how messages travel (solver/cuda_exchange.c, cuda_ranks.c). Next: cuda/common/state.cu (traces). */
#include "cuda.h"
#include "rank.h"

#include "common/index.h"

static struct dg_cuda_cut *own(const unda_solver *s)
{
    return &tables(s)->cut;
}
static struct gpu_stream *stream_of(const unda_solver *s)
{
    return cuda_exchange_of(s)->stream;
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
    return num ? gpu_launch(&t->traces, stream_of(s), &shape, &a, sizeof a) : UNDA_OK;
}

static unda_status pack(unda_solver *s, int32_t neighbor, uintptr_t to)
{
    const int64_t *first = cut_of(s)->first;
    return launch(s, own(s)->own + (gpu_ptr)(8 * first[neighbor]), first[neighbor + 1] - first[neighbor], to,
                  false);
}

static unda_status unpack(unda_solver *s, uintptr_t from)
{
    return launch(s, own(s)->ghost, cut_of(s)->num_cut, from, true);
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
    const struct cuda_exchange *c = x->of;
    const struct dg_cuda_cut *here = own(s);
    if (here->filling_host[0])
        return gpu_download_async(c->stream, here->filling_host[x->turn], here->filling,
                                  filling_bytes(s, x->bytes));
    for (int32_t i = 0; i < c->num_neighbor; i++)
        TRY(gpu_copy_async(
            c->stream, own(c->neighbor[i])->filling_from[x->turn] + (gpu_ptr)filling_bytes(s, c->there[i]),
            here->filling, filling_bytes(s, x->link[i].bytes)));
    return UNDA_OK;
}

static unda_status fetch_filling(unda_solver *s)
{
    const struct exchange *x = s->exchange;
    const struct cuda_exchange *c = x->of;
    int64_t at = 0;
    for (int32_t i = 0; own(s)->filling_host[0] && i < c->num_neighbor; i++) {
        TRY(gpu_upload_async(c->stream, own(s)->filling_from[x->turn] + (gpu_ptr)filling_bytes(s, at),
                             own(c->neighbor[i])->filling_host[x->turn] + filling_bytes(s, c->there[i]),
                             filling_bytes(s, x->link[i].bytes)));
        at += x->link[i].bytes;
    }
    return UNDA_OK;
}

static void free_filling(unda_solver *s)
{
    struct dg_cuda_cut *here = own(s);
    gpu_pool_free(&here->filling_pool);
    for (int turn = 0; turn < 2; turn++) {
        gpu_host_free(tables(s)->gpu, here->filling_host[turn]);
        here->filling_host[turn] = NULL;
    }
    here->more = 0;
    cuda_exchange_of(s)->leave = cuda_exchange_of(s)->arrive = NULL;
}

static unda_status make_filling(unda_solver *s, double more)
{
    struct dg_cuda_cut *here = own(s);
    struct cuda_exchange *c = cuda_exchange_of(s);
    struct gpu *gpu = tables(s)->gpu;
    here->more = more;
    int64_t bytes = filling_bytes(s, s->exchange->bytes);
    if (more > 0) {
        c->leave = send_filling;
        c->arrive = fetch_filling;
    }
    if (!bytes)
        return UNDA_OK;
    TRY(gpu_pool_alloc(&here->filling_pool, gpu, &here->filling, bytes, "filling of messages"));
    TRY(gpu_zero_async(tables(s)->stream, here->filling, bytes));
    for (int turn = 0; turn < 2; turn++) {
        TRY(gpu_pool_alloc(&here->filling_pool, gpu, &here->filling_from[turn], bytes,
                           "filling of messages"));
        if (c->host[0])
            TRY(gpu_host_alloc(gpu, &here->filling_host[turn], bytes, "filling of messages"));
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

/* ---- border elements ---- */

/* On the second stream, in the place of the first. */
static unda_status stage_border(unda_solver *s, const struct stage *stage, int64_t end)
{
    struct dg_cuda *t = tables(s);
    const struct cuda_exchange *c = cuda_exchange_of(s);
    TRY(gpu_stream_wait(c->stream, c->ready));
    t->stream = c->stream;
    unda_status status = s->engine->stage(s, stage, 0, end);
    t->stream = c->first;
    TRY(status);
    TRY(gpu_event_record(c->received, c->stream));
    return gpu_stream_wait(c->first, c->received);
}

/* ---- creation ---- */

void dg_cuda_exchange_free(unda_solver *s)
{
    if (!s->exchange || !s->exchange->of)
        return;
    free_filling(s);
    gpu_pool_free(&own(s)->pool);
    cuda_exchange_free(s);
}

void dg_cuda_join_bytes(const struct exchange *x, int64_t num_cut, bool by_host, int64_t *host,
                        int64_t *device)
{
    cuda_exchange_bytes(x, by_host, host, device);
    *device += 2 * 8 * num_cut;
}

/* All but room for messages. */
static unda_status begin(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    int64_t faces = 8 * cut_of(s)->num_cut;
    bool beside = t->plan.kernel->num_function == 1;
    TRY(cuda_exchange_new(s, t->gpu, t->stream, NULL, cut_of(s)->num_neighbor));
    struct cuda_exchange *c = cuda_exchange_of(s);
    c->pack = pack;
    c->unpack = unpack;
    c->beside = beside;
    s->exchange->border = beside ? stage_border : NULL;
    s->device_bytes += 2 * faces;
    TRY(gpu_pool_copy(&t->cut.pool, t->stream, &t->cut.own, cut_of(s)->own, faces, "cut faces"));
    return gpu_pool_copy(&t->cut.pool, t->stream, &t->cut.ghost, cut_of(s)->ghost, faces, "cut faces");
}

unda_status dg_cuda_join_rank(unda_solver *part, const unda_ranks *ranks)
{
    TRY(begin(part));
    return cuda_exchange_join_rank(part, ranks, cut_of(part)->neighbor);
}

unda_status dg_cuda_join(unda_solver *const *part, int32_t num_part, int transport)
{
    SCRATCH const int32_t **neighbor = NULL;
    TRY(array_try(&neighbor, num_part, sizeof *neighbor, "exchange"));
    for (int32_t p = 0; p < num_part; p++) {
        neighbor[p] = cut_of(part[p])->neighbor;
        TRY(begin(part[p]));
    }
    return cuda_exchange_join(part, num_part, neighbor, transport);
}
