/* cpu_blocks.h: derivatives and lifts of tetrahedra as the four blocks of blocks.h, for the CPU stage: what does not
 * depend on the physics. Products are taken BLOCK_COLUMNS at a time: two of each direction, since the entries of a
 * block are the same in all three. Next: cpu_blocks.c, cpu_blocks.inc.h (which columns a physics has). */
#ifndef UNDA_DG_CPU_BLOCKS_H
#define UNDA_DG_CPU_BLOCKS_H

#include "cpu.h"

enum { BLOCK_COLUMNS = 6, BLOCK_ROWS = 4 };

/* So many rows of a block that are worked on at once. */
struct dg_cpu_tile {
    int rows, first_row, first_input, num_input, num_node_input; /* inputs of nodes come first */
    int64_t matrix;                                              /* where [input][rows] begins */
};

/* Inputs are sums of nodes and of face nodes, block by block; results likewise. Two more rows of results: one that is
 * 0, and one, as of inputs, that nobody reads: they stand for sums that an orbit of fewer than four nodes lacks. */
struct dg_cpu_blocks {
    int num_orbit, num_face_orbit, num_input, num_row, num_tile;
    struct dg_cpu_tile *tile;
    /* Of an orbit, by direction: its nodes, or face nodes of all faces. */
    int32_t (*member)[3][4], (*face_member)[3][4];
    /* Rows of inputs by character; of results; where its nodes' derivatives go in place of results. */
    int32_t (*input)[4], (*face_input)[4], (*result)[4], (*node)[4];
    int32_t (*node_row)[3]; /* [node]: the place of its derivative of each direction */
    void *matrix;
};
#define BLOCK_INPUTS(blocks)  ((blocks)->num_input + 1)
#define BLOCK_RESULTS(blocks) ((blocks)->num_row + 2)

/* The tables of an element, in each precision. */
unda_status dg_cpu_pack_blocks_f32(struct dg_cpu_blocks **blocks, const struct element *element, void *owner);
unda_status dg_cpu_pack_blocks_f64(struct dg_cpu_blocks **blocks, const struct element *element, void *owner);

#endif
