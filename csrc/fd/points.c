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

/* Weights along one axis. volume: of injection, in units of 1 / h. */
static void spread_axis(const struct fd_axis *axis, double x, bool volume, int64_t *node, double *weight)
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

static void locate(const struct fd *fd, const double *x, bool volume, struct spread *point)
{
    for (int a = 0; a < 3; a++)
        spread_axis(&fd->axis[a], x[a], volume, point->node[a], point->weight[a]);
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
    struct spread point;
    struct pair pair[POINT_NODES];
    int64_t node[POINT_NODES];
    double weight[POINT_NODES], speed[POINT_NODES];
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
    array_free(p->node);
    array_free(p->index);
    array_free(p->weight);
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
static unda_status list_points(const struct fd *fd, struct fd_points *p, const unda_receivers *r,
                               int64_t *all)
{
    struct spread spread;
    int64_t num = 0;
    for (int64_t i = 0; i < r->num_point; i++) {
        locate(fd, r->points + 3 * i, false, &spread);
        memcpy(p->weight + 3 * POINT_WIDTH * i, spread.weight, sizeof spread.weight);
        for (int k = 0; k < POINT_NODES; k++) {
            int64_t node = node_of(fd, &spread, k);
            if (node >= 0)
                all[num++] = node;
        }
    }
    qsort(all, (size_t)num, sizeof *all, ascending);
    for (int64_t i = 0; i < num; i++)
        if (i == 0 || all[i] != all[p->num_node - 1])
            all[p->num_node++] = all[i];
    TRY(array_try(&p->node, p->num_node, sizeof *p->node, "receivers"));
    memcpy(p->node, all, (size_t)p->num_node * sizeof *all);
    for (int64_t i = 0; i < r->num_point; i++) {
        locate(fd, r->points + 3 * i, false, &spread);
        for (int k = 0; k < POINT_NODES; k++) {
            int64_t node = node_of(fd, &spread, k);
            const int64_t *at = bsearch(&node, all, (size_t)p->num_node, sizeof *all, ascending);
            p->index[POINT_NODES * i + k] = at ? (int32_t)(at - all) : -1;
        }
    }
    return UNDA_OK;
}

static unda_status fill_points(const struct fd *fd, struct fd_points *p, const unda_receivers *r)
{
    int64_t *all;
    if (r->num_point > INT32_MAX / POINT_NODES)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, expected at most %d a group", (long long)r->num_point,
             INT32_MAX / POINT_NODES);
    p->num_point = r->num_point;
    TRY(array_try(&p->index, POINT_NODES * r->num_point, sizeof *p->index, "receivers"));
    TRY(array_try(&p->weight, 3 * POINT_WIDTH * r->num_point, sizeof *p->weight, "receivers"));
    TRY(array_try(&all, POINT_NODES * r->num_point, sizeof *all, "receivers"));
    unda_status status = list_points(fd, p, r, all);
    array_free(all);
    return status;
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
double fd_weigh(const struct fd_points *points, int64_t point, const double *values)
{
    const double *weight = points->weight + 3 * POINT_WIDTH * point;
    double sum[32] = {0};
    for (int line = 0; line < POINT_WIDTH * POINT_WIDTH; line++) {
        const int32_t *index = points->index + POINT_NODES * point + POINT_WIDTH * line;
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

/* Values of all nodes of a group now. */
static unda_status gather_points(unda_solver *s, const struct fd_points *points, double **values)
{
    TRY(array_try(values, points->num_node, sizeof **values, "receivers"));
    unda_status status = fd_engine(s)->gather(s, FD_P, points->num_node, points->node, *values);
    if (status != UNDA_OK)
        array_free(*values);
    return status;
}

/* Sample of one group at once: when it is added, or the state was set. */
unda_status fd_record(unda_solver *s, struct receiver_group *group)
{
    double *values;
    TRY(gather_points(s, group->points, &values));
    for (int64_t i = 0; i < group->num_point; i++) {
        double value = fd_weigh(group->points, i, values);
        for (int32_t f = 0; f < group->num_field; f++) {
            int64_t at = (group->held * group->num_point + i) * group->num_field + f;
            if (s->real_bytes == 4)
                ((float *)group->samples)[at] = (float)value;
            else
                ((double *)group->samples)[at] = value;
        }
    }
    group->held++;
    array_free(values);
    return UNDA_OK;
}

static unda_status sample(unda_solver *s, struct fd_points *points, const unda_receivers *r, double *out)
{
    double *values;
    TRY(gather_points(s, points, &values));
    for (int64_t i = 0; i < r->num_point; i++)
        for (int32_t f = 0; f < r->num_field; f++)
            out[i * r->num_field + f] = fd_weigh(points, i, values);
    array_free(values);
    return UNDA_OK;
}

unda_status fd_sample(unda_solver *s, const unda_receivers *r, double *values)
{
    void *points;
    TRY(fd_points_new(s, &points, r));
    unda_status status = sample(s, points, r, values);
    fd_points_free(points);
    return status;
}
