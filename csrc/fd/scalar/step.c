/* step.c: kernel step of the scalar scheme, host side: one step at a time.
 * Not here: many steps at once (diamond.c), windows (streamed.c), the kernel (cuda/fd/scalar/step.cu). */
#include "../../solver/cuda_monitor.h"
#include "streamed.h"

enum { TILE_Y = 8 };

/* ---- set-up ---- */

static struct gpu_source source(const unda_solver *s, bool split, int tile_y, struct gpu_defines *defines)
{
    fd_cuda_define(s, defines);
    gpu_define(defines, "SPLIT=%d", !split ? 0 : fd_tables(s)->uniform ? 1 : 2);
    gpu_define(defines, "DAMP=%d", fd_is_damped(fd_tables(s)));
    gpu_define(defines, "TILE_Y=%d", tile_y);
    gpu_define(defines, "MATCHED=%d", fd_is_matched(fd_tables(s)));
    return (struct gpu_source){"fd/scalar/step.cu", defines->list, defines->num};
}

static unda_status compile(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct gpu_defines defines = {.num = 0};
    double begin = clock_seconds();
    struct gpu_source step = source(s, fd_tables(s)->split, t->tile_y, &defines);
    TRY(gpu_module_new(&t->step_module, t->base.gpu, &step));
    TRY(gpu_kernel_get(&t->step, t->step_module, "scalar_step", 0));
    if (fd_is_matched(fd_tables(s)))
        TRY(gpu_kernel_get(&t->step_layers, t->step_module, "scalar_step_layers", 0));
    TRY(fd_cuda_compile(s));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

unda_status scalar_step_compile_monitor(unda_solver *s, int kind)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct scalar_monitored *to = &t->monitored[kind];
    struct gpu_defines defines = {.num = 0};
    double begin = clock_seconds();
    if (to->module)
        return UNDA_OK;
    gpu_define(&defines, "MONITOR=%d", 1 + kind);
    struct gpu_source step = source(s, fd_tables(s)->split, t->tile_y, &defines);
    TRY(gpu_module_new(&to->module, t->base.gpu, &step));
    TRY(gpu_kernel_get(&to->step, to->module, "scalar_step", 0));
    if (fd_is_matched(fd_tables(s)))
        TRY(gpu_kernel_get(&to->step_layers, to->module, "scalar_step_layers", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_only(const unda_solver *s, const struct scalar_cuda *t, int compute_capability,
                                unda_kernel_resources *resources)
{
    struct gpu_defines defines = {.num = 0};
    struct gpu_source step = source(s, !fd_tables(s)->uniform, TILE_Y, &defines);
    (void)t;
    TRY(gpu_compile_only(&step, "scalar_", compute_capability, resources));
    resources->threads = 32 * TILE_Y;
    return UNDA_OK;
}

/* Planes over which a block marches: few enough that neighbouring blocks read the same rows at about the
 * same time, from L2 (measured: benchmarks/NOTES.md), and that there are about eight blocks an SM; at
 * least 4 M, since each block also loads 2 M planes that others load. Of a slab three times as many blocks, of at
 * least 8 M planes: all devices wait for the last block of the slowest. */
static int choose_chunk(const unda_solver *s, const struct scalar_cuda *t)
{
    int64_t num = fd_tables(s)->end - fd_tables(s)->begin;
    bool slab = fd_tables(s)->whole;
    int64_t least = (slab ? 8 : 4) * fd_tables(s)->half, most = num < 64 ? num : 64;
    int64_t rows = t->streamed.slab ? t->streamed.slab : fd_tables(s)->axis[1].total;
    int64_t tiles = ((t->base.pitch * s->real_bytes + 511) / 512) * ((rows + t->tile_y - 1) / t->tile_y);
    int64_t chunk = num * tiles / ((slab ? 24 : 8) * gpu_info(t->base.gpu)->num_sm) + 1;
    chunk = chunk < least ? least : chunk;
    int64_t given = kernel_part(&s->options, "planes");
    chunk = given ? given : chunk < most ? chunk : most;
    return (int)(chunk < num ? chunk : num);
}

static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int rows = kernel_part(&s->options, "rows");
    t->tile_y = rows ? rows : TILE_Y;
    t->chunk = choose_chunk(s, t);
    s->num_launch = 1 + fd_is_matched(fd_tables(s));
    return compile(s);
}

static void destroy(unda_solver *s)
{
    gpu_module_free(scalar_cuda(s)->step_module);
    for (int i = 0; i < NUM_MONITORED; i++)
        gpu_module_free(scalar_cuda(s)->monitored[i].module);
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    info->spill_bytes =
        t->step.spill_bytes > t->step_layers.spill_bytes ? t->step.spill_bytes : t->step_layers.spill_bytes;
    kernel_describe_part(info, "levels", t->streamed.levels);
}

/* ---- launches ---- */

/* The plane whose values are those of plane x beyond a side; -1 - plane where they change sign. */
static int plane_beyond(const struct fd_axis *axis, int64_t x)
{
    int sign;
    int place = (int)fd_image(axis, x, &sign);
    return sign < 0 ? -1 - place : place;
}

/* For rows [first, end) of y in planes of x. */
static struct scalar_args step_args(const unda_solver *s, struct fd_span planes, int64_t first, int64_t end)
{
    const struct fd *fd = fd_tables(s);
    const struct scalar_cuda *t = scalar_cuda(s);
    struct scalar_args a = {.p = POINTER(fd_cuda_origin(s, t->base.array[0])),
                            .q = POINTER(fd_cuda_origin(s, t->base.array[1])),
                            .speed = POINTER(fd_cuda_origin(s, t->base.material[0])),
                            .plane = t->base.plane,
                            .pitch = (int)t->base.pitch,
                            .chunk = t->chunk,
                            .begin = (int)planes.begin,
                            .end = (int)planes.end,
                            .held = {fd_cut(fd, 0) ? (int)(fd->begin - fd->half) : 0,
                                     (int)(fd_cut(fd, 1) ? fd->end + fd->half : fd->axis[0].total)},
                            .wall = {(int)-first, (int)(fd->axis[1].total - 1 - first)},
                            .speed32 = (float)fd->speed,
                            .speed64 = fd->speed};
    for (int i = 0; i < 3; i++) {
        a.damp[i] = POINTER(t->damp[i]);
        a.num[i] = (int)fd->axis[i].total;
        for (int side = 0; side < 2; side++)
            a.side[i][side] = fd->axis[i].side[side];
    }
    fd_cuda_weights(fd, fd->weight, a.weight32, a.weight64);
    for (int k = 0; k < fd->half; k++) {
        a.beyond[0][k] = plane_beyond(&fd->axis[0], -1 - k);
        a.beyond[1][k] = plane_beyond(&fd->axis[0], fd->axis[0].total + k);
    }
    scalar_cuda_matched(s, a.matched);
    a.damp[1] = POINTER(t->damp[1] + (gpu_ptr)(first * s->real_bytes));
    a.num[1] = (int)(end - first);
    return a;
}

/* The sample that is left to the step. */
static struct scalar_monitor monitor_args(const struct fd_later *later)
{
    const struct monitor_piece *piece = later->monitor->piece;
    struct scalar_monitor m = {.kept = POINTER(cuda_monitor_sums(piece)),
                               .plane = (int64_t)piece->num_axis[1] * piece->pitch,
                               .minimum = later->sample.statistic == UNDA_MINIMUM,
                               .two = later->sample.two};
    const int64_t *place = piece->place;
    for (int a = 0; a < 3; place += piece->num_axis[a++]) {
        m.first[a] = (int)place[0];
        m.num[a] = piece->num_axis[a];
    }
    m.first[2] -= piece->pad;
    m.num[2] = piece->pitch;
    return m;
}

/* Launches rows [first, end) of y in planes of x: the blocks without layers, or those with layers. */
static unda_status launch_blocks(unda_solver *s, int layers, struct fd_span planes, int64_t first,
                                 int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct scalar_args a = step_args(s, planes, first, end);
    int tile_z = 512 / s->real_bytes;
    struct gpu_shape shape = {.grid = {(a.num[2] + tile_z - 1) / tile_z,
                                       (a.num[1] + t->tile_y - 1) / t->tile_y,
                                       (a.end - a.begin + t->chunk - 1) / t->chunk},
                              .block = {32, t->tile_y, 1}};
    const struct gpu_kernel *kernel = layers ? &t->step_layers : &t->step;
    if (t->later.monitor || t->next) {
        const struct scalar_monitored *with = &t->monitored[t->later.monitor ? SCALAR_EXTREME : SCALAR_APART];
        kernel = layers ? &with->step_layers : &with->step;
        if (t->later.monitor)
            a.monitor = monitor_args(&t->later);
        a.monitor.next = t->next ? POINTER(fd_cuda_origin(s, t->next)) : a.q;
    }
    return gpu_launch(kernel, t->base.stream, &shape, &a, sizeof a);
}

/* Blocks with layers take longer, so they are launched first. */
unda_status scalar_step_launch(unda_solver *s, struct fd_span planes, int64_t first, int64_t end)
{
    if (fd_is_matched(fd_tables(s)))
        TRY(launch_blocks(s, 1, planes, first, end));
    return launch_blocks(s, 0, planes, first, end);
}

/* Of the whole grid, with what monitors want of it. */
static unda_status launch_level(unda_solver *s, int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    gpu_ptr next;
    TRY(fd_cuda_next_level(s, &next));
    t->next = next == t->base.array[FD_PREVIOUS] ? 0 : next;
    unda_status status = scalar_step_launch(s, fd_planes_of(fd_tables(s)), first, end);
    t->next = 0;
    t->later.monitor = NULL; /* it is taken */
    t->base.array[FD_PREVIOUS] = next;
    return status;
}

/* Takes one step of these rows, if there are any. */
static unda_status take_step(unda_solver *s, int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    t->base.first_row = (int32_t)first;
    t->base.end_row = (int32_t)end;
    if (first < end)
        TRY(launch_level(s, first, end));
    SWAP(t->base.array[FD_P], t->base.array[FD_PREVIOUS]);
    if (first < end)
        TRY(fd_cuda_inject(s, 0, t->base.array[0], s->step - s->begin));
    s->step++;
    if (first < end)
        TRY(fd_cuda_take(s));
    return fd_cuda_sample(s, &t->later);
}

/* Takes steps of the whole grid, one after the other. */
static unda_status run(unda_solver *s, int64_t num_step)
{
    for (int64_t i = 0; i < num_step; i++)
        TRY(take_step(s, 0, fd_tables(s)->axis[1].total));
    return UNDA_OK;
}

static unda_status run_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    unda_status status = UNDA_OK;
    int64_t start = s->step;
    for (int64_t n = 0; n < pass->levels && status == UNDA_OK; n++) {
        int64_t first, end;
        streamed_rows(s, window, n, &first, &end);
        status = take_step(s, first, end);
    }
    s->step = start;
    return status;
}

/* ---- profile ---- */

/* Steps without a swap: the next level overwrites the previous one, again and again. */
static unda_status queue_step(unda_solver *s, int which)
{
    return launch_blocks(s, which, fd_planes_of(fd_tables(s)), 0, fd_tables(s)->axis[1].total);
}

static unda_status queue_inject(unda_solver *s, int which)
{
    (void)which;
    return fd_cuda_inject(s, 0, fd_cuda(s)->array[1], 0);
}

static unda_status profile(unda_solver *s, struct fd_cuda_profile *what)
{
    fd_cuda_add_part(what, (struct fd_cuda_part){"scalar_step", queue_step, 0, 1, 1});
    fd_cuda_add_part(
        what, (struct fd_cuda_part){"scalar_step_layers", queue_step, 1, fd_is_matched(fd_tables(s)), 1});
    fd_cuda_add_points(s, what, queue_inject);
    return UNDA_OK;
}

const struct scalar_kernel scalar_step = {.base = {"step",
                                                   3,
                                                   {{"rows", 1, 16, UNDA_TUNED_NOT},
                                                    {"planes", 1, INT32_MAX, UNDA_TUNED_NOT},
                                                    {"levels", 1, MOST_GIVEN, UNDA_TUNED_NOT}}},
                                          .create = create,
                                          .destroy = destroy,
                                          .run = run,
                                          .window = run_window,
                                          .describe = describe,
                                          .profile = profile,
                                          .compile = compile_only};
