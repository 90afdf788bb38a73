/* staggered_cuda.c: the CUDA engine of the staggered schemes, host side: arrays, memory of the layers, two
 * passes. Not here: planes (fd_cuda.c), sources and receivers (fd_cuda_points.c). Next: cuda/fd/staggered.cu.
 */
#include "fd_cuda.h"
#include "staggered.h"

#include "fd/staggered_args.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Rows of a block and threads along them, places of a thread along z, blocks an SM. */
struct staggered_tile {
    int rows, lanes, width, blocks;
};

static_assert(sizeof(struct staggered_args) == STAGGERED_ARGS_BYTES, "host and device disagree");
static_assert(sizeof(struct staggered_ghost_args) == STAGGERED_GHOST_BYTES, "host and device disagree");

enum { SAME = 8 }; /* two vectors */

struct staggered_cuda {
    struct fd_cuda base;
    struct gpu_module *module;
    struct gpu_kernel pass[2], layers[2], ghosts, turn;
    gpu_ptr slab[2 * FD_MAX_TERM], table[3][2][3];
    int64_t count, material_version; /* values of an array; whose ghosts are there */
    struct staggered_tile tile;
    int chunk;
};

static struct staggered_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* ---- set-up ---- */

/* Ghosts on every side. Rows begin at 128 bytes where the user's grid does, so that layers have tiles of
 * their own. */
static void lay_out(const unda_solver *s, struct staggered_cuda *t)
{
    const struct fd *fd = s->fd;
    int64_t unit = 128 / s->real_bytes, layer = fd->axis[2].first;
    int64_t before = (fd->half + layer + unit - 1) / unit * unit - layer;
    t->base.pitch = (before + fd->axis[2].total + fd->half + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * fd->half);
    t->base.origin = fd->half * t->base.plane + fd->half * t->base.pitch + before;
    t->count = t->base.plane * (fd->axis[0].total + 2 * fd->half);
}

static unda_status forecast(unda_solver *s)
{
    const struct fd *fd = s->fd;
    struct staggered_cuda t = {0};
    lay_out(s, &t);
    int64_t count = (fd->num_field + fd->num_material) * t.count;
    for (int i = 0; i < fd->num_slab; i++)
        count += fd_slab_count(&fd->slab[i]);
    count += 6 * (fd->axis[0].total + fd->axis[1].total + fd->axis[2].total);
    s->device_bytes = count * s->real_bytes + 8;
    s->host_bytes = t.base.plane * s->real_bytes + fd_cuda_passage_bytes(s); /* a plane on its way */
    return UNDA_OK;
}

static unda_status zeros(unda_solver *s, gpu_ptr *ptr, int64_t count, const char *what)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(gpu_alloc(t->gpu, ptr, count * s->real_bytes, what));
    return gpu_zero_async(t->stream, *ptr, count * s->real_bytes);
}

static unda_status allocate(unda_solver *s, struct staggered_cuda *t)
{
    const struct fd *fd = s->fd;
    TRY(fd_cuda_check_memory(s, ""));
    TRY(gpu_alloc(t->base.gpu, &t->base.bad, 8, "finite check"));
    for (int f = 0; f < fd->num_field; f++)
        TRY(zeros(s, &t->base.array[f], t->count, "state"));
    for (int i = 0; i < fd->num_material; i++)
        TRY(zeros(s, &t->base.material[i], t->count, "materials"));
    for (int i = 0; i < fd->num_slab; i++)
        TRY(zeros(s, &t->slab[i], fd_slab_count(&fd->slab[i]), "layers"));
    for (int a = 0; a < 3; a++)
        for (int half = 0; half < 2; half++) {
            const struct fd_cpml *cpml = &fd->axis[a].cpml[half];
            const double *from[] = {cpml->b, cpml->a, cpml->k};
            for (int i = 0; i < 3; i++) {
                TRY(zeros(s, &t->table[a][half][i], fd->axis[a].total, "layers"));
                TRY(fd_cuda_reals(s, t->table[a][half][i], from[i], fd->axis[a].total));
            }
        }
    return gpu_sync(t->base.stream);
}

