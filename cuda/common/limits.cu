/* limits.cu: limits of a device: copy kernel (bandwidth) and multiply-add kernels (arithmetic rate).
 * Per thread and iteration: copy reads and writes 16 B; fma does 2 NUM_CHAIN flop in independent chains,
 * which hide each other's latency (4 cycles), without memory access. Host side: csrc/gpu/limits.c. */
#include "common/limits_args.h"

extern "C" __global__ void copy(struct limits_args args)
{
    const float4 *from = (const float4 *)args.from;
    float4 *to = (float4 *)args.to;
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < args.num_value; i += stride)
        to[i] = from[i];
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
