/* points.c: receivers of finite differences: the nodes that they need, each once, and their samples. Not
 * here: weights of the nodes (row.c), sources (sources.c). */
#include "fd.h"
#include "node_set.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

unda_status fd_inside(const struct fd *fd, const double *x, const char *what, int64_t number)
{
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd->axis[a];
        bool round = axis->side[0] == SIDE_PERIODIC && axis->num > 1; /* on to the first node's image */
        double place = (x[a] - axis->origin) / axis->h, last = (double)(axis->num - !round);
        double low = axis->origin, high = low + last * axis->h;
        if (!(place >= -1e-6 && place <= last + 1e-6))
            FAIL(UNDA_ERR_ARG, "%s %lld: %c is %g m, expected %g to %g m: on the grid", what,
                 (long long)number, "xyz"[a], x[a], low, high);
    }
    return UNDA_OK;
}

unda_status fd_points_check(const unda_solver *s, const unda_receivers *r)
{
    if (r->first)
        FAIL(UNDA_ERR_ARG, "first of unda_receivers is given, expected NULL on a grid");
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= fd_tables(s)->num_field)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d: the %s scheme has values only",
                 r->fields[i], fd_tables(s)->num_field - 1, fd_tables(s)->scheme->name);
    for (int64_t i = 0; i < r->num_point; i++)
        TRY(fd_inside(fd_tables(s), r->points + 3 * i, "receiver", i));
    return UNDA_OK;
}

void fd_points_free(void *points)
{
    struct fd_points *p = points;
    if (p)
        arrays_free(&p->owned);
    array_free(p);
}

/* Each node once, ascending. Products are turned into runs each time: so many at once are too many. row: the
 * products of one part, of all points. */
static unda_status list_nodes(const struct fd *fd, struct fd_nodes *n, const struct fd_product *row,
                              int32_t threads, void **owner)
{
    OWNER void *scratch = NULL;
    struct node_set set = {0};
    struct fd_run run[2 * POINT_LINES];
    int32_t place[POINT_WIDTH];
    n->num_run = 1;
    for (int64_t i = 0; i < n->num_point; i++)
        for (int k = fd_product_runs(fd, &row[n->point[i]], run, place); k-- > 0;) {
            node_set_span(&set, run[k].node, run[k].num);
            n->num_run = run[k].line < POINT_LINES ? n->num_run : 2;
        }
    TRY(node_set_open(&set, &scratch));
    for (int64_t i = 0; i < n->num_point; i++)
        for (int k = fd_product_runs(fd, &row[n->point[i]], run, place); k-- > 0;)
            node_set_add(&set, run[k].node, run[k].num);
    n->num_node = node_set_count(&set);
    TRY(array_own(owner, &n->node, n->num_node, sizeof *n->node, "receivers"));
    TRY(array_own(owner, &n->first, n->num_run * POINT_LINES * n->num_point, sizeof *n->first, "receivers"));
    node_set_list(&set, n->node);
#pragma omp parallel for schedule(static) num_threads(threads) if (n->num_point > 1000) private(run)
    for (int64_t i = 0; i < n->num_point; i++) {
        const struct fd_product *product = &row[n->point[i]];
        int32_t *first = n->first + n->num_run * POINT_LINES * i;
        memcpy(n->weight + 3 * POINT_WIDTH * i, product->weight, sizeof product->weight);
        for (int k = 0; k < n->num_run * POINT_LINES; k++)
            first[k] = -1;
        for (int k = fd_product_runs(fd, product, run, n->place + POINT_WIDTH * i); k-- > 0;)
            first[run[k].line] = (int32_t)node_set_number(&set, run[k].node);
    }
    return UNDA_OK;
}

/* Nodes of the points that have a product. */
static unda_status fill_nodes(const unda_solver *s, struct fd_nodes *n, int64_t num_point,
                              const struct fd_product *row, void **owner)
{
    TRY(array_own(owner, &n->point, num_point, sizeof *n->point, "receivers"));
    for (int64_t i = 0; i < num_point; i++)
        if (row[i].field >= 0) {
            n->field = row[i].field;
            n->point[n->num_point++] = i;
        }
    TRY(array_own(owner, &n->place, POINT_WIDTH * n->num_point, sizeof *n->place, "receivers"));
    TRY(array_own(owner, &n->weight, 3 * POINT_WIDTH * n->num_point, sizeof *n->weight, "receivers"));
    return list_nodes(fd_tables(s), n, row, parallel_few(s->options.threads), owner);
}

