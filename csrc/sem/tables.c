/* tables.c: the tables of spectral elements that engines use, in float64: materials, metrics, masses. Not
 * here: nodes (number.c), walls and coupling (sides.c), the stable step (dt.c). */
#include "sem.h"

#include "../base/parallel.h"
#include "../physics/physics.h"
#include "../solver/kernel.h"
#include "common/index.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double sem_weight(const struct sem *sem, int node)
{
    int n = sem->space.element->degree + 1;
    const double *w = sem->space.element->line_weight;
    return w[node % n] * w[node / n % n] * w[node / n / n];
}

void sem_moduli(const struct sem *sem, int64_t elem, int node, double moduli[3])
{
    const double *m = sem->material +
                      (elem * sem->material_nodes + (sem->material_nodes > 1 ? node : 0)) * sem->num_material;
    double vs = sem->physics == UNDA_ELASTIC ? m[2] : 0;
    moduli[0] = m[0];
    moduli[2] = m[0] * vs * vs;
    moduli[1] = m[0] * m[1] * m[1] - 2 * moduli[2];
}

/* ---- materials ---- */

static unda_status check_material(const struct sem *sem, int64_t elem, int node, const double *material)
{
    const char *why = physics_table[sem->physics]->refuse(material);
    char found[128];
    if (!why)
        return UNDA_OK;
    for (int i = 0, n = 0; i < sem->num_material; i++)
        n += snprintf(found + n, sizeof found - (size_t)n, i ? ", %g" : "%g", material[i]);
    FAIL(UNDA_ERR_ARG, "material of element %lld, node %d: %s, found %s", (long long)elem, node, why, found);
}

/* Copies materials in the space's order, and finds which elements are fluids. */
static unda_status copy_material(struct sem *sem, const unda_mesh *mesh, const double *material)
{
    int64_t num_node = sem->material_nodes, num = num_node * sem->num_material;
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected [%lld][%d]", (long long)mesh->num_elem,
             sem->num_material);
    TRY(array_own(&sem->owned, &sem->material, mesh->num_elem * num, sizeof(double), "materials"));
    for (int64_t e = 0; e < mesh->num_elem; e++) {
        const double *from = material + num * mesh->order[e];
        memcpy(sem->material + num * e, from, sizeof(double) * (size_t)num);
        int64_t num_fluid = 0;
        for (int n = 0; n < num_node; n++) {
            TRY(check_material(sem, mesh->order[e], n, from + n * sem->num_material));
            num_fluid += sem->physics == UNDA_ACOUSTIC || from[n * sem->num_material + 2] == 0;
        }
        if (num_fluid != 0 && num_fluid != num_node)
            FAIL(UNDA_ERR_ARG,
                 "material of element %lld: %lld of %lld nodes are a fluid, expected all nodes of an element "
                 "or none",
                 (long long)mesh->order[e], (long long)num_fluid, (long long)num_node);
        sem->kind[e] = num_fluid ? FLUID : SOLID;
    }
    return UNDA_OK;
}

unda_status sem_sizes(struct sem *sem, const unda_mesh *mesh, const unda_solver_options *o)
{
    if (o->physics != UNDA_ACOUSTIC && o->physics != UNDA_ELASTIC)
        FAIL(UNDA_ERR_ARG,
             "physics is %d, expected 0 (acoustic) or 1 (elastic): continuous elements have spurious "
             "modes of Maxwell's equations, which DG solves",
             o->physics);
    if ((mesh ? mesh->shape : o->shape) != UNDA_HEX)
        FAIL(UNDA_ERR_ARG,
             "the mesh has tetrahedra, expected hexahedra: their tensor nodes make the mass matrix "
             "diagonal");
    TRY(space_sizes(&sem->space, mesh, UNDA_HEX, o->degree));
    TRY(element_new(&sem->space.element, UNDA_HEX, o->degree));
    sem->mesh = mesh;
    sem->physics = o->physics;
    sem->num_material = physics_table[o->physics]->num_material;
    sem->material_nodes = o->material_by_node ? sem->space.num_node : 1;
    sem->region[SOLID].dim = 3;
    sem->region[FLUID].dim = 1;
    int kind;
    TRY(space_choose_metric(mesh, kernel_part(o, "metric"), o->degree, &kind));
    sem_set_metric(sem, kind);
    if (!mesh) /* kernels are compiled without one */
        return UNDA_OK;
    TRY(array_own(&sem->owned, &sem->kind, mesh->num_elem, sizeof *sem->kind, "kinds of elements"));
    TRY(array_own(&sem->owned, &sem->row, mesh->num_elem, sizeof *sem->row, "elements"));
    TRY(copy_material(sem, mesh, o->material));
    TRY(sem_number(sem, mesh, o->threads));
    sem->num_field = o->physics == UNDA_ACOUSTIC ? 3 : sem->region[FLUID].num_elem ? 12 : 9;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_color(sem, kind, o->threads));
    return UNDA_OK;
}

