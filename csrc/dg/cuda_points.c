/* cuda_points.c: what happens at points of a CUDA run: sources, exact outer data, receivers. Sources and
 * exact data are sampled before a call, receivers are recorded on the device and fetched once a call. Next:
 * cuda/dg/update.h (sources), cuda/common/state.cu (receivers). */
#include "cuda.h"

#include "common/index.h"

#include <string.h>

/* ---- lists ---- */

static unda_status list_sources(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct gpu_pool *pool = &t->lists;
    struct dg_parts parts;
    OWNER void *owned = NULL;
    int64_t num_incident = dg_tables(s)->num_incident, ranges = 4 * (t->num_block + 1);
    TRY(dg_parts_new(s, t->plan.tile, t->num_block, &parts, &owned));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_weight, parts.weight, parts.num * dg_elem_bytes(s),
                      "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_elem, parts.elem, 4 * parts.num, "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_column, parts.source, 4 * parts.num, "sources"));
    TRY(gpu_pool_copy(pool, t->stream, &t->source_range, parts.range, ranges, "source ranges"));
    t->incident = t->incident_range = 0;
    if (!dg_tables(s)->has_waves)
        return UNDA_OK;
    TRY(plan_compile(s, UPDATE_LSRK)); /* not while a graph is captured */
    if (s->options.integrator == UNDA_AB3)
        TRY(plan_compile(s, UPDATE_AB3));
    TRY(gpu_pool_copy(pool, t->stream, &t->incident_range, parts.incident_range, ranges, "incident waves"));
    return gpu_pool_copy(pool, t->stream, &t->incident, dg_tables(s)->incident,
                         (int64_t)sizeof *dg_tables(s)->incident * num_incident, "incident waves");
}

/* Of weights: each row has one, or four where derivatives are recorded. */
static int64_t num_row(const struct dg_points *p)
{
    return p->rows.num * p->rows.num_weight;
}

/* Channels of group g, whose rows begin at `row` and integrals at `place`. */
static void fill_channels(const struct dg_points *p, int32_t g, int64_t row, int64_t place,
                          struct record_channel *channel)
{
    for (int64_t i = 0; i < p->num_point; i++)
        for (int32_t f = 0; f < p->num_field; f++, channel++) {
            *channel =
                (struct record_channel){.row = row + p->first[i] * p->rows.num_weight + p->derivative[f],
                                        .offset = i * p->num_field + f,
                                        .num_row = (int)(p->first[i + 1] - p->first[i]),
                                        .skip = p->rows.num_weight,
                                        .field = p->field[f],
                                        .group = g};
            if (p->integral[f] < 0)
                continue;
            channel->row = place + p->first[i] * p->num_integral + p->integral[f];
            channel->skip = p->num_integral;
            channel->field = -1;
        }
}

/* ---- integrals over time ---- */

/* Places of all groups, with zeros. */
static unda_status list_integrals(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    SCRATCH struct integral_place *places = NULL;
    int64_t row = 0, num = 0;
    TRY(array_try(&places, t->num_place, sizeof *places, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct dg_points *p = s->groups[g]->points;
        for (int64_t i = 0; i < dg_num_place(p); i++) {
            int32_t f = p->integrand[i % p->num_integral];
            places[num++] = (struct integral_place){.row = row + i / p->num_integral * p->rows.num_weight +
                                                           p->derivative[f],
                                                    .field = p->field[f]};
        }
        row += num_row(p);
    }
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->place, places, (int64_t)sizeof *places * num, "receivers"));
    for (int i = 0; i < NUM_BUF; i++)
        TRY(gpu_pool_alloc(&t->lists, t->gpu, &t->integrals[i], 8 * num, "integrals"));
    return UNDA_OK;
}

/* Those of a buffer: between calls the groups have them, during a call the device. AB3 alone needs more than the integrals
 * after a step. */
static unda_status move_integrals(unda_solver *s, int buffer, bool out)
{
    struct dg_cuda *t = tables(s);
    SCRATCH double *all = NULL;
    int64_t at = 0, bytes = 8 * (int64_t)t->num_place;
    if (bytes == 0 || (buffer != BUF_Q && s->options.integrator != UNDA_AB3))
        return UNDA_OK;
    TRY(array_try(&all, t->num_place, sizeof *all, "integrals"));
    if (out)
        TRY(gpu_download(t->stream, all, t->integrals[buffer], bytes));
    for (int32_t g = 0; g < s->num_group; g++) {
        struct dg_points *p = s->groups[g]->points;
        double *here = p->integrals[buffer];
        memcpy(out ? here : all + at, out ? all + at : here, sizeof *all * (size_t)dg_num_place(p));
        at += dg_num_place(p);
    }
    return out ? UNDA_OK : gpu_upload(t->stream, t->integrals[buffer], all, bytes);
}

static unda_status move_all_integrals(unda_solver *s, bool out)
{
    TRY(move_integrals(s, BUF_Q, out));
    TRY(move_integrals(s, BUF_R, out));
    return move_integrals(s, BUF_R1, out);
}

unda_status points_integrate(unda_solver *s, const struct stage *stage)
{
    struct dg_cuda *t = tables(s);
    if (t->num_place == 0)
        return UNDA_OK;
    struct integral_args a = dg_integral_args(s, stage);
    a.q = POINTER(t->buffer[BUF_Q]);
    a.elem = POINTER(t->channel_elem);
    a.r = POINTER(t->integrals[stage->r]);
    a.total = space_num_total(&dg_tables(s)->space) * dg_tables(s)->space.num_node;
    return points_launch_integrate(s, &a);
}

