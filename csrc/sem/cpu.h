/* cpu.h: the CPU engine's tables, and the functions that are compiled for each precision.
 * Next: blocks.c, order.c (order of a step, threads), cpu_step.c (nodes), cpu_solid.c, cpu_fluid.c (forces of
 * elements), sources_cpu.c, cpu.c (the rest of the engine). */
#ifndef UNDA_SEM_CPU_H
#define UNDA_SEM_CPU_H

#include "../base/parallel.h"
#include "../cpu/lines.h"
#include "method.h"

#include <stdatomic.h>

/* Sources by the forces that they add to: to at[i] those from first[i] on. */
struct sem_cpu_sources {
    int64_t num, num_early; /* num_early: on nodes that other parts have */
    int64_t *at, *first;    /* [num], [num + 1] */
    int32_t *source;
    void *value; /* [first[num]] REAL */
};

/* Tasks of a part come in two lots, each in the order of the list of tasks: first those on which forces on nodes of other
 * parts depend, then the others, while these forces travel. Alone: all in the second one. */
enum lot { EARLY, LATE, NUM_LOT };

enum { SOLID_PITCH = 4 };
/* Nodes whose step begins at once where the last one ends, unless a receiver reads some of them in between. */
enum { GROUP_NODES = 64 };
/* So many nodes, filled up to whole groups, as monitors take them. */
static inline int64_t whole_groups(int64_t num_node)
{
    return (num_node + GROUP_NODES - 1) / GROUP_NODES * GROUP_NODES;
}

/* Who adds first where tasks share nodes: place i of the list of tasks comes after the tasks after[first[i]] up to
 * after[first[i + 1]]; none waits for a whole colour. */
struct sem_cpu_order {
    int32_t *after;
    int64_t *first;   /* [num_task + 1] */
    atomic_int *done; /* [num_task]: the last pass in which a task was done */
    bool *early;      /* [num_task]: place i is in the first lot */
    int32_t *place; /* [num_task]: by lot, then by thread, whose tasks are consecutive; in ascending order */
    int64_t *begin; /* [NUM_LOT][thread + 1]: where those of a thread begin */
    int num_thread;
    struct sem_cpu_turn {
        OWN_LINE atomic_llong next; /* of its places in the lot nobody has taken those from here on */
    } *turn;                        /* [thread] */
    int pass;
};

/* All in REAL but the indices. Blocks are of `lanes` elements side by side, filled up with the last one. */
struct sem_cpu_region {
    int32_t dim, pitch;
    int64_t num_elem, num_node;
    int32_t *node;          /* [block][node][lane] */
    int64_t *first_node;    /* [block + 1]: from there on no block before has them */
    void *metric;           /* [block][metric_words][lane] */
    void *coef;             /* [block][material_nodes][2][lane]: lambda, mu; of fluids 1/rho, 0 */
    void *inverse_mass;     /* [node]; 1 at those of sides */
    void *level[NUM_LEVEL]; /* [node][dim], nodes in whole groups, and SEM_SPARE */
    void *force;            /* [node][pitch]: 0 between steps; three forces are padded to a vector */
    void *kept[NUM_LEVEL];  /* of the last good state */
    const int32_t *side;    /* [num_side]: nodes */
    int64_t num_side;
    void *rest, *inverse, *damping; /* [side][dim][dim] */
    struct sem_cpu_sources sources;
    bool *watched; /* [group of nodes]: receivers read some */
    struct sem_cpu_order order;
};

struct sem_cpu {
    const struct sem *sem;
    int32_t lanes, num_line_node, num_node, metric_nodes, metric_words, material_nodes;
    bool trilinear;
    int32_t rows;        /* of a line's matrix worked on at once */
    void *derivative[2]; /* of lines, packed: D, then -D^T */
    void *coordinate;    /* [node of a line] */
    void *weight;        /* [node] */
    struct sem_cpu_region region[NUM_REGION];
    void *area;      /* [shared node][3] */
    void *amplitude; /* of the present call, [time][source] */
    void *work;      /* [thread][work_bytes] */
    int64_t work_bytes;
    void *owned, *listed;
};

struct sem_cpu_functions {
    /* Nodes [begin, end): u, v of the next step, or its middle. */
    void (*predict)(const struct sem_cpu_region *r, double dt, int64_t begin, int64_t end);
    /* a from forces, which are 0 then; v gains `half` a. */
    void (*finish)(const struct sem_cpu_region *r, double half, int64_t begin, int64_t end);
    /* Both, and `predict` of the next step; the same bits. Of solids a stays as it is. */
    void (*pass)(const struct sem_cpu_region *r, double dt, int64_t begin, int64_t end);
    /* to [node][dim] from forces, which are 0 then. */
    void (*take)(const struct sem_cpu_region *r, void *to, int64_t begin, int64_t end);
    /* Sides [begin, end): force = matrix (force - C v). */
    void (*sides)(const struct sem_cpu_region *r, const void *matrix, int64_t begin, int64_t end);
    /* Unknowns [begin, end) that sources drive, with a row of amplitudes. */
    void (*sources)(const struct sem_cpu_region *r, const void *amplitude, int64_t begin, int64_t end);
    /* Shared nodes [begin, end): what u does to the fluid, and chi'' to the solid. */
    void (*couple)(const struct sem_cpu *t, int region, int64_t begin, int64_t end);
};
extern const struct sem_cpu_functions sem_cpu_functions_f32, sem_cpu_functions_f64;

/* force -= K u of the elements of a task; the task `next` will follow. */
typedef void sem_cpu_task(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t task, int64_t next,
                          const void *u, void *force, void *work);
extern sem_cpu_task *const sem_cpu_solid_f32, *const sem_cpu_solid_f64;
extern sem_cpu_task *const sem_cpu_fluid_f32, *const sem_cpu_fluid_f64;

/* blocks.c */
unda_status sem_cpu_blocks_new(unda_solver *s);
unda_status sem_cpu_forecast(unda_solver *s);
unda_status sem_cpu_retime(unda_solver *s);
/* order.c: functions of the engine. */
unda_status sem_cpu_order_new(unda_solver *s);
unda_status sem_cpu_run(unda_solver *s, int64_t num_step);
unda_status sem_cpu_accelerate(unda_solver *s, int64_t time);
unda_status sem_cpu_stiffness(unda_solver *s, int kind, const void *u, void *force);
unda_status sem_cpu_profile(unda_solver *s, int64_t num_run, unda_profile *profile);
/* sources_cpu.c: of a region; in memory of the owner. */
unda_status sem_cpu_list_sources(unda_solver *s, int kind, void **owner);
/* view.c */
unda_status sem_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
/* exchange_cpu.c */
unda_status sem_cpu_exchange_begin(unda_solver *s);
unda_status sem_cpu_exchange_end(unda_solver *s);
unda_status sem_cpu_join(unda_solver *const *part, int32_t num_part, int transport);
unda_status sem_cpu_join_rank(unda_solver *part, const unda_ranks *ranks);

#endif
