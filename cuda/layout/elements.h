/* elements.h: a layout of states: [block][node][field][32 elements of the block], so that threads which own one
 * element each move 128 bytes of float32 at once. The last block has room for 32 elements as well.
 * The interface of a layout: nodes.h. */
#ifndef UNDA_LAYOUT_H
#define UNDA_LAYOUT_H

#include "common/index.h"
#include "common/vector.h"

#define NODE_STRIDE(num_field) (32 * (num_field))
static __device__ __forceinline__ long long elem_place(int num_field, int np, long long elem)
{
    return elem / 32 * np * NODE_STRIDE(num_field) + elem % 32;
}

static __device__ __forceinline__ long long state_index(long long, int num_field, int np, long long elem,
                                                        int node, int field)
{
    return elem_place(num_field, np, elem) + (long long)node * NODE_STRIDE(num_field) + 32 * field;
}

template <int NUM>
static __device__ __forceinline__ void load_node(REAL *to, const REAL *state, long long, long long place,
                                                 int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        to[f] = __ldg(state + place + more + 32 * f);
}

template <int NUM>
static __device__ __forceinline__ void load_own_node(REAL *to, const REAL *state, long long, long long place,
                                                     int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        to[f] = state[place + more + 32 * f];
}

template <int NUM>
static __device__ __forceinline__ void store_node(REAL *state, long long, long long place, const REAL *from,
                                                  int more = 0)
{
#pragma unroll
    for (int f = 0; f < NUM; f++)
        __stcs(state + place + more + 32 * f, from[f]);
}

#endif
