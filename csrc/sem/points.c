/* points.c: point sources and receivers. A force f, a moment m and an injected volume q at x of a cell add
 * to the nodes
 *
 *     f phi_n(x),    m . grad phi_n(x),    -q phi_n(x),
 *
 * phi_n the basis functions: no mass matrix of the cell comes in, and at a point that cells share a force is
 * the same from each. In a fluid rho u'' = grad chi'' + f delta, so that rho u = grad chi + F delta with F'' = f,
 * and the divergence of u has a dipole: -F . grad phi_n(x) / rho. A receiver takes the interpolant of its cell,
 * gradients for stresses and for the displacement of a fluid; displacement and force, strain and moment, pressure
 * and volume are transposes of each other. */
#include "method.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

/* So many one thread takes, while the others still spin. */
enum { FEW_POINTS = 100 };

static unda_status fill_place(const unda_solver *s, struct sem_place *p)
{
    const struct sem *sem = sem_tables(s);
    int num = sem->space.num_node;
    TRY(mesh_check_point(sem->space.mesh, sem->space.order[p->elem], p->x));
    double room[4 * MAX_NODE], *weight = p->weight ? p->weight : room;
    if (p->weight || sem->material_nodes > 1)
        space_basis(&sem->space, p->elem, p->x, weight, weight + num);
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {0};
    for (int n = 0; n < (sem->material_nodes > 1 ? num : 1); n++) {
        double m[3];
        sem_moduli(sem, p->elem, n, m);
        for (int i = 0; i < 3; i++) {
            p->moduli[i] += sem->material_nodes > 1 ? weight[n] * m[i] : m[i];
            least[i] = fmin(least[i], m[i]);
            most[i] = fmax(most[i], m[i]);
        }
    }
    for (int i = 0; i < 3; i++) /* a polynomial through values that jump is not beyond them */
        p->moduli[i] = fmin(fmax(p->moduli[i], least[i]), most[i]);
    return UNDA_OK;
}

static unda_status places_new(const unda_solver *s, struct sem_places *places, int64_t num,
                              const int64_t *elem, const double *x, const double *share, bool keep)
{
    int64_t num_weight = 4 * (int64_t)sem_tables(s)->space.num_node;
    double *weight = NULL;
    TRY(array_own(&places->owned, &places->place, num, sizeof *places->place, "points"));
    if (keep)
        TRY(array_own(&places->owned, &weight, num * num_weight, sizeof *weight, "weights of points"));
    places->num = num;
    for (int64_t i = 0; i < num; i++) {
        struct sem_place *p = &places->place[i];
        p->weight = keep ? weight + i * num_weight : NULL;
        p->elem = sem_tables(s)->space.place[elem[i]];
        p->share = share ? share[i] : 1;
        memcpy(p->x, x + 3 * i, sizeof p->x);
    }
    return UNDA_OK;
}

/* Threads keep errors for themselves: the first place that has one is filled again. */
static unda_status fill_places(const unda_solver *s, const struct sem_places *places)
{
    int64_t bad = places->num;
    int32_t threads = parallel_few(s->options.threads);
#pragma omp parallel for schedule(static) num_threads(threads)                                               \
    reduction(min : bad) if (places->num > FEW_POINTS)
    for (int64_t i = 0; i < places->num; i++)
        if (fill_place(s, &places->place[i]) != UNDA_OK && i < bad)
            bad = i;
    return bad == places->num ? UNDA_OK : fill_place(s, &places->place[bad]);
}

void sem_places_free(void *owner)
{
    struct sem_places *places = owner;
    if (places)
        arrays_free(&places->owned);
    array_free(places);
}

static unda_status check_elem(const unda_solver *s, const char *what, int64_t num, const int64_t *elem)
{
    if (num > 0 && !elem)
        FAIL(UNDA_ERR_ARG, "elem of %s is NULL", what);
    for (int64_t i = 0; i < num; i++)
        if (elem[i] < 0 || elem[i] >= sem_tables(s)->space.num_owned)
            FAIL(UNDA_ERR_ARG, "%s: place %lld is in element %lld, expected 0..%lld", what, (long long)i,
                 (long long)elem[i], (long long)sem_tables(s)->space.num_owned - 1);
    return UNDA_OK;
}

/* ---- sources ---- */

static unda_status check_rates(const unda_solver *s, const unda_source *given)
{
    const struct sem *sem = sem_tables(s);
    for (int64_t i = 0; i < given->num_cell; i++) {
        const double *rates = given->rates + i * SEM_RATES;
        bool fluid = sem->kind[sem->space.place[given->elem[i]]] == FLUID;
        for (int k = 0; k < SEM_RATES; k++)
            if (!isfinite(rates[k]) || (rates[k] != 0 && (fluid ? k >= 3 && k < 9 : k == 9)))
                FAIL(UNDA_ERR_ARG,
                     "rate %d of the source is %g in element %lld, %s; expected a finite number, of solids a "
                     "force or a moment, of fluids a force or a volume",
                     k, rates[k], (long long)given->elem[i], fluid ? "a fluid" : "a solid");
    }
    return UNDA_OK;
}

