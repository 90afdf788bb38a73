/* team.c: DG on several devices: makes the parts' solvers, runs their stages together. One thread serves all parts, so
 * that no part waits for one that waits for it: a stage of all is
 *
 *     exchange_begin  of each part: what others need of its state is under way
 *     inner elements  of each part
 *     exchange_end    of each part
 *     border elements of each part
 *
 * Each element is computed by the operations of a run on one device, from the same numbers: so are its bits.
 * Not here: points and exact data (team_points.c), the state (team_state.c), how traces travel (exchange_*.c). */
#include "../solver/cuda_way.h"
#include "rank.h"

#include "common/index.h"
#include "monitor.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static unda_status check_team(const unda_solver *s, const unda_mesh *mesh)
{
    const unda_team *team = s->split;
    if (team->num_part < 1 || team->num_part > mesh->num_elem || !team->part || !team->device)
        FAIL(UNDA_ERR_ARG, "a team has %d parts, expected 1..%lld; or part or device is NULL", team->num_part,
             (long long)mesh->num_elem);
    if (team->transport < UNDA_TRANSPORT_AUTO || team->transport > UNDA_TRANSPORT_HOST)
        FAIL(UNDA_ERR_ARG, "transport is %d, expected 0..%d", team->transport, UNDA_TRANSPORT_HOST);
    for (int32_t p = 0; p < team->num_part; p++)
        if (team->device[p] < UNDA_DEVICE_CPU ||
            (team->device[p] == UNDA_DEVICE_CPU) != (team->device[0] == UNDA_DEVICE_CPU))
            FAIL(UNDA_ERR_ARG,
                 "device of part %d is %d and of part 0 %d, expected CUDA devices, or %d of all", p,
                 team->device[p], team->device[0], UNDA_DEVICE_CPU);
    return UNDA_OK;
}

/* Materials of a part's elements and ghosts, from those of all elements. */
static unda_status gather_material(const unda_mesh *local, int64_t num, const double *all, double **out)
{
    TRY(array_try(out, local->num_elem * num, sizeof **out, "materials"));
    for (int64_t e = 0; e < local->num_elem; e++)
        memcpy(*out + e * num, all + local->part.global[e] * num, sizeof **out * (size_t)num);
    return UNDA_OK;
}

static void release_mesh(unda_mesh **mesh)
{
    unda_mesh_free(*mesh);
}

/* Of all its messages, and of its inner elements on a device. */
static void size_exchange(const unda_solver *part, const struct mesh_part *cut, struct exchange *x)
{
    const struct dg *dg = dg_tables(part);
    int64_t num_inner = dg->space.num_owned - cut->num_border;
    x->bytes = cut->num_cut * dg_num_trace(part) * part->real_bytes;
    x->inner = num_inner * dg_bytes(dg, part->options.integrator, part->real_bytes, true);
}

static unda_status new_exchange(unda_solver *part)
{
    struct exchange *x;
    const struct mesh_part *cut = &dg_tables(part)->space.mesh->part;
    int64_t one = dg_num_trace(part) * part->real_bytes;
    TRY(array_try(&part->exchange, 1, sizeof *x, "exchange"));
    x = part->exchange;
    TRY(array_try(&x->link, cut->num_neighbor, sizeof *x->link, "exchange"));
    size_exchange(part, cut, x);
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        x->link[i].bytes = (cut->first[i + 1] - cut->first[i]) * one;
    return UNDA_OK;
}

/* The sizes of a part, whose mesh and options are its own; kind: unda_metric of the whole mesh. */
static unda_status size_part(unda_solver *part, const unda_mesh *local, const unda_solver_options *own,
                             int kind, int64_t num_whole)
{
    TRY(solver_begin(part, local, own));
    TRY(dg_make_sizes(part, local, own));
    if (kind)
        dg_set_metric(dg_tables(part), kind);
    dg_tables(part)->num_whole = num_whole;
    return UNDA_OK;
}

unda_status dg_team_begin_part(unda_solver *s, int32_t p, const unda_mesh *local, int kind,
                               const unda_solver_options *own)
{
    struct dg_team *team = dg_team_of(s);
    TRY(array_try(&team->part[p], 1, sizeof **team->part, "solver"));
    return size_part(team->part[p], local, own, kind, team->num_elem);
}

