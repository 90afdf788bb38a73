/* tile_patterns.c: the patterns of tiles (tiles.h): which slots their element nodes have, and what is added at each. */
#include "tile_making.h"

#include <omp.h>
#include <string.h>

/* What makes the pattern of one tile. */
struct drawing {
    struct tile_nodes *list;
    int32_t *slot;     /* [listed] */
    int32_t num_inner; /* slots */
    int32_t num_slot;
    uint16_t *words;
};

static bool is_inner(const struct sem_tiles *t, int32_t node)
{
    return t->node[node] < t->num_inner;
}

/* Entries are in the order of slots from now on. */
static void number_slots(const struct sem_tiles *t, int64_t tile, struct drawing *d)
{
    uint16_t *end = d->words;
    d->num_inner = d->num_slot = (int32_t)(t->first_inner[tile + 1] - t->first_inner[tile]);
    for (int k = 0; k < t->num_category; k++)
        end[k] = k ? end[k - 1] : 0;
    for (int k = 0; k < t->num_category; k++) {
        for (int32_t j = 0; j < d->list->num; j++) {
            int32_t i = d->list->order[j], at = t->node[d->list->node[i]];
            if (d->list->kind[i] % MOST_CATEGORY != k)
                continue;
            d->slot[i] = at < t->num_inner ? (int32_t)(at - t->first_inner[tile]) : d->num_slot++;
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

/* What was drawn of a tile; its pattern, where that was known before. */
struct drawn {
    int64_t num;
    uint64_t hash;
    const struct known *same;
};

/* Where it stands, or would. */
static struct known *look_up(const struct patterns *p, const struct sem_tiles *t, const uint16_t *words,
                             const struct drawn *drawn)
{
    uint64_t at = drawn->hash & (p->room - 1);
    while (p->known[at].num &&
           (p->known[at].num != drawn->num ||
            memcmp(t->words + p->known[at].begin, words, sizeof *words * (size_t)drawn->num) != 0))
        at = (at + 1) & (p->room - 1);
    return &p->known[at];
}

static unda_status keep_pattern(struct patterns *p, struct sem_tiles *t, int64_t tile, const uint16_t *words,
                                const struct drawn *drawn)
{
    struct known *known = look_up(p, t, words, drawn);
    if (known->num == 0) {
        if (t->num_word + drawn->num > p->word_room) {
            p->word_room = 2 * (t->num_word + drawn->num);
            TRY(array_grow(&t->words, t->num_word, p->word_room, sizeof *t->words, "tiles"));
        }
        memcpy(t->words + t->num_word, words, sizeof *words * (size_t)drawn->num);
        *known = (struct known){t->num_word, drawn->num};
        t->num_word += drawn->num;
    }
    t->pattern[tile] = known->begin;
    return UNDA_OK;
}

static struct drawn draw(const struct making *m, int n, int64_t tile, int32_t *slot, uint16_t *words)
{
    struct sem_tiles *t = m->tiles;
    struct drawing d = {.list = tile_list(m, tile), .slot = slot, .words = words};
    tile_order(m, tile, d.list, is_inner);
    number_slots(t, tile, &d);
    memset(words + 4 * t->num_category, 0,
           sizeof *words * (size_t)(sem_head_words(t->num_category) - 4 * t->num_category));
    uint16_t *lists = draw_lines(n, t, tile, &d, words + sem_head_words(t->num_category));
    uint16_t *end = draw_lists(n, t, tile, &d, lists);
    t->num_list[tile] = (int32_t)(end - lists);
    return (struct drawn){end - words, hash_of(words, end - words), NULL};
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
        for (int64_t i = 0; i < num; i++) {
            drawn[i] = draw(m, n, first + i, slot + omp_get_thread_num() * most, words + i * room);
            const struct known *known = look_up(p, t, words + i * room, &drawn[i]);
            drawn[i].same = known->num ? known : NULL;
        }
        for (int64_t i = 0; i < num; i++)
            if (drawn[i].same)
                t->pattern[first + i] = drawn[i].same->begin;
            else
                TRY(keep_pattern(p, t, first + i, words + i * room, &drawn[i]));
    }
    return UNDA_OK;
}

unda_status tile_draw(const struct making *m)
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
    TRY(array_own(&t->owned, &t->pattern, t->num_tile, sizeof(int64_t), "tiles"));
    TRY(array_own(&t->owned, &t->num_list, t->num_tile, sizeof(int32_t), "tiles"));
    p.known = known;
    return draw_tiles(m, n, words, &p);
}
