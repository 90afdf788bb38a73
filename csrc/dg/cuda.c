/* cuda.c: the CUDA engine of DG, host side: tables, stages, graphs. Steps run wholly on the device.
 * Not here: choice and compilation of kernels (kernels.c), state in and out (cuda_state.c), sources and
 * receivers (cuda_points.c). Next: cuda/dg/fused.cu. */
#include "cuda.h"

#include "common/index.h"
#include "monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- set-up ---- */

/* All arrays but those of points; t->plan and the sizes in dg_tables(s) are known. */
static void list_arrays(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    struct gpu_wants *w = &t->wants;
    int64_t num = dg->space.num_owned, real = s->real_bytes, state = state_bytes(s, &t->plan);
    t->num_block = (num + t->plan.tile - 1) / t->plan.tile;
    t->packed_count = num < 4096 ? num : 4096;
    gpu_want(w, 1, &t->matrix, t->plan.num_matrix * real, "matrix");
    gpu_want(w, 1, &t->table, t->plan.num_table * 4, "table of the kernel");
    gpu_want(w, 1, &t->elem_record, num * dg->num_word * real, "geometry");
    gpu_want(w, 1, &t->metric, num * dg_device_metric(dg) * real, "metric");
    gpu_want(w, 1, &t->face_coef, num * dg_num_face_coef(dg) * real, "face coefficients");
    gpu_want(w, 1, &t->neighbor, 4 * dg->space.num_face * num, "neighbours");
    gpu_want(w, 1, &t->face_node, 4 * dg->space.num_side * dg->space.num_face_node, "face nodes");
    gpu_want(w, 1, &t->clock, 16, "clock");
    gpu_want(w, 1, &t->bad, 8, "finite check");
    gpu_want(w, 1, &t->list, 8 * t->packed_count, "element list");
    gpu_want(w, 1, &t->packed, t->packed_count * dg_elem_bytes(s), "packed elements");
    gpu_want(w, 1, &t->rhs, t->plan.kernel->has_rhs ? state : 0, "right-hand side");
    const struct dg_library *library = t->plan.kernel->library;
    int64_t products = library                   ? space_num_total(&dg->space) * library->reals(s, &t->plan)
                       : t->plan.kernel->scratch ? t->plan.kernel->scratch(s, &t->plan)
                                                 : 0;
    gpu_want(w, 1, &t->products, products * real, "matrix products");
    gpu_want(w, 1, &t->workspace, library ? GPU_BLAS_BYTES : 0, "workspace of cuBLAS");
    for (int i = 0; i < NUM_BUF; i++)
        gpu_want(w, 1, &t->buffer[i], i != BUF_R1 || s->options.integrator == UNDA_AB3 ? state : 0, "state");
    layer_list(s, t);
    s->device_bytes = w->bytes;
    s->host_bytes = dg_host_bytes(dg) + layer_host_bytes(dg);
}

static unda_status forecast(unda_solver *s)
{
    struct dg_cuda t = {0};
    TRY(plan_choose(s, &t.plan));
    list_arrays(s, &t);
    s->device_bytes += resident_forecast(s, &t.plan);
    return UNDA_OK;
}

/* Stored metrics: of nodes; where they imply 1/J then 1 / unit of each element. */
static unda_status upload_metric(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    int64_t num = dg->space.num_owned, nodes = num * dg->metric_nodes;
    SCRATCH double *per_unit = NULL;
    TRY(upload_groups(s, t->metric, dg->metric, nodes, dg->stored_words, HEX_METRIC));
    if (dg->stored_words == HEX_METRIC)
        return UNDA_OK;
    TRY(array_try(&per_unit, num, sizeof *per_unit, "upload"));
    for (int64_t elem = 0; elem < num; elem++)
        per_unit[elem] = 1 / dg_unit(dg, elem);
    gpu_ptr end = t->metric + (gpu_ptr)(dg->stored_words * nodes * s->real_bytes);
    TRY(gpu_upload_reals(t->stream, end, per_unit, num, s->real_bytes));
    return gpu_sync(t->stream);
}

