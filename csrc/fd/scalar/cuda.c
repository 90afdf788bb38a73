/* cuda.c: the CUDA engine of the scalar scheme, host side: choice of kernel and storage, arrays, state.
 * Not here: kernels (scalar/step.c, diamond.c), the state on the host (streamed.c), layers
 * (scalar/cuda_layers.c), planes (cuda.c), sources and receivers (cuda_points.c). */
#include "diamond.h"
#include "streamed.h"

#include <stdio.h>

const struct kernel *const fd_scalar_cuda_kernels[] = {&scalar_step.base, &scalar_diamond.base, NULL};
enum { NUM_KERNEL = sizeof fd_scalar_cuda_kernels / sizeof *fd_scalar_cuda_kernels - 1 };

static const struct scalar_kernel *kernel(int i)
{
    return (const struct scalar_kernel *)fd_scalar_cuda_kernels[i];
}

/* ---- set-up ---- */

/* The kernel that options name, or else the last one of the table that can run the problem and pays. */
static unda_status choose_kernel(const unda_solver *s, struct scalar_cuda *t)
{
    for (int i = NUM_KERNEL - 1; i >= 0; i--) {
        bool named = kernel_is(&s->options, fd_scalar_cuda_kernels[i]->name);
        if (t->kernel && !named)
            continue;
        t->pad_x = t->pad_y = t->pad_z = t->streamed.reach = 0;
        const char *why = kernel(i)->choose ? kernel(i)->choose(s, t) : NULL;
        if (why && named)
            FAIL(UNDA_ERR_ARG, "kernel %s cannot run this: %s; expected kernel step",
                 fd_scalar_cuda_kernels[i]->name, why);
        if (!why && (named || !kernel(i)->pays || kernel(i)->pays(s, t)))
            t->kernel = kernel(i);
    }
    return UNDA_OK;
}

/* The strides of arrays: rows begin at multiples of 128 bytes; a kernel may need a margin beside the grid. */
static unda_status lay_out(const unda_solver *s, struct scalar_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t unit = 128 / s->real_bytes;
    TRY(choose_kernel(s, t));
    if (fd->whole && t->pad_x < fd->half)
        t->pad_x = fd->half; /* neighbours' planes */
    t->base.pitch = (fd->axis[2].total + t->pad_z + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * t->pad_y);
    t->base.origin = (t->pad_x - fd->begin) * t->base.plane + t->pad_y * t->base.pitch;
    return UNDA_OK;
}

/* With what lies beside the grid. */
int64_t scalar_cuda_level_bytes(const unda_solver *s, const struct scalar_cuda *t)
{
    return t->base.plane * (fd_tables(s)->end - fd_tables(s)->begin + 2 * t->pad_x) * s->real_bytes;
}

static void list_arrays(const unda_solver *s, struct scalar_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t real = s->real_bytes, level = scalar_cuda_level_bytes(s, t);
    t->base.wants = (struct gpu_wants){0};
    gpu_want(&t->base.wants, FD_CUDA_NOW, &t->base.array[0], level, "state");
    gpu_want(&t->base.wants, FD_CUDA_STATE, &t->base.array[1], level, "state");
    gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->base.material[0], fd->uniform ? 0 : level, "speeds");
    for (int a = 0; a < 3; a++) {
        int64_t damp = (a < 2 ? fd->axis[a].total : t->base.pitch) + 2 * scalar_cuda_damp_margin(t);
        gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->damp_memory[a], damp * real, "layers");
        gpu_want(&t->base.wants, FD_CUDA_MEMORY, &t->memory[a], scalar_cuda_memory_bytes(s, t, a), "layers");
        gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->table[a], 6 * fd_matched(&fd->axis[a]) * real, "layers");
    }
    gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->base.bad, 8, "finite check");
}

/* The layout of all arrays, and the memory that they take. */
static unda_status plan(unda_solver *s, struct scalar_cuda *t)
{
    TRY(lay_out(s, t));
    list_arrays(s, t);
    TRY(streamed_choose(s, t, t->base.wants.bytes - streamed_arrays(s) * scalar_cuda_level_bytes(s, t)));
    list_arrays(s, t); /* fewer rows, where a window holds the state */
    s->device_bytes = t->base.wants.bytes;
    fd_tables(s)->level_bytes = t->streamed.slab ? 0 : scalar_cuda_level_bytes(s, t);
    s->host_bytes =
        t->streamed.slab ? streamed_bytes(s, t) : t->base.plane * s->real_bytes + fd_cuda_staging_bytes(s);
    return UNDA_OK;
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cuda t = {0};
    return plan(s, &t);
}

static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t;
    char more[128] = "";
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    TRY(plan(s, t));
    TRY(fd_cuda_open(s));
    if (t->streamed.why_not)
        snprintf(more, sizeof more, "; no window of it: %s", t->streamed.why_not);
    TRY(gpu_wants_alloc(&t->base.wants, t->base.stream, more));
    for (int i = 0; i < 2; i++)
        t->base.home[i] = t->base.array[i];
    if (t->streamed.slab)
        TRY(streamed_create(s));
    TRY(t->kernel->create(s));
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd_tables(s)->axis[a];
        if (fd_matched(axis))
            TRY(gpu_upload_reals(t->base.stream, t->table[a], axis->match, 6 * fd_matched(axis),
                                 s->real_bytes));
    }
    return scalar_cuda_set_damping(s, true);
}