/* 8 bytes a thread: so few places that their planes stay in L1 until they are differenced along y and z.
 * Blocks of 256 threads, as many an SM as the registers allow that hold 2 M planes (benchmarks/NOTES.md). */
static struct staggered_tile choose_tile(const unda_solver *s)
{
    const int32_t *plan = s->options.plan;
    int half = s->fd->half, num = s->fd->num_field, real = (int)s->real_bytes;
    int threads = num > 6 && half > 3 ? 384 : 256;
    int blocks = num <= 4 && half <= 4 ? 3 : num <= 6 || half <= 3 ? 2 : 1;
    int width = plan[2] ? plan[2] : half > 5 && num > 4 ? 1 : 8 / real;
    int64_t num_y = s->fd->axis[1].total;
    int lanes = plan[4] ? plan[4] : 32;
    int64_t rows = plan[0] ? plan[0] : threads / lanes < num_y ? threads / lanes : num_y;
    return (struct staggered_tile){(int)rows, lanes, width, plan[3] ? plan[3] : blocks};
}

enum { NUM_OPTION = 9, OPTION_BYTES = 64 };

static void defines(const unda_solver *s, const struct staggered_tile *tile, int64_t pitch,
                    char text[NUM_OPTION][OPTION_BYTES], const char *options[NUM_OPTION])
{
    snprintf(text[0], OPTION_BYTES, "-DREAL=%s", s->real_bytes == 4 ? "float" : "double");
    snprintf(text[1], OPTION_BYTES, "-DHALF=%d", s->fd->half);
    snprintf(text[2], OPTION_BYTES, "-DSTAGGERED=\"%s\"", s->fd->physics->header);
    snprintf(text[3], OPTION_BYTES, "-DLAYERS=%d", s->fd->num_slab > 0);
    snprintf(text[4], OPTION_BYTES, "-DTILE_Y=%d", tile->rows);
    snprintf(text[5], OPTION_BYTES, "-DWIDTH=%d", tile->width);
    snprintf(text[6], OPTION_BYTES, "-DMIN_BLOCKS=%d", tile->blocks);
    snprintf(text[7], OPTION_BYTES, "-DPITCH=%lld", (long long)pitch);
    snprintf(text[8], OPTION_BYTES, "-DLANES=%d", tile->lanes);
    for (int i = 0; i < NUM_OPTION; i++)
        options[i] = text[i];
}

static unda_status compile(unda_solver *s, struct staggered_cuda *t)
{
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    double begin = clock_seconds();
    defines(s, &t->tile, t->base.pitch, text, options);
    struct gpu_source source = {"fd/staggered.cu", options, NUM_OPTION};
    TRY(gpu_module_new(&t->module, t->base.gpu, &source));
    TRY(gpu_kernel_get(&t->pass[0], t->module, "staggered_pass0", 0));
    TRY(gpu_kernel_get(&t->pass[1], t->module, "staggered_pass1", 0));
    if (s->fd->num_slab) {
        TRY(gpu_kernel_get(&t->layers[0], t->module, "staggered_layers0", 0));
        TRY(gpu_kernel_get(&t->layers[1], t->module, "staggered_layers1", 0));
    }
    TRY(gpu_kernel_get(&t->ghosts, t->module, "staggered_ghosts", 0));
    TRY(gpu_kernel_get(&t->turn, t->module, "staggered_turn", 0));
    TRY(fd_cuda_compile(s, options));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    struct staggered_cuda t = {0};
    struct staggered_tile tile = choose_tile(s);
    lay_out(s, &t);
    defines(s, &tile, t.base.pitch, text, options);
    struct gpu_source source = {"fd/staggered.cu", options, NUM_OPTION};
    TRY(gpu_compile_only(&source, "staggered_", compute_capability, resources));
    resources->threads = tile.lanes * tile.rows;
    return UNDA_OK;
}

