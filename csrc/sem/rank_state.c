/* rank_state.c: the engine of one of many processes: its part's, and in process 0 the state of the whole, which travels
 * slot by slot (struct sem_owners): one value a node and a part that has it. Commands: rank.h. */
#include "rank.h"

#include <math.h>
#include <string.h>

static unda_solver *own_part(const unda_solver *s)
{
    return sem_team_of(s)->part[0];
}

/* ---- slots ---- */

enum { BATCH = 1 << 18 }; /* slots that travel at a time */

/* Values of own nodes [node][dim] with slots below `end` to room [slot][dim], which begins at a slot, or out of it. */
static void move_own(const unda_solver *s, int kind, int64_t begin, int64_t end, int64_t *next, char *own,
                     char *room, bool to_own)
{
    const struct sem_rank *rank = sem_rank_of(s);
    const struct sem_region *r = &sem_tables(own_part(s))->region[kind];
    size_t bytes = (size_t)(r->dim * s->real_bytes);
    for (; *next < r->num_node && rank->slot[kind][*next] < end; ++*next) {
        char *there = room + (size_t)(rank->slot[kind][*next] - begin) * bytes;
        char *here = own + (size_t)rank->slot_node[kind][*next] * bytes;
        memcpy(to_own ? here : there, to_own ? there : here, bytes);
    }
}

/* What process 0 does with the value [dim] that a part has of a node. */
typedef unda_status take_value(const unda_solver *s, int kind, int64_t slot, int64_t node, const char *value,
                               void *whole);

/* All parts' values of a region, own ones [node][dim], pass by process 0. */
static unda_status gather(unda_solver *s, int kind, char *own, take_value *take, void *whole)
{
    const struct sem_rank *rank = sem_rank_of(s);
    int64_t bytes = sem_tables(own_part(s))->region[kind].dim * s->real_bytes, next = 0, node = 0;
    int64_t num = rank->num_slot[kind];
    SCRATCH char *room = NULL;
    TRY(array_try(&room, num < BATCH ? num : BATCH, bytes, "values of other processes"));
    for (int64_t begin = 0; begin < num; begin += BATCH) {
        int64_t end = num - begin < BATCH ? num : begin + BATCH;
        memset(room, 0, (size_t)((end - begin) * bytes));
        move_own(s, kind, begin, end, &next, own, room, false);
        TRY(ranks_unite(&rank->ranks, room, (end - begin) * bytes));
        for (int64_t slot = begin; slot < end && sem_rank_leads(s); slot++) {
            while (rank->owners.first[kind][node + 1] <= slot)
                node++;
            TRY(take(s, kind, slot, node, room + (slot - begin) * bytes, whole));
        }
    }
    return UNDA_OK;
}

/* Own nodes get process 0's values of the whole. */
static unda_status spread(unda_solver *s, int kind, char *own, const char *whole)
{
    const struct sem_rank *rank = sem_rank_of(s);
    int64_t bytes = sem_tables(own_part(s))->region[kind].dim * s->real_bytes, next = 0, node = 0;
    int64_t num = rank->num_slot[kind];
    SCRATCH char *room = NULL;
    TRY(array_try(&room, num < BATCH ? num : BATCH, bytes, "values of other processes"));
    for (int64_t begin = 0; begin < num; begin += BATCH) {
        int64_t end = num - begin < BATCH ? num : begin + BATCH;
        for (int64_t slot = begin; slot < end && sem_rank_leads(s); slot++) {
            while (rank->owners.first[kind][node + 1] <= slot)
                node++;
            memcpy(room + (slot - begin) * bytes, whole + node * bytes, (size_t)bytes);
        }
        TRY(ranks_share(&rank->ranks, room, (end - begin) * bytes));
        move_own(s, kind, begin, end, &next, own, room, true);
    }
    return UNDA_OK;
}

/* NaN is equal to NaN. */
static bool differ(double one, double other)
{
    return one != other && !(isnan(one) && isnan(other));
}

/* The first part's copy is the node's. */
static unda_status take_level(const unda_solver *s, int kind, int64_t slot, int64_t node, const char *value,
                              void *whole)
{
    const struct sem_owners *o = &sem_rank_of(s)->owners;
    int dim = sem_tables(s)->region[kind].dim;
    for (int i = 0; i < dim; i++) {
        double here = real_get(s, value, i), there = real_get(s, whole, node * dim + i);
        if (slot == o->first[kind][node])
            real_put(s, whole, node * dim + i, here);
        else if (differ(here, there))
            FAIL(UNDA_ERR_INTERNAL,
                 "a node of processes %d and %d has %.17g in one and %.17g in the other, expected one value",
                 o->part[kind][o->first[kind][node]], o->part[kind][slot], there, here);
    }
    return UNDA_OK;
}

