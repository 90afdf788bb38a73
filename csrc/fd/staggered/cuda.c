/* cuda.c: the CUDA engine of the staggered schemes, host side: arrays, memory variables of layers,
 * the order of a step, its profile. Not here: launches of a pass (staggered/launch.c), planes (cuda.c),
 * sources and receivers (cuda_points.c). */
#include "cuda.h"

/* Kernels of the parts of the first pass, then of the second. */
static const char *const names[] = {"staggered_pass0", "staggered_walls0", "staggered_layers0",
                                    "staggered_pass1", "staggered_walls1", "staggered_layers1"};

/* ---- set-up ---- */

/* Ghosts on every side. Rows are aligned to 128 bytes where the user's grid begins, so that layers have
 * tiles of their own. */
static void lay_out(const unda_solver *s, struct staggered_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t unit = 128 / s->real_bytes, layer = fd->axis[2].first;
    int64_t before = (fd->half + layer + unit - 1) / unit * unit - layer;
    t->base.pitch = (before + fd->axis[2].total + fd->half + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * fd->half);
    t->base.origin = (fd->half - fd->begin) * t->base.plane + fd->half * t->base.pitch + before;
    t->count = t->base.plane * (fd->end - fd->begin + 2 * fd->half);
}

/* Number of values of a layer's memory variable on the device; rows along x and y as in arrays. */
static int64_t memory_count(const unda_solver *s, const struct staggered_cuda *t, int number)
{
    const struct fd_memory *memory = &fd_tables(s)->memory[number];
    return memory->planes * memory->num[1] * (memory->axis == 2 ? memory->num[2] : t->base.pitch);
}

static void plan(unda_solver *s, struct staggered_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t real = s->real_bytes;
    lay_out(s, t);
    for (int f = 0; f < fd->num_field; f++)
        gpu_want(&t->base.wants, FD_CUDA_STATE, &t->base.array[f], t->count * real, "state");
    for (int i = 0; i < fd->num_material; i++)
        gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->base.material[i], t->count * real, "materials");
    for (int i = 0; i < fd->num_memory; i++)
        gpu_want(&t->base.wants, FD_CUDA_MEMORY, &t->memory[i], memory_count(s, t, i) * real, "layers");
    for (int a = 0; a < 3; a++)
        gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->table[a], 8 * fd->axis[a].total * real, "layers");
    gpu_want(&t->base.wants, FD_CUDA_FIXED, &t->base.bad, 8, "finite check");
    s->device_bytes = t->base.wants.bytes;
    fd_tables(s)->level_bytes = s->options.physics == UNDA_ACOUSTIC ? t->count * real : 0;
    s->host_bytes = t->base.plane * real + fd_cuda_staging_bytes(s); /* a plane on its way */
}

static unda_status forecast(unda_solver *s)
{
    struct staggered_cuda t = {0};
    plan(s, &t);
    return UNDA_OK;
}

/* Tables that depend on dt; weights do as well, but are arguments. */
static unda_status retime(unda_solver *s)
{
    struct staggered_cuda *t = tables(s);
    for (int a = 0; a < 3; a++)
        TRY(gpu_upload_reals(t->base.stream, t->table[a], fd_tables(s)->axis[a].cpml,
                             8 * fd_tables(s)->axis[a].total, s->real_bytes));
    return gpu_sync(t->base.stream);
}

static struct gpu_source source(const unda_solver *s, const struct staggered_tile *tile, int64_t pitch,
                                struct gpu_defines *defines)
{
    fd_cuda_define(s, defines);
    gpu_define(defines, "STAGGERED=\"%s\"", fd_tables(s)->physics->header);
    gpu_define(defines, "LAYERS=%d", fd_has_layers(fd_tables(s)));
    gpu_define(defines, "TILE_Y=%d", tile->rows);
    gpu_define(defines, "WIDTH=%d", tile->width);
    gpu_define(defines, "MIN_BLOCKS=%d", tile->blocks);
    gpu_define(defines, "PITCH=%lld", (long long)pitch);
    gpu_define(defines, "LANES=%d", tile->lanes);
    gpu_define(defines, "MIN_BLOCKS_INSIDE=%d", tile->inside);
    gpu_define(defines, "FADES=%d", fd_tables(s)->fades);
    return (struct gpu_source){"fd/staggered/staggered.cu", defines->list, defines->num};
}

