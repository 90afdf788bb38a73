/* rank.c: one of many processes: its part of the tables, and what users ask of the whole or of own elements.
 * Not here: the whole's state and forces (rank_state.c), sources and receivers (rank_points.c). */
#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sem_rank_free(struct sem_rank *rank)
{
    if (!rank)
        return;
    arrays_free(&rank->owners.owned);
    arrays_free(&rank->owned);
}

static unda_solver *own_part(const unda_solver *s)
{
    return sem_team_of(s)->part[0];
}

/* ---- who has what ---- */

struct pair {
    int64_t key, value;
};
static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static unda_status check_whole(const unda_solver *s)
{
    const unda_ranks *ranks = s->ranks;
    if (ranks->which == 0 && (!ranks->whole || ranks->whole->num_elem != ranks->num_elem))
        FAIL(UNDA_ERR_ARG, "whole of unda_ranks has %lld elements in process 0, expected %lld",
             (long long)(ranks->whole ? ranks->whole->num_elem : 0), (long long)ranks->num_elem);
    return UNDA_OK;
}

/* Own elements in the order of their places in the whole. */
static unda_status list_places(unda_solver *s, const unda_mesh *mesh)
{
    struct sem_rank *rank = sem_rank_of(s);
    SCRATCH struct pair *pairs = NULL;
    int64_t num = mesh->num_owned;
    TRY(array_try(&pairs, num, sizeof *pairs, "places of elements"));
    TRY(array_own(&rank->owned, &rank->place, num, sizeof *rank->place, "places of elements"));
    TRY(array_own(&rank->owned, &rank->user, num, sizeof *rank->user, "places of elements"));
    for (int64_t e = 0; e < num; e++)
        pairs[e] = (struct pair){s->ranks->place[e], e};
    qsort(pairs, (size_t)num, sizeof *pairs, by_key);
    for (int64_t i = 0; i < num; i++) {
        rank->place[i] = pairs[i].key;
        rank->user[i] = pairs[i].value;
        if (pairs[i].key < 0 || pairs[i].key >= rank->ranks.num_elem)
            FAIL(UNDA_ERR_ARG, "place of element %lld is %lld, expected 0..%lld", (long long)pairs[i].value,
                 (long long)pairs[i].key, (long long)rank->ranks.num_elem - 1);
    }
    return UNDA_OK;
}

enum { BATCH = 1 << 20 };

/* Process 0 learns whose each element is: from the place where each process writes its number. */
static unda_status collect_owners(unda_solver *s, int64_t num_own)
{
    struct sem_team *team = sem_team_of(s);
    struct sem_rank *rank = team->rank;
    int64_t num = rank->ranks.num_elem, next = 0;
    int32_t most = rank->ranks.num_rank;
    SCRATCH int32_t *room = NULL;
    TRY(array_try(&room, num < BATCH ? num : BATCH, sizeof *room, "parts"));
    if (sem_rank_leads(s))
        TRY(array_own(&team->owned, &team->owner, num, sizeof *team->owner, "parts"));
    for (int64_t begin = 0; begin < num; begin += BATCH) {
        int64_t end = num - begin < BATCH ? num : begin + BATCH;
        memset(room, 0, sizeof *room * (size_t)(end - begin));
        for (; next < num_own && rank->place[next] < end; next++)
            room[rank->place[next] - begin] = rank->ranks.which + 1;
        TRY(ranks_unite(&rank->ranks, room, (end - begin) * (int64_t)sizeof *room));
        for (int64_t i = begin; i < end && sem_rank_leads(s); i++) {
            team->owner[i] = room[i - begin] - 1;
            if (team->owner[i] < 0 || team->owner[i] >= most)
                FAIL(UNDA_ERR_ARG, "the element at place %lld of the whole mesh has no process, or several",
                     (long long)i);
        }
    }
    return UNDA_OK;
}

/* ---- tables ---- */

