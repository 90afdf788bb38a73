/* device.c: CUDA devices: number, properties, primary contexts; the report for `unda info`.
 * The primary context is shared with other users of CUDA in the process; it is current during calls
 * only. Not here: finding the driver (api.c). Next: memory.c, stream.c. */
#include "internal.h"
#include "settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* CUdevice_attribute */
enum {
    NUM_SM = 16,
    MEMORY_KHZ = 36,
    BUS_BITS = 37,
    L2_BYTES = 38,
    SM_THREADS = 39,
    MAJOR = 75,
    MINOR = 76,
    TOGETHER = 95,
    SHARED_BYTES_OPTIN = 97,
    MPS = 133
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpu gpus[MAX_DEVICE]; /* by ordinal */

/* Everything but free_bytes, which needs a context. */
static unda_status describe(int device, unda_device_info *info)
{
    int major, minor, l2, shared;
    size_t total;
    *info = (unda_device_info){.size_bytes = sizeof *info, .driver_version = cuda.version};
    TRY(CU(cuDeviceGetName, info->name, (int)sizeof info->name, device));
    TRY(CU(cuDeviceGetPCIBusId, info->bus, (int)sizeof info->bus, device));
    TRY(CU(cuDeviceTotalMem, &total, device));
    TRY(CU(cuDeviceGetAttribute, &info->num_sm, NUM_SM, device));
    TRY(CU(cuDeviceGetAttribute, &l2, L2_BYTES, device));
    TRY(CU(cuDeviceGetAttribute, &info->sm_threads, SM_THREADS, device));
    TRY(CU(cuDeviceGetAttribute, &major, MAJOR, device));
    TRY(CU(cuDeviceGetAttribute, &minor, MINOR, device));
    TRY(CU(cuDeviceGetAttribute, &shared, SHARED_BYTES_OPTIN, device));
    info->compute_capability = 10 * major + minor;
    info->total_bytes = (int64_t)total;
    info->l2_bytes = l2;
    info->shared_bytes = shared;
    return UNDA_OK;
}

unda_status unda_device_count(int32_t *count)
{
    if (!count)
        FAIL(UNDA_ERR_ARG, "count is NULL");
    int found = 0;
    TRY(cuda_load());
    TRY(CU(cuDeviceGetCount, &found));
    if (found == 0)
        FAIL(UNDA_ERR_NO_DEVICE, "the NVIDIA driver is there but shows no device (CUDA_VISIBLE_DEVICES?)");
    *count = found;
    return UNDA_OK;
}

static unda_status check_ordinal(int device)
{
    int32_t count = 0;
    TRY(unda_device_count(&count));
    if (device < 0 || device >= count || device >= MAX_DEVICE)
        FAIL(UNDA_ERR_NO_DEVICE, "there is no CUDA device %d; found %d, numbered from 0", device, count);
    return UNDA_OK;
}

/* Under the lock. The context is never released: making one takes a quarter of a second, and a sweep opens
 * and closes many solvers. */
static unda_status open_locked(struct gpu *gpu, int device)
{
    if (!gpu->context) {
        int handle = 0;
        gpu->device = device;
        TRY(CU(cuDeviceGet, &handle, device));
        TRY(describe(handle, &gpu->info));
        TRY(CU(cuDevicePrimaryCtxRetain, &gpu->context, handle));
    }
    TRY(gpu_memory_free(gpu, &gpu->info.free_bytes));
    gpu->references++;
    return UNDA_OK;
}

unda_status gpu_open(struct gpu **gpu, int device)
{
    TRY(check_ordinal(device));
    pthread_mutex_lock(&lock);
    unda_status status = open_locked(&gpus[device], device);
    pthread_mutex_unlock(&lock);
    if (status == UNDA_OK)
        *gpu = &gpus[device];
    return status;
}

void gpu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    pthread_mutex_lock(&lock);
    gpu->references--;
    pthread_mutex_unlock(&lock);
}

/* An attribute of the device; 0: the driver does not say. */
static int attribute(const struct gpu *gpu, int which)
{
    int handle, value = 0;
    bool known = CU_RESULT(cuDeviceGet, &handle, gpu->device) == 0 &&
                 CU_RESULT(cuDeviceGetAttribute, &value, which, handle) == 0;
    return known ? value : 0;
}

bool gpu_launches_together(const struct gpu *gpu)
{
    return cuda.cuLaunchKernelEx && attribute(gpu, TOGETHER);
}

/* Two words a clock: memory has double data rate. */
void gpu_memory_limits(const struct gpu *gpu, double *bytes_per_second, int64_t *l2_bytes)
{
    *bytes_per_second = 2 * 1e3 * attribute(gpu, MEMORY_KHZ) * attribute(gpu, BUS_BITS) / 8;
    *l2_bytes = attribute(gpu, L2_BYTES);
}

