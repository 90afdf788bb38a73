/* cpu_force.inc.h: the force -K u of elements, LANES of them side by side. u is gathered and differentiated along
 * axis 3; then plane by plane, so that all of a plane stays in the first cache: derivatives along axes 1 and 2, what
 * FLUX makes of the nine (three) derivatives at a node, the fluxes along them, whose transposed derivatives are
 * the force; last those along axis 3. Elements are added to the nodes one after the other. DIM: unknowns a node. */
#include "cpu.h"

#include "../cpu/lanes.h"

typedef VEC VAL;
#define PITCH (DIM == 3 ? SOLID_PITCH : 1)

#include "common/index.h"
#include "space/trilinear.h"
#include "cpu_edges.inc.h"
#include FLUX

/* Memory that arrives in shares while lines are computed: a burst would hold up everything else. */
struct FN(stream) {
    const VAL *at, *end;
    int share;
};

DEVICE struct FN(stream) FN(stream)(const void *values, int64_t first, int64_t last, int num_share)
{
    const VAL *at = (const VAL *)((const REAL *)values + first / LANES * LANES);
    const VAL *end = (const VAL *)values + (last + LANES - 1) / LANES;
    return (struct FN(stream)){at, end, (int)((end - at + num_share - 1) / num_share)};
}

DEVICE void FN(prefetch)(struct FN(stream) * s, int count)
{
    for (int i = 0; i < count && s->at < s->end; i++)
        __builtin_prefetch(s->at++, 0, 2);
}

/* The block's metrics by node; what the next block is the first to have of u and of the forces. */
struct FN(ahead) {
    struct FN(stream) metric, u, force;
};

DEVICE void FN(prefetch_share)(struct FN(ahead) * ahead)
{
    FN(prefetch)(&ahead->metric, ahead->metric.share);
    FN(prefetch)(&ahead->u, ahead->u.share);
    FN(prefetch)(&ahead->force, ahead->force.share);
}

/* Lines of n values at `step` nodes from each other, of `width` (from) and `stride` (to) values a node; `num` of them,
 * whose first values are next_from and next_to apart. */
struct FN(lines) {
    const REAL *matrix; /* packed, with so many rows at once */
    int rows, n, step, width, stride, num, next_from, next_to;
};

#if HAS_AVX512
#define LINE(name) FN(vectors_##name)
#define TARGET     AVX512
#define WIDTH      VEC
#include "cpu_products.inc.h"
#undef LINE
#undef TARGET
#undef WIDTH
#endif
#define LINE(name) FN(parts_##name)
#define TARGET     NARROW_CLONES
#define WIDTH      PART
#include "cpu_products.inc.h"

DEVICE void FN(multiply)(const struct FN(lines) * a, const VAL *from, VAL *to, bool gain,
                         struct FN(ahead) * ahead)
{
#if HAS_AVX512
    if (parallel_has_avx512())
        FN(vectors_lines)(a, from, to, gain, ahead);
    else
#endif
        FN(parts_lines)(a, from, to, gain, ahead);
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

/* Adds the first `lanes` elements to their nodes, whose three forces are a whole QUAD: a load, an addition and a store
 * a node. */
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
                if (first + l < lanes) {
                    QUAD add, *sum = (QUAD *)force + node[first + l];
                    memcpy(&add, (const REAL *)(z + l % 4) + l / 4 * 4, sizeof add);
                    *sum += add;
                }
        }
#else
        for (int l = 0; l < lanes; l++)
            force[node[l]] += x[k][l];
#endif
}

/* Planes of axis 3: x becomes the force of their lines along axes 1 and 2, z, the derivative along axis 3, the
 * flux along it. */
