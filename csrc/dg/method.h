/* method.h: DG as a method of the solver: state arrays, stages, points; its engines' additional functions.
 * Next: method.c (the method), solver/integrator.c (what a step is), points.c (sources, receivers),
 * incident.c, energy.c; cpu.c and cuda.c, the engines. */
#ifndef UNDA_DG_METHOD_H
#define UNDA_DG_METHOD_H

#include "../solver/solver.h"
#include "dg.h"

/* At most this many slots of exact data: they are counted in 32 bits. */
enum { MAX_SLOT = INT32_MAX - 64 };

struct exchange;
struct dg_engine {
    struct engine base; /* first: an engine of DG is one of these */
    /* States of elements to `out`, or from `in`; the other one is NULL. */
    unda_status (*move)(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                        const void *in);
    /* The same of memory variables, dg_memory_move of each; out and in may both be NULL: they become 0. */
    unda_status (*move_memory)(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                               const void *in);
    /* Of all parts of a problem, once they are made: chooses how traces travel (unda_transport), and makes what that
     * needs (exchange.h). */
    unda_status (*join)(unda_solver *const *part, int32_t num_part, int transport);
    /* Of the part of a process: makes the buffers of its messages (rank.h). NULL: the engine has none. */
    unda_status (*join_rank)(unda_solver *part, const unda_ranks *ranks);
    /* Bytes that this takes of each kind of memory for a part that has so many of messages and cut faces. */
    void (*join_bytes)(const struct exchange *exchange, int64_t num_cut, bool by_host, int64_t *host,
                       int64_t *device);
    /* Runs the steps of a call of a team, whose parts have this engine (team.h). */
    unda_status (*run_team)(unda_solver *team, int64_t num_step);
};
extern const struct dg_engine dg_cpu, dg_cuda;
/* team.c: where `from` of all parts is known, each finds there where to pack. */
void dg_link_parts(unda_solver *const *part, int32_t num_part);
/* The steps of a call one after the other, stages of all parts in turn. */
unda_status dg_team_take_steps(unda_solver *team, int64_t num_step);

static inline struct dg *dg_tables(const unda_solver *s)
{
    return s->tables;
}
static inline const struct dg_engine *dg_engine(const unda_solver *s)
{
    return (const struct dg_engine *)s->engine;
}

/* Values and bytes of an element's state. */
static inline int64_t dg_num_value(const unda_solver *s)
{
    return (int64_t)dg_tables(s)->space.num_node * dg_tables(s)->physics->num_field;
}
static inline int64_t dg_elem_bytes(const unda_solver *s)
{
    return dg_num_value(s) * s->real_bytes;
}

/* Places of points, each in an element, and what a field is there: the sum over the element's nodes of these
 * weights and the field's values; of four weights the others give its derivatives along x, y, z. */
struct dg_rows {
    int64_t num;
    int32_t num_weight; /* 1 or 4 */
    int64_t *elem;      /* [num], internal */
    double *weight;     /* [num][num_weight][node] */
    void *owned;        /* these arrays, and the others of the rows' owner */
};

/* dq/dt = (a row) (rates) per unit amplitude; rows times M^-1 / (6 V). */
struct dg_source {
    struct dg_rows rows;
    double *rates; /* [row][field] */
};

/* What an engine reads of all sources and incident waves, by element: a source has a part in each of its
 * elements. A block is `size` elements. */
struct dg_parts {
    int64_t num;
    int32_t *elem, *source;  /* [part], ascending: element, then source */
    void *weight;            /* [part][node][field] REAL: right-hand side per unit amplitude */
    int32_t *range;          /* [block + 1]: parts in each block's elements */
    int32_t *incident_range; /* [block + 1]: incident waves there; NULL without any */
};

static inline const struct dg_source *dg_source(const unda_solver *s, int32_t i)
{
    return s->sources[i];
}

/* Points of a group of receivers: the mean over the elements of each, whose shares are in the weights. */
struct dg_points {
    struct dg_rows rows;
    int64_t num_point;
    int32_t num_field;
    int64_t *first;       /* [point + 1]: rows of each point */
    int32_t *field;       /* [field]: of the state */
    int32_t *derivative;  /* [field]: which weights, 0 the value, 1..3 along x, y, z */
    int32_t *integral;    /* [field]: its number among those that are integrals over time, or -1 */
    int32_t *integrand;   /* [num_integral]: the field that is the integral */
    int32_t num_integral; /* integral.c */
    /* [row][num_integral] each: BUF_Q the integrals, of the present state, BUF_NEW those of the last good one, the
     * others what the buffers of that name are of the state. Between calls these are the engine's. */
    double *integrals[NUM_BUF];
};
static inline int64_t dg_num_place(const struct dg_points *p)
{
    return p->rows.num * p->num_integral;
}

