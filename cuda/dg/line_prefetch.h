/* line_prefetch.h: what blocks of kernels lines and columns ask for before they need it. The includer defines what
 * case.h asks for, TILE, THREADS, AHEAD, UPDATE. Next: lines.cu, columns.cu. */
#ifndef UNDA_DG_LINE_PREFETCH_H
#define UNDA_DG_LINE_PREFETCH_H

#define PREFETCH_LOOP _Pragma("unroll 1") /* of a turn or two */
#include "dg/prefetch.h"

/* Asks for what this block's update reads, and for the state of a block that runs soon. */
static __device__ __forceinline__ void prefetch_memory(const dg_args &a, long long first, int count)
{
    if (UPDATE == UPDATE_AB3 || (UPDATE == UPDATE_LSRK && a.a != 0))
        prefetch(a, a.r, first, count);
    if (UPDATE == UPDATE_AB3)
        prefetch(a, a.r1, first, count);
    long long soon = first + (long long)AHEAD * TILE, left = a.num_elem - soon;
    int num = left < TILE ? (int)left : TILE;
    if (AHEAD > 1 && left > 0)
        prefetch(a, a.q, soon, num);
}

#endif
