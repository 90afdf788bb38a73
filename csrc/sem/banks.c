/* banks.c: where threads own planes, the order of a tile's nodes of which they read u without waiting for one another:
 * those of a warp read at a time a node of each one's line, or plane, from shared memory, whose 32 banks give one node
 * each at a time. Next: tiles.c, cuda/sem/work_plane.h. */
#include "tiles.h"

#include <string.h>

enum { NUM_BANK = SEM_NUM_BANK, MOST_PLACE = SEM_MOST_PLACE, MOST_GROUP = 2048, MOST_SHARED = 64 };

/* The nodes that a warp reads at a time are a group: of lines along r_1 those of one k at one place a, of planes those at
 * (b, k) of all a. */
static void groups_of(const struct sem_spread *t, int64_t i, int group[2])
{
    int n = t->n, node = (int)(i % (n * n * n)), elem = (int)(i / (n * n * n));
    int a = node % n, b = node / n % n, k = node / (n * n);
    int warp = elem / (NUM_BANK / n);
    group[0] = (2 * warp * n + k) * n + a;
    group[1] = ((2 * warp + 1) * n + k) * n + b;
}

/* Element nodes by node: first[num + 1], of[num_elem_node]. */
static void list_element_nodes(const struct sem_spread *t, int32_t *first, int32_t *of)
{
    memset(first, 0, sizeof *first * (size_t)(t->num + 1));
    for (int64_t i = 0; i < t->num_elem_node; i++)
        first[t->index[i] + 1]++;
    for (int32_t i = 0; i < t->num; i++)
        first[i + 1] += first[i];
    for (int64_t i = t->num_elem_node - 1; i >= 0; i--)
        of[--first[t->index[i] + 1]] = (int32_t)i;
    for (int32_t i = 0; i < t->num; i++)
        first[i] = first[i + 1];
    first[t->num] = (int32_t)t->num_elem_node;
}

/* Groups of a node, each once: where it is there twice, it is read once. */
static int list_groups(const struct sem_spread *t, const int32_t *of, int num, int *list)
{
    int used = 0;
    for (int i = 0; i < num && used < MOST_SHARED - 1; i++) {
        int group[2];
        groups_of(t, of[i], group);
        for (int k = 0; k < 2; k++) {
            int at = 0;
            while (at < used && list[at] != group[k])
                at++;
            list[at] = group[k];
            used += at == used;
        }
    }
    return used;
}

/* The slots of a kind of nodes. Threads of a warp sum the forces of 32 nodes that follow one another from `base` on, a
 * block: at a time the k-th element node of each. */
struct kind {
    int32_t begin, end, base;
    uint8_t (*used)[MOST_PLACE][NUM_BANK]; /* [block][k]: element nodes by their bank */
};

static int place_bank(const struct sem_spread *t, int32_t elem_node)
{
    return sem_place(t->pitch, t->n, elem_node) % NUM_BANK;
}

/* The free bank in which the groups have the fewest nodes; of several the one of the node's first element node, with
 * which sums wait least. */
static int choose_bank(const int *num_free, uint8_t (*used)[NUM_BANK], const int *group, int num, int liked)
{
    int cost[NUM_BANK] = {0}, best = -1;
    for (int i = 0; i < num; i++)
        for (int bank = 0; bank < NUM_BANK; bank++)
            cost[bank] += used[group[i]][bank];
    for (int bank = 0; bank < NUM_BANK; bank++) {
        cost[bank] = 2 * cost[bank] + (bank != liked);
        if (num_free[bank] && (best < 0 || cost[bank] < cost[best]))
            best = bank;
    }
    return best;
}

/* The free slot of a bank in whose block the element nodes meet the fewest others. */
static int32_t choose_slot(const struct sem_spread *t, const struct kind *kind, const int32_t *slot, int bank,
                           const int32_t *of, int num)
{
    int32_t best = -1;
    int least = INT32_MAX;
    for (int32_t at = kind->begin + ((bank - kind->begin) % NUM_BANK + NUM_BANK) % NUM_BANK; at < kind->end;
         at += NUM_BANK) {
        int cost = 0;
        if (slot[at] >= 0)
            continue;
        for (int k = 0; k < num; k++)
            cost += kind->used[(at - kind->base) / NUM_BANK][k][place_bank(t, of[k])];
        if (cost < least) {
            least = cost;
            best = at;
        }
    }
    return best;
}

static void place_kind(const struct sem_spread *t, int number, const struct kind *kind,
                       const struct sem_spread_room *r, uint8_t (*used)[NUM_BANK])
{
    int num_free[NUM_BANK] = {0};
    for (int32_t i = kind->begin; i < kind->end; i++)
        num_free[i % NUM_BANK]++;
    for (int32_t i = 0; i < t->num; i++) {
        int group[MOST_SHARED + 1];
        const int32_t *of = r->of + r->first[i];
        if (t->kind[i] != number)
            continue;
        int num_of = (int)(r->first[i + 1] - r->first[i]), num = list_groups(t, of, num_of, group);
        int bank = choose_bank(num_free, used, group, num, place_bank(t, of[0]));
        num_of = num_of < MOST_PLACE ? num_of : MOST_PLACE;
        int32_t at = choose_slot(t, kind, r->slot, bank, of, num_of);
        num_free[bank]--;
        r->slot[at] = i;
        for (int k = 0; k < num; k++)
            used[group[k]][bank] += used[group[k]][bank] < UINT8_MAX;
        for (int k = 0; k < num_of; k++)
            kind->used[(at - kind->base) / NUM_BANK][k][place_bank(t, of[k])]++;
    }
}

/* Nodes of many elements first, which have the most to heed. */
void sem_spread(const struct sem_spread *t, const struct sem_spread_room *r)
{
    uint8_t used[MOST_GROUP][NUM_BANK];
    int32_t begin[2 * MOST_CATEGORY + 1] = {0}, next = 0;
    memset(used, 0, sizeof used);
    list_element_nodes(t, r->first, r->of);
    for (int32_t i = 0; i < t->num; i++)
        begin[t->kind[i] + 1]++;
    for (int k = 0; k < 2 * MOST_CATEGORY; k++) {
        begin[k + 1] += begin[k];
        if (k + 1 == MOST_CATEGORY) /* inner slots are filled up to fours */
            begin[k + 1] = (begin[k + 1] + 3) / 4 * 4;
    }
    memset(r->slot, -1, sizeof *r->slot * (size_t)begin[2 * MOST_CATEGORY]);
    for (int category = MOST_CATEGORY - 1; category >= 0; category--)
        for (int number = category; number < 2 * MOST_CATEGORY; number += MOST_CATEGORY) {
            struct kind kind = {begin[number], begin[number + 1],
                                number < MOST_CATEGORY ? 0 : begin[MOST_CATEGORY], r->used};
            if (kind.begin == kind.end)
                continue;
            memset(r->used, 0, sizeof *r->used * (size_t)((kind.end - kind.base) / NUM_BANK + 1));
            place_kind(t, number, &kind, r, used);
        }
    for (int32_t i = 0; i < begin[2 * MOST_CATEGORY]; i++)
        if (r->slot[i] >= 0)
            t->order[next++] = r->slot[i];
}
