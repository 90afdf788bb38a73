/* fused.cu: one stage of DG in one pass: volume, both sides of the flux, lift, sources and update.
 *
 * block = TILE elements x all nodes. A thread owns ROWS nodes (rows of the matrices) of COLS elements, so a matrix
 * entry is used COLS times and a field value ROWS times: 6 ROWS COLS FMA for 3 ROWS + 4 COLS words (acoustic).
 * The state is read from q and written to q_new: neighbours still read q.
 * Bytes a DOF (float32): AB3 20, LSRK4 16; flops a node: 12 NP + 8 NFP and a few dozen (dg_flops).
 *
 * Defines: REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE (index.h), ROWS, COLS, TILE.
 * Matrix packing: derivative [node][3][ROW_GROUPS][ROWS], then lift [4 NFP][ROW_GROUPS][ROWS]; row group g holds
 * rows g, g + ROW_GROUPS, ...: for each r neighbouring threads then touch neighbouring nodes. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(COLS) || !defined(TILE)
#error "fused.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE, ROWS, COLS, TILE"
#endif

#include "common/args.h"
#include "common/index.h"

#define FN(name) name
#define VAL REAL
#define DEVICE static __device__ __forceinline__
#include PHYSICS
#include "common/vector.h"

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
    LOAD_LANES = NP < 8 ? 1 : 8,  /* threads that share an element while loading */
    FACE_LANES = NFP < 6 ? 1 : NFP < 10 ? 2 : NFP < 15 ? 4 : 8
};

struct tile {
    REAL u[NP * PITCH_U];      /* [node][NUM_REF][TILE] */
    REAL s[4 * NFP * PITCH_S]; /* [face node][NUM_JUMP][TILE] */
    REAL scale[4][TILE];
    REAL coef[NUM_COEF][TILE];
    int face_node[4 * NFP];
};

/* Fields of the tile's elements, in reference components, into shared memory. */
static __device__ __forceinline__ void load_state(const dg_args &a, tile &s, long long first, int count)
{
    for (int i = threadIdx.x; i < TILE * LOAD_LANES; i += THREADS) {
        int e = i / LOAD_LANES;
        long long elem = first + (e < count ? e : count - 1);
        REAL g[9];
        for (int k = 0; k < 9; k++)
            g[k] = ((const REAL *)a.geometry)[9 * elem + k];
        const REAL *q = (const REAL *)a.q + elem * (NP * NUM_FIELD);
#pragma unroll 4
        for (int n = i % LOAD_LANES; n < NP; n += LOAD_LANES) {
            REAL q1[NUM_FIELD], u1[NUM_REF];
            load_vector<NUM_FIELD>(q1, q + n * NUM_FIELD);
            to_reference(q1, g, u1);
            for (int f = 0; f < NUM_REF; f++)
                s.u[n * PITCH_U + f * TILE + e] = u1[f];
        }
    }
    for (int i = threadIdx.x; i < 4 * NFP; i += THREADS)
        s.face_node[i] = a.face_node[i];
}

/* Trace of the other side of a face node. */
static __device__ __forceinline__ void outer_trace(const dg_args &a, const tile &s, int neighbor, int m, const REAL *normal,
                                                   const REAL *in, REAL *out)
{
    REAL q[NUM_FIELD];
    if (neighbor >= 0) {
        const REAL *from = (const REAL *)a.q + (long long)(neighbor >> 2) * (NP * NUM_FIELD);
        load_vector<NUM_FIELD>(q, from + s.face_node[(neighbor & 3) * NFP + m] * NUM_FIELD);
        trace(q, normal, out);
    } else if (neighbor <= -1 - BOUNDARY_EXACT) {
        long long slot = (*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
        load_vector<NUM_FIELD>(q, (const REAL *)a.exact + (slot * NFP + m) * NUM_FIELD);
        trace(q, normal, out);
    } else {
        boundary(-1 - neighbor, in, out);
    }
}

/* Jumps of all face nodes of the tile. */
static __device__ __forceinline__ void face_jumps(const dg_args &a, tile &s, long long first, int count)
{
    for (int i = threadIdx.x; i < TILE * 4 * FACE_LANES; i += THREADS) {
        int face = i / FACE_LANES % 4, e = i / (4 * FACE_LANES);
        long long elem = first + (e < count ? e : count - 1);
        int neighbor = a.neighbor[4 * elem + face];
        REAL normal[3], coef[NUM_COEF], behind[NUM_FACE_COEF];
        for (int k = 0; k < 3; k++) {
            const REAL *g = (const REAL *)a.geometry + 9 * elem + k;
            normal[k] = face == 0 ? g[0] + g[3] + g[6] : -g[3 * (face - 1)];
        }
        for (int k = 0; k < NUM_COEF; k++)
            coef[k] = ((const REAL *)a.coef)[NUM_COEF * elem + k];
        for (int k = 0; k < NUM_FACE_COEF; k++)
            behind[k] = ((const REAL *)a.face_coef)[(4 * elem + face) * NUM_FACE_COEF + k];
        REAL scale = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        if (i % FACE_LANES == 0) {
            s.scale[face][e] = scale;
            for (int k = 0; k < NUM_COEF; k++)
                s.coef[k][e] = coef[k];
        }
        for (int m = i % FACE_LANES; m < NFP; m += FACE_LANES) {
            REAL u1[NUM_REF], in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP];
            for (int f = 0; f < NUM_REF; f++)
                u1[f] = s.u[s.face_node[face * NFP + m] * PITCH_U + f * TILE + e];
            trace_reference(u1, face, in);
            outer_trace(a, s, neighbor, m, normal, in, out);
            jump(in, out, coef, behind, scale, neighbor == -1 - BOUNDARY_ABSORBING, jumps);
            for (int k = 0; k < NUM_JUMP; k++)
                s.s[(face * NFP + m) * PITCH_S + k * TILE + e] = jumps[k];
        }
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
            REAL coef[NUM_COEF], scale = s.scale[face][e0 + c];
#pragma unroll
            for (int k = 0; k < NUM_COEF; k++)
                coef[k] = s.coef[k][e0 + c];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                spread(y[r][c], face, coef, scale, acc[r][c]);
        }
    }
}

#include "dg/update.h"

extern "C" __global__ void __launch_bounds__(THREADS) dg_fused(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
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

    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
#pragma unroll
    for (int c = 0; c < COLS; c++) {
        if (e0 + c >= count)
            continue;
        long long elem = first + e0 + c;
        REAL g[9], coef[NUM_COEF];
#pragma unroll
        for (int k = 0; k < 9; k++)
            g[k] = ((const REAL *)a.geometry)[9 * elem + k];
#pragma unroll
        for (int k = 0; k < NUM_COEF; k++)
            coef[k] = s.coef[k][e0 + c];
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
            from_reference(acc[r][c], g, coef, rhs);
            if (source_first < source_last)
                add_sources(a, elem, node, source_first, source_last, rhs);
            update(a, (elem * NP + node) * NUM_FIELD, old[r], rhs);
        }
    }
}
