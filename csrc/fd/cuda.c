/* cuda.c: planes and whole arrays on a CUDA device, for all schemes; kernels of single nodes.
 * Not here: sources and receivers (cuda_points.c), steps (scalar/cuda.c, staggered/cuda.c). */
#include "cuda.h"

#include "../base/parallel.h"

enum { STAGING_BYTES = 8 << 20 };

void fd_cuda_define(const unda_solver *s, struct gpu_defines *defines)
{
    gpu_define(defines, "REAL=%s", s->real_bytes == 4 ? "float" : "double");
    gpu_define(defines, "HALF=%d", fd_tables(s)->half);
}

unda_status fd_cuda_compile(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    struct gpu_defines defines = {.num = 0};
    fd_cuda_define(s, &defines);
    struct gpu_source points = {"fd/points.cu", defines.list, 1}; /* REAL */
    TRY(gpu_module_new(&t->point_module, t->gpu, &points));
    TRY(gpu_kernel_get(&t->inject, t->point_module, "scalar_inject", 0));
    TRY(gpu_kernel_get(&t->gather, t->point_module, "scalar_gather", 0));
    TRY(gpu_kernel_get(&t->weigh, t->point_module, "scalar_weigh", 0));
    TRY(gpu_kernel_get(&t->find_bad, t->point_module, "scalar_find_bad", 0));
    return gpu_kernel_get(&t->multiply, t->point_module, "scalar_multiply", 0);
}

void fd_cuda_weights(const struct fd *fd, const double (*weight)[MAX_HALF + 1], float *weight32,
                     double *weight64)
{
    for (int a = 0; a < 3; a++)
        for (int m = 0; m <= fd->half; m++) {
            weight64[a * (FD_MAX_HALF + 1) + m] = weight[a][m];
            weight32[a * (FD_MAX_HALF + 1) + m] = (float)weight[a][m];
        }
}

unda_status fd_cuda_zero(unda_solver *s, int kinds)
{
    return gpu_wants_zero(&fd_cuda(s)->wants, fd_cuda(s)->stream, kinds);
}

unda_status fd_cuda_stream(const unda_solver *s, struct gpu_stream **stream)
{
    return (fd_tables(s)->whole ? gpu_stream_new : gpu_stream_new_first)(stream, fd_cuda(s)->gpu);
}

unda_status fd_cuda_open(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    fork_mark();
    TRY(gpu_open(&t->gpu, s->options.device));
    TRY(fd_cuda_stream(s, &t->stream));
    return fd_tables(s)->whole ? fd_cuda_send_open(s) : UNDA_OK;
}

void fd_cuda_close(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    fd_cuda_points_free(s);
    gpu_pool_free(&t->wants.pool);
    gpu_host_free(t->gpu, t->staging);
    gpu_module_free(t->point_module);
    fd_cuda_send_free(s);
    gpu_stream_free(t->stream);
    gpu_close(t->gpu);
}

/* Bytes of page-locked memory. Copies to and from it are several times as fast as others, and a piece of
 * this size takes longer than its launch. Less where the arrays are small: a sixteenth of one. */
int64_t fd_cuda_staging_bytes(const unda_solver *s)
{
    int64_t row = fd_tables(s)->axis[2].total * s->real_bytes, all = fd_tables(s)->num_node * s->real_bytes;
    int64_t most = all / 16 < STAGING_BYTES ? all / 16 : STAGING_BYTES;
    return row > most ? row : most;
}

/* Rows [begin, end) of a box between the device and page-locked memory: those of a plane at once. */
static unda_status move_rows(unda_solver *s, int array, const struct fd_box *box, int64_t begin, int64_t end,
                             bool up)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t real = s->real_bytes, num_y = box->num[1], row = box->num[2] * real, next;
    gpu_ptr base = fd_cuda_origin(s, fd_cuda_array(t, array));
    for (int64_t i = begin; i < end; i = next) {
        int64_t x = box->first[0] + i / num_y, y = box->first[1] + i % num_y;
        gpu_ptr at = base + (gpu_ptr)((x * t->plane + y * t->pitch + box->first[2]) * real);
        char *host = t->staging + (i - begin) * row;
        next = (i / num_y + 1) * num_y < end ? (i / num_y + 1) * num_y : end;
        TRY(up ? gpu_upload_parts_async(t->stream, at, t->pitch * real, host, row, row, next - i)
               : gpu_download_parts_async(t->stream, host, row, at, t->pitch * real, row, next - i));
    }
    return gpu_sync(t->stream);
}

unda_status fd_cuda_box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t row = box->num[2] * s->real_bytes, num = box->num[0] * box->num[1], next;
    if (num * row == 0)
        return UNDA_OK;
    if (!t->staging)
        TRY(gpu_host_alloc(t->gpu, &t->staging, fd_cuda_staging_bytes(s), "planes"));
    int64_t most = fd_cuda_staging_bytes(s) / row;
    int32_t threads = parallel_few(s->options.threads);
    for (int64_t i = 0; i < num; i = next) {
        next = i + most < num ? i + most : num;
        if (in)
            parallel_copy(t->staging, (const char *)in + i * row, (next - i) * row, threads);
        TRY(move_rows(s, array, box, i, next, in));
        if (out)
            parallel_copy((char *)out + i * row, t->staging, (next - i) * row, threads);
    }
    return UNDA_OK;
}

unda_status fd_cuda_whole(unda_solver *s, const struct gpu_kernel *kernel, gpu_ptr p, double factor)
{
    const struct fd *fd = fd_tables(s);
    const struct fd_cuda *t = fd_cuda(s);
    gpu_ptr first = fd_cuda_origin(s, p) + (gpu_ptr)(fd->begin * t->plane * s->real_bytes);
    struct scalar_whole_args a = {.p = POINTER(first),
                                  .first = POINTER(t->bad),
                                  .plane = t->plane,
                                  .pitch = (int)t->pitch,
                                  .factor = factor};
    for (int i = 0; i < 3; i++)
        a.num[i] = (int)(i == 0 ? fd->end - fd->begin : fd->axis[i].total);
    struct gpu_shape shape = gpu_threads(fd->num_node);
    int64_t most = 16 * gpu_info(t->gpu)->num_sm;
    shape.grid[0] = shape.grid[0] < most ? shape.grid[0] : most;
    return gpu_launch(kernel, t->stream, &shape, &a, sizeof a);
}

/* First by fields, then planes. */
unda_status fd_cuda_find_bad(unda_solver *s, int64_t *index)
{
    const struct fd *fd = fd_tables(s);
    struct fd_cuda *t = fd_cuda(s);
    *index = -1;
    for (int f = 0; f < fd->num_field && *index < 0; f++) {
        uint64_t none = UINT64_MAX, found;
        TRY(gpu_upload(t->stream, t->bad, &none, sizeof none));
        TRY(fd_cuda_whole(s, &t->find_bad, t->array[f], 0));
        TRY(gpu_download(t->stream, &found, t->bad, sizeof found));
        if (found != none)
            *index = f * fd->num_node + fd->begin * fd->axis[1].total * fd->axis[2].total + (int64_t)found;
    }
    return UNDA_OK;
}
