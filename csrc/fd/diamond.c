/* diamond.c: the kernel that takes many steps at once, host side: which tile, padding, tables, launches.
 * Not here: the kernel (cuda/fd/diamond.cu), sources and receivers as such (fd_cuda_points.c). */
#include "diamond.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tile ---- */

/* What was fastest on an H200 (benchmarks/NOTES.md), by half the order: float32 with one c, with c of each
 * node, float64. {DTS, STEP, cells along z of a block at most, OLD, UNROLL, CHUNK, how c comes: 1 through L2,
 * 2 in registers}, see cuda/fd/diamond.cu. */
static const struct diamond_tile tiles[3][4] = {{{7, 1, 224, 1, 2, 14, 0, 0, 0, 0, 0},
                                                 {3, 2, 256, 1, 2, 12, 0, 0, 0, 0, 0},
                                                 {2, 3, 192, 0, 2, 6, 0, 0, 0, 0, 0},
                                                 {3, 2, 160, 0, 1, 6, 0, 0, 0, 0, 0}},
                                                {{5, 1, 256, 1, 2, 6, 2, 0, 0, 0, 0},
                                                 {3, 2, 256, 0, 1, 6, 2, 0, 0, 0, 0},
                                                 {2, 3, 192, 0, 1, 6, 2, 0, 0, 0, 0},
                                                 {3, 2, 160, 0, 1, 6, 1, 0, 0, 0, 0}},
                                                {{5, 1, 160, 1, 2, 6, 1, 0, 0, 0, 0},
                                                 {2, 2, 160, 0, 1, 6, 1, 0, 0, 0, 0},
                                                 {2, 3, 96, 0, 1, 6, 1, 0, 0, 0, 0},
                                                 {2, 2, 128, 0, 1, 6, 1, 0, 0, 0, 0}}};
enum { MAX_DIAMOND_HALF = 4, MAX_CLUSTER = 8, LEAST_CUT = 33, NUM_LEVEL = 512 };

/* Steps, by half the order, from which on a launch takes less time than the steps one by one: the towers of
 * few levels are as many and wait for each other as often. On an H200, 1.6e9 cells, 8 and 64 levels: order 2,
 * 29 and 114 ms, a step 5.1; order 4, 43 and 195, 5.4; order 6, 64 and 294, 6.0; order 8, 139 and 417, 6.6.
 */
static const int fewest[MAX_DIAMOND_HALF] = {5, 8, 17, 60};

/* As in cuda/fd/diamond_tile.h. */
static int64_t shared_words(const struct diamond_tile *t, int half)
{
    int64_t width = t->step * t->dts, rows = t->step * (2 * t->dts - 1), tips = 0;
    for (int i = 0; i < half; i++) {
        int64_t reach = t->step * (1 + i / t->step);
        tips += 4 * (reach < width ? reach : width);
    }
    return (2 * (2 * width * width + half * rows) + tips + half * rows) * ((t->zb + 31) / 32 * 32 + 2 * half);
}

static const char *refusal(const unda_solver *s)
{
    const struct fd_axis *axis = s->fd->axis;
    int half = s->fd->half;
    for (int a = 0; a < 3; a++)
        if (axis[a].side[0] == SIDE_PERIODIC)
            return "an axis is periodic";
    if (half > MAX_DIAMOND_HALF)
        return "the order is above 8";
    if (s->fd->split && s->fd->uniform)
        return "the step is below a tenth of the stable one";
    if (axis[0].total <= half || axis[1].total <= half || axis[2].total < 2 * half)
        return "the grid is narrower than the differences";
    return NULL;
}

/* Parts of the tile that options fix, at unda_solver_options.plan[first + i]. */
enum {
    FIRST_PART = 2,
    ZB_PART = 6,
    OLD_PART,
    UNROLL_PART,
    CHUNK_PART,
    VARIABLE_PART,
    END_PART,
    SMS_PART = END_PART
};

