/* plane_pairs.c: what sources add to a field, plane by plane. Not here: what one source adds to them (source_plane.c). */
#include "plane_pairs.h"

#include "../base/parallel.h"
#include "node_set.h"

#include <string.h>

/* ---- which sources ---- */

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
    ((struct fd_reached *)of)->first[x + 1]++;
}

static void put_source(void *of, int64_t x, int32_t number)
{
    struct fd_reached *r = of;
    r->source[r->first[x]++] = number;
}

static unda_status list_planes(const struct fd *fd, int f, int64_t num, void **owner, struct fd_reached *r)
{
    int64_t num_x = fd->axis[0].total;
    SCRATCH int32_t *last = NULL;
    TRY(array_try(&last, num_x, sizeof *last, "sources"));
    TRY(array_own(owner, &r->first, num_x + 1, sizeof *r->first, "sources"));
    for (int what = 0; what < 2; what++) {
        for (int64_t x = 0; x < num_x; x++)
            last[x] = -1;
        for (int32_t i = 0; i < num; i++)
            each_plane(fd, f, r->of[i], i, last, what ? put_source : count_plane, r);
        for (int64_t x = 0; x < num_x && !what; x++)
            r->first[x + 1] += r->first[x];
        if (!what)
            TRY(array_own(owner, &r->source, r->first[num_x], sizeof *r->source, "sources"));
    }
    memmove(r->first + 1, r->first, (size_t)num_x * sizeof *r->first); /* each was moved to its end */
    r->first[0] = 0;
    return UNDA_OK;
}

static unda_status make_room(const struct fd *fd, int f, int64_t num_source, void **owner,
                             struct fd_reached *r)
{
    int64_t num_x = fd->axis[0].total, plane = fd->axis[1].total * fd->axis[2].total;
    TRY(array_own(owner, &r->term, num_x + 1, sizeof *r->term, "sources"));
    TRY(array_own(owner, &r->node, num_x + 1, sizeof *r->node, "sources"));
    for (int64_t i = 0; i < num_source; i++)
        fd_source_count(fd, f, r->of[i], r->term + 1);
    for (int64_t x = 0; x < num_x; x++) {
        int64_t num = r->term[x + 1], sources = r->first[x + 1] - r->first[x];
        r->term[x + 1] += r->term[x];
        r->node[x + 1] = r->node[x] + (num < plane ? num : plane);
        r->most = num > r->most ? num : r->most;
        r->most_sources = sources > r->most_sources ? sources : r->most_sources;
    }
    return UNDA_OK;
}

unda_status fd_reached_new(const struct fd *fd, int f, int64_t num, void *const *sources, void **owner,
                           struct fd_reached *r)
{
    *r = (struct fd_reached){.of = sources};
    TRY(list_planes(fd, f, num, owner, r));
    return make_room(fd, f, num, owner, r);
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

/* The nodes that count for plane x, ascending, or, where many do, all of this plane and the next. */
static unda_status list_nodes(const unda_solver *s, int f, const struct fd_reached *r, int64_t x,
                              void **owner, int64_t **node, int64_t *num)
{
    const struct fd *fd = fd_tables(s);
    int64_t plane = fd->axis[1].total * fd->axis[2].total, next = (x + 1) % fd->axis[0].total;
    struct node_set set = {0};
    if (r->term[x + 1] - r->term[x] >= plane) {
        *num = next == x ? plane : 2 * plane;
        TRY(array_own(owner, node, *num, sizeof **node, "sources"));
        for (int64_t i = 0; i < *num; i++)
            (*node)[i] = i < plane ? x * plane + i : next * plane + i - plane;
        return UNDA_OK;
    }
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
        fd_source_each_material(fd, f, r->of[r->source[i]], x, span_nodes, &set);
    TRY(node_set_open(&set, owner));
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++)
        fd_source_each_material(fd, f, r->of[r->source[i]], x, add_nodes, &set);
    *num = node_set_count(&set);
    TRY(array_own(owner, node, *num, sizeof **node, "sources"));
    node_set_list(&set, *node);
    return UNDA_OK;
}

