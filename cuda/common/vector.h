/* vector.h: short runs of reals moved 16 bytes at a time where their size allows. */
#ifndef UNDA_VECTOR_H
#define UNDA_VECTOR_H

struct __align__(16) quad {
    REAL v[16 / sizeof(REAL)];
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
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = from[i];
    }
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
