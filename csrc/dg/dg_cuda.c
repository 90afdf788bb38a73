/* dg_cuda.c: the CUDA engine of DG, host side: uploads, kernel plans, launches. Steps run wholly on the device:
 * sources and exact data are sampled beforehand, receivers are recorded there and fetched once a call.
 * Next: cuda/dg/fused.cu (the stage), cuda/common/state.cu (receivers, checks), csrc/gpu/gpu.h. */
#include "../gpu/gpu.h"
#include "../solver/solver.h"

#include "common/index.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NUM_UPDATE = 3, BLOCK = 256 };

/* Tile of the fused kernel: rows and elements a thread, elements a block. */
struct plan {
    int rows, cols, tile, min_blocks;
};

struct channels { /* receivers on the device */
    gpu_ptr weight, elem, field, point, every, first, start, offset, stride, out;
    int num_channel, num_group;
    int64_t max_step;
};

struct dg_cuda {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_module *stage_module[NUM_UPDATE], *state_module;
    struct gpu_kernel stage_kernel[NUM_UPDATE], gather, record, find_bad;
    struct plan plan;
    int64_t num_block;
    gpu_ptr buffer[NUM_BUF];
    gpu_ptr elem_record, face_coef, neighbor, face_node, matrix, clock, bad, packed, list;
    int64_t packed_count; /* elements that packed and list hold */
    gpu_ptr amplitude, exact, source_weight, source_elem, source_range;
    int64_t amplitude_bytes, exact_bytes;
    int32_t *source_column;
    int32_t num_source;
    struct channels channels;
    int64_t base_step; /* steps done before this call */
};

static struct dg_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* ---- set-up ---- */

/* float32 by degree; measured on an H200, see benchmarks/NOTES.md. */
static const struct plan plans[2][MAX_DEGREE + 1] = {
    [UNDA_FLOAT32] = {{0, 0, 0, 0}, {4, 1, 128, 1}, {5, 2, 128, 1}, {5, 2, 64, 1}, {4, 4, 64, 1}, {4, 4, 32, 1}, {4, 4, 32, 1}, {4, 4, 32, 1},
                      {4, 4, 16, 1}},
    [UNDA_FLOAT64] = {{0, 0, 0, 0}, {4, 1, 128, 1}, {5, 1, 64, 1}, {5, 2, 32, 1}, {4, 2, 32, 1}, {4, 2, 16, 1}, {4, 2, 16, 1}, {4, 2, 16, 1},
                      {4, 2, 8, 1}},
};

static unda_status choose_plan(const unda_solver *s, struct plan *plan)
{
    const int32_t *p = s->options.plan;
    *plan = plans[s->options.precision][s->options.degree];
    if (p[0] || p[1] || p[2])
        *plan = (struct plan){p[0], p[1], p[2], p[3] ? p[3] : 1};
    if (plan->rows < 1 || plan->cols < 1 || plan->tile < plan->cols || plan->tile % plan->cols)
        FAIL(UNDA_ERR_ARG, "plan is {%d, %d, %d}, expected rows, elements a thread, and a multiple of those a block",
             plan->rows, plan->cols, plan->tile);
    return UNDA_OK;
}

static int row_groups(const struct dg *dg, struct plan plan)
{
    return (dg->num_node + plan.rows - 1) / plan.rows;
}

static int threads_of(const struct dg *dg, struct plan plan)
{
    return row_groups(dg, plan) * (plan.tile / plan.cols);
}

/* sizeof(struct tile) in fused.cu. */
static int shared_of(const unda_solver *s, struct plan plan)
{
    const struct physics *p = s->dg->physics;
    int pad = 16 / s->real_bytes, jumps = p->num_jump[s->dg->flux];
    int reals = s->dg->num_node * (p->num_ref * plan.tile + pad) + 4 * s->dg->num_face_node * (jumps * plan.tile + pad) +
                4 * plan.tile;
    return (reals * s->real_bytes + 16 * s->dg->num_face_node + 15) / 16 * 16;
}

