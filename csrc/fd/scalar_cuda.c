/* scalar_cuda.c: the CUDA engine of the scalar scheme, host side: arrays, kernels, steps.
 * Not here: sources and receivers (scalar_cuda_points.c). Next: cuda/fd/step.cu. */
#include "diamond.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- set-up ---- */

struct array {
    gpu_ptr *ptr;
    int64_t bytes;
    const char *what;
};
enum { NUM_ARRAY = 7 };

/* Which kernel, and where nodes stand: rows begin at 128 bytes; kernel diamond works in a margin beside the
 * grid. */
static unda_status lay_out(const unda_solver *s, struct scalar_cuda *t)
{
    const struct fd *fd = s->fd;
    int64_t unit = 128 / s->real_bytes, words = fd->axis[2].total;
    const char *why = diamond_choose(s, &t->diamond.tile);
    t->many = s->options.kernel == UNDA_KERNEL_DIAMOND;
    if (t->many && why)
        FAIL(UNDA_ERR_ARG, "kernel diamond cannot run this: %s; expected kernel step", why);
    if (t->many) {
        diamond_padding(s, &t->diamond.tile, &t->pad_x, &t->pad_y);
        words += fd->half + 1;
    }
    t->pitch = (words + unit - 1) / unit * unit;
    t->plane = t->pitch * (fd->axis[1].total + 2 * t->pad_y);
    return UNDA_OK;
}

/* Factors of layers beside the grid, in whole vectors: tiles read so far, and multiply what nobody sees. */
static int64_t damp_margin(const struct scalar_cuda *t)
{
    return t->many ? (2 * (t->pad_x > t->pad_y ? t->pad_x : t->pad_y) + 31) / 32 * 32 : 0;
}

static void list_arrays(const unda_solver *s, struct scalar_cuda *t, struct array list[NUM_ARRAY])
{
    const struct fd *fd = s->fd;
    int64_t real = s->real_bytes, level = t->plane * (fd->axis[0].total + 2 * t->pad_x) * real;
    int64_t margin = 2 * damp_margin(t);
    const struct array all[NUM_ARRAY] = {{&t->memory[0], level, "state"},
                                         {&t->memory[1], level, "state"},
                                         {&t->memory[2], fd->uniform ? 0 : level, "speeds"},
                                         {&t->damp_memory[0], (fd->axis[0].total + margin) * real, "layers"},
                                         {&t->damp_memory[1], (fd->axis[1].total + margin) * real, "layers"},
                                         {&t->damp_memory[2], (t->pitch + margin) * real, "layers"},
                                         {&t->bad, 8, "finite check"}};
    memcpy(list, all, sizeof all);
}

/* Addresses of node (0, 0, 0). */
static void place_arrays(const unda_solver *s, struct scalar_cuda *t)
{
    gpu_ptr origin = (gpu_ptr)((t->pad_x * t->plane + t->pad_y * t->pitch) * s->real_bytes);
    t->p[0] = t->memory[0] + origin;
    t->p[1] = t->memory[1] + origin;
    t->speed = s->fd->uniform ? 0 : t->memory[2] + origin;
    for (int a = 0; a < 3; a++)
        t->damp[a] = t->damp_memory[a] + (gpu_ptr)(damp_margin(t) * s->real_bytes);
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cuda t = {0};
    struct array list[NUM_ARRAY];
    TRY(lay_out(s, &t));
    list_arrays(s, &t, list);
    s->device_bytes = 0;
    for (int i = 0; i < NUM_ARRAY; i++)
        s->device_bytes += list[i].bytes;
    s->host_bytes = t.plane * s->real_bytes;
    return UNDA_OK;
}

static unda_status allocate(unda_solver *s, struct scalar_cuda *t)
{
    struct array list[NUM_ARRAY];
    int64_t free_bytes;
    list_arrays(s, t, list);
    TRY(gpu_memory_free(t->gpu, &free_bytes));
    if (s->device_bytes > free_bytes)
        FAIL(UNDA_ERR_DEVICE_MEMORY,
             "the simulation needs %lld bytes, %lld of %lld are free on device %d (%s)",
             (long long)s->device_bytes, (long long)free_bytes, (long long)gpu_info(t->gpu)->total_bytes,
             s->options.device, gpu_info(t->gpu)->name);
    TRY(array_try(&t->staging, t->plane, s->real_bytes, "planes"));
    for (int i = 0; i < NUM_ARRAY; i++)
        if (list[i].bytes) {
            TRY(gpu_alloc(t->gpu, list[i].ptr, list[i].bytes, list[i].what));
            TRY(gpu_zero_async(t->stream, *list[i].ptr, list[i].bytes));
        }
    return gpu_sync(t->stream);
}

