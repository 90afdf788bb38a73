/* block_finish.h: from the results of the products of kernel blocks to the sums of nodes, and to their new state. A
 * thread has every NODE_GROUPS-th node of one element. */
#ifndef UNDA_DG_BLOCK_FINISH_H
#define UNDA_DG_BLOCK_FINISH_H

#include "dg/block_rows.h"
#include "dg/tile.h"
#include "dg/update.h"

/* Two threads store the 32 bytes of a node in float64 together. */
#define STORE_PAIRS (ON_TENSOR_CORES && !SPLIT)

enum {
    LANE_ELEMS = TILE % 4 == 0   ? 4
                 : TILE % 2 == 0 ? 2
                                 : 1, /* elements in line first */
    NODE_GROUPS = THREADS / TILE,
    /* nodes whose old state is asked for at once, while the ones before are updated; on tensor cores there are many
     * threads, which wait for each other instead and need fewer registers. Two old states and materials of two nodes do
     * not fit where a thread has 96 registers, at degree 8. */
    BATCH = ON_TENSOR_CORES || (DEGREE == 8 && BY_NODE && UPDATE == UPDATE_AB3) ? 1 : 2
};

/* Element of the tile and first node of this thread. */
struct thread_nodes {
    int e, group;
};

static __device__ __forceinline__ thread_nodes nodes_of_thread()
{
    int group = threadIdx.x / LANE_ELEMS % NODE_GROUPS;
    return {(int)(threadIdx.x / (LANE_ELEMS * NODE_GROUPS)) * LANE_ELEMS + (int)threadIdx.x % LANE_ELEMS,
            group};
}

/* The sums of a turn at a node, whose derivatives stand at these places; FIRST: its first chunk. */
template <int FIRST>
static __device__ __forceinline__ void node_sums(const REAL *x, const places &at, int e, REAL *acc)
{
#pragma unroll
    for (int chunk = FIRST; chunk < FIRST + TOGETHER; chunk++) {
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            acc[chunk_sum(chunk, i)] = 0;
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                acc[column_sum(chunk, j, c)] +=
                    x[at.of[j] + (COLUMNS * j + 2 * (chunk - FIRST) + c) * TILE + e];
    }
}

/* Keeps the sums of a turn in the place of the fields that it took. */
template <int FIRST>
static __device__ __forceinline__ void keep_sums(const dg_args &a, tile &s, const REAL *x)
{
    thread_nodes mine = nodes_of_thread();
    for (int node = mine.group; node < NP && mine.e < TILE; node += NODE_GROUPS) {
        REAL acc[NUM_ACC];
        node_sums<FIRST>(x, load_node_places(a.table, node), mine.e, acc);
#pragma unroll
        for (int chunk = FIRST; chunk < FIRST + TOGETHER; chunk++)
#pragma unroll
            for (int i = 0; i < CHUNK_SUMS; i++)
                s.u[node * PITCH_U + chunk_place(chunk, i) * TILE + mine.e] = acc[chunk_sum(chunk, i)];
    }
}

/* Nodes of a thread that are updated together: their loads are under way at once. */
struct batch {
    places at[BATCH];
    old_state old[BATCH];
};

static __device__ __forceinline__ void load_batch(const dg_args &a, long long elem, int begin, batch &to)
{
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        if (begin + i * NODE_GROUPS < NP) {
            to.at[i] = load_node_places(a.table, begin, i * NODE_GROUPS);
            load_old(a, place(elem, begin), to.old[i], i * NODE_GROUPS * NODE_STRIDE(NUM_FIELD));
        }
}

/* Stores the new state of a node; on tensor cores that of elements beside each other by two threads at once. */
static __device__ __forceinline__ void update_node(const dg_args &a, const factors &by, long long elem, int e,
                                                   int count, int begin, old_state &old, const REAL *rhs,
                                                   int more)
{
#if STORE_PAIRS
    update_pair(a, by, place(elem, begin), old, rhs, {1, NP, e < count, (e ^ 1) < count}, more);
#else
    update_by(a, by, place(elem, begin), old, rhs, more);
#endif
}

/* elem: number e of the tile, which has count, or beyond the last one, which is then not stored. */
static __device__ __forceinline__ void update_batch(const dg_args &a, const tile &s, const REAL *x, int e,
                                                    int count, long long elem, int begin, bool has_source,
                                                    const REAL *g, const factors &by, batch &now)
{
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        int node = begin + i * NODE_GROUPS;
        if (node >= NP)
            break;
        REAL acc[NUM_ACC], rhs[NUM_FIELD];
        node_sums<CHUNKS - TOGETHER>(x, now.at[i], e, acc);
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS - TOGETHER; chunk++)
#pragma unroll
            for (int k = 0; k < CHUNK_SUMS; k++)
                acc[chunk_sum(chunk, k)] = s.u[node * PITCH_U + chunk_place(chunk, k) * TILE + e];
        const REAL *coef = coef_at(a, elem - (e < count ? 0 : e - count + 1), node, g);
        from_reference(acc, g, coef, rhs);
        add_local(now.old[i], coef + NUM_COEF - NUM_LOCAL, rhs);
        if (has_source)
            add_few_sources(a, elem, node, rhs);
        update_node(a, by, elem, e, count, begin, now.old[i], rhs, i * NODE_GROUPS * NODE_STRIDE(NUM_FIELD));
    }
}

/* After the last turn: the new state. now: the first batch, which was asked for earlier. */
static __device__ __forceinline__ void finish_nodes(const dg_args &a, const tile &s, const REAL *x,
                                                    thread_nodes mine, int count, long long elem,
                                                    bool has_source, batch &now)
{
    long long there = elem - (mine.e < count ? 0 : mine.e - count + 1);
    REAL g[WORDS];
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * there);
    factors by = factors_of(a);
#pragma unroll(BATCH)
    for (int begin = mine.group; begin < NP; begin += BATCH * NODE_GROUPS) {
        batch next = now;
        if (!ON_TENSOR_CORES)
            load_batch(a, there, begin + BATCH * NODE_GROUPS, next);
        update_batch(a, s, x, mine.e, count, elem, begin, has_source, g, by, now);
        if (ON_TENSOR_CORES)
            load_batch(a, there, begin + BATCH * NODE_GROUPS, next);
        now = next;
    }
}

#endif
