/* microblock_faces.h: the flux at faces of a block of kernel microblock, pair by pair: what all fields gain at a face
 * node, but for the lift and the material. The list of pairs: csrc/dg/kernel_microblock.c. */
#ifndef UNDA_DG_MICROBLOCK_FACES_H
#define UNDA_DG_MICROBLOCK_FACES_H

#include "dg/wave.h"

enum {
    NUM_PAIR = MB * KM * NUM_FACE, /* at most, in a block */
    TABLE_HEAD = 4,                /* ends of the three kinds of pairs in the list */
    TABLE = TABLE_HEAD + 2 * NUM_PAIR
};

/* Behind an element of the block, behind one of another block, behind a boundary. */
enum pair_kind { INSIDE, OUTSIDE, BOUNDARY };

struct face_block {
    REAL flux[NUM_FIELD][MB * NFM]; /* as in memory: [microblock][element][face][node], padded */
    int table[TABLE];               /* ends, then {face, neighbour} */
    long long first;                /* element of the block */
};

/* Stores or adds the jumps at node m of a face of the block. */
static __device__ __forceinline__ void put_jumps(face_block &b, int face, int m, const face_side &side,
                                                 const REAL *jumps, bool add)
{
    REAL lift_coef[NUM_LIFT_COEF], acc[NUM_ACC] = {}, w[NUM_FIELD];
    int e = (int)(FACE_ELEM(face) - b.first);
    int at = e / KM * NFM + (e % KM * NUM_FACE + FACE_LOCAL(face)) * NFP + m;
    lift_coefficients(side.frame, side.coef, lift_coef);
    apply_lift(jumps, FACE_LOCAL(face), lift_coef, acc);
    without_material(acc, side.g, w);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        b.flux[f][at] = add ? b.flux[f][at] + w[f] : w[f];
}

/* The flux at node m on one side of a pair; neighbor: what lies behind it. */
template <pair_kind KIND>
static __device__ __forceinline__ void put_side(const dg_args &a, face_block &b, int face, int neighbor,
                                                int m, const REAL *own, const REAL *other)
{
    face_side side;
    REAL in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP];
    load_side(a, face, side);
    load_side_node(a, face, m, side);
    trace(own, side.frame, in);
    trace(other, side.frame, out);
    if (KIND == BOUNDARY && neighbor > -1 - BOUNDARY_EXACT) {
        REAL weight[NUM_MIRROR];
        mirror(-1 - neighbor, weight);
        reflect(in, side.frame, side.coef, weight, out);
    }
    REAL upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING;
    jump(in, out, side.frame, side.coef, upwind, jumps);
    put_jumps(b, face, m, side, jumps, false);
}

/* The state at node m of a face. */
static __device__ __forceinline__ void load_face_node(const dg_args &a, int face, int m, REAL *q)
{
    int node = __ldg(a.face_node + FACE_LOCAL(face) * NFP + m);
    load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, place(FACE_ELEM(face), node));
}

/* Both sides list the nodes of a face in the same order, and a neighbour is a face of its element. */
template <pair_kind KIND>
static __device__ __forceinline__ void put_pair(const dg_args &a, face_block &b, int pair, int m)
{
    int face = b.table[TABLE_HEAD + 2 * pair], neighbor = b.table[TABLE_HEAD + 2 * pair + 1];
    REAL own[NUM_FIELD], other[NUM_FIELD] = {};
    load_face_node(a, face, m, own);
    if (KIND != BOUNDARY)
        load_face_node(a, neighbor, m, other);
    else if (neighbor <= -1 - BOUNDARY_EXACT)
        load_constant<NUM_FIELD>(
            other, (const REAL *)a.exact +
                       ((*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor)) *
                           (NFP * NUM_FIELD) +
                       m * NUM_FIELD);
    put_side<KIND>(a, b, face, neighbor, m, own, other);
    if (KIND == INSIDE)
        put_side<KIND>(a, b, neighbor, face, m, other, own);
}

/* Those of the incident waves that reach the block. Several may reach a face, which one thread adds at a node. */
static __device__ __forceinline__ void add_waves(const dg_args &a, face_block &b, int group, int m)
{
    const int *range = a.incident_range + (int)(b.first - a.first) / TILE;
    long long end = b.first + MB * KM;
#pragma unroll 1
    for (int i = range[0]; i < range[1]; i++) {
        int face = a.incident[i].face;
        if (FACE_ELEM(face) < b.first || FACE_ELEM(face) >= end || face % FLUX_WP != group)
            continue;
        face_side side;
        REAL jumps[NUM_JUMP];
        load_side(a, face, side);
        load_side_node(a, face, m, side);
        wave_jumps(a, a.incident[i], side, m, jumps);
        put_jumps(b, face, m, side, jumps, true);
    }
}

#endif
