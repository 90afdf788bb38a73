/* diamond.c: the kernel that takes many steps at once, host side: set-up and launches.
 * Not here: choice of the tile (diamond_plan.c), sources and receivers (diamond_points.c), several devices
 * (diamond_slabs.c), the kernel (cuda/fd/scalar/diamond.cu). */
#include "diamond.h"
#include "streamed.h"

/* ---- set-up ---- */

static struct gpu_source source(const unda_solver *s, const struct scalar_cuda *t,
                                struct gpu_defines *defines)
{
    const struct diamond_tile *tile = &t->diamond.tile;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"ORDER", 2 * fd_tables(s)->half},
                   {"DTS", tile->dts},
                   {"STEP", tile->step},
                   {"STRIDE_X", t->base.plane},
                   {"STRIDE_Y", t->base.pitch},
                   {"ZB", tile->zb},
                   {"NUM_ZB", tile->num_zb},
                   {"LAYER", fd_is_damped(fd_tables(s))},
                   {"MATCHED", fd_is_matched(fd_tables(s))},
                   {"VARIABLE", tile->variable},
                   {"OLD", tile->old},
                   {"UNROLL", tile->unroll},
                   {"CHUNK", tile->chunk},
                   {"FAR", diamond_has_far(s)}};
    gpu_define(defines, "REAL=%s", s->real_bytes == 4 ? "float" : "double");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        gpu_define(defines, "%s=%lld", numbers[i].name, (long long)numbers[i].value);
    return (struct gpu_source){"fd/scalar/diamond.cu", defines->list, defines->num};
}

static unda_status compile_only(const unda_solver *s, const struct scalar_cuda *t, int compute_capability,
                                unda_kernel_resources *resources)
{
    struct gpu_defines defines = {.num = 0};
    struct gpu_source diamond = source(s, t, &defines);
    TRY(gpu_compile_only(&diamond, "fd_diamond", compute_capability, resources));
    resources->shared_bytes += t->diamond.tile.shared_bytes;
    resources->threads = (t->diamond.tile.zb + 31) / 32 * 32;
    return UNDA_OK;
}

/* The blocks of all towers. */
static int64_t num_part(const unda_solver *s, const struct diamond_tile *tile, int64_t levels)
{
    return tile->num_zb * diamond_own_rows(s, tile).num * diamond_stages(s, tile, levels);
}
/* Of the towers of a neighbour at a cut. */
int64_t diamond_far_bytes(const unda_solver *s, const struct diamond_tile *tile)
{
    return 4 * tile->num_zb * diamond_stages(s, tile, tile->levels);
}
/* Mailboxes of all blocks that run at once, as cuda/fd/scalar/diamond_ghosts.h has it. */
static int64_t mailbox_bytes(const unda_solver *s, const struct diamond *d)
{
    int64_t width = d->tile.step * d->tile.dts, rows = d->tile.step * (2 * d->tile.dts - 1);
    int64_t words = fd_tables(s)->half * (2 * width * width - fd_tables(s)->half * rows) * s->real_bytes / 4;
    return d->tile.num_zb > 1 ? diamond_sms(s, d) * 4 * words * 8 : 0;
}

/* Kernel step takes what is left of a call. */
static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct diamond *d = &t->diamond;
    TRY(scalar_step.create(s));
    struct gpu_defines defines = {.num = 0};
    double begin = clock_seconds();
    if (d->tile.shared_bytes > gpu_info(t->base.gpu)->shared_bytes)
        FAIL(UNDA_ERR_ARG,
             "a tile takes %d bytes of shared memory, the device has %lld; expected less dts or zb",
             d->tile.shared_bytes, (long long)gpu_info(t->base.gpu)->shared_bytes);
    if (d->tile.num_zb > gpu_info(t->base.gpu)->num_sm)
        FAIL(
            UNDA_ERR_ARG,
            "z is cut into %d blocks, which wait for each other, the device has %d multiprocessors; expected "
            "more zb or kernel step",
            d->tile.num_zb, gpu_info(t->base.gpu)->num_sm);
    struct gpu_source diamond = source(s, t, &defines);
    TRY(gpu_module_new(&d->module, t->base.gpu, &diamond));
    TRY(gpu_kernel_get(&d->kernel, d->module, "fd_diamond", d->tile.shared_bytes));
    TRY(gpu_kernel_get(&d->mark_kernel, d->module, "fd_diamond_mark", 0));
    s->compile_seconds += clock_seconds() - begin;
    TRY(array_try(&d->due_host, d->tile.levels + 1, 1, "receivers"));
    struct gpu_pool *pool = &t->base.wants.pool;
    int64_t parts = num_part(s, &d->tile, d->tile.levels), mailbox = mailbox_bytes(s, d);
    TRY(gpu_pool_alloc(pool, t->base.gpu, &d->due, d->tile.levels + 1, "receivers"));
    TRY(gpu_pool_alloc(pool, t->base.gpu, &d->progress, 4 * (2 * parts + 1), "towers"));
    for (int side = 0; side < 2 && diamond_has_far(s); side++)
        if (fd_cut(fd_tables(s), side))
            TRY(gpu_pool_alloc(pool, t->base.gpu, &d->far_progress[side], diamond_far_bytes(s, &d->tile),
                               "towers of other slabs"));
    return mailbox ? gpu_pool_alloc(pool, t->base.gpu, &d->mailbox, mailbox, "towers") : UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct diamond *d = &scalar_cuda(s)->diamond;
    diamond_free_lists(d);
    array_free(d->due_host);
    gpu_module_free(d->module);
    scalar_step.destroy(s);
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct diamond *d = &scalar_cuda(s)->diamond;
    const struct diamond_tile *tile = &d->tile;
    info->spill_bytes = d->kernel.spill_bytes;
    kernel_describe_part(info, "dts", tile->dts);
    kernel_describe_part(info, "step", tile->step);
    kernel_describe_part(info, "levels", tile->levels);
    kernel_describe_part(info, "fewest", tile->fewest);
    kernel_describe_part(info, "zb", tile->zb);
    kernel_describe_part(info, "old", 1 + tile->old);
    kernel_describe_part(info, "unroll", tile->unroll);
    kernel_describe_part(info, "chunk", tile->chunk);
    kernel_describe_part(info, "variable", tile->variable);
    kernel_describe_part(info, "sms", diamond_sms(s, d));
}

