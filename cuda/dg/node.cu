/* node.cu: one stage of DG as in Modave, St-Cyr & Warburton (2016): three kernels, one node per thread, the
 * right-hand side in device memory between them. Easy to read and to profile; fused.cu does the same in one
 * pass (docs/dg.md).
 *
 * block = TILE elements; thread i computes nodes i, i + THREADS, ... of the tile.
 * Bytes per DOF (float32): volume 8, surface 12 and the neighbours' traces, update 20 (AB3: 24).
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), TILE, THREADS,
 * SHARED_BYTES. Matrix packing: derivative [node][3][NP], then lift [NUM_FACE NFP][NP]. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(TILE) || !defined(THREADS)
#error                                                                                                       \
    "node.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, TILE, THREADS, SHARED_BYTES"
#endif

#include "dg/incident.h"
#include "dg/tile.h"
#include "dg/update.h"

/* Adds (or stores) what acc gives to the right-hand side of a node. */
static __device__ __forceinline__ void put_rhs(const dg_args &a, long long elem, int node, const REAL *acc,
                                               bool add)
{
    REAL g[WORDS], rhs[NUM_FIELD], sum[NUM_FIELD], *to = (REAL *)a.rhs;
    long long total = a.num_total * NP;
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
    from_reference(acc, g, coef_at(a, elem, node, g), rhs);
    if (add) {
        load_own_node<NUM_FIELD>(sum, to, total, place(elem, node));
        for (int f = 0; f < NUM_FIELD; f++)
            rhs[f] += sum[f];
    }
    store_node<NUM_FIELD>(to, total, place(elem, node), rhs);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_volume(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        long long elem = first + i / NP;
        REAL q[NUM_FIELD], g[WORDS], u[NUM_REF];
        load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, place(elem, i % NP));
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
        to_reference(q, g, u);
        for (int f = 0; f < NUM_REF; f++)
            s.u[i % NP * PITCH_U + f * TILE + i / NP] = u[f];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        int e = i / NP, node = i % NP;
        const REAL *matrix = (const REAL *)a.matrix + node;
        REAL acc[NUM_ACC] = {};
        for (int k = 0; k < NP; k++) {
            REAL d[3], u[NUM_REF];
            for (int j = 0; j < 3; j++)
                d[j] = matrix[(3 * k + j) * NP];
            for (int f = 0; f < NUM_REF; f++)
                u[f] = s.u[k * PITCH_U + f * TILE + e];
            volume(d, u, acc);
        }
        put_rhs(a, first + e, node, acc, false);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_surface(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    load_tile(a, s, first, count);
#if INCIDENT
    add_incident(a, s, first);
#endif
    __syncthreads();
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        int e = i / NP, node = i % NP;
        const REAL *matrix = (const REAL *)a.matrix + 3 * NP * NP + node;
        REAL acc[NUM_ACC] = {};
#pragma unroll
        for (int face = 0; face < NUM_FACE; face++) {
            REAL y[NUM_JUMP] = {};
            for (int m = 0; m < NFP; m++)
                for (int k = 0; k < NUM_JUMP; k++)
                    y[k] += matrix[(face * NFP + m) * NP] * s.s[(face * NFP + m) * PITCH_S + k * TILE + e];
            REAL lift_coef[NUM_LIFT_COEF];
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                lift_coef[k] = s.lift_coef[face][k][e];
            apply_lift(y, face, lift_coef, acc);
        }
        put_rhs(a, first + e, node, acc, true);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_update(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        long long elem = first + i / NP, at = place(elem, i % NP);
        REAL rhs[NUM_FIELD], g[WORDS];
        old_state old;
        load_own_node<NUM_FIELD>(rhs, (const REAL *)a.rhs, a.num_total * NP, at);
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
        load_old(a, at, old);
        add_local(old, coef_at(a, elem, i % NP, g) + NUM_COEF - NUM_LOCAL, rhs);
        add_sources(a, elem, i % NP, source_first, source_last, rhs);
        update(a, at, old, rhs);
    }
}
