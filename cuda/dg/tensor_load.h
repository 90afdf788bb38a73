/* tensor_load.h: the state of a tile of kernel tensor into shared memory, as it comes, and the jumps of its faces. Of the
 * threads of an element each has nodes of one face. */
#ifndef UNDA_DG_TENSOR_LOAD_H
#define UNDA_DG_TENSOR_LOAD_H

#include "dg/tensor_sizes.h"

#include "common/async.h"

/* Whether a thread asks early for rows and old states, and splits its states before it needs those behind faces: below
 * degree 4 few nodes share many registers' worth of them, and it lost (benchmarks/NOTES.md). */
enum {
    FACE_LANES = LANES / NUM_FACE, /* that share a face */
    FACE_STEPS = (NFP + FACE_LANES - 1) / FACE_LANES,
    BEHIND_FACES = FACE_STEPS * (NUM_FIELD + 1), /* registers */
    INSIDE = NP * NUM_REF * TILE / THREADS,
    /* beside eight nodes more sums and coefficients of each node leave it no registers */
    EARLY = (DEGREE >= 4 || GRAD_DIV == 0) && BEHIND_FACES <= 84 && BEHIND_FACES + INSIDE <= 130 &&
            THREADS * MIN_BLOCKS <= 400 && !(REST && NUM_FIELD > 6 && BY_NODE)
};

/* LANES threads share an element, as in tile.h, and FACE_LANES its face. */
static_assert(LANES % NUM_FACE == 0, "every thread has a face");
struct lane_element {
    int e, lane, face, within;
    long long elem;
};
static __device__ __forceinline__ lane_element element_of_lane(long long first, int count)
{
    int e = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    return {e, lane, lane / FACE_LANES, lane % FACE_LANES, first + (e < count ? e : count - 1)};
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
    REAL q[FACE_STEPS][NUM_FIELD];
    int row[FACE_STEPS]; /* of tensor_rows.h */
};
static __device__ __forceinline__ int face_node_of_lane(int within, int j)
{
    int m = within + j * FACE_LANES;
    return (j + 1) * FACE_LANES <= NFP || m < NFP ? m : NFP - 1;
}
static __device__ __forceinline__ void load_rows(const dg_args &a, int face, int within, int row[FACE_STEPS])
{
#pragma unroll
    for (int j = 0; j < FACE_STEPS; j++)
        row[j] = __ldg(a.table + FACE_ROWS + face * NFP + face_node_of_lane(within, j));
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
static __device__ __forceinline__ void load_outer(const dg_args &a, const lane_element &mine, int neighbor,
                                                  outer_states &to)
{
    int node[FACE_STEPS];
    /* all at once, and then what needs them */
#pragma unroll
    for (int j = 0; j < FACE_STEPS; j++)
        node[j] = __ldg(a.face_node + (neighbor >= 0 ? NEIGHBOR_SIDE(neighbor) : 0) * NFP +
                        face_node_of_lane(mine.within, j));
    long long outer = place(neighbor >= 0 ? NEIGHBOR_ELEM(neighbor) : mine.elem, 0);
#pragma unroll
    for (int j = 0; j < FACE_STEPS; j++)
        load_groups_now<NUM_FIELD>(to.q[j], (const REAL *)a.q, a.num_total * NP, outer + node[j]);
}

/* The frame of a face whose number may differ between lanes: what they have in registers has no address. */
static __device__ __forceinline__ void frame_of_lane(const REAL *g, int face, REAL f1[NUM_FRAME])
{
    frame(g, 0, f1);
#pragma unroll
    for (int other = 1; other < NUM_FACE; other++) {
        REAL frame1[NUM_FRAME];
        frame(g, other, frame1);
#pragma unroll
        for (int i = 0; i < NUM_FRAME; i++)
            f1[i] = face == other ? frame1[i] : f1[i];
    }
}

/* What a lane has asked for of its element's face before the state has come. */
struct face_of_lane {
    lane_element mine;
    int neighbor;
    REAL g[WORDS], coef[COEF_EARLY ? NUM_FACE_COEF : 1];
    outer_states outer;
};

/* Asks for the states of a tile, inside and behind its faces. */
static __device__ __forceinline__ void ask_states(const dg_args &a, tile &s, long long first, int count,
                                                  face_of_lane &to)
{
    to.mine = element_of_lane(first, count);
    /* what the longest wait begins with */
    NEIGHBORS all = load_now((const NEIGHBORS *)a.neighbor + to.mine.elem);
#define OF_LANE(number, member)                                                                              \
    if (to.mine.face == number)                                                                              \
        to.neighbor = all.member;
    EACH_NEIGHBOR(OF_LANE)
    load_constant<WORDS>(to.g, (const REAL *)a.record + RECORD * to.mine.elem);
    if constexpr (COEF_EARLY)
        load_constant<NUM_FACE_COEF>(to.coef, (const REAL *)a.face_coef +
                                                  NUM_FACE_COEF * (NUM_FACE * to.mine.elem + to.mine.face));
    fetch_state(a, s, to.mine);
    copy_commit();
    if (EARLY)
        load_rows(a, to.mine.face, to.mine.within, to.outer.row);
    load_outer(a, to.mine, to.neighbor, to.outer);
}

/* What is to be lifted, and the sizes of it: not yet in all threads' eyes. */
static __device__ __forceinline__ void tile_jumps(const dg_args &a, tile &s, face_of_lane &from)
{
    face_case f;
    const lane_element &mine = from.mine;
    outer_states &outer = from.outer;
    int face = mine.face;
    if (!EARLY)
        load_rows(a, face, mine.within, outer.row);
    frame_of_lane(from.g, face, f.f1);
    begin_face_of_frame(a, s, face, mine.e, mine.within, mine.elem, from.neighbor, from.coef, f);
    if (f.exact) {
        const REAL *data = exact_data(a, from.neighbor);
#pragma unroll
        for (int j = 0; j < FACE_STEPS; j++)
            load_constant<NUM_FIELD>(outer.q[j], data + face_node_of_lane(mine.within, j) * NUM_FIELD);
    }
    largest sizes;
    REAL lift_coef[NUM_LIFT_COEF];
    if (!BY_NODE) /* otherwise nothing depends on it */
        lift_coefficients(f.f1, f.coef, lift_coef);
#pragma unroll
    for (int j = 0; j < FACE_STEPS; j++) {
        int m = face_node_of_lane(mine.within, j);
        face_row row = row_of_face(outer.row[j]);
        REAL q[NUM_FIELD], in[NUM_TRACE], jumps[NUM_JUMP], z[NUM_TRACE];
        load_own_state(q, s, mine.e, row.node);
        trace(q, f.f1, in);
        node_jumps(a, f, face, mine.elem, m, in, outer.q[j], jumps);
        lifted(jumps, lift_coef, z);
#pragma unroll
        for (int k = 0; k < NUM_TRACE; k++)
            sizes.see(trace_scale(k), z[k]);
#pragma unroll
        for (int k = 0; k < TILE_JUMPS; k++)
            if ((j + 1) * FACE_LANES <= NFP || mine.within + j * FACE_LANES < NFP)
                s.s[(face * NFP + row.jump) * PITCH_S + k * TILE + mine.e] = TILE_LIFTED ? z[k] : jumps[k];
    }
    sizes.put<LANES % 8 ? 4 : 8>(s, mine.e);
}

#endif
