/* tiles.h: the elements of a region in tiles, each of which a block of threads of the GPU works on, and the region's
 * nodes as the device numbers them: those inside tiles tile by tile, then those that tiles share, last those on the
 * faces where the region ends. Next: tiles.c, cluster.c, cuda.c, cuda/sem/tiles.cu. */
#ifndef UNDA_SEM_TILES_H
#define UNDA_SEM_TILES_H

#include "sem.h"

struct sem_tiles {
    int cells; /* of a tile, at most */
    int64_t num_tile, num_elem;
    int32_t *tile;       /* [row of the region] */
    int32_t *first_elem; /* [num_tile + 1] */
    int32_t *elem;       /* [num_elem]: rows of the region, tile by tile */
    int64_t num_node, num_inner, first_side; /* inner nodes of a tile are filled up to a multiple of four */
    int32_t *node;                           /* [node of the region]: on the device */
    int32_t *first_inner, *first_entry; /* [num_tile + 1] */
    int64_t num_entry;                  /* a shared node has one in each tile that it is in */
    int32_t *entry;                     /* [num_entry]: shared nodes, counted from num_inner, by tile */
    int32_t *first_sum, *sum;           /* [num_node - num_inner + 1], [num_entry]: entries by shared node */
    /* The nodes of a tile in slots, inner ones first: where each slot's list of element nodes begins, the lists.
     * Tiles that agree have one pattern. */
    int32_t *pattern; /* [num_tile]: where its words begin */
    int64_t num_word;
    uint16_t *words;
    int32_t num_color; /* if coloured: tiles of one colour share no node; else one */
    int32_t *order, *first_color; /* [num_tile]: tiles by colour; [num_color + 1] */
    void *owned;
};

unda_status sem_tiles_new(const struct sem *sem, int region, int cells, bool colored,
                          struct sem_tiles *tiles);
void sem_tiles_free(struct sem_tiles *tiles);
/* cluster.c: the tiles of elements, in the order of their first ones; fills tile and num_tile. */
unda_status sem_cluster(const struct sem *sem, int region, struct sem_tiles *tiles);

#endif
