/* update.h: what every DG kernel does with the right-hand side of a node: point sources and the integrator.
 * UPDATE is one of common/index.h. */
#ifndef UNDA_DG_UPDATE_H
#define UNDA_DG_UPDATE_H

/* rhs += weight f(t) of the sources [first, last) that lie in this element. */
static __device__ __forceinline__ void add_sources(const dg_args &a, long long elem, int node, int first, int last,
                                                   REAL *rhs)
{
    for (int i = first; i < last; i++) {
        if (a.source_elem[i] != elem)
            continue;
        REAL amplitude = ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + i];
        const REAL *weight = (const REAL *)a.source_weight + ((long long)i * NP + node) * NUM_FIELD;
        for (int f = 0; f < NUM_FIELD; f++)
            rhs[f] += weight[f] * amplitude;
    }
}

static __device__ __forceinline__ void update(const dg_args &a, long long index, const REAL *rhs)
{
    REAL *r = (REAL *)a.r + index;
#if UPDATE == UPDATE_RHS
    store_vector<NUM_FIELD>(r, rhs);
#else
    REAL q[NUM_FIELD], old[NUM_FIELD], dt = (REAL)a.dt;
    load_vector<NUM_FIELD>(q, (const REAL *)a.q + index);
#if UPDATE == UPDATE_LSRK
    REAL ra = (REAL)a.a, rb = (REAL)a.b;
    if (a.a != 0)
        load_vector<NUM_FIELD>(old, r);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++) {
        old[f] = a.a == 0 ? dt * rhs[f] : ra * old[f] + dt * rhs[f];
        q[f] += rb * old[f];
    }
    store_vector<NUM_FIELD>(r, old);
#else
    REAL r1[NUM_FIELD], c0 = (REAL)(a.dt * a.c0), c1 = (REAL)(a.dt * a.c1), c2 = (REAL)(a.dt * a.c2);
    load_vector<NUM_FIELD>(old, r);
    load_vector<NUM_FIELD>(r1, (const REAL *)a.r1 + index);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        q[f] += c0 * rhs[f] + c1 * r1[f] + c2 * old[f];
    store_vector<NUM_FIELD>(r, rhs);
#endif
    store_vector<NUM_FIELD>((REAL *)a.q_new + index, q);
#endif
}

#endif
