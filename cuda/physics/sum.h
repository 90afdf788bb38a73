/* sum.h: sums of products. Either product of a b + c d may be the one that is rounded before the sum: the compiler of
 * CUDA takes one or the other, as the code around it happens to be. Kernels that promise each other's bits say which.
 * Other compilers, whose bits are those of one code alone, choose. */
#ifndef UNDA_SUM_H
#define UNDA_SUM_H

#ifdef __CUDACC__
#define SUM2(a, b, c, d)       fma(a, b, (c) * (d))
#define SUM3(a, b, c, d, e, f) fma(e, f, SUM2(a, b, c, d))
#define MINUS2(a, b, c, d)     fma(a, b, -((c) * (d)))
#define PLUS(sum, a, b)        fma(a, b, sum)
#define MINUS(sum, a, b)       fma(-(a), b, sum)
#else
/* a b + c d; a b + c d + e f; a b - c d; sum + a b; sum - a b. */
#define SUM2(a, b, c, d)       ((a) * (b) + (c) * (d))
#define SUM3(a, b, c, d, e, f) ((a) * (b) + (c) * (d) + (e) * (f))
#define MINUS2(a, b, c, d)     ((a) * (b) - (c) * (d))
#define PLUS(sum, a, b)        ((sum) + (a) * (b))
#define MINUS(sum, a, b)       ((sum) - (a) * (b))
#endif

#endif
