/* cuda.c: the CUDA engine of spectral elements, host side: what it allocates, its life. Next: cuda_fill.c (tables),
 * cuda_force.c (launches), cuda_step.c (the order of a step), tiles.c, kernels.c (sizes and compilation), cuda_state.c,
 * cuda_points.c, cuda_profile.c, cuda/sem/tiles.cu. */
#include "cuda.h"

#include "monitor.h"

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* Tiles that have elements of the border: the first ones, unless their colours say when. */
static int64_t num_border(const struct sem *sem, int region, const struct sem_tiles *tiles)
{
    int64_t rows = sem->cut ? sem->cut->region[region].num_border : 0, num = 0;
    for (int64_t row = 0; row < rows && tiles->num_color == 1; row++)
        num = tiles->tile[row] >= num ? tiles->tile[row] + 1 : num;
    return tiles->num_color == 1 ? num : tiles->num_tile;
}

static void list_region(const unda_solver *s, struct sem_cuda *t, int region)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *from = &sem->region[region];
    struct sem_cuda_region *r = &t->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    struct gpu_wants *w = &t->wants;
    int64_t real = s->real_bytes, num_shared = tiles->num_node - tiles->num_inner, dim = from->dim;
    int64_t num_side = tiles->num_node - tiles->first_side, square = dim * dim * num_side * real;
    if (from->num_node == 0)
        return;
    gpu_want(w, 1, &r->inverse_mass, tiles->num_node * real, "masses");
    for (int64_t k = 0; k < tiles->num_tile; k++)
        r->num_warp += sem_num_warp(&r->plan, tiles, k);
    /* values by node are kept by lane (cuda_fill.c) */
    int64_t by_lane = r->num_warp * r->plan.warp_cells, num_metric = from->num_elem,
            num_coef = from->num_elem;
    if (r->plan.planes && sem->metric_kind == UNDA_METRIC_STORED)
        num_metric = by_lane;
    if (r->plan.planes && sem->material_nodes > 1)
        num_coef = by_lane;
    gpu_want(w, 1, &r->metric,
             num_metric * (r->plan.planes ? sem->metric_words : sem_metric_reals(sem)) * real, "metric");
    gpu_want(w, 1, &r->coef, num_coef * sem->material_nodes * 2 * real, "coefficients");
    int64_t num_sum = r->plan.assembly == IN_ORDER    ? tiles->num_entry
                      : r->plan.assembly == BY_COLORS ? num_shared
                                                      : num_side;
    bool atomically = r->plan.assembly == ATOMICALLY;
    gpu_want(w, 1, &r->shared, num_sum * r->plan.width * real, "forces on shared nodes");
    gpu_want(w, 1, &r->tile, atomically ? 0 : (int64_t)sizeof(struct sem_tile) * tiles->num_tile, "tiles");
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
    sem_cuda_list_cut(sem, region, r, w);
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
        if (r->plan.assembly == ATOMICALLY)
            TRY(sem_cells_new(sem, region, r->plan.cells, s->options.threads, &r->tiles));
        else
            TRY(sem_tiles_new(sem, region, r->plan.cells, r->plan.assembly == BY_COLORS, s->options.threads,
                              &r->tiles));
        r->num_border = num_border(sem, region, &r->tiles);
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
    gpu_want(w, 1, &t->clock, NUM_CLOCK * (int64_t)sizeof(int64_t), "clock");
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
    TRY(gpu_kernel_get(&t->pack, t->node_module, "sem_pack", 0));
    TRY(gpu_kernel_get(&t->unpack, t->node_module, "sem_unpack", 0));
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
        if (from->num_node)
            TRY(gpu_upload_reals(tables(s)->stream, tables(s)->region[region].inverse, from->sides.inverse,
                                 from->sides.num * from->dim * from->dim, s->real_bytes));
    }
    sem_graph_free(tables(s));
    return UNDA_OK;
}

