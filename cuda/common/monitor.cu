/* monitor.cu: adds a sample of a field to the accumulators of a monitor, by the operations of csrc/solver/cpu_monitor.c.
 * One thread a value; limited by memory: it reads the value, and reads and writes its accumulators (a maximum is written
 * only where it grows). Defines: REAL; of elements LAYOUT, without which values are nodes of a grid. */
#include "common/monitor_args.h"
#ifdef LAYOUT
#include LAYOUT
#endif

/* i / d by 32 bits where that does, which is several times as fast. */
static __device__ __forceinline__ long long quotient(const monitor_args &a, long long i, int d)
{
    return a.num <= 0xffffffffLL ? (long long)((unsigned)i / (unsigned)d) : i / d;
}

/* The value of field i of those taken, at three places. */
static __device__ __forceinline__ REAL value_at(const monitor_args &a, int i, long long x, long long y,
                                                long long z)
{
#ifdef LAYOUT
    return ((const REAL *)a.q[0])[state_index(a.total, a.num_field, a.num_z, x, (int)z, a.field + i)];
#else
    bool minus = (x < 0) ^ (y < 0) ^ (z < 0);
    x = x < 0 ? ~x : x;
    y = y < 0 ? ~y : y;
    z = z < 0 ? ~z : z;
    REAL p = ((const REAL *)a.q[i])[x * a.stride[0] + y * a.stride[1] + z];
    return minus ? -p : p;
#endif
}

static __device__ __forceinline__ REAL sample_at(const monitor_args &a, long long x, long long y, long long z)
{
    REAL p = value_at(a, 0, x, y, z);
    if (a.quantity < MONITOR_MINUS_MEAN)
        return a.quantity == MONITOR_MINUS ? -p : p;
    REAL q = value_at(a, 1, x, y, z), r = value_at(a, 2, x, y, z);
    return a.quantity == MONITOR_MINUS_MEAN ? -(p + q + r) / 3 : (REAL)sqrt(p * p + q * q + r * r);
}

extern "C" __global__ void monitor(const __grid_constant__ monitor_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    long long row = quotient(a, i, a.num_z), x = quotient(a, row, a.num_y);
    const long long *y = a.place + a.num_x, *z = y + a.num_y;
    REAL p = sample_at(a, a.place[x], y[row - x * a.num_y], z[i - row * a.num_z]);
    if (a.statistic == MONITOR_MAXIMUM || a.statistic == MONITOR_MINIMUM) {
        REAL *kept = (REAL *)a.sums + i;
        if (a.first || (a.statistic == MONITOR_MAXIMUM ? p > *kept : p < *kept))
            *kept = p;
        return;
    }
    double *sum = (double *)a.sums + i;
    if (a.statistic == MONITOR_SQUARES)
        *sum = (a.first ? 0 : *sum) + (double)p * (double)p;
    for (int k = 0; k < 2 * a.num_frequency; k++, sum += a.num)
        *sum = (a.first ? 0 : *sum) + a.wave[k] * (double)p;
}
