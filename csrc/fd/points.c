/* points.c: sources and receivers between nodes (Hicks 2002): along each axis the weights of a sinc windowed
 * by Kaiser's function of radius 4 and b = 6.31, exact to 7e-4 at 8 nodes a wavelength and 1.3e-3 at 4. Nodes
 * beyond a side stand for their images: a source there sends what its image sends. Injection is the transpose
 * of sampling with the nodes' volumes (half at rigid sides): so reciprocity is exact. */
#include "fd.h"

#include <math.h>
#include <stdlib.h>

static const double RADIUS = 4, SHAPE = 6.31;

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
static void spread(const struct fd *fd, int f, int a, double x, bool volume, int64_t *node, double *weight)
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

static void locate(const struct fd *fd, int f, const double *x, bool volume, struct fd_point *point)
{
    for (int a = 0; a < 3; a++)
        spread(fd, f, a, x[a], volume, point->node[a], point->weight[a]);
}

/* Calls of the nodes of a point: all (i, j, k) whose three weights are not 0. */
static int64_t list_nodes(const struct fd *fd, const struct fd_point *p, int64_t *node, double *weight)
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

enum { MAX_POINT_NODE = POINT_WIDTH * POINT_WIDTH * POINT_WIDTH };

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
    struct fd_point point;
    struct pair pair[MAX_POINT_NODE];
    int64_t node[MAX_POINT_NODE], num;
    double weight[MAX_POINT_NODE], volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
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
    TRY(array_try(&source->node, (int64_t)num * MAX_POINT_NODE, sizeof(int64_t), "source"));
    TRY(array_try(&source->weight, (int64_t)num * MAX_POINT_NODE, sizeof(double), "source"));
    for (int f = 0; f < fd->num_field; f++) {
        source->first[f] = source->num;
        if (drives(fd, rates, f))
            TRY(add_field(s, source, f, position, rates));
    }
    for (int f = fd->num_field; f <= FD_MAX_FIELD; f++)
        source->first[f] = source->num;
    if (num > 0 && source->num == 0)
        FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a free side, where p stays 0", position[0],
             position[1], position[2]);
    return UNDA_OK;
}

unda_status fd_source_new(unda_solver *s, void **out, int64_t elem, const double *position,
                          const double *rates)
{
    (void)elem;
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
    array_free(p->field);
    array_free(p->point);
    array_free(p);
}

unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct fd_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    unda_status status = array_try(&p->point, r->num_point * r->num_field, sizeof *p->point, "receivers");
    if (status == UNDA_OK)
        status = array_try(&p->field, r->num_field, sizeof *p->field, "receivers");
    if (status != UNDA_OK) {
        fd_points_free(p);
        return status;
    }
    p->num_point = r->num_point;
    p->num_field = r->num_field;
    for (int32_t f = 0; f < r->num_field; f++) {
        p->field[f] = r->fields[f];
        for (int64_t i = 0; i < r->num_point; i++)
            locate(s->fd, r->fields[f], r->points + 3 * i, false, &p->point[i * r->num_field + f]);
    }
    *points = p;
    return UNDA_OK;
}

unda_status fd_sample_point(unda_solver *s, int field, const struct fd_point *point, double *out)
{
    int64_t node[MAX_POINT_NODE];
    double weight[MAX_POINT_NODE], value[MAX_POINT_NODE], sum = 0;
    int64_t num = list_nodes(s->fd, point, node, weight);
    TRY(fd_engine(s)->gather(s, field, num, node, value));
    for (int64_t k = 0; k < num; k++)
        sum += weight[k] * value[k];
    *out = sum;
    return UNDA_OK;
}

unda_status fd_sample(unda_solver *s, const unda_receivers *r, double *values)
{
    for (int64_t i = 0; i < r->num_point; i++)
        for (int32_t f = 0; f < r->num_field; f++) {
            struct fd_point point;
            locate(s->fd, r->fields[f], r->points + 3 * i, false, &point);
            TRY(fd_sample_point(s, r->fields[f], &point, &values[i * r->num_field + f]));
        }
    return UNDA_OK;
}
