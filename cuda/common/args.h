/* args.h: argument structs of the kernels, shared by host and device (sizes asserted on both sides).
 * Plain types only: NVRTC alone knows neither int64_t nor size_t. Pointers are device addresses. */
#ifndef UNDA_ARGS_H
#define UNDA_ARGS_H

#include "common/size.h"

/* A face behind which an incident wave is added to the outer state (sign 1) or taken from it (-1). At a wall
 * the wave's mirror image is added as well: the wall stands in the sum of state and wave. */
struct dg_incident {
    int face; /* num_face elem + face */
    int sign;
    int slot; /* of the exact data */
    int unused;
};
SIZE_IS(dg_incident, 16);

/* One stage of DG. Arrays in C order; REAL is the solver's precision. */
struct dg_args {
    const void *q;  /* state before the stage (cuda/layout) */
    void *q_new;    /* the same: state after it; other memory, neighbours still read q */
    void *r;        /* LSRK: residual, read and written. AB3: r_(n-2) read, r_n written. RHS: written */
    const void *r1; /* AB3: r_(n-1) */
    void *rhs;      /* kernels node, base, f1, gemm, microblock: right-hand side between their functions */
    const void *record;        /* [elem][ELEM_WORDS]: grad r_j, rows j [1/m], then coefficients by node */
    const void *face_coef;     /* [elem][NUM_FACE][1 or NFP][NUM_FACE_COEF] */
    const int *neighbor;       /* [elem][NUM_FACE]: index.h */
    const int *face_node;      /* [NUM_SIDE][NFP] */
    const void *matrix;        /* kernel's own packing of derivative and lift */
    const void *exact;         /* [time][slot][NFP][field]: exact outer states, then incident waves */
    const void *amplitude;     /* [time][source] */
    const void *source_weight; /* [part][node][field]: right-hand side per unit amplitude */
    const int *source_elem;    /* [part], ascending: a source has a part in each of its elements */
    const int *source_column;  /* [part]: the source */
    const int *source_range;   /* [block + 1]: parts in each block's elements */
    const long long *clock;    /* sampled times used up before this batch of launches */
    const struct dg_incident *incident; /* by ascending face */
    const int *incident_range; /* [block + 1]: those in each block's elements; NULL if there are none */
    long long num_elem;        /* that are computed */
    long long num_total;       /* of a state: with those of other parts, at its end */
    long long first;           /* element of the first block of this launch; the ranges begin there */
    long long num_coef_face;   /* items of face_coef, whose groups (index.h) they are apart */
    long long num_exact_face;  /* slots */
    int time;                  /* this stage's time, counted from *clock */
    int num_source;
    double a, b, dt;   /* LSRK */
    double c0, c1, c2; /* AB3, times dt [s] */
    /* Of hexahedra, whose records have no geometry: [item][NUM_METRIC] in groups of four (index.h), one item an
     * element or one a node; or [elem][NUM_MAP]. */
    const void *metric;
    long long num_metric; /* items */
    void *products; /* gemm, microblock: what matrix products read and write (dg/gemm.cu, dg/microblock.cu) */
    const int *table; /* kernel blocks: orbits of nodes; tensor: matrices; microblock: pairs of faces */
};
SIZE_IS(dg_args, 280);

/* Many steps of DG in one launch (dg/resident.cu). */
struct dg_resident_args {
    /* Of the first stage; matrix and ranges are the kernel's own. q, r and r1 are read when it begins, and r, r1 and
     * q_new, which may be q, written when it ends; nothing if q_new is NULL. */
    struct dg_args stage;
    unsigned long long *mailbox; /* [2][elem][NUM_FACE][NFP][words]: states at faces, with tags */
    /* States (cuda/layout) of num_slot elements: the first one, then those after each step, or after each stage. */
    void *history;
    const int *slot; /* [elem]: of the history, or -1; NULL: no element has one */
    long long num_slot;
    int num_step;
    unsigned tag;      /* of the first stage; each stage takes one more, no two of a solver the same */
    double a[5], b[5]; /* LSRK: of each stage */
    int num_level;     /* states of the history a step: 1, or as many as stages */
    /* Of monitors: states (cuda/layout) of num_sample_slot elements after sample_wait steps, then every sample_every. */
    int sample_wait, sample_every, unused;
    void *samples;
    const int *sample_slot; /* [elem]: of the samples, or -1 */
    long long num_sample_slot;
};
SIZE_IS(dg_resident_args, 440);

