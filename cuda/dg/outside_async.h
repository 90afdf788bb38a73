/* outside_async.h: what lies outside the ends of a block's lines is asked for when the block begins, without
 * registers, and lies in shared memory when the flux needs it; where that has no room (SHARED_OUTSIDE 0) it is read
 * when it is needed. A thread takes only what it asked for. The includer defines what line_ends.h asks for, and
 * NUM_LINES, the lines of a block. Next: lines.cu. */
#ifndef UNDA_DG_OUTSIDE_ASYNC_H
#define UNDA_DG_OUTSIDE_ASYNC_H

#include "common/async.h"
#include "dg/line_ends.h"

/* A state: fields in aligned vectors of 16 bytes, then those that are left. */
enum { PIECE = 16 / sizeof(REAL), NUM_PIECE = NUM_FIELD / PIECE, NUM_REST = NUM_FIELD % PIECE };

/* Where piece p (NUM_PIECE: the rest) at an end of a line stands: [piece][side][line]. */
static __device__ __forceinline__ int outside_spot(int p, int side, int number)
{
    return (p * 2 + side) * NUM_LINES * PIECE + (p < NUM_PIECE ? PIECE : NUM_REST) * number -
           (p == NUM_PIECE ? side * NUM_LINES * (PIECE - NUM_REST) : 0);
}

static __device__ __forceinline__ int2 neighbors_of(const dg_args &a, const line &at)
{
    return __ldg((const int2 *)a.neighbor + 3 * at.elem + at.axis);
}

/* number: the line's, in the block. */
static __device__ __forceinline__ void ask_outside(const dg_args &a, REAL *to, const line &at, int number)
{
    int2 neighbor = neighbors_of(a, at);
    const REAL *q = (const REAL *)a.q;
#pragma unroll
    for (int side = 0; side < 2; side++) {
        int code = side ? neighbor.y : neighbor.x;
        if (code < 0)
            continue;
        long long from =
            place(NEIGHBOR_ELEM(code), __ldg(a.face_node + NEIGHBOR_SIDE(code) * NFP + at.m));
#pragma unroll
        for (int p = 0; p < NUM_PIECE; p++)
            copy_async<PIECE>(to + outside_spot(p, side, number),
                              q + GROUP_INDEX(a.num_total * NP, NUM_FIELD, from, p * PIECE));
        if constexpr (NUM_REST > 0)
            copy_async<NUM_REST>(to + outside_spot(NUM_PIECE, side, number),
                                 q + GROUP_INDEX(a.num_total * NP, NUM_FIELD, from, NUM_PIECE * PIECE));
    }
}

/* After copy_wait. */
static __device__ __forceinline__ void take_outside(const dg_args &a, const REAL *from, const line &at,
                                                    int number, outside o[2])
{
    int2 neighbor = neighbors_of(a, at);
    o[0].neighbor = neighbor.x;
    o[1].neighbor = neighbor.y;
#pragma unroll
    for (int side = 0; side < 2; side++) {
        if (!SHARED_OUTSIDE || o[side].neighbor < 0) {
            load_outside_of(a, at.m, o[side]);
            continue;
        }
#pragma unroll
        for (int p = 0; p < NUM_PIECE; p++)
            load_vector<PIECE>(o[side].q + p * PIECE, from + outside_spot(p, side, number));
#pragma unroll
        for (int i = 0; i < NUM_REST; i++)
            o[side].q[NUM_PIECE * PIECE + i] = from[outside_spot(NUM_PIECE, side, number) + i];
    }
}

#endif
