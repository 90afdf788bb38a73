/* team_points.c: sources and receivers of a team, split among the parts that have their elements.
 * A source has one column of amplitudes in every part, its cells where they are. A receiver whose cells are all in one part
 * is recorded there. One whose cells are in several is recorded cell by cell, in float64, and what they give is added up
 * here in the order of its cells, as a single device does. Not here: how a part does either (points.c). */
#include "rank.h"

#include <string.h>

/* ---- sources ---- */

struct team_source {
    int32_t num_part;
    void *of[]; /* [num_part] */
};

void dg_team_source_free(void *source)
{
    struct team_source *one = source;
    for (int32_t p = 0; one && p < one->num_part; p++)
        dg_rows_free(one->of[p]);
    array_free(one);
}

/* What part p has of the sources, in arrays of `given`'s size. */
static void cut_sources(const unda_solver *s, int32_t p, const unda_source *given, int64_t *first,
                        int64_t *elem, double *places, double *rates)
{
    const struct dg_team *team = dg_team_of(s);
    int64_t num_field = dg_tables(team->part[p])->physics->num_field, num = source_count(given), count = 0;
    for (int64_t i = 0; i < num; i++) {
        int64_t begin = given->first ? given->first[i] : 0;
        int64_t end = given->first ? given->first[i + 1] : given->num_cell;
        first[i] = count;
        for (int64_t k = begin; k < end; k++) {
            if (dg_team_find(team, given->elem[k], &elem[count]) != p)
                continue;
            memcpy(places + 3 * count, given->places + 3 * k, 3 * sizeof *places);
            memcpy(rates + num_field * count++, given->rates + num_field * k,
                   sizeof *rates * (size_t)num_field);
        }
    }
    first[num] = count;
}

unda_status dg_team_sources_new(unda_solver *s, void **sources, const unda_source *given)
{
    struct dg_team *team = dg_team_of(s);
    int num_field = dg_tables(team->part[0])->physics->num_field;
    int64_t num = source_count(given);
    TRY(dg_check_source(team->num_elem, num_field, given));
    SCRATCH int64_t *first = NULL, *elem = NULL;
    SCRATCH double *places = NULL, *rates = NULL;
    SCRATCH void **made = NULL;
    TRY(array_try(&first, num + 1, sizeof *first, "sources"));
    TRY(array_try(&elem, given->num_cell + 1, sizeof *elem, "sources"));
    TRY(array_try(&places, 3 * given->num_cell, sizeof *places, "sources"));
    TRY(array_try(&rates, num_field * given->num_cell, sizeof *rates, "sources"));
    TRY(array_try(&made, num, sizeof *made, "sources"));
    for (int64_t i = 0; i < num; i++) {
        struct team_source *one;
        TRY(array_try(&one, 1, (int64_t)(sizeof *one + sizeof(void *) * (size_t)team->num_part), "sources"));
        one->num_part = team->num_part;
        sources[i] = one;
    }
    for (int32_t p = 0; p < team->num_part; p++) {
        cut_sources(s, p, given, first, elem, places, rates);
        unda_source own = *given;
        own.num_cell = first[num];
        own.num_source = num;
        own.first = first, own.elem = elem, own.places = places, own.rates = rates;
        unda_status status = dg_sources_new(team->part[p], made, &own);
        for (int64_t i = 0; i < num; i++) {
            ((struct team_source *)sources[i])->of[p] = made[i];
            made[i] = NULL;
        }
        TRY(status);
    }
    return UNDA_OK;
}

/* ---- receivers ---- */

/* Of a group, what one part has: points whose cells are all its own, and single cells of others. */
struct team_share {
    void *points[2]; /* of these and of those: the part's */
    int64_t num[2];
    int64_t *point; /* [num[0]]: the group's */
};

struct team_points {
    int64_t num_point;
    int32_t num_field, num_part;
    int32_t num_integral;     /* fields that are integrals over time */
    int64_t *place;           /* [point + 1]: cells of each point */
    struct team_share *share; /* [part] */
    /* Points that several parts share: which, and the cells of each in order, by part and number there. */
    int64_t num_split;
    int64_t *split, *first; /* [num_split], [num_split + 1] */
    int32_t *part;          /* [cell]; -1: another process has it */
    int64_t *number;        /* [cell] */
    double *cells;          /* [sample][cell][field]: room for what they give */
    int64_t room;           /* samples */
    void *owned;
};

