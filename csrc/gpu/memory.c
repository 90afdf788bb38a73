/* memory.c: device memory, page-locked host memory, copies.
 * Every copy is ordered by its stream; the default stream is never used. Not here: what is stored
 * (cuda.c). Next: stream.c. */
#include "internal.h"

unda_status gpu_memory_free(struct gpu *gpu, int64_t *bytes)
{
    size_t free_bytes = 0, total_bytes = 0;
    TRY(CU_IN(gpu, cuMemGetInfo, &free_bytes, &total_bytes));
    *bytes = (int64_t)free_bytes;
    return UNDA_OK;
}

static unda_status out_of_memory(struct gpu *gpu, int64_t bytes, const char *what)
{
    int64_t free_bytes = -1;
    TRY(gpu_memory_free(gpu, &free_bytes));
    FAIL(UNDA_ERR_DEVICE_MEMORY, "%s needs %lld bytes, %lld of %lld are free on device %d (%s)", what,
         (long long)bytes, (long long)free_bytes, (long long)gpu->info.total_bytes, gpu->device,
         gpu->info.name);
}

unda_status gpu_alloc(struct gpu *gpu, gpu_ptr *ptr, int64_t bytes, const char *what)
{
    if (bytes < 0)
        FAIL(UNDA_ERR_ARG, "%s has %lld bytes, expected 0 or more", what, (long long)bytes);
    TRY(gpu_enter(gpu));
    int result = CU_RESULT(cuMemAlloc, ptr, bytes ? (size_t)bytes : 1);
    gpu_leave(gpu);
    if (result == CUDA_OUT_OF_MEMORY)
        return out_of_memory(gpu, bytes, what);
    return cuda_status(result, "cuMemAlloc", __FILE__, __LINE__);
}

void gpu_free(struct gpu *gpu, gpu_ptr ptr)
{
    CU_FREE(gpu, cuMemFree, ptr);
}

/* CUpointer_attribute and CU_MEMORYTYPE_DEVICE */
enum { MEMORY_TYPE = 2, DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12, ON_DEVICE = 2 };

unda_status gpu_check_memory(struct gpu *gpu, gpu_ptr address, int64_t bytes)
{
    unsigned type = 0;
    int device = -1;
    gpu_ptr begin = 0;
    size_t size = 0;
    TRY(gpu_enter(gpu));
    int result = CU_RESULT(cuPointerGetAttribute, &type, MEMORY_TYPE, address);
    result = result ? result : CU_RESULT(cuPointerGetAttribute, &device, DEVICE_ORDINAL, address);
    result = result ? result : CU_RESULT(cuPointerGetAttribute, &begin, RANGE_START, address);
    result = result ? result : CU_RESULT(cuPointerGetAttribute, &size, RANGE_SIZE, address);
    gpu_leave(gpu);
    if (result == CUDA_INVALID_VALUE || (!result && type != ON_DEVICE))
        FAIL(UNDA_ERR_ARG, "address %#llx is no memory of a device, expected that of device %d (%s)",
             (unsigned long long)address, gpu->device, gpu->info.name);
    TRY(cuda_status(result, "cuPointerGetAttribute", __FILE__, __LINE__));
    if (device != gpu->device)
        FAIL(UNDA_ERR_ARG, "address %#llx is memory of device %d, expected device %d",
             (unsigned long long)address, device, gpu->device);
    if (address - begin > size || (size_t)bytes > size - (address - begin))
        FAIL(UNDA_ERR_ARG, "memory from %#llx on has %lld bytes, expected at least %lld",
             (unsigned long long)address, (long long)(size - (address - begin)), (long long)bytes);
    return UNDA_OK;
}

unda_status gpu_pool_alloc(struct gpu_pool *pool, struct gpu *gpu, gpu_ptr *ptr, int64_t bytes,
                           const char *what)
{
    TRY(array_grow(&pool->ptr, pool->num, pool->num + 1, sizeof *pool->ptr, what));
    pool->gpu = gpu;
    TRY(gpu_alloc(gpu, &pool->ptr[pool->num], bytes, what));
    *ptr = pool->ptr[pool->num++];
    return UNDA_OK;
}

unda_status gpu_pool_copy(struct gpu_pool *pool, struct gpu_stream *stream, gpu_ptr *ptr, const void *from,
                          int64_t bytes, const char *what)
{
    TRY(gpu_pool_alloc(pool, stream->gpu, ptr, bytes, what));
    return gpu_upload(stream, *ptr, from, bytes);
}

void gpu_pool_free(struct gpu_pool *pool)
{
    for (int32_t i = 0; i < pool->num; i++)
        gpu_free(pool->gpu, pool->ptr[i]);
    array_free(pool->ptr);
    *pool = (struct gpu_pool){0};
}

