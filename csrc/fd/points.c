/* points.c: sources and receivers between nodes (Hicks 2002): along each axis the weights of a sinc windowed
 * by Kaiser's function of radius 4 and b = 6.31, exact to 7e-4 at 8 nodes a wavelength and 1.3e-3 at 4. Nodes
 * beyond a side stand for their images: a source there sends what its image sends. Injection is the transpose
 * of sampling with the nodes' volumes (half at rigid sides): so reciprocity is exact. */
#include "fd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RADIUS = 4, SHAPE = 6.31;

/* Weights w(x) w(y) w(z) of a point, images folded in. */
struct spread {
    int64_t node[3][POINT_WIDTH];
    double weight[3][POINT_WIDTH]; /* 0 beyond the last one */
};

/* Modified Bessel function of the first kind and order 0 (Abramowitz & Stegun 1964, 9.6.12). */
static double bessel_i0(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

static double kaiser_sinc(double d)
{
    const double pi = 3.14159265358979323846;
    double inside = 1 - d * d / (RADIUS * RADIUS);
    if (inside <= 0)
        return 0;
    return (d == 0 ? 1 : sin(pi * d) / (pi * d)) * bessel_i0(SHAPE * sqrt(inside)) / bessel_i0(SHAPE);
}

static void add_weight(int64_t *node, double *weight, int64_t at, double value)
{
    int i = 0;
    while (weight[i] != 0 && node[i] != at)
        i++;
    node[i] = at;
    weight[i] += value;
}

/* Weights of a field along axis a. volume: of injection, in units of 1 / h. */
static void spread_axis(const struct fd *fd, int f, int a, double x, bool volume, int64_t *node,
                        double *weight)
{
    const struct fd_axis *axis = &fd->axis[a];
    const struct fd_field *field = &fd->field[f];
    double half = axis->total > 1 ? 0.5 * field->half[a] : 0;
    double place = (x - axis->origin) / axis->h + (double)axis->first - half, whole = nearbyint(place);
    int64_t base = (int64_t)floor(place) - POINT_WIDTH / 2 + 1;
    bool on_node = fabs(place - whole) < 1e-9 || axis->total == 1;
    for (int i = 0; i < POINT_WIDTH; i++) {
        node[i] = 0;
        weight[i] = 0;
    }
    for (int i = 0; i < (on_node ? 1 : POINT_WIDTH); i++) {
        int sign;
        int64_t raw = on_node ? (int64_t)whole : base + i;
        int64_t at = fd_mirror(axis, field->half[a], field->sign[a], raw, &sign);
        double value = on_node ? 1 : kaiser_sinc(place - (double)raw), share = fd_share(fd, f, a, at);
        if (volume)
            value = share > 0 ? value / share : 0; /* half a cell at a rigid side; what is pinned stays 0 */
        if (value != 0)
            add_weight(node, weight, at, sign * value);
    }
}

/* Refuses points that do not lie on the user's grid. */
static unda_status inside(const struct fd *fd, const double *x, const char *what, int64_t number)
{
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd->axis[a];
        double place = (x[a] - axis->origin) / axis->h, last = (double)(axis->num - 1);
        if (!(place >= -1e-6 && place <= last + 1e-6))
            FAIL(UNDA_ERR_ARG, "%s %lld: %c is %g m, expected %g to %g m: on the grid", what,
                 (long long)number, "xyz"[a], x[a], axis -> origin, axis -> origin + last * axis -> h);
    }
    return UNDA_OK;
}

static void locate(const struct fd *fd, int f, const double *x, bool volume, struct spread *point)
{
    for (int a = 0; a < 3; a++)
        spread_axis(fd, f, a, x[a], volume, point->node[a], point->weight[a]);
}

/* The nodes of a point whose three weights are not 0. */
static int64_t list_nodes(const struct fd *fd, const struct spread *p, int64_t *node, double *weight)
{
    int64_t num = 0;
    for (int i = 0; i < POINT_WIDTH; i++)
        for (int j = 0; j < POINT_WIDTH; j++)
            for (int k = 0; k < POINT_WIDTH; k++) {
                double w = p->weight[0][i] * p->weight[1][j] * p->weight[2][k];
                if (w == 0)
                    continue;
                node[num] =
                    (p->node[0][i] * fd->axis[1].total + p->node[1][j]) * fd->axis[2].total + p->node[2][k];
                weight[num++] = w;
            }
    return num;
}

/* ---- sources ---- */

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

struct pair {
    int64_t node;
    double weight;
};

