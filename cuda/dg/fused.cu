/* fused.cu: one stage of DG in one pass: volume, both sides of the flux, lift, sources and update.
 *
 * block = TILE elements x all nodes. A thread owns ROWS nodes (rows of the matrices) of COLS elements, so a matrix
 * entry is used COLS times and a field value ROWS times: 6 ROWS COLS FMA for 3 ROWS + 4 COLS words (acoustic).
 * The state is read from q and written to q_new: neighbours still read q.
 * Bytes a DOF (float32): AB3 20, LSRK4 16; flops a node: 12 NP + 8 NFP and a few dozen (dg_flops).
 *
 * Defines: REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE (index.h), ROWS, COLS, TILE, MIN_BLOCKS (an SM; caps registers).
 * Matrix packing: derivative [node][3][ROW_GROUPS][ROWS], then lift [4 NFP][ROW_GROUPS][ROWS]; row group g holds
 * rows g, g + ROW_GROUPS, ...: for each r neighbouring threads then touch neighbouring nodes. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(COLS) || !defined(TILE)
#error "fused.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE, ROWS, COLS, TILE, MIN_BLOCKS"
#endif

#include "common/args.h"
#include "common/index.h"

#define FN(name) name
#define VAL REAL
#define DEVICE static __device__ __forceinline__
#include PHYSICS
#include "common/vector.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

enum {
    NP = (DEGREE + 1) * (DEGREE + 2) * (DEGREE + 3) / 6,
    NFP = (DEGREE + 1) * (DEGREE + 2) / 2,
    ROW_GROUPS = (NP + ROWS - 1) / ROWS,
    ELEM_GROUPS = TILE / COLS,
    THREADS = ROW_GROUPS * ELEM_GROUPS,
    LANE_ELEMS = ELEM_GROUPS % 4 == 0 ? 4 : ELEM_GROUPS % 2 == 0 ? 2 : 1, /* element groups in line first */
    PAD = 16 / sizeof(REAL),
    PITCH_U = NUM_REF * TILE + PAD,
    PITCH_S = NUM_JUMP * TILE + PAD,
    WORDS = ELEM_WORDS(NUM_COEF),
    /* Threads that share an element while its state and faces are loaded, and what each loads before it computes. */
    LANES = THREADS < 2 * TILE ? 1 : LEAST(THREADS / TILE, NFP),
    LOADS = LEAST(4, (NP + LANES - 1) / LANES),
    FACE_LOADS = LEAST(4, (NFP + LANES - 1) / LANES)
};

struct tile {
    REAL u[NP * PITCH_U];      /* [node][NUM_REF][TILE] */
    REAL s[4 * NFP * PITCH_S]; /* [face node][NUM_JUMP][TILE] */
    REAL last[4][TILE];        /* last entry of face_coef */
    int face_node[4 * NFP];
};

/* Fields of the tile's elements, in reference components, into shared memory. */
static __device__ __forceinline__ void load_state(const dg_args &a, tile &s, long long first, int count)
{
    for (int i = threadIdx.x; i < TILE * LANES; i += THREADS) {
        int e = i / LANES;
        long long elem = first + (e < count ? e : count - 1);
        REAL g[WORDS];
        load_constant<WORDS>(g, (const REAL *)a.record + WORDS * elem);
        const REAL *q = (const REAL *)a.q + elem * (NP * NUM_FIELD);
        for (int n0 = i % LANES; n0 < NP; n0 += LANES * LOADS) {
            REAL q1[LOADS][NUM_FIELD];
#pragma unroll
            for (int j = 0; j < LOADS; j++)
                if (n0 + j * LANES < NP)
                    load_constant<NUM_FIELD>(q1[j], q + (n0 + j * LANES) * NUM_FIELD);
#pragma unroll
            for (int j = 0; j < LOADS; j++) {
                REAL u1[NUM_REF];
                if (n0 + j * LANES >= NP)
                    break;
                to_reference(q1[j], g, u1);
#pragma unroll
                for (int f = 0; f < NUM_REF; f++)
                    s.u[(n0 + j * LANES) * PITCH_U + f * TILE + e] = u1[f];
            }
        }
    }
    for (int i = threadIdx.x; i < 4 * NFP; i += THREADS)
        s.face_node[i] = a.face_node[i];
}

/* Jumps at the nodes of one face of element e. */
static __device__ __forceinline__ void one_face(const dg_args &a, tile &s, int face, int e, int lane, int neighbor,
                                                const REAL *g, const REAL *coef)
{
    REAL normal[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        normal[k] = face == 0 ? g[k] + g[3 + k] + g[6 + k] : -g[3 * (face - 1) + k];
    /* Where the outer states stand: in the neighbour, or among the exact data; else there are none. */
    const REAL *outer = (const REAL *)a.q + (long long)(neighbor >> 2) * (NP * NUM_FIELD);
    const int *node = s.face_node + (neighbor & 3) * NFP;
    if (neighbor <= -1 - BOUNDARY_EXACT) {
        long long slot = (*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
        outer = (const REAL *)a.exact + slot * (NFP * NUM_FIELD);
    }
    for (int m0 = lane; m0 < NFP; m0 += LANES * FACE_LOADS) {
        REAL q[FACE_LOADS][NUM_FIELD];
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++) {
            int m = m0 + j * LANES;
            if (m < NFP && (neighbor >= 0 || neighbor <= -1 - BOUNDARY_EXACT))
                load_constant<NUM_FIELD>(q[j], outer + (neighbor >= 0 ? node[m] : m) * NUM_FIELD);
        }
#pragma unroll
        for (int j = 0; j < FACE_LOADS; j++) {
            int m = m0 + j * LANES;
            REAL u1[NUM_REF], in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP];
            if (m >= NFP)
                break;
#pragma unroll
            for (int f = 0; f < NUM_REF; f++)
                u1[f] = s.u[s.face_node[face * NFP + m] * PITCH_U + f * TILE + e];
            trace_reference(u1, face, in);
            if (neighbor >= 0 || neighbor <= -1 - BOUNDARY_EXACT)
                trace(q[j], normal, out);
            else
                boundary(-1 - neighbor, in, out);
            jump(in, out, coef, neighbor == -1 - BOUNDARY_ABSORBING, jumps);
#pragma unroll
            for (int k = 0; k < NUM_JUMP; k++)
                s.s[(face * NFP + m) * PITCH_S + k * TILE + e] = jumps[k];
        }
    }
}

