/* tile_nodes.c: the nodes of a tile, listed by hashing. */
#include "tile_making.h"

#include <omp.h>

static unda_status nodes_new(int64_t most, void **owner, struct tile_nodes *list)
{
    uint32_t room = 2;
    while (room < 2 * (uint64_t)most)
        room *= 2;
    list->mask = room - 1;
    TRY(array_own(owner, &list->node, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->count, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->place, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->index, most, sizeof(int32_t), "tiles"));
    return array_own(owner, &list->table, room, sizeof(int32_t), "tiles");
}

/* Where a node stands in the list, at whose end it is put unless it is there. */
static int32_t index_of(struct tile_nodes *list, int32_t node)
{
    uint32_t at = (uint32_t)node * 2654435761u >> 7 & list->mask;
    while (list->table[at] && list->node[list->table[at] - 1] != node)
        at = (at + 1) & list->mask;
    if (!list->table[at]) {
        list->table[at] = list->num + 1;
        list->place[list->num] = (int32_t)at;
        list->node[list->num] = node;
        list->count[list->num++] = 0;
    }
    return list->table[at] - 1;
}

static void list_nodes(const struct sem_region *r, int num, const struct sem_tiles *t, int64_t tile,
                       struct tile_nodes *list)
{
    for (int32_t i = 0; i < list->num; i++)
        list->table[list->place[i]] = 0;
    list->num = 0;
    int32_t *index = list->index;
    for (int64_t elem = t->first_elem[tile]; elem < t->first_elem[tile + 1]; elem++) {
        const int32_t *node = r->node + (int64_t)t->elem[elem] * num;
        for (int i = 0; i < num; i++) {
            *index = index_of(list, node[i]);
            list->count[*index++]++;
        }
    }
}

unda_status tile_making_new(struct making *m)
{
    int64_t most = (int64_t)m->tiles->cells * m->num;
    TRY(array_own(&m->owned, &m->list, m->threads, sizeof *m->list, "tiles"));
    for (int i = 0; i < m->threads; i++)
        TRY(nodes_new(most, &m->owned, &m->list[i]));
    return UNDA_OK;
}

struct tile_nodes *tile_list(const struct making *m, int64_t tile)
{
    struct tile_nodes *list = &m->list[omp_get_thread_num()];
    list_nodes(m->region, m->num, m->tiles, tile, list);
    return list;
}
