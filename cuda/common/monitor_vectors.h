/* monitor_vectors.h: kernel `monitor_vectors`, of boxes of grids without images, whose accumulators have the padding of the
 * grid's rows, and of rows of nodes side by side: a thread takes whole vectors of 16 bytes, and asks for all that it reads
 * before it uses any of it. Included by monitor.cu. */
#ifndef UNDA_MONITOR_VECTORS_H
#define UNDA_MONITOR_VECTORS_H

constexpr int WIDTH = 16 / sizeof(REAL);
template <class T, int NUM> struct __align__(NUM * sizeof(T) < 16 ? NUM * sizeof(T) : 16) run {
    T v[NUM];
};
typedef run<REAL, WIDTH> vec;

static __device__ __forceinline__ vec load(const void *from, long long at)
{
    return *(const vec *)((const REAL *)from + at);
}

/* A vector: where it stands in the field and among accumulators. */
struct spot {
    long long place, at;
    bool is_there;
};
typedef spot spots[MONITOR_VECTOR_ROWS];
typedef vec vecs[MONITOR_VECTOR_ROWS];

/* act(r) for each spot r that is there. */
template <class Act> static __device__ __forceinline__ void each(const spots &s, const Act &act)
{
#pragma unroll
    for (int r = 0; r < MONITOR_VECTOR_ROWS; r++)
        if (s[r].is_there)
            act(r);
}

/* Those of a field. */
static __device__ __forceinline__ void fetch(const void *field, const spots &s, vecs &to)
{
    each(s, [&](int r) { to[r] = load(field, s[r].place); });
}

/* A sample's vector. */
static __device__ __forceinline__ vec value(const monitor_args &a, vec p)
{
#pragma unroll
    for (int l = 0; l < WIDTH; l++)
        p.v[l] = a.quantity == MONITOR_MINUS ? -p.v[l] : p.v[l];
    return p;
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

/* Of two samples the earlier one comes first. */
template <bool MINIMUM, bool TWO>
static __device__ __forceinline__ void take_extreme(const monitor_args &a, const spots &s)
{
    vecs p, earlier, kept;
    fetch(a.q[0], s, p);
    if (TWO)
        fetch(a.earlier, s, earlier);
    each(s, [&](int r) { kept[r] = load(a.sums, s[r].at); });
    each(s, [&](int r) {
        bool grows = TWO && keep<MINIMUM>(kept[r], value(a, earlier[r]));
        grows |= keep<MINIMUM>(kept[r], value(a, p[r]));
        if (grows)
            *(vec *)((REAL *)a.sums + s[r].at) = kept[r];
    });
}

static __device__ __forceinline__ void take_held(const monitor_args &a, const spots &s)
{
    vecs p;
    fetch(a.q[0], s, p);
    each(s, [&](int r) { *(vec *)((REAL *)a.sums + s[r].at) = value(a, p[r]); });
}

static __device__ __forceinline__ void add_squares(run<double, WIDTH> &sum, const vec &p)
{
#pragma unroll
    for (int l = 0; l < WIDTH; l++)
        sum.v[l] = sum.v[l] + (double)p.v[l] * (double)p.v[l];
}

template <bool TWO> static __device__ __forceinline__ void take_squares(const monitor_args &a, const spots &s)
{
    vecs p, earlier;
    run<double, WIDTH> sum[MONITOR_VECTOR_ROWS];
    fetch(a.q[0], s, p);
    if (TWO)
        fetch(a.earlier, s, earlier);
    each(s, [&](int r) { sum[r] = *(const run<double, WIDTH> *)((const double *)a.sums + s[r].at); });
    each(s, [&](int r) {
        if (TWO)
            add_squares(sum[r], earlier[r]);
        add_squares(sum[r], p[r]);
        *(run<double, WIDTH> *)((double *)a.sums + s[r].at) = sum[r];
    });
}

static __device__ __forceinline__ void take_spots(const monitor_args &a, const spots &s)
{
    const bool two = a.earlier != nullptr;
    if (a.statistic == MONITOR_HOLD)
        take_held(a, s);
    else if (a.statistic == MONITOR_SQUARES)
        two ? take_squares<true>(a, s) : take_squares<false>(a, s);
    else if (a.statistic == MONITOR_MAXIMUM)
        two ? take_extreme<false, true>(a, s) : take_extreme<false, false>(a, s);
    else
        two ? take_extreme<true, true>(a, s) : take_extreme<true, false>(a, s);
}

extern "C" __global__ void __launch_bounds__(256) monitor_vectors(const __grid_constant__ monitor_args a)
{
    spots s;
#if KIND == MONITOR_OF_GRID
    const int at_z = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH, rows = blockDim.y * MONITOR_VECTOR_ROWS;
    for (int x = blockIdx.z; x < a.num_x; x += gridDim.z)
        for (int y0 = blockIdx.y * rows + threadIdx.y; y0 < a.num_y; y0 += gridDim.y * rows) {
#pragma unroll
            for (int r = 0; r < MONITOR_VECTOR_ROWS; r++) {
                const int y = y0 + r * (int)blockDim.y;
                s[r] = {(long long)(a.first[0] + x) * a.stride[0] +
                            (long long)(a.first[1] + y) * a.stride[1] + a.first[2] - a.pad + at_z,
                        ((long long)x * a.num_y + y) * a.pitch + at_z, y < a.num_y && at_z < a.pitch};
            }
            take_spots(a, s);
        }
#else
#pragma unroll
    for (int r = 0; r < MONITOR_VECTOR_ROWS; r++) {
        const long long i =
            (((long long)blockIdx.x * MONITOR_VECTOR_ROWS + r) * blockDim.x + threadIdx.x) * WIDTH;
        s[r] = {i < a.num ? a.place[i / MONITOR_ROW] + i % MONITOR_ROW : 0, i, i < a.num};
    }
    take_spots(a, s);
#endif
}

#endif