static int by_node(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Nodes and weights of one field behind those that are there. */
static unda_status add_field(unda_solver *s, struct fd_source *source, int f, const double *position,
                             const double *rates)
{
    const struct fd *fd = s->fd;
    struct spread point;
    struct pair pair[POINT_NODES];
    int64_t node[POINT_NODES], num;
    double weight[POINT_NODES], volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    locate(fd, f, position, true, &point);
    num = list_nodes(fd, &point, node, weight);
    for (int64_t i = 0; i < num; i++)
        pair[i] = (struct pair){node[i], weight[i]};
    qsort(pair, (size_t)num, sizeof *pair, by_node);
    for (int64_t i = 0; i < num; i++) {
        source->node[source->num + i] = pair[i].node;
        source->weight[source->num + i] = pair[i].weight / volume;
    }
    TRY(fd->scheme->inject(s, rates, f, num, source->node + source->num, source->weight + source->num));
    double most = 0;
    for (int64_t i = 0; i < num; i++)
        most = fmax(most, fabs(source->weight[source->num + i]));
    if (most > 0 || isnan(most))
        TRY(fd_check_range(fd, "what a unit of the source adds to fields", 1, &most));
    source->most = fmax(source->most, most);
    for (int64_t i = 0; i < num; i++)
        if (source->weight[source->num + i] != 0) { /* else the source does not drive this field */
            source->num += num;
            break;
        }
    return UNDA_OK;
}

static bool drives(const struct fd *fd, const double *rates, int f)
{
    return rates[f] != 0 || (fd->scheme->num_rate_more && rates[fd->num_field] != 0);
}

static unda_status fill_source(unda_solver *s, struct fd_source *source, const double *position,
                               const double *rates)
{
    const struct fd *fd = s->fd;
    int num = 0;
    for (int f = 0; f < fd->num_field; f++)
        num += drives(fd, rates, f);
    TRY(array_try(&source->node, (int64_t)num * POINT_NODES, sizeof(int64_t), "source"));
    TRY(array_try(&source->weight, (int64_t)num * POINT_NODES, sizeof(double), "source"));
    for (int f = 0; f < fd->num_field; f++) {
        source->first[f] = source->num;
        if (drives(fd, rates, f))
            TRY(add_field(s, source, f, position, rates));
    }
    for (int f = fd->num_field; f <= FD_MAX_FIELD; f++)
        source->first[f] = source->num;
    if (num > 0 && source->num == 0)
        FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a side that holds what it drives at 0",
             position[0], position[1], position[2]);
    return UNDA_OK;
}

unda_status fd_source_new(unda_solver *s, void **out, const unda_source *given)
{
    const double *position = given->places, *rates = given->rates;
    if (given->num_cell != 1)
        FAIL(UNDA_ERR_ARG, "num_cell of the source is %lld, expected 1 on a grid",
             (long long)given->num_cell);
    for (int i = 0; i < s->fd->num_field + s->fd->scheme->num_rate_more; i++)
        if (!isfinite(rates[i]))
            FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", i, rates[i]);
    TRY(fd_need_material(s));
    TRY(inside(s->fd, position, "source", s->num_source));
    struct fd_source *source;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    unda_status status = fill_source(s, source, position, rates);
    if (status != UNDA_OK) {
        fd_source_free(source);
        return status;
    }
    *out = source;
    return UNDA_OK;
}

/* ---- receivers ---- */

unda_status fd_points_check(const unda_solver *s, const unda_receivers *r)
{
    if (r->first)
        FAIL(UNDA_ERR_ARG, "first of unda_receivers is given, expected NULL on a grid");
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= s->fd->num_field)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d: the %s scheme has values only",
                 r->fields[i], s->fd->num_field - 1, s->fd->scheme->name);
    for (int64_t i = 0; i < r->num_point; i++)
        TRY(inside(s->fd, r->points + 3 * i, "receiver", i));
    return UNDA_OK;
}