static void free_tables(struct sem **tables)
{
    sem_free(*tables);
}
#define TABLES __attribute__((cleanup(free_tables)))

/* Process 0: the tables of a part, with what a process needs besides. */
static unda_status cut_part(unda_solver *s, int32_t which, struct sem **out)
{
    const struct sem *whole = sem_tables(s);
    const struct sem_owners *o = &sem_rank_of(s)->owners;
    TRY(sem_cut_new(whole, o, which, out));
    struct sem *part = *out;
    TRY(array_own(&part->owned, &part->elem_dt, part->space.num_owned, sizeof(double), "time steps"));
    for (int64_t e = 0; e < part->space.num_owned; e++)
        part->elem_dt[e] = whole->elem_dt[part->cut->elem[e]];
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_cut_region *c = (struct sem_cut_region *)&part->cut->region[kind];
        int64_t num = part->region[kind].num_node;
        TRY(array_own(&part->owned, &c->slot, num, sizeof *c->slot, "node numbers"));
        for (int64_t i = 0; i < num; i++) {
            int64_t slot = o->first[kind][c->whole[i]];
            while (o->part[kind][slot] != which)
                slot++;
            c->slot[i] = slot;
        }
    }
    return UNDA_OK;
}

/* The tables of part `which` go to its process: own. */
static unda_status give_part(unda_solver *s, const unda_mesh *mesh, int32_t which, struct sem **own)
{
    const unda_ranks *ranks = &sem_rank_of(s)->ranks;
    TABLES struct sem *made = NULL;
    SCRATCH char *bytes = NULL;
    int64_t num_byte = 0;
    if (sem_rank_leads(s))
        TRY(cut_part(s, which, &made));
    if (which == 0) {
        SWAP(*own, made);
        return UNDA_OK;
    }
    if (made)
        TRY(sem_pack(made, &bytes, &num_byte));
    TRY(ranks_give(ranks, which, &bytes, &num_byte));
    return ranks->which == which ? sem_unpack(bytes, s->options.degree, mesh, own) : UNDA_OK;
}

/* The part's number of each own element: the border comes first, then the others, both in the order of places. */
static unda_status list_local(unda_solver *s)
{
    struct sem_rank *rank = sem_rank_of(s);
    const struct sem *part = sem_tables(own_part(s));
    const struct sem_cut *cut = part->cut;
    int64_t num = part->space.num_owned;
    int64_t border = 0, inner = cut->region[SOLID].num_border + cut->region[FLUID].num_border, end = inner;
    TRY(array_own(&rank->owned, &rank->local, num, sizeof *rank->local, "elements"));
    for (int64_t i = 0; i < num; i++) {
        bool is_border = border < end && cut->elem[border] == rank->place[i];
        if (!is_border && (inner == num || cut->elem[inner] != rank->place[i]))
            FAIL(UNDA_ERR_INTERNAL, "the element at place %lld is not in its process's part",
                 (long long)rank->place[i]);
        rank->local[rank->user[i]] = is_border ? border++ : inner++;
    }
    return UNDA_OK;
}

static unda_status list_slots(unda_solver *s, int kind)
{
    struct sem_rank *rank = sem_rank_of(s);
    const struct sem_cut_region *c = &sem_tables(own_part(s))->cut->region[kind];
    int64_t num = sem_tables(own_part(s))->region[kind].num_node;
    SCRATCH struct pair *pairs = NULL;
    TRY(array_try(&pairs, num, sizeof *pairs, "node numbers"));
    TRY(array_own(&rank->owned, &rank->slot[kind], num, sizeof(int64_t), "node numbers"));
    TRY(array_own(&rank->owned, &rank->slot_node[kind], num, sizeof(int32_t), "node numbers"));
    for (int64_t i = 0; i < num; i++)
        pairs[i] = (struct pair){c->slot[i], i};
    qsort(pairs, (size_t)num, sizeof *pairs, by_key);
    for (int64_t i = 0; i < num; i++) {
        rank->slot[kind][i] = pairs[i].key;
        rank->slot_node[kind][i] = (int32_t)pairs[i].value;
    }
    if (sem_rank_leads(s))
        rank->num_slot[kind] = rank->owners.first[kind][sem_tables(s)->region[kind].num_node];
    return ranks_share(&rank->ranks, &rank->num_slot[kind], sizeof rank->num_slot[kind]);
}

