/* tile.h: prepares the matrix products of a block: the state of TILE elements, in reference components, and
 * the jumps at all their face nodes, in shared memory. The includer defines REAL, DEGREE, PHYSICS, SPACE,
 * FLUX_CENTRAL, MATERIAL_NODES, LAYOUT, TILE, THREADS, COLS. Next: products.h, node.cu. */
#ifndef UNDA_DG_TILE_H
#define UNDA_DG_TILE_H

#include "dg/record.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#ifndef RUN
#define RUN COLS /* elements beside each other that a thread reads at once */
#endif
#ifndef TILE_ROOM
#define TILE_ROOM 0 /* words behind the state, which is followed by something larger in its place */
#endif
#ifndef TILE_WORDS
#define TILE_WORDS (NP * PITCH_U + TILE_ROOM)
#endif
#ifndef TILE_JUMPS
#define TILE_JUMPS NUM_JUMP
#endif
#ifndef TILE_LIFTED
#define TILE_LIFTED                                                                                          \
    0 /* 1: what stands in the place of jumps is `lifted` of them, which every thread finds of its own */
#endif
#ifndef TILE_LANES
#define TILE_LANES LEAST(THREADS / TILE, NFP)
#endif

enum {
    BLOCK_THREADS = THREADS,
    /* LANES threads share an element, each with LOADS nodes and FACE_LOADS nodes of every face. */
    LANES = THREADS < 2 * TILE ? 1 : TILE_LANES,
    LOADS = (NP + LANES - 1) / LANES,
    FACE_LOADS = (NFP + LANES - 1) / LANES,
    /* Few coefficients of faces are loaded early and stay in registers, many are read face by face. */
    COEF_EARLY = NUM_FACE_COEF <= 4 && !BY_NODE,
    /* Neighbouring nodes stand in different banks, PAD beside each other; runs of elements stay aligned. */
    BANKS = 128 / sizeof(REAL),
    ALIGNED = RUN * sizeof(REAL) < 16 ? RUN : 16 / sizeof(REAL),
#ifdef TILE_PAD
    PAD = TILE_PAD,
#else
    PAD = ((BANKS + LANES - 1) / LANES + ALIGNED - 1) / ALIGNED * ALIGNED % BANKS,
#endif
#ifdef TILE_SEES
    PITCH_U = ODD_QUADS(NUM_REF * TILE),
    PITCH_S = ODD_QUADS(NUM_JUMP * TILE)
#else
    PITCH_U = NUM_REF * TILE + PAD,
    PITCH_S = TILE_JUMPS * TILE + PAD
#endif
};

/* Element and lane of thread i of those that fill the tile. */
struct element_lane {
    int e, lane;
};
static __device__ __forceinline__ element_lane lane_of(int i)
{
#ifdef TILE_SEES /* four elements side by side: their words and those of eight nodes stand in different banks */
    return {i % 4 + i / (4 * LANES) * 4, i / 4 % LANES};
#else
    return {i / LANES, i % LANES};
#endif
}

