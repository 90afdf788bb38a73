/* cuda.c: the CUDA engine of spectral elements, host side: tables, the order of a step, graphs. Steps run wholly on the
 * device. Not here: tiles (tiles.c), sizes and compilation (kernels.c), state (cuda_state.c), points (cuda_points.c).
 * Next: cuda/sem/tiles.cu. */
#include "cuda.h"

#include "../base/parallel.h"
#include "common/index.h"

#include <stdio.h>
#include <string.h>

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* ---- set-up ---- */

static void list_region(const unda_solver *s, struct sem_cuda *t, int region)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *from = &sem->region[region];
    struct sem_cuda_region *r = &t->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    struct gpu_wants *w = &t->wants;
    int64_t real = s->real_bytes, num_shared = tiles->num_node - tiles->num_inner, dim = from->dim;
    int64_t num_side = tiles->num_node - tiles->first_side, square = dim * dim * num_side * real;
    if (from->num_elem == 0)
        return;
    gpu_want(w, 1, &r->inverse_mass, tiles->num_node * real, "masses");
    gpu_want(w, 1, &r->metric, from->num_elem * sem->metric_words * real, "metric");
    gpu_want(w, 1, &r->coef, from->num_elem * sem->material_nodes * 2 * real, "coefficients");
    int64_t num_sum = r->plan.assembly == IN_ORDER ? tiles->num_entry
                      : r->plan.assembly == BY_COLORS ? num_shared : num_side;
    gpu_want(w, 1, &r->shared, num_sum * dim * real, "forces on shared nodes");
    gpu_want(w, 1, &r->tile, (int64_t)sizeof(struct sem_tile) * tiles->num_tile, "tiles");
    gpu_want(w, 1, &r->words, 2 * tiles->num_word, "patterns of tiles");
    gpu_want(w, 1, &r->entry, 4 * tiles->num_entry, "shared nodes");
    gpu_want(w, 1, &r->first_sum, r->plan.assembly == IN_ORDER ? 4 * (num_shared + 1) : 0, "shared nodes");
    gpu_want(w, 1, &r->sum, r->plan.assembly == IN_ORDER ? 4 * tiles->num_entry : 0, "shared nodes");
    gpu_want(w, 1, &r->side, 4 * num_side, "sides");
    gpu_want(w, 1, &r->partner, 4 * num_side, "sides");
    gpu_want(w, 1, &r->area, 3 * num_side * real, "sides");
    gpu_want(w, 1, &r->rest, square, "sides");
    gpu_want(w, 1, &r->inverse, square, "sides");
    gpu_want(w, 1, &r->damping, square, "sides");
}

/* All arrays but those of points. */
static unda_status list_arrays(unda_solver *s, struct sem_cuda *t)
{
    const struct sem *sem = sem_tables(s);
    struct gpu_wants *w = &t->wants;
    for (int region = 0; region < NUM_REGION; region++) {
        struct sem_cuda_region *r = &t->region[region];
        TRY(sem_plan_choose(s, region, &r->plan));
        r->tiles.pitch = r->plan.pitch;
        r->tiles.planes = r->plan.planes;
        TRY(sem_tiles_new(sem, region, r->plan.cells, r->plan.assembly == BY_COLORS, s->options.threads,
                          &r->tiles));
        sem_plan_fit(s, &r->tiles, &r->plan);
        t->num += sem_num_unknown(t, region);
        list_region(s, t, region);
    }
    for (int level = 0; level < NUM_LEVEL; level++) {
        gpu_want(w, 1 << 1, &t->level[level], t->num * s->real_bytes, "state");
        gpu_want(w, 1, &t->kept[level], t->num * s->real_bytes, "state");
    }
    const struct sem_tiles *fluid = &t->region[FLUID].tiles;
    gpu_want(w, 1, &t->pressure, (fluid->num_node - fluid->first_side) * s->real_bytes, "pressure on solids");
    gpu_want(w, 1, &t->clock, 16, "clock");
    gpu_want(w, 1, &t->bad, 8, "finite check");
    gpu_want(w, 1, &t->part, 8 * SEM_PRODUCT_BLOCKS, "stable step");
    s->device_bytes = w->bytes;
    s->host_bytes = sem_host_bytes(sem);
    return UNDA_OK;
}

