/* point_sources.c: point sources of finite differences. Injection is the transpose of sampling (row.c) with
 * the nodes' volumes (half at rigid sides): a source beyond a side is what its image sends, beside a free or
 * fixed side of an elastic medium it drives what a receiver there takes values of. So reciprocity is exact. */
#include "staggered.h"

#include <math.h>
#include <stdlib.h>

/* Parts over other fields have two nodes along one axis. */
enum { MAX_TERM = 3 * POINT_NODES, MAX_RATE = FD_MAX_FIELD + 4 };

struct pair {
    int64_t node;
    double weight;
};

void fd_source_free(void *source)
{
    struct fd_source *made = source;
    if (!made)
        return;
    array_free(made->node);
    array_free(made->weight);
    array_free(made);
}

double fd_source_most(const void *source)
{
    return ((const struct fd_source *)source)->most;
}

static int by_node(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* A node's weight along an axis over its part of the cell: half a cell at a rigid side; what is pinned stays
 * 0. */
static double per_volume(const struct fd *fd, const struct fd_product *p, int a, int i)
{
    double share = p->weight[a][i] != 0 ? fd_share(fd, p->field, a, p->node[a][i]) : 0;
    return share > 0 ? p->weight[a][i] / share : 0;
}

/* Weights of injection into the nodes of a product. */
static int64_t spread(const struct fd *fd, const struct fd_product *p, int64_t *node, double *weight)
{
    double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h, line[3][POINT_WIDTH];
    int64_t num = 0;
    for (int i = 0; i < 3 * POINT_WIDTH; i++)
        line[i / POINT_WIDTH][i % POINT_WIDTH] = per_volume(fd, p, i / POINT_WIDTH, i % POINT_WIDTH);
    for (int k = 0; k < POINT_NODES; k++) {
        double w = line[0][k / (POINT_WIDTH * POINT_WIDTH)] * line[1][k / POINT_WIDTH % POINT_WIDTH] *
                   line[2][k % POINT_WIDTH];
        if (w == 0)
            continue;
        node[num] = fd_product_node(fd, p, k);
        weight[num++] = w / volume;
    }
    return num;
}

/* What a source of these rates adds to field f at the nodes of a product. */
static unda_status add_product(unda_solver *s, const struct fd_product *p, int f, const double *rates,
                               struct pair *pair, int64_t *num)
{
    int64_t node[POINT_NODES];
    double weight[POINT_NODES], most = 0;
    int64_t count = spread(fd_tables(s), p, node, weight);
    TRY(fd_tables(s)->scheme->inject(s, rates, f, count, node, weight));
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(weight[i]));
    if (most > 0 || isnan(most))
        TRY(fd_check_range(fd_tables(s), "what a unit of the source adds to fields", 1, &most));
    for (int64_t i = 0; i < count; i++)
        if (weight[i] != 0) /* else the source does not drive this field */
            pair[(*num)++] = (struct pair){node[i], weight[i]};
    return UNDA_OK;
}

/* A volume drives all fields that bear one; of normal stresses each drives all where a fluid or a free side
 * is. */
static bool drives(const struct fd *fd, const double *rates, int f)
{
    bool normal = fd->physics && fd->physics->stresses && f >= 3 && f < 6, any = rates[f] != 0;
    for (int i = 3; i < 6 && normal; i++)
        any = any || rates[i] != 0;
    for (int i = fd->num_field; i < fd->num_field + fd->scheme->num_rate_more + fd->scheme->num_rate_joined;
         i++)
        any = any || rates[i] != 0;
    return any;
}

/* Nodes of field f, ascending, each once. */
static unda_status add_field(unda_solver *s, const struct fd_row *row, int f, const double *rates,
                             struct pair *pair, int64_t *num)
{
    const struct fd *fd = fd_tables(s);
    int64_t count = 0, kept = 0;
    if (drives(fd, rates, f))
        TRY(add_product(s, &row[f].part[0], f, rates, pair, &count));
    for (int from = 0; from < fd->num_field; from++)
        for (int i = 1; i < FD_MAX_PART; i++) {
            const struct fd_product *part = &row[from].part[i];
            double joined[MAX_RATE] = {0};
            if (rates[from] == 0 || part->field < 0)
                continue;
            fd->physics->join(part->field, rates[from], joined);
            if (drives(fd, joined, f))
                TRY(add_product(s, part, f, joined, pair, &count));
        }
    qsort(pair, (size_t)count, sizeof *pair, by_node);
    for (int64_t i = 0; i < count; i++)
        if (i > 0 && pair[i].node == pair[kept - 1].node)
            pair[kept - 1].weight += pair[i].weight;
        else
            pair[kept++] = pair[i];
    *num += kept;
    return UNDA_OK;
}

static unda_status fill_source(unda_solver *s, struct fd_source *source, const struct fd_row *row,
                               const double *position, const double *rates, struct pair *pair)
{
    const struct fd *fd = fd_tables(s);
    bool any = false;
    for (int f = 0; f < fd->num_field; f++) {
        source->first[f] = source->num;
        TRY(add_field(s, row, f, rates, pair + source->num, &source->num));
        any = any || drives(fd, rates, f);
    }
    for (int f = fd->num_field; f <= FD_MAX_FIELD; f++)
        source->first[f] = source->num;
    if (any && source->num == 0)
        FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a side that holds what it drives at 0",
             position[0], position[1], position[2]);
    TRY(array_try(&source->node, source->num, sizeof *source->node, "source"));
    TRY(array_try(&source->weight, source->num, sizeof *source->weight, "source"));
    for (int64_t i = 0; i < source->num; i++) {
        source->node[i] = pair[i].node;
        source->weight[i] = pair[i].weight;
        source->most = fmax(source->most, fabs(pair[i].weight));
    }
    return UNDA_OK;
}

unda_status fd_source_new(unda_solver *s, void **out, const unda_source *given)
{
    const struct fd *fd = fd_tables(s);
    const double *position = given->places, *rates = given->rates;
    if (given->num_cell != 1)
        FAIL(UNDA_ERR_ARG, "num_cell of the source is %lld, expected 1 on a grid",
             (long long)given->num_cell);
    double all[MAX_RATE] = {0};
    for (int i = 0; i < fd->num_field + fd->scheme->num_rate_more; i++) {
        if (!isfinite(rates[i]))
            FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", i, rates[i]);
        all[i] = rates[i];
    }
    TRY(fd_need_material(s));
    TRY(fd_inside(fd, position, "source", s->num_source));
    struct fd_row row[FD_MAX_FIELD];
    for (int f = 0; f < fd->num_field; f++)
        if (drives(fd, all, f))
            TRY(fd_rows(s, f, 1, position, &row[f]));
    struct fd_source *source;
    struct pair *pair = NULL;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    unda_status status = array_try(&pair, (int64_t)MAX_TERM * fd->num_field, sizeof *pair, "source");
    if (status == UNDA_OK)
        status = fill_source(s, source, row, position, all, pair);
    array_free(pair);
    if (status != UNDA_OK) {
        fd_source_free(source);
        return status;
    }
    *out = source;
    return UNDA_OK;
}
