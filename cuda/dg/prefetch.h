/* prefetch.h: asks for what the update of a block will read, while its products run. */
#ifndef UNDA_DG_PREFETCH_H
#define UNDA_DG_PREFETCH_H

#include "dg/case.h"

/* Knows layout/nodes.h, the layout of this kernel. */
static __device__ __forceinline__ void prefetch(const dg_args &a, const void *array, long long first,
                                                int count)
{
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f += 4) {
        constexpr int SIZE = sizeof(REAL);
        int width = GROUP_WIDTH(NUM_FIELD, f / 4), bytes = count * NP * width * SIZE;
        const char *from = (const char *)array + (f * a.num_total + first * width) * NP * SIZE;
#pragma unroll 1
        for (int i = threadIdx.x * 128; i < bytes; i += THREADS * 128)
            prefetch_l2(from + i);
    }
}

#endif
