/* rank_points.c: sources and receivers of many processes. Process 0 has them all, with weights that are those of one
 * process, and gives each process those of its cells. What the cells of a process give of a point is recorded there;
 * samples are added up in every process, in the order of parts, as a team's are (team_points.c). */
#include "rank.h"

#include "../solver/parcel.h"

#include <string.h>

static unda_solver *own_part(const unda_solver *s)
{
    return sem_team_of(s)->part[0];
}

/* None has sources or points that another refuses. */
static unda_status meet(const unda_solver *s)
{
    return ranks_unite(&sem_rank_of(s)->ranks, NULL, 0);
}

/* ---- what users add: of other processes than 0 the sizes alone ---- */

unda_status sem_rank_sources_new(unda_solver *s, void **sources, const unda_source *given)
{
    if (sem_rank_leads(s))
        TRY(sem_sources_new(s, sources, given));
    for (int64_t i = 0; i < source_count(given) && !sem_rank_leads(s); i++) {
        struct sem_source *source;
        TRY(array_try(&source, 1, sizeof *source, "source"));
        sources[i] = source;
    }
    return meet(s);
}

unda_status sem_rank_points_check(const unda_solver *s, const unda_receivers *r)
{
    return sem_rank_leads(s) ? sem_points_check(s, r) : UNDA_OK;
}

unda_status sem_rank_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    if (sem_rank_leads(s)) {
        TRY(sem_points_new(s, points, r));
    } else {
        struct sem_points *p;
        TRY(array_try(&p, 1, sizeof *p, "receivers"));
        *points = p;
        p->num_point = r->num_point;
        p->num_field = r->num_field;
    }
    return meet(s);
}

struct asked {
    const void *points;
    double *values;
};

static unda_status sample_whole(unda_solver *s, void *of)
{
    const struct asked *asked = of;
    return sem_sample(s, asked->points, asked->values);
}

unda_status sem_rank_sample(unda_solver *s, const void *points, double *values)
{
    const struct sem_points *p = points;
    TRY(sem_rank_work(s, sample_whole, &(struct asked){points, values}));
    return ranks_share(&sem_rank_of(s)->ranks, values, p->num_point * p->num_field * (int64_t)sizeof *values);
}

/* ---- the share of a process ---- */

struct share {
    struct sem_source **source; /* [num_source] */
    struct sem_points **points; /* [group] */
    int64_t **slot;             /* [group][point of the part]: struct sem_rank_group */
};

static unda_status share_new(struct sem_team *team, const unda_solver *s, struct share *share)
{
    TRY(array_own(&team->listed, &share->source, s->num_source, sizeof *share->source, "sources"));
    TRY(array_own(&team->listed, &share->points, s->num_group, sizeof *share->points, "receivers"));
    return array_own(&team->listed, &share->slot, s->num_group, sizeof *share->slot, "receivers");
}

/* Process 0: that of part p; next[group][point]: slots of parts before. */
static unda_status cut_share(unda_solver *s, int32_t p, int64_t **next, struct share *share)
{
    struct sem_team *team = sem_team_of(s);
    for (int32_t i = 0; i < s->num_source; i++)
        TRY(sem_team_cut_source(team, p, s->sources[i], (void **)&share->source[i]));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *all = s->groups[g];
        SCRATCH int64_t *point = NULL;
        TRY(array_try(&point, all->num_point, sizeof *point, "receivers"));
        TRY(sem_team_cut_points(team, p, all->points, point, &share->points[g]));
        int64_t num = share->points[g]->num_point;
        TRY(array_own(&team->listed, &share->slot[g], num, sizeof(int64_t), "receivers"));
        for (int64_t i = 0; i < num; i++)
            share->slot[g][i] = next[g][point[i]]++;
    }
    return UNDA_OK;
}

static unda_status pack_places(struct parcel *parcel, struct sem_places *places, int num_node)
{
    PARCEL_NUMBER(parcel, places->num);
    PARCEL_ARRAY(parcel, places->place, places->num, "points");
    for (int64_t i = 0; i < places->num; i++)
        PARCEL_ARRAY(parcel, places->place[i].weight, 4 * num_node, "weights of points");
    return UNDA_OK;
}

