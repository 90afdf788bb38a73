/* rank_samples.c: receivers of a grid that processes share. A point whose nodes all lie in one slab is weighed by the
 * process that has them; of the others, beside cuts, all processes get the nodes' values and weigh alike. So a process
 * unites with the others, of each sample of a list of nodes,
 *     values at nodes of points beside cuts, then those of all points that one process weighs alone.
 * Not here: a slab's values at its nodes (engines). */
#include "../base/parallel.h"
#include "slabs.h"

#include <string.h>

enum { BATCH = 1 << 20 }; /* values that are united at once */

struct rank_list {
    int64_t num_shared;
    int64_t *shared; /* numbers of nodes of points beside cuts, ascending */
    int32_t *home;   /* [point]: the slab that has all its nodes; -1: beside a cut */
};

struct rank_samples {
    struct rank_list *list;
    double *united; /* [batch][shared node, then point] */
};

/* Number of the node of weight k along z on a line of a point, -1: none. */
static int64_t node_of(const struct fd_nodes *n, int64_t point, int line, int k)
{
    const int32_t *first = n->first + n->num_run * POINT_LINES * point;
    int32_t place = n->place[POINT_WIDTH * point + k];
    if (first[line] < 0 || n->weight[3 * POINT_WIDTH * point + 2 * POINT_WIDTH + k] == 0)
        return -1;
    return place >= 0 ? first[line] + place : first[POINT_LINES + line] + ~place;
}

/* The slab that has the node; of a point's nodes all, or -1. */
static int32_t find_home(const unda_solver *s, const struct fd_nodes *n, int64_t point)
{
    int32_t home = 0;
    bool any = false;
    for (int i = 0; i < POINT_LINES * POINT_WIDTH; i++) {
        int64_t at = node_of(n, point, i / POINT_WIDTH, i % POINT_WIDTH);
        int32_t owner = at < 0 ? home : fd_slab_with(s, n->node[at]);
        if (any && owner != home)
            return -1;
        home = owner;
        any = any || at >= 0;
    }
    return home;
}

static unda_status fill_list(const unda_solver *s, const struct fd_nodes *n, void **owner,
                             struct rank_list *list)
{
    SCRATCH uint8_t *marked = NULL;
    TRY(array_try(&marked, n->num_node, 1, "receivers"));
    TRY(array_own(owner, &list->home, n->num_point, sizeof *list->home, "receivers"));
    for (int64_t p = 0; p < n->num_point; p++) {
        list->home[p] = find_home(s, n, p);
        for (int i = 0; i < POINT_LINES * POINT_WIDTH && list->home[p] < 0; i++) {
            int64_t at = node_of(n, p, i / POINT_WIDTH, i % POINT_WIDTH);
            if (at >= 0)
                marked[at] = 1;
        }
    }
    for (int64_t i = 0; i < n->num_node; i++)
        list->num_shared += marked[i];
    TRY(array_own(owner, &list->shared, list->num_shared, sizeof *list->shared, "receivers"));
    for (int64_t i = 0, k = 0; i < n->num_node; i++)
        if (marked[i])
            list->shared[k++] = i;
    return UNDA_OK;
}

static int64_t width(const struct rank_list *list, const struct fd_nodes *n)
{
    return list->num_shared + n->num_point;
}
static int64_t batch(int64_t width)
{
    return width && width < BATCH ? BATCH / width : 1;
}

unda_status fd_rank_list_points(unda_solver *s, void **owner, struct rank_samples **out)
{
    struct rank_samples *r;
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
    *out = r;
    return UNDA_OK;
}

/* What this process knows of sample number i. */
static void give(unda_solver *s, int32_t number, const struct rank_list *list, const struct fd_nodes *n,
                 int64_t i, double *to)
{
    int32_t own = slabs(s)->first, threads = parallel_few(s->options.threads);
    double *values = slabs(s)->values;
    struct fd_range here = fd_nodes_in(fd_tables(slab_of(s, own)), n->node, n->num_node,
                                       fd_planes_of(fd_tables(slab_of(s, own))));
    fd_slab_engine(s)->values(slab_of(s, own), number, i, values + here.first);
    for (int64_t k = 0; k < list->num_shared; k++)
        if (list->shared[k] >= here.first && list->shared[k] < here.first + here.num)
            to[k] = values[list->shared[k]];
#pragma omp parallel for schedule(static) num_threads(threads) if (n->num_point > 1000)
    for (int64_t p = 0; p < n->num_point; p++)
        if (list->home[p] == own)
            to[list->num_shared + p] = fd_weigh(n, p, values);
}

unda_status fd_rank_take_samples(unda_solver *s, struct rank_samples *r, int32_t number,
                                 const struct receiver_group *group, const struct fd_nodes *n)
{
    const struct rank_list *list = &r->list[number];
    int64_t count = receiver_num_since(group, s->begin, s->step), wide = width(list, n), most = batch(wide);
    double *values = slabs(s)->values;
    for (int64_t first = 0, num; first < count; first += num) {
        num = count - first < most ? count - first : most;
        memset(r->united, 0, sizeof *r->united * (size_t)(num * wide));
        for (int64_t i = 0; i < num; i++)
            give(s, number, list, n, first + i, r->united + i * wide);
        TRY(fd_rank_unite(s, r->united, num * wide * (int64_t)sizeof *r->united));
        for (int64_t i = 0; i < num; i++) {
            const double *from = r->united + i * wide;
            for (int64_t k = 0; k < list->num_shared; k++)
                values[list->shared[k]] = from[k];
            for (int64_t p = 0; p < n->num_point; p++)
                fd_add_sample(s, group, n, (first + i) * n->num_point + p,
                              list->home[p] < 0 ? fd_weigh(n, p, values) : from[list->num_shared + p]);
        }
    }
    return UNDA_OK;
}
