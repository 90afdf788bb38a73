/* tensor_finish.h: from the sums of a tile, which stand in the places of its fields, to dq/dt and the update. Threads
 * share elements as in tile.h, so that they read and write nodes beside each other. */
#ifndef UNDA_DG_TENSOR_FINISH_H
#define UNDA_DG_TENSOR_FINISH_H

#include "dg/tensor_split.h"
#include "dg/update.h"

enum { BATCH = NUM_FIELD <= 4 ? 4 : 2 };

/* What the update reads of a thread's next nodes. */
struct batch {
    old_state old[BATCH];
};

/* An element, a thread's first node of it. */
struct own_nodes {
    int e, lane;
};
static __device__ __forceinline__ own_nodes nodes_of_thread()
{
    int thread = anew(threadIdx.x);
    return {thread / LANES, thread % LANES};
}

static __device__ __forceinline__ void load_batch(const dg_args &a, long long elem, int begin, batch &to)
{
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        if (begin + j * LANES < NP)
            load_old(a, place(elem, begin), to.old[j], j * LANES);
}

/* The sums of a node. */
static __device__ __forceinline__ void load_sums(const tile &s, int row, int e, REAL acc[NUM_ACC])
{
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++)
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            acc[chunk_sum(chunk, i)] = s.u[row * PITCH_U + chunk_place(chunk, i) * TILE + e];
}

/* now: the first nodes. */
static __device__ __forceinline__ void finish(const dg_args &a, const tile &s, const own_nodes &mine,
                                              long long elem, bool has_source, batch &now)
{
    REAL g[WORDS];
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
#pragma unroll 1
    for (int begin = mine.lane; begin < NP; begin += BATCH * LANES) {
        batch next = now;
        load_batch(a, elem, begin + BATCH * LANES, next);
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            int node = begin + j * LANES;
            if (node >= NP)
                break;
            REAL acc[NUM_ACC], rhs[NUM_FIELD];
            const REAL *coef = coef_at(a, elem, node, g);
            load_sums(s, node_row(a, node), mine.e, acc);
            from_reference(acc, g, coef, rhs);
            add_local(now.old[j], coef + NUM_COEF - NUM_LOCAL, rhs);
            if (has_source)
                add_sources(a, elem, node, a.source_range[blockIdx.x], a.source_range[blockIdx.x + 1], rhs);
            update(a, place(elem, begin), now.old[j], rhs, j * LANES);
        }
        now = next;
    }
}

#endif
