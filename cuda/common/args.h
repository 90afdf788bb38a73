/* args.h: argument structs of the kernels, shared by host and device (sizes asserted on both sides).
 * Plain types only: NVRTC alone knows neither int64_t nor size_t. Pointers are device addresses. */
#ifndef UNDA_ARGS_H
#define UNDA_ARGS_H

/* One stage of DG. Arrays in C order; REAL is the solver's precision. */
struct dg_args {
    const void *q;      /* [elem][node][field]: state before the stage */
    void *q_new;        /* the same: state after it; other memory, neighbours still read q */
    void *r;            /* LSRK: residual, read and written. AB3: r_(n-2) read, r_n written. RHS: written */
    const void *r1;     /* AB3: r_(n-1) */
    void *rhs;          /* kernel node: right-hand side between its kernels */
    const void *record; /* [elem][ELEM_WORDS]: grad r_j, rows j [1/m], then coefficients */
    const void *face_coef;     /* [elem][4][NUM_FACE_COEF] */
    const int *neighbor;       /* [elem][4]: index.h */
    const int *face_node;      /* [4][NFP] */
    const void *matrix;        /* kernel's own packing of derivative and lift */
    const void *exact;         /* [time][slot][NFP][field] */
    const void *amplitude;     /* [time][source] */
    const void *source_weight; /* [source][node][field]: right-hand side per unit amplitude */
    const int *source_elem;    /* [source], ascending */
    const int *source_range;   /* [block + 1]: sources in each block's elements */
    const long long *clock;    /* sampled times used up before this batch of launches */
    long long num_elem;
    long long num_exact_face;
    int time; /* this stage's time, counted from *clock */
    int num_source;
    double a, b, dt;   /* LSRK */
    double c0, c1, c2; /* AB3, times dt [s] */
};

/* Receivers: one warp a channel, that is a (point, field). */
struct record_args {
    const void *q;           /* [elem][node][field] */
    const void *weight;      /* [point][node], float64 */
    const long long *elem;   /* [point] */
    const int *field;        /* [channel]: field of the state */
    const int *point;        /* [channel] */
    const int *every;        /* [channel]: record each this many steps ... */
    const long long *first;  /* [channel]: ... counted from this step */
    const long long *start;  /* [channel]: sample number with which the buffer begins */
    const long long *offset; /* [channel]: where its samples begin in out */
    const long long *stride; /* [channel]: between samples in out */
    void *out;
    const long long *clock; /* steps done before this batch of launches */
    int step;               /* this step's number in the batch, counted from 1 */
    int num_channel, num_node, num_field;
};

/* Elements by list, to or from packed memory. */
struct gather_args {
    void *state;           /* [elem][num_value] */
    void *packed;          /* [count][num_value] */
    const long long *elem; /* [count] */
    long long count, num_value;
    int scatter; /* 1: from packed to state */
    int unused;
};

struct finite_args {
    const void *q;
    long long num_value;
    unsigned long long *first; /* smallest index of a value that is not finite; as it was if none */
};

/* Moves the clocks on at the end of a batch. */
struct clock_args {
    long long *clock; /* [2]: times, steps */
    int num_time, num_step;
};

#endif
