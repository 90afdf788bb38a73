/* terms.c: the terms of all point sources by node: each node that they reach has a list of terms, so that the
 * order of its sum is fixed. Plane by plane of x, whose terms stay in a cache while they are sorted by node: of
 * 100,000 sources there are 5e7. Not here: what one source adds to its nodes (sources.c). */
#include "fd.h"
#include "node_set.h"

#include <string.h>

/* Sources that reach a plane. */
struct reached {
    int64_t *first;                   /* [total x + 1]: where those of each plane begin */
    int32_t *source;                  /* ascending in each plane */
    int64_t num_term, num_node, most; /* at most: terms, nodes with terms, terms of a plane */
};

/* Calls `take` for each plane that a source reaches, each once; last: [total x] numbers of sources that planes were
 * taken for, so far. */
static void each_plane(const struct fd *fd, int f, const struct fd_source *source, int32_t number,
                       int32_t *last, void (*take)(void *of, int64_t x, int32_t number), void *of)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    for (int32_t n = source->first[f]; n < source->first[f + 1]; n++)
        for (int i = 0; i < (source->pair ? 1 : POINT_WIDTH); i++) {
            int64_t x;
            if (source->pair)
                x = source->pair[n].node / plane;
            else if (source->tap[n].product.weight[0][i] != 0)
                x = source->tap[n].product.node[0][i];
            else
                continue;
            if (last[x] != number)
                take(of, x, number);
            last[x] = number;
        }
}

static void count_plane(void *of, int64_t x, int32_t number)
{
    (void)number;
    ((struct reached *)of)->first[x + 1]++;
}

static void put_source(void *of, int64_t x, int32_t number)
{
    struct reached *r = of;
    r->source[r->first[x]++] = number;
}

static unda_status list_planes(const unda_solver *s, int f, void **owner, struct reached *r)
{
    const struct fd *fd = fd_tables(s);
    int64_t num_x = fd->axis[0].total, plane = fd->axis[1].total * fd->axis[2].total;
    SCRATCH int32_t *last = NULL;
    TRY(array_try(&last, num_x, sizeof *last, "sources"));
    TRY(array_own(owner, &r->first, num_x + 1, sizeof *r->first, "sources"));
    for (int what = 0; what < 2; what++) {
        for (int64_t x = 0; x < num_x; x++)
            last[x] = -1;
        for (int32_t i = 0; i < s->num_source; i++)
            each_plane(fd, f, fd_source(s, i), i, last, what ? put_source : count_plane, r);
        for (int64_t x = 0; x < num_x && !what; x++)
            r->first[x + 1] += r->first[x];
        if (!what)
            TRY(array_own(owner, &r->source, r->first[num_x], sizeof *r->source, "sources"));
    }
    memmove(r->first + 1, r->first, (size_t)num_x * sizeof *r->first); /* each was moved to its end */
    r->first[0] = 0;
    for (int64_t x = 0; x < num_x; x++) {
        int64_t num = 0;
        for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
            num += fd_source_reach(fd, f, fd_source(s, r->source[i]), x);
        r->num_term += num;
        r->num_node += num < plane ? num : plane;
        r->most = num > r->most ? num : r->most;
    }
    return UNDA_OK;
}

/* ---- materials ---- */

static void span_node(void *of, int64_t node)
{
    node_set_span(of, node, 1);
}
static void add_node(void *of, int64_t node)
{
    node_set_add(of, node, 1);
}

/* The materials that vary at all nodes that count for plane x. */
static unda_status take_materials(unda_solver *s, int f, const struct reached *r, int64_t x,
                                  const struct fd_plane_materials *m)
{
    const struct fd *fd = fd_tables(s);
    int64_t plane = fd->axis[1].total * fd->axis[2].total, num;
    OWNER void *owned = NULL;
    struct node_set set = {0};
    int64_t *node;
    double *value;
    bool varies = false;
    for (int which = 0; which < fd->num_material; which++)
        varies = varies || fd->varies[which];
    if (!varies)
        return UNDA_OK;
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
        fd_source_each_material(fd, f, fd_source(s, r->source[i]), x, span_node, &set);
    TRY(node_set_open(&set, &owned));
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
        fd_source_each_material(fd, f, fd_source(s, r->source[i]), x, add_node, &set);
    num = node_set_count(&set);
    TRY(array_own(&owned, &node, num, sizeof *node, "sources"));
    TRY(array_own(&owned, &value, num, sizeof *value, "sources"));
    node_set_list(&set, node);
    for (int which = 0; which < fd->num_material && num; which++)
        if (fd->varies[which]) {
            TRY(fd_engine(s)->gather(s, FD_MATERIAL + which, num, node, value));
            for (int64_t i = 0; i < num; i++)
                m->value[which][node[i] / plane != x][node[i] % plane] = value[i];
        }
    return UNDA_OK;
}

