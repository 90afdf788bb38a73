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

/* The neighbour's states at a lane's nodes of one face. */
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
/* As load_groups of common/vector.h, here and not where it is used, behind a barrier. */
template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void load_groups_now(REAL *to, const REAL *array, long long total,
                                                       long long item)
{
    constexpr int WIDTH = GROUP_WIDTH(NUM, FIRST / 4);
    load_now<WIDTH>(to + FIRST, array + FIRST * total + item * WIDTH);
    if constexpr (FIRST + WIDTH < NUM)
        load_groups_now<NUM, FIRST + WIDTH>(to, array, total, item);
}

/* At boundaries: of this element, which nobody needs. */
static __device__ __forceinline__ void load_outer(const dg_args &a, const lane_element &mine,
                                                  const int (&neighbor)[NUM_FACE],
                                                  outer_states (&to)[NUM_FACE])
{
    int node[NUM_FACE][FACE_LOADS];
    /* all at once, and then what needs them */
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++)
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
            node[face][j] =
                __ldg(a.face_node + (neighbor[face] >= 0 ? NEIGHBOR_SIDE(neighbor[face]) : 0) * NFP +
                      face_node_of_lane(mine.lane, j));
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++) {
        long long outer = place(neighbor[face] >= 0 ? NEIGHBOR_ELEM(neighbor[face]) : mine.elem, 0);
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
            load_groups_now<NUM_FIELD>(to[face].q[j], (const REAL *)a.q, a.num_total * NP,
                                       outer + node[face][j]);
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
    if (f.exact) {
        const REAL *data = exact_data(a, neighbor);
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++)
            load_constant<NUM_FIELD>(outer.q[j], data + face_node_of_lane(mine.lane, j) * NUM_FIELD);
    }
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

/* Asks for the states of a tile, inside and behind its faces. */
static __device__ __forceinline__ void ask_states(const dg_args &a, tile &s, long long first, int count,
                                                  faces_of_lane &to)
{
    to.mine = element_of_lane(first, count);
    if (to.mine.works) {
        /* what the longest wait begins with */
        to.neighbor = load_now((const NEIGHBORS *)a.neighbor + to.mine.elem);
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
        int neighbor[NUM_FACE];
#define COPY_NEIGHBOR(face, member) neighbor[face] = to.neighbor.member;
        EACH_NEIGHBOR(COPY_NEIGHBOR)
        load_outer(a, to.mine, neighbor, to.outer);
    }
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
