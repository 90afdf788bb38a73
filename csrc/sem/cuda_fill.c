/* cuda_fill.c: the tables of the CUDA engine of spectral elements, in the order of its tiles. Next: cuda/sem/args.h, which
 * says what they are. */
#include "cuda.h"

#include "../base/parallel.h"
#include "common/index.h"

#include <string.h>

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

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

/* The same by node, num_of_node each, as threads that own planes read them: [warp][node of a plane][pair][lane][2]. */
static unda_status upload_lanes(unda_solver *s, int region, gpu_ptr to, int num_of_node,
                                void (*of)(const struct sem *sem, int64_t elem, double *values))
{
    enum { PIECE = 1 << 20, MOST_VALUES = HEX_METRIC * MAX_NODE };
    const struct sem *sem = sem_tables(s);
    const struct sem_cuda_region *r = &tables(s)->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    int n = s->options.degree + 1, cells = r->plan.warp_cells, lanes = cells * n, num_node = n * n * n;
    int64_t of_warp = (int64_t)n * n * num_of_node * lanes, most = PIECE / of_warp + 1;
    int32_t threads = parallel_few(parallel_worth(s->options.threads, most * of_warp, LEAST_SCALAR));
    SCRATCH double *values = NULL;
    SCRATCH int32_t *first = NULL; /* [warp]: its first element */
    TRY(array_try(&values, most * of_warp, sizeof *values, "upload"));
    TRY(array_try(&first, r->num_warp, sizeof *first, "upload"));
    for (int64_t tile = 0, warp = 0; tile < tiles->num_tile; tile++)
        for (int32_t e = tiles->first_elem[tile]; e < tiles->first_elem[tile + 1]; e += cells)
            first[warp++] = e;
    for (int64_t done = 0; done < r->num_warp; done += most) {
        int64_t count = r->num_warp - done < most ? r->num_warp - done : most;
        memset(values, 0, sizeof *values * (size_t)(count * of_warp));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < count; i++) {
            int32_t begin = first[done + i],
                    next = i + done + 1 < r->num_warp ? first[done + i + 1] : (int32_t)tiles->num_elem;
            for (int32_t e = begin; e < next; e++) {
                double one[MOST_VALUES];
                of(sem, sem->region[region].elem[tiles->elem[e]], one);
                for (int node = 0; node < num_node; node++)
                    for (int k = 0; k < num_of_node; k++)
                        values[i * of_warp + ((node / n * num_of_node + k / 2 * 2) * lanes) +
                               ((e - begin) * n + node % n) * 2 + k % 2] = one[k * num_node + node];
            }
        }
        TRY(gpu_upload_reals(tables(s)->stream, to + (gpu_ptr)(done * of_warp * s->real_bytes), values,
                             count * of_warp, s->real_bytes));
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

/* As threads that own columns read them where cells are in tiles: in groups of four. */
static void metric_in_groups(const struct sem *sem, int64_t elem, double *values)
{
    int num = sem->metric_nodes;
    if (sem->metric_kind != UNDA_METRIC_STORED) {
        metric_of(sem, elem, values);
        return;
    }
    const double *from = sem->metric + elem * sem->metric_words;
    for (int node = 0; node < num; node++)
        for (int i = 0; i < HEX_METRIC; i++)
            values[GROUP_INDEX(num, HEX_METRIC, node, i)] = from[node * HEX_METRIC + i];
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
    SCRATCH int32_t *first_warp = NULL;
    TRY(array_try(&tile, from->num_tile, sizeof *tile, "tiles"));
    TRY(array_try(&first_warp, from->num_tile + 1, sizeof *first_warp, "tiles"));
    for (int64_t k = 0; k < from->num_tile; k++)
        first_warp[k + 1] = first_warp[k] + sem_num_warp(&r->plan, from, k);
    for (int64_t i = 0; i < from->num_tile; i++) {
        int32_t k = from->order[i];
        tile[i] = (struct sem_tile){.first_elem = from->first_elem[k],
                                    .num_elem = from->first_elem[k + 1] - from->first_elem[k],
                                    .first_inner = from->first_inner[k],
                                    .num_inner = (int)(from->first_inner[k + 1] - from->first_inner[k]),
                                    .first_entry = from->first_entry[k],
                                    .num_shared = (int)(from->first_entry[k + 1] - from->first_entry[k]),
                                    .pattern = from->pattern[k],
                                    .num_list = from->num_list[k],
                                    .number = k,
                                    .first_warp = first_warp[k]};
    }
    return gpu_upload(stream, r->tile, tile, (int64_t)sizeof *tile * from->num_tile);
}

unda_status sem_fill_region(unda_solver *s, int region)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cuda *t = tables(s);
    struct sem_cuda_region *r = &t->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    struct gpu_stream *stream = t->stream;
    int64_t first = sem_first_unknown(t, region) * s->real_bytes;
    if (tiles->num_node == 0)
        return UNDA_OK;
    r->u = t->level[LEVEL_U] + (gpu_ptr)first;
    r->v = t->level[LEVEL_V] + (gpu_ptr)first;
    r->a = t->level[LEVEL_A] + (gpu_ptr)first;
    if (r->plan.planes && sem->metric_kind == UNDA_METRIC_STORED)
        TRY(upload_lanes(s, region, r->metric, HEX_METRIC, metric_of));
    else
        TRY(upload_elements(s, region, r->metric, sem_metric_reals(sem),
                            r->plan.assembly == ATOMICALLY ? metric_of : metric_in_groups));
    if (r->plan.planes && sem->material_nodes > 1)
        TRY(upload_lanes(s, region, r->coef, 2, coef_of));
    else
        TRY(upload_elements(s, region, r->coef, sem->material_nodes * 2, coef_of));
    TRY(upload_masses(s, region));
    TRY(upload_sides(s, region));
    if (sem->cut)
        TRY(sem_cuda_fill_cut(s, region));
    if (r->plan.assembly != ATOMICALLY)
        TRY(upload_tiles(stream, r));
    TRY(gpu_upload(stream, r->words, tiles->words, 2 * tiles->num_word));
    TRY(gpu_upload(stream, r->entry, tiles->entry, 4 * tiles->num_entry));
    if (r->plan.assembly == IN_ORDER) {
        TRY(gpu_upload(stream, r->first_sum, tiles->first_sum, 4 * (tiles->num_node - tiles->num_inner + 1)));
        TRY(gpu_upload(stream, r->sum, tiles->sum, 4 * tiles->num_entry));
    }
    return sem_plan_compile(s, region);
}