unda_status dg_team_points_check(const unda_solver *s, const unda_receivers *r)
{
    const struct dg_team *team = dg_team_of(s);
    TRY(dg_check_receivers(team->num_elem, dg_tables(team->part[0])->physics->num_field, r));
    for (int64_t i = 0; i < receivers_num_cell(r); i++) {
        int64_t elem;
        int32_t p = dg_team_find(team, r->elem[i], &elem);
        if (p >= 0)
            TRY(mesh_check_point(dg_tables(team->part[p])->space.mesh, elem, r->points + 3 * i));
    }
    return UNDA_OK;
}

void dg_team_points_free(void *points)
{
    struct team_points *p = points;
    for (int32_t i = 0; p && p->share && i < p->num_part; i++) {
        dg_rows_free(p->share[i].points[0]);
        dg_rows_free(p->share[i].points[1]);
    }
    if (p) {
        array_free(p->cells);
        arrays_free(&p->owned);
    }
    array_free(p);
}

static int64_t first_cell(const unda_receivers *r, int64_t point)
{
    return r->first ? r->first[point] : point;
}

static int32_t owner_of(const struct dg_team *team, int64_t elem)
{
    int64_t local;
    return dg_team_find(team, elem, &local);
}

/* Among processes each point of several cells: none knows which others have them. */
static bool is_split(const struct dg_team *team, const unda_receivers *r, int64_t point)
{
    int64_t begin = first_cell(r, point), end = first_cell(r, point + 1);
    for (int64_t k = begin + 1; k < end; k++)
        if (team->place || owner_of(team, r->elem[k]) != owner_of(team, r->elem[begin]))
            return true;
    return false;
}

static unda_status list_split(const struct dg_team *team, struct team_points *p, const unda_receivers *r)
{
    int64_t num_cell = 0;
    for (int64_t i = 0; i < r->num_point; i++)
        if (is_split(team, r, i)) {
            p->num_split++;
            num_cell += first_cell(r, i + 1) - first_cell(r, i);
        }
    TRY(array_own(&p->owned, &p->split, p->num_split, sizeof *p->split, "receivers"));
    TRY(array_own(&p->owned, &p->first, p->num_split + 1, sizeof *p->first, "receivers"));
    TRY(array_own(&p->owned, &p->part, num_cell, sizeof *p->part, "receivers"));
    TRY(array_own(&p->owned, &p->number, num_cell, sizeof *p->number, "receivers"));
    int64_t count = 0, cell = 0;
    for (int64_t i = 0; i < r->num_point; i++) {
        if (!is_split(team, r, i))
            continue;
        p->split[count] = i;
        for (int64_t k = first_cell(r, i); k < first_cell(r, i + 1); k++) {
            int32_t part = owner_of(team, r->elem[k]);
            p->part[cell] = part;
            p->number[cell++] = part < 0 ? 0 : p->share[part].num[1]++;
        }
        p->first[++count] = cell;
    }
    return UNDA_OK;
}

/* Lists for a part's own points: what unda_receivers of its own would have. */
struct own_lists {
    int64_t *first, *elem;
    double *points, *weights;
};

static void put_cell(const struct dg_team *team, const unda_receivers *r, int64_t k, int64_t at,
                     struct own_lists *own)
{
    dg_team_find(team, r->elem[k], &own->elem[at]);
    own->weights[at] = r->first ? r->weights[k] : 1;
    memcpy(own->points + 3 * at, r->points + 3 * k, 3 * sizeof *own->points);
}

