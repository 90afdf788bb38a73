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
    if constexpr (N % STEP == 0) {
#pragma unroll
        for (int i = 0; i < N; i += STEP) {
            type part = __ldg((const type *)(from + i));
#pragma unroll
            for (int k = 0; k < STEP; k++)
                to[i + k] = ((const REAL *)&part)[k];
        }
    } else if constexpr (N % 2 == 0 && sizeof(REAL) == 4) {
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            float2 part = __ldg((const float2 *)(from + i));
            to[i] = part.x;
            to[i + 1] = part.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = __ldg(from + i);
    }
}

/* To global memory. A plain assignment of a vector may be compiled to one store per word; __stcs keeps it
 * whole and leaves room in L2 for what is read again soon: 1 % (benchmarks/NOTES.md). */
template <int N> static __device__ __forceinline__ void store_vector(REAL *to, const REAL *from)
{
    typedef typename wide<REAL>::quad type;
    constexpr int STEP = 16 / sizeof(REAL);
    if constexpr (N % STEP == 0) {
#pragma unroll
        for (int i = 0; i < N; i += STEP) {
            type part;
#pragma unroll
            for (int k = 0; k < STEP; k++)
                ((REAL *)&part)[k] = from[i + k];
            __stcs((type *)(to + i), part);
        }
    } else if constexpr (N % 2 == 0 && sizeof(REAL) == 4) {
#pragma unroll
        for (int i = 0; i < N; i += 2)
            __stcs((float2 *)(to + i), make_float2((float)from[i], (float)from[i + 1]));
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            __stcs(to + i, from[i]);
    }
}

/* The NUM values of item `item + more` of `total`, which stand in groups of four (GROUP_INDEX in index.h). more: a
 * constant, which becomes part of the instruction; items that differ in it share their address. */
template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void load_groups(REAL *to, const REAL *array, long long total,
                                                   long long item, int more = 0)
{
    constexpr int WIDTH = NUM - FIRST < 4 ? NUM - FIRST : 4;
    load_constant<WIDTH>(to + FIRST, array + FIRST * total + item * WIDTH + more * WIDTH);
    if constexpr (FIRST + WIDTH < NUM)
        load_groups<NUM, FIRST + WIDTH>(to, array, total, item, more);
}

/* The same from memory that this kernel also writes. */
template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void load_own_groups(REAL *to, const REAL *array, long long total,
                                                       long long item, int more = 0)
{
    constexpr int WIDTH = NUM - FIRST < 4 ? NUM - FIRST : 4;
    load_vector<WIDTH>(to + FIRST, array + FIRST * total + item * WIDTH + more * WIDTH);
    if constexpr (FIRST + WIDTH < NUM)
        load_own_groups<NUM, FIRST + WIDTH>(to, array, total, item, more);
}

template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void store_groups(REAL *array, long long total, long long item,
                                                    const REAL *from, int more = 0)
{
    constexpr int WIDTH = NUM - FIRST < 4 ? NUM - FIRST : 4;
    store_vector<WIDTH>(array + FIRST * total + item * WIDTH + more * WIDTH, from + FIRST);
    if constexpr (FIRST + WIDTH < NUM)
        store_groups<NUM, FIRST + WIDTH>(array, total, item, from, more);
}

#endif