unda_status dg_team_end_part(unda_solver *part, const unda_mesh *local, const unda_solver_options *own)
{
    TRY(dg_make_tables(part, local, own));
    return new_exchange(part);
}

static unda_status choose_kind(const unda_mesh *mesh, const unda_solver_options *o, int *kind)
{
    *kind = 0;
    return mesh->shape == UNDA_HEX ? space_choose_metric(mesh, kernel_part(o, "metric"), o->degree, kind)
                                   : UNDA_OK;
}

/* The tables of part p. */
static unda_status make_part(unda_solver *s, int32_t p, int kind, const unda_solver_options *o)
{
    struct dg_team *team = dg_team_of(s);
    __attribute__((cleanup(release_mesh))) unda_mesh *local = NULL;
    SCRATCH double *material = NULL;
    unda_solver_options own = *o;
    own.device = s->split->device[p];
    TRY(unda_mesh_part(&local, team->mesh, team->num_part, s->split->part, p));
    TRY(dg_team_begin_part(s, p, local, kind, &own));
    const struct dg *dg = dg_tables(team->part[p]);
    int64_t num_material = (int64_t)dg->material_nodes * dg->physics->num_material;
    if (o->material)
        TRY(gather_material(local, num_material, o->material, &material));
    own.material = material;
    return dg_team_end_part(team->part[p], local, &own);
}

/* What is any element's is all parts'. */
static void agree(struct dg_team *team)
{
    bool local = false, fluid = false;
    for (int32_t p = 0; p < team->num_part; p++) {
        local = local || dg_tables(team->part[p])->has_local;
        fluid = fluid || dg_tables(team->part[p])->has_fluid;
    }
    for (int32_t p = 0; p < team->num_part; p++) {
        dg_tables(team->part[p])->has_local = local;
        dg_tables(team->part[p])->has_fluid = fluid;
    }
}

static unda_status list_elements(struct dg_team *team, const int32_t *owner)
{
    const unda_mesh *mesh = team->mesh;
    TRY(array_own(&team->owned, &team->owner, mesh->num_elem, sizeof *team->owner, "parts"));
    TRY(array_own(&team->owned, &team->local, mesh->num_elem, sizeof *team->local, "parts"));
    memcpy(team->owner, owner, sizeof *owner * (size_t)mesh->num_elem);
    for (int32_t p = 0; p < team->num_part; p++) {
        const struct space *space = &dg_tables(team->part[p])->space;
        for (int64_t e = 0; e < space->num_owned; e++)
            team->local[space->mesh->part.global[e]] = e;
    }
    return UNDA_OK;
}

unda_status dg_team_new(unda_solver *s, const unda_mesh *mesh, int32_t num_part, int64_t num_elem,
                        const unda_solver_options *o)
{
    struct dg_team *team;
    TRY(array_try(&team, 1, sizeof *team, "team"));
    s->tables = team;
    mesh_hold(mesh);
    team->mesh = mesh;
    team->num_elem = num_elem;
    TRY(array_own(&team->owned, &team->part, num_part, sizeof *team->part, "parts"));
    TRY(array_own(&team->owned, &team->slot, num_part, sizeof *team->slot, "parts"));
    TRY(array_own(&team->owned, &team->exact, num_part, sizeof *team->exact, "parts"));
    team->num_part = num_part;
    team->integration = (struct integration){.kind = integrators[o->integrator], .num_elem = num_elem};
    return UNDA_OK;
}

static unda_status create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    int kind;
    TRY(check_team(s, mesh));
    TRY(dg_team_new(s, mesh, s->split->num_part, mesh->num_elem, o));
    struct dg_team *team = dg_team_of(s);
    TRY(choose_kind(mesh, o, &kind));
    s->dt_stable = INFINITY;
    for (int32_t p = 0; p < team->num_part; p++) {
        TRY(make_part(s, p, kind, o));
        s->dt_stable = fmin(s->dt_stable, team->part[p]->dt_stable);
    }
    agree(team);
    TRY(list_elements(team, s->split->part));
    return dg_team_list_slots(s, o->boundary);
}

