/* limits.c: measures a device: copy bandwidth and multiply-add rates, the two limits to which speed is
 * compared. Kernels: cuda/common/limits.cu. The CPU is measured in csrc/cpu/limits.c. Not here: comparing
 * kernels with the limits (unda bench). */
#include "../cpu/limits.h"
#include "common/limits_args.h"
#include "gpu.h"

enum { NUM_REPEAT = 7, BLOCK = 256, BLOCKS_PER_SM = 8, COPY_BYTES_PER_SM = 32 << 20 };
static const double enough = 0.02; /* a timed launch takes at least this [s] */

struct bench {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_event *begin, *end;
    struct gpu_module *module;
    gpu_ptr from, to;
    int64_t bytes; /* of each copy array */
};

static void bench_free(struct bench *bench)
{
    gpu_free(bench->gpu, bench->from);
    gpu_free(bench->gpu, bench->to);
    gpu_module_free(bench->module);
    gpu_event_free(bench->begin);
    gpu_event_free(bench->end);
    gpu_stream_free(bench->stream);
    gpu_close(bench->gpu);
}

/* Arrays far larger than the L2 cache, but at most an eighth of what is free. */
static unda_status bench_new(struct bench *bench, int device)
{
    TRY(gpu_open(&bench->gpu, device));
    TRY(gpu_stream_new(&bench->stream, bench->gpu));
    TRY(gpu_event_new(&bench->begin, bench->gpu));
    TRY(gpu_event_new(&bench->end, bench->gpu));
    TRY(gpu_module_new(&bench->module, bench->gpu, &(struct gpu_source){.file = "common/limits.cu"}));
    int64_t free_bytes = 0, want = (int64_t)COPY_BYTES_PER_SM * gpu_info(bench->gpu)->num_sm;
    TRY(gpu_memory_free(bench->gpu, &free_bytes));
    bench->bytes = (want < free_bytes / 8 ? want : free_bytes / 8) & ~(int64_t)15;
    TRY(gpu_alloc(bench->gpu, &bench->from, bench->bytes, "copy source"));
    TRY(gpu_alloc(bench->gpu, &bench->to, bench->bytes, "copy target"));
    return gpu_zero_async(bench->stream, bench->from, bench->bytes);
}

/* Seconds of `count` launches of so many blocks, one after the other. */
static unda_status time_launches(struct bench *bench, const struct gpu_kernel *kernel, int64_t num_block,
                                 const struct limits_args *args, int64_t count, double *seconds)
{
    struct gpu_shape shape = {.grid = {num_block}, .block = {BLOCK}};
    TRY(gpu_event_record(bench->begin, bench->stream));
    for (int64_t i = 0; i < count; i++)
        TRY(gpu_launch(kernel, bench->stream, &shape, args, sizeof *args));
    TRY(gpu_event_record(bench->end, bench->stream));
    return gpu_event_seconds(bench->begin, bench->end, seconds);
}

/* The shortest of several: what disturbs a measurement only ever makes it longer. */
static unda_status best_time(struct bench *bench, const struct gpu_kernel *kernel, int64_t num_block,
                             const struct limits_args *args, int64_t count, double *seconds)
{
    double best = 1e30;
    for (int i = 0; i < NUM_REPEAT; i++) {
        double one = 0;
        TRY(time_launches(bench, kernel, num_block, args, count, &one));
        best = one < best ? one : best;
    }
    *seconds = best;
    return UNDA_OK;
}

static unda_status measure_copy(struct bench *bench, double *bytes_per_second)
{
    struct gpu_kernel kernel;
    struct limits_args args = {
        .from = POINTER(bench->from), .to = POINTER(bench->to), .num_value = bench->bytes / 16};
    double seconds = 0;
    int64_t count = 1, num_block = (args.num_value + BLOCK - 1) / BLOCK;
    TRY(gpu_kernel_get(&kernel, bench->module, "copy", 0));
    TRY(time_launches(bench, &kernel, num_block, &args, 1, &seconds)); /* warms up */
    TRY(time_launches(bench, &kernel, num_block, &args, 1, &seconds));
    if (seconds < enough)
        count = (int64_t)(enough / (seconds + 1e-6)) + 1;
    TRY(best_time(bench, &kernel, num_block, &args, count, &seconds));
    *bytes_per_second = 2.0 * (double)bench->bytes * (double)count / seconds;
    return UNDA_OK;
}

/* Doubles the loop until a launch takes long enough to be timed. */
static unda_status measure_fma(struct bench *bench, const char *name, double *flops_per_second)
{
    struct gpu_kernel kernel;
    struct limits_args args = {.to = POINTER(bench->to), .num_loop = 16, .factor = 0.999, .term = 1e-3};
    double seconds = 0;
    const int64_t num_block = (int64_t)BLOCKS_PER_SM * gpu_info(bench->gpu)->num_sm;
    TRY(gpu_kernel_get(&kernel, bench->module, name, 0));
    while (seconds < enough) {
        args.num_loop *= 2;
        TRY(time_launches(bench, &kernel, num_block, &args, 1, &seconds));
    }
    TRY(best_time(bench, &kernel, num_block, &args, 1, &seconds));
    double threads = (double)BLOCK * (double)num_block;
    *flops_per_second = 2.0 * NUM_CHAIN * (double)args.num_loop * threads / seconds;
    return UNDA_OK;
}

static unda_status measure(struct bench *bench, int device, unda_limits *limits)
{
    TRY(bench_new(bench, device));
    TRY(measure_copy(bench, &limits->copy_bytes_per_second));
    TRY(measure_fma(bench, "fma32", &limits->fma32_per_second));
    return measure_fma(bench, "fma64", &limits->fma64_per_second);
}

unda_status unda_device_limits(int32_t device, int32_t threads, unda_limits *limits)
{
    CHECK_SIZE(limits, unda_limits);
    if (device < UNDA_DEVICE_CPU)
        FAIL(UNDA_ERR_ARG, "device is %d, expected -1 (CPU) or the number of a CUDA device", device);
    unda_limits found = {.size_bytes = sizeof found};
    struct bench bench = {0};
    unda_status status =
        device == UNDA_DEVICE_CPU ? cpu_limits(threads, &found) : measure(&bench, device, &found);
    bench_free(&bench);
    if (status == UNDA_OK)
        *limits = found;
    return status;
}
