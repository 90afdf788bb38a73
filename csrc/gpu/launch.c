/* launch.c: modules (compiled code on a device), their kernels, and launching them.
 * A cubin from the cache that the driver refuses counts as a miss and is compiled again.
 * Next: jit.c (compiling), cache.c (the folder). */
#include "internal.h"

#include <stdio.h>
#include <string.h>

/* CUfunction_attribute */
enum {
    MAX_THREADS = 0,
    SHARED_BYTES = 1,
    LOCAL_BYTES = 3,
    NUM_REGS = 4,
    MAX_DYNAMIC_BYTES = 8,
    CARVEOUT = 9
};
enum { FREE_DYNAMIC_BYTES = 48 * 1024 }; /* allowed without asking */
/* CUlaunchAttributeID */
enum { COOPERATIVE = 2, STREAM_SERIALIZATION = 6 };

struct gpu_module {
    struct gpu *gpu;
    void *handle;
    char file[128];
};

/* ---- modules ---- */

static int load_image(struct gpu_module *module, const struct text *image)
{
    int result = CU_RESULT(cuCtxPushCurrent, module->gpu->context);
    if (result)
        return result;
    result = CU_RESULT(cuModuleLoadData, &module->handle, image->data);
    gpu_leave(module->gpu);
    return result;
}

/* Fresh code that is refused: the compiler is too new for the driver, or too old for the device. */
static unda_status refused(const struct gpu_module *module, int result)
{
    char text[384];
    if (result != CUDA_NO_BINARY_FOR_GPU && result != CUDA_INVALID_IMAGE &&
        result != CUDA_UNSUPPORTED_VERSION)
        return cuda_status(result, "cuModuleLoadData", __FILE__, __LINE__);
    FAIL(UNDA_ERR_DEVICE,
         "the driver (version %d.%d) refuses %s, compiled by NVRTC %d.%d for sm_%d: %s; install a newer "
         "driver or, for a driver of version 12, unda-waves[cuda12]",
         cuda.version / 1000, cuda.version % 1000 / 10, module->file, nvrtc.version / 1000,
         nvrtc.version % 1000 / 10, module->gpu->info.compute_capability,
         cuda_result_text(result, text, sizeof text));
}

static unda_status compile_and_load(struct gpu_module *module, const struct sources *sources,
                                    const struct gpu_source *source, int architecture, hash128 key)
{
    TEXT struct text image = {0};
    double start = clock_seconds();
    TRY(jit_compile(sources, source, architecture, &image, NULL));
    log_add(UNDA_LOG_DEBUG, "compiled %s for sm_%d in %.2f s", source->file, architecture,
            clock_seconds() - start);
    int result = load_image(module, &image);
    if (result == 0)
        cache_write(key, &image);
    return result ? refused(module, result) : UNDA_OK;
}

static unda_status load(struct gpu_module *module, const struct gpu_source *source,
                        const struct sources *sources)
{
    int architecture;
    TRY(jit_architecture(module->gpu->info.compute_capability, &architecture));
    hash128 key = cache_key(sources, source, architecture);
    TEXT struct text image = {0};
    if (cache_read(key, &image)) {
        int result = load_image(module, &image);
        if (result == 0 || cuda_is_lost())
            return cuda_status(result, "cuModuleLoadData", __FILE__, __LINE__);
        log_add(UNDA_LOG_WARNING, "the driver refused %s from the cache; compiling it again", source->file);
    }
    return compile_and_load(module, sources, source, architecture, key);
}

unda_status gpu_module_new(struct gpu_module **module, struct gpu *gpu, const struct gpu_source *source)
{
    TRY(gpu_check());
    TRY(nvrtc_load());
    SOURCES struct sources sources = {0};
    TRY(sources_read(&sources, source->file));
    struct gpu_module *m;
    TRY(array_try(&m, 1, sizeof *m, "module"));
    m->gpu = gpu;
    snprintf(m->file, sizeof m->file, "%s", source->file);
    return COMPLETE(module, m, gpu_module_free, load(m, source, &sources));
}

void gpu_module_free(struct gpu_module *module)
{
    if (!module)
        return;
    CU_FREE(module->gpu, cuModuleUnload, module->handle);
    array_free(module);
}

/* ---- kernels ---- */

static unda_status read_resources(struct gpu_kernel *kernel)
{
    size_t offset, bytes;
    TRY(CU(cuFuncGetAttribute, &kernel->max_threads, MAX_THREADS, kernel->function));
    TRY(CU(cuFuncGetAttribute, &kernel->shared_bytes, SHARED_BYTES, kernel->function));
    TRY(CU(cuFuncGetAttribute, &kernel->spill_bytes, LOCAL_BYTES, kernel->function));
    TRY(CU(cuFuncGetAttribute, &kernel->registers, NUM_REGS, kernel->function));
    kernel->args_bytes = -1; /* drivers before 12.4 cannot tell */
    if (cuda.cuFuncGetParamInfo && cuda.cuFuncGetParamInfo(kernel->function, 0, &offset, &bytes) == 0)
        kernel->args_bytes = (int64_t)bytes;
    return UNDA_OK;
}

static unda_status allow_shared(struct gpu_kernel *kernel, int bytes)
{
    int64_t limit = kernel->gpu->info.shared_bytes, total = (int64_t)bytes + kernel->shared_bytes;
    if (total > limit)
        FAIL(UNDA_ERR_DEVICE, "kernel %s needs %lld bytes of shared memory, a block of %s has %lld",
             kernel->name, (long long)total, kernel->gpu->info.name, (long long)limit);
    kernel->dynamic_bytes = bytes;
    if (total <= FREE_DYNAMIC_BYTES)
        return UNDA_OK;
    return CU(cuFuncSetAttribute, kernel->function, MAX_DYNAMIC_BYTES, bytes);
}

