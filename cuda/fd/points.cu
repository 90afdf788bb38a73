/* points.cu: operations at single nodes of a grid: sources, receivers, whole arrays checked or multiplied. One
 * thread per node or value, one warp per sample of a receiver, one block per row. Limited by latency or by
 * one read of the state. Define: REAL. */
#include "fd/scalar/args.h"

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
    const int *place = a.place + 8 * point;
    double sum = 0;
    for (int line = lane; line < 64; line += 32) {
        const int *run = a.first + 64 * a.num_run * point + line, first = run[0];
        double part = 0;
        for (int k = 0; k < 8 && first >= 0; k++)
            if (weight[16 + k] != 0)
                part = fma(weight[16 + k],
                           (double)values[place[k] >= 0 ? first + place[k] : run[64] + ~place[k]], part);
        sum = fma(weight[line / 8] * weight[8 + line % 8], part, sum);
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        ((REAL *)a.out)[warp] = (REAL)sum;
}

/* Reads vectors of whole planes, padding included, and examines again those with such a value. A block has
 * PART of a thread's vectors in flight. */
extern "C" __global__ void __launch_bounds__(256) scalar_find_bad(const __grid_constant__ scalar_whole_args a)
{
    enum { PART = 8, WIDTH = 16 / sizeof(REAL) };
    struct __align__(16) vec {
        REAL v[WIDTH];
    };
    const int before =
        (int)((unsigned long long)a.p % sizeof(vec) / sizeof(REAL)); /* since the last whole one */
    const int vectors = a.num[1] * (a.pitch / WIDTH), size = PART * blockDim.x,
              parts = (vectors + size - 1) / size;
    const long long num = (long long)a.num[0] * a.num[1] * a.num[2];
    long long least = num;
    for (long long item = blockIdx.x; item < (long long)parts * a.num[0]; item += gridDim.x) {
        const int x = (int)(item / parts), begin = (int)(item % parts) * size + threadIdx.x;
        const vec *plane = (const vec *)((const REAL *)a.p - before + x * a.plane);
        vec part[PART];
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const int at = begin + i * blockDim.x;
            part[i] = plane[at < vectors ? at : 0];
        }
#pragma unroll
        for (int i = 0; i < PART; i++) {
            REAL none = 0;
#pragma unroll
            for (int l = 0; l < WIDTH; l++)
                none += part[i].v[l] - part[i].v[l]; /* 0 or NaN */
            if (none == 0)
                continue;
            const int first = begin + i * blockDim.x < vectors ? (begin + i * (int)blockDim.x) * WIDTH : 0;
            for (int l = 0; l < WIDTH; l++) {
                const int y = (first + l) / a.pitch, z = (first + l) % a.pitch - before;
                const long long at = ((long long)x * a.num[1] + y) * a.num[2] + z;
                if (z >= 0 && z < a.num[2] && !(part[i].v[l] - part[i].v[l] == 0) && at < least)
                    least = at;
            }
        }
    }
    if (least < num)
        atomicMin(a.first, (unsigned long long)least);
}

extern "C" __global__ void scalar_multiply(const __grid_constant__ scalar_whole_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, total = (long long)a.num[0] * a.num[1] * a.num[2];
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step)
        ((REAL *)a.p)[i / a.num[2] / a.num[1] * a.plane + i / a.num[2] % a.num[1] * a.pitch + i % a.num[2]] *=
            (REAL)a.factor;
}