/* Forces are added in the order of parts. */
static unda_status take_force(const unda_solver *s, int kind, int64_t slot, int64_t node, const char *value,
                              void *whole)
{
    int dim = sem_tables(s)->region[kind].dim;
    for (int i = 0; i < dim && sem_rank_of(s)->owners.works[kind][slot]; i++)
        real_put(s, whole, node * dim + i, real_get(s, whole, node * dim + i) + real_get(s, value, i));
    return UNDA_OK;
}

/* ---- copies ---- */

/* A level of common nodes stands in the messages where forces do: unknown j of the item k of a region. */
#define EACH_COMMON(cut, kind, c, k)                                                                         \
    for (int kind = 0; kind < NUM_REGION; kind++)                                                            \
        for (const struct sem_cut_region *c = &(cut)->region[kind]; c; c = NULL)                             \
            for (int64_t k = 0; k < c->first[(cut)->num_neighbor]; k++)

/* Each neighbour sends its copies of one level. */
static unda_status check_level(unda_solver *s, int level, void *const levels[NUM_REGION][NUM_LEVEL])
{
    unda_solver *part = own_part(s);
    const struct sem_cut *cut = sem_tables(part)->cut;
    SCRATCH void *own = NULL;
    SCRATCH void *theirs = NULL;
    TRY(array_try(&own, part->exchange->bytes, 1, "values of common nodes"));
    TRY(array_try(&theirs, part->exchange->bytes, 1, "values of common nodes"));
    EACH_COMMON(cut, kind, c, k)
    for (int j = 0, dim = sem_tables(part)->region[kind].dim; j < dim; j++)
        real_put(s, own, c->word[k] + j,
                 real_get(s, levels[kind][level], (int64_t)c->node[c->item[k]] * dim + j));
    TRY(messages_swap(part, own, theirs));
    EACH_COMMON(cut, kind, c, k)
    for (int j = 0, dim = sem_tables(part)->region[kind].dim; j < dim; j++) {
        double here = real_get(s, levels[kind][level], (int64_t)c->node[c->item[k]] * dim + j);
        double there = real_get(s, theirs, c->word[k] + j);
        if (differ(here, there))
            FAIL(UNDA_ERR_INTERNAL,
                 "a node of process %d has %.17g in one and %.17g in the other that has it, expected one "
                 "value",
                 cut->which, here, there);
    }
    return UNDA_OK;
}

unda_status sem_rank_check_copies(unda_solver *s, void *const levels[NUM_REGION][NUM_LEVEL])
{
    for (int level = 0; level < NUM_LEVEL; level++)
        TRY(check_level(s, level, levels));
    return UNDA_OK;
}

/* ---- what process 0 tells all to do ---- */

enum { DONE, GATHER, SPREAD, ACCELERATE, STIFFNESS }; /* STIFFNESS + region */

static unda_status move_levels(unda_solver *s, bool to_parts)
{
    unda_solver *part = own_part(s);
    for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++) {
        int kind = i / NUM_LEVEL;
        void *own, *whole = sem_team_of(s)->level[kind][i % NUM_LEVEL];
        TRY(sem_engine(part)->level(part, kind, i % NUM_LEVEL, &own));
        TRY(to_parts ? spread(s, kind, own, whole) : gather(s, kind, own, take_level, whole));
    }
    if (to_parts && sem_engine(part)->wrote)
        sem_engine(part)->wrote(part);
    return UNDA_OK;
}

static unda_status do_stiffness(unda_solver *s, int kind, const void *u, void *force)
{
    unda_solver *part = own_part(s);
    const struct sem_region *r = &sem_tables(part)->region[kind];
    SCRATCH void *own = NULL;
    SCRATCH void *sum = NULL;
    TRY(array_try(&own, r->num_node * r->dim + SEM_SPARE, s->real_bytes, "forces"));
    TRY(array_try(&sum, r->num_node * r->dim + SEM_SPARE, s->real_bytes, "forces"));
    TRY(spread(s, kind, own, u));
    if (r->num_elem)
        TRY(sem_engine(part)->stiffness(part, kind, own, sum));
    if (force)
        memset(force, 0, (size_t)(sem_tables(s)->region[kind].num_node * r->dim * s->real_bytes));
    return gather(s, kind, sum, take_force, force);
}

static unda_status tell(unda_solver *s, int32_t command)
{
    return ranks_share(&sem_rank_of(s)->ranks, &command, sizeof command);
}

static unda_status follow(unda_solver *s)
{
    for (int32_t command = -1; command != DONE;) {
        TRY(ranks_share(&sem_rank_of(s)->ranks, &command, sizeof command));
        if (command == GATHER || command == SPREAD)
            TRY(move_levels(s, command == SPREAD));
        if (command == ACCELERATE)
            TRY(sem_engine(own_part(s))->accelerate_team(s, -1));
        if (command >= STIFFNESS)
            TRY(do_stiffness(s, command - STIFFNESS, NULL, NULL));
    }
    return UNDA_OK;
}

unda_status sem_rank_work(unda_solver *s, unda_status (*work)(unda_solver *s, void *of), void *of)
{
    if (!sem_rank_leads(s))
        return follow(s);
    TRY(work(s, of));
    return tell(s, DONE);
}