void fd_points_free(void *points)
{
    struct fd_points *p = points;
    if (!p)
        return;
    for (int32_t f = 0; p->nodes && f < p->num_field; f++) {
        array_free(p->nodes[f].node);
        array_free(p->nodes[f].index);
        array_free(p->nodes[f].weight);
    }
    array_free(p->nodes);
    array_free(p->field);
    array_free(p);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The node at place `at` of a point's cube, -1 where a weight is 0. */
static int64_t node_of(const struct fd *fd, const struct spread *p, int at)
{
    int i = at / (POINT_WIDTH * POINT_WIDTH), j = at / POINT_WIDTH % POINT_WIDTH, k = at % POINT_WIDTH;
    if (p->weight[0][i] == 0 || p->weight[1][j] == 0 || p->weight[2][k] == 0)
        return -1;
    return (p->node[0][i] * fd->axis[1].total + p->node[1][j]) * fd->axis[2].total + p->node[2][k];
}

/* Each node once, ascending; `all` has room for every node of every point. */
static unda_status list_points(const struct fd *fd, int field, struct fd_nodes *n, const unda_receivers *r,
                               int64_t *all)
{
    struct spread spread;
    int64_t num = 0;
    for (int64_t i = 0; i < r->num_point; i++) {
        locate(fd, field, r->points + 3 * i, false, &spread);
        memcpy(n->weight + 3 * POINT_WIDTH * i, spread.weight, sizeof spread.weight);
        for (int k = 0; k < POINT_NODES; k++) {
            int64_t node = node_of(fd, &spread, k);
            if (node >= 0)
                all[num++] = node;
        }
    }
    qsort(all, (size_t)num, sizeof *all, ascending);
    for (int64_t i = 0; i < num; i++)
        if (i == 0 || all[i] != all[n->num_node - 1])
            all[n->num_node++] = all[i];
    TRY(array_try(&n->node, n->num_node, sizeof *n->node, "receivers"));
    memcpy(n->node, all, (size_t)n->num_node * sizeof *all);
    for (int64_t i = 0; i < r->num_point; i++) {
        locate(fd, field, r->points + 3 * i, false, &spread);
        for (int k = 0; k < POINT_NODES; k++) {
            int64_t node = node_of(fd, &spread, k);
            const int64_t *at = bsearch(&node, all, (size_t)n->num_node, sizeof *all, ascending);
            n->index[POINT_NODES * i + k] = at ? (int32_t)(at - all) : -1;
        }
    }
    return UNDA_OK;
}

static unda_status fill_nodes(const struct fd *fd, int field, struct fd_nodes *n, const unda_receivers *r)
{
    int64_t *all;
    TRY(array_try(&n->index, POINT_NODES * r->num_point, sizeof *n->index, "receivers"));
    TRY(array_try(&n->weight, 3 * POINT_WIDTH * r->num_point, sizeof *n->weight, "receivers"));
    TRY(array_try(&all, POINT_NODES * r->num_point, sizeof *all, "receivers"));
    unda_status status = list_points(fd, field, n, r, all);
    array_free(all);
    return status;
}

static unda_status fill_points(const struct fd *fd, struct fd_points *p, const unda_receivers *r)
{
    if (r->num_point > INT32_MAX / POINT_NODES)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, expected at most %d a group", (long long)r->num_point,
             INT32_MAX / POINT_NODES);
    p->num_point = r->num_point;
    p->num_field = r->num_field;
    TRY(array_try(&p->field, r->num_field, sizeof *p->field, "receivers"));
    TRY(array_try(&p->nodes, r->num_field, sizeof *p->nodes, "receivers"));
    for (int32_t f = 0; f < r->num_field; f++) {
        p->field[f] = r->fields[f];
        TRY(fill_nodes(fd, r->fields[f], &p->nodes[f], r));
    }
    return UNDA_OK;
}

unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct fd_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    unda_status status = fill_points(s->fd, p, r);
    if (status != UNDA_OK) {
        fd_points_free(p);
        return status;
    }
    *points = p;
    return UNDA_OK;
}

/* The operations of kernel scalar_weigh in cuda/fd/points.cu, one by one: the same bits. */
double fd_weigh(const struct fd_nodes *nodes, int64_t point, const double *values)
{
    const double *weight = nodes->weight + 3 * POINT_WIDTH * point;
    double sum[32] = {0};
    for (int line = 0; line < POINT_WIDTH * POINT_WIDTH; line++) {
        const int32_t *index = nodes->index + POINT_NODES * point + POINT_WIDTH * line;
        double part = 0;
        for (int k = 0; k < POINT_WIDTH; k++)
            if (index[k] >= 0)
                part = fma(weight[2 * POINT_WIDTH + k], values[index[k]], part);
        sum[line % 32] =
            fma(weight[line / POINT_WIDTH] * weight[POINT_WIDTH + line % POINT_WIDTH], part, sum[line % 32]);
    }
    for (int half = 16; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}

/* Values of the points now: [point][field]. */
static unda_status sample_points(unda_solver *s, const struct fd_points *p, double *out)
{
    for (int32_t f = 0; f < p->num_field; f++) {
        const struct fd_nodes *nodes = &p->nodes[f];
        double *values;
        TRY(array_try(&values, nodes->num_node, sizeof *values, "receivers"));
        unda_status status = fd_engine(s)->gather(s, p->field[f], nodes->num_node, nodes->node, values);
        for (int64_t i = 0; i < p->num_point && status == UNDA_OK; i++)
            out[i * p->num_field + f] = fd_weigh(nodes, i, values);
        array_free(values);
        TRY(status);
    }
    return UNDA_OK;
}

/* Sample of one group at once: when it is added, or the state was set. */
unda_status fd_record(unda_solver *s, struct receiver_group *group)
{
    int64_t num = group->num_point * group->num_field;
    double *values;
    TRY(array_try(&values, num, sizeof *values, "receivers"));
    unda_status status = sample_points(s, group->points, values);
    for (int64_t i = 0; i < num && status == UNDA_OK; i++)
        if (s->real_bytes == 4)
            ((float *)group->samples)[group->held * num + i] = (float)values[i];
        else
            ((double *)group->samples)[group->held * num + i] = values[i];
    array_free(values);
    TRY(status);
    group->held++;
    return UNDA_OK;
}

int64_t fd_samples_since(const struct receiver_group *group, int64_t begin, int64_t step)
{
    return (step - group->first) / group->every - (begin - group->first) / group->every;
}

unda_status fd_sample(unda_solver *s, const unda_receivers *r, double *values)
{
    void *points;
    TRY(fd_points_new(s, &points, r));
    unda_status status = sample_points(s, points, values);
    fd_points_free(points);
    return status;
}
