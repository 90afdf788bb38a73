/* fd_cuda_points.c: sources and receivers of all schemes on a CUDA device.
 * Sources are inverted: each node that they reach has a list of terms, so that no two threads add to one node
 * and the order of the sum is fixed. Receivers store the values of their nodes, each node once, and apply the
 * weights at the end of a call, so kernels need not know the points around a node. */
#include "fd_cuda.h"

#include <stdlib.h>

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

static unda_status gather_into(unda_solver *s, gpu_ptr p, int64_t count, const int64_t *place, void *real)
{
    struct fd_cuda *t = fd_cuda(s);
    gpu_ptr list = 0, values = 0;
    unda_status status = gpu_alloc_copy(t->stream, &list, place, 8 * count, "nodes");
    if (status == UNDA_OK)
        status = gpu_alloc(t->gpu, &values, count * s->real_bytes, "nodes");
    if (status == UNDA_OK)
        status = gather_places(s, p, count, list, 0, values);
    if (status == UNDA_OK && count)
        status = gpu_download(t->stream, real, values, count * s->real_bytes);
    gpu_free(t->gpu, list);
    gpu_free(t->gpu, values);
    return status;
}

unda_status fd_cuda_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t *place;
    void *real;
    TRY(array_try(&place, count, sizeof *place, "nodes"));
    unda_status status = array_try(&real, count, s->real_bytes, "nodes");
    if (status != UNDA_OK) {
        array_free(place);
        return status;
    }
    for (int64_t i = 0; i < count; i++)
        place[i] = fd_cuda_place(s, node[i]);
    status = gather_into(s, fd_cuda_array(t, array), count, place, real);
    for (int64_t i = 0; i < count && status == UNDA_OK; i++)
        values[i] = s->real_bytes == 4 ? (double)((float *)real)[i] : ((double *)real)[i];
    array_free(real);
    array_free(place);
    return status;
}

/* Rows of y of nodes, where points are looked for by these. */
static unda_status upload_rows(unda_solver *s, gpu_ptr *ptr, int64_t num, const int64_t *node)
{
    struct fd_cuda *t = fd_cuda(s);
    int32_t *row;
    if (!t->by_row)
        return UNDA_OK;
    TRY(array_try(&row, num, sizeof *row, "points"));
    for (int64_t i = 0; i < num; i++)
        row[i] = (int32_t)(node[i] / fd_tables(s)->axis[2].total % fd_tables(s)->axis[1].total);
    unda_status status = gpu_alloc_copy(t->stream, ptr, row, (int64_t)sizeof *row * num, "points");
    array_free(row);
    return status;
}

/* ---- sources ---- */

static void free_sources(struct fd_cuda *t)
{
    for (int f = 0; f < FD_MAX_FIELD; f++) {
        struct fd_cuda_sources *list = &t->source[f];
        gpu_ptr all[] = {list->place, list->row, list->first, list->number, list->weight};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            gpu_free(t->gpu, all[i]);
        *list = (struct fd_cuda_sources){0};
    }
    t->source_version = -1;
}

/* Arrays of places and of where terms begin, as the kernel takes them. */
static unda_status upload_nodes(unda_solver *s, struct fd_cuda_sources *list, const struct fd_terms *terms,
                                int64_t *place, int32_t *first)
{
    struct gpu_stream *stream = fd_cuda(s)->stream;
    for (int64_t n = 0; n < terms->num_node; n++)
        place[n] = fd_cuda_place(s, terms->node[n]);
    for (int64_t n = 0; n <= terms->num_node; n++)
        first[n] = (int32_t)terms->first[n];
    TRY(gpu_alloc_copy(stream, &list->place, place, 8 * terms->num_node, "sources"));
    return gpu_alloc_copy(stream, &list->first, first, 4 * (terms->num_node + 1), "sources");
}

static unda_status upload_terms(unda_solver *s, struct fd_cuda_sources *list, const struct fd_terms *terms)
{
    int64_t *place;
    int32_t *first = NULL;
    if (terms->num >= INT32_MAX)
        FAIL(UNDA_ERR_ARG, "sources reach %lld nodes, expected fewer than 2^31", (long long)terms->num);
    TRY(array_try(&place, terms->num_node, sizeof *place, "sources"));
    unda_status status = array_try(&first, terms->num_node + 1, sizeof *first, "sources");
    if (status == UNDA_OK)
        status = upload_nodes(s, list, terms, place, first);
    array_free(place);
    array_free(first);
    TRY(status);
    TRY(upload_rows(s, &list->row, terms->num_node, terms->node));
    TRY(gpu_alloc_copy(fd_cuda(s)->stream, &list->number, terms->source, 4 * terms->num, "sources"));
    TRY(gpu_alloc_copy(fd_cuda(s)->stream, &list->weight, terms->weight, s->real_bytes * terms->num,
                       "sources"));
    list->num_node = terms->num_node;
    return UNDA_OK;
}