static unda_status new_source(unda_solver *s, void **out, const unda_source *given, int64_t first,
                              int64_t num)
{
    struct sem_source *source;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    *out = source;
    /* Parts of a mesh have those of the whole. */
    TRY(places_new(s, &source->places, num, given->elem + first, given->places + 3 * first, NULL,
                   s->method != &sem_method));
    TRY(array_own(&source->places.owned, &source->rates, num * SEM_RATES, sizeof(double), "source"));
    memcpy(source->rates, given->rates + first * SEM_RATES, sizeof(double) * (size_t)(num * SEM_RATES));
    return UNDA_OK;
}

unda_status sem_sources_new(unda_solver *s, void **out, const unda_source *given)
{
    TRY(check_elem(s, "unda_source", given->num_cell, given->elem));
    TRY(check_rates(s, given));
    int64_t num = given->first ? given->num_source : 1, bad = num;
    int32_t threads = parallel_few(s->options.threads);
    if (!given->first)
        TRY(new_source(s, out, given, 0, given->num_cell));
    for (int64_t i = 0; given->first && i < num; i++)
        TRY(new_source(s, &out[i], given, given->first[i], given->first[i + 1] - given->first[i]));
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad) if (num > FEW_POINTS)
    for (int64_t i = 0; i < num; i++)
        if (fill_places(s, out[i]) != UNDA_OK && i < bad) /* they stand first in a source */
            bad = i;
    return bad == num ? UNDA_OK : fill_places(s, out[bad]);
}

enum { XX, YY, ZZ, YZ, XZ, XY }; /* rates 3 to 8 */
static const int pair[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};

int sem_source_driven(const unda_solver *s, const struct sem_source *source, int64_t k)
{
    const double *rates = source->rates + k * SEM_RATES;
    int driven = 0;
    if (sem_tables(s)->kind[source->places.place[k].elem] == FLUID)
        return 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            driven |= (rates[i] != 0 || rates[3 + pair[i][j]] != 0) << i;
    return driven;
}

int64_t sem_source_row(const unda_solver *s, const struct sem_source *source, int64_t k, int *region,
                       int64_t *at, double *value)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_place *p = &source->places.place[k];
    const double *rates = source->rates + k * SEM_RATES;
    int num = sem->space.num_node, dim = sem->kind[p->elem] == SOLID ? 3 : 1;
    *region = sem->kind[p->elem];
    const int32_t *node = sem->region[*region].node + (int64_t)sem->row[p->elem] * num;
    double room[4 * MAX_NODE];
    const double *weight = p->weight ? p->weight : room;
    if (!p->weight)
        space_basis(&sem->space, p->elem, p->x, room, room + num);
    for (int i = 0; i < dim; i++) {
        double force = dim == 3 ? rates[i] : -rates[9], slope[3];
        for (int j = 0; j < 3; j++)
            slope[j] = dim == 3 ? rates[3 + pair[i][j]] : -rates[j] / p->moduli[0];
        for (int n = 0; n < num; n++) {
            double sum = force * weight[n];
            for (int j = 0; j < 3; j++)
                sum += slope[j] * weight[(1 + j) * num + n];
            at[n * dim + i] = (int64_t)node[n] * dim + i;
            value[n * dim + i] = sum;
        }
    }
    return (int64_t)num * dim;
}

/* ---- receivers ---- */

unda_status sem_points_check(const unda_solver *s, const unda_receivers *r)
{
    TRY(check_elem(s, "unda_receivers", receivers_num_cell(r), r->elem));
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= SEM_NUM_TRACE)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d", r->fields[i], SEM_NUM_TRACE - 1);
    return UNDA_OK;
}

unda_status sem_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct sem_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    *points = p;
    p->num_point = r->num_point;
    p->num_field = r->num_field;
    TRY(array_own(&p->places.owned, &p->first, r->num_point + 1, sizeof *p->first, "receivers"));
    for (int64_t i = 0; i <= r->num_point; i++)
        p->first[i] = r->first ? r->first[i] : i;
    TRY(array_own(&p->places.owned, &p->field, r->num_field, sizeof *p->field, "receiver fields"));
    memcpy(p->field, r->fields, sizeof *p->field * (size_t)r->num_field);
    TRY(places_new(s, &p->places, receivers_num_cell(r), r->elem, r->points, r->first ? r->weights : NULL,
                   true));
    return fill_places(s, &p->places);
}

