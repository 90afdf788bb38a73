/* metric.c: the metric of elements, in float64; masses of nodes; whether both are in the range of a real. */
#include "sem.h"

#include "../base/parallel.h"
#include "common/index.h"

#include <float.h>
#include <math.h>
#include <string.h>

double sem_weight(const struct sem *sem, int node)
{
    int n = sem->space.element->degree + 1;
    const double *w = sem->space.element->line_weight;
    return w[node % n] * w[node / n % n] * w[node / n / n];
}

void sem_set_metric(struct sem *sem, int kind)
{
    sem->metric_kind = kind;
    sem->metric_nodes = kind == UNDA_METRIC_AFFINE ? 1 : sem->space.num_node;
    sem->metric_words = kind == UNDA_METRIC_TRILINEAR ? NUM_MAP : sem->metric_nodes * HEX_METRIC;
}

void sem_metric(const struct sem *sem, int64_t elem, int node, double metric[HEX_METRIC])
{
    const double *from = sem->metric + elem * sem->metric_words;
    if (sem->metric_kind == UNDA_METRIC_TRILINEAR)
        space_trilinear_metric(from, sem->space.element->nodes + 3 * node, false, metric);
    else
        memcpy(metric, from + (sem->metric_nodes > 1 ? node * HEX_METRIC : 0), HEX_METRIC * sizeof *metric);
}

/* Maps are in metres: a force takes 1/J but two G. */
static unda_status copy_metric(struct sem *sem, int64_t elem)
{
    double *to = sem->metric + elem * sem->metric_words, metric[HEX_METRIC];
    if (sem->metric_kind != UNDA_METRIC_TRILINEAR)
        return space_metric(&sem->space, elem, false, sem->metric_nodes, to);
    space_trilinear_map(&sem->space, elem, to);
    to[MAP_PER_UNIT] = 1;
    for (int node = 0; node < sem->space.num_node; node++) {
        sem_metric(sem, elem, node, metric);
        TRY(space_check_fold(&sem->space, elem, node, 1 / metric[9]));
    }
    return UNDA_OK;
}

/* Those of all elements, on many threads. The first that cannot be is tried again, for this thread's message. */
unda_status sem_fill_metric(struct sem *sem, int threads)
{
    int64_t num = sem->space.num_owned, bad = num;
    TRY(array_own(&sem->owned, &sem->metric, num * sem->metric_words, sizeof(double), "geometry"));
    fork_mark();
    threads = parallel_worth(threads, num * sem->metric_nodes * HEX_METRIC, LEAST_COUPLED);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad)
    for (int64_t e = 0; e < num; e++)
        if (copy_metric(sem, e) != UNDA_OK && e < bad)
            bad = e;
    return bad < num ? copy_metric(sem, bad) : UNDA_OK;
}

/* ---- masses ---- */

double sem_node_mass(const struct sem *sem, int64_t elem, int node)
{
    double moduli[3], metric[HEX_METRIC];
    sem_moduli(sem, elem, node, moduli);
    sem_metric(sem, elem, node, metric);
    return sem_weight(sem, node) / metric[9] * (sem->kind[elem] == SOLID ? moduli[0] : 1 / moduli[1]);
}

static void add_mass(const struct sem *sem, struct sem_region *r, int64_t row)
{
    int num = sem->space.num_node;
    for (int node = 0; node < num; node++)
        r->mass[r->node[row * num + node]] += sem_node_mass(sem, r->elem[row], node);
}

/* Colour by colour, so that each sum has its order. */
unda_status sem_fill_mass(struct sem *sem, struct sem_region *r, int threads)
{
    TRY(array_own(&sem->owned, &r->mass, r->num_node, sizeof(double), "masses"));
    threads = parallel_worth(threads, r->num_node, LEAST_COUPLED);
    for (int32_t color = 0; color < r->num_color; color++) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = r->color_task[color]; i < r->color_task[color + 1]; i++)
            for (int64_t row = r->task[i] * (int64_t)TASK_ELEM;
                 row < (r->task[i] + 1) * (int64_t)TASK_ELEM && row < r->num_elem; row++)
                add_mass(sem, r, row);
    }
    return UNDA_OK;
}

/* ---- range ---- */

/* Refuses units in which coefficients are outside the range of a real: they would become 0 or infinity. */
static unda_status check_elem_range(const struct sem *sem, int64_t e, int precision)
{
    double low = precision == UNDA_FLOAT32 ? FLT_MIN : DBL_MIN;
    double high = precision == UNDA_FLOAT32 ? FLT_MAX : DBL_MAX;
    for (int node = 0; node < sem->space.num_node; node++) {
        double m[3], metric[HEX_METRIC];
        sem_metric(sem, e, node, metric);
        double jacobian = 1 / metric[9];
        sem_moduli(sem, e, node, m);
        double mass = sem_weight(sem, node) * jacobian * (sem->kind[e] == SOLID ? m[0] : 1 / m[1]);
        double stiff = sem->kind[e] == SOLID ? m[1] + 2 * m[2] : 1 / m[0];
        const double small[] = {mass, stiff, jacobian, 1 / jacobian, 1 / (8 * mass)};
        const double large[] = {mass, stiff, jacobian, 1 / jacobian, 1 / mass};
        double least = INFINITY, most = 0; /* all are positive; fmin and fmax would be calls */
        for (int i = 0; i < 5; i++) {
            least = small[i] < least ? small[i] : least;
            most = large[i] > most ? large[i] : most;
        }
        if (!(least >= low && most <= high))
            FAIL(UNDA_ERR_ARG,
                 "element %lld: its coefficients reach from %.3g to %.3g, beyond %s; use other units%s",
                 (long long)sem->space.order[e], least, most,
                 precision == UNDA_FLOAT32 ? "float32" : "float64",
                 precision == UNDA_FLOAT32 ? " or float64" : "");
    }
    return UNDA_OK;
}

unda_status sem_check_range(const struct sem *sem, int precision, int threads)
{
    int64_t num = sem->space.num_owned, bad = num;
    threads = parallel_worth(threads, num * sem->space.num_node, LEAST_COUPLED);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad)
    for (int64_t e = 0; e < num; e++)
        if (e < bad && check_elem_range(sem, e, precision) != UNDA_OK)
            bad = e;
    return bad < num ? check_elem_range(sem, bad, precision) : UNDA_OK;
}
