/* rank.c: DG in one of many processes: what it agrees upon with the others, and the messages of its stages.
 * Not here: stages, sources and receivers, which are those of a team (team.c, team_points.c). */
#include "rank.h"

#include "common/index.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static const unda_solver *own_part(const unda_solver *s)
{
    return dg_team_of(s)->part[0];
}

/* The kind of metric of the whole mesh: kinds ascend with what they can describe. */
static unda_status agree_on_metric(const struct dg_team *team, const unda_solver_options *o, int *kind)
{
    *kind = 0;
    if (team->mesh->shape != UNDA_HEX)
        return UNDA_OK;
    TRY(space_choose_metric(team->mesh, kernel_part(o, "metric"), o->degree, kind));
    double least = -*kind;
    TRY(ranks_least(&team->ranks, 1, &least));
    *kind = (int)-least;
    return UNDA_OK;
}

/* What is any element's is all processes'. */
static unda_status agree(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    struct dg *dg = dg_tables(team->part[0]);
    double least[] = {team->part[0]->dt_stable, -(double)dg->has_local, -(double)dg->has_fluid};
    TRY(ranks_least(&team->ranks, 3, least));
    s->dt_stable = least[0];
    dg->has_local = least[1] < 0;
    dg->has_fluid = least[2] < 0;
    return UNDA_OK;
}

unda_status dg_rank_create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    int kind;
    TRY(dg_team_new(s, mesh, 1, s->ranks->num_elem, o));
    struct dg_team *team = dg_team_of(s);
    team->ranks = *s->ranks;
    TRY(array_own(&team->owned, &team->place, mesh->num_owned, sizeof *team->place, "places of elements"));
    memcpy(team->place, s->ranks->place, sizeof *team->place * (size_t)mesh->num_owned);
    team->ranks.place = NULL;
    TRY(agree_on_metric(team, o, &kind));
    TRY(dg_team_begin_part(s, 0, mesh, kind, o));
    TRY(dg_team_end_part(team->part[0], mesh, o));
    return agree(s);
}

void dg_rank_info(const unda_solver *s, unda_solver_info *info)
{
    own_part(s)->method->info(own_part(s), info);
}

/* ---- messages ---- */

unda_status dg_rank_join(unda_solver *part, const unda_ranks *ranks)
{
    if (!dg_engine(part)->join_rank)
        FAIL(UNDA_ERR_ARG, "the %s engine runs in one process, found a part of a mesh; expected device %d",
             part->engine->name, UNDA_DEVICE_CPU);
    return dg_engine(part)->join_rank(part, ranks);
}

unda_status dg_rank_message(const unda_solver *s, int32_t which, unda_message *message)
{
    const struct mesh_part *cut = &dg_team_of(s)->mesh->part;
    return messages_get(own_part(s)->exchange, cut->num_neighbor, cut->neighbor, which, message);
}

unda_status dg_rank_set_requests(unda_solver *s, const unda_requests *requests)
{
    return messages_set_requests(&dg_team_of(s)->owned, own_part(s)->exchange, requests);
}

/* ---- of this process alone ---- */

unda_status dg_rank_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                         const void *in)
{
    unda_solver *part = dg_team_of(s)->part[0];
    return part->method->move(part, array, first, count, out, in);
}

void dg_rank_element_dt(const unda_solver *s, double *dt)
{
    own_part(s)->method->element_dt(own_part(s), dt);
}

unda_status dg_rank_drive(unda_solver *s, const unda_drive *drive)
{
    unda_solver *part = dg_team_of(s)->part[0];
    dg_team_set_clock(s);
    TRY(part->engine->drive(part, drive));
    return ranks_unite(&dg_team_of(s)->ranks, NULL, 0); /* none begins steps that another cannot take */
}

void dg_rank_exact_points(const unda_solver *s, double *points, int32_t *boundary)
{
    dg_exact_points(own_part(s), NULL, points, boundary);
}

