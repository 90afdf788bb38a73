/* point_sources.c: point sources of finite differences. Injection is the transpose of sampling (row.c) with
 * the nodes' volumes (half at rigid sides): weights beyond a side go to the image; near a free
 * or fixed side of an elastic medium a source drives the values that a receiver there would use. So
 * reciprocity is exact. */
#include "staggered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts over other fields have two nodes along one axis. */
enum { MAX_TERM = 3 * POINT_NODES, MAX_RATE = FD_MAX_FIELD + 4, MAX_BATCH = 64 };

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
static int64_t inject_weights(const struct fd *fd, const struct fd_product *p, int64_t *node, double *weight)
{
    double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h, line[3][POINT_WIDTH];
    int64_t num = 0, all[POINT_NODES];
    fd_product_nodes(fd, p, all);
    for (int i = 0; i < 3 * POINT_WIDTH; i++)
        line[i / POINT_WIDTH][i % POINT_WIDTH] = per_volume(fd, p, i / POINT_WIDTH, i % POINT_WIDTH);
    for (int k = 0; k < POINT_NODES; k++) {
        double w = line[0][k / (POINT_WIDTH * POINT_WIDTH)] * line[1][k / POINT_WIDTH % POINT_WIDTH] *
                   line[2][k % POINT_WIDTH];
        if (w == 0)
            continue;
        node[num] = all[k];
        weight[num++] = w / volume;
    }
    return num;
}

/* Each rate drives its field; a volume, and strains beside fixed sides, what bears them: pressure, or all
 * normal stresses, of which each drives all where a fluid or a free side is. */
static bool drives(const struct fd *fd, const double *rates, int f)
{
    bool stresses = fd->physics && fd->physics->stresses, normal = stresses && f >= 3 && f < 6;
    bool any = rates[f] != 0;
    for (int i = 3; i < 6 && normal; i++)
        any = any || rates[i] != 0;
    int more = fd->scheme->num_rate_more + fd->scheme->num_rate_joined;
    for (int i = 0; i < more && (stresses ? normal : f == 0); i++)
        any = any || rates[fd->num_field + i] != 0;
    return any;
}

/* Some sources at once, so that engines are asked for the materials of many nodes together. Of one field at
 * a time: nodes, weights, and the rates that drive each. */
struct batch {
    int64_t num, num_term; /* sources; nodes of the present field */
    const double *places;
    double (*rates)[MAX_RATE];
    double (*joined)[FD_MAX_FIELD][FD_MAX_PART][MAX_RATE]; /* rates of parts over other fields */
    struct fd_row *row;                                    /* [field][source] */
    int64_t *node, *begin;                                 /* begin: of the terms of each source */
    double *weight;
    const double **rate;
    struct pair *pair; /* [source][field * MAX_TERM]: what was found of fields before */
    int64_t *num_pair;
    struct fd_source **made;
};

static void batch_free(struct batch *b)
{
    void *all[] = {b->rates,  b->joined, b->row,  b->node,     b->begin,
                   b->weight, b->rate,   b->pair, b->num_pair, b->made};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_free(all[i]);
}

static unda_status batch_new(struct batch *b, int64_t num, int num_field)
{
    TRY(array_try(&b->rates, num, sizeof *b->rates, "sources"));
    TRY(array_try(&b->joined, num, sizeof *b->joined, "sources"));
    TRY(array_try(&b->row, num * num_field, sizeof *b->row, "sources"));
    TRY(array_try(&b->begin, num + 1, sizeof *b->begin, "sources"));
    TRY(array_try(&b->node, num * MAX_TERM, sizeof *b->node, "sources"));
    TRY(array_try(&b->weight, num * MAX_TERM, sizeof *b->weight, "sources"));
    TRY(array_try(&b->rate, num * MAX_TERM, sizeof *b->rate, "sources"));
    TRY(array_try(&b->pair, num * MAX_TERM * num_field, sizeof *b->pair, "sources"));
    TRY(array_try(&b->made, num, sizeof *b->made, "sources"));
    return array_try(&b->num_pair, num, sizeof *b->num_pair, "sources");
}

static void add_product(const struct fd *fd, struct batch *b, const struct fd_product *p, const double *rates)
{
    int64_t count = inject_weights(fd, p, b->node + b->num_term, b->weight + b->num_term);
    for (int64_t k = 0; k < count; k++)
        b->rate[b->num_term++] = rates;
}

/* The terms of field f of all sources, as yet without the material. */
static void list_terms(const struct fd *fd, struct batch *b, int f)
{
    b->num_term = 0;
    for (int64_t i = 0; i < b->num; i++) {
        const double *rates = b->rates[i];
        b->begin[i] = b->num_term;
        if (drives(fd, rates, f))
            add_product(fd, b, &b->row[f * b->num + i].part[0], rates);
        for (int from = 0; from < fd->num_field; from++)
            for (int n = 1; n < FD_MAX_PART && rates[from] != 0; n++) {
                const struct fd_product *part = &b->row[from * b->num + i].part[n];
                if (part->field < 0)
                    continue;
                double *joined = b->joined[i][from][n];
                memset(joined, 0, sizeof b->joined[i][from][n]);
                fd->physics->join(part->field, rates[from], joined);
                if (drives(fd, joined, f))
                    add_product(fd, b, part, joined);
            }
    }
    b->begin[b->num] = b->num_term;
}

