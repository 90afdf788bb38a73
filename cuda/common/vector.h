/* vector.h: short runs of reals moved 16 or 8 bytes at a time where their number allows. */
#ifndef UNDA_VECTOR_H
#define UNDA_VECTOR_H

template <class T> struct wide;
template <> struct wide<float> {
    typedef float4 quad;
};
template <> struct wide<double> {
    typedef double2 quad;
};
struct __align__(16) quad {
    REAL v[16 / sizeof(REAL)];
};
struct __align__(8) pair {
    REAL v[8 / sizeof(REAL)];
};

template <int N> static __device__ __forceinline__ void load_vector(REAL *to, const REAL *from)
{
    constexpr int STEP = 16 / sizeof(REAL);
    if constexpr (N % STEP == 0) {
#pragma unroll
        for (int i = 0; i < N; i += STEP) {
            quad part = *(const quad *)(from + i);
#pragma unroll
            for (int k = 0; k < STEP; k++)
                to[i + k] = part.v[k];
        }
    } else if constexpr (N * sizeof(REAL) % 8 == 0) {
        constexpr int HALF = 8 / sizeof(REAL);
#pragma unroll
        for (int i = 0; i < N; i += HALF) {
            pair part = *(const pair *)(from + i);
#pragma unroll
            for (int k = 0; k < HALF; k++)
                to[i + k] = part.v[k];
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = from[i];
    }
}

/* The same from memory that no thread writes while the kernel runs: such loads may move ahead of stores. */
template <int N> static __device__ __forceinline__ void load_constant(REAL *to, const REAL *from)
{
    typedef typename wide<REAL>::quad type;
    constexpr int STEP = 16 / sizeof(REAL);
    static_assert(N % STEP == 0, "load_constant moves whole quads");
#pragma unroll
    for (int i = 0; i < N; i += STEP) {
        type part = __ldg((const type *)(from + i));
#pragma unroll
        for (int k = 0; k < STEP; k++)
            to[i + k] = ((const REAL *)&part)[k];
    }
}

/* The same for a run of any length. */
template <int N> static __device__ __forceinline__ void load_matrix(REAL *to, const REAL *from)
{
    constexpr int STEP = 16 / sizeof(REAL);
    if constexpr (N % STEP == 0) {
        load_constant<N>(to, from);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = __ldg(from + i);
    }
}

static __device__ __forceinline__ void prefetch_l2(const void *address)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
    (void)address;
#endif
}

template <int N> static __device__ __forceinline__ void store_vector(REAL *to, const REAL *from)
{
    constexpr int STEP = 16 / sizeof(REAL);
    if constexpr (N % STEP == 0) {
#pragma unroll
        for (int i = 0; i < N; i += STEP) {
            quad part;
#pragma unroll
            for (int k = 0; k < STEP; k++)
                part.v[k] = from[i + k];
            *(quad *)(to + i) = part;
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = from[i];
    }
}

#endif