DEVICE void FN(plane)(const struct sem_cpu *t, const VAL *metric, const struct FN(edges) * edges,
                      const VAL *coef, const REAL *weight, VAL *x, VAL *z, VAL *slope,
                      struct FN(ahead) * ahead)
{
    int n = t->num_line_node, num = n * n;
    int rows = t->rows, one = DIM, two = 2 * DIM; /* values a node, of u and of slopes along axes 1 and 2 */
    struct FN(lines) forth[2] = {{t->derivative[0], rows, n, 1, one, two, n, n * one, n * two},
                                 {t->derivative[0], rows, n, n, one, two, n, one, two}};
    struct FN(lines) back[2] = {{t->derivative[1], rows, n, 1, two, one, n, n * two, n * one},
                                {t->derivative[1], rows, n, n, two, one, n, two, one}};
    FN(multiply)(&forth[0], x, slope, false, ahead);
    FN(multiply)(&forth[1], x, slope + DIM, false, ahead);
    for (int k = 0; k < num; k++) {
        VAL own[HEX_METRIC], g[3 * DIM]; /* not in memory, which what is stored could change */
        if (t->trilinear)
            FN(edges_metric)(edges, n, k, own);
        else
            for (int i = 0; i < HEX_METRIC; i++)
                own[i] = metric[(t->metric_nodes > 1 ? k * HEX_METRIC : 0) + i];
        for (int i = 0; i < DIM; i++) {
            g[i] = slope[2 * DIM * k + i];
            g[DIM + i] = slope[2 * DIM * k + DIM + i];
            g[2 * DIM + i] = z[k * DIM + i];
        }
        FN(flux_at)(own, coef + (t->material_nodes > 1 ? 2 * k : 0), weight[k], g);
        for (int i = 0; i < DIM; i++) {
            slope[2 * DIM * k + i] = g[i];
            slope[2 * DIM * k + DIM + i] = g[DIM + i];
            z[k * DIM + i] = g[2 * DIM + i];
        }
    }
    FN(multiply)(&back[1], slope + DIM, x, false, ahead);
    FN(multiply)(&back[0], slope, x, true, ahead);
}

DEVICE void FN(block)(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t block, int64_t next,
                      const REAL *u, REAL *force, void *work)
{
    int num = t->num_node, n = t->num_line_node, plane = n * n;
    const int32_t *node = r->node + block * num * LANES;
    const VAL *metric = (const VAL *)r->metric + block * t->metric_words;
    const VAL *coef = (const VAL *)r->coef + block * t->material_nodes * 2;
    int metric_step = t->metric_nodes > 1 && !t->trilinear ? plane * HEX_METRIC : 0;
    int coef_step = t->material_nodes > 1 ? plane * 2 : 0;
    VAL *x = work, *z = x + num * DIM, *slope = z + num * DIM, *edge = slope + 2 * DIM * plane;
    struct FN(edges) edges = {metric, t->coordinate, {edge, edge + 3 * n, edge + 6 * n}};
    struct FN(lines) lines = {t->derivative[0], t->rows, n, plane, DIM, DIM, plane, DIM, DIM};
    int64_t first = r->first_node[next], last = r->first_node[next + 1];
    struct FN(ahead) ahead = {{metric, metric + n * metric_step, 3 * n},
                              FN(stream)(u, first * DIM, last * DIM, 4 * plane),
                              FN(stream)(force, first * PITCH, last * PITCH, 4 * plane)};
    FN(gather)(node, num, u, x, &ahead.metric);
    FN(multiply)(&lines, x, z, false, NULL);
    if (t->trilinear)
        FN(edges_third)(&edges, n);
    for (int k = 0; k < n; k++) {
        if (t->trilinear)
            FN(edges_plane)(&edges, n, k);
        FN(plane)(t, metric + k * metric_step, &edges, coef + k * coef_step,
                  (const REAL *)t->weight + k * plane, x + k * plane * DIM, z + k * plane * DIM, slope,
                  &ahead);
    }
    lines.matrix = t->derivative[1];
    FN(multiply)(&lines, z, x, true, NULL);
    int lanes = r->num_elem - block * LANES < LANES ? (int)(r->num_elem - block * LANES) : LANES;
    if (lanes == LANES) /* the compiler is to know */
        FN(scatter)(node, num, LANES, x, force);
    else
        FN(scatter)(node, num, lanes, x, force);
}

CLONES static void FN(task)(const struct sem_cpu *t, const struct sem_cpu_region *r, int64_t task,
                            int64_t next, const void *u, void *force, void *work)
{
    for (int64_t b = task * (TASK_ELEM / LANES);
         b < (task + 1) * (TASK_ELEM / LANES) && b * LANES < r->num_elem; b++) {
        int64_t then = b + 1 < (task + 1) * (TASK_ELEM / LANES) && (b + 1) * LANES < r->num_elem
                           ? b + 1
                           : next * (TASK_ELEM / LANES);
        FN(block)(t, r, b, then, u, force, work);
    }
}
