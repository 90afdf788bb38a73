/* diamond.c: the kernel that takes many steps at once, host side: set-up and launches.
 * Not here: choice of the tile (diamond_plan.c), sources and receivers (diamond_points.c), the kernel
 * (cuda/fd/diamond.cu). */
#include "diamond.h"

#include <stdio.h>

/* ---- set-up ---- */

enum { NUM_OPTION = 14, OPTION_BYTES = 40 };

static void defines(const unda_solver *s, const struct diamond_tile *tile, int64_t pitch, int64_t plane,
                    char text[NUM_OPTION][OPTION_BYTES], const char *options[NUM_OPTION])
{
    const struct {
        const char *name;
        long long value;
    } numbers[NUM_OPTION - 1] = {{"ORDER", 2 * fd_tables(s)->half},
                                 {"DTS", tile->dts},
                                 {"STEP", tile->step},
                                 {"STRIDE_X", plane},
                                 {"STRIDE_Y", pitch},
                                 {"ZB", tile->zb},
                                 {"NUM_ZB", tile->num_zb},
                                 {"LAYER", fd_is_damped(fd_tables(s))},
                                 {"MATCHED", fd_is_matched(fd_tables(s))},
                                 {"VARIABLE", tile->variable},
                                 {"OLD", tile->old},
                                 {"UNROLL", tile->unroll},
                                 {"CHUNK", tile->chunk}};
    snprintf(text[0], OPTION_BYTES, "-DREAL=%s", s->real_bytes == 4 ? "float" : "double");
    for (int i = 1; i < NUM_OPTION; i++)
        snprintf(text[i], OPTION_BYTES, "-D%s=%lld", numbers[i - 1].name, numbers[i - 1].value);
    for (int i = 0; i < NUM_OPTION; i++)
        options[i] = text[i];
}

unda_status diamond_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    struct diamond_tile tile;
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION], *why = diamond_choose(s, &tile);
    if (why)
        FAIL(UNDA_ERR_ARG, "kernel diamond cannot run this: %s; expected kernel step", why);
    int64_t pad_x, pad_y, pitch = (fd_tables(s)->axis[2].total + fd_tables(s)->half + 32) / 32 * 32;
    diamond_padding(s, &tile, &pad_x, &pad_y);
    defines(s, &tile, pitch, pitch * (fd_tables(s)->axis[1].total + 2 * pad_y), text, options);
    struct gpu_source source = {"fd/diamond.cu", options, NUM_OPTION};
    TRY(gpu_compile_only(&source, "fd_diamond", compute_capability, resources));
    resources->shared_bytes += tile.shared_bytes;
    resources->threads = (tile.zb + 31) / 32 * 32;
    return UNDA_OK;
}

/* The blocks of all towers. */
static int64_t num_part(const unda_solver *s, const struct diamond_tile *tile, int64_t levels)
{
    return tile->num_zb * diamond_rows(s, tile) * diamond_stages(s, tile, levels);
}
/* Mailboxes of all blocks that run at once, as cuda/fd/diamond_ghosts.h has it. */
static int64_t mailbox_bytes(const unda_solver *s, const struct diamond *d)
{
    int64_t width = d->tile.step * d->tile.dts, rows = d->tile.step * (2 * d->tile.dts - 1);
    int64_t words = fd_tables(s)->half * (2 * width * width - fd_tables(s)->half * rows) * s->real_bytes / 4;
    return d->tile.num_zb > 1 ? diamond_sms(s, d) * 4 * words * 8 : 0;
}

unda_status diamond_create(unda_solver *s, struct diamond *d)
{
    struct scalar_cuda *t = scalar_cuda(s);
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
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
    defines(s, &d->tile, t->base.pitch, t->base.plane, text, options);
    struct gpu_source source = {"fd/diamond.cu", options, NUM_OPTION};
    TRY(gpu_module_new(&d->module, t->base.gpu, &source));
    TRY(gpu_kernel_get(&d->kernel, d->module, "fd_diamond", d->tile.shared_bytes));
    TRY(gpu_kernel_get(&d->mark_kernel, d->module, "fd_diamond_mark", 0));
    s->compile_seconds += clock_seconds() - begin;
    d->version = -1;
    TRY(array_try(&d->due_host, d->tile.levels + 1, 1, "receivers"));
    TRY(gpu_alloc(t->base.gpu, &d->due, d->tile.levels + 1, "receivers"));
    TRY(gpu_alloc(t->base.gpu, &d->progress, 4 * (2 * num_part(s, &d->tile, d->tile.levels) + 1), "towers"));
    return mailbox_bytes(s, d) ? gpu_alloc(t->base.gpu, &d->mailbox, mailbox_bytes(s, d), "towers") : UNDA_OK;
}