/* Planes that a block marches over: few enough that blocks side by side read the same rows at about the same
 * time, and that the last blocks to run are few, fewer in layers, which take longer; at least 8 M, as each
 * loads 2 M - 1 that others load, too. */
static int choose_chunk(const unda_solver *s, const struct staggered_cuda *t)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t rows = t->tile.rows, places = t->tile.lanes * t->tile.width, num = axis[0].total;
    int64_t tiles = ((axis[2].total + places - 1) / places) * ((axis[1].total + rows - 1) / rows);
    int64_t parts = (8 * gpu_info(t->base.gpu)->num_sm + tiles - 1) / tiles, least = 8 * s->fd->half;
    int64_t most = s->fd->num_slab ? 24 : 48;
    parts = parts > (num + most - 1) / most ? parts : (num + most - 1) / most;
    int64_t chunk = (num + parts - 1) / parts;
    chunk = s->options.plan[1] ? s->options.plan[1] : chunk < least ? least : chunk;
    return (int)(chunk < num ? chunk : num);
}

static unda_status create(unda_solver *s)
{
    struct staggered_cuda *t;
    TRY(forecast(s));
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    t->base.source_version = t->base.group_version = -1;
    fork_mark();
    TRY(gpu_open(&t->base.gpu, s->options.device));
    TRY(gpu_stream_new(&t->base.stream, t->base.gpu));
    t->tile = choose_tile(s);
    lay_out(s, t);
    TRY(allocate(s, t));
    TRY(compile(s, t));
    t->chunk = choose_chunk(s, t);
    s->num_launch = s->fd->num_slab ? 2 + 2 + 2 : 2 + 2; /* two passes, their layers, ghosts of each */
    return UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct staggered_cuda *t = tables(s);
    if (t->base.gpu) {
        for (int i = 0; i < 2 * FD_MAX_TERM; i++)
            gpu_free(t->base.gpu, t->slab[i]);
        for (int i = 0; i < 18; i++)
            gpu_free(t->base.gpu, t->table[i / 6][i / 3 % 2][i % 3]);
        gpu_module_free(t->module);
        fd_cuda_close(s);
    }
    array_free(t);
    s->data = NULL;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    info->kernel = UNDA_KERNEL_STEP;
    for (int i = 0; i < 2; i++)
        if (tables(s)->pass[i].spill_bytes > info->spill_bytes)
            info->spill_bytes = tables(s)->pass[i].spill_bytes;
    info->plan[0] = tables(s)->tile.rows;
    info->plan[1] = tables(s)->chunk;
    info->plan[2] = tables(s)->tile.width;
    info->plan[3] = tables(s)->tile.blocks;
    info->plan[4] = tables(s)->tile.lanes;
}

/* ---- state ---- */

static unda_status clear_slabs(unda_solver *s)
{
    for (int i = 0; i < s->fd->num_slab; i++)
        TRY(gpu_zero_async(fd_cuda(s)->stream, tables(s)->slab[i],
                           fd_slab_count(&s->fd->slab[i]) * s->real_bytes));
    return gpu_sync(fd_cuda(s)->stream);
}

static unda_status clear(unda_solver *s)
{
    for (int f = 0; f < s->fd->num_field; f++)
        TRY(gpu_zero_async(fd_cuda(s)->stream, fd_cuda(s)->array[f], tables(s)->count * s->real_bytes));
    return clear_slabs(s);
}

static unda_status slab(unda_solver *s, int number, int64_t first, int64_t count, void *out, const void *in)
{
    const struct fd_slab *slab = &s->fd->slab[number];
    int64_t plane = slab->num[1] * slab->num[2] * s->real_bytes;
    gpu_ptr at = tables(s)->slab[number] + (gpu_ptr)(first * plane);
    if (count == 0)
        return UNDA_OK;
    return out ? gpu_download(fd_cuda(s)->stream, out, at, count * plane)
               : gpu_upload(fd_cuda(s)->stream, at, in, count * plane);
}

/* ---- steps ---- */