static unda_status forecast(unda_solver *s)
{
    struct sem_cuda t = {0};
    unda_status status = list_arrays(s, &t);
    for (int region = 0; region < NUM_REGION; region++)
        sem_tiles_free(&t.region[region].tiles);
    return status;
}

/* ---- filling ---- */

/* Values of a region's elements in the order of tiles, `num` each: of(..) makes those of one. */
static unda_status upload_elements(unda_solver *s, int region, gpu_ptr to, int64_t num,
                                   void (*of)(const struct sem *sem, int64_t elem, double *values))
{
    enum { PIECE = 1 << 20 };
    const struct sem *sem = sem_tables(s);
    const struct sem_tiles *tiles = &tables(s)->region[region].tiles;
    int64_t most = PIECE / num + 1;
    int32_t threads = parallel_few(parallel_worth(s->options.threads, most * num, LEAST_SCALAR));
    SCRATCH double *values = NULL;
    TRY(array_try(&values, most * num, sizeof *values, "upload"));
    for (int64_t done = 0; done < tiles->num_elem; done += most) {
        int64_t count = tiles->num_elem - done < most ? tiles->num_elem - done : most;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < count; i++)
            of(sem, sem->region[region].elem[tiles->elem[done + i]], values + i * num);
        TRY(gpu_upload_reals(tables(s)->stream, to + (gpu_ptr)(done * num * s->real_bytes), values,
                             count * num, s->real_bytes));
    }
    return UNDA_OK;
}

/* Of maps threads read the numbers of one component of x after those of another (cuda/sem/column.h), of stored metrics
 * the same number of neighbouring nodes. */
static void metric_of(const struct sem *sem, int64_t elem, double *values)
{
    const double *from = sem->metric + elem * sem->metric_words;
    if (sem->metric_kind == UNDA_METRIC_TRILINEAR) {
        for (int i = 0; i < NUM_MAP; i++)
            values[i % 3 * (NUM_MAP / 3) + i / 3] = from[i];
        return;
    }
    for (int node = 0; node < sem->metric_nodes; node++)
        for (int i = 0; i < HEX_METRIC; i++)
            values[i * sem->metric_nodes + node] = from[node * HEX_METRIC + i];
}

static void coef_of(const struct sem *sem, int64_t elem, double *values)
{
    for (int node = 0; node < sem->material_nodes; node++) {
        double m[3];
        bool solid = sem->kind[elem] == SOLID;
        sem_moduli(sem, elem, node, m);
        values[node] = solid ? m[1] : 1 / m[0];
        values[sem->material_nodes + node] = solid ? m[2] : 0;
    }
}

static unda_status upload_masses(unda_solver *s, int region)
{
    const struct sem_region *from = &sem_tables(s)->region[region];
    struct sem_cuda_region *r = &tables(s)->region[region];
    SCRATCH double *inverse = NULL;
    TRY(array_try(&inverse, r->tiles.num_node, sizeof *inverse, "masses"));
    int32_t threads = parallel_few(parallel_worth(s->options.threads, from->num_node, LEAST_SCALAR));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < from->num_node; i++)
        inverse[r->tiles.node[i]] = 1 / from->mass[i];
    for (int64_t i = 0; i < from->sides.num; i++)
        inverse[r->tiles.node[from->sides.node[i]]] = 1;
    return gpu_upload_reals(tables(s)->stream, r->inverse_mass, inverse, r->tiles.num_node, s->real_bytes);
}

