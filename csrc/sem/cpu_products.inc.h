/* cpu_products.inc.h: products of lines for vectors of one width, included by cpu_force.inc.h, which defines LINE(name),
 * TARGET and WIDTH: a VEC, or a PART of it where registers have no more; gcc 12 keeps vectors wider than those in
 * memory. */

enum { LINE(parts) = (int)(sizeof(VEC) / sizeof(WIDTH)) };

/* to becomes, or gains, the product of the matrix and a line, whose first node `from` and `to` point to and whose nodes
 * are jump and leap values apart. */
DEVICE void LINE(line)(const struct FN(lines) * a, int n, int rows, ptrdiff_t jump, const VEC *restrict from,
                       ptrdiff_t leap, VEC *restrict to, bool gain)
{
#pragma GCC unroll 1
    for (int part = 0; part < LINE(parts); part++) {
        const REAL *d = a->matrix;
        VEC *line = to;
        for (int row = 0; row < n; row += rows) {
            WIDTH sum[MOST_ROWS][DIM] = {0};
            const VEC *node = from;
            for (int k = 0; k < n; k++, d += rows, node += jump)
#pragma GCC unroll 8
                for (int r = 0; r < rows; r++)
                    for (int i = 0; i < DIM; i++)
                        sum[r][i] += d[r] * ((const WIDTH *)(node + i))[part];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++, line += leap)
                if (row + r < n)
                    for (int i = 0; i < DIM; i++) {
                        WIDTH *at = (WIDTH *)(line + i) + part;
                        *at = gain ? *at + sum[r][i] : sum[r][i];
                    }
        }
    }
}

DEVICE void LINE(with_rows)(const struct FN(lines) * a, int rows, const VEC *from, VEC *to, bool gain,
                            struct FN(ahead) * ahead)
{
    ptrdiff_t jump = (ptrdiff_t)a->step * a->width, leap = (ptrdiff_t)a->step * a->stride;
    for (int i = 0; i < a->num; i++) {
        if (ahead)
            FN(prefetch_share)(ahead);
        LINE(line)(a, a->n, rows, jump, from + i * a->next_from, leap, to + i * a->next_to, gain);
    }
}

/* The compiler is to know how many rows there are at once, */
DEVICE void LINE(with_gain)(const struct FN(lines) * a, const VEC *from, VEC *to, bool gain,
                            struct FN(ahead) * ahead)
{
    if (a->rows == 3)
        LINE(with_rows)(a, 3, from, to, gain, ahead);
    else if (a->rows == 4)
        LINE(with_rows)(a, 4, from, to, gain, ahead);
    else
        LINE(with_rows)(a, 5, from, to, gain, ahead);
}

/* and whether products are added. All lines; beside them memory arrives. */
TARGET static __attribute__((noinline)) void LINE(lines)(const struct FN(lines) * a, const VEC *from, VEC *to,
                                                         bool gain, struct FN(ahead) * ahead)
{
    if (gain)
        LINE(with_gain)(a, from, to, true, ahead);
    else
        LINE(with_gain)(a, from, to, false, ahead);
}