int32_t dg_team_find(const struct dg_team *team, int64_t elem, int64_t *local)
{
    if (!team->place) {
        *local = team->local[elem];
        return team->owner[elem];
    }
    *local = dg_team_first_from(team->part[0], elem);
    const struct space *space = &dg_tables(team->part[0])->space;
    return *local < space->num_owned && space->mesh->part.global[*local] == elem ? 0 : -1;
}

static void free_part(unda_solver *part)
{
    if (!part)
        return;
    struct exchange *x = part->exchange;
    dg_team_unlist(part);
    unda_solver_free(part);
    if (x)
        array_free(x->link);
    array_free(x);
}

static void destroy(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    if (!team)
        return;
    for (int32_t p = 0; p < team->num_part; p++) {
        free_part(team->part[p]);
        array_free(team->slot[p]);
        array_free(team->exact[p]);
    }
    unda_mesh_free((unda_mesh *)team->mesh);
    arrays_free(&team->owned);
    array_free(team);
    s->tables = NULL;
}

void dg_link_parts(unda_solver *const *part, int32_t num_part)
{
    for (int32_t p = 0; p < num_part; p++) {
        const struct mesh_part *here = &dg_tables(part[p])->space.mesh->part;
        for (int32_t i = 0; i < here->num_neighbor; i++) {
            const unda_solver *other = part[here->neighbor[i]];
            const struct mesh_part *there = &dg_tables(other)->space.mesh->part;
            int32_t back = 0;
            while (there->neighbor[back] != p)
                back++;
            int64_t at = there->first[back] * dg_num_trace(other) * other->real_bytes;
            for (int turn = 0; turn < 2; turn++)
                part[p]->exchange->link[i].to[turn] = other->exchange->from[turn] + (uintptr_t)at;
        }
    }
}

/* ---- description ---- */

/* Of a part that has tables of sizes alone. */
static void free_sizes(unda_solver *part)
{
    if (part->method)
        part->method->destroy(part);
}

/* What is known of a part before it is made. */
struct part_size {
    struct exchange exchange;
    int32_t *neighbor;
    int32_t num_neighbor;
    int64_t num_cut;
    const struct dg_engine *engine;
};

static unda_status forecast_part(const unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o,
                                 int kind, int32_t p, struct part_size *size, int64_t *host, int64_t *device)
{
    __attribute__((cleanup(release_mesh))) unda_mesh *local = NULL;
    __attribute__((cleanup(free_sizes))) unda_solver part = {.exchange = &size->exchange};
    unda_solver_options own = *o;
    own.device = s->split->device[p];
    TRY(unda_mesh_part(&local, mesh, s->split->num_part, s->split->part, p));
    TRY(size_part(&part, local, &own, kind, mesh->num_elem));
    TRY(part.engine->forecast(&part));
    size_exchange(&part, &local->part, &size->exchange);
    *host += part.host_bytes;
    *device = part.device_bytes;
    size->engine = dg_engine(&part);
    size->num_cut = local->part.num_cut;
    size->num_neighbor = local->part.num_neighbor;
    TRY(array_try(&size->neighbor, size->num_neighbor, sizeof *size->neighbor, "parts"));
    memcpy(size->neighbor, local->part.neighbor, sizeof *size->neighbor * (size_t)size->num_neighbor);
    return UNDA_OK;
}

static unda_status choose_way(const unda_solver *s, const struct part_size *size, bool *by_host)
{
    SCRATCH struct cuda_way *way = NULL;
    int32_t num_part = s->split->num_part;
    *by_host = false;
    if (s->split->device[0] == UNDA_DEVICE_CPU)
        return UNDA_OK;
    TRY(array_try(&way, num_part, sizeof *way, "parts"));
    for (int32_t p = 0; p < num_part; p++)
        way[p] = (struct cuda_way){s->split->device[p], size[p].num_neighbor, size[p].neighbor,
                                   size[p].exchange.bytes, size[p].exchange.inner};
    return cuda_way_choose(way, num_part, s->split->transport, by_host);
}

