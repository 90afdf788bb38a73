/* team_state.c: the state, exact data and energy of a team, in the numbering of the whole mesh. Sums are taken in the order
 * of a single device. Not here: points (team_points.c). */
#include "team.h"

#include "common/index.h"

#include <math.h>
#include <string.h>

/* ---- exact data ---- */

static unda_status grow_slots(struct dg_team *team, int32_t p, int64_t more)
{
    int64_t num = solver_num_slot(team->part[p]);
    return array_grow(&team->slot[p], team->slot[p] ? num : 0, num + more, sizeof **team->slot,
                      "exact faces");
}

/* Faces of exact boundaries, in the internal order of the whole mesh, have the slots that they have on one device. */
unda_status dg_team_list_slots(unda_solver *s, const int32_t *boundary)
{
    struct dg_team *team = dg_team_of(s);
    const unda_mesh *mesh = team->mesh;
    int num_face = mesh->table->num_face;
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(grow_slots(team, p, 0));
    for (int64_t i = 0; boundary && i < num_face * mesh->num_elem; i++) {
        if (mesh->neighbor[i] >= 0 || boundary[-1 - mesh->neighbor[i]] != UNDA_BOUNDARY_EXACT)
            continue;
        int64_t elem = mesh->order[i / num_face];
        int32_t p = team->owner[elem];
        const struct space *space = &dg_tables(team->part[p])->space;
        int32_t code = space->neighbor[num_face * space->place[team->local[elem]] + i % num_face];
        team->slot[p][-1 - BOUNDARY_EXACT - code] = team->num_exact_face++;
    }
    return UNDA_OK;
}

/* As boundary data and waves are listed after one another in a part as in the team, the order of slots is the same. */
unda_status dg_team_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                                 const int32_t *sign, int32_t *index)
{
    struct dg_team *team = dg_team_of(s);
    int64_t num_slot = team->num_exact_face + team->num_incident;
    SCRATCH int64_t *count = NULL;
    TRY(dg_check_num_incident(num_face, num_slot));
    TRY(array_try(&count, team->num_part, sizeof *count, "incident waves"));
    for (int64_t i = 0; i < num_face; i++) {
        if (elem[i] < 0 || elem[i] >= team->mesh->num_elem)
            FAIL(UNDA_ERR_ARG, "incident wave at face %d of element %lld, expected 0..%d of 0..%lld", face[i],
                 (long long)elem[i], team->mesh->table->num_face - 1, (long long)team->mesh->num_elem - 1);
        count[team->owner[elem[i]]]++;
        TRY(dg_check_incident(team->part[team->owner[elem[i]]], team->local[elem[i]], face[i], sign[i]));
    }
    for (int32_t p = 0; p < team->num_part; p++) {
        TRY(dg_grow_incident(team->part[p], count[p]));
        TRY(grow_slots(team, p, count[p]));
    }
    for (int64_t i = 0; i < num_face; i++) {
        int32_t p = team->owner[elem[i]];
        team->slot[p][solver_num_slot(team->part[p])] = num_slot + i;
        dg_put_incident(team->part[p], team->local[elem[i]], face[i], sign[i]);
    }
    team->num_incident += num_face;
    for (int32_t p = 0; p < team->num_part; p++) {
        dg_end_incident(team->part[p]);
        dg_tables(team->part[p])->has_waves = team->num_incident > 0;
    }
    *index = team->num_wave++;
    s->listed = s->reserved = false;
    return UNDA_OK;
}

void dg_team_clear_incident(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        dg_clear_incident(team->part[p]);
    team->num_incident = team->num_wave = 0;
}

void dg_team_exact_points(const unda_solver *s, double *points, int32_t *boundary)
{
    const struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        dg_exact_points(team->part[p], team->slot[p], points, boundary);
}

unda_status dg_team_reserve_exact(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        const unda_solver *part = team->part[p];
        TRY(array_grow(&team->exact[p], 0, dg_num_exact(part, dg_max_time(part)), sizeof(double),
                       "exact data"));
    }
    return UNDA_OK;
}

unda_status dg_team_drive(unda_solver *s, const unda_drive *drive)
{
    struct dg_team *team = dg_team_of(s);
    int64_t num_slot = team->num_exact_face + team->num_incident;
    dg_team_set_clock(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        int64_t own = solver_num_slot(part), num = dg_num_trace(part);
        unda_drive given = *drive;
        for (int64_t i = 0; i < drive->num_time * own; i++)
            memcpy(team->exact[p] + i * num,
                   drive->exact + (i / own * num_slot + team->slot[p][i % own]) * num,
                   sizeof(double) * (size_t)num);
        given.exact = team->exact[p];
        TRY(part->engine->drive(part, &given));
    }
    return UNDA_OK;
}

/* ---- the state ---- */

enum { BATCH = 4096 }; /* elements moved at a time */