/* ---- the engine: in process 0 that of the whole, within a work ---- */

static unda_status level(unda_solver *s, int region, int level, void **values)
{
    struct sem_team *team = sem_team_of(s);
    if (!team->gathered) {
        TRY(tell(s, GATHER));
        TRY(move_levels(s, false));
    }
    team->gathered = true;
    *values = team->level[region][level];
    return UNDA_OK;
}

static void wrote(unda_solver *s)
{
    sem_team_of(s)->wrote = true;
}

static unda_status send_state(unda_solver *s, void *of)
{
    (void)of;
    if (sem_team_of(s)->wrote) {
        TRY(tell(s, SPREAD));
        TRY(move_levels(s, true));
    }
    sem_team_of(s)->wrote = false;
    return UNDA_OK;
}

/* Of a state that was written, without sources; steps come to all engines alike. */
static unda_status accelerate(unda_solver *s, int64_t time)
{
    TRY(send_state(s, NULL));
    sem_team_of(s)->gathered = false;
    TRY(tell(s, ACCELERATE));
    return sem_engine(own_part(s))->accelerate_team(s, time);
}

static unda_status stiffness(unda_solver *s, int kind, const void *u, void *force)
{
    TRY(tell(s, STIFFNESS + kind));
    return do_stiffness(s, kind, u, force);
}

/* ---- the engine: what all processes do ---- */

static unda_status find_stable(unda_solver *s, void *of)
{
    (void)of;
    return sem_find_stable(s);
}

static unda_status create(unda_solver *s)
{
    unda_solver *part = own_part(s);
    s->ranks = NULL;
    s->host_bytes = sem_rank_leads(s) ? sem_team_host_bytes(s) : 0;
    TRY(sem_team_new_levels(s));
    TRY(sem_team_new_engines(s));
    TRY(sem_engine(part)->join_rank(part, &sem_rank_of(s)->ranks));
    sem_team_add_bytes(s);
    TRY(solver_add_hook(s, sem_team_after_step, NULL));
    TRY(sem_rank_work(s, find_stable, NULL));
    TRY(ranks_share(&sem_rank_of(s)->ranks, &s->dt_stable, sizeof s->dt_stable));
    TRY(solver_set_stable(s, s->dt_stable));
    TRY(s->method->prepare(s)); /* also where the user gave dt */
    return s->engine->retime(s);
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    sem_team_set_clock(s);
    TRY(own_part(s)->engine->drive(own_part(s), drive));
    return ranks_unite(&sem_rank_of(s)->ranks, NULL, 0); /* none begins steps that another cannot take */
}

static unda_status settle(unda_solver *s, void *of)
{
    if (!sem_tables(s)->num_valid)
        TRY(sem_settle(s));
    return send_state(s, of);
}

static unda_status settle_whole(unda_solver *s, void *of)
{
    TRY(sem_settle(s));
    return send_state(s, of);
}

/* Before a sample of monitors, whose pieces are of this process's part. */
static unda_status settle_all(unda_solver *s)
{
    return sem_rank_work(s, settle_whole, NULL);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    sem_team_set_clock(s);
    TRY(sem_rank_work(s, settle, NULL));
    sem_team_of(s)->gathered = false;
    TRY(sem_engine(own_part(s))->run_team(s, num_step));
    return sem_rank_gather(s);
}

static unda_status copy(unda_solver *s, int to, int from)
{
    TRY(sem_rank_work(s, send_state, NULL));
    sem_team_of(s)->gathered = sem_team_of(s)->gathered && to != 0;
    return own_part(s)->engine->copy(own_part(s), to, from);
}

static unda_status find_in_whole(unda_solver *s, void *of)
{
    return sem_find_bad(s, of);
}

/* A part says whether there is one; which is the first the whole's numbering says. */
static unda_status find_bad(unda_solver *s, int64_t *index)
{
    const unda_ranks *ranks = &sem_rank_of(s)->ranks;
    TRY(sem_rank_work(s, send_state, NULL));
    TRY(own_part(s)->engine->find_bad(own_part(s), index));
    int32_t any = *index >= 0;
    TRY(ranks_unite(ranks, &any, sizeof any));
    *index = -1;
    if (any)
        TRY(sem_rank_work(s, find_in_whole, index));
    return any ? ranks_share(ranks, index, sizeof *index) : UNDA_OK;
}

const struct sem_engine sem_rank_engine = {.base = {.name = "rank",
                                                    .create = create,
                                                    .drive = drive,
                                                    .run = run,
                                                    .find_bad = find_bad,
                                                    .list_points = sem_rank_list,
                                                    .reserve = sem_team_reserve,
                                                    .copy = copy,
                                                    .retime = sem_team_retime,
                                                    .describe = sem_team_describe,
                                                    .settle = settle_all,
                                                    .profile = sem_team_profile},
                                           .level = level,
                                           .wrote = wrote,
                                           .accelerate = accelerate,
                                           .stiffness = stiffness};
