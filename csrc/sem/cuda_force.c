/* cuda_force.c: what launches the kernels of forces: tiles, color by color, then nodes that tiles share. Next: cuda/sem/tiles.cu,
 * cuda_step.c. */
#include "cuda.h"

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* A part without a monitor has no kernels that keep anything, and need not. */
static bool keeps(const unda_solver *s, int region, const struct sem_pass *pass)
{
    return pass->mode == SEM_STEP && pass->keep[region] != LEVEL_U && tables(s)->region[region].keep_module;
}

static int mode_of(const unda_solver *s, int region, const struct sem_pass *pass)
{
    static const int modes[NUM_LEVEL] = {SEM_STEP, SEM_KEEP_V, SEM_KEEP_A};
    return keeps(s, region, pass) ? modes[pass->keep[region]] : pass->mode;
}

/* Tiles [begin, end) of the launch order. */
unda_status sem_launch_tiles(unda_solver *s, int region, const struct sem_pass *pass, int64_t begin,
                             int64_t end)
{
    struct sem_cuda *t = tables(s);
    const struct sem_cuda_region *r = &t->region[region];
    bool atomically = r->plan.assembly == ATOMICALLY;
    if (end == begin)
        return UNDA_OK;
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
                              .first_side = r->tiles.first_side - (atomically ? 0 : r->tiles.num_inner),
                              .dt = pass->dt,
                              .time = r->num_part ? (int)pass->time : -1,
                              .num_source = s->num_source,
                              .mode = mode_of(s, region, pass),
                              .first = (int)begin,
                              .num_elem = r->tiles.num_elem,
                              .record = sem_points_take(s)};
    struct gpu_shape shape = {.grid = {end - begin + a.record.num_block},
                              .block = {r->plan.threads},
                              .shared_bytes = r->plan.shared_bytes,
                              .early = sem_starts_early(s)};
    return gpu_launch(keeps(s, region, pass) ? &r->keep_tile_kernel : &r->tile_kernel, t->stream, &shape, &a,
                      sizeof a);
}

unda_status sem_launch_pads(unda_solver *s, int region)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    struct sem_pad_args a = {POINTER(r->u), POINTER(r->inverse_mass), r->tiles.num_node};
    struct gpu_shape shape = gpu_threads(a.num);
    if (r->plan.width == sem_tables(s)->region[region].dim || a.num == 0)
        return UNDA_OK;
    return gpu_launch(&r->pad_kernel, tables(s)->stream, &shape, &a, sizeof a);
}

unda_status sem_launch_shared(unda_solver *s, int region, const struct sem_pass *pass)
{
    struct sem_cuda *t = tables(s);
    const struct sem_cuda_region *r = &t->region[region];
    gpu_ptr first = (gpu_ptr)(r->tiles.num_inner * r->plan.width * s->real_bytes);
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
                                .mode = mode_of(s, region, pass)};
    struct gpu_shape shape = gpu_threads(a.num);
    int64_t of_block = 256 * 16 / s->real_bytes; /* unknowns */
    if (r->plan.assembly == ATOMICALLY)
        shape.grid[0] =
            (a.first_side * r->plan.width + of_block - 1) / of_block + (a.num - a.first_side + 255) / 256;
    shape.early = sem_starts_early(s);
    return a.num ? gpu_launch(keeps(s, region, pass) ? &r->keep_shared_kernel : &r->shared_kernel, t->stream,
                              &shape, &a, sizeof a)
                 : UNDA_OK;
}

/* Accelerations, or forces, to which tiles add what they have of a shared node. */
static unda_status zero_shared(unda_solver *s, int region)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    int64_t node = r->plan.width * s->real_bytes;
    return gpu_zero_async(tables(s)->stream, r->a + (gpu_ptr)(r->tiles.num_inner * node),
                          (r->tiles.first_side - r->tiles.num_inner) * node);
}

static unda_status zero_sums(unda_solver *s, int region, const struct sem_pass *pass)
{
    bool atomically = tables(s)->region[region].plan.assembly == ATOMICALLY;
    return atomically && pass->mode != SEM_STEP ? zero_shared(s, region) : UNDA_OK;
}

static unda_status launch_region(unda_solver *s, int region, const struct sem_pass *pass)
{
    const struct sem_tiles *tiles = &tables(s)->region[region].tiles;
    TRY(zero_sums(s, region, pass));
    for (int32_t color = 0; color < tiles->num_color; color++)
        TRY(sem_launch_tiles(s, region, pass, tiles->first_color[color], tiles->first_color[color + 1]));
    return sem_launch_shared(s, region, pass);
}

unda_status sem_launch_border(unda_solver *s, const struct sem_pass *pass)
{
    for (int region = FLUID; region >= SOLID; region--) {
        const struct sem_tiles *tiles = &tables(s)->region[region].tiles;
        TRY(zero_sums(s, region, pass));
        if (tiles->num_color == 1)
            TRY(sem_launch_tiles(s, region, pass, 0, tables(s)->region[region].num_border));
        for (int32_t color = 0; color < tiles->num_color && tiles->num_color > 1; color++)
            TRY(sem_launch_tiles(s, region, pass, tiles->first_color[color], tiles->first_color[color + 1]));
    }
    return UNDA_OK;
}

unda_status sem_launch_inner(unda_solver *s, const struct sem_pass *pass)
{
    for (int region = FLUID; region >= SOLID; region--)
        TRY(sem_launch_tiles(s, region, pass, tables(s)->region[region].num_border,
                             tables(s)->region[region].tiles.num_tile));
    return UNDA_OK;
}

unda_status sem_launch_ends(unda_solver *s, const struct sem_pass *pass)
{
    TRY(sem_launch_shared(s, FLUID, pass));
    return sem_launch_shared(s, SOLID, pass);
}

/* The fluid comes first: its chi'' is the pressure on the solid. */
unda_status sem_launch_all(unda_solver *s, const struct sem_pass *pass)
{
    TRY(launch_region(s, FLUID, pass));
    return launch_region(s, SOLID, pass);
}

/* Accelerations at rest are -A (chi, u). */
unda_status sem_launch_operator(unda_solver *s)
{
    return sem_launch_all(s, &(struct sem_pass){.mode = SEM_CLOSE, .time = -1});
}

unda_status sem_launch_fluid(unda_solver *s)
{
    return launch_region(s, FLUID, &(struct sem_pass){.mode = SEM_FORCE, .time = -1});
}

unda_status sem_launch_accelerate(unda_solver *s, int64_t time)
{
    TRY(sem_state_flush(s));
    TRY(sem_launch_all(s, &(struct sem_pass){.mode = SEM_CLOSE, .time = time}));
    sem_state_changed(s);
    return gpu_sync(tables(s)->stream);
}

/* The state is on the host meanwhile, and goes to the device again when that is asked for. */
unda_status sem_launch_stiffness(unda_solver *s, int region, const void *u, void *force)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    void *state;
    if (r->tiles.num_elem == 0)
        return UNDA_OK;
    TRY(sem_state_level(s, region, LEVEL_U, &state));
    tables(s)->wrote = true;
    TRY(sem_state_upload(s, region, r->u, u));
    TRY(launch_region(s, region, &(struct sem_pass){.mode = SEM_FORCE, .time = -1}));
    return sem_state_download(s, region, force, r->a);
}
