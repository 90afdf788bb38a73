/* scalar_cuda.c: the CUDA engine of the scalar scheme, host side: arrays, kernels, steps.
 * Not here: planes (fd_cuda.c), sources and receivers (fd_cuda_points.c). Next: cuda/fd/step.cu, diamond.c.
 */
#include "diamond.h"
#include "streamed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE_Y = 8 };

/* ---- set-up ---- */

struct array {
    gpu_ptr *ptr;
    int64_t bytes;
    const char *what;
};
enum { NUM_ARRAY = 9 };

/* Which kernel, and where nodes stand: rows begin at 128 bytes; kernel diamond works in a margin beside the
 * grid. */
static unda_status lay_out(const unda_solver *s, struct scalar_cuda *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t unit = 128 / s->real_bytes, words = fd->axis[2].total;
    const char *why = diamond_choose(s, &t->diamond.tile);
    t->many = kernel_is(&s->options, "diamond") ||
              (!kernel_is(&s->options, "step") && !why && diamond_pays(s, &t->diamond.tile));
    if (t->many && why)
        FAIL(UNDA_ERR_ARG, "kernel diamond cannot run this: %s; expected kernel step", why);
    if (t->many) {
        diamond_padding(s, &t->diamond.tile, &t->pad_x, &t->pad_y);
        words += fd->half + 1;
    }
    t->base.pitch = (words + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * t->pad_y);
    t->base.origin = t->pad_x * t->base.plane + t->pad_y * t->base.pitch;
    return UNDA_OK;
}

/* Factors of layers beside the grid, in whole vectors: tiles read so far, and multiply what nobody sees. */
static int64_t damp_margin(const struct scalar_cuda *t)
{
    return t->many ? (2 * (t->pad_x > t->pad_y ? t->pad_x : t->pad_y) + 31) / 32 * 32 : 0;
}

/* With what lies beside the grid. */
static int64_t level_bytes(const unda_solver *s, const struct scalar_cuda *t)
{
    return t->base.plane * (fd_tables(s)->axis[0].total + 2 * t->pad_x) * s->real_bytes;
}

/* Matched layers: where the words of those along an axis begin; the number of them for axis 3. Rows of planes
 * are as far apart as those of the state. */
static int64_t memory_row(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    return axis == 2 ? fd_matched(&fd_tables(s)->axis[2]) : t->base.pitch;
}
static int64_t memory_plane(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    const struct fd_axis *y = &fd_tables(s)->axis[1];
    return (axis == 1 ? fd_matched(y) : y->total) * memory_row(s, t, axis);
}
static int64_t memory_part(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    const struct fd_axis *x = &fd_tables(s)->axis[0];
    int64_t num = (axis == 0 ? fd_matched(x) : x->total) * memory_plane(s, t, axis),
            unit = 128 / s->real_bytes;
    return fd_matched(&fd_tables(s)->axis[axis]) ? (num + unit - 1) / unit * unit : 0;
}
static int64_t memory_words(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    int64_t words = 0;
    for (int a = 0; a < axis; a++)
        words += 3 * memory_part(s, t, a);
    return words;
}
static int64_t table_words(const struct fd *fd, int axis)
{
    int64_t words = 0;
    for (int a = 0; a < axis; a++)
        words += 6 * fd_matched(&fd->axis[a]);
    return words;
}

void scalar_cuda_matched(const unda_solver *s, struct scalar_matched matched[3])
{
    const struct scalar_cuda *t = scalar_cuda(s);
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd_tables(s)->axis[a];
        struct scalar_matched *m = &matched[a];
        m->memory = POINTER(t->memory + (gpu_ptr)(memory_words(s, t, a) * s->real_bytes));
        m->table = POINTER(t->table + (gpu_ptr)(table_words(fd_tables(s), a) * s->real_bytes));
        m->stride_x = memory_plane(s, t, a);
        m->stride_y = memory_row(s, t, a);
        m->part = memory_part(s, t, a);
        m->low = (int)axis->matched[0];
        m->high = (int)(axis->total - 1 - axis->matched[1]);
        m->num = (int)fd_matched(axis);
        for (int k = 1; k <= fd_tables(s)->half; k++) {
            double first = fd_flux_weight(fd_tables(s), a, 1);
            m->flux64[k] = k == 1 ? first : fd_flux_weight(fd_tables(s), a, k) / first;
            m->flux32[k] = (float)m->flux64[k];
        }
    }
}

