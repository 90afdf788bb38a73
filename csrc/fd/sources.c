/* sources.c: point sources of finite differences. Injection is the transpose of sampling: a source has
 * the products of the rows (row.c) that a receiver of the fields that it drives would have, over the nodes'
 * volumes (half at rigid sides). So weights beyond a side go to the image, near a free or fixed side of an
 * elastic medium a source drives the values that a receiver there would use, and reciprocity is exact. The
 * weights of the nodes are multiplied out when they are needed: plane_pairs.c. */
#include "plane_pairs.h"
#include "staggered/staggered.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

/* Sources of a batch; so many one thread takes, while the others still spin. */
enum { MAX_BATCH = 512, FEW_SOURCES = 200 };

double fd_source_most(const void *source)
{
    return ((const struct fd_source *)source)->most;
}

/* ---- products of a source ---- */

static bool drives(const struct fd *fd, const double *rates, int f)
{
    bool any = false;
    for (int i = 0; i < FD_MAX_RATE; i++)
        any = any || (rates[i] != 0 && fd_rate_drives(fd, i, f));
    return any;
}

/* Some sources at once: threads share them, and engines are asked for the materials of many nodes together. */
struct batch {
    int64_t num;
    const double *places;
    double (*rates)[FD_MAX_RATE];
    struct fd_product *row;  /* [field][part][source] */
    bool made[FD_MAX_FIELD]; /* some source drives the field: its rows have been made */
    bool *joined;            /* [source]: it has further parts, beside a side */
};

static struct fd_product *product_of(const struct fd *fd, const struct batch *b, int64_t i, int f, int part)
{
    return &b->row[(f * fd_num_part(fd) + part) * b->num + i];
}

/* A node's weight along an axis over its part of the cell: half a cell at a rigid side; what is pinned stays
 * 0. */
static void fill_tap(const struct fd *fd, const struct fd_product *product, const double *rates,
                     struct fd_tap *tap)
{
    tap->product = *product;
    memcpy(tap->rates, rates, sizeof tap->rates);
    tap->beside = false;
    for (int i = 0; i < 3 * POINT_WIDTH; i++) {
        int a = i / POINT_WIDTH, at = i % POINT_WIDTH;
        double *weight = &tap->product.weight[a][at];
        double share = *weight != 0 ? fd_share(fd, product->field, a, product->node[a][at]) : 0;
        *weight = share > 0 ? *weight / share : 0;
        tap->beside |= *weight != 0 && fd_free_node(&fd->axis[a], product->node[a][at]);
    }
}

static bool is_joined(const struct fd *fd, const struct batch *b, int64_t i)
{
    int num_part = fd_num_part(fd);
    for (int from = 0; from < fd->num_field; from++)
        for (int n = 1; n < num_part && b->rates[i][from] != 0; n++)
            if (product_of(fd, b, i, from, n)->field >= 0)
                return true;
    return false;
}

/* Lists in `tap`, unless that is NULL, what drives field f; returns how many there are. */
static int32_t list_taps(const struct fd *fd, const struct batch *b, int64_t i, int f, struct fd_tap *tap)
{
    const double *rates = b->rates[i];
    int32_t num = 0;
    if (b->made[f] && drives(fd, rates, f)) {
        if (tap)
            fill_tap(fd, product_of(fd, b, i, f, 0), rates, tap);
        num++;
    }
    for (int from = 0; from < fd->num_field && b->joined[i]; from++)
        for (int n = 1; n < fd_num_part(fd) && rates[from] != 0; n++) {
            const struct fd_product *part = product_of(fd, b, i, from, n);
            double joined[FD_MAX_RATE] = {0};
            if (part->field < 0)
                continue;
            fd->physics->join(part->field, rates[from], joined);
            if (!drives(fd, joined, f))
                continue;
            if (tap)
                fill_tap(fd, part, joined, &tap[num]);
            num++;
        }
    return num;
}

static unda_status new_source(const struct fd *fd, const struct batch *b, int64_t i, void **out)
{
    struct fd_source *source;
    int32_t first[FD_MAX_FIELD + 1] = {0};
    for (int f = 0; f < FD_MAX_FIELD; f++)
        first[f + 1] = first[f] + (f < fd->num_field ? list_taps(fd, b, i, f, NULL) : 0);
    int64_t taps = first[FD_MAX_FIELD] * (int64_t)sizeof *source->tap;
    TRY(array_try(&source, 1, (int64_t)sizeof *source + taps, "source"));
    memcpy(source->first, first, sizeof first);
    *out = source;
    return UNDA_OK;
}

/* The rows of field f; those of fields before it have been made where some source drives these. */
static unda_status make_rows(unda_solver *s, const struct batch *b, int f)
{
    const struct fd *fd = fd_tables(s);
    const struct fd_product *like[3] = {NULL};
    for (int a = 0; a < 3; a++)
        for (int g = 0; g < f && !like[a]; g++)
            if (b->made[g] && fd_rows_alike(fd, f, g, a))
                like[a] = product_of(fd, b, 0, g, 0);
    return fd_rows(s, f, b->num, b->places, like, product_of(fd, b, 0, f, 0));
}

