/* points_cpu.c: receivers of the CPU engine of DG: samples after a step, integrals over time before a stage. Summed in a
 * fixed order. Not here: sources (cpu.c), what integrals are (integral.c). */
#include "cpu.h"

#define DEVICE static inline
#include "common/integral.h"

/* So many samples one thread takes, while the others still spin. */
enum { FEW_SAMPLES = 8 };

/* Field f of the points in an element. */
static double value_at_place(const unda_solver *s, const struct dg_points *p, int64_t place, int32_t f)
{
    const double *weight = receiver_weight(s, p, place, f);
    double value = 0;
    for (int n = 0; n < dg_tables(s)->space.num_node; n++)
        value +=
            weight[n] * real_get(s, dg_cpu_tables(s)->buffer[BUF_Q],
                                 p->rows.elem[place] * dg_num_value(s) + dg_cpu_place(s, n, p->field[f]));
    return value;
}

/* The sum of the sums of its elements, so that others may add some of these up. */
static double value_at(const unda_solver *s, const struct dg_points *p, int64_t point, int32_t f)
{
    double sum = 0;
    for (int64_t place = p->first[point]; place < p->first[point + 1]; place++)
        sum += p->integral[f] < 0 ? value_at_place(s, p, place, f)
                                  : p->integrals[BUF_Q][place * p->num_integral + p->integral[f]];
    return sum;
}

unda_status dg_cpu_record_due(unda_solver *s, void *of)
{
    (void)of;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        if (!receiver_due(group, s->step))
            continue;
        int64_t num = group->num_point * group->num_field;
        int64_t sample = group->held + receiver_num_since(group, s->begin, s->step) - 1;
#pragma omp parallel for schedule(static) num_threads(s->threads) if (num > FEW_SAMPLES)
        for (int64_t i = 0; i < num; i++) {
            double value = value_at(s, group->points, i / group->num_field, (int32_t)(i % group->num_field));
            if (group->wide)
                ((double *)group->samples)[sample * num + i] = value;
            else
                real_put(s, group->samples, sample * num + i, value);
        }
    }
    return UNDA_OK;
}

unda_status dg_cpu_integrate(unda_solver *s, const struct stage *stage)
{
    struct integral_args a = dg_integral_args(s, stage);
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct dg_points *p = s->groups[g]->points;
        int64_t num = dg_num_place(p);
        a.u = p->integrals[BUF_Q];
        a.r = p->integrals[stage->r];
        a.r1 = p->integrals[BUF_R1];
#pragma omp parallel for schedule(static) num_threads(s->threads) if (num > FEW_SAMPLES)
        for (int64_t i = 0; i < num; i++)
            integral_advance(&a, 0,
                             value_at_place(s, p, i / p->num_integral, p->integrand[i % p->num_integral]),
                             &a.u[i], &a.r[i], a.r1[i]);
    }
    return UNDA_OK;
}
