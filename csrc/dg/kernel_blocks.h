/* kernel_blocks.h: how kernel blocks divides its work and memory, as its sizes (kernel_blocks.c) and its packing
 * (kernel_blocks_pack.c) both see it. */
#ifndef UNDA_DG_KERNEL_BLOCKS_H
#define UNDA_DG_KERNEL_BLOCKS_H

#include "blocks.h"
#include "kernel.h"

enum { UNIT = 8, WARP = 32 };

/* Words of the table: of an orbit, of a node, no sum; as pairs of FP16 numbers, those before the matrices. */
enum { DIRECTIONS = 3, ORBIT_WORDS = 8, NODE_WORDS = 2, ABSENT = 0xffff, HEAD = 4 };

/* Blocks with the most columns first (block_rows.h). */
static const int blocks_order[NUM_BLOCK] = {1, 0, 3, 2};

/* Where inputs and results of the products stand in shared memory: a row has all columns of the tile's elements. */
struct block_rows {
    struct block_sizes sizes;
    int node[NUM_BLOCK],
        face[NUM_BLOCK];   /* the first sums of nodes and of face nodes that each block multiplies */
    int result[NUM_BLOCK]; /* its first result, a whole number of tiles of rows */
    int num_node, num_face, num_result;
    int tiles;
    int pitch; /* words of a row */
};

struct block_rows blocks_rows(const unda_solver *s, const struct plan *plan);
bool blocks_on_tensor_cores(const struct plan *plan);
/* Whether numbers there are pairs of FP16 numbers. */
bool blocks_split(const unda_solver *s, const struct plan *plan);
/* Inputs of a step there; entries of the orbits of a warp, in all four blocks. */
int blocks_unit_inputs(const unda_solver *s);
int blocks_warp_entries(const unda_solver *s, const struct block_sizes *sizes, int rows);

static inline int blocks_round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

/* kernel_blocks_pack.c: matrices and table in the order in which cuda/dg/blocks.cu reads them. */
unda_status blocks_pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table);

#endif
