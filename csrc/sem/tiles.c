/* tiles.c: nodes and patterns of tiles. Not here: which elements make one (cluster.c). */
#include "tiles.h"

#include <string.h>

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
    return UNDA_OK;
}

/* ---- nodes ---- */

enum { SHARED = -1, SIDE = -2, NEW = -3 }; /* or the tile that has it */

static void find_owners(const struct sem *sem, int region, const struct sem_tiles *t, int32_t *owner)
{
    const struct space *space = &sem->space;
    const struct sem_region *r = &sem->region[region];
    for (int64_t i = 0; i < r->num_elem * space->num_node; i++) {
        int32_t *of = &owner[r->node[i]], tile = t->tile[i / space->num_node];
        *of = *of == NEW || *of == tile ? tile : SHARED;
    }
    for (int64_t i = 0; i < 6 * r->num_elem; i++) {
        int32_t neighbor = sem->mesh->neighbor[6 * (int64_t)r->elem[i / 6] + i % 6];
        if (neighbor >= 0 && sem->kind[neighbor / 6] == region)
            continue;
        for (int m = 0; m < space->num_face_node; m++)
            owner[r->node[i / 6 * space->num_node +
                          space->element->face_node[i % 6 * space->num_face_node + m]]] = SIDE;
    }
}

/* The nodes of a tile in the order in which its elements come to them, and how many element nodes each is. */
struct tile_nodes {
    int32_t num, *node, *count;
    int32_t *index; /* [node of the region]: in the list, -1 elsewhere */
};

static unda_status nodes_new(const struct sem_region *r, int64_t most, void **owner, struct tile_nodes *list)
{
    TRY(array_own(owner, &list->node, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->count, most, sizeof(int32_t), "tiles"));
    TRY(array_own(owner, &list->index, r->num_node, sizeof(int32_t), "tiles"));
    memset(list->index, -1, sizeof *list->index * (size_t)r->num_node);
    return UNDA_OK;
}

/* Node i of a tile's elements. */
static int32_t node_of(const struct sem_region *r, int num, const struct sem_tiles *t, int64_t tile,
                       int64_t i)
{
    return r->node[(int64_t)t->elem[t->first_elem[tile] + i / num] * num + i % num];
}

static int64_t num_elem_node(const struct sem_tiles *t, int64_t tile, int num)
{
    return (int64_t)(t->first_elem[tile + 1] - t->first_elem[tile]) * num;
}

static void list_nodes(const struct sem_region *r, int num, const struct sem_tiles *t, int64_t tile,
                       struct tile_nodes *list)
{
    for (int32_t i = 0; i < list->num; i++)
        list->index[list->node[i]] = -1;
    list->num = 0;
    for (int64_t i = 0; i < num_elem_node(t, tile, num); i++) {
        int32_t node = node_of(r, num, t, tile, i);
        if (list->index[node] < 0) {
            list->index[node] = list->num;
            list->node[list->num] = node;
            list->count[list->num++] = 0;
        }
        list->count[list->index[node]]++;
    }
}

/* The least k with 2^k >= count. */
static int category_of(int32_t count)
{
    return count < 2 ? 0 : 32 - __builtin_clz((unsigned)count - 1);
}

/* Nodes of a tile are at most so many of its element nodes: as many as cells meet, more where periodic cells meet
 * themselves. */
static unda_status count_categories(const struct sem *sem, int region, struct sem_tiles *t)
{
    OWNER void *owned = NULL;
    struct tile_nodes list = {0};
    TRY(nodes_new(&sem->region[region], (int64_t)t->cells * sem->space.num_node, &owned, &list));
    t->num_category = 1;
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        list_nodes(&sem->region[region], sem->space.num_node, t, tile, &list);
        for (int32_t i = 0; i < list.num; i++)
            if (category_of(list.count[i]) >= t->num_category)
                t->num_category = 1 + category_of(list.count[i]);
    }
    return UNDA_OK;
}