/* ---- creation ---- */

/* Process 0 has all tables, the others their sizes. */
static unda_status new_tables(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    struct sem_team *team;
    unda_solver_options sizes = *o;
    sizes.shape = mesh->shape;
    s->dt_stable = INFINITY; /* until the engine can compute */
    TRY(check_whole(s));
    TRY(s->ranks->which == 0 ? sem_new_tables(s, s->ranks->whole, o) : sem_new_sizes(s, NULL, &sizes));
    TRY(array_try(&team, 1, sizeof *team, "team"));
    sem_tables(s)->team = team;
    TRY(array_own(&team->owned, &team->part, 1, sizeof *team->part, "parts"));
    TRY(array_own(&team->owned, &team->rank, 1, sizeof *team->rank, "process"));
    team->num_part = 1;
    team->rank->ranks = *s->ranks;
    team->rank->ranks.place = NULL;
    team->rank->ranks.whole = NULL;
    return UNDA_OK;
}

static unda_status new_part(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    struct sem_team *team = sem_team_of(s);
    struct sem_rank *rank = team->rank;
    struct sem *own = NULL;
    unda_solver *part;
    if (sem_rank_leads(s)) {
        rank->owners.num_part = rank->ranks.num_rank;
        rank->owners.of = team->owner;
        TRY(sem_owners_fill(sem_tables(s), &rank->owners));
        team->local = rank->owners.local;
    }
    TRY(array_try(&part, 1, sizeof *part, "solver"));
    team->part[0] = part;
    TRY(solver_begin(part, mesh, o));
    for (int32_t p = 0; p < rank->ranks.num_rank; p++) {
        unda_status status = give_part(s, mesh, p, &own);
        part->tables = own;
        TRY(status);
    }
    sem_tables(s)->num_field = own->num_field;
    return sem_team_new_exchange(part);
}

unda_status sem_rank_create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(new_tables(s, mesh, o));
    TRY(list_places(s, mesh));
    TRY(collect_owners(s, mesh->num_owned));
    TRY(new_part(s, mesh, o));
    TRY(list_local(s));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(list_slots(s, kind));
    struct sem_rank *rank = sem_rank_of(s);
    rank->num_dof = 3 * sem_tables(s)->region[SOLID].num_node + sem_tables(s)->region[FLUID].num_node;
    return ranks_share(&rank->ranks, &rank->num_dof, sizeof rank->num_dof);
}

/* ---- description, messages ---- */

/* Elements and arrays are this process's, unknowns those of all. */
void sem_rank_info(const unda_solver *s, unda_solver_info *info)
{
    sem_info(own_part(s), info);
    info->num_dof = sem_rank_of(s)->num_dof;
}

void sem_rank_element_dt(const unda_solver *s, double *dt)
{
    const struct sem *part = sem_tables(own_part(s));
    for (int64_t e = 0; e < part->space.num_owned; e++)
        dt[e] = part->elem_dt[sem_rank_of(s)->local[e]];
}

unda_status sem_rank_message(const unda_solver *s, int32_t which, unda_message *message)
{
    const struct sem_cut *cut = sem_tables(own_part(s))->cut;
    return messages_get(own_part(s)->exchange, cut->num_neighbor, cut->neighbor, which, message);
}

unda_status sem_rank_set_requests(unda_solver *s, const unda_requests *requests)
{
    return messages_set_requests(&sem_rank_of(s)->owned, own_part(s)->exchange, requests);
}

/* ---- the state of own elements ---- */

static unda_status settle(unda_solver *s, void *of)
{
    (void)of;
    return sem_settle(s);
}

