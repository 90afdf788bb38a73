/* tile_numbers.c: the numbers that nodes have on the device: those inside tiles tile by tile, then those that tiles
 * share, last those on the faces where the region ends; the last two by the first tile that has them, in its order of
 * slots. */
#include "tile_making.h"

#include <string.h>

/* Until nodes have their numbers there stands of each what is known: NONE or SIDE, that it is on a side, before any
 * tile came; a tile that alone has it and that is no side's; else of the first tile that has it twice its number,
 * counted down from SHARED, one less on a side. */
enum { NONE = -1, SIDE = SEM_ON_SIDE, SHARED = -3 };

static bool is_shared(int32_t state)
{
    return state <= SHARED;
}
static int32_t first_tile(int32_t state)
{
    return (SHARED - state) / 2;
}
static int on_side(int32_t state)
{
    return (SHARED - state) % 2;
}

/* What is known after a tile came. */
static int32_t after(int32_t state, int32_t tile)
{
    if (state == NONE || state == tile)
        return tile;
    if (state == SIDE)
        return SHARED - 2 * tile - 1;
    int32_t before = is_shared(state) ? first_tile(state) : state;
    return SHARED - 2 * (before < tile ? before : tile) - (is_shared(state) ? on_side(state) : 0);
}

static void mark(int32_t *node, int32_t tile)
{
    int32_t state = __atomic_load_n(node, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(node, &state, after(state, tile), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

void sem_mark_sides(const struct sem *sem, int region, int threads, int32_t *node)
{
    const struct space *space = &sem->space;
    const struct sem_region *r = &sem->region[region];
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < 6 * r->num_elem; i++) {
        int32_t neighbor = sem->mesh->neighbor[6 * (int64_t)r->elem[i / 6] + i % 6];
        if (neighbor >= 0 && sem->kind[neighbor / 6] == region)
            continue;
        for (int k = 0; k < space->num_face_node; k++) {
            int local = space->element->face_node[i % 6 * space->num_face_node + k];
            int32_t *at = &node[r->node[i / 6 * space->num_node + local]];
#pragma omp atomic write
            *at = SEM_ON_SIDE;
        }
    }
    for (int64_t i = 0; i < r->sides.num; i++)
        node[r->sides.node[i]] = SEM_ON_SIDE; /* in layers */
    for (int64_t i = 0; sem->cut && i < sem->cut->region[region].num; i++)
        node[sem->cut->region[region].node[i]] = SEM_ON_SIDE;
}

/* Sums of such codes differ where tiles do, but for one case in 2^32, which costs a little speed alone. */
static uint32_t code_of(int64_t tile)
{
    uint64_t code = (uint64_t)(tile + 1) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(code >> 32) ^ (uint32_t)(code >> 13);
}

/* Marks all nodes. Nodes of a tile are at most so many of its element nodes: as many as cells meet, more where periodic
 * cells meet themselves. */
static void mark_nodes(const struct making *m)
{
    int most = 1;
    sem_mark_sides(m->sem, (int)(m->region - m->sem->region), m->threads, m->tiles->node);
#pragma omp parallel for schedule(static) num_threads(m->threads) reduction(max : most)
    for (int64_t tile = 0; tile < m->tiles->num_tile; tile++) {
        const struct tile_nodes *list = tile_list(m, tile);
        for (int32_t i = 0; i < list->num; i++) {
            int category = 1 + category_of(list->count[i]);
            most = category > most ? category : most;
            mark(&m->tiles->node[list->node[i]], (int32_t)tile);
            __atomic_add_fetch(&m->tiles_of[list->node[i]], code_of(tile), __ATOMIC_RELAXED);
        }
    }
    m->tiles->num_category = most;
}

/* A tile's nodes: how many are inside it, and of the others those that no tile before has, not on sides and on sides. */
struct counts {
    int32_t inner, first[2];
};

static void sum_counts(struct sem_tiles *t, struct counts *counts, int64_t first[2])
{
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        t->first_inner[tile + 1] = t->first_inner[tile] + sem_tile_slots(counts[tile].inner);
        t->first_entry[tile + 1] += t->first_entry[tile];
        for (int side = 0; side < 2; side++)
            first[side] += counts[tile].first[side];
    }
    t->num_inner = t->first_inner[t->num_tile];
    t->num_entry = t->first_entry[t->num_tile];
    t->first_side = t->num_inner + first[0];
    t->num_node = t->first_side + first[1];
}

/* Where tiles' inner nodes and entries begin. */
static void count_nodes(const struct making *m, struct counts *counts)
{
    struct sem_tiles *t = m->tiles;
    int64_t first[2] = {0};
    EACH_TILE(m)
    {
        const struct tile_nodes *list = tile_list(m, tile);
        struct counts now = {0};
        for (int32_t i = 0; i < list->num; i++) {
            int32_t state = t->node[list->node[i]];
            if (!is_shared(state))
                now.inner++;
            else if (first_tile(state) == tile)
                now.first[on_side(state)]++;
        }
        t->first_entry[tile + 1] = list->num - now.inner;
        counts[tile] = now;
    }
    sum_counts(t, counts, first);
}

/* The counts of nodes that fit: they are numbered in 32 bits, as entries are. */
unda_status sem_tiles_check(const struct sem_tiles *t)
{
    if (t->num_node > INT32_MAX)
        FAIL(UNDA_ERR_ARG,
             "tiles of %d cells have %lld nodes, expected %d at most: they are numbered in 32 bits; take "
             "fewer "
             "cells of the mesh or a lower degree",
             t->cells, (long long)t->num_node, INT32_MAX);
    if (t->num_entry > INT32_MAX)
        FAIL(UNDA_ERR_ARG,
             "tiles of %d cells share nodes in %lld places, expected %d at most: these are numbered in 32 "
             "bits; make tiles larger (cells)",
             t->cells, (long long)t->num_entry, INT32_MAX);
    return UNDA_OK;
}

static bool is_inner(const struct sem_tiles *t, int32_t node)
{
    return !is_shared(t->node[node]);
}

/* Inner nodes get their numbers, in the order of slots; so stand the others of a tile, its entries, as the region counts
 * them. */
static void number_inner(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    EACH_TILE(m)
    {
        struct tile_nodes *list = tile_list(m, tile);
        int64_t next = t->first_inner[tile], entry = t->first_entry[tile];
        tile_order(m, tile, list, is_inner);
        for (int k = 0; k < 2 * MOST_CATEGORY; k++)
            for (int32_t i = 0; i < list->num; i++) {
                int32_t node = list->node[list->order[i]];
                if (list->kind[list->order[i]] != k)
                    continue;
                if (k < MOST_CATEGORY)
                    t->node[node] = (int32_t)next++;
                else
                    t->entry[entry++] = node;
            }
    }
}

/* The others, by the first tile that has them. */
static void number_shared(const struct making *m, const struct counts *counts, int64_t (*first)[2])
{
    struct sem_tiles *t = m->tiles;
    int64_t next[2] = {t->num_inner, t->first_side};
    for (int64_t tile = 0; tile < t->num_tile; tile++)
        for (int side = 0; side < 2; side++) {
            first[tile][side] = next[side];
            next[side] += counts[tile].first[side];
        }
    EACH_TILE(m)
    {
        for (int64_t i = t->first_entry[tile]; i < t->first_entry[tile + 1]; i++) {
            int32_t *node = &t->node[t->entry[i]], state = __atomic_load_n(node, __ATOMIC_RELAXED);
            if (is_shared(state) && first_tile(state) == tile)
                __atomic_store_n(node, (int32_t)first[tile][on_side(state)]++, __ATOMIC_RELAXED);
        }
    }
}

/* Nodes without elements come last; each has an entry, in which others' forces are. */
static unda_status number_guests(const struct making *m)
{
    struct sem_tiles *t = m->tiles;
    int64_t num = m->region->num_node;
    for (int64_t i = num - sem_num_guest(m->sem, (int)(m->region - m->sem->region)); i < num; i++) {
        t->entry[t->num_entry++] = (int32_t)(t->num_node - t->num_inner);
        t->node[i] = (int32_t)t->num_node++;
    }
    return sem_tiles_check(t);
}

unda_status tile_number(struct making *m)
{
    struct sem_tiles *t = m->tiles;
    SCRATCH struct counts *counts = NULL;
    SCRATCH int64_t(*first)[2] = NULL;
    TRY(array_own(&t->owned, &t->node, m->region->num_node, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_inner, t->num_tile + 1, sizeof(int64_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_entry, t->num_tile + 1, sizeof(int64_t), "tiles"));
    TRY(array_try(&counts, t->num_tile, sizeof *counts, "tiles"));
    TRY(array_try(&first, t->num_tile, sizeof *first, "tiles"));
    TRY(array_own(&m->owned, &m->tiles_of, m->region->num_node, sizeof(uint32_t), "tiles"));
    memset(t->node, NONE, sizeof *t->node * (size_t)m->region->num_node);
    mark_nodes(m);
    count_nodes(m, counts);
    TRY(sem_tiles_check(t));
    int64_t num_guest = sem_num_guest(m->sem, (int)(m->region - m->sem->region));
    TRY(array_own(&t->owned, &t->entry, t->num_entry + num_guest, sizeof(int32_t), "tiles"));
    number_inner(m);
    number_shared(m, counts, first);
    return number_guests(m);
}
