/* cuda_resident.c: many steps of a small problem in one launch (cuda/dg/resident.cu), with the bits of kernel fused stage
 * by stage. What it needs on the device is made when a call may be long. Next: resident_plan.c (whether, and how),
 * cuda.c, which asks before each step. */
#include "cuda.h"

#include "common/index.h"

#include <stdio.h>

enum {
    /* Of what is left of a call, unless the option asks for such launches: fewer go stage by stage. */
    LEAST_STEP = 8,
    LEAST_CALL = 32, /* the same: steps of a call for which the kernel is compiled */
    /* States of elements with receivers after each step of a launch, and of those with monitors. */
    HISTORY_BYTES = 64 << 20,
    MOST_STATE = 65535, /* of receivers that integrate: a row of blocks each */
};

/* ---- tables ---- */

void resident_free(struct resident *r)
{
    gpu_pool_free(&r->pool);
    gpu_module_free(r->module);
    *r = (struct resident){.most_step = 0};
}

static unda_status upload(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    int64_t bytes = resident_mailbox_bytes(s);
    SCRATCH double *matrix = NULL;
    TRY(array_try(&matrix, r->plan.num_matrix, sizeof *matrix, "matrix"));
    TRY(r->plan.kernel->pack(s, &r->plan, matrix, NULL));
    TRY(gpu_pool_alloc(&r->pool, t->gpu, &r->matrix, r->plan.num_matrix * s->real_bytes, "matrix"));
    TRY(gpu_pool_alloc(&r->pool, t->gpu, &r->mailbox, bytes, "mailboxes"));
    TRY(gpu_zero_async(t->stream, r->mailbox, bytes));
    TRY(gpu_upload_reals(t->stream, r->matrix, matrix, r->plan.num_matrix, s->real_bytes));
    return gpu_sync(t->stream);
}

/* What a call left that failed is not taken for whole by the next. */
static void forget(struct resident *r)
{
    gpu_pool_free(&r->pool);
    gpu_module_free(r->module);
    r->module = NULL;
    r->matrix = r->mailbox = (gpu_ptr){0};
}

/* Without room for all its blocks at once the kernel is not used. */
static unda_status compile(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    struct gpu_defines defines = {.num = 0};
    int update = s->options.integrator == UNDA_AB3 ? UPDATE_AB3 : UPDATE_LSRK;
    struct gpu_source source = plan_source(s, &r->plan, update, &defines);
    int64_t room, num = dg_tables(s)->space.num_owned;
    double begin = clock_seconds();
    r->num_block = (num + r->plan.tile - 1) / r->plan.tile;
    r->incident = dg_tables(s)->has_waves;
    r->sampled = s->num_monitor > 0;
    gpu_module_free(r->module);
    r->module = NULL;
    TRY(gpu_module_new(&r->module, t->gpu, &source));
    TRY(gpu_kernel_get(&r->kernel, r->module, "dg_resident", r->plan.shared_bytes));
    s->compile_seconds += clock_seconds() - begin;
    TRY(gpu_resident_blocks(&r->kernel, r->plan.threads, r->plan.shared_bytes, &room));
    if (r->num_block > room) {
        log_add(UNDA_LOG_WARNING,
                "the device has room for %lld of %lld resident blocks: steps go stage by stage",
                (long long)room, (long long)r->num_block);
        resident_give_up(s);
    }
    return UNDA_OK;
}

/* ---- points ---- */

/* Numbers the elements of receivers: of each element, and of each of `rows` rows of weights. */
static unda_status list_slots(unda_solver *s, const int64_t *elem, int64_t rows)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    int64_t num = dg_tables(s)->space.num_owned;
    SCRATCH int32_t *slot = NULL;
    SCRATCH int64_t *of_row = NULL;
    TRY(array_try(&slot, num, sizeof *slot, "receivers"));
    TRY(array_try(&of_row, rows, sizeof *of_row, "receivers"));
    r->num_slot = 0;
    for (int64_t i = 0; i < num; i++)
        slot[i] = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (slot[elem[i]] < 0)
            slot[elem[i]] = r->num_slot++;
        of_row[i] = slot[elem[i]];
    }
    r->num_slot = (r->num_slot + 3) / 4 * 4; /* the state after each step begins at a whole vector */
    TRY(gpu_pool_copy(&t->lists, t->stream, &r->slot, slot, 4 * num, "receivers"));
    return gpu_pool_copy(&t->lists, t->stream, &r->row_slot, of_row, 8 * rows, "receivers");
}