/* ---- metrics and masses ---- */

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
static unda_status fill_metric(struct sem *sem, int threads)
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

static void add_mass(const struct sem *sem, struct sem_region *r, int64_t row)
{
    int num = sem->space.num_node;
    int64_t e = r->elem[row];
    for (int node = 0; node < num; node++) {
        double moduli[3], metric[HEX_METRIC];
        sem_moduli(sem, e, node, moduli);
        sem_metric(sem, e, node, metric);
        r->mass[r->node[row * num + node]] +=
            sem_weight(sem, node) / metric[9] * (r->dim == 3 ? moduli[0] : 1 / moduli[1]);
    }
}

/* Colour by colour, so that each sum has its order. */
static unda_status fill_mass(struct sem *sem, struct sem_region *r, int threads)
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
        double least = fmin(fmin(mass, stiff), fmin(fmin(jacobian, 1 / jacobian), 1 / (8 * mass)));
        double most = fmax(fmax(mass, stiff), fmax(fmax(jacobian, 1 / jacobian), 1 / mass));
        if (!(least >= low && most <= high))
            FAIL(UNDA_ERR_ARG,
                 "element %lld: its coefficients reach from %.3g to %.3g, beyond %s; use other units%s",
                 (long long)sem->space.order[e], least, most,
                 precision == UNDA_FLOAT32 ? "float32" : "float64",
                 precision == UNDA_FLOAT32 ? " or float64" : "");
    }
    return UNDA_OK;
}

static unda_status check_range(const struct sem *sem, int precision, int threads)
{
    int64_t num = sem->space.num_owned, bad = num;
    threads = parallel_worth(threads, num * sem->space.num_node, LEAST_COUPLED);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad)
    for (int64_t e = 0; e < num; e++)
        if (e < bad && check_elem_range(sem, e, precision) != UNDA_OK)
            bad = e;
    return bad < num ? check_elem_range(sem, bad, precision) : UNDA_OK;
}

unda_status sem_fill(struct sem *sem, const unda_solver_options *o)
{
    TRY(fill_metric(sem, o->threads));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(fill_mass(sem, &sem->region[kind], o->threads));
    TRY(check_range(sem, o->precision, o->threads));
    TRY(sem_sides_new(sem));
    TRY(sem_couple(sem));
    TRY(array_own(&sem->owned, &sem->elem_dt, sem->space.num_owned, sizeof(double), "time steps"));
    sem_elem_dts(sem, o->threads);
    return UNDA_OK;
}

int64_t sem_host_bytes(const struct sem *sem)
{
    int64_t real = sizeof(double);
    int64_t bytes =
        sem->space.num_owned * (real * (sem->material_nodes * sem->num_material + sem->metric_words + 1) +
                                10 * (int64_t)sizeof(int32_t) + 1);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        bytes += r->num_elem * (sem->space.num_node + 1) * (int64_t)sizeof(int32_t) + real * r->num_node;
    }
    return bytes;
}

void sem_free(struct sem *sem)
{
    if (!sem)
        return;
    space_free(&sem->space);
    arrays_free(&sem->owned);
    array_free(sem);
}
