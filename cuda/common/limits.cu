/* limits.cu: limits of a device: copy kernel (bandwidth) and multiply-add kernels (arithmetic rate).
 * Per thread and iteration: copy reads and writes 16 NUM_COPY B; fma does 2 NUM_CHAIN flop in independent chains,
 * which hide each other's latency (4 cycles), without memory access. Host side: csrc/gpu/limits.c. */
#include "common/limits_args.h"

/* NUM_COPY vectors of 16 bytes are under way in each thread. */
extern "C" __global__ void copy(struct limits_args args)
{
    const float4 *from = (const float4 *)args.from;
    float4 *to = (float4 *)args.to;
    long long step = (long long)gridDim.x * blockDim.x, i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + (NUM_COPY - 1) * step < args.num_value; i += NUM_COPY * step) {
        float4 value[NUM_COPY];
#pragma unroll
        for (int k = 0; k < NUM_COPY; k++)
            value[k] = __ldcs(from + i + k * step);
#pragma unroll
        for (int k = 0; k < NUM_COPY; k++)
            __stcs(to + i + k * step, value[k]);
    }
    for (; i < args.num_value; i += step)
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