unda_status resident_list(unda_solver *s, const int64_t *elem, int64_t rows)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    struct dg_parts parts;
    OWNER void *owned = NULL;
    if (r->most_step < 2)
        return UNDA_OK;
    int64_t num = (dg_tables(s)->space.num_owned + r->plan.tile - 1) / r->plan.tile;
    TRY(list_slots(s, elem, rows));
    TRY(dg_parts_new(s, r->plan.tile, num, &parts, &owned));
    if (parts.incident_range)
        TRY(gpu_pool_copy(&t->lists, t->stream, &r->incident_range, parts.incident_range, 4 * (num + 1),
                          "incident waves"));
    return gpu_pool_copy(&t->lists, t->stream, &r->source_range, parts.range, 4 * (num + 1), "source ranges");
}

static int64_t slots_bytes(const unda_solver *s)
{
    return tables(s)->resident.num_slot * dg_elem_bytes(s);
}

/* Of the states of so many steps, and of that before them. */
static int64_t history_bytes(const unda_solver *s, int64_t num_step)
{
    return (num_step * tables(s)->resident.num_level + 1) * slots_bytes(s);
}

static unda_status prepare(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    if (!r->module || r->incident != dg_tables(s)->has_waves || r->sampled != (s->num_monitor > 0))
        TRY(compile(s));
    if (r->most_step < 2)
        return UNDA_OK;
    if (!r->matrix)
        TRY(upload(s));
    r->num_step = r->most_step < s->max_step ? r->most_step : s->max_step;
    r->num_level = t->num_place > 0 ? dg_tables(s)->integration.kind->num_stage : 1;
    while (r->num_step > 1 &&
           (history_bytes(s, r->num_step) + resident_sample_bytes(s, r->num_step) > HISTORY_BYTES ||
            r->num_step * r->num_level > MOST_STATE))
        r->num_step /= 2;
    TRY(resident_sample_reserve(s, r->num_step));
    int64_t integrals = 8 * r->num_step * t->num_place;
    TRY(gpu_pool_alloc(&t->room, t->gpu, &r->integral, integrals, "integrals"));
    TRY(gpu_pool_alloc(&t->room, t->gpu, &r->value, integrals * r->num_level, "integrals"));
    return gpu_pool_alloc(&t->room, t->gpu, &r->history, history_bytes(s, r->num_step), "receivers");
}

unda_status resident_reserve(unda_solver *s)
{
    struct resident *r = &tables(s)->resident;
    if (r->most_step < 2 || s->max_step < (r->asked ? 1 : LEAST_CALL))
        return UNDA_OK;
    unda_status status = prepare(s);
    if (status == UNDA_OK)
        return UNDA_OK;
    forget(r);
    if (r->asked || status != UNDA_ERR_DEVICE_MEMORY)
        return status;
    log_add(UNDA_LOG_WARNING, "the device has no memory for launches of many steps: steps go stage by stage");
    resident_give_up(s);
    return UNDA_OK;
}

/* ---- steps ---- */

static int64_t least(const struct resident *r)
{
    return r->asked ? 1 : LEAST_STEP;
}

bool resident_takes(const unda_solver *s, int64_t num_step)
{
    const struct resident *r = &tables(s)->resident;
    const struct integration *in = &dg_tables(s)->integration;
    return r->most_step > 1 && r->module && num_step >= least(r) && in->num_valid == in->kind->num_level;
}