/* Taller grids than a block of that tile, float32, one c: whole multiples of 96 threads, three or more a
 * scheduler, and few blocks, since of clusters of 2, 3, 4, 5, 6, 8 blocks an H200 holds 66, 39, 30, 22, 17,
 * 15. */
static const struct diamond_tile tall[2] = {{5, 1, 384, 0, 1, 5, 0, 0, 0, 0, 0},
                                            {5, 1, 288, 0, 1, 5, 0, 0, 0, 0, 0}};

static struct diamond_tile in_table(const unda_solver *s)
{
    const int32_t *plan = s->options.plan;
    int half = s->fd->half, kind = s->real_bytes == 8 ? 2 : !s->fd->uniform;
    struct diamond_tile tile = tiles[kind][half - 1];
    bool free = !plan[FIRST_PART] && !plan[FIRST_PART + 1] && !plan[ZB_PART];
    if (kind == 0 && half <= 2 && free && s->fd->axis[2].total > tile.zb)
        tile = tall[half - 1];
    if (fd_has_layers(s->fd) && !tile.old)
        tile.unroll = 1; /* two copies of the code for layers are more than the instruction cache holds */
    tile.levels = NUM_LEVEL;
    return tile;
}

static const char *fix(const unda_solver *s, struct diamond_tile *tile)
{
    const int32_t *plan = s->options.plan;
    int old = 1 + tile->old, unroll = plan[UNROLL_PART];
    const struct {
        int *value, least, most;
        const char *wrong;
    } part[END_PART - FIRST_PART] = {{&tile->dts, 2, 64, "dts is not within 2..64"},
                                     {&tile->step, 1, MAX_DIAMOND_HALF, "step is not within 1..4"},
                                     {&tile->levels, 1, 65535, "levels is not within 1..65535"},
                                     {&tile->fewest, 1, INT32_MAX, "fewest is negative"},
                                     {&tile->zb, 1, 1024, "zb is not within 1..1024"},
                                     {&old, 1, 2, "old is not 1 or 2"},
                                     {&tile->unroll, 1, 2, "unroll is not 1 or 2"},
                                     {&tile->chunk, 1, 1024, "chunk is not within 1..1024"},
                                     {&tile->variable, 1, 2, "variable is not 1 or 2"}};
    for (int i = FIRST_PART; i < END_PART; i++)
        if (plan[i]) {
            if (plan[i] < part[i - FIRST_PART].least || plan[i] > part[i - FIRST_PART].most)
                return part[i - FIRST_PART].wrong;
            *part[i - FIRST_PART].value = plan[i];
        }
    if (unroll == 1 && plan[OLD_PART] == 2)
        return "old is 2, which takes unroll 2";
    tile->old = old == 2 && unroll != 1;
    tile->unroll = tile->old ? 2 : tile->unroll;
    tile->variable = s->fd->uniform ? 0 : tile->variable;
    return NULL;
}

const char *diamond_choose(const unda_solver *s, struct diamond_tile *tile)
{
    const char *why = refusal(s);
    if (why)
        return why;
    int half = s->fd->half;
    int64_t nz = s->fd->axis[2].total;
    *tile = in_table(s);
    if ((why = fix(s, tile)))
        return why;
    tile->num_zb = (int)((nz + tile->zb - 1) / tile->zb);
    tile->zb = (int)((nz + tile->num_zb - 1) / tile->num_zb);
    if (tile->num_zb > 1)
        tile->zb = (tile->zb + 3) / 4 * 4; /* ghosts are sent as vectors, those of an end by one warp */
    if (tile->num_zb > 1 && half > 2 && tile->variable && !s->options.plan[VARIABLE_PART])
        tile->variable = 1; /* or registers spill */
    if (!tile->fewest)
        tile->fewest = tile->levels < fewest[half - 1] ? tile->levels : fewest[half - 1];
    if (half % tile->step || 2 * tile->step < half)
        return "step does not divide half the order or is less than half of it";
    if (tile->num_zb > MAX_CLUSTER || nz - (int64_t)(tile->num_zb - 1) * tile->zb < 2 * half)
        return "z has too many nodes, or too few are left for the last block";
    if (tile->num_zb > 1 && tile->zb < LEAST_CUT)
        return "z is cut into blocks of 32 cells or fewer";
    tile->shared_bytes = (int)(shared_words(tile, half) * s->real_bytes);
    return NULL;
}

