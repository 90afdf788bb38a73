/* team.c: the engine of several parts: their life, the state as a whole, steps. One thread serves all parts, so that no
 * part waits for one that waits for it (order.c, cuda_team.c). Not here: the tables of a part (cut.c), points
 * (team_points.c), how forces travel (exchange_*.c). */
#include "rank.h"

#include "../base/parallel.h"
#include "../solver/cuda_exchange.h"
#include "../solver/cuda_way.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static unda_status check_team(const unda_solver *s)
{
    const unda_team *team = s->split;
    if (team->num_part < 1 || team->num_part > sem_tables(s)->space.num_owned || !team->part || !team->device)
        FAIL(UNDA_ERR_ARG, "a team has %d parts, expected 1..%lld; or part or device is NULL", team->num_part,
             (long long)sem_tables(s)->space.num_owned);
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

/* Each element's part, in the space's order. */
static unda_status list_owners(const unda_solver *s, struct sem_team *team)
{
    const struct space *space = &sem_tables(s)->space;
    SCRATCH int64_t *num = NULL;
    TRY(array_try(&num, team->num_part, sizeof *num, "parts"));
    TRY(array_own(&team->owned, &team->owner, space->num_owned, sizeof *team->owner, "parts"));
    for (int64_t e = 0; e < space->num_owned; e++) {
        int32_t part = s->split->part[space->order[e]];
        if (part < 0 || part >= team->num_part)
            FAIL(UNDA_ERR_ARG, "part of element %lld is %d, expected 0..%d", (long long)space->order[e], part,
                 team->num_part - 1);
        team->owner[e] = part;
        num[part]++;
    }
    for (int32_t p = 0; p < team->num_part; p++)
        if (num[p] == 0)
            FAIL(UNDA_ERR_ARG, "part %d has no element, expected one at least of each part", p);
    return UNDA_OK;
}

/* Bytes that the tiles inside read and write, no less, before what others send is needed: of nodes within elements the
 * inverse mass and two levels read and one written, of nodes on faces, which tiles may share, their displacement, and
 * tables of elements. */
static int64_t inner_bytes(const unda_solver *part)
{
    const struct sem *sem = sem_tables(part);
    int64_t n = part->options.degree, within = (n - 1) * (n - 1) * (n - 1), all = n * n * n, reals = 0;
    for (int region = 0; region < NUM_REGION; region++) {
        int64_t dim = sem->region[region].dim, moduli = region == SOLID ? 2 : 1;
        int64_t num = sem->region[region].num_elem - sem->cut->region[region].num_border;
        reals += num * (within * (3 * dim + 1) + (all - within) * dim + sem->metric_words +
                        sem->material_nodes * moduli);
    }
    return reals * part->real_bytes;
}

unda_status sem_team_new_exchange(unda_solver *part)
{
    struct sem *sem = sem_tables(part);
    const struct sem_cut *cut = sem->cut;
    struct exchange *x;
    TRY(array_own(&sem->owned, &x, 1, sizeof *x, "exchange"));
    TRY(array_own(&sem->owned, &x->link, cut->num_neighbor, sizeof *x->link, "exchange"));
    part->exchange = x;
    x->bytes = cut->first_word[cut->num_neighbor] * part->real_bytes;
    x->inner = inner_bytes(part);
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        x->link[i].bytes = (cut->first_word[i + 1] - cut->first_word[i]) * part->real_bytes;
    return UNDA_OK;
}

static unda_status make_part(unda_solver *s, const struct sem_owners *owners, int32_t p,
                             const unda_solver_options *o)
{
    unda_solver_options own = *o;
    unda_solver *part;
    struct sem *sem = NULL;
    own.device = s->split->device[p];
    TRY(array_try(&part, 1, sizeof *part, "solver"));
    sem_team_of(s)->part[p] = part;
    TRY(solver_begin(part, sem_tables(s)->mesh, &own));
    unda_status status = sem_cut_new(sem_tables(s), owners, p, &sem);
    part->tables = sem;
    TRY(status);
    return sem_team_new_exchange(part);
}

unda_status sem_team_new(unda_solver *s, const unda_solver_options *o)
{
    struct sem_team *team;
    struct sem_owners owners = {0};
    TRY(check_team(s));
    TRY(array_try(&team, 1, sizeof *team, "team"));
    sem_tables(s)->team = team;
    team->num_part = owners.num_part = s->split->num_part;
    TRY(array_own(&team->owned, &team->part, team->num_part, sizeof *team->part, "parts"));
    TRY(list_owners(s, team));
    owners.of = team->owner;
    unda_status status = sem_owners_fill(sem_tables(s), &owners);
    for (int32_t p = 0; p < team->num_part && status == UNDA_OK; p++)
        status = make_part(s, &owners, p, o);
    if (status == UNDA_OK)
        status = array_own(&team->owned, &team->local, sem_tables(s)->space.num_owned, sizeof *team->local,
                           "parts");
    if (status == UNDA_OK)
        memcpy(team->local, owners.local, sizeof *team->local * (size_t)sem_tables(s)->space.num_owned);
    arrays_free(&owners.owned);
    return status;
}

void sem_team_free(struct sem_team *team)
{
    if (!team)
        return;
    sem_team_unlist(team);
    for (int32_t p = 0; team->part && p < team->num_part; p++)
        unda_solver_free(team->part[p]);
    sem_rank_free(team->rank);
    arrays_free(&team->owned);
    array_free(team);
}

void sem_link_parts(unda_solver *const *part, int32_t num_part)
{
    for (int32_t p = 0; p < num_part; p++) {
        const struct sem_cut *here = sem_tables(part[p])->cut;
        for (int32_t i = 0; i < here->num_neighbor; i++) {
            const unda_solver *other = part[here->neighbor[i]];
            const struct sem_cut *there = sem_tables(other)->cut;
            int32_t back = 0;
            while (there->neighbor[back] != p)
                back++;
            int64_t at = there->first_word[back] * other->real_bytes;
            for (int turn = 0; turn < 2; turn++)
                part[p]->exchange->link[i].to[turn] = other->exchange->from[turn] + (uintptr_t)at;
        }
    }
}

unda_status sem_team_after_step(unda_solver *s, void *of)
{
    (void)of;
    struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        team->part[p]->step = s->step;
        TRY(solver_after_step(team->part[p]));
    }
    return UNDA_OK;
}

