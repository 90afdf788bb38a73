/* layer_cuda.h: the host side of the pass over layers on CUDA devices, in three files: how blocks work (layer_blocks.c), what
 * items and blocks are told (layer_items.c), buffers and launches (layer_cuda.c). */
#ifndef UNDA_DG_LAYER_CUDA_H
#define UNDA_DG_LAYER_CUDA_H

#include "cuda.h"

/* How a block works: cuda/dg/layer_hex.cu, layer_tet.cu. */
struct layer_blocks {
    int threads, min_blocks; /* of a block; blocks on an SM, which bounds the registers */
    int cells;               /* hexahedra of a block */
    int items, cols;         /* of tetrahedra: items of a block, of a thread */
    int64_t shared_words, shared_reals;
};
struct layer_blocks layer_blocks(const unda_solver *s);
struct gpu_shape layer_shape(const unda_solver *s, const struct layer_blocks *blocks);
/* What a launch of kernel `pass` (LAYER_FOR_NEXT, ..) over all cells has to do. */
void layer_count(const unda_solver *s, int pass, double *flops, double *bytes);

/* Uploads profiles, items and blocks. */
unda_status layer_items(unda_solver *s, struct dg_cuda *t);
/* Along which lines r_j of a cell the coordinate on an axis changes: bits. */
int layer_lines(const struct dg *dg, int64_t cell, int axis);
/* The block that a cell of layers is in, of tetrahedra. */
int64_t layer_block_of(const struct dg_cuda_layers *l, int64_t cell);

#endif