static int64_t num_row(const unda_solver *s, const struct diamond_tile *tile)
{
    int64_t width = tile->step * tile->dts;
    return (s->fd->axis[0].total - 1 + width) / (2 * width) + 1;
}

/* Where "auto" takes the kernel. Towers of a stage do not wait for each other, so one with a block for each
 * SM keeps the device busy; a tower is long against its way into the grid and out, and the lag of the next
 * stage; most threads have a cell. Order 8, one c: 260 Gcell/s by count in long rows of y, 190 to 220 in rows
 * of 1152, steps one by one 241. Measured on Hopper, whose blocks have the shared memory and, where z is cut,
 * clusters; of more than two blocks at orders 2 and 4 in single precision only. */
bool diamond_pays(const unda_solver *s, const struct diamond_tile *tile)
{
    enum { NUM_SM = 132, LEAST_LEVELS = 128, LONG = 1024, HOPPER = 90 };
    int half = s->fd->half, zb = s->options.plan[ZB_PART] ? s->options.plan[ZB_PART] : in_table(s).zb;
    int least = half == MAX_DIAMOND_HALF ? LONG : LEAST_LEVELS;
    if (num_row(s, tile) * tile->num_zb < NUM_SM || s->fd->axis[1].total < least * half ||
        2 * tile->zb < zb || (tile->num_zb > 2 && (half > 2 || s->real_bytes == 8)) ||
        (half == MAX_DIAMOND_HALF && (!s->fd->uniform || s->real_bytes == 8 || tile->num_zb > 1)))
        return false;
    unda_device_info info = {.size_bytes = sizeof info};
    return unda_device_get_info(s->options.device, &info) != UNDA_OK || /* a forecast without a device */
           (info.compute_capability >= HOPPER && info.shared_bytes >= tile->shared_bytes);
}

/* Nodes beside the grid that tiles read and write. */
void diamond_padding(const unda_solver *s, const struct diamond_tile *tile, int64_t *pad_x, int64_t *pad_y)
{
    int64_t half = s->fd->half, width = tile->step * tile->dts;
    *pad_x = 2 * width + half;
    *pad_y = 2 * width + 2 * half + 1;
}

/* ---- set-up ---- */

enum { NUM_OPTION = 13, OPTION_BYTES = 40 };

static void defines(const unda_solver *s, const struct diamond_tile *tile, int64_t pitch, int64_t plane,
                    char text[NUM_OPTION][OPTION_BYTES], const char *options[NUM_OPTION])
{
    const struct {
        const char *name;
        long long value;
    } numbers[NUM_OPTION - 1] = {{"ORDER", 2 * s->fd->half},   {"DTS", tile->dts},
                                 {"STEP", tile->step},         {"STRIDE_X", plane},
                                 {"STRIDE_Y", pitch},          {"ZB", tile->zb},
                                 {"NUM_ZB", tile->num_zb},     {"LAYER", fd_has_layers(s->fd)},
                                 {"VARIABLE", tile->variable}, {"OLD", tile->old},
                                 {"UNROLL", tile->unroll},     {"CHUNK", tile->chunk}};
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
    int64_t pad_x, pad_y, pitch = (s->fd->axis[2].total + s->fd->half + 32) / 32 * 32;
    diamond_padding(s, &tile, &pad_x, &pad_y);
    defines(s, &tile, pitch, pitch * (s->fd->axis[1].total + 2 * pad_y), text, options);
    struct gpu_source source = {"fd/diamond.cu", options, NUM_OPTION};
    TRY(gpu_compile_only(&source, "fd_diamond", compute_capability, resources));
    resources->shared_bytes += tile.shared_bytes;
    resources->threads = (tile.zb + 31) / 32 * 32;
    return UNDA_OK;
}