bool gpu_runs_beside(const struct gpu *gpu)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    bool shared = attribute(gpu, MPS); /* drivers before CUDA 12.5 do not know */
    return !shared && (!blocking || atoi(blocking) == 0);
}

unda_status gpu_check_equal(const struct gpu *gpu, const struct gpu *other)
{
    const unda_device_info *a = &gpu->info, *b = &other->info;
    if (a->compute_capability != b->compute_capability || a->num_sm != b->num_sm ||
        strcmp(a->name, b->name) != 0)
        FAIL(UNDA_ERR_ARG,
             "devices %d (%s, %d SMs) and %d (%s, %d SMs) differ, expected equal ones: parts wait for each "
             "other, "
             "and their kernels' bits must be the same",
             gpu->device, a->name, a->num_sm, other->device, b->name, b->num_sm);
    return UNDA_OK;
}

unda_status gpu_reach(struct gpu *gpu, struct gpu *other, bool *reached)
{
    enum { ALREADY = 704 };
    int own, its, can = 1;
    *reached = true;
    if (gpu == other)
        return UNDA_OK;
    TRY(CU(cuDeviceGet, &own, gpu->device));
    TRY(CU(cuDeviceGet, &its, other->device));
    TRY(CU(cuDeviceCanAccessPeer, &can, own, its));
    *reached = can;
    if (!can)
        return UNDA_OK;
    TRY(gpu_enter(gpu));
    int result = CU_RESULT(cuCtxEnablePeerAccess, other->context, 0);
    return gpu_leave_with(
        gpu, result == ALREADY ? UNDA_OK : cuda_status(result, "cuCtxEnablePeerAccess", __FILE__, __LINE__));
}

const unda_device_info *gpu_info(const struct gpu *gpu)
{
    return &gpu->info;
}

unda_status gpu_enter(struct gpu *gpu)
{
    TRY(fork_check());
    return CU(cuCtxPushCurrent, gpu->context);
}

bool gpu_try_enter(struct gpu *gpu)
{
    return !cuda_is_lost() && fork_check() == UNDA_OK && CU_RESULT(cuCtxPushCurrent, gpu->context) == 0;
}

void gpu_leave(struct gpu *gpu)
{
    (void)gpu;
    void *context;
    (void)CU_RESULT(cuCtxPopCurrent, &context);
}

unda_status gpu_check(void)
{
    TRY(fork_check());
    return cuda_is_lost() ? CU(cuInit, 0) : UNDA_OK;
}

unda_status unda_device_get_info(int32_t device, unda_device_info *info)
{
    CHECK_SIZE(info, unda_device_info);
    struct gpu *gpu;
    TRY(gpu_open(&gpu, device));
    *info = gpu->info;
    gpu_close(gpu);
    info->nvrtc_version = nvrtc_load() == UNDA_OK ? nvrtc.version : 0;
    return UNDA_OK;
}

static void report_devices(struct text *text)
{
    int32_t count = 0;
    if (unda_device_count(&count) != UNDA_OK) {
        const char *reason = unda_error(); /* its first line: the rest was reported above */
        text_add(text, "devices: none: %.*s\n", (int)strcspn(reason, "\n"), reason);
        return;
    }
    text_add(text, "devices: %d\n", count);
    for (int device = 0; device < count; device++) {
        unda_device_info info;
        if (describe(device, &info) != UNDA_OK)
            text_add(text, "  %d: %s\n", device, unda_error());
        else
            text_add(text, "  %d: %s, sm_%d, %d SMs, %.1f GiB, in use by %d\n", device, info.name,
                     info.compute_capability, info.num_sm, (double)info.total_bytes / (1 << 30),
                     gpus[device].references);
    }
}

static const char *or_none(const struct text *path)
{
    return path->size_bytes ? path->data : "none";
}

const char *unda_device_report(void)
{
    static _Thread_local char report[8192]; /* fixed room: a thread that ends leaks nothing */
    TEXT struct text text = {0}, kernels = {0}, cache = {0};
    unda_status driver = cuda_load(), compiler = nvrtc_load();
    (void)cublas_load(); /* the engine works without it */
    (void)nccl_load();
    libraries_report(&text);
    report_devices(&text);
    settings_kernel_dir(&kernels);
    settings_cache_dir(&cache);
    text_add(&text, "kernels: %s\ncache: %s\nCUDA engine: %s\n", or_none(&kernels), or_none(&cache),
             driver == UNDA_OK && compiler == UNDA_OK ? "usable" : "not usable");
    size_t bytes = (size_t)text.size_bytes < sizeof report ? (size_t)text.size_bytes : sizeof report - 1;
    memcpy(report, text_of(&text), bytes);
    report[bytes] = '\0';
    return report;
}
