/* cpu_products.inc.h: derivatives along lines of nodes for vectors of one width, included by cpu_lines.inc.h, which
 * defines LINE(name), TARGET and WIDTH: a VEC, or a PART of it where registers have no more; gcc 12 keeps vectors wider
 * than those in memory. The functions are long, so that a stage has one copy of each. */

enum { LINE(parts) = (int)(sizeof(VEC) / sizeof(WIDTH)) };

/* Products part .. part + NUM_TOGETHER of a line whose nodes are `from` apart in u [node][NUM_REF], and `step` in `to`: acc
 * [node][NUM_ACC], or apart from it, [node][NUM_LINE]. */
INLINE void LINE(part)(const struct dg_cpu *t, int rows, int axis, int part, bool apart, const VEC *u,
                       int from, int step, VEC *to)
{
    int n = t->num_line_node;
#pragma GCC unroll 1
    for (int at = 0; at < LINE(parts); at++) {
        const REAL *d = t->derivative;
        for (int row = 0; row < n; row += rows) {
            WIDTH sum[MOST_ROWS][NUM_TOGETHER] = {0};
            for (int k = 0; k < n; k++, d += rows)
#pragma GCC unroll 8
                for (int r = 0; r < rows; r++)
                    for (int i = 0; i < NUM_TOGETHER; i++)
                        sum[r][i] +=
                            d[r] * ((const WIDTH *)(u + k * from * NUM_REF + LINE_REF(axis, part + i)))[at];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                for (int i = 0; i < NUM_TOGETHER && row + r < n; i++) {
                    WIDTH share = (REAL)LINE_SIGN(part + i) * sum[r][i];
                    VEC *node = to + (row + r) * step * (apart ? NUM_LINE : NUM_ACC);
                    WIDTH *acc = (WIDTH *)(node + (apart ? part + i : LINE_ACC(axis, part + i))) + at;
                    *acc = axis == 2 || FIRST_SHARE(axis, part + i) ? share : *acc + share;
                }
        }
    }
}

INLINE void LINE(line)(const struct dg_cpu *t, int axis, int rows, bool apart, const VEC *u, int from,
                       int step, VEC *to)
{
    LINE(part)(t, rows, axis, 0, apart, u, from, step, to);
    if (NUM_TOGETHER < NUM_LINE)
        LINE(part)(t, rows, axis, NUM_LINE - NUM_TOGETHER, apart, u, from, step, to);
}

/* `num` lines along axis 3 which begin at nodes one after the other. */
INLINE void LINE(third_rows)(const struct dg_cpu *t, int rows, int num, bool apart, const VEC *u, int from,
                             int step, VEC *to)
{
    for (int i = 0; i < num; i++)
        LINE(line)(t, 2, rows, apart, u + i * NUM_REF, from, step, to + i * NUM_ACC);
}

/* Lines of a plane along axes 1 and 2. */
INLINE void LINE(plane_rows)(const struct dg_cpu *t, int rows, const struct dg_args *a, int kind,
                             const struct FN(ahead) * ahead, int k, const VEC *u, VEC *acc)
{
    int n = t->num_line_node;
    for (int j = 0; j < n; j++) {
        FN(prefetch_share)(t, a, kind, ahead, k, j);
        LINE(line)(t, 0, rows, false, u + j * n * NUM_REF, 1, 1, acc + j * n * NUM_ACC);
    }
    for (int i = 0; i < n; i++) {
        FN(prefetch_share)(t, a, kind, ahead, k, n + i);
        LINE(line)(t, 1, rows, false, u + i * NUM_REF, n, n, acc + i * NUM_ACC);
    }
}

/* The compiler is to know how many rows there are at once. */
#undef BY_ROWS
#define BY_ROWS(call, ...)                                                                                   \
    do {                                                                                                     \
        if (t->line_rows == 3)                                                                               \
            call(t, 3, __VA_ARGS__);                                                                         \
        else if (t->line_rows == 4)                                                                          \
            call(t, 4, __VA_ARGS__);                                                                         \
        else                                                                                                 \
            call(t, 5, __VA_ARGS__);                                                                         \
    } while (0)

TARGET static __attribute__((noinline)) void LINE(third)(const struct dg_cpu *t, int num, bool apart,
                                                         const VEC *u, int from, int step, VEC *to)
{
    BY_ROWS(LINE(third_rows), num, apart, u, from, step, to);
}

TARGET static __attribute__((noinline)) void LINE(plane)(const struct dg_cpu *t, const struct dg_args *a,
                                                         int kind, const struct FN(ahead) * ahead, int k,
                                                         const VEC *u, VEC *acc)
{
    BY_ROWS(LINE(plane_rows), a, kind, ahead, k, u, acc);
}
