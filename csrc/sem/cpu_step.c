/* cpu_step.c: what a step does at nodes: the time scheme, walls, sources, coupling. Not here: their order
 * (cpu.c). */
#include "cpu.h"

#include "../cpu/lanes.h"

CLONES static void PRECISION(sem_predict_)(const struct sem_cpu_region *r, double dt, int64_t begin,
                                           int64_t end)
{
    REAL *restrict u = r->level[LEVEL_U], *restrict v = r->level[LEVEL_V], *restrict a = r->level[LEVEL_A];
    REAL step = (REAL)dt, half = (REAL)(dt / 2);
    for (int64_t i = begin * r->dim; i < end * r->dim; i++) {
        v[i] += half * a[i];
        u[i] += step * v[i];
    }
}

/* Three numbers of each of LANES nodes are three vectors; with a pitch of four they are four, whose word 4 i + k goes
 * to 3 i + k. */
#define PACKED(at, first) (4 * ((at) / 3) + (at) % 3 - (first))
#define THIRD(at, first)  ((at) / 3 - (first))
#define EIGHT(word, at, first)                                                                               \
    word(at, first), word((at) + 1, first), word((at) + 2, first), word((at) + 3, first),                    \
        word((at) + 4, first), word((at) + 5, first), word((at) + 6, first), word((at) + 7, first)
#if LANES == 16
#define WORDS(word, at, first) EIGHT(word, at, first), EIGHT(word, (at) + 8, first)
#else
#define WORDS(word, at, first) EIGHT(word, at, first)
#endif
#define PACK(i, z)   __builtin_shufflevector(z[i], z[(i) + 1], WORDS(PACKED, (i) * LANES, (i) * LANES))
#define TRIPLE(i, x) __builtin_shufflevector(x, x, WORDS(THIRD, (i) * LANES, 0))

/* What a value of a node becomes: the end of a step, or, `on`, the beginning of the next one as well. */
#define ADVANCE(u, v, a, force, inverse, half, step, on)                                                     \
    do {                                                                                                     \
        a = force * inverse;                                                                                 \
        v += half * a;                                                                                       \
        if (on) {                                                                                            \
            v += half * a;                                                                                   \
            u += step * v;                                                                                   \
        }                                                                                                    \
    } while (0)

DEVICE void PRECISION(sem_advance_solid_)(const struct sem_cpu_region *r, REAL half, REAL step, bool on,
                                          int64_t begin, int64_t end)
{
    REAL *u = r->level[LEVEL_U], *v = r->level[LEVEL_V], *a = r->level[LEVEL_A], *force = r->force;
    const REAL *inverse = r->inverse_mass;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        VEC *f = (VEC *)(force + SOLID_PITCH * i), mass = *(const VEC *)(inverse + i), now;
        VEC *u_now = (VEC *)(u + 3 * i), *v_now = (VEC *)(v + 3 * i), *a_now = (VEC *)(a + 3 * i);
        VEC sum[3] = {PACK(0, f), PACK(1, f), PACK(2, f)};
        VEC masses[3] = {TRIPLE(0, mass), TRIPLE(1, mass), TRIPLE(2, mass)};
        for (int k = 0; k < 4; k++)
            f[k] = (VEC){0};
        for (int k = 0; k < 3; k++) {
            ADVANCE(u_now[k], v_now[k], now, sum[k], masses[k], half, step, on);
            if (!on)
                a_now[k] = now;
        }
    }
    for (; i < end; i++)
        for (int k = 0; k < 3; k++) {
            ADVANCE(u[3 * i + k], v[3 * i + k], a[3 * i + k], force[SOLID_PITCH * i + k], inverse[i], half,
                    step, on);
            force[SOLID_PITCH * i + k] = 0;
        }
}

DEVICE void PRECISION(sem_advance_fluid_)(const struct sem_cpu_region *r, REAL half, REAL step, bool on,
                                          int64_t begin, int64_t end)
{
    REAL *restrict u = r->level[LEVEL_U], *restrict v = r->level[LEVEL_V], *restrict a = r->level[LEVEL_A];
    REAL *restrict force = r->force;
    const REAL *restrict inverse = r->inverse_mass;
    for (int64_t i = begin; i < end; i++) {
        ADVANCE(u[i], v[i], a[i], force[i], inverse[i], half, step, on);
        force[i] = 0;
    }
}

