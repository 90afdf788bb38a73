/* dg_cuda_points.c: what happens at points of a CUDA run: sources, exact outer data, receivers. Sources and
 * exact data are sampled before a call, receivers are recorded on the device and fetched once a call. Next:
 * cuda/dg/update.h (sources), cuda/common/state.cu (receivers). */
#include "dg_cuda.h"

#include "common/index.h"

#include <string.h>

static void free_sources(struct dg_cuda *t)
{
    gpu_ptr *all[] = {&t->incident, &t->incident_range, &t->source_weight, &t->source_elem,
                      &t->source_column};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gpu_free(t->gpu, *all[i]);
        *all[i] = 0;
    }
    t->source_version = -1;
}

static unda_status update_incident(unda_solver *s, struct dg_cuda *t)
{
    if (dg_tables(s)->num_incident == 0)
        return UNDA_OK;
    int32_t *range;
    TRY(plan_compile(s, UPDATE_LSRK)); /* not while a graph is captured */
    if (s->options.integrator == UNDA_AB3)
        TRY(plan_compile(s, UPDATE_AB3));
    TRY(array_try(&range, t->num_block + 1, sizeof *range, "incident waves"));
    incident_ranges(s, t->plan.tile, t->num_block, range);
    unda_status status =
        gpu_alloc_copy(t->stream, &t->incident_range, range, 4 * (t->num_block + 1), "incident waves");
    if (status == UNDA_OK)
        status = gpu_alloc_copy(t->stream, &t->incident, dg_tables(s)->incident,
                                (int64_t)sizeof *dg_tables(s)->incident * dg_tables(s)->num_incident,
                                "incident waves");
    array_free(range);
    return status;
}

/* Host copies of what the kernels read of the parts of sources. */
struct part_lists {
    int32_t *elem, *column, *range;
    double *weight;
};

static unda_status fill_sources(unda_solver *s, struct dg_cuda *t, struct part_lists *l,
                                const struct dg_part *parts, int64_t num_part)
{
    int64_t num_value = dg_tables(s)->space.num_node * dg_tables(s)->physics->num_field;
    TRY(array_try(&l->elem, num_part, sizeof *l->elem, "sources"));
    TRY(array_try(&l->column, num_part, sizeof *l->column, "sources"));
    TRY(array_try(&l->range, t->num_block + 1, sizeof *l->range, "source ranges"));
    TRY(array_try(&l->weight, num_part * num_value, sizeof *l->weight, "sources"));
    for (int64_t i = 0; i < num_part; i++) {
        l->elem[i] = (int32_t)parts[i].elem;
        l->column[i] = parts[i].source;
        memcpy(l->weight + i * num_value, parts[i].weight, sizeof(double) * (size_t)num_value);
    }
    dg_part_ranges(parts, num_part, t->plan.tile, t->num_block, l->range);
    TRY(gpu_alloc(t->gpu, &t->source_weight, num_part * num_value * s->real_bytes, "sources"));
    TRY(upload_real(s, t->source_weight, l->weight, num_part * num_value));
    TRY(gpu_alloc_copy(t->stream, &t->source_elem, l->elem, 4 * num_part, "sources"));
    TRY(gpu_alloc_copy(t->stream, &t->source_column, l->column, 4 * num_part, "sources"));
    return gpu_upload(t->stream, t->source_range, l->range, 4 * (t->num_block + 1));
}

