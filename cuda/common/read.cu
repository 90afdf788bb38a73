/* read.cu: a field of the present state in the user's order, to memory of this device or of another that it reaches. Values
 * are copied, or negated where they are images: their bits are those that the host would read (csrc/solver/device_read.c).
 * One thread a value, in the order of the state's rows, so that reads are as contiguous as the layout has them and writes
 * are so within a row. Defines: REAL. */
#include "common/read_args.h"

/* a / b by 32 bits where that does, which is several times as fast. */
static __device__ __forceinline__ long long quotient(long long a, int b)
{
    return a <= 0xffffffffLL ? (long long)((unsigned)a / (unsigned)b) : a / b;
}

/* Rows of elements: nodes in a layout of DG, or spectral elements, which share them. */
extern "C" __global__ void read_rows(const __grid_constant__ read_args a)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    const long long row = quotient(i, a.width), n = i - row * a.width;
    REAL value = 0;
    if (!a.node) {
        const long long block = quotient(row, a.lanes);
        value = ((const REAL *)
                     a.from)[block * a.stride[0] + (row - block * a.lanes) * a.stride[1] + n * a.stride[2]];
    } else if (a.node[i] >= 0)
        value = ((const REAL *)a.from)[a.node[i] * a.stride[0]];
    ((REAL *)a.to)[a.row[row] * a.width + n] = value;
}

/* A box of a grid's nodes. */
extern "C" __global__ void read_box(const __grid_constant__ read_args a)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    const long long row = quotient(i, a.num_axis[2]), x = quotient(row, a.num_axis[1]);
    const long long at[3] = {x, row - x * a.num_axis[1], i - row * a.num_axis[2]};
    long long place = 0;
    bool minus = false;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const long long p = at[axis] == a.num_axis[axis] - 1 ? a.last[axis] : a.first[axis] + at[axis];
        minus ^= p < 0;
        place += (p < 0 ? ~p : p) * a.stride[axis];
    }
    const REAL value = ((const REAL *)a.from)[place];
    ((REAL *)a.to)[i] = minus ? -value : value;
}