enum { NUM_OPTION = 5, OPTION_BYTES = 32 };

/* The defines of the step. */
static void defines(const unda_solver *s, bool split, int tile_y, char text[NUM_OPTION][OPTION_BYTES],
                    const char *options[NUM_OPTION])
{
    snprintf(text[0], OPTION_BYTES, "-DREAL=%s", s->real_bytes == 4 ? "float" : "double");
    snprintf(text[1], OPTION_BYTES, "-DHALF=%d", s->fd->half);
    snprintf(text[2], OPTION_BYTES, "-DSPLIT=%d", !split ? 0 : s->fd->uniform ? 1 : 2);
    snprintf(text[3], OPTION_BYTES, "-DDAMP=%d", fd_has_layers(s->fd));
    snprintf(text[4], OPTION_BYTES, "-DTILE_Y=%d", tile_y);
    for (int i = 0; i < NUM_OPTION; i++)
        options[i] = text[i];
}

static unda_status compile(unda_solver *s, struct scalar_cuda *t)
{
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    double begin = clock_seconds();
    defines(s, s->fd->split, t->tile_y, text, options);
    struct gpu_source step = {"fd/step.cu", options, NUM_OPTION}, points = {"fd/points.cu", options, 1};
    TRY(gpu_module_new(&t->step_module, t->gpu, &step));
    TRY(gpu_kernel_get(&t->step, t->step_module, "scalar_step", 0));
    TRY(gpu_module_new(&t->point_module, t->gpu, &points));
    TRY(gpu_kernel_get(&t->inject, t->point_module, "scalar_inject", 0));
    TRY(gpu_kernel_get(&t->gather, t->point_module, "scalar_gather", 0));
    TRY(gpu_kernel_get(&t->weigh, t->point_module, "scalar_weigh", 0));
    TRY(gpu_kernel_get(&t->find_bad, t->point_module, "scalar_find_bad", 0));
    TRY(gpu_kernel_get(&t->halve, t->point_module, "scalar_halve", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    if (s->options.kernel == UNDA_KERNEL_DIAMOND)
        return diamond_compile_only(s, compute_capability, resources);
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    defines(s, !s->fd->uniform, TILE_Y, text, options);
    struct gpu_source step = {"fd/step.cu", options, NUM_OPTION};
    TRY(gpu_compile_only(&step, "scalar_step", compute_capability, resources));
    resources->threads = 32 * TILE_Y;
    return UNDA_OK;
}

static unda_status upload_damp(unda_solver *s, struct scalar_cuda *t)
{
    int64_t margin = damp_margin(t);
    for (int a = 0; a < 3; a++) {
        int64_t num = s->fd->axis[a].total;
        void *real;
        TRY(array_try(&real, num + 2 * margin, s->real_bytes, "layers"));
        for (int64_t i = 0; i < num + 2 * margin; i++) {
            bool inside = i >= margin && i < margin + num;
            double damp = inside ? s->fd->axis[a].damp[i - margin] : 1;
            if (s->real_bytes == 4)
                ((float *)real)[i] = (float)damp;
            else
                ((double *)real)[i] = damp;
        }
        unda_status status =
            gpu_upload(t->stream, t->damp_memory[a], real, (num + 2 * margin) * s->real_bytes);
        array_free(real);
        TRY(status);
    }
    return UNDA_OK;
}

/* Planes that a block marches over: few enough that blocks near each other read the same rows at about the
 * same time, from L2 (measured: benchmarks/NOTES.md), and that there are some eight blocks an SM; at least 4
 * M, since each loads 2 M planes that others load as well. */
static int choose_chunk(const unda_solver *s, const struct scalar_cuda *t)
{
    int64_t num = s->fd->axis[0].total, least = 4 * s->fd->half, most = num < 64 ? num : 64;
    int64_t tiles =
        ((t->pitch * s->real_bytes + 511) / 512) * ((s->fd->axis[1].total + t->tile_y - 1) / t->tile_y);
    int64_t chunk = num * tiles / (8 * gpu_info(t->gpu)->num_sm) + 1;
    chunk = chunk < least ? least : chunk;
    chunk = s->options.plan[1] ? s->options.plan[1] : chunk < most ? chunk : most;
    return (int)(chunk < num ? chunk : num);
}

static unda_status create(unda_solver *s)
{
    struct scalar_cuda *t;
    TRY(forecast(s));
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    t->source_version = t->group_version = -1;
    t->tile_y = s->options.plan[0] ? s->options.plan[0] : TILE_Y;
    fork_mark();
    TRY(gpu_open(&t->gpu, s->options.device));
    TRY(gpu_stream_new(&t->stream, t->gpu));
    TRY(lay_out(s, t));
    TRY(allocate(s, t));
    place_arrays(s, t);
    TRY(compile(s, t));
    if (t->many)
        TRY(diamond_create(s, &t->diamond));
    t->chunk = choose_chunk(s, t);
    s->num_launch = 1;
    return upload_damp(s, t);
}

static void destroy(unda_solver *s)
{
    struct scalar_cuda *t = tables(s);
    if (t->gpu) {
        struct array list[NUM_ARRAY];
        scalar_points_free(s);
        if (t->many)
            diamond_free(s, &t->diamond);
        list_arrays(s, t, list);
        for (int i = 0; i < NUM_ARRAY; i++)
            gpu_free(t->gpu, *list[i].ptr);
        gpu_module_free(t->step_module);
        gpu_module_free(t->point_module);
        gpu_stream_free(t->stream);
        gpu_close(t->gpu);
    }
    array_free(t->staging);
    array_free(t);
    s->data = NULL;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct diamond_tile *tile = &tables(s)->diamond.tile;
    info->kernel = tables(s)->many ? UNDA_KERNEL_DIAMOND : UNDA_KERNEL_STEP;
    info->plan[0] = tables(s)->tile_y;
    info->plan[1] = tables(s)->chunk;
    info->plan[2] = tables(s)->many ? tile->dts : 0;
    info->plan[3] = tables(s)->many ? tile->step : 0;
    info->plan[4] = tables(s)->many ? tile->levels : 0;
}

/* ---- state ---- */

static unda_status planes(unda_solver *s, int array, int64_t first, int64_t count, void *out, const void *in)
{
    struct scalar_cuda *t = tables(s);
    int64_t real = s->real_bytes, num_y = s->fd->axis[1].total, row = s->fd->axis[2].total * real;
    gpu_ptr base = array == FD_SPEED ? t->speed : t->p[array == FD_PREVIOUS];
    char *staging = t->staging;
    for (int64_t i = 0; i < count; i++) {
        gpu_ptr plane = base + (gpu_ptr)((first + i) * t->plane * real);
        if (out)
            TRY(gpu_download(t->stream, staging, plane, num_y * t->pitch * real));
        for (int64_t y = 0; y < num_y; y++)
            if (out)
                memcpy((char *)out + (i * num_y + y) * row, staging + y * t->pitch * real, (size_t)row);
            else
                memcpy(staging + y * t->pitch * real, (const char *)in + (i * num_y + y) * row, (size_t)row);
        if (in)
            TRY(gpu_upload(t->stream, plane, staging, num_y * t->pitch * real));
    }
    return UNDA_OK;
}

static unda_status clear(unda_solver *s)
{
    struct scalar_cuda *t = tables(s);
    int64_t bytes = t->plane * (s->fd->axis[0].total + 2 * t->pad_x) * s->real_bytes;
    TRY(gpu_zero_async(t->stream, t->memory[0], bytes));
    TRY(gpu_zero_async(t->stream, t->memory[1], bytes));
    return gpu_sync(t->stream);
}

static struct scalar_whole_args whole(const unda_solver *s, gpu_ptr p)
{
    const struct scalar_cuda *t = tables(s);
    struct scalar_whole_args a = {
        .p = POINTER(p), .first = POINTER(t->bad), .plane = t->plane, .pitch = (int)t->pitch};
    for (int i = 0; i < 3; i++)
        a.num[i] = (int)s->fd->axis[i].total;
    return a;
}

static unda_status launch_whole(unda_solver *s, const struct gpu_kernel *kernel, gpu_ptr p)
{
    struct scalar_whole_args a = whole(s, p);
    struct gpu_shape shape = {{16 * gpu_info(tables(s)->gpu)->num_sm, 1, 1}, {BLOCK, 1, 1}, 0};
    return gpu_launch(kernel, tables(s)->stream, &shape, &a, sizeof a);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    struct scalar_cuda *t = tables(s);
    uint64_t none = UINT64_MAX, found;
    TRY(gpu_upload(t->stream, t->bad, &none, sizeof none));
    TRY(launch_whole(s, &t->find_bad, t->p[0]));
    TRY(gpu_download(t->stream, &found, t->bad, sizeof found));
    *index = found == none ? -1 : (int64_t)found;
    return UNDA_OK;
}

/* ---- steps ---- */

static unda_status launch_step(unda_solver *s)
{
    const struct fd *fd = s->fd;
    struct scalar_cuda *t = tables(s);
    struct scalar_args a = {.p = POINTER(t->p[0]),
                            .q = POINTER(t->p[1]),
                            .speed = POINTER(t->speed),
                            .plane = t->plane,
                            .pitch = (int)t->pitch,
                            .chunk = t->chunk,
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
    int tile_z = 512 / s->real_bytes;
    struct gpu_shape shape = {{(a.num[2] + tile_z - 1) / tile_z, (a.num[1] + t->tile_y - 1) / t->tile_y,
                               (a.num[0] + t->chunk - 1) / t->chunk},
                              {32, t->tile_y, 1},
                              0};
    return gpu_launch(&t->step, t->stream, &shape, &a, sizeof a);
}

static void swap(struct scalar_cuda *t)
{
    gpu_ptr kept = t->p[0];
    t->p[0] = t->p[1];
    t->p[1] = kept;
}

/* One step of the whole grid after the other. */
static unda_status run_steps(unda_solver *s, int64_t num_step)
{
    struct scalar_cuda *t = tables(s);
    int64_t begin = s->step;
    for (int64_t i = 0; i < num_step; i++) {
        TRY(launch_step(s));
        swap(t);
        TRY(scalar_inject(s, t->p[0], i));
        s->step++;
        TRY(scalar_take(s, t->p[0], begin));
    }
    return UNDA_OK;
}

static unda_status run_diamonds(unda_solver *s, int64_t num_step)
{
    struct scalar_cuda *t = tables(s);
    int64_t begin = s->step;
    for (int64_t done = 0; done < num_step;) {
        int64_t levels = num_step - done < t->diamond.tile.levels ? num_step - done : t->diamond.tile.levels;
        TRY(diamond_run(s, &t->diamond, done, begin, levels));
        if (levels % 2)
            swap(t);
        done += levels;
        s->step += levels;
    }
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    int64_t begin = s->step;
    TRY(tables(s)->many ? run_diamonds(s, num_step) : run_steps(s, num_step));
    TRY(gpu_sync(tables(s)->stream));
    return scalar_fetch(s, begin);
}

/* See scalar_cpu.c. */
static unda_status rest(unda_solver *s)
{
    struct scalar_cuda *t = tables(s);
    TRY(gpu_zero_async(t->stream,
                       t->p[1] - (gpu_ptr)((t->pad_x * t->plane + t->pad_y * t->pitch) * s->real_bytes),
                       t->plane * (s->fd->axis[0].total + 2 * t->pad_x) * s->real_bytes));
    TRY(launch_step(s));
    TRY(launch_whole(s, &t->halve, t->p[1]));
    return gpu_sync(t->stream);
}

static unda_status reserve(unda_solver *s)
{
    TRY(scalar_reserve(s));
    return tables(s)->many ? diamond_reserve(s, &tables(s)->diamond) : UNDA_OK;
}

const struct fd_engine fd_scalar_cuda = {.base = {.name = "cuda",
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .record = fd_record,
                                                  .drive = scalar_drive,
                                                  .run = run,
                                                  .find_bad = find_bad,
                                                  .reserve = reserve,
                                                  .forecast = forecast,
                                                  .describe = describe,
                                                  .compile = compile_only},
                                         .planes = planes,
                                         .gather = scalar_gather,
                                         .clear = clear,
                                         .rest = rest};
