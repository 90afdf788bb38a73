/* dt.c: the stable step. Steps are y+ - 2 y + y- = -dt^2 A y with y = (chi, u) and, fluid first,
 *
 *     A = | Mf^-1 Kf             -Mf^-1 B              |    B: integral of n.u in the fluid's equation
 *         | -Ms^-1 B' Mf^-1 Kf    Ms^-1 (Ks + B' Mf^-1 B) |
 *
 * stable where dt^2 times its largest eigenvalue is at most 4. A is symmetric and not negative in the product
 * <y, z> = chi_y Kf chi_z + u_y Ms u_z, so that Lanczos' recurrence finds that eigenvalue from below, in
 * some twenty applications (Paige 1980: lost orthogonality does not spoil it). Also an estimate by cell, for
 * reports. */
#include "team.h"

#include "../base/parallel.h"
#include "../mesh/vector.h"

#include <math.h>
#include <string.h>

/* ---- cells ---- */

/* The largest eigenvalue of M^-1 K of a line of length 1 and speed 1, by the power method. */
static double line_eigenvalue(const struct element *el)
{
    int n = el->degree + 1;
    double x[MAX_DEGREE + 1], value = 0;
    for (int i = 0; i < n; i++)
        x[i] = (i % 2 ? -1 : 1) * (1 + 0.1 * i);
    for (int step = 0; step < 200; step++) {
        double slope[MAX_DEGREE + 1] = {0}, y[MAX_DEGREE + 1] = {0}, length = 0;
        for (int i = 0; i < n * n; i++)
            slope[i / n] += el->line_derivative[i] * x[i % n];
        for (int i = 0; i < n * n; i++)
            y[i % n] +=
                el->line_derivative[i] * el->line_weight[i / n] * slope[i / n] / el->line_weight[i % n];
        for (int i = 0; i < n; i++)
            length += el->line_weight[i] * y[i] * y[i];
        value = length = sqrt(length);
        for (int i = 0; i < n; i++)
            x[i] = y[i] / length;
    }
    return value;
}

/* Of a brick this is the step that its own nodes, free on all sides, allow. */
void sem_elem_dts(struct sem *sem, int threads)
{
    double line = line_eigenvalue(sem->space.element);
    threads = parallel_worth(threads, sem->space.num_owned * sem->space.num_node, LEAST_COUPLED);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t e = 0; e < sem->space.num_owned; e++) {
        double most[3] = {0}, stiff = 0, light = INFINITY, sum = 0;
        for (int n = 0; n < sem->space.num_node; n++) {
            double g[HEX_METRIC], m[3];
            sem_metric(sem, e, n, g);
            for (int j = 0; j < 3; j++)
                most[j] = fmax(most[j], norm(g + 3 * j) * g[9]);
            sem_moduli(sem, e, n, m);
            stiff = fmax(stiff, m[1] + 2 * m[2]);
            light = fmin(light, m[0]);
        }
        for (int j = 0; j < 3; j++)
            sum += most[j] * most[j];
        sem->elem_dt[e] = 2 / sqrt(line * sum * stiff / light);
    }
}

/* ---- the whole operator ---- */

static const struct sem_krylov *krylov_of(const unda_solver *s)
{
    const struct sem_team *team = sem_team_of(s);
    if (team && team->rank)
        return NULL;
    return team ? sem_engine(team->part[0])->krylov_team : sem_engine(s)->krylov;
}

/* A vector (u, chi); room: REAL copies for the engine. */
struct lanczos {
    unda_solver *s;
    const struct sem *sem;
    int64_t num[NUM_REGION];
    double *before[NUM_REGION], *now[NUM_REGION], *next[NUM_REGION],
        *stiff; /* stiff: Kf chi of now, [FLUID] */
    void *from, *to;
    int32_t threads;
    void *owned, *next_owned; /* next is freed first, where the engine has the vectors */
};

#define PARALLEL(l) _Pragma("omp parallel for schedule(static) num_threads((l)->threads)")

static unda_status make_room(struct lanczos *l)
{
    int64_t most = 1;
    bool here = !krylov_of(l->s);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        l->num[kind] = l->sem->region[kind].num_node * l->sem->region[kind].dim;
        most = l->num[kind] > most ? l->num[kind] : most;
        TRY(array_own(&l->owned, &l->before[kind], here ? l->num[kind] : 0, sizeof(double), "stable step"));
        TRY(array_own(&l->owned, &l->now[kind], here ? l->num[kind] : 0, sizeof(double), "stable step"));
        TRY(array_own(&l->next_owned, &l->next[kind], l->num[kind], sizeof(double), "stable step"));
    }
    most = here ? most : 1;
    TRY(array_own(&l->owned, &l->stiff, here ? l->num[FLUID] : 0, sizeof(double), "stable step"));
    TRY(array_own(&l->owned, &l->from, most + SEM_SPARE, l->s->real_bytes, "stable step"));
    return array_own(&l->owned, &l->to, most, l->s->real_bytes, "stable step");
}