/* Rows of y that a tile reaches beyond its middle; so far is a stage of towers behind the one before. */
int64_t diamond_reach(const struct diamond_tile *tile)
{
    return tile->step * tile->dts;
}

int64_t diamond_stages(const unda_solver *s, const struct diamond_tile *tile, int64_t levels)
{
    int64_t width = diamond_reach(tile), half = s->fd->half;
    return (s->fd->axis[1].total - half + width + half * levels + width - 1) / width;
}

/* The progress of each block of each tower. */
static int64_t num_flag(const unda_solver *s, const struct diamond_tile *tile, int64_t levels)
{
    return tile->num_zb * num_row(s, tile) * diamond_stages(s, tile, levels);
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
    defines(s, &d->tile, t->base.pitch, t->base.plane, text, options);
    struct gpu_source source = {"fd/diamond.cu", options, NUM_OPTION};
    TRY(gpu_module_new(&d->module, t->base.gpu, &source));
    TRY(gpu_kernel_get(&d->kernel, d->module, "fd_diamond", d->tile.shared_bytes));
    TRY(gpu_kernel_get(&d->mark_kernel, d->module, "fd_diamond_mark", 0));
    s->compile_seconds += clock_seconds() - begin;
    d->version = -1;
    TRY(array_try(&d->due_host, d->tile.levels + 1, 1, "receivers"));
    TRY(gpu_alloc(t->base.gpu, &d->due, d->tile.levels + 1, "receivers"));
    return gpu_alloc(t->base.gpu, &d->progress, 4 * (num_flag(s, &d->tile, d->tile.levels) + 1), "towers");
}

static void free_lists(unda_solver *s, struct diamond *d)
{
    gpu_ptr *all[] = {&d->mark,       &d->source_first, &d->source_z, &d->source_id,  &d->source_weight,
                      &d->cell_first, &d->cell_z,       &d->cell_id,  &d->cell_group, &d->sample};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gpu_free(fd_cuda(s)->gpu, *all[i]);
        *all[i] = 0;
    }
    array_free(d->sample_host);
    d->sample_host = NULL;
    d->version = -1;
}

void diamond_free(unda_solver *s, struct diamond *d)
{
    free_lists(s, d);
    gpu_free(fd_cuda(s)->gpu, d->progress);
    gpu_free(fd_cuda(s)->gpu, d->due);
    array_free(d->due_host);
    gpu_module_free(d->module);
}

/* ---- lists by column (x, y) ---- */

/* Uploads where each column's entries begin, and their z; nodes ascend. */
static unda_status upload_columns(unda_solver *s, int64_t num, const int64_t *node, gpu_ptr *first,
                                  gpu_ptr *z)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int64_t num_z = s->fd->axis[2].total, columns = s->fd->axis[0].total * s->fd->axis[1].total;
    int32_t *begin, *depth = NULL;
    TRY(array_try(&begin, columns + 1, sizeof *begin, "columns"));
    unda_status status = array_try(&depth, num, sizeof *depth, "columns");
    if (status == UNDA_OK) {
        int64_t column = 0;
        for (int64_t i = 0; i < num; i++) {
            for (; column <= node[i] / num_z; column++)
                begin[column] = (int32_t)i;
            depth[i] = (int32_t)(node[i] % num_z);
        }
        for (; column <= columns; column++)
            begin[column] = (int32_t)num;
        status = gpu_alloc_copy(t->base.stream, first, begin, 4 * (columns + 1), "columns");
    }
    if (status == UNDA_OK)
        status = gpu_alloc_copy(t->base.stream, z, depth, 4 * num, "columns");
    array_free(begin);
    array_free(depth);
    return status;
}