static unda_status compile(unda_solver *s, struct staggered_cuda *t)
{
    struct gpu_defines defines = {.num = 0};
    double begin = clock_seconds();
    struct gpu_source step = source(s, &t->tile, t->base.pitch, &defines);
    TRY(gpu_module_new(&t->module, t->base.gpu, &step));
    for (int i = 0; i < 2 * STAGGERED_PARTS; i++)
        if (i % STAGGERED_PARTS != STAGGERED_LAYERS || fd_has_layers(fd_tables(s)))
            TRY(gpu_kernel_get(&t->pass[i / STAGGERED_PARTS][i % STAGGERED_PARTS], t->module, names[i], 0));
    TRY(gpu_kernel_get(&t->ghosts, t->module, "staggered_ghosts", 0));
    TRY(fd_cuda_compile(s));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

unda_status staggered_compile_apart(unda_solver *s)
{
    struct staggered_cuda *t = tables(s);
    struct gpu_defines defines = {.num = 0};
    double begin = clock_seconds();
    if (t->apart_module)
        return UNDA_OK;
    gpu_define(&defines, "APART=1");
    struct gpu_source step = source(s, &t->tile, t->base.pitch, &defines);
    TRY(gpu_module_new(&t->apart_module, t->base.gpu, &step));
    for (int i = 0; i < STAGGERED_PARTS; i++)
        if (i != STAGGERED_LAYERS || fd_has_layers(fd_tables(s)))
            TRY(gpu_kernel_get(&t->apart[i], t->apart_module, names[STAGGERED_PARTS + i], 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    struct gpu_defines defines = {.num = 0};
    struct staggered_cuda t = {0};
    struct staggered_tile tile = staggered_choose_tile(s);
    lay_out(s, &t);
    struct gpu_source step = source(s, &tile, t.base.pitch, &defines);
    TRY(gpu_compile_only(&step, "staggered_", compute_capability, resources));
    resources->threads = tile.lanes * tile.rows;
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    struct staggered_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    plan(s, t);
    TRY(fd_cuda_open(s));
    TRY(fd_cuda_stream(s, &t->beside));
    TRY(gpu_event_new(&t->before, t->base.gpu));
    TRY(gpu_event_new(&t->after, t->base.gpu));
    t->tile = staggered_choose_tile(s);
    TRY(gpu_wants_alloc(&t->base.wants, t->base.stream, ""));
    t->base.home[0] = t->base.array[FD_P];
    TRY(retime(s));
    TRY(compile(s, t));
    int axes[FD_MAX_FIELD];
    struct staggered_box box[STAGGERED_MAX_BOX];
    struct staggered_planes all = staggered_all(s);
    for (int part = 0; part < STAGGERED_PARTS; part++) /* of both passes, then ghosts */
        s->num_launch += 2 * (staggered_cut(s, &t->tile, part, all, box) > 0);
    s->num_launch += staggered_ghost_axes(s, 0, true, axes) + staggered_ghost_axes(s, 1, true, axes);
    return UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct staggered_cuda *t = tables(s);
    if (t->base.gpu) {
        gpu_module_free(t->module);
        gpu_module_free(t->apart_module);
        gpu_event_free(t->before);
        gpu_event_free(t->after);
        gpu_stream_free(t->beside);
        fd_cuda_close(s);
    }
    array_free(t);
    s->data = NULL;
}

static const struct kernel step = {"step",
                                   5,
                                   {{"rows", 1, 64, UNDA_TUNED_NOT},
                                    {"planes", 1, INT32_MAX, UNDA_TUNED_NOT},
                                    {"width", 1, 4, UNDA_TUNED_NOT},
                                    {"blocks", 1, 16, UNDA_TUNED_NOT},
                                    {"lanes", 16, 64, UNDA_TUNED_NOT}},
                                   0,
                                   false};
const struct kernel *const fd_staggered_cuda_kernels[] = {&step, NULL};

static void describe(const unda_solver *s, unda_solver_info *info)
{
    kernel_describe(info, "step");
    for (int i = 0; i < 2 * STAGGERED_PARTS; i++) {
        int32_t spill = tables(s)->pass[i / STAGGERED_PARTS][i % STAGGERED_PARTS].spill_bytes;
        info->spill_bytes = spill > info->spill_bytes ? spill : info->spill_bytes;
    }
    kernel_describe_part(info, "rows", tables(s)->tile.rows);
    kernel_describe_part(info, "planes", staggered_choose_planes(s, STAGGERED_INSIDE));
    kernel_describe_part(info, "width", tables(s)->tile.width);
    kernel_describe_part(info, "blocks", tables(s)->tile.blocks);
    kernel_describe_part(info, "lanes", tables(s)->tile.lanes);
}

/* ---- state ---- */

static unda_status clear(unda_solver *s)
{
    return fd_cuda_zero(s, FD_CUDA_STATE | FD_CUDA_MEMORY);
}

/* Half a cell beyond a wall of z fields are held at 0, and memory variables are read as the images that they
 * are on the CPU: they continue about the wall like the field of the derivative. rows: along z. */
static void image_memory(const unda_solver *s, const struct fd_memory *memory, int64_t rows, void *out)
{
    const struct fd_field *f = &fd_tables(s)->field[fd_tables(s)->physics->derivative[memory->number].source];
    int64_t num = memory->num[2], last = num - 1;
    int sign;
    int64_t from = fd_mirror(&fd_tables(s)->axis[2], f->half[2], f->sign[2], last, &sign);
    for (int64_t i = 0; i < rows && from != last; i++)
        real_put(s, out, i * num + last, sign * real_get(s, out, i * num + from));
}

static unda_status move_memory(unda_solver *s, int number, int64_t first, int64_t count, void *out,
                               const void *in)
{
    const struct fd_memory *memory = &fd_tables(s)->memory[number];
    struct staggered_cuda *t = tables(s);
    int64_t real = s->real_bytes, row = memory->num[2] * real, num = count * memory->num[1];
    int64_t step = memory->axis == 2 ? row : t->base.pitch * real;
    gpu_ptr at = t->memory[number] + (gpu_ptr)(staggered_memory_origin(s, t, number) * real +
                                               (first - memory->first) * memory->num[1] * step);
    TRY(out ? gpu_download_parts_async(t->base.stream, out, row, at, step, row, num)
            : gpu_upload_parts_async(t->base.stream, at, step, in, row, row, num));
    TRY(gpu_sync(t->base.stream));
    if (out && memory->axis != 2 && staggered_images(fd_tables(s)))
        image_memory(s, memory, num, out);
    return UNDA_OK;
}

/* ---- steps ---- */

static unda_status inject_pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    const struct staggered *p = fd_tables(s)->physics;
    for (int f = p->first[pass]; f < p->first[pass] + p->count[pass]; f++)
        TRY(fd_cuda_inject_part(s, f, fd_cuda(s)->array[f], time, part));
    return UNDA_OK;
}

static unda_status open(unda_solver *s)
{
    TRY(staggered_fill_materials(s));
    TRY(staggered_fill_pass(s, 0, staggered_all(s), true)); /* the state may have been set */
    return staggered_fill_pass(s, 1, staggered_all(s), true);
}

/* The second pass of pressures leaves a level that is a sample where it is. */
static unda_status launch_pass(unda_solver *s, int pass, struct staggered_planes planes)
{
    struct staggered_cuda *t = tables(s);
    gpu_ptr next = t->base.array[FD_P];
    if (pass == 1)
        TRY(fd_cuda_next_level(s, &next));
    t->next = next == t->base.array[FD_P] ? 0 : next;
    unda_status status = staggered_launch_pass(s, pass, planes);
    t->next = 0;
    t->base.array[FD_P] = next;
    return status;
}

static unda_status queue_pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    struct staggered_planes planes = {0};
    planes.num = fd_spans(fd_tables(s), part, planes.span);
    if (planes.num == 0)
        return UNDA_OK;
    TRY(launch_pass(s, pass, planes));
    TRY(inject_pass(s, pass, time, part));
    return staggered_fill_pass(s, pass, planes, part == FD_INSIDE);
}

static unda_status pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    return part == FD_BORDER ? fd_cuda_border(s, pass, time, queue_pass) : queue_pass(s, pass, time, part);
}

