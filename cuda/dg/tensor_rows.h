/* tensor_rows.h: where nodes of kernel tensor stand in shared memory, so that the threefold symmetry of a tetrahedron is
 * a shift of rows. C: vertices 1 -> 2 -> 3 -> 1 moves nodes and face nodes, and
 *   D_(j + 1) = C^j D_1 C^-j,    lift of face j + 1 = C^j (lift of face 1) C^-j,    lift of face 0 = C (the same) C^-1.
 * Of nodes: one of each triple (a, C a, C C a), then C of them, then C C of them, then those that C leaves alone; so C
 * moves a row by RUN_ROWS. Jumps of face 0: likewise. Jumps of face 1: as they come, of face j + 1: C^j of those, so
 * that the same row of all three belongs to the same column of the lift. The host: csrc/dg/kernel_tensor.c. */
#ifndef UNDA_DG_TENSOR_ROWS_H
#define UNDA_DG_TENSOR_ROWS_H

#include "dg/case.h"

enum {
    KEPT = DEGREE / 3 + 1, /* nodes that C leaves alone */
    RUN_ROWS = (NP - KEPT) / 3,
    FACE_RUN_ROWS = NFP / 3,
    ORBITS = RUN_ROWS + KEPT, /* of nodes */
    ORBIT_TILES = REST ? 1 : (ORBITS + TRIPLES - 1) / TRIPLES,
    /* The operator comes in pieces of 16 rows. Of the triples of a tile, RUNS times eight, rows of r = 0 come first, then
     * those of r = 1, of r = 2; of face 0 only r = 0 is needed. */
    RUNS = TRIPLES / 8,
    PIECES = (3 * RUNS + 1) / 2,
    FACE0_PIECES = (RUNS + 1) / 2,
    SINGLE = RUNS == 2 /* whether pieces are those of r = 0, 1, 2 */
};

/* The table (csrc/dg/kernel_tensor.c), in words. */
enum {
    OPERATOR_HEAD = 4,
    ROW_NODES = OPERATOR_HEAD,              /* node of each row */
    FACE_ROWS = ROW_NODES + NP,             /* [face][face node]: node + 2^16 row of the jump */
    REST_ROWS = FACE_ROWS + NUM_FACE * NFP, /* tensor_rest.h */
    OPERATOR = (REST_ROWS + 8 * REST + 3) / 4 * 4,
    DEPTH_NODES = (NP + 7) / 8 * 8, /* columns of a derivative, in steps of 16 and 8 */
    DEPTH_FACE = (NFP + 7) / 8 * 8, /* columns of a lift */
    PIECE_WORDS = 16,               /* by depth */
    VOLUME_WORDS = PIECES * PIECE_WORDS * DEPTH_NODES,
    LIFT_WORDS = PIECES * PIECE_WORDS * DEPTH_FACE,
    OPERATOR_WORDS =
        VOLUME_WORDS + LIFT_WORDS + FACE0_PIECES * PIECE_WORDS * DEPTH_FACE /* of a tile of triples */
};

/* Row C^times of a row, of so many in a run. */
template <int RUN_LENGTH> static __device__ __forceinline__ int turned(int row, int times)
{
    int to = row + times * RUN_LENGTH;
    return row >= 3 * RUN_LENGTH ? row : to >= 3 * RUN_LENGTH ? to - 3 * RUN_LENGTH : to;
}

/* Of a face's node: the element's node, the row of the jump; packed as the table has them, [face][face node]. */
struct face_row {
    int node, jump;
};
static __device__ __forceinline__ face_row row_of_face(int packed)
{
    return {packed & 0xffff, packed >> 16};
}

#endif
