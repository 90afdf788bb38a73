/* team.h: DG on several devices: one solver in the user's numbering of the whole mesh, and one for each part of it.
 * A part's solver is any other, of a mesh with ghosts (mesh/part.h), but that all that belongs to the whole problem is the
 * team's: dt, the kind of metric, what kernels are compiled for. What is added to it are the team's sources and receivers.
 * Next: team.c (making it, stages), team_points.c (sources, receivers, waves), team_state.c (arrays, energy). */
#ifndef UNDA_DG_TEAM_H
#define UNDA_DG_TEAM_H

#include "../solver/exchange.h"
#include "method.h"

struct dg_team {
    struct integration integration;
    const unda_mesh *mesh; /* the whole, held */
    int32_t num_part;
    unda_solver **part; /* [num_part] */
    int32_t *owner;     /* [elem]: its part */
    int64_t *local;     /* [elem]: its number there */
    /* Faces with exact data: those of boundaries by the internal order of the mesh, then those of waves as they came.
     * slot[p][i]: the number that slot i of part p has among all. */
    int64_t num_exact_face, num_incident;
    int32_t num_wave;
    int64_t **slot;
    double **exact; /* [p]: room for a part's exact data in a call */
    void *owned;    /* all arrays but slots and exact data */
};
static inline struct dg_team *dg_team_of(const unda_solver *s)
{
    return s->tables;
}
/* Of all parts the same. */
static inline const unda_solver *dg_team_first(const unda_solver *s)
{
    return dg_team_of(s)->part[0];
}
/* The place of a part's internal element in the internal order of the whole mesh. */
static inline int64_t dg_team_place(const unda_solver *s, const unda_solver *part, int64_t elem)
{
    return dg_team_of(s)->mesh->place[space_user(&dg_tables(part)->space, elem)];
}

/* team.c. Before the steps of a call: the parts' clocks are the team's. */
void dg_team_set_clock(unda_solver *s);

/* team_points.c */
unda_status dg_team_sources_new(unda_solver *s, void **sources, const unda_source *given);
void dg_team_source_free(void *source);
unda_status dg_team_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status dg_team_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
void dg_team_points_free(void *points);
unda_status dg_team_sample(unda_solver *s, const void *points, double *values);
/* Gives each part its share of sources and receivers; takes it back. */
unda_status dg_team_list(unda_solver *s);
void dg_team_unlist(unda_solver *part);
/* After the steps of a call: the parts' samples become the team's. */
void dg_team_gather(unda_solver *s);

/* team_state.c */
unda_status dg_team_list_slots(unda_solver *s, const int32_t *boundary);
unda_status dg_team_reserve_exact(unda_solver *s);
unda_status dg_team_drive(unda_solver *s, const unda_drive *drive);
unda_status dg_team_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                                 const int32_t *sign, int32_t *index);
void dg_team_clear_incident(unda_solver *s);
void dg_team_exact_points(const unda_solver *s, double *points, int32_t *boundary);
unda_status dg_team_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                         const void *in);
void dg_team_element_dt(const unda_solver *s, double *dt);
unda_status dg_team_energy(unda_solver *s, double *energy);
unda_status dg_team_find_bad(unda_solver *s, int64_t *index);
unda_status dg_team_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup);

#endif
