/* terms.c: the terms of all point sources by node: each node that they reach has a list of terms, so that the
 * order of its sum is fixed. Plane by plane of x, whose terms stay in a cache while they are sorted by node: of
 * 100,000 sources there are 5e7; some planes at once, a thread each. Not here: what one source adds to its nodes
 * (sources.c). */
#include "fd.h"
#include "node_set.h"

#include "../base/parallel.h"

#include <string.h>

/* Sources that reach planes, and room for their terms. */
struct reached {
    int64_t *first;  /* [total x + 1]: where those of each plane begin */
    int32_t *source; /* ascending in each plane */
    int64_t *term,
        *node; /* [total x + 1]: where there is room for the terms of each plane, for its nodes with terms */
    int64_t most, most_sources; /* of a plane: terms, sources */
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
    int64_t num_x = fd->axis[0].total;
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
    return UNDA_OK;
}

static unda_status make_room(const unda_solver *s, int f, int32_t threads, void **owner, struct reached *r)
{
    const struct fd *fd = fd_tables(s);
    int64_t num_x = fd->axis[0].total, plane = fd->axis[1].total * fd->axis[2].total;
    TRY(array_own(owner, &r->term, num_x + 1, sizeof *r->term, "sources"));
    TRY(array_own(owner, &r->node, num_x + 1, sizeof *r->node, "sources"));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t x = 0; x < num_x; x++)
        for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
            r->term[x + 1] += fd_source_reach(fd, f, fd_source(s, r->source[i]), x);
    for (int64_t x = 0; x < num_x; x++) {
        int64_t num = r->term[x + 1], sources = r->first[x + 1] - r->first[x];
        r->term[x + 1] += r->term[x];
        r->node[x + 1] = r->node[x] + (num < plane ? num : plane);
        r->most = num > r->most ? num : r->most;
        r->most_sources = sources > r->most_sources ? sources : r->most_sources;
    }
    return UNDA_OK;
}

/* ---- materials ---- */

static void span_nodes(void *of, int64_t node, int64_t num)
{
    node_set_span(of, node, num);
}
static void add_nodes(void *of, int64_t node, int64_t num)
{
    node_set_add(of, node, num);
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
        fd_source_each_material(fd, f, fd_source(s, r->source[i]), x, span_nodes, &set);
    TRY(node_set_open(&set, &owned));
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
        fd_source_each_material(fd, f, fd_source(s, r->source[i]), x, add_nodes, &set);
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

/* ---- planes ---- */

/* What a thread needs for a plane. */
struct work {
    struct fd_plane_materials materials;
    struct fd_pair *pair; /* what each source adds to the plane, one after the other */
    int64_t *end;         /* of source number i of the plane among them */
    int32_t *count;       /* [nodes of the plane], 0 before and after */
};

static unda_status new_work(const struct fd *fd, const struct reached *r, void **owner, struct work *w)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    TRY(array_own(owner, &w->pair, r->most, sizeof *w->pair, "sources"));
    TRY(array_own(owner, &w->end, r->most_sources, sizeof *w->end, "sources"));
    TRY(array_own(owner, &w->count, plane, sizeof *w->count, "sources"));
    for (int which = 0; which < fd->num_material; which++)
        for (int i = 0; i < 2 && fd->varies[which]; i++)
            TRY(array_own(owner, &w->materials.value[which][i], plane, sizeof *w->materials.value[which][i],
                          "sources"));
    return UNDA_OK;
}

/* The terms of plane x by node, in each by source, into its room in t; `found`: how many terms, and nodes. */
static void sort_plane(const unda_solver *s, const struct reached *r, int64_t x, const struct work *w,
                       const struct fd_terms *t, int64_t found[2])
{
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

static void list_plane(const unda_solver *s, int f, const struct reached *r, int64_t x, const struct work *w,
                       const struct fd_terms *t, int64_t found[2])
{
    int64_t num = 0;
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++) {
        num += fd_source_plane(fd_tables(s), f, fd_source(s, r->source[i]), x, &w->materials, w->pair + num);
        w->end[i - r->first[x]] = num;
    }
    sort_plane(s, r, x, w, t, found);
}

/* Closes the gaps where planes needed less room. */
static void close_gaps(const unda_solver *s, const struct reached *r, int64_t x, const int64_t found[2],
                       struct fd_terms *t)
{
    int64_t bytes = s->real_bytes;
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
    enum { MAX_WORK = 64 };
    const struct fd *fd = fd_tables(s);
    int64_t num_x = fd->axis[0].total, found[MAX_WORK][2], plane[MAX_WORK];
    int32_t threads = parallel_few(s->options.threads);
    OWNER void *scratch = NULL;
    struct reached r = {0};
    struct work work[MAX_WORK] = {{{{{0}}}, NULL, NULL, NULL}};
    *t = (struct fd_terms){0};
    threads = threads < MAX_WORK ? threads : MAX_WORK;
    TRY(list_planes(s, f, &scratch, &r));
    TRY(make_room(s, f, threads, &scratch, &r));
    TRY(array_own(owner, &t->node, r.node[num_x], sizeof *t->node, "sources"));
    TRY(array_own(owner, &t->first, r.node[num_x] + 1, sizeof *t->first, "sources"));
    TRY(array_own(owner, &t->source, r.term[num_x], sizeof *t->source, "sources"));
    TRY(array_own(owner, &t->weight, r.term[num_x], s->real_bytes, "sources"));
    if (r.term[num_x] == 0)
        return UNDA_OK;
    for (int32_t i = 0; i < threads; i++)
        TRY(new_work(fd, &r, &scratch, &work[i]));
    for (int64_t x = 0, num; x < num_x;) {
        for (num = 0; x < num_x && num < threads; x++)
            if (r.first[x] < r.first[x + 1]) {
                TRY(take_materials(s, f, &r, x,
                                   &work[num].materials)); /* of all processes, one after the other */
                plane[num++] = x;
            }
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < num; i++)
            list_plane(s, f, &r, plane[i], &work[i], t, found[i]);
        for (int64_t i = 0; i < num; i++)
            close_gaps(s, &r, plane[i], found[i], t);
    }
    t->first[t->num_node] = t->num;
    return UNDA_OK;
}
