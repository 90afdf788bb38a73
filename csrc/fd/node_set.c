/* node_set.c: see node_set.h. */
#include "node_set.h"

#include "../base/base.h"

void node_set_span(struct node_set *set, int64_t node, int64_t num)
{
    if (set->end == 0 || node < set->first)
        set->first = node;
    if (node + num > set->end)
        set->end = node + num;
}

static int64_t num_word(const struct node_set *set)
{
    return (set->end - set->first + 63) / 64;
}

unda_status node_set_open(struct node_set *set, void **owner)
{
    TRY(array_own(owner, &set->bits, num_word(set), sizeof *set->bits, "points"));
    return array_own(owner, &set->before, num_word(set) + 1, sizeof *set->before, "points");
}

void node_set_add(struct node_set *set, int64_t node, int64_t num)
{
    for (int64_t at = node - set->first, count; num > 0; at += count, num -= count) {
        count = 64 - at % 64 < num ? 64 - at % 64 : num; /* those in one word */
        set->bits[at / 64] |= (~UINT64_C(0) >> (64 - count)) << at % 64;
    }
}

int64_t node_set_count(struct node_set *set)
{
    for (int64_t w = 0; w < num_word(set); w++)
        set->before[w + 1] = set->before[w] + __builtin_popcountll(set->bits[w]);
    return set->before[num_word(set)];
}

void node_set_list(const struct node_set *set, int64_t *node)
{
    for (int64_t w = 0; w < num_word(set); w++)
        for (uint64_t left = set->bits[w]; left; left &= left - 1)
            *node++ = set->first + 64 * w + __builtin_ctzll(left);
}
