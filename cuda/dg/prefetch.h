/* prefetch.h: asks for what the update of a block will read, while its products run. */
#ifndef UNDA_DG_PREFETCH_H
#define UNDA_DG_PREFETCH_H

#include "dg/case.h"

/* A pragma of the loop, where the includer wants one. */
#ifndef PREFETCH_LOOP
#define PREFETCH_LOOP
#endif

/* Items [first, first + count) of `total`, which stand in groups of four (index.h). */
template <int NUM>
static __device__ __forceinline__ void prefetch_groups(const void *array, long long total, long long first,
                                                       int count)
{
#pragma unroll
    for (int value = 0; value < NUM; value += 4) {
        constexpr int SIZE = sizeof(REAL);
        int width = GROUP_WIDTH(NUM, value / 4), bytes = count * width * SIZE;
        const char *from = (const char *)array + (value * total + first * width) * SIZE;
        PREFETCH_LOOP
        for (int i = threadIdx.x * 128; i < bytes; i += THREADS * 128)
            prefetch_l2(from + i);
    }
}

/* Elements of a state. Knows layout/nodes.h, the layout of these kernels. */
static __device__ __forceinline__ void prefetch(const dg_args &a, const void *array, long long first,
                                                int count)
{
    prefetch_groups<NUM_FIELD>(array, a.num_total * NP, first * NP, count * NP);
}

#endif
