/* tiles.c: nodes and patterns of tiles. Not here: which elements make one (cluster.c). */
#include "tiles.h"

#include "../base/parallel.h"

#include <omp.h>
#include <string.h>

/* Few, by where in the tile they stand: tiles of the same form have one pattern, however cells are numbered. */
static void sort_by_cell(int32_t *elem, int32_t num, const uint8_t *cell)
{
    for (int32_t i = 1; i < num; i++) {
        int32_t at = i, now = elem[i];
        for (; at > 0 && cell[elem[at - 1]] > cell[now]; at--)
            elem[at] = elem[at - 1];
        elem[at] = now;
    }
}

static unda_status list_elements(struct sem_tiles *t)
{
    TRY(array_own(&t->owned, &t->first_elem, t->num_tile + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->elem, t->num_elem, sizeof(int32_t), "tiles"));
    for (int64_t row = 0; row < t->num_elem; row++)
        t->first_elem[t->tile[row] + 1]++;
    for (int64_t i = 0; i < t->num_tile; i++)
        t->first_elem[i + 1] += t->first_elem[i];
    for (int64_t row = t->num_elem - 1; row >= 0; row--) /* first_elem ends where the tile began */
        t->elem[--t->first_elem[t->tile[row] + 1]] = (int32_t)row;
    for (int64_t i = 0; i < t->num_tile; i++)
        t->first_elem[i] = t->first_elem[i + 1];
    t->first_elem[t->num_tile] = (int32_t)t->num_elem;
    for (int64_t i = 0; i < t->num_tile; i++)
        sort_by_cell(t->elem + t->first_elem[i], t->first_elem[i + 1] - t->first_elem[i], t->cell);
    return UNDA_OK;
}

/* ---- nodes ---- */

/* The nodes of a tile in the order in which its elements come to them, and how many element nodes each is. A thread
 * has one of these; nodes are found by hashing, in memory that stays in its cache. */
struct tile_nodes {
    int32_t num, *node, *count, *place; /* place: in the table */
    int32_t *index;                     /* [element node of the tile]: in the list */
    int32_t *table;                     /* index + 1; 0: free */
    uint32_t mask;
    int32_t *order; /* of slots */
    uint8_t *kind;  /* see banks.c */
    struct sem_spread_room room;
    /* The tile to which `order` belongs. */
    int64_t ordered_elem_node;
    int32_t ordered_num, *ordered_index;
    uint8_t *ordered_kind;
};

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
    TRY(array_own(owner, &list->ordered_index, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->ordered_kind, most, sizeof(uint8_t), "tiles"));
    TRY(array_own(owner, &list->room.used, most / SEM_NUM_BANK + 2, sizeof *list->room.used, "tiles"));
    TRY(array_own(owner, &list->room.first, most + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->room.of, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->room.slot, most + 4, sizeof(int32_t), "tiles"));
    return array_own(owner, &list->table, room, sizeof(int32_t), "tiles");
}

static int64_t num_elem_node(const struct sem_tiles *t, int64_t tile, int num)
{
    return (int64_t)(t->first_elem[tile + 1] - t->first_elem[tile]) * num;
}

static void list_nodes(const struct sem_region *r, int num, const struct sem_tiles *t, int64_t tile,
                       struct tile_nodes *list)
{
    for (int32_t i = 0; i < list->num; i++)
        list->table[list->place[i]] = 0;
    list->num = 0;
    for (int64_t i = 0; i < num_elem_node(t, tile, num); i++) {
        int32_t node = r->node[(int64_t)t->elem[t->first_elem[tile] + i / num] * num + i % num];
        uint32_t at = (uint32_t)node * 2654435761u >> 7 & list->mask;
        while (list->table[at] && list->node[list->table[at] - 1] != node)
            at = (at + 1) & list->mask;
        if (!list->table[at]) {
            list->table[at] = list->num + 1;
            list->place[list->num] = (int32_t)at;
            list->node[list->num] = node;
            list->count[list->num++] = 0;
        }
        list->index[i] = list->table[at] - 1;
        list->count[list->index[i]]++;
    }
}

/* The least k with 2^k >= count. */
static int category_of(int32_t count)
{
    return count < 2 ? 0 : 32 - __builtin_clz((unsigned)count - 1);
}