void diamond_free(unda_solver *s, struct diamond *d)
{
    diamond_free_lists(s, d);
    gpu_free(fd_cuda(s)->gpu, d->mailbox);
    gpu_free(fd_cuda(s)->gpu, d->progress);
    gpu_free(fd_cuda(s)->gpu, d->due);
    array_free(d->due_host);
    gpu_module_free(d->module);
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
        .num_row = (int)diamond_rows(s, &d->tile),
        .num_source = s->num_source,
        .num_group = t->base.num_group};
    scalar_cuda_matched(s, a.matched);
    a.w[0] = fd->center;
    for (int axis = 0; axis < 3; axis++) {
        for (int m = 1; m <= fd->half; m++)
            a.w[axis * fd->half + m] = fd->weight[axis][m];
        for (int side = 0; side < 2; side++)
            a.sign[axis][side] = fd->axis[axis].side[side];
    }
    for (int i = 0; i < 13; i++)
        a.w_float[i] = (float)a.w[i];
    for (int axis = 0; axis < 2; axis++) {
        a.layer[axis][0] = (int)fd->axis[axis].first;
        a.layer[axis][1] = (int)(fd->axis[axis].first + fd->axis[axis].num);
    }
    return a;
}

/* Lists of sources and recorded cells, and which tiles have any, when these changed. */
static unda_status update_lists(unda_solver *s, struct diamond *d)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int64_t width = d->tile.step * d->tile.dts, rows = 2 * diamond_rows(s, &d->tile) + 1;
    int64_t columns = fd_tables(s)->axis[1].total + 2 * width;
    if (d->version == s->point_version)
        return UNDA_OK;
    diamond_free_lists(s, d);
    if (s->num_source || s->num_group) {
        TRY(diamond_list_sources(s, d));
        TRY(diamond_list_cells(s, d));
        TRY(gpu_alloc(t->base.gpu, &d->mark, rows * columns, "tiles"));
        struct diamond_args a = arguments(s, d);
        struct gpu_shape shape = {{(columns + 127) / 128, rows, 1}, {128, 1, 1}, 0};
        TRY(gpu_launch(&d->mark_kernel, t->base.stream, &shape, &a, sizeof a));
    }
    d->version = s->point_version;
    return UNDA_OK;
}

unda_status diamond_reserve(unda_solver *s, struct diamond *d)
{
    return update_lists(s, d);
}

/* Stages [first, end) of `levels` steps at once, from step `time` of the call that began at step `begin`;
 * those before are done. */
unda_status diamond_run(unda_solver *s, struct diamond *d, int64_t time, int64_t begin, int64_t levels,
                        int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    TRY(update_lists(s, d));
    struct diamond_args a = arguments(s, d);
    int64_t rows = diamond_rows(s, &d->tile), parts = d->tile.num_zb * rows * (end - first);
    int64_t most = diamond_sms(s, d);
    a.num_level = (int)levels;
    a.first_tower = (int)(rows * first);
    a.num_tower = (int)(rows * end);
    a.owner = POINTER(d->progress + (gpu_ptr)(4 * (num_part(s, &d->tile, levels) + 1)));
    a.amplitude = POINTER(t->base.amplitude + (gpu_ptr)(time * s->num_source * s->real_bytes));
    if (s->num_group && first == 0)
        TRY(diamond_upload_samples(s, d, begin, levels));
    /* the ticket, and before the first stage what is known of all towers */
    TRY(gpu_zero_async(t->base.stream, d->progress,
                       4 * (first == 0 ? 2 * num_part(s, &d->tile, levels) + 1 : 1)));
    if (d->mailbox)
        TRY(gpu_zero_async(t->base.stream, d->mailbox, mailbox_bytes(s, d)));
    struct gpu_shape shape = {
        {parts < most ? parts : most, 1, 1}, {(d->tile.zb + 31) / 32 * 32, 1, 1}, d->tile.shared_bytes};
    return gpu_launch(&d->kernel, t->base.stream, &shape, &a, sizeof a);
}
