/* cuda_monitor.c: accumulators of a monitor on a device, host side. A sample is one launch in the engine's stream. */
#include "cuda_monitor.h"

#include "common/monitor_args.h"

#include <string.h>

_Static_assert((int)MONITOR_FREQUENCIES == (int)UNDA_MAX_FREQUENCY, "frequencies of a monitor");
_Static_assert((int)MONITOR_MAXIMUM == (int)UNDA_MAXIMUM && (int)MONITOR_MINIMUM == (int)UNDA_MINIMUM &&
                   (int)MONITOR_SQUARES == (int)UNDA_SQUARES,
               "statistics of a monitor");
_Static_assert((int)MONITOR_MINUS == (int)UNDA_MINUS && (int)MONITOR_MINUS_MEAN == (int)UNDA_MINUS_MEAN &&
                   (int)MONITOR_MAGNITUDE == (int)UNDA_MAGNITUDE,
               "quantities of a monitor");

struct cuda_monitor {
    struct gpu_stream *stream;
    struct gpu_pool pool;
    gpu_ptr sums, place, held;
    struct monitor_levels levels;
    struct gpu_module *module;
    struct gpu_kernel kernel, add_held, add_levels, add_kept, vectors;
    int kind;
};

static unda_status make_spare(const struct monitor *m, struct cuda_monitor *c, struct gpu *gpu)
{
    gpu_ptr level;
    for (int32_t i = 0; i < m->batch; i++) {
        TRY(gpu_pool_alloc(&c->levels.spare, gpu, &level, m->level_bytes, "monitors"));
        TRY(gpu_zero_async(c->stream, level, m->level_bytes));
    }
    return UNDA_OK;
}

/* An array for each sample that is held. Others may need memory too, so that these take half of what is free at most; with
 * half as many, and so on, fewer are added at once, in the same order. */
static unda_status make_levels(struct monitor *m, struct cuda_monitor *c, struct gpu *gpu)
{
    const double large = 1.5e-5; /* [s] to read a level: a step takes much longer than launches */
    struct monitor_levels *l = &c->levels;
    unda_status status;
    double speed;
    int64_t room, cache;
    gpu_memory_limits(gpu, &speed, &cache);
    TRY(gpu_memory_free(gpu, &room));
    while (m->batch > 2 && m->batch * m->level_bytes > room / 2)
        m->batch = (m->batch + 1) / 2;
    while ((status = make_spare(m, c, gpu)) == UNDA_ERR_DEVICE_MEMORY && m->batch > 2) {
        gpu_pool_free(&l->spare);
        m->batch = (m->batch + 1) / 2;
    }
    TRY(status);
    l->num_part = speed > 0 && (double)m->level_bytes > large * speed ? m->batch : 1;
    TRY(gpu_kernel_get(&c->add_levels, c->module, "monitor_levels", 0));
    TRY(gpu_stream_new(&l->beside, gpu));
    TRY(gpu_event_new_order(&l->taken, gpu));
    for (int i = 0; i < 2; i++)
        TRY(gpu_event_new_order(&l->done[i], gpu));
    TRY(array_try(&l->added, l->num_part, sizeof *l->added, "monitors"));
    TRY(array_try(&l->sample, 2 * m->batch, sizeof *l->sample, "monitors"));
    return array_try(&l->wave, (int64_t)4 * m->batch * m->num_frequency, sizeof *l->wave, "monitors");
}

static void free_levels(struct monitor_levels *l)
{
    if (l->beside)
        gpu_sync(l->beside); /* what is left there reads memory of the engine */
    for (int i = 0; i < 2; i++)
        gpu_event_free(l->done[i]);
    gpu_event_free(l->taken);
    gpu_stream_free(l->beside);
    gpu_pool_free(&l->spare);
    array_free(l->wave);
    array_free(l->sample);
    array_free(l->added);
}

static unda_status make_held(const struct monitor *m, const struct monitor_piece *piece,
                             struct cuda_monitor *c, struct gpu *gpu)
{
    TRY(gpu_kernel_get(&c->add_held, c->module, "monitor_held", 0));
    return gpu_pool_alloc(&c->pool, gpu, &c->held,
                          monitor_num_value(piece) * m->batch * piece->part->real_bytes, "monitors");
}