/* The points of one kind of part `which`: whole ones or, split, cells of others. Returns how many. */
static int64_t cut_points(const struct dg_team *team, struct team_points *p, const unda_receivers *r,
                          int32_t which, bool split, struct own_lists *own)
{
    int64_t count = 0, cell = 0;
    own->first[0] = 0;
    for (int64_t i = 0; i < r->num_point; i++) {
        if (is_split(team, r, i) != split)
            continue;
        for (int64_t k = first_cell(r, i); k < first_cell(r, i + 1); k++) {
            if (owner_of(team, r->elem[k]) != which)
                continue;
            put_cell(team, r, k, cell++, own);
            if (split)
                own->first[++count] = cell;
        }
        if (split || owner_of(team, r->elem[first_cell(r, i)]) != which)
            continue;
        p->share[which].point[count] = i;
        own->first[++count] = cell;
    }
    return count;
}

static unda_status make_share(const unda_solver *s, struct team_points *p, const unda_receivers *r,
                              int32_t which, struct own_lists *own)
{
    const struct dg_team *team = dg_team_of(s);
    struct team_share *share = &p->share[which];
    TRY(array_own(&p->owned, &share->point, r->num_point, sizeof *share->point, "receivers"));
    for (int split = 0; split < 2; split++) {
        unda_receivers given = *r;
        share->num[split] = given.num_point = cut_points(team, p, r, which, split, own);
        given.points = own->points;
        given.elem = own->elem;
        given.first = own->first;
        given.weights = own->weights;
        if (!r->first)
            given.first = NULL;
        TRY(dg_points_new(team->part[which], &share->points[split], &given));
    }
    return UNDA_OK;
}

unda_status dg_team_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct dg_team *team = dg_team_of(s);
    struct team_points *p;
    int64_t num = receivers_num_cell(r);
    struct own_lists own;
    OWNER void *owned = NULL;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    *points = p;
    p->num_point = r->num_point;
    p->num_field = r->num_field;
    p->num_part = team->num_part;
    TRY(array_own(&p->owned, &p->place, r->num_point + 1, sizeof *p->place, "receivers"));
    for (int64_t i = 0; i <= r->num_point; i++)
        p->place[i] = first_cell(r, i);
    TRY(array_own(&p->owned, &p->share, team->num_part, sizeof *p->share, "receivers"));
    TRY(list_split(team, p, r));
    TRY(array_own(&owned, &own.first, num + 1, sizeof *own.first, "receivers"));
    TRY(array_own(&owned, &own.elem, num, sizeof *own.elem, "receivers"));
    TRY(array_own(&owned, &own.points, 3 * num, sizeof *own.points, "receivers"));
    TRY(array_own(&owned, &own.weights, num, sizeof *own.weights, "receivers"));
    for (int32_t i = 0; i < team->num_part; i++)
        TRY(make_share(s, p, r, i, &own));
    p->num_integral = ((struct dg_points *)p->share[0].points[0])->num_integral;
    return UNDA_OK;
}

/* ---- their values ---- */

static int64_t num_cell(const struct team_points *p)
{
    return p->first[p->num_split];
}

static unda_status reserve_cells(struct team_points *p, int64_t num_sample)
{
    if (num_sample <= p->room)
        return UNDA_OK;
    TRY(array_grow(&p->cells, 0, num_sample * num_cell(p) * p->num_field, sizeof *p->cells, "receivers"));
    p->room = num_sample;
    return UNDA_OK;
}

/* Sample i of the cells that part q has; from: [number][field] */
static void put_cells(struct team_points *p, int64_t i, int32_t q, const double *from)
{
    double *to = p->cells + i * num_cell(p) * p->num_field;
    for (int64_t k = 0; k < num_cell(p); k++)
        if (p->part[k] == q)
            memcpy(to + k * p->num_field, from + p->number[k] * p->num_field,
                   sizeof *to * (size_t)p->num_field);
}

/* Sample i: the sum over the cells of a split point, field f. */
static double add_up(const struct team_points *p, int64_t i, int64_t split, int32_t f)
{
    const double *cells = p->cells + i * num_cell(p) * p->num_field;
    double sum = 0;
    for (int64_t k = p->first[split]; k < p->first[split + 1]; k++)
        sum += cells[k * p->num_field + f];
    return sum;
}

