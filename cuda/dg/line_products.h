/* line_products.h: the derivative along a line of N nodes, by a matrix that the compiler knows: its entries are
 * operands of the instructions. */
#ifndef UNDA_DG_LINE_PRODUCTS_H
#define UNDA_DG_LINE_PRODUCTS_H

#include "dg/line.h"

static __device__ __forceinline__ void differentiate_plainly(const REAL *x, REAL *d)
{
    constexpr double matrix[N * N] = {LINE_DERIVATIVE};
#pragma unroll
    for (int k = 0; k < N; k++) {
        d[k] = (REAL)matrix[k * N] * x[0];
#pragma unroll
        for (int m = 1; m < N; m++)
            d[k] += (REAL)matrix[k * N + m] * x[m];
    }
}

/* The nodes lie symmetrically about the middle, so D[N-1-k][N-1-m] = -D[k][m]: the sums x[m] + x[N-1-m] give the
 * odd part of the derivative and the differences the even one, with half the products. */
static __device__ __forceinline__ void differentiate_by_parity(const REAL *x, REAL *d)
{
    constexpr double matrix[N * N] = {LINE_DERIVATIVE};
    constexpr int HALF = N / 2;
    REAL sum[HALF], difference[HALF], even[N - HALF];
#pragma unroll
    for (int m = 0; m < HALF; m++) {
        sum[m] = x[m] + x[N - 1 - m];
        difference[m] = x[m] - x[N - 1 - m];
    }
#pragma unroll
    for (int k = 0; k < N - HALF; k++) {
        even[k] = 0;
#pragma unroll
        for (int m = 0; m < HALF; m++)
            even[k] += (REAL)((matrix[k * N + m] - matrix[k * N + N - 1 - m]) / 2) * difference[m];
        d[k] = even[k];
    }
#pragma unroll
    for (int k = 0; k < HALF; k++) {
        REAL odd = N % 2 ? (REAL)matrix[k * N + HALF] * x[HALF] : 0;
#pragma unroll
        for (int m = 0; m < HALF; m++)
            odd += (REAL)((matrix[k * N + m] + matrix[k * N + N - 1 - m]) / 2) * sum[m];
        d[k] = even[k] + odd;
        d[N - 1 - k] = even[k] - odd;
    }
}

static __device__ __forceinline__ void differentiate(const REAL *x, REAL *d)
{
    if constexpr (N < 6)
        differentiate_plainly(x, d);
    else
        differentiate_by_parity(x, d);
}

#endif
