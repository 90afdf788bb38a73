/* diamond_points.c: sources and receivers of kernel diamond, listed by column (x, y), since a thread
 * has one z. Not here: sources and receivers in general (cuda_points.c). */
#include "diamond.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists by column (x, y) ---- */

/* Uploads where each column's entries begin, and their z; nodes ascend. */
static unda_status upload_columns(unda_solver *s, struct diamond *d, int64_t num, const int64_t *node,
                                  gpu_ptr *first, gpu_ptr *z)
{
    int64_t num_z = fd_tables(s)->axis[2].total,
            columns = fd_tables(s)->axis[0].total * fd_tables(s)->axis[1].total;
    SCRATCH int32_t *begin = NULL, *depth = NULL;
    TRY(array_try(&begin, columns + 1, sizeof *begin, "columns"));
    TRY(array_try(&depth, num, sizeof *depth, "columns"));
    int64_t column = 0;
    for (int64_t i = 0; i < num; i++) {
        for (; column <= node[i] / num_z; column++)
            begin[column] = (int32_t)i;
        depth[i] = (int32_t)(node[i] % num_z);
    }
    for (; column <= columns; column++)
        begin[column] = (int32_t)num;
    TRY(gpu_pool_copy(&d->lists, fd_cuda(s)->stream, first, begin, 4 * (columns + 1), "columns"));
    return gpu_pool_copy(&d->lists, fd_cuda(s)->stream, z, depth, 4 * num, "columns");
}

unda_status diamond_list_sources(unda_solver *s, struct diamond *d)
{
    struct gpu_stream *stream = fd_cuda(s)->stream;
    OWNER void *owned = NULL;
    struct fd_terms terms;
    int64_t *node;
    TRY(fd_terms_new(fd_whole(s), 0, &owned, &terms));
    TRY(array_own(&owned, &node, terms.num, sizeof *node, "sources"));
    for (int64_t n = 0; n < terms.num_node; n++)
        for (int64_t k = terms.first[n]; k < terms.first[n + 1]; k++)
            node[k] = terms.node[n];
    TRY(upload_columns(s, d, terms.num, node, &d->source_first, &d->source_z));
    TRY(gpu_pool_copy(&d->lists, stream, &d->source_id, terms.source, 4 * terms.num, "sources"));
    return gpu_pool_copy(&d->lists, stream, &d->source_weight, terms.weight, s->real_bytes * terms.num,
                         "sources");
}

struct cell {
    int64_t node;
    int32_t id, group;
};

static int by_node(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Nodes in planes that the solver makes that groups of receivers record, by node; one of several groups stands there for each. */
unda_status diamond_list_cells(unda_solver *s, struct diamond *d)
{
    struct fd_cuda *t = fd_cuda(s);
    struct gpu_pool *pool = &d->lists;
    SCRATCH struct cell *cell = NULL;
    SCRATCH int64_t *node = NULL;
    SCRATCH int32_t *id = NULL, *group = NULL;
    int64_t num = 0, samples = t->num_group * (int64_t)(d->tile.levels + 1);
    for (int32_t g = 0; g < t->num_group; g++)
        num += t->groups[g].own.num;
    TRY(array_try(&cell, num, sizeof *cell, "receivers"));
    TRY(array_try(&node, num, sizeof *node, "receivers"));
    TRY(array_try(&id, num, sizeof *id, "receivers"));
    TRY(array_try(&group, num, sizeof *group, "receivers"));
    num = 0;
    for (int32_t g = 0; g < t->num_group; g++)
        for (int64_t i = 0; i < t->groups[g].own.num; i++)
            cell[num++] = (struct cell){t->groups[g].nodes->node[t->groups[g].own.first + i], (int32_t)i, g};
    qsort(cell, (size_t)num, sizeof *cell, by_node);
    for (int64_t i = 0; i < num; i++) {
        node[i] = cell[i].node;
        id[i] = cell[i].id;
        group[i] = cell[i].group;
    }
    TRY(upload_columns(s, d, num, node, &d->cell_first, &d->cell_z));
    TRY(gpu_pool_copy(pool, t->stream, &d->cell_id, id, 4 * num, "receivers"));
    TRY(gpu_pool_copy(pool, t->stream, &d->cell_group, group, 4 * num, "receivers"));
    TRY(array_try(&d->sample_host, samples, sizeof(gpu_ptr), "receivers"));
    return gpu_pool_alloc(pool, t->gpu, &d->sample, (int64_t)sizeof(gpu_ptr) * samples, "receivers");
}

unda_status diamond_upload_samples(unda_solver *s, struct diamond *d, int64_t levels)
{
    struct fd_cuda *t = fd_cuda(s);
    int64_t bytes = (int64_t)sizeof(gpu_ptr) * t->num_group * (levels + 1);
    memset(d->due_host, 0, (size_t)levels + 1);
    memset(d->sample_host, 0, (size_t)bytes);
    for (int32_t g = 0; g < t->num_group; g++) {
        const struct fd_cuda_group *field = &t->groups[g];
        const struct receiver_group *group = field->group;
        int64_t sample = receiver_num_since(group, s->begin, s->step);
        int64_t due = group->every - (s->step - group->first) % group->every;
        for (int64_t level = due; level <= levels; level += group->every, sample++) {
            d->due_host[level] = 1;
            d->sample_host[level * t->num_group + g] =
                field->values + (gpu_ptr)(sample * field->own.num * s->real_bytes);
        }
    }
    TRY(gpu_upload(t->stream, d->sample, d->sample_host, bytes));
    return gpu_upload(t->stream, d->due, d->due_host, levels + 1);
}

void diamond_free_lists(struct diamond *d)
{
    gpu_pool_free(&d->lists);
    d->mark = 0; /* no lists */
    array_free(d->sample_host);
    d->sample_host = NULL;
}