static unda_status update_field(unda_solver *s, int f)
{
    struct fd_terms terms;
    TRY(fd_terms_new(s, f, &terms));
    unda_status status = terms.num ? upload_terms(s, &fd_cuda(s)->source[f], &terms) : UNDA_OK;
    fd_terms_free(&terms);
    return status;
}

static unda_status update_sources(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    if (t->source_version == s->point_version)
        return UNDA_OK;
    free_sources(t);
    for (int f = 0; f < fd_tables(s)->num_field; f++)
        TRY(update_field(s, f));
    t->source_version = s->point_version;
    return UNDA_OK;
}

static unda_status reserve_amplitudes(unda_solver *s, int64_t num_time)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t count = num_time * s->num_source;
    TRY(update_sources(s));
    if (count > t->amplitude_count) {
        array_free(t->amplitude_real);
        t->amplitude_real = NULL;
        t->amplitude_count = 0;
        TRY(array_try(&t->amplitude_real, count, s->real_bytes, "source amplitudes"));
        t->amplitude_count = count;
    }
    return gpu_grow(t->gpu, &t->amplitude, &t->amplitude_bytes, count * s->real_bytes, "source amplitudes");
}

unda_status fd_cuda_drive(unda_solver *s, const unda_drive *drive)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t count = drive->num_time * s->num_source;
    TRY(fd_need_material(s));
    TRY(reserve_amplitudes(s, drive->num_time));
    for (int64_t i = 0; i < count; i++)
        if (s->real_bytes == 4)
            ((float *)t->amplitude_real)[i] = (float)drive->amplitudes[i];
        else
            ((double *)t->amplitude_real)[i] = drive->amplitudes[i];
    return count ? gpu_upload(t->stream, t->amplitude, t->amplitude_real, count * s->real_bytes) : UNDA_OK;
}

unda_status fd_cuda_inject(unda_solver *s, int f, gpu_ptr p, int64_t time)
{
    struct fd_cuda *t = fd_cuda(s);
    const struct fd_cuda_sources *list = &t->source[f];
    if (list->num_node == 0)
        return UNDA_OK;
    struct scalar_inject_args a = {POINTER(p),
                                   POINTER(list->place),
                                   POINTER(list->first),
                                   POINTER(list->number),
                                   POINTER(list->weight),
                                   POINTER(t->amplitude + (gpu_ptr)(time * s->num_source * s->real_bytes)),
                                   list->num_node,
                                   rows_of(t, list->row)};
    struct gpu_shape shape = gpu_threads(list->num_node);
    return gpu_launch(&t->inject, t->stream, &shape, &a, sizeof a);
}

/* ---- receivers ---- */

static void free_groups(struct fd_cuda *t)
{
    for (int32_t i = 0; i < t->num_group; i++) {
        array_free(t->groups[i].host);
        gpu_ptr all[] = {t->groups[i].place,  t->groups[i].row,    t->groups[i].node,
                         t->groups[i].weight, t->groups[i].values, t->groups[i].out};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            gpu_free(t->gpu, all[k]);
    }
    array_free(t->groups);
    t->groups = NULL;
    t->num_group = 0;
    t->group_version = -1;
}

static unda_status new_group(unda_solver *s, const struct receiver_group *group, struct fd_cuda_group *g)
{
    struct fd_cuda *t = fd_cuda(s);
    const struct fd_nodes *nodes = fd_nodes_of(group, g->number);
    int64_t *place, num = nodes->num_point;
    g->num_node = nodes->num_node;
    g->room = s->max_step / group->every + 2;
    TRY(array_try(&place, nodes->num_node, sizeof *place, "receivers"));
    for (int64_t i = 0; i < nodes->num_node; i++)
        place[i] = fd_cuda_place(s, nodes->node[i]);
    unda_status status = gpu_alloc_copy(t->stream, &g->place, place, 8 * nodes->num_node, "receivers");
    array_free(place);
    TRY(status);
    TRY(upload_rows(s, &g->row, nodes->num_node, nodes->node));
    TRY(gpu_alloc_copy(t->stream, &g->node, nodes->index, 4 * POINT_NODES * num, "receivers"));
    TRY(gpu_alloc_copy(t->stream, &g->weight, nodes->weight, 8 * 3 * POINT_WIDTH * num, "receivers"));
    TRY(gpu_alloc(t->gpu, &g->values, g->room * nodes->num_node * s->real_bytes, "receiver samples"));
    TRY(array_try(&g->host, g->room * num, s->real_bytes, "receiver samples"));
    return gpu_alloc(t->gpu, &g->out, g->room * num * s->real_bytes, "receiver samples");
}

