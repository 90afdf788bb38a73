/* monitor_args.h: arguments of cuda/common/monitor.cu, shared by host and device. */
#ifndef UNDA_MONITOR_ARGS_H
#define UNDA_MONITOR_ARGS_H

#include "common/size.h"

enum {
    MONITOR_FREQUENCIES = 128,
    MONITOR_MAXIMUM = 0,
    MONITOR_MINIMUM = 1,
    MONITOR_SQUARES = 2,
    MONITOR_HOLD = 4
};
enum { MONITOR_MINUS = 1, MONITOR_MINUS_MEAN = 2, MONITOR_MAGNITUDE = 3 };
enum {
    MONITOR_BATCH = 8,        /* samples that are held, at most */
    MONITOR_HELD_VALUES = 4,  /* side by side, of a thread that adds samples that are held */
    MONITOR_LEVELS = 24,      /* samples that are levels of the state, at most; of float64 half as many */
    MONITOR_LEVEL_VALUES = 2, /* side by side, of a thread that adds these */
    MONITOR_VECTOR_ROWS = 2   /* of a thread that takes vectors */
};
enum { MONITOR_VALUES = 4 }; /* of a thread of the kernels for grids and for rows, `lanes` apart */
enum { MONITOR_ROW = 64 };   /* values of a row */
/* Where values stand: tables of places along three axes; nodes of a grid; rows of MONITOR_ROW places side by side. */
#define MONITOR_OF_TABLES 0
#define MONITOR_OF_GRID   1
#define MONITOR_OF_ROWS   2

struct monitor_args {
    const void
        *q[3]; /* a state (cuda/layout), or values (0, 0, 0) of arrays of nodes, of one field or three */
    const void
        *earlier; /* of a grid: the field one sample before, which is taken first; NULL: is not. Held samples
                             * [num_held][x][y][z] */
    void *sums;   /* [array][x][y][z], of a grid with padding: REAL of maxima and minima, else double */
    const long long
        *place;    /* [num_x + num_y + num_z]: along each axis; ~place: minus the value there. Of rows
                             * [num_x]: of the first value of each; values of a row are stride[1] apart */
    long long num; /* of accumulators in an array */
    /* Of nodes: from place to place along x and y. Of states that a launch kept [0]: from one to the next. */
    long long stride[2];
    long long total; /* of elements: nodes of the state */
    int first[3],
        last[3]; /* of a grid, in place of `place`: of the first values along axes, which ascend by one, and of the
                             * last one */
    int num_x, num_y, num_z;
    int pad, pitch;       /* of a grid: accumulators of a row stand behind `pad` others, rows `pitch` apart */
    int field, num_field; /* of elements */
    int statistic, quantity, num_frequency;
    int is_first; /* 1: sums have no values yet */
    int num_held;
    const void *level[MONITOR_LEVELS];    /* [num_held]: fields, of which each is a sample */
    double wave[2 * MONITOR_FREQUENCIES]; /* of each sample of those that are added */
};
SIZE_IS(monitor_args, 2392);

#endif