/* Whether anyone has incident waves is all processes'. */
unda_status dg_rank_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                                 const int32_t *sign, int32_t *index)
{
    unda_solver *part = dg_team_of(s)->part[0];
    int32_t number;
    double none = 0;
    TRY(dg_add_incident(part, num_face, elem, face, sign, &number));
    none = dg_tables(part)->has_waves ? -1 : 0;
    TRY(ranks_least(&dg_team_of(s)->ranks, 1, &none));
    dg_tables(part)->has_waves = none < 0;
    dg_team_of(s)->num_wave++;
    s->listed = s->reserved = false;
    *index = number;
    return UNDA_OK;
}

/* ---- of all processes ---- */

enum { PLACES = 1 << 20 }; /* elements whose energies travel at a time */

/* Energies of own elements with places [begin, begin + count), those of others, and their sum in the order of places. */
static unda_status add_energies(unda_solver *s, int64_t begin, int64_t count, const double *own, double *room,
                                double *sum)
{
    const unda_solver *part = own_part(s);
    memset(room, 0, sizeof *room * (size_t)count);
    for (int64_t e = 0; e < dg_tables(part)->space.num_owned; e++) {
        int64_t place = dg_team_place(s, part, e);
        if (place >= begin && place < begin + count)
            room[place - begin] = own[e];
    }
    TRY(ranks_unite(&dg_team_of(s)->ranks, room, count * (int64_t)sizeof *room));
    for (int64_t i = 0; i < count; i++)
        *sum += room[i];
    return UNDA_OK;
}

unda_status dg_rank_energy(unda_solver *s, double *energy)
{
    unda_solver *part = dg_team_of(s)->part[0];
    int64_t num = dg_team_of(s)->num_elem;
    SCRATCH double *own = NULL, *room = NULL;
    TRY(array_try(&own, dg_tables(part)->space.num_owned, sizeof *own, "energies"));
    TRY(array_try(&room, num < PLACES ? num : PLACES, sizeof *room, "energies"));
    TRY(dg_energies(part, own));
    *energy = 0;
    for (int64_t begin = 0; begin < num; begin += PLACES)
        TRY(add_energies(s, begin, num - begin < PLACES ? num - begin : PLACES, own, room, energy));
    return UNDA_OK;
}

/* The lowest index of all; it is a whole number below 2^53. */
unda_status dg_rank_find_bad(unda_solver *s, int64_t *index)
{
    unda_solver *part = dg_team_of(s)->part[0];
    TRY(part->engine->find_bad(part, index));
    if (*index >= 0) {
        *index = -1;
        TRY(dg_team_find_first(s, part, index));
    }
    double least = *index < 0 ? INFINITY : (double)*index;
    TRY(ranks_least(&dg_team_of(s)->ranks, 1, &least));
    *index = isfinite(least) ? (int64_t)least : -1;
    return UNDA_OK;
}

/* The element at a place, as the process says that has it. */
static unda_status element_at(unda_solver *s, int64_t place, int64_t *elem)
{
    const unda_solver *part = own_part(s);
    const struct space *space = &dg_tables(part)->space;
    double least = INFINITY;
    for (int64_t e = 0; e < space->num_owned; e++)
        if (dg_team_place(s, part, e) == place)
            least = (double)space_user(space, e);
    TRY(ranks_least(&dg_team_of(s)->ranks, 1, &least));
    *elem = (int64_t)least;
    return UNDA_OK;
}

unda_status dg_rank_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    const unda_solver *part = own_part(s);
    dg_describe_bad(part, index, blowup);
    TRY(element_at(s, index / dg_num_value(part), &blowup->elem));
    if (!s->have_good)
        return UNDA_OK;
    TRY(s->engine->copy(s, BUF_Q, BUF_SCRATCH));
    s->step = s->good_step;
    dg_team_of(s)->integration.num_valid = 0;
    return UNDA_OK;
}
