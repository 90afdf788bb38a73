/* reverse.cu: reverses the values of each block through dynamic shared memory and doubles them. */
#include "scale.h"

struct reverse_args {
    const double *from;
    double *to;
    long long count;
};

extern "C" __global__ void __launch_bounds__(128) reverse(struct reverse_args args)
{
    extern __shared__ double s_value[];
    long long begin = (long long)blockIdx.x * blockDim.x;
    int size = (int)min((long long)blockDim.x, args.count - begin);
    if (threadIdx.x < size)
        s_value[threadIdx.x] = args.from[begin + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < size)
        args.to[begin + threadIdx.x] = SCALE * s_value[size - 1 - threadIdx.x];
}
