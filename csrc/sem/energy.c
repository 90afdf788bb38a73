/* energy.c: the energy that steps without sources and absorbing sides conserve to rounding, of the step that
 * begins at the present state (Newmark's scheme as leapfrog, v+ = v + dt/2 a at the middle of the step):
 *
 *     E = 1/2 v+ M v+ + 1/2 u K u+,  and in fluids  E = 1/2 chi'+ K chi'+ + 1/2 chi'' M chi''+,
 *
 * + for the middle and the end of the step. It differs from the energy of the present state by O(dt^2). */
#include "method.h"

#include <math.h>

static double level_at(unda_solver *s, int region, int level, int64_t i)
{
    return real_get(s, sem_engine(s)->level(s, region, level), i);
}

/* u+ or, of the middle, v+. */
static double later(unda_solver *s, int region, int level, int64_t i)
{
    double a = level_at(s, region, LEVEL_A, i), v = level_at(s, region, LEVEL_V, i) + s->dt / 2 * a;
    return level == LEVEL_V ? v : level_at(s, region, LEVEL_U, i) + s->dt * v;
}

/* force = -K x of a region, x = later(level); float64 copies. */
static unda_status force_of(unda_solver *s, int region, int level, double *x, double *force)
{
    const struct sem_region *r = &sem_tables(s)->region[region];
    int64_t num = r->num_node * r->dim;
    SCRATCH void *from = NULL;
    SCRATCH void *to = NULL;
    TRY(array_try(&from, num, s->real_bytes, "energy"));
    TRY(array_try(&to, num, s->real_bytes, "energy"));
    for (int64_t i = 0; i < num; i++)
        real_put(s, from, i, x[i] = later(s, region, level, i));
    TRY(sem_engine(s)->stiffness(s, region, from, to));
    for (int64_t i = 0; i < num; i++)
        force[i] = real_get(s, to, i);
    return UNDA_OK;
}

static unda_status solid_energy(unda_solver *s, double *energy)
{
    const struct sem_region *r = &sem_tables(s)->region[SOLID];
    int64_t num = 3 * r->num_node;
    SCRATCH double *x = NULL;
    SCRATCH double *force = NULL;
    TRY(array_try(&x, num, sizeof *x, "energy"));
    TRY(array_try(&force, num, sizeof *force, "energy"));
    TRY(force_of(s, SOLID, LEVEL_U, x, force));
    for (int64_t i = 0; i < num; i++) {
        double v = later(s, SOLID, LEVEL_V, i);
        *energy += (r->mass[i / 3] * v * v - level_at(s, SOLID, LEVEL_U, i) * force[i]) / 2;
    }
    return UNDA_OK;
}

/* chi'' at the end of the step follows from chi and u there. */
static unda_status fluid_energy(unda_solver *s, double *energy)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *r = &sem->region[FLUID];
    const struct sem_coupling *c = &sem->coupling;
    SCRATCH double *x = NULL;
    SCRATCH double *force = NULL;
    TRY(array_try(&x, r->num_node, sizeof *x, "energy"));
    TRY(array_try(&force, r->num_node, sizeof *force, "energy"));
    TRY(force_of(s, FLUID, LEVEL_V, x, force));
    for (int64_t i = 0; i < r->num_node; i++)
        *energy -= x[i] * force[i] / 2;
    TRY(force_of(s, FLUID, LEVEL_U, x, force));
    for (int64_t i = 0; i < 3 * c->num; i++)
        force[c->node[FLUID][i / 3]] +=
            c->area[i] * later(s, SOLID, LEVEL_U, 3 * (int64_t)c->node[SOLID][i / 3] + i % 3);
    for (int64_t i = 0; i < r->sides.num; i++)
        force[r->sides.node[i]] *= r->sides.rest[i] * r->mass[r->sides.node[i]];
    for (int64_t i = 0; i < r->num_node; i++)
        *energy += level_at(s, FLUID, LEVEL_A, i) * force[i] / 2;
    return UNDA_OK;
}

unda_status sem_energy(unda_solver *s, double *energy)
{
    double sum = 0;
    TRY(sem_settle(s));
    TRY(solid_energy(s, &sum));
    TRY(fluid_energy(s, &sum));
    *energy = sum;
    return UNDA_OK;
}
