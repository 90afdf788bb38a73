/* cpu_common.c: shared by the CPU stages of all physics: transposing, sources, the update. */
#include "cpu_common.h"

CLONES static void PRECISION(gather_many_)(const REAL *const from[LANES], int count, VEC *to)
{
    gather(from, count, to);
}

CLONES static void PRECISION(scatter_)(const VEC *from, int count, REAL *to, int64_t stride)
{
    const REAL *in = (const REAL *)from;
    for (int l = 0; l < LANES; l += PART_LANES, to += PART_LANES * stride) {
        int i = 0;
        for (; i + 4 <= count; i += 4) {
            PART z[4];
            for (int k = 0; k < 4; k++)
                memcpy(z + k, in + (i + k) * LANES + l, sizeof *z);
            transpose(z);
            for (int k = 0; k < PART_LANES; k++)
                memcpy(to + k * stride + i, (REAL *)(z + k % 4) + k / 4 * 4, 4 * sizeof(REAL));
        }
        for (; i < count; i++)
            for (int k = 0; k < PART_LANES; k++)
                to[k * stride + i] = in[i * LANES + l + k];
    }
}

CLONES static void PRECISION(add_sources_)(const struct dg_args *a, int64_t first, int i, int last,
                                           int64_t num_value, REAL *rhs)
{
    for (; i < last; i++) {
        REAL amplitude = ((const REAL *)a->amplitude)[(int64_t)a->time * a->num_source + a->source_column[i]];
        const REAL *weight = (const REAL *)a->source_weight + i * num_value;
        REAL *to = rhs + (a->source_elem[i] - first) * num_value;
        for (int64_t k = 0; k < num_value; k++)
            to[k] += weight[k] * amplitude;
    }
}

CLONES static void PRECISION(add_sources_part_)(const struct dg_args *a, int64_t first, int i, int last,
                                                int64_t num_value, int64_t begin, int64_t count, VEC *rhs)
{
    for (; i < last; i++) {
        REAL amplitude = ((const REAL *)a->amplitude)[(int64_t)a->time * a->num_source + a->source_column[i]];
        const REAL *weight = (const REAL *)a->source_weight + i * num_value + begin;
        for (int64_t k = 0; k < count; k++)
            rhs[k][a->source_elem[i] - first] += weight[k] * amplitude;
    }
}

INLINE void PRECISION(update_values_)(const struct dg_args *a, int kind, int64_t index, int64_t count,
                                      const REAL *restrict rhs)
{
    const REAL *restrict q = (const REAL *)a->q + index;
    REAL *restrict q_new = (REAL *)a->q_new + index, *restrict r = (REAL *)a->r + index;
    REAL ra = (REAL)a->a, rb = (REAL)a->b, dt = (REAL)a->dt;
    REAL c0 = (REAL)a->c0, c1 = (REAL)a->c1, c2 = (REAL)a->c2;
    if (kind == UPDATE_LSRK && a->a == 0) /* the first stage: r may hold anything */
        for (int64_t i = 0; i < count; i++) {
            r[i] = dt * rhs[i];
            q_new[i] = q[i] + rb * r[i];
        }
    else if (kind == UPDATE_LSRK)
        for (int64_t i = 0; i < count; i++) {
            r[i] = ra * r[i] + dt * rhs[i];
            q_new[i] = q[i] + rb * r[i];
        }
    else if (kind == UPDATE_AB3) {
        const REAL *restrict r1 = (const REAL *)a->r1 + index;
        for (int64_t i = 0; i < count; i++) {
            q_new[i] = q[i] + (c0 * rhs[i] + c1 * r1[i] + c2 * r[i]);
            r[i] = rhs[i];
        }
    } else
        memcpy(r, rhs, (size_t)count * sizeof *r);
}

CLONES static void PRECISION(update_)(const struct dg_args *a, int kind, int64_t index, int64_t count,
                                      const REAL *rhs)
{
    PRECISION(update_values_)(a, kind, index, count, rhs);
}

CLONES static void PRECISION(update_part_)(const struct dg_args *a, int kind, int64_t index, int64_t stride,
                                           int64_t lanes, int64_t count, const REAL *rhs)
{
    for (int64_t l = 0; l < lanes; l++)
        PRECISION(update_values_)(a, kind, index + l * stride, count, rhs + l * count);
}

const struct dg_cpu_common COMMON = {.gather = PRECISION(gather_many_),
                                     .scatter = PRECISION(scatter_),
                                     .add_sources = PRECISION(add_sources_),
                                     .add_sources_part = PRECISION(add_sources_part_),
                                     .update = PRECISION(update_),
                                     .update_part = PRECISION(update_part_)};
