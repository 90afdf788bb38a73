/* column_tile.h: what a block of kernel columns keeps in shared memory, and where: NUM_SLOT numbers of each node, and of
 * stored metrics what faces need. The includer defines what case.h asks for, TILE, METRIC_KIND, LINE_POINT,
 * SHARED_FRAMES and PITCH_ROW, PITCH_PLANE, PITCH_ELEM: from a row of nodes to the next one, from a plane, an element.
 * Next: line.h, column_metric.h, columns.cu. */
#ifndef UNDA_DG_COLUMN_TILE_H
#define UNDA_DG_COLUMN_TILE_H

#include "dg/line.h"

/* Lines of axis 3 stay in registers. Of what lines of axes 1 and 2 take and leave, LINE_REF(axis, i) is written over
 * where one of them alone reads it; what both read keeps its slot, and each has another one for what it leaves. */
#if GRAD_DIV
#define NUM_SLOT          (5 * GRAD_DIV)
#define LINE_OUT(axis, i) ((i) < GRAD_DIV ? GRAD_DIV * (3 + (axis)) + (i) : LINE_REF(axis, i))
#define IN_SLOT(ref)      ((ref) < 3 * GRAD_DIV)
#else
#define NUM_SLOT     10
#define IN_SLOT(ref) 1
#define LINE_OUT(axis, i)                                                                                    \
    (LINE_REF(axis, i) % 3 == 2 ? 6 + 2 * (axis) + LINE_REF(axis, i) / 3 : LINE_REF(axis, i))
#endif

enum {
    SLOT = TILE * PITCH_ELEM,
    NUM_FRAME_FACE = 4 /* of axes 1 and 2 */
};

struct tile {
    REAL u[NUM_SLOT * SLOT]; /* [slot][element][plane][row][node] */
    /* [element][face][FRAME_WORDS][node of the face] */
    REAL frame[SHARED_FRAMES ? TILE * NUM_FRAME_FACE * FRAME_WORDS * NFP : 1];
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

/* All threads that share an element wait for each other. */
static __device__ __forceinline__ void wait_for_element()
{
    if (32 % NFP == 0)
        __syncwarp();
    else
        __syncthreads();
}

#endif
