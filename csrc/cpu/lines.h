/* lines.h: matrices of lines of nodes on the CPU, packed [row block][column][rows] and padded with zeros, so that
 * several rows are worked on at once. Next: dg/cpu_lines.inc.h, sem/cpu_force.inc.h. */
#ifndef UNDA_CPU_LINES_H
#define UNDA_CPU_LINES_H

enum { LEAST_ROWS = 3, MOST_ROWS = 5 };

/* The rows at once, of a line of n nodes, that leave the least padding. */
static inline int line_rows(int n)
{
    int best = MOST_ROWS;
    for (int rows = MOST_ROWS; rows >= LEAST_ROWS; rows--)
        if ((n + rows - 1) / rows * rows < (n + best - 1) / best * best)
            best = rows;
    return best;
}

#endif
