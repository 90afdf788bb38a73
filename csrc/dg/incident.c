/* incident.c: faces at which an incident wave is given. Elements on one side of a closed surface hold the
 * total field, those on the other the scattered field (Taflove & Hagness 2005, section 5.6); or all hold the
 * scattered field, and the wave is imposed at walls.
 * Not here: the waves (python/unda/problem/incident.py), their contribution to the flux (cpu_stage.inc.h,
 * cuda/dg/incident.h). */
#include "method.h"

#include "common/index.h"

#include <stdlib.h>

void incident_ranges(const unda_solver *s, int64_t size, int64_t num_block, int32_t *range)
{
    const struct dg *dg = dg_tables(s);
    int32_t i = 0;
    for (int64_t block = 0; block <= num_block; block++) {
        while (i < dg->num_incident && dg->incident[i].face < dg->space.num_face * size * block)
            i++;
        range[block] = i;
    }
}

unda_status dg_check_incident(const unda_solver *s, int64_t elem, int32_t face, int32_t sign)
{
    const struct dg *dg = dg_tables(s);
    if (elem < 0 || elem >= dg->space.num_owned || face < 0 || face >= dg->space.num_face)
        FAIL(UNDA_ERR_ARG, "incident wave at face %d of element %lld, expected 0..%d of 0..%lld", face,
             (long long)elem, dg->space.num_face - 1, (long long)dg->space.num_owned - 1);
    if (sign != 1 && sign != -1)
        FAIL(UNDA_ERR_ARG, "sign is %d at element %lld, expected 1 or -1", sign, (long long)elem);
    int32_t neighbor = dg->space.neighbor[mesh_face(dg->space.mesh, elem, face)];
    bool wall = neighbor < -1 - BOUNDARY_ABSORBING && neighbor > -1 - BOUNDARY_EXACT;
    if (neighbor < 0 && !(sign == 1 ? neighbor == -1 - BOUNDARY_ABSORBING : wall))
        FAIL(UNDA_ERR_ARG,
             "incident wave of sign %d at face %d of element %lld, a boundary of condition %d; expected a "
             "face between elements, an absorbing boundary (sign 1) or a wall (sign -1)",
             sign, face, (long long)elem, neighbor <= -1 - BOUNDARY_EXACT ? BOUNDARY_EXACT : -1 - neighbor);
    return UNDA_OK;
}

static int by_face(const void *a, const void *b)
{
    const struct dg_incident *x = a, *y = b;
    return x->face != y->face ? (x->face > y->face) - (x->face < y->face)
                              : (x->slot > y->slot) - (x->slot < y->slot);
}

unda_status dg_check_num_incident(int64_t num_face, int64_t num_slot)
{
    if (num_face < 0 || num_face > MAX_SLOT - num_slot)
        FAIL(UNDA_ERR_ARG, "num_face is %lld, expected 0..%lld", (long long)num_face,
             (long long)(MAX_SLOT - num_slot));
    return UNDA_OK;
}

unda_status dg_grow_incident(unda_solver *s, int64_t num_face)
{
    struct dg *dg = dg_tables(s);
    return array_grow(&dg->incident, dg->num_incident, dg->num_incident + num_face, sizeof *dg->incident,
                      "incident waves");
}

void dg_put_incident(unda_solver *s, int64_t elem, int32_t face, int32_t sign)
{
    struct dg *dg = dg_tables(s);
    int slot = (int)solver_num_slot(s);
    dg->incident[dg->num_incident++] =
        (struct dg_incident){.face = (int)mesh_face(dg->space.mesh, elem, face), .sign = sign, .slot = slot};
}

int32_t dg_end_incident(unda_solver *s)
{
    struct dg *dg = dg_tables(s);
    qsort(dg->incident, (size_t)dg->num_incident, sizeof *dg->incident, by_face);
    dg->has_waves = dg->num_incident > 0;
    s->listed = false;
    return dg->num_wave++;
}

unda_status dg_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                            const int32_t *sign, int32_t *index)
{
    TRY(dg_check_num_incident(num_face, solver_num_slot(s)));
    for (int64_t i = 0; i < num_face; i++)
        TRY(dg_check_incident(s, elem[i], face[i], sign[i]));
    TRY(dg_grow_incident(s, num_face));
    for (int64_t i = 0; i < num_face; i++)
        dg_put_incident(s, elem[i], face[i], sign[i]);
    *index = dg_end_incident(s);
    return UNDA_OK;
}

void dg_clear_incident(unda_solver *s)
{
    struct dg *dg = dg_tables(s);
    array_free(dg->incident);
    dg->incident = NULL;
    dg->num_incident = dg->num_wave = 0;
    dg->has_waves = false;
}
