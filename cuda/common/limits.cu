/* limits.cu: limits of a device: copy kernel (bandwidth) and multiply-add kernels (arithmetic rate).
 * Per thread: copy reads and writes 16 B; per iteration fma does 2 NUM_CHAIN flop in independent chains, which
 * hide each other's latency (4 cycles), without memory access. Host side: csrc/gpu/limits.c. */
#include "common/limits_args.h"

/* A thread for each value and no loop: blocks start in the order of what they copy, so that all blocks of a moment
 * are in few pages of memory. With a loop of the stride of the grid an H200 copies 3.95 TB/s instead of 4.29. */
extern "C" __global__ void copy(struct limits_args args)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < args.num_value)
        __stcs((float4 *)args.to + i, __ldcs((const float4 *)args.from + i));
}

template <typename REAL> __device__ void fma_chains(const struct limits_args &args)
{
    REAL x[NUM_CHAIN], factor = (REAL)args.factor, term = (REAL)args.term;
    for (int i = 0; i < NUM_CHAIN; i++)
        x[i] = (REAL)(threadIdx.x + i);
    for (long long loop = 0; loop < args.num_loop; loop++) {
#pragma unroll
        for (int i = 0; i < NUM_CHAIN; i++)
            x[i] = factor * x[i] + term;
    }
    REAL sum = 0;
    for (int i = 0; i < NUM_CHAIN; i++)
        sum += x[i];
    if (sum == (REAL)-1) /* never: all terms are positive; but the compiler must keep the loop */
        *(REAL *)args.to = sum;
}

extern "C" __global__ void fma32(struct limits_args args)
{
    fma_chains<float>(args);
}

extern "C" __global__ void fma64(struct limits_args args)
{
    fma_chains<double>(args);
}
