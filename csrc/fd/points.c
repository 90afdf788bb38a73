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

/* Weights along one axis. volume: of injection, in units of 1 / h. */
static void spread(const struct fd_axis *axis, double x, bool volume, int64_t *node, double *weight)
{
    double place = (x - axis->origin) / axis->h + (double)axis->first, whole = nearbyint(place);
    int64_t base = (int64_t)floor(place) - POINT_WIDTH / 2 + 1;
    bool on_node = fabs(place - whole) < 1e-9 || axis->total == 1;
    for (int i = 0; i < POINT_WIDTH; i++) {
        node[i] = 0;
        weight[i] = 0;
    }
    for (int i = 0; i < (on_node ? 1 : POINT_WIDTH); i++) {
        int sign;
        int64_t raw = on_node ? (int64_t)whole : base + i, at = fd_image(axis, raw, &sign);
        double value = on_node ? 1 : kaiser_sinc(place - (double)raw);
        int side = at == 0 ? axis->side[0] : at == axis->total - 1 ? axis->side[1] : SIDE_PERIODIC;
        if (volume && axis->total > 1 && side != SIDE_PERIODIC)
            value *= 1 + side; /* half a cell at a rigid side; a free node stays 0 */
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

static void locate(const struct fd *fd, const double *x, bool volume, struct fd_point *point)
{
    for (int a = 0; a < 3; a++)
        spread(&fd->axis[a], x[a], volume, point->node[a], point->weight[a]);
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

static unda_status fill_source(unda_solver *s, struct fd_source *source, const double *position, double rate)
{
    const struct fd *fd = s->fd;
    struct fd_point point;
    struct pair pair[MAX_POINT_NODE];
    int64_t node[MAX_POINT_NODE];
    double weight[MAX_POINT_NODE], speed[MAX_POINT_NODE];
    locate(fd, position, true, &point);
    source->num = list_nodes(fd, &point, node, weight);
    if (source->num == 0)
        FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a free side, where p stays 0", position[0],
             position[1], position[2]);
    for (int64_t i = 0; i < source->num; i++)
        pair[i] = (struct pair){node[i], weight[i]};
    qsort(pair, (size_t)source->num, sizeof *pair, by_node);
    TRY(array_try(&source->node, source->num, sizeof(int64_t), "source"));
    TRY(array_try(&source->weight, source->num, sizeof(double), "source"));
    for (int64_t i = 0; i < source->num; i++)
        source->node[i] = pair[i].node;
    if (!fd->uniform)
        TRY(fd_engine(s)->gather(s, FD_SPEED, source->num, source->node, speed));
    double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    for (int64_t i = 0; i < source->num; i++) {
        double square = fd->uniform ? fd->c * fd->c : speed[i] / fd->speed_unit;
        source->weight[i] = rate * square * pair[i].weight / volume;
    }
    return UNDA_OK;
}

unda_status fd_source_new(unda_solver *s, void **out, int64_t elem, const double *position,
                          const double *rates)
{
    (void)elem;
    if (!isfinite(rates[0]))
        FAIL(UNDA_ERR_ARG, "rate 0 of the source is %g, expected a finite number", rates[0]);
    TRY(fd_need_material(s));
    TRY(inside(s->fd, position, "source", s->num_source));
    struct fd_source *source;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    unda_status status = fill_source(s, source, position, rates[0]);
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
        if (r->fields[i] != 0)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0: the scalar scheme has p only", r->fields[i]);
    for (int64_t i = 0; i < r->num_point; i++)
        TRY(inside(s->fd, r->points + 3 * i, "receiver", i));
    return UNDA_OK;
}

void fd_points_free(void *points)
{
    struct fd_points *p = points;
    if (!p)
        return;
    array_free(p->point);
    array_free(p);
}

unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct fd_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    unda_status status = array_try(&p->point, r->num_point, sizeof *p->point, "receivers");
    if (status != UNDA_OK) {
        fd_points_free(p);
        return status;
    }
    p->num_point = r->num_point;
    for (int64_t i = 0; i < r->num_point; i++)
        locate(s->fd, r->points + 3 * i, false, &p->point[i]);
    *points = p;
    return UNDA_OK;
}

unda_status fd_sample_point(unda_solver *s, const struct fd_point *point, double *out)
{
    int64_t node[MAX_POINT_NODE];
    double weight[MAX_POINT_NODE], value[MAX_POINT_NODE], sum = 0;
    int64_t num = list_nodes(s->fd, point, node, weight);
    TRY(fd_engine(s)->gather(s, FD_P, num, node, value));
    for (int64_t k = 0; k < num; k++)
        sum += weight[k] * value[k];
    *out = sum;
    return UNDA_OK;
}

unda_status fd_sample(unda_solver *s, const unda_receivers *r, double *values)
{
    for (int64_t i = 0; i < r->num_point; i++) {
        struct fd_point point;
        double value;
        locate(s->fd, r->points + 3 * i, false, &point);
        TRY(fd_sample_point(s, &point, &value));
        for (int32_t f = 0; f < r->num_field; f++)
            values[i * r->num_field + f] = value;
    }
    return UNDA_OK;
}