/* Jumps of all face nodes of the tile. */
static __device__ __forceinline__ void face_jumps(const dg_args &a, tile &s, long long first, int count)
{
    for (int i = threadIdx.x; i < TILE * LANES; i += THREADS) {
        int e = i / LANES, lane = i % LANES;
        long long elem = first + (e < count ? e : count - 1);
        REAL g[WORDS], coef[4 * NUM_FACE_COEF];
        load_constant<WORDS>(g, (const REAL *)a.record + WORDS * elem);
        load_constant<4 * NUM_FACE_COEF>(coef, (const REAL *)a.face_coef + 4 * NUM_FACE_COEF * elem);
        int4 neighbor = __ldg((const int4 *)a.neighbor + elem);
        one_face(a, s, 0, e, lane, neighbor.x, g, coef);
        one_face(a, s, 1, e, lane, neighbor.y, g, coef + NUM_FACE_COEF);
        one_face(a, s, 2, e, lane, neighbor.z, g, coef + 2 * NUM_FACE_COEF);
        one_face(a, s, 3, e, lane, neighbor.w, g, coef + 3 * NUM_FACE_COEF);
        if (lane == 0)
#pragma unroll
            for (int face = 0; face < 4; face++)
                s.last[face][e] = coef[(face + 1) * NUM_FACE_COEF - 1];
    }
}

/* acc += derivative products. */
static __device__ __forceinline__ void volume_products(const REAL *matrix, const tile &s, int group, int e0,
                                                       REAL acc[ROWS][COLS][NUM_REF])
{
#pragma unroll 2
    for (int k = 0; k < NP; k++) {
        REAL d[3][ROWS], u[NUM_REF][COLS];
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_vector<ROWS>(d[j], matrix + ((k * 3 + j) * ROW_GROUPS + group) * ROWS);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            load_vector<COLS>(u[f], &s.u[k * PITCH_U + f * TILE + e0]);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                REAL d1[3] = {d[0][r], d[1][r], d[2][r]}, u1[NUM_REF];
#pragma unroll
                for (int f = 0; f < NUM_REF; f++)
                    u1[f] = u[f][c];
                volume(d1, u1, acc[r][c]);
            }
    }
}

/* acc += lifted jumps, one face after the other. */
static __device__ __forceinline__ void lift_jumps(const REAL *matrix, const tile &s, int group, int e0,
                                                  REAL acc[ROWS][COLS][NUM_REF])
{
#pragma unroll
    for (int face = 0; face < 4; face++) {
        REAL y[ROWS][COLS][NUM_JUMP] = {};
#pragma unroll 3
        for (int m = 0; m < NFP; m++) {
            REAL l[ROWS], jumps[NUM_JUMP][COLS];
            load_vector<ROWS>(l, matrix + ((face * NFP + m) * ROW_GROUPS + group) * ROWS);
#pragma unroll
            for (int k = 0; k < NUM_JUMP; k++)
                load_vector<COLS>(jumps[k], &s.s[(face * NFP + m) * PITCH_S + k * TILE + e0]);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int c = 0; c < COLS; c++)
#pragma unroll
                    for (int k = 0; k < NUM_JUMP; k++)
                        y[r][c][k] += l[r] * jumps[k][c];
        }
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL last = s.last[face][e0 + c];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                spread(y[r][c], face, last, acc[r][c]);
        }
    }
}

#include "dg/update.h"

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) dg_fused(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1];
    load_state(a, s, first, count);
    __syncthreads();
    face_jumps(a, s, first, count);

    int lane = threadIdx.x % LANE_ELEMS, group = threadIdx.x / LANE_ELEMS % ROW_GROUPS;
    int e0 = (threadIdx.x / (LANE_ELEMS * ROW_GROUPS) * LANE_ELEMS + lane) * COLS;
    const REAL *matrix = (const REAL *)a.matrix;
    REAL acc[ROWS][COLS][NUM_REF] = {};
    volume_products(matrix, s, group, e0, acc);
    __syncthreads();
    lift_jumps(matrix + 3 * NP * ROW_GROUPS * ROWS, s, group, e0, acc);

#pragma unroll
    for (int c = 0; c < COLS; c++) {
        if (e0 + c >= count)
            continue;
        long long elem = first + e0 + c;
        REAL g[WORDS];
        load_constant<WORDS>(g, (const REAL *)a.record + WORDS * elem);
        old_state old[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (group + r * ROW_GROUPS < NP)
                load_old(a, (elem * NP + group + r * ROW_GROUPS) * NUM_FIELD, old[r]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int node = group + r * ROW_GROUPS;
            if (node >= NP)
                continue;
            REAL rhs[NUM_FIELD];
            from_reference(acc[r][c], g, g + 9, rhs);
            if (has_source)
                add_sources(a, elem, node, a.source_range[blockIdx.x], a.source_range[blockIdx.x + 1], rhs);
            update(a, (elem * NP + node) * NUM_FIELD, old[r], rhs);
        }
    }
}
