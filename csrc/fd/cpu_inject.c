/* cpu_inject.c: adds lines of sources to a row on the CPU, in the order of sources: v <- w a + v with one rounding.
 * Not here: which lines (lines.c), when (cpu.c). */
#include "../cpu/precision.h"
#include "cpu.h"

CLONES static void add_lines(REAL *restrict row, const struct fd_line *line, int64_t num,
                             const REAL *restrict weight, const double *amplitude)
{
    for (int64_t i = 0; i < num; i++) {
        REAL a = (REAL)amplitude[line[i].source], *to = row + line[i].z;
        int32_t count = line[i].num;
        if (count == POINT_WIDTH)
            for (int k = 0; k < POINT_WIDTH; k++)
                to[k] = FMA(weight[k], a, to[k]);
        else
            for (int32_t k = 0; k < count; k++)
                to[k] = FMA(weight[k], a, to[k]);
        weight += count;
    }
}

void PRECISION(fd_cpu_inject_)(const struct fd_lines *l, int64_t row, const double *amplitude, void *values)
{
    const struct fd_row_lines *own = &l->row[row];
    add_lines(values, l->line + own->line, own->num_line, (const REAL *)l->weight + own->weight, amplitude);
}