static unda_status list_sources(unda_solver *s, struct diamond *d)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct fd_cuda_term *term;
    int64_t num, *node = NULL;
    int32_t *id = NULL;
    void *weight = NULL;
    TRY(fd_cuda_list_terms(s, 0, &term, &num));
    unda_status status = array_try(&node, num, sizeof *node, "sources");
    if (status == UNDA_OK)
        status = array_try(&id, num, sizeof *id, "sources");
    if (status == UNDA_OK)
        status = array_try(&weight, num, s->real_bytes, "sources");
    for (int64_t i = 0; i < num && status == UNDA_OK; i++) {
        node[i] = term[i].node;
        id[i] = term[i].source;
        if (s->real_bytes == 4)
            ((float *)weight)[i] = (float)term[i].weight;
        else
            ((double *)weight)[i] = term[i].weight;
    }
    if (status == UNDA_OK)
        status = upload_columns(s, num, node, &d->source_first, &d->source_z);
    if (status == UNDA_OK)
        status = gpu_alloc_copy(t->base.stream, &d->source_id, id, 4 * num, "sources");
    if (status == UNDA_OK)
        status = gpu_alloc_copy(t->base.stream, &d->source_weight, weight, num * s->real_bytes, "sources");
    array_free(term);
    array_free(node);
    array_free(id);
    array_free(weight);
    return status;
}

static const struct fd_nodes *nodes_of(const unda_solver *s, int32_t g)
{
    const struct fd_cuda_group *group = &fd_cuda(s)->groups[g];
    return &((const struct fd_points *)s->groups[group->group]->points)->nodes[group->column];
}

struct cell {
    int64_t node;
    int32_t id, group;
};

static int by_node(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Nodes that groups of receivers record, by node; one of several groups stands there for each. */
static unda_status fill_cells(unda_solver *s, struct diamond *d, struct cell *cell, int64_t *node,
                              int32_t *id, int32_t *group)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int64_t num = 0;
    for (int32_t g = 0; g < t->base.num_group; g++) {
        const struct fd_nodes *nodes = nodes_of(s, g);
        for (int64_t i = 0; i < nodes->num_node; i++)
            cell[num++] = (struct cell){nodes->node[i], (int32_t)i, g};
    }
    qsort(cell, (size_t)num, sizeof *cell, by_node);
    for (int64_t i = 0; i < num; i++) {
        node[i] = cell[i].node;
        id[i] = cell[i].id;
        group[i] = cell[i].group;
    }
    TRY(upload_columns(s, num, node, &d->cell_first, &d->cell_z));
    TRY(gpu_alloc_copy(t->base.stream, &d->cell_id, id, 4 * num, "receivers"));
    int64_t samples = t->base.num_group * (int64_t)(d->tile.levels + 1);
    TRY(array_try(&d->sample_host, samples, sizeof(gpu_ptr), "receivers"));
    TRY(gpu_alloc(t->base.gpu, &d->sample, (int64_t)sizeof(gpu_ptr) * samples, "receivers"));
    return gpu_alloc_copy(t->base.stream, &d->cell_group, group, 4 * num, "receivers");
}

static unda_status list_cells(unda_solver *s, struct diamond *d)
{
    struct cell *cell = NULL;
    int64_t *node = NULL, num = 0;
    int32_t *id = NULL, *group = NULL;
    for (int32_t g = 0; g < fd_cuda(s)->num_group; g++)
        num += nodes_of(s, g)->num_node;
    unda_status status = array_try(&cell, num, sizeof *cell, "receivers");
    if (status == UNDA_OK)
        status = array_try(&node, num, sizeof *node, "receivers");
    if (status == UNDA_OK)
        status = array_try(&id, num, sizeof *id, "receivers");
    if (status == UNDA_OK)
        status = array_try(&group, num, sizeof *group, "receivers");
    if (status == UNDA_OK)
        status = fill_cells(s, d, cell, node, id, group);
    array_free(cell);
    array_free(node);
    array_free(id);
    array_free(group);
    return status;
}

