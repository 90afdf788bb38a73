/* cuda_points.c: sources and receivers of all schemes on a CUDA device.
 * Sources are inverted: each node that they reach has a list of terms, so that no two threads add to one node
 * and the order of the sum is fixed. Receivers store the values of their nodes, each node once, and apply the
 * weights at the end of a call, so kernels need not know the points around a node. A slab weighs those points that it
 * has all nodes of; of the others it gives values (slab_samples.c). */
#include "cuda.h"
#include "slabs.h"

#include <string.h>

/* ---- values at nodes, at once ---- */

static struct scalar_rows rows_of(const struct fd_cuda *t, gpu_ptr row)
{
    return (struct scalar_rows){POINTER(row), t->first_row, t->end_row};
}

static unda_status gather_places(unda_solver *s, gpu_ptr p, int64_t count, gpu_ptr place, gpu_ptr row,
                                 gpu_ptr values)
{
    struct scalar_gather_args a = {POINTER(p), POINTER(place), POINTER(values), count,
                                   rows_of(fd_cuda(s), row)};
    struct gpu_shape shape = gpu_threads(count);
    return count ? gpu_launch(&fd_cuda(s)->gather, fd_cuda(s)->stream, &shape, &a, sizeof a) : UNDA_OK;
}

unda_status fd_cuda_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    struct fd_cuda *t = fd_cuda(s);
    __attribute__((cleanup(gpu_pool_free))) struct gpu_pool pool = {0};
    gpu_ptr list, out;
    SCRATCH int64_t *place = NULL;
    SCRATCH void *real = NULL;
    TRY(array_try(&place, count, sizeof *place, "nodes"));
    TRY(array_try(&real, count, s->real_bytes, "nodes"));
    for (int64_t i = 0; i < count; i++)
        place[i] = fd_cuda_place(s, node[i]);
    TRY(gpu_pool_copy(&pool, t->stream, &list, place, 8 * count, "nodes"));
    TRY(gpu_pool_alloc(&pool, t->gpu, &out, count * s->real_bytes, "nodes"));
    TRY(gather_places(s, fd_cuda_array(t, array), count, list, 0, out));
    TRY(gpu_download(t->stream, real, out, count * s->real_bytes));
    for (int64_t i = 0; i < count; i++)
        values[i] = real_get(s, real, i);
    return UNDA_OK;
}

/* Where nodes, ascending, stand in an array, and, where points are looked for by these, their rows of y. */
static unda_status upload_places(unda_solver *s, struct gpu_pool *pool, int64_t num, const int64_t *node,
                                 gpu_ptr *places, gpu_ptr *rows)
{
    struct fd_cuda *t = fd_cuda(s);
    const struct fd_axis *axis = fd_tables(s)->axis;
    int64_t line = -axis[2].total, at = 0; /* the first node of the last one's line along z, and its place */
    SCRATCH int64_t *place = NULL;
    SCRATCH int32_t *row = NULL;
    TRY(array_try(&place, num, sizeof *place, "points"));
    for (int64_t i = 0; i < num; i++) {
        if (node[i] >= line + axis[2].total) {
            line = node[i] / axis[2].total * axis[2].total;
            at = fd_cuda_place(s, line);
        }
        place[i] = at + node[i] - line;
    }
    TRY(gpu_pool_copy(pool, t->stream, places, place, 8 * num, "points"));
    *rows = 0;
    if (!t->by_row)
        return UNDA_OK;
    TRY(array_try(&row, num, sizeof *row, "points"));
    for (int64_t i = 0; i < num; i++)
        row[i] = (int32_t)(node[i] / axis[2].total % axis[1].total);
    return gpu_pool_copy(pool, t->stream, rows, row, 4 * num, "points");
}

/* ---- sources ---- */

static unda_status upload_terms(unda_solver *s, struct fd_cuda_sources *list, const struct fd_terms *terms)
{
    const struct fd *fd = fd_tables(s);
    struct gpu_pool *pool = &fd_cuda(s)->lists;
    struct gpu_stream *stream = fd_cuda(s)->stream;
    SCRATCH int32_t *first = NULL;
    int64_t begin = terms->first[0], num = terms->first[terms->num_node] - begin;
    if (num >= INT32_MAX)
        FAIL(UNDA_ERR_ARG, "sources reach %lld nodes, expected fewer than 2^31", (long long)num);
    *list = (struct fd_cuda_sources){.num_node = terms->num_node}; /* of sources before there may be parts */
    if (num == 0)
        return UNDA_OK;
    TRY(array_try(&first, terms->num_node + 1, sizeof *first, "sources"));
    for (int64_t n = 0; n <= terms->num_node; n++)
        first[n] = (int32_t)(terms->first[n] - begin);
    for (int part = FD_BORDER, k = 0; part <= FD_INSIDE; part++) {
        struct fd_span span[2];
        int num_span = fd_spans(fd, part, span);
        for (int i = 0; i < num_span; i++)
            list->part[k++] = fd_nodes_in(fd, terms->node, terms->num_node, span[i]);
    }
    TRY(upload_places(s, pool, terms->num_node, terms->node, &list->place, &list->row));
    TRY(gpu_pool_copy(pool, stream, &list->first, first, 4 * (terms->num_node + 1), "sources"));
    TRY(gpu_pool_copy(pool, stream, &list->number, terms->source + begin, 4 * num, "sources"));
    return gpu_pool_copy(pool, stream, &list->weight, (char *)terms->weight + begin * s->real_bytes,
                         s->real_bytes * num, "sources");
}