static unda_status pack_points(struct parcel *parcel, struct sem_points *points, int64_t **slot, int num_node)
{
    PARCEL_NUMBER(parcel, points->num_point);
    PARCEL_NUMBER(parcel, points->num_field);
    TRY(pack_places(parcel, &points->places, num_node));
    PARCEL_ARRAY(parcel, points->first, points->num_point + 1, "receivers");
    PARCEL_ARRAY(parcel, points->field, points->num_field, "receiver fields");
    PARCEL_ARRAY(parcel, *slot, points->num_point, "receivers");
    return UNDA_OK;
}

static unda_status pack_share(struct parcel *parcel, const unda_solver *s, struct share *share)
{
    int num_node = sem_tables(s)->space.num_node;
    for (int32_t i = 0; i < s->num_source; i++) {
        struct sem_source *source = share->source[i];
        TRY(pack_places(parcel, &source->places, num_node));
        PARCEL_ARRAY(parcel, source->rates, source->places.num * SEM_RATES, "sources");
    }
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(pack_points(parcel, share->points[g], &share->slot[g], num_node));
    return UNDA_OK;
}

static unda_status write_share(const unda_solver *s, struct share *share, char **bytes, int64_t *num_byte)
{
    struct parcel parcel = {0};
    TRY(pack_share(&parcel, s, share));
    *num_byte = parcel.num_byte;
    TRY(array_try(bytes, *num_byte, 1, "points of another process"));
    parcel = (struct parcel){.bytes = *bytes};
    return pack_share(&parcel, s, share);
}

static unda_status read_share(unda_solver *s, char *bytes, struct share *share)
{
    struct sem_team *team = sem_team_of(s);
    struct parcel parcel = {.bytes = bytes, .owned = &team->listed};
    for (int32_t i = 0; i < s->num_source; i++)
        TRY(array_own(&team->listed, &share->source[i], 1, sizeof **share->source, "sources"));
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(array_own(&team->listed, &share->points[g], 1, sizeof **share->points, "receivers"));
    return pack_share(&parcel, s, share);
}

/* What process 0 lists of another process is freed once it is written. */
static unda_status give_share(unda_solver *s, int32_t p, int64_t **next, struct share *own)
{
    struct sem_team *team = sem_team_of(s);
    const unda_ranks *ranks = &team->rank->ranks;
    SCRATCH char *bytes = NULL;
    int64_t num_byte = 0;
    if (sem_rank_leads(s)) {
        struct share share;
        OWNER void *listed = NULL;
        SWAP(team->listed, listed);
        unda_status status = share_new(team, s, &share);
        if (status == UNDA_OK)
            status = cut_share(s, p, next, &share);
        if (status == UNDA_OK)
            status = write_share(s, &share, &bytes, &num_byte);
        SWAP(team->listed, listed);
        TRY(status);
    }
    TRY(ranks_give(ranks, p, &bytes, &num_byte));
    return ranks->which == p ? read_share(s, bytes, own) : UNDA_OK;
}

/* ---- lists ---- */

/* How many parts have a cell of a point. */
static int64_t count_parts(const struct sem_team *team, const struct sem_points *points, int64_t point)
{
    int64_t num = 0;
    for (int64_t k = points->first[point]; k < points->first[point + 1]; k++) {
        bool is_new = true;
        for (int64_t j = points->first[point]; j < k && is_new; j++)
            is_new = team->owner[points->places.place[j].elem] != team->owner[points->places.place[k].elem];
        num += is_new;
    }
    return num;
}

/* Where the values of the points of a group begin, known to all; next: the same, in process 0. */
static unda_status list_slots(unda_solver *s, int32_t g, void **owned, int64_t **next)
{
    struct sem_team *team = sem_team_of(s);
    struct sem_rank_group *group = &team->rank->group[g];
    int64_t num = s->groups[g]->num_point;
    TRY(array_own(&team->listed, &group->first, num + 1, sizeof *group->first, "receivers"));
    for (int64_t i = 0; i < num && sem_rank_leads(s); i++)
        group->first[i + 1] = group->first[i] + count_parts(team, s->groups[g]->points, i);
    TRY(ranks_share(&team->rank->ranks, group->first, (num + 1) * (int64_t)sizeof *group->first));
    TRY(array_own(owned, &next[g], num, sizeof **next, "receivers"));
    memcpy(next[g], group->first, sizeof **next * (size_t)num);
    return UNDA_OK;
}

