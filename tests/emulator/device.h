/* device.h: the part of CUDA C++ that kernels use, as ordinary C++ for the stand-in driver.
 * One thread at a time runs, so atomics are plain. Shared memory is a section of the library, filled by the driver.
 * Next: runtime.h, nvrtc.cpp (which rewrites `extern __shared__` and appends EMU_KERNEL lines). */
#include "runtime.h"

#define UNDA_EMULATOR 1
#define __global__
#define __device__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __builtin_assume(x) ((x) ? (void)0 : __builtin_trap())
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __noinline__
#define __shared__ static __attribute__((section("emu_block")))

extern "C" {
emu_runtime *emu;
extern char __start_emu_block __attribute__((weak, visibility("hidden")));
extern char __stop_emu_block __attribute__((weak, visibility("hidden")));
}
#define threadIdx (emu->thread_idx)
#define blockIdx (emu->block_idx)
#define blockDim (emu->block_dim)
#define gridDim (emu->grid_dim)

/* ---- types ---- */
#define EMU_VECTOR(TYPE, NAME)                                                                     \
    struct __align__(2 * sizeof(TYPE)) NAME##2 { TYPE x, y; };                                     \
    struct __align__(16) NAME##4 { TYPE x, y, z, w; };                                             \
    inline NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; }                               \
    inline NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }
EMU_VECTOR(float, float) EMU_VECTOR(double, double) EMU_VECTOR(int, int)

