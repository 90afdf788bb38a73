/* cuda_points.c: sources and receivers of all schemes on a CUDA device.
 * Sources are inverted: each node that they reach has a list of terms, so that no two threads add to one node
 * and the order of the sum is fixed. Receivers store the values of their nodes, each node once, and apply the
 * weights at the end of a call, so kernels need not know the points around a node. */
#include "cuda.h"

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
    list->num_node = terms->num_node;
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

static unda_status list_group(unda_solver *s, struct fd_cuda_group *g)
{
    struct fd_cuda *t = fd_cuda(s);
    const struct fd_nodes *nodes = g->nodes;
    int64_t num = nodes->num_point;
    TRY(upload_places(s, &t->lists, g->own.num, nodes->node + g->own.first, &g->place, &g->row));
    if (fd_tables(s)->whole) /* slabs' values are weighed together */
        return UNDA_OK;
    TRY(gpu_pool_copy(&t->lists, t->stream, &g->first, nodes->first, 4 * nodes->num_run * POINT_LINES * num,
                      "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &g->along, nodes->place, 4 * POINT_WIDTH * num, "receivers"));
    return gpu_pool_copy(&t->lists, t->stream, &g->weight, nodes->weight, 8 * 3 * POINT_WIDTH * num,
                         "receivers");
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
            TRY(list_group(s, g));
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

/* The samples of one list of nodes. Lists of other fields add to what is there. */
static unda_status weigh(unda_solver *s, const struct fd_cuda_group *g, int64_t count)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t num = g->nodes->num_point;
    struct scalar_weigh_args a = {.values = POINTER(g->values),
                                  .first = POINTER(g->first),
                                  .place = POINTER(g->along),
                                  .weight = POINTER(g->weight),
                                  .out = POINTER(g->out),
                                  .num_sample = count,
                                  .num_point = num,
                                  .num_node = g->nodes->num_node,
                                  .num_run = g->nodes->num_run};
    struct gpu_shape shape = gpu_threads(32 * count * num);
    TRY(gpu_launch(&t->weigh, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, g->host, g->out, count * num * s->real_bytes));
    for (int64_t i = 0; i < count * num; i++)
        fd_add_sample(s, g->group, g->nodes, i, real_get(s, g->host, i));
    return UNDA_OK;
}

unda_status fd_cuda_fetch(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        const struct receiver_group *group = t->groups[i].group;
        int64_t count = receiver_num_since(group, s->begin, s->step);
        const struct fd_cuda_group *g = &t->groups[i];
        if (fd_tables(s)->whole)
            TRY(gpu_download(t->stream, g->host, g->values, count * g->own.num * s->real_bytes));
        else if (count > 0 && group->num_point > 0)
            TRY(weigh(s, g, count));
    }
    return UNDA_OK;
}

/* Of two values one of which was not made, all of whose bits are 0, the other one; also where it is -0. */
static double united(double a, double b)
{
    uint64_t bits, more;
    memcpy(&bits, &a, sizeof bits);
    memcpy(&more, &b, sizeof more);
    bits |= more;
    memcpy(&a, &bits, sizeof a);
    return a;
}

void fd_cuda_values(const unda_solver *s, int32_t list, int64_t i, double *values)
{
    const struct fd_cuda_group *g = &fd_cuda(s)->groups[list];
    for (int64_t k = 0; k < g->own.num; k++) {
        double value = real_get(s, g->host, i * g->own.num + k);
        values[k] = k < g->shared ? united(values[k], value) : value;
    }
}

/* ---- lists, calls ---- */

unda_status fd_cuda_list_points(unda_solver *s)
{
    gpu_pool_free(&fd_cuda(s)->lists);
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
        int64_t num_out = fd_tables(s)->whole ? 0 : g->nodes->num_point;
        int64_t num_host = fd_tables(s)->whole ? g->own.num : num_out;
        TRY(gpu_pool_alloc(&t->room, t->gpu, &g->values, bytes * g->own.num, "receiver samples"));
        TRY(gpu_pool_alloc(&t->room, t->gpu, &g->out, bytes * num_out, "receiver samples"));
        TRY(array_own(&t->host_room, &g->host, bytes * num_host, 1, "receiver samples"));
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
    free_room(fd_cuda(s));
    array_free(fd_cuda(s)->groups);
}