/* What a node on a side has to do with walls and the other region. */
static unda_status upload_sides(unda_solver *s, int region)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_sides *sides = &sem->region[region].sides;
    const struct sem_coupling *c = &sem->coupling;
    struct sem_cuda_region *r = &tables(s)->region[region];
    const struct sem_tiles *tiles = &r->tiles, *other = &tables(s)->region[!region].tiles;
    struct gpu_stream *stream = tables(s)->stream;
    int64_t num = tiles->num_node - tiles->first_side, dim = sem->region[region].dim;
    SCRATCH int32_t *side = NULL;
    SCRATCH int32_t *partner = NULL;
    SCRATCH double *area = NULL;
    TRY(array_try(&side, num, sizeof *side, "sides"));
    TRY(array_try(&partner, num, sizeof *partner, "sides"));
    TRY(array_try(&area, 3 * num, sizeof *area, "sides"));
    memset(side, -1, sizeof *side * (size_t)num);
    memset(partner, -1, sizeof *partner * (size_t)num);
    for (int64_t i = 0; i < sides->num; i++)
        side[tiles->node[sides->node[i]] - tiles->first_side] = (int32_t)i;
    for (int64_t i = 0; i < c->num; i++) {
        int64_t at = tiles->node[c->node[region][i]] - tiles->first_side;
        int64_t there = other->node[c->node[!region][i]];
        partner[at] = (int32_t)(region == FLUID ? there : there - other->first_side);
        memcpy(area + 3 * at, c->area + 3 * i, 3 * sizeof *area);
    }
    TRY(gpu_upload(stream, r->side, side, 4 * num));
    TRY(gpu_upload(stream, r->partner, partner, 4 * num));
    TRY(gpu_upload_reals(stream, r->area, area, 3 * num, s->real_bytes));
    TRY(gpu_upload_reals(stream, r->rest, sides->rest, sides->num * dim * dim, s->real_bytes));
    return gpu_upload_reals(stream, r->damping, sides->damping, sides->num * dim * dim, s->real_bytes);
}

static unda_status upload_tiles(struct gpu_stream *stream, const struct sem_cuda_region *r)
{
    const struct sem_tiles *from = &r->tiles;
    SCRATCH struct sem_tile *tile = NULL;
    TRY(array_try(&tile, from->num_tile, sizeof *tile, "tiles"));
    for (int64_t i = 0; i < from->num_tile; i++) {
        int32_t k = from->order[i];
        tile[i] = (struct sem_tile){.first_elem = from->first_elem[k],
                                    .num_elem = from->first_elem[k + 1] - from->first_elem[k],
                                    .first_inner = from->first_inner[k],
                                    .num_inner = from->first_inner[k + 1] - from->first_inner[k],
                                    .first_entry = from->first_entry[k],
                                    .num_shared = from->first_entry[k + 1] - from->first_entry[k],
                                    .pattern = from->pattern[k],
                                    .num_list = from->num_list[k],
                                    .number = k};
    }
    return gpu_upload(stream, r->tile, tile, (int64_t)sizeof *tile * from->num_tile);
}

static unda_status fill_region(unda_solver *s, int region)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cuda *t = tables(s);
    struct sem_cuda_region *r = &t->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    struct gpu_stream *stream = t->stream;
    int64_t first = sem_first_unknown(t, region) * s->real_bytes;
    if (tiles->num_elem == 0)
        return UNDA_OK;
    r->u = t->level[LEVEL_U] + (gpu_ptr)first;
    r->v = t->level[LEVEL_V] + (gpu_ptr)first;
    r->a = t->level[LEVEL_A] + (gpu_ptr)first;
    TRY(upload_elements(s, region, r->metric, sem->metric_words, metric_of));
    TRY(upload_elements(s, region, r->coef, sem->material_nodes * 2, coef_of));
    TRY(upload_masses(s, region));
    TRY(upload_sides(s, region));
    TRY(upload_tiles(stream, r));
    TRY(gpu_upload(stream, r->words, tiles->words, 2 * tiles->num_word));
    TRY(gpu_upload(stream, r->entry, tiles->entry, 4 * tiles->num_entry));
    if (r->plan.assembly == IN_ORDER) {
        TRY(gpu_upload(stream, r->first_sum, tiles->first_sum, 4 * (tiles->num_node - tiles->num_inner + 1)));
        TRY(gpu_upload(stream, r->sum, tiles->sum, 4 * tiles->num_entry));
    }
    return sem_plan_compile(s, region);
}

