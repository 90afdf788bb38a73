/* layer_args.h: argument struct of the pass over absorbing layers of DG, shared by host and device, and by the CPU engine
 * (sizes asserted on both sides). Plain types only, as in args.h. */
#ifndef UNDA_LAYER_ARGS_H
#define UNDA_LAYER_ARGS_H

#include "common/size.h"

/* Numbers of a profile at a node. */
#define LAYER_LESS   0 /* 1 / kappa - 1 */
#define LAYER_DECAY  1 /* d / kappa + alpha [1/s] */
#define LAYER_GAIN   2 /* d / kappa^2 [1/s] */
#define LAYER_FADE   3 /* e [1/s] */
#define LAYER_NUMBER 4

/* Numbers of a tetrahedron's face: its unit normal; how long the outward normal is in the lengths of grad r_j; what the pass
 * does there; two tangents whose cross product is the normal. */
#define FACE_NORMAL  0
#define FACE_LENGTH  3
#define FACE_KIND    4
#define FACE_TANGENT 6
#define FACE_NUMBER  12

/* Kinds of faces: the mean of both sides, unstretched penalties; the upwind flux of each axis; the same, where it is not what
 * the stage has computed. */
#define FACE_MEAN  0
#define FACE_AXIS  1
#define FACE_SPLIT 2

/* Of which stages a CUDA kernel is the pass: of LSRK with a != 0, which it goes before; with a = 0, after; all others, after. */
#define LAYER_FOR_NEXT  0
#define LAYER_FOR_FIRST 1
#define LAYER_FOR_OTHER 2

/* What a CUDA kernel knows of an item: its axis, along which lines r_j of a hexahedron the coordinate on that axis changes
 * (bits j), and j of the only ones, which profiles by line go with. */
#define LAYER_ITEM(axis, lines, along) ((axis) | (lines) << 2 | (along) << 5)
#define LAYER_AXIS(item)               ((item) & 3)
#define LAYER_LINES(item)              ((item) >> 2 & 7)
#define LAYER_ALONG(item)              ((item) >> 5)

/* Items are pairs of a cell and an axis along which a layer stretches it; those of a cell follow each other. Nodes of an
 * array are `pitch` apart from row to row. */
struct dg_layer_args {
    const void *q; /* state before the stage, as the stage read it */
    void *q_new;   /* state after it, to which the layers' share is added (not RHS) */
    void *r;       /* residual or right-hand side that the stage wrote, likewise */
    void *psi;     /* [item][NUM_TRACE][node] memory variables */
    void *psi_r;   /* what r is of them */
    const void *psi_r1;
    const void *gradient;  /* [cell][9][node], or [cell][9]: grad r_j, rows j [1/m] */
    const void *coef;      /* [cell][NUM_COEF][node], or [cell][NUM_COEF] */
    const void *profile;   /* [item][LAYER_NUMBER][node]; CUDA: [..][profile_nodes] */
    const void *face;      /* of tetrahedra [cell][NUM_FACE][FACE_NUMBER] */
    const void *face_coef; /* of tetrahedra, of a unit normal: [cell][NUM_FACE][NFP or 1][NUM_FACE_COEF] */
    const int *elem;       /* [cell] */
    const int *first;      /* [cell + 1]: its items */
    const int *axis;       /* [item]; CUDA: LAYER_ITEM */
    const int *block;      /* CUDA, tetrahedra: the first cell of each block */
    const int *neighbor;   /* [elem][NUM_FACE] */
    const int *face_node;  /* [NUM_SIDE][NFP] */
    const void
        *matrix; /* derivatives, then lift: of tetrahedra [3][column][row], [NUM_FACE][NFP][row]; of lines
                             [row][column], 1 / the weight of an end */
    long long first_cell, last_cell; /* of this launch: those from .. to before .. */
    long long first_block;
    long long num_total;         /* elements of a state */
    double a, b, dt, c0, c1, c2; /* as in dg_args */
    int pitch, update;
    int gradient_nodes, coef_nodes,
        face_nodes;    /* 0 where all nodes of a cell or face have the same, else 1 */
    int profile_nodes; /* CUDA: 1; of lines their nodes, where the depth changes along one alone; or all */
};
SIZE_IS(dg_layer_args, 248);

#endif