/* Sources `first` and so on of those that are given. */
static unda_status take_batch(unda_solver *s, struct batch *b, void **out, const unda_source *given,
                              int64_t first)
{
    const struct fd *fd = fd_tables(s);
    int num_rate = fd->num_field + fd->scheme->num_rate_more;
    int32_t threads = parallel_few(s->options.threads);
    b->places = given->places + 3 * first;
    for (int64_t i = 0; i < b->num; i++) {
        const double *rates = given->rates + (first + i) * num_rate;
        TRY(fd_inside(fd, b->places + 3 * i, "source", s->num_source + first + i));
        for (int k = 0; k < num_rate; k++) {
            if (!isfinite(rates[k]))
                FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", k, rates[k]);
            b->rates[i][k] = rates[k];
        }
    }
    for (int f = 0; f < fd->num_field; f++) {
        b->made[f] = false;
        for (int64_t i = 0; i < b->num && !b->made[f]; i++)
            b->made[f] = drives(fd, b->rates[i], f);
        if (b->made[f])
            TRY(make_rows(s, b, f));
    }
    for (int64_t i = 0; i < b->num; i++) {
        b->joined[i] = is_joined(fd, b, i);
        TRY(new_source(fd, b, i, &out[first + i]));
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (b->num > FEW_SOURCES)
    for (int64_t i = 0; i < b->num; i++) {
        struct fd_source *source = out[first + i];
        for (int f = 0; f < fd->num_field; f++)
            list_taps(fd, b, i, f, source->tap + source->first[f]);
    }
    return UNDA_OK;
}

/* ---- sources node by node ---- */

/* The place of one of the user's nodes. */
static int64_t place_of(const struct fd *fd, int64_t node)
{
    const struct fd_axis *axis = fd->axis;
    int64_t x = node / axis[2].num / axis[1].num, y = node / axis[2].num % axis[1].num;
    return ((x + axis[0].first) * axis[1].total + y + axis[1].first) * axis[2].total + node % axis[2].num +
           axis[2].first;
}

static unda_status check_node(const struct fd *fd, const unda_source *given, int64_t first, int64_t i)
{
    int64_t num = fd->axis[0].num * fd->axis[1].num * fd->axis[2].num;
    int32_t f = given->field[i];
    if (f < 0 || f >= fd->num_field || given->node[i] < 0 || given->node[i] >= num ||
        !isfinite(given->weight[i]))
        FAIL(UNDA_ERR_ARG,
             "node[%lld] of the source is %lld, its field %d, its weight %g, expected 0..%lld, 0..%d, a "
             "finite "
             "number",
             (long long)i, (long long)given->node[i], f, given->weight[i], (long long)num - 1,
             fd->num_field - 1);
    if (i > first &&
        (f < given->field[i - 1] || (f == given->field[i - 1] && given->node[i] <= given->node[i - 1])))
        FAIL(UNDA_ERR_ARG,
             "node[%lld] of the source is %lld of field %d, after node %lld of field %d; expected ascending "
             "fields, and nodes in each",
             (long long)i, (long long)given->node[i], f, (long long)given->node[i - 1], given->field[i - 1]);
    return UNDA_OK;
}

/* Cells [first, end) of those given. */
static unda_status new_pairs(const struct fd *fd, const unda_source *given, int64_t first, int64_t end,
                             void **out)
{
    struct fd_source *source;
    int64_t num = end - first;
    for (int64_t i = first; i < end; i++)
        TRY(check_node(fd, given, first, i));
    TRY(array_try(&source, 1, (int64_t)sizeof *source + num * (int64_t)sizeof *source->pair, "source"));
    *out = source;
    source->pair = (struct fd_pair *)(source + 1);
    source->drives = true;
    for (int64_t i = first; i < end; i++) {
        source->first[given->field[i] + 1] = (int32_t)(i - first + 1);
        source->pair[i - first] = (struct fd_pair){place_of(fd, given->node[i]), given->weight[i]};
        source->most = fmax(source->most, fabs(given->weight[i]));
    }
    for (int f = 0; f < FD_MAX_FIELD; f++)
        source->first[f + 1] =
            source->first[f + 1] > source->first[f] ? source->first[f + 1] : source->first[f];
    return source->most == 0
               ? UNDA_OK
               : fd_check_range(fd, "what a unit of the source adds to fields", 1, &source->most);
}

static unda_status new_nodes(unda_solver *s, void **out, const unda_source *given)
{
    for (int64_t i = 0; i < source_count(given); i++)
        TRY(new_pairs(fd_tables(s), given, given->first ? given->first[i] : 0,
                      given->first ? given->first[i + 1] : given->num_cell, &out[i]));
    return UNDA_OK;
}

/* ---- what a source adds at most ---- */

/* Of a source of one tap where all nodes have one gain: the largest weights give it, to the bit, since rounding keeps
 * the order of numbers. false: it is no such source. */
static bool find_most(const struct fd *fd, int f, const struct fd_source *source, double *most)
{
    const double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    const struct fd_tap *tap = &source->tap[source->first[f]];
    double largest[3] = {0};
    if (source->pair || source->first[f + 1] - source->first[f] != 1 || !fd_is_alike(fd, tap))
        return false;
    for (int i = 0; i < 3 * POINT_WIDTH; i++)
        largest[i / POINT_WIDTH] =
            fmax(largest[i / POINT_WIDTH], fabs(tap->product.weight[i / POINT_WIDTH][i % POINT_WIDTH]));
    *most = largest[0] * largest[1] * largest[2] / volume * fabs(fd_uniform_gain(fd, f, tap->rates));
    return true;
}

/* Of the others, plane by plane. */
struct checking {
    struct fd_reached reached;
    double *most; /* [source] */
};

static void look_at_plane(void *of, int64_t x, const struct fd_plane *w)
{
    const struct checking *c = of;
    const int32_t *source = c->reached.source + c->reached.first[x];
    int64_t num = c->reached.first[x + 1] - c->reached.first[x];
    for (int64_t first = 0, i = 0; first < num; first += MAX_BATCH) {
        int64_t count = num - first < MAX_BATCH ? num - first : MAX_BATCH;
        double most[MAX_BATCH] = {0};
        for (int64_t n = 0; n < count; n++)
            for (; i < w->end[first + n]; i++)
                most[n] = fabs(w->pair[i].weight) > most[n] ? fabs(w->pair[i].weight) : most[n];
#pragma omp critical /* other planes have the same sources */
        for (int64_t n = 0; n < count; n++)
            c->most[source[first + n]] = fmax(c->most[source[first + n]], most[n]);
    }
}

/* What sources add to field f at most: most [num]. */
static unda_status find_all_most(unda_solver *s, int f, int64_t num, void **sources, double *most)
{
    const struct fd *fd = fd_tables(s);
    OWNER void *owned = NULL;
    void **rest;
    int64_t num_rest = 0, *number;
    struct checking c;
    TRY(array_own(&owned, &rest, num, sizeof *rest, "sources"));
    TRY(array_own(&owned, &number, num, sizeof *number, "sources"));
    TRY(array_own(&owned, &c.most, num, sizeof *c.most, "sources"));
    for (int64_t i = 0; i < num; i++)
        if (!find_most(fd, f, sources[i], &most[i])) {
            number[num_rest] = i;
            rest[num_rest++] = sources[i];
        }
    TRY(fd_reached_new(fd, f, num_rest, rest, &owned, &c.reached));
    TRY(fd_each_plane(s, f, &c.reached, &(struct fd_plane_taker){look_at_plane, NULL, NULL, &c}));
    for (int64_t i = 0; i < num_rest; i++)
        most[number[i]] = c.most[i];
    return UNDA_OK;
}

static unda_status check_field(unda_solver *s, int f, int64_t num, void **sources)
{
    SCRATCH double *most = NULL;
    TRY(array_try(&most, num, sizeof *most, "sources"));
    TRY(find_all_most(s, f, num, sources, most));
    for (int64_t i = 0; i < num; i++) {
        struct fd_source *source = sources[i];
        if (most[i] == 0)
            continue;
        source->drives = true;
        source->most = fmax(source->most, most[i]);
        TRY(fd_check_range(fd_tables(s), "what a unit of the source adds to fields", 1, &most[i]));
    }
    return UNDA_OK;
}

static unda_status check_sources(unda_solver *s, void **sources, const unda_source *given)
{
    int64_t num = source_count(given);
    for (int f = 0; f < fd_tables(s)->num_field; f++)
        TRY(check_field(s, f, num, sources));
    for (int64_t i = 0; i < num; i++) {
        const double *x = given->places + 3 * i;
        const struct fd_source *source = sources[i];
        if (source->first[FD_MAX_FIELD] && !source->drives)
            FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a side that holds what it drives at 0",
                 x[0], x[1], x[2]);
    }
    return UNDA_OK;
}

unda_status fd_sources_new(unda_solver *s, void **out, const unda_source *given)
{
    const struct fd *fd = fd_tables(s);
    int64_t num = source_count(given), room = num < MAX_BATCH ? num : MAX_BATCH;
    SCRATCH double(*rates)[FD_MAX_RATE] = NULL;
    SCRATCH struct fd_product *row = NULL;
    SCRATCH bool *joined = NULL;
    if (given->node)
        return new_nodes(s, out, given);
    if (given->num_cell != num)
        FAIL(UNDA_ERR_ARG, "num_cell of the source is %lld, expected 1 on a grid",
             (long long)given->num_cell);
    TRY(fd_need_material(s));
    TRY(array_try(&rates, room, sizeof *rates, "sources"));
    TRY(array_try(&row, room * fd->num_field * fd_num_part(fd), sizeof *row, "sources"));
    TRY(array_try(&joined, room, sizeof *joined, "sources"));
    for (int64_t i = 0; i < num; i += room) {
        struct batch b = {
            .num = num - i < room ? num - i : room, .rates = rates, .row = row, .joined = joined};
        TRY(take_batch(s, &b, out, given, i));
    }
    return check_sources(s, out, given);
}
