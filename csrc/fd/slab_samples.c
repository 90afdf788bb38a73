/* slab_samples.c: receivers of a grid that is cut into slabs. A point all of whose nodes one slab alone makes is weighed
 * there, by its engine where that can (fd_cuda_fetch); points beside cuts are weighed here, from their nodes' values.
 * Slabs, and processes with a slab each, unite of each sample of a list of nodes
 *     values at nodes of points beside cuts, then those of all points that one slab weighs alone,
 * by the bitwise or of what each of them has: values that it did not make are 0.
 * Not here: a slab's values (engines). */
#include "../base/parallel.h"
#include "slabs.h"

#include <string.h>

enum { BATCH = 1 << 20 }; /* values that are united at once */

struct slab_samples {
    struct slab_list *list;
    double *united; /* [batch][node beside a cut, then point] */
};

#define EACH(s, c) for (int32_t c = slabs(s)->first; c < slabs(s)->end; c++)

/* ---- lists ---- */

/* Planes that a slab makes and no other one does. */
static struct fd_span planes_alone(const unda_solver *s, int32_t i)
{
    const struct fd *fd = &slabs(s)->slab[i].fd;
    int64_t above = i + 1 < slabs(s)->num ? slabs(s)->slab[i + 1].fd.shared : 0;
    return (struct fd_span){fd->begin, fd->end - above};
}

/* All nodes of a line of a point lie in one plane. */
static bool is_home(const struct fd_nodes *n, struct fd_range alone, int64_t point)
{
    const int32_t *first = n->first + n->num_run * POINT_LINES * point;
    for (int k = 0; k < n->num_run * POINT_LINES; k++)
        if (first[k] >= 0 && (first[k] < alone.first || first[k] >= alone.first + alone.num))
            return false;
    return true;
}

/* Of points without a home so far, those that slab i alone has. */
static void find_home(const unda_solver *s, const struct fd_nodes *n, int32_t i, struct slab_list *list)
{
    struct fd_range alone = fd_nodes_in(fd_tables(s), n->node, n->num_node, planes_alone(s, i));
    for (int64_t p = 0; p < n->num_point; p++)
        if (list->home[p] < 0 && is_home(n, alone, p))
            list->home[p] = i;
}

static unda_status fill_list(const unda_solver *s, const struct fd_nodes *n, void **owner,
                             struct slab_list *list)
{
    SCRATCH uint8_t *marked = NULL;
    TRY(array_try(&marked, n->num_node, 1, "receivers"));
    TRY(array_own(owner, &list->home, n->num_point, sizeof *list->home, "receivers"));
    for (int64_t p = 0; p < n->num_point; p++)
        list->home[p] = -1;
    for (int32_t i = 0; i < slabs(s)->num; i++)
        find_home(s, n, i, list);
    for (int64_t p = 0; p < n->num_point; p++)
        for (int i = 0; i < POINT_LINES * POINT_WIDTH && list->home[p] < 0; i++) {
            int64_t at = fd_point_node(n, p, i / POINT_WIDTH, i % POINT_WIDTH);
            if (at >= 0)
                marked[at] = 1;
        }
    for (int64_t i = 0; i < n->num_node; i++)
        list->num_cut += marked[i];
    TRY(array_own(owner, &list->cut, list->num_cut, sizeof *list->cut, "receivers"));
    for (int64_t i = 0, k = 0; i < n->num_node; i++)
        if (marked[i])
            list->cut[k++] = i;
    return UNDA_OK;
}

static int64_t width(const struct slab_list *list, const struct fd_nodes *n)
{
    return list->num_cut + n->num_point;
}
static int64_t batch(int64_t width)
{
    return width && width < BATCH ? BATCH / width : 1;
}