static unda_status compile_nodes(unda_solver *s, struct sem_cuda *t)
{
    struct gpu_defines defines = {.num = 0};
    gpu_define(&defines, "REAL=%s", s->real_bytes == 4 ? "float" : "double");
    struct gpu_source source = {"sem/nodes.cu", defines.list, defines.num};
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->node_module, t->gpu, &source));
    TRY(gpu_kernel_get(&t->begin, t->node_module, "sem_begin", 0));
    TRY(gpu_kernel_get(&t->record, t->node_module, "sem_record", 0));
    TRY(gpu_kernel_get(&t->combine, t->node_module, "sem_combine", 0));
    TRY(gpu_kernel_get(&t->product, t->node_module, "sem_product", 0));
    TRY(gpu_kernel_get(&t->find_bad, t->node_module, "sem_find_bad", 0));
    TRY(gpu_kernel_get(&t->advance, t->node_module, "sem_advance", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

/* Accelerations in walls and dashpots for the present dt. */
static unda_status retime(unda_solver *s)
{
    for (int region = 0; region < NUM_REGION; region++) {
        const struct sem_region *from = &sem_tables(s)->region[region];
        if (from->num_elem)
            TRY(gpu_upload_reals(tables(s)->stream, tables(s)->region[region].inverse, from->sides.inverse,
                                 from->sides.num * from->dim * from->dim, s->real_bytes));
    }
    sem_graph_free(tables(s));
    return UNDA_OK;
}

static unda_status record_due(unda_solver *s, void *of)
{
    (void)of;
    return sem_points_record(s, (int)(s->step - tables(s)->base_step));
}

static unda_status create(unda_solver *s)
{
    struct sem_cuda *t;
    TRY(array_try(&t, 1, sizeof *t, "CUDA engine"));
    s->data = t;
    TRY(list_arrays(s, t));
    fork_mark();
    TRY(gpu_open(&t->gpu, s->options.device));
    TRY(gpu_stream_new(&t->stream, t->gpu));
    TRY(gpu_wants_alloc(&t->wants, t->stream, ""));
    TRY(compile_nodes(s, t));
    for (int region = 0; region < NUM_REGION; region++)
        TRY(fill_region(s, region));
    TRY(gpu_sync(t->stream));
    s->num_launch =
        2 * ((sem_tables(s)->region[SOLID].num_elem > 0) + (sem_tables(s)->region[FLUID].num_elem > 0));
    TRY(solver_add_hook(s, record_due, NULL));
    TRY(gpu_wants_zero(&t->wants, t->stream, 1 << 1));
    TRY(sem_find_stable(s));
    return gpu_wants_zero(&t->wants, t->stream, 1 << 1);
}

static void destroy(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    if (t->gpu) {
        sem_graph_free(t);
        sem_points_free(s);
        gpu_pool_free(&t->wants.pool);
        for (int region = 0; region < NUM_REGION; region++)
            gpu_module_free(t->region[region].module);
        gpu_module_free(t->node_module);
        gpu_stream_free(t->stream);
        gpu_close(t->gpu);
    }
    for (int region = 0; region < NUM_REGION; region++)
        sem_tiles_free(&t->region[region].tiles);
    arrays_free(&t->owned);
    array_free(t);
    s->data = NULL;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    int region = sem_tables(s)->region[SOLID].num_elem ? SOLID : FLUID;
    const struct sem_plan *plan = &tables(s)->region[region].plan;
    const int part[] = {plan->cells, plan->blocks, plan->ahead, sem_tables(s)->metric_kind};
    kernel_describe(info, plan->kernel->name);
    for (int i = 0; i < plan->kernel->num_part; i++)
        kernel_describe_part(info, plan->kernel->part[i].name, part[i]);
}

/* ---- forces ---- */

struct pass {
    int mode;
    double dt;
    int64_t time; /* row of the amplitudes, -1: no sources */
};

/* Tiles [begin, end) of the launch order. */
static unda_status launch_tiles(unda_solver *s, int region, const struct pass *pass, int64_t begin,
                                int64_t end)
{
    struct sem_cuda *t = tables(s);
    const struct sem_cuda_region *r = &t->region[region];
    struct sem_tile_args a = {.u = POINTER(r->u),
                              .v = POINTER(r->v),
                              .a = POINTER(r->a),
                              .inverse_mass = POINTER(r->inverse_mass),
                              .metric = POINTER(r->metric),
                              .coef = POINTER(r->coef),
                              .shared = POINTER(r->shared),
                              .entry = POINTER(r->entry),
                              .tile = POINTER(r->tile),
                              .words = POINTER(r->words),
                              .source_first = POINTER(r->source_first),
                              .source_elem = POINTER(r->source_elem),
                              .source_column = POINTER(r->source_column),
                              .source_weight = POINTER(r->source_weight),
                              .amplitude = POINTER(t->amplitude),
                              .clock = POINTER(t->clock),
                              .num_inner = r->tiles.num_inner,
                              .first_side = r->tiles.first_side - r->tiles.num_inner,
                              .dt = pass->dt,
                              .time = r->num_part ? (int)pass->time : -1,
                              .num_source = s->num_source,
                              .mode = pass->mode,
                              .first = (int)begin};
    struct gpu_shape shape = {{end - begin, 1, 1}, {r->plan.threads, 1, 1}, r->plan.shared_bytes};
    return end > begin ? gpu_launch(&r->tile_kernel, t->stream, &shape, &a, sizeof a) : UNDA_OK;
}

static unda_status launch_shared(unda_solver *s, int region, const struct pass *pass)
{
    struct sem_cuda *t = tables(s);
    const struct sem_cuda_region *r = &t->region[region];
    gpu_ptr first = (gpu_ptr)(r->tiles.num_inner * sem_tables(s)->region[region].dim * s->real_bytes);
    struct sem_shared_args a = {.u = POINTER(r->u + first),
                                .v = POINTER(r->v + first),
                                .a = POINTER(r->a + first),
                                .inverse_mass =
                                    POINTER(r->inverse_mass + (gpu_ptr)(r->tiles.num_inner * s->real_bytes)),
                                .shared = POINTER(r->shared),
                                .first = POINTER(r->first_sum),
                                .entry = POINTER(r->sum),
                                .side = POINTER(r->side),
                                .matrix = POINTER(pass->dt > 0 ? r->inverse : r->rest),
                                .damping = POINTER(r->damping),
                                .partner = POINTER(r->partner),
                                .area = POINTER(r->area),
                                .solid_u = POINTER(t->region[SOLID].u),
                                .pressure = POINTER(t->pressure),
                                .num = r->tiles.num_node - r->tiles.num_inner,
                                .first_side = r->tiles.first_side - r->tiles.num_inner,
                                .dt = pass->dt,
                                .mode = pass->mode};
    int64_t quads = (a.first_side * sem_tables(s)->region[region].dim * s->real_bytes + 15) / 16;
    struct gpu_shape shape =
        gpu_threads(r->plan.assembly == ATOMICALLY ? quads + a.num - a.first_side : a.num);
    return a.num ? gpu_launch(&r->shared_kernel, t->stream, &shape, &a, sizeof a) : UNDA_OK;
}

/* Accelerations, or forces, to which tiles add what they have of a shared node. */
static unda_status zero_shared(unda_solver *s, int region)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    int64_t node = sem_tables(s)->region[region].dim * s->real_bytes;
    return gpu_zero_async(tables(s)->stream, r->a + (gpu_ptr)(r->tiles.num_inner * node),
                          (r->tiles.first_side - r->tiles.num_inner) * node);
}

static unda_status launch_region(unda_solver *s, int region, const struct pass *pass)
{
    const struct sem_tiles *tiles = &tables(s)->region[region].tiles;
    if (tables(s)->region[region].plan.assembly == ATOMICALLY && pass->mode != SEM_STEP)
        TRY(zero_shared(s, region));
    for (int32_t color = 0; color < tiles->num_color; color++)
        TRY(launch_tiles(s, region, pass, tiles->first_color[color], tiles->first_color[color + 1]));
    return tiles->num_elem ? launch_shared(s, region, pass) : UNDA_OK;
}

/* The fluid comes first: its chi'' is the pressure on the solid. */
static unda_status launch_all(unda_solver *s, const struct pass *pass)
{
    TRY(launch_region(s, FLUID, pass));
    return launch_region(s, SOLID, pass);
}

/* Accelerations at rest are -A (chi, u). */
unda_status sem_launch_operator(unda_solver *s)
{
    return launch_all(s, &(struct pass){SEM_CLOSE, 0, -1});
}

unda_status sem_launch_fluid(unda_solver *s)
{
    return launch_region(s, FLUID, &(struct pass){SEM_FORCE, 0, -1});
}

static unda_status accelerate(unda_solver *s, int64_t time)
{
    TRY(sem_state_flush(s));
    TRY(launch_all(s, &(struct pass){SEM_CLOSE, 0, time}));
    sem_state_changed(s);
    return gpu_sync(tables(s)->stream);
}

/* The state is on the host meanwhile, and goes to the device again when that is asked for. */
static unda_status stiffness(unda_solver *s, int region, const void *u, void *force)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    void *state;
    if (r->tiles.num_elem == 0)
        return UNDA_OK;
    TRY(sem_state_level(s, region, LEVEL_U, &state));
    tables(s)->wrote = true;
    TRY(sem_state_upload(s, region, r->u, u));
    TRY(launch_region(s, region, &(struct pass){SEM_FORCE, 0, -1}));
    return sem_state_download(s, region, force, r->a);
}

