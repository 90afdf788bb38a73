/* lines.h: lines of nodes between shared memory and registers; what an element has. Included by sem/tiles.cu. */
#ifndef UNDA_SEM_LINES_H
#define UNDA_SEM_LINES_H

DEVICE const REAL *metric_of(const sem_tile_args &a, long long elem)
{
    return (const REAL *)a.metric + elem * METRIC_REALS;
}

DEVICE void load_metric(const sem_tile_args &a, long long elem, int node, REAL *metric)
{
    const REAL *from = metric_of(a, elem);
    if constexpr (METRIC_NODES == 1) {
        load_constant<NUM_METRIC>(metric, from);
    } else if constexpr (ASSEMBLY != 2) {
        load_groups<NUM_METRIC>(metric, from, NP, node);
    } else { /* which has fewer registers: 0.67 for 0.71 ms */
#pragma unroll
        for (int i = 0; i < NUM_METRIC; i++)
            metric[i] = __ldg(from + i * NP + node);
    }
}

/* Times a number that a thread needs once. */
DEVICE void load_coef(const sem_tile_args &a, long long elem, int node, REAL factor, REAL *coef)
{
    const REAL *from = (const REAL *)a.coef + elem * NUM_COEF * MATERIAL_NODES;
    if constexpr (MATERIAL_NODES == 1)
        load_constant<NUM_COEF>(coef, from);
#pragma unroll
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = factor * (MATERIAL_NODES > 1 ? __ldg(from + i * MATERIAL_NODES + node) : coef[i]);
}

/* Values along a line become their derivatives. */
template <bool TRANSPOSED> DEVICE void derive(REAL (&x)[DIM][N])
{
    REAL d[N];
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        differentiate<TRANSPOSED>(x[i], d);
#pragma unroll
        for (int k = 0; k < N; k++)
            x[i][k] = d[k];
    }
}

template <int STEP> DEVICE void load_line(const values *from, REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            x[i][k] = from[k * STEP].v[i];
}

template <int STEP> DEVICE void store_line(values *to, const REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            to[k * STEP].v[i] = x[i][k];
}

/* What stands behind is not mixed with what stands before: computing a metric at several nodes at once would take more
 * registers than there are. */
DEVICE void keep_apart()
{
#ifdef __CUDACC__
    __syncwarp(__activemask());
#endif
}

#endif
