/* cpu_products.inc.h: products of lines for vectors of one width, included by cpu_force.inc.h, which defines LINE(name),
 * TARGET and WIDTH: a VEC, or a PART of it where registers have no more; gcc 12 keeps vectors wider than those in
 * memory. */

enum { LINE(parts) = (int)(sizeof(VEC) / sizeof(WIDTH)) };

/* to becomes, or gains, the product of the matrix and a line, whose first node `from` and `to` point to. */
DEVICE void LINE(line)(const struct FN(lines) * a, int rows, const VEC *from, VEC *to, bool gain)
{
#pragma GCC unroll 1
    for (int part = 0; part < LINE(parts); part++) {
        const REAL *d = a->matrix;
        for (int row = 0; row < a->n; row += rows) {
            WIDTH sum[MOST_ROWS][DIM] = {0};
            for (int k = 0; k < a->n; k++, d += rows)
#pragma GCC unroll 8
                for (int r = 0; r < rows; r++)
                    for (int i = 0; i < DIM; i++)
                        sum[r][i] += d[r] * ((const WIDTH *)(from + k * a->step * a->width + i))[part];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                if (row + r < a->n)
                    for (int i = 0; i < DIM; i++) {
                        WIDTH *at = (WIDTH *)(to + (row + r) * a->step * a->stride + i) + part;
                        *at = gain ? *at + sum[r][i] : sum[r][i];
                    }
        }
    }
}

DEVICE void LINE(with_rows)(const struct FN(lines) * a, int rows, const VEC *from, VEC *to, bool gain,
                            struct FN(ahead) * ahead)
{
    for (int i = 0; i < a->num; i++) {
        if (ahead)
            FN(prefetch_share)(ahead);
        LINE(line)(a, rows, from + i * a->next_from, to + i * a->next_to, gain);
    }
}

/* All lines; the compiler is to know how many rows there are at once. Beside them memory arrives. */
TARGET static __attribute__((noinline)) void LINE(lines)(const struct FN(lines) * a, const VEC *from, VEC *to,
                                                         bool gain, struct FN(ahead) * ahead)
{
    if (a->rows == 3)
        LINE(with_rows)(a, 3, from, to, gain, ahead);
    else if (a->rows == 4)
        LINE(with_rows)(a, 4, from, to, gain, ahead);
    else
        LINE(with_rows)(a, 5, from, to, gain, ahead);
}