/* Numbers nodes tile by tile, those inside them by category. */
static unda_status number_nodes(const struct sem *sem, int region, struct sem_tiles *t)
{
    const struct sem_region *r = &sem->region[region];
    int num = sem->space.num_node;
    SCRATCH int32_t *owner = NULL;
    OWNER void *owned = NULL;
    struct tile_nodes list = {0};
    TRY(array_try(&owner, r->num_node, sizeof *owner, "tiles"));
    TRY(array_own(&t->owned, &t->node, r->num_node, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_inner, t->num_tile + 1, sizeof(int32_t), "tiles"));
    TRY(nodes_new(r, (int64_t)t->cells * num, &owned, &list));
    for (int64_t i = 0; i < r->num_node; i++)
        owner[i] = NEW, t->node[i] = -1;
    find_owners(sem, region, t, owner);
    int32_t next = 0;
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        list_nodes(r, num, t, tile, &list);
        for (int k = 0; k < t->num_category; k++)
            for (int32_t i = 0; i < list.num; i++)
                if (owner[list.node[i]] >= 0 && category_of(list.count[i]) == k)
                    t->node[list.node[i]] = next++;
        t->first_inner[tile + 1] = next = (next + 3) / 4 * 4;
    }
    t->num_inner = next;
    for (int kind = SHARED; kind >= SIDE; kind--) {
        for (int64_t tile = 0; tile < t->num_tile; tile++)
            for (int64_t i = 0; i < num_elem_node(t, tile, num); i++) {
                int32_t node = node_of(r, num, t, tile, i);
                if (owner[node] == kind && t->node[node] < 0)
                    t->node[node] = next++;
            }
        *(kind == SHARED ? &t->first_side : &t->num_node) = next;
    }
    return UNDA_OK;
}

/* ---- patterns ---- */

/* What makes the pattern of one tile. */
struct drawing {
    struct tile_nodes list;
    int32_t *slot;     /* [listed] */
    int32_t *entry;    /* [shared]: counted from num_inner */
    int32_t num_inner; /* slots */
    int32_t num_slot;
    uint16_t *words;
};

/* Found by counting, for [0] lines along r_1 and r_3 (and, once, r_2), for [1] along r_2 and r_3. */
struct sem_pitch sem_pitch(int n)
{
    static const struct sem_pitch known[] = {
        [3] = {{14, 14}, {55, 43}},   [4] = {{19, 20}, {80, 80}},   [5] = {{25, 26}, {125, 130}},
        [6] = {{43, 38}, {260, 228}}, [7] = {{49, 50}, {369, 369}}, [8] = {{69, 72}, {552, 576}}};
    int plane = n * n | 1;
    return n < 9 ? known[n] : (struct sem_pitch){{plane, plane}, {n * plane, n * plane}};
}

/* Where node i of the tile's elements of n^3 nodes stands in the first array. */
static int32_t place_of(int n, int64_t i)
{
    struct sem_pitch pitch = sem_pitch(n);
    return (int32_t)(i / (n * n * n) * pitch.elem[0] + i / (n * n) % n * pitch.plane[0] + i % (n * n));
}

static void number_slots(const struct sem_tiles *t, int64_t tile, struct drawing *d)
{
    uint16_t *end = d->words;
    d->num_inner = d->num_slot = t->first_inner[tile + 1] - t->first_inner[tile];
    for (int k = 0; k < t->num_category; k++)
        end[k] = k ? end[k - 1] : 0;
    for (int k = 0; k < t->num_category; k++) {
        for (int32_t i = 0; i < d->list.num; i++) {
            int32_t at = t->node[d->list.node[i]];
            if (category_of(d->list.count[i]) != k)
                continue;
            d->slot[i] = at < t->num_inner ? at - t->first_inner[tile] : d->num_slot++;
            if (at < t->num_inner)
                end[k] = (uint16_t)(d->slot[i] + 1 > end[k] ? d->slot[i] + 1 : end[k]);
            else
                d->entry[d->slot[i] - d->num_inner] = (int32_t)(at - t->num_inner);
        }
        end[t->num_category + k] = (uint16_t)d->num_slot;
        if (k + 1 < t->num_category)
            end[k + 1] = end[k];
    }
    end[t->num_category - 1] = (uint16_t)d->num_inner; /* with those that only fill up */
}

/* Slots along the line of each thread. */
static uint16_t *draw_lines(const struct sem_region *r, int n, const struct sem_tiles *t, int64_t tile,
                            struct drawing *d, uint16_t *to)
{
    for (int64_t i = 0; i < num_elem_node(t, tile, n * n * n); i++)
        to[i / n * sem_line_words(n) + i % n] =
            (uint16_t)d->slot[d->list.index[node_of(r, n * n * n, t, tile, i)]];
    return to + num_elem_node(t, tile, n * n) * sem_line_words(n);
}

