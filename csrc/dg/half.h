/* half.h: numbers of a matrix as pairs of FP16 numbers, hi + lo, as cuda/dg/split.h has them. */
#ifndef UNDA_DG_HALF_H
#define UNDA_DG_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* FP16 of x, |x| < 2^15, to the nearest; *value: what it is. */
static inline uint32_t half_of(double x, double *value)
{
    enum { BIAS = 15, PLACES = 10 };
    int exponent = 1 - BIAS; /* of subnormal numbers and zero */
    if (fabs(x) >= ldexp(1, exponent))
        exponent = ilogb(x);
    double places = nearbyint(ldexp(fabs(x), PLACES - exponent));
    *value = copysign(ldexp(places, exponent - PLACES), x);
    /* the leading one of a normal number adds one to the exponent */
    return ((uint32_t)(exponent + BIAS - 1) << PLACES) + (uint32_t)places + (signbit(x) ? 0x8000u : 0);
}

/* x 2^scale as hi, in the low half of the word, and lo. */
static inline uint32_t half_split(double x, int scale)
{
    double hi, lo, scaled = ldexp(x, scale);
    uint32_t first = half_of(scaled, &hi);
    return first | half_of(scaled - hi, &lo) << 16;
}

/* The exponent of two that takes a largest size to 2^14 and more. */
static inline int half_scale(double most)
{
    return 14 - ilogb(most);
}

/* The inverse of such a scale, as the bits of a float. */
static inline int32_t half_inverse(int scale)
{
    float value = ldexpf(1, -scale);
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
