/* cuda_state.c: the state of the CUDA engine in and out, copies, the finite check.
 * Listed elements are copied through a packed buffer, so any numbering needs only one pass. Next:
 * cuda/common/state.cu. */
#include "cuda.h"

#include "common/index.h"

unda_status upload_groups(unda_solver *s, gpu_ptr to, const double *from, int64_t count, int num, int step)
{
    enum { PIECE = 1 << 16 };
    SCRATCH void *piece = NULL;
    TRY(array_try(&piece, 4 * PIECE, s->real_bytes, "upload"));
    for (int group = 0; 4 * group < num; group++) {
        int width = GROUP_WIDTH(num, group);
        for (int64_t done = 0; done < count; done += PIECE) {
            int64_t rows = count - done < PIECE ? count - done : PIECE;
            for (int64_t i = 0; i < rows; i++)
                real_copy(s, (char *)piece + i * width * s->real_bytes, from + (done + i) * step + 4 * group,
                          width);
            TRY(gpu_upload(tables(s)->stream,
                           to + (gpu_ptr)(GROUP_INDEX(count, num, done, 4 * group) * s->real_bytes), piece,
                           rows * width * s->real_bytes));
        }
    }
    return UNDA_OK;
}

static unda_status gather(unda_solver *s, int buffer, int64_t count, const int64_t *elem, bool scatter)
{
    struct dg_cuda *t = tables(s);
    struct gather_args a = {.state = POINTER(t->buffer[buffer]),
                            .packed = POINTER(t->packed),
                            .elem = POINTER(t->list),
                            .count = count,
                            .num_value = dg_num_value(s),
                            .total = space_num_total(&dg_tables(s)->space) * dg_tables(s)->space.num_node,
                            .num_node = dg_tables(s)->space.num_node,
                            .num_field = dg_tables(s)->physics->num_field,
                            .scatter = scatter};
    struct gpu_shape shape = gpu_threads(count * a.num_value);
    TRY(gpu_upload(t->stream, t->list, elem, 8 * count));
    return gpu_launch(&t->gather, t->stream, &shape, &a, sizeof a);
}

unda_status state_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                       const void *in)
{
    struct dg_cuda *t = tables(s);
    for (int64_t done = 0; done < count; done += t->packed_count) {
        int64_t part = count - done < t->packed_count ? count - done : t->packed_count;
        int64_t at = done * dg_elem_bytes(s), bytes = part * dg_elem_bytes(s);
        if (in)
            TRY(gpu_upload(t->stream, t->packed, (const char *)in + at, bytes));
        TRY(gather(s, buffer, part, elem + done, in != NULL));
        TRY(in ? gpu_sync(t->stream) : gpu_download(t->stream, (char *)out + at, t->packed, bytes));
    }
    return UNDA_OK;
}

unda_status state_copy(unda_solver *s, int to, int from)
{
    struct dg_cuda *t = tables(s);
    TRY(gpu_copy_async(t->stream, t->buffer[to], t->buffer[from], state_bytes(s, &t->plan)));
    TRY(layer_copy(s, to, from));
    return gpu_sync(t->stream);
}

unda_status state_find_bad(unda_solver *s, int64_t *index)
{
    struct dg_cuda *t = tables(s);
    int64_t none = INT64_MAX, first;
    struct finite_args a = {.q = POINTER(t->buffer[BUF_Q]),
                            .num = dg_tables(s)->space.num_owned * dg_tables(s)->space.num_node,
                            .total = space_num_total(&dg_tables(s)->space) * dg_tables(s)->space.num_node,
                            .num_field = dg_tables(s)->physics->num_field,
                            .num_node = dg_tables(s)->space.num_node,
                            .first = POINTER(t->bad)};
    struct gpu_shape shape = gpu_threads(a.num * a.num_field);
    shape.grid[0] = shape.grid[0] < 4096 ? shape.grid[0] : 4096;
    TRY(gpu_upload(t->stream, t->bad, &none, sizeof none));
    TRY(gpu_launch(&t->find_bad, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, &first, t->bad, sizeof first));
    *index = first == none ? -1 : first;
    return UNDA_OK;
}
