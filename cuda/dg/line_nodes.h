/* line_nodes.h: DG on hexahedra with a thread a node, which takes the nodes along its three lines from device
 * memory: what kernels base and f1 share (Hanindhito et al. 2022). A contribution is what volume or flux adds to
 * dq/dt at a node. The includer defines what line.h asks for, LINE_DERIVATIVE, LINE_POINT, LINE_WEIGHT, TILE, THREADS.
 * Next: base.cu, f1.cu. */
#ifndef UNDA_DG_LINE_NODES_H
#define UNDA_DG_LINE_NODES_H

#include "dg/line_ends.h"
#include "dg/update.h"

static __constant__ REAL derivative[N * N] = {LINE_DERIVATIVE}; /* by rows */

/* Of the elements of this block. */
static __device__ __forceinline__ int num_elements(const dg_args &a, long long first)
{
    long long left = a.num_elem - first;
    return left < TILE ? (int)left : TILE;
}

static __device__ __forceinline__ void load_reference(const dg_args &a, long long elem, int node, REAL *u)
{
    REAL q[NUM_FIELD], metric[NUM_METRIC];
    load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, place(elem, node));
    load_metric(a, elem, node, metric);
    node_to_reference(a, elem, q, metric, u);
}

/* ---- volume ---- */

/* Adds the derivatives along one of the lines through a node, which is number `at` of it. */
template <int AXIS>
static __device__ __forceinline__ void add_derivatives(const dg_args &a, long long elem, int node, int at,
                                                       REAL *acc)
{
    constexpr int STEP = line_step(AXIS, N, NFP);
#pragma unroll
    for (int k = 0; k < N; k++) {
        REAL u[NUM_REF], d = derivative[at * N + k];
        load_reference(a, elem, node + (k - at) * STEP, u);
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            acc[LINE_ACC(AXIS, i)] += LINE_SIGN(i) * d * u[LINE_REF(AXIS, i)];
    }
}

static __device__ __forceinline__ void add_volume(const dg_args &a, long long elem, int node, REAL *acc)
{
    add_derivatives<0>(a, elem, node, node % N, acc);
    add_derivatives<1>(a, elem, node, node / N % N, acc);
    add_derivatives<2>(a, elem, node, node / NFP, acc);
}

/* ---- flux ---- */

/* No metric is in shared memory: add_flux finds it in device memory. */
struct no_frames {
};

static __device__ __forceinline__ void load_rows(const dg_args &a, const no_frames &, const line &at,
                                                 int side, REAL *rows)
{
    REAL metric[NUM_METRIC];
    load_metric(a, at.elem, line_begin(at, N, NFP) + side * (N - 1) * line_step(at.axis, N, NFP), metric);
#pragma unroll
    for (int k = 0; k < FRAME_WORDS; k++)
        rows[3 * FIRST_ROW + k] = metric[(3 * (at.axis + FIRST_ROW) + k) % 9];
}

/* Adds the flux at node m of face 2 AXIS + side, behind which `neighbor` stands in the table. */
template <int AXIS>
static __device__ __forceinline__ void add_face(const dg_args &a, const line &at, int side, int neighbor,
                                                REAL *acc)
{
    REAL u[NUM_REF], own[NUM_LINE], sum[NUM_LINE] = {};
    outside o;
    o.neighbor = neighbor;
    load_outside_of(a, at.m, o);
    load_reference(a, at.elem, line_begin(at, N, NFP) + side * (N - 1) * line_step(AXIS, N, NFP), u);
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++)
        own[i] = u[LINE_REF(AXIS, i)];
    add_flux(a, no_frames(), at, side, o, own, sum);
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++)
        acc[LINE_ACC(AXIS, i)] += sum[i];
}

/* ---- contributions ---- */

/* acc becomes its part of dq/dt. */
static __device__ __forceinline__ void contribute(const dg_args &a, long long elem, int node, REAL *acc,
                                                  REAL *part)
{
    REAL metric[NUM_METRIC], coef[NUM_COEF];
    load_metric(a, elem, node, metric);
    load_constant<NUM_COEF>(coef, (const REAL *)a.record + RECORD * elem + (BY_NODE ? NUM_COEF * node : 0));
#pragma unroll
    for (int k = 0; k < NUM_ACC; k++)
        acc[k] *= metric[9];
    node_from_reference(a, elem, acc, metric, coef, part);
}

static __device__ __forceinline__ void put_contribution(const dg_args &a, long long elem, int node,
                                                        const REAL *part)
{
    store_node<NUM_FIELD>((REAL *)a.rhs, a.num_total * NP, place(elem, node), part);
}

static __device__ __forceinline__ void add_contribution(const dg_args &a, long long elem, int node,
                                                        const REAL *part)
{
    REAL sum[NUM_FIELD];
    load_own_node<NUM_FIELD>(sum, (const REAL *)a.rhs, a.num_total * NP, place(elem, node));
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        sum[f] += part[f];
    put_contribution(a, elem, node, sum);
}

/* ---- integration ---- */

/* A kernel of its own, since neighbours still read q while contributions are made. */
extern "C" __global__ void __launch_bounds__(THREADS) dg_integration(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE;
    int nodes = num_elements(a, first) * NP;
    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
    for (int i = threadIdx.x; i < nodes; i += THREADS) {
        int node = i % NP;
        long long elem = first + i / NP, at = place(elem, node);
        REAL rhs[NUM_FIELD], coef[NUM_COEF];
        old_state old;
        load_own_node<NUM_FIELD>(rhs, (const REAL *)a.rhs, a.num_total * NP, at);
        load_old(a, at, old);
        load_constant<NUM_COEF>(coef,
                                (const REAL *)a.record + RECORD * elem + (BY_NODE ? NUM_COEF * node : 0));
        add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
        add_sources(a, elem, node, source_first, source_last, rhs);
        update(a, at, old, rhs);
    }
}

#endif
