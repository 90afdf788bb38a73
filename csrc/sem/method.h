/* method.h: spectral elements as a method of the solver, and its engines' additional functions.
 * Next: method.c, cpu.c. */
#ifndef UNDA_SEM_METHOD_H
#define UNDA_SEM_METHOD_H

#include "sem.h"

/* What receivers take, in this order: u v a, stresses xx yy zz yz xz xy, pressure, chi chi_t chi_tt,
 * divergence and curl of v; in fluids the last four are 0, in solids chi is. Rates of a source: force,
 * moment as stresses, volume. */
enum {
    SEM_STRESS = 9,
    SEM_PRESSURE = 15,
    SEM_CHI = 16,
    SEM_DIVERGENCE = 19,
    SEM_CURL = 20,
    SEM_NUM_TRACE = 23
};
enum { SEM_RATES = 10 };

/* Three unknowns are read as four. */
enum { SEM_SPARE = 1 };
/* Lanczos' vectors, now of length 1, the one before it and the next one (dt.c), where they stay with an engine. */
struct sem_krylov {
    /* next = first, of a region [node][dim] REAL on the host. */
    unda_status (*begin)(unda_solver *s, void *const first[NUM_REGION]);
    /* next = A now; product: <next, now>. */
    unda_status (*apply)(void *of, double *product);
    /* next -= diagonal now + back before. Divided by its length it becomes now, and now before; length 0: nothing is
     * left. */
    unda_status (*advance)(void *of, double diagonal, double back, double *length);
    /* The state is zero again; NULL: it is whoever calls that sees to it. */
    unda_status (*end)(void *of);
};

struct sem_engine {
    struct engine base; /* first: an engine of spectral elements is one of these */
    /* A level of a region [node][dim] REAL, on the host; whoever writes to one says so. */
    unda_status (*level)(unda_solver *s, int region, int level, void **values);
    void (*wrote)(unda_solver *s); /* may be NULL */
    /* The state is zero, as far as is known without a look at it; may be NULL. */
    bool (*is_zero)(const unda_solver *s);
    /* The accelerations of the present u and v from row `time` of the amplitudes; -1: without sources. */
    unda_status (*accelerate)(unda_solver *s, int64_t time);
    /* force = -K u of a region, both [node][dim] REAL on the host; u has room for SEM_SPARE numbers more. */
    unda_status (*stiffness)(unda_solver *s, int region, const void *u, void *force);
    const struct sem_krylov *krylov; /* of: the solver. NULL: vectors on the host */
    /* Of all parts of a problem, once they are made: where each finds the others' buffers (exchange.h). */
    unda_status (*join)(unda_solver *const *part, int32_t num_part, int transport);
    /* Of a team, whose parts have this engine (team.h): the steps of a call; accelerate. */
    unda_status (*run_team)(unda_solver *team, int64_t num_step);
    unda_status (*accelerate_team)(unda_solver *team, int64_t time);
    /* Of a process's part: makes the buffers of its messages (rank.h). */
    unda_status (*join_rank)(unda_solver *part, const unda_ranks *ranks);
    const struct sem_krylov *krylov_team; /* of: the team. NULL: vectors on the host */
};
extern const struct sem_engine sem_cpu, sem_cuda;
extern const struct kernel *const sem_kernels[]; /* kernels.c */

static inline struct sem *sem_tables(const unda_solver *s)
{
    return s->tables;
}
static inline const struct sem_engine *sem_engine(const unda_solver *s)
{
    return (const struct sem_engine *)s->engine;
}

/* A point in a cell: basis and gradient there, the material, and the cell's share of the point. */
struct sem_place {
    int64_t elem; /* of the space */
    double share, moduli[3], x[3];
    double *
        weight; /* [4][node]; NULL: computed from x when asked for, which of many sources takes less than memory */
};
struct sem_places {
    int64_t num;
    struct sem_place *place;
    void *owned;
};
struct sem_source {
    struct sem_places places; /* first: see sem_places_free */
    double *rates;            /* [place][SEM_RATES] */
};
struct sem_points {
    struct sem_places places;
    int64_t num_point;
    int32_t num_field;
    int64_t *first; /* [point + 1] */
    int32_t *field; /* [num_field] */
};

/* points.c */
void sem_places_free(void *owner);
unda_status sem_sources_new(unda_solver *s, void **sources, const unda_source *given);
/* What a unit of a source's amplitude adds to the force by way of its place k: values of unknowns at[i] of a
 * region; returns how many. Room for 3 MAX_NODE. */
int64_t sem_source_row(const unda_solver *s, const struct sem_source *source, int64_t k, int *region,
                       int64_t *at, double *value);
/* Bit i: it adds to component i of nodes, of fluids to their one. */
int sem_source_driven(const unda_solver *s, const struct sem_source *source, int64_t k);
unda_status sem_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status sem_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
double sem_value(const unda_solver *s, const struct sem_points *p, int64_t point, int32_t f,
                 void *const levels[NUM_REGION][NUM_LEVEL]);
/* What a receiver's field takes of the cell of a place: weights of unknowns at[i] of a level of the cell's region;
 * returns how many. Room for 3 MAX_NODE. */
int64_t sem_point_row(const unda_solver *s, const struct sem_place *p, int field, int *level, int64_t *at,
                      double *weight);
/* All levels of all regions, on the host. */
unda_status sem_levels(unda_solver *s, void *levels[NUM_REGION][NUM_LEVEL]);
/* Of the engine: the first value of its state that is not finite, by region, level, node; -1. */
unda_status sem_find_bad(unda_solver *s, int64_t *index);
/* method.c: accelerations of a state that was written, before they are read. */
unda_status sem_settle(unda_solver *s);
/* Of the method, which one of many processes has on the whole (rank.c). */
unda_status sem_new_sizes(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
unda_status sem_new_tables(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
void sem_info(const unda_solver *s, unda_solver_info *info);
unda_status sem_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out, const void *in);
void sem_move_elem(unda_solver *s, int64_t elem, void *const levels[NUM_REGION][NUM_LEVEL], void *out,
                   const void *in);
unda_status sem_sample(unda_solver *s, const void *points, double *values);
void sem_describe_bad(const unda_solver *s, int64_t index, unda_blowup *blowup);
unda_status sem_restore(unda_solver *s);
/* energy.c */
unda_status sem_energy(unda_solver *s, double *energy);
/* dt.c: an engine calls it once it can compute; the solver's stable step, and all that depends on dt. */
unda_status sem_find_stable(unda_solver *s);

#endif
