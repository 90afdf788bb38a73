/* tensor_finish.h: from the sums of a tile, which stand in the places of its fields, to dq/dt and the update. Threads
 * share elements as in tile.h, so that they read and write nodes beside each other. */
#ifndef UNDA_DG_TENSOR_FINISH_H
#define UNDA_DG_TENSOR_FINISH_H

#include "dg/tensor_products.h"
#include "dg/update.h"

/* Nodes whose old states are under way at once; three such batches are. A thread has five nodes of three old values of nine
 * fields where few warps share an element: more than its registers. */
enum {
    MANY_VALUES = REST && NUM_FIELD > 6 && UPDATE == UPDATE_AB3,
    BATCH = MANY_VALUES                 ? 1
            : NUM_FIELD > 4             ? 2
            : THREADS *MIN_BLOCKS > 400 ? 3
                                        : 4
};

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
/* Whether a thread has a j-th node. */
static __device__ __forceinline__ bool has_node(int lane, int j)
{
    return (j + 1) * LANES <= NP || lane + j * LANES < NP;
}

/* Those from the number `first` of a thread's on. */
static __device__ __forceinline__ void load_batch(const dg_args &a, long long elem, int lane, int first,
                                                  batch &to)
{
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        if (has_node(lane, first + j))
            load_old(a, place(elem, lane), to.old[j], (first + j) * LANES);
}

/* The sums of a node. */
static __device__ __forceinline__ void load_sums(tile &s, int node, int e, REAL acc[NUM_ACC])
{
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        REAL sums[CHUNK_SUMS];
        load_vector<CHUNK_SUMS>(sums, sums_place(s, chunk, e, node));
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            acc[chunk_sum(chunk, i)] = sums[i];
    }
}

/* What sources add to nodes that this thread has updated: few blocks have any. */
static __device__ __attribute__((noinline)) void add_sources_again(const dg_args &a, long long elem, int lane)
{
#pragma unroll 1
    for (int i = a.source_range[blockIdx.x]; i < a.source_range[blockIdx.x + 1]; i++)
        if (a.source_elem[i] == elem)
#pragma unroll 1
            for (int node = lane; node < NP; node += LANES) {
                REAL rhs[NUM_FIELD];
                source(a, i, node, rhs);
                update_again(a, place(elem, node), rhs);
            }
}

/* One batch, and those after it; now, next: what it and the one after it need. Without a loop, so that nothing moves from
 * register to register. */
template <int FIRST = 0>
static __device__ __forceinline__ void finish(const dg_args &a, tile &s, const own_nodes &mine,
                                              long long elem, const REAL *g, const factors &by, batch &now,
                                              batch &next)
{
    batch after;
    if constexpr (FIRST + 2 * BATCH < LOADS)
        load_batch(a, elem, mine.lane, FIRST + 2 * BATCH, after);
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        if (has_node(mine.lane, FIRST + j)) {
            REAL acc[NUM_ACC], rhs[NUM_FIELD];
            int node = mine.lane + (FIRST + j) * LANES;
            const REAL *coef = coef_at(a, elem, node, g);
            load_sums(s, node, mine.e, acc);
            from_reference(acc, g, coef, rhs);
            add_local(now.old[j], coef + NUM_COEF - NUM_LOCAL, rhs);
            update_by(a, by, place(elem, mine.lane), now.old[j], rhs, (FIRST + j) * LANES);
        }
    if constexpr (FIRST + BATCH < LOADS)
        finish<FIRST + BATCH>(a, s, mine, elem, g, by, next, after);
}

#endif
