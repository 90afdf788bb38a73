/* matched.h: what matched layers (csrc/fd/matched.c) add to a step of the scalar scheme, for step.cu and
 * diamond.cu: memories are a node's own, read and written by the thread that has the node. The includer
 * defines REAL, DEVICE, UNROLL and FMA. */
#ifndef UNDA_FD_MATCHED_H
#define UNDA_FD_MATCHED_H

#include "fd/scalar_args.h"
#include "physics/scalar.h"

/* The number of node i of an axis among those in layers; -1: none. */
DEVICE int matched_at(const scalar_matched &m, int i)
{
    const int low = i - 1, high = i - m.high;
    return low >= 0 && low < m.low ? low : high >= 0 && high < m.num - m.low ? m.low + high : -1;
}
/* How many of them lie before node i. */
DEVICE int matched_before(const scalar_matched &m, int i)
{
    const int low = i - 1, high = i - m.high;
    return (low < 0       ? 0
            : low < m.low ? low
                          : m.low) +
           (high < 0               ? 0
            : high < m.num - m.low ? high
                                   : m.num - m.low);
}
DEVICE REAL matched_flux(const scalar_matched &m, int k)
{
    return sizeof(REAL) == 4 ? (REAL)m.flux32[k] : (REAL)m.flux64[k];
}

/* Nodes side by side along z. Past the L1 cache: in towers other multiprocessors write the same words. */
template <int N> struct __align__(N * sizeof(REAL)) nodes {
    REAL v[N];
};
template <int N> DEVICE nodes<N> load_nodes(const REAL *from)
{
    nodes<N> to;
    if constexpr (N == 1)
        to.v[0] = __ldcg(from);
    else
        to = *(const nodes<N> *)from;
    return to;
}

/* Adds to sum[N] what number i of a layer's nodes takes of PAIRS pairs a flux; at(k, l): p of lane l's
 * neighbour k along the axis; place: of lane 0 in each memory. */
template <int PAIRS, int N, class At>
DEVICE void add_matched(const scalar_matched &m, int i, long long place, const At &at, REAL *sum)
{
    const REAL *table = (const REAL *)m.table + i;
    REAL *memory = (REAL *)m.memory + place;
    nodes<N> low = load_nodes<N>(memory), high = load_nodes<N>(memory + m.part),
             node = load_nodes<N>(memory + 2 * m.part);
    REAL b[3], a[3];
    UNROLL for (int k = 0; k < 3; k++)
    {
        b[k] = table[k * m.num];
        a[k] = table[(3 + k) * m.num];
    }
    UNROLL for (int l = 0; l < N; l++)
    {
        REAL below = scalar_flux(at(-1, l), at(0, l)), above = scalar_flux(at(0, l), at(1, l));
        UNROLL for (int k = 2; k <= PAIRS; k++)
        {
            below = scalar_flux_pair(matched_flux(m, k), at(-k, l), at(k - 1, l), below);
            above = scalar_flux_pair(matched_flux(m, k), at(1 - k, l), at(k, l), above);
        }
        low.v[l] = scalar_memory(b[0], a[0], below, low.v[l]);
        high.v[l] = scalar_memory(b[1], a[1], above, high.v[l]);
        const REAL both = high.v[l] - low.v[l];
        node.v[l] =
            scalar_memory(b[2], a[2], scalar_stretched(matched_flux(m, 1), below, above, both), node.v[l]);
        sum[l] = sum[l] + (both + node.v[l]);
    }
    *(nodes<N> *)memory = low;
    *(nodes<N> *)(memory + m.part) = high;
    *(nodes<N> *)(memory + 2 * m.part) = node;
}

#endif
