/* cuda_points.c: what happens at points of a CUDA run: sources, exact outer data, receivers. Sources and
 * exact data are sampled before a call, receivers are recorded on the device and fetched once a call. Next:
 * cuda/dg/update.h (sources), cuda/common/state.cu (receivers). */
#include "cuda.h"

#include "common/index.h"

#include <string.h>

/* ---- sources, exact data ---- */

static unda_status upload_parts(unda_solver *s, struct dg_cuda *t, const struct dg_parts *parts)
{
    int64_t num_incident = dg_tables(s)->num_incident, ranges = 4 * (t->num_block + 1);
    struct gpu_pool *pool = &t->source_pool;
    TRY(gpu_pool_copy(pool, t->stream, &t->source_weight, parts->weight, parts->num * elem_bytes(s),
                      "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_elem, parts->elem, 4 * parts->num, "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_column, parts->source, 4 * parts->num, "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_range, parts->range, ranges, "source ranges"));
    t->incident = t->incident_range = 0;
    if (num_incident == 0)
        return UNDA_OK;
    TRY(plan_compile(s, UPDATE_LSRK)); /* not while a graph is captured */
    if (s->options.integrator == UNDA_AB3)
        TRY(plan_compile(s, UPDATE_AB3));
    TRY(gpu_pool_copy(pool, t->stream, &t->incident_range, parts->incident_range, ranges, "incident waves"));
    return gpu_pool_copy(pool, t->stream, &t->incident, dg_tables(s)->incident,
                         (int64_t)sizeof *dg_tables(s)->incident * num_incident, "incident waves");
}

static unda_status update_sources(unda_solver *s, struct dg_cuda *t)
{
    struct dg_parts parts;
    if (t->source_version == s->point_version)
        return UNDA_OK;
    gpu_pool_free(&t->source_pool);
    t->source_version = -1;
    unda_status status = dg_parts_new(s, t->plan.tile, t->num_block, &parts);
    if (status == UNDA_OK)
        status = upload_parts(s, t, &parts);
    dg_parts_free(&parts);
    TRY(status);
    t->source_version = s->point_version;
    return UNDA_OK;
}

/* Exact values in a call of so many times. */
static int64_t num_exact(const unda_solver *s, int64_t num_time)
{
    return num_time * solver_num_slot(s) * dg_tables(s)->space.num_face_node *
           dg_tables(s)->physics->num_field;
}

static unda_status reserve_drive(unda_solver *s, int64_t num_time)
{
    struct dg_cuda *t = tables(s);
    TRY(update_sources(s, t));
    TRY(gpu_grow(t->gpu, &t->amplitude, &t->amplitude_bytes, num_time * s->num_source * s->real_bytes,
                 "source amplitudes"));
    return gpu_grow(t->gpu, &t->exact, &t->exact_bytes, num_exact(s, num_time) * s->real_bytes, "exact data");
}

unda_status points_drive(unda_solver *s, const unda_drive *drive)
{
    struct dg_cuda *t = tables(s);
    int64_t clock[2] = {0, s->step};
    TRY(reserve_drive(s, drive->num_time));
    t->base_step = s->step;
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    TRY(gpu_upload_reals(t->stream, t->exact, drive->exact, num_exact(s, drive->num_time), s->real_bytes));
    return gpu_upload_reals(t->stream, t->amplitude, drive->amplitudes, drive->num_time * s->num_source,
                            s->real_bytes);
}

/* ---- receivers ---- */

static void free_channels(struct dg_cuda *t)
{
    gpu_pool_free(&t->channels.pool);
    array_free(t->channels.list);
    t->channels = (struct channels){.version = -1};
}

/* Of weights: each row has one, or four where derivatives are recorded. */
static int64_t num_row(const struct dg_points *p)
{
    return p->rows.num * p->rows.num_weight;
}

/* Channels of group g; row, offset: where its rows and its samples begin. */
static void fill_channels(const struct dg_points *p, int32_t g, int64_t row, int64_t offset,
                          struct record_channel *channel)
{
    for (int64_t i = 0; i < p->num_point; i++)
        for (int32_t f = 0; f < p->num_field; f++)
            *channel++ =
                (struct record_channel){.row = row + p->first[i] * p->rows.num_weight + p->derivative[f],
                                        .offset = offset + i * p->num_field + f,
                                        .num_row = (int)(p->first[i + 1] - p->first[i]),
                                        .skip = p->rows.num_weight,
                                        .field = p->field[f],
                                        .group = g};
}

static unda_status upload_channels(unda_solver *s, struct channels *c, int64_t rows)
{
    int64_t num_node = dg_tables(s)->space.num_node, channel = 0, row = 0, offset = 0;
    struct gpu_stream *stream = tables(s)->stream;
    SCRATCH struct record_channel *channels = NULL;
    SCRATCH int64_t *elem = NULL;
    SCRATCH double *weight = NULL;
    TRY(array_try(&channels, c->num_channel, sizeof *channels, "receivers"));
    TRY(array_try(&elem, rows, sizeof *elem, "receivers"));
    TRY(array_try(&weight, rows * num_node, sizeof *weight, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct dg_points *p = s->groups[g]->points;
        int64_t sample = p->num_point * p->num_field;
        memcpy(weight + row * num_node, p->rows.weight, sizeof *weight * (size_t)(num_row(p) * num_node));
        for (int64_t k = 0; k < num_row(p); k++)
            elem[row + k] = p->rows.elem[k / p->rows.num_weight];
        fill_channels(p, g, row, offset, channels + channel);
        channel += sample;
        row += num_row(p);
        offset += sample * (s->max_step / s->groups[g]->every + 2);
    }
    TRY(gpu_pool_copy(&c->pool, stream, &c->channel, channels, (int64_t)sizeof *channels * channel,
                      "receivers"));
    TRY(gpu_pool_copy(&c->pool, stream, &c->elem, elem, 8 * rows, "receivers"));
    TRY(gpu_pool_copy(&c->pool, stream, &c->weight, weight, 8 * rows * num_node, "receivers"));
    TRY(gpu_pool_alloc(&c->pool, tables(s)->gpu, &c->group, (int64_t)sizeof *c->list * s->num_group,
                       "receivers"));
    TRY(array_try(&c->list, s->num_group, sizeof *c->list, "receivers"));
    return gpu_pool_alloc(&c->pool, tables(s)->gpu, &c->out, offset * s->real_bytes, "receiver samples");
}

/* Tables of the receivers, when groups or the reserved number of steps changed. */
static unda_status update_channels(unda_solver *s, struct dg_cuda *t)
{
    struct channels *c = &t->channels;
    int64_t rows = 0, num_channel = 0;
    if (c->version == s->point_version && c->max_step >= s->max_step)
        return UNDA_OK;
    free_channels(t);
    for (int32_t g = 0; g < s->num_group; g++) {
        rows += num_row(s->groups[g]->points);
        num_channel += s->groups[g]->num_point * s->groups[g]->num_field;
    }
    if (num_channel > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "receivers record %lld values, expected at most 2147483647",
             (long long)num_channel);
    c->num_channel = (int)num_channel;
    TRY(upload_channels(s, c, rows));
    c->version = s->point_version;
    c->max_step = s->max_step;
    return UNDA_OK;
}

/* Where each group's samples of this call begin. Receivers may have come after the reservation. */
unda_status points_begin(unda_solver *s)
{
    struct channels *c = &tables(s)->channels;
    TRY(update_channels(s, tables(s)));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        c->list[g] = (struct record_group){.first = group->first,
                                           .every = group->every,
                                           .start = (s->step - group->first) / group->every + 1,
                                           .stride = group->num_point * group->num_field};
    }
    return gpu_upload(tables(s)->stream, c->group, c->list, (int64_t)sizeof *c->list * s->num_group);
}

unda_status points_launch_record(unda_solver *s, void *of)
{
    (void)of;
    struct dg_cuda *t = tables(s);
    struct channels *c = &t->channels;
    if (c->num_channel == 0)
        return UNDA_OK;
    struct record_args a = {.q = POINTER(t->buffer[BUF_Q]),
                            .weight = POINTER(c->weight),
                            .elem = POINTER(c->elem),
                            .channel = POINTER(c->channel),
                            .group = POINTER(c->group),
                            .out = POINTER(c->out),
                            .clock = POINTER(t->clock),
                            .step = (int)(s->step - t->base_step),
                            .num_channel = c->num_channel,
                            .num_node = dg_tables(s)->space.num_node,
                            .num_field = dg_tables(s)->physics->num_field,
                            .total = space_num_total(&dg_tables(s)->space) * dg_tables(s)->space.num_node};
    struct gpu_shape shape = gpu_threads((int64_t)c->num_channel * 32);
    return gpu_launch(&t->record, t->stream, &shape, &a, sizeof a);
}

/* Fetches what this call recorded. */
unda_status points_fetch(unda_solver *s, int64_t begin)
{
    struct dg_cuda *t = tables(s);
    int64_t offset = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        struct receiver_group *group = s->groups[g];
        int64_t sample = group->num_point * group->num_field * s->real_bytes;
        int64_t count = receiver_num_since(group, begin, s->step);
        if (count > 0 && sample > 0)
            TRY(gpu_download(t->stream, (char *)group->samples + group->held * sample,
                             t->channels.out + (gpu_ptr)offset, count * sample));
        group->held += count;
        offset += sample * (t->channels.max_step / group->every + 2);
    }
    return UNDA_OK;
}

/* Room for calls of max_step steps, so that stepping allocates nothing. */
unda_status points_reserve(unda_solver *s)
{
    TRY(reserve_drive(s, integration_num_time(&dg_tables(s)->integration, s->max_step)));
    return update_channels(s, tables(s));
}

void points_free(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    free_channels(t);
    gpu_pool_free(&t->source_pool);
    gpu_free(t->gpu, t->amplitude);
    gpu_free(t->gpu, t->exact);
}