static void destroy(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    if (t->base.gpu) {
        t->kernel->destroy(s);
        streamed_destroy(s);
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
    struct scalar_cuda t = {.kernel = &scalar_step}; /* unless options name another */
    TRY(lay_out(s, &t));
    return t.kernel->compile(s, &t, compute_capability, resources);
}

/* ---- state ---- */

static unda_status clear(unda_solver *s)
{
    if (!scalar_cuda(s)->streamed.slab)
        return fd_cuda_zero(s, FD_CUDA_NOW | FD_CUDA_STATE | FD_CUDA_MEMORY);
    streamed_clear(s, FD_P);
    streamed_clear(s, FD_PREVIOUS);
    return fd_cuda_zero(s, FD_CUDA_MEMORY);
}

static unda_status box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    return (fd_cpu(s) ? fd_cpu_box : fd_cuda_box)(s, array, box, out, in);
}

static unda_status gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    return (fd_cpu(s) ? fd_cpu_gather : fd_cuda_gather)(s, array, count, node, values);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    return (fd_cpu(s) ? fd_cpu_find_bad : fd_cuda_find_bad)(s, index);
}

/* ---- steps ---- */

static unda_status finish(unda_solver *s, int64_t num_step)
{
    (void)num_step;
    TRY(fd_cuda_settle(s));
    return fd_cuda_fetch(s);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct scalar_cuda *t = scalar_cuda(s);
    t->later.monitor = NULL; /* of a run that failed */
    TRY(t->streamed.slab ? streamed_run(s, num_step) : t->kernel->run(s, num_step));
    TRY(fd_cuda_sample_rest(&t->later));
    return finish(s, num_step);
}

/* Of slabs, by kernel step. */
static unda_status queue_pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    struct fd_span span[2];
    (void)pass;
    for (int i = fd_spans(fd_tables(s), part, span); i-- > 0;)
        TRY(scalar_step_launch(s, span[i], 0, fd_tables(s)->axis[1].total));
    return fd_cuda_inject_part(s, 0, fd_cuda(s)->array[FD_PREVIOUS], time, part);
}

static unda_status pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    return part == FD_BORDER ? fd_cuda_border(s, pass, time, queue_pass) : queue_pass(s, pass, time, part);
}

static int fresh(int array, int64_t time)
{
    (void)array;
    (void)time;
    return FD_PREVIOUS;
}

static unda_status close(unda_solver *s, int64_t time)
{
    (void)time;
    SWAP(fd_cuda(s)->array[FD_P], fd_cuda(s)->array[FD_PREVIOUS]);
    s->step++;
    return fd_cuda_take(s);
}

static unda_status open(unda_solver *s) /* images are read where the nodes are */
{
    (void)s;
    return UNDA_OK;
}

static unda_status cut(const unda_solver *s, int64_t *planes)
{
    *planes = 0;
    return kernel_is(&s->options, "diamond") ? diamond_cut(s, planes) : UNDA_OK;
}

static unda_status leap(unda_solver *whole, int64_t num_step, int64_t *done)
{
    *done = 0;
    return kernel_is(&whole->options, "diamond") ? diamond_leap(whole, num_step, done) : UNDA_OK;
}

/* Half a step, from p and 0 in the level one step back. */
static unda_status half_step(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    if (scalar_cuda(s)->streamed.slab)
        return streamed_half_step(s);
    TRY(fd_cuda_zero(s, FD_CUDA_STATE));
    TRY(scalar_step_launch(s, fd_planes_of(fd_tables(s)), 0, fd_tables(s)->axis[1].total));
    return fd_cuda_whole(s, &t->multiply, t->array[FD_PREVIOUS], 0.5);
}

/* See scalar/cpu.c. */
static unda_status rest(unda_solver *s)
{
    bool damped = fd_is_damped(fd_tables(s));
    if (damped)
        TRY(scalar_cuda_set_damping(s, false));
    unda_status status = half_step(s);
    if (damped)
        TRY(scalar_cuda_set_damping(s, true));
    TRY(status);
    return fd_cuda_zero(s, FD_CUDA_MEMORY);
}

static unda_status list_points(unda_solver *s)
{
    const struct scalar_kernel *kernel = scalar_cuda(s)->kernel;
    TRY(fd_cuda_list_points(s));
    return kernel->list_points ? kernel->list_points(s) : UNDA_OK;
}

/* ---- profile ---- */

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct fd_cuda_profile what = {.kinds = FD_CUDA_STATE | FD_CUDA_MEMORY};
    if (t->streamed.slab)
        FAIL(UNDA_ERR_ARG,
             "the grid passes through a window of %lld rows at a time, whose kernels are not timed; expected "
             "all of it on the device",
             (long long)t->streamed.slab);
    TRY(t->kernel->profile(s, &what));
    return fd_cuda_profile(s, &what, num_run, out);
}

const struct fd_engine fd_scalar_cuda = {.base = {.name = "cuda",
                                                  .kernels = fd_scalar_cuda_kernels,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .drive = fd_cuda_drive,
                                                  .run = run,
                                                  .find_bad = find_bad,
                                                  .list_points = list_points,
                                                  .reserve = fd_cuda_reserve,
                                                  .forecast = forecast,
                                                  .describe = describe,
                                                  .profile = profile,
                                                  .compile = compile_only},
                                         .box = box,
                                         .gather = gather,
                                         .clear = clear,
                                         .rest = rest,
                                         .memory = scalar_cuda_memory,
                                         FD_CUDA_SLAB,
                                         .open = open,
                                         .pass = pass,
                                         .close = close,
                                         .finish = finish,
                                         .cut = cut,
                                         .leap = leap,
                                         .leap_bytes = diamond_leap_bytes,
                                         .leap_room = diamond_leap_room,
                                         .fresh = fresh};
