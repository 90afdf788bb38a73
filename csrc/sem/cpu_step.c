/* cpu_step.c: what a step does at nodes: the time scheme, walls, sources, coupling. Not here: their order
 * (cpu.c). */
#include "cpu.h"

#include "../cpu/precision.h"

CLONES static void PRECISION(sem_predict_)(const struct sem_cpu_region *r, double dt, int64_t begin,
                                           int64_t end)
{
    REAL *restrict u = r->level[LEVEL_U], *restrict v = r->level[LEVEL_V], *restrict a = r->level[LEVEL_A];
    REAL step = (REAL)dt, half = (REAL)(dt / 2);
    for (int64_t i = begin * r->dim; i < end * r->dim; i++) {
        v[i] += half * a[i];
        u[i] += step * v[i];
        a[i] = 0;
    }
}

DEVICE void PRECISION(sem_divide_)(int dim, REAL half, REAL *restrict v, REAL *restrict a,
                                   const REAL *restrict inverse, int64_t num)
{
    for (int64_t i = 0; i < num; i++)
        for (int k = 0; k < dim; k++) {
            REAL now = a[dim * i + k] * inverse[i];
            a[dim * i + k] = now;
            v[dim * i + k] += half * now;
        }
}

CLONES static void PRECISION(sem_finish_)(const struct sem_cpu_region *r, double half, int64_t begin,
                                          int64_t end)
{
    REAL *v = (REAL *)r->level[LEVEL_V] + begin * r->dim, *a = (REAL *)r->level[LEVEL_A] + begin * r->dim;
    const REAL *inverse = (const REAL *)r->inverse_mass + begin;
    if (r->dim == 3)
        PRECISION(sem_divide_)(3, (REAL)half, v, a, inverse, end - begin);
    else
        PRECISION(sem_divide_)(1, (REAL)half, v, a, inverse, end - begin);
}

static void PRECISION(sem_sides_)(const struct sem_cpu_region *r, const void *matrix, int64_t begin,
                                  int64_t end)
{
    int dim = r->dim;
    for (int64_t i = begin; i < end; i++) {
        const REAL *inverse = (const REAL *)matrix + i * dim * dim,
                   *damping = (const REAL *)r->damping + i * dim * dim;
        REAL *a = (REAL *)r->level[LEVEL_A] + (int64_t)r->side[i] * dim, rest[3];
        const REAL *v = (const REAL *)r->level[LEVEL_V] + (int64_t)r->side[i] * dim;
        for (int row = 0; row < dim; row++) {
            rest[row] = a[row];
            for (int k = 0; k < dim; k++)
                rest[row] -= damping[row * dim + k] * v[k];
        }
        for (int row = 0; row < dim; row++) {
            a[row] = 0;
            for (int k = 0; k < dim; k++)
                a[row] += inverse[row * dim + k] * rest[k];
        }
    }
}

static void PRECISION(sem_sources_)(const struct sem_cpu_region *r, const void *amplitude, int64_t begin,
                                    int64_t end)
{
    const struct sem_cpu_sources *list = &r->sources;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = list->first[i]; k < list->first[i + 1]; k++)
            ((REAL *)r->level[LEVEL_A])[list->at[i]] +=
                ((const REAL *)list->value)[k] * ((const REAL *)amplitude)[list->source[k]];
}

static void PRECISION(sem_couple_)(const struct sem_cpu *t, int region, int64_t begin, int64_t end)
{
    const struct sem_coupling *c = &t->sem->coupling;
    const REAL *u = t->region[SOLID].level[LEVEL_U], *area = t->area;
    REAL *solid = t->region[SOLID].level[LEVEL_A], *fluid = t->region[FLUID].level[LEVEL_A];
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)c->node[SOLID][i] + k;
            if (region == FLUID)
                fluid[c->node[FLUID][i]] += area[3 * i + k] * u[at];
            else
                solid[at] -= area[3 * i + k] * fluid[c->node[FLUID][i]];
        }
}

const struct sem_cpu_functions PRECISION(sem_cpu_functions_) = {
    .predict = PRECISION(sem_predict_),
    .finish = PRECISION(sem_finish_),
    .sides = PRECISION(sem_sides_),
    .sources = PRECISION(sem_sources_),
    .couple = PRECISION(sem_couple_),
};