/* ---- steps ---- */

void sem_graph_free(struct sem_cuda *t)
{
    gpu_graph_free(t->graph);
    t->graph = NULL;
}

/* Moves the device's clock to the present step, `time` sampled times on. */
static unda_status advance(unda_solver *s, int64_t time)
{
    struct sem_cuda *t = tables(s);
    struct clock_args clock = {POINTER(t->clock), (int)time, (int)(s->step - t->base_step)};
    struct gpu_shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
    t->base_step = s->step;
    return gpu_launch(&t->advance, t->stream, &shape, &clock, sizeof clock);
}

/* From u at the end of the step and v at its middle to those of the next one or, at last, to the state. */
static unda_status queue_step(unda_solver *s, bool last, int64_t *time)
{
    struct pass pass = {last ? SEM_CLOSE : SEM_STEP, s->dt, (*time)++};
    tables(s)->mode = pass.mode;
    TRY(launch_all(s, &pass));
    s->step++;
    return solver_after_step(s);
}

static unda_status queue_batch(unda_solver *s)
{
    int64_t time = 0;
    for (int i = 0; i < SEM_GRAPH_STEPS; i++)
        TRY(queue_step(s, false, &time));
    return advance(s, time);
}

static unda_status capture(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    int64_t step = s->step, base = t->base_step;
    t->base_step = s->step;
    TRY(gpu_capture_begin(t->stream));
    unda_status status = queue_batch(s);
    s->step = step;
    t->base_step = base;
    if (status != UNDA_OK) {
        (void)gpu_capture_end(t->stream, NULL);
        return status;
    }
    return gpu_capture_end(t->stream, &t->graph);
}

