/* method.c: spectral elements as a method of the solver: options, state in the user's numbering, the clock.
 * Not here: steps (cpu.c), the contents of the tables (tables.c), points (points.c), energies (energy.c). */
#include "monitor.h"
#include "rank.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const struct engine *engine(const unda_solver_options *o)
{
    return o->device == UNDA_DEVICE_CPU ? &sem_cpu.base : &sem_cuda.base;
}

static const struct engine *team_engine(const unda_solver_options *o)
{
    (void)o;
    return &sem_team_engine.base;
}

static const struct engine *rank_engine(const unda_solver_options *o)
{
    (void)o;
    return &sem_rank_engine.base;
}

unda_status sem_new_sizes(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    static const struct range ranges[] = {
        {"degree", offsetof(unda_solver_options, degree), 2, MAX_DEGREE},
        {"material_by_node", offsetof(unda_solver_options, material_by_node), 0, 1},
    };
    TRY(solver_check_ranges(o, ranges, sizeof ranges / sizeof *ranges));
    TRY(array_try(&s->tables, 1, sizeof(struct sem), "tables of spectral elements"));
    return sem_sizes(sem_tables(s), mesh, o);
}

unda_status sem_new_tables(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    static const int conditions[] = {[UNDA_ACOUSTIC] = 1 << UNDA_BOUNDARY_RIGID | 1 << UNDA_BOUNDARY_FREE,
                                     [UNDA_ELASTIC] = 1 << UNDA_BOUNDARY_FREE | 1 << UNDA_BOUNDARY_FIXED |
                                                      1 << UNDA_BOUNDARY_SYMMETRY};
    TRY(sem_new_sizes(s, mesh, o));
    struct sem *sem = sem_tables(s);
    TRY(space_fill(&sem->space, mesh, o->boundary, conditions[o->physics],
                   o->physics == UNDA_ACOUSTIC ? "acoustic" : "elastic"));
    if (sem->space.num_exact_face)
        FAIL(UNDA_ERR_ARG, "%lld faces have exact outer data, expected none: only DG takes them",
             (long long)sem->space.num_exact_face);
    s->dt_stable = INFINITY; /* until the engine can compute: sem_find_stable */
    return sem_fill(sem, o);
}

static unda_status create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(sem_new_tables(s, mesh, o));
    return s->split ? sem_team_new(s, o) : UNDA_OK;
}

static unda_status prepare(unda_solver *s)
{
    if (isfinite(s->dt))
        sem_sides_retime(sem_tables(s), s->dt);
    return UNDA_OK;
}

static void destroy(unda_solver *s)
{
    if (s->tables)
        sem_team_free(sem_team_of(s));
    sem_free(s->tables);
    s->tables = NULL;
}

/* Of a team: from tables of all parts, which are made and freed. */
static unda_status forecast(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o,
                            int64_t *host_bytes, int64_t *device_bytes)
{
    unda_status status = create(s, mesh, o);
    if (status == UNDA_OK)
        status = sem_team_forecast(s, host_bytes, device_bytes);
    destroy(s);
    return status;
}

void sem_info(const unda_solver *s, unda_solver_info *info)
{
    const struct sem *sem = sem_tables(s);
    int64_t n = s->options.degree + 1, own = (n - 1) * (n - 1) * (n - 1);
    int dim = sem->region[SOLID].num_elem ? 3 : 1;
    info->num_field = sem->num_field;
    info->num_node = sem->space.num_node;
    info->num_elem = sem->space.num_owned;
    info->num_dof = 3 * sem->region[SOLID].num_node + sem->region[FLUID].num_node;
    /* twice lines along three axes; the stress by its metric, which of a map takes two edges, linear along a column,
     * three products of edges, and J */
    int map = sem->metric_kind == UNDA_METRIC_TRILINEAR ? 2 * 6 + 3 * 9 + 6 : 0;
    info->flops = sem->space.num_node * (dim * 3 * 2 * 2 * n + (dim == 3 ? 130 : 32) + map);
    /* of the nodes that are an element's own: two levels read and one written, and the inverse mass */
    info->bytes_per_elem =
        s->real_bytes * (own * (3 * dim + 1) + sem->metric_words + sem->material_nodes * (dim == 3 ? 2 : 1));
}