/* Images of the fields along the axes (bits) that want them. */
static unda_status fill_ghosts(unda_solver *s, int num, const gpu_ptr *array, const struct fd_field *field,
                               const int *axes)
{
    const struct fd *fd = s->fd;
    struct fd_cuda *t = fd_cuda(s);
    struct staggered_ghost_args a = {.plane = t->plane, .origin = t->origin};
    int64_t jobs = 0, ghosts = 2 * fd->half + 1, rows = ghosts * (fd->axis[1].total + 2 * fd->half);
    rows = rows > ghosts * fd->axis[0].total ? rows : ghosts * fd->axis[0].total;
    for (int axis = 0; axis < 3; axis++)
        a.num[axis] = (int)fd->axis[axis].total;
    for (int f = 0; f < num; f++) {
        a.field[f] = POINTER(array[f]);
        for (int axis = 0; axis < 3; axis++) {
            a.half[f] |= field[f].half[axis] << axis;
            for (int side = 0; side < 2; side++)
                a.sign[f][axis][side] = field[f].sign[axis][side];
            if (axes[f] >> axis & 1) {
                a.job_field[jobs] = (signed char)f;
                a.job_axis[jobs++] = (signed char)axis;
            }
        }
    }
    struct gpu_shape shape = {{rows, jobs, 1}, {BLOCK, 1, 1}, 0};
    return gpu_launch(&tables(s)->ghosts, t->stream, &shape, &a, sizeof a);
}

/* Only along axes that the field is differenced along, or half a cell on: there its last place is an image.
 */
static unda_status fill_pass(unda_solver *s, int pass)
{
    const struct staggered *p = s->fd->physics;
    int axes[FD_MAX_FIELD], first = p->first[pass];
    for (int i = 0; i < p->count[pass]; i++) {
        axes[i] = p->stagger[first + i];
        for (int term = 0; term < p->num_term[0] + p->num_term[1]; term++)
            axes[i] |= (p->term[term].source == first + i) << p->term[term].axis;
    }
    return fill_ghosts(s, p->count[pass], fd_cuda(s)->array + first, s->fd->field + first, axes);
}

/* A material that is the same everywhere shall be so for two vectors from where vectors begin, at any place
 * one on along x or y, too, however short rows are. */
static unda_status repeat(unda_solver *s, gpu_ptr material)
{
    const struct fd_cuda *t = fd_cuda(s);
    int64_t real = s->real_bytes, same = t->origin + s->fd->axis[2].first;
    char one[8], all[SAME * 8];
    TRY(gpu_download(t->stream, one, material + (gpu_ptr)(same * real), real));
    for (int k = 0; k < SAME; k++)
        memcpy(all + k * real, one, (size_t)real);
    for (int i = 0; i < 4; i++)
        TRY(gpu_upload(t->stream,
                       material + (gpu_ptr)((same + (i & 1) * t->plane + (i >> 1) * t->pitch) * real), all,
                       SAME * real));
    return UNDA_OK;
}

static unda_status fill_materials(unda_solver *s)
{
    const struct fd_field even[FD_MAX_MATERIAL] = {fd_even_field(s->fd), fd_even_field(s->fd),
                                                   fd_even_field(s->fd)};
    const int axes[FD_MAX_MATERIAL] = {7, 7, 7};
    if (tables(s)->material_version == s->fd->material_version)
        return UNDA_OK;
    TRY(fill_ghosts(s, s->fd->num_material, fd_cuda(s)->material, even, axes));
    for (int i = 0; i < s->fd->num_material; i++)
        if (!s->fd->varies[i])
            TRY(repeat(s, fd_cuda(s)->material[i]));
    tables(s)->material_version = s->fd->material_version;
    return UNDA_OK;
}

static int pinned_sides(const struct fd *fd, int f)
{
    int sides = 0;
    for (int a = 0; a < 3; a++) {
        sides |= fd_pinned(fd, f, a, 0) << (2 * a);
        sides |= fd_pinned(fd, f, a, fd->axis[a].total - 1) << (2 * a + 1);
    }
    return sides;
}

