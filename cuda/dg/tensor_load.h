/* tensor_load.h: the state of a tile of kernel tensor into shared memory, as it comes, and the jumps of its faces. */
#ifndef UNDA_DG_TENSOR_LOAD_H
#define UNDA_DG_TENSOR_LOAD_H

#include "dg/tensor_sizes.h"

#include "common/async.h"

/* LANES threads share an element, as in tile.h. */
struct lane_element {
    int e, lane;
    bool works;
    long long elem;
};
static __device__ __forceinline__ lane_element element_of_lane(long long first, int count)
{
    int e = threadIdx.x / LANES;
    return {e, (int)threadIdx.x % LANES, TILE * LANES == THREADS || e < TILE,
            first + (e < count ? e : count - 1)};
}

/* Asks for the states of an element's nodes. */
template <int FIRST = 0>
static __device__ __forceinline__ void fetch_state(const dg_args &a, tile &s, const lane_element &mine)
{
    constexpr int WIDTH = GROUP_WIDTH(NUM_FIELD, FIRST / 4);
    const REAL *from = (const REAL *)a.q + FIRST * a.num_total * NP + place(mine.elem, mine.lane) * WIDTH;
    REAL *to = s.u + FIRST * TILE * NODE_PITCH + (mine.e * NODE_PITCH + mine.lane) * WIDTH;
#pragma unroll
    for (int j = 0; j < LOADS; j++)
        if ((j + 1) * LANES <= NP || mine.lane + j * LANES < NP) {
            constexpr int PART = WIDTH % 4 == 0 ? 4 : WIDTH % 2 == 0 ? 2 : 1;
#pragma unroll
            for (int i = 0; i < WIDTH; i += PART)
                copy_async<PART>(to + j * LANES * WIDTH + i, from + j * LANES * WIDTH + i);
        }
    if constexpr (FIRST + 4 < NUM_FIELD)
        fetch_state<FIRST + 4>(a, s, mine);
}

/* The state of a node, after all have it. */
static __device__ __forceinline__ void load_own_state(REAL *q, const tile &s, int e, int node)
{
    load_own_groups<NUM_FIELD>(q, s.u, TILE * NODE_PITCH, e * NODE_PITCH + node);
}

/* The outer states at a lane's nodes of one face: the neighbour's, or given, or 0. */
struct outer_states {
    REAL q[FACE_LOADS][NUM_FIELD];
};
static __device__ __forceinline__ int face_node_of_lane(int lane, int j)
{
    int m = lane + j * LANES;
    return (j + 1) * LANES <= NFP || m < NFP ? m : NFP - 1;
}
static __device__ __forceinline__ void load_outer(const dg_args &a, int lane, int neighbor, outer_states &to)
{
    long long outer = place(NEIGHBOR_ELEM(neighbor), 0);
    const int *other = a.face_node + NEIGHBOR_SIDE(neighbor) * NFP;
    int node[FACE_LOADS];
    if (neighbor >= 0) {
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
            node[j] = __ldg(other + face_node_of_lane(lane, j));
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
            load_node<NUM_FIELD>(to.q[j], (const REAL *)a.q, a.num_total * NP,
                                 outer + (long long)node[j] * NODE_STRIDE(NUM_FIELD));
    } else {
        bool exact = neighbor <= -1 - BOUNDARY_EXACT;
        const REAL *data = exact_data(a, neighbor);
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
#pragma unroll
            for (int f = 0; f < NUM_FIELD; f++)
                to.q[j][f] = exact ? data[face_node_of_lane(lane, j) * NUM_FIELD + f] : 0;
    }
}

/* Jumps at a lane's nodes of one face. */
static __device__ __forceinline__ void face_jumps_of_lane(const dg_args &a, tile &s, int face,
                                                          const lane_element &mine, int neighbor,
                                                          const REAL *g, const REAL *early,
                                                          const outer_states &outer)
{
    face_case f;
    begin_face(a, s, face, mine.e, mine.lane, mine.elem, neighbor, g, early, f);
    largest<NUM_JUMP> sizes;
#pragma unroll
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = face_node_of_lane(mine.lane, j);
        face_row row = row_of_face(a, face, m);
        REAL q[NUM_FIELD], in[NUM_TRACE], jumps[NUM_JUMP];
        load_own_state(q, s, mine.e, row.node);
        trace(q, f.f1, in);
        node_jumps(a, f, face, mine.elem, m, in, outer.q[j], jumps);
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++) {
            sizes.see(k, jumps[k]);
            if ((j + 1) * LANES <= NFP || mine.lane + j * LANES < NFP)
                s.s[(face * NFP + row.jump) * PITCH_S + k * TILE + mine.e] = jumps[k];
        }
    }
    sizes.put(s, jump_scale(face, 0), mine.e);
}

/* The state and the jumps of a tile: these not yet in all threads' eyes. */
static __device__ __forceinline__ void load_tensor_tile(const dg_args &a, tile &s, long long first, int count)
{
    lane_element mine = element_of_lane(first, count);
    NEIGHBORS neighbor;
    REAL g[WORDS], coef[COEF_EARLY ? NUM_FACE * NUM_FACE_COEF : 1];
    outer_states outer[NUM_FACE];
    clear_sizes(s);
    if (mine.works) {
        neighbor = __ldg((const NEIGHBORS *)a.neighbor + mine.elem);
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * mine.elem);
        if constexpr (COEF_EARLY)
            load_constant<NUM_FACE * NUM_FACE_COEF>(coef, (const REAL *)a.face_coef +
                                                              NUM_FACE * NUM_FACE_COEF * mine.elem);
        fetch_state(a, s, mine);
        copy_commit();
#define LOAD_OUTER(face, member) load_outer(a, mine.lane, neighbor.member, outer[face]);
        EACH_NEIGHBOR(LOAD_OUTER)
    }
    copy_wait<0>();
    __syncthreads();
    if (mine.works) {
#define JUMPS_OF_LANE(face, member)                                                                          \
    face_jumps_of_lane(a, s, face, mine, neighbor.member, g, coef, outer[face]);
        EACH_NEIGHBOR(JUMPS_OF_LANE)
    }
}

#endif
