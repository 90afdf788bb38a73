/* tiles.h: the elements of a region in tiles, each of which a block of threads of the GPU works on, and the region's
 * nodes as the device numbers them: those inside tiles tile by tile, then those that tiles share, last those on the
 * faces where the region ends. Next: tiles.c, tile_*.c, cluster.c, cuda.c, cuda/sem/tiles.cu. */
#ifndef UNDA_SEM_TILES_H
#define UNDA_SEM_TILES_H

#include "sem.h"

/* Where element nodes stand in the two arrays of cuda/sem/tiles.cu: in the first one node (a, b, k) of an element at a
 * + b row + k plane[0]; from plane to plane and from element to element so many that threads of a warp, each with a
 * line, nearly always are in different banks. */
struct sem_pitch {
    int row, plane[2], elem[2];
};
/* pitch.c: where a thread owns a plane of nodes, or a column. */
struct sem_pitch sem_pitch(int n, bool planes);
/* Where threads own columns of cells that follow one another without a gap, and which row of nodes each of them owns. */
struct sem_pitch sem_pitch_flat(int n);
void sem_spread_rows(const struct sem_pitch *pitch, int n, int cells, int *row);

/* Nodes of a tile are in slots: first those inside it, then those that it shares, both by how many of the tile's
 * element nodes they are: up to 1, 2, 4, ... (categories). A pattern says, in words of 16 bits:
 *   end of the slots, then beginning of the lists, of each category of inner and of shared nodes;
 *   [element][node of a face][node of the line along r_1], filled up to eights: slots;
 *   by category, [slot][1 << category]: places in shared memory of the element nodes, or of a 0.
 * Tiles that agree have one pattern. */
struct sem_tiles {
    struct sem_pitch
        pitch; /* the caller's, as planes: whether a thread owns a plane of nodes, not a column */
    bool planes;
    int cells, num_category; /* elements of a tile, at most */
    int64_t num_tile, num_elem;
    int32_t *tile;                           /* [row of the region] */
    uint8_t *cell;                           /* [row of the region]: where in its tile it stands */
    int32_t *first_elem;                     /* [num_tile + 1] */
    int32_t *elem;                           /* [num_elem]: rows of the region, tile by tile, by cell */
    int64_t num_node, num_inner, first_side; /* inner nodes of a tile are filled up to a multiple of four */
    int32_t *node;                           /* [node of the region]: on the device */
    int64_t *first_inner, *first_entry;      /* [num_tile + 1] */
    int64_t num_entry;                       /* a shared node has one in each tile that it is in */
    int32_t *entry;                          /* [num_entry]: shared nodes, counted from num_inner, by tile */
    int32_t *first_sum, *sum; /* [num_node - num_inner + 1], [num_entry]: entries by shared node */
    int64_t *pattern;         /* [num_tile]: where its words begin */
    int32_t *num_list;        /* [num_tile]: words of its lists */
    int64_t num_word;
    uint16_t *words;
    int32_t num_color;            /* if coloured: tiles of one colour share no node; else one */
    int32_t *order, *first_color; /* [num_tile]: tiles by colour; [num_color + 1] */
    void *owned;
};

/* Slots of a tile's inner nodes: filled up to a multiple of four. */
static inline int64_t sem_tile_slots(int64_t num_inner)
{
    return (num_inner + 3) / 4 * 4;
}
/* Words of a line of n nodes, and of the head of a pattern. */
static inline int sem_line_words(int n)
{
    return (n + 7) / 8 * 8;
}
static inline int sem_head_words(int num_category)
{
    return (4 * num_category + 7) / 8 * 8;
}
/* Where node i of a tile's elements of n^3 nodes stands in the first array. */
static inline int sem_place(const struct sem_pitch *pitch, int n, int64_t i)
{
    return (int)(i / (n * n * n)) * pitch->elem[0] + (int)(i / (n * n) % n) * pitch->plane[0] +
           (int)(i / n % n) * pitch->row + (int)(i % n);
}

/* banks.c: of the nodes of one tile, numbered in any way, the order in which they get slots where threads own planes. */
enum { MOST_CATEGORY = 16, SEM_NUM_BANK = 32, SEM_MOST_PLACE = 8 };
struct sem_spread {
    int n;
    const struct sem_pitch *pitch;
    int64_t num_elem_node;
    int32_t num;
    const int32_t *index; /* [element node]: node */
    const uint8_t *kind;  /* [node]: category, of shared nodes plus MOST_CATEGORY; slots are by kind */
    int32_t *order;       /* [num] */
};
struct sem_spread_room {
    int32_t *first, *of, *slot;                    /* [num + 1], [num_elem_node], [num + 4] */
    uint8_t (*used)[SEM_MOST_PLACE][SEM_NUM_BANK]; /* [num / 32 + 2] */
};
void sem_spread(const struct sem_spread *tile, const struct sem_spread_room *room);

unda_status sem_tiles_new(const struct sem *sem, int region, int cells, bool colored, int threads,
                          struct sem_tiles *tiles);
void sem_tiles_free(struct sem_tiles *tiles);
/* tile_numbers.c: refuses counts whose members are numbered in 32 bits and do not fit. */
unda_status sem_tiles_check(const struct sem_tiles *tiles);
unda_status tile_one_color(struct sem_tiles *tiles);
/* cells.c: runs of so many elements; entry [elem][node of an element]: the number on the device. */
unda_status sem_cells_new(const struct sem *sem, int region, int cells, int threads, struct sem_tiles *tiles);
/* Marks the nodes of faces at which a region ends. */
enum { SEM_ON_SIDE = -2 };
void sem_mark_sides(const struct sem *sem, int region, int threads, int32_t *node);
/* cluster.c: the tiles of elements, in the order of their first ones; fills tile, cell and num_tile. */
unda_status sem_cluster(const struct sem *sem, int region, struct sem_tiles *tiles);

#endif