static unda_status list_sources(unda_solver *s)
{
    for (int f = 0; f < fd_tables(s)->num_field; f++) {
        OWNER void *owned = NULL;
        struct fd_terms terms;
        TRY(fd_own_terms(s, f, &owned, &terms));
        TRY(upload_terms(s, &fd_cuda(s)->source[f], &terms));
    }
    return UNDA_OK;
}

/* Into some of the nodes. */
static unda_status inject(unda_solver *s, int f, gpu_ptr p, int64_t time, struct fd_range nodes)
{
    struct fd_cuda *t = fd_cuda(s);
    const struct fd_cuda_sources *list = &t->source[f];
    if (nodes.num == 0)
        return UNDA_OK;
    struct scalar_inject_args a = {POINTER(p),
                                   POINTER(list->place + 8 * (gpu_ptr)nodes.first),
                                   POINTER(list->first + 4 * (gpu_ptr)nodes.first),
                                   POINTER(list->number),
                                   POINTER(list->weight),
                                   POINTER(t->amplitude + (gpu_ptr)(time * s->num_source * s->real_bytes)),
                                   nodes.num,
                                   rows_of(t, list->row)};
    struct gpu_shape shape = gpu_threads(nodes.num);
    return gpu_launch(&t->inject, t->stream, &shape, &a, sizeof a);
}

unda_status fd_cuda_inject(unda_solver *s, int f, gpu_ptr p, int64_t time)
{
    return inject(s, f, p, time, (struct fd_range){0, fd_cuda(s)->source[f].num_node});
}

unda_status fd_cuda_inject_part(unda_solver *s, int f, gpu_ptr p, int64_t time, enum fd_part part)
{
    const struct fd_cuda_sources *list = &fd_cuda(s)->source[f];
    struct fd_span span[2];
    int num_border = fd_spans(fd_tables(s), FD_BORDER, span);
    int begin = part == FD_BORDER ? 0 : num_border, end = part == FD_BORDER ? num_border : num_border + 1;
    for (int i = begin; i < end; i++)
        TRY(inject(s, f, p, time, list->part[i]));
    return UNDA_OK;
}

/* ---- receivers ---- */