/* The materials that vary at these nodes. */
static unda_status take_materials(unda_solver *s, int f, const struct fd_reached *r, int64_t x,
                                  const struct fd_plane_materials *m)
{
    const struct fd *fd = fd_tables(s);
    int64_t plane = fd->axis[1].total * fd->axis[2].total, num = 0;
    OWNER void *owned = NULL;
    int64_t *node;
    double *value;
    if (fd_is_uniform(fd))
        return UNDA_OK;
    TRY(list_nodes(s, f, r, x, &owned, &node, &num));
    TRY(array_own(&owned, &value, num, sizeof *value, "sources"));
    for (int which = 0; which < fd->num_material && num; which++)
        if (fd->varies[which]) {
            TRY(fd_engine(s)->gather(s, FD_MATERIAL + which, num, node, value));
            for (int64_t i = 0; i < num; i++)
                m->value[which][node[i] / plane != x][node[i] % plane] = value[i];
        }
    return UNDA_OK;
}

/* ---- planes ---- */

static unda_status new_work(const struct fd *fd, const struct fd_reached *r, void **owner, struct fd_plane *w)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    TRY(array_own(owner, &w->pair, r->most, sizeof *w->pair, "sources"));
    TRY(array_own(owner, &w->end, r->most_sources, sizeof *w->end, "sources"));
    TRY(array_own(owner, &w->count, plane, sizeof *w->count, "sources"));
    TRY(array_own(owner, &w->gains, 1, sizeof *w->gains, "sources"));
    TRY(array_own(owner, &w->gains->gain, plane, sizeof *w->gains->gain, "sources"));
    TRY(array_own(owner, &w->gains->known, plane, sizeof *w->gains->known, "sources"));
    for (int which = 0; which < fd->num_material; which++)
        for (int i = 0; i < 2 && fd->varies[which]; i++)
            TRY(array_own(owner, &w->materials.value[which][i], plane, sizeof *w->materials.value[which][i],
                          "sources"));
    return UNDA_OK;
}

enum { AHEAD = 4 };

/* The pairs of plane x, source by source. */
static void fill_plane(const struct fd *fd, int f, const struct fd_reached *r, int64_t x,
                       const struct fd_plane *w)
{
    int64_t num = 0;
    for (int64_t i = r->first[x]; i < r->first[x + 1]; i++) {
        if (i + AHEAD < r->first[x + 1]) /* they are anywhere in memory */
            for (size_t byte = 0; byte < sizeof(struct fd_source) + sizeof(struct fd_tap); byte += 64)
                __builtin_prefetch((const char *)r->of[r->source[i + AHEAD]] + byte);
        num += fd_source_plane(fd, f, r->of[r->source[i]], x, w, w->pair + num);
        w->end[i - r->first[x]] = num;
    }
}

unda_status fd_each_plane(unda_solver *s, int f, const struct fd_reached *r,
                          const struct fd_plane_taker *taker)
{
    enum { MAX_WORK = 64 };
    int64_t num_x = fd_tables(s)->axis[0].total, plane[MAX_WORK];
    int32_t threads = parallel_few(s->options.threads);
    OWNER void *scratch = NULL;
    struct fd_plane work[MAX_WORK] = {{{{{0}}}, NULL, NULL, NULL, NULL}};
    threads = threads < MAX_WORK ? threads : MAX_WORK;
    for (int32_t i = 0; i < threads; i++)
        TRY(new_work(fd_tables(s), r, &scratch, &work[i]));
    for (int64_t x = 0, num; x < num_x;) {
        for (num = 0; x < num_x && num < threads; x++)
            if (r->first[x] < r->first[x + 1]) {
                TRY(take_materials(s, f, r, x,
                                   &work[num].materials)); /* of all processes, one after the other */
                plane[num++] = x;
            }
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < num; i++) {
            fill_plane(fd_tables(s), f, r, plane[i], &work[i]);
            taker->take(taker->of, plane[i], &work[i]);
        }
        for (int64_t i = 0; i < num && taker->place; i++)
            taker->place(taker->of, plane[i]);
#pragma omp parallel for schedule(static) num_threads(threads) if (taker->put)
        for (int64_t i = 0; i < num; i++)
            if (taker->put)
                taker->put(taker->of, plane[i], &work[i]);
    }
    return UNDA_OK;
}
