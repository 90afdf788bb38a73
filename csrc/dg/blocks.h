/* blocks.h: derivative and lift of the reference tetrahedron as four small blocks.
 *
 * Let Q swap the vertices 0 and 1, P swap 2 and 3, V = {1, Q, P, PQ}, and C: 1 -> 2 -> 3 -> 1. Nodes are symmetric
 * under all of them, and
 *   D_1 Q = -Q D_1,   D_1 P = P D_1,   D_2 = C D_1 C^-1,   D_3 = C D_2 C^-1.
 * Number the elements of V by two bits, g = 1 Q or not + 2 P or not, and likewise its characters,
 * chi_s(g) = (-1)^(bits that s and g share). In the sums over orbits {g o}
 *   u_s(o) = sum_g chi_s(g) u(g o),    u(g o) = 1/4 sum_s chi_s(g) u_s(o),
 * D_1 takes u_s to character s ^ 1 alone. Q swaps faces 0 and 1, P the nodes of each: V acts on their face nodes too,
 * and the lift of both takes sums of jumps to the same character. So the result of character b is
 *   y_b = [ D_b | L_b ] (u_(b ^ 1), jumps_b),    y(g o) = sum_s chi_s(g) y_s(o),
 * four blocks, each with a quarter of the entries of D_1. An orbit of fewer than four nodes has fewer sums. The same
 * blocks give D_2 and the lift of faces 0 and 2 at the nodes C o, D_3 and faces 0 and 3 at C C o.
 * Next: blocks.c; cpu_blocks.h (the CPU stage); kernel_blocks.c, kernel_blocks_pack.c (on a device), cuda/dg/blocks.cu. */
#ifndef UNDA_DG_BLOCKS_H
#define UNDA_DG_BLOCKS_H

#include "../element/element.h"

enum { NUM_BLOCK = 4, MOST_BLOCK_NODE = 220, MOST_BLOCK_FACE_NODE = 55 };

/* Sums of each character, of nodes and, where P takes s and s ^ 1 alike, of face nodes. */
struct block_sizes {
    int nodes[NUM_BLOCK], faces[NUM_BLOCK];
};
/* Of the tetrahedron of that degree; no matrices are needed. */
struct block_sizes blocks_sizes(int degree);
/* Columns of a block: sums of nodes, then of face nodes. */
static inline int block_columns(const struct block_sizes *sizes, int block)
{
    return sizes->nodes[block ^ 1] + sizes->faces[block];
}

/* An orbit of nodes, or of nodes of faces 0 and j: where g takes its first one, by direction j - 1; which of the sums
 * of each character is its own, or -1. */
struct orbit {
    int member[3][4], sum[NUM_BLOCK];
};

struct blocks {
    struct block_sizes sizes;
    int num_orbit, num_face_orbit;
    struct orbit orbit[MOST_BLOCK_NODE],
        face_orbit[MOST_BLOCK_FACE_NODE];                           /* face nodes: face num_face_node + m */
    int of_node[3][MOST_BLOCK_NODE], g_of_node[3][MOST_BLOCK_NODE]; /* its orbit, and g, by direction */
    double *matrix[NUM_BLOCK];                                      /* [sums][block_columns] */
    void *owned;
};
/* Refuses an element whose nodes lack the symmetry. */
unda_status blocks_new(struct blocks **blocks, const struct element *element);
void blocks_free(struct blocks *blocks);
/* Where C takes nodes, and nodes of faces (face num_face_node + m). */
unda_status blocks_turn(const struct element *element, int node[MOST_BLOCK_NODE],
                        int face_node[4 * MOST_BLOCK_FACE_NODE]);

#endif
