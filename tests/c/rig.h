/* rig.h: a small problem of everything, shared by library.c and refusals.c: a mesh of 24 cells with
 * three materials, exact data on a side, an incident wave, a source and two groups of receivers. Not here:
 * checks. Next: rig.c.
 */
#ifndef RIG_H
#define RIG_H

#include "unda.h"

#include <stdio.h>
#include <string.h>

enum { NUM_ELEM = 24, NUM_FIELD = 4, MAX_RIG_NODE = 35, MAX_STEP = 8, MAX_TIME = 5 * MAX_STEP + 2 };

#define TRY_HERE(call)                                                                                       \
    do {                                                                                                     \
        unda_status try_status = (call);                                                                     \
        if (try_status != UNDA_OK)                                                                           \
            return try_status;                                                                               \
    } while (0)

struct rig {
    unda_mesh *mesh;
    unda_solver *solver;
    unda_solver_info info;
    int32_t source, groups[2];
    double *outer; /* exact outer data: zeros for MAX_TIME times */
};

extern int32_t rig_shape;  /* of the cells; UNDA_TET unless set */
extern int32_t rig_parts;  /* in which DG and SEM are cut; 1 unless set */
extern int32_t rig_device; /* of all solvers; UNDA_DEVICE_CPU unless set */

/* size_bytes, device, material and boundary of options are filled in here. */
unda_status rig_new(struct rig *rig, const unda_solver_options *options);
/* Writes a state, runs num_step steps, and calls everything that reads. */
unda_status rig_use(struct rig *rig, int64_t num_step);
unda_status rig_step(struct rig *rig, int64_t num_step);
void rig_free(struct rig *rig); /* also half built */

/* The same of finite differences: grid.c. */
struct grid {
    unda_solver *solver;
    int32_t group, staggered;
    int32_t window; /* of unda_fd_options */
    int32_t slabs;  /* 1: two of them, of order 2 */
};
unda_status grid_new(struct grid *grid, int32_t precision, int32_t uniform);
unda_status grid_new_staggered(struct grid *grid, int32_t precision); /* elastic */
unda_status grid_use(struct grid *grid, int64_t num_step);
unda_status grid_step(struct grid *grid, int64_t num_step);
void grid_free(struct grid *grid);
unda_status grid_refusals(unda_solver *other); /* other: of another method */

enum { SEM_ELEM = 4, SEM_NODE = 27, SEM_FIELD = 12, SEM_STATE = SEM_ELEM * SEM_NODE * SEM_FIELD };
/* The same of spectral elements: spectral.c; in three parts where rig_parts says so. */
struct spectral {
    unda_mesh *mesh;
    unda_solver *solver;
    int32_t group;
};
unda_status spectral_new(struct spectral *sem, int32_t precision);
unda_status spectral_use(struct spectral *sem, int64_t num_step);
/* far.c: spectral elements that begin just below and beyond 2^31. */
unda_status run_far(void);
unda_status run_far_counts(void);
unda_status spectral_step(struct spectral *sem, int64_t num_step);
void spectral_free(struct spectral *sem);
unda_status spectral_add_points(struct spectral *sem);
unda_status spectral_new_rank(struct spectral *sem, const unda_mesh *part, const unda_ranks *ranks);
/* sem_ranks.c: the same in two processes, which are threads of this one. num_failed: whether memory failed in one, and
 * both heard of it; num_allocation: counted elsewhere, and what the last steps add is put into step_allocations. */
unda_status spectral_ranks(const long *num_allocation, int *num_failed, long *step_allocations);
unda_status spectral_refusals(int *num_call, int *num_refused);

/* ranges.c: stages of DG in parts, by a kernel ("" on the CPU). */
unda_status ranges(const char *kernel);

/* parts.c: parts of meshes as spaces see them; inner faces that are turned, neighbours that are wrong, and faults that
 * were put in and seen. */
unda_status parts(int *num_turned, int *num_wrong, int *num_seen);

/* team.c: runs in parts that have the bits of one, which is the one without a fault; runs whose fault was seen. */
unda_status team_faults(int *num_same, int *num_seen);
/* sem_team.c: the same of spectral elements, equal but for rounding. */
unda_status sem_team_faults(int *num_same, int *num_seen);
/* spectral.c: how many teams that cannot be are refused, as all are to be. */
unda_status spectral_team_refusals(int *num_call, int *num_refused);

/* refusals.c: calls everything with arguments that must be refused. */
unda_status refusals(void);

#endif
