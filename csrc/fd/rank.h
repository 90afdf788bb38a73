/* rank.h: a grid in one of many processes, as a method. Next: rank.c. */
#ifndef UNDA_FD_RANK_H
#define UNDA_FD_RANK_H

#include "fd.h"

unda_status fd_rank_member(const unda_solver *s, int32_t which, unda_member *member); /* which: 0 */
unda_status fd_rank_message(const unda_solver *s, int32_t which, unda_message *message);
unda_status fd_rank_set_requests(unda_solver *s, const unda_requests *requests);
unda_status fd_rank_energy(unda_solver *s, double *energy);

#endif