/* What tiles are made from, with room for each thread. */
struct making {
    const struct sem *sem;
    const struct sem_region *region;
    struct sem_tiles *tiles;
    int num, threads; /* nodes of an element */
    struct tile_nodes *list;
    int32_t *multiple; /* [node]: element nodes of the region that are this one */
    uint8_t *side;     /* [node]: on the faces where the region ends */
    void *owned;
};

static unda_status making_new(struct making *m)
{
    int64_t most = (int64_t)m->tiles->cells * m->num;
    TRY(array_own(&m->owned, &m->list, m->threads, sizeof *m->list, "tiles"));
    for (int i = 0; i < m->threads; i++)
        TRY(nodes_new(most, &m->owned, &m->list[i]));
    TRY(array_own(&m->owned, &m->multiple, m->region->num_node, sizeof(int32_t), "tiles"));
    return array_own(&m->owned, &m->side, m->region->num_node, sizeof(uint8_t), "tiles");
}

/* All tiles, by many threads; `list` is this thread's. */
#define EACH_TILE(m)                                                                                         \
    _Pragma("omp parallel for schedule(static) num_threads((m)->threads)") for (int64_t tile = 0;            \
                                                                                tile < (m)->tiles->num_tile; \
                                                                                tile++)

static struct tile_nodes *list_of(const struct making *m, int64_t tile)
{
    struct tile_nodes *list = &m->list[omp_get_thread_num()];
    list_nodes(m->region, m->num, m->tiles, tile, list);
    return list;
}

static void find_sides(const struct making *m)
{
    const struct space *space = &m->sem->space;
    const struct sem_region *r = m->region;
    int region = (int)(r - m->sem->region);
#pragma omp parallel for schedule(static) num_threads(m->threads)
    for (int64_t i = 0; i < 6 * r->num_elem; i++) {
        int32_t neighbor = m->sem->mesh->neighbor[6 * (int64_t)r->elem[i / 6] + i % 6];
        if (neighbor >= 0 && m->sem->kind[neighbor / 6] == region)
            continue;
        for (int k = 0; k < space->num_face_node; k++) {
            uint8_t *side = &m->side[r->node[i / 6 * space->num_node +
                                             space->element->face_node[i % 6 * space->num_face_node + k]]];
#pragma omp atomic write
            *side = 1;
        }
    }
}

/* Multiples and sides of nodes. Nodes of a tile are at most so many of its element nodes: as many as cells meet, more
 * where periodic cells meet themselves. */
static void count_nodes(const struct making *m)
{
    int most = 1;
    find_sides(m);
#pragma omp parallel for schedule(static) num_threads(m->threads) reduction(max : most)
    for (int64_t tile = 0; tile < m->tiles->num_tile; tile++) {
        const struct tile_nodes *list = list_of(m, tile);
        for (int32_t i = 0; i < list->num; i++) {
            int category = 1 + category_of(list->count[i]);
            most = category > most ? category : most;
#pragma omp atomic
            m->multiple[list->node[i]] += list->count[i];
        }
    }
    m->tiles->num_category = most;
}

/* A node that no other tile has and that is on no side. */
static bool is_inner(const struct making *m, const struct tile_nodes *list, int32_t i)
{
    return !m->side[list->node[i]] && m->multiple[list->node[i]] == list->count[i];
}

/* The order in which a tile's nodes get their slots, kind by kind. Tiles of one form follow one another, and have one. */
static void order_nodes(const struct making *m, int64_t tile, struct tile_nodes *list)
{
    const struct sem_tiles *t = m->tiles;
    int64_t num = num_elem_node(t, tile, m->num);
    for (int32_t i = 0; i < list->num; i++)
        list->kind[i] = (uint8_t)(category_of(list->count[i]) + (is_inner(m, list, i) ? 0 : MOST_CATEGORY));
    if (list->ordered_num == list->num && list->ordered_elem_node == num &&
        memcmp(list->ordered_index, list->index, sizeof *list->index * (size_t)num) == 0 &&
        memcmp(list->ordered_kind, list->kind, (size_t)list->num) == 0)
        return;
    list->ordered_num = list->num;
    list->ordered_elem_node = num;
    memcpy(list->ordered_index, list->index, sizeof *list->index * (size_t)num);
    memcpy(list->ordered_kind, list->kind, (size_t)list->num);
    sem_spread(&(struct sem_spread){.n = m->sem->space.element->degree + 1,
                                    .planes = t->planes,
                                    .pitch = &t->pitch,
                                    .num_elem_node = num,
                                    .num = list->num,
                                    .index = list->index,
                                    .kind = list->kind,
                                    .order = list->order},
               &list->room);
}