/* Of the whole: its tables and state. */
int64_t sem_team_host_bytes(const unda_solver *s)
{
    int64_t bytes = sem_host_bytes(sem_tables(s));
    for (int kind = 0; kind < NUM_REGION; kind++)
        bytes += NUM_LEVEL * sem_tables(s)->region[kind].num_node * sem_tables(s)->region[kind].dim *
                 s->real_bytes;
    return bytes;
}

static unda_status choose_way(const unda_solver *s, bool *by_host)
{
    const struct sem_team *team = sem_team_of(s);
    SCRATCH struct cuda_way *way = NULL;
    *by_host = false;
    if (s->split->device[0] == UNDA_DEVICE_CPU)
        return UNDA_OK;
    TRY(array_try(&way, team->num_part, sizeof *way, "parts"));
    for (int32_t p = 0; p < team->num_part; p++) {
        const struct exchange *x = team->part[p]->exchange;
        const struct sem_cut *cut = sem_tables(team->part[p])->cut;
        way[p] = (struct cuda_way){s->split->device[p], cut->num_neighbor, cut->neighbor, x->bytes, x->inner};
    }
    return cuda_way_choose(way, team->num_part, s->split->transport, by_host);
}

unda_status sem_team_forecast(unda_solver *s, int64_t *host, int64_t *device)
{
    const struct sem_team *team = sem_team_of(s);
    bool by_host;
    TRY(choose_way(s, &by_host));
    *host = sem_team_host_bytes(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        TRY(part->engine->forecast(part));
        *host += part->host_bytes;
        device[p] = part->device_bytes;
        if (part->options.device != UNDA_DEVICE_CPU)
            cuda_exchange_bytes(part->exchange, by_host, host, &device[p]);
    }
    return UNDA_OK;
}

