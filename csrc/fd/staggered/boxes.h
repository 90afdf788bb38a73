/* boxes.h: blocks of the staggered schemes' kernels, and the boxes of the grid that they cover.
 * Next: staggered/boxes.c, cuda/fd/staggered/staggered.cu. */
#ifndef UNDA_STAGGERED_BOXES_H
#define UNDA_STAGGERED_BOXES_H

#include "../fd.h"
#include "fd/staggered/args.h"

/* Rows of a block and threads along them, places of a thread along z, blocks an SM; of those inside. */
struct staggered_tile {
    int rows, lanes, width, blocks, inside;
};

struct staggered_tile staggered_choose_tile(const unda_solver *s);
/* Blocks away from sides of x and y and outside layers; blocks at walls of x and y; blocks in layers. */
enum staggered_part { STAGGERED_INSIDE, STAGGERED_WALLS, STAGGERED_LAYERS, STAGGERED_PARTS };

/* Planes that a block marches over. */
int staggered_choose_planes(const unda_solver *s, enum staggered_part part);
/* Whether passes compute images beyond walls of z themselves, from neighbouring places, which must then be
 * inside. */
bool staggered_images(const struct fd *fd);
/* The boxes of a part in some planes of x; returns their number. */
struct staggered_planes {
    int num;
    struct fd_span span[2];
};
int staggered_cut(const unda_solver *s, const struct staggered_tile *tile, enum staggered_part part,
                  struct staggered_planes which, struct staggered_box box[STAGGERED_MAX_BOX]);
/* Places clear[0] .. clear[1] - 1 along z are unaffected by walls: none is held at 0, and no neighbour is
 * an image. */
void staggered_find_clear(const unda_solver *s, int clear[2]);

#endif
