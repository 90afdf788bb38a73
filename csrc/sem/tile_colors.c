/* tile_colors.c: the order in which tiles are launched: by colours, tiles of one of which share no node, or as one. */
#include "tile_making.h"

unda_status tile_color(struct sem_tiles *t)
{
    int64_t num = t->num_node - t->num_inner;
    SCRATCH uint64_t *used = NULL;
    SCRATCH int8_t *color = NULL;
    TRY(array_try(&used, num, sizeof *used, "colours"));
    TRY(array_try(&color, t->num_tile, sizeof *color, "colours"));
    TRY(array_own(&t->owned, &t->order, t->num_tile, sizeof(int32_t), "colours"));
    TRY(array_own(&t->owned, &t->first_color, MOST_COLOR + 1, sizeof(int32_t), "colours"));
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        uint64_t taken = 0;
        for (int64_t i = t->first_entry[tile]; i < t->first_entry[tile + 1]; i++)
            taken |= used[t->entry[i]];
        if (~taken == 0)
            FAIL(UNDA_ERR_MESH,
                 "more than %d tiles of cells meet in one, expected fewer: vertices with very many cells",
                 MOST_COLOR);
        color[tile] = (int8_t)__builtin_ctzll(~taken);
        for (int64_t i = t->first_entry[tile]; i < t->first_entry[tile + 1]; i++)
            used[t->entry[i]] |= (uint64_t)1 << color[tile];
        t->num_color = color[tile] >= t->num_color ? color[tile] + 1 : t->num_color;
    }
    int32_t next = 0;
    for (int32_t c = 0; c < t->num_color; c++) {
        t->first_color[c] = next;
        for (int64_t tile = 0; tile < t->num_tile; tile++)
            if (color[tile] == c)
                t->order[next++] = (int32_t)tile;
    }
    t->first_color[t->num_color] = next;
    return UNDA_OK;
}

unda_status tile_one_color(struct sem_tiles *t)
{
    t->num_color = t->num_tile > 0;
    TRY(array_own(&t->owned, &t->order, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_color, 2, sizeof(int32_t), "tiles"));
    for (int64_t tile = 0; tile < t->num_tile; tile++)
        t->order[tile] = (int32_t)tile;
    t->first_color[t->num_color] = (int32_t)t->num_tile;
    return UNDA_OK;
}