/* The driver rounds up to a size that the device can have. */
unda_status gpu_kernel_leave_l1(const struct gpu_kernel *kernel, int blocks)
{
    /* Of a block the system takes 1 KB, which the largest block of an SM does not count. */
    int64_t system = 1024, all = kernel->gpu->info.shared_bytes + system;
    int64_t wanted = blocks * (kernel->dynamic_bytes + kernel->shared_bytes + system);
    int percent = wanted < all ? (int)((100 * wanted + all - 1) / all) : 100;
    return CU_IN(kernel->gpu, cuFuncSetAttribute, kernel->function, CARVEOUT, percent);
}

static unda_status fill_kernel(struct gpu_kernel *kernel, struct gpu_module *module, int dynamic_bytes)
{
    TRY(CU(cuModuleGetFunction, &kernel->function, module->handle, kernel->name));
    TRY(read_resources(kernel));
    return allow_shared(kernel, dynamic_bytes);
}

unda_status gpu_kernel_get(struct gpu_kernel *kernel, struct gpu_module *module, const char *name,
                           int dynamic_bytes)
{
    struct gpu_kernel made = {.gpu = module->gpu};
    snprintf(made.name, sizeof made.name, "%s", name);
    TRY(gpu_enter(module->gpu));
    TRY(gpu_leave_with(module->gpu, fill_kernel(&made, module, dynamic_bytes)));
    log_add(UNDA_LOG_DEBUG, "%s %s: %d registers, %d bytes spilled, %d + %d bytes shared", module->file, name,
            made.registers, made.spill_bytes, made.shared_bytes, dynamic_bytes);
    *kernel = made;
    return UNDA_OK;
}

unda_status gpu_resident_blocks(const struct gpu_kernel *kernel, int threads, int dynamic_bytes, int64_t *num)
{
    int of_sm;
    TRY(CU_IN(kernel->gpu, cuOccupancyMaxActiveBlocksPerMultiprocessor, &of_sm, kernel->function, threads,
              (size_t)dynamic_bytes));
    *num = (int64_t)of_sm * kernel->gpu->info.num_sm;
    return UNDA_OK;
}

/* ---- launching ---- */

/* Grid limits of every device since compute capability 3.0: x below 2^31, y and z below 2^16. */
static unda_status check_shape(const struct gpu_kernel *kernel, const int64_t *grid, const int *block,
                               int shared_bytes)
{
    static const int64_t limit[3] = {2147483647, 65535, 65535};
    for (int i = 0; i < 3; i++)
        if (grid[i] < 1 || grid[i] > limit[i])
            FAIL(UNDA_ERR_ARG, "kernel %s: grid[%d] is %lld, expected 1 .. %lld", kernel->name, i,
                 (long long)grid[i], (long long)limit[i]);
    int64_t threads = (int64_t)block[0] * block[1] * block[2];
    if (block[0] < 1 || block[1] < 1 || block[2] < 1 || threads > kernel->max_threads)
        FAIL(UNDA_ERR_ARG, "kernel %s: the block is %d x %d x %d threads, expected at most %d", kernel->name,
             block[0], block[1], block[2], kernel->max_threads);
    if (shared_bytes < 0 || shared_bytes > kernel->dynamic_bytes)
        FAIL(UNDA_ERR_ARG, "kernel %s: %d bytes of dynamic shared memory, expected at most %d", kernel->name,
             shared_bytes, kernel->dynamic_bytes);
    return UNDA_OK;
}

/* Devices of compute capability 9.0 have it, graphs since CUDA 12.3. */
static bool starts_early(const struct gpu *gpu)
{
    return gpu->info.compute_capability >= 90 && cuda.version >= 12030 && cuda.cuLaunchKernelEx;
}

unda_status gpu_launch(const struct gpu_kernel *kernel, struct gpu_stream *stream,
                       const struct gpu_shape *shape, const void *args, int64_t args_bytes)
{
    int64_t grid[3];
    int block[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = i > 0 && shape->grid[i] == 0 ? 1 : shape->grid[i];
        block[i] = shape->block[i] == 0 ? 1 : shape->block[i];
    }
    TRY(check_shape(kernel, grid, block, shape->shared_bytes));
    if (kernel->args_bytes >= 0 && kernel->args_bytes != args_bytes)
        FAIL(UNDA_ERR_INTERNAL, "kernel %s takes %lld bytes of arguments, the host has %lld", kernel->name,
             (long long)kernel->args_bytes, (long long)args_bytes);
    void *parameters[1] = {(void *)(uintptr_t)args}; /* the driver only reads */
    if (shape->together || (shape->early && starts_early(kernel->gpu))) {
        struct cuda_attribute attribute = {.id = shape->together ? COOPERATIVE : STREAM_SERIALIZATION,
                                           .value = {1}};
        struct cuda_launch launch = {.grid = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]},
                                     .block = {(unsigned)block[0], (unsigned)block[1], (unsigned)block[2]},
                                     .shared_bytes = (unsigned)shape->shared_bytes,
                                     .stream = stream->handle,
                                     .attribute = &attribute,
                                     .num_attribute = 1};
        return CU_IN(kernel->gpu, cuLaunchKernelEx, &launch, kernel->function, parameters, NULL);
    }
    return CU_IN(kernel->gpu, cuLaunchKernel, kernel->function, (unsigned)grid[0], (unsigned)grid[1],
                 (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1], (unsigned)block[2],
                 (unsigned)shape->shared_bytes, stream->handle, parameters, NULL);
}
