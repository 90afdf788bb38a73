/* internal.h: shared by the files of csrc/gpu; other folders include gpu.h.
 * Next: device.c, memory.c, stream.c, launch.c, jit.c. */
#ifndef UNDA_GPU_INTERNAL_H
#define UNDA_GPU_INTERNAL_H

#include "api.h"
#include "gpu.h"
#include "text.h"

enum { MAX_DEVICE = 64 };
struct gpu {
    void *context; /* primary; NULL until the first gpu_open */
    unda_device_info info;
    int device;
    int references;
};
enum { PIECE = 1 << 18 };
struct gpu_stream {
    struct gpu *gpu;
    void *handle;
    float piece[PIECE]; /* of gpu_upload_reals, which allocates nothing */
};

/* For frees: false, with no message, when the driver must not be called (lost device, forked child). */
bool gpu_try_enter(struct gpu *gpu);

/* Leaves and passes the status on: return gpu_leave_with(gpu, CU(...)), whose arguments are evaluated first.
 */
static inline unda_status gpu_leave_with(struct gpu *gpu, unda_status status)
{
    gpu_leave(gpu);
    return status;
}
/* CU with the device's context current: an unda_status. */
#define CU_IN(gpu, name, ...)                                                                                \
    ({                                                                                                       \
        unda_status entered = gpu_enter(gpu);                                                                \
        entered == UNDA_OK ? gpu_leave_with(gpu, CU(name, __VA_ARGS__)) : entered;                           \
    })
/* Frees what the driver made, unless it is 0 or the device is lost. A sticky error of earlier work may surface
 * and is remembered. */
#define CU_FREE(gpu, name, handle)                                                                           \
    do {                                                                                                     \
        if ((handle) && gpu_try_enter(gpu))                                                                  \
            (void)gpu_leave_with(gpu, CU(name, handle));                                                     \
    } while (0)

/* sources.c: the file of a source and all headers under the kernel folder. */
struct sources {
    int num_header;
    char **header_name; /* [num_header] "physics/acoustic.h", sorted */
    char **header_text; /* [num_header] */
    struct text path;   /* of the file: "/.../cuda/dg/fused.cu" */
    struct text program;
};
unda_status sources_read(struct sources *sources, const char *file);
void sources_free(struct sources *sources);
#define SOURCES __attribute__((cleanup(sources_free))) /* as TEXT */

/* jit.c */
/* The architecture to compile for: the device's, or the newest of its major release that NVRTC knows. */
unda_status jit_architecture(int compute_capability, int *architecture);
/* Appends the code to `image`, what the compiler said to `log`, if that is not NULL. */
unda_status jit_compile(const struct sources *sources, const struct gpu_source *source, int architecture,
                        struct text *image, struct text *log);

/* cache.c */
typedef unsigned __int128 hash128;
/* Of everything on which the compiled code depends. */
hash128 cache_key(const struct sources *sources, const struct gpu_source *source, int architecture);
bool cache_read(hash128 key, struct text *image);        /* false: a miss */
void cache_write(hash128 key, const struct text *image); /* a failure is only logged */

#endif
