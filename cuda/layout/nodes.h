/* nodes.h: a layout of states: [group][elem][node][fields of the group], four fields a group and what is left in
 * the last one, so that a thread reads a node in aligned quads whatever the number of fields. With four
 * fields that is [elem][node][field].
 *
 * A layout says where a value is (state_index) and moves all fields of a node (load_node, load_own_node,
 * store_node), whose place comes from elem_place and NODE_STRIDE, or is a constant `more` beyond it. total: elements of the state times np, its
 * nodes an element. The host's side: struct layout in csrc/dg/kernel.h. */
#ifndef UNDA_LAYOUT_H
#define UNDA_LAYOUT_H

#include "common/index.h"
#include "common/vector.h"

static __device__ __forceinline__ long long state_index(long long total, int num_field, int np,
                                                        long long elem, int node, int field)
{
    return GROUP_INDEX(total, num_field, elem * np + node, field);
}

/* Node n stands n node strides beyond the first one of its element. */
#define NODE_STRIDE(num_field) 1
static __device__ __forceinline__ long long elem_place(int, int np, long long elem)
{
    return elem * np;
}

template <int NUM>
static __device__ __forceinline__ void load_node(REAL *to, const REAL *state, long long total,
                                                 long long place, int more = 0)
{
    load_groups<NUM>(to, state, total, place, more);
}

/* The same from memory that this kernel also writes. */
template <int NUM>
static __device__ __forceinline__ void load_own_node(REAL *to, const REAL *state, long long total,
                                                     long long place, int more = 0)
{
    load_own_groups<NUM>(to, state, total, place, more);
}

template <int NUM>
static __device__ __forceinline__ void store_node(REAL *state, long long total, long long place,
                                                  const REAL *from, int more = 0)
{
    store_groups<NUM>(state, total, place, from, more);
}

#endif
