/* solver.h: the data of every solver, and the interface of a method and its engines.
 * Next: solver.c (create, free, stepping; the table of methods), entries.c (optional functions),
 * source.c, receiver.c; dg/method.h and fd/fd.h, the methods. */
#ifndef UNDA_SOLVER_H
#define UNDA_SOLVER_H

#include "../base/base.h"
#include "kernel.h"

#include <stdatomic.h>

struct receiver_group {
    int64_t num_point, every, first; /* first: the step of sample 0 */
    int32_t num_field;
    bool wide;     /* samples are float64 in any precision: they are summed with those of other parts */
    void *points;  /* the method's: where the points are and what they read of the state */
    int64_t taken; /* samples dropped: the number of the first in the buffer */
    int64_t held;  /* samples in the buffer */
    int64_t room;  /* samples in the buffer: those of two calls, until the first one's are dropped */
    void *samples; /* [room][point][field] REAL, or float64; the CUDA engine's mirror */
};

/* Called after each step of an integrator (integrator.h); queued, where the engine queues. */
struct step_hook {
    unda_status (*after)(unda_solver *s, void *of);
    void *of;
};
enum { MAX_HOOK = 4 };

struct stage;
struct device_piece;
struct device_reads;
struct monitor;
struct monitor_piece;
struct monitor_sample;
/* How a method runs on one kind of machine. */
struct engine {
    const char *name;
    const struct kernel *const *kernels; /* ends with NULL */
    unda_status (*create)(unda_solver *s);
    void (*destroy)(unda_solver *s);
    unda_status (*drive)(unda_solver *s, const unda_drive *drive); /* makes sampled data available */
    /* Runs the steps of a call. On return s->step has advanced, and receivers' samples since s->begin are on
     * the host, behind those that are held. */
    unda_status (*run)(unda_solver *s, int64_t num_step);
    /* First value of the state that is not finite, as the method counts them; -1 if none. */
    unda_status (*find_bad)(unda_solver *s, int64_t *index);
    /* Makes what the engine reads of sources, incident waves and receivers, in place of what it had. */
    unda_status (*list_points)(unda_solver *s);
    /* Allocates what sources and receivers need in calls of max_step steps, in place of what was there:
     * stepping then allocates nothing. */
    unda_status (*reserve)(unda_solver *s);
    /* Of methods whose state is in buffers of elements (integrator.h); NULL elsewhere. Stage: of elements
     * [begin, end), whole blocks of so many elements; the last block may have fewer. */
    int64_t (*block)(const unda_solver *s);
    unda_status (*stage)(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end);
    /* Before a stage: integrals of receivers over time, from the state. */
    unda_status (*integrate)(unda_solver *s, const struct stage *stage);
    unda_status (*copy)(unda_solver *s, int to, int from);
    void (*swap)(unda_solver *s, int a, int b);
    /* Of a part of a mesh (exchange.h): sends what other parts need of the present state; waits for what this one needs of
     * theirs. */
    unda_status (*exchange_begin)(unda_solver *s);
    unda_status (*exchange_end)(unda_solver *s);
    /* Updates tables that the engine derived from the method's, after prepare with another dt. May be
     * NULL. */
    unda_status (*retime)(unda_solver *s);
    /* Bytes that create allocates, from the sizes in the method's tables alone. */
    unda_status (*forecast)(unda_solver *s);
    /* Where a field of the state stands, see unda_solver_view. NULL: of parts. */
    unda_status (*view)(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
    /* Where a solver has a field on its device (device_read.h), which it refuses if there is none. NULL: it has no device.
     * List number `table` of rows: which row of the user's array of `whole` each is, [num_row]; if reads_nodes also the
     * place of each of their values, [num_row][width], -1: none. */
    unda_status (*piece)(unda_solver *s, int32_t field, struct device_piece *piece);
    void (*list_rows)(const unda_solver *s, const unda_solver *whole, int table, int64_t *row, int32_t *node);
    bool reads_nodes;
    /* Makes the accumulators of a piece of a monitor, and adds a sample to them (monitor.h). NULL: of a team, whose parts
     * have pieces. */
    unda_status (*monitor_new)(struct monitor *m, struct monitor_piece *piece);
    unda_status (*monitor_take)(const struct monitor *m, const struct monitor_piece *piece,
                                const struct monitor_sample *sample);
    /* Before all monitors are freed: the state is in none of their arrays. May be NULL. */
    unda_status (*monitors_end)(unda_solver *s);
    /* Of the whole, after the state was written: what a sample of it needs. May be NULL. */
    unda_status (*settle)(unda_solver *s);
    /* Fills kernel and parts of info. May be NULL. */
    void (*describe)(const unda_solver *s, unda_solver_info *info);
    /* May be NULL: no kernels. */
    unda_status (*profile)(unda_solver *s, int64_t num_run, unda_profile *profile);
    unda_status (*compile)(unda_solver *s, int compute_capability, unda_kernel_resources *resources);
};

/* A discretisation. */
struct method {
    const char *name;
    bool on_mesh;
    const struct method *team; /* of parts on several devices; NULL: it has none */
    const struct method *rank; /* of a part in one of many processes; NULL: it has none */
    const struct engine *(*engine)(const unda_solver_options *options);
    /* Checks options and makes tables that hold their sizes only: enough for forecast and compile. */
    unda_status (*sizes)(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
    /* Makes whole tables and dt_stable; holds the mesh, where it is on one, until destroy. */
    unda_status (*create)(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
    /* computes tables that depend on dt, at first and whenever dt changes; may be NULL */
    unda_status (*prepare)(unda_solver *s);
    void (*destroy)(unda_solver *s); /* also frees what sizes or an incomplete create left */
    void (*info)(const unda_solver *s, unda_solver_info *info);
    /* Times at which num_step steps need sampled data. */
    int64_t (*num_time)(const unda_solver *s, int64_t num_step);
    void (*times)(const unda_solver *s, int64_t num_step, double *times);
    /* Parts of an array (unda_array) to `out` or from `in`, in the user's numbering. */
    unda_status (*move)(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                        const void *in);
    /* Makes all sources; after a failure some may have been made, the others are NULL. */
    unda_status (*sources_new)(unda_solver *s, void **sources, const unda_source *given);
    void (*source_free)(void *source); /* may be NULL */
    bool takes_nodes;                  /* sources node by node: `node` of unda_source */
    double (*source_most)(
        const void *source); /* NULL, or the most that a unit of amplitude adds to a field */
    /* Refuses points outside the domain and unknown fields. */
    unda_status (*points_check)(const unda_solver *s, const unda_receivers *receivers);
    unda_status (*points_new)(unda_solver *s, void **points, const unda_receivers *receivers);
    void (*points_free)(void *points);
    /* Values of points now, [point][field]. */
    unda_status (*sample)(unda_solver *s, const void *points, double *values);
    /* Integrals over time that points have (unda_solver_read_integrals); NULL: no method's points have any. Their number, at
     * all places; they are 0 at the present step, whose history the solver has; moved to `out`, or from `in`; kept while
     * the state is good, or put back. */
    int64_t (*num_integral)(const void *points);
    unda_status (*begin_integrals)(unda_solver *s, void *points);
    unda_status (*move_integrals)(unda_solver *s, void *points, double *out, const double *in);
    void (*keep_integrals)(void *points, bool back);
    unda_status (*energy)(unda_solver *s, double *energy);
    /* The state is finite: stores what is to be restored after a blow-up. */
    unda_status (*keep)(unda_solver *s); /* may be NULL */
    /* The state is not finite at that index of find_bad: reports where, and restores what keep stored. */
    unda_status (*blown_up)(unda_solver *s, int64_t index, unda_blowup *blowup);
    /* Optional functions. NULL: the public function of that name reports that the method has none
     * (entries.c). */
    unda_status (*rhs)(unda_solver *s); /* with the data of engine.drive */
    void (*set_history)(unda_solver *s, int32_t history);
    int32_t (*get_history)(const unda_solver *s);
    unda_status (*add_incident)(unda_solver *s, int64_t num_face, const int64_t *elem, const int32_t *face,
                                const int32_t *sign, int32_t *index);
    void (*clear_incident)(unda_solver *s);
    void (*element_dt)(const unda_solver *s, double *dt);
    void (*exact_points)(const unda_solver *s, double *points, int32_t *boundary);
    unda_status (*clear_state)(unda_solver *s);
    unda_status (*rest)(unda_solver *s);
    unda_status (*array_shape)(const unda_solver *s, int32_t array, int64_t *shape);
    unda_status (*set_material)(unda_solver *s, int64_t first, int64_t count, const double *material);
    unda_status (*medium_dt)(unda_solver *s, double *dt, int32_t *again);
    unda_status (*member)(const unda_solver *s, int32_t which, unda_member *member);
    /* Of the solvers that compute its parts here number i; NULL: there are fewer. No function: it computes all itself. */
    unda_solver *(*part)(const unda_solver *s, int32_t i);
    unda_status (*message)(const unda_solver *s, int32_t which, unda_message *message);
    unda_status (*set_requests)(unda_solver *s, const unda_requests *requests);
    unda_status (*forecast)(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options,
                            int64_t *host_bytes, int64_t *device_bytes); /* of a team */
    /* Makes the pieces of a monitor (monitor.h), one for each solver here that has values of it. */
    unda_status (*monitor)(unda_solver *s, struct monitor *monitor, const unda_monitor *given);
    /* How a solver with these options takes samples of so many values: `inside`, `batch`, `pairs` and `level_bytes` of a
     * monitor; s: for its tables of sizes. NULL: between calls, one by one. */
    unda_status (*monitor_ways)(unda_solver *s, const unda_solver_options *options, const unda_monitor *given,
                                int64_t num_value, struct monitor *monitor);
};
extern const struct method dg_method, fd_method, sem_method, dg_team_method, dg_rank_method;

struct unda_solver {
    unda_solver_options options; /* pointers NULL */
    const struct method *method;
    const struct engine *engine;
    const unda_team *split;  /* how a team is made, while it is */
    const unda_ranks *ranks; /* of which this is one, while it is made */
    void *tables;            /* the method's own */
    void *data;              /* the engine's */
    double dt, dt_stable, t0;
    int64_t step, begin; /* steps done; those done before the present call */
    int32_t threads;
    int32_t real_bytes;
    int64_t max_step; /* reserved */
    void **sources;   /* the method's, [num_source] */
    int32_t num_source, source_room;
    struct receiver_group **groups;
    int32_t num_group;
    struct monitor **monitors;
    int32_t num_monitor;
    struct step_hook hooks[MAX_HOOK];
    int32_t num_hook;
    struct device_reads *device_reads; /* device_read.c; NULL: not yet asked for */
    struct exchange *exchange;         /* of a part of a mesh; NULL: it is alone */
    bool listed, reserved; /* engine.list_points, engine.reserve hold for the present points and max_step */
    bool have_good;        /* the state of step good_step is finite, and stored if the method does so */
    int64_t good_step;
    unda_blowup blowup;
    atomic_int busy;
    double setup_seconds, compile_seconds;
    int64_t host_bytes, device_bytes, num_launch;
};

/* Value `at` of an array in the solver's precision; `count` doubles in it. */
static inline double real_get(const unda_solver *s, const void *array, int64_t at)
{
    return s->real_bytes == 4 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}
static inline void real_put(const unda_solver *s, void *array, int64_t at, double value)
{
    if (s->real_bytes == 4)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}
static inline void real_copy(const unda_solver *s, void *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        real_put(s, to, i, from[i]);
}

/* source.c, receiver.c */
/* Reals that a sample of a group takes. */
static inline int64_t receiver_sample_reals(const unda_solver *s, const struct receiver_group *group)
{
    return group->num_point * group->num_field * (group->wide ? (int64_t)sizeof(double) / s->real_bytes : 1);
}
void sources_free_all(unda_solver *s);
unda_status sources_check(const unda_solver *s, int64_t num_time, const double *amplitudes);
void receivers_free(unda_solver *s);
unda_status receivers_reserve(unda_solver *s);
bool receiver_due(const struct receiver_group *group, int64_t step);
/* Samples that a group has had from step `begin` to `step`. */
int64_t receiver_num_since(const struct receiver_group *group, int64_t begin, int64_t step);
void receivers_advance(unda_solver *s); /* samples of the present call are held from now on */
unda_status
receivers_set_clock(unda_solver *s); /* s->step was set: the next samples are those due after it */
/* Integrals of receivers when the state is found good; back: when it is what it was then. */
void receivers_keep(unda_solver *s, bool back);
static inline int64_t source_count(const unda_source *given)
{
    return given->first ? given->num_source : 1;
}
/* Places, each of one point in one element. */
static inline int64_t receivers_num_cell(const unda_receivers *r)
{
    return r->first ? r->first[r->num_point] : r->num_point;
}

/* solver.c */
/* Of a part that a team makes: checks options and takes them; then the method makes its tables, and the rest is the
 * engine's, once dt is known. */
void solver_free_sizes(unda_solver *s); /* of a solver that has tables of sizes alone */
unda_status solver_begin(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *options);
/* The engine that options ask for. */
unda_status solver_engine(const unda_solver_options *options, const struct engine **engine);
/* Before anything but tables depends on dt: a better dt_stable is known. */
unda_status solver_set_stable(unda_solver *s, double dt_stable);
/* Lists points and makes room for calls of max_step steps, where that is not done. */
unda_status solver_reserve(unda_solver *s, int64_t max_step);
unda_status solver_check_drive(const unda_solver *s, int64_t num_time, const unda_drive *drive);
struct range {
    const char *name;
    size_t offset; /* of an int32_t in unda_solver_options */
    int low, high;
};
unda_status solver_check_ranges(const unda_solver_options *options, const struct range *ranges,
                                int num_range);
/* Excludes other threads and forked children from the rest of a public call: until the scope ends, on every
 * way out. */
#define ENTER(s)                                                                                             \
    TRY(solver_enter(s));                                                                                    \
    __attribute__((cleanup(solver_leave))) unda_solver *entered = (s)
unda_status solver_enter(unda_solver *s);
void solver_leave(unda_solver **s);
unda_status solver_add_hook(unda_solver *s, unda_status (*after)(unda_solver *s, void *of), void *of);
unda_status solver_after_step(unda_solver *s);
/* Refuses a call for which the method has no entry. */
unda_status solver_lacks(const unda_solver *s, const char *what);

#endif