/* Weights of the gradient of a level: c[k][i] of d/dx_k of unknown i. */
static int64_t gradient_row(const unda_solver *s, const struct sem_place *p, const double c[3][3],
                            int64_t *at, double *weight)
{
    const struct sem *sem = sem_tables(s);
    int region = sem->kind[p->elem], num = sem->space.num_node, dim = sem->region[region].dim;
    const int32_t *node = sem->region[region].node + (int64_t)sem->row[p->elem] * num;
    for (int n = 0; n < num; n++)
        for (int i = 0; i < dim; i++) {
            at[n * dim + i] = (int64_t)node[n] * dim + i;
            weight[n * dim + i] = 0;
            for (int k = 0; k < 3; k++)
                weight[n * dim + i] += c[k][i] * p->weight[(1 + k) * num + n];
        }
    return (int64_t)num * dim;
}

/* Weights of the value of unknown i of a level, times a factor. */
static int64_t value_row(const unda_solver *s, const struct sem_place *p, int i, double factor, int64_t *at,
                         double *weight)
{
    const struct sem *sem = sem_tables(s);
    int region = sem->kind[p->elem], num = sem->space.num_node, dim = sem->region[region].dim;
    const int32_t *node = sem->region[region].node + (int64_t)sem->row[p->elem] * num;
    for (int n = 0; n < num; n++) {
        at[n] = (int64_t)node[n] * dim + i;
        weight[n] = factor * p->weight[n];
    }
    return num;
}

static int64_t solid_row(const unda_solver *s, const struct sem_place *p, int field, int *level, int64_t *at,
                         double *weight)
{
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    double lambda = p->moduli[1], mu = p->moduli[2], c[3][3] = {{0}};
    *level = field < SEM_STRESS ? field / 3 : field < SEM_CHI ? LEVEL_U : LEVEL_V;
    if (field < SEM_STRESS)
        return value_row(s, p, field % 3, 1, at, weight);
    if (field >= SEM_CHI && field < SEM_DIVERGENCE)
        return 0;
    if (field >= SEM_CURL) {
        int i = (field - SEM_CURL + 1) % 3, j = (field - SEM_CURL + 2) % 3;
        c[i][j] = 1;
        c[j][i] = -1;
    } else if (field == SEM_DIVERGENCE || field == SEM_PRESSURE) {
        for (int i = 0; i < 3; i++)
            c[i][i] = field == SEM_PRESSURE ? -(lambda + 2 * mu / 3) : 1;
    } else {
        int i = row[field - SEM_STRESS], j = column[field - SEM_STRESS];
        for (int k = 0; k < 3 && i == j; k++)
            c[k][k] = lambda;
        c[j][i] += mu;
        c[i][j] += mu;
    }
    return gradient_row(s, p, c, at, weight);
}

static int64_t fluid_row(const unda_solver *s, const struct sem_place *p, int field, int *level, int64_t *at,
                         double *weight)
{
    double c[3][3] = {{0}};
    *level = field < SEM_STRESS ? field / 3 : LEVEL_A;
    if (field < SEM_STRESS) { /* rho u = grad chi */
        c[field % 3][0] = 1 / p->moduli[0];
        return gradient_row(s, p, c, at, weight);
    }
    if (field < SEM_STRESS + 3 || field == SEM_PRESSURE)
        return value_row(s, p, 0, field == SEM_PRESSURE ? -1 : 1, at, weight);
    *level = field >= SEM_CHI && field < SEM_DIVERGENCE ? field - SEM_CHI : LEVEL_U;
    return field >= SEM_CHI && field < SEM_DIVERGENCE ? value_row(s, p, 0, 1, at, weight) : 0;
}

int64_t sem_point_row(const unda_solver *s, const struct sem_place *p, int field, int *level, int64_t *at,
                      double *weight)
{
    return sem_tables(s)->kind[p->elem] == SOLID ? solid_row(s, p, field, level, at, weight)
                                                 : fluid_row(s, p, field, level, at, weight);
}

double sem_value(const unda_solver *s, const struct sem_points *p, int64_t point, int32_t f,
                 void *const levels[NUM_REGION][NUM_LEVEL])
{
    double total = 0;
    for (int64_t k = p->first[point]; k < p->first[point + 1]; k++) {
        const struct sem_place *place = &p->places.place[k];
        int64_t at[3 * MAX_NODE];
        double weight[3 * MAX_NODE], sum = 0;
        int level, region = sem_tables(s)->kind[place->elem];
        int64_t num = sem_point_row(s, place, p->field[f], &level, at, weight);
        for (int64_t i = 0; i < num; i++)
            sum += weight[i] * real_get(s, levels[region][level], at[i]);
        total += place->share * sum;
    }
    return total;
}