/* A value that a group of receivers records: a sum over rows, one for each element that shares the point. */
struct record_channel {
    long long row;     /* the first of them, or of its integrals ... */
    long long offset;  /* within a sample of its group */
    int num_row, skip; /* ... so many, so many apart */
    int field;         /* of the state; -1: an integral over time */
    int group;
};
SIZE_IS(record_channel, 32);

/* A group in this call. */
struct record_group {
    long long first, every; /* the step of sample 0; steps from sample to sample */
    long long base;         /* where sample 0 would be in out, which begins with one of this call */
    long long stride;       /* between samples in out */
    long long wide;         /* 1: values are float64 though REAL is not, two reals each */
};
SIZE_IS(record_group, 40);

/* Receivers: one warp a channel. Rows are values or derivatives at points. */
struct record_args {
    const void *q;         /* a state (cuda/layout) */
    const void *weight;    /* [row][node], float64 */
    const long long *elem; /* [row] */
    const struct record_channel *channel;
    const struct record_group *group;
    void *out;
    const long long *clock; /* steps done before this batch of launches */
    int step;               /* this step's number in the batch, counted from 1 */
    int num_channel, num_node, num_field;
    long long total; /* nodes of the state */
    /* Row y of blocks records step number step + y, from a state y q_step reals, integrals y integral_step beyond. */
    long long q_step, integral_step;
    const double *integral;
};
SIZE_IS(record_args, 104);

/* A value at a place whose integral over time is kept. */
struct integral_place {
    long long row; /* of weights */
    int field;     /* of the state */
    int unused;
};
SIZE_IS(integral_place, 16);

/* Stages of integrals at places (common/integral.h). */
struct integral_args {
    const void *q;         /* a state (cuda/layout), before the first stage */
    const void *weight;    /* [row][node], float64 */
    const long long *elem; /* [row] */
    const struct integral_place *place;
    double *u, *r, *r1; /* [place]; r1: AB3 */
    double
        *value; /* of whole steps [stage of any][place]: what one kernel leaves the other; NULL: one stage */
    double *after;     /* [step][place]: u after each of them */
    double a[5], b[5]; /* LSRK: of each stage of a step */
    double dt, c0, c1, c2;
    long long total;  /* nodes of the state */
    long long q_step; /* reals from the state before a stage to that before the next one */
    int num_step;     /* AB3: r1 and r become those of the next step; of one stage the caller swaps them */
    int update;
    int num_place, num_node, num_field;
    int unused;
};
SIZE_IS(integral_args, 224);

/* Elements by list, to or from packed memory. */
struct gather_args {
    void *state;                       /* cuda/layout */
    void *packed;                      /* [count][num_value] */
    const long long *elem;             /* [count] */
    long long count, num_value, total; /* total: nodes of the state */
    int num_node, num_field;
    int scatter; /* 1: from packed to state */
    int unused;
};
SIZE_IS(gather_args, 64);

struct finite_args {
    const void *q;
    long long num, total; /* nodes to look at, and all of the state */
    int num_field, num_node;
    unsigned long long *first; /* smallest index of a value that is not finite; as it was if none */
};
SIZE_IS(finite_args, 40);

/* Traces at cut faces, to packed memory or from it: all fields at the nodes of faces, in the order in which the faces'
 * own elements list them. */
struct trace_args {
    void *state;           /* cuda/layout */
    void *packed;          /* [num][num_face_node][num_field], of this device or of another */
    const long long *face; /* [num]: num_face * elem + face */
    const int *face_node;  /* [face][face node] */
    long long num, total;  /* total: nodes of the state */
    int num_face, num_face_node, num_node, num_field;
    int unpack; /* 1: from packed to state */
    int unused;
};
SIZE_IS(trace_args, 72);

/* Moves the clocks on at the end of a batch. */
struct clock_args {
    long long *clock; /* [2]: times, steps */
    int num_time, num_step;
};
SIZE_IS(clock_args, 16);

#endif