static unda_status upload_weights(unda_solver *s, struct fd_cuda_group *g, const struct fd_nodes *points)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t num = points->num_point;
    g->num_point = num;
    TRY(gpu_pool_copy(&t->lists, t->stream, &g->first, points->first, 4 * points->num_run * POINT_LINES * num,
                      "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &g->along, points->place, 4 * POINT_WIDTH * num, "receivers"));
    return gpu_pool_copy(&t->lists, t->stream, &g->weight, points->weight, 8 * 3 * POINT_WIDTH * num,
                         "receivers");
}

/* Of a slab: points whose home it is, with numbers of its own nodes. */
static unda_status list_home_points(unda_solver *s, struct fd_cuda_group *g, const struct slab_list *list)
{
    const struct fd_nodes *all = g->nodes;
    int64_t lines = all->num_run * POINT_LINES, num = 0;
    OWNER void *owned = NULL;
    struct fd_nodes here = *all;
    for (int64_t p = 0; p < all->num_point; p++)
        num += list->home[p] == slab_number(s);
    TRY(array_own(&fd_cuda(s)->points, &g->point, num, sizeof *g->point, "receivers"));
    TRY(array_own(&owned, &here.first, lines * num, sizeof *here.first, "receivers"));
    TRY(array_own(&owned, &here.place, POINT_WIDTH * num, sizeof *here.place, "receivers"));
    TRY(array_own(&owned, &here.weight, 3 * POINT_WIDTH * num, sizeof *here.weight, "receivers"));
    here.num_point = 0;
    for (int64_t p = 0; p < all->num_point; p++) {
        int64_t to = here.num_point;
        if (list->home[p] != slab_number(s))
            continue;
        g->point[here.num_point++] = p;
        for (int64_t k = 0; k < lines; k++) {
            int32_t first = all->first[lines * p + k];
            here.first[lines * to + k] = first < 0 ? first : first - (int32_t)g->own.first;
        }
        memcpy(here.place + POINT_WIDTH * to, all->place + POINT_WIDTH * p, POINT_WIDTH * sizeof *here.place);
        memcpy(here.weight + 3 * POINT_WIDTH * to, all->weight + 3 * POINT_WIDTH * p,
               3 * POINT_WIDTH * sizeof *here.weight);
    }
    return upload_weights(s, g, &here);
}

/* Those of points beside cuts stand at both ends of a slab's own nodes: two ranges, beside the widest gap. */
static void find_cut_nodes(struct fd_cuda_group *g, const struct slab_list *list)
{
    int64_t begin = fd_num_before(list->cut, list->num_cut, g->own.first);
    int64_t end = fd_num_before(list->cut, list->num_cut, g->own.first + g->own.num), split = end;
    if (begin == end)
        return;
    for (int64_t k = begin + 1, widest = 0; k < end; k++)
        if (list->cut[k] - list->cut[k - 1] > widest) {
            widest = list->cut[k] - list->cut[k - 1];
            split = k;
        }
    g->cut[0] =
        (struct fd_range){list->cut[begin] - g->own.first, list->cut[split - 1] - list->cut[begin] + 1};
    if (split < end)
        g->cut[1] =
            (struct fd_range){list->cut[split] - g->own.first, list->cut[end - 1] - list->cut[split] + 1};
}

static unda_status list_group(unda_solver *s, struct fd_cuda_group *g, int32_t number)
{
    const struct fd_nodes *nodes = g->nodes;
    TRY(upload_places(s, &fd_cuda(s)->lists, g->own.num, nodes->node + g->own.first, &g->place, &g->row));
    if (!fd_tables(s)->whole)
        return upload_weights(s, g, nodes);
    const struct slab_list *list = fd_slabs_list(fd_tables(s)->whole, number);
    find_cut_nodes(g, list);
    return list_home_points(s, g, list);
}

static unda_status list_groups(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct fd_cuda *t = fd_cuda(s);
    int32_t num = 0;
    for (int32_t i = 0; i < s->num_group; i++)
        num += fd_num_nodes(s->groups[i]);
    TRY(array_grow(&t->groups, 0, num, sizeof *t->groups, "receivers"));
    t->num_group = 0;
    for (int32_t i = 0; i < s->num_group; i++)
        for (int32_t number = 0; number < fd_num_nodes(s->groups[i]); number++) {
            struct fd_cuda_group *g = &t->groups[t->num_group++];
            const struct fd_nodes *nodes = fd_nodes_of(s->groups[i], number);
            struct fd_span shared = {fd->begin - fd->shared, fd->begin};
            *g = (struct fd_cuda_group){.group = s->groups[i],
                                        .nodes = nodes,
                                        .own =
                                            fd_nodes_in(fd, nodes->node, nodes->num_node, fd_planes_made(fd)),
                                        .shared = fd_nodes_in(fd, nodes->node, nodes->num_node, shared).num};
            TRY(list_group(s, g, t->num_group - 1));
        }
    return UNDA_OK;
}

static unda_status take_sample(unda_solver *s, const struct fd_cuda_group *g, int64_t sample)
{
    gpu_ptr from = fd_cuda_array(fd_cuda(s), g->nodes->field),
            to = g->values + (gpu_ptr)((sample * g->own.num + g->shared) * s->real_bytes),
            place = g->place + 8 * (gpu_ptr)g->shared, row = g->row ? g->row + 4 * (gpu_ptr)g->shared : 0;
    return gather_places(s, from, g->own.num - g->shared, place, row, to);
}

unda_status fd_cuda_clear_samples(unda_solver *s, int64_t num_step)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        int64_t count = receiver_num_since(t->groups[i].group, s->begin, s->begin + num_step);
        TRY(gpu_zero_async(t->stream, t->groups[i].values, count * t->groups[i].own.num * s->real_bytes));
    }
    return UNDA_OK;
}

unda_status fd_cuda_take(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        const struct receiver_group *group = t->groups[i].group;
        if (receiver_due(group, s->step))
            TRY(take_sample(s, &t->groups[i], receiver_num_since(group, s->begin, s->step) - 1));
    }
    return UNDA_OK;
}

unda_status fd_cuda_take_all(unda_solver *s, int which)
{
    (void)which;
    for (int32_t i = 0; i < fd_cuda(s)->num_group; i++)
        TRY(take_sample(s, &fd_cuda(s)->groups[i], 0));
    return UNDA_OK;
}