static int fresh(int array, int64_t time)
{
    (void)time;
    return array;
}

static unda_status close(unda_solver *s, int64_t time)
{
    (void)time;
    s->step++;
    return fd_cuda_take(s);
}

static unda_status finish(unda_solver *s, int64_t num_step)
{
    (void)num_step;
    TRY(fd_cuda_settle(s));
    return fd_cuda_fetch(s);
}

static unda_status take_step(unda_solver *s, int64_t time)
{
    TRY(pass(s, 0, time, FD_INSIDE));
    return pass(s, 1, time, FD_INSIDE);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    TRY(open(s));
    for (int64_t i = 0; i < num_step; i++) {
        TRY(take_step(s, i));
        TRY(close(s, i));
        TRY(fd_cuda_sample(s, NULL));
    }
    return finish(s, num_step);
}

/* See staggered/cpu.c. */
static unda_status rest(unda_solver *s)
{
    const struct staggered *p = fd_tables(s)->physics;
    struct fd_cuda *t = fd_cuda(s);
    TRY(fd_need_material(s));
    TRY(open(s));
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        TRY(gpu_zero_async(t->stream, t->array[f], tables(s)->count * s->real_bytes));
    TRY(staggered_launch_pass(s, 0, staggered_all(s)));
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        TRY(fd_cuda_whole(s, &t->multiply, t->array[f], -0.5));
    return fd_cuda_zero(s, FD_CUDA_MEMORY);
}

