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
#ifndef OUTER_AHEAD
#define OUTER_AHEAD 0 /* 1: neighbours' traces are asked for before the state is complete; takes registers */
#endif

enum {
    BLOCK_THREADS = THREADS,
    /* LANES threads share an element, each with LOADS nodes and FACE_LOADS nodes of every face. */
    LANES = THREADS < 2 * TILE ? 1 : LEAST(THREADS / TILE, NFP),
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
    PITCH_U = NUM_REF * TILE + PAD,
    PITCH_S = NUM_JUMP * TILE + PAD
};

struct tile {
    __align__(16) REAL u[NP * PITCH_U];                 /* [node][NUM_REF][TILE] */
    __align__(16) REAL s[NUM_FACE * NFP * PITCH_S]; /* [face node][NUM_JUMP][TILE] */
    __align__(16) REAL lift_coef[NUM_FACE][NUM_LIFT_COEF][TILE];
#ifdef TILE_SIZES
    __align__(16) int most[NUM_SCALE][TILE]; /* the largest sizes of what is stored, as the bits of a float */
#endif
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

#ifndef TILE_SIZES
/* Of what a thread stores of an element's state, or of the jumps of a face: nothing else is kept. */
struct state_sizes {
    __device__ __forceinline__ void see(const REAL *)
    {
    }
    __device__ __forceinline__ void keep(tile &, int) const
    {
    }
};
struct jump_sizes : state_sizes {
    __device__ __forceinline__ void keep(tile &, int, int) const
    {
    }
};
#endif

#ifndef TILE_ROWS
/* Rows of a node, of node m of a face, and of the jump there. */
static __device__ __forceinline__ int node_row(const dg_args &, int node)
{
    return node;
}
struct face_rows {
    int node, jump;
};
static __device__ __forceinline__ face_rows rows_of(const dg_args &a, int face, int m)
{
    return {__ldg(a.face_node + face * NFP + m), m};
}
#endif

/* State of element e, in reference components, into shared memory. */
static __device__ __forceinline__ void load_state(const dg_args &a, tile &s, long long elem, int e, int lane,
                                                  const REAL *g)
{
    state_sizes sizes;
#pragma unroll 4
    for (int j = 0; j < LOADS; j++) {
        int n = lane + j * LANES;
        REAL q1[NUM_FIELD], u1[NUM_REF];
        if (NP % LANES && n >= NP)
            break;
        load_node<NUM_FIELD>(q1, (const REAL *)a.q, a.num_total * NP, place(elem, n));
        to_reference(q1, g, u1);
        sizes.see(u1);
        int row = node_row(a, n);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            s.u[row * PITCH_U + f * TILE + e] = u1[f];
    }
    sizes.keep(s, e);
}

/* The neighbour's nodes of a face, in the order of the element's own. */
static __device__ __forceinline__ const int *outer_nodes(const dg_args &a, int neighbor)
{
    return a.face_node + NEIGHBOR_SIDE(neighbor) * NFP;
}

/* The neighbour's state at a thread's nodes of one face: asked for before the jumps, all faces at once. */
static __device__ __forceinline__ void load_outer(const dg_args &a, int lane, int neighbor,
                                                  REAL q[FACE_LOADS][NUM_FIELD])
{
    long long outer = place(NEIGHBOR_ELEM(neighbor), 0);
    const int *other = outer_nodes(a, neighbor);
#pragma unroll
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = lane + j * LANES;
        if (neighbor >= 0 && (NFP % LANES == 0 || m < NFP))
            load_node<NUM_FIELD>(q[j], (const REAL *)a.q, a.num_total * NP,
                                 outer + (long long)__ldg(other + m) * NODE_STRIDE(NUM_FIELD));
    }
}