unda_status sem_team_new_levels(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++) {
        const struct sem_region *r = &sem_tables(s)->region[i / NUM_LEVEL];
        TRY(array_own(&team->owned, &team->level[i / NUM_LEVEL][i % NUM_LEVEL],
                      r->num_node * r->dim + SEM_SPARE, s->real_bytes, "state on the host"));
    }
    return UNDA_OK;
}

unda_status sem_team_new_engines(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    s->threads = 0;
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        TRY(part->engine->create(part));
        s->threads = part->threads > s->threads ? part->threads : s->threads;
        s->num_launch += part->num_launch;
        s->compile_seconds += part->compile_seconds;
    }
    return UNDA_OK;
}

void sem_team_add_bytes(unda_solver *s)
{
    const struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        s->host_bytes += team->part[p]->host_bytes;
        s->device_bytes += team->part[p]->device_bytes;
    }
}

static unda_status create(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    s->host_bytes = sem_team_host_bytes(s);
    TRY(sem_team_new_levels(s));
    TRY(sem_team_new_engines(s));
    TRY(sem_engine(team->part[0])->join(team->part, team->num_part, s->split->transport));
    sem_team_add_bytes(s);
    s->split = NULL;
    TRY(solver_add_hook(s, sem_team_after_step, NULL));
    return sem_find_stable(s);
}

unda_status sem_team_retime(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        part->dt = s->dt;
        if (!part->data) /* its engine has no tables yet */
            continue;
        TRY(part->method->prepare(part));
        TRY(part->engine->retime(part));
    }
    return UNDA_OK;
}

/* ---- description ---- */

/* The part that has most to do. */
static unda_solver *largest(const unda_solver *s)
{
    const struct sem_team *team = sem_team_of(s);
    unda_solver *part = team->part[0];
    for (int32_t p = 1; p < team->num_part; p++)
        if (sem_tables(team->part[p])->space.num_owned > sem_tables(part)->space.num_owned)
            part = team->part[p];
    return part;
}

void sem_team_describe(const unda_solver *s, unda_solver_info *info)
{
    const unda_solver *part = largest(s);
    part->engine->describe(part, info);
}

unda_status sem_team_member(const unda_solver *s, int32_t which, unda_member *member)
{
    const struct sem_team *team = sem_team_of(s);
    if (which < 0 || which >= team->num_part)
        FAIL(UNDA_ERR_ARG, "which is %d, expected a part within 0..%d", which, team->num_part - 1);
    const unda_solver *part = team->part[which];
    const struct sem_cut *cut = sem_tables(part)->cut;
    *member = (unda_member){.size_bytes = sizeof *member,
                            .device = part->options.device,
                            .num_neighbor = cut->num_neighbor,
                            .num_elem = sem_tables(part)->space.num_owned,
                            .num_border = cut->num_border,
                            .num_cut_face = cut->num_cut_face,
                            .num_shared_node = cut->region[SOLID].num + cut->region[FLUID].num,
                            .exchange_bytes = part->exchange->bytes,
                            .device_bytes = part->device_bytes};
    strncpy(member->transport, part->exchange->transport->name, sizeof member->transport - 1);
    return UNDA_OK;
}

unda_status sem_team_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    unda_solver *part = largest(s);
    if (!part->engine->profile)
        FAIL(UNDA_ERR_ARG, "the %s engine has no kernels to time", part->engine->name);
    part->dt = s->dt;
    part->step = part->begin = s->step;
    return part->engine->profile(part, num_run, profile);
}

/* ---- the state ---- */