static void element_dt(const unda_solver *s, double *dt)
{
    const struct sem *sem = sem_tables(s);
    for (int64_t e = 0; e < sem->space.num_owned; e++)
        dt[sem->space.order[e]] = sem->elem_dt[e];
}

/* ---- state ---- */

unda_status sem_levels(unda_solver *s, void *levels[NUM_REGION][NUM_LEVEL])
{
    for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++)
        TRY(sem_engine(s)->level(s, i / NUM_LEVEL, i % NUM_LEVEL, &levels[i / NUM_LEVEL][i % NUM_LEVEL]));
    return UNDA_OK;
}

/* The first value that is not finite: by region, level, node. */
unda_status sem_find_bad(unda_solver *s, int64_t *index)
{
    void *levels[NUM_REGION][NUM_LEVEL];
    int64_t before = 0;
    int threads = s->threads > 0 ? s->threads : 1;
    TRY(sem_levels(s, levels));
    *index = -1;
    for (int i = 0; i < NUM_REGION * NUM_LEVEL && *index < 0; i++) {
        const struct sem_region *r = &sem_tables(s)->region[i / NUM_LEVEL];
        const void *values = levels[i / NUM_LEVEL][i % NUM_LEVEL];
        int64_t count = r->num_node * r->dim, first = count;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : first)
        for (int64_t k = 0; k < count; k++)
            if (!isfinite(real_get(s, values, k)) && k < first)
                first = k;
        if (first < count)
            *index = before + first;
        before += count;
    }
    return UNDA_OK;
}

static void wrote(unda_solver *s)
{
    if (sem_engine(s)->wrote)
        sem_engine(s)->wrote(s);
}

/* Fields of an element that stand in its region; of a node that cells share, the first of them writes. */
void sem_move_elem(unda_solver *s, int64_t elem, void *const levels[NUM_REGION][NUM_LEVEL], void *out,
                   const void *in)
{
    const struct sem *sem = sem_tables(s);
    int kind = sem->kind[elem], num = sem->space.num_node;
    const struct sem_region *r = &sem->region[kind];
    const int32_t *node = r->node + (int64_t)sem->row[elem] * num;
    for (int level = 0; level < NUM_LEVEL; level++) {
        void *values = levels[kind][level];
        int32_t own = r->first[sem->row[elem]]; /* the next node that no element before has */
        for (int n = 0; n < num; own += node[n] == own, n++)
            for (int i = 0; i < r->dim; i++) {
                int64_t at = n * sem->num_field + sem_slot(sem, kind, level) + i,
                        to = (int64_t)node[n] * r->dim + i;
                if (out)
                    real_put(s, out, at, real_get(s, values, to));
                else if (node[n] == own)
                    real_put(s, values, to, real_get(s, in, at));
            }
    }
}

/* What walls keep at 0 leaves a state that was written; of one that was stepped, rounding only: it keeps its
 * bits. */
static void project(unda_solver *s, void *const levels[NUM_REGION][NUM_LEVEL])
{
    const struct sem *sem = sem_tables(s);
    double room = 16 * (s->real_bytes == 4 ? FLT_EPSILON : DBL_EPSILON);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        for (int64_t i = 0; i < r->sides.num * NUM_LEVEL; i++) {
            int64_t side = i / NUM_LEVEL, at = (int64_t)r->sides.node[side] * r->dim;
            const double *basis = r->sides.basis + side * r->dim * r->dim;
            void *values = levels[kind][i % NUM_LEVEL];
            double kept[3] = {0}, size = 0, change = 0;
            for (int f = 0; f < r->sides.num_free[side]; f++) {
                double along = 0;
                for (int k = 0; k < r->dim; k++)
                    along += basis[f * r->dim + k] * real_get(s, values, at + k);
                for (int k = 0; k < r->dim; k++)
                    kept[k] += along * basis[f * r->dim + k];
            }
            for (int k = 0; k < r->dim; k++) {
                size = fmax(size, fabs(real_get(s, values, at + k)));
                change = fmax(change, fabs(real_get(s, values, at + k) - kept[k]));
            }
            for (int k = 0; k < r->dim && change > room * size; k++)
                real_put(s, values, at + k, kept[k]);
        }
    }
}