/* The rows of one field; parts over other fields go behind all that are there. */
static unda_status fill_column(unda_solver *s, struct fd_points *p, const unda_receivers *r, int32_t column,
                               struct fd_product *row)
{
    const struct fd_product *const none[3] = {NULL};
    TRY(fd_rows(s, r->fields[column], r->num_point, r->points, none, row));
    p->nodes[column].field = r->fields[column];
    p->nodes[column].column = column;
    TRY(fill_nodes(s, &p->nodes[column], r->num_point, row, &p->owned));
    for (int part = 1; part < fd_num_part(fd_tables(s)); part++) {
        const struct fd_product *other = row + part * r->num_point;
        bool any = false;
        for (int64_t i = 0; i < r->num_point && !any; i++)
            any = other[i].field >= 0;
        if (!any)
            continue;
        p->nodes[p->num_nodes].column = column;
        p->nodes[p->num_nodes].adds = true;
        TRY(fill_nodes(s, &p->nodes[p->num_nodes++], r->num_point, other, &p->owned));
    }
    return UNDA_OK;
}

static unda_status fill_points(unda_solver *s, struct fd_points *p, const unda_receivers *r)
{
    SCRATCH struct fd_product *row = NULL;
    if (r->num_point > INT32_MAX / POINT_NODES)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, expected at most %d a group", (long long)r->num_point,
             INT32_MAX / POINT_NODES);
    p->num_field = p->num_nodes = r->num_field;
    TRY(array_own(&p->owned, &p->nodes, FD_MAX_PART * r->num_field, sizeof *p->nodes, "receivers"));
    TRY(array_try(&row, fd_num_part(fd_tables(s)) * r->num_point, sizeof *row, "receivers"));
    for (int32_t column = 0; column < r->num_field; column++)
        TRY(fill_column(s, p, r, column, row));
    return UNDA_OK;
}

unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct fd_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    return COMPLETE(points, p, fd_points_free, fill_points(s, p, r));
}

/* The operations of kernel scalar_weigh in cuda/fd/points.cu, one by one: the same bits. */
CLONES static double weigh(const struct fd_nodes *nodes, int64_t point, const double *values)
{
    const double *weight = nodes->weight + 3 * POINT_WIDTH * point;
    const int32_t *first = nodes->first + nodes->num_run * POINT_LINES * point,
                  *place = nodes->place + POINT_WIDTH * point;
    double sum[32] = {0};
    for (int line = 0; line < POINT_LINES; line++) {
        double part = 0;
        for (int k = 0; k < POINT_WIDTH && first[line] >= 0; k++)
            if (weight[2 * POINT_WIDTH + k] != 0)
                part = fma(
                    weight[2 * POINT_WIDTH + k],
                    values[place[k] >= 0 ? first[line] + place[k] : first[POINT_LINES + line] + ~place[k]],
                    part);
        sum[line % 32] =
            fma(weight[line / POINT_WIDTH] * weight[POINT_WIDTH + line % POINT_WIDTH], part, sum[line % 32]);
    }
    for (int half = 16; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}

int64_t fd_point_node(const struct fd_nodes *nodes, int64_t point, int line, int k)
{
    const int32_t *first = nodes->first + nodes->num_run * POINT_LINES * point;
    int32_t place = nodes->place[POINT_WIDTH * point + k];
    if (first[line] < 0 || nodes->weight[3 * POINT_WIDTH * point + 2 * POINT_WIDTH + k] == 0)
        return -1;
    return place >= 0 ? first[line] + place : first[POINT_LINES + line] + ~place;
}

double fd_weigh(const struct fd_nodes *nodes, int64_t point, const double *values)
{
    return weigh(nodes, point, values);
}

void fd_add_sample(const unda_solver *s, const struct receiver_group *group, const struct fd_nodes *nodes,
                   int64_t i, double value)
{
    int64_t sample = group->held + i / nodes->num_point, point = nodes->point[i % nodes->num_point];
    int64_t at = (sample * group->num_point + point) * group->num_field + nodes->column;
    double there = nodes->adds ? real_get(s, group->samples, at) : 0;
    real_put(s, group->samples, at, there + (s->real_bytes == 4 ? (double)(float)value : value));
}

unda_status fd_sample(unda_solver *s, const void *points, double *out)
{
    const struct fd_points *p = points;
    int32_t threads = parallel_few(s->options.threads);
    for (int32_t n = 0; n < p->num_nodes; n++) {
        const struct fd_nodes *nodes = &p->nodes[n];
        SCRATCH double *values = NULL;
        TRY(array_try(&values, nodes->num_node, sizeof *values, "receivers"));
        TRY(fd_engine(s)->gather(s, nodes->field, nodes->num_node, nodes->node, values));
#pragma omp parallel for schedule(static) num_threads(threads) if (nodes->num_point > 1000)
        for (int64_t i = 0; i < nodes->num_point; i++) {
            double *to = &out[nodes->point[i] * p->num_field + nodes->column];
            *to = fd_weigh(nodes, i, values) + (nodes->adds ? *to : 0);
        }
    }
    return UNDA_OK;
}