static int64_t row_bytes(const unda_solver *s, int32_t g)
{
    const struct sem_rank_group *group = &sem_rank_of(s)->group[g];
    return group->first[s->groups[g]->num_point] * s->groups[g]->num_field * s->real_bytes;
}

static unda_status list_own(unda_solver *s, const struct share *own)
{
    struct sem_team *team = sem_team_of(s);
    unda_solver *part = team->part[0];
    team->rank->room_bytes = 1 << 20;
    part->max_step = s->max_step;
    TRY(array_own(&team->listed, &part->groups, s->num_group, sizeof *part->groups, "receivers"));
    part->sources = (void **)own->source;
    part->num_source = s->num_source;
    for (int32_t g = 0; g < s->num_group; g++) {
        TRY(sem_team_new_group(team, s->groups[g], own->points[g], &part->groups[g]));
        part->num_group++;
        team->rank->group[g].slot = own->slot[g];
        if (row_bytes(s, g) > team->rank->room_bytes)
            team->rank->room_bytes = row_bytes(s, g);
    }
    TRY(array_own(&team->listed, &team->rank->room, team->rank->room_bytes, 1, "samples"));
    TRY(receivers_reserve(part));
    return part->engine->list_points(part);
}

unda_status sem_rank_list(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    struct share own;
    OWNER void *owned = NULL;
    int64_t **next; /* [group][point] */
    sem_team_unlist(team);
    team->rank->group = NULL;
    TRY(array_own(&team->listed, &team->rank->group, s->num_group, sizeof *team->rank->group, "receivers"));
    TRY(array_own(&owned, &next, s->num_group, sizeof *next, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(list_slots(s, g, &owned, next));
    TRY(share_new(team, s, &own));
    if (sem_rank_leads(s))
        TRY(cut_share(s, 0, next, &own));
    for (int32_t p = 1; p < team->rank->ranks.num_rank; p++)
        TRY(give_share(s, p, next, &own));
    return list_own(s, &own);
}

/* ---- samples ---- */

/* Samples [begin, end) of this call of a group: those of all parts, in the room, are added up. */
static unda_status gather_samples(unda_solver *s, int32_t g, int64_t begin, int64_t end)
{
    struct sem_rank *rank = sem_rank_of(s);
    const struct sem_rank_group *group = &rank->group[g];
    const struct receiver_group *all = s->groups[g], *own = own_part(s)->groups[g];
    int64_t num_field = all->num_field, num_slot = group->first[all->num_point];
    memset(rank->room, 0, (size_t)((end - begin) * row_bytes(s, g)));
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < own->num_point * num_field; k++)
            real_put(s, rank->room,
                     ((i - begin) * num_slot + group->slot[k / num_field]) * num_field + k % num_field,
                     real_get(s, own->samples, i * own->num_point * num_field + k));
    TRY(ranks_unite(&rank->ranks, rank->room, (end - begin) * row_bytes(s, g)));
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < all->num_point * num_field; k++) {
            int64_t at = ((all->held + i) * all->num_point) * num_field + k;
            real_put(s, all->samples, at, 0);
            for (int64_t slot = group->first[k / num_field]; slot < group->first[k / num_field + 1]; slot++) {
                int64_t from = ((i - begin) * num_slot + slot) * num_field + k % num_field;
                real_put(s, all->samples, at, real_get(s, all->samples, at) + real_get(s, rank->room, from));
            }
        }
    return UNDA_OK;
}

unda_status sem_rank_gather(unda_solver *s)
{
    for (int32_t g = 0; g < s->num_group; g++) {
        int64_t num = receiver_num_since(s->groups[g], s->begin, s->step), row = row_bytes(s, g);
        int64_t batch = row > 0 ? sem_rank_of(s)->room_bytes / row : num;
        for (int64_t i = 0; i < num && row > 0; i += batch)
            TRY(gather_samples(s, g, i, num - i < batch ? num : i + batch));
    }
    return UNDA_OK;
}