unda_status fd_slabs_list_points(unda_solver *s)
{
    void **owner = &slabs(s)->samples_owned;
    struct slab_samples *r;
    int32_t num = 0, number = 0;
    int64_t most = 0;
    arrays_free(owner);
    for (int32_t g = 0; g < s->num_group; g++)
        num += fd_num_nodes(s->groups[g]);
    TRY(array_own(owner, &r, 1, sizeof *r, "receivers"));
    TRY(array_own(owner, &r->list, num, sizeof *r->list, "receivers"));
    for (int32_t g = 0; g < s->num_group; g++)
        for (int32_t i = 0; i < fd_num_nodes(s->groups[g]); i++, number++) {
            const struct fd_nodes *n = fd_nodes_of(s->groups[g], i);
            TRY(fill_list(s, n, owner, &r->list[number]));
            int64_t all = width(&r->list[number], n) * batch(width(&r->list[number], n));
            most = all > most ? all : most;
        }
    TRY(array_own(owner, &r->united, most, sizeof *r->united, "receivers"));
    slabs(s)->samples = r;
    return UNDA_OK;
}

const struct slab_list *fd_slabs_list(const unda_solver *s, int32_t number)
{
    return &slabs(s)->samples->list[number];
}

/* ---- samples ---- */

/* Also of -0, and where the other value is 0. */
static void unite(double *to, double value)
{
    uint64_t bits, more;
    memcpy(&bits, to, sizeof bits);
    memcpy(&more, &value, sizeof more);
    bits |= more;
    memcpy(to, &bits, sizeof bits);
}

/* What slab `own` knows of sample number i. */
static void give(unda_solver *s, int32_t own, int32_t number, const struct fd_nodes *n, int64_t i, double *to)
{
    const struct fd_engine *engine = fd_slab_engine(s);
    const struct slab_list *list = fd_slabs_list(s, number);
    const struct fd *fd = fd_tables(slab_of(s, own));
    int32_t threads = parallel_few(s->options.threads);
    double *values = slabs(s)->values;
    struct fd_range here = fd_nodes_in(fd, n->node, n->num_node, fd_planes_made(fd));
    engine->values(slab_of(s, own), number, i, values + here.first);
    for (int64_t k = fd_num_before(list->cut, list->num_cut, here.first);
         k < list->num_cut && list->cut[k] < here.first + here.num; k++)
        unite(&to[k], values[list->cut[k]]);
    if (engine->weighed) {
        engine->weighed(slab_of(s, own), number, i, to + list->num_cut);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (n->num_point > 1000)
    for (int64_t p = 0; p < n->num_point; p++)
        if (list->home[p] == own)
            to[list->num_cut + p] = fd_weigh(n, p, values);
}

/* Of a sample, from what all know of it. */
static void take(unda_solver *s, int32_t number, const struct receiver_group *group, const struct fd_nodes *n,
                 int64_t i, const double *from)
{
    const struct slab_list *list = fd_slabs_list(s, number);
    int32_t threads = parallel_few(s->options.threads);
    double *values = slabs(s)->values;
    for (int64_t k = 0; k < list->num_cut; k++)
        values[list->cut[k]] = from[k];
#pragma omp parallel for schedule(static) num_threads(threads) if (n->num_point > 1000)
    for (int64_t p = 0; p < n->num_point; p++)
        fd_add_sample(s, group, n, i * n->num_point + p,
                      list->home[p] < 0 ? fd_weigh(n, p, values) : from[list->num_cut + p]);
}

unda_status fd_slabs_take_samples(unda_solver *s, int32_t number, const struct receiver_group *group,
                                  const struct fd_nodes *n)
{
    const struct slab_samples *r = slabs(s)->samples;
    int64_t count = receiver_num_since(group, s->begin, s->step), wide = width(fd_slabs_list(s, number), n);
    for (int64_t first = 0, num; first < count; first += num) {
        num = count - first < batch(wide) ? count - first : batch(wide);
        memset(r->united, 0, sizeof *r->united * (size_t)(num * wide));
        for (int64_t i = 0; i < num; i++)
            EACH(s, own) give(s, own, number, n, first + i, r->united + i * wide);
        TRY(fd_rank_unite(s, r->united, num * wide * (int64_t)sizeof *r->united));
        for (int64_t i = 0; i < num; i++)
            take(s, number, group, n, first + i, r->united + i * wide);
    }
    return UNDA_OK;
}
