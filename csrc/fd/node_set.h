/* node_set.h: a set of nodes of a grid as a bitmap, which numbers its nodes in ascending order. First the
 * spans of all runs of consecutive nodes, then open, add all runs, count. */
#ifndef UNDA_NODE_SET_H
#define UNDA_NODE_SET_H

#include "../unda.h"

struct node_set {
    int64_t first, end; /* nodes that may be in it; empty: all zero */
    uint64_t *bits;
    int64_t *before; /* number of nodes before each word of bits; the last entry counts all */
};
void node_set_span(struct node_set *set, int64_t node, int64_t num);
unda_status node_set_open(struct node_set *set, void **owner); /* of its arrays: see array_own */
void node_set_add(struct node_set *set, int64_t node, int64_t num);
int64_t node_set_count(struct node_set *set);
void node_set_list(const struct node_set *set, int64_t *node); /* ascending */

/* The number of a node of the set. */
static inline int64_t node_set_number(const struct node_set *set, int64_t node)
{
    int64_t at = node - set->first;
    return set->before[at / 64] + __builtin_popcountll(set->bits[at / 64] & ((UINT64_C(1) << at % 64) - 1));
}

#endif
