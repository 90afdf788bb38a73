/* cpu.h: the CPU engine's tables, and the functions that are compiled for each precision.
 * Next: cpu.c (order of a step, threads), cpu_step.c (nodes), cpu_solid.c, cpu_fluid.c (forces of elements).
 * */
#ifndef UNDA_SEM_CPU_H
#define UNDA_SEM_CPU_H

#include "../cpu/lines.h"
#include "method.h"

/* Sources by the unknowns that they drive: of at[i] those from first[i] on. */
struct sem_cpu_sources {
    int64_t num;
    int64_t *at, *first; /* [num], [num + 1] */
    int32_t *source;
    void *value; /* [first[num]] REAL */
};

/* All in REAL but the indices. Blocks are of `lanes` elements side by side, filled up with the last one. */
struct sem_cpu_region {
    int32_t dim;
    int64_t num_elem, num_node;
    int32_t *node;          /* [block][node][lane] */
    void *metric;           /* [block][metric_nodes][HEX_METRIC][lane] */
    void *coef;             /* [block][material_nodes][2][lane]: lambda, mu; of fluids 1/rho, 0 */
    void *inverse_mass;     /* [node]; 1 at those of sides */
    void *level[NUM_LEVEL]; /* [node][dim], and SEM_SPARE */
    void *kept[NUM_LEVEL];  /* of the last good state */
    const int32_t *side;    /* [num_side]: nodes */
    int64_t num_side;
    void *rest, *inverse, *damping; /* [side][dim][dim] */
    struct sem_cpu_sources sources;
};

struct sem_cpu {
    const struct sem *sem;
    int32_t lanes, num_line_node, num_node, metric_nodes, material_nodes;
    int32_t rows;        /* of a line's matrix worked on at once */
    void *derivative[2]; /* of lines, packed: D, then -D^T */
    void *weight;        /* [node] */
    struct sem_cpu_region region[NUM_REGION];
    void *area;      /* [shared node][3] */
    void *amplitude; /* of the present call, [time][source] */
    void *work;      /* [thread][work_bytes] */
    int64_t work_bytes;
    void *owned, *listed;
};

struct sem_cpu_functions {
    /* Nodes [begin, end): u, v of the next step, or its middle; a = 0. */
    void (*predict)(const struct sem_cpu_region *r, double dt, int64_t begin, int64_t end);
    /* a from forces; v gains `half` a. */
    void (*finish)(const struct sem_cpu_region *r, double half, int64_t begin, int64_t end);
    /* Sides [begin, end): a = matrix (a - C v). */
    void (*sides)(const struct sem_cpu_region *r, const void *matrix, int64_t begin, int64_t end);
    /* Unknowns [begin, end) that sources drive, with a row of amplitudes. */
    void (*sources)(const struct sem_cpu_region *r, const void *amplitude, int64_t begin, int64_t end);
    /* Shared nodes [begin, end): what u does to the fluid, and chi'' to the solid. */
    void (*couple)(const struct sem_cpu *t, int region, int64_t begin, int64_t end);
};
extern const struct sem_cpu_functions sem_cpu_functions_f32, sem_cpu_functions_f64;

/* force -= K u of the elements of a task. */
typedef void sem_cpu_task(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t task,
                          const void *u, void *force, void *work);
extern sem_cpu_task *const sem_cpu_solid_f32, *const sem_cpu_solid_f64;
extern sem_cpu_task *const sem_cpu_fluid_f32, *const sem_cpu_fluid_f64;

#endif