/* The samples of one list of nodes. */
static unda_status weigh(unda_solver *s, const struct fd_cuda_group *g, int64_t count)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t num = g->num_point;
    if (num == 0)
        return UNDA_OK;
    struct scalar_weigh_args a = {.values = POINTER(g->values),
                                  .first = POINTER(g->first),
                                  .place = POINTER(g->along),
                                  .weight = POINTER(g->weight),
                                  .out = POINTER(g->out),
                                  .num_sample = count,
                                  .num_point = num,
                                  .num_node = g->own.num,
                                  .num_run = g->nodes->num_run};
    struct gpu_shape shape = gpu_threads(32 * count * num);
    TRY(gpu_launch(&t->weigh, t->stream, &shape, &a, sizeof a));
    return gpu_download(t->stream, g->host, g->out, count * num * s->real_bytes);
}

/* Of a slab: the values of all samples that points beside cuts take. */
static unda_status fetch_cut(unda_solver *s, const struct fd_cuda_group *g, int64_t count)
{
    struct gpu_stream *stream = fd_cuda(s)->stream;
    int64_t real = s->real_bytes;
    for (int i = 0; i < 2; i++)
        TRY(gpu_download_parts_async(stream, g->host_cut[i], g->cut[i].num * real,
                                     g->values + (gpu_ptr)(g->cut[i].first * real), g->own.num * real,
                                     g->cut[i].num * real, count));
    return g->cut[0].num ? gpu_sync(stream) : UNDA_OK;
}

/* Lists of other fields add to what is there. */
static void add_samples(unda_solver *s, const struct fd_cuda_group *g, int64_t count)
{
    for (int64_t i = 0; i < count * g->num_point; i++)
        fd_add_sample(s, g->group, g->nodes, i, real_get(s, g->host, i));
}

unda_status fd_cuda_fetch(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        const struct receiver_group *group = t->groups[i].group;
        int64_t count = receiver_num_since(group, s->begin, s->step);
        const struct fd_cuda_group *g = &t->groups[i];
        if (count == 0)
            continue;
        TRY(weigh(s, g, count));
        TRY(fetch_cut(s, g, count));
        if (!fd_tables(s)->whole)
            add_samples(s, g, count);
    }
    return UNDA_OK;
}

void fd_cuda_values(const unda_solver *s, int32_t list, int64_t i, double *values)
{
    const struct fd_cuda_group *g = &fd_cuda(s)->groups[list];
    for (int side = 0; side < 2; side++)
        for (int64_t k = 0; k < g->cut[side].num; k++)
            values[g->cut[side].first + k] = real_get(s, g->host_cut[side], i * g->cut[side].num + k);
}

void fd_cuda_weighed(const unda_solver *s, int32_t list, int64_t i, double *weighed)
{
    const struct fd_cuda_group *g = &fd_cuda(s)->groups[list];
    for (int64_t k = 0; k < g->num_point; k++)
        weighed[g->point[k]] = real_get(s, g->host, i * g->num_point + k);
}

/* ---- lists, calls ---- */

unda_status fd_cuda_list_points(unda_solver *s)
{
    gpu_pool_free(&fd_cuda(s)->lists);
    arrays_free(&fd_cuda(s)->points);
    TRY(list_sources(s));
    return list_groups(s);
}

static void free_room(struct fd_cuda *t)
{
    gpu_pool_free(&t->room);
    arrays_free(&t->host_room);
}

unda_status fd_cuda_reserve(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    free_room(t);
    for (int32_t i = 0; i < t->num_group; i++) {
        struct fd_cuda_group *g = &t->groups[i];
        int64_t bytes = (s->max_step / g->group->every + 2) * s->real_bytes; /* of one value */
        TRY(gpu_pool_alloc(&t->room, t->gpu, &g->values, bytes * g->own.num, "receiver samples"));
        TRY(gpu_pool_alloc(&t->room, t->gpu, &g->out, bytes * g->num_point, "receiver samples"));
        TRY(array_own(&t->host_room, &g->host, bytes * g->num_point, 1, "receiver samples"));
        for (int side = 0; side < 2; side++)
            TRY(array_own(&t->host_room, &g->host_cut[side], bytes * g->cut[side].num, 1,
                          "receiver samples"));
    }
    return gpu_pool_alloc(&t->room, t->gpu, &t->amplitude, s->max_step * s->num_source * s->real_bytes,
                          "source amplitudes");
}

unda_status fd_cuda_drive(unda_solver *s, const unda_drive *drive)
{
    struct fd_cuda *t = fd_cuda(s);
    TRY(fd_need_material(s));
    return gpu_upload_reals(t->stream, t->amplitude, drive->amplitudes, drive->num_time * s->num_source,
                            s->real_bytes);
}

void fd_cuda_points_free(unda_solver *s)
{
    gpu_pool_free(&fd_cuda(s)->lists);
    arrays_free(&fd_cuda(s)->points);
    free_room(fd_cuda(s));
    array_free(fd_cuda(s)->groups);
}
