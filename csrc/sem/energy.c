/* energy.c: the energy that steps without sources and absorbing sides conserve to rounding, of the step that
 * begins at the present state (Newmark's scheme as leapfrog, v+ = v + dt/2 a at the middle of the step):
 *
 *     E = 1/2 v+ M v+ + 1/2 u K u+,  and in fluids  E = 1/2 chi'+ K chi'+ + 1/2 b M b+,
 *
 * + for the middle and the end of the step, b = M^-1 (-K chi + B u), which is chi'' where nothing else acts. It
 * differs from the energy of the present state by O(dt^2), and is positive below the stable limit. */
#include "method.h"

#include <math.h>

/* What an energy takes of the step: u at its beginning, v at its middle, u at its end. */
enum moment { BEGINNING, MIDDLE, END };
typedef void *levels_of[NUM_REGION][NUM_LEVEL];

static double value_at(const unda_solver *s, const levels_of all, int region, enum moment moment, int64_t i)
{
    void *const *level = all[region];
    double u = real_get(s, level[LEVEL_U], i);
    if (moment == BEGINNING)
        return u;
    double v = real_get(s, level[LEVEL_V], i) + s->dt / 2 * real_get(s, level[LEVEL_A], i);
    return moment == MIDDLE ? v : u + s->dt * v;
}

/* force = -K x of a region, x what it has at a moment. */
static unda_status force_of(unda_solver *s, const levels_of all, int region, enum moment moment,
                            double *force)
{
    const struct sem_region *r = &sem_tables(s)->region[region];
    int64_t num = r->num_node * r->dim;
    SCRATCH void *from = NULL;
    SCRATCH void *to = NULL;
    TRY(array_try(&from, num + SEM_SPARE, s->real_bytes, "energy"));
    TRY(array_try(&to, num, s->real_bytes, "energy"));
    for (int64_t i = 0; i < num; i++)
        real_put(s, from, i, value_at(s, all, region, moment, i));
    TRY(sem_engine(s)->stiffness(s, region, from, to));
    for (int64_t i = 0; i < num; i++)
        force[i] = real_get(s, to, i);
    return UNDA_OK;
}

static unda_status solid_energy(unda_solver *s, const levels_of all, double *energy)
{
    const struct sem_region *r = &sem_tables(s)->region[SOLID];
    SCRATCH double *force = NULL;
    TRY(array_try(&force, 3 * r->num_node, sizeof *force, "energy"));
    TRY(force_of(s, all, SOLID, END, force));
    for (int64_t i = 0; i < 3 * r->num_node; i++) {
        double v = value_at(s, all, SOLID, MIDDLE, i);
        *energy += (r->mass[i / 3] * v * v - value_at(s, all, SOLID, BEGINNING, i) * force[i]) / 2;
    }
    return UNDA_OK;
}

/* force = M b at the beginning or the end of the step. */
static unda_status fluid_force(unda_solver *s, const levels_of all, enum moment moment, double *force)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *r = &sem->region[FLUID];
    const struct sem_coupling *c = &sem->coupling;
    TRY(force_of(s, all, FLUID, moment, force));
    for (int64_t i = 0; i < 3 * c->num; i++)
        force[c->node[FLUID][i / 3]] +=
            c->area[i] * value_at(s, all, SOLID, moment, 3 * (int64_t)c->node[SOLID][i / 3] + i % 3);
    for (int64_t i = 0; i < r->sides.num; i++)
        force[r->sides.node[i]] *= r->sides.rest[i] * r->mass[r->sides.node[i]];
    return UNDA_OK;
}

static unda_status fluid_energy(unda_solver *s, const levels_of all, double *energy)
{
    const struct sem_region *r = &sem_tables(s)->region[FLUID];
    SCRATCH double *force = NULL;
    SCRATCH double *later = NULL;
    TRY(array_try(&force, r->num_node, sizeof *force, "energy"));
    TRY(array_try(&later, r->num_node, sizeof *later, "energy"));
    TRY(force_of(s, all, FLUID, MIDDLE, force));
    for (int64_t i = 0; i < r->num_node; i++)
        *energy -= value_at(s, all, FLUID, MIDDLE, i) * force[i] / 2;
    TRY(fluid_force(s, all, BEGINNING, force));
    TRY(fluid_force(s, all, END, later));
    for (int64_t i = 0; i < r->num_node; i++)
        *energy += force[i] * later[i] / r->mass[i] / 2;
    return UNDA_OK;
}

unda_status sem_energy(unda_solver *s, double *energy)
{
    double sum = 0;
    levels_of all;
    TRY(sem_settle(s));
    TRY(sem_levels(s, all));
    TRY(solid_energy(s, all, &sum));
    TRY(fluid_energy(s, all, &sum));
    *energy = sum;
    return UNDA_OK;
}