struct tile {
    __align__(16) REAL u[TILE_WORDS];               /* [node][NUM_REF][TILE] */
    __align__(16) REAL s[NUM_FACE * NFP * PITCH_S]; /* [face node][TILE_JUMPS][TILE] */
    __align__(16) REAL lift_coef[NUM_FACE][NUM_LIFT_COEF][TILE];
#ifdef TILE_SIZES
    __align__(16) int most[NUM_SCALE][TILE]; /* tensor_sizes.h */
#endif
#ifdef TILE_SEES
    TILE_SEEN /* block_sizes.h */
#endif
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

#ifdef TILE_SEES
#include "dg/block_seen.h"
#else /* nobody asks for the largest sizes of numbers, nor early for the states behind faces */
template <int> struct largest_seen {
    __device__ __forceinline__ void see(int, REAL)
    {
    }
    __device__ __forceinline__ void put(tile &, int, int, int) const
    {
    }
};
struct behind_faces {
};
enum { FIELD_KINDS = 1 };
static __device__ constexpr int field_kind(int)
{
    return 0;
}
static __device__ constexpr int jump_seen(int, int)
{
    return 0;
}
static __device__ __forceinline__ void gather_fields(tile &)
{
}
static __device__ __forceinline__ void ask_behind(const dg_args &, const NEIGHBORS &, long long, int,
                                                  behind_faces &)
{
}
static __device__ __forceinline__ bool take_behind(const behind_faces &, int, int, REAL *)
{
    return false;
}
#endif

/* State of element e, in reference components, into shared memory. */
static __device__ __forceinline__ void load_state(const dg_args &a, tile &s, long long elem, int e, int lane,
                                                  const REAL *g)
{
    largest_seen<FIELD_KINDS> sizes;
#pragma unroll 4
    for (int j = 0; j < LOADS; j++) {
        int n = lane + j * LANES;
        REAL q1[NUM_FIELD], u1[NUM_REF];
        if (NP % LANES && n >= NP)
            break;
        load_node<NUM_FIELD>(q1, (const REAL *)a.q, a.num_total * NP, place(elem, n));
        to_reference(q1, g, u1);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            s.u[n * PITCH_U + f * TILE + e] = u1[f];
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            sizes.see(field_kind(f), u1[f]);
    }
    sizes.put(s, 0, e, lane);
}

/* What the jumps of a face need besides the states on both sides. */
struct face_case {
    REAL f1[NUM_FRAME], coef[NUM_FACE_COEF], upwind, weight[NUM_MIRROR];
    bool inside, exact;
};

/* Of face of element e, whose frame `to` has; leaves its coefficients of lifted jumps in shared memory. early: of this
 * face. */
static __device__ __forceinline__ void begin_face_of_frame(const dg_args &a, tile &s, int face, int e,
                                                           int lane, long long elem, int neighbor,
                                                           const REAL *early, face_case &to)
{
    to.inside = neighbor >= 0;
    to.exact = neighbor <= -1 - BOUNDARY_EXACT;
    if constexpr (COEF_EARLY) {
#pragma unroll
        for (int i = 0; i < NUM_FACE_COEF; i++)
            to.coef[i] = early[i];
    } else if constexpr (!BY_NODE) {
        const REAL *from = (const REAL *)a.face_coef;
        long long at = NUM_FACE * elem + face;
        load_constant<4>(to.coef, from + 4 * at); /* all that `jump` needs of the upwind flux */
        if (FLUX_CENTRAL || TILE_LIFTED || lane == 0 || !to.inside)
            load_constant<NUM_FACE_COEF - 4>(to.coef + 4,
                                             from + 4 * a.num_coef_face + (NUM_FACE_COEF - 4) * at);
    }
    if (lane == 0 && !BY_NODE) {
        REAL lift_coef[NUM_LIFT_COEF];
        lift_coefficients(to.f1, to.coef, lift_coef);
#pragma unroll
        for (int k = 0; k < NUM_LIFT_COEF; k++)
            s.lift_coef[face][k][e] = lift_coef[k];
    }
    to.upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING;
    mirror(-1 - neighbor, to.weight);
}
static __device__ __forceinline__ void begin_face(const dg_args &a, tile &s, int face, int e, int lane,
                                                  long long elem, int neighbor, const REAL *g,
                                                  const REAL *early, face_case &to)
{
    frame(g, face, to.f1);
    begin_face_of_frame(a, s, face, e, lane, elem, neighbor, early + (COEF_EARLY ? face * NUM_FACE_COEF : 0),
                        to);
}

/* The given outer states of a face: [NFP][NUM_FIELD]. */
static __device__ __forceinline__ const REAL *exact_data(const dg_args &a, int neighbor)
{
    const REAL *data = (const REAL *)a.exact;
    if (neighbor <= -1 - BOUNDARY_EXACT)
        data +=
            ((*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor)) * (NFP * NUM_FIELD);
    return data;
}

/* Jumps at node m from the inner trace and the outer state, where there is one. */
static __device__ __forceinline__ void node_jumps(const dg_args &a, face_case &f, int face, long long elem,
                                                  int m, const REAL *in, const REAL *q, REAL *jumps)
{
    REAL out[NUM_TRACE];
    if (BY_NODE)
        load_groups<NUM_FACE_COEF>(f.coef, (const REAL *)a.face_coef, a.num_coef_face,
                                   (NUM_FACE * elem + face) * NFP + m);
    trace(q, f.f1, out);
    if (!f.inside && !f.exact)
        reflect(in, f.f1, f.coef, f.weight, out);
    jump(in, out, f.f1, f.coef, f.upwind, jumps);
}

/* Jumps at the nodes of one face of element e. */
static __device__ __forceinline__ void face_jumps(const dg_args &a, tile &s, int face, int e, int lane,
                                                  long long elem, int neighbor, const REAL *g,
                                                  const REAL *early, const behind_faces &states)
{
    face_case f;
    begin_face(a, s, face, e, lane, elem, neighbor, g, early, f);
    long long outer = place(NEIGHBOR_ELEM(neighbor), 0);
    const int *own = a.face_node + face * NFP, *other = a.face_node + NEIGHBOR_SIDE(neighbor) * NFP;
    const REAL *data = exact_data(a, neighbor);
    largest_seen<NUM_JUMP> sizes;
#pragma unroll 4
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = lane + j * LANES;
        REAL q[NUM_FIELD], u1[NUM_REF], in[NUM_TRACE], jumps[NUM_JUMP];
        if (NFP % LANES && m >= NFP)
            break;
#pragma unroll
        for (int f1 = 0; f1 < NUM_FIELD; f1++)
            q[f1] = 0;
        if (!take_behind(states, face, j, q) && f.inside)
            load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP,
                                 outer + (long long)__ldg(other + m) * NODE_STRIDE(NUM_FIELD));
        if (f.exact)
            load_constant<NUM_FIELD>(q, data + m * NUM_FIELD);
        int node = __ldg(own + m);
#pragma unroll
        for (int f1 = 0; f1 < NUM_REF; f1++)
            u1[f1] = s.u[node * PITCH_U + f1 * TILE + e];
        trace_reference(u1, face, in);
        node_jumps(a, f, face, elem, m, in, q, jumps);
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            s.s[(face * NFP + m) * PITCH_S + k * TILE + e] = jumps[k];
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            sizes.see(k, jumps[k]);
    }
    sizes.put(s, jump_seen(face, 0), e, lane);
}

