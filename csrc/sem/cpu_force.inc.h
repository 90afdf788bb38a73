/* cpu_force.inc.h: the force -K u of elements, LANES of them side by side: u is gathered, differentiated
 * line by line along the three axes, FLUX makes of the nine (three) derivatives at a node the fluxes along
 * them, whose transposed derivatives are the force; elements are added to the nodes one after the other.
 * DIM: unknowns a node. */
#include "cpu.h"

#include "../cpu/precision.h"

typedef REAL VAL __attribute__((vector_size(64)));

#include FLUX

/* to[node * stride + i], i < DIM, becomes, or gains minus, the product of a packed matrix and the lines
 * along one axis of from[node * width + i]. */
DEVICE void FN(lines)(const REAL *matrix, int n, int axis, const VAL *from, int width, VAL *to, int stride,
                      bool gain)
{
    int num = n * n, step = axis == 0 ? 1 : axis == 1 ? n : num;
    for (int line = 0; line < num; line++) {
        int first = axis == 0 ? line * n : axis == 1 ? line / n * num + line % n : line;
        const REAL *d = matrix;
        for (int row = 0; row < n; row += ROWS) {
            VAL sum[ROWS][DIM] = {0};
            for (int k = 0; k < n; k++, d += ROWS) {
                const VAL *x = from + (first + k * step) * width;
#pragma GCC unroll 8
                for (int r = 0; r < ROWS; r++)
                    for (int i = 0; i < DIM; i++)
                        sum[r][i] += d[r] * x[i];
            }
            for (int r = 0; r < ROWS && row + r < n; r++)
                for (int i = 0; i < DIM; i++) {
                    VAL *at = to + (first + (row + r) * step) * stride + i;
                    *at = gain ? *at - sum[r][i] : sum[r][i];
                }
        }
    }
}

DEVICE void FN(block)(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t block, const REAL *u,
                      REAL *force, void *work)
{
    int num = t->num_node, n = t->num_line_node;
    const int32_t *node = r->node + block * num * LANES;
    const VAL *metric = (const VAL *)r->metric + block * t->metric_nodes * HEX_METRIC;
    const VAL *coef = (const VAL *)r->coef + block * t->material_nodes * 2;
    VAL *x = work, *slope = x + num * DIM;
    for (int k = 0; k < num; k++)
        for (int i = 0; i < DIM; i++)
            for (int l = 0; l < LANES; l++)
                x[k * DIM + i][l] = u[(int64_t)node[k * LANES + l] * DIM + i];
    for (int axis = 0; axis < 3; axis++)
        FN(lines)(t->derivative[0], n, axis, x, DIM, slope + axis * DIM, 3 * DIM, false);
    for (int k = 0; k < num; k++)
        FN(flux_at)(metric + (t->metric_nodes > 1 ? k * HEX_METRIC : 0),
                    coef + (t->material_nodes > 1 ? 2 * k : 0), ((const REAL *)t->weight)[k],
                    slope + 3 * DIM * k);
    memset(x, 0, sizeof *x * (size_t)(num * DIM));
    for (int axis = 0; axis < 3; axis++)
        FN(lines)(t->derivative[1], n, axis, slope + axis * DIM, 3 * DIM, x, DIM, true);
    int lanes = r->num_elem - block * LANES < LANES ? (int)(r->num_elem - block * LANES) : LANES;
    for (int l = 0; l < lanes; l++)
        for (int k = 0; k < num; k++)
            for (int i = 0; i < DIM; i++)
                force[(int64_t)node[k * LANES + l] * DIM + i] += x[k * DIM + i][l];
}

CLONES static void FN(task)(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t task,
                            const void *u, void *force, void *work)
{
    for (int64_t b = task * (TASK_ELEM / LANES);
         b < (task + 1) * (TASK_ELEM / LANES) && b * LANES < r->num_elem; b++)
        FN(block)(t, r, b, u, force, work);
}