/* Among processes: num values that are 0 where another has them become whole, on each. */
static unda_status unite(const struct dg_team *team, void *values, int64_t num, int64_t bytes)
{
    return team->place ? ranks_unite(&team->ranks, values, num * bytes) : UNDA_OK;
}

/* Before: what other processes have is 0 here. */
static void clear(const struct dg_team *team, void *values, int64_t num, int64_t bytes)
{
    if (team->place)
        memset(values, 0, (size_t)(num * bytes));
}

unda_status dg_team_sample(unda_solver *s, const void *points, double *values)
{
    struct dg_team *team = dg_team_of(s);
    struct team_points *p = (struct team_points *)points;
    int64_t num_field = p->num_field, num = p->num_point * num_field, num_apart = num_cell(p) * num_field;
    TRY(reserve_cells(p, 1));
    clear(team, values, num, sizeof *values);
    clear(team, p->cells, num_apart, sizeof *values);
    for (int32_t i = 0; i < team->num_part; i++) {
        const struct team_share *share = &p->share[i];
        SCRATCH double *own = NULL, *cells = NULL;
        TRY(array_try(&own, share->num[0] * num_field, sizeof *own, "values at points"));
        TRY(array_try(&cells, share->num[1] * num_field, sizeof *own, "values at points"));
        TRY(dg_sample(team->part[i], share->points[0], own));
        TRY(dg_sample(team->part[i], share->points[1], cells));
        for (int64_t k = 0; k < share->num[0]; k++)
            memcpy(values + share->point[k] * num_field, own + k * num_field,
                   sizeof *own * (size_t)num_field);
        put_cells(p, 0, i, cells);
    }
    TRY(unite(team, values, num, sizeof *values));
    TRY(unite(team, p->cells, num_apart, sizeof *values));
    for (int64_t i = 0; i < p->num_split; i++)
        for (int32_t f = 0; f < p->num_field; f++)
            values[p->split[i] * num_field + f] = add_up(p, 0, i, f);
    return UNDA_OK;
}

/* ---- integrals over time ---- */

int64_t dg_team_num_integral(const void *points)
{
    const struct team_points *p = points;
    return p->place[p->num_point] * p->num_integral;
}

unda_status dg_team_begin_integrals(unda_solver *s, void *points)
{
    struct dg_team *team = dg_team_of(s);
    struct team_points *p = points;
    for (int32_t i = 0; i < 2 * team->num_part; i++)
        TRY(dg_begin_integrals(team->part[i / 2], p->share[i / 2].points[i % 2], &team->integration));
    return UNDA_OK;
}

void dg_team_keep_integrals(void *points, bool back)
{
    struct team_points *p = points;
    for (int32_t i = 0; i < 2 * p->num_part; i++)
        dg_keep_integrals(p->share[i / 2].points[i % 2], back);
}

/* What the parts here have of all places. */
static void move_shares(struct team_points *p, double *out, const double *in)
{
    int64_t all = p->place[p->num_point];
    for (int32_t q = 0; q < p->num_part; q++) {
        const struct dg_points *whole = p->share[q].points[0];
        for (int64_t k = 0; k < whole->num_point; k++)
            dg_move_integrals(whole, whole->first[k], p->place[p->share[q].point[k]],
                              whole->first[k + 1] - whole->first[k], all, out, in);
    }
    for (int64_t i = 0; i < p->num_split; i++)
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++)
            if (p->part[k] >= 0)
                dg_move_integrals(p->share[p->part[k]].points[1], p->number[k],
                                  p->place[p->split[i]] + k - p->first[i], 1, all, out, in);
}

unda_status dg_team_move_integrals(unda_solver *s, void *points, double *out, const double *in)
{
    const struct dg_team *team = dg_team_of(s);
    int64_t num = 3 * dg_team_num_integral(points);
    if (out)
        clear(team, out, num, sizeof *out);
    move_shares(points, out, in);
    return out ? unite(team, out, num, sizeof *out) : UNDA_OK;
}

/* ---- in the parts' solvers ---- */

void dg_team_unlist(unda_solver *part)
{
    for (int32_t g = 0; g < part->num_group; g++) {
        array_free(part->groups[g]->samples);
        array_free(part->groups[g]);
    }
    part->num_group = part->num_source = 0;
}

