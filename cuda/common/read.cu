/* read.cu: a field of the present state in the user's order, to memory of this device or of another that it reaches. Values
 * are copied, or negated where they are images: their bits are those that the host would read (csrc/solver/device_read.c).
 * Limited by memory: threads go by the order of the state's rows, so that reads are as contiguous as the layout has them and
 * writes are so within a row. Defines: REAL. */
#include "common/read_args.h"

/* a / b by 32 bits where that does, which is several times as fast. */
static __device__ __forceinline__ long long quotient(long long a, int b)
{
    return a <= 0xffffffffLL ? (long long)((unsigned)a / (unsigned)b) : a / b;
}

/* Where value n of a row is in the state, -1: nowhere. i: its number among all. */
static __device__ __forceinline__ long long place_of(const read_args &a, long long i, long long row,
                                                     long long n)
{
    if (a.node)
        return a.node[i] < 0 ? -1 : a.node[i] * a.stride[0];
    const long long block = quotient(row, a.lanes);
    return block * a.stride[0] + (row - block * a.lanes) * a.stride[1] + n * a.stride[2];
}

/* Rows of elements: nodes in a layout of DG, or spectral elements, which share them. One thread a value: several, with their
 * loads at once, were slower by 4 to 17 % on an H200, since other fields that stand between are read as well. */
extern "C" __global__ void __launch_bounds__(256) read_rows(const __grid_constant__ read_args a)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    const long long row = quotient(i, a.width), n = i - row * a.width, place = place_of(a, i, row, n);
    ((REAL *)a.to)[a.row[row] * a.width + n] = place < 0 ? 0 : ((const REAL *)a.from)[place];
}

/* The place of value i along an axis of a box. */
static __device__ __forceinline__ long long along(const read_args &a, int axis, int i)
{
    return i == a.num_axis[axis] - 1 ? a.last[axis] : a.first[axis] + i;
}

/* A box of a grid's nodes: threads along z, rows of y, planes of x. A thread has READ_VALUES values, all of whose loads are in
 * flight at once, which is twice as fast as one. */
extern "C" __global__ void __launch_bounds__(256) read_box(const __grid_constant__ read_args a)
{
    const int lanes = blockDim.x, first = blockIdx.x * lanes * READ_VALUES + threadIdx.x, num = a.num_axis[2];
    for (int x = blockIdx.z; x < a.num_axis[0]; x += gridDim.z)
        for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < a.num_axis[1]; y += gridDim.y * blockDim.y) {
            const long long px = along(a, 0, x), py = along(a, 1, y);
            const REAL *from =
                (const REAL *)a.from + (px < 0 ? ~px : px) * a.stride[0] + (py < 0 ? ~py : py) * a.stride[1];
            REAL *to = (REAL *)a.to + ((long long)x * a.num_axis[1] + y) * num, value[READ_VALUES];
#pragma unroll
            for (int v = 0; v < READ_VALUES; v++) {
                const int z = first + v * lanes;
                const long long pz = along(a, 2, z);
                value[v] = z < num ? from[(pz < 0 ? ~pz : pz) * a.stride[2]] : 0;
                value[v] = (px < 0) ^ (py < 0) ^ (pz < 0) ? -value[v] : value[v];
            }
#pragma unroll
            for (int v = 0; v < READ_VALUES; v++)
                if (first + v * lanes < num)
                    to[first + v * lanes] = value[v];
        }
}
