/* api.h: calling the CUDA driver, NVRTC, cuBLAS and NCCL, which are opened at run time, and turning results into statuses.
 * No CUDA header is needed: handles are void *, addresses uint64_t, results int.
 * Next: api_list.h (the functions), api.c (finding them), result.c (what a result means). */
#ifndef UNDA_GPU_API_H
#define UNDA_GPU_API_H

#include "../base/base.h"
#include "api_list.h"

/* Results that are looked at (CUresult); the last two are ours. */
enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_IMAGE = 200,
    CUDA_NO_BINARY_FOR_GPU = 209,
    CUDA_UNSUPPORTED_VERSION = 222,
    CUDA_NOT_READY = 600,
    CUDA_LOST = -1,   /* not called: a device of this process is lost */
    CUDA_MISSING = -2 /* not called: the library lacks the function */
};

/* CUDA_MEMCPY2D: `height` parts of `width` bytes, each `pitch` after the one before. */
struct cuda_copy {
    struct cuda_copy_side {
        size_t x, y;
        int32_t kind; /* CUDA_HOST, CUDA_DEVICE */
        const void *host;
        uint64_t device;
        void *array;
        size_t pitch;
    } from, to;
    size_t width, height;
};
enum { CUDA_HOST = 1, CUDA_DEVICE = 2 };

/* CUlaunchConfig, CUlaunchAttribute */
struct cuda_attribute {
    int32_t id, unused;
    int32_t value[16];
};
struct cuda_launch {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    struct cuda_attribute *attribute;
    unsigned num_attribute;
};

/* ncclConfig_t as of NCCL 2.17, which later ones take as well. */
struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking, cluster_size, least_blocks, most_blocks; /* INT_MIN: as NCCL likes */
    const char *network;
};

/* ncclUniqueId, given by value */
struct nccl_id {
    char bytes[UNDA_NCCL_ID_BYTES];
};

#define MEMBER(name, symbol, arguments) int(*name) arguments;
struct cuda_api {
    CUDA_LIST(MEMBER)
    int version; /* 13000 for 13.0 */
};
struct nvrtc_api {
    NVRTC_LIST(MEMBER)
    int version;
};
struct cublas_api {
    CUBLAS_LIST(MEMBER)
    int version; /* 13000 for 13.0 */
};
struct nccl_api {
    NCCL_LIST(MEMBER)
    const char *(*ncclGetErrorString)(int result);
    const char *(*ncclGetLastError)(void *communicator);
    int version; /* 23203 for 2.32.3, 2708 for 2.7.8 */
};
#undef MEMBER
extern struct cuda_api cuda;     /* filled by cuda_load */
extern struct nvrtc_api nvrtc;   /* filled by nvrtc_load */
extern struct cublas_api cublas; /* filled by cublas_load */
extern struct nccl_api nccl;     /* filled by nccl_load */

/* Opens the library unless it is open. Finding none is tried again at the next call. cuda_load also runs
 * cuInit. */
unda_status cuda_load(void);
unda_status nvrtc_load(void);
unda_status cublas_load(void);
unda_status nccl_load(void);
/* One line for each file that was tried, for unda_device_report. */
struct text;
void libraries_report(struct text *text);

/* Calls a driver function by its name in api_list.h: its CUresult, or CUDA_LOST or CUDA_MISSING. */
#define CU_RESULT(name, ...) (cuda_is_lost() ? CUDA_LOST : cuda.name ? cuda.name(__VA_ARGS__) : CUDA_MISSING)
/* The same as an unda_status, with the message set. */
#define CU(name, ...)           cuda_status(CU_RESULT(name, __VA_ARGS__), #name, __FILE__, __LINE__)
#define NVRTC_RESULT(name, ...) (nvrtc.name ? nvrtc.name(__VA_ARGS__) : CUDA_MISSING)
#define NVRTC(name, ...)        nvrtc_status(NVRTC_RESULT(name, __VA_ARGS__), #name, __FILE__, __LINE__)
#define CUBLAS(name, ...)                                                                                    \
    cublas_status(cublas.name ? cublas.name(__VA_ARGS__) : CUDA_MISSING, #name, __FILE__, __LINE__)
#define NCCL(name, ...)                                                                                      \
    nccl_status(nccl.name ? nccl.name(__VA_ARGS__) : CUDA_MISSING, #name, __FILE__, __LINE__)

unda_status cuda_status(int result, const char *call, const char *file, int line);
unda_status nvrtc_status(int result, const char *call, const char *file, int line);
unda_status cublas_status(int result, const char *call, const char *file, int line);
unda_status nccl_status(int result, const char *call, const char *file, int line);
/* "2.32.3" */
void nccl_version_text(int version, char *buffer, size_t bytes);
/* Whether a sticky error was seen; the process can then only be restarted. */
bool cuda_is_lost(void);
/* "CUDA_ERROR_INVALID_VALUE (invalid argument)"; never NULL. */
const char *cuda_result_text(int result, char *buffer, size_t bytes);

#endif
