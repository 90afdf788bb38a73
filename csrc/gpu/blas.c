/* blas.c: products of matrices by cuBLAS on a stream. Not here: how cuBLAS is found (api.c). */
#include "internal.h"

/* cublasOperation_t, cudaDataType, cublasMath_t, cublasComputeType_t, cublasGemmAlgo_t */
enum { BY_COLUMNS = 0, BY_ROWS = 1 };
enum { REAL_32 = 0, REAL_64 = 1 };
enum { MATH_PEDANTIC = 2, MATH_TF32 = 3 };
enum { COMPUTE_32_PEDANTIC = 69, COMPUTE_64_PEDANTIC = 71, COMPUTE_32_TF32 = 77 };
enum { ALGORITHM_DEFAULT = -1 };

struct gpu_blas {
    struct gpu *gpu;
    void *handle; /* cublasHandle_t */
    int32_t type, compute;
};

/* The math mode is set as well: it rules over variables of the environment that allow other arithmetic. The workspace
 * comes after the stream, whose choice takes it away. */
static unda_status set_up(struct gpu_blas *blas, struct gpu_stream *stream, gpu_ptr workspace)
{
    int mode = blas->compute == COMPUTE_32_TF32 ? MATH_TF32 : MATH_PEDANTIC;
    TRY(CUBLAS(cublasCreate, &blas->handle));
    TRY(CUBLAS(cublasSetMathMode, blas->handle, mode));
    TRY(CUBLAS(cublasSetStream, blas->handle, stream->handle));
    return CUBLAS(cublasSetWorkspace, blas->handle, POINTER(workspace), GPU_BLAS_BYTES);
}

static unda_status enter_and_set_up(struct gpu_blas *blas, struct gpu_stream *stream, gpu_ptr workspace)
{
    TRY(gpu_enter(blas->gpu));
    return gpu_leave_with(blas->gpu, set_up(blas, stream, workspace));
}

unda_status gpu_blas_new(struct gpu_blas **blas, struct gpu_stream *stream, gpu_ptr workspace,
                         int32_t real_bytes, bool tf32)
{
    TRY(cublas_load());
    struct gpu_blas *b;
    TRY(array_try(&b, 1, sizeof *b, "cuBLAS"));
    b->gpu = stream->gpu;
    b->type = real_bytes == 4 ? REAL_32 : REAL_64;
    b->compute = real_bytes == 8 ? COMPUTE_64_PEDANTIC : tf32 ? COMPUTE_32_TF32 : COMPUTE_32_PEDANTIC;
    return COMPLETE(blas, b, gpu_blas_free, enter_and_set_up(b, stream, workspace));
}

void gpu_blas_free(struct gpu_blas *blas)
{
    if (!blas)
        return;
    if (blas->handle && gpu_try_enter(blas->gpu)) {
        (void)cublas.cublasDestroy(blas->handle);
        gpu_leave(blas->gpu);
    }
    array_free(blas);
}

static unda_status multiply(const struct gpu_blas *blas, const struct gpu_product *p)
{
    const float one_32 = 1, add_32 = p->add;
    const double one_64 = 1, add_64 = p->add;
    bool wide = blas->type == REAL_64;
    return CUBLAS(cublasGemmStridedBatchedEx, blas->handle, BY_ROWS, BY_COLUMNS, (int)p->m, (int)p->n,
                  (int)p->k, wide ? (const void *)&one_64 : &one_32, POINTER(p->a), blas->type,
                  (int)p->lead_a, 0, POINTER(p->b), blas->type, (int)p->lead_b, p->step_b,
                  wide ? (const void *)&add_64 : &add_32, POINTER(p->c), blas->type, (int)p->lead_c,
                  p->step_c, (int)p->count, blas->compute, ALGORITHM_DEFAULT);
}

unda_status gpu_blas_multiply(struct gpu_blas *blas, const struct gpu_product *product)
{
    TRY(gpu_check());
    if (product->n > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "a matrix has %lld columns, expected at most %d, which is the most for cuBLAS",
             (long long)product->n, INT32_MAX);
    TRY(gpu_enter(blas->gpu));
    return gpu_leave_with(blas->gpu, multiply(blas, product));
}
