/* scalar_cuda.c: the CUDA engine of the scalar scheme, host side: choice of kernel and storage, arrays, state.
 * Not here: kernels (scalar_cuda_step.c, diamond.c), the state on the host (streamed.c), layers
 * (scalar_cuda_layers.c), planes (fd_cuda.c), sources and receivers (fd_cuda_points.c). */
#include "streamed.h"

#include <stdio.h>
#include <string.h>

static const struct kernel *const kernels[] = {&scalar_step.base, &scalar_diamond.base, NULL};
enum { NUM_KERNEL = sizeof kernels / sizeof *kernels - 1 };

static const struct scalar_kernel *kernel(int i)
{
    return (const struct scalar_kernel *)kernels[i];
}

/* ---- set-up ---- */

struct array {
    gpu_ptr *ptr;
    int64_t bytes;
    const char *what;
};
enum { NUM_ARRAY = 9 };

static const char *refusal(const unda_solver *s, struct scalar_cuda *t, const struct scalar_kernel *kernel)
{
    return kernel->refusal ? kernel->refusal(s, t) : NULL;
}

/* The kernel that options name, or the last one of the table that can run the problem and pays. */
static unda_status choose_kernel(const unda_solver *s, struct scalar_cuda *t)
{
    for (int i = 0; i < NUM_KERNEL; i++)
        if (kernel_is(&s->options, kernels[i]->name)) {
            const char *why = refusal(s, t, kernel(i));
            if (why)
                FAIL(UNDA_ERR_ARG, "kernel %s cannot run this: %s; expected kernel step", kernels[i]->name,
                     why);
            t->kernel = kernel(i);
        }
    for (int i = NUM_KERNEL - 1; i >= 0 && !t->kernel; i--)
        if (!refusal(s, t, kernel(i)) && (!kernel(i)->pays || kernel(i)->pays(s, t)))
            t->kernel = kernel(i);
    return UNDA_OK;
}

/* The strides of arrays: rows begin at multiples of 128 bytes; a kernel may need a margin beside the grid. */
static unda_status lay_out(const unda_solver *s, struct scalar_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t unit = 128 / s->real_bytes;
    TRY(choose_kernel(s, t));
    if (t->kernel->margin)
        t->kernel->margin(s, t);
    t->base.pitch = (fd->axis[2].total + t->pad_z + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * t->pad_y);
    t->base.origin = t->pad_x * t->base.plane + t->pad_y * t->base.pitch;
    return UNDA_OK;
}

/* With what lies beside the grid. */
int64_t scalar_cuda_level_bytes(const unda_solver *s, const struct scalar_cuda *t)
{
    return t->base.plane * (fd_tables(s)->axis[0].total + 2 * t->pad_x) * s->real_bytes;
}

static void list_arrays(const unda_solver *s, struct scalar_cuda *t, struct array list[NUM_ARRAY])
{
    const struct fd *fd = fd_tables(s);
    int64_t real = s->real_bytes, level = scalar_cuda_level_bytes(s, t);
    int64_t margin = 2 * scalar_cuda_damp_margin(t);
    const struct array all[NUM_ARRAY] = {{&t->base.array[0], level, "state"},
                                         {&t->base.array[1], level, "state"},
                                         {&t->base.material[0], fd->uniform ? 0 : level, "speeds"},
                                         {&t->damp_memory[0], (fd->axis[0].total + margin) * real, "layers"},
                                         {&t->damp_memory[1], (fd->axis[1].total + margin) * real, "layers"},
                                         {&t->damp_memory[2], (t->base.pitch + margin) * real, "layers"},
                                         {&t->memory, scalar_cuda_memory_words(s, t, 3) * real, "layers"},
                                         {&t->table, scalar_cuda_table_words(fd, 3) * real, "layers"},
                                         {&t->base.bad, 8, "finite check"}};
    memcpy(list, all, sizeof all);
}

static int64_t device_bytes(const unda_solver *s, struct scalar_cuda *t)
{
    struct array list[NUM_ARRAY];
    int64_t bytes = 0;
    list_arrays(s, t, list);
    for (int i = 0; i < NUM_ARRAY; i++)
        bytes += list[i].bytes;
    return bytes;
}

/* The layout of all arrays, and the memory that they take. */
static unda_status plan(unda_solver *s, struct scalar_cuda *t)
{
    TRY(lay_out(s, t));
    t->storage = &scalar_resident;
    TRY(streamed_choose(
        s, t, device_bytes(s, t) - (fd_tables(s)->uniform ? 2 : 3) * scalar_cuda_level_bytes(s, t)));
    s->device_bytes = device_bytes(s, t);
    s->host_bytes = t->storage->host_bytes(s, t);
    return UNDA_OK;
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cuda t = {0};
    return plan(s, &t);
}

static unda_status allocate(unda_solver *s, struct scalar_cuda *t)
{
    struct array list[NUM_ARRAY];
    list_arrays(s, t, list);
    char more[128] = "";
    if (t->streamed.why_not)
        snprintf(more, sizeof more, "; no window of it: %s", t->streamed.why_not);
    TRY(fd_cuda_check_memory(s, more));
    for (int i = 0; i < NUM_ARRAY; i++)
        if (list[i].bytes) {
            TRY(gpu_alloc(t->base.gpu, list[i].ptr, list[i].bytes, list[i].what));
            TRY(gpu_zero_async(t->base.stream, *list[i].ptr, list[i].bytes));
        }
    return gpu_sync(t->base.stream);
}