unda_status gpu_host_alloc(struct gpu *gpu, void *out, int64_t bytes, const char *what)
{
    enum { PORTABLE = 1 }; /* CU_MEMHOSTALLOC_PORTABLE: page-locked for every context */
    if (bytes < 0)
        FAIL(UNDA_ERR_ARG, "%s has %lld bytes, expected 0 or more", what, (long long)bytes);
    TRY(gpu_enter(gpu));
    int result = CU_RESULT(cuMemHostAlloc, out, bytes ? (size_t)bytes : 1, PORTABLE);
    gpu_leave(gpu);
    if (result == CUDA_OUT_OF_MEMORY)
        FAIL(UNDA_ERR_MEMORY, "%s needs %lld bytes of page-locked host memory", what, (long long)bytes);
    return cuda_status(result, "cuMemHostAlloc", __FILE__, __LINE__);
}

void gpu_host_free(struct gpu *gpu, void *memory)
{
    CU_FREE(gpu, cuMemFreeHost, memory);
}

unda_status gpu_upload_async(struct gpu_stream *stream, gpu_ptr to, const void *from, int64_t bytes)
{
    return bytes ? CU_IN(stream->gpu, cuMemcpyHtoDAsync, to, from, (size_t)bytes, stream->handle)
                 : gpu_check();
}

unda_status gpu_download_async(struct gpu_stream *stream, void *to, gpu_ptr from, int64_t bytes)
{
    return bytes ? CU_IN(stream->gpu, cuMemcpyDtoHAsync, to, from, (size_t)bytes, stream->handle)
                 : gpu_check();
}

unda_status gpu_upload(struct gpu_stream *stream, gpu_ptr to, const void *from, int64_t bytes)
{
    TRY(gpu_upload_async(stream, to, from, bytes));
    return gpu_sync(stream);
}

unda_status gpu_upload_reals(struct gpu_stream *stream, gpu_ptr to, const double *from, int64_t count,
                             int32_t real_bytes)
{
    if (real_bytes == 8)
        return gpu_upload(stream, to, from, 8 * count);
    for (int64_t done = 0; done < count; done += PIECE) {
        int64_t part = count - done < PIECE ? count - done : PIECE;
        for (int64_t i = 0; i < part; i++)
            stream->piece[i] = (float)from[done + i];
        TRY(gpu_upload(stream, to + (gpu_ptr)(4 * done), stream->piece, 4 * part));
    }
    return UNDA_OK;
}

unda_status gpu_download(struct gpu_stream *stream, void *to, gpu_ptr from, int64_t bytes)
{
    TRY(gpu_download_async(stream, to, from, bytes));
    return gpu_sync(stream);
}

unda_status gpu_copy_async(struct gpu_stream *stream, gpu_ptr to, gpu_ptr from, int64_t bytes)
{
    return bytes ? CU_IN(stream->gpu, cuMemcpyDtoDAsync, to, from, (size_t)bytes, stream->handle)
                 : gpu_check();
}

/* ---- parts ---- */

static struct cuda_copy_side on_host(const void *at, int64_t step)
{
    return (struct cuda_copy_side){.kind = CUDA_HOST, .host = at, .pitch = (size_t)step};
}

static struct cuda_copy_side on_device(gpu_ptr at, int64_t step)
{
    return (struct cuda_copy_side){.kind = CUDA_DEVICE, .device = at, .pitch = (size_t)step};
}

static unda_status copy_parts(struct gpu_stream *stream, struct cuda_copy_side to, struct cuda_copy_side from,
                              int64_t bytes, int64_t num)
{
    struct cuda_copy copy = {from, to, (size_t)bytes, (size_t)num};
    return bytes && num ? CU_IN(stream->gpu, cuMemcpy2DAsync, &copy, stream->handle) : gpu_check();
}

unda_status gpu_upload_parts_async(struct gpu_stream *stream, gpu_ptr to, int64_t to_step, const void *from,
                                   int64_t from_step, int64_t bytes, int64_t num)
{
    return copy_parts(stream, on_device(to, to_step), on_host(from, from_step), bytes, num);
}

unda_status gpu_download_parts_async(struct gpu_stream *stream, void *to, int64_t to_step, gpu_ptr from,
                                     int64_t from_step, int64_t bytes, int64_t num)
{
    return copy_parts(stream, on_host(to, to_step), on_device(from, from_step), bytes, num);
}

unda_status gpu_copy_parts_async(struct gpu_stream *stream, gpu_ptr to, int64_t to_step, gpu_ptr from,
                                 int64_t from_step, int64_t bytes, int64_t num)
{
    return copy_parts(stream, on_device(to, to_step), on_device(from, from_step), bytes, num);
}

unda_status gpu_zero_async(struct gpu_stream *stream, gpu_ptr to, int64_t bytes)
{
    return bytes ? CU_IN(stream->gpu, cuMemsetD8Async, to, 0, (size_t)bytes, stream->handle) : gpu_check();
}
