/* line_sums.h: how kernels that go along lines make the new state of a node of what lines add to its sums. Next:
 * lines.cu, columns.cu. */
#ifndef UNDA_DG_LINE_SUMS_H
#define UNDA_DG_LINE_SUMS_H

#include "dg/line.h"
#include "dg/update.h"

/* Whether right-hand sides are made times dt. */
enum { STEPPED = UPDATE == UPDATE_LSRK && !LOCAL };

/* Coefficients, by what makes sums the right-hand side that `update` takes: 1/J, and dt where it is a factor.
 * from_reference is linear in all but those of a local law. */
static __device__ __forceinline__ void scale(const dg_args &a, const REAL *metric, REAL *coef)
{
    REAL factor = STEPPED ? (REAL)a.dt * metric[9] : metric[9];
#pragma unroll
    for (int i = 0; i < NUM_COEF - NUM_LOCAL; i++)
        coef[i] *= factor;
}

/* acc[to] += value, but that nothing is added to 0: begun[to] is known when the kernel is compiled. */
static __device__ __forceinline__ void add_to(REAL *acc, bool *begun, int to, REAL value)
{
    acc[to] = begun[to] ? acc[to] + value : value;
    begun[to] = true;
}

/* Adds sources [first_source, last_source) to what updates have stored: few blocks have any, and the rest keeps its
 * registers. The thread takes nodes node, node + step, .. of those below num of the block, as its updates did. */
static __device__ __forceinline__ void drive(const dg_args &a, long long first, int node, int step, int num,
                                             int first_source, int last_source)
{
    for (int i = first_source; i < last_source; i++) {
        int begin = (int)(a.source_elem[i] - first) * NP;
#pragma unroll 1
        for (int k = node; k < num; k += step) {
            REAL rhs[NUM_FIELD];
            if (k < begin || k >= begin + NP)
                continue;
            source(a, i, k - begin, rhs);
            update_again(a, place(first, k), rhs);
        }
    }
}

#endif
