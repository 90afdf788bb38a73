/* rank.h: DG in one of many processes: a team (team.h) of one part, whose neighbours are other processes. What is whole
 * everywhere (samples, energy, dt, a blow-up) is what all processes have, united; states and exact data are its own.
 * Next: rank.c; dg/exchange_cpu.c, which has the buffers of its messages. */
#ifndef UNDA_DG_RANK_H
#define UNDA_DG_RANK_H

#include "../solver/messages.h"
#include "../solver/ranks.h"
#include "team.h"

unda_status dg_rank_create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
/* Makes the buffers of its messages, as ranks.transport says. */
unda_status dg_rank_join(unda_solver *part, const unda_ranks *ranks);
unda_status dg_rank_message(const unda_solver *s, int32_t which, unda_message *message);
unda_status dg_rank_set_requests(unda_solver *s, const unda_requests *requests);

void dg_rank_info(const unda_solver *s, unda_solver_info *info);
unda_status dg_rank_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                         const void *in);
void dg_rank_element_dt(const unda_solver *s, double *dt);
unda_status dg_rank_energy(unda_solver *s, double *energy);
unda_status dg_rank_drive(unda_solver *s, const unda_drive *drive);
unda_status dg_rank_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                                 const int32_t *sign, int32_t *index);
void dg_rank_exact_points(const unda_solver *s, double *points, int32_t *boundary);
unda_status dg_rank_find_bad(unda_solver *s, int64_t *index);
unda_status dg_rank_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup);

#endif
