/* faults.cu: kernels that do what they must not. */
struct fault_args {
    const double *from;
    double *to;
    long long count;
};

/* Writes one value past the end: only the stand-in driver sees it. */
extern "C" __global__ void overrun(struct fault_args args)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        args.to[args.count] = 1;
}

/* Two values at once from where no two begin. */
extern "C" __global__ void misaligned(struct fault_args args)
{
    struct __align__(16) pair {
        double first, second;
    };
    args.to[threadIdx.x] = ((const pair *)(args.from + 1))->first;
}

/* Half of the threads go past the barrier. */
extern "C" __global__ void missed_barrier(struct fault_args args)
{
    if (threadIdx.x < blockDim.x / 2)
        __syncthreads();
    args.to[threadIdx.x] = args.from[threadIdx.x];
}

/* Both halves wait, each at its own barrier. */
extern "C" __global__ void divergent_barrier(struct fault_args args)
{
    if (threadIdx.x < blockDim.x / 2) {
        __syncthreads();
        args.to[threadIdx.x] = 1;
    } else {
        __syncthreads();
        args.to[threadIdx.x] = 2;
    }
}

/* Half of a warp takes part in a shuffle of all. */
extern "C" __global__ void half_shuffle(struct fault_args args)
{
    if (threadIdx.x % 32 < 16)
        args.to[threadIdx.x] = __shfl_down_sync(0xffffffffu, args.from[threadIdx.x], 1);
}

/* Each block waits for another one, all around. */
extern "C" __global__ void ring(struct fault_args args)
{
    const volatile double *next = args.to + (blockIdx.x + 1) % gridDim.x;
    while (threadIdx.x == 0 && *next != 1)
        emu->yield();
    __syncthreads();
    args.to[blockIdx.x] = 1;
}

/* Each block waits for the one before. */
extern "C" __global__ void chain(struct fault_args args)
{
    const volatile double *before = args.to + blockIdx.x - 1;
    while (blockIdx.x > 0 && threadIdx.x == 0 && *before != 1)
        emu->yield();
    __syncthreads();
    args.to[blockIdx.x] = 1;
}

/* Does nothing wrong: the twin of the others. */
extern "C" __global__ void harmless(struct fault_args args)
{
    __syncthreads();
    args.to[threadIdx.x] = __shfl_down_sync(0xffffffffu, args.from[threadIdx.x], 1);
}

/* Launched so that it may start while the kernel before it ends; one warp of it does not wait for that one. */
extern "C" __global__ void early_without_waiting(struct fault_args args)
{
    if (threadIdx.x >= 32)
        wait_for_previous();
    args.to[threadIdx.x] = args.from[threadIdx.x];
}

/* All threads wait. */
extern "C" __global__ void early(struct fault_args args)
{
    wait_for_previous();
    args.to[threadIdx.x] = args.from[threadIdx.x];
}
