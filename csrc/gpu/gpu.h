/* gpu.h: the CUDA engine's host layer: devices, memory, streams, graphs, kernels compiled at run time.
 * No numerics. No CUDA header or library is needed to build, and none is opened before the
 * first gpu_open or unda_device_*. Next: api.c (loading), device.c, memory.c, stream.c, timing.c, launch.c,
 * jit.c, cache.c, blas.c, nccl.c.
 *
 * Rules
 *   threads   Every function makes the device's primary context current for its own duration, so any
 *             thread may call.
 *   order     Only streams order work; the default stream is never used, so that one
 *             thread may capture a graph while another uploads.
 *   lost      After a sticky device error every call in the process gives UNDA_ERR_DEVICE_LOST with the
 *             first cause at once, and every *_free only frees host memory.
 *   free      *_free and gpu_close accept NULL (0). */
#ifndef UNDA_GPU_H
#define UNDA_GPU_H

#include "../base/base.h"

struct gpu;        /* one device; one per ordinal and process, reference counted */
struct gpu_stream; /* ordered work; knows its device */
struct gpu_event;
struct gpu_graph;
struct gpu_module;        /* compiled code of one file with one set of defines */
typedef uint64_t gpu_ptr; /* device address */

/* ---- device ---- */
unda_status gpu_open(struct gpu **gpu, int device);
void gpu_close(struct gpu *gpu);
/* Name, capability, SMs, shared and L2 size, driver version; free_bytes is as of gpu_open. */
const unda_device_info *gpu_info(const struct gpu *gpu);
/* Whether it can launch a kernel only if all blocks are on it at once. */
bool gpu_launches_together(const struct gpu *gpu);
/* Whether a kernel may wait for one that is launched next, on another device: launches return at once (no
 * CUDA_LAUNCH_BLOCKING), and no other process has a share of the device meanwhile (MPS). */
bool gpu_runs_beside(const struct gpu *gpu);
/* What its memory reads and writes a second at most, by its clock, and what its cache holds; 0: the driver does not say. */
void gpu_memory_limits(const struct gpu *gpu, double *bytes_per_second, int64_t *l2_bytes);
/* Refuses devices that differ: equal ones have the same kernels, and these the same bits. */
unda_status gpu_check_equal(const struct gpu *gpu, const struct gpu *other);
/* Makes memory of another device as good as its own, for kernels and copies; *reached: whether there is a way. */
unda_status gpu_reach(struct gpu *gpu, struct gpu *other, bool *reached);
/* Only around calls of the driver itself; may be nested. */
unda_status gpu_enter(struct gpu *gpu);
void gpu_leave(struct gpu *gpu);
unda_status gpu_memory_free(struct gpu *gpu, int64_t *bytes);
/* unda_link_limits of two devices by way of the host, with smaller messages: measured once a process, in some
 * milliseconds. Its bandwidth has the latency of a message in it, and so is no more than what longer ones have. */
unda_status gpu_link_by_host(int one, int other, unda_link *link);
/* UNDA_ERR_DEVICE_LOST with the first cause if a device of this process is lost. */
unda_status gpu_check(void);

/* ---- memory: what = "geometry" for the message; bytes = 0 gives a valid address ---- */
unda_status gpu_alloc(struct gpu *gpu, gpu_ptr *ptr, int64_t bytes, const char *what);
void gpu_free(struct gpu *gpu, gpu_ptr ptr);
/* Refuses bytes from an address of the user's on that are not within memory that was allocated on this device. */
unda_status gpu_check_memory(struct gpu *gpu, gpu_ptr address, int64_t bytes);
/* Memory of one owner, freed together; zeros: none. gpu_pool_copy: gpu_pool_alloc and gpu_upload in one. */
struct gpu_pool {
    struct gpu *gpu;
    gpu_ptr *ptr;
    int32_t num;
};
unda_status gpu_pool_alloc(struct gpu_pool *pool, struct gpu *gpu, gpu_ptr *ptr, int64_t bytes,
                           const char *what);
unda_status gpu_pool_copy(struct gpu_pool *pool, struct gpu_stream *stream, gpu_ptr *ptr, const void *from,
                          int64_t bytes, const char *what);
