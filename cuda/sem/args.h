/* args.h: the arguments of the kernels of spectral elements, shared with csrc/sem/cuda*.c. Plain types only
 * (common/args.h says why). A region's nodes are numbered for the device: those inside blocks block by block, then
 * those that blocks share, last those on its sides (csrc/sem/tiles.h). */
#ifndef UNDA_SEM_ARGS_H
#define UNDA_SEM_ARGS_H

#include "common/size.h"

/* What becomes of the acceleration a = M^-1 (f - K u) of a node. */
#define SEM_STEP  0 /* v += dt a, u += dt v: u and v go on to the next step, v at its middle */
#define SEM_CLOSE 1 /* v += dt/2 a, a is stored: u, v, a are those of this step */
#define SEM_FORCE 2 /* the force -K u itself is stored in a */
/* As SEM_STEP, and v, or a, at the end of this step is left in a's memory: in kernels compiled with KEEPS=1. */
#define SEM_KEEP_V 3
#define SEM_KEEP_A 4

/* A tile: elements, nodes inside it, those that it shares in `entry`, and where its words begin (csrc/sem/tiles.h). */
struct __attribute__((aligned(16))) sem_tile {
    long long first_inner, first_entry, pattern;
    int first_elem, num_elem, num_inner, num_shared, num_list, number;
    int first_warp; /* warps of the tiles before it */
    int unused[3];
};
SIZE_IS(sem_tile, 64);

/* A value that a group of receivers records: a sum over unknowns, of u or, of velocities and accelerations, of v
 * at the middle of a step. */
struct sem_channel {
    long long first; /* of its terms */
    long long offset;
    int num_term, level, group, unused;
};
SIZE_IS(sem_channel, 32);

struct record_group;
struct sem_record_args {
    const void *u, *v, *a;
    const long long *at; /* [term]: unknown */
    const double *weight;
    const struct sem_channel *channel;
    const struct record_group *group;
    double *kept; /* [channel]: the sum before the step */
    void *out;
    const long long *clock; /* [2]: the step with which the call begins, of which there is no sample yet */
    int *num_read; /* blocks that have recorded in first kernels of steps of this call, modulo 2^32 */
    double dt;
    int step, num_channel; /* step: counted from clock[1] */
    int mode, num_block;   /* of the first kernel of a step */
};
SIZE_IS(sem_record_args, 112);

/* Forces on the nodes of a region. */
struct sem_tile_args {
    void *u, *v, *a;          /* [node][DIM] */
    const void *inverse_mass; /* [node]; 1 at sides */
    /* [elem][10] or, by node, of tiles [elem][node][10] in groups of four, and filled up to fours, where threads own
     * planes [warp][node of a plane][5][lane][2]; ASSEMBLY 2: [elem][10][node], and filled up. */
    const void *metric;
    const void *coef; /* [elem][2] or, as of the metric, by node: lambda, mu; of fluids 1/rho, 0 */
    void *shared;     /* ASSEMBLY 0: [entry][DIM], 1: [shared node][DIM], 2: [node on a side][DIM] */
    const int *entry; /* nodes, counted from the first shared one */
    const struct sem_tile *tile; /* as they are launched */
    const unsigned short *words;
    const int *source_first;   /* [tile number + 1]: parts */
    const int *source_elem;    /* [part]: of the tile */
    const int *source_column;  /* [part] */
    const void *source_weight; /* [part][node][DIM]: force per unit amplitude */
    const void *amplitude;     /* [time][source] */
    const long long *clock;    /* sampled times used up before this batch of launches */
    long long num_inner;       /* nodes inside blocks */
    long long first_side;      /* counted from the first shared node */
    double dt;
    int time;                    /* this step's time, counted from *clock; -1: no sources */
    int num_source, mode, first; /* first tile of this launch */
    long long num_elem;          /* ASSEMBLY 2 */
    /* Its first blocks, record.num_block, record what the step before left. */
    struct sem_record_args record;
};
SIZE_IS(sem_tile_args, 288);

/* Nodes that blocks share, and those on sides. */
struct sem_shared_args {
    void *u, *v, *a; /* [node][DIM], at the first shared node */
    const void *inverse_mass;
    void *shared;
    const int *first; /* [shared node + 1]: its entries in `entry` */
    const int *entry;
    const int *side;     /* [node on a side]: its row of the matrices, -1 */
    const void *matrix;  /* [row][DIM][DIM]: inverse of M + dt/2 C, in the subspace that walls leave */
    const void *damping; /* C */
    const int *partner;  /* [node on a side]: what it meets of the other region, -1 */
    const void *area;    /* [node on a side][3]: integral of the fluid's outward normal */
    const void *solid_u; /* fluids: displacement of the solid [node][3] */
    void *pressure;      /* chi'' at a solid's partners; written by fluids [node on a side] */
    long long num, first_side;
    double dt;
    int mode, unused;
};
SIZE_IS(sem_shared_args, 144);

/* Forces on nodes that other parts have as well (csrc/sem/sem.h, sem_cut_region): a part's own are at several places. */
struct sem_exchange_args {
    void *shared;
    void *message;             /* packed to; unpacked from: those of all neighbours */
    const int *item;           /* [item]: node */
    const long long *word;     /* [item]: of all messages, of which `message` begins at first_word */
    const int *first_place;    /* [node + 1] */
    const int *place;          /* in `shared` */
    const int *first_term;     /* [node + 1] */
    const long long *term;     /* words of messages; -1: own */
    long long num, first_word; /* num: items to pack, nodes to unpack */
    int dim, width;            /* unknowns of a node, reals of a place */
};
SIZE_IS(sem_exchange_args, 88);

/* Inverse masses behind the unknowns of nodes. */
struct sem_pad_args {
    void *u;
    const void *inverse_mass;
    long long num;
};
SIZE_IS(sem_pad_args, 24);

/* All unknowns of all regions. */
struct sem_whole_args {
    void *u, *v, *a;
    long long num;
    double dt;
    unsigned long long *first; /* find_bad */
};
SIZE_IS(sem_whole_args, 48);

/* z = by_x x + by_y y + by_z z. */
struct sem_combine_args {
    const void *x, *y;
    void *z;
    long long num;
    double by_x, by_y, by_z;
};
SIZE_IS(sem_combine_args, 56);

/* Sums of w x y, a block of threads each; w: one of `dim` numbers, or NULL. */
struct sem_product_args {
    const void *x, *y, *weight;
    double *part; /* [block] */
    long long num;
    int dim, unused;
};
SIZE_IS(sem_product_args, 48);

#endif