unda_status cuda_monitor_new(struct monitor *m, struct monitor_piece *piece, struct gpu *gpu,
                             struct gpu_stream *stream, struct gpu_defines *defines, int kind)
{
    struct cuda_monitor *c;
    const int32_t *num = piece->num_axis;
    static const char *const names[] = {[MONITOR_OF_TABLES] = "monitor",
                                        [MONITOR_OF_GRID] = "monitor_grid",
                                        [MONITOR_OF_ROWS] = "monitor_rows"};
    TRY(array_try(&c, 1, sizeof *c, "monitors"));
    piece->cuda = c; /* which frees it, whatever happens */
    c->stream = stream;
    c->kind = kind;
    gpu_define(defines, "KIND=%d", kind);
    struct gpu_source source = {"common/monitor.cu", defines->list, defines->num};
    TRY(gpu_module_new(&c->module, gpu, &source));
    TRY(gpu_kernel_get(&c->kernel, c->module, names[kind], 0));
    bool tables = kind == MONITOR_OF_TABLES;
    TRY(gpu_kernel_get(tables ? &c->add_kept : &c->vectors, c->module,
                       tables ? "monitor_kept" : "monitor_vectors", 0));
    TRY(gpu_pool_alloc(&c->pool, gpu, &c->sums, monitor_num_value(piece) * m->num_array * m->bytes,
                       "monitors"));
    if (m->level_bytes)
        TRY(make_levels(m, c, gpu));
    else if (m->batch > 1)
        TRY(make_held(m, piece, c, gpu));
    if (kind == MONITOR_OF_GRID)
        return UNDA_OK;
    return gpu_pool_copy(&c->pool, stream, &c->place, piece->place,
                         ((int64_t)num[0] + num[1] + num[2]) * (int64_t)sizeof *piece->place, "monitors");
}

void cuda_monitor_free(struct cuda_monitor *c)
{
    if (!c)
        return;
    free_levels(&c->levels);
    gpu_pool_free(&c->pool);
    gpu_module_free(c->module);
    array_free(c);
}

/* Values along an axis of a box: places that ascend by one, the last of which may be an image. */
static void find_ends(const int64_t *place, int32_t num, int *first, int *last)
{
    *first = (int)place[0];
    *last = (int)place[num - 1];
}

static struct gpu_shape shape_of(const struct monitor_args *a, int kind)
{
    enum { MOST = 65535 };
    int lanes = 1;
    if (kind == MONITOR_OF_TABLES)
        return gpu_threads(a->num);
    if (kind == MONITOR_OF_ROWS)
        return gpu_threads((a->num + MONITOR_VALUES - 1) / MONITOR_VALUES);
    while (lanes < 64 && lanes * MONITOR_VALUES < a->num_z)
        lanes *= 2;
    int rows = GPU_BLOCK / lanes;
    int64_t along_y = (a->num_y + rows - 1) / rows;
    return (struct gpu_shape){.grid = {(a->num_z + lanes * MONITOR_VALUES - 1) / (lanes * MONITOR_VALUES),
                                       along_y < MOST ? along_y : MOST, a->num_x < MOST ? a->num_x : MOST},
                              .block = {lanes, rows, 1}};
}

/* Whether monitor_vectors takes a sample: of one field, whose vectors of 16 bytes are vectors of accumulators. Nodes of a
 * grid have no images, rows of nodes no gaps. */
static bool are_vectors(const struct cuda_monitor *c, const struct monitor_args *a, int real_bytes)
{
    bool grid = c->kind == MONITOR_OF_GRID;
    int64_t width = 16 / real_bytes, first = grid ? a->first[2] - a->pad : 0;
    const int num[3] = {a->num_x, a->num_y, a->num_z};
    bool plain = !a->is_first && a->quantity <= UNDA_MINUS && a->statistic != UNDA_FOURIER &&
                 ((uintptr_t)a->q[0] + (uintptr_t)(first * real_bytes)) % 16 == 0;
    for (int axis = 0; axis < 3 && grid; axis++)
        plain = plain && a->first[axis] >= 0 && a->last[axis] == a->first[axis] + num[axis] - 1;
    if (grid)
        return plain && a->stride[0] % width == 0 && a->stride[1] % width == 0;
    return plain && c->kind == MONITOR_OF_ROWS && a->stride[1] == 1 && a->num % width == 0;
}

static unda_status launch_vectors(const struct cuda_monitor *c, const struct monitor_args *a, int real_bytes)
{
    enum { MOST = 65535, LANES = 32, ROWS = GPU_BLOCK / LANES, OF_BLOCK = ROWS * MONITOR_VECTOR_ROWS };
    int64_t width = 16 / real_bytes, along_z = (a->pitch / width + LANES - 1) / LANES,
            along_y = (a->num_y + OF_BLOCK - 1) / OF_BLOCK;
    struct gpu_shape shape = {
        .grid = {along_z, along_y < MOST ? along_y : MOST, a->num_x < MOST ? a->num_x : MOST},
        .block = {LANES, ROWS, 1}};
    if (c->kind == MONITOR_OF_ROWS)
        shape = gpu_threads((a->num / width + MONITOR_VECTOR_ROWS - 1) / MONITOR_VECTOR_ROWS);
    return gpu_launch(&c->vectors, c->stream, &shape, a, sizeof *a);
}

