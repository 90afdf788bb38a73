/* diamond_args.h: the arguments of fd/scalar/diamond.cu. Plain types only; pointers are device addresses. */
#ifndef UNDA_DIAMOND_ARGS_H
#define UNDA_DIAMOND_ARGS_H

#include "common/size.h"

#include "fd/scalar/args.h"

/* Levels are counted within a launch: 0 is the present one. Columns of cells are numbered x ny + y. */

struct diamond_args {
    void *p[2];    /* at cell (0, 0, 0): level -1, on return 1, 3, ...; level 0, on return 2, 4, ... */
    const void *k; /* variable c: laid out like p */
    const void *gx, *gy,
        *gz; /* factors of the absorbing layer at cell 0; gx and gy are read in the padding too */
    const unsigned char
        *mark;               /* [2 num_row + 1][ny + 2 HALF]: what tiles hold; NULL: no sources, no records */
    const int *source_first; /* [nx ny + 1]: first entry of a column */
    const int *source_z, *source_id;          /* of an entry; ascending in id within a cell */
    const void *source_w, *amplitude;         /* of an entry; [level - 1][num_source] */
    const int *cell_first;                    /* the same for recorded cells: */
    const int *cell_z, *cell_id, *cell_group; /* where they stand in a sample of which group */
    void *const
        *sample; /* [num_level + 1][num_group]: values of a group's sample; NULL: none at that level */
    const unsigned char *due; /* [num_level + 1]: levels that some group records */
    int *ticket;              /* 0 before a launch */
    int *progress;            /* [num_tower][NUM_ZB]: 0 before a launch */
    int *owner;               /* [num_tower][NUM_ZB]: 1 + the block that has it; 0 before a launch */
    unsigned long long
        *mailbox; /* [block][low and high end][even and odd][words of a level]: 0 before a launch */
    /* Of slabs that take all stages at once, [below, above], NULL: none. What a neighbour's memory has at cell (0, 0, 0),
     * as p; how far its nearest towers are, [stage][NUM_ZB] here, 0 before a launch; where it is told the same. */
    void *far[2][2];
    const int *far_progress[2];
    int *far_told[2];
    int nx, ny, nz, num_level;
    int num_row, num_tower; /* towers a stage; in all */
    int num_source, num_group;
    int layer[2][2];   /* x, y: cells outside [layer[a][0], layer[a][1]) are in layers */
    int first_tower;   /* those before it have been taken, and their progress says so */
    int first_row;     /* of the towers of a stage, of which a slab has num_row */
    double sign[3][2]; /* of the image behind a side: -1 free, 1 rigid */
    double w[15];      /* x: the centre, then at distance 1 ... M; y, z */
    float w_float[15]; /* the same */
    struct scalar_matched matched[3];
};
SIZE_IS(diamond_args, 1032);

#endif