/* ---- profile ---- */

/* which: of names. */
static unda_status queue_part(unda_solver *s, int which)
{
    return staggered_launch_part(s, which / STAGGERED_PARTS, which % STAGGERED_PARTS);
}

static unda_status queue_ghosts(unda_solver *s, int which)
{
    (void)which;
    TRY(staggered_fill_pass(s, 0, staggered_all(s), true));
    return staggered_fill_pass(s, 1, staggered_all(s), true);
}

static unda_status queue_inject(unda_solver *s, int which)
{
    (void)which;
    TRY(inject_pass(s, 0, 0, FD_INSIDE));
    return inject_pass(s, 1, 0, FD_INSIDE);
}

static unda_status queue_step(unda_solver *s, int which)
{
    (void)which;
    return take_step(s, 0);
}

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    struct staggered_cuda *t = tables(s);
    struct fd_cuda_profile what = {.kinds = FD_CUDA_STATE | FD_CUDA_MEMORY, .step = queue_step};
    struct staggered_box box[STAGGERED_MAX_BOX];
    for (int i = 0; i < 2 * STAGGERED_PARTS; i++) {
        bool any = staggered_cut(s, &t->tile, i % STAGGERED_PARTS, staggered_all(s), box) > 0;
        fd_cuda_add_part(&what, (struct fd_cuda_part){names[i], queue_part, i, any, 1});
    }
    int axes[FD_MAX_FIELD],
        ghosts = staggered_ghost_axes(s, 0, true, axes) + staggered_ghost_axes(s, 1, true, axes);
    fd_cuda_add_part(&what, (struct fd_cuda_part){"staggered_ghosts", queue_ghosts, 0, ghosts, ghosts});
    fd_cuda_add_points(s, &what, queue_inject);
    TRY(staggered_fill_materials(s));
    return fd_cuda_profile(s, &what, num_run, out);
}

const struct fd_engine fd_staggered_cuda = {.base = {.name = "cuda",
                                                     .kernels = fd_staggered_cuda_kernels,
                                                     .create = create,
                                                     .destroy = destroy,
                                                     .drive = fd_cuda_drive,
                                                     .run = run,
                                                     .find_bad = fd_cuda_find_bad,
                                                     .list_points = fd_cuda_list_points,
                                                     .reserve = fd_cuda_reserve,
                                                     .retime = retime,
                                                     .forecast = forecast,
                                                     .describe = describe,
                                                     .profile = profile,
                                                     .compile = compile_only},
                                            .box = fd_cuda_box,
                                            .gather = fd_cuda_gather,
                                            .clear = clear,
                                            .rest = rest,
                                            .memory = move_memory,
                                            FD_CUDA_SLAB,
                                            .open = open,
                                            .pass = pass,
                                            .close = close,
                                            .finish = finish,
                                            .fresh = fresh};
