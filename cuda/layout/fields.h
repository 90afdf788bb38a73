/* fields.h: a layout of states: [field][elem][PITCH], so that a field is a matrix with a column for each element, as BLAS
 * takes it: NODES rows, then some that are never read. With KM, [field][microblock][PITCH]: the nodes of KM elements, then
 * the padding. The interface of a layout: nodes.h. */
#ifndef UNDA_LAYOUT_H
#define UNDA_LAYOUT_H

#include "common/index.h"
#include "common/vector.h"

#if !defined(NODES) || !defined(PITCH)
#error "fields.h needs NODES and PITCH, the nodes of an element without and with padding"
#endif

#ifndef KM
#define KM 1
#endif

/* From a field to the next, in a state of `total` nodes. */
static __device__ __forceinline__ long long field_stride(long long total)
{
    return (total / NODES + KM - 1) / KM * PITCH;
}

#define NODE_STRIDE(num_field) 1
static __device__ __forceinline__ long long elem_place(int, int, long long elem)
{
    unsigned e = (unsigned)elem; /* four times as much fits an int: index.h */
    return (long long)(e / KM) * PITCH + e % KM * NODES;
}

static __device__ __forceinline__ long long state_index(long long total, int, int, long long elem, int node,
                                                        int field)
{
    return field * field_stride(total) + elem_place(0, NODES, elem) + node;
}

template <int NUM>
static __device__ __forceinline__ void load_node(REAL *to, const REAL *state, long long total,
                                                 long long place, int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        to[f] = __ldg(state + f * field_stride(total) + place + more);
}

template <int NUM>
static __device__ __forceinline__ void load_own_node(REAL *to, const REAL *state, long long total,
                                                     long long place, int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        to[f] = state[f * field_stride(total) + place + more];
}

template <int NUM>
static __device__ __forceinline__ void store_node(REAL *state, long long total, long long place,
                                                  const REAL *from, int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        __stcs(state + f * field_stride(total) + place + more, from[f]);
}

#endif