/* ---- launches ---- */

static struct diamond_args arguments(const unda_solver *s, const struct diamond *d)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct fd *fd = fd_tables(s);
    struct diamond_args a = {
        .p = {POINTER(fd_cuda_origin(s, t->base.array[1])), POINTER(fd_cuda_origin(s, t->base.array[0]))},
        .k = POINTER(fd_cuda_origin(s, t->base.material[0])),
        .gx = POINTER(t->damp[0]),
        .gy = POINTER(t->damp[1]),
        .gz = POINTER(t->damp[2]),
        .mark = POINTER(d->mark),
        .source_first = POINTER(d->source_first),
        .source_z = POINTER(d->source_z),
        .source_id = POINTER(d->source_id),
        .source_w = POINTER(d->source_weight),
        .cell_first = POINTER(d->cell_first),
        .cell_z = POINTER(d->cell_z),
        .cell_id = POINTER(d->cell_id),
        .cell_group = POINTER(d->cell_group),
        .sample = POINTER(d->sample),
        .due = POINTER(d->due),
        .ticket = POINTER(d->progress),
        .progress = POINTER(d->progress + 4),
        .mailbox = POINTER(d->mailbox),
        .nx = (int)fd->axis[0].total,
        .ny = (int)fd->axis[1].total,
        .nz = (int)fd->axis[2].total,
        .num_row = (int)diamond_own_rows(s, &d->tile).num,
        .first_row = (int)diamond_own_rows(s, &d->tile).first,
        .num_source = s->num_source,
        .num_group = t->base.num_group};
    scalar_cuda_matched(s, a.matched);
    for (int axis = 0; axis < 3; axis++) {
        for (int m = 0; m <= fd->half; m++)
            a.w[axis * (fd->half + 1) + m] = fd->weight[axis][m];
        for (int side = 0; side < 2; side++)
            a.sign[axis][side] = fd->axis[axis].side[side];
    }
    for (int i = 0; i < 15; i++)
        a.w_float[i] = (float)a.w[i];
    for (int axis = 0; axis < 2; axis++) {
        a.layer[axis][0] = (int)fd->axis[axis].first;
        a.layer[axis][1] = (int)(fd->axis[axis].first + fd->axis[axis].num);
    }
    return a;
}

/* What a slab on that side has of its own, for kernels that run together. */
static void meet_neighbor(const unda_solver *s, int side, struct diamond_args *a)
{
    const unda_solver *other = diamond_neighbor(s, side);
    const struct fd_cuda *t = fd_cuda(other);
    a->far[side][0] = POINTER(fd_cuda_origin(other, t->array[1]));
    a->far[side][1] = POINTER(fd_cuda_origin(other, t->array[0]));
    a->far_progress[side] = POINTER(scalar_cuda(s)->diamond.far_progress[side]);
    a->far_told[side] = POINTER(scalar_cuda(other)->diamond.far_progress[!side]);
}

/* Lists of sources and recorded cells, and which tiles have any. */
static unda_status list_points(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct diamond *d = &t->diamond;
    int64_t width = d->tile.step * d->tile.dts, rows = 2 * diamond_rows(s, &d->tile) + 1;
    int64_t columns = fd_tables(s)->axis[1].total + 2 * width;
    diamond_free_lists(d);
    if (!s->num_source && !s->num_group)
        return UNDA_OK;
    TRY(diamond_list_sources(s, d));
    TRY(diamond_list_cells(s, d));
    TRY(gpu_pool_alloc(&d->lists, t->base.gpu, &d->mark, rows * columns, "tiles"));
    struct diamond_args a = arguments(s, d);
    struct gpu_shape shape = {.grid = {(columns + 127) / 128, rows, 1}, .block = {128}};
    return gpu_launch(&d->mark_kernel, t->base.stream, &shape, &a, sizeof a);
}