/* Refuses copies of a node that differ from those of the parts before: forces on it were lost, or came late. */
static unda_status check_copies(const unda_solver *s, const unda_solver *part, int kind, const void *all,
                                const void *own)
{
    const struct sem_cut *cut = sem_tables(part)->cut;
    const struct sem_cut_region *c = &cut->region[kind];
    int dim = sem_tables(part)->region[kind].dim;
    for (int32_t i = 0; i < cut->num_neighbor && cut->neighbor[i] < cut->which; i++)
        for (int64_t k = c->first[i] * dim; k < c->first[i + 1] * dim; k++) {
            int64_t node = c->node[c->item[k / dim]];
            double here = real_get(s, own, node * dim + k % dim);
            double there = real_get(s, all, (int64_t)c->whole[node] * dim + k % dim);
            if (here != there && !(isnan(here) && isnan(there)))
                FAIL(UNDA_ERR_INTERNAL,
                     "a node of parts %d and %d has %.17g in one and %.17g in the other, expected one value",
                     cut->neighbor[i], cut->which, there, here);
        }
    return UNDA_OK;
}

/* Nodes of a level of part p to the whole's, or from them. */
static unda_status move_level(unda_solver *s, int32_t p, int kind, int level, bool to_part)
{
    unda_solver *part = sem_team_of(s)->part[p];
    const int32_t *whole = sem_tables(part)->cut->region[kind].whole;
    const struct sem_region *r = &sem_tables(part)->region[kind];
    char *all = sem_team_of(s)->level[kind][level];
    size_t bytes = (size_t)(r->dim * s->real_bytes);
    void *own;
    TRY(sem_engine(part)->level(part, kind, level, &own));
    if (!to_part)
        TRY(check_copies(s, part, kind, all, own));
    int32_t threads = parallel_few(parallel_worth(s->options.threads, r->num_node, LEAST_SCALAR));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < r->num_node; i++) {
        char *here = (char *)own + (size_t)i * bytes, *there = all + (size_t)whole[i] * bytes;
        memcpy(to_part ? here : there, to_part ? there : here, bytes);
    }
    return UNDA_OK;
}

static unda_status move_state(unda_solver *s, bool to_parts)
{
    struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++)
            TRY(move_level(s, p, i / NUM_LEVEL, i % NUM_LEVEL, to_parts));
        if (to_parts && sem_engine(team->part[p])->wrote)
            sem_engine(team->part[p])->wrote(team->part[p]);
    }
    return UNDA_OK;
}

static unda_status level(unda_solver *s, int region, int level, void **values)
{
    struct sem_team *team = sem_team_of(s);
    if (!team->gathered)
        TRY(move_state(s, false));
    team->gathered = true;
    *values = team->level[region][level];
    return UNDA_OK;
}

static void wrote(unda_solver *s)
{
    sem_team_of(s)->wrote = true;
}

/* What was written goes to the parts. */
static unda_status flush(unda_solver *s)
{
    if (sem_team_of(s)->wrote)
        TRY(move_state(s, true));
    sem_team_of(s)->wrote = false;
    return UNDA_OK;
}

/* Before a sample of monitors, whose pieces are of parts. */
static unda_status settle(unda_solver *s)
{
    TRY(sem_settle(s));
    return flush(s);
}

static bool is_zero(const unda_solver *s)
{
    const struct sem_team *team = sem_team_of(s);
    bool zero = !team->wrote;
    for (int32_t p = 0; p < team->num_part && zero; p++)
        zero = sem_engine(team->part[p])->is_zero && sem_engine(team->part[p])->is_zero(team->part[p]);
    return zero;
}

static unda_status copy(unda_solver *s, int to, int from)
{
    struct sem_team *team = sem_team_of(s);
    TRY(flush(s));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->copy(team->part[p], to, from));
    team->gathered = team->gathered && to != 0;
    return UNDA_OK;
}