/* The weights that field f of a point takes in a row. */
static inline const double *receiver_weight(const unda_solver *s, const struct dg_points *p, int64_t row,
                                            int32_t f)
{
    return p->rows.weight + (row * p->rows.num_weight + p->derivative[f]) * dg_tables(s)->space.num_node;
}

/* Faces with exact data: those of exact boundaries, then those of incident waves. */
static inline int64_t solver_num_slot(const unda_solver *s)
{
    return dg_tables(s)->space.num_exact_face + dg_tables(s)->num_incident;
}

/* Values of exact data in a call of so many times. */
static inline int64_t dg_num_exact(const unda_solver *s, int64_t num_time)
{
    return num_time * solver_num_slot(s) * dg_tables(s)->space.num_face_node *
           dg_tables(s)->physics->num_field;
}

/* incident.c: unda_solver_add_incident; the slots of all waves are removed. */
unda_status dg_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                            const int32_t *sign, int32_t *index);
void dg_clear_incident(unda_solver *s);
/* The steps of dg_add_incident: refuses more faces than there can be slots, of which num_slot are taken; refuses a face;
 * makes room for so many more; adds one, with its slot; ends the wave. */
unda_status dg_check_num_incident(int64_t num_face, int64_t num_slot);
unda_status dg_check_incident(const unda_solver *s, int64_t elem, int32_t face, int32_t sign);
unda_status dg_grow_incident(unda_solver *s, int64_t num_face);
void dg_put_incident(unda_solver *s, int64_t elem, int32_t face, int32_t sign);
int32_t dg_end_incident(unda_solver *s);
/* range[block]: the first incident wave at a face of the elements from block * size on. */
void incident_ranges(const unda_solver *s, int64_t size, int64_t num_block, int32_t *range);

/* points.c */
unda_status dg_sources_new(unda_solver *s, void **sources, const unda_source *given);
/* Frees a source or points, which begin with their rows. */
void dg_rows_free(void *owner);
unda_status dg_parts_new(const unda_solver *s, int64_t size, int64_t num_block, struct dg_parts *parts,
                         void **owner);
unda_status dg_points_check(const unda_solver *s, const unda_receivers *receivers);
/* The same for so many elements and fields. */
unda_status dg_check_receivers(int64_t num_elem, int num_field, const unda_receivers *receivers);
unda_status dg_check_source(int64_t num_elem, int num_field, const unda_source *source);
unda_status dg_points_new(unda_solver *s, void **points, const unda_receivers *receivers);

/* integral.c: integrals of receivers over time: methods' entries, for the points of a solver with such an integration. */
unda_status dg_begin_integrals(unda_solver *s, void *points, const struct integration *integration);
void dg_keep_integrals(void *points, bool back);
/* Place `from` here is place `to` of values [3][num_place][num_integral]; num of them, out or in. */
void dg_move_integrals(const struct dg_points *p, int64_t from, int64_t to, int64_t num, int64_t num_place,
                       double *out, const double *in);
/* The numbers of a stage; the engine adds its arrays. */
struct integral_args dg_integral_args(const unda_solver *s, const struct stage *stage);
/* The arrays on the host change their roles, as buffers of the state do. */
void dg_swap_integrals(const unda_solver *s, int a, int b);

/* energy.c */
unda_status dg_sample(unda_solver *s, const void *points, double *values);
unda_status dg_energy(unda_solver *s, double *energy);
/* That of each own element, in the space's order [J]: dg_energy adds them up in this order. */
unda_status dg_energies(unda_solver *s, double *energy);

/* method.c */
/* Checks options and makes the tables of sizes; then the others, and dt_stable. */
unda_status dg_make_sizes(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
unda_status dg_make_tables(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
/* The engine of a device. */
const struct engine *dg_engine_of(const unda_solver_options *options);
/* Node and field of an index of find_bad. */
void dg_describe_bad(const unda_solver *s, int64_t index, unda_blowup *blowup);
/* Points of exact data and their boundaries, those of slot i at slot[i], or where they are: NULL. */
void dg_exact_points(const unda_solver *s, const int64_t *slot, double *points, int32_t *boundary);
/* The buffer that is an array, or that its memory variables are; -1 where there is none. */
int dg_buffer_of(const unda_solver *s, int32_t array);
/* Bytes of an element in it. */
int64_t dg_array_bytes(const unda_solver *s, int32_t array);
/* Values of traces at a face. */
static inline int64_t dg_num_trace(const unda_solver *s)
{
    return (int64_t)dg_tables(s)->space.num_face_node * dg_tables(s)->physics->num_field;
}
/* Times of a call of max_step steps, at most: history may be cleared before it. */
int64_t dg_max_time(const unda_solver *s);
/* Refuses ranges of elements that are not whole blocks of the engine. */
unda_status dg_check_range(const unda_solver *s, int64_t begin, int64_t end);
/* The numbers among the arguments of a stage; the engine adds its arrays. */
struct dg_args dg_stage_args(const unda_solver *s, const struct stage *stage);
extern const struct kernel *const dg_kernels[]; /* kernels.c */

#endif
