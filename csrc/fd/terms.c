/* terms.c: the terms of all point sources by node: each node that they reach has a list of terms, so that the
 * order of its sum is fixed. Not here: what one source adds to its nodes (sources.c). */
#include "fd.h"
#include "node_set.h"

#include <string.h>

/* Terms of field f while they are listed. */
struct list {
    const unda_solver *s;
    struct fd_terms *terms;
    struct node_set set;
    int64_t *end; /* [num_node]: of the terms of each node so far */
};

/* What the nodes that sources may drive go into. */
enum what { SPAN, SET, COUNT };

static void each_node(struct list *l, int f, enum what what)
{
    struct fd_run run[2 * POINT_LINES];
    int32_t place[POINT_WIDTH];
    for (int32_t i = 0; i < l->s->num_source; i++) {
        const struct fd_source *source = fd_source(l->s, i);
        for (int32_t n = source->first[f]; n < source->first[f + 1]; n++) {
            int num = 1;
            if (source->pair)
                run[0] = (struct fd_run){.node = source->pair[n].node, .num = 1};
            else
                num = fd_product_runs(fd_tables(l->s), &source->tap[n].product, run, place);
            for (int k = 0; k < num; k++) {
                int64_t at = what == COUNT ? node_set_number(&l->set, run[k].node) : 0;
                if (what == SPAN)
                    node_set_span(&l->set, run[k].node, run[k].num);
                else if (what == SET)
                    node_set_add(&l->set, run[k].node, run[k].num);
                for (int m = 0; what == COUNT && m < run[k].num; m++)
                    l->end[at + m]++;
            }
        }
    }
}

static unda_status take(void *of, int64_t source, int64_t num, const struct fd_pair *pair)
{
    const struct list *l = of;
    int64_t n = 0;
    for (int64_t k = 0; k < num; k++) {
        n = k && pair[k].node == pair[k - 1].node + 1 ? n + 1 : node_set_number(&l->set, pair[k].node);
        l->terms->source[l->end[n]] = (int32_t)source;
        real_put(l->s, l->terms->weight, l->end[n]++, pair[k].weight);
    }
    return UNDA_OK;
}

/* Closes the gaps where a node gains nothing from a source that reaches it, or twice from one. */
static void close_gaps(const struct list *l)
{
    struct fd_terms *t = l->terms;
    int64_t num = t->num_node, bytes = l->s->real_bytes;
    t->num_node = t->num = 0;
    for (int64_t n = 0; n < num; n++) {
        int64_t from = t->first[n], count = l->end[n] - from;
        if (count == 0)
            continue;
        if (from != t->num) {
            memmove(t->source + t->num, t->source + from, (size_t)count * sizeof *t->source);
            memmove((char *)t->weight + t->num * bytes, (char *)t->weight + from * bytes,
                    (size_t)(count * bytes));
        }
        t->node[t->num_node] = t->node[n];
        t->first[t->num_node++] = t->num;
        t->num += count;
    }
    t->first[t->num_node] = t->num;
}

unda_status fd_terms_new(unda_solver *s, int f, void **owner, struct fd_terms *t)
{
    OWNER void *scratch = NULL;
    struct list l = {.s = s, .terms = t};
    *t = (struct fd_terms){0};
    each_node(&l, f, SPAN);
    TRY(node_set_open(&l.set, &scratch));
    each_node(&l, f, SET);
    t->num_node = node_set_count(&l.set);
    TRY(array_own(owner, &t->node, t->num_node, sizeof *t->node, "sources"));
    TRY(array_own(owner, &t->first, t->num_node + 1, sizeof *t->first, "sources"));
    TRY(array_own(&scratch, &l.end, t->num_node, sizeof *l.end, "sources"));
    node_set_list(&l.set, t->node);
    each_node(&l, f, COUNT);
    for (int64_t n = 0; n < t->num_node; n++) {
        t->first[n + 1] = t->first[n] + l.end[n];
        l.end[n] = t->first[n];
    }
    t->num = t->first[t->num_node];
    TRY(array_own(owner, &t->source, t->num, sizeof *t->source, "sources"));
    TRY(array_own(owner, &t->weight, t->num, s->real_bytes, "sources"));
    TRY(fd_source_pairs(s, f, s->num_source, s->sources, take, &l));
    close_gaps(&l);
    return UNDA_OK;
}