static unda_status forecast_parts(const unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o,
                                  struct part_size *size, int64_t *host, int64_t *device)
{
    int kind;
    bool by_host;
    TRY(choose_kind(mesh, o, &kind));
    for (int32_t p = 0; p < s->split->num_part; p++)
        TRY(forecast_part(s, mesh, o, kind, p, &size[p], host, &device[p]));
    TRY(choose_way(s, size, &by_host));
    for (int32_t p = 0; p < s->split->num_part; p++)
        size[p].engine->join_bytes(&size[p].exchange, size[p].num_cut, by_host, host, &device[p]);
    return UNDA_OK;
}

static unda_status forecast(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o,
                            int64_t *host_bytes, int64_t *device_bytes)
{
    SCRATCH struct part_size *size = NULL;
    TRY(check_team(s, mesh));
    TRY(array_try(&size, s->split->num_part, sizeof *size, "parts"));
    *host_bytes = 0;
    unda_status status = forecast_parts(s, mesh, o, size, host_bytes, device_bytes);
    for (int32_t p = 0; p < s->split->num_part; p++)
        array_free(size[p].neighbor);
    return status;
}

static void info(const unda_solver *s, unda_solver_info *info)
{
    const unda_solver *first = dg_team_first(s);
    const struct dg_team *team = dg_team_of(s);
    first->method->info(first, info);
    info->num_elem = team->mesh->num_elem;
    info->num_exact = (team->num_exact_face + team->num_incident) * dg_tables(first)->space.num_face_node;
}

static unda_status member(const unda_solver *s, int32_t which, unda_member *member)
{
    const struct dg_team *team = dg_team_of(s);
    if (which < 0 || which >= team->num_part)
        FAIL(UNDA_ERR_ARG, "which is %d, expected a part within 0..%d", which, team->num_part - 1);
    const unda_solver *part = team->part[which];
    const struct space *space = &dg_tables(part)->space;
    const struct mesh_part *cut = &space->mesh->part;
    *member = (unda_member){.size_bytes = sizeof *member,
                            .device = part->options.device,
                            .num_neighbor = cut->num_neighbor,
                            .num_elem = space->num_owned,
                            .num_border = cut->num_border,
                            .num_ghost = space->num_ghost,
                            .num_cut_face = cut->num_cut,
                            .exchange_bytes = part->exchange->bytes,
                            .device_bytes = part->device_bytes};
    strncpy(member->transport, part->exchange->transport->name, sizeof member->transport - 1);
    return UNDA_OK;
}

/* ---- steps ---- */

static int64_t num_time(const unda_solver *s, int64_t num_step)
{
    return integration_num_time(&dg_team_of(s)->integration, num_step);
}

static void times(const unda_solver *s, int64_t num_step, double *times)
{
    integration_times(s, &dg_team_of(s)->integration, num_step, times);
}

static void set_history(unda_solver *s, int32_t history)
{
    dg_team_of(s)->integration.num_valid = history;
}

static int32_t get_history(const unda_solver *s)
{
    return dg_team_of(s)->integration.num_valid;
}

static unda_status rhs(unda_solver *s)
{
    struct stage stage = {.update = UPDATE_RHS, .r = BUF_SCRATCH};
    return integration_stage(s, &dg_team_of(s)->integration, &stage);
}

static unda_status keep(unda_solver *s)
{
    return s->engine->copy(s, BUF_SCRATCH, BUF_Q);
}

void dg_team_set_clock(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        part->dt = s->dt;
        part->t0 = s->t0;
        part->step = part->begin = s->step;
        for (int32_t g = 0; g < part->num_group; g++)
            part->groups[g]->first = s->groups[g / 2]->first;
    }
}

/* ---- the engine: that of all parts ---- */

static unda_status after_step(unda_solver *s, void *of)
{
    (void)of;
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        team->part[p]->step = s->step;
        TRY(solver_after_step(team->part[p]));
    }
    return UNDA_OK;
}