/* Small problems are bound by launches: many steps go as one. */
static bool wants_graph(const unda_solver *s)
{
    return !s->options.no_graph && tables(s)->num * 3 * s->real_bytes < 60000000;
}

static unda_status begin(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    struct sem_whole_args a = {.u = POINTER(t->level[LEVEL_U]),
                               .v = POINTER(t->level[LEVEL_V]),
                               .a = POINTER(t->level[LEVEL_A]),
                               .num = t->num,
                               .dt = s->dt};
    struct gpu_shape shape = gpu_threads(t->num);
    t->mode = SEM_STEP;
    TRY(cuda_record_begin(s, &t->samples, t->stream));
    TRY(gpu_launch(&t->begin, t->stream, &shape, &a, sizeof a));
    return sem_points_record(s, 0);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct sem_cuda *t = tables(s);
    struct sem *sem = sem_tables(s);
    int64_t time = 0, end = s->step + num_step;
    if (num_step == 0)
        return UNDA_OK;
    if (!sem->num_valid) {
        TRY(sem_settle(s)); /* walls; then accelerations with sources */
        TRY(accelerate(s, time++));
    }
    sem->num_valid = 1;
    TRY(sem_state_flush(s));
    sem_state_changed(s);
    TRY(begin(s));
    while (s->step < end) {
        if (!wants_graph(s) || end - s->step <= SEM_GRAPH_STEPS) {
            TRY(queue_step(s, s->step == end - 1, &time));
            continue;
        }
        TRY(advance(s, time));
        time = 0;
        if (!t->graph)
            TRY(capture(s));
        TRY(gpu_graph_launch(t->graph, t->stream));
        s->step += SEM_GRAPH_STEPS;
        t->base_step = s->step;
    }
    TRY(gpu_sync(t->stream));
    return cuda_record_fetch(s, &t->samples, t->stream);
}

