/* cpu_cell_lines.inc.h: of hexahedra one at a time, what does not depend on the flux and on where materials vary:
 * derivatives along lines, and the update; compiled once for each physics. Part of cpu_cell.inc.h, which defines its
 * macros. */

/* Node l of each row, in its whole row. */
INLINE VEC CELL_OF_ALL(node_of_rows)(VEC u, int l)
{
#define NODE(lane, l) (lane) / CELL_LINE *CELL_LINE + (l)
    IVEC mask = EACH_LANE(NODE, l);
#undef NODE
    return __builtin_shuffle(u, mask);
}

/* Row r in all rows. */
INLINE VEC CELL_OF_ALL(row)(VEC u, int r)
{
#define NODE(lane, r) (r) * CELL_LINE + (lane) % CELL_LINE
    IVEC mask = EACH_LANE(NODE, r);
#undef NODE
    return __builtin_shuffle(u, mask);
}

/* Adds the derivatives along an axis of a field, or sets them. Tables: [CELL_LINE][LANES] along axis 1,
 * [CELL_PLANE][CELL_LINE][LANES] along axis 2, then the matrix. */
INLINE void CELL_OF_ALL(line)(const REAL *tables, int axis, bool set, REAL sign, const VEC *u, VEC *acc)
{
    const VEC *first = (const VEC *)tables, *second = first + CELL_LINE;
    const REAL *d = (const REAL *)(second + CELL_PLANE * CELL_LINE);
    if (axis == 0)
        for (int v = 0; v < CELL_VECS; v++) {
            VEC sum = first[0] * CELL_OF_ALL(node_of_rows)(u[v], 0);
#pragma GCC unroll 8
            for (int l = 1; l < CELL_LINE; l++)
                sum += first[l] * CELL_OF_ALL(node_of_rows)(u[v], l);
            acc[v] = set ? sign * sum : acc[v] + sign * sum;
        }
    if (axis == 1)
        for (int k = 0; k < CELL_LINE; k++, u += CELL_PLANE, acc += CELL_PLANE) {
            VEC row[CELL_LINE];
#pragma GCC unroll 8
            for (int l = 0; l < CELL_LINE; l++)
                row[l] = CELL_ROWS == 1 ? u[l] : CELL_OF_ALL(row)(u[l / CELL_ROWS], l % CELL_ROWS);
#pragma GCC unroll 8
            for (int p = 0; p < CELL_PLANE; p++) {
                VEC sum = second[p * CELL_LINE] * row[0];
#pragma GCC unroll 8
                for (int l = 1; l < CELL_LINE; l++)
                    sum += second[p * CELL_LINE + l] * row[l];
                acc[p] = set ? sign * sum : acc[p] + sign * sum;
            }
        }
    if (axis == 2)
        for (int p = 0; p < CELL_PLANE; p++) {
            VEC row[CELL_LINE];
#pragma GCC unroll 8
            for (int l = 0; l < CELL_LINE; l++)
                row[l] = u[l * CELL_PLANE + p];
#pragma GCC unroll 8
            for (int k = 0; k < CELL_LINE; k++) {
                VEC sum = d[k * CELL_LINE] * row[0];
#pragma GCC unroll 8
                for (int l = 1; l < CELL_LINE; l++)
                    sum += d[k * CELL_LINE + l] * row[l];
                VEC *to = acc + k * CELL_PLANE + p;
                *to = set ? sign * sum : *to + sign * sum;
            }
        }
}

/* Share i of num of what the update of a cell reads, asked for early. */
INLINE void CELL_OF_ALL(prefetch_old)(const struct dg_args *a, int kind, int64_t elem, int i, int num)
{
    enum { ALL = NUM_FIELD * CELL_VECS };
    int share = (ALL + num - 1) / num, first = i * share, last = first + share < ALL ? first + share : ALL;
    const VEC *r = (const VEC *)a->r + elem * ALL, *q_new = (const VEC *)a->q_new + elem * ALL;
#pragma GCC unroll 1
    for (int k = first; k < last; k++) {
        __builtin_prefetch(r + k, 0, 3);
        __builtin_prefetch(q_new + k, 0, 3);
    }
    const VEC *r1 = (const VEC *)a->r1 + elem * ALL;
#pragma GCC unroll 1
    for (int k = first; kind == UPDATE_AB3 && k < last; k++)
        __builtin_prefetch(r1 + k, 0, 3);
}

/* The lines of one group, from u as to_references has it. */
INLINE void CELL_OF_ALL(lines_of)(const REAL *tables, const struct dg_args *a, int kind, int64_t elem,
                                  int group, const VEC *u, VEC *acc)
{
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        int axis = (k + 2) % 3;
#pragma GCC unroll 2
        for (int line = 0; line < NUM_LINE / NUM_GROUP; line++) {
            int i = GROUP_LINE(group, line);
            CELL_OF_ALL(prefetch_old)(a, kind, elem, (group * 3 + k) * (NUM_LINE / NUM_GROUP) + line,
                                      3 * NUM_LINE);
            CELL_OF_ALL(line)(tables, axis, axis == 2 || FIRST_SHARE(axis, i), LINE_SIGN(i),
                              u + REF_SLOT(LINE_REF(axis, i)) * CELL_VECS,
                              acc + LINE_ACC(axis, i) * CELL_VECS);
        }
    }
}

/* The same of any group. */
AVX512 static __attribute__((noinline)) void CELL_OF_ALL(lines)(const REAL *tables, const struct dg_args *a,
                                                                int kind, int64_t elem, int group,
                                                                const VEC *u, VEC *acc)
{
#pragma GCC unroll 3
    for (int g = 0; g < NUM_GROUP; g++)
        if (g == group)
            CELL_OF_ALL(lines_of)(tables, a, kind, elem, g, u, acc);
}

/* The update of common/index.h. */
AVX512 static __attribute__((noinline)) void CELL_OF_ALL(update)(const struct dg_args *a, int kind,
                                                                 int64_t elem, const VEC *restrict rhs)
{
    enum { NUM = NUM_FIELD * CELL_VECS };
    const VEC *restrict q = (const VEC *)a->q + elem * NUM;
    VEC *restrict r = (VEC *)a->r + elem * NUM, *restrict q_new = (VEC *)a->q_new + elem * NUM;
    REAL ra = (REAL)a->a, rb = (REAL)a->b, dt = (REAL)a->dt;
    REAL c0 = (REAL)a->c0, c1 = (REAL)a->c1, c2 = (REAL)a->c2;
    if (kind == UPDATE_LSRK && a->a == 0) /* the first stage: r may hold anything */
        for (int i = 0; i < NUM; i++) {
            r[i] = dt * rhs[i];
            q_new[i] = q[i] + rb * r[i];
        }
    else if (kind == UPDATE_LSRK)
        for (int i = 0; i < NUM; i++) {
            r[i] = ra * r[i] + dt * rhs[i];
            q_new[i] = q[i] + rb * r[i];
        }
    else if (kind == UPDATE_AB3) {
        const VEC *restrict r1 = (const VEC *)a->r1 + elem * NUM;
        for (int i = 0; i < NUM; i++) {
            q_new[i] = q[i] + (c0 * rhs[i] + c1 * r1[i] + c2 * r[i]);
            r[i] = rhs[i];
        }
    } else
        memcpy(r, rhs, NUM * sizeof *r);
}