/* dt and all tables are known. */
static unda_status create_engine(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    s->threads = 0;
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        part->dt = s->dt;
        TRY(part->engine->create(part));
        s->threads = part->threads > s->threads ? part->threads : s->threads;
        s->num_launch += part->num_launch;
        s->compile_seconds += part->compile_seconds;
    }
    TRY(team->place ? dg_rank_join(team->part[0], &team->ranks)
                    : dg_engine(team->part[0])->join(team->part, team->num_part, s->split->transport));
    for (int32_t p = 0; p < team->num_part; p++) {
        s->host_bytes += team->part[p]->host_bytes;
        s->device_bytes += team->part[p]->device_bytes;
    }
    s->split = NULL;
    return solver_add_hook(s, after_step, NULL);
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    const unda_solver *first = dg_team_first(s);
    if (first->engine->describe)
        first->engine->describe(first, info);
}

static unda_status list_points(unda_solver *s)
{
    return dg_team_list(s);
}

static unda_status reserve(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        team->part[p]->max_step = s->max_step;
        TRY(receivers_reserve(team->part[p]));
        TRY(team->part[p]->engine->reserve(team->part[p]));
    }
    TRY(dg_team_reserve_points(s));
    return team->place ? UNDA_OK : dg_team_reserve_exact(s);
}

/* The border of a part, rounded up to whole blocks. */
static int64_t border_end(const unda_solver *part)
{
    const struct space *space = &dg_tables(part)->space;
    int64_t block = part->engine->block(part), border = space->mesh->part.num_border;
    int64_t end = (border + block - 1) / block * block;
    return end < space->num_owned ? end : space->num_owned;
}

static unda_status stage_border(unda_solver *part, const struct stage *stage)
{
    int64_t end = border_end(part);
    return part->exchange->border ? part->exchange->border(part, stage, end)
                                  : part->engine->stage(part, stage, 0, end);
}

static int64_t block(const unda_solver *s)
{
    return dg_team_of(s)->num_elem;
}

static unda_status stage_inner(const struct dg_team *team, const struct stage *stage)
{
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->stage(team->part[p], stage, border_end(team->part[p]),
                                         dg_tables(team->part[p])->space.num_owned));
    return UNDA_OK;
}

static unda_status exchange_end(const struct dg_team *team)
{
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->exchange_end(team->part[p]));
    return UNDA_OK;
}

/* Ghosts stay as they are. */
static unda_status stage_without(const struct dg_team *team, const struct stage *stage)
{
    TRY(stage_inner(team, stage));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->stage(team->part[p], stage, 0, border_end(team->part[p])));
    return UNDA_OK;
}

/* Stages are of all elements. */
static unda_status stage(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end)
{
    struct dg_team *team = dg_team_of(s);
    bool before = team->exchange == UNDA_EXCHANGE_BEFORE;
    (void)begin, (void)end;
    if (team->exchange == UNDA_EXCHANGE_NEVER)
        return stage_without(team, stage);
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->exchange_begin(team->part[p]));
    TRY(before ? exchange_end(team) : stage_inner(team, stage));
    if (!before)
        TRY(exchange_end(team));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(stage_border(team->part[p], stage));
    return before ? stage_inner(team, stage) : UNDA_OK;
}

static unda_status integrate(unda_solver *s, const struct stage *stage)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->integrate(team->part[p], stage));
    return UNDA_OK;
}

static unda_status copy(unda_solver *s, int to, int from)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->copy(team->part[p], to, from));
    return UNDA_OK;
}

static void swap(unda_solver *s, int a, int b)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        team->part[p]->engine->swap(team->part[p], a, b);
}

unda_status dg_team_take_steps(unda_solver *s, int64_t num_step)
{
    int64_t time = 0;
    for (int64_t i = 0; i < num_step; i++)
        TRY(integration_step(s, &dg_team_of(s)->integration, &time));
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    dg_team_set_clock(s);
    TRY(dg_engine(dg_team_first(s))->run_team(s, num_step));
    return dg_team_gather(s);
}

/* Of the part that has most to do. */
static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    struct dg_team *team = dg_team_of(s);
    unda_solver *part = team->part[0];
    for (int32_t p = 1; p < team->num_part; p++)
        if (dg_tables(team->part[p])->space.num_owned > dg_tables(part)->space.num_owned)
            part = team->part[p];
    if (!part->engine->profile)
        FAIL(UNDA_ERR_ARG, "the %s engine has no kernels to time", part->engine->name);
    dg_team_set_clock(s);
    s->have_good = false;
    return part->engine->profile(part, num_run, profile);
}

