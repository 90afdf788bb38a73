/* metric.c: the metric of hexahedra, by its kind: affine, trilinear or stored. Next: space/hex.c, space/hex_map.c. */
#include "dg.h"

#include "../base/parallel.h"
#include "../solver/kernel.h"
#include "common/index.h"

#include <math.h>
#include <string.h>

/* ---- which ---- */

void dg_set_metric(struct dg *dg, int kind)
{
    dg->metric_kind = kind;
    dg->metric_nodes = kind == UNDA_METRIC_AFFINE ? 1 : dg->space.num_node;
    dg->metric_words = kind == UNDA_METRIC_TRILINEAR ? NUM_MAP : dg->metric_nodes * HEX_METRIC;
}

unda_status dg_choose_metric(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *o)
{
    int kind;
    TRY(space_choose_metric(mesh, kernel_part(o, "metric"), o->degree, &kind));
    dg_set_metric(dg, kind);
    /* Rows G[j] are products of edges only where interpolation changes nothing (space/hex.c): not their curl. */
    int map_degree = mesh && mesh->curved ? 2 : 1;
    bool implied = !dg->physics->grad_div || o->degree >= 2 * map_degree;
    dg->stored_words = HEX_METRIC - implied;
    return UNDA_OK;
}

int64_t dg_device_metric(const struct dg *dg)
{
    if (dg->metric_kind != UNDA_METRIC_STORED)
        return dg->metric_words;
    return dg->metric_nodes * dg->stored_words + (dg->stored_words < HEX_METRIC);
}

/* ---- contents ---- */

/* A length near the size of an element, by which its metric is divided: kernels take powers of areas up to the third,
 * which in m2 are beyond float32 for cells of 0.1 um. It is a power of two, and right-hand sides take from the metric
 * as many lengths as they put back, so that not a bit depends on it. */
double dg_unit(const struct dg *dg, int64_t elem)
{
    return exp2(rint(log2(dg->space.mesh->volumes[dg->space.order[elem]]) / 3));
}

/* The map / unit, and 1 / unit; J is more than 0 at the nodes. */
static unda_status copy_map(struct dg *dg, int64_t elem)
{
    double *map = dg->metric + elem * NUM_MAP, unit = dg_unit(dg, elem), metric[HEX_METRIC];
    space_trilinear_map(&dg->space, elem, map);
    for (int i = 0; i < NUM_MAP; i++)
        map[i] /= unit;
    map[MAP_PER_UNIT] = 1 / unit;
    for (int node = 0; node < dg->space.num_node; node++) {
        dg_metric(dg, elem, node, metric);
        TRY(space_check_fold(&dg->space, elem, node, unit * unit / metric[9]));
    }
    return UNDA_OK;
}

/* G / unit^2 or edges / unit, and unit^2 / J. */
static unda_status copy_hex_metric(struct dg *dg, int64_t elem)
{
    if (dg->metric_kind == UNDA_METRIC_TRILINEAR)
        return copy_map(dg, elem);
    bool edges = !dg->physics->grad_div;
    int64_t num = dg->metric_words;
    double *metric = dg->metric + elem * num, unit = dg_unit(dg, elem);
    TRY(space_metric(&dg->space, elem, edges, dg->metric_nodes, metric));
    for (int64_t i = 0; i < num; i++)
        metric[i] *= i % HEX_METRIC == HEX_METRIC - 1 ? unit * unit : 1 / (edges ? unit : unit * unit);
    return UNDA_OK;
}

void dg_metric(const struct dg *dg, int64_t elem, int node, double metric[HEX_METRIC])
{
    const double *from = dg->metric + elem * dg->metric_words;
    if (dg->metric_kind == UNDA_METRIC_TRILINEAR)
        space_trilinear_metric(from, dg->space.element->nodes + 3 * node, !dg->physics->grad_div, metric);
    else
        memcpy(metric, from + (dg->metric_nodes > 1 ? node * HEX_METRIC : 0), HEX_METRIC * sizeof *metric);
}

/* Those of all elements, on many threads. The first that cannot be is tried again, for this thread's message. */
unda_status dg_fill_metrics(struct dg *dg, int threads)
{
    int64_t num = dg->space.num_owned, bad = num;
    fork_mark();
    threads = parallel_worth(threads, num * dg->metric_nodes * HEX_METRIC, LEAST_COUPLED);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad)
    for (int64_t e = 0; e < num; e++)
        if (copy_hex_metric(dg, e) != UNDA_OK && e < bad)
            bad = e;
    return bad < num ? copy_hex_metric(dg, bad) : UNDA_OK;
}

double dg_node_volume(const struct dg *dg, int64_t elem, int node)
{
    const struct element *element = dg->space.element;
    int n = element->degree + 1;
    const double *w = element->line_weight;
    double unit = dg_unit(dg, elem), metric[HEX_METRIC];
    dg_metric(dg, elem, node, metric);
    return w[node % n] * w[node / n % n] * w[node / n / n] * (unit * unit / metric[9]);
}