/* ---- arithmetic ---- */
#define EMU_MATH(NAME)                                                                             \
    template <class... A> inline double NAME(double x, A... more) { return __builtin_##NAME(x, more...); } \
    template <class... A> inline float NAME(float x, A... more) { return __builtin_##NAME##f(x, more...); } \
    template <class... A> inline float NAME##f(float x, A... more) { return __builtin_##NAME##f(x, more...); }
EMU_MATH(sqrt) EMU_MATH(fabs) EMU_MATH(floor) EMU_MATH(exp) EMU_MATH(fmin) EMU_MATH(fmax) EMU_MATH(fma)
template <class A> inline A rsqrt(A x) { return 1 / sqrt(x); }
#define EMU_ROUNDED(SUFFIX, TYPE, FUSED, FMA)                                                      \
    inline TYPE __##SUFFIX##add_rn(TYPE x, TYPE y) { return x + y; }                               \
    inline TYPE __##SUFFIX##mul_rn(TYPE x, TYPE y) { return x * y; }                               \
    inline TYPE FUSED(TYPE x, TYPE y, TYPE z) { return FMA(x, y, z); }
EMU_ROUNDED(f, float, __fmaf_rn, __builtin_fmaf) EMU_ROUNDED(d, double, __fma_rn, __builtin_fma)
template <class T, class F> inline T emu_bits(F x) { T bits; static_assert(sizeof(T) == sizeof(F)); __builtin_memcpy(&bits, &x, sizeof bits); return bits; }
inline unsigned __float_as_uint(float x) { return emu_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return emu_bits<float>(x); }
inline long long __double_as_longlong(double x) { return emu_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return emu_bits<double>(x); }
inline float __fdividef(float x, float y) { return x / y; }
template <class T> inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> inline bool isnan(T x) { return __builtin_isnan(x); }
template <class A, class B> inline auto min(A a, B b) -> decltype(a + b) { return a < b ? a : b; }
template <class A, class B> inline auto max(A a, B b) -> decltype(a + b) { return a > b ? a : b; }

/* ---- memory ---- */
#define EMU_LOAD(NAME) template <class T> inline T NAME(const T *p) { return *p; }
#define EMU_STORE(NAME) template <class T> inline void NAME(T *p, T v) { *p = v; }
#define EMU_ATOMIC(NAME, NEW) template <class T> inline T NAME(T *p, T v) { T old = *p; *p = NEW; return old; }
EMU_LOAD(__ldg) EMU_LOAD(__ldcs) EMU_LOAD(__ldcg) EMU_STORE(__stcs) EMU_STORE(__stcg)
EMU_ATOMIC(atomicAdd, old + v) EMU_ATOMIC(atomicMin, v < old ? v : old) EMU_ATOMIC(atomicMax, v > old ? v : old)
inline float4 atomicAdd(float4 *p, float4 v) { float4 old = *p; *p = {old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w}; return old; }

/* ---- what kernels write in PTX (common/prefetch.h, async.h, early.h): a copy is done at once ---- */
inline void prefetch_l2(const void *) {}
inline int4 load_now(const int4 *p) { return *p; }
template <int NUM> inline void load_now(float *to, const float *from) { for (int i = 0; i < NUM; i++) to[i] = from[i]; }
template <int NUM = 1, class T> inline void copy_async(T *to, const T *from) { for (int i = 0; i < NUM; i++) to[i] = from[i]; }
inline void copy_commit() {}
template <int LEFT> inline void copy_wait() {}
inline void look_again() { emu->yield(); }
inline void wait_for_previous() { emu->num_waited++; }
inline long long nanoseconds() { return 0; }
inline void give_up() {}
EMU_LOAD(load_acquire_far) EMU_STORE(store_release_far)
EMU_LOAD(load_acquire) EMU_LOAD(load_relaxed) EMU_STORE(store_release) EMU_STORE(store_relaxed) EMU_STORE(store_words)
template <class T> inline void add_release(T *p, T v) { *p += v; }
template <class T> inline void store_words(T *to, T v, T w) { to[0] = v, to[1] = w; }
template <int NUM, class T> inline void load_words(T (&v)[NUM], const T *from) { for (int i = 0; i < NUM; i++) v[i] = from[i]; }

/* ---- waiting ---- */
inline void __syncthreads(int line = __builtin_LINE()) { emu->wait(0, 0, line); }
inline int __syncthreads_count(int v, int line = __builtin_LINE()) { return (int)emu->wait(0, v != 0, line)[0]; }
inline int __syncthreads_or(int v, int line = __builtin_LINE()) { return emu->wait(0, v != 0, line)[0] > 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) { emu->wait(mask, 0, line); }

inline int emu_lane() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32); }
/* Lanes outside mask hold a NaN pattern. */
template <class T> inline T emu_shuffle(unsigned mask, T value, int lane, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = emu->wait(mask, bits, line)[lane];
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
#define EMU_SHUFFLE(NAME, SOURCE, INSIDE)                                                          \
    template <class T>                                                                             \
    inline T NAME(unsigned mask, T v, int n, int width = 32, int line = __builtin_LINE()) {        \
        int lane = emu_lane(), base = lane & -width, from = SOURCE;                                \
        return emu_shuffle(mask, v, INSIDE ? from : lane, line);                                   \
    }
EMU_SHUFFLE(__shfl_sync, base + (n & (width - 1)), true)
EMU_SHUFFLE(__shfl_up_sync, lane - n, from >= base)
EMU_SHUFFLE(__shfl_down_sync, lane + n, from < base + width)
EMU_SHUFFLE(__shfl_xor_sync, lane ^ n, from < base + width)

inline unsigned __ballot_sync(unsigned mask, int v) {
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++)
        bits |= (unsigned)(__shfl_sync(mask, v != 0, lane) != 0) << lane;
    return bits;
}