unda_status diamond_launch(unda_solver *s, int64_t levels, int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct diamond *d = &t->diamond;
    struct diamond_args a = arguments(s, d);
    int64_t rows = diamond_own_rows(s, &d->tile).num, parts = d->tile.num_zb * rows * (end - first);
    int64_t most = diamond_sms(s, d);
    for (int side = 0; side < 2; side++)
        if (d->together && d->far_progress[side])
            meet_neighbor(s, side, &a);
    a.num_level = (int)levels;
    a.first_tower = (int)(rows * first);
    a.num_tower = (int)(rows * end);
    a.owner = POINTER(d->progress + (gpu_ptr)(4 * (num_part(s, &d->tile, levels) + 1)));
    a.amplitude =
        POINTER(t->base.amplitude + (gpu_ptr)((s->step - s->begin) * s->num_source * s->real_bytes));
    if (s->num_group && first == 0)
        TRY(diamond_upload_samples(s, d, levels));
    /* the ticket, and before the first stage what is known of all towers */
    TRY(gpu_zero_async(t->base.stream, d->progress,
                       4 * (first == 0 ? 2 * num_part(s, &d->tile, levels) + 1 : 1)));
    if (d->mailbox)
        TRY(gpu_zero_async(t->base.stream, d->mailbox, mailbox_bytes(s, d)));
    struct gpu_shape shape = {.grid = {parts < most ? parts : most},
                              .block = {(d->tile.zb + 31) / 32 * 32},
                              .shared_bytes = d->tile.shared_bytes};
    return gpu_launch(&d->kernel, t->base.stream, &shape, &a, sizeof a);
}

/* Many steps at once, up to the next sample of a monitor, and what is left one by one if a launch is not worth it. */
static unda_status run(unda_solver *s, int64_t num_step)
{
    struct scalar_cuda *t = scalar_cuda(s);
    const struct diamond_tile *tile = &t->diamond.tile;
    for (int64_t done = 0; done < num_step;) {
        int64_t left = num_step - done,
                levels = fd_cuda_until_sample(s, left < tile->levels ? left : tile->levels);
        done += levels;
        if (levels < tile->fewest) {
            TRY(scalar_step.run(s, levels));
            continue;
        }
        TRY(fd_cuda_sample_rest(&t->later));
        TRY(fd_cuda_keep_levels(s));
        TRY(diamond_launch(s, levels, 0, diamond_stages(s, tile, levels)));
        if (levels % 2)
            SWAP(t->base.array[FD_P], t->base.array[FD_PREVIOUS]);
        s->step += levels;
        TRY(fd_cuda_sample(s, &t->later));
    }
    return UNDA_OK;
}

static unda_status run_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct diamond_tile *tile = &t->diamond.tile;
    int64_t stages = t->streamed.slab / diamond_reach(tile), first = window * stages;
    int64_t all = diamond_stages(s, tile, pass->levels);
    if (pass->levels < tile->fewest)
        return scalar_step.window(s, pass, window);
    return diamond_launch(s, pass->levels, first, first + stages < all ? first + stages : all);
}

static unda_status queue(unda_solver *s, int which)
{
    const struct diamond_tile *tile = &scalar_cuda(s)->diamond.tile;
    (void)which;
    return diamond_launch(s, tile->levels, 0, diamond_stages(s, tile, tile->levels));
}

/* Sources and receivers are the kernel's. */
static unda_status profile(unda_solver *s, struct fd_cuda_profile *what)
{
    struct scalar_cuda *t = scalar_cuda(s);
    TRY(solver_reserve(s, t->diamond.tile.levels));
    what->kinds |= FD_CUDA_NOW;
    fd_cuda_add_part(what, (struct fd_cuda_part){"fd_diamond", queue, 0, 1, 1.0 / t->diamond.tile.levels});
    return UNDA_OK;
}

const struct scalar_kernel scalar_diamond = {
    .base = {"diamond",
             12,
             {{"rows", 1, 16, UNDA_TUNED_NOT},
              {"planes", 1, INT32_MAX, UNDA_TUNED_NOT}, /* of the steps that kernel step takes */
              {"dts", 2, 64, UNDA_TUNED_NOT},
              {"step", 1, MAX_DIAMOND_HALF, UNDA_TUNED_NOT},
              {"levels", 1, MOST_GIVEN, UNDA_TUNED_NOT},
              {"fewest", 1, INT32_MAX, UNDA_TUNED_NOT},
              {"zb", 1, 1024, UNDA_TUNED_NOT},
              {"old", 1, 2, UNDA_TUNED_NOT},
              {"unroll", 1, 2, UNDA_TUNED_NOT},
              {"chunk", 1, 1024, UNDA_TUNED_NOT},
              {"variable", 1, 2, UNDA_TUNED_NOT},
              {"sms", 1, INT32_MAX, UNDA_TUNED_NOT}}},
    .choose = diamond_choose,
    .pays = diamond_pays,
    .create = create,
    .destroy = destroy,
    .list_points = list_points,
    .run = run,
    .window = run_window,
    .describe = describe,
    .profile = profile,
    .compile = compile_only};
