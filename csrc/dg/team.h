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
    const unda_mesh *mesh; /* the whole, held; of a process: its part */
    int64_t num_elem;      /* of the whole */
    int32_t num_part;      /* here */
    int exchange;          /* unda_exchange: when traces travel */
    unda_solver **part;    /* [num_part] */
    int32_t *owner;        /* [elem]: its part */
    int64_t *local;        /* [elem]: its number there */
    unda_ranks ranks;      /* of a process (rank.h): one part is here, owner and local are NULL */
    int64_t *place;        /* of a process, [own element]: its place in the internal order of the whole */
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
    const struct dg_team *team = dg_team_of(s);
    const struct space *space = &dg_tables(part)->space;
    return team->place ? team->place[space->mesh->order[elem]] : team->mesh->place[space_user(space, elem)];
}
/* An element of the whole mesh: its number in the part that has it, and that part; -1: another process has it. */
int32_t dg_team_find(const struct dg_team *team, int64_t elem, int64_t *local);

/* team.c. A team of so many parts of a mesh, which has so many elements in all. */
unda_status dg_team_new(unda_solver *s, const unda_mesh *mesh, int32_t num_part, int64_t num_elem,
                        const unda_solver_options *options);
/* Makes part p of its mesh, with sizes; kind: unda_metric of the whole mesh, or 0. Then its tables, from the materials of
 * its elements and ghosts. */
unda_status dg_team_begin_part(unda_solver *s, int32_t p, const unda_mesh *local, int kind,
                               const unda_solver_options *own);
unda_status dg_team_end_part(unda_solver *part, const unda_mesh *local, const unda_solver_options *own);
/* Before the steps of a call: the parts' clocks are the team's. */
void dg_team_set_clock(unda_solver *s);

/* team_points.c */
unda_status dg_team_sources_new(unda_solver *s, void **sources, const unda_source *given);
void dg_team_source_free(void *source);
unda_status dg_team_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status dg_team_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
void dg_team_points_free(void *points);
unda_status dg_team_sample(unda_solver *s, const void *points, double *values);
/* Integrals of receivers over time. */
int64_t dg_team_num_integral(const void *points);
unda_status dg_team_begin_integrals(unda_solver *s, void *points);
unda_status dg_team_move_integrals(unda_solver *s, void *points, double *out, const double *in);
void dg_team_keep_integrals(void *points, bool back);
/* Gives each part its share of sources and receivers; takes it back. */
unda_status dg_team_list(unda_solver *s);
void dg_team_unlist(unda_solver *part);
/* Room for the samples of a call. */
unda_status dg_team_reserve_points(unda_solver *s);
/* After the steps of a call: the parts' samples become the team's. */
unda_status dg_team_gather(unda_solver *s);

/* team_state.c. Of a part: the first of its own elements that is no lower in the whole mesh. */
int64_t dg_team_first_from(const unda_solver *part, int64_t elem);
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
/* The first value of a part that is not finite, as a single device counts; not below *index, but where that is -1. */
unda_status dg_team_find_first(unda_solver *s, unda_solver *part, int64_t *index);
unda_status dg_team_find_bad(unda_solver *s, int64_t *index);
unda_status dg_team_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup);

#endif