/* ---- tensor cores (common/mma.h): fragments as there; a product's sum is exact, then rounded towards zero ---- */
inline int anew(int i) { return i; }
inline unsigned emu_to_half(float x) {
    unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000, e = bits >> 23 & 255;
    if (e == 255) return sign | 0x7c00 | (bits << 9 ? 0x200 : 0);
    /* In units of the last place, which are no smaller than 2^-24, to the nearest one, ties to even. */
    float size = __builtin_fabsf(x), unit = __builtin_ldexpf(1, max((int)e - 127, -14) - 10);
    if (size >= 65520) return sign | 0x7c00;
    unsigned places = (unsigned)__builtin_rintf(size / unit);
    unsigned below = max((int)e - 127, -14) + 14; /* 0: subnormal, or the first normal numbers */
    return sign | ((below << 10) + places);
}
inline float emu_from_half(unsigned h) {
    unsigned e = h >> 10 & 31, m = h & 1023;
    float size = e == 31 ? (m ? __builtin_nanf("") : __builtin_inff()) : e ? __builtin_ldexpf(1024 + m, e - 25) : __builtin_ldexpf(m, -24);
    return h & 0x8000 ? -size : size;
}
inline unsigned half_pair(float low, float high) { return emu_to_half(low) | emu_to_half(high) << 16; }
inline void half_values(unsigned pair, float &low, float &high) { low = emu_from_half(pair & 0xffff), high = emu_from_half(pair >> 16); }
/* A lane's copy of what it gives to its warp; two in turn, so that one is left alone until all have read it. */
template <class T> inline void emu_gather(const T &mine, const T *(&all)[32], int line) {
    static T kept[1024][2];
    static unsigned char turn[1024];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    T *own = &kept[t][turn[t] ^= 1];
    *own = mine;
    const unsigned long long *lanes = emu->wait(0xffffffffu, (unsigned long long)own, line);
    for (int i = 0; i < 32; i++) all[i] = (const T *)lanes[i];
}
template <int NUM> inline void load_columns(unsigned (&a)[NUM], const void *column, int line = __builtin_LINE()) {
    const unsigned short *const *all[32];
    emu_gather((const unsigned short *)column, all, line);
    int lane = emu_lane();
    for (int i = 0; i < NUM; i++) {
        int from = 8 * i + 2 * (lane % 4);
        if ((unsigned long long)*all[from] % 16) __builtin_trap();
        a[i] = (*all[from])[lane / 4] | (unsigned)(*all[from + 1])[lane / 4] << 16;
    }
}
template <int NUM> struct emu_fragment { float a[2 * NUM], b[NUM]; };
template <int NUM> inline void multiply_add(float (&c)[4], const unsigned (&a)[NUM], const unsigned (&b)[NUM / 2], int line = __builtin_LINE()) {
    emu_fragment<NUM> mine;
    const emu_fragment<NUM> *all[32];
    for (int i = 0; i < NUM; i++) half_values(a[i], mine.a[2 * i], mine.a[2 * i + 1]);
    for (int i = 0; i < NUM / 2; i++) half_values(b[i], mine.b[2 * i], mine.b[2 * i + 1]);
    emu_gather(mine, all, line);
    int g = emu_lane() / 4, t = emu_lane() % 4;
    for (int i = 0; i < 4; i++) {
        double sum = c[i];
        for (int k = 0; k < 4 * NUM; k++)
            sum += (double)all[4 * g + k % 8 / 2]->a[2 * (k / 8 * 2 + i / 2) + k % 2] *
                   all[4 * (2 * t + i % 2) + k % 8 / 2]->b[k / 8 * 2 + k % 2];
        float near = (float)sum;
        c[i] = __builtin_fabs(near) > __builtin_fabs(sum) && __builtin_isfinite(near) ? __builtin_nextafterf(near, 0) : near;
    }
}
inline void multiply_add(double (&c)[2], double a, double b, int line = __builtin_LINE()) {
    struct { double a, b; } mine = {a, b};
    const decltype(mine) *all[32];
    emu_gather(mine, all, line);
    int g = emu_lane() / 4, t = emu_lane() % 4;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) c[i] = __builtin_fma(all[4 * g + k]->a, all[4 * (2 * t + i) + k]->b, c[i]);
}

/* ---- the entry that the driver calls: a kernel of unda takes one struct ---- */
template <auto f> struct emu_entry;
template <class A, void (*f)(A)> struct emu_entry<f> {
    static void call(const void *argument) { f(*(const A *)argument); }
    static constexpr emu_kernel kernel = {call, sizeof(A), &emu, &__start_emu_block, &__stop_emu_block, 49152};
};
#define EMU_KERNEL(NAME)                                                                           \
    extern "C" { emu_kernel emu_kernel_##NAME = emu_entry<&NAME>::kernel; }
