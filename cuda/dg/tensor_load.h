/* tensor_load.h: the state of a tile of kernel tensor into shared memory, as it comes, and the jumps of its faces. */
#ifndef UNDA_DG_TENSOR_LOAD_H
#define UNDA_DG_TENSOR_LOAD_H

#include "dg/tensor_sizes.h"

#include "common/async.h"

/* Whether a thread asks early for rows and old states, and splits its states before it needs those behind faces: below
 * degree 5 few nodes share many registers' worth of them, and it lost (benchmarks/NOTES.md). */
enum {
    BEHIND_FACES = NUM_FACE * FACE_LOADS * (NUM_FIELD + 1), /* registers */
    EARLY = (DEGREE >= 5 || GRAD_DIV == 0) && BEHIND_FACES <= 84 && THREADS * MIN_BLOCKS <= 400
};

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
    int row[FACE_LOADS]; /* of tensor_rows.h */
};
static __device__ __forceinline__ int face_node_of_lane(int lane, int j)
{
    int m = lane + j * LANES;
    return (j + 1) * LANES <= NFP || m < NFP ? m : NFP - 1;
}
static __device__ __forceinline__ void load_rows(const dg_args &a, int face, int lane, int row[FACE_LOADS])
{
#pragma unroll
    for (int j = 0; j < FACE_LOADS; j++)
        row[j] = __ldg(a.table + FACE_ROWS + face * NFP + face_node_of_lane(lane, j));
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
                                                          outer_states &outer)
{
    face_case f;
    if (!EARLY)
        load_rows(a, face, mine.lane, outer.row);
    begin_face(a, s, face, mine.e, mine.lane, mine.elem, neighbor, g, early, f);
    largest<NUM_JUMP> sizes;
#pragma unroll
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = face_node_of_lane(mine.lane, j);
        face_row row = row_of_face(outer.row[j]);
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

/* What a lane has asked for of its element's faces before the state has come. */
struct faces_of_lane {
    lane_element mine;
    NEIGHBORS neighbor;
    REAL g[WORDS], coef[COEF_EARLY ? NUM_FACE * NUM_FACE_COEF : 1];
    outer_states outer[NUM_FACE];
};

/* Asks for the states of a tile, inside and behind its faces; those inside are there when this is done. */
static __device__ __forceinline__ void load_states(const dg_args &a, tile &s, long long first, int count,
                                                   faces_of_lane &to)
{
    to.mine = element_of_lane(first, count);
    clear_sizes(s);
    if (to.mine.works) {
        to.neighbor = __ldg((const NEIGHBORS *)a.neighbor + to.mine.elem);
        load_constant<WORDS>(to.g, (const REAL *)a.record + RECORD * to.mine.elem);
        if constexpr (COEF_EARLY)
            load_constant<NUM_FACE * NUM_FACE_COEF>(to.coef, (const REAL *)a.face_coef +
                                                                 NUM_FACE * NUM_FACE_COEF * to.mine.elem);
        fetch_state(a, s, to.mine);
        copy_commit();
        if (EARLY)
#pragma unroll
            for (int face = 0; face < NUM_FACE; face++)
                load_rows(a, face, to.mine.lane, to.outer[face].row);
#define LOAD_OUTER(face, member) load_outer(a, to.mine.lane, to.neighbor.member, to.outer[face]);
        EACH_NEIGHBOR(LOAD_OUTER)
    }
    copy_wait<0>();
    __syncthreads();
}

/* The jumps of a tile: not yet in all threads' eyes. */
static __device__ __forceinline__ void tile_jumps(const dg_args &a, tile &s, faces_of_lane &from)
{
    if (!from.mine.works)
        return;
#define JUMPS_OF_LANE(face, member)                                                                          \
    face_jumps_of_lane(a, s, face, from.mine, from.neighbor.member, from.g, from.coef, from.outer[face]);
    EACH_NEIGHBOR(JUMPS_OF_LANE)
}

#endif
