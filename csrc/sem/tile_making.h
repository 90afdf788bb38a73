/* tile_making.h: what tiles are made from, shared by the files that make them, in the order in which tiles.c calls them.
 * Next: tile_nodes.c, tile_numbers.c, tile_patterns.c, tile_colors.c. */
#ifndef UNDA_SEM_TILE_MAKING_H
#define UNDA_SEM_TILE_MAKING_H

#include "tiles.h"

#include "../base/parallel.h"

/* The nodes of a tile in the order in which its elements come to them, and how many element nodes each is. A thread
 * has one of these; nodes are found by hashing, in memory that stays in its cache. */
struct tile_nodes {
    OWN_LINE int32_t num;
    int32_t *node, *count, *place; /* place: in the table */
    int32_t *index;                /* [element node of the tile]: in the list */
    int32_t *table;                /* index + 1; 0: free */
    uint32_t mask;
    int32_t *order; /* of slots */
    uint8_t *kind;  /* see banks.c */
    int32_t *set;   /* of tiles that have the node: its number in the order in which they occur */
    struct sem_spread_room room;
    /* The tile to which `order` belongs. */
    int64_t ordered_elem_node;
    int32_t ordered_num, *ordered_index;
    uint8_t *ordered_kind;
};

/* What tiles are made from, with room for each thread. */
struct making {
    const struct sem *sem;
    const struct sem_region *region;
    struct sem_tiles *tiles;
    int num, threads;   /* nodes of an element */
    uint32_t *tiles_of; /* [node of the region]: the sum of codes of the tiles that have it */
    struct tile_nodes *list;
    void *owned;
};

/* The least k with 2^k >= count. */
static inline int category_of(int32_t count)
{
    return count < 2 ? 0 : 32 - __builtin_clz((unsigned)count - 1);
}

static inline int64_t num_elem_node(const struct sem_tiles *t, int64_t tile, int num)
{
    return (int64_t)(t->first_elem[tile + 1] - t->first_elem[tile]) * num;
}

/* All tiles, by many threads. */
#define EACH_TILE(m)                                                                                         \
    _Pragma("omp parallel for schedule(static) num_threads((m)->threads)") for (int64_t tile = 0;            \
                                                                                tile < (m)->tiles->num_tile; \
                                                                                tile++)

/* tile_nodes.c: room for the threads' lists; this thread's, of a tile. */
unda_status tile_making_new(struct making *m);
struct tile_nodes *tile_list(const struct making *m, int64_t tile);
/* The order in which nodes get their slots, kind by kind; says of node i of the list whether it is inside the tile. */
void tile_order(const struct making *m, int64_t tile, struct tile_nodes *list,
                bool (*is_inner)(const struct sem_tiles *t, int32_t node));
/* tile_numbers.c: numbers on the device, entries, categories. */
unda_status tile_number(struct making *m);
/* tile_patterns.c: patterns; entries in the order of slots. */
unda_status tile_draw(const struct making *m);
/* tile_colors.c: the order of launches. */
unda_status tile_color(struct sem_tiles *tiles);

#endif