static unda_status record_due(unda_solver *s, void *of)
{
    (void)of;
    return sem_points_record_later(s);
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
    if (s->exchange)
        TRY(gpu_event_new_order(&t->order, t->gpu));
    TRY(gpu_wants_alloc(&t->wants, t->stream, ""));
    TRY(compile_nodes(s, t));
    for (int region = 0; region < NUM_REGION; region++)
        TRY(sem_fill_region(s, region));
    TRY(gpu_sync(t->stream));
    s->num_launch =
        2 * ((sem_tables(s)->region[SOLID].num_elem > 0) + (sem_tables(s)->region[FLUID].num_elem > 0));
    TRY(solver_add_hook(s, record_due, NULL));
    TRY(gpu_wants_zero(&t->wants, t->stream, 1 << 1));
    TRY(sem_find_stable(s));
    t->zero = true;
    TRY(gpu_wants_zero(&t->wants, t->stream, 1 << 1));
    for (int region = 0; region < NUM_REGION; region++)
        TRY(sem_launch_pads(s, region));
    return gpu_sync(t->stream);
}

static void destroy(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    if (t->gpu) {
        cuda_exchange_free(s);
        sem_graph_free(t);
        sem_points_free(s);
        gpu_pool_free(&t->wants.pool);
        for (int region = 0; region < NUM_REGION; region++) {
            gpu_module_free(t->region[region].module);
            gpu_module_free(t->region[region].keep_module);
        }
        gpu_module_free(t->node_module);
        gpu_event_free(t->order);
        gpu_stream_free(t->stream);
        gpu_close(t->gpu);
    }
    for (int region = 0; region < NUM_REGION; region++)
        sem_tiles_free(&t->region[region].tiles);
    arrays_free(&t->owned);
    array_free(t);
    s->data = NULL;
}

/* Of a part in which regions differ, which the engine chose, nothing: it will choose the same again. */
static void describe(const unda_solver *s, unda_solver_info *info)
{
    const struct sem_cuda *t = tables(s);
    const struct kernel *kernel = t->region[SOLID].plan.kernel;
    kernel_describe(info, kernel->name);
    for (int i = 0; i < kernel->num_part; i++) {
        int value = 0;
        for (int region = 0; region < NUM_REGION; region++) {
            const struct sem_plan *plan = &t->region[region].plan;
            const int part[] = {plan->cells, plan->planes ? 2 : 1, plan->blocks, plan->ahead,
                                sem_tables(s)->metric_kind};
            if (sem_tables(s)->region[region].num_elem == 0)
                continue;
            if (value && value != part[i]) {
                value = 0;
                break;
            }
            value = part[i];
        }
        kernel_describe_part(info, kernel->part[i].name, value);
    }
}

const struct sem_engine sem_cuda = {.base = {.name = "cuda",
                                             .kernels = sem_kernels,
                                             .create = create,
                                             .destroy = destroy,
                                             .drive = sem_points_drive,
                                             .run = sem_step_run,
                                             .find_bad = sem_state_find_bad,
                                             .list_points = sem_points_list,
                                             .reserve = sem_points_reserve,
                                             .copy = sem_state_copy,
                                             .retime = retime,
                                             .forecast = forecast,
                                             .describe = describe,
                                             .settle = sem_settle,
                                             .monitor_new = sem_cuda_monitor_new,
                                             .monitor_take = sem_cuda_monitor_take,
                                             .profile = sem_profile,
                                             .compile = sem_plan_compile_only,
                                             .view = sem_cuda_view,
                                             .piece = sem_cuda_piece,
                                             .list_rows = sem_list_rows,
                                             .reads_nodes = true,
                                             .exchange_begin = cuda_exchange_begin,
                                             .exchange_end = cuda_exchange_end},
                                    .level = sem_state_level,
                                    .wrote = sem_state_wrote,
                                    .is_zero = sem_state_is_zero,
                                    .accelerate = sem_launch_accelerate,
                                    .stiffness = sem_launch_stiffness,
                                    .krylov = &sem_cuda_krylov,
                                    .join = sem_cuda_join,
                                    .join_rank = sem_cuda_join_rank,
                                    .run_team = sem_cuda_run_team,
                                    .krylov_team = &sem_cuda_krylov_team,
                                    .accelerate_team = sem_cuda_accelerate_team};
