/* matched.h: the terms of matched layers (csrc/fd/scalar/matched.c) in a step of the scalar scheme, for step.cu and
 * diamond.cu. Memory variables belong to one node and are accessed only by that node's thread. The includer
 * defines REAL, DEVICE and FMA. */
#ifndef UNDA_FD_MATCHED_H
#define UNDA_FD_MATCHED_H

#include "fd/scalar/args.h"
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
    return min(max(i - 1, 0), m.low) + min(max(i - m.high, 0), m.num - m.low);
}
/* How many of nodes [begin, end). */
DEVICE int matched_between(const scalar_matched &m, int begin, int end)
{
    return matched_before(m, end) - matched_before(m, begin);
}
/* Node number i of those in layers. */
DEVICE int matched_node(const scalar_matched &m, int i)
{
    return i < m.low ? 1 + i : m.high + i - m.low;
}
DEVICE REAL matched_flux(const scalar_matched &m, int k)
{
    return sizeof(REAL) == 4 ? (REAL)m.flux32[k] : (REAL)m.flux64[k];
}

/* Nodes side by side along z. Not through L1: in towers other multiprocessors write the same words. */
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

/* Memory variables of nodes; place: of the first one in each memory. */
template <int N> struct memories {
    nodes<N> low, high, node;
};
template <int N> DEVICE memories<N> load_memories(const scalar_matched &m, long long place)
{
    const REAL *from = (const REAL *)m.memory + place;
    return {load_nodes<N>(from), load_nodes<N>(from + m.part), load_nodes<N>(from + 2 * m.part)};
}

/* Adds to sum[N] what number i of a layer's nodes takes of PAIRS pairs a flux; at(k, l): p of lane l's
 * neighbour k along the axis. */
template <int PAIRS, int N, class At>
DEVICE void add_matched(const scalar_matched &m, int i, long long place, const At &at, REAL *sum)
{
    memories<N> own = load_memories<N>(m, place);
    const REAL *table = (const REAL *)m.table + i;
    REAL *memory = (REAL *)m.memory + place;
    REAL b[3], a[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        b[k] = table[k * m.num];
        a[k] = table[(3 + k) * m.num];
    }
#pragma unroll
    for (int l = 0; l < N; l++) {
        REAL below = scalar_flux(at(-1, l), at(0, l)), above = scalar_flux(at(0, l), at(1, l));
#pragma unroll
        for (int k = 2; k <= PAIRS; k++) {
            below = scalar_flux_pair(matched_flux(m, k), at(-k, l), at(k - 1, l), below);
            above = scalar_flux_pair(matched_flux(m, k), at(1 - k, l), at(k, l), above);
        }
        own.low.v[l] = scalar_memory(b[0], a[0], below, own.low.v[l]);
        own.high.v[l] = scalar_memory(b[1], a[1], above, own.high.v[l]);
        const REAL both = own.high.v[l] - own.low.v[l];
        own.node.v[l] = scalar_memory(b[2], a[2], scalar_stretched(matched_flux(m, 1), below, above, both),
                                      own.node.v[l]);
        sum[l] = sum[l] + (both + own.node.v[l]);
    }
    *(nodes<N> *)memory = own.low;
    *(nodes<N> *)(memory + m.part) = own.high;
    *(nodes<N> *)(memory + 2 * m.part) = own.node;
}

#endif