/* keep: the state becomes that after these steps. */
static unda_status launch(unda_solver *s, int64_t num_step, int64_t time, bool keep)
{
    struct dg_cuda *t = tables(s);
    struct resident *r = &t->resident;
    const struct integrator *kind = dg_tables(s)->integration.kind;
    const double *c = kind->stage[0];
    struct stage stage = {kind->update, BUF_R, time, c[1], c[2], c[3], c[4], c[5]};
    struct dg_resident_args a = {.stage = dg_cuda_arguments(s, &stage),
                                 .mailbox = POINTER(r->mailbox),
                                 .history = POINTER(r->history),
                                 .slot = r->num_slot ? POINTER(r->slot) : NULL,
                                 .num_slot = r->num_slot,
                                 .num_level = r->num_level,
                                 .num_step = (int)num_step,
                                 .tag = r->tag + 1};
    struct gpu_shape shape = {.grid = {r->num_block},
                              .block = {r->plan.threads},
                              .shared_bytes = r->plan.shared_bytes,
                              .together = true};
    a.stage.q_new = keep ? POINTER(t->buffer[BUF_Q]) : NULL;
    a.stage.matrix = POINTER(r->matrix);
    a.stage.source_range = POINTER(r->source_range);
    a.stage.incident_range = POINTER(r->incident_range);
    for (int k = 0; k < kind->num_stage; k++) {
        a.a[k] = kind->stage[k][1];
        a.b[k] = kind->stage[k][2];
    }
    resident_sample_args(s, &a);
    r->tag += (unsigned)(num_step * kind->num_stage);
    return gpu_launch(&r->kernel, t->stream, &shape, &a, sizeof a);
}

/* Integrals over time of these steps, from the states before their stages. */
static unda_status integrate(unda_solver *s, int64_t num_step)
{
    struct dg_cuda *t = tables(s);
    const struct resident *r = &t->resident;
    const struct integrator *kind = dg_tables(s)->integration.kind;
    const double *c = kind->stage[0];
    if (t->num_place == 0)
        return UNDA_OK;
    struct stage stage = {kind->update, BUF_R, 0, c[1], c[2], c[3], c[4], c[5]};
    struct integral_args a = dg_integral_args(s, &stage);
    a.q = POINTER(r->history);
    a.elem = POINTER(r->row_slot);
    a.r = POINTER(t->integrals[BUF_R]);
    a.after = POINTER(r->integral);
    for (int k = 0; k < kind->num_stage; k++) {
        a.a[k] = kind->stage[k][1];
        a.b[k] = kind->stage[k][2];
    }
    a.total = r->num_slot * a.num_node;
    a.q_step = a.total * a.num_field;
    a.num_step = (int)num_step;
    a.value = POINTER(r->value);
    return points_launch_integrate(s, &a);
}

/* From the history, and integrals after each step. */
static unda_status record(unda_solver *s, int64_t num_step)
{
    struct dg_cuda *t = tables(s);
    const struct resident *r = &t->resident;
    struct record_args a = points_record_args(s);
    struct gpu_shape shape = gpu_threads((int64_t)t->num_channel * 32);
    if (t->num_channel == 0)
        return UNDA_OK;
    a.q = POINTER(r->history + r->num_level * slots_bytes(s));
    a.elem = POINTER(r->row_slot);
    a.integral = POINTER(r->integral);
    a.integral_step = t->num_place;
    a.step++;
    a.total = r->num_slot * a.num_node;
    a.q_step = r->num_level * a.total * a.num_field;
    shape.grid[1] = num_step;
    return gpu_launch(&t->record, t->stream, &shape, &a, sizeof a);
}

unda_status resident_run(unda_solver *s, int64_t num_step, int64_t *time)
{
    const struct resident *r = &tables(s)->resident;
    while (num_step >= least(r)) {
        int64_t most = resident_sample_steps(s, r->num_step), num = num_step < most ? num_step : most;
        TRY(launch(s, num, *time, true));
        TRY(integrate(s, num));
        TRY(record(s, num));
        TRY(resident_add_samples(s, num));
        s->step += num;
        *time += num * dg_tables(s)->integration.kind->num_stage;
        num_step -= num;
    }
    return UNDA_OK;
}

/* ---- profile ---- */

static unda_status queue_launch(void *of)
{
    unda_solver *s = of;
    return launch(s, resident_sample_steps(s, tables(s)->resident.num_step), 0, false);
}

unda_status resident_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    const struct resident *r = &tables(s)->resident;
    int at = profile->num_kernel;
    if (!resident_takes(s, r->num_step))
        return UNDA_OK;
    snprintf(profile->name[at], sizeof profile->name[at], "dg_resident");
    profile->launches[at] = 1 / (double)resident_sample_steps(s, r->num_step);
    profile->num_kernel++;
    return gpu_median_seconds(&(struct gpu_work){tables(s)->stream, queue_launch, s}, num_run,
                              &profile->seconds[at]);
}
