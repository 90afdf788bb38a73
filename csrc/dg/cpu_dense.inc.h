/* cpu_dense.inc.h: the right-hand side on elements with dense matrices (tetrahedra): products and lift by blocks of
 * rows. Part of cpu_stage.inc.h. */

#if HAS_AVX512 /* without it blocks are faster at any degree (cpu.c) */
/* Rows of the matrices packed [row block][column][ROWS]; derivative columns hold three. */
typedef void FN(part)(const REAL *d, const VEC *u, VEC *acc);
INLINE void FN(multiply)(const struct dg_cpu *t, int block, int first, int last, FN(part) * part,
                         const VEC *u, VEC acc[ROWS][NUM_ACC])
{
    const REAL *d = (const REAL *)t->derivative + (int64_t)block * t->num_node * 3 * ROWS;
    for (int k = 0; k < t->num_node; k++, d += 3 * ROWS, u += NUM_REF) {
#pragma GCC unroll 8
        for (int r = first; r < last; r++) {
            REAL d3[3] = {d[r], d[ROWS + r], d[2 * ROWS + r]};
            part(d3, u, acc[r]);
        }
    }
}

/* Elastic waves have more sums a row than fit the registers in four rows: in parts, u is read less often. */
INLINE void FN(products)(const struct dg_cpu *t, int block, const VEC *u, VEC acc[ROWS][NUM_ACC])
{
#if NUM_ACC > 6
    FN(multiply)(t, block, 0, ROWS, FN(volume_div), u, acc);
    FN(multiply)(t, block, 0, ROWS / 2, FN(volume_grad), u, acc);
    FN(multiply)(t, block, ROWS / 2, ROWS, FN(volume_grad), u, acc);
#else
    FN(multiply)(t, block, 0, ROWS, FN(volume), u, acc);
#endif
}

/* s: jumps of the face. */
INLINE void FN(lift)(const struct dg_cpu *t, int block, int face, const VEC *s, VEC y[ROWS][NUM_JUMP])
{
    int num = t->num_face_node;
    const REAL *l = (const REAL *)t->lift + ((int64_t)block * NUM_FACE + face) * num * ROWS;
    for (int m = 0; m < num; m++, l += ROWS, s += NUM_JUMP) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < NUM_JUMP; j++)
                y[r][j] += l[r] * s[j];
    }
}

#endif

/* Tables and neighbours of the elements from `elem` on. */
INLINE void FN(prefetch_elements)(const struct dg_cpu *t, const struct dg_args *a, int64_t num_value,
                                  int64_t elem, int64_t count)
{
    int64_t last = elem + count < a->num_elem ? elem + count : a->num_elem;
    for (; elem < last; elem++) {
        FN(prefetch)(a->record, NUM_WORD * elem, NUM_WORD);
        FN(prefetch)(a->face_coef, NUM_ELEM_FACE_COEF * elem, NUM_ELEM_FACE_COEF);
        for (int face = 0; face < NUM_FACE; face++)
            if (a->neighbor[NUM_FACE * elem + face] >= 0)
                FN(prefetch)(a->q, NEIGHBOR_ELEM(a->neighbor[NUM_FACE * elem + face]) * num_value, num_value);
    }
}

/* Rows from node `first` on of rhs [elem][node][field], from their sums. */
INLINE void FN(finish_rows)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                            const struct FN(block) * b, int first, int rows, const VEC acc[ROWS][NUM_ACC],
                            REAL *rhs)
{
    VEC out[ROWS * NUM_FIELD];
    const VEC *coef = b->record + METRIC_WORDS;
    int step = BY_NODE ? NUM_COEF : 0;
    VEC own[ROWS * NUM_COEF] = {0};
    if (BY_NODE) {
        FN(load_coef)(t, a, elem, first, rows, own);
        coef = own;
    }
    for (int r = 0; r < ROWS; r++)
        FN(from_reference)(acc[r], b->record, coef + r * step, out + r * NUM_FIELD);
    if (t->has_local)
        FN(add_local)(t, a, elem, first, rows, coef, step, out);
    COMMON.scatter(out, rows * NUM_FIELD, rhs + first * NUM_FIELD, t->num_node * NUM_FIELD);
}

#if HAS_AVX512
/* rhs [elem][node][field] of a block of elements. */
AVX512 static __attribute__((noinline)) void
FN(right_hand_side)(const struct dg_cpu *t, const struct dg_args *a, int kind, const int64_t *elem,
                    const struct FN(block) * b, const VEC *u, const VEC *s, REAL *rhs)
{
    int64_t first = elem[0];
    int num_node = t->num_node, num_value = num_node * NUM_FIELD, part = ROWS * NUM_FIELD * LANES;
    int share = (LANES * ROWS + num_node - 1) / num_node; /* elements of the next block for a block of rows */
    for (int block = 0; block * ROWS < num_node; block++) {
        VEC acc[ROWS][NUM_ACC] = {0};
        FN(prefetch_old)(a, kind, first * num_value + block * part, part);
        if (block * share < LANES)
            FN(prefetch_elements)(t, a, num_value, first + LANES + block * share, share);
        FN(products)(t, block, u, acc);
        for (int face = 0; face < NUM_FACE; face++) {
            VEC y[ROWS][NUM_JUMP] = {0};
            FN(lift)(t, block, face, s + face * t->num_face_node * NUM_JUMP, y);
            for (int r = 0; r < ROWS; r++)
                FN(apply_lift)(y[r], face, b->lift_coef[face], acc[r]);
        }
        int rows = num_node - block * ROWS < ROWS ? num_node - block * ROWS : ROWS;
        FN(finish_rows)(t, a, elem, b, block * ROWS, rows, acc, rhs);
    }
}
#endif

#include "cpu_blocks.inc.h"

/* The stage of a block; memory holds u, jumps, the state, then the right-hand side, and what blocks
 * need. */
INLINE void FN(run)(const struct dg_cpu *t, const struct dg_args *a, int kind, const int64_t *elem,
                    int64_t lanes, int64_t index, void *memory)
{
    int64_t first = elem[0], num_value = (int64_t)t->num_node * NUM_FIELD;
    struct FN(block) b;
    VEC *u = memory, *s = u + t->num_node * NUM_REF, *q = s + NUM_FACE * t->num_face_node * NUM_JUMP;
    REAL *rhs = (REAL *)q;
    FN(load_tables)(t, a, elem, &b, NULL);
    FN(load_state)(t, a, elem, q);
    for (int n = 0; n < t->num_node; n++)
        FN(to_reference)(q + n * NUM_FIELD, b.metric, u + n * NUM_REF);
    FN(faces)(t, a, elem, &b, u, s);
    if (a->incident_range)
        FN(add_incident)(t, a, elem, index, &b, s);
#if HAS_AVX512
    if (!t->blocks)
        FN(right_hand_side)(t, a, kind, elem, &b, u, s, rhs);
    else
#endif
        FN(right_hand_side_by_blocks)(t, a, kind, elem, &b, u, s, q + t->num_node * NUM_FIELD, rhs);
    COMMON.add_sources(a, first, a->source_range[index], a->source_range[index + 1], num_value, rhs);
    COMMON.update(a, kind, first * num_value, lanes * num_value, rhs);
}