static unda_status upload_matrices(unda_solver *s, struct dg_cuda *t)
{
    const struct plan *plan = &t->plan;
    SCRATCH double *matrix = NULL;
    SCRATCH int32_t *table = NULL;
    if (!plan->kernel->pack)
        return UNDA_OK;
    TRY(array_try(&matrix, plan->num_matrix, sizeof *matrix, "matrix"));
    TRY(array_try(&table, plan->num_table, sizeof *table, "table of the kernel"));
    TRY(plan->kernel->pack(s, plan, matrix, table));
    TRY(gpu_upload_reals(t->stream, t->matrix, matrix, plan->num_matrix, s->real_bytes));
    TRY(gpu_upload(t->stream, t->table, table, 4 * plan->num_table));
    return gpu_sync(t->stream);
}

static unda_status fill(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    int64_t num = dg->space.num_owned;
    TRY(upload_matrices(s, t));
    if (dg->metric_kind == UNDA_METRIC_TRILINEAR)
        TRY(gpu_upload_reals(t->stream, t->metric, dg->metric, num * NUM_MAP, s->real_bytes));
    else if (dg->metric_kind == UNDA_METRIC_STORED)
        TRY(upload_metric(s, t));
    else
        TRY(upload_groups(s, t->metric, dg->metric, num * dg->metric_nodes, HEX_METRIC, HEX_METRIC));
    TRY(gpu_upload_reals(t->stream, t->elem_record, dg->record, num * dg->num_word, s->real_bytes));
    TRY(upload_groups(s, t->face_coef, dg->face_coef, dg->space.num_face * num * dg->face_materials,
                      dg->physics->num_face_coef, dg->physics->num_face_coef));
    TRY(gpu_upload(t->stream, t->neighbor, dg->space.neighbor, 4 * dg->space.num_face * num));
    TRY(gpu_upload(t->stream, t->face_node, dg->space.element->face_node,
                   4 * dg->space.num_side * dg->space.num_face_node));
    return gpu_sync(t->stream);
}

