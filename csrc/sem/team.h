/* team.h: spectral elements on several devices: a solver of the whole mesh, whose engine is that of all parts. Its
 * tables are those of one device, so that arrays, energies, points and the stable step need no more than what any engine
 * has: levels of the state in the whole's numbering, and K u. A part's solver is any other, of tables that were cut out
 * of these (cut.c). Next: team.c (its life, steps), team_points.c (sources, receivers), exchange_cpu.c. */
#ifndef UNDA_SEM_TEAM_H
#define UNDA_SEM_TEAM_H

#include "../solver/exchange.h"
#include "method.h"

struct sem_team {
    int32_t num_part;
    unda_solver **part; /* [num_part] */
    int32_t *owner;     /* [elem of the space]: its part */
    int32_t *local;     /* [elem of the space]: its number there */
    /* The state in the whole's numbering: what is there is also in the parts, unless it was written. */
    void *level[NUM_REGION][NUM_LEVEL];
    bool gathered, wrote;
    struct sem_rank *rank; /* of one of many processes (rank.h), whose part is the only one here; NULL */
    int64_t ***point; /* [group][part]: which points of the group are, in part, those of the part's group */
    void *listed;     /* what parts have of points */
    void *owned;      /* all arrays but these */
};
static inline struct sem_team *sem_team_of(const unda_solver *s)
{
    return sem_tables(s)->team;
}

/* A statement for each part. */
#define EACH_PART(team, part)                                                                                \
    for (int32_t p = 0; p < (team)->num_part; p++)                                                           \
        for (unda_solver *part = (team)->part[p]; part; part = NULL)

/* team.c: the parts, from tables of the whole; where `from` of all parts is known, each finds there where to pack. */
unda_status sem_team_new(unda_solver *s, const unda_solver_options *options);
void sem_team_free(struct sem_team *team);
void sem_link_parts(unda_solver *const *part, int32_t num_part);
/* What the engine of one process of many has alike. */
unda_status sem_team_new_exchange(unda_solver *part);
/* Bytes that parts take, once they have joined. */
void sem_team_add_bytes(unda_solver *s);
unda_status sem_team_after_step(unda_solver *s, void *of);
int64_t sem_team_host_bytes(const unda_solver *s);
unda_status sem_team_new_levels(unda_solver *s);
unda_status sem_team_new_engines(unda_solver *s);
unda_status sem_team_retime(unda_solver *s);
void sem_team_describe(const unda_solver *s, unda_solver_info *info);
unda_status sem_team_profile(unda_solver *s, int64_t num_run, unda_profile *profile);
unda_status sem_team_reserve(unda_solver *s);
void sem_team_set_clock(unda_solver *s);
unda_status sem_team_member(const unda_solver *s, int32_t which, unda_member *member);
/* Bytes that the parts' engines would allocate, and those of the whole; device_bytes [part]. */
unda_status sem_team_forecast(unda_solver *s, int64_t *host_bytes, int64_t *device_bytes);
extern const struct sem_engine sem_team_engine;

/* team_points.c: gives each part its share of sources and receivers; takes it back; after the steps of a call, the
 * parts' samples become the team's. */
unda_status sem_team_list(unda_solver *s);
void sem_team_unlist(struct sem_team *team);
void sem_team_gather(unda_solver *s);
/* Of part p of any number, which need not be here: its share of a source, of the points of a group (point: which of the
 * group's they are). Weights stay those of the whole. */
unda_status sem_team_cut_source(struct sem_team *team, int32_t p, const struct sem_source *from, void **out);
unda_status sem_team_cut_points(struct sem_team *team, int32_t p, const struct sem_points *from,
                                int64_t *point, struct sem_points **out);
/* A group of a part, of the points that it has. */
unda_status sem_team_new_group(struct sem_team *team, const struct receiver_group *all,
                               struct sem_points *points, struct receiver_group **out);

#endif