static void list_arrays(const unda_solver *s, struct scalar_cuda *t, struct array list[NUM_ARRAY])
{
    const struct fd *fd = fd_tables(s);
    int64_t real = s->real_bytes, level = level_bytes(s, t);
    int64_t margin = 2 * damp_margin(t);
    const struct array all[NUM_ARRAY] = {{&t->base.array[0], level, "state"},
                                         {&t->base.array[1], level, "state"},
                                         {&t->base.material[0], fd->uniform ? 0 : level, "speeds"},
                                         {&t->damp_memory[0], (fd->axis[0].total + margin) * real, "layers"},
                                         {&t->damp_memory[1], (fd->axis[1].total + margin) * real, "layers"},
                                         {&t->damp_memory[2], (t->base.pitch + margin) * real, "layers"},
                                         {&t->memory, memory_words(s, t, 3) * real, "layers"},
                                         {&t->table, table_words(fd, 3) * real, "layers"},
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

/* Where everything will be, and what it takes. */
static unda_status plan(unda_solver *s, struct scalar_cuda *t)
{
    TRY(lay_out(s, t));
    TRY(streamed_choose(s, t, device_bytes(s, t) - (fd_tables(s)->uniform ? 2 : 3) * level_bytes(s, t)));
    s->device_bytes = device_bytes(s, t);
    s->host_bytes = t->streamed.slab ? streamed_host_bytes(s, t)
                                     : t->base.plane * s->real_bytes + fd_cuda_staging_bytes(s);
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

enum { NUM_OPTION = 6, OPTION_BYTES = 32 };

/* The defines of the step. */
static void defines(const unda_solver *s, bool split, int tile_y, char text[NUM_OPTION][OPTION_BYTES],
                    const char *options[NUM_OPTION])
{
    snprintf(text[0], OPTION_BYTES, "-DREAL=%s", s->real_bytes == 4 ? "float" : "double");
    snprintf(text[1], OPTION_BYTES, "-DHALF=%d", fd_tables(s)->half);
    snprintf(text[2], OPTION_BYTES, "-DSPLIT=%d", !split ? 0 : fd_tables(s)->uniform ? 1 : 2);
    snprintf(text[3], OPTION_BYTES, "-DDAMP=%d", fd_is_damped(fd_tables(s)));
    snprintf(text[4], OPTION_BYTES, "-DTILE_Y=%d", tile_y);
    snprintf(text[5], OPTION_BYTES, "-DMATCHED=%d", fd_is_matched(fd_tables(s)));
    for (int i = 0; i < NUM_OPTION; i++)
        options[i] = text[i];
}

static unda_status compile(unda_solver *s, struct scalar_cuda *t)
{
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    double begin = clock_seconds();
    defines(s, fd_tables(s)->split, t->tile_y, text, options);
    struct gpu_source step = {"fd/step.cu", options, NUM_OPTION};
    TRY(gpu_module_new(&t->step_module, t->base.gpu, &step));
    TRY(gpu_kernel_get(&t->step, t->step_module, "scalar_step", 0));
    if (fd_is_matched(fd_tables(s)))
        TRY(gpu_kernel_get(&t->step_layers, t->step_module, "scalar_step_layers", 0));
    TRY(fd_cuda_compile(s, options));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    if (kernel_is(&s->options, "diamond"))
        return diamond_compile_only(s, compute_capability, resources);
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    defines(s, !fd_tables(s)->uniform, TILE_Y, text, options);
    struct gpu_source step = {"fd/step.cu", options, NUM_OPTION};
    TRY(gpu_compile_only(&step, "scalar_", compute_capability, resources));
    resources->threads = 32 * TILE_Y;
    return UNDA_OK;
}

/* g of the layers, or 1 everywhere. */
static unda_status set_damping(unda_solver *s, struct scalar_cuda *t, bool on)
{
    int64_t margin = damp_margin(t);
    for (int a = 0; a < 3; a++) {
        int64_t num = fd_tables(s)->axis[a].total;
        double *damp;
        TRY(array_try(&damp, num + 2 * margin, sizeof *damp, "layers"));
        for (int64_t i = 0; i < num + 2 * margin; i++)
            damp[i] = on && i >= margin && i < margin + num ? fd_tables(s)->axis[a].damp[i - margin] : 1;
        unda_status status = fd_cuda_reals(s, t->damp_memory[a], damp, num + 2 * margin);
        array_free(damp);
        TRY(status);
        t->damp[a] = t->damp_memory[a] + (gpu_ptr)(margin * s->real_bytes);
    }
    return UNDA_OK;
}

static unda_status upload_matched(unda_solver *s, struct scalar_cuda *t)
{
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd_tables(s)->axis[a];
        if (fd_matched(axis))
            TRY(fd_cuda_reals(s, t->table + (gpu_ptr)(table_words(fd_tables(s), a) * s->real_bytes),
                              axis->match, 6 * fd_matched(axis)));
    }
    return UNDA_OK;
}

/* Planes that a block marches over: few enough that blocks near each other read the same rows at about the
 * same time, from L2 (measured: benchmarks/NOTES.md), and that there are some eight blocks an SM; at least 4
 * M, since each loads 2 M planes that others load as well. */
static int choose_chunk(const unda_solver *s, const struct scalar_cuda *t)
{
    int64_t num = fd_tables(s)->axis[0].total, least = 4 * fd_tables(s)->half, most = num < 64 ? num : 64;
    int64_t rows = t->streamed.slab ? t->streamed.slab : fd_tables(s)->axis[1].total;
    int64_t tiles = ((t->base.pitch * s->real_bytes + 511) / 512) * ((rows + t->tile_y - 1) / t->tile_y);
    int64_t chunk = num * tiles / (8 * gpu_info(t->base.gpu)->num_sm) + 1;
    chunk = chunk < least ? least : chunk;
    int64_t given = kernel_part(&s->options, "planes");
    chunk = given ? given : chunk < most ? chunk : most;
    return (int)(chunk < num ? chunk : num);
}

static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    TRY(plan(s, t));
    t->base.source_version = t->base.group_version = -1;
    int rows = kernel_part(&s->options, "rows");
    t->tile_y = rows ? rows : TILE_Y;
    fork_mark();
    TRY(gpu_open(&t->base.gpu, s->options.device));
    TRY(gpu_stream_new(&t->base.stream, t->base.gpu));
    TRY(allocate(s, t));
    if (t->streamed.slab)
        TRY(streamed_create(s));
    TRY(compile(s, t));
    if (t->many)
        TRY(diamond_create(s, &t->diamond));
    t->chunk = choose_chunk(s, t);
    s->num_launch = 1 + fd_is_matched(fd_tables(s));
    TRY(upload_matched(s, t));
    return set_damping(s, t, true);
}

static void destroy(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    if (t->base.gpu) {
        if (t->many)
            diamond_free(s, &t->diamond);
        streamed_free(s);
        for (int a = 0; a < 3; a++)
            gpu_free(t->base.gpu, t->damp_memory[a]);
        gpu_free(t->base.gpu, t->memory);
        gpu_free(t->base.gpu, t->table);
        gpu_module_free(t->step_module);
        fd_cuda_close(s);
    }
    array_free(t);
    s->data = NULL;
}

static const struct kernel step_kernel = {"step",
                                          3,
                                          {{"rows", 1, 16, UNDA_TUNED_NOT},
                                           {"planes", 1, INT32_MAX, UNDA_TUNED_NOT},
                                           {"levels", 1, MOST_GIVEN, UNDA_TUNED_NOT}}};
static const struct kernel *const scalar_kernels[] = {&step_kernel, &diamond_kernel, NULL};

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct diamond_tile *tile = &t->diamond.tile;
    info->window = (int32_t)t->streamed.slab;
    info->spill_bytes = t->many                                            ? t->diamond.kernel.spill_bytes
                        : t->step.spill_bytes > t->step_layers.spill_bytes ? t->step.spill_bytes
                                                                           : t->step_layers.spill_bytes;
    kernel_describe(info, t->many ? "diamond" : "step");
    kernel_describe_part(info, "rows", t->tile_y);
    kernel_describe_part(info, "planes", t->chunk);
    if (t->many)
        diamond_describe(s, &t->diamond, t->streamed.slab ? t->streamed.levels : tile->levels, info);
    else
        kernel_describe_part(info, "levels", t->streamed.slab ? t->streamed.levels : 0);
}