static unda_status update_sources(unda_solver *s, struct dg_cuda *t)
{
    struct dg_part *parts;
    struct part_lists lists = {0};
    int64_t num_part;
    free_sources(t);
    TRY(dg_parts_new(s, &parts, &num_part));
    unda_status status = fill_sources(s, t, &lists, parts, num_part);
    void *all[] = {parts, lists.elem, lists.column, lists.range, lists.weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_free(all[i]);
    TRY(status);
    TRY(update_incident(s, t));
    t->source_version = s->point_version;
    return UNDA_OK;
}

static unda_status reserve_drive(unda_solver *s, int64_t num_time)
{
    struct dg_cuda *t = tables(s);
    int64_t num = num_time * s->num_source;
    int64_t num_exact =
        num_time * solver_num_slot(s) * dg_tables(s)->space.num_face_node * dg_tables(s)->physics->num_field;
    if (t->source_version != s->point_version)
        TRY(update_sources(s, t));
    TRY(gpu_grow(t->gpu, &t->amplitude, &t->amplitude_bytes, num * s->real_bytes, "source amplitudes"));
    return gpu_grow(t->gpu, &t->exact, &t->exact_bytes, num_exact * s->real_bytes, "exact data");
}

unda_status points_drive(unda_solver *s, const unda_drive *drive)
{
    struct dg_cuda *t = tables(s);
    int64_t clock[2] = {0, s->step};
    TRY(reserve_drive(s, drive->num_time));
    t->base_step = s->step;
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    TRY(upload_real(s, t->exact, drive->exact,
                    drive->num_time * solver_num_slot(s) * dg_tables(s)->space.num_face_node *
                        dg_tables(s)->physics->num_field));
    return upload_real(s, t->amplitude, drive->amplitudes, drive->num_time * s->num_source);
}

/* ---- receivers ---- */

static double value_at(const unda_solver *s, const struct receiver_group *group, int64_t place, int32_t f,
                       const double *state)
{
    int num_node = dg_tables(s)->space.num_node, num_field = dg_tables(s)->physics->num_field;
    const double *weight = receiver_weight(s, group, place, f);
    double sum = 0;
    for (int n = 0; n < num_node; n++) {
        int at = n * num_field + dg_points(group)->field[f];
        sum += weight[n] * (s->real_bytes == 4 ? (double)((const float *)state)[at] : state[at]);
    }
    return sum;
}

static unda_status record(unda_solver *s, struct receiver_group *group, double *sum)
{
    const struct dg_points *p = dg_points(group);
    double state[MAX_NODE * MAX_FIELD];
    for (int64_t i = 0; i < group->num_point; i++) {
        memset(sum, 0, sizeof *sum * (size_t)group->num_field);
        for (int64_t place = p->first[i]; place < p->first[i + 1]; place++) {
            TRY(state_read(s, BUF_Q, 1, &p->elem[place], state));
            for (int32_t f = 0; f < group->num_field; f++)
                sum[f] += value_at(s, group, place, f, state);
        }
        for (int32_t f = 0; f < group->num_field; f++) {
            int64_t at = (group->held * group->num_point + i) * group->num_field + f;
            if (s->real_bytes == 4)
                ((float *)group->samples)[at] = (float)sum[f];
            else
                ((double *)group->samples)[at] = sum[f];
        }
    }
    group->held++;
    return UNDA_OK;
}

/* Sample of one group at once, on the host: when it is added. */
unda_status points_record(unda_solver *s, struct receiver_group *group)
{
    double *sum;
    TRY(array_try(&sum, group->num_field, sizeof *sum, "receivers"));
    unda_status status = record(s, group, sum);
    array_free(sum);
    return status;
}

static void free_channels(struct dg_cuda *t)
{
    gpu_ptr *all[] = {&t->channels.weight, &t->channels.elem,    &t->channels.field, &t->channels.row,
                      &t->channels.every,  &t->channels.first,   &t->channels.start, &t->channels.offset,
                      &t->channels.stride, &t->channels.num_row, &t->channels.skip,  &t->channels.out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(t->gpu, *all[i]);
    array_free(t->channels.list);
    t->channels = (struct channels){.version = -1};
}

struct channel_lists {
    int64_t *elem, *offset, *stride;
    int32_t *field, *row, *num_row, *skip, *every;
    double *weight;
};

/* Rows of weights: each place has one, or four where derivatives are recorded. */
static int64_t num_row(const struct receiver_group *group)
{
    return dg_points(group)->first[group->num_point] * dg_points(group)->num_weight;
}

static unda_status fill_channels(unda_solver *s, struct channels *c, struct channel_lists *l, int64_t rows)
{
    int64_t channel = 0, row = 0, offset = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        const struct dg_points *p = dg_points(group);
        int64_t sample = group->num_point * group->num_field;
        memcpy(l->weight + row * dg_tables(s)->space.num_node, p->weight,
               sizeof(double) * (size_t)(num_row(group) * dg_tables(s)->space.num_node));
        for (int64_t k = 0; k < num_row(group); k++)
            l->elem[row + k] = p->elem[k / p->num_weight];
        for (int64_t i = 0; i < group->num_point; i++)
            for (int32_t f = 0; f < group->num_field; f++, channel++) {
                l->field[channel] = p->field[f];
                l->row[channel] = (int32_t)(row + p->first[i] * p->num_weight + p->derivative[f]);
                l->num_row[channel] = (int32_t)(p->first[i + 1] - p->first[i]);
                l->skip[channel] = p->num_weight;
                l->every[channel] = (int32_t)group->every;
                l->offset[channel] = offset + i * group->num_field + f;
                l->stride[channel] = sample;
            }
        row += num_row(group);
        offset += sample * (s->max_step / group->every + 2);
    }
    struct gpu_stream *stream = tables(s)->stream;
    TRY(gpu_alloc_copy(stream, &c->elem, l->elem, 8 * rows, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->weight, l->weight, 8 * rows * dg_tables(s)->space.num_node, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->field, l->field, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->row, l->row, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->num_row, l->num_row, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->skip, l->skip, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->every, l->every, 4 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->offset, l->offset, 8 * channel, "receivers"));
    TRY(gpu_alloc_copy(stream, &c->stride, l->stride, 8 * channel, "receivers"));
    TRY(gpu_alloc(tables(s)->gpu, &c->first, 8 * channel, "receivers"));
    TRY(gpu_alloc(tables(s)->gpu, &c->start, 8 * channel, "receivers"));
    return gpu_alloc(tables(s)->gpu, &c->out, offset * s->real_bytes, "receiver samples");
}

static void free_lists(struct channel_lists *l)
{
    void *all[] = {l->elem, l->offset, l->stride, l->field, l->row, l->num_row, l->skip, l->every, l->weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_free(all[i]);
}

static unda_status new_lists(struct channel_lists *l, int64_t num_channel, int64_t rows, int num_node)
{
    TRY(array_try(&l->elem, rows, 8, "receivers"));
    TRY(array_try(&l->weight, rows * num_node, 8, "receivers"));
    TRY(array_try(&l->offset, num_channel, 8, "receivers"));
    TRY(array_try(&l->stride, num_channel, 8, "receivers"));
    TRY(array_try(&l->field, num_channel, 4, "receivers"));
    TRY(array_try(&l->row, num_channel, 4, "receivers"));
    TRY(array_try(&l->num_row, num_channel, 4, "receivers"));
    TRY(array_try(&l->skip, num_channel, 4, "receivers"));
    return array_try(&l->every, num_channel, 4, "receivers");
}

/* Tables of the receivers, when groups or the reserved number of steps changed. */
static unda_status update_channels(unda_solver *s, struct dg_cuda *t)
{
    struct channels *c = &t->channels;
    if (c->version == s->point_version && c->max_step >= s->max_step)
        return UNDA_OK;
    int64_t rows = 0, num_channel = 0;
    struct channel_lists lists = {0};
    free_channels(t);
    for (int32_t g = 0; g < s->num_group; g++) {
        rows += num_row(s->groups[g]);
        num_channel += s->groups[g]->num_point * s->groups[g]->num_field;
    }
    unda_status status = rows > INT32_MAX
                             ? error_set(UNDA_ERR_ARG, __FILE__, __LINE__,
                                         "receivers take %lld rows of weights, expected at most "
                                         "2147483647",
                                         (long long)rows)
                             : new_lists(&lists, num_channel, rows, dg_tables(s)->space.num_node);
    if (status == UNDA_OK)
        status = fill_channels(s, c, &lists, rows);
    free_lists(&lists);
    if (status == UNDA_OK)
        status = array_try(&c->list, 2 * num_channel, sizeof *c->list, "receivers");
    TRY(status);
    c->num_channel = (int)num_channel;
    c->version = s->point_version;
    c->max_step = s->max_step;
    return UNDA_OK;
}

/* Where each channel's samples of this call begin. Receivers may have come after the reservation. */
unda_status points_begin(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct channels *c = &t->channels;
    TRY(update_channels(s, t));
    int64_t channel = 0, bytes = 8 * (int64_t)c->num_channel;
    if (bytes == 0)
        return UNDA_OK;
    for (int32_t g = 0; g < s->num_group; g++)
        for (int64_t i = 0; i < s->groups[g]->num_point * s->groups[g]->num_field; i++, channel++) {
            c->list[channel] = s->groups[g]->first;
            c->list[c->num_channel + channel] = (s->step - s->groups[g]->first) / s->groups[g]->every + 1;
        }
    TRY(gpu_upload(t->stream, c->first, c->list, bytes));
    return gpu_upload(t->stream, c->start, c->list + c->num_channel, bytes);
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
                            .field = POINTER(c->field),
                            .row = POINTER(c->row),
                            .num_row = POINTER(c->num_row),
                            .skip = POINTER(c->skip),
                            .every = POINTER(c->every),
                            .first = POINTER(c->first),
                            .start = POINTER(c->start),
                            .offset = POINTER(c->offset),
                            .stride = POINTER(c->stride),
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
        int64_t count = (s->step - group->first) / group->every - (begin - group->first) / group->every;
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
    free_sources(t);
    gpu_free(t->gpu, t->amplitude);
    gpu_free(t->gpu, t->exact);
}
