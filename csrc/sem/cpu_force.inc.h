/* cpu_force.inc.h: the force -K u of elements, LANES of them side by side. u is gathered and differentiated along
 * axis 3; then plane by plane, so that all of a plane stays in the first cache: derivatives along axes 1 and 2, what
 * FLUX makes of the nine (three) derivatives at a node, the fluxes along them, whose transposed derivatives are
 * the force; last those along axis 3. Elements are added to the nodes one after the other. DIM: unknowns a node. */
#include "cpu.h"

#include "../cpu/lanes.h"

typedef VEC VAL;
typedef REAL PAIR __attribute__((vector_size(2 * sizeof(REAL))));

#include FLUX

/* Lines of n values at `step` nodes from each other, of `width` (from) and `stride` (to) values a node. */
struct FN(lines) {
    const REAL *matrix; /* packed, with as many rows at once as the caller says */
    int n, step, width, stride;
};

/* to becomes, or gains, the product of the matrix and a line, whose first node `from` and `to` point to. */
DEVICE void FN(line)(const struct FN(lines) * a, int rows, const VAL *from, VAL *to, bool gain)
{
    const REAL *d = a->matrix;
    for (int row = 0; row < a->n; row += rows) {
        VAL sum[MOST_ROWS][DIM] = {0};
        for (int k = 0; k < a->n; k++, d += rows)
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                for (int i = 0; i < DIM; i++)
                    sum[r][i] += d[r] * from[k * a->step * a->width + i];
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            if (row + r < a->n)
                for (int i = 0; i < DIM; i++) {
                    VAL *at = to + (row + r) * a->step * a->stride + i;
                    *at = gain ? *at + sum[r][i] : sum[r][i];
                }
    }
}

/* Metrics by node, which arrive while lines are computed: a burst would hold up everything else. */
struct FN(stream) {
    const VAL *at, *end;
};

DEVICE void FN(prefetch)(struct FN(stream) * s, int count)
{
    for (int i = 0; i < count && s->at < s->end; i++)
        __builtin_prefetch(s->at++, 0, 2);
}

/* u at the nodes of a block. */
DEVICE void FN(gather)(const int32_t *node, int num, const REAL *u, VAL *x, struct FN(stream) * metric)
{
    for (int k = 0; k < num; k++, node += LANES) {
        FN(prefetch)(metric, 2);
#if DIM == 3
        const REAL *from[LANES];
        for (int l = 0; l < LANES; l++)
            from[l] = u + 3 * (int64_t)node[l];
        for (int l = 0; l < LANES; l += PART_LANES)
            gather_four(from + l, 0, 3, (REAL *)(x + 3 * k) + l);
#else
        for (int l = 0; l < LANES; l++)
            x[k][l] = u[node[l]];
#endif
    }
}

#if DIM == 3
/* Two and one: loads wait for no store that is narrower. */
DEVICE void FN(add_three)(const REAL *from, REAL *to)
{
    PAIR two, sum;
    memcpy(&two, from, sizeof two);
    memcpy(&sum, to, sizeof sum);
    sum += two;
    memcpy(to, &sum, sizeof sum);
    to[2] += from[2];
}
#endif

/* Adds the first `lanes` elements to their nodes. */
DEVICE void FN(scatter)(const int32_t *node, int num, int lanes, const VAL *x, REAL *force)
{
    for (int k = 0; k < num; k++, node += LANES)
#if DIM == 3
        for (int first = 0; first < lanes; first += PART_LANES) {
            PART z[4] = {0};
            for (int i = 0; i < 3; i++)
                memcpy(z + i, (const REAL *)(x + 3 * k + i) + first, sizeof *z);
            transpose(z);
#pragma GCC unroll 8
            for (int l = 0; l < PART_LANES; l++)
                if (first + l < lanes)
                    FN(add_three)((const REAL *)(z + l % 4) + l / 4 * 4,
                                  force + 3 * (int64_t)node[first + l]);
        }
#else
        for (int l = 0; l < lanes; l++)
            force[node[l]] += x[k][l];
#endif
}

/* Planes of axis 3: x becomes the force of their lines along axes 1 and 2, z, the derivative along axis 3, the
 * flux along it. */
