/* terms.c: the terms of all point sources by node: each node that they reach has a list of terms, so that the
 * order of its sum is fixed. Not here: a source's own nodes
 * (point_sources.c). */
#include "fd.h"
#include "node_set.h"

void fd_terms_free(struct fd_terms *terms)
{
    void *all[] = {terms->node, terms->first, terms->source, terms->weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_free(all[i]);
    *terms = (struct fd_terms){0};
}

static const int64_t *nodes_of(const struct fd_source *source, int f, int64_t *num)
{
    *num = source->first[f + 1] - source->first[f];
    return source->node + source->first[f];
}

static unda_status mark(const unda_solver *s, int f, struct node_set *set)
{
    int64_t num;
    for (int32_t i = 0; i < s->num_source; i++) {
        const int64_t *node = nodes_of(fd_source(s, i), f, &num);
        node_set_span(set, node, num);
    }
    TRY(node_set_open(set));
    for (int32_t i = 0; i < s->num_source; i++) {
        const int64_t *node = nodes_of(fd_source(s, i), f, &num);
        node_set_add(set, node, num);
    }
    return UNDA_OK;
}

/* Where the terms of each node begin, then source after source behind those that are there. */
static void fill(const unda_solver *s, int f, const struct node_set *set, struct fd_terms *terms)
{
    int64_t num, n = 0, *next = terms->first + 1; /* next[n]: where node n's begin, once all are there end */
    for (int32_t i = 0; i < s->num_source; i++) {
        const int64_t *node = nodes_of(fd_source(s, i), f, &num);
        for (int64_t k = 0; k < num; k++)
            next[1 + (n = node_set_number(set, node, k, n))]++;
    }
    for (int64_t k = 1; k < terms->num_node; k++)
        next[k] += next[k - 1];
    for (int32_t i = 0; i < s->num_source; i++) {
        const struct fd_source *source = fd_source(s, i);
        const int64_t *node = nodes_of(source, f, &num);
        for (int64_t k = 0; k < num; k++) {
            int64_t at = next[n = node_set_number(set, node, k, n)]++;
            terms->source[at] = i;
            terms->weight[at] = source->weight[source->first[f] + k];
        }
    }
}

static unda_status list(const unda_solver *s, int f, struct node_set *set, struct fd_terms *terms)
{
    int64_t num;
    TRY(mark(s, f, set));
    terms->num_node = node_set_count(set);
    for (int32_t i = 0; i < s->num_source; i++) {
        nodes_of(fd_source(s, i), f, &num);
        terms->num += num;
    }
    TRY(array_try(&terms->node, terms->num_node, sizeof *terms->node, "sources"));
    TRY(array_try(&terms->first, terms->num_node + 2, sizeof *terms->first, "sources"));
    TRY(array_try(&terms->source, terms->num, sizeof *terms->source, "sources"));
    TRY(array_try(&terms->weight, terms->num, sizeof *terms->weight, "sources"));
    node_set_list(set, terms->node);
    fill(s, f, set, terms);
    return UNDA_OK;
}

unda_status fd_terms_new(const unda_solver *s, int f, struct fd_terms *terms)
{
    struct node_set set = {0};
    *terms = (struct fd_terms){0};
    unda_status status = list(s, f, &set, terms);
    node_set_free(&set);
    if (status != UNDA_OK)
        fd_terms_free(terms);
    return status;
}
