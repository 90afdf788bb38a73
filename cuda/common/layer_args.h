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
    const void *profile;   /* [item][LAYER_NUMBER][node] */
    const void *face;      /* of tetrahedra [cell][NUM_FACE][FACE_NUMBER] */
    const void *face_coef; /* of tetrahedra, of a unit normal: [cell][NUM_FACE][NFP or 1][NUM_FACE_COEF] */
    const int *elem;       /* [cell] */
    const int *first;      /* [cell + 1]: its items */
    const int *axis;       /* [item] */
    const int *neighbor;   /* [elem][NUM_FACE] */
    const int *face_node;  /* [NUM_SIDE][NFP] */
    const void
        *matrix; /* derivatives, then lift: of tetrahedra [3][column][row], [NUM_FACE][NFP][row]; of lines
                             [row][column], 1 / the weight of an end */
    long long first_cell;        /* of this launch */
    long long num_total;         /* elements of a state */
    double a, b, dt, c0, c1, c2; /* as in dg_args */
    int pitch, update;
    int gradient_nodes, coef_nodes,
        face_nodes; /* 0 where all nodes of a cell or face have the same, else 1 */
};
SIZE_IS(dg_layer_args, 224);

#endif
