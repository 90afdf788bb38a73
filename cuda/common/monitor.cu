/* monitor.cu: adds a sample of a field to the accumulators of a monitor, by the operations of csrc/solver/cpu_monitor.c.
 * Limited by memory: it reads values, and reads and writes their accumulators (a maximum is written only where it grows).
 * Kernel `monitor` has one thread a value, whose place tables give. Kernel `monitor_grid` is for boxes of grids: threads
 * along z and rows of y, each with MONITOR_VALUES values, all of whose loads are in flight at once; where `earlier` is
 * given, accumulators of maxima, minima and squares take two samples while they are in registers, one after the other.
 * Kernel `monitor_vectors` is for those of them without images, and for rows in vectors of 16 bytes
 * (common/monitor_vectors.h), kernel `monitor_rows` for rows of nodes that stand side by side, with as many values a
 * thread. Kernel `monitor_held` adds several samples that are held, kernel `monitor_levels` samples that are levels of the
 * state (common/monitor_levels.h), kernel `monitor_kept` samples that are states which a launch of many steps kept.
 * Defines: REAL; KIND (where values stand: common/monitor_args.h); of elements LAYOUT. */
#include "common/monitor_args.h"
#ifdef LAYOUT
#include LAYOUT
#endif

/* What a sample is of the fields at a place; at(i): the value of field i. */
template <class At> static __device__ __forceinline__ REAL quantity_of(const monitor_args &a, At at)
{
    REAL p = at(0);
    if (a.quantity < MONITOR_MINUS_MEAN)
        return a.quantity == MONITOR_MINUS ? -p : p;
    REAL q = at(1), r = at(2);
    return a.quantity == MONITOR_MINUS_MEAN ? -(p + q + r) / 3 : (REAL)sqrt(p * p + q * q + r * r);
}

/* Adds NUM samples at VALUES places; i: their numbers, -1: none. */
template <int NUM, int VALUES>
static __device__ __forceinline__ void add(const monitor_args &a, const long long *i, REAL (*p)[VALUES])
{
    if (a.statistic == MONITOR_HOLD) {
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            if (i[v] >= 0)
                ((REAL *)a.sums)[i[v]] = p[0][v];
        return;
    }
    if (a.statistic == MONITOR_MAXIMUM || a.statistic == MONITOR_MINIMUM) {
        REAL kept[VALUES];
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            kept[v] = i[v] < 0 || a.is_first ? p[0][v] : ((REAL *)a.sums)[i[v]];
#pragma unroll
        for (int v = 0; v < VALUES; v++) {
            bool grows = a.is_first;
#pragma unroll
            for (int n = 0; n < NUM; n++)
                if (a.statistic == MONITOR_MAXIMUM ? p[n][v] > kept[v] : p[n][v] < kept[v]) {
                    kept[v] = p[n][v];
                    grows = true;
                }
            if (grows && i[v] >= 0)
                ((REAL *)a.sums)[i[v]] = kept[v];
        }
        return;
    }
    const int num = a.statistic == MONITOR_SQUARES ? 1 : 2 * a.num_frequency;
    double *sums = (double *)a.sums;
    for (int k = 0; k < num; k++, sums += a.num) {
        double sum[VALUES];
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            sum[v] = i[v] < 0 || a.is_first ? 0 : sums[i[v]];
#pragma unroll
        for (int v = 0; v < VALUES; v++) {
#pragma unroll
            for (int n = 0; n < NUM; n++)
                sum[v] =
                    sum[v] + (a.statistic == MONITOR_SQUARES ? (double)p[n][v] : a.wave[k]) * (double)p[n][v];
            if (i[v] >= 0)
                sums[i[v]] = sum[v];
        }
    }
}

#if KIND != MONITOR_OF_TABLES
#include "common/monitor_vectors.h"
#endif

#if KIND == MONITOR_OF_GRID
#include "common/monitor_levels.h"

/* The place of value j along an axis. */
static __device__ __forceinline__ int place_of(const monitor_args &a, int axis, int num, int j)
{
    return j == num - 1 ? a.last[axis] : a.first[axis] + j;
}

