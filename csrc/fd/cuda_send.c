/* cuda_send.c: planes of x from one slab on a CUDA device to another, on the same device or not, or of another process. A
 * stream beside the engine's, whose blocks start first, computes border planes and copies them away, while planes inside are
 * computed. In each pass
 *     beside:  waits for the pass before, and for what neighbours sent -> border planes (made) -> copies (sent)
 *     engine's: planes inside -> waits for `made`
 * so that no stream waits for a copy but the next border. Not here: which planes (slabs.c, rank.c), messages between
 * processes (solver/cuda_ranks.c). */
#include "cuda.h"

unda_status fd_cuda_send_open(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(gpu_stream_new_first(&t->away, t->gpu));
    TRY(gpu_event_new_order(&t->before, t->gpu));
    TRY(gpu_event_new_order(&t->made, t->gpu));
    return gpu_event_new_order(&t->sent, t->gpu);
}

void fd_cuda_send_free(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    cuda_exchange_free(s);
    array_free(t->message);
    gpu_event_free(t->before);
    gpu_event_free(t->made);
    gpu_event_free(t->sent);
    gpu_stream_free(t->away);
}

unda_status fd_cuda_reach(unda_solver *from, unda_solver *to, bool *reached)
{
    TRY(gpu_check_equal(fd_cuda(from)->gpu, fd_cuda(to)->gpu));
    return gpu_reach(fd_cuda(from)->gpu, fd_cuda(to)->gpu, reached);
}

unda_status fd_cuda_sending(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(gpu_event_record(t->before, t->stream));
    return gpu_stream_wait(t->away, t->before);
}

unda_status fd_cuda_border(unda_solver *s, int pass, int64_t time,
                           unda_status (*queue)(unda_solver *s, int pass, int64_t time, enum fd_part part))
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(fd_cuda_sending(s));
    SWAP(t->stream, t->away);
    unda_status status = queue(s, pass, time, FD_BORDER);
    SWAP(t->stream, t->away);
    TRY(status);
    return gpu_event_record(t->made, t->away);
}

/* Where plane x of an array begins, ghosts and padding included. */
static gpu_ptr plane_at(const unda_solver *s, int array, int64_t x)
{
    const struct fd_cuda *t = fd_cuda(s);
    int64_t before = (t->origin % t->plane + t->plane) % t->plane; /* node (0, 0) of a plane */
    return fd_cuda_array(t, array) + (gpu_ptr)((t->origin - before + x * t->plane) * s->real_bytes);
}

int64_t fd_cuda_plane_bytes(const unda_solver *s)
{
    return fd_cuda(s)->plane * s->real_bytes;
}

unda_status fd_cuda_send(unda_solver *from, unda_solver *to, int array, int64_t plane, int64_t place,
                         int64_t count)
{
    return gpu_copy_async(fd_cuda(from)->away, plane_at(to, array, place), plane_at(from, array, plane),
                          count * fd_cuda_plane_bytes(from));
}

/* Messages that were listed have left. */
static unda_status forget(unda_solver *s)
{
    cuda_exchange_of(s)->num_direct = 0;
    return UNDA_OK;
}

unda_status fd_cuda_join_rank(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor,
                              int32_t num_neighbor)
{
    struct fd_cuda *t = fd_cuda(s);
    struct fd_leap_room room = {0};
    if (fd_engine(s)->leap_room)
        room = fd_engine(s)->leap_room(s);
    int64_t most = room.num_piece > FD_MAX_FIELD ? room.num_piece : FD_MAX_FIELD;
    TRY(array_try(&t->message, 4 * most, sizeof *t->message, "messages")); /* two sides, to and from each */
    TRY(cuda_exchange_new(s, t->gpu, t->stream, t->away, num_neighbor));
    struct cuda_exchange *c = cuda_exchange_of(s);
    c->pack = fd_rank_pack;
    c->unpack = fd_rank_unpack;
    c->leave = forget;
    c->beside = c->on_host = true;
    c->direct = t->message;
    return cuda_exchange_join_rank(s, ranks, neighbor);
}

/* What is in one piece needs no packing but for requests of MPI, which are of one place. */
unda_status fd_cuda_carry_piece(unda_solver *s, int32_t neighbor, struct fd_piece piece, uintptr_t at,
                                bool arrives)
{
    struct cuda_exchange *c = cuda_exchange_of(s);
    gpu_ptr here = piece.at;
    if (c->nccl) {
        fd_cuda(s)->message[c->num_direct++] = (struct gpu_message){
            c->message[neighbor].rank, arrives ? 0 : here, arrives ? here : 0, piece.bytes};
        return UNDA_OK;
    }
    if (!c->host[0])
        return gpu_copy_async(c->stream, arrives ? here : at, arrives ? at : here, piece.bytes);
    return arrives ? gpu_upload_async(c->stream, here, (const void *)at, piece.bytes)
                   : gpu_download_async(c->stream, (void *)at, here, piece.bytes);
}

unda_status fd_cuda_carry(unda_solver *s, int32_t neighbor, int array, struct fd_range planes, uintptr_t at,
                          bool arrives)
{
    struct fd_piece piece = {plane_at(s, array, planes.first), planes.num * fd_cuda_plane_bytes(s)};
    return fd_cuda_carry_piece(s, neighbor, piece, at, arrives);
}

unda_status fd_cuda_sent(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(gpu_event_record(t->sent, t->away));
    return gpu_stream_wait(t->stream, t->made);
}

unda_status fd_cuda_receive(unda_solver *to, unda_solver *from)
{
    return gpu_stream_wait(fd_cuda(to)->away, fd_cuda(from)->sent);
}

unda_status fd_cuda_join(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(gpu_event_record(t->made, t->away));
    return gpu_stream_wait(fd_cuda(s)->stream, fd_cuda(s)->made);
}

unda_status fd_cuda_follow(unda_solver *to, unda_solver *from)
{
    return gpu_stream_wait(fd_cuda(to)->away, fd_cuda(from)->made);
}

unda_status fd_cuda_settle(unda_solver *s)
{
    if (fd_cuda(s)->away)
        TRY(s->exchange ? cuda_exchange_wait(s, fd_cuda(s)->away) : gpu_sync(fd_cuda(s)->away));
    return gpu_sync(fd_cuda(s)->stream);
}
