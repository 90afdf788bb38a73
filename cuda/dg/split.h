/* split.h: numbers of float32 as pairs of FP16 numbers, for products on tensor cores.
 *
 * A value x is scaled by a power of two and becomes hi + lo, hi = FP16(x), lo = FP16(x - hi): 22 bits of it, as many as
 * the largest value has, down to 2^-18 of that. What shares a scale has its largest size in common, and a scale takes
 * sums of 2^SUMMED_BITS such values to 2^15 at most. Define SUMMED_BITS before this file. */
#ifndef UNDA_DG_SPLIT_H
#define UNDA_DG_SPLIT_H

#include "common/mma.h" /* with DEVICE of case.h */

/* 2^-112, which takes the place of what is smaller, so that scale and inverse are normal. */
enum { LEAST_SIZE = 15 << 23, LARGEST_BIT = 14 - SUMMED_BITS };

/* From a largest size, as a float's bits: its exponent alone. */
static __device__ __forceinline__ REAL scale(int most)
{
    return __uint_as_float(((254u + LARGEST_BIT) << 23) -
                           (most & 0x7f800000)); /* 2^(LARGEST_BIT - exponent) */
}
static __device__ __forceinline__ REAL unscale(int most)
{
    return __uint_as_float((most & 0x7f800000) - ((unsigned)LARGEST_BIT << 23));
}

/* Two values beside each other as hi and lo. */
struct split_values {
    unsigned hi, lo;
};
static __device__ __forceinline__ split_values split_two(REAL x, REAL y)
{
    REAL a, b;
    unsigned hi = half_pair(x, y);
    half_values(hi, a, b);
    return {hi, half_pair(x - a, y - b)};
}

#endif
