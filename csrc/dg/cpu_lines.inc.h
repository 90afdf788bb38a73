/* cpu_lines.inc.h: the right-hand side on elements whose nodes stand in lines (hexahedra): derivatives line by line
 * along the three axes, jumps at the ends of lines. Part of cpu_stage.inc.h. */

/* Whether an axis is the first that has a share in acc[LINE_ACC(axis, i)]. */
#undef FIRST_SHARE
#if GRAD_DIV
#define FIRST_SHARE(axis, i) ((i) < GRAD_DIV || (axis) == 0)
#else
#define FIRST_SHARE(axis, i) ((axis) == (LINE_ACC(axis, i) % 3 == 0))
#endif

/* Adds to acc [node][NUM_ACC] the derivatives along the lines of one axis, axes ascending, ROWS nodes of a line at a time; matrix
 * packed [row block][column][ROWS]. */
INLINE void FN(axis_products)(const struct dg_cpu *t, int axis, const VEC *u, VEC *acc)
{
    int n = t->num_line_node, num = n * n, step = axis == 0 ? 1 : axis == 1 ? n : num;
    for (int line = 0; line < num; line++) {
        int first = axis == 0 ? line * n : axis == 1 ? line / n * num + line % n : line;
        const REAL *d = t->derivative;
        for (int row = 0; row < n; row += ROWS) {
            VEC sum[ROWS][NUM_LINE] = {0};
            for (int k = 0; k < n; k++, d += ROWS) {
                const VEC *from = u + (first + k * step) * NUM_REF;
#pragma GCC unroll 8
                for (int r = 0; r < ROWS; r++)
                    for (int i = 0; i < NUM_LINE; i++)
                        sum[r][i] += d[r] * from[LINE_REF(axis, i)];
            }
            for (int r = 0; r < ROWS && row + r < n; r++)
                for (int i = 0; i < NUM_LINE; i++) {
                    VEC *to = acc + (first + (row + r) * step) * NUM_ACC + LINE_ACC(axis, i);
                    VEC share = (REAL)LINE_SIGN(i) * sum[r][i];
                    *to = FIRST_SHARE(axis, i) ? share : *to + share;
                }
        }
    }
}

/* s: jumps at all face nodes. */
INLINE void FN(add_jumps)(const struct dg_cpu *t, const struct dg_args *a, const struct FN(block) * b,
                          const VEC *s, VEC *acc)
{
    const int *node = a->face_node;
    for (int face = 0; face < NUM_FACE; face++)
        for (int m = 0; m < t->num_face_node; m++, node++, s += NUM_JUMP) {
            VEC y[NUM_JUMP];
            for (int i = 0; i < NUM_JUMP; i++)
                y[i] = (REAL)t->inv_end_weight * s[i];
            FN(apply_lift)(y, face, b->lift_coef[face], acc + *node * NUM_ACC);
        }
}

/* rhs [elem][node][field] of a block of elements; acc stands behind it. */
INLINE void FN(right_hand_side)(const struct dg_cpu *t, const struct dg_args *a, int kind,
                                const int64_t *elem, const struct FN(block) * b, const VEC *u, const VEC *s,
                                REAL *rhs)
{
    int num_node = t->num_node, num_value = num_node * NUM_FIELD, part = ROWS * NUM_FIELD * LANES;
    int share = (LANES * ROWS + num_node - 1) / num_node; /* elements of the next block for a block of rows */
    VEC *acc = (VEC *)rhs + num_node * NUM_FIELD;
    FN(axis_products)(t, 0, u, acc);
    FN(axis_products)(t, 1, u, acc);
    FN(axis_products)(t, 2, u, acc);
    FN(add_jumps)(t, a, b, s, acc);
    for (int first = 0; first < num_node; first += ROWS) {
        VEC out[ROWS * NUM_FIELD], own[ROWS * NUM_COEF];
        int rows = num_node - first < ROWS ? num_node - first : ROWS, step = BY_NODE ? NUM_COEF : 0;
        const VEC *coef = b->record;
        FN(prefetch_old)(a, kind, elem[0] * num_value + first / ROWS * part, part);
        if (first / ROWS * share < LANES)
            FN(prefetch_elements)(t, a, num_value, elem[0] + LANES + first / ROWS * share, share);
        if (BY_NODE) {
            FN(load_coef)(t, a, elem, first, rows, own);
            coef = own;
        }
        for (int r = 0; r < rows; r++) {
            const VEC *metric = FN(metric_at)(t, b, first + r);
            VEC *sum = acc + (first + r) * NUM_ACC;
            for (int i = 0; i < NUM_ACC; i++)
                sum[i] *= metric[NUM_METRIC - 1];
            FN(from_reference)(sum, metric, coef + r * step, out + r * NUM_FIELD);
        }
        if (t->has_local)
            FN(add_local)(t, a, elem, first, rows, coef, step, out);
        COMMON.scatter(out, rows * NUM_FIELD, rhs + first * NUM_FIELD, num_node * NUM_FIELD);
    }
}
