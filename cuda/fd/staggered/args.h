/* args.h: argument structs of the staggered schemes' kernels, shared with
 * csrc/fd/staggered/launch.c. Plain types only (common/args.h says why). Arrays of fields and materials are
 * [x][y][z] with HALF ghosts on every side, rows `pitch` apart, planes `plane`, node (0, 0, 0) at `origin`. */
#ifndef UNDA_STAGGERED_ARGS_H
#define UNDA_STAGGERED_ARGS_H

#include "common/size.h"

#define FD_MAX_HALF 8

/* A part of the grid: `across` blocks along z, each of `lanes` threads and as many rows as its threads make,
 * `along` blocks along y; a block marches over `planes` of x. It may begin before the grid, so that blocks'
 * rows begin at whole lines of memory. */
struct staggered_box {
    int begin[3], end[3], lanes, across, along, planes, blocks;
};
enum { STAGGERED_MAX_BOX = 12 }; /* six in each of two ranges of planes */

struct staggered_args {
    void *field[9];
    const void *material[3];
    /* Memory variable of a derivative in the layer at either side, [x][y][z]: rows as the arrays' in layers
     * along x and y (z = 0 is meant), dense in those along z; NULL where there is none */
    void *memory[18][2];
    const void *table[3][2][4]; /* b, a, 1 / kappa, g along each axis, at nodes and half a cell on */
    long long plane, origin;
    /* 0: the material is the same everywhere, read at `same`, where vectors begin; else 1 */
    long long vary[3];
    long long same;
    int pitch, num[3];
    int begin[3][2][2]; /* layers along each axis: at nodes and half a cell on, at either side */
    int count[3][2];    /* their nodes */
    struct staggered_box box[STAGGERED_MAX_BOX];
    int clear[2];  /* places from .. to along z that no wall affects */
    int pinned[9]; /* sides where a field is held at 0: bits 1 << (2 axis + side), 64 beyond a row */
    signed char image[12][2]; /* of a field beyond either wall of z: the sign; 0: as its ghosts are */
    float weight32[3 * (FD_MAX_HALF + 1)]; /* dt D_m / h; the REAL ones are used */
    double weight64[3 * (FD_MAX_HALF + 1)];
    void *next; /* of kernels compiled with APART: where field 0 goes */
};
SIZE_IS(staggered_args, 1640);

/* Ghosts of fields: places beyond sides are images (csrc/fd/fd.h, fd_mirror). A job is a field and an axis. */
struct staggered_ghost_args {
    void *field[9];
    long long plane, origin;
    /* half: bits: axes along which the field is half a cell on */
    int num[3], sign[9][3][2], half[9];
    /* Planes of x beside whose rows: num_plane[0] from begin[0] on, then those from begin[1] on; side[0], [1]:
     * whether planes below and above the grid are meant, too */
    int begin[2], num_plane[2], side[2];
    signed char job_field[27], job_axis[27], unused[2];
};
SIZE_IS(staggered_ghost_args, 432);

#endif