/* Jumps at the nodes of one face of element e. ahead: what load_outer gave, or NULL. */
static __device__ __forceinline__ void face_jumps(const dg_args &a, tile &s, int face, int e, int lane,
                                                  long long elem, int neighbor, const REAL *g,
                                                  const REAL *early, const REAL (*ahead)[NUM_FIELD] = nullptr)
{
    REAL f1[NUM_FRAME], coef[NUM_FACE_COEF];
    bool inside = neighbor >= 0, exact = neighbor <= -1 - BOUNDARY_EXACT;
    if constexpr (COEF_EARLY) {
#pragma unroll
        for (int i = 0; i < NUM_FACE_COEF; i++)
            coef[i] = early[face * NUM_FACE_COEF + i];
    } else if constexpr (!BY_NODE) {
        const REAL *from = (const REAL *)a.face_coef;
        long long at = NUM_FACE * elem + face;
        load_constant<4>(coef, from + 4 * at); /* all that `jump` needs of the upwind flux */
        if (FLUX_CENTRAL || lane == 0 || !inside)
            load_constant<NUM_FACE_COEF - 4>(coef + 4, from + 4 * a.num_coef_face + (NUM_FACE_COEF - 4) * at);
    }
    frame(g, face, f1);
    if (lane == 0 && !BY_NODE) {
        REAL lift_coef[NUM_LIFT_COEF];
        lift_coefficients(f1, coef, lift_coef);
#pragma unroll
        for (int k = 0; k < NUM_LIFT_COEF; k++)
            s.lift_coef[face][k][e] = lift_coef[k];
    }
    REAL upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING, weight[NUM_MIRROR];
    mirror(-1 - neighbor, weight);
    long long outer = place(NEIGHBOR_ELEM(neighbor), 0);
    const int *other = outer_nodes(a, neighbor);
    const REAL *data = (const REAL *)a.exact;
    if (exact)
        data +=
            ((*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor)) * (NFP * NUM_FIELD);
    jump_sizes sizes;
#pragma unroll(OUTER_AHEAD ? FACE_LOADS : 4)
    for (int j = 0; j < FACE_LOADS; j++) {
        int m = lane + j * LANES;
        REAL q[NUM_FIELD], u1[NUM_REF], in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP];
        if (NFP % LANES && m >= NFP)
            break;
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] = 0;
        if (inside && ahead) {
#pragma unroll
            for (int f = 0; f < NUM_FIELD; f++)
                q[f] = ahead[j][f];
        } else if (inside)
            load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP,
                                 outer + (long long)__ldg(other + m) * NODE_STRIDE(NUM_FIELD));
        if (exact)
            load_constant<NUM_FIELD>(q, data + m * NUM_FIELD);
        if (BY_NODE)
            load_groups<NUM_FACE_COEF>(coef, (const REAL *)a.face_coef, a.num_coef_face,
                                       (NUM_FACE * elem + face) * NFP + m);
        face_rows row = rows_of(a, face, m);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            u1[f] = s.u[row.node * PITCH_U + f * TILE + e];
        trace_reference(u1, face, in);
        trace(q, f1, out);
        if (!inside && !exact)
            reflect(in, f1, coef, weight, out);
        jump(in, out, f1, coef, upwind, jumps);
        sizes.see(jumps);
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            s.s[(face * NFP + row.jump) * PITCH_S + k * TILE + e] = jumps[k];
    }
    sizes.keep(s, face, e);
}

/* State and jumps of the tile's elements into shared memory. */
static __device__ __forceinline__ void load_tile(const dg_args &a, tile &s, long long first, int count)
{
    constexpr int PASSES = (TILE * LANES + THREADS - 1) / THREADS;
    static_assert(!OUTER_AHEAD || PASSES == 1, "one pass alone keeps what it has asked for");
    REAL outer[OUTER_AHEAD ? NUM_FACE : 1][FACE_LOADS][NUM_FIELD];
    REAL g[PASSES][WORDS], coef[PASSES][COEF_EARLY ? NUM_FACE * NUM_FACE_COEF : 1];
    NEIGHBORS neighbor[PASSES];
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = i / LANES;
        long long elem = first + (e < count ? e : count - 1);
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        neighbor[pass] = __ldg((const NEIGHBORS *)a.neighbor + elem);
        load_constant<WORDS>(g[pass], (const REAL *)a.record + RECORD * elem);
        if constexpr (COEF_EARLY)
            load_constant<NUM_FACE * NUM_FACE_COEF>(coef[pass], (const REAL *)a.face_coef +
                                                                    NUM_FACE * NUM_FACE_COEF * elem);
        load_state(a, s, elem, e, i % LANES, g[pass]);
        if constexpr (OUTER_AHEAD) {
#define LOAD_OUTER(face, member) load_outer(a, i % LANES, neighbor[pass].member, outer[face]);
            EACH_NEIGHBOR(LOAD_OUTER)
        }
    }
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        int i = threadIdx.x + pass * THREADS, e = i / LANES, lane = i % LANES;
        if (TILE * LANES % THREADS && i >= TILE * LANES)
            break;
        long long elem = first + (e < count ? e : count - 1);
#define FACE_JUMPS(face, member)                                                                             \
    face_jumps(a, s, face, e, lane, elem, neighbor[pass].member, g[pass], coef[pass],                        \
               OUTER_AHEAD ? outer[OUTER_AHEAD ? face : 0] : nullptr);
        EACH_NEIGHBOR(FACE_JUMPS)
    }
}

#endif