/* ---- state ---- */

static unda_status clear_memory(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int64_t bytes = memory_words(s, t, 3) * s->real_bytes;
    return bytes ? gpu_zero_async(t->base.stream, t->memory, bytes) : UNDA_OK;
}

static unda_status clear(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    TRY(clear_memory(s));
    if (t->streamed.slab) {
        streamed_clear(s, FD_P);
        streamed_clear(s, FD_PREVIOUS);
        return gpu_sync(t->base.stream);
    }
    TRY(gpu_zero_async(t->base.stream, t->base.array[0], level_bytes(s, t)));
    TRY(gpu_zero_async(t->base.stream, t->base.array[1], level_bytes(s, t)));
    return gpu_sync(t->base.stream);
}

static unda_status box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    return (scalar_cuda(s)->streamed.slab ? streamed_box : fd_cuda_box)(s, array, box, out, in);
}

static unda_status gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    return (scalar_cuda(s)->streamed.slab ? streamed_gather : fd_cuda_gather)(s, array, count, node, values);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    return (scalar_cuda(s)->streamed.slab ? streamed_find_bad : fd_cuda_find_bad)(s, index);
}

/* Planes of constant x of one memory, without what rows have beyond their nodes. */
static unda_status slab(unda_solver *s, int number, int64_t first, int64_t count, void *out, const void *in)
{
    struct scalar_cuda *t = scalar_cuda(s);
    const struct fd_slab *slab = &fd_tables(s)->slab[number];
    int64_t real = s->real_bytes, row = slab->num[2] * real, pitch = memory_row(s, t, slab->axis) * real;
    int64_t begin = memory_words(s, t, slab->axis) + slab->term * memory_part(s, t, slab->axis) +
                    first * memory_plane(s, t, slab->axis);
    gpu_ptr at = t->memory + (gpu_ptr)(begin * real);
    int64_t rows = count * slab->num[1];
    TRY(out ? gpu_download_parts_async(t->base.stream, out, row, at, pitch, row, rows)
            : gpu_upload_parts_async(t->base.stream, at, pitch, in, row, row, rows));
    return gpu_sync(t->base.stream);
}