static unda_status new_materials(const struct fd *fd, void **owner, struct fd_plane_materials *m)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    for (int which = 0; which < fd->num_material; which++)
        for (int i = 0; i < 2 && fd->varies[which]; i++)
            TRY(array_own(owner, &m->value[which][i], plane, sizeof *m->value[which][i], "sources"));
    return UNDA_OK;
}

/* ---- planes ---- */

/* What each source adds to plane x, one after the other; end[i]: of source number i of the plane. */
static void list_plane(const unda_solver *s, int f, const struct reached *r, int64_t x,
                       const struct fd_plane_materials *m, struct fd_pair *pair, int64_t *end)
{
    int64_t num = 0;
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++) {
        num += fd_source_plane(fd_tables(s), f, fd_source(s, r->source[i]), x, m, pair + num);
        end[i - r->first[x]] = num;
    }
}

/* Appends the terms of plane x: by node, in each by source. count: [nodes of the plane], 0 before and after. */
static void sort_plane(const unda_solver *s, const struct reached *r, int64_t x, const struct fd_pair *pair,
                       const int64_t *end, int32_t *count, struct fd_terms *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t begin = x * fd->axis[1].total * fd->axis[2].total, low = INT64_MAX, high = -1;
    int64_t num_source = r->first[x + 1] - r->first[x], num = end[num_source - 1];
    int32_t sum = 0, *source = t->source + t->num;
    float *single = s->real_bytes == 4 ? (float *)t->weight + t->num : NULL;
    double *weight = single ? NULL : (double *)t->weight + t->num;
    for (int64_t i = 0; i < num; i++) {
        int64_t at = pair[i].node - begin;
        low = at < low ? at : low;
        high = at > high ? at : high;
        count[at]++;
    }
    for (int64_t at = low; at <= high; at++) {
        int32_t own = count[at];
        if (own == 0)
            continue;
        t->node[t->num_node] = begin + at;
        t->first[t->num_node++] = t->num + sum;
        count[at] = sum;
        sum += own;
    }
    for (int64_t n = 0, i = 0; n < num_source; n++)
        for (; i < end[n]; i++) {
            int32_t to = count[pair[i].node - begin]++;
            source[to] = r->source[r->first[x] + n];
            if (single)
                single[to] = (float)pair[i].weight;
            else
                weight[to] = pair[i].weight;
        }
    if (num)
        memset(count + low, 0, (size_t)(high - low + 1) * sizeof *count);
    t->num += num;
}

unda_status fd_terms_new(unda_solver *s, int f, void **owner, struct fd_terms *t)
{
    const struct fd *fd = fd_tables(s);
    OWNER void *scratch = NULL;
    struct reached r = {0};
    struct fd_plane_materials m = {{{0}}};
    struct fd_pair *pair;
    int64_t *end;
    int32_t *count;
    *t = (struct fd_terms){0};
    TRY(list_planes(s, f, &scratch, &r));
    TRY(array_own(owner, &t->node, r.num_node, sizeof *t->node, "sources"));
    TRY(array_own(owner, &t->first, r.num_node + 1, sizeof *t->first, "sources"));
    TRY(array_own(owner, &t->source, r.num_term, sizeof *t->source, "sources"));
    TRY(array_own(owner, &t->weight, r.num_term, s->real_bytes, "sources"));
    if (r.num_term == 0)
        return UNDA_OK;
    TRY(array_own(&scratch, &pair, r.most, sizeof *pair, "sources"));
    TRY(array_own(&scratch, &end, s->num_source, sizeof *end, "sources"));
    TRY(array_own(&scratch, &count, fd->axis[1].total * fd->axis[2].total, sizeof *count, "sources"));
    TRY(new_materials(fd, &scratch, &m));
    for (int64_t x = 0; x < fd->axis[0].total; x++) {
        if (r.first[x] == r.first[x + 1])
            continue;
        TRY(take_materials(s, f, &r, x, &m));
        list_plane(s, f, &r, x, &m, pair, end);
        sort_plane(s, &r, x, pair, end, count, t);
    }
    t->first[t->num_node] = t->num;
    return UNDA_OK;
}