/* Where the samples of the next launch go, whose levels are counted from s->step. */
static unda_status upload_samples(unda_solver *s, struct diamond *d, int64_t begin, int64_t levels)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t bytes = (int64_t)sizeof(gpu_ptr) * t->num_group * (levels + 1);
    memset(d->due_host, 0, (size_t)levels + 1);
    memset(d->sample_host, 0, (size_t)bytes);
    for (int32_t g = 0; g < t->num_group; g++) {
        const struct fd_cuda_group *field = &t->groups[g];
        const struct receiver_group *group = s->groups[field->group];
        int64_t sample = fd_samples_since(group, begin, s->step);
        int64_t due = group->every - (s->step - group->first) % group->every;
        for (int64_t level = due; level <= levels; level += group->every, sample++) {
            d->due_host[level] = 1;
            d->sample_host[level * t->num_group + g] =
                field->values + (gpu_ptr)(sample * field->num_node * s->real_bytes);
        }
    }
    TRY(gpu_upload(t->stream, d->sample, d->sample_host, bytes));
    return gpu_upload(t->stream, d->due, d->due_host, levels + 1);
}

/* ---- launches ---- */

static struct diamond_args arguments(const unda_solver *s, const struct diamond *d)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct fd *fd = s->fd;
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
        .nx = (int)fd->axis[0].total,
        .ny = (int)fd->axis[1].total,
        .nz = (int)fd->axis[2].total,
        .num_row = (int)num_row(s, &d->tile),
        .num_source = s->num_source,
        .num_group = t->base.num_group};
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
    int64_t width = d->tile.step * d->tile.dts, rows = 2 * num_row(s, &d->tile) + 1;
    int64_t columns = s->fd->axis[1].total + 2 * width;
    if (d->version == s->point_version)
        return UNDA_OK;
    free_lists(s, d);
    if (s->num_source || s->num_group) {
        TRY(list_sources(s, d));
        TRY(list_cells(s, d));
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

/* SMs that towers may occupy: those of the plan, at least the blocks of one tower. */
int diamond_sms(const unda_solver *s, const struct diamond *d)
{
    int num = gpu_info(fd_cuda(s)->gpu)->num_sm, wanted = s->options.plan[SMS_PART];
    num = wanted && wanted < num ? wanted : num;
    return num < d->tile.num_zb ? d->tile.num_zb : num;
}

/* Stages [first, end) of `levels` steps at once, from step `time` of the call that began at step `begin`;
 * those before are done. */
unda_status diamond_run(unda_solver *s, struct diamond *d, int64_t time, int64_t begin, int64_t levels,
                        int64_t first, int64_t end)
{
    struct scalar_cuda *t = scalar_cuda(s);
    TRY(update_lists(s, d));
    struct diamond_args a = arguments(s, d);
    int64_t rows = num_row(s, &d->tile), towers = rows * (end - first);
    int64_t most = diamond_sms(s, d) / d->tile.num_zb;
    a.num_level = (int)levels;
    a.first_tower = (int)(rows * first);
    a.num_tower = (int)(rows * end);
    a.amplitude = POINTER(t->base.amplitude + (gpu_ptr)(time * s->num_source * s->real_bytes));
    if (s->num_group && first == 0)
        TRY(upload_samples(s, d, begin, levels));
    /* the ticket, and before the first stage the progress of all towers */
    TRY(gpu_zero_async(t->base.stream, d->progress,
                       4 * (first == 0 ? num_flag(s, &d->tile, levels) + 1 : 1)));
    struct gpu_shape shape = {{d->tile.num_zb * (towers < most ? towers : most), 1, 1},
                              {(d->tile.zb + 31) / 32 * 32, 1, 1},
                              d->tile.shared_bytes};
    return gpu_launch(&d->kernel, t->base.stream, &shape, &a, sizeof a);
}