/* A part says whether there is one; which is the first the whole's numbering says. */
static unda_status find_bad(unda_solver *s, int64_t *index)
{
    struct sem_team *team = sem_team_of(s);
    bool any = false;
    TRY(flush(s));
    for (int32_t p = 0; p < team->num_part && !any; p++) {
        TRY(team->part[p]->engine->find_bad(team->part[p], index));
        any = *index >= 0;
    }
    *index = -1;
    return any ? sem_find_bad(s, index) : UNDA_OK;
}

/* ---- forces ---- */

/* The sum of those of the parts, in their order. */
static unda_status stiffness(unda_solver *s, int kind, const void *u, void *force)
{
    struct sem_team *team = sem_team_of(s);
    const struct sem_region *all = &sem_tables(s)->region[kind];
    memset(force, 0, (size_t)(all->num_node * all->dim * s->real_bytes));
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        const struct sem_region *r = &sem_tables(part)->region[kind];
        const int32_t *whole = sem_tables(part)->cut->region[kind].whole;
        int64_t num = r->num_node * r->dim;
        int32_t threads = parallel_few(parallel_worth(s->options.threads, num, LEAST_SCALAR));
        SCRATCH void *own = NULL;
        SCRATCH void *sum = NULL;
        TRY(array_try(&own, num + SEM_SPARE, s->real_bytes, "forces"));
        TRY(array_try(&sum, num + SEM_SPARE, s->real_bytes, "forces"));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < num; i++)
            real_put(s, own, i, real_get(s, u, (int64_t)whole[i / r->dim] * r->dim + i % r->dim));
        if (r->num_elem)
            TRY(sem_engine(part)->stiffness(part, kind, own, sum));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < num - sem_num_guest(sem_tables(part), kind) * r->dim; i++) {
            int64_t at = (int64_t)whole[i / r->dim] * r->dim + i % r->dim;
            real_put(s, force, at, real_get(s, force, at) + real_get(s, sum, i));
        }
    }
    return UNDA_OK;
}

static unda_status accelerate(unda_solver *s, int64_t time)
{
    TRY(flush(s));
    sem_team_of(s)->gathered = false;
    return sem_engine(sem_team_of(s)->part[0])->accelerate_team(s, time);
}

/* ---- steps ---- */

unda_status sem_team_reserve(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        team->part[p]->max_step = s->max_step;
        TRY(receivers_reserve(team->part[p]));
        TRY(team->part[p]->engine->reserve(team->part[p]));
    }
    return UNDA_OK;
}

/* The parts' clocks are the team's, before the steps of a call. */
void sem_team_set_clock(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        part->t0 = s->t0;
        part->step = part->begin = s->step;
        for (int32_t g = 0; g < part->num_group; g++)
            part->groups[g]->first = s->groups[g]->first;
    }
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    struct sem_team *team = sem_team_of(s);
    sem_team_set_clock(s);
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(team->part[p]->engine->drive(team->part[p], drive));
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    sem_team_set_clock(s);
    TRY(flush(s));
    sem_team_of(s)->gathered = false;
    TRY(sem_engine(sem_team_of(s)->part[0])->run_team(s, num_step));
    sem_team_of(s)->gathered = false; /* walls looked at it before the first step */
    sem_team_gather(s);
    return UNDA_OK;
}

const struct sem_engine sem_team_engine = {.base = {.name = "team",
                                                    .create = create,
                                                    .drive = drive,
                                                    .run = run,
                                                    .find_bad = find_bad,
                                                    .list_points = sem_team_list,
                                                    .reserve = sem_team_reserve,
                                                    .copy = copy,
                                                    .retime = sem_team_retime,
                                                    .describe = sem_team_describe,
                                                    .settle = settle,
                                                    .profile = sem_team_profile},
                                           .level = level,
                                           .wrote = wrote,
                                           .is_zero = is_zero,
                                           .accelerate = accelerate,
                                           .stiffness = stiffness};
