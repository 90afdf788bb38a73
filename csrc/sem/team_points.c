/* team_points.c: sources and receivers of a team, split among the parts that have their elements. Weights are those of
 * the whole (points.c). A source has one column of amplitudes in every part. A receiver is the sum over its cells: what
 * each part's cells give is recorded there, and added up here in the order of parts. */
#include "team.h"

#include <string.h>

/* Places in part p of those [begin, end) of a list; room for all of them. Rates go along, if there are any. */
static void cut_places(const struct sem_team *team, int32_t p, const struct sem_places *from, int64_t begin,
                       int64_t end, struct sem_places *to, const double *rates, double *to_rates)
{
    for (int64_t k = begin; k < end; k++) {
        if (team->owner[from->place[k].elem] != p)
            continue;
        struct sem_place *place = &to->place[to->num];
        *place = from->place[k];
        place->elem = team->local[place->elem];
        if (rates)
            memcpy(to_rates + to->num * SEM_RATES, rates + k * SEM_RATES, sizeof *rates * SEM_RATES);
        to->num++;
    }
}

unda_status sem_team_cut_source(struct sem_team *team, int32_t p, const struct sem_source *from, void **out)
{
    struct sem_source *to;
    TRY(array_own(&team->listed, &to, 1, sizeof *to, "sources"));
    TRY(array_own(&team->listed, &to->places.place, from->places.num, sizeof *to->places.place, "sources"));
    TRY(array_own(&team->listed, &to->rates, from->places.num * SEM_RATES, sizeof(double), "sources"));
    cut_places(team, p, &from->places, 0, from->places.num, &to->places, from->rates, to->rates);
    *out = to;
    return UNDA_OK;
}

/* The points of a group of which part p has a cell, with these cells. */
unda_status sem_team_cut_points(struct sem_team *team, int32_t p, const struct sem_points *from,
                                int64_t *point, struct sem_points **out)
{
    struct sem_points *to;
    TRY(array_own(&team->listed, &to, 1, sizeof *to, "receivers"));
    TRY(array_own(&team->listed, &to->places.place, from->places.num, sizeof *to->places.place, "receivers"));
    TRY(array_own(&team->listed, &to->first, from->num_point + 1, sizeof *to->first, "receivers"));
    to->num_field = from->num_field;
    to->field = from->field;
    for (int64_t i = 0; i < from->num_point; i++) {
        cut_places(team, p, &from->places, from->first[i], from->first[i + 1], &to->places, NULL, NULL);
        if (to->places.num == to->first[to->num_point])
            continue;
        point[to->num_point++] = i;
        to->first[to->num_point] = to->places.num;
    }
    *out = to;
    return UNDA_OK;
}

void sem_team_unlist(struct sem_team *team)
{
    for (int32_t p = 0; team->part && p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        for (int32_t g = 0; part && g < part->num_group; g++)
            array_free(part->groups[g]->samples);
        if (part)
            part->num_group = part->num_source = 0;
        if (part)
            part->groups = NULL, part->sources = NULL;
    }
    arrays_free(&team->listed);
    team->point = NULL;
}

unda_status sem_team_new_group(struct sem_team *team, const struct receiver_group *all,
                               struct sem_points *points, struct receiver_group **out)
{
    struct receiver_group *own;
    TRY(array_own(&team->listed, &own, 1, sizeof *own, "receivers"));
    *out = own;
    *own = (struct receiver_group){.num_point = points->num_point,
                                   .every = all->every,
                                   .first = all->first,
                                   .num_field = all->num_field,
                                   .points = points};
    return UNDA_OK;
}

static unda_status list_part(unda_solver *s, int32_t p)
{
    struct sem_team *team = sem_team_of(s);
    unda_solver *part = team->part[p];
    part->max_step = s->max_step;
    TRY(array_own(&team->listed, &part->sources, s->num_source, sizeof *part->sources, "sources"));
    TRY(array_own(&team->listed, &part->groups, s->num_group, sizeof *part->groups, "receivers"));
    for (int32_t i = 0; i < s->num_source; i++)
        TRY(sem_team_cut_source(team, p, s->sources[i], &part->sources[i]));
    part->num_source = s->num_source;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *all = s->groups[g];
        struct sem_points *points;
        TRY(array_own(&team->listed, &team->point[g][p], all->num_point, sizeof(int64_t), "receivers"));
        TRY(sem_team_cut_points(team, p, all->points, team->point[g][p], &points));
        TRY(sem_team_new_group(team, all, points, &part->groups[part->num_group]));
        part->num_group++;
    }
    TRY(receivers_reserve(part));
    return part->engine->list_points(part);
}

unda_status sem_team_list(unda_solver *s)
{
    struct sem_team *team = sem_team_of(s);
    sem_team_unlist(team);
    TRY(array_own(&team->listed, &team->point, s->num_group, sizeof *team->point, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(array_own(&team->listed, &team->point[g], team->num_part, sizeof **team->point, "receivers"));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(list_part(s, p));
    return UNDA_OK;
}

/* Sample i of this call of group g. */
static void gather_sample(unda_solver *s, int32_t g, int64_t i)
{
    const struct sem_team *team = sem_team_of(s);
    const struct receiver_group *all = s->groups[g];
    int64_t num_field = all->num_field, row = all->num_point * num_field;
    char *to = (char *)all->samples + (all->held + i) * row * s->real_bytes;
    memset(to, 0, (size_t)(row * s->real_bytes));
    for (int32_t p = 0; p < team->num_part; p++) {
        const struct receiver_group *own = team->part[p]->groups[g];
        for (int64_t k = 0; k < own->num_point * num_field; k++) {
            int64_t at = team->point[g][p][k / num_field] * num_field + k % num_field;
            real_put(s, to, at,
                     real_get(s, to, at) + real_get(s, own->samples, i * own->num_point * num_field + k));
        }
    }
}

void sem_team_gather(unda_solver *s)
{
    for (int32_t g = 0; g < s->num_group; g++) {
        int64_t num = receiver_num_since(s->groups[g], s->begin, s->step);
        for (int64_t i = 0; i < num; i++)
            gather_sample(s, g, i);
    }
}