DEVICE void PRECISION(sem_advance_)(const struct sem_cpu_region *r, REAL half, REAL step, bool on,
                                    int64_t begin, int64_t end)
{
    if (r->dim == 3)
        PRECISION(sem_advance_solid_)(r, half, step, on, begin, end);
    else
        PRECISION(sem_advance_fluid_)(r, half, step, on, begin, end);
}

CLONES static void PRECISION(sem_finish_)(const struct sem_cpu_region *r, double half, int64_t begin,
                                          int64_t end)
{
    PRECISION(sem_advance_)(r, (REAL)half, 0, false, begin, end);
}

CLONES static void PRECISION(sem_pass_)(const struct sem_cpu_region *r, double dt, int64_t begin, int64_t end)
{
    PRECISION(sem_advance_)(r, (REAL)(dt / 2), (REAL)dt, true, begin, end);
}

static void PRECISION(sem_take_)(const struct sem_cpu_region *r, void *to, int64_t begin, int64_t end)
{
    REAL *force = r->force, *out = to;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < r->dim; k++) {
            out[i * r->dim + k] = force[i * r->pitch + k];
            force[i * r->pitch + k] = 0;
        }
}

static void PRECISION(sem_sides_)(const struct sem_cpu_region *r, const void *matrix, int64_t begin,
                                  int64_t end)
{
    int dim = r->dim;
    for (int64_t i = begin; i < end; i++) {
        const REAL *inverse = (const REAL *)matrix + i * dim * dim,
                   *damping = (const REAL *)r->damping + i * dim * dim;
        REAL *force = (REAL *)r->force + (int64_t)r->side[i] * r->pitch, rest[3];
        const REAL *v = (const REAL *)r->level[LEVEL_V] + (int64_t)r->side[i] * dim;
        for (int row = 0; row < dim; row++) {
            rest[row] = force[row];
            for (int k = 0; k < dim; k++)
                rest[row] -= damping[row * dim + k] * v[k];
        }
        for (int row = 0; row < dim; row++) {
            force[row] = 0;
            for (int k = 0; k < dim; k++)
                force[row] += inverse[row * dim + k] * rest[k];
        }
    }
}

static void PRECISION(sem_sources_)(const struct sem_cpu_region *r, const void *amplitude, int64_t begin,
                                    int64_t end)
{
    const struct sem_cpu_sources *list = &r->sources;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = list->first[i]; k < list->first[i + 1]; k++)
            ((REAL *)r->force)[list->at[i]] +=
                ((const REAL *)list->value)[k] * ((const REAL *)amplitude)[list->source[k]];
}

static void PRECISION(sem_couple_)(const struct sem_cpu *t, int region, int64_t begin, int64_t end)
{
    const struct sem_coupling *c = &t->sem->coupling;
    const REAL *u = t->region[SOLID].level[LEVEL_U], *area = t->area;
    const REAL *chi_tt = t->region[FLUID].level[LEVEL_A];
    REAL *solid = t->region[SOLID].force, *fluid = t->region[FLUID].force;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            int64_t at = c->node[SOLID][i];
            if (region == FLUID)
                fluid[c->node[FLUID][i]] += area[3 * i + k] * u[3 * at + k];
            else
                solid[SOLID_PITCH * at + k] -= area[3 * i + k] * chi_tt[c->node[FLUID][i]];
        }
}

const struct sem_cpu_functions PRECISION(sem_cpu_functions_) = {
    .predict = PRECISION(sem_predict_),
    .finish = PRECISION(sem_finish_),
    .pass = PRECISION(sem_pass_),
    .take = PRECISION(sem_take_),
    .sides = PRECISION(sem_sides_),
    .sources = PRECISION(sem_sources_),
    .couple = PRECISION(sem_couple_),
};