/* Where tiles' inner nodes and entries begin. */
static void count_inner(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    EACH_TILE(m)
    {
        const struct tile_nodes *list = list_of(m, tile);
        int32_t inner = 0;
        for (int32_t i = 0; i < list->num; i++)
            inner += is_inner(m, list, i);
        t->first_inner[tile + 1] = (inner + 3) / 4 * 4;
        t->first_entry[tile + 1] = list->num - inner;
    }
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        t->first_inner[tile + 1] += t->first_inner[tile];
        t->first_entry[tile + 1] += t->first_entry[tile];
    }
    t->num_inner = t->first_inner[t->num_tile];
    t->num_entry = t->first_entry[t->num_tile];
}

/* Inner nodes get their numbers, by category; the others of a tile are its entries, as the region counts them. */
static void number_inner(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    EACH_TILE(m)
    {
        struct tile_nodes *list = list_of(m, tile);
        int32_t next = t->first_inner[tile], entry = t->first_entry[tile];
        order_nodes(m, tile, list);
        for (int k = 0; k < t->num_category; k++)
            for (int32_t i = 0; i < list->num; i++)
                if (list->kind[list->order[i]] == k)
                    t->node[list->node[list->order[i]]] = next++;
        for (int32_t i = 0; i < list->num; i++)
            if (!is_inner(m, list, i))
                t->entry[entry++] = list->node[i];
    }
}

/* Numbers nodes tile by tile, those inside them by category; then what tiles share, last what is on sides. */
static unda_status number_nodes(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    TRY(array_own(&t->owned, &t->node, m->region->num_node, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_inner, t->num_tile + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_entry, t->num_tile + 1, sizeof(int32_t), "tiles"));
    memset(t->node, -1, sizeof *t->node * (size_t)m->region->num_node);
    count_inner(m);
    TRY(array_own(&t->owned, &t->entry, t->num_entry, sizeof(int32_t), "tiles"));
    number_inner(m);
    int32_t next = (int32_t)t->num_inner;
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < t->num_entry; i++)
            if (m->side[t->entry[i]] == side && t->node[t->entry[i]] < 0)
                t->node[t->entry[i]] = next++;
        *(side ? &t->num_node : &t->first_side) = next;
    }
    return UNDA_OK;
}

/* ---- patterns ---- */

/* What makes the pattern of one tile. */
struct drawing {
    struct tile_nodes *list;
    int32_t *slot;     /* [listed] */
    int32_t num_inner; /* slots */
    int32_t num_slot;
    uint16_t *words;
};

/* Entries are in the order of slots from now on. */
static void number_slots(const struct sem_tiles *t, int64_t tile, struct drawing *d)
{
    uint16_t *end = d->words;
    d->num_inner = d->num_slot = t->first_inner[tile + 1] - t->first_inner[tile];
    for (int k = 0; k < t->num_category; k++)
        end[k] = k ? end[k - 1] : 0;
    for (int k = 0; k < t->num_category; k++) {
        for (int32_t j = 0; j < d->list->num; j++) {
            int32_t i = d->list->order[j], at = t->node[d->list->node[i]];
            if (d->list->kind[i] % MOST_CATEGORY != k)
                continue;
            d->slot[i] = at < t->num_inner ? at - t->first_inner[tile] : d->num_slot++;
            if (at < t->num_inner)
                end[k] = (uint16_t)(d->slot[i] + 1 > end[k] ? d->slot[i] + 1 : end[k]);
            else
                t->entry[t->first_entry[tile] + d->slot[i] - d->num_inner] = (int32_t)(at - t->num_inner);
        }
        end[t->num_category + k] = (uint16_t)d->num_slot;
        if (k + 1 < t->num_category)
            end[k + 1] = end[k];
    }
    end[t->num_category - 1] = (uint16_t)d->num_inner; /* with those that only fill up */
}

/* Slots along the line of each thread. */
static uint16_t *draw_lines(int n, const struct sem_tiles *t, int64_t tile, struct drawing *d, uint16_t *to)
{
    memset(to, 0, sizeof *to * (size_t)(num_elem_node(t, tile, n * n) * sem_line_words(n)));
    for (int64_t i = 0; i < num_elem_node(t, tile, n * n * n); i++)
        to[i / n * sem_line_words(n) + i % n] = (uint16_t)d->slot[d->list->index[i]];
    return to + num_elem_node(t, tile, n * n) * sem_line_words(n);
}

