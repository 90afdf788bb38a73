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
            owner[r->node[i / 6 * space->num_node + space->element->face_node[i % 6 * space->num_face_node + m]]] =
                SIDE;
    }
}

/* Numbers nodes in the order in which tiles come to them. */
static unda_status number_nodes(const struct sem *sem, int region, struct sem_tiles *t)
{
    const struct sem_region *r = &sem->region[region];
    int num = sem->space.num_node;
    SCRATCH int32_t *owner = NULL;
    TRY(array_try(&owner, r->num_node, sizeof *owner, "tiles"));
    TRY(array_own(&t->owned, &t->node, r->num_node, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_inner, t->num_tile + 1, sizeof(int32_t), "tiles"));
    t->num_node = r->num_node;
    for (int64_t i = 0; i < r->num_node; i++)
        owner[i] = NEW, t->node[i] = -1;
    find_owners(sem, region, t, owner);
    int32_t next = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int64_t tile = 0; tile < t->num_tile; tile++) {
            for (int64_t e = t->first_elem[tile]; e < t->first_elem[tile + 1]; e++)
                for (int k = 0; k < num; k++) {
                    int32_t node = r->node[(int64_t)t->elem[e] * num + k];
                    int kind = owner[node] >= 0 ? 0 : -owner[node];
                    if (kind == pass && t->node[node] < 0)
                        t->node[node] = next++;
                }
            if (pass == 0)
                t->first_inner[tile + 1] = next = (next + 3) / 4 * 4;
        }
        *(pass == 0 ? &t->num_inner : pass == 1 ? &t->first_side : &t->num_node) = next;
    }
    return UNDA_OK;
}

/* ---- slots ---- */

/* The slots of a tile's element nodes: slot[i], inner nodes first; found: [node of the region], -1 where none. Its
 * shared nodes to `shared`. */
static void number_slots(const struct sem_region *r, int num, const struct sem_tiles *t, int64_t tile,
                         int32_t *found, uint16_t *slot, int32_t *shared, int32_t *num_slot)
{
    int32_t inner = t->first_inner[tile + 1] - t->first_inner[tile], next = inner;
    int64_t count = (int64_t)(t->first_elem[tile + 1] - t->first_elem[tile]) * num;
    const int32_t *elem = t->elem + t->first_elem[tile];
    for (int64_t i = 0; i < count; i++) {
        int32_t node = r->node[(int64_t)elem[i / num] * num + i % num], at = t->node[node];
        if (at >= t->num_inner && found[node] < 0) {
            shared[next - inner] = (int32_t)(at - t->num_inner);
            found[node] = next++;
        }
        slot[i] = (uint16_t)(at < t->num_inner ? at - t->first_inner[tile] : found[node]);
    }
    for (int64_t i = 0; i < count; i++)
        found[r->node[(int64_t)elem[i / num] * num + i % num]] = -1;
    *num_slot = next;
}

/* The pattern of slots: where the list of element nodes of each begins, then the lists. Returns how many words. */
static int64_t pattern_of(const uint16_t *slot, int64_t count, int32_t num_slot, uint16_t *words)
{
    uint16_t *first = words, *list = words + num_slot + 1;
    memset(first, 0, sizeof *first * (size_t)(num_slot + 1));
    for (int64_t i = 0; i < count; i++)
        first[slot[i] + 1]++;
    for (int32_t i = 0; i < num_slot; i++)
        first[i + 1] = (uint16_t)(first[i + 1] + first[i]);
    for (int64_t i = count - 1; i >= 0; i--)
        list[--first[slot[i] + 1]] = (uint16_t)i;
    for (int32_t i = 0; i < num_slot; i++)
        first[i] = first[i + 1];
    first[num_slot] = (uint16_t)count;
    return count + num_slot + 1;
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
            FAIL(UNDA_ERR_ARG, "the patterns of tiles have more than %d words; make tiles larger (cells)", INT32_MAX);
        memcpy(t->words + t->num_word, words, sizeof *words * (size_t)num);
        p->known[at] = (struct known){t->num_word, num};
        t->num_word += num;
    }
    t->pattern[tile] = (int32_t)p->known[at].begin;
    return UNDA_OK;
}

static unda_status list_slots(const struct sem *sem, int region, struct sem_tiles *t)
{
    const struct sem_region *r = &sem->region[region];
    int num = sem->space.num_node;
    int64_t most = (int64_t)t->cells * num, entry_room = 0;
    SCRATCH int32_t *found = NULL;
    SCRATCH uint16_t *slot = NULL;
    SCRATCH uint16_t *words = NULL;
    SCRATCH int32_t *shared = NULL;
    SCRATCH struct known *known = NULL;
    struct patterns p = {.room = 2};
    while (p.room < 2 * (uint64_t)t->num_tile)
        p.room *= 2;
    TRY(array_try(&found, r->num_node, sizeof *found, "tiles"));
    TRY(array_try(&slot, most, sizeof *slot, "tiles"));
    TRY(array_try(&words, 2 * most + 4, sizeof *words, "tiles"));
    TRY(array_try(&shared, most, sizeof *shared, "tiles"));
    TRY(array_try(&known, (int64_t)p.room, sizeof *known, "tiles"));
    TRY(array_own(&t->owned, &t->pattern, t->num_tile, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->first_entry, t->num_tile + 1, sizeof(int32_t), "tiles"));
    p.known = known;
    memset(found, -1, sizeof *found * (size_t)r->num_node);
    for (int64_t tile = 0; tile < t->num_tile; tile++) {
        int32_t num_slot;
        int64_t count = (int64_t)(t->first_elem[tile + 1] - t->first_elem[tile]) * num;
        number_slots(r, num, t, tile, found, slot, shared, &num_slot);
        int64_t fresh = num_slot - (t->first_inner[tile + 1] - t->first_inner[tile]);
        if (t->num_entry + fresh > entry_room) {
            entry_room = 2 * (t->num_entry + fresh);
            TRY(array_grow(&t->entry, t->num_entry, entry_room, sizeof *t->entry, "tiles"));
        }
        memcpy(t->entry + t->num_entry, shared, sizeof *shared * (size_t)fresh);
        t->num_entry += fresh;
        t->first_entry[tile + 1] = (int32_t)t->num_entry;
        TRY(find_pattern(&p, t, tile, words, pattern_of(slot, count, num_slot, words)));
    }
    return UNDA_OK;
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
            FAIL(UNDA_ERR_MESH, "more than %d tiles of cells meet in one, expected fewer: vertices with very many cells",
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
