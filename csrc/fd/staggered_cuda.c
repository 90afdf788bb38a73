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

struct staggered_cuda {
    struct fd_cuda base;
    struct gpu_module *module;
    struct gpu_kernel pass[2], ghosts, turn;
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

/* Rows begin at 128 bytes; ghosts on every side. */
static void lay_out(const unda_solver *s, struct staggered_cuda *t)
{
    const struct fd *fd = s->fd;
    int64_t unit = 128 / s->real_bytes;
    t->base.pitch = (unit + fd->axis[2].total + fd->half + unit - 1) / unit * unit;
    t->base.plane = t->base.pitch * (fd->axis[1].total + 2 * fd->half);
    t->base.origin = fd->half * t->base.plane + fd->half * t->base.pitch + unit;
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
    s->host_bytes = t.base.plane * s->real_bytes;
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
    TRY(array_try(&t->base.staging, t->base.plane, s->real_bytes, "planes"));
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

/* Part of the threads of all blocks that have places, if rows of `num` threads are cut into lanes. */
static double threads_used(int64_t num, int64_t num_y, int lanes, int rows)
{
    int64_t along = (num + lanes - 1) / lanes * lanes, beside = (num_y + rows - 1) / rows * rows;
    int warps = (lanes * rows + 31) / 32;
    return (double)num / (double)along * (double)num_y / (double)beside * lanes * rows / (32.0 * warps);
}

/* Lanes which leave the fewest threads idle in blocks of so many; rows of other than whole 128 bytes were
 * slower by 10 % (benchmarks/NOTES.md). */
static int choose_lanes(int64_t num, int64_t num_y, int threads)
{
    int best = 32;
    for (int lanes = 24; lanes >= 16; lanes -= 8)
        if (threads_used(num, num_y, lanes, threads / lanes) >
            1.01 * threads_used(num, num_y, best, threads / best))
            best = lanes;
    return best;
}

/* The widest that leave a thread's planes in its registers, warps an SM as many as these allow. */
static struct staggered_tile choose_tile(const unda_solver *s)
{
    const int32_t *plan = s->options.plan;
    int real = (int)s->real_bytes, half = s->fd->half, words = half * real / 4, num = s->fd->num_field;
    int bytes = words <= 2 ? 16 : words <= 4 ? 8 : real, warps = words <= 8 ? 16 : 12;
    if (num <= 4) {
        bytes = half <= 4 ? 16 : 8;
        warps = words <= 2 && real == 4 ? 24 : 16;
    } else if (num > 6) {
        bytes = real == 8 ? 8 : bytes;
        warps = bytes == 16 || words > 4 ? 12 : 16;
    }
    int width = plan[2] ? plan[2] : (bytes < real ? real : bytes) / real;
    int64_t num_y = s->fd->axis[1].total, num_z = (s->fd->axis[2].total + width - 1) / width;
    int threads = 32 * (warps % 12 ? 8 : 12);
    int lanes = plan[4] ? plan[4] : plan[0] > 32 ? 16 : choose_lanes(num_z, num_y, threads);
    int64_t rows = threads / lanes;
    rows = plan[0] ? plan[0] : rows < num_y ? rows : num_y;
    int blocks = warps / ((lanes * (int)rows + 31) / 32);
    return (struct staggered_tile){(int)rows, lanes, width, plan[3] ? plan[3] : blocks > 1 ? blocks : 1};
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
    unda_kernel_resources other = *resources;
    TRY(gpu_compile_only(&source, "staggered_pass0", compute_capability, &other));
    TRY(gpu_compile_only(&source, "staggered_pass1", compute_capability, resources));
    if (other.registers > resources->registers)
        resources->registers = other.registers;
    if (other.spill_bytes > resources->spill_bytes)
        resources->spill_bytes = other.spill_bytes;
    resources->threads = tile.lanes * tile.rows;
    return UNDA_OK;
}

/* Planes that a block marches over: few enough that blocks side by side read the same rows at about the same
 * time, and that the last blocks to run are few; at least 8 M, as each loads 2 M - 1 that others load, too.
 */
static int choose_chunk(const unda_solver *s, const struct staggered_cuda *t)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t rows = t->tile.rows, places = t->tile.lanes * t->tile.width, num = axis[0].total;
    int64_t tiles = ((axis[2].total + places - 1) / places) * ((axis[1].total + rows - 1) / rows);
    int64_t parts = (8 * gpu_info(t->base.gpu)->num_sm + tiles - 1) / tiles, least = 8 * s->fd->half;
    parts = parts > (num + 47) / 48 ? parts : (num + 47) / 48;
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
    s->num_launch = 2 + 3 + 3; /* two passes, ghosts of each along three axes */
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
    array_free(t->base.staging);
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

/* Images of the fields that want them (bits: axes) along z, then y with those, then x. */
static unda_status fill_ghosts(unda_solver *s, int num, const gpu_ptr *array, const struct fd_field *field,
                               const int *axes)
{
    const struct fd *fd = s->fd;
    struct fd_cuda *t = fd_cuda(s);
    for (int axis = 2; axis >= 0; axis--) {
        struct staggered_ghost_args a = {.plane = t->plane,
                                         .origin = t->origin,
                                         .pitch = (int)t->pitch,
                                         .axis = axis,
                                         .stencil = fd->half};
        int64_t lines = 1, count = 0;
        for (int i = 0; i < 3; i++) {
            a.num[i] = (int)fd->axis[i].total;
            lines *= i == axis ? 1 : fd->axis[i].total + 2 * fd->half;
        }
        for (int f = 0; f < num; f++) {
            if (!(axes[f] >> axis & 1))
                continue;
            a.field[count] = POINTER(array[f]);
            a.half[count] = field[f].half[axis];
            for (int side = 0; side < 2; side++)
                a.sign[count][side] = field[f].sign[axis][side];
            count++;
        }
        struct gpu_shape shape = {
            {(lines * (2 * fd->half + 1) + BLOCK - 1) / BLOCK, count, 1}, {BLOCK, 1, 1}, 0};
        if (count)
            TRY(gpu_launch(&tables(s)->ghosts, t->stream, &shape, &a, sizeof a));
    }
    return UNDA_OK;
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

static unda_status fill_materials(unda_solver *s)
{
    const struct fd_field even[FD_MAX_MATERIAL] = {fd_even_field(s->fd), fd_even_field(s->fd),
                                                   fd_even_field(s->fd)};
    const int axes[FD_MAX_MATERIAL] = {7, 7, 7};
    if (tables(s)->material_version == s->fd->material_version)
        return UNDA_OK;
    TRY(fill_ghosts(s, s->fd->num_material, fd_cuda(s)->material, even, axes));
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

static unda_status launch_pass(unda_solver *s, int pass)
{
    const struct fd *fd = s->fd;
    struct staggered_cuda *t = tables(s);
    struct staggered_args a = {.plane = t->base.plane, .origin = t->base.origin, .chunk = t->chunk};
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
    int places = t->tile.lanes * t->tile.width, rows = t->tile.rows;
    struct gpu_shape shape = {{(a.num[2] + places - 1) / places, (a.num[1] + rows - 1) / rows,
                               (a.num[0] + t->chunk - 1) / t->chunk},
                              {t->tile.lanes, rows, 1},
                              0};
    return gpu_launch(&t->pass[pass], t->base.stream, &shape, &a, sizeof a);
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
                                            .planes = fd_cuda_planes,
                                            .gather = fd_cuda_gather,
                                            .clear = clear,
                                            .rest = rest,
                                            .slab = slab};