unda_status sem_settle(unda_solver *s)
{
    struct sem *sem = sem_tables(s);
    void *levels[NUM_REGION][NUM_LEVEL];
    if (!sem->stale)
        return UNDA_OK;
    TRY(sem_levels(s, levels));
    sem->stale = false;
    project(s, levels);
    wrote(s);
    return sem_engine(s)->accelerate(s, -1);
}

/* The largest u and v of a region in a state. */
static void find_sizes(const unda_solver *s, const void *in, int kind, double size[2])
{
    const struct sem *sem = sem_tables(s);
    int64_t num = sem->space.num_owned * sem->space.num_node;
    for (int64_t i = 0; i < num; i++)
        for (int level = 0; level < LEVEL_A; level++)
            for (int k = 0; k < sem->region[kind].dim && sem->region[kind].num_elem; k++)
                size[level] = fmax(
                    size[level], fabs(real_get(s, in, i * sem->num_field + sem_slot(sem, kind, level) + k)));
}

/* Refuses u or v of a region that have several values at a node, of which the first element's was taken. Rounding
 * may tear them: by sqrt(eps) of their size, or of v by eps u / dt, and the other way round. */
static unda_status check_torn(unda_solver *s, void *const levels[NUM_REGION][NUM_LEVEL], const void *in,
                              int kind)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *r = &sem->region[kind];
    int64_t num = sem->space.num_node;
    double eps = s->real_bytes == 4 ? FLT_EPSILON : DBL_EPSILON, size[2] = {0};
    find_sizes(s, in, kind, size);
    const double room[2] = {sqrt(eps) * size[0] + 4 * eps * size[1] * s->dt,
                            sqrt(eps) * size[1] + 4 * eps * size[0] / s->dt};
    for (int64_t i = 0; i < r->num_elem * num * LEVEL_A * r->dim; i++) {
        int k = (int)(i % r->dim), level = (int)(i / r->dim % LEVEL_A), local;
        int64_t at = i / (r->dim * LEVEL_A), elem = sem->space.order[r->elem[at / num]];
        int field = sem_slot(sem, kind, level) + k;
        double given = real_get(s, in, (elem * num + at % num) * sem->num_field + field);
        double taken = real_get(s, levels[kind][level], (int64_t)r->node[at] * r->dim + k);
        if (!(fabs(given - taken) > room[level]))
            continue;
        int64_t owner;
        sem_node_owner(sem, kind, r->node[at], &owner, &local);
        FAIL(UNDA_ERR_ARG,
             "field %d at node %lld of element %lld is %g, but %g in element %lld, which shares the node; "
             "expected one value",
             field, (long long)(at % num), (long long)elem, given, taken, (long long)sem->space.order[owner]);
    }
    return UNDA_OK;
}

unda_status sem_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out, const void *in)
{
    struct sem *sem = sem_tables(s);
    void *levels[NUM_REGION][NUM_LEVEL];
    int64_t bytes = (int64_t)sem->space.num_node * sem->num_field * s->real_bytes;
    if (array != UNDA_STATE)
        FAIL(UNDA_ERR_ARG, "array is %d, expected %d: spectral elements have a state only", array,
             UNDA_STATE);
    if (first < 0 || count < 0 || first > sem->space.num_owned - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected elements within 0..%lld", (long long)first,
             (long long)count, (long long)sem->space.num_owned - 1);
    if (out) {
        TRY(sem_settle(s));
        for (int64_t i = 0; i < count * sem->space.num_node * sem->num_field; i++)
            real_put(s, out, i, 0);
    }
    TRY(sem_levels(s, levels));
    for (int64_t i = 0; i < count; i++)
        sem_move_elem(s, sem->space.place[first + i], levels, out ? (char *)out + i * bytes : NULL,
                      in ? (const char *)in + i * bytes : NULL);
    sem->stale = sem->stale || in;
    if (in)
        wrote(s);
    for (int kind = 0; kind < NUM_REGION && in && count == sem->space.num_owned; kind++)
        TRY(check_torn(s, levels, in, kind));
    return UNDA_OK;
}