static const struct engine team_engine = {.name = "team",
                                          .create = create_engine,
                                          .drive = dg_team_drive,
                                          .run = run,
                                          .find_bad = dg_team_find_bad,
                                          .list_points = list_points,
                                          .reserve = reserve,
                                          .block = block,
                                          .stage = stage,
                                          .integrate = integrate,
                                          .copy = copy,
                                          .swap = swap,
                                          .describe = describe,
                                          .profile = profile};

static const struct engine *engine(const unda_solver_options *o)
{
    (void)o;
    return &team_engine;
}

/* Of a process: exact data and values that are not finite are those of its part. */
static unda_solver *part(const unda_solver *s, int32_t i)
{
    return i < dg_team_of(s)->num_part ? dg_team_of(s)->part[i] : NULL;
}

static const struct engine rank_engine = {.name = "rank",
                                          .create = create_engine,
                                          .drive = dg_rank_drive,
                                          .run = run,
                                          .find_bad = dg_rank_find_bad,
                                          .list_points = list_points,
                                          .reserve = reserve,
                                          .block = block,
                                          .stage = stage,
                                          .integrate = integrate,
                                          .copy = copy,
                                          .swap = swap,
                                          .describe = describe,
                                          .profile = profile};

static const struct engine *engine_of_rank(const unda_solver_options *o)
{
    (void)o;
    return &rank_engine;
}

const struct method dg_team_method = {.name = "DG",
                                      .on_mesh = true,
                                      .engine = engine,
                                      .create = create,
                                      .destroy = destroy,
                                      .info = info,
                                      .num_time = num_time,
                                      .times = times,
                                      .move = dg_team_move,
                                      .sources_new = dg_team_sources_new,
                                      .source_free = dg_team_source_free,
                                      .points_check = dg_team_points_check,
                                      .points_new = dg_team_points_new,
                                      .points_free = dg_team_points_free,
                                      .sample = dg_team_sample,
                                      .num_integral = dg_team_num_integral,
                                      .begin_integrals = dg_team_begin_integrals,
                                      .move_integrals = dg_team_move_integrals,
                                      .keep_integrals = dg_team_keep_integrals,
                                      .energy = dg_team_energy,
                                      .keep = keep,
                                      .blown_up = dg_team_blown_up,
                                      .rhs = rhs,
                                      .set_history = set_history,
                                      .get_history = get_history,
                                      .add_incident = dg_team_add_incident,
                                      .clear_incident = dg_team_clear_incident,
                                      .element_dt = dg_team_element_dt,
                                      .exact_points = dg_team_exact_points,
                                      .member = member,
                                      .part = part,
                                      .monitor = dg_team_monitor,
                                      .forecast = forecast};

const struct method dg_rank_method = {.name = "DG",
                                      .on_mesh = true,
                                      .engine = engine_of_rank,
                                      .create = dg_rank_create,
                                      .destroy = destroy,
                                      .info = dg_rank_info,
                                      .num_time = num_time,
                                      .times = times,
                                      .move = dg_rank_move,
                                      .sources_new = dg_team_sources_new,
                                      .source_free = dg_team_source_free,
                                      .points_check = dg_team_points_check,
                                      .points_new = dg_team_points_new,
                                      .points_free = dg_team_points_free,
                                      .sample = dg_team_sample,
                                      .num_integral = dg_team_num_integral,
                                      .begin_integrals = dg_team_begin_integrals,
                                      .move_integrals = dg_team_move_integrals,
                                      .keep_integrals = dg_team_keep_integrals,
                                      .energy = dg_rank_energy,
                                      .keep = keep,
                                      .blown_up = dg_rank_blown_up,
                                      .rhs = rhs,
                                      .set_history = set_history,
                                      .get_history = get_history,
                                      .add_incident = dg_rank_add_incident,
                                      .clear_incident = dg_team_clear_incident,
                                      .element_dt = dg_rank_element_dt,
                                      .exact_points = dg_rank_exact_points,
                                      .member = member,
                                      .part = part,
                                      .monitor = dg_team_monitor,
                                      .message = dg_rank_message,
                                      .set_requests = dg_rank_set_requests};
