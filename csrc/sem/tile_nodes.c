/* tile_nodes.c: the nodes of a tile, listed by hashing. */
#include "tile_making.h"

#include <omp.h>
#include <string.h>

enum { MOST_SET = 128 };

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
    TRY(array_own(owner, &list->order, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->kind, most, sizeof(uint8_t), "tiles"));
    TRY(array_own(owner, &list->set, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->ordered_index, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->ordered_kind, most, sizeof(uint8_t), "tiles"));
    TRY(array_own(owner, &list->room.used, most / SEM_NUM_BANK + 2, sizeof *list->room.used, "tiles"));
    TRY(array_own(owner, &list->room.first, most + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->room.of, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->room.slot, most + 4, sizeof(int32_t), "tiles"));
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

/* Nodes of one kind that the same tiles have follow one another, in the order of the list: so they do in all of these
 * tiles, and memory is read and written in whole lines. */
static void order_by_set(const struct making *m, struct tile_nodes *list)
{
    uint32_t code[MOST_SET];
    int32_t num_set = 0, num[MOST_SET + 1] = {0}, set = 0;
    for (int32_t i = 0; i < list->num; i++) {
        uint32_t now = m->tiles_of[list->node[i]];
        if (num_set == 0 || set == MOST_SET || code[set] != now)
            for (set = 0; set < num_set && code[set] != now;)
                set++;
        if (set == num_set && set < MOST_SET)
            code[num_set++] = now;
        list->set[i] = set;
        num[set]++;
    }
    for (int32_t k = 0, next = 0; k <= MOST_SET; k++) {
        int32_t begin = next;
        next += num[k];
        num[k] = begin;
    }
    for (int32_t i = 0; i < list->num; i++)
        list->order[num[list->set[i]]++] = i;
}

/* The order in which a tile's nodes get their slots, kind by kind. Where threads own planes it takes a while, but tiles of
 * one form follow one another, and have one. */
void tile_order(const struct making *m, int64_t tile, struct tile_nodes *list,
                bool (*is_inner)(const struct sem_tiles *t, int32_t node))
{
    const struct sem_tiles *t = m->tiles;
    int64_t num = num_elem_node(t, tile, m->num);
    for (int32_t i = 0; i < list->num; i++)
        list->kind[i] =
            (uint8_t)(category_of(list->count[i]) + (is_inner(t, list->node[i]) ? 0 : MOST_CATEGORY));
    if (!t->planes) {
        order_by_set(m, list);
        return;
    }
    if (list->ordered_num == list->num && list->ordered_elem_node == num &&
        memcmp(list->ordered_index, list->index, sizeof *list->index * (size_t)num) == 0 &&
        memcmp(list->ordered_kind, list->kind, (size_t)list->num) == 0)
        return;
    list->ordered_num = list->num;
    list->ordered_elem_node = num;
    memcpy(list->ordered_index, list->index, sizeof *list->index * (size_t)num);
    memcpy(list->ordered_kind, list->kind, (size_t)list->num);
    sem_spread(&(struct sem_spread){.n = m->sem->space.element->degree + 1,
                                    .pitch = &t->pitch,
                                    .num_elem_node = num,
                                    .num = list->num,
                                    .index = list->index,
                                    .kind = list->kind,
                                    .order = list->order},
               &list->room);
}