/* Places in shared memory by slot. */
static uint16_t *draw_lists(int n, const struct sem_tiles *t, int64_t tile, struct drawing *d, uint16_t *to)
{
    const uint16_t *end = d->words;
    uint16_t *start = d->words + 2 * t->num_category;
    uint16_t zero = (uint16_t)(t->cells * t->pitch.elem[0]);
    for (int32_t i = 0; i < d->list->num; i++)
        d->list->count[i] = 0;
    for (int g = 0; g < 2 * t->num_category; g++) {
        int64_t size = (int64_t)(end[g] - (g ? end[g - 1] : 0)) << g % t->num_category;
        start[g] = (uint16_t)(to - d->words);
        for (int64_t i = 0; i < (size + 7) / 8 * 8; i++)
            *to++ = zero;
    }
    for (int64_t i = 0; i < num_elem_node(t, tile, n * n * n); i++) {
        int32_t index = d->list->index[i], slot = d->slot[index], g = 0;
        while (slot >= end[g])
            g++;
        d->words[start[g] + ((slot - (g ? end[g - 1] : 0)) << g % t->num_category) +
                 d->list->count[index]++] = (uint16_t)sem_place(&t->pitch, n, i);
    }
    return to;
}

static uint64_t hash_of(const uint16_t *words, int64_t num)
{
    uint64_t hash = 1469598103934665603u;
    for (int64_t i = 0; i < num; i++)
        hash = (hash ^ words[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Patterns that were found before. */
struct patterns {
    uint64_t room; /* a power of two, above the number of tiles */
    struct known {
        int64_t begin, num; /* num 0: free */
    } *known;
    int64_t word_room;
};

/* What was drawn of a tile. */
struct drawn {
    int64_t num;
    uint64_t hash;
};

static unda_status find_pattern(struct patterns *p, struct sem_tiles *t, int64_t tile, const uint16_t *words,
                                const struct drawn *drawn)
{
    int64_t num = drawn->num;
    uint64_t at = drawn->hash & (p->room - 1);
    while (p->known[at].num && (p->known[at].num != num || memcmp(t->words + p->known[at].begin, words,
                                                                  sizeof *words * (size_t)num) != 0))
        at = (at + 1) & (p->room - 1);
    if (p->known[at].num == 0) {
        if (t->num_word + num > p->word_room) {
            p->word_room = 2 * (t->num_word + num);
            TRY(array_grow(&t->words, t->num_word, p->word_room, sizeof *t->words, "tiles"));
        }
        if (t->num_word + num > INT32_MAX)
            FAIL(UNDA_ERR_ARG, "the patterns of tiles have more than %d words; make tiles larger (cells)",
                 INT32_MAX);
        memcpy(t->words + t->num_word, words, sizeof *words * (size_t)num);
        p->known[at] = (struct known){t->num_word, num};
        t->num_word += num;
    }
    t->pattern[tile] = (int32_t)p->known[at].begin;
    return UNDA_OK;
}

static struct drawn draw(const struct making *m, int n, int64_t tile, int32_t *slot, uint16_t *words)
{
    struct sem_tiles *t = m->tiles;
    struct drawing d = {.list = list_of(m, tile), .slot = slot, .words = words};
    order_nodes(m, tile, d.list);
    number_slots(t, tile, &d);
    memset(words + 4 * t->num_category, 0,
           sizeof *words * (size_t)(sem_head_words(t->num_category) - 4 * t->num_category));
    uint16_t *lists = draw_lines(n, t, tile, &d, words + sem_head_words(t->num_category));
    uint16_t *end = draw_lists(n, t, tile, &d, lists);
    t->num_list[tile] = (int32_t)(end - lists);
    return (struct drawn){end - words, hash_of(words, end - words)};
}

/* Tiles are drawn many at a time, by all threads; then, one after the other, those are kept that are new. */
static unda_status draw_tiles(const struct making *m, int n, int64_t room, struct patterns *p)
{
    struct sem_tiles *t = m->tiles;
    int64_t batch = 64 * (int64_t)m->threads, most = (int64_t)t->cells * m->num;
    SCRATCH uint16_t *words = NULL;
    SCRATCH int32_t *slot = NULL;
    SCRATCH struct drawn *drawn = NULL;
    TRY(array_try(&words, batch * room, sizeof *words, "tiles"));
    TRY(array_try(&slot, m->threads * most, sizeof *slot, "tiles"));
    TRY(array_try(&drawn, batch, sizeof *drawn, "tiles"));
    for (int64_t first = 0; first < t->num_tile; first += batch) {
        int64_t num = t->num_tile - first < batch ? t->num_tile - first : batch;
#pragma omp parallel for schedule(static) num_threads(m->threads)
        for (int64_t i = 0; i < num; i++)
            drawn[i] = draw(m, n, first + i, slot + omp_get_thread_num() * most, words + i * room);
        for (int64_t i = 0; i < num; i++)
            TRY(find_pattern(p, t, first + i, words + i * room, &drawn[i]));
    }
    return UNDA_OK;
}

static unda_status list_slots(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    int n = m->sem->space.element->degree + 1;
    int64_t most = (int64_t)t->cells * m->num;
    int64_t words = sem_head_words(t->num_category) + most / n * sem_line_words(n) + 2 * most +
                    16 * t->num_category + 8; /* lists at most double by their categories */
    struct patterns p = {.room = 2};
    SCRATCH struct known *known = NULL;
    while (p.room < 2 * (uint64_t)t->num_tile)
        p.room *= 2;
    if (words > UINT16_MAX)
        FAIL(UNDA_ERR_ARG, "cells is %d a tile of degree %d, expected fewer: places are counted in 16 bits",
             t->cells, n - 1);
    TRY(array_try(&known, (int64_t)p.room, sizeof *known, "tiles"));
    TRY(array_own(&t->owned, &t->pattern, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->num_list, t->num_tile, sizeof(int32_t), "tiles"));
    p.known = known;
    return draw_tiles(m, n, words, &p);
}

/* Entries by shared node, ascending. */
static unda_status list_sums(struct sem_tiles *t)
{
    int64_t num = t->num_node - t->num_inner;
    TRY(array_own(&t->owned, &t->first_sum, num + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->sum, t->num_entry, sizeof(int32_t), "tiles"));
    for (int64_t i = 0; i < t->num_entry; i++)
        t->first_sum[t->entry[i] + 1]++;
    for (int64_t i = 0; i < num; i++)
        t->first_sum[i + 1] += t->first_sum[i];
    for (int64_t i = t->num_entry - 1; i >= 0; i--)
        t->sum[--t->first_sum[t->entry[i] + 1]] = (int32_t)i;
    for (int64_t i = 0; i < num; i++)
        t->first_sum[i] = t->first_sum[i + 1];
    t->first_sum[num] = (int32_t)t->num_entry;
    return UNDA_OK;
}

/* ---- colours ---- */

static unda_status color(struct sem_tiles *t)
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

static unda_status one_color(struct sem_tiles *t)
{
    t->num_color = t->num_tile > 0;
    TRY(array_own(&t->owned, &t->order, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_color, 2, sizeof(int32_t), "tiles"));
    for (int64_t tile = 0; tile < t->num_tile; tile++)
        t->order[tile] = (int32_t)tile;
    t->first_color[t->num_color] = (int32_t)t->num_tile;
    return UNDA_OK;
}

static unda_status make(struct making *m)
{
    TRY(making_new(m));
    count_nodes(m);
    TRY(number_nodes(m));
    return list_slots(m);
}

unda_status sem_tiles_new(const struct sem *sem, int region, int cells, bool colored, int threads,
                          struct sem_tiles *t)
{
    struct making m = {sem, &sem->region[region], t, .num = sem->space.num_node};
    t->cells = cells;
    t->num_elem = sem->region[region].num_elem;
    fork_mark();
    m.threads = parallel_worth(threads, t->num_elem * m.num, LEAST_COUPLED);
    TRY(array_own(&t->owned, &t->tile, t->num_elem, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->cell, t->num_elem, sizeof(uint8_t), "tiles"));
    TRY(sem_cluster(sem, region, t));
    TRY(list_elements(t));
    unda_status status = make(&m);
    arrays_free(&m.owned);
    TRY(status);
    TRY(list_sums(t));
    return colored ? color(t) : one_color(t);
}

void sem_tiles_free(struct sem_tiles *t)
{
    array_free(t->words);
    arrays_free(&t->owned);
    *t = (struct sem_tiles){0};
}
