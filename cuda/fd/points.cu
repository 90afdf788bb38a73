/* points.cu: what happens at single nodes of a grid: sources, receivers, whole arrays checked or halved.
 * One thread a node or value, one warp a sample of a receiver, one block a row. All bound by latency or one
 * read of the state. Define: REAL. */
#include "fd/scalar_args.h"

#define DEVICE       static __device__ __forceinline__
#define FMA(a, b, c) fma(a, b, c)
#include "physics/scalar.h"

DEVICE bool outside(const scalar_rows &rows, long long i)
{
    return rows.row && (rows.row[i] < rows.begin || rows.row[i] >= rows.end);
}

extern "C" __global__ void scalar_inject(const __grid_constant__ scalar_inject_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num_node || outside(a.rows, i))
        return;
    REAL *p = (REAL *)a.p + a.place[i], sum = *p;
    for (int k = a.first[i]; k < a.first[i + 1]; k++)
        sum = scalar_source(((const REAL *)a.weight)[k], ((const REAL *)a.amplitude)[a.source[k]], sum);
    *p = sum;
}

extern "C" __global__ void scalar_gather(const __grid_constant__ scalar_gather_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.num && !outside(a.rows, i))
        ((REAL *)a.values)[i] = ((const REAL *)a.p)[a.place[i]];
}

/* A point is 64 lines of 8 nodes along z: lane l sums lines l and l + 32, then a fixed tree, as fd_weigh in
 * csrc/fd/points.c does. */
extern "C" __global__ void scalar_weigh(const __grid_constant__ scalar_weigh_args a)
{
    long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (warp >= a.num_sample * a.num_point)
        return;
    long long sample = warp / a.num_point, point = warp % a.num_point;
    const REAL *values = (const REAL *)a.values + sample * a.num_node;
    const double *weight = a.weight + 24 * point;
    double sum = 0;
    for (int line = lane; line < 64; line += 32) {
        const int *node = a.node + 512 * point + 8 * line;
        double part = 0;
        for (int k = 0; k < 8; k++)
            if (node[k] >= 0)
                part = fma(weight[16 + k], (double)values[node[k]], part);
        sum = fma(weight[line / 8] * weight[8 + line % 8], part, sum);
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        for (int f = 0; f < a.num_field; f++)
            ((REAL *)a.out)[warp * a.num_field + f] = (REAL)sum;
}

/* FOUR rows a block at a time: it is loads under way that the rate depends on. */
extern "C" __global__ void scalar_find_bad(const __grid_constant__ scalar_whole_args a)
{
    enum { FOUR = 4 };
    const long long rows = (long long)a.num[0] * a.num[1], num = rows * a.num[2];
    long long least = num;
    for (long long row = (long long)blockIdx.x * FOUR; row < rows; row += (long long)gridDim.x * FOUR) {
        const REAL *p[FOUR];
#pragma unroll
        for (int i = 0; i < FOUR; i++) {
            long long one = row + i < rows ? row + i : row;
            p[i] = (const REAL *)a.p + one / a.num[1] * a.plane + one % a.num[1] * a.pitch;
        }
        for (int z = threadIdx.x; z < a.num[2]; z += blockDim.x) {
            REAL value[FOUR];
#pragma unroll
            for (int i = 0; i < FOUR; i++)
                value[i] = p[i][z];
#pragma unroll
            for (int i = 0; i < FOUR; i++) {
                long long at = (row + i < rows ? row + i : row) * a.num[2] + z;
                if (!(value[i] - value[i] == 0) && at < least)
                    least = at;
            }
        }
    }
    if (least < num)
        atomicMin(a.first, (unsigned long long)least);
}

extern "C" __global__ void scalar_halve(const __grid_constant__ scalar_whole_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, total = (long long)a.num[0] * a.plane;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step)
        ((REAL *)a.p)[i] *= (REAL)0.5;
}