static void fill_layers(const unda_solver *s, struct staggered_args *a)
{
    const struct fd *fd = s->fd;
    const struct staggered *p = fd->physics;
    for (int i = 0; i < 6; i++) /* where there is no slab nothing lies behind its beginning */
        a->begin[i / 2][i % 2][1] = INT32_MAX;
    for (int term = 0; term < p->num_term[0] + p->num_term[1]; term++)
        for (int side = 0; side < 2; side++) {
            int number = fd->slab_of[term][side];
            if (number < 0)
                continue;
            const struct fd_slab *slab = &fd->slab[number];
            int half = staggered_half(p, p->term[term].target, slab->axis);
            a->memory[term][side] = POINTER(tables(s)->slab[number]);
            a->begin[slab->axis][half][side] = (int)slab->begin;
            a->count[slab->axis][side] = (int)slab->count;
        }
    for (int i = 0; i < 18; i++)
        a->table[i / 6][i / 3 % 2][i % 3] = POINTER(tables(s)->table[i / 6][i / 3 % 2][i % 3]);
}

/* Adds a box to those of a launch, if it has places; returns their number. Along z whole tiles from where
 * the user's grid begins, which is at 128 bytes; fewer lanes where few suffice. */
static int add_box(const struct fd *fd, const struct staggered_cuda *t, struct staggered_box *boxes, int num,
                   const int64_t begin[3], const int64_t end[3])
{
    const struct staggered_tile *tile = &t->tile;
    struct staggered_box *box = &boxes[num];
    int64_t first = fd->axis[2].first, places;
    int lanes = 1;
    while (lanes < tile->lanes && lanes * tile->width < end[2] - begin[2])
        lanes *= 2;
    lanes = lanes < tile->lanes ? lanes : tile->lanes;
    places = lanes * tile->width;
    for (int a = 0; a < 3; a++) {
        box->begin[a] = (int)begin[a];
        box->end[a] = (int)end[a];
        if (begin[a] >= end[a])
            return num;
    }
    if (begin[2] < first)
        box->begin[2] = (int)(first - (first - begin[2] + places - 1) / places * places);
    int rows = tile->lanes * tile->rows / lanes;
    box->lanes = lanes;
    box->across = (int)((end[2] - box->begin[2] + places - 1) / places);
    box->along = (int)((end[1] - begin[1] + rows - 1) / rows);
    box->blocks = (int)(box->across * box->along * ((end[0] - begin[0] + t->chunk - 1) / t->chunk));
    return num + 1;
}

/* The user's grid, or the layers around it: beyond x all, beyond y what is left, then beyond z. */
static int cut_boxes(const struct fd *fd, const struct staggered_cuda *t, bool layers,
                     struct staggered_box box[STAGGERED_MAX_BOX])
{
    int num = 0;
    int64_t begin[3] = {0, 0, 0}, end[3] = {fd->axis[0].total, fd->axis[1].total, fd->axis[2].total};
    for (int a = 0; a < 3; a++) {
        int64_t low = fd->axis[a].first, high = low + fd->axis[a].num, all = end[a];
        int64_t whole = a == 2 ? t->tile.width : 1; /* a vector with places of both is the layer's */
        if (high < all)                             /* which begins half a cell before its first node */
            high = low + (fd->axis[a].num - 1) / whole * whole;
        if (layers) {
            end[a] = low;
            num = add_box(fd, t, box, num, begin, end);
            begin[a] = high;
            end[a] = all;
            num = add_box(fd, t, box, num, begin, end);
        }
        begin[a] = low;
        end[a] = high;
    }
    if (!layers) { /* what whole tiles leave over has lanes of its own */
        int64_t places = t->tile.lanes * t->tile.width, all = end[2];
        end[2] = begin[2] + (all - begin[2]) / places * places;
        num = add_box(fd, t, box, num, begin, end);
        begin[2] = end[2];
        end[2] = all;
        num = add_box(fd, t, box, num, begin, end);
    }
    return num;
}

