/* monitor_vectors.h: kernel `monitor_vectors` of boxes of grids whose rows begin and end at multiples of 16 bytes, without
 * images: a thread takes whole vectors, and asks for all that it reads before it uses any of it. Included by monitor.cu. */
#ifndef UNDA_MONITOR_VECTORS_H
#define UNDA_MONITOR_VECTORS_H

constexpr int WIDTH = 16 / sizeof(REAL);
template <class T, int NUM> struct __align__(16) run {
    T v[NUM];
};
typedef run<REAL, WIDTH> vec;

static __device__ __forceinline__ vec load(const void *from, long long at)
{
    return *(const vec *)((const REAL *)from + at);
}

/* A vector of the box: where it stands in the field and among accumulators. */
struct spot {
    long long place, at;
    bool is_there;
};

static __device__ __forceinline__ spot spot_of(const monitor_args &a, int x, int y)
{
    const int z = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    return {(long long)(a.first[0] + x) * a.stride[0] + (long long)(a.first[1] + y) * a.stride[1] +
                a.first[2] + z,
            ((long long)x * a.num_y + y) * a.num_z + z, y < a.num_y && z < a.num_z};
}

template <bool MINIMUM> static __device__ __forceinline__ bool keep(vec &kept, const vec &p)
{
    bool grows = false;
#pragma unroll
    for (int l = 0; l < WIDTH; l++)
        if (MINIMUM ? p.v[l] < kept.v[l] : p.v[l] > kept.v[l]) {
            kept.v[l] = p.v[l];
            grows = true;
        }
    return grows;
}

/* Rows y, y + blockDim.y, .. of plane x; of two samples the earlier one first. */
template <bool MINIMUM, bool TWO>
static __device__ __forceinline__ void take_extreme(const monitor_args &a, int x, int y)
{
    constexpr int ROWS = MONITOR_VECTOR_ROWS;
    spot s[ROWS];
    vec p[ROWS], earlier[ROWS], kept[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        s[r] = spot_of(a, x, y + r * (int)blockDim.y);
        if (!s[r].is_there)
            continue;
        p[r] = load(a.q[0], s[r].place);
        if (TWO)
            earlier[r] = load(a.earlier, s[r].place);
        kept[r] = load(a.sums, s[r].at);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!s[r].is_there)
            continue;
        bool grows = TWO && keep<MINIMUM>(kept[r], earlier[r]);
        grows |= keep<MINIMUM>(kept[r], p[r]);
        if (grows)
            *(vec *)((REAL *)a.sums + s[r].at) = kept[r];
    }
}

static __device__ __forceinline__ void take_held(const monitor_args &a, int x, int y)
{
    constexpr int ROWS = MONITOR_VECTOR_ROWS;
    spot s[ROWS];
    vec p[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        s[r] = spot_of(a, x, y + r * (int)blockDim.y);
        if (s[r].is_there)
            p[r] = load(a.q[0], s[r].place);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (s[r].is_there)
            *(vec *)((REAL *)a.sums + s[r].at) = p[r];
}

template <bool TWO> static __device__ __forceinline__ void take_squares(const monitor_args &a, int x, int y)
{
    constexpr int ROWS = MONITOR_VECTOR_ROWS;
    spot s[ROWS];
    vec p[ROWS], earlier[ROWS];
    run<double, WIDTH> sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        s[r] = spot_of(a, x, y + r * (int)blockDim.y);
        if (!s[r].is_there)
            continue;
        p[r] = load(a.q[0], s[r].place);
        if (TWO)
            earlier[r] = load(a.earlier, s[r].place);
        sum[r] = *(const run<double, WIDTH> *)((const double *)a.sums + s[r].at);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!s[r].is_there)
            continue;
#pragma unroll
        for (int l = 0; l < WIDTH; l++) {
            if (TWO)
                sum[r].v[l] = sum[r].v[l] + (double)earlier[r].v[l] * (double)earlier[r].v[l];
            sum[r].v[l] = sum[r].v[l] + (double)p[r].v[l] * (double)p[r].v[l];
        }
        *(run<double, WIDTH> *)((double *)a.sums + s[r].at) = sum[r];
    }
}

extern "C" __global__ void __launch_bounds__(256) monitor_vectors(const __grid_constant__ monitor_args a)
{
    const bool two = a.earlier != nullptr;
    const int rows = blockDim.y * MONITOR_VECTOR_ROWS;
    for (int x = blockIdx.z; x < a.num_x; x += gridDim.z)
        for (int y = blockIdx.y * rows + threadIdx.y; y < a.num_y; y += gridDim.y * rows)
            if (a.statistic == MONITOR_HOLD)
                take_held(a, x, y);
            else if (a.statistic == MONITOR_SQUARES)
                two ? take_squares<true>(a, x, y) : take_squares<false>(a, x, y);
            else if (a.statistic == MONITOR_MAXIMUM)
                two ? take_extreme<false, true>(a, x, y) : take_extreme<false, false>(a, x, y);
            else
                two ? take_extreme<true, true>(a, x, y) : take_extreme<true, false>(a, x, y);
}

#endif
