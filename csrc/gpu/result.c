/* result.c: turns a CUresult, or what NVRTC, cuBLAS and NCCL gave, into a status with a message, and remembers a lost device.
 * After a sticky error every driver call of the process fails, so the first cause is kept and no further call
 * is made. Not here: calling (api.h). Next: api.c, memory.c (out of memory with sizes). */
#include "api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CAUSE_BYTES = 512 };

static atomic_int lost; /* 0: no; 1: the cause is being written; 2: yes */
static char lost_cause[CAUSE_BYTES];

bool cuda_is_lost(void)
{
    return atomic_load(&lost) != 0;
}

/* Errors that destroy the context, by the CUDA driver API's description of CUresult. */
static bool is_sticky(int result)
{
    switch (result) {
    case 214:         /* ECC, uncorrectable */
    case 220:         /* NVLink, uncorrectable */
    case 226:         /* contained memory error */
    case 700:         /* illegal address */
    case 702:         /* launch timeout */
    case 709:         /* context is destroyed */
    case 710:         /* assert */
    case 714 ... 719: /* hardware stack, instruction, address, address space, program counter, launch */
    case 721:         /* tensor memory leak */
    case 999:         /* unknown */
        return true;
    default:
        return false;
    }
}

const char *cuda_result_text(int result, char *buffer, size_t bytes)
{
    const char *name = NULL, *text = NULL;
    if (!cuda.cuGetErrorName || cuda.cuGetErrorName(result, &name) || !name)
        name = "CUDA error";
    if (!cuda.cuGetErrorString || cuda.cuGetErrorString(result, &text) || !text)
        text = "no description";
    snprintf(buffer, bytes, "%s %d (%s)", name, result, text);
    return buffer;
}

/* Keeps the first cause; later ones are its consequences. */
static void lose(const char *cause)
{
    int no = 0;
    if (!atomic_compare_exchange_strong(&lost, &no, 1))
        return;
    snprintf(lost_cause, sizeof lost_cause, "%s", cause);
    atomic_store(&lost, 2);
}

static const char *first_cause(void)
{
    return atomic_load(&lost) == 2 ? lost_cause : "another thread is just reporting it";
}

unda_status cuda_status(int result, const char *call, const char *file, int line)
{
    if (result == 0)
        return UNDA_OK;
    if (result == CUDA_LOST)
        return error_set(UNDA_ERR_DEVICE_LOST, file, line,
                         "the CUDA device was lost earlier (%s); restart the process", first_cause());
    if (result == CUDA_MISSING)
        return error_set(UNDA_ERR_NO_DEVICE, file, line,
                         "the CUDA driver (version %d.%d) lacks the function %s; install a newer driver",
                         cuda.version / 1000, cuda.version % 1000 / 10, call);
    char text[384], cause[CAUSE_BYTES];
    snprintf(cause, sizeof cause, "%s: %s", call, cuda_result_text(result, text, sizeof text));
    if (is_sticky(result)) {
        lose(cause);
        return error_set(UNDA_ERR_DEVICE_LOST, file, line, "%s; restart the process", cause);
    }
    unda_status status = result == CUDA_OUT_OF_MEMORY ? UNDA_ERR_DEVICE_MEMORY : UNDA_ERR_DEVICE;
    return error_set(status, file, line, "%s", cause);
}

unda_status nvrtc_status(int result, const char *call, const char *file, int line)
{
    if (result == 0)
        return UNDA_OK;
    if (result == CUDA_MISSING)
        return error_set(UNDA_ERR_COMPILE, file, line,
                         "NVRTC (version %d.%d) lacks the function %s; expected 12.0 or newer",
                         nvrtc.version / 1000, nvrtc.version % 1000 / 10, call);
    return error_set(UNDA_ERR_COMPILE, file, line, "%s: NVRTC error %d", call, result);
}

/* cublasStatus_t */
static const char *cublas_text(int result)
{
    switch (result) {
    case 1:
        return "CUBLAS_STATUS_NOT_INITIALIZED: cuBLAS does not start on this device";
    case 3:
        return "CUBLAS_STATUS_ALLOC_FAILED: the device has too little free memory";
    case 7:
        return "CUBLAS_STATUS_INVALID_VALUE: an argument is wrong";
    case 8:
        return "CUBLAS_STATUS_ARCH_MISMATCH: the device cannot do that";
    case 11:
        return "CUBLAS_STATUS_MAPPING_ERROR: device memory cannot be reached";
    case 13:
        return "CUBLAS_STATUS_EXECUTION_FAILED: a kernel of cuBLAS did not run";
    case 14:
        return "CUBLAS_STATUS_INTERNAL_ERROR: a failure inside cuBLAS";
    case 15:
        return "CUBLAS_STATUS_NOT_SUPPORTED: this release cannot do that";
    default:
        return "no description";
    }
}

/* A sticky error of the device shows at the next call of the driver. */
unda_status cublas_status(int result, const char *call, const char *file, int line)
{
    enum { ALLOC_FAILED = 3 };
    if (result == 0)
        return UNDA_OK;
    if (result == CUDA_MISSING)
        return error_set(UNDA_ERR_NO_DEVICE, file, line,
                         "cuBLAS (version %d.%d) lacks the function %s; expected 12.0 or newer",
                         cublas.version / 1000, cublas.version % 1000 / 10, call);
    unda_status status = result == ALLOC_FAILED ? UNDA_ERR_DEVICE_MEMORY : UNDA_ERR_DEVICE;
    return error_set(status, file, line, "%s: cuBLAS %d.%d gave status %d (%s)", call, cublas.version / 1000,
                     cublas.version % 1000 / 10, result, cublas_text(result));
}

/* Minor releases have two digits since 2.9. */
void nccl_version_text(int version, char *buffer, size_t bytes)
{
    int major = version < 10000 ? 1000 : 10000;
    snprintf(buffer, bytes, "%d.%d.%d", version / major, version % major / 100, version % 100);
}

/* NCCL tells what happened, and in newer releases of what it warned last. */
unda_status nccl_status(int result, const char *call, const char *file, int line)
{
    char version[32];
    if (result == 0)
        return UNDA_OK;
    nccl_version_text(nccl.version, version, sizeof version);
    if (result == CUDA_MISSING)
        return error_set(UNDA_ERR_NO_DEVICE, file, line,
                         "NCCL %s lacks the function %s; expected 2.7 or newer", version, call);
    const char *what = nccl.ncclGetErrorString ? nccl.ncclGetErrorString(result) : NULL;
    const char *last = nccl.ncclGetLastError ? nccl.ncclGetLastError(NULL) : NULL;
    return error_set(UNDA_ERR_DEVICE, file, line, "%s: NCCL %s gave %d (%s)%s%s", call, version, result,
                     what ? what : "no description", last && *last ? ": " : "", last ? last : "");
}