/* The rows of a thread; beyond the last value of one it takes that again, and adds to nothing. */
template <int NUM> static __device__ __forceinline__ void take(const monitor_args &a, int x, int y)
{
    const int lanes = blockDim.x, first = blockIdx.x * lanes * MONITOR_VALUES + threadIdx.x;
    const int at_x = place_of(a, 0, a.num_x, x), at_y = place_of(a, 1, a.num_y, y);
    const bool minus = (at_x < 0) ^ (at_y < 0);
    const long long row = (at_x < 0 ? ~at_x : at_x) * a.stride[0] + (at_y < 0 ? ~at_y : at_y) * a.stride[1];
    long long number[MONITOR_VALUES];
    REAL p[NUM][MONITOR_VALUES]; /* of two the earlier one first */
#pragma unroll
    for (int v = 0; v < MONITOR_VALUES; v++) {
        const int z = first + v * lanes, at_z = place_of(a, 2, a.num_z, z < a.num_z ? z : a.num_z - 1);
        const long long place = row + (at_z < 0 ? ~at_z : at_z);
        const REAL sign = minus ^ (at_z < 0) ? -1 : 1;
        number[v] = z < a.num_z ? ((long long)x * a.num_y + y) * a.pitch + a.pad + z : -1;
        if (NUM == 2)
            p[0][v] = sign * ((const REAL *)a.earlier)[place];
        p[NUM - 1][v] = quantity_of(a, [&](int i) { return sign * ((const REAL *)a.q[i])[place]; });
    }
    add<NUM>(a, number, p);
}
extern "C" __global__ void __launch_bounds__(256) monitor_grid(const __grid_constant__ monitor_args a)
{
    for (int x = blockIdx.z; x < a.num_x; x += gridDim.z)
        for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < a.num_y; y += gridDim.y * blockDim.y)
            if (a.earlier)
                take<2>(a, x, y);
            else
                take<1>(a, x, y);
}
#elif KIND == MONITOR_OF_ROWS
/* Beyond the last value a thread takes that again, and adds to nothing. */
extern "C" __global__ void __launch_bounds__(256) monitor_rows(const __grid_constant__ monitor_args a)
{
    const long long first = (long long)blockIdx.x * blockDim.x * MONITOR_VALUES + threadIdx.x;
    const bool extreme = a.statistic == MONITOR_MAXIMUM || a.statistic == MONITOR_MINIMUM;
    long long number[MONITOR_VALUES];
    REAL p[1][MONITOR_VALUES], kept[MONITOR_VALUES]; /* asked for before values are there */
#pragma unroll
    for (int v = 0; v < MONITOR_VALUES && extreme && !a.is_first; v++) {
        const long long i = first + v * (int)blockDim.x;
        kept[v] = ((const REAL *)a.sums)[i < a.num ? i : a.num - 1];
    }
#pragma unroll
    for (int v = 0; v < MONITOR_VALUES; v++) {
        const long long i = first + v * (int)blockDim.x, at = i < a.num ? i : a.num - 1;
        const long long place = a.place[at / MONITOR_ROW] + at % MONITOR_ROW;
        number[v] = i < a.num ? i : -1;
        p[0][v] = quantity_of(a, [&](int k) { return ((const REAL *)a.q[k])[place * a.stride[1]]; });
    }
    if (!extreme || a.is_first) {
        add<1>(a, number, p);
        return;
    }
#pragma unroll
    for (int v = 0; v < MONITOR_VALUES; v++)
        if (number[v] >= 0 && (a.statistic == MONITOR_MAXIMUM ? p[0][v] > kept[v] : p[0][v] < kept[v]))
            ((REAL *)a.sums)[number[v]] = p[0][v];
}
#else
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
    return ((const REAL *)a.q[i])[x * a.stride[0] + y * a.stride[1] + z];
#endif
}

extern "C" __global__ void monitor(const __grid_constant__ monitor_args a)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    const long long row = quotient(a, i, a.num_z), x = quotient(a, row, a.num_y);
    const long long *y = a.place + a.num_x, *z = y + a.num_y;
    const long long at[3] = {a.place[x], y[row - x * a.num_y], z[i - row * a.num_z]};
    REAL p[1][1] = {{quantity_of(a, [&](int k) { return value_at(a, k, at[0], at[1], at[2]); })}};
    add<1>(a, &i, p);
}