static unda_status read_own(unda_solver *s, int64_t first, int64_t count, char *out, int64_t bytes)
{
    void *levels[NUM_REGION][NUM_LEVEL];
    TRY(sem_rank_work(s, settle, NULL));
    TRY(sem_levels(own_part(s), levels));
    TRY(sem_rank_check_copies(s, levels));
    memset(out, 0, (size_t)(count * bytes));
    for (int64_t i = 0; i < count; i++)
        sem_move_elem(own_part(s), sem_rank_of(s)->local[first + i], levels, out + i * bytes, NULL);
    return UNDA_OK;
}

/* Rows of all elements come together in process 0, in the whole's numbering; room of others: a batch. */
static unda_status collect_rows(unda_solver *s, const char *in, int64_t bytes, char *room, int64_t batch,
                                char *all)
{
    const struct sem_rank *rank = sem_rank_of(s);
    int64_t num = rank->ranks.num_elem, num_own = sem_tables(own_part(s))->space.num_owned, next = 0;
    for (int64_t begin = 0; begin < num; begin += batch) {
        int64_t end = num - begin < batch ? num : begin + batch;
        memset(room, 0, (size_t)((end - begin) * bytes));
        for (; next < num_own && rank->place[next] < end; next++)
            memcpy(room + (rank->place[next] - begin) * bytes, in + rank->user[next] * bytes, (size_t)bytes);
        TRY(ranks_unite(&rank->ranks, room, (end - begin) * bytes));
        for (int64_t i = begin; i < end && all; i++)
            memcpy(all + sem_tables(s)->space.order[i] * bytes, room + (i - begin) * bytes, (size_t)bytes);
    }
    return UNDA_OK;
}

static unda_status write_whole(unda_solver *s, void *of)
{
    return sem_move(s, UNDA_STATE, 0, sem_rank_of(s)->ranks.num_elem, NULL, of);
}

/* A node that cells of several processes share gets the value of the whole's first one: process 0 writes. */
static unda_status write_own(unda_solver *s, const char *in, int64_t bytes)
{
    int64_t num = sem_rank_of(s)->ranks.num_elem, batch = (1 << 23) / bytes + 1;
    SCRATCH char *room = NULL;
    SCRATCH char *all = NULL;
    batch = batch < num ? batch : num;
    TRY(array_try(&room, batch, bytes, "a state that is set"));
    if (sem_rank_leads(s))
        TRY(array_try(&all, num, bytes, "a state that is set"));
    TRY(collect_rows(s, in, bytes, room, batch, all));
    return sem_rank_work(s, write_whole, all);
}

unda_status sem_rank_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                          const void *in)
{
    const struct sem *part = sem_tables(own_part(s));
    int64_t num = part->space.num_owned,
            bytes = (int64_t)part->space.num_node * part->num_field * s->real_bytes;
    if (array != UNDA_STATE)
        FAIL(UNDA_ERR_ARG, "array is %d, expected %d: spectral elements have a state only", array,
             UNDA_STATE);
    if (first < 0 || count < 0 || first > num - count || (in && count != num))
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected own elements within 0..%lld%s",
             (long long)first, (long long)count, (long long)num - 1, in ? ", all of them" : "");
    return in ? write_own(s, in, bytes) : read_own(s, first, count, out, bytes);
}

/* ---- of all processes ---- */

static unda_status find_energy(unda_solver *s, void *of)
{
    return sem_energy(s, of);
}

unda_status sem_rank_energy(unda_solver *s, double *energy)
{
    TRY(sem_rank_work(s, find_energy, energy));
    return ranks_share(&sem_rank_of(s)->ranks, energy, sizeof *energy);
}

unda_status sem_rank_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    if (sem_rank_leads(s))
        sem_describe_bad(s, index, blowup);
    TRY(ranks_share(&sem_rank_of(s)->ranks, blowup, sizeof *blowup));
    return sem_restore(s);
}