void gpu_pool_free(struct gpu_pool *pool);
/* Arrays of an engine, all of one pool: listed with their kinds (bits), to forecast or to allocate them. */
enum { MAX_WANT = 64 };
struct gpu_wants {
    struct gpu_want {
        int kind;
        gpu_ptr *ptr;
        int64_t bytes;
        const char *what;
    } list[MAX_WANT];
    int num;
    int64_t bytes; /* of all */
    struct gpu_pool pool;
};
void gpu_want(struct gpu_wants *wants, int kind, gpu_ptr *ptr, int64_t bytes, const char *what);
/* Refuses what the device has no room for; zeros. more: ends the message. */
unda_status gpu_wants_alloc(struct gpu_wants *wants, struct gpu_stream *stream, const char *more);
unda_status gpu_wants_zero(const struct gpu_wants *wants, struct gpu_stream *stream, int kinds);
/* Page-locked host memory, for the asynchronous copies. */
unda_status gpu_host_alloc(struct gpu *gpu, void *out, int64_t bytes, const char *what);
void gpu_host_free(struct gpu *gpu, void *memory);
/* After the stream's earlier work; done on return. Addresses may be ptr + offset. */
unda_status gpu_upload(struct gpu_stream *stream, gpu_ptr to, const void *from, int64_t bytes);
/* Doubles to reals of so many bytes, 4 or 8. */
unda_status gpu_upload_reals(struct gpu_stream *stream, gpu_ptr to, const double *from, int64_t count,
                             int32_t real_bytes);
unda_status gpu_download(struct gpu_stream *stream, void *to, gpu_ptr from, int64_t bytes);
/* Only queued: host memory must be untouched until gpu_sync; the caller waits unless it is page-locked. */
unda_status gpu_upload_async(struct gpu_stream *stream, gpu_ptr to, const void *from, int64_t bytes);
unda_status gpu_download_async(struct gpu_stream *stream, void *to, gpu_ptr from, int64_t bytes);
unda_status gpu_copy_async(struct gpu_stream *stream, gpu_ptr to, gpu_ptr from, int64_t bytes);
/* The same of `num` parts of `bytes`, which begin `from_step` and `to_step` bytes apart, below 2^31. Parts of
 * gpu_copy_parts_async may not overlap. */
unda_status gpu_upload_parts_async(struct gpu_stream *stream, gpu_ptr to, int64_t to_step, const void *from,
                                   int64_t from_step, int64_t bytes, int64_t num);
unda_status gpu_download_parts_async(struct gpu_stream *stream, void *to, int64_t to_step, gpu_ptr from,
                                     int64_t from_step, int64_t bytes, int64_t num);
unda_status gpu_copy_parts_async(struct gpu_stream *stream, gpu_ptr to, int64_t to_step, gpu_ptr from,
                                 int64_t from_step, int64_t bytes, int64_t num);
unda_status gpu_zero_async(struct gpu_stream *stream, gpu_ptr to, int64_t bytes);

/* ---- streams, events, graphs ---- */
unda_status gpu_stream_new(struct gpu_stream **stream, struct gpu *gpu);
/* One whose blocks start before those of other streams that wait for room. */
unda_status gpu_stream_new_first(struct gpu_stream **stream, struct gpu *gpu);
void gpu_stream_free(struct gpu_stream *stream);
unda_status gpu_sync(struct gpu_stream *stream); /* errors of queued work surface here */
unda_status gpu_event_new(struct gpu_event **event, struct gpu *gpu);
/* For order alone, which is faster: it has no time. */
unda_status gpu_event_new_order(struct gpu_event **event, struct gpu *gpu);
void gpu_event_free(struct gpu_event *event);
unda_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream);
/* What is queued on the stream from now on begins after the event as recorded last, on whichever stream. */
unda_status gpu_stream_wait(struct gpu_stream *stream, struct gpu_event *event);
/* Waits for `end`; time between the two [s]. */
unda_status gpu_event_seconds(struct gpu_event *begin, struct gpu_event *end, double *seconds);
/* What is to be timed: queue(of) queues it on the stream. */
struct gpu_work {
    struct gpu_stream *stream;
    unda_status (*queue)(void *of);
    void *of;
};
/* The median of num_run times, after two to warm up. */
unda_status gpu_median_seconds(const struct gpu_work *work, int64_t num_run, double *seconds);
/* What is queued on the stream between begin and end goes into the graph instead of to the device. On failure
 * in between call gpu_capture_end with graph NULL: it ends the capture and drops it. */
unda_status gpu_capture_begin(struct gpu_stream *stream);
unda_status gpu_capture_end(struct gpu_stream *stream, struct gpu_graph **graph);
unda_status gpu_graph_launch(struct gpu_graph *graph, struct gpu_stream *stream);
void gpu_graph_free(struct gpu_graph *graph);