/* ---- profile ---- */

struct timed_part {
    unda_solver *s;
    int region, color; /* color num_color: the shared nodes; region NUM_REGION: receivers */
};

static unda_status queue_part(void *of)
{
    const struct timed_part *p = of;
    struct pass pass = {SEM_CLOSE, 0, -1};
    if (p->region == NUM_REGION)
        return sem_points_record(p->s, 1);
    const struct sem_tiles *tiles = &tables(p->s)->region[p->region].tiles;
    return p->color == tiles->num_color ? launch_shared(p->s, p->region, &pass)
                                        : launch_tiles(p->s, p->region, &pass, tiles->first_color[p->color],
                                                       tiles->first_color[p->color + 1]);
}

static unda_status time_part(unda_solver *s, int region, int color, const char *name, int64_t num_run,
                             unda_profile *profile)
{
    struct timed_part timed = {s, region, color};
    int at = profile->num_kernel++;
    snprintf(profile->name[at], sizeof profile->name[at], "%s", name);
    profile->launches[at] = 1;
    TRY(gpu_median_seconds(&(struct gpu_work){tables(s)->stream, queue_part, &timed}, num_run,
                           &profile->seconds[at]));
    profile->stage_seconds += region < NUM_REGION ? profile->seconds[at] : 0;
    return UNDA_OK;
}

/* As in a step of length 0: what changes are accelerations, which are made again. */
static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    static const char *const names[NUM_REGION] = {[SOLID] = "solid", [FLUID] = "fluid"};
    struct sem_cuda *t = tables(s);
    void *state;
    int64_t clock[2] = {0, s->step};
    TRY(sem_state_level(s, SOLID, LEVEL_U, &state));
    t->wrote = true;
    t->base_step = s->step;
    t->mode = SEM_STEP;
    TRY(cuda_record_begin(s, &t->samples, t->stream));
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    profile->num_kernel = 0;
    for (int region = NUM_REGION - 1; region >= 0; region--) {
        const struct sem_tiles *tiles = &t->region[region].tiles;
        for (int color = 0; color <= tiles->num_color && tiles->num_elem; color++) {
            char name[32];
            if (color == tiles->num_color)
                snprintf(name, sizeof name, "%s shared", names[region]);
            else if (tiles->num_color > 1)
                snprintf(name, sizeof name, "%s color %d", names[region], color);
            else
                snprintf(name, sizeof name, "%s tiles", names[region]);
            TRY(time_part(s, region, color, name, num_run, profile));
        }
    }
    return t->num_channel ? time_part(s, NUM_REGION, 0, "record", num_run, profile) : UNDA_OK;
}

const struct sem_engine sem_cuda = {.base = {.name = "cuda",
                                             .kernels = sem_kernels,
                                             .create = create,
                                             .destroy = destroy,
                                             .drive = sem_points_drive,
                                             .run = run,
                                             .find_bad = sem_state_find_bad,
                                             .list_points = sem_points_list,
                                             .reserve = sem_points_reserve,
                                             .copy = sem_state_copy,
                                             .retime = retime,
                                             .forecast = forecast,
                                             .describe = describe,
                                             .profile = profile,
                                             .compile = sem_plan_compile_only},
                                    .level = sem_state_level,
                                    .wrote = sem_state_wrote,
                                    .accelerate = accelerate,
                                    .stiffness = stiffness,
                                    .krylov = &sem_cuda_krylov};