/* Groups 2 g and 2 g + 1 are whole points and cells of group g. */
static unda_status list_group(unda_solver *s, int32_t p, int32_t g)
{
    unda_solver *part = dg_team_of(s)->part[p];
    const struct receiver_group *all = s->groups[g];
    const struct team_points *points = all->points;
    for (int split = 0; split < 2; split++) {
        struct receiver_group *own;
        TRY(array_try(&own, 1, sizeof *own, "receivers"));
        *own = (struct receiver_group){.num_point = points->share[p].num[split],
                                       .every = all->every,
                                       .first = all->first,
                                       .num_field = all->num_field,
                                       .wide = split,
                                       .points = points->share[p].points[split]};
        part->groups[part->num_group++] = own;
    }
    return UNDA_OK;
}

unda_status dg_team_list(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        dg_team_unlist(part);
        part->max_step = s->max_step;
        TRY(array_grow(&part->sources, 0, s->num_source, sizeof *part->sources, "sources"));
        TRY(array_grow(&part->groups, 0, 2 * (int64_t)s->num_group, sizeof *part->groups, "receivers"));
        for (int32_t i = 0; i < s->num_source; i++)
            part->sources[i] = ((struct team_source *)s->sources[i])->of[p];
        part->num_source = s->num_source;
        for (int32_t g = 0; g < s->num_group; g++)
            TRY(list_group(s, p, g));
        TRY(receivers_reserve(part));
        TRY(part->engine->list_points(part));
    }
    return UNDA_OK;
}

/* What part q has of sample i of this call of group g. */
static void gather_sample(unda_solver *s, int32_t g, int64_t i, int32_t q)
{
    const unda_solver *part = dg_team_of(s)->part[q];
    const struct receiver_group *all = s->groups[g], *apart = part->groups[2 * g + 1];
    struct team_points *p = all->points;
    const struct team_share *share = &p->share[q];
    size_t row = (size_t)(all->num_field * s->real_bytes);
    char *to = (char *)all->samples + (size_t)((all->held + i) * all->num_point) * row;
    const char *from = (const char *)part->groups[2 * g]->samples + (size_t)(i * share->num[0]) * row;
    for (int64_t k = 0; k < share->num[0]; k++)
        memcpy(to + (size_t)share->point[k] * row, from + (size_t)k * row, row);
    put_cells(p, i, q, (const double *)apart->samples + i * apart->num_point * p->num_field);
}

static unda_status gather_group(unda_solver *s, int32_t g)
{
    const struct dg_team *team = dg_team_of(s);
    const struct receiver_group *all = s->groups[g];
    const struct team_points *p = all->points;
    int64_t num = receiver_num_since(all, s->begin, s->step);
    int64_t size = all->num_point * all->num_field, num_apart = num_cell(p) * p->num_field;
    char *samples = (char *)all->samples + all->held * size * s->real_bytes;
    clear(team, samples, num * size, s->real_bytes);
    clear(team, p->cells, num * num_apart, sizeof *p->cells);
    for (int64_t i = 0; i < num; i++)
        for (int32_t q = 0; q < team->num_part; q++)
            gather_sample(s, g, i, q);
    TRY(unite(team, samples, num * size, s->real_bytes));
    TRY(unite(team, p->cells, num * num_apart, sizeof *p->cells));
    for (int64_t i = 0; i < num; i++)
        for (int64_t k = 0; k < p->num_split; k++)
            for (int32_t f = 0; f < p->num_field; f++)
                real_put(s, samples, i * size + p->split[k] * p->num_field + f, add_up(p, i, k, f));
    return UNDA_OK;
}

unda_status dg_team_gather(unda_solver *s)
{
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(gather_group(s, g));
    return UNDA_OK;
}

unda_status dg_team_reserve_points(unda_solver *s)
{
    for (int32_t g = 0; g < s->num_group; g++)
        TRY(reserve_cells(s->groups[g]->points, s->max_step / s->groups[g]->every + 1));
    return UNDA_OK;
}