/* ---- kernels ---- */
/* What is compiled: a file under cuda/ and its defines. */
struct gpu_source {
    const char *file;           /* "dg/fused.cu" */
    const char *const *options; /* [num_option] "-DDEGREE=4" */
    int num_option;
};
/* Room for the defines of one: gpu_define(&defines, "HALF=%d", 4) adds "-DHALF=4". */
struct gpu_defines {
    char text[8192]; /* of them all, one after the other */
    const char *list[40];
    int num, used; /* num: -1 once one had no room, and compiling says so */
};
void gpu_define(struct gpu_defines *defines, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct gpu_kernel {
    struct gpu *gpu;
    void *function; /* CUfunction */
    char name[64];
    int registers;      /* a thread */
    int spill_bytes;    /* local memory a thread */
    int shared_bytes;   /* static, a block */
    int max_threads;    /* largest block */
    int dynamic_bytes;  /* dynamic shared memory allowed so far */
    int64_t args_bytes; /* of its one argument; -1 where the driver cannot tell */
};
/* From the cache folder, else by NVRTC; UNDA_ERR_COMPILE has the log in unda_error_log(). */
unda_status gpu_module_new(struct gpu_module **module, struct gpu *gpu, const struct gpu_source *source);
void gpu_module_free(struct gpu_module *module);
/* A kernel of a module, valid as long as that. The kernel is extern "C" and takes one struct by value. Allows
 * it dynamic_bytes of shared memory (past 48 KB the driver must be asked). */
unda_status gpu_kernel_get(struct gpu_kernel *kernel, struct gpu_module *module, const char *name,
                           int dynamic_bytes);
/* Blocks of so many threads that the device has room for at once, while no other kernel is on it. */
unda_status gpu_resident_blocks(const struct gpu_kernel *kernel, int threads, int dynamic_bytes,
                                int64_t *num);
/* Leaves the memory of an SM that is not shared memory of so many blocks to its L1 cache. */
unda_status gpu_kernel_leave_l1(const struct gpu_kernel *kernel, int blocks);
/* Zeros mean 1, but grid[0] must be given: an empty launch is refused. */
struct gpu_shape {
    int64_t grid[3];
    int block[3];
    int shared_bytes; /* dynamic, at most the kernel's dynamic_bytes */
    bool early;       /* may start while the kernel before it ends; begins with cuda/common/early.h */
    bool together;    /* all blocks are on the device at once, or none starts */
};
/* `count` threads in blocks of GPU_BLOCK. */
enum { GPU_BLOCK = 256 };
static inline struct gpu_shape gpu_threads(int64_t count)
{
    return (struct gpu_shape){.grid = {(count + GPU_BLOCK - 1) / GPU_BLOCK}, .block = {GPU_BLOCK}};
}
/* An address as a kernel's arguments hold it. */
#define POINTER(address) ((void *)(uintptr_t)(address))
/* Queues a launch; args is copied. */
unda_status gpu_launch(const struct gpu_kernel *kernel, struct gpu_stream *stream,
                       const struct gpu_shape *shape, const void *args, int64_t args_bytes);

/* Compiles without a device, puts what it made into the cache all the same, and fills resources (registers,
 * spills and static shared memory as the assembler states them) of one kernel, or the most of all whose names
 * begin so: "name_". */
unda_status gpu_compile_only(const struct gpu_source *source, const char *kernel, int compute_capability,
                             unda_kernel_resources *resources);

/* ---- matrix products, by cuBLAS ---- */
struct gpu_blas;
enum { GPU_BLAS_BYTES = 32 << 20 }; /* of its workspace, as NVIDIA advises for compute capability 9.0 */
/* Products of reals of so many bytes, 4 or 8, on a stream. They may be captured into graphs, since the workspace is
 * given and of GPU_BLAS_BYTES. tf32: float32 rounded to TF32's eleven digits on the way into tensor cores; else each
 * operation is that of the reals. */
unda_status gpu_blas_new(struct gpu_blas **blas, struct gpu_stream *stream, gpu_ptr workspace,
                         int32_t real_bytes, bool tf32);
void gpu_blas_free(struct gpu_blas *blas);
/* C_i = A B_i + add C_i for i < count, C_i is m x n. A, the same for all, is stored by rows, B_i and C_i by columns: so
 * many reals from one to the next (lead), and from matrix i to matrix i + 1 (step). */
struct gpu_product {
    int64_t m, n, k, count;
    gpu_ptr a, b, c;
    int64_t lead_a, lead_b, lead_c, step_b, step_c;
    bool add; /* false: C need not hold numbers */
};
unda_status gpu_blas_multiply(struct gpu_blas *blas, const struct gpu_product *product);

/* ---- messages between processes, by NCCL (unda_nccl_new) ---- */
/* What goes to a process, and as much that comes from it, in the memory of this process's device. Of several messages to one
 * process the first that is sent is the first that it receives. */
struct gpu_message {
    int32_t rank;
    gpu_ptr send, receive; /* 0: there is none this way */
    int64_t bytes;
};
/* Queues all of them at once, so that none waits for another one. */
unda_status gpu_nccl_exchange(unda_nccl *nccl, struct gpu_stream *stream, const struct gpu_message *message,
                              int32_t num);
/* As gpu_sync; fails, rather than waits forever, if NCCL reports that a message will not come. */
unda_status gpu_nccl_sync(unda_nccl *nccl, struct gpu_stream *stream);

#endif
