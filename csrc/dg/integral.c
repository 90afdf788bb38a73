/* integral.c: receivers that record integrals over time, such as displacements, the integral of v. u' = q at a place is
 * one more equation of the system that is stepped: engines update u, before each stage, as the stage updates the state
 * (cuda/common/integral.h). A point's integral is the sum of those of its places, so that parts of a mesh can add them up.
 * Not here: stages (points_cpu.c, cuda_points.c), samples of these (the same, energy.c). */
#include "method.h"

#include <string.h>

static void clear(struct dg_points *p)
{
    for (int i = 0; i < NUM_BUF; i++)
        memset(p->integrals[i], 0, sizeof(double) * (size_t)dg_num_place(p));
}

/* What a buffer of the state has at places now, added to values with a factor. */
static unda_status add_values(unda_solver *s, const struct dg_points *p, int buffer, double factor,
                              double *values)
{
    int64_t num_value = dg_num_value(s), num_field = dg_tables(s)->physics->num_field;
    SCRATCH void *q = NULL;
    TRY(array_try(&q, num_value, s->real_bytes, "states"));
    for (int64_t row = 0; row < p->rows.num; row++) {
        TRY(dg_engine(s)->move(s, buffer, 1, p->rows.elem + row, q, NULL));
        for (int32_t i = 0; i < p->num_integral; i++) {
            const double *weight = receiver_weight(s, p, row, p->integrand[i]);
            double value = 0;
            for (int n = 0; n < dg_tables(s)->space.num_node; n++)
                value += weight[n] * real_get(s, q, n * num_field + p->field[p->integrand[i]]);
            values[row * p->num_integral + i] += factor * value;
        }
    }
    return UNDA_OK;
}

/* Receivers that come when AB3 has run know nothing of the steps before. From the right-hand sides f, which it keeps,
 *
 *     q(t - dt)  = q - dt (3 f1 - f2) / 2,  with f1 alone q - dt f1
 *     q(t - 2dt) = q - 2 dt f1
 *
 * whose errors change u by O(dt^4) once, as a step of the integrator does; with f1 alone by O(dt^3). */
static unda_status recall(unda_solver *s, struct dg_points *p, int32_t num_valid)
{
    double *one = p->integrals[BUF_R1], *two = p->integrals[BUF_R], dt = s->dt;
    TRY(add_values(s, p, BUF_Q, 1, one));
    TRY(add_values(s, p, BUF_R1, num_valid > 1 ? -1.5 * dt : -dt, one));
    if (num_valid < 2)
        return UNDA_OK;
    TRY(add_values(s, p, BUF_R, 0.5 * dt, one));
    TRY(add_values(s, p, BUF_Q, 1, two));
    return add_values(s, p, BUF_R1, -2 * dt, two);
}

unda_status dg_begin_integrals(unda_solver *s, void *points, const struct integration *in)
{
    struct dg_points *p = points;
    if (dg_num_place(p) == 0)
        return UNDA_OK;
    clear(p);
    return in->kind->num_level && in->num_valid ? recall(s, p, in->num_valid) : UNDA_OK;
}

void dg_keep_integrals(void *points, bool back)
{
    struct dg_points *p = points;
    if (dg_num_place(p) > 0)
        memcpy(p->integrals[back ? BUF_Q : BUF_NEW], p->integrals[back ? BUF_NEW : BUF_Q],
               sizeof(double) * (size_t)dg_num_place(p));
}

void dg_move_integrals(const struct dg_points *p, int64_t from, int64_t to, int64_t num, int64_t num_place,
                       double *out, const double *in)
{
    static const int level[] = {BUF_Q, BUF_R1, BUF_R};
    size_t bytes = sizeof(double) * (size_t)(num * p->num_integral);
    for (int k = 0; k < 3 && bytes > 0; k++) {
        double *here = p->integrals[level[k]] + from * p->num_integral;
        int64_t at = (k * num_place + to) * p->num_integral;
        memcpy(out ? out + at : here, out ? here : in + at, bytes);
    }
}

struct integral_args dg_integral_args(const unda_solver *s, const struct stage *stage)
{
    return (struct integral_args){.a = {stage->a},
                                  .b = {stage->b},
                                  .dt = s->dt,
                                  .c0 = s->dt * stage->c0,
                                  .c1 = s->dt * stage->c1,
                                  .c2 = s->dt * stage->c2,
                                  .num_step = 1,
                                  .update = stage->update,
                                  .num_node = dg_tables(s)->space.num_node,
                                  .num_field = dg_tables(s)->physics->num_field};
}

void dg_swap_integrals(const unda_solver *s, int a, int b)
{
    if (a == BUF_Q || a == BUF_NEW)
        return;
    for (int32_t g = 0; g < s->num_group; g++) {
        struct dg_points *p = s->groups[g]->points;
        SWAP(p->integrals[a], p->integrals[b]);
    }
}
