/* tile.h: what a block does before the products: the state of TILE elements, in reference components, and the
 * jumps at all their face nodes, in shared memory. The includer defines REAL, DEGREE, PHYSICS, FLUX_CENTRAL,
 * TILE, THREADS. Next: fused.cu, node.cu. */
#ifndef UNDA_DG_TILE_H
#define UNDA_DG_TILE_H

#include "common/args.h"
#include "common/index.h"

#define FN(name) name
#define VAL      REAL
#define DEVICE   static __device__ __forceinline__
#include PHYSICS
#include "common/vector.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

enum {
    NP = (DEGREE + 1) * (DEGREE + 2) * (DEGREE + 3) / 6,
    NFP = (DEGREE + 1) * (DEGREE + 2) / 2,
    BLOCK_THREADS = THREADS,
    WORDS = ELEM_WORDS(NUM_COEF),
    /* LANES threads share an element, each with LOADS nodes and FACE_LOADS nodes of every face. PAD spreads
     * them over the banks of shared memory. */
    LANES = THREADS < 2 * TILE ? 1 : LEAST(THREADS / TILE, NFP),
    LOADS = (NP + LANES - 1) / LANES,
    FACE_LOADS = (NFP + LANES - 1) / LANES,
    PAD = (LANES == 2                 ? 64
           : LANES == 3 || LANES == 4 ? 32
                                      : 16) /
          sizeof(REAL),
    PITCH_U = NUM_REF * TILE + PAD,
    PITCH_S = NUM_JUMP * TILE + PAD
};

struct tile {
    REAL u[NP * PITCH_U];      /* [node][NUM_REF][TILE] */
    REAL s[4 * NFP * PITCH_S]; /* [face node][NUM_JUMP][TILE] */
    REAL last[4][TILE];        /* last entry of face_coef */
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

/* State of element e, in reference components, into shared memory. */
static __device__ __forceinline__ void load_state(const REAL *q, tile &s, int e, int lane, const REAL *g)
{
#pragma unroll 4
    for (int j = 0; j < LOADS; j++) {
        int n = lane + j * LANES;
        REAL q1[NUM_FIELD], u1[NUM_REF];
        if (NP % LANES && n >= NP)
            break;
        load_constant<NUM_FIELD>(q1, q + n * NUM_FIELD);
        to_reference(q1, g, u1);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            s.u[n * PITCH_U + f * TILE + e] = u1[f];
    }
}

/* Jumps at the nodes of one face of element e. */
static __device__ __forceinline__ void face_jumps(const dg_args &a, tile &s, int face, int e, int lane,
                                                  int neighbor, const REAL *g, const REAL *coef)
{
    REAL normal[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        normal[k] = face == 0 ? g[k] + g[3 + k] + g[6 + k] : -g[3 * (face - 1) + k];
    bool inside = neighbor >= 0, exact = neighbor <= -1 - BOUNDARY_EXACT;
    REAL absorbing = neighbor == -1 - BOUNDARY_ABSORBING, sign[NUM_TRACE];
    mirror(-1 - neighbor, sign);
    /* Where the outer states stand: in the neighbour, or among the exact data. */
    const REAL *outer = (const REAL *)a.q + (long long)(neighbor >> 2) * (NP * NUM_FIELD);
    const int *own = a.face_node + face * NFP, *other = a.face_node + (neighbor & 3) * NFP;
    if (exact) {
        long long slot = (*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
        outer = (const REAL *)a.exact + slot * (NFP * NUM_FIELD);
    }
#pragma unroll 4
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = lane + j * LANES;
        REAL q[NUM_FIELD], u1[NUM_REF], in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP];
        if (NFP % LANES && m >= NFP)
            break;
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] = 0;
        if (inside || exact)
            load_constant<NUM_FIELD>(q, outer + (inside ? __ldg(other + m) : m) * NUM_FIELD);
        int node = __ldg(own + m);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            u1[f] = s.u[node * PITCH_U + f * TILE + e];
        trace_reference(u1, face, in);
        trace(q, normal, out);
        if (!inside && !exact) {
#pragma unroll
            for (int k = 0; k < NUM_TRACE; k++)
                out[k] = sign[k] * in[k];
        }
        jump(in, out, coef, absorbing, jumps);
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            s.s[(face * NFP + m) * PITCH_S + k * TILE + e] = jumps[k];
    }
}

/* State and jumps of the tile's elements into shared memory. */
static __device__ __forceinline__ void load_tile(const dg_args &a, tile &s, long long first, int count)
{
    constexpr int PASSES = (TILE * LANES + THREADS - 1) / THREADS;
    REAL g[PASSES][WORDS], coef[PASSES][4 * NUM_FACE_COEF];
    int4 neighbor[PASSES];
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = i / LANES;
        long long elem = first + (e < count ? e : count - 1);
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        neighbor[pass] = __ldg((const int4 *)a.neighbor + elem);
        load_constant<WORDS>(g[pass], (const REAL *)a.record + WORDS * elem);
        load_constant<4 * NUM_FACE_COEF>(coef[pass], (const REAL *)a.face_coef + 4 * NUM_FACE_COEF * elem);
        load_state((const REAL *)a.q + elem * (NP * NUM_FIELD), s, e, i % LANES, g[pass]);
    }
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = i / LANES, lane = i % LANES;
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        face_jumps(a, s, 0, e, lane, neighbor[pass].x, g[pass], coef[pass]);
        face_jumps(a, s, 1, e, lane, neighbor[pass].y, g[pass], coef[pass] + NUM_FACE_COEF);
        face_jumps(a, s, 2, e, lane, neighbor[pass].z, g[pass], coef[pass] + 2 * NUM_FACE_COEF);
        face_jumps(a, s, 3, e, lane, neighbor[pass].w, g[pass], coef[pass] + 3 * NUM_FACE_COEF);
        if (lane == 0)
#pragma unroll
            for (int face = 0; face < 4; face++)
                s.last[face][e] = coef[pass][(face + 1) * NUM_FACE_COEF - 1];
    }
}

#endif