unda_status points_launch_integrate(unda_solver *s, struct integral_args *a)
{
    struct dg_cuda *t = tables(s);
    struct gpu_shape warps = gpu_threads((int64_t)t->num_place * 32), places = gpu_threads(t->num_place);
    a->weight = POINTER(t->channel_weight);
    a->place = POINTER(t->place);
    a->u = POINTER(t->integrals[BUF_Q]);
    a->r1 = POINTER(t->integrals[BUF_R1]);
    a->num_place = t->num_place;
    if (a->value)
        warps.grid[1] = (int64_t)a->num_step * t->resident.num_level;
    TRY(gpu_launch(&t->integrate, t->stream, &warps, a, sizeof *a));
    return a->value ? gpu_launch(&t->integrate_stages, t->stream, &places, a, sizeof *a) : UNDA_OK;
}

/* ---- receivers ---- */

static unda_status upload_channels(unda_solver *s, int64_t rows)
{
    struct dg_cuda *t = tables(s);
    int64_t num_node = dg_tables(s)->space.num_node, channel = 0, row = 0, place = 0;
    SCRATCH struct record_channel *channels = NULL;
    SCRATCH int64_t *elem = NULL;
    SCRATCH double *weight = NULL;
    TRY(array_try(&channels, t->num_channel, sizeof *channels, "receivers"));
    TRY(array_try(&elem, rows, sizeof *elem, "receivers"));
    TRY(array_try(&weight, rows * num_node, sizeof *weight, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct dg_points *p = s->groups[g]->points;
        memcpy(weight + row * num_node, p->rows.weight, sizeof *weight * (size_t)(num_row(p) * num_node));
        for (int64_t k = 0; k < num_row(p); k++)
            elem[row + k] = p->rows.elem[k / p->rows.num_weight];
        fill_channels(p, g, row, place, channels + channel);
        channel += p->num_point * p->num_field;
        place += dg_num_place(p);
        row += num_row(p);
    }
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel, channels, (int64_t)sizeof *channels * channel,
                      "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel_elem, elem, 8 * rows, "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel_weight, weight, 8 * rows * num_node, "receivers"));
    TRY(resident_list(s, elem, rows));
    TRY(list_integrals(s));
    return cuda_record_list(s, &t->samples, t->gpu, &t->lists);
}

unda_status points_list(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    int64_t rows = 0, num_channel = 0, num_place = 0;
    batches_free(t);
    gpu_pool_free(&t->lists);
    for (int32_t g = 0; g < s->num_group; g++) {
        rows += num_row(s->groups[g]->points);
        num_channel += s->groups[g]->num_point * s->groups[g]->num_field;
        num_place += dg_num_place(s->groups[g]->points);
    }
    if (num_channel > INT32_MAX || num_place > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "receivers record %lld values and integrate %lld, expected at most 2147483647",
             (long long)num_channel, (long long)num_place);
    t->num_channel = (int)num_channel;
    t->num_place = (int)num_place;
    TRY(upload_channels(s, rows));
    return list_sources(s);
}

/* ---- calls ---- */

unda_status points_reserve(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    int64_t num_time = dg_max_time(s), real = s->real_bytes;
    batches_free(t);
    gpu_pool_free(&t->room);
    TRY(gpu_pool_alloc(&t->room, t->gpu, &t->amplitude, num_time * s->num_source * real, "amplitudes"));
    TRY(gpu_pool_alloc(&t->room, t->gpu, &t->exact, dg_num_exact(s, num_time) * real, "exact data"));
    TRY(resident_reserve(s));
    return cuda_record_reserve(s, &t->samples, t->gpu, &t->room);
}

unda_status points_drive(unda_solver *s, const unda_drive *drive)
{
    struct dg_cuda *t = tables(s);
    int64_t clock[2] = {0, s->step};
    t->base_step = s->step;
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    TRY(gpu_upload_reals(t->stream, t->exact, drive->exact, dg_num_exact(s, drive->num_time), s->real_bytes));
    return gpu_upload_reals(t->stream, t->amplitude, drive->amplitudes, drive->num_time * s->num_source,
                            s->real_bytes);
}

unda_status points_begin(unda_solver *s)
{
    TRY(move_all_integrals(s, false));
    return cuda_record_begin(s, &tables(s)->samples, tables(s)->stream);
}

struct record_args points_record_args(const unda_solver *s)
{
    const struct dg_cuda *t = tables(s);
    return (struct record_args){.q = POINTER(t->buffer[BUF_Q]),
                                .weight = POINTER(t->channel_weight),
                                .elem = POINTER(t->channel_elem),
                                .channel = POINTER(t->channel),
                                .group = POINTER(t->samples.group),
                                .out = POINTER(t->samples.out),
                                .clock = POINTER(t->clock),
                                .integral = POINTER(t->integrals[BUF_Q]),
                                .step = (int)(s->step - t->base_step),
                                .num_channel = t->num_channel,
                                .num_node = dg_tables(s)->space.num_node,
                                .num_field = dg_tables(s)->physics->num_field,
                                .total =
                                    space_num_total(&dg_tables(s)->space) * dg_tables(s)->space.num_node};
}

unda_status points_launch_record(unda_solver *s, void *of)
{
    (void)of;
    struct dg_cuda *t = tables(s);
    if (t->num_channel == 0)
        return UNDA_OK;
    struct record_args a = points_record_args(s);
    struct gpu_shape shape = gpu_threads((int64_t)t->num_channel * 32);
    return gpu_launch(&t->record, t->stream, &shape, &a, sizeof a);
}

unda_status points_fetch(unda_solver *s)
{
    TRY(move_all_integrals(s, true));
    return cuda_record_fetch(s, &tables(s)->samples, tables(s)->stream);
}

void points_free(unda_solver *s)
{
    gpu_pool_free(&tables(s)->lists);
    gpu_pool_free(&tables(s)->room);
    array_free(tables(s)->samples.groups);
}