DEVICE void FN(plane)(const struct sem_cpu *t, int rows, const VAL *metric, const VAL *coef,
                      const REAL *weight, VAL *x, VAL *z, VAL *slope, struct FN(stream) * ahead)
{
    int n = t->num_line_node, num = n * n;
    struct FN(lines) forth = {t->derivative[0], n, 1, DIM, 3 * DIM};
    struct FN(lines) back = {t->derivative[1], n, 1, 3 * DIM, DIM};
    for (int j = 0; j < n; j++) {
        FN(prefetch)(ahead, 3 * n);
        FN(line)(&forth, rows, x + j * n * DIM, slope + j * n * 3 * DIM, false);
    }
    forth.step = back.step = n;
    for (int i = 0; i < n; i++) {
        FN(prefetch)(ahead, 3 * n);
        FN(line)(&forth, rows, x + i * DIM, slope + (i * 3 + 1) * DIM, false);
    }
    for (int k = 0; k < num; k++) {
        VAL *g = slope + 3 * DIM * k;
        for (int i = 0; i < DIM; i++)
            g[2 * DIM + i] = z[k * DIM + i];
        FN(flux_at)(metric + (t->metric_nodes > 1 ? k * HEX_METRIC : 0),
                    coef + (t->material_nodes > 1 ? 2 * k : 0), weight[k], g);
        for (int i = 0; i < DIM; i++)
            z[k * DIM + i] = g[2 * DIM + i];
    }
    for (int i = 0; i < n; i++) {
        FN(prefetch)(ahead, 3 * n);
        FN(line)(&back, rows, slope + (i * 3 + 1) * DIM, x + i * DIM, false);
    }
    back.step = 1;
    for (int j = 0; j < n; j++) {
        FN(prefetch)(ahead, 3 * n);
        FN(line)(&back, rows, slope + j * n * 3 * DIM, x + j * n * DIM, true);
    }
}

DEVICE void FN(block)(const struct sem_cpu *t, int rows, const struct sem_cpu_region *r, int64_t block,
                      const REAL *u, REAL *force, void *work)
{
    int num = t->num_node, n = t->num_line_node, plane = n * n;
    const int32_t *node = r->node + block * num * LANES;
    const VAL *metric = (const VAL *)r->metric + block * t->metric_nodes * HEX_METRIC;
    const VAL *coef = (const VAL *)r->coef + block * t->material_nodes * 2;
    int metric_step = t->metric_nodes > 1 ? plane * HEX_METRIC : 0;
    int coef_step = t->material_nodes > 1 ? plane * 2 : 0;
    VAL *x = work, *z = x + num * DIM, *slope = z + num * DIM;
    struct FN(lines) lines = {t->derivative[0], n, plane, DIM, DIM};
    struct FN(stream) ahead = {metric, metric + n * metric_step};
    FN(gather)(node, num, u, x, &ahead);
    for (int i = 0; i < plane; i++)
        FN(line)(&lines, rows, x + i * DIM, z + i * DIM, false);
    for (int k = 0; k < n; k++) {
        FN(plane)(t, rows, metric + k * metric_step, coef + k * coef_step,
                  (const REAL *)t->weight + k * plane, x + k * plane * DIM, z + k * plane * DIM, slope,
                  &ahead);
    }
    lines.matrix = t->derivative[1];
    for (int i = 0; i < plane; i++)
        FN(line)(&lines, rows, z + i * DIM, x + i * DIM, true);
    int lanes = r->num_elem - block * LANES < LANES ? (int)(r->num_elem - block * LANES) : LANES;
    FN(scatter)(node, num, lanes, x, force);
}

CLONES static void FN(task)(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t task,
                            const void *u, void *force, void *work)
{
    for (int64_t b = task * (TASK_ELEM / LANES);
         b < (task + 1) * (TASK_ELEM / LANES) && b * LANES < r->num_elem; b++)
        if (t->rows == 3)
            FN(block)(t, 3, r, b, u, force, work);
        else if (t->rows == 4)
            FN(block)(t, 4, r, b, u, force, work);
        else
            FN(block)(t, 5, r, b, u, force, work);
}