static unda_status compile_state(unda_solver *s, struct dg_cuda *t)
{
    struct gpu_defines defines = {.num = 0};
    plan_define(s, &t->plan, &defines);
    struct gpu_source source = {"common/state.cu", defines.list, defines.num};
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->state_module, t->gpu, &source));
    TRY(gpu_kernel_get(&t->gather, t->state_module, "gather", 0));
    TRY(gpu_kernel_get(&t->traces, t->state_module, "traces", 0));
    TRY(gpu_kernel_get(&t->record, t->state_module, "record", 0));
    TRY(gpu_kernel_get(&t->integrate, t->state_module, "integrate", 0));
    TRY(gpu_kernel_get(&t->integrate_stages, t->state_module, "integrate_stages", 0));
    TRY(gpu_kernel_get(&t->find_bad, t->state_module, "find_bad", 0));
    TRY(gpu_kernel_get(&t->advance, t->state_module, "advance", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

/* Products are queued once, so that the library has loaded its code before any are captured. */
static unda_status open_library(unda_solver *s, struct dg_cuda *t)
{
    const struct plan *plan = &t->plan;
    TRY(gpu_blas_new(&t->blas, t->stream, t->workspace, s->real_bytes, plan->tf32));
    for (int i = 0; i < plan->kernel->num_function; i++)
        if (plan_is_product(plan, i))
            TRY(plan->kernel->library->multiply(s, i, 0, dg_tables(s)->space.num_owned));
    return gpu_sync(t->stream);
}

static unda_status create(unda_solver *s)
{
    struct dg_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    /* options that no kernel takes are refused before a device is looked for */
    TRY(plan_choose(s, &t->plan));
    fork_mark();
    TRY(gpu_open(&t->gpu, s->options.device));
    dg_tables(s)->capability = gpu_info(t->gpu)->compute_capability;
    TRY(plan_choose(s, &t->plan)); /* again, for this device */
    TRY(plan_check_device(&t->plan, dg_tables(s)->capability));
    list_arrays(s, t);
    TRY(gpu_stream_new(&t->stream, t->gpu));
    if (s->exchange)
        TRY(gpu_event_new_order(&t->order, t->gpu));
    TRY(gpu_wants_alloc(&t->wants, t->stream, ""));
    TRY(resident_plan(s));
    TRY(compile_state(s, t));
    TRY(plan_compile(s, UPDATE_LSRK));
    if (s->options.integrator == UNDA_AB3)
        TRY(plan_compile(s, UPDATE_AB3));
    s->num_launch = dg_tables(s)->integration.kind->num_stage * t->plan.kernel->num_function;
    TRY(solver_add_hook(s, points_launch_record, NULL));
    TRY(fill(s, t));
    TRY(layer_fill(s, t));
    return t->plan.kernel->library ? open_library(s, t) : UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    if (t->gpu) {
        dg_cuda_exchange_free(s);
        batches_free(t);
        points_free(s);
        resident_free(&t->resident);
        gpu_pool_free(&t->wants.pool);
        for (int i = 0; i < NUM_VARIANT; i++)
            gpu_module_free(t->stage_module[i]);
        gpu_module_free(t->state_module);
        layer_free(t);
        gpu_blas_free(t->blas);
        gpu_event_free(t->order);
        gpu_stream_free(t->stream);
        gpu_close(t->gpu);
    }
    array_free(t);
    s->data = NULL;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct plan *plan = &tables(s)->plan;
    const struct kernel *kernel = &plan->kernel->base;
    kernel_describe(info, kernel->name);
    for (int i = 0; i < kernel->num_part; i++)
        kernel_describe_part(info, kernel->part[i].name, plan->part[i]);
}

/* ---- stages ---- */

struct dg_args dg_cuda_arguments(const unda_solver *s, const struct stage *stage)
{
    const struct dg_cuda *t = tables(s);
    struct dg_args a = dg_stage_args(s, stage);
    a.q = POINTER(t->buffer[BUF_Q]);
    a.q_new = POINTER(t->buffer[BUF_NEW]);
    a.r = POINTER(t->buffer[stage->r]);
    a.r1 = POINTER(t->buffer[BUF_R1]);
    a.rhs = POINTER(t->rhs);
    a.record = POINTER(t->elem_record);
    a.face_coef = POINTER(t->face_coef);
    a.neighbor = POINTER(t->neighbor);
    a.face_node = POINTER(t->face_node);
    a.matrix = POINTER(t->matrix);
    a.table = POINTER(t->table);
    a.exact = POINTER(t->exact);
    a.amplitude = POINTER(t->amplitude);
    a.source_weight = POINTER(t->source_weight);
    a.source_elem = POINTER(t->source_elem);
    a.source_column = POINTER(t->source_column);
    a.source_range = POINTER(t->source_range);
    a.clock = POINTER(t->clock);
    a.incident = POINTER(t->incident);
    a.incident_range = POINTER(t->incident_range);
    a.metric = POINTER(t->metric);
    a.products = POINTER(t->products);
    return a;
}

/* Function number `part` of a stage of elements [begin, end). */
static unda_status launch_part(unda_solver *s, const struct stage *stage, int part, int64_t begin,
                               int64_t end)
{
    struct dg_cuda *t = tables(s);
    if (plan_is_product(&t->plan, part))
        return t->plan.kernel->library->multiply(s, part, begin, end);
    struct dg_args a = dg_cuda_arguments(s, stage);
    struct block_shape one = plan_block(&t->plan, part);
    int64_t block = begin / t->plan.tile, num = (end - begin + one.tile - 1) / one.tile;
    struct gpu_shape shape = {
        .grid = {num * one.parts}, .block = {one.threads}, .shared_bytes = one.shared_bytes};
    a.first = begin;
    a.source_range += block;
    a.incident_range += a.incident_range ? block : 0;
    return gpu_launch(&t->stage_kernel[variant(s, stage->update)][part], t->stream, &shape, &a, sizeof a);
}

static int64_t block(const unda_solver *s)
{
    return tables(s)->plan.tile;
}

static unda_status stage(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end)
{
    struct dg_cuda *t = tables(s);
    TRY(dg_check_range(s, begin, end));
    TRY(plan_compile(s, stage->update));
    TRY(layer_pass(s, stage, begin, end, true));
    for (int part = 0; part < t->plan.kernel->num_function && begin < end; part++)
        TRY(launch_part(s, stage, part, begin, end));
    return layer_pass(s, stage, begin, end, false);
}

static void swap(unda_solver *s, int a, int b)
{
    gpu_ptr *buffer = tables(s)->buffer, kept = buffer[a];
    buffer[a] = buffer[b];
    buffer[b] = kept;
    layer_swap(s, a, b);
    if (a != BUF_Q)
        SWAP(tables(s)->integrals[a], tables(s)->integrals[b]);
}

/* ---- steps ---- */

/* Small problems are bound by launches: GRAPH_STEPS steps go as one. GRAPH_STEPS is even, so that every
 * buffer is where it was. The state at 60 MB, a stage takes some ten times as long as a launch. */
static bool wants_graph(const unda_solver *s)
{
    const struct integration *in = &dg_tables(s)->integration;
    bool running = in->num_valid == in->kind->num_level;
    return running && dg_cuda_graph_pays(s, dg_tables(s)->space.num_owned * dg_elem_bytes(s));
}

bool dg_cuda_graph_pays(const unda_solver *s, int64_t bytes)
{
    return !s->options.no_graph && bytes < 60000000;
}

void batches_free(struct dg_cuda *t)
{
    for (int i = 0; i < NUM_GRAPH; i++)
        gpu_graph_free(t->batch[i].graph);
    memset(t->batch, 0, sizeof t->batch);
}

/* Moves the device's clock to the present step, `time` sampled times on. */
unda_status dg_cuda_advance(unda_solver *s, int64_t time)
{
    struct dg_cuda *t = tables(s);
    struct clock_args clock = {POINTER(t->clock), (int)time, (int)(s->step - t->base_step)};
    struct gpu_shape shape = {.grid = {1}};
    t->base_step = s->step;
    return gpu_launch(&t->advance, t->stream, &shape, &clock, sizeof clock);
}

static unda_status queue_batch(unda_solver *s)
{
    int64_t time = 0;
    for (int i = 0; i < GRAPH_STEPS; i++)
        TRY(integration_step(s, &dg_tables(s)->integration, &time));
    return dg_cuda_advance(s, time);
}

/* Captures the next GRAPH_STEPS steps without running them. */
static unda_status capture(unda_solver *s, struct batch *batch)
{
    struct dg_cuda *t = tables(s);
    int64_t step = s->step, base = t->base_step;
    gpu_graph_free(batch->graph);
    batch->graph = NULL;
    memcpy(batch->buffer, t->buffer, sizeof t->buffer);
    t->base_step = s->step;
    TRY(gpu_capture_begin(t->stream));
    unda_status status = queue_batch(s);
    s->step = step;
    t->base_step = base;
    if (status != UNDA_OK) {
        (void)gpu_capture_end(t->stream, NULL);
        return status;
    }
    return gpu_capture_end(t->stream, &batch->graph);
}

static unda_status find_batch(unda_solver *s, struct gpu_graph **graph)
{
    struct dg_cuda *t = tables(s);
    for (int i = 0; i < NUM_GRAPH; i++)
        if (t->batch[i].graph && memcmp(t->batch[i].buffer, t->buffer, sizeof t->buffer) == 0) {
            *graph = t->batch[i].graph;
            return UNDA_OK;
        }
    struct batch *batch = &t->batch[t->next_batch];
    t->next_batch = (t->next_batch + 1) % NUM_GRAPH;
    TRY(capture(s, batch));
    *graph = batch->graph;
    return UNDA_OK;
}

/* Steps count from the device's clock, which batches move. */
static unda_status run(unda_solver *s, int64_t num_step)
{
    struct dg_cuda *t = tables(s);
    int64_t time = 0, end = s->step + num_step;
    TRY(points_begin(s));
    while (s->step < end) {
        if (resident_takes(s, end - s->step)) {
            TRY(resident_run(s, end - s->step, &time));
            continue;
        }
        if (!wants_graph(s) || monitors_until(s, end - s->step) < GRAPH_STEPS) {
            TRY(integration_step(s, &dg_tables(s)->integration, &time));
            TRY(dg_cuda_monitors_take(s));
            continue;
        }
        struct gpu_graph *graph;
        if (time > 0)
            TRY(dg_cuda_advance(s, time));
        time = 0;
        TRY(find_batch(s, &graph));
        TRY(gpu_graph_launch(graph, t->stream));
        s->step += GRAPH_STEPS;
        t->base_step = s->step;
        TRY(dg_cuda_monitors_take(s));
    }
    TRY(gpu_sync(t->stream));
    return points_fetch(s);
}

/* ---- profile ---- */

struct timed_part {
    unda_solver *s;
    const struct stage *stage;
    int part;
};

static unda_status queue_part(void *of)
{
    const struct timed_part *p = of;
    bool record = p->part == tables(p->s)->plan.kernel->num_function;
    return record ? points_launch_record(p->s, NULL)
                  : launch_part(p->s, p->stage, p->part, 0, dg_tables(p->s)->space.num_owned);
}

/* What a launch of a kernel has to do. */
static void count_work(const unda_solver *s, int part, unda_profile *profile)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_kernel *kernel = tables(s)->plan.kernel;
    int work = kernel->work[part];
    double num = (double)dg->space.num_owned;
    if (kernel->library || kernel->count) {
        (kernel->library ? kernel->library->count : kernel->count)(s, part, &profile->flops[part],
                                                                   &profile->bytes[part]);
        profile->flops[part] *= num;
        profile->bytes[part] *= num;
        return;
    }
    profile->flops[part] = num * (double)dg_work_flops(dg, work, s->options.integrator);
    profile->bytes[part] = num * (double)dg_work_bytes(dg, work, s->options.integrator, s->real_bytes, true);
}

unda_status dg_cuda_resources(const unda_solver *s, const struct gpu_kernel *kernel, struct block_shape one,
                              int at, unda_profile *profile)
{
    enum { WARP = 32 };
    const unda_device_info *info = gpu_info(tables(s)->gpu);
    int64_t num;
    TRY(gpu_resident_blocks(kernel, one.threads, one.shared_bytes, &num));
    int blocks = (int)(num / info->num_sm), warps = (one.threads + WARP - 1) / WARP;
    profile->registers[at] = kernel->registers;
    profile->spill_bytes[at] = kernel->spill_bytes;
    profile->shared_bytes[at] = kernel->shared_bytes + one.shared_bytes;
    profile->threads[at] = one.threads;
    profile->blocks[at] = blocks;
    profile->occupancy[at] = (double)blocks * warps * WARP / info->sm_threads;
    return UNDA_OK;
}

/* Each kernel leaves the state alone: it goes to the other buffer, the residual to scratch memory. */
static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    struct dg_cuda *t = tables(s);
    bool ab3 = s->options.integrator == UNDA_AB3;
    struct stage stage = {.update = ab3 ? UPDATE_AB3 : UPDATE_LSRK, .r = BUF_SCRATCH, .a = -1, .b = 0.5};
    int64_t clock[2] = {0, s->step};
    s->have_good = false;
    t->base_step = s->step - 1; /* record as if one step had been done */
    TRY(points_begin(s));
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    profile->num_kernel = t->plan.kernel->num_function + (t->num_channel > 0);
    for (int part = 0; part < profile->num_kernel; part++) {
        bool record = part == t->plan.kernel->num_function;
        struct timed_part timed = {s, &stage, part};
        snprintf(profile->name[part], sizeof profile->name[part], "%s",
                 record ? "record" : t->plan.kernel->function[part]);
        profile->launches[part] = record ? 1 : dg_tables(s)->integration.kind->num_stage;
        TRY(gpu_median_seconds(&(struct gpu_work){t->stream, queue_part, &timed}, num_run,
                               &profile->seconds[part]));
        profile->stage_seconds += record ? 0 : profile->seconds[part];
        if (record)
            continue;
        count_work(s, part, profile);
        if (!plan_is_product(&t->plan, part))
            TRY(dg_cuda_resources(s, &t->stage_kernel[variant(s, stage.update)][part],
                                  plan_block(&t->plan, part), part, profile));
    }
    TRY(layer_profile(s, num_run, profile));
    return resident_profile(s, num_run, profile);
}

const struct dg_engine dg_cuda = {.base = {.name = "cuda",
                                           .kernels = dg_kernels,
                                           .create = create,
                                           .destroy = destroy,
                                           .drive = points_drive,
                                           .run = run,
                                           .find_bad = state_find_bad,
                                           .list_points = points_list,
                                           .reserve = points_reserve,
                                           .block = block,
                                           .stage = stage,
                                           .integrate = points_integrate,
                                           .copy = state_copy,
                                           .swap = swap,
                                           .exchange_begin = cuda_exchange_begin,
                                           .exchange_end = cuda_exchange_end,
                                           .forecast = forecast,
                                           .view = dg_cuda_view,
                                           .piece = dg_cuda_piece,
                                           .list_rows = dg_list_rows,
                                           .monitor_new = dg_cuda_monitor_new,
                                           .monitor_take = dg_cuda_monitor_take,
                                           .describe = describe,
                                           .profile = profile,
                                           .compile = plan_compile_only},
                                  .move = state_move,
                                  .move_memory = layer_move,
                                  .join = dg_cuda_join,
                                  .join_rank = dg_cuda_join_rank,
                                  .join_bytes = dg_cuda_join_bytes,
                                  .run_team = dg_cuda_run_team};