/* Terms begin .. end - 1 behind those of other fields, nodes ascending and each once. */
static unda_status keep_terms(const struct fd *fd, struct batch *b, int64_t i)
{
    struct pair *pair = b->pair + i * MAX_TERM * fd->num_field + b->num_pair[i];
    int64_t count = 0, kept = 0;
    double most = 0;
    bool ascending = true;
    for (int64_t k = b->begin[i]; k < b->begin[i + 1]; k++) {
        most = fmax(most, fabs(b->weight[k]));
        if (b->weight[k] == 0) /* the source does not drive this field */
            continue;
        ascending = ascending && (count == 0 || pair[count - 1].node < b->node[k]);
        pair[count++] = (struct pair){b->node[k], b->weight[k]};
    }
    if (most > 0 || isnan(most))
        TRY(fd_check_range(fd, "what a unit of the source adds to fields", 1, &most));
    if (!ascending)
        qsort(pair, (size_t)count, sizeof *pair, by_node);
    for (int64_t k = 0; k < count; k++)
        if (k > 0 && pair[k].node == pair[kept - 1].node)
            pair[kept - 1].weight += pair[k].weight;
        else
            pair[kept++] = pair[k];
    b->num_pair[i] += kept;
    return UNDA_OK;
}

static unda_status fill_source(const struct fd *fd, struct batch *b, int64_t i)
{
    struct fd_source *source = b->made[i];
    const struct pair *pair = b->pair + i * MAX_TERM * fd->num_field;
    const double *x = b->places + 3 * i;
    bool any = false;
    for (int f = 0; f < fd->num_field; f++)
        any = any || drives(fd, b->rates[i], f);
    source->num = b->num_pair[i];
    for (int f = fd->num_field; f <= FD_MAX_FIELD; f++)
        source->first[f] = source->num;
    if (any && source->num == 0)
        FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a side that holds what it drives at 0",
             x[0], x[1], x[2]);
    TRY(array_try(&source->node, source->num, sizeof *source->node, "source"));
    TRY(array_try(&source->weight, source->num, sizeof *source->weight, "source"));
    for (int64_t k = 0; k < source->num; k++) {
        source->node[k] = pair[k].node;
        source->weight[k] = pair[k].weight;
        source->most = fmax(source->most, fabs(pair[k].weight));
    }
    return UNDA_OK;
}

static unda_status fill_batch(unda_solver *s, struct batch *b)
{
    const struct fd *fd = fd_tables(s);
    for (int f = 0; f < fd->num_field; f++) {
        bool any = false;
        for (int64_t i = 0; i < b->num && !any; i++)
            any = drives(fd, b->rates[i], f);
        if (any)
            TRY(fd_rows(s, f, b->num, b->places, b->row + f * b->num));
    }
    for (int f = 0; f < fd->num_field; f++) {
        list_terms(fd, b, f);
        if (b->num_term)
            TRY(fd->scheme->inject(s, b->rate, f, b->num_term, b->node, b->weight));
        for (int64_t i = 0; i < b->num; i++) {
            b->made[i]->first[f] = b->num_pair[i];
            TRY(keep_terms(fd, b, i));
        }
    }
    for (int64_t i = 0; i < b->num; i++)
        TRY(fill_source(fd, b, i));
    return UNDA_OK;
}

/* Sources first .. first + b->num - 1 of those that are given. */
static unda_status take_batch(unda_solver *s, struct batch *b, void **out, const unda_source *given,
                              int64_t first)
{
    const struct fd *fd = fd_tables(s);
    int num_rate = fd->num_field + fd->scheme->num_rate_more;
    b->places = given->places + 3 * first;
    for (int64_t i = 0; i < b->num; i++) {
        const double *rates = given->rates + (first + i) * num_rate;
        TRY(fd_inside(fd, b->places + 3 * i, "source", s->num_source + first + i));
        b->num_pair[i] = 0;
        for (int k = 0; k < num_rate; k++) {
            if (!isfinite(rates[k]))
                FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", k, rates[k]);
            b->rates[i][k] = rates[k];
        }
        TRY(array_try(&out[first + i], 1, sizeof **b->made, "source"));
        b->made[i] = out[first + i];
    }
    return fill_batch(s, b);
}

unda_status fd_sources_new(unda_solver *s, void **out, const unda_source *given)
{
    int64_t num = source_count(given);
    struct batch b = {0};
    if (given->num_cell != num)
        FAIL(UNDA_ERR_ARG, "num_cell of the source is %lld, expected 1 on a grid",
             (long long)given->num_cell);
    TRY(fd_need_material(s));
    unda_status status = batch_new(&b, num < MAX_BATCH ? num : MAX_BATCH, fd_tables(s)->num_field);
    for (int64_t i = 0; i < num && status == UNDA_OK; i += b.num) {
        b.num = num - i < MAX_BATCH ? num - i : MAX_BATCH;
        status = take_batch(s, &b, out, given, i);
    }
    batch_free(&b);
    return status;
}
