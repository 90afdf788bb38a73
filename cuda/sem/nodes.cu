/* nodes.cu: what spectral elements do at all unknowns, or at points: the beginning of a step, receivers, the finite
 * check, the clock. Defines: REAL. */
#include "common/args.h"
#include "common/early.h"
#include "sem/record.h"

/* The first half of a step: v at its middle, u at its end. */
extern "C" __global__ void sem_begin(const __grid_constant__ sem_whole_args a)
{
    wait_for_previous();
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    REAL *u = (REAL *)a.u, *v = (REAL *)a.v, now = half_step(v[i], ((const REAL *)a.a)[i], a.dt);
    v[i] = now;
    u[i] = fma((REAL)a.dt, now, u[i]);
}

extern "C" __global__ void sem_record(const __grid_constant__ sem_record_args a)
{
    record<4>(a, (int)blockIdx.x);
}

/* Smallest index of a value that is not finite. */
extern "C" __global__ void sem_find_bad(const __grid_constant__ sem_whole_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, least = 3 * a.num;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < 3 * a.num; i += step) {
        const void *array = i < a.num ? a.u : i < 2 * a.num ? a.v : a.a;
        REAL value = ((const REAL *)array)[i % a.num];
        if (value - value != 0)
            least = i < least ? i : least;
    }
    if (least < 3 * a.num)
        atomicMin(a.first, (unsigned long long)least);
}

/* ---- forces on nodes that other parts have as well (csrc/sem/exchange_cuda.c) ---- */

static __device__ REAL own_force(const sem_exchange_args &a, int node, int unknown)
{
    REAL sum = 0;
    for (int k = a.first_place[node]; k < a.first_place[node + 1]; k++)
        sum += ((const REAL *)a.shared)[(long long)a.place[k] * a.width + unknown];
    return sum;
}

extern "C" __global__ void sem_pack(const __grid_constant__ sem_exchange_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, item = i / a.dim;
    int unknown = (int)(i % a.dim);
    if (item < a.num)
        ((REAL *)a.message)[a.word[item] - a.first_word + unknown] = own_force(a, a.item[item], unknown);
}

/* The sum in the order of parts stands at the first of a node's places, and 0 at the others. */
extern "C" __global__ void sem_unpack(const __grid_constant__ sem_exchange_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int node = (int)(i / a.dim), unknown = (int)(i % a.dim);
    if (i >= a.num * a.dim)
        return;
    REAL sum = 0;
    for (int k = a.first_term[node]; k < a.first_term[node + 1]; k++)
        sum += a.term[k] < 0 ? own_force(a, node, unknown) : ((const REAL *)a.message)[a.term[k] + unknown];
    for (int k = a.first_place[node]; k < a.first_place[node + 1]; k++)
        ((REAL *)a.shared)[(long long)a.place[k] * a.width + unknown] = k == a.first_place[node] ? sum : 0;
}

/* ---- the stable step (csrc/sem/dt.c) ---- */

extern "C" __global__ void sem_combine(const __grid_constant__ sem_combine_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    REAL *z = (REAL *)a.z;
    z[i] =
        (REAL)a.by_x * ((const REAL *)a.x)[i] + (REAL)a.by_y * ((const REAL *)a.y)[i] + (REAL)a.by_z * z[i];
}

/* In a fixed order, in float64. Blocks are of 256 threads. */
extern "C" __global__ void sem_product(const __grid_constant__ sem_product_args a)
{
    __shared__ double of_warp[8];
    const REAL *x = (const REAL *)a.x, *y = (const REAL *)a.y, *w = (const REAL *)a.weight;
    long long step = (long long)gridDim.x * blockDim.x;
    double sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < a.num; i += step)
        sum += (w ? (double)w[i / a.dim] : 1) * (double)x[i] * (double)y[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int i = 1; i < 8; i++)
        sum += of_warp[i];
    a.part[blockIdx.x] = sum;
}

extern "C" __global__ void sem_advance(const __grid_constant__ clock_args a)
{
    wait_for_previous();
    a.clock[0] += a.num_time;
    a.clock[1] += a.num_step;
}
