/* points.c: receivers of finite differences: the nodes that they need, each once, and their samples. Not
 * here: weights of the nodes (row.c), sources (point_sources.c). */
#include "fd.h"
#include "node_set.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

unda_status fd_inside(const struct fd *fd, const double *x, const char *what, int64_t number)
{
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd->axis[a];
        double place = (x[a] - axis->origin) / axis->h, last = (double)(axis->num - 1);
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
    if (!p)
        return;
    for (int32_t i = 0; p->nodes && i < p->num_nodes; i++) {
        array_free(p->nodes[i].node);
        array_free(p->nodes[i].point);
        array_free(p->nodes[i].index);
        array_free(p->nodes[i].weight);
    }
    array_free(p->nodes);
    array_free(p);
}

/* Nodes of a product's cube [8][8][8], -1 where a weight is 0. */
static void all_nodes(const struct fd *fd, const struct fd_product *p, int64_t *node)
{
    for (int line = 0; line < POINT_WIDTH * POINT_WIDTH; line++) {
        int i = line / POINT_WIDTH, j = line % POINT_WIDTH;
        bool any = p->weight[0][i] != 0 && p->weight[1][j] != 0;
        int64_t first = (p->node[0][i] * fd->axis[1].total + p->node[1][j]) * fd->axis[2].total;
        for (int k = 0; k < POINT_WIDTH; k++)
            node[POINT_WIDTH * line + k] = any && p->weight[2][k] != 0 ? first + p->node[2][k] : -1;
    }
}

/* The lowest and the highest node of a product's cube. */
static void end_nodes(const struct fd *fd, const struct fd_product *p, int64_t node[2])
{
    node[0] = node[1] = 0;
    for (int a = 0; a < 3; a++) {
        int64_t low = INT64_MAX, high = 0;
        for (int i = 0; i < POINT_WIDTH; i++)
            if (p->weight[a][i] != 0) {
                low = p->node[a][i] < low ? p->node[a][i] : low;
                high = p->node[a][i] > high ? p->node[a][i] : high;
            }
        node[0] = node[0] * fd->axis[a].total + (low <= high ? low : high);
        node[1] = node[1] * fd->axis[a].total + high;
    }
}

/* Each node once, ascending. Products are turned into nodes twice: so many at once are too many. */
static unda_status list_nodes(const struct fd *fd, struct fd_nodes *n, const struct fd_row *row, int part,
                              struct node_set *set)
{
    int64_t node[POINT_NODES], number = 0;
    for (int64_t i = 0; i < n->num_point; i++) {
        end_nodes(fd, &row[n->point[i]].part[part], node);
        node_set_span(set, node, 2);
    }
    TRY(node_set_open(set));
    for (int64_t i = 0; i < n->num_point; i++) {
        all_nodes(fd, &row[n->point[i]].part[part], node);
        node_set_add(set, node, POINT_NODES);
    }
    n->num_node = node_set_count(set);
    TRY(array_try(&n->node, n->num_node, sizeof *n->node, "receivers"));
    node_set_list(set, n->node);
    for (int64_t i = 0; i < n->num_point; i++) {
        const struct fd_product *product = &row[n->point[i]].part[part];
        memcpy(n->weight + 3 * POINT_WIDTH * i, product->weight, sizeof product->weight);
        all_nodes(fd, product, node);
        for (int k = 0; k < POINT_NODES; k++) {
            number = node_set_number(set, node, k, number);
            n->index[POINT_NODES * i + k] = node[k] < 0 ? -1 : (int32_t)number;
        }
    }
    return UNDA_OK;
}

/* Nodes of the points that have such a part. */
static unda_status fill_nodes(const struct fd *fd, struct fd_nodes *n, int64_t num_point,
                              const struct fd_row *row, int part)
{
    TRY(array_try(&n->point, num_point, sizeof *n->point, "receivers"));
    for (int64_t i = 0; i < num_point; i++)
        if (row[i].part[part].field >= 0) {
            n->field = row[i].part[part].field;
            n->point[n->num_point++] = i;
        }
    TRY(array_try(&n->index, POINT_NODES * n->num_point, sizeof *n->index, "receivers"));
    TRY(array_try(&n->weight, 3 * POINT_WIDTH * n->num_point, sizeof *n->weight, "receivers"));
    struct node_set set = {0};
    unda_status status = list_nodes(fd, n, row, part, &set);
    node_set_free(&set);
    return status;
}

/* The rows of one field; parts over other fields go behind all that are there. */
static unda_status fill_column(unda_solver *s, struct fd_points *p, const unda_receivers *r, int32_t column,
                               struct fd_row *row)
{
    TRY(fd_rows(s, r->fields[column], r->num_point, r->points, row));
    p->nodes[column].field = r->fields[column];
    TRY(fill_nodes(fd_tables(s), &p->nodes[column], r->num_point, row, 0));
    for (int part = 1; part < FD_MAX_PART; part++) {
        bool any = false;
        for (int64_t i = 0; i < r->num_point && !any; i++)
            any = row[i].part[part].field >= 0;
        if (!any)
            continue;
        struct fd_nodes *more = &p->nodes[p->num_nodes++];
        more->column = column;
        TRY(fill_nodes(fd_tables(s), more, r->num_point, row, part));
    }
    return UNDA_OK;
}

static unda_status fill_points(unda_solver *s, struct fd_points *p, const unda_receivers *r)
{
    struct fd_row *row;
    unda_status status = UNDA_OK;
    if (r->num_point > INT32_MAX / POINT_NODES)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, expected at most %d a group", (long long)r->num_point,
             INT32_MAX / POINT_NODES);
    p->num_point = r->num_point;
    p->num_field = p->num_nodes = r->num_field;
    TRY(array_try(&p->nodes, FD_MAX_PART * r->num_field, sizeof *p->nodes, "receivers"));
    for (int32_t column = 0; column < r->num_field; column++)
        p->nodes[column].column = column;
    TRY(array_try(&row, r->num_point, sizeof *row, "receivers"));
    for (int32_t column = 0; column < r->num_field && status == UNDA_OK; column++)
        status = fill_column(s, p, r, column, row);
    array_free(row);
    return status;
}

unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct fd_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    unda_status status = fill_points(s, p, r);
    if (status != UNDA_OK) {
        fd_points_free(p);
        return status;
    }
    *points = p;
    return UNDA_OK;
}

/* The operations of kernel scalar_weigh in cuda/fd/points.cu, one by one: the same bits. */
CLONES static double weigh(const struct fd_nodes *nodes, int64_t point, const double *values)
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

double fd_weigh(const struct fd_nodes *nodes, int64_t point, const double *values)
{
    return weigh(nodes, point, values);
}

/* Values of the points now: [point][field]. */
static unda_status sample_points(unda_solver *s, const struct fd_points *p, double *out)
{
    for (int32_t n = 0; n < p->num_nodes; n++) {
        const struct fd_nodes *nodes = &p->nodes[n];
        double *values;
        TRY(array_try(&values, nodes->num_node, sizeof *values, "receivers"));
        unda_status status = fd_engine(s)->gather(s, nodes->field, nodes->num_node, nodes->node, values);
        for (int64_t i = 0; i < nodes->num_point && status == UNDA_OK; i++) {
            double *to = &out[nodes->point[i] * p->num_field + nodes->column];
            *to = fd_weigh(nodes, i, values) + (n < p->num_field ? 0 : *to);
        }
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