/* ---- steps ---- */

/* The plane whose values stand at x; where with the other sign, -1 - plane. */
static int plane_beyond(const struct fd_axis *axis, int64_t x)
{
    int sign;
    int place = (int)fd_image(axis, x, &sign);
    return sign < 0 ? -1 - place : place;
}

/* For rows [first, end) of y. */
static struct scalar_args step_args(const unda_solver *s, int64_t first, int64_t end)
{
    const struct fd *fd = fd_tables(s);
    const struct scalar_cuda *t = scalar_cuda(s);
    struct scalar_args a = {.p = POINTER(fd_cuda_origin(s, t->base.array[0])),
                            .q = POINTER(fd_cuda_origin(s, t->base.array[1])),
                            .speed = POINTER(fd_cuda_origin(s, t->base.material[0])),
                            .plane = t->base.plane,
                            .pitch = (int)t->base.pitch,
                            .chunk = t->chunk,
                            .wall = {(int)-first, (int)(fd->axis[1].total - 1 - first)},
                            .center32 = (float)fd->center,
                            .center64 = fd->center,
                            .speed32 = (float)fd->speed,
                            .speed64 = fd->speed};
    for (int i = 0; i < 3; i++) {
        a.damp[i] = POINTER(t->damp[i]);
        a.num[i] = (int)fd->axis[i].total;
        for (int side = 0; side < 2; side++)
            a.side[i][side] = fd->axis[i].side[side];
        for (int m = 1; m <= fd->half; m++) {
            a.weight32[i * (FD_MAX_HALF + 1) + m] = (float)fd->weight[i][m];
            a.weight64[i * (FD_MAX_HALF + 1) + m] = fd->weight[i][m];
        }
    }
    for (int k = 0; k < fd->half; k++) {
        a.beyond[0][k] = plane_beyond(&fd->axis[0], -1 - k);
        a.beyond[1][k] = plane_beyond(&fd->axis[0], fd->axis[0].total + k);
    }
    scalar_cuda_matched(s, a.matched);
    a.damp[1] = POINTER(t->damp[1] + (gpu_ptr)(first * s->real_bytes));
    a.num[1] = (int)(end - first);
    return a;
}

