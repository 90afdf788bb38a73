/* solver.h: what a solver is made of, and what an engine must offer.
 * Next: solver.c (create, free, state, the table of methods), integrator.c, source.c, receiver.c, norm.c. */
#ifndef UNDA_SOLVER_H
#define UNDA_SOLVER_H

#include "../dg/dg.h"

#include <stdatomic.h>

/* State arrays of an engine; the integrators only swap their names. */
enum { BUF_Q, BUF_NEW, BUF_R, BUF_R1, BUF_SCRATCH, NUM_BUF };
enum { MAX_RECEIVER_GROUP = 1024 };

struct source {
    int64_t elem;   /* internal */
    double *weight; /* [node][field]: right-hand side per unit amplitude */
};

/* At most this many slots of exact data: they are counted in 32 bits. */
enum { MAX_SLOT = INT32_MAX - 64 };

struct receiver_group {
    int64_t num_point, every, first; /* first: the step of sample 0 */
    int32_t num_field, num_weight;
    int64_t *elem;       /* [point], internal */
    int32_t *field;      /* [field]: of the state */
    int32_t *derivative; /* [field]: which weights, 0 the value, 1..3 along x, y, z */
    double *weight;      /* [point][num_weight][node]; num_weight is 1 without derivatives, else 4 */
    int64_t taken;       /* samples handed out: the number of the first in the buffer */
    int64_t held;        /* samples in the buffer */
    int64_t room;        /* samples the buffer holds */
    void *samples;       /* [room][point][field] REAL; the CUDA engine's mirror */
};

/* One evaluation of the right-hand side with its update. */
struct stage {
    int update;   /* UPDATE_RHS, _LSRK, _AB3 */
    int r;        /* the buffer the right-hand side or residual goes to */
    int64_t time; /* row of the sampled sources and exact data */
    double a, b, c0, c1, c2;
};

struct engine {
    const char *name;
    unda_status (*create)(unda_solver *s);
    void (*destroy)(unda_solver *s);
    unda_status (*stage)(unda_solver *s, const struct stage *stage);
    unda_status (*record)(unda_solver *s, struct receiver_group *group);
    unda_status (*read)(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *values);
    unda_status (*write)(unda_solver *s, int buffer, int64_t count, const int64_t *elem, const void *values);
    unda_status (*copy)(unda_solver *s, int to, int from);
    void (*swap)(unda_solver *s, int a, int b);
    unda_status (*drive)(unda_solver *s, const unda_drive *drive); /* makes sampled data available */
    /* Steps of a call; calls integrator_step. On return receivers' samples are on the host. */
    unda_status (*run)(unda_solver *s, int64_t num_step);
    /* First non-finite value of BUF_Q, as an index into [elem][node][field] (internal); -1 if none. */
    unda_status (*find_bad)(unda_solver *s, int64_t *index);
    /* Room for calls of max_step steps: stepping allocates nothing afterwards. May be NULL. */
    unda_status (*reserve)(unda_solver *s);
    /* Bytes that create allocates, from the sizes in s->dg alone. */
    unda_status (*forecast)(unda_solver *s);
    /* Fills kernel and plan of info. May be NULL. */
    void (*describe)(const unda_solver *s, unda_solver_info *info);
    /* May be NULL: no kernels. */
    unda_status (*profile)(unda_solver *s, int64_t num_run, unda_profile *profile);
    unda_status (*compile)(unda_solver *s, int compute_capability, unda_kernel_resources *resources);
};

struct unda_solver {
    unda_solver_options options; /* pointers NULL */
    const unda_mesh *mesh;       /* borrowed: Python keeps it alive */
    struct dg *dg;
    const struct engine *engine;
    void *data; /* the engine's own */
    double dt, dt_stable, t0;
    int64_t step;
    int32_t history; /* valid ab3 levels */
    int32_t threads;
    int32_t real_bytes;
    int64_t max_step; /* reserved */
    struct source *sources;
    int32_t num_source;
    struct dg_incident *incident; /* [num_incident], by ascending face; slots in the order they came */
    int32_t num_incident;
    struct receiver_group **groups;
    int32_t num_group;
    int64_t point_version; /* counts changes of sources and receivers */
    bool have_good;        /* BUF_SCRATCH holds the last good state */
    int64_t good_step;
    unda_blowup blowup;
    atomic_int busy;
    double setup_seconds, compile_seconds;
    int64_t host_bytes, device_bytes, num_launch;
};

extern const struct engine dg_cpu, dg_cuda;

/* integrator.c */
int64_t integrator_num_time(const unda_solver *s, int64_t num_step);
void integrator_times(const unda_solver *s, int64_t num_step, double *times);
unda_status integrator_step(unda_solver *s, int64_t *time); /* one step from row *time on */
int integrator_num_stage(int integrator);

/* source.c, incident.c, receiver.c */
void point_sources_free(unda_solver *s);
void incident_free(unda_solver *s);
/* range[block]: the first incident wave at a face of the elements from block * size on. */
void incident_ranges(const unda_solver *s, int64_t size, int64_t num_block, int32_t *range);
void receivers_free(unda_solver *s);
unda_status receivers_reserve(unda_solver *s);
bool receiver_due(const struct receiver_group *group, int64_t step);
/* Refuses points, elements and fields that are not there. */
unda_status receivers_check(const unda_solver *s, const unda_receivers *receivers);
/* What field f of a point is: the sum over nodes of these and the field's values. */
static inline const double *receiver_weight(const unda_solver *s, const struct receiver_group *group,
                                            int64_t point, int32_t f)
{
    return group->weight + (point * group->num_weight + group->derivative[f]) * s->dg->num_node;
}

/* Faces with exact data: those of exact boundaries, then those of incident waves. */
static inline int64_t solver_num_slot(const unda_solver *s)
{
    return s->dg->num_exact_face + s->num_incident;
}

/* solver.c: excludes other threads and forked children around a public call. */
unda_status solver_enter(unda_solver *s);
unda_status solver_leave(unda_solver *s, unda_status status);

#endif