static unda_status compile_stage(unda_solver *s, struct dg_cuda *t, int update)
{
    char degree[32], physics[64], flux[32], kind[32], rows[32], cols[32], tile[32], blocks[32];
    snprintf(degree, sizeof degree, "-DDEGREE=%d", s->options.degree);
    snprintf(physics, sizeof physics, "-DPHYSICS=\"%s\"", s->dg->physics->header);
    snprintf(flux, sizeof flux, "-DFLUX_CENTRAL=%d", s->dg->flux == UNDA_CENTRAL);
    snprintf(kind, sizeof kind, "-DUPDATE=%d", update);
    snprintf(rows, sizeof rows, "-DROWS=%d", t->plan.rows);
    snprintf(cols, sizeof cols, "-DCOLS=%d", t->plan.cols);
    snprintf(tile, sizeof tile, "-DTILE=%d", t->plan.tile);
    snprintf(blocks, sizeof blocks, "-DMIN_BLOCKS=%d", t->plan.min_blocks);
    const char *options[] = {s->real_bytes == 4 ? "-DREAL=float" : "-DREAL=double", degree, physics, flux, kind, rows,
                             cols, tile, blocks};
    struct gpu_source source = {"dg/fused.cu", options, sizeof options / sizeof *options};
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->stage_module[update], t->gpu, &source));
    TRY(gpu_kernel_get(&t->stage_kernel[update], t->stage_module[update], "dg_fused", shared_of(s, t->plan)));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status compile_state(unda_solver *s, struct dg_cuda *t)
{
    const char *options[] = {s->real_bytes == 4 ? "-DREAL=float" : "-DREAL=double"};
    struct gpu_source source = {"common/state.cu", options, 1};
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->state_module, t->gpu, &source));
    TRY(gpu_kernel_get(&t->gather, t->state_module, "gather", 0));
    TRY(gpu_kernel_get(&t->record, t->state_module, "record", 0));
    TRY(gpu_kernel_get(&t->find_bad, t->state_module, "find_bad", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static unda_status new_array(unda_solver *s, gpu_ptr *ptr, int64_t bytes, const char *what)
{
    TRY(gpu_alloc(tables(s)->gpu, ptr, bytes, what));
    s->device_bytes += bytes;
    return UNDA_OK;
}

static void to_real(const unda_solver *s, void *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (s->real_bytes == 4)
            ((float *)to)[i] = (float)from[i];
        else
            ((double *)to)[i] = from[i];
}

/* Uploads doubles as reals, a piece at a time. */
static unda_status upload_real(unda_solver *s, gpu_ptr to, const double *from, int64_t count)
{
    enum { PIECE = 1 << 18 };
    void *piece;
    TRY(array_try(&piece, PIECE, s->real_bytes, "upload"));
    unda_status status = UNDA_OK;
    for (int64_t done = 0; done < count && status == UNDA_OK; done += PIECE) {
        int64_t part = count - done < PIECE ? count - done : PIECE;
        to_real(s, piece, from + done, part);
        status = gpu_upload(tables(s)->stream, to + (gpu_ptr)(done * s->real_bytes), piece, part * s->real_bytes);
    }
    array_free(piece);
    return status;
}

static unda_status new_real(unda_solver *s, gpu_ptr *ptr, const double *from, int64_t count, const char *what)
{
    TRY(new_array(s, ptr, count * s->real_bytes, what));
    return upload_real(s, *ptr, from, count);
}

static unda_status new_bytes(unda_solver *s, gpu_ptr *ptr, const void *from, int64_t bytes, const char *what)
{
    TRY(new_array(s, ptr, bytes, what));
    return bytes ? gpu_upload(tables(s)->stream, *ptr, from, bytes) : UNDA_OK;
}

/* Packing of fused.cu. */
static unda_status pack_matrix(unda_solver *s, struct dg_cuda *t)
{
    const struct element *el = s->dg->element;
    int np = el->num_node, nf = el->num_face_node, groups = row_groups(s->dg, t->plan), rows = t->plan.rows;
    int64_t column = (int64_t)groups * rows, count = column * (3 * np + 4 * nf);
    double *packed;
    TRY(array_try(&packed, count, sizeof *packed, "matrix"));
    for (int row = 0; row < np; row++) {
        int64_t at = (int64_t)(row % groups) * rows + row / groups;
        for (int k = 0; k < np; k++)
            for (int j = 0; j < 3; j++)
                packed[(3 * k + j) * column + at] = el->derivative[((int64_t)j * np + row) * np + k];
        for (int face = 0; face < 4; face++)
            for (int m = 0; m < nf; m++)
                packed[(3 * np + face * nf + m) * column + at] = el->lift[((int64_t)face * np + row) * nf + m];
    }
    unda_status status = new_real(s, &t->matrix, packed, count, "matrix");
    array_free(packed);
    return status;
}

static unda_status upload_tables(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = s->dg;
    const struct physics *p = dg->physics;
    int64_t num_elem = dg->num_elem, state = num_elem * dg->num_node * p->num_field * s->real_bytes;
    TRY(pack_matrix(s, t));
    TRY(new_real(s, &t->elem_record, dg->record, dg->num_word * num_elem, "geometry"));
    TRY(new_real(s, &t->face_coef, dg->face_coef, 4 * p->num_face_coef * num_elem, "face coefficients"));
    TRY(new_bytes(s, &t->neighbor, dg->neighbor, 16 * num_elem, "neighbours"));
    TRY(new_bytes(s, &t->face_node, dg->element->face_node, 16 * dg->num_face_node, "face nodes"));
    TRY(new_array(s, &t->clock, 16, "clock"));
    TRY(new_array(s, &t->bad, 8, "finite check"));
    for (int i = 0; i < NUM_BUF; i++) {
        if (i == BUF_R1 && s->options.integrator != UNDA_AB3)
            continue;
        TRY(new_array(s, &t->buffer[i], state, "state"));
        TRY(gpu_zero_async(t->stream, t->buffer[i], state));
    }
    t->num_block = (num_elem + t->plan.tile - 1) / t->plan.tile;
    TRY(new_array(s, &t->source_range, 4 * (t->num_block + 1), "source ranges"));
    TRY(gpu_zero_async(t->stream, t->source_range, 4 * (t->num_block + 1)));
    t->packed_count = num_elem < 4096 ? num_elem : 4096;
    TRY(new_array(s, &t->list, 8 * t->packed_count, "element list"));
    TRY(new_array(s, &t->packed, state / num_elem * t->packed_count, "packed elements"));
    return gpu_sync(t->stream);
}

static unda_status create(unda_solver *s)
{
    struct dg_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    fork_mark();
    TRY(gpu_open(&t->gpu, s->options.device));
    TRY(gpu_stream_new(&t->stream, t->gpu));
    TRY(choose_plan(s, &t->plan));
    TRY(compile_state(s, t));
    TRY(compile_stage(s, t, UPDATE_LSRK));
    if (s->options.integrator == UNDA_AB3)
        TRY(compile_stage(s, t, UPDATE_AB3));
    s->num_launch = s->options.integrator == UNDA_AB3 ? 1 : 5;
    return upload_tables(s, t);
}

static void free_channels(struct dg_cuda *t)
{
    gpu_ptr *all[] = {&t->channels.weight, &t->channels.elem,  &t->channels.field,  &t->channels.point, &t->channels.every,
                      &t->channels.first,  &t->channels.start, &t->channels.offset, &t->channels.stride, &t->channels.out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(t->gpu, *all[i]);
    t->channels = (struct channels){0};
}

static void free_sources(struct dg_cuda *t)
{
    gpu_free(t->gpu, t->source_weight);
    gpu_free(t->gpu, t->source_elem);
    array_free(t->source_column);
    t->source_weight = t->source_elem = 0;
    t->source_column = NULL;
    t->num_source = 0;
}

static void destroy(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    if (t->gpu) {
        gpu_ptr all[] = {t->elem_record, t->face_coef, t->neighbor, t->face_node, t->matrix, t->clock, t->bad,
                         t->packed, t->list, t->amplitude, t->exact, t->source_range};
        free_channels(t);
        free_sources(t);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            gpu_free(t->gpu, all[i]);
        for (int i = 0; i < NUM_BUF; i++)
            gpu_free(t->gpu, t->buffer[i]);
        for (int i = 0; i < NUM_UPDATE; i++)
            gpu_module_free(t->stage_module[i]);
        gpu_module_free(t->state_module);
        gpu_stream_free(t->stream);
        gpu_close(t->gpu);
    }
    array_free(t);
    s->data = NULL;
}

/* ---- sampled data ---- */

static unda_status update_sources(unda_solver *s, struct dg_cuda *t)
{
    int64_t num_value = s->dg->num_node * s->dg->physics->num_field, num = s->num_source;
    free_sources(t);
    int32_t *elem = NULL, *range = NULL;
    TRY(array_try(&t->source_column, num, sizeof(int32_t), "sources"));
    TRY(gpu_alloc(t->gpu, &t->source_weight, num * num_value * s->real_bytes, "sources"));
    TRY(gpu_alloc(t->gpu, &t->source_elem, 4 * num, "sources"));
    TRY(array_try(&elem, num, sizeof *elem, "sources"));
    unda_status status = array_try(&range, t->num_block + 1, sizeof *range, "source ranges");
    for (int32_t i = 0; i < num; i++) { /* insertion sort by element, stable */
        int32_t at = i;
        for (; at > 0 && s->sources[t->source_column[at - 1]].elem > s->sources[i].elem; at--)
            t->source_column[at] = t->source_column[at - 1];
        t->source_column[at] = i;
    }
    for (int32_t i = 0; i < num && status == UNDA_OK; i++) {
        const struct source *source = &s->sources[t->source_column[i]];
        elem[i] = (int32_t)source->elem;
        status = upload_real(s, t->source_weight + (gpu_ptr)(i * num_value * s->real_bytes), source->weight, num_value);
    }
    if (status == UNDA_OK) {
        for (int64_t block = 0, i = 0; block <= t->num_block; block++) {
            while (i < num && elem[i] < block * t->plan.tile)
                i++;
            range[block] = (int32_t)i;
        }
        status = gpu_upload(t->stream, t->source_range, range, 4 * (t->num_block + 1));
    }
    if (status == UNDA_OK && num)
        status = gpu_upload(t->stream, t->source_elem, elem, 4 * num);
    array_free(elem);
    array_free(range);
    t->num_source = s->num_source;
    return status;
}

static unda_status grow(struct dg_cuda *t, gpu_ptr *ptr, int64_t *held, int64_t bytes, const char *what)
{
    if (bytes <= *held)
        return UNDA_OK;
    gpu_free(t->gpu, *ptr);
    *ptr = 0;
    *held = 0;
    TRY(gpu_alloc(t->gpu, ptr, bytes, what));
    *held = bytes;
    return UNDA_OK;
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    struct dg_cuda *t = tables(s);
    int64_t row = s->num_source, num = drive->num_time * row;
    int64_t num_exact = drive->num_time * s->dg->num_exact_face * s->dg->num_face_node * s->dg->physics->num_field;
    int64_t clock[2] = {0, s->step};
    if (t->num_source != s->num_source)
        TRY(update_sources(s, t));
    TRY(grow(t, &t->amplitude, &t->amplitude_bytes, num * s->real_bytes, "source amplitudes"));
    TRY(grow(t, &t->exact, &t->exact_bytes, num_exact * s->real_bytes, "exact data"));
    t->base_step = s->step;
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    if (num_exact)
        TRY(upload_real(s, t->exact, drive->exact, num_exact));
    if (num == 0)
        return UNDA_OK;
    double *sorted;
    TRY(array_try(&sorted, num, sizeof *sorted, "source amplitudes"));
    for (int64_t i = 0; i < num; i++)
        sorted[i] = drive->amplitudes[i / row * row + t->source_column[i % row]];
    unda_status status = upload_real(s, t->amplitude, sorted, num);
    array_free(sorted);
    return status;
}

/* ---- stages ---- */

#define POINTER(address) ((void *)(uintptr_t)(address))

static unda_status stage(unda_solver *s, const struct stage *stage)
{
    struct dg_cuda *t = tables(s);
    if (!t->stage_module[stage->update])
        TRY(compile_stage(s, t, stage->update));
    struct dg_args a = {.q = POINTER(t->buffer[BUF_Q]), .q_new = POINTER(t->buffer[BUF_NEW]),
                        .r = POINTER(t->buffer[stage->r]), .r1 = POINTER(t->buffer[BUF_R1]),
                        
                        .record = POINTER(t->elem_record), .face_coef = POINTER(t->face_coef),
                        .neighbor = POINTER(t->neighbor), .face_node = POINTER(t->face_node),
                        .matrix = POINTER(t->matrix), .exact = POINTER(t->exact), .amplitude = POINTER(t->amplitude),
                        .source_weight = POINTER(t->source_weight), .source_elem = POINTER(t->source_elem),
                        .source_range = POINTER(t->source_range), .clock = POINTER(t->clock),
                        .num_elem = s->dg->num_elem, .num_exact_face = s->dg->num_exact_face,
                        .time = (int)stage->time, .num_source = s->num_source, .a = stage->a, .b = stage->b,
                        .dt = s->dt, .c0 = stage->c0, .c1 = stage->c1, .c2 = stage->c2};
    struct gpu_shape shape = {{t->num_block, 1, 1}, {threads_of(s->dg, t->plan), 1, 1}, shared_of(s, t->plan)};
    return gpu_launch(&t->stage_kernel[stage->update], t->stream, &shape, &a, sizeof a);
}

/* ---- state ---- */

static void swap(unda_solver *s, int a, int b)
{
    gpu_ptr *buffer = tables(s)->buffer, kept = buffer[a];
    buffer[a] = buffer[b];
    buffer[b] = kept;
}

static int64_t elem_bytes(const unda_solver *s)
{
    return (int64_t)s->dg->num_node * s->dg->physics->num_field * s->real_bytes;
}

static unda_status gather(unda_solver *s, int buffer, int64_t count, const int64_t *elem, bool scatter)
{
    struct dg_cuda *t = tables(s);
    int64_t num_value = elem_bytes(s) / s->real_bytes;
    struct gather_args a = {POINTER(t->buffer[buffer]), POINTER(t->packed), POINTER(t->list), count, num_value, scatter, 0};
    struct gpu_shape shape = {{(count * num_value + BLOCK - 1) / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0};
    TRY(gpu_upload(t->stream, t->list, elem, 8 * count));
    return gpu_launch(&t->gather, t->stream, &shape, &a, sizeof a);
}

static unda_status read_elements(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *values)
{
    struct dg_cuda *t = tables(s);
    for (int64_t done = 0; done < count; done += t->packed_count) {
        int64_t part = count - done < t->packed_count ? count - done : t->packed_count;
        TRY(gather(s, buffer, part, elem + done, false));
        TRY(gpu_download(t->stream, (char *)values + done * elem_bytes(s), t->packed, part * elem_bytes(s)));
    }
    return UNDA_OK;
}

static unda_status write_elements(unda_solver *s, int buffer, int64_t count, const int64_t *elem, const void *values)
{
    struct dg_cuda *t = tables(s);
    for (int64_t done = 0; done < count; done += t->packed_count) {
        int64_t part = count - done < t->packed_count ? count - done : t->packed_count;
        TRY(gpu_upload(t->stream, t->packed, (const char *)values + done * elem_bytes(s), part * elem_bytes(s)));
        TRY(gather(s, buffer, part, elem + done, true));
        TRY(gpu_sync(t->stream));
    }
    return UNDA_OK;
}

static unda_status copy(unda_solver *s, int to, int from)
{
    struct dg_cuda *t = tables(s);
    TRY(gpu_copy_async(t->stream, t->buffer[to], t->buffer[from], elem_bytes(s) * s->dg->num_elem));
    return gpu_sync(t->stream);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    struct dg_cuda *t = tables(s);
    int64_t none = INT64_MAX, first;
    struct finite_args a = {POINTER(t->buffer[BUF_Q]), s->dg->num_elem * elem_bytes(s) / s->real_bytes, POINTER(t->bad)};
    int64_t blocks = (a.num_value + BLOCK - 1) / BLOCK;
    struct gpu_shape shape = {{blocks < 4096 ? blocks : 4096, 1, 1}, {BLOCK, 1, 1}, 0};
    TRY(gpu_upload(t->stream, t->bad, &none, sizeof none));
    TRY(gpu_launch(&t->find_bad, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, &first, t->bad, sizeof first));
    *index = first == none ? -1 : first;
    return UNDA_OK;
}

/* ---- receivers ---- */

/* Sample of one group at once, on the host: when it is added. */
static unda_status record(unda_solver *s, struct receiver_group *group)
{
    int np = s->dg->num_node, nf = s->dg->physics->num_field;
    double values[MAX_NODE * MAX_FIELD];
    for (int64_t i = 0; i < group->num_point; i++) {
        TRY(read_elements(s, BUF_Q, 1, &group->elem[i], values));
        for (int32_t f = 0; f < group->num_field; f++) {
            double sum = 0;
            for (int n = 0; n < np; n++) {
                int at = n * nf + group->field[f];
                sum += group->weight[i * np + n] * (s->real_bytes == 4 ? (double)((float *)values)[at] : values[at]);
            }
            int64_t at = (group->held * group->num_point + i) * group->num_field + f;
            to_real(s, (char *)group->samples + at * s->real_bytes, &sum, 1);
        }
    }
    group->held++;
    return UNDA_OK;
}

struct channel_lists {
    int64_t *elem, *first, *start, *offset, *stride;
    int32_t *field, *point, *every;
    double *weight;
};

static unda_status fill_channels(unda_solver *s, struct channels *c, struct channel_lists *l, int64_t num_point)
{
    int64_t channel = 0, point = 0, offset = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        int64_t sample = group->num_point * group->num_field;
        for (int64_t i = 0; i < group->num_point; i++, point++) {
            l->elem[point] = group->elem[i];
            memcpy(l->weight + point * s->dg->num_node, group->weight + i * s->dg->num_node,
                   sizeof(double) * (size_t)s->dg->num_node);
            for (int32_t f = 0; f < group->num_field; f++, channel++) {
                l->field[channel] = group->field[f];
                l->point[channel] = (int32_t)point;
                l->every[channel] = (int32_t)group->every;
                l->offset[channel] = offset + i * group->num_field + f;
                l->stride[channel] = sample;
            }
        }
        offset += sample * (s->max_step / group->every + 2);
    }
    struct gpu_stream *stream = tables(s)->stream;
    TRY(gpu_alloc_copy(stream, &c->elem, l->elem, 8 * num_point, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->weight, l->weight, 8 * num_point * s->dg->num_node, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->field, l->field, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->point, l->point, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->every, l->every, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->offset, l->offset, 8 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->stride, l->stride, 8 * channel, "receivers"));
    TRY(gpu_alloc(tables(s)->gpu, &c->first, 8 * channel, "receivers"));
    TRY(gpu_alloc(tables(s)->gpu, &c->start, 8 * channel, "receivers"));
    return gpu_alloc(tables(s)->gpu, &c->out, offset * s->real_bytes, "receiver samples");
}

static void free_lists(struct channel_lists *l)
{
    void *all[] = {l->elem, l->first, l->start, l->offset, l->stride, l->field, l->point, l->every, l->weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_free(all[i]);
}

static unda_status new_lists(struct channel_lists *l, int64_t num_channel, int64_t num_point, int num_node)
{
    TRY(array_try(&l->elem, num_point, 8, "receivers"));
    TRY(array_try(&l->weight, num_point * num_node, 8, "receivers"));
    TRY(array_try(&l->first, num_channel, 8, "receivers"));
    TRY(array_try(&l->start, num_channel, 8, "receivers"));
    TRY(array_try(&l->offset, num_channel, 8, "receivers"));
    TRY(array_try(&l->stride, num_channel, 8, "receivers"));
    TRY(array_try(&l->field, num_channel, 4, "receivers"));
    TRY(array_try(&l->point, num_channel, 4, "receivers"));
    return array_try(&l->every, num_channel, 4, "receivers");
}

/* Tables of the receivers, when groups or the reserved number of steps changed. */
static unda_status update_channels(unda_solver *s, struct dg_cuda *t)
{
    struct channels *c = &t->channels;
    if (c->num_group == s->num_group && c->max_step >= s->max_step)
        return UNDA_OK;
    int64_t num_point = 0, num_channel = 0;
    struct channel_lists lists = {0};
    free_channels(t);
    for (int32_t g = 0; g < s->num_group; g++) {
        num_point += s->groups[g]->num_point;
        num_channel += s->groups[g]->num_point * s->groups[g]->num_field;
    }
    unda_status status = new_lists(&lists, num_channel, num_point, s->dg->num_node);
    if (status == UNDA_OK)
        status = fill_channels(s, c, &lists, num_point);
    free_lists(&lists);
    TRY(status);
    c->num_channel = (int)num_channel;
    c->num_group = s->num_group;
    c->max_step = s->max_step;
    return UNDA_OK;
}

/* Where each channel's samples of this call begin. */
static unda_status start_channels(unda_solver *s, struct dg_cuda *t)
{
    struct channels *c = &t->channels;
    int64_t *list, channel = 0;
    TRY(array_try(&list, 2 * (int64_t)c->num_channel, sizeof *list, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++)
        for (int64_t i = 0; i < s->groups[g]->num_point * s->groups[g]->num_field; i++, channel++) {
            list[channel] = s->groups[g]->first;
            list[c->num_channel + channel] = (s->step - s->groups[g]->first) / s->groups[g]->every + 1;
        }
    unda_status status = gpu_upload(t->stream, c->first, list, 8 * (int64_t)c->num_channel);
    if (status == UNDA_OK)
        status = gpu_upload(t->stream, c->start, list + c->num_channel, 8 * (int64_t)c->num_channel);
    array_free(list);
    return status;
}

static unda_status launch_record(unda_solver *s, struct dg_cuda *t)
{
    struct channels *c = &t->channels;
    struct record_args a = {.q = POINTER(t->buffer[BUF_Q]), .weight = POINTER(c->weight), .elem = POINTER(c->elem),
                            .field = POINTER(c->field), .point = POINTER(c->point), .every = POINTER(c->every),
                            .first = POINTER(c->first), .start = POINTER(c->start), .offset = POINTER(c->offset),
                            .stride = POINTER(c->stride), .out = POINTER(c->out), .clock = POINTER(t->clock),
                            .step = (int)(s->step - t->base_step), .num_channel = c->num_channel,
                            .num_node = s->dg->num_node, .num_field = s->dg->physics->num_field};
    struct gpu_shape shape = {{((int64_t)c->num_channel * 32 + BLOCK - 1) / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0};
    return gpu_launch(&t->record, t->stream, &shape, &a, sizeof a);
}

/* Fetches what this call recorded. */
static unda_status fetch_samples(unda_solver *s, struct dg_cuda *t)
{
    int64_t offset = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        struct receiver_group *group = s->groups[g];
        int64_t sample = group->num_point * group->num_field * s->real_bytes;
        int64_t count = (s->step - group->first) / group->every - (t->base_step - group->first) / group->every;
        if (count > 0 && sample > 0)
            TRY(gpu_download(t->stream, (char *)group->samples + group->held * sample,
                             t->channels.out + (gpu_ptr)offset, count * sample));
        group->held += count;
        offset += sample * (t->channels.max_step / group->every + 2);
    }
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct dg_cuda *t = tables(s);
    int64_t time = 0;
    TRY(update_channels(s, t));
    if (t->channels.num_channel)
        TRY(start_channels(s, t));
    for (int64_t i = 0; i < num_step; i++) {
        TRY(integrator_step(s, &time));
        if (t->channels.num_channel)
            TRY(launch_record(s, t));
    }
    TRY(gpu_sync(t->stream));
    return fetch_samples(s, t);
}

const struct engine dg_cuda = {"cuda", create, destroy, stage, record, read_elements, write_elements, copy, swap, drive, run, find_bad};