/* Rows [first, end) of y: the blocks without layers, or those with some. */
static unda_status launch_blocks(unda_solver *s, int layers, int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct scalar_args a = step_args(s, first, end);
    int tile_z = 512 / s->real_bytes;
    struct gpu_shape shape = {{(a.num[2] + tile_z - 1) / tile_z, (a.num[1] + t->tile_y - 1) / t->tile_y,
                               (a.num[0] + t->chunk - 1) / t->chunk},
                              {32, t->tile_y, 1},
                              0};
    return gpu_launch(layers ? &t->step_layers : &t->step, t->base.stream, &shape, &a, sizeof a);
}

/* Those with layers take longer: first. */
static unda_status launch_step(unda_solver *s, int64_t first, int64_t end)
{
    if (fd_is_matched(fd_tables(s)))
        TRY(launch_blocks(s, 1, first, end));
    return launch_blocks(s, 0, first, end);
}

static void swap(struct fd_cuda *t)
{
    gpu_ptr kept = t->array[0];
    t->array[0] = t->array[1];
    t->array[1] = kept;
}

/* One step of these rows, if there are any, of a call that began at step `begin`. */
static unda_status take_step(unda_solver *s, int64_t begin, int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    t->base.first_row = (int32_t)first;
    t->base.end_row = (int32_t)end;
    if (first < end)
        TRY(launch_step(s, first, end));
    swap(&t->base);
    if (first < end)
        TRY(fd_cuda_inject(s, 0, t->base.array[0], s->step - begin));
    s->step++;
    return first < end ? fd_cuda_take(s, begin) : UNDA_OK;
}

/* One step of the whole grid after the other. */
static unda_status run_steps(unda_solver *s, int64_t begin, int64_t num_step)
{
    for (int64_t i = 0; i < num_step; i++)
        TRY(take_step(s, begin, 0, fd_tables(s)->axis[1].total));
    return UNDA_OK;
}

/* Many steps at once, and what is left one by one if a launch is not worth it. */
static unda_status run_diamonds(unda_solver *s, int64_t begin, int64_t num_step)
{
    struct scalar_cuda *t = scalar_cuda(s);
    for (int64_t done = 0; done < num_step;) {
        int64_t left = num_step - done;
        int64_t levels = left < t->diamond.tile.levels ? left : t->diamond.tile.levels;
        if (left < t->diamond.tile.fewest)
            return run_steps(s, begin, left);
        TRY(diamond_run(s, &t->diamond, done, begin, levels, 0, diamond_stages(s, &t->diamond.tile, levels)));
        if (levels % 2)
            swap(&t->base);
        done += levels;
        s->step += levels;
    }
    return UNDA_OK;
}

static unda_status step_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    unda_status status = UNDA_OK;
    int64_t start = s->step;
    for (int64_t n = 0; n < pass->levels && status == UNDA_OK; n++) {
        int64_t first, end;
        streamed_rows(s, window, n, &first, &end);
        status = take_step(s, pass->begin, first, end);
    }
    s->step = start;
    return status;
}

static unda_status diamond_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    struct diamond *d = &scalar_cuda(s)->diamond;
    int64_t stages = scalar_cuda(s)->streamed.slab / diamond_reach(&d->tile), first = window * stages;
    int64_t all = diamond_stages(s, &d->tile, pass->levels);
    return diamond_run(s, d, pass->time, pass->begin, pass->levels, first,
                       first + stages < all ? first + stages : all);
}