void sem_describe_bad(const unda_solver *s, int64_t index, unda_blowup *blowup)
{
    const struct sem *sem = sem_tables(s);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        int64_t num = r->num_node * r->dim;
        for (int level = 0; level < NUM_LEVEL && index >= 0; level++, index -= num)
            if (index < num) {
                int64_t owner;
                sem_node_owner(sem, kind, index / r->dim, &owner, &blowup->node);
                blowup->elem = sem->space.order[owner];
                blowup->field = sem_slot(sem, kind, level) + (int32_t)(index % r->dim);
            }
    }
}

unda_status sem_restore(unda_solver *s)
{
    if (s->have_good) {
        TRY(s->engine->copy(s, 0, 1));
        s->step = s->good_step;
    }
    return UNDA_OK;
}

static unda_status blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    sem_describe_bad(s, index, blowup);
    return sem_restore(s);
}

static unda_status keep(unda_solver *s)
{
    return s->engine->copy(s, 1, 0);
}

/* ---- points and clock ---- */

unda_status sem_sample(unda_solver *s, const void *points, double *values)
{
    const struct sem_points *p = points;
    void *levels[NUM_REGION][NUM_LEVEL];
    TRY(sem_settle(s));
    for (int64_t i = 0; i < p->num_point * p->num_field; i++)
        values[i] = 0;
    if (sem_engine(s)->is_zero && sem_engine(s)->is_zero(s)) /* a device's state stays where it is */
        return UNDA_OK;
    TRY(sem_levels(s, levels));
    for (int64_t i = 0; i < p->num_point * p->num_field; i++)
        values[i] = sem_value(s, p, i / p->num_field, (int32_t)(i % p->num_field), levels);
    return UNDA_OK;
}

/* A step needs sources at its end; accelerations that are not there, at the beginning. */
static int64_t num_time(const unda_solver *s, int64_t num_step)
{
    return num_step > 0 ? num_step + !sem_tables(s)->num_valid : 0;
}

static void times(const unda_solver *s, int64_t num_step, double *times)
{
    int64_t first = sem_tables(s)->num_valid, num = num_time(s, num_step);
    for (int64_t i = 0; i < num; i++)
        times[i] = s->t0 + (double)(s->step + first + i) * s->dt;
}

static void set_history(unda_solver *s, int32_t history)
{
    sem_tables(s)->num_valid = history > 0;
    if (history > 0)
        sem_tables(s)->stale = false;
}

static int32_t get_history(const unda_solver *s)
{
    return sem_tables(s)->num_valid;
}

/* What one device, several, and one of many processes have alike. */
#define CLOCK                                                                                                \
    .name = "SEM", .on_mesh = true, .prepare = prepare, .destroy = destroy, .num_time = num_time,            \
    .times = times, .source_free = sem_places_free, .points_free = sem_places_free, .keep = keep,            \
    .set_history = set_history, .get_history = get_history, .monitor = sem_monitor,                          \
    .monitor_ways = sem_monitor_ways
#define ENTRIES                                                                                              \
    CLOCK, .sizes = sem_new_sizes, .create = create, .info = sem_info, .move = sem_move,                     \
        .sources_new = sem_sources_new, .points_check = sem_points_check, .points_new = sem_points_new,      \
        .sample = sem_sample, .energy = sem_energy, .blown_up = blown_up, .element_dt = element_dt

static unda_solver *part(const unda_solver *s, int32_t i)
{
    return i < sem_team_of(s)->num_part ? sem_team_of(s)->part[i] : NULL;
}

static const struct method team_method = {ENTRIES, .engine = team_engine, .member = sem_team_member,
                                          .part = part, .forecast = forecast};
static const struct method rank_method = {CLOCK,
                                          .engine = rank_engine,
                                          .create = sem_rank_create,
                                          .info = sem_rank_info,
                                          .move = sem_rank_move,
                                          .sources_new = sem_rank_sources_new,
                                          .points_check = sem_rank_points_check,
                                          .points_new = sem_rank_points_new,
                                          .sample = sem_rank_sample,
                                          .energy = sem_rank_energy,
                                          .blown_up = sem_rank_blown_up,
                                          .element_dt = sem_rank_element_dt,
                                          .member = sem_team_member,
                                          .part = part,
                                          .message = sem_rank_message,
                                          .set_requests = sem_rank_set_requests};
const struct method sem_method = {ENTRIES, .engine = engine, .team = &team_method, .rank = &rank_method};
