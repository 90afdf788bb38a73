/* args.h: argument structs of the scalar scheme's kernels, shared with csrc/fd/scalar_cuda*.c. Plain
 * types only (common/args.h says why). Arrays of levels are [x][y][z], z fastest, rows `pitch` apart, planes
 * `plane`. */
#ifndef UNDA_SCALAR_ARGS_H
#define UNDA_SCALAR_ARGS_H

#include "common/size.h"

#define FD_MAX_HALF 8

/* Matched layers along one axis (csrc/fd/scalar/matched.c): `low` nodes from node 1 on, then those from `high` on. */
struct scalar_matched {
    /* [3][..]: of the half nodes below and above and of the node; each [x][y][z] of these nodes */
    void *memory;
    const void *table;                  /* [6][num] */
    long long stride_x, stride_y, part; /* words from plane to plane, row to row, memory to memory */
    int low, high, num;
    int unused;
    float flux32[FD_MAX_HALF + 1]; /* [1]: weight of the first pair of a flux, [k]: of the others in it */
    double flux64[FD_MAX_HALF + 1];
};
SIZE_IS(scalar_matched, 168);

/* What monitors want of a step: the next level in an array of its own; a running maximum or minimum of nodes of the grid,
 * box [x][y][z] of `num` from `first` on, along z whole vectors of 16 bytes. */
struct scalar_monitor {
    void *next, *kept;
    long long plane; /* num[1] num[2] */
    int first[3], num[3];
    int minimum; /* 0: maximum */
    int two;     /* q is a sample as well as p */
};
SIZE_IS(scalar_monitor, 56);

/* One step: q, one level back, becomes the next level. */
struct scalar_args {
    const void *p;
    void *q;
    const void *speed;   /* [x][y][z] c^2 dt^2 / h^2; NULL where uniform */
    const void *damp[3]; /* [num] along each axis, z padded to pitch */
    long long plane;
    int pitch, num[3];
    int side[3][2]; /* sign of images: -1 free, 1 rigid, 0 periodic */
    int begin, end; /* planes of x to step */
    /* Planes of x from held[0] to held[1] - 1 are there, also neighbours'; the plane whose values stand at
     * held[0] - 1 - k and at held[1] + k; where with the other sign, -1 - plane. */
    int held[2], beyond[2][FD_MAX_HALF];
    int chunk;   /* planes of x a block marches over */
    int wall[2]; /* sides of y: rows count from the first to step, at damp[1]; num[1]: rows to step */
    /* [axis][m], 0: the centre; the REAL ones are used */
    float weight32[3 * (FD_MAX_HALF + 1)], speed32;
    double weight64[3 * (FD_MAX_HALF + 1)], speed64;
    struct scalar_matched matched[3];
    struct scalar_monitor monitor; /* of kernels compiled with MONITOR */
};
SIZE_IS(scalar_args, 1088);

/* Of nodes in a list those in rows [begin, end) of y. */
struct scalar_rows {
    const int *row; /* [node]; NULL: all nodes */
    int begin, end;
};
SIZE_IS(scalar_rows, 16);

/* Sources: each node that any of them reaches has a run of terms, in the order of the sources. */
struct scalar_inject_args {
    void *p;
    const long long *place; /* [node] */
    const int *first;       /* [node + 1]: into source and weight */
    const int *source;
    const void *weight;
    const void *amplitude; /* [source], of this step */
    long long num_node;
    struct scalar_rows rows;
};
SIZE_IS(scalar_inject_args, 72);

/* Values at a list of places. */
struct scalar_gather_args {
    const void *p;
    const long long *place; /* [num] */
    void *values;           /* [num] */
    long long num;
    struct scalar_rows rows;
};
SIZE_IS(scalar_gather_args, 48);

/* Points from the values of nodes around them. */
struct scalar_weigh_args {
    const void *values; /* [sample][num_node] */
    const int *first;   /* [point][num_run][8][8]: where runs of nodes along z begin in a sample; -1: none */
    const int *place;   /* [point][8]: of nodes in the first run; if negative, ~place in the second */
    const double *weight; /* [point][3][8] */
    void *out;            /* [sample][point] */
    long long num_sample, num_point, num_node;
    int num_run; /* 1 or 2 */
    int unused;
};
SIZE_IS(scalar_weigh_args, 72);

/* All values that lie on the grid. */
struct scalar_whole_args {
    void *p;
    unsigned long long *first; /* find_bad: the least x num_y num_z + y num_z + z; as it was if none */
    long long plane;
    int pitch, num[3];
    double factor; /* multiply */
};
SIZE_IS(scalar_whole_args, 48);

#endif