/* Places in shared memory by slot. */
static uint16_t *draw_lists(const struct sem_region *r, int n, const struct sem_tiles *t, int64_t tile,
                            struct drawing *d, uint16_t *to)
{
    const uint16_t *end = d->words;
    uint16_t *start = d->words + 2 * t->num_category;
    uint16_t zero = (uint16_t)(t->cells * sem_pitch(n).elem[0]);
    for (int32_t i = 0; i < d->list.num; i++)
        d->list.count[i] = 0;
    for (int g = 0; g < 2 * t->num_category; g++) {
        int64_t size = (int64_t)(end[g] - (g ? end[g - 1] : 0)) << g % t->num_category;
        start[g] = (uint16_t)(to - d->words);
        for (int64_t i = 0; i < (size + 7) / 8 * 8; i++)
            *to++ = zero;
    }
    for (int64_t i = 0; i < num_elem_node(t, tile, n * n * n); i++) {
        int32_t index = d->list.index[node_of(r, n * n * n, t, tile, i)], slot = d->slot[index], g = 0;
        while (slot >= end[g])
            g++;
        d->words[start[g] + ((slot - (g ? end[g - 1] : 0)) << g % t->num_category) + d->list.count[index]++] =
            (uint16_t)place_of(n, i);
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

static unda_status find_pattern(struct patterns *p, struct sem_tiles *t, int64_t tile, const uint16_t *words,
                                int64_t num)
{
    uint64_t at = hash_of(words, num) & (p->room - 1);
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

static unda_status draw_tiles(const struct sem *sem, int region, struct sem_tiles *t, struct drawing *d,
                              struct patterns *p)
{
    const struct sem_region *r = &sem->region[region];
    int n = sem->space.element->degree + 1;
    int64_t entry_room = 0;
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        list_nodes(r, n * n * n, t, tile, &d->list);
        number_slots(t, tile, d);
        memset(d->words + 4 * t->num_category, 0,
               sizeof *d->words * (size_t)(sem_head_words(t->num_category) - 4 * t->num_category));
        uint16_t *lists = draw_lines(r, n, t, tile, d, d->words + sem_head_words(t->num_category));
        uint16_t *end = draw_lists(r, n, t, tile, d, lists);
        t->num_list[tile] = (int32_t)(end - lists);
        int64_t fresh = d->num_slot - d->num_inner;
        if (t->num_entry + fresh > entry_room) {
            entry_room = 2 * (t->num_entry + fresh);
            TRY(array_grow(&t->entry, t->num_entry, entry_room, sizeof *t->entry, "tiles"));
        }
        memcpy(t->entry + t->num_entry, d->entry, sizeof *d->entry * (size_t)fresh);
        t->num_entry += fresh;
        t->first_entry[tile + 1] = (int32_t)t->num_entry;
        TRY(find_pattern(p, t, tile, d->words, end - d->words));
    }
    return UNDA_OK;
}

static unda_status list_slots(const struct sem *sem, int region, struct sem_tiles *t)
{
    int n = sem->space.element->degree + 1;
    int64_t most = (int64_t)t->cells * n * n * n;
    int64_t words = sem_head_words(t->num_category) + most / n * sem_line_words(n) + 2 * most +
                    16 * t->num_category + 8; /* lists at most double by their categories */
    struct patterns p = {.room = 2};
    struct drawing d = {0};
    OWNER void *owned = NULL;
    SCRATCH struct known *known = NULL;
    while (p.room < 2 * (uint64_t)t->num_tile)
        p.room *= 2;
    if (words > UINT16_MAX)
        FAIL(UNDA_ERR_ARG, "cells is %d a tile of degree %d, expected fewer: places are counted in 16 bits",
             t->cells, n - 1);
    TRY(array_try(&known, (int64_t)p.room, sizeof *known, "tiles"));
    TRY(nodes_new(&sem->region[region], most, &owned, &d.list));
    TRY(array_own(&owned, &d.slot, most, sizeof *d.slot, "tiles"));
    TRY(array_own(&owned, &d.entry, most, sizeof *d.entry, "tiles"));
    TRY(array_own(&owned, &d.words, words, sizeof *d.words, "tiles"));
    TRY(array_own(&t->owned, &t->pattern, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->num_list, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_entry, t->num_tile + 1, sizeof(int32_t), "tiles"));
    p.known = known;
    return draw_tiles(sem, region, t, &d, &p);
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

unda_status sem_tiles_new(const struct sem *sem, int region, int cells, bool colored, struct sem_tiles *t)
{
    t->cells = cells;
    t->num_elem = sem->region[region].num_elem;
    TRY(array_own(&t->owned, &t->tile, t->num_elem, sizeof(int32_t), "tiles"));
    TRY(sem_cluster(sem, region, t));
    TRY(list_elements(t));
    TRY(count_categories(sem, region, t));
    TRY(number_nodes(sem, region, t));
    TRY(list_slots(sem, region, t));
    TRY(list_sums(t));
    return colored ? color(t) : one_color(t);
}

void sem_tiles_free(struct sem_tiles *t)
{
    array_free(t->words);
    array_free(t->entry);
    arrays_free(&t->owned);
    *t = (struct sem_tiles){0};
}
