/* terms.c: the terms of all point sources by node, for devices: each node that they reach has a list of terms, so that the
 * order of its sum is fixed. Not here: planes of terms (plane_pairs.c), the same row by row (lines.c). */
#include "plane_pairs.h"

#include <string.h>

struct sorting {
    const unda_solver *s;
    struct fd_reached reached;
    struct fd_terms *terms;
    int64_t (*found)[2]; /* [total x]: how many terms of each plane, and nodes */
};

/* The terms of plane x by node, in each by source, into its room in t. */
static void sort_plane(void *of, int64_t x, const struct fd_plane *w)
{
    const struct sorting *o = of;
    const unda_solver *s = o->s;
    const struct fd_reached *r = &o->reached;
    const struct fd_terms *t = o->terms;
    int64_t *found = o->found[x];
    const struct fd *fd = fd_tables(s);
    int64_t begin = x * fd->axis[1].total * fd->axis[2].total, low = INT64_MAX, high = -1;
    int64_t num_source = r->first[x + 1] - r->first[x], num = w->end[num_source - 1], base = r->term[x];
    int32_t sum = 0, *source = t->source + base, *count = w->count;
    float *single = s->real_bytes == 4 ? (float *)t->weight + base : NULL;
    double *weight = single ? NULL : (double *)t->weight + base;
    for (int64_t i = 0; i < num; i++) {
        int64_t at = w->pair[i].node - begin;
        low = at < low ? at : low;
        high = at > high ? at : high;
        count[at]++;
    }
    found[0] = num;
    found[1] = 0;
    for (int64_t at = low; at <= high; at++) {
        int32_t own = count[at];
        if (own == 0)
            continue;
        t->node[r->node[x] + found[1]] = begin + at;
        t->first[r->node[x] + found[1]++] = sum;
        count[at] = sum;
        sum += own;
    }
    for (int64_t n = 0, i = 0; n < num_source; n++)
        for (; i < w->end[n]; i++) {
            int32_t to = count[w->pair[i].node - begin]++;
            source[to] = r->source[r->first[x] + n];
            if (single)
                single[to] = (float)w->pair[i].weight;
            else
                weight[to] = w->pair[i].weight;
        }
    if (num)
        memset(count + low, 0, (size_t)(high - low + 1) * sizeof *count);
}

/* Closes the gaps where planes needed less room. */
static void close_gaps(void *of, int64_t x)
{
    const struct sorting *o = of;
    const struct fd_reached *r = &o->reached;
    struct fd_terms *t = o->terms;
    const int64_t *found = o->found[x];
    int64_t bytes = o->s->real_bytes;
    for (int64_t n = 0; n < found[1]; n++) {
        t->node[t->num_node + n] = t->node[r->node[x] + n];
        t->first[t->num_node + n] = t->num + t->first[r->node[x] + n];
    }
    if (t->num != r->term[x]) {
        memmove(t->source + t->num, t->source + r->term[x], (size_t)found[0] * sizeof *t->source);
        memmove((char *)t->weight + t->num * bytes, (char *)t->weight + r->term[x] * bytes,
                (size_t)(found[0] * bytes));
    }
    t->num += found[0];
    t->num_node += found[1];
}

unda_status fd_terms_new(unda_solver *s, int f, void **owner, struct fd_terms *t)
{
    int64_t num_x = fd_tables(s)->axis[0].total;
    OWNER void *scratch = NULL;
    struct sorting o = {.s = s, .terms = t};
    const struct fd_reached *r = &o.reached;
    *t = (struct fd_terms){0};
    TRY(fd_reached_new(fd_tables(s), f, s->num_source, s->sources, &scratch, &o.reached));
    TRY(array_own(owner, &t->node, r->node[num_x], sizeof *t->node, "sources"));
    TRY(array_own(owner, &t->first, r->node[num_x] + 1, sizeof *t->first, "sources"));
    TRY(array_own(owner, &t->source, r->term[num_x], sizeof *t->source, "sources"));
    TRY(array_own(owner, &t->weight, r->term[num_x], s->real_bytes, "sources"));
    if (r->term[num_x] == 0)
        return UNDA_OK;
    TRY(array_own(&scratch, &o.found, num_x, sizeof *o.found, "sources"));
    TRY(fd_each_plane(s, f, r, &(struct fd_plane_taker){sort_plane, close_gaps, NULL, &o}));
    t->first[t->num_node] = t->num;
    return UNDA_OK;
}