/* to = K x. */
static unda_status stiffness(struct lanczos *l, int kind, const double *x, double *to)
{
    PARALLEL(l) for (int64_t i = 0; i < l->num[kind]; i++) real_put(l->s, l->from, i, x[i]);
    TRY(sem_engine(l->s)->stiffness(l->s, kind, l->from, l->to));
    PARALLEL(l) for (int64_t i = 0; i < l->num[kind]; i++) to[i] = -real_get(l->s, l->to, i);
    return UNDA_OK;
}

/* x becomes M^-1 x, on walls in the subspace. */
static void divide_by_mass(const struct lanczos *l, int kind, double *x)
{
    const struct sem_region *r = &l->sem->region[kind];
    const struct sem_sides *sides = &r->sides;
    for (int64_t i = 0; i < sides->num; i++) {
        double *at = x + (int64_t)sides->node[i] * r->dim, old[3];
        const double *inverse = sides->rest + i * r->dim * r->dim;
        memcpy(old, at, sizeof *at * (size_t)r->dim);
        for (int row = 0; row < r->dim; row++) {
            at[row] = 0; /* the mass comes off again below */
            for (int k = 0; k < r->dim; k++)
                at[row] += r->mass[sides->node[i]] * inverse[row * r->dim + k] * old[k];
        }
    }
    PARALLEL(l) for (int64_t i = 0; i < r->num_node * r->dim; i++) x[i] /= r->mass[i / r->dim];
}

static unda_status apply(struct lanczos *l)
{
    const struct sem_coupling *c = &l->sem->coupling;
    double *solid = l->next[SOLID], *fluid = l->next[FLUID];
    memcpy(fluid, l->stiff, sizeof *fluid * (size_t)l->num[FLUID]);
    for (int64_t i = 0; i < 3 * c->num; i++)
        fluid[c->node[FLUID][i / 3]] -=
            c->area[i] * l->now[SOLID][3 * (int64_t)c->node[SOLID][i / 3] + i % 3];
    divide_by_mass(l, FLUID, fluid);
    TRY(stiffness(l, SOLID, l->now[SOLID], solid));
    for (int64_t i = 0; i < 3 * c->num; i++)
        solid[3 * (int64_t)c->node[SOLID][i / 3] + i % 3] -= c->area[i] * fluid[c->node[FLUID][i / 3]];
    divide_by_mass(l, SOLID, solid);
    return UNDA_OK;
}

enum { PART = 1 << 14 }; /* of a sum: parts are added in order, whatever the number of threads */

/* sum of w x y; w: one a node, or NULL. */
static unda_status sum_of(const struct lanczos *l, int64_t num, int dim, const double *w, const double *x,
                          const double *y, double *sum)
{
    int64_t num_part = (num + PART - 1) / PART;
    SCRATCH double *part = NULL;
    TRY(array_try(&part, num_part, sizeof *part, "stable step"));
    PARALLEL(l)
    for (int64_t k = 0; k < num_part; k++)
        for (int64_t i = k * PART; i < (k + 1) * PART && i < num; i++)
            part[k] += (w ? w[i / dim] : 1) * x[i] * y[i];
    for (int64_t k = 0; k < num_part; k++)
        *sum += part[k];
    return UNDA_OK;
}

/* <x, y>, given Kf chi of y. */
static unda_status multiply(const struct lanczos *l, double *const x[NUM_REGION], double *const y[NUM_REGION],
                            const double *stiff, double *product)
{
    *product = 0;
    TRY(sum_of(l, l->num[FLUID], 1, NULL, x[FLUID], stiff, product));
    return sum_of(l, l->num[SOLID], 3, l->sem->region[SOLID].mass, x[SOLID], y[SOLID], product);
}

static unda_status host_apply(void *of, double *product)
{
    struct lanczos *l = of;
    TRY(apply(l));
    return multiply(l, l->next, l->now, l->stiff, product);
}

static unda_status host_advance(void *of, double diagonal, double back, double *length)
{
    struct lanczos *l = of;
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const double *now = l->now[kind], *before = l->before[kind];
        double *next = l->next[kind];
        PARALLEL(l)
        for (int64_t i = 0; i < l->num[kind]; i++)
            next[i] -= diagonal * now[i] + back * before[i];
    }
    TRY(stiffness(l, FLUID, l->next[FLUID], l->stiff));
    double square;
    TRY(multiply(l, l->next, l->next, l->stiff, &square));
    *length = square > 0 ? sqrt(square) : 0;
    for (int kind = 0; kind < NUM_REGION; kind++) {
        double *next = l->next[kind], *free = l->before[kind], by = *length > 0 ? *length : 1;
        PARALLEL(l) for (int64_t i = 0; i < l->num[kind]; i++) next[i] /= by;
        l->before[kind] = l->now[kind];
        l->now[kind] = l->next[kind];
        l->next[kind] = free;
    }
    for (int64_t i = 0; i < l->num[FLUID] && *length > 0; i++)
        l->stiff[i] /= *length;
    return UNDA_OK;
}

static const struct sem_krylov on_host = {.apply = host_apply, .advance = host_advance};