/* Those of all samples. */
static void fill_args(const struct monitor_piece *piece, const struct monitor_sample *sample,
                      struct monitor_args *a)
{
    const struct cuda_monitor *c = piece->cuda;
    a->sums = POINTER(c->sums);
    a->place = POINTER(c->place);
    a->num = monitor_num_value(piece);
    a->num_x = piece->num_axis[0];
    a->num_y = piece->num_axis[1];
    a->num_z = piece->num_axis[2];
    a->pad = piece->pad;
    a->pitch = piece->pitch;
    a->statistic = sample->statistic;
    a->quantity = sample->quantity;
    a->num_frequency = sample->num_frequency;
    a->is_first = sample->first;
    const int64_t *place = piece->place;
    for (int axis = 0; axis < 3 && c->kind == MONITOR_OF_GRID; place += piece->num_axis[axis++])
        find_ends(place, piece->num_axis[axis], &a->first[axis], &a->last[axis]);
}

/* Of samples that are added at once. */
static void fill_waves(const struct monitor_sample *sample, struct monitor_args *a)
{
    a->num_held = sample->num;
    memcpy(a->wave, sample->wave, 2 * (size_t)(sample->num_frequency * sample->num) * sizeof *a->wave);
}

/* Adds samples that are held. */
static unda_status add_held(const struct cuda_monitor *c, const struct monitor_sample *sample,
                            struct monitor_args *a)
{
    struct gpu_shape shape = gpu_threads((a->num + MONITOR_HELD_VALUES - 1) / MONITOR_HELD_VALUES);
    a->sums = POINTER(c->sums);
    a->earlier = POINTER(c->held);
    a->statistic = sample->statistic;
    fill_waves(sample, a);
    return gpu_launch(&c->add_held, c->stream, &shape, a, sizeof *a);
}

gpu_ptr cuda_monitor_sums(const struct monitor_piece *piece)
{
    return piece->cuda->sums;
}

struct monitor_levels *cuda_monitor_levels(const struct monitor_piece *piece)
{
    return &piece->cuda->levels;
}

unda_status cuda_monitor_add_levels(const struct monitor_piece *piece, const struct monitor_sample *sample,
                                    int32_t begin, int32_t end, struct monitor_args *a)
{
    enum { MOST = 65535 };
    const struct cuda_monitor *c = piece->cuda;
    fill_args(piece, sample, a);
    fill_waves(sample, a);
    a->sums = POINTER(c->sums + (gpu_ptr)((int64_t)begin * a->num_y * a->pitch * (int64_t)sizeof(double)));
    a->first[0] += begin;
    a->num_x = end - begin;
    struct gpu_shape shape = gpu_threads((int64_t)a->num_y * (a->pitch / MONITOR_LEVEL_VALUES));
    shape.grid[1] = a->num_x < MOST ? a->num_x : MOST;
    return gpu_launch(&c->add_levels, c->levels.beside, &shape, a, sizeof *a);
}

unda_status cuda_monitor_add_kept(const struct monitor_piece *piece, const struct monitor_sample *sample,
                                  gpu_ptr elem, struct monitor_args *a)
{
    const struct cuda_monitor *c = piece->cuda;
    fill_args(piece, sample, a);
    fill_waves(sample, a);
    a->place = POINTER(elem);
    struct gpu_shape shape = gpu_threads(a->num);
    return gpu_launch(&c->add_kept, c->stream, &shape, a, sizeof *a);
}

unda_status cuda_monitor_take(const struct monitor_piece *piece, const struct monitor_sample *sample,
                              struct monitor_args *a)
{
    const struct cuda_monitor *c = piece->cuda;
    bool holds = sample->slot >= 0;
    fill_args(piece, sample, a);
    if (holds) {
        int64_t held = sample->slot * monitor_num_value(piece) * piece->part->real_bytes;
        a->sums = POINTER(c->held + (gpu_ptr)held);
        a->statistic = MONITOR_HOLD;
    }
    if (!holds && sample->num == 0)
        memcpy(a->wave, sample->wave, 2 * (size_t)sample->num_frequency * sizeof *a->wave);
    struct gpu_shape shape = shape_of(a, c->kind);
    if (holds || sample->num == 0)
        TRY(are_vectors(c, a, piece->part->real_bytes)
                ? launch_vectors(c, a, piece->part->real_bytes)
                : gpu_launch(&c->kernel, c->stream, &shape, a, sizeof *a));
    return sample->num ? add_held(c, sample, a) : UNDA_OK;
}

unda_status cuda_monitor_move(struct cuda_monitor *c, int64_t first, int64_t bytes, void *out, const void *in)
{
    gpu_ptr at = c->sums + (gpu_ptr)first;
    return out ? gpu_download(c->stream, out, at, bytes) : gpu_upload(c->stream, at, in, bytes);
}