/* Adds NUM samples of a value, of which there are `num`, in their order. */
template <int NUM>
static __device__ __forceinline__ void add_kept(const monitor_args &a, long long i, const REAL *p, int num,
                                                const double *wave)
{
    const bool largest = a.statistic == MONITOR_MAXIMUM, squares = a.statistic == MONITOR_SQUARES;
    const int wide = squares ? 1 : 2 * a.num_frequency;
    if (largest || a.statistic == MONITOR_MINIMUM) {
        REAL kept = ((const REAL *)a.sums)[i];
#pragma unroll
        for (int n = 0; n < NUM; n++)
            if (n < num && (largest ? p[n] > kept : p[n] < kept))
                kept = p[n];
        ((REAL *)a.sums)[i] = kept;
        return;
    }
    for (int k = 0; k < wide; k++) {
        double *at = (double *)a.sums + k * a.num + i, sum = *at;
#pragma unroll
        for (int n = 0; n < NUM; n++)
            if (n < num)
                sum = sum + (squares ? (double)p[n] : wave[n * wide + k]) * (double)p[n];
        *at = sum;
    }
}

/* Of states of elements, in which `place` has the rows' elements. */
extern "C" __global__ void __launch_bounds__(256) monitor_kept(const __grid_constant__ monitor_args a)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    const long long row = quotient(a, i, a.num_z), elem = a.place[row], node = i - row * a.num_z;
    for (int from = 0; from < a.num_held; from += MONITOR_BATCH) {
        const int left = a.num_held - from, num = left < MONITOR_BATCH ? left : MONITOR_BATCH;
        REAL p[MONITOR_BATCH];
        auto value = [&](int n, int k) {
            return (
                (const REAL *)a.q[0])[(from + n) * a.stride[0] + state_index(a.total, a.num_field, a.num_z,
                                                                             elem, (int)node, a.field + k)];
        };
        /* without branches, so that all are in flight at once; beyond the last one that again */
#pragma unroll
        for (int n = 0; n < MONITOR_BATCH; n++)
            p[n] = value(n < num ? n : num - 1, 0);
        if (a.quantity != 0)
#pragma unroll
            for (int n = 0; n < MONITOR_BATCH; n++)
                p[n] = quantity_of(a, [&](int k) { return k ? value(n < num ? n : num - 1, k) : p[n]; });
        add_kept<MONITOR_BATCH>(a, i, p, num, a.wave + from * 2 * a.num_frequency);
    }
}
#endif

#if KIND != MONITOR_OF_TABLES
/* Adds the samples that are held, in their order, to accumulators of squares or of a Fourier transform. A thread has values
 * side by side; `vectors`: they can be moved together. */
template <class T> struct __align__(16) four {
    T v[MONITOR_HELD_VALUES];
};
template <bool VECTORS, class T>
static __device__ __forceinline__ four<T> fetch(const T *from, long long left)
{
    four<T> found = {};
    if (VECTORS)
        return *(const four<T> *)from;
#pragma unroll
    for (int v = 0; v < MONITOR_HELD_VALUES; v++)
        if (v < left)
            found.v[v] = from[v];
    return found;
}
template <bool VECTORS>
static __device__ __forceinline__ void put(double *to, const four<double> &sum, long long left)
{
    if (VECTORS) {
        *(four<double> *)to = sum;
        return;
    }
#pragma unroll
    for (int v = 0; v < MONITOR_HELD_VALUES; v++)
        if (v < left)
            to[v] = sum.v[v];
}

template <bool VECTORS> static __device__ __forceinline__ void add_held(const monitor_args &a)
{
    const long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * MONITOR_HELD_VALUES,
                    left = a.num - i;
    const bool squares = a.statistic == MONITOR_SQUARES;
    const int wide = squares ? 1 : 2 * a.num_frequency;
    four<REAL> p[MONITOR_BATCH];
    if (left <= 0)
        return;
#pragma unroll
    for (int n = 0; n < MONITOR_BATCH; n++)
        if (n < a.num_held)
            p[n] = fetch<VECTORS>((const REAL *)a.earlier + n * a.num + i, left);
    double *sums = (double *)a.sums + i;
    for (int k = 0; k < wide; k++, sums += a.num) {
        four<double> sum = fetch<VECTORS>((const double *)sums, left);
#pragma unroll
        for (int n = 0; n < MONITOR_BATCH; n++)
#pragma unroll
            for (int v = 0; v < MONITOR_HELD_VALUES && n < a.num_held; v++) {
                const double one = (double)p[n].v[v];
                sum.v[v] = sum.v[v] + (squares ? one : a.wave[n * wide + k]) * one;
            }
        put<VECTORS>(sums, sum, left);
    }
}

extern "C" __global__ void __launch_bounds__(256) monitor_held(const __grid_constant__ monitor_args a)
{
    if (a.num % MONITOR_HELD_VALUES == 0)
        add_held<true>(a);
    else
        add_held<false>(a);
}
#endif