/* A part's own elements ascend in the whole mesh. */
int64_t dg_team_first_from(const unda_solver *part, int64_t elem)
{
    const struct space *space = &dg_tables(part)->space;
    int64_t low = 0, high = space->num_owned;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (space->mesh->part.global[middle] < elem)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those elements [first, first + count) that a part has, by way of `room`. */
static unda_status move_part(unda_solver *part, int32_t array, int64_t first, int64_t count, char *out,
                             const char *in, char *room)
{
    const int64_t *global = dg_tables(part)->space.mesh->part.global;
    int64_t bytes = dg_array_bytes(part, array), end = dg_team_first_from(part, first + count);
    for (int64_t at = dg_team_first_from(part, first); at < end; at += BATCH) {
        int64_t num = end - at < BATCH ? end - at : BATCH;
        for (int64_t i = 0; in && i < num; i++)
            memcpy(room + i * bytes, in + (global[at + i] - first) * bytes, (size_t)bytes);
        TRY(part->method->move(part, array, at, num, in ? NULL : room, in ? room : NULL));
        for (int64_t i = 0; out && i < num; i++)
            memcpy(out + (global[at + i] - first) * bytes, room + i * bytes, (size_t)bytes);
    }
    return UNDA_OK;
}

unda_status dg_team_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                         const void *in)
{
    struct dg_team *team = dg_team_of(s);
    SCRATCH char *room = NULL;
    if (dg_buffer_of(team->part[0], array) < 0 || (in && array == UNDA_RHS))
        FAIL(UNDA_ERR_ARG, "array is %d, expected one of unda_array that this solver has", array);
    if (first < 0 || count < 0 || first > team->mesh->num_elem - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected elements within 0..%lld", (long long)first,
             (long long)count, (long long)team->mesh->num_elem - 1);
    TRY(array_try(&room, count < BATCH ? count : BATCH, dg_array_bytes(team->part[0], array), "states"));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(move_part(team->part[p], array, first, count, out, in, room));
    return UNDA_OK;
}

void dg_team_element_dt(const unda_solver *s, double *dt)
{
    const struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++) {
        const struct dg *dg = dg_tables(team->part[p]);
        for (int64_t e = 0; e < dg->space.num_owned; e++)
            dt[space_user(&dg->space, e)] = dg->elem_dt[e];
    }
}

unda_status dg_team_energy(unda_solver *s, double *out)
{
    struct dg_team *team = dg_team_of(s);
    int64_t num = team->mesh->num_elem;
    SCRATCH double *energy = NULL, *own = NULL;
    TRY(array_try(&energy, num, sizeof *energy, "energies"));
    TRY(array_try(&own, num, sizeof *own, "energies"));
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *part = team->part[p];
        TRY(dg_energies(part, own));
        for (int64_t e = 0; e < dg_tables(part)->space.num_owned; e++)
            energy[dg_team_place(s, part, e)] = own[e];
    }
    *out = 0;
    for (int64_t e = 0; e < num; e++)
        *out += energy[e];
    return UNDA_OK;
}

/* ---- blow-up ---- */

unda_status dg_team_find_first(unda_solver *s, unda_solver *part, int64_t *index)
{
    enum { FEW = 256 };
    int64_t elem[FEW], num = dg_num_value(part), num_owned = dg_tables(part)->space.num_owned;
    SCRATCH void *raw = NULL;
    TRY(array_try(&raw, FEW * num, s->real_bytes, "states"));
    for (int64_t begin = 0; begin < num_owned; begin += FEW) {
        int64_t count = num_owned - begin < FEW ? num_owned - begin : FEW;
        for (int64_t i = 0; i < count; i++)
            elem[i] = begin + i;
        TRY(dg_engine(part)->move(part, BUF_Q, count, elem, raw, NULL));
        for (int64_t i = 0; i < count * num; i++) {
            if (isfinite(real_get(s, raw, i)))
                continue;
            int64_t at = dg_team_place(s, part, begin + i / num) * num + i % num;
            *index = *index < 0 || at < *index ? at : *index;
        }
    }
    return UNDA_OK;
}

unda_status dg_team_find_bad(unda_solver *s, int64_t *index)
{
    struct dg_team *team = dg_team_of(s);
    *index = -1;
    for (int32_t p = 0; p < team->num_part; p++) {
        int64_t own;
        TRY(team->part[p]->engine->find_bad(team->part[p], &own));
        if (own >= 0)
            TRY(dg_team_find_first(s, team->part[p], index));
    }
    return UNDA_OK;
}

unda_status dg_team_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    struct dg_team *team = dg_team_of(s);
    const unda_solver *first = team->part[0];
    dg_describe_bad(first, index, blowup);
    blowup->elem = team->mesh->order[index / dg_num_value(first)];
    if (!s->have_good)
        return UNDA_OK;
    TRY(s->engine->copy(s, BUF_Q, BUF_SCRATCH));
    s->step = s->good_step;
    team->integration.num_valid = 0;
    return UNDA_OK;
}