/* State and jumps of the tile's elements into shared memory. */
static __device__ __forceinline__ void load_tile(const dg_args &a, tile &s, long long first, int count)
{
    constexpr int PASSES = (TILE * LANES + THREADS - 1) / THREADS;
    REAL g[PASSES][WORDS], coef[PASSES][COEF_EARLY ? NUM_FACE * NUM_FACE_COEF : 1];
    NEIGHBORS neighbor[PASSES];
    behind_faces outer[PASSES];
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = lane_of(i).e, lane = lane_of(i).lane;
        long long elem = first + (e < count ? e : count - 1);
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        neighbor[pass] = __ldg((const NEIGHBORS *)a.neighbor + elem);
        load_constant<WORDS>(g[pass], (const REAL *)a.record + RECORD * elem);
        if constexpr (COEF_EARLY)
            load_constant<NUM_FACE * NUM_FACE_COEF>(coef[pass], (const REAL *)a.face_coef +
                                                                    NUM_FACE * NUM_FACE_COEF * elem);
        ask_behind(a, neighbor[pass], elem, lane, outer[pass]);
        load_state(a, s, elem, e, lane, g[pass]);
    }
    __syncthreads();
    gather_fields(s);
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = lane_of(i).e, lane = lane_of(i).lane;
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        long long elem = first + (e < count ? e : count - 1);
#define FACE_JUMPS(face, member)                                                                             \
    face_jumps(a, s, face, e, lane, elem, neighbor[pass].member, g[pass], coef[pass], outer[pass]);
        EACH_NEIGHBOR(FACE_JUMPS)
    }
}

#ifndef TILE_SIZES
/* More jumps at node m of a face of element e; all have seen what was there before. */
static __device__ __forceinline__ void add_jumps(const dg_args &, tile &s, int face, int m, int e,
                                                 const REAL *jumps)
{
    for (int k = 0; k < NUM_JUMP; k++) {
        REAL &to = s.s[(face * NFP + m) * PITCH_S + k * TILE + e];
        to += jumps[k];
#ifdef TILE_SEES
        atomicMax((int *)&s.seen[jump_seen(face, k)][0][e], (int)__float_as_uint(fabsf(to)));
#endif
    }
}
#endif

#endif