static unda_status launch_boxes(unda_solver *s, const struct gpu_kernel *kernel, struct staggered_args *a,
                                bool layers)
{
    const struct staggered_cuda *t = tables(s);
    struct gpu_shape shape = {{0, 1, 1}, {t->tile.lanes, t->tile.rows, 1}, 0};
    int num = cut_boxes(s->fd, t, layers, a->box);
    for (int i = 0; i < num; i++)
        shape.grid[0] += a->box[i].blocks;
    return num ? gpu_launch(kernel, t->base.stream, &shape, a, sizeof *a) : UNDA_OK;
}

static unda_status launch_pass(unda_solver *s, int pass)
{
    const struct fd *fd = s->fd;
    struct staggered_cuda *t = tables(s);
    struct staggered_args a = {.plane = t->base.plane,
                               .origin = t->base.origin,
                               .same = t->base.origin + fd->axis[2].first,
                               .chunk = t->chunk};
    for (int f = 0; f < fd->num_field; f++) {
        a.field[f] = POINTER(t->base.array[f]);
        a.pinned[f] = pinned_sides(fd, f);
    }
    for (int i = 0; i < fd->num_material; i++) {
        a.vary[i] = fd->varies[i];
        a.material[i] = POINTER(t->base.material[i]);
    }
    fill_layers(s, &a);
    for (int i = 0; i < 3; i++) {
        a.num[i] = (int)fd->axis[i].total;
        for (int m = 1; m <= fd->half; m++) {
            a.weight32[i * (FD_MAX_HALF + 1) + m] = (float)fd->step_weight[i][m];
            a.weight64[i * (FD_MAX_HALF + 1) + m] = fd->step_weight[i][m];
        }
    }
    TRY(launch_boxes(s, &t->pass[pass], &a, false));
    return fd->num_slab ? launch_boxes(s, &t->layers[pass], &a, true) : UNDA_OK;
}

static unda_status step_pass(unda_solver *s, int pass, int64_t time)
{
    const struct staggered *p = s->fd->physics;
    TRY(launch_pass(s, pass));
    for (int f = p->first[pass]; f < p->first[pass] + p->count[pass]; f++)
        TRY(fd_cuda_inject(s, f, fd_cuda(s)->array[f], time));
    return fill_pass(s, pass);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    int64_t begin = s->step;
    TRY(fill_materials(s));
    TRY(fill_pass(s, 0)); /* the state may have been set */
    TRY(fill_pass(s, 1));
    for (int64_t i = 0; i < num_step; i++) {
        TRY(step_pass(s, 0, i));
        TRY(step_pass(s, 1, i));
        s->step++;
        TRY(fd_cuda_take(s, begin));
    }
    TRY(gpu_sync(fd_cuda(s)->stream));
    return fd_cuda_fetch(s, begin);
}

/* See staggered_cpu.c. */
static unda_status rest(unda_solver *s)
{
    const struct staggered *p = s->fd->physics;
    struct fd_cuda *t = fd_cuda(s);
    TRY(fd_need_material(s));
    TRY(fill_materials(s));
    TRY(fill_pass(s, 1));
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        TRY(gpu_zero_async(t->stream, t->array[f], tables(s)->count * s->real_bytes));
    TRY(launch_pass(s, 0));
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        TRY(fd_cuda_whole(s, &tables(s)->turn, t->array[f]));
    return clear_slabs(s);
}

const struct fd_engine fd_staggered_cuda = {.base = {.name = "cuda",
                                                     .create = create,
                                                     .destroy = destroy,
                                                     .record = fd_record,
                                                     .drive = fd_cuda_drive,
                                                     .run = run,
                                                     .find_bad = fd_cuda_find_bad,
                                                     .reserve = fd_cuda_reserve,
                                                     .forecast = forecast,
                                                     .describe = describe,
                                                     .compile = compile_only},
                                            .box = fd_cuda_box,
                                            .gather = fd_cuda_gather,
                                            .clear = clear,
                                            .rest = rest,
                                            .slab = slab};
