/* update.h: applies point sources and the integrator to the right-hand side of a node, in every DG kernel.
 * UPDATE is one of common/index.h. */
#ifndef UNDA_DG_UPDATE_H
#define UNDA_DG_UPDATE_H

#if ON_TENSOR_CORES && !SPLIT
#include "common/pairs.h"
#endif

/* f(t) of part i of the sources, and its weights at a node of its element. */
static __device__ __forceinline__ REAL source_amplitude(const dg_args &a, int i)
{
    return ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + a.source_column[i]];
}
static __device__ __forceinline__ const REAL *source_weight(const dg_args &a, int i, int node)
{
    return (const REAL *)a.source_weight + ((long long)i * NP + node) * NUM_FIELD;
}

/* What part i of the sources gives a node of its element: weight f(t). */
static __device__ __forceinline__ void source(const dg_args &a, int i, int node, REAL *rhs)
{
    REAL amplitude = source_amplitude(a, i);
    const REAL *weight = source_weight(a, i, node);
    for (int f = 0; f < NUM_FIELD; f++)
        rhs[f] = weight[f] * amplitude;
}

/* rhs += weight f(t) of part i. */
static __device__ __forceinline__ void add_source(const dg_args &a, int i, int node, REAL amplitude,
                                                  REAL *rhs)
{
    const REAL *weight = source_weight(a, i, node);
    for (int f = 0; f < NUM_FIELD; f++)
        rhs[f] = PLUS(rhs[f], weight[f], amplitude);
}

/* rhs += weight f(t) of the sources [first, last) that lie in this element. */
static __device__ __forceinline__ void add_sources(const dg_args &a, long long elem, int node, int first,
                                                   int last, REAL *rhs)
{
    for (int i = first; i < last; i++) {
        if (a.source_elem[i] != elem)
            continue;
        add_source(a, i, node, source_amplitude(a, i), rhs);
    }
}

/* The same of this block's sources in few instructions: few blocks have sources, and none waits for these. */
static __device__ __forceinline__ void add_few_sources(const dg_args &a, long long elem, int node, REAL *rhs)
{
#pragma unroll 1
    for (int i = a.source_range[blockIdx.x]; i < a.source_range[blockIdx.x + 1]; i++)
        if (a.source_elem[i] == elem) {
            REAL part[NUM_FIELD];
            source(a, i, node, part);
#pragma unroll
            for (int f = 0; f < NUM_FIELD; f++)
                rhs[f] += part[f];
        }
}

/* What the update of a node reads besides the right-hand side. A thread loads it for all its nodes of an
 * element before it stores the first, so that the loads overlap. `at`: the node's place (tile.h); more: of the layout. */
struct old_state {
    REAL q[NUM_FIELD], r[NUM_FIELD], r1[NUM_FIELD];
};

/* known: q, where the thread still has it. */
static __device__ __forceinline__ void load_old(const dg_args &a, long long at, old_state &old, int more = 0,
                                                const REAL *known = nullptr)
{
    long long total = a.num_total * NP;
#if UPDATE != UPDATE_RHS || LOCAL
    if (known) {
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            old.q[f] = known[f];
    } else
        load_node<NUM_FIELD>(old.q, (const REAL *)a.q, total, at, more);
#endif
#if UPDATE != UPDATE_RHS
    if (UPDATE == UPDATE_AB3 || a.a != 0)
        load_own_node<NUM_FIELD>(old.r, (const REAL *)a.r, total, at, more);
    if (UPDATE == UPDATE_AB3)
        load_node<NUM_FIELD>(old.r1, (const REAL *)a.r1, total, at, more);
#endif
}

/* rhs += what the fields of a node do to each other (LOCAL: some material has such a law). */
static __device__ __forceinline__ void add_local(const old_state &old, const REAL *law, REAL *rhs)
{
#if LOCAL
    local(old.q, law, rhs);
#endif
}

/* The integrator's factors, rounded to REAL: of the right-hand side, of r or r1, of the new r or of r. */
struct factors {
    REAL rhs, second, third;
};

/* STEPPED: rhs of UPDATE_LSRK is a multiple of dt already. */
template <bool STEPPED = false> static __device__ __forceinline__ factors factors_of(const dg_args &a)
{
#if UPDATE == UPDATE_AB3
    return {(REAL)a.c0, (REAL)a.c1, (REAL)a.c2};
#else
    return {STEPPED ? 1 : (REAL)a.dt, (REAL)a.a, (REAL)a.b};
#endif
}

/* The new state in old.q; what is to be stored in r. */
static __device__ __forceinline__ const REAL *advance(const dg_args &a, const factors &by, old_state &old,
                                                      const REAL *rhs)
{
#if UPDATE == UPDATE_LSRK
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++) {
        old.r[f] = a.a == 0 ? by.rhs * rhs[f] : SUM2(by.second, old.r[f], by.rhs, rhs[f]);
        old.q[f] = PLUS(old.q[f], by.third, old.r[f]);
    }
    return old.r;
#elif UPDATE == UPDATE_AB3
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        old.q[f] += SUM3(by.rhs, rhs[f], by.second, old.r1[f], by.third, old.r[f]);
#endif
    return rhs;
}

static __device__ __forceinline__ void update_by(const dg_args &a, const factors &by, long long at,
                                                 old_state &old, const REAL *rhs, int more = 0)
{
    long long total = a.num_total * NP;
    const REAL *r = advance(a, by, old, rhs);
    store_node<NUM_FIELD>((REAL *)a.r, total, at, r, more);
#if UPDATE != UPDATE_RHS
    store_node<NUM_FIELD>((REAL *)a.q_new, total, at, old.q, more);
#endif
}

#if ON_TENSOR_CORES && !SPLIT
/* The same by two lanes that work on a node each. Knows layout/nodes.h. */
static __device__ __forceinline__ void update_pair(const dg_args &a, const factors &by, long long at,
                                                   old_state &old, const REAL *rhs, const lane_pair &lanes,
                                                   int more = 0)
{
    long long total = a.num_total * NP;
    const REAL *r = advance(a, by, old, rhs);
    store_group_pairs<NUM_FIELD>((REAL *)a.r, total, at, r, lanes, more);
#if UPDATE != UPDATE_RHS
    store_group_pairs<NUM_FIELD>((REAL *)a.q_new, total, at, old.q, lanes, more);
#endif
}
#endif

template <bool STEPPED = false>
static __device__ __forceinline__ void update(const dg_args &a, long long at, old_state &old, const REAL *rhs,
                                              int more = 0)
{
    update_by(a, factors_of<STEPPED>(a), at, old, rhs, more);
}

/* Adds rhs to a node that `update` has stored: the same sum, for the update is linear. */
static __device__ __forceinline__ void update_again(const dg_args &a, long long at, const REAL *rhs)
{
    long long total = a.num_total * NP;
    REAL r[NUM_FIELD], q[NUM_FIELD];
    REAL to_r = UPDATE == UPDATE_LSRK ? (REAL)a.dt : 1;
    REAL to_q = UPDATE == UPDATE_LSRK ? (REAL)a.b * to_r : (REAL)a.c0;
    load_own_node<NUM_FIELD>(r, (const REAL *)a.r, total, at);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        r[f] += to_r * rhs[f];
    store_node<NUM_FIELD>((REAL *)a.r, total, at, r);
    if (UPDATE == UPDATE_RHS)
        return;
    load_own_node<NUM_FIELD>(q, (const REAL *)a.q_new, total, at);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        q[f] += to_q * rhs[f];
    store_node<NUM_FIELD>((REAL *)a.q_new, total, at, q);
}

#endif