static unda_status update_groups(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    if (t->group_version == s->point_version && t->group_step >= s->max_step)
        return UNDA_OK;
    free_groups(t);
    int32_t num = 0;
    for (int32_t i = 0; i < s->num_group; i++)
        num += fd_num_nodes(s->groups[i]);
    TRY(array_try(&t->groups, num, sizeof *t->groups, "receivers"));
    for (int32_t i = 0; i < s->num_group; i++)
        for (int32_t number = 0; number < fd_num_nodes(s->groups[i]); number++) {
            struct fd_cuda_group *g = &t->groups[t->num_group++];
            g->group = i;
            g->number = number;
            TRY(new_group(s, s->groups[i], g));
        }
    t->group_version = s->point_version;
    t->group_step = s->max_step;
    return UNDA_OK;
}

unda_status fd_cuda_reserve(unda_solver *s)
{
    TRY(reserve_amplitudes(s, s->max_step));
    return update_groups(s);
}

static unda_status take_sample(unda_solver *s, const struct fd_cuda_group *g, int64_t sample)
{
    const struct fd_nodes *nodes = fd_nodes_of(s->groups[g->group], g->number);
    gpu_ptr values = g->values + (gpu_ptr)(sample * g->num_node * s->real_bytes);
    return gather_places(s, fd_cuda_array(fd_cuda(s), nodes->field), g->num_node, g->place, g->row, values);
}

/* Receivers that are due at s->step; begin: the step at which the call began. */
unda_status fd_cuda_take(unda_solver *s, int64_t begin)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        const struct receiver_group *group = s->groups[t->groups[i].group];
        if (receiver_due(group, s->step))
            TRY(take_sample(s, &t->groups[i], fd_samples_since(group, begin, s->step) - 1));
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

/* Parts over other fields add to what is there. */
static void interleave(const unda_solver *s, struct receiver_group *group, const struct fd_cuda_group *g,
                       int64_t count)
{
    const struct fd_nodes *nodes = fd_nodes_of(group, g->number);
    bool adds = g->number >= group->num_field;
    for (int64_t i = 0; i < count * nodes->num_point; i++) {
        int64_t sample = group->held + i / nodes->num_point, point = nodes->point[i % nodes->num_point];
        int64_t at = (sample * group->num_point + point) * group->num_field + nodes->column;
        if (s->real_bytes == 4)
            ((float *)group->samples)[at] =
                ((float *)g->host)[i] + (adds ? ((float *)group->samples)[at] : 0);
        else
            ((double *)group->samples)[at] =
                ((double *)g->host)[i] + (adds ? ((double *)group->samples)[at] : 0);
    }
}

static unda_status weigh(unda_solver *s, struct receiver_group *group, const struct fd_cuda_group *g,
                         int64_t count)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t num = fd_nodes_of(group, g->number)->num_point;
    struct scalar_weigh_args a = {.values = POINTER(g->values),
                                  .node = POINTER(g->node),
                                  .weight = POINTER(g->weight),
                                  .out = POINTER(g->out),
                                  .num_sample = count,
                                  .num_point = num,
                                  .num_node = g->num_node,
                                  .num_field = 1};
    struct gpu_shape shape = gpu_threads(32 * count * num);
    TRY(gpu_launch(&t->weigh, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, g->host, g->out, count * num * s->real_bytes));
    interleave(s, group, g, count);
    return UNDA_OK;
}

unda_status fd_cuda_fetch(unda_solver *s, int64_t begin)
{
    struct fd_cuda *t = fd_cuda(s);
    for (int32_t i = 0; i < t->num_group; i++) {
        struct receiver_group *group = s->groups[t->groups[i].group];
        int64_t count = fd_samples_since(group, begin, s->step);
        if (count > 0 && group->num_point > 0)
            TRY(weigh(s, group, &t->groups[i], count));
    }
    for (int32_t i = 0; i < s->num_group; i++)
        s->groups[i]->held += fd_samples_since(s->groups[i], begin, s->step);
    return UNDA_OK;
}

void fd_cuda_points_free(unda_solver *s)
{
    struct fd_cuda *t = fd_cuda(s);
    free_sources(t);
    free_groups(t);
    gpu_free(t->gpu, t->amplitude);
    array_free(t->amplitude_real);
}