/* Waves so short that nodes see noise: the same at a place, however cells are numbered. */
static void start(struct lanczos *l)
{
    const struct sem *sem = l->sem;
    const double *lower = sem->space.mesh->info.lower, *upper = sem->space.mesh->info.upper;
    double size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, upper[i] - lower[i]);
    PARALLEL(l) for (int64_t e = 0; e < sem->space.num_owned; e++)
    {
        double x[3 * MAX_NODE];
        const struct sem_region *r = &sem->region[sem->kind[e]];
        const int32_t *node = r->node + (int64_t)sem->row[e] * sem->space.num_node;
        int32_t own = r->first[sem->row[e]]; /* the next node that no element before has */
        space_coordinates(&sem->space, e, x);
        for (int n = 0; n < sem->space.num_node; own += node[n] == own, n++)
            for (int i = 0; i < r->dim; i++) {
                double phase = 0;
                if (node[n] != own)
                    continue;
                for (int k = 0; k < 3; k++)
                    phase += 1e4 * (1 + 0.37 * k) * (x[3 * n + k] - lower[k]) / size;
                l->next[sem->kind[e]][(int64_t)node[n] * r->dim + i] =
                    sem->region[sem->kind[e]].mass[node[n]] * sin(phase + i);
            }
    }
    for (int kind = 0; kind < NUM_REGION; kind++)
        divide_by_mass(l, kind, l->next[kind]);
}

enum { MOST_STEP = 200, LOOK_BACK = 8 };

/* The largest eigenvalue of a symmetric tridiagonal matrix, by the signs of its leading minors. */
static double largest(int num, const double *diagonal, const double *beside)
{
    double low = 0, high = 0;
    for (int i = 0; i < num; i++)
        high = fmax(high, fabs(diagonal[i]) + (i ? beside[i - 1] : 0) + (i + 1 < num ? beside[i] : 0));
    for (int step = 0; step < 60; step++) {
        double middle = (low + high) / 2, pivot = 1;
        bool above = false; /* an eigenvalue is above the middle */
        for (int i = 0; i < num && !above; i++) {
            pivot = middle - diagonal[i] - (i ? beside[i - 1] * beside[i - 1] / pivot : 0);
            above = !(pivot > 0);
        }
        *(above ? &low : &high) = middle;
    }
    return high;
}

/* The first vector goes to the engine, where that has the others. */
static unda_status hand_over(struct lanczos *l)
{
    void *first[NUM_REGION];
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const double *x = l->next[kind];
        TRY(array_own(&l->owned, &first[kind], l->num[kind], l->s->real_bytes, "stable step"));
        PARALLEL(l) for (int64_t i = 0; i < l->num[kind]; i++) real_put(l->s, first[kind], i, x[i]);
    }
    arrays_free(&l->next_owned);
    return krylov_of(l->s)->begin(l->s, first);
}

static unda_status largest_eigenvalue(struct lanczos *l, double *value)
{
    const struct sem_krylov *krylov = krylov_of(l->s) ? krylov_of(l->s) : &on_host;
    double diagonal[MOST_STEP], beside[MOST_STEP], found[MOST_STEP], length;
    void *of = krylov == &on_host ? (void *)l : l->s;
    TRY(make_room(l));
    start(l);
    if (krylov != &on_host)
        TRY(hand_over(l));
    TRY(krylov->advance(of, 0, 0, &length)); /* now and before are 0 */
    *value = 0;
    for (int k = 0; k < MOST_STEP && length > 0; k++) {
        TRY(krylov->apply(of, &diagonal[k]));
        TRY(krylov->advance(of, diagonal[k], k ? beside[k - 1] : 0, &length));
        beside[k] = length;
        *value = found[k] = largest(k + 1, diagonal, beside);
        if (length < 1e-6 * *value)
            break;
        if (k >= 2 * LOOK_BACK && found[k] - found[k - LOOK_BACK] < 2e-4 * found[k])
            break;
    }
    return krylov->end ? krylov->end(of) : UNDA_OK;
}

/* Lanczos' value is below the largest eigenvalue by less than this. */
static const double ROOM = 2e-3;

unda_status sem_find_stable(unda_solver *s)
{
    struct lanczos l = {.s = s, .sem = sem_tables(s)};
    double value = 0;
    if (l.sem->cut) /* a part's is that of all */
        return UNDA_OK;
    int64_t num = 3 * l.sem->region[SOLID].num_node + l.sem->region[FLUID].num_node;
    l.threads = parallel_worth(s->options.threads, num, LEAST_COUPLED);
    unda_status status = largest_eigenvalue(&l, &value);
    arrays_free(&l.owned);
    arrays_free(&l.next_owned);
    TRY(status);
    if (!(value > 0 && isfinite(value)))
        FAIL(UNDA_ERR_ARG,
             "the stable step is not finite: the largest eigenvalue is %g 1/s2, expected one above 0", value);
    TRY(solver_set_stable(s, 2 / sqrt(value * (1 + ROOM))));
    TRY(s->method->prepare(s)); /* also where the user gave dt */
    return s->engine->retime(s);
}