static unda_status run_streamed(unda_solver *s, int64_t begin, int64_t num_step)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    for (int64_t done = 0; done < num_step;) {
        int64_t left = num_step - done, levels = left < t->streamed.levels ? left : t->streamed.levels;
        bool many = t->many && left >= t->diamond.tile.fewest;
        struct streamed_pass pass = {levels, done, begin, many ? diamond_window : step_window};
        TRY(streamed_run(s, &pass));
        if (levels % 2)
            streamed_swap(s);
        done += levels;
        s->step += levels;
    }
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    int64_t begin = s->step;
    TRY((t->streamed.slab ? run_streamed : t->many ? run_diamonds : run_steps)(s, begin, num_step));
    TRY(gpu_sync(fd_cuda(s)->stream));
    return fd_cuda_fetch(s, begin);
}

static unda_status rest_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    (void)pass;
    int64_t first, end;
    streamed_rows(s, window, 0, &first, &end);
    return first < end ? launch_step(s, first, end) : UNDA_OK;
}

/* Half a step from p and 0, see scalar_cpu.c. */
static unda_status half_step(unda_solver *s, struct scalar_cuda *t)
{
    if (t->streamed.slab) {
        streamed_clear(s, FD_PREVIOUS);
        TRY(streamed_run(s, &(struct streamed_pass){.levels = 1, .work = rest_window}));
        streamed_halve(s, FD_PREVIOUS);
        return UNDA_OK;
    }
    TRY(gpu_zero_async(t->base.stream, t->base.array[1], level_bytes(s, t)));
    TRY(launch_step(s, 0, fd_tables(s)->axis[1].total));
    return fd_cuda_whole(s, &t->base.halve, t->base.array[1]);
}

static unda_status rest(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    bool damped = fd_is_damped(fd_tables(s));
    if (damped)
        TRY(set_damping(s, t, false));
    unda_status status = half_step(s, t);
    if (damped)
        TRY(set_damping(s, t, true));
    TRY(status);
    TRY(clear_memory(s));
    return gpu_sync(t->base.stream);
}

static unda_status reserve(unda_solver *s)
{
    TRY(fd_cuda_reserve(s));
    return scalar_cuda(s)->many ? diamond_reserve(s, &scalar_cuda(s)->diamond) : UNDA_OK;
}

/* ---- profile ---- */

/* Steps without a swap: the later level goes over the earlier one, again and again. */
static unda_status queue_step(unda_solver *s, int which)
{
    return launch_blocks(s, which, 0, fd_tables(s)->axis[1].total);
}

static unda_status queue_inject(unda_solver *s, int which)
{
    (void)which;
    return fd_cuda_inject(s, 0, fd_cuda(s)->array[1], 0);
}

static unda_status queue_diamond(unda_solver *s, int which)
{
    struct diamond *d = &scalar_cuda(s)->diamond;
    (void)which;
    return diamond_run(s, d, 0, s->step, d->tile.levels, 0, diamond_stages(s, &d->tile, d->tile.levels));
}

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct fd_cuda_profile what = {0};
    if (t->streamed.slab)
        FAIL(UNDA_ERR_ARG,
             "the grid passes through a window of %lld rows at a time, whose kernels are not timed; expected "
             "all of it on the device",
             (long long)t->streamed.slab);
    fd_cuda_add_memory(&what, t->base.array[1], level_bytes(s, t));
    if (t->memory)
        fd_cuda_add_memory(&what, t->memory, memory_words(s, t, 3) * s->real_bytes);
    if (!t->many) {
        fd_cuda_add_part(&what, (struct fd_cuda_part){"scalar_step", queue_step, 0, 1, 1});
        fd_cuda_add_part(&what, (struct fd_cuda_part){"scalar_step_layers", queue_step, 1,
                                                      fd_is_matched(fd_tables(s)), 1});
        fd_cuda_add_points(s, &what, queue_inject);
    } else { /* sources and receivers are the kernel's */
        TRY(solver_reserve(s, t->diamond.tile.levels));
        fd_cuda_add_memory(&what, t->base.array[0], level_bytes(s, t));
        fd_cuda_add_part(
            &what, (struct fd_cuda_part){"fd_diamond", queue_diamond, 0, 1, 1.0 / t->diamond.tile.levels});
    }
    return fd_cuda_profile(s, &what, num_run, out);
}

const struct fd_engine fd_scalar_cuda = {.base = {.name = "cuda",
                                                  .kernels = scalar_kernels,
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
                                         .slab = slab};
