/* block_seen.h: what threads of kernel blocks (SPLIT) do besides while they fill a tile: they keep the largest sizes of its
 * numbers, and ask early for the states behind all faces. Part of tile.h. */
#ifndef UNDA_DG_BLOCK_SEEN_H
#define UNDA_DG_BLOCK_SEEN_H

#include "dg/block_sizes.h"

#include "common/async.h" /* with DEVICE of case.h */

/* The largest of what a thread sees of NUM kinds, and of the threads beside it. */
template <int NUM> struct largest_seen {
    REAL of[NUM];
    __device__ __forceinline__ largest_seen() : of()
    {
    }
    __device__ __forceinline__ void see(int i, REAL x)
    {
        of[i] = fmaxf(of[i], fabsf(x));
    }
    /* As first, first + 1, .. of element e; lane: of its LANES. */
    __device__ __forceinline__ void put(tile &s, int first, int e, int lane) const
    {
        static_assert(TILE * LANES % 32 == 0, "warps are whole");
#pragma unroll
        for (int i = 0; i < NUM; i++) {
            REAL most = of[i];
#pragma unroll
            for (int apart = 1; apart < GROUP; apart *= 2)
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 4 * apart)); /* of the same element: lane_of */
            if (lane % GROUP == 0)
                s.seen[first + i][lane / GROUP][e] = most;
        }
    }
};

/* The largest sizes of fields: after all have seen theirs. */
static __device__ __forceinline__ void gather_fields(tile &s)
{
    for (int i = threadIdx.x; i < FIELD_KINDS * TILE; i += THREADS) {
        int kind = i / TILE, e = i % TILE, most = LEAST_SIZE;
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            int one = (int)__float_as_uint(s.seen[kind][slot][e]);
            most = one > most ? one : most;
        }
        s.most[kind][e] = most;
    }
}

enum { BEHIND_EARLY = FACE_LOADS <= 2 }; /* in registers */

/* States behind all faces at the nodes of a lane; at boundaries of this element, which nobody needs. */
struct behind_faces {
    REAL q[NUM_FACE][BEHIND_EARLY ? FACE_LOADS : 1][NUM_FIELD];
};

/* As load_groups of common/vector.h, here and not where they are used, behind a barrier. */
template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void load_groups_now(REAL *to, const REAL *array, long long total,
                                                       long long item)
{
    constexpr int GROUP_WORDS = GROUP_WIDTH(NUM, FIRST / 4);
    load_now<GROUP_WORDS>(to + FIRST, array + FIRST * total + item * GROUP_WORDS);
    if constexpr (FIRST + GROUP_WORDS < NUM)
        load_groups_now<NUM, FIRST + GROUP_WORDS>(to, array, total, item);
}

static __device__ __forceinline__ void ask_behind(const dg_args &a, const NEIGHBORS &neighbors,
                                                  long long elem, int lane, behind_faces &to)
{
    if constexpr (BEHIND_EARLY) {
        int neighbor[NUM_FACE], node[NUM_FACE][FACE_LOADS];
#define COPY_NEIGHBOR(face, member) neighbor[face] = neighbors.member;
        EACH_NEIGHBOR(COPY_NEIGHBOR)
        /* all at once, and then what needs them */
#pragma unroll
        for (int face = 0; face < NUM_FACE; face++)
#pragma unroll
            for (int j = 0; j < FACE_LOADS; j++) {
                int m = lane + j * LANES, side = neighbor[face] >= 0 ? NEIGHBOR_SIDE(neighbor[face]) : 0;
                node[face][j] = __ldg(a.face_node + side * NFP + (m < NFP ? m : NFP - 1));
            }
#pragma unroll
        for (int face = 0; face < NUM_FACE; face++)
#pragma unroll
            for (int j = 0; j < FACE_LOADS; j++)
                load_groups_now<NUM_FIELD>(
                    to.q[face][j], (const REAL *)a.q, a.num_total * NP,
                    place(neighbor[face] >= 0 ? NEIGHBOR_ELEM(neighbor[face]) : elem, 0) + node[face][j]);
    }
}

/* The state behind a face at load j of the lane, if it was asked for. */
static __device__ __forceinline__ bool take_behind(const behind_faces &from, int face, int j, REAL *q)
{
    if constexpr (BEHIND_EARLY)
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] = from.q[face][j][f];
    return BEHIND_EARLY;
}

#endif