static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    TRY(plan(s, t));
    t->base.source_version = t->base.group_version = -1;
    fork_mark();
    TRY(gpu_open(&t->base.gpu, s->options.device));
    TRY(gpu_stream_new(&t->base.stream, t->base.gpu));
    TRY(allocate(s, t));
    if (t->storage->create)
        TRY(t->storage->create(s));
    TRY(t->kernel->create(s));
    TRY(scalar_cuda_upload_matched(s));
    return scalar_cuda_set_damping(s, true);
}

static void destroy(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    if (t->base.gpu) {
        t->kernel->destroy(s);
        if (t->storage->destroy)
            t->storage->destroy(s);
        for (int a = 0; a < 3; a++)
            gpu_free(t->base.gpu, t->damp_memory[a]);
        gpu_free(t->base.gpu, t->memory);
        gpu_free(t->base.gpu, t->table);
        fd_cuda_close(s);
    }
    array_free(t);
    s->data = NULL;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    info->window = (int32_t)t->streamed.slab;
    kernel_describe(info, t->kernel->base.name);
    kernel_describe_part(info, "rows", t->tile_y);
    kernel_describe_part(info, "planes", t->chunk);
    t->kernel->describe(s, info);
}

static unda_status compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    int i = NUM_KERNEL - 1;
    while (i > 0 && !kernel_is(&s->options, kernels[i]->name))
        i--;
    return kernel(i)->compile(s, compute_capability, resources);
}

/* ---- the state on the device ---- */

static int64_t resident_host_bytes(const unda_solver *s, const struct scalar_cuda *t)
{
    return t->base.plane * s->real_bytes + fd_cuda_staging_bytes(s);
}

static unda_status resident_clear(unda_solver *s, int array)
{
    struct scalar_cuda *t = scalar_cuda(s);
    return gpu_zero_async(t->base.stream, fd_cuda_array(&t->base, array), scalar_cuda_level_bytes(s, t));
}

static unda_status resident_run(unda_solver *s, int64_t begin, int64_t num_step)
{
    return scalar_cuda(s)->kernel->run(s, begin, num_step);
}

static unda_status resident_half_step(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(scalar_step_launch(s, 0, fd_tables(s)->axis[1].total));
    return fd_cuda_whole(s, &t->halve, t->array[FD_PREVIOUS]);
}

const struct scalar_storage scalar_resident = {.host_bytes = resident_host_bytes,
                                               .box = fd_cuda_box,
                                               .gather = fd_cuda_gather,
                                               .find_bad = fd_cuda_find_bad,
                                               .clear = resident_clear,
                                               .run = resident_run,
                                               .half_step = resident_half_step};

void scalar_cuda_swap(struct scalar_cuda *t)
{
    gpu_ptr kept = t->base.array[0];
    t->base.array[0] = t->base.array[1];
    t->base.array[1] = kept;
}

/* ---- state ---- */

static unda_status clear(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    TRY(scalar_cuda_clear_memory(s));
    TRY(t->storage->clear(s, FD_P));
    TRY(t->storage->clear(s, FD_PREVIOUS));
    return gpu_sync(t->base.stream);
}

static unda_status box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    return scalar_cuda(s)->storage->box(s, array, box, out, in);
}

static unda_status gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    return scalar_cuda(s)->storage->gather(s, array, count, node, values);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    return scalar_cuda(s)->storage->find_bad(s, index);
}

/* ---- steps ---- */

static unda_status run(unda_solver *s, int64_t num_step)
{
    int64_t begin = s->step;
    TRY(scalar_cuda(s)->storage->run(s, begin, num_step));
    TRY(gpu_sync(fd_cuda(s)->stream));
    return fd_cuda_fetch(s, begin);
}

/* Half a step from p and 0, see scalar_cpu.c. */
static unda_status rest(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    bool damped = fd_is_damped(fd_tables(s));
    if (damped)
        TRY(scalar_cuda_set_damping(s, false));
    unda_status status = t->storage->clear(s, FD_PREVIOUS);
    status = status == UNDA_OK ? t->storage->half_step(s) : status;
    if (damped)
        TRY(scalar_cuda_set_damping(s, true));
    TRY(status);
    TRY(scalar_cuda_clear_memory(s));
    return gpu_sync(t->base.stream);
}

static unda_status reserve(unda_solver *s)
{
    TRY(fd_cuda_reserve(s));
    const struct scalar_kernel *kernel = scalar_cuda(s)->kernel;
    return kernel->reserve ? kernel->reserve(s) : UNDA_OK;
}

/* ---- profile ---- */

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct fd_cuda_profile what = {0};
    if (t->streamed.slab)
        FAIL(UNDA_ERR_ARG,
             "the grid passes through a window of %lld rows at a time, whose kernels are not timed; expected "
             "all of it on the device",
             (long long)t->streamed.slab);
    fd_cuda_add_memory(&what, t->base.array[1], scalar_cuda_level_bytes(s, t));
    if (t->memory)
        fd_cuda_add_memory(&what, t->memory, scalar_cuda_memory_words(s, t, 3) * s->real_bytes);
    TRY(t->kernel->profile(s, &what));
    return fd_cuda_profile(s, &what, num_run, out);
}

const struct fd_engine fd_scalar_cuda = {.base = {.name = "cuda",
                                                  .kernels = kernels,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .record = fd_record,
                                                  .drive = fd_cuda_drive,
                                                  .run = run,
                                                  .find_bad = find_bad,
                                                  .reserve = reserve,
                                                  .forecast = forecast,
                                                  .describe = describe,
                                                  .profile = profile,
                                                  .compile = compile_only},
                                         .box = box,
                                         .gather = gather,
                                         .clear = clear,
                                         .rest = rest,
                                         .memory = scalar_cuda_memory};
