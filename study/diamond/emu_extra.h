#pragma once
#define __noinline__
#define __cluster_dims__(...)
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline unsigned __ballot_sync(unsigned, int p) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (unsigned)__shfl_sync(0xffffffffu, p != 0, i) << i;
    return r;
}
