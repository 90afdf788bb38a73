/* rank.h: spectral elements in one of many processes: a team (team.h) of one part, whose neighbours are other processes.
 * Process 0 has the tables of the whole as well; each process gets those of its part from there (pack.c), and its share of
 * sources and receivers. Stages need process 0 for nothing: forces on common nodes travel between neighbours (exchange_*.c).
 *
 * What looks at the whole (the stable step, energy, a state that was set, values at points) is the work of process 0, by
 * the same functions as that of a team in one process. Where it needs the parts it tells the others what to do: they follow
 * until it says that the work is done. So all sums have the order of a team's.
 *
 * Next: rank.c (its life, and what users ask), rank_state.c (the whole's state and forces), rank_points.c. */
#ifndef UNDA_SEM_RANK_H
#define UNDA_SEM_RANK_H

#include "../solver/messages.h"
#include "../solver/ranks.h"
#include "team.h"

/* Values that parts have of the points of a group: one a point and a part that has it, points in order, then parts. */
struct sem_rank_group {
    int64_t *first; /* [point + 1]: its values begin there */
    int64_t *slot;  /* [point of the part]: where its value stands */
};

struct sem_rank {
    unda_ranks ranks;
    int64_t *place; /* [own element]: in the whole's space, ascending */
    int64_t *user;  /* [own element], in that order: its number in the process's mesh */
    int64_t *local; /* [own element of the process's mesh]: its number in the part */
    int64_t num_dof;
    struct sem_owners owners;       /* of process 0 */
    int64_t num_slot[NUM_REGION];   /* of all parts (struct sem_owners) */
    int64_t *slot[NUM_REGION];      /* [node of the part]: ascending */
    int32_t *slot_node[NUM_REGION]; /* [node of the part]: the node that each is of */
    struct sem_rank_group *group;
    char *room; /* [room_bytes]: samples that travel */
    int64_t room_bytes;
    void *owned;
};
static inline struct sem_rank *sem_rank_of(const unda_solver *s)
{
    return sem_team_of(s)->rank;
}
static inline bool sem_rank_leads(const unda_solver *s)
{
    return sem_rank_of(s)->ranks.which == 0;
}
void sem_rank_free(struct sem_rank *rank);

/* rank.c: entries of the method. */
unda_status sem_rank_create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
void sem_rank_info(const unda_solver *s, unda_solver_info *info);
void sem_rank_element_dt(const unda_solver *s, double *dt);
unda_status sem_rank_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                          const void *in);
unda_status sem_rank_energy(unda_solver *s, double *energy);
unda_status sem_rank_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup);
unda_status sem_rank_message(const unda_solver *s, int32_t which, unda_message *message);
unda_status sem_rank_set_requests(unda_solver *s, const unda_requests *requests);

/* rank_state.c: the engine; process 0 does a work on the whole, the others what that needs of them. */
unda_status sem_rank_work(unda_solver *s, unda_status (*work)(unda_solver *s, void *of), void *of);
/* Refuses copies of a node that differ between neighbours: forces on it were lost, or came late. */
unda_status sem_rank_check_copies(unda_solver *s, void *const levels[NUM_REGION][NUM_LEVEL]);
extern const struct sem_engine sem_rank_engine;

/* rank_points.c */
unda_status sem_rank_sources_new(unda_solver *s, void **sources, const unda_source *given);
unda_status sem_rank_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status sem_rank_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
unda_status sem_rank_sample(unda_solver *s, const void *points, double *values);
unda_status sem_rank_list(unda_solver *s);
/* After the steps of a call: samples become whole in each process. */
unda_status sem_rank_gather(unda_solver *s);

#endif
