/* staggered_boxes.h: blocks of the staggered schemes' kernels, and the boxes of the grid that they cover.
 * Next: staggered_boxes.c, cuda/fd/staggered.cu. */
#ifndef UNDA_STAGGERED_BOXES_H
#define UNDA_STAGGERED_BOXES_H

#include "fd.h"
#include "fd/staggered_args.h"

/* Rows of a block and threads along them, places of a thread along z, blocks an SM. */
struct staggered_tile {
    int rows, lanes, width, blocks;
};

struct staggered_tile staggered_choose_tile(const unda_solver *s);
/* Planes that a block marches over in the user's grid, or in the layers around it. */
int staggered_choose_planes(const unda_solver *s, bool layers);
/* The user's grid, or the layers around it; returns the number of boxes. */
int staggered_cut(const unda_solver *s, const struct staggered_tile *tile, bool layers,
                  struct staggered_box box[STAGGERED_MAX_BOX]);

#endif
