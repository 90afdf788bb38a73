/* line_products.h: the derivative along a line of N nodes, or its transpose, by a matrix that the compiler knows: its
 * entries are operands of the instructions. The includer defines REAL, N and LINE_DERIVATIVE. */
#ifndef UNDA_LINE_PRODUCTS_H
#define UNDA_LINE_PRODUCTS_H

/* The nodes lie symmetrically about the middle, so D[N-1-k][N-1-m] = -D[k][m]: the sums x[m] + x[N-1-m] give the
 * odd part of the derivative and the differences the even one, with half the products. */
template <bool TRANSPOSED = false>
static __device__ __forceinline__ void differentiate(const REAL *x, REAL *d)
{
    constexpr double matrix[N * N] = {LINE_DERIVATIVE};
    constexpr int HALF = N / 2;
    constexpr auto at = [](int k, int m) constexpr { return TRANSPOSED ? m * N + k : k * N + m; };
    if constexpr (N < 6) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            d[k] = (REAL)matrix[at(k, 0)] * x[0];
#pragma unroll
            for (int m = 1; m < N; m++)
                if (matrix[at(k, m)] != 0)
                    d[k] += (REAL)matrix[at(k, m)] * x[m];
        }
        return;
    }
    REAL sum[HALF + 1], difference[HALF + 1], even[N - HALF];
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
            even[k] += (REAL)((matrix[at(k, m)] - matrix[at(k, N - 1 - m)]) / 2) * difference[m];
        d[k] = even[k];
    }
#pragma unroll
    for (int k = 0; k < HALF; k++) {
        REAL odd = N % 2 ? (REAL)matrix[at(k, HALF)] * x[HALF] : 0;
#pragma unroll
        for (int m = 0; m < HALF; m++)
            odd += (REAL)((matrix[at(k, m)] + matrix[at(k, N - 1 - m)]) / 2) * sum[m];
        d[k] = even[k] + odd;
        d[N - 1 - k] = even[k] - odd;
    }
}

#endif
