/* fused.cu: one stage of DG in one pass: volume, both sides of the flux, lift, sources and update.
 *
 * block = TILE elements x all nodes. A thread owns ROWS nodes (rows of the matrices) of COLS elements, so a
 * matrix entry is used COLS times and a field value ROWS times: 6 ROWS COLS FMA for 3 ROWS + 4 COLS words
 * (acoustic). The state is read from q and written to q_new: neighbours still read q. Bytes per DOF
 * (float32): AB3 20, LSRK4 16; flops per node: 12 NP + 8 NFP and a few dozen (dg_flops).
 *
 * Defines: REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE (index.h), ROWS, COLS, TILE, MIN_BLOCKS (least
 * number on an SM; limits registers), SHARED_BYTES (dynamic), UNROLL_VOLUME, UNROLL_LIFT, DECAYS (fields
 * decay in elements). Matrix packing: derivative [node][3][ROW_GROUPS][ROWS], lift [4 NFP][ROW_GROUPS][ROWS];
 * row group g holds rows g, g + ROW_GROUPS, ...: for each r neighbouring threads then touch neighbouring
 * nodes. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(COLS) ||           \
    !defined(TILE)
#error "fused.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, UPDATE, ROWS, COLS, TILE, MIN_BLOCKS"
#endif

#define ROW_GROUPS (((DEGREE + 1) * (DEGREE + 2) * (DEGREE + 3) / 6 + ROWS - 1) / ROWS)
#define THREADS    (ROW_GROUPS * (TILE / COLS))
#include "dg/tile.h"

#include "dg/incident.h"

enum {
    ELEM_GROUPS = TILE / COLS,
    LANE_ELEMS = ELEM_GROUPS % 4 == 0   ? 4
                 : ELEM_GROUPS % 2 == 0 ? 2
                                        : 1 /* element groups in line first */
};

/* acc += derivative products. Unrolled, so that many loads of the matrix are on their way at once. */
static __device__ __forceinline__ void volume_products(const REAL *matrix, const tile &s, int group, int e0,
                                                       REAL acc[ROWS][COLS][NUM_ACC])
{
#pragma unroll(UNROLL_VOLUME)
    for (int k = 0; k < NP; k++) {
        REAL d[3][ROWS], u[NUM_REF][COLS];
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_constant<ROWS>(d[j], matrix + ((k * 3 + j) * ROW_GROUPS + group) * ROWS);
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
                                                  REAL acc[ROWS][COLS][NUM_ACC])
{
#pragma unroll
    for (int face = 0; face < 4; face++) {
        REAL y[ROWS][COLS][NUM_JUMP] = {};
#pragma unroll(UNROLL_LIFT)
        for (int m = 0; m < NFP; m++) {
            REAL l[ROWS], jumps[NUM_JUMP][COLS];
            load_constant<ROWS>(l, matrix + ((face * NFP + m) * ROW_GROUPS + group) * ROWS);
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
            REAL lift_coef[NUM_LIFT_COEF];
#pragma unroll
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                lift_coef[k] = s.lift_coef[face][k][e0 + c];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                apply_lift(y[r][c], face, lift_coef, acc[r][c]);
        }
    }
}

#include "dg/update.h"

/* Asks for what the update will read while the products run; acoustics from degree 6 on: it only displaces
 * the matrices. */
enum { PREFETCH = NUM_FIELD > 4 || DEGREE < 6 };

static __device__ __forceinline__ void prefetch(const dg_args &a, const void *array, long long first,
                                                int count)
{
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f += 4) {
        constexpr int SIZE = sizeof(REAL);
        int width = GROUP_WIDTH(NUM_FIELD, f / 4), bytes = count * NP * width * SIZE;
        const char *from = (const char *)array + (f * a.num_total + first * width) * NP * SIZE;
        for (int i = threadIdx.x * 128; i < bytes; i += THREADS * 128)
            prefetch_l2(from + i);
    }
}

/* From the products to dq/dt and the update. */
static __device__ __forceinline__ void finish(const dg_args &a, long long first, int count, int group, int e0,
                                              bool has_source, REAL acc[ROWS][COLS][NUM_ACC])
{
#pragma unroll
    for (int c = 0; c < COLS; c++) {
        if (e0 + c >= count)
            break;
        long long elem = first + e0 + c;
        REAL g[WORDS];
        load_constant<WORDS>(g, (const REAL *)a.record + WORDS * elem);
        long long base = elem * NP + group;
        old_state old[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (NP % ROWS == 0 || group + r * ROW_GROUPS < NP)
                load_old(a, base + r * ROW_GROUPS, old[r]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int node = group + r * ROW_GROUPS;
            if (NP % ROWS && node >= NP)
                break;
            REAL rhs[NUM_FIELD];
            from_reference(acc[r][c], g, g + 9, rhs);
            add_decay(old[r], g, rhs);
            if (has_source)
                add_sources(a, elem, node, a.source_range[blockIdx.x], a.source_range[blockIdx.x + 1], rhs);
            update(a, base + r * ROW_GROUPS, old[r], rhs);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_BLOCKS)
    dg_fused(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1]; /* asked for early */
    load_tile(a, s, first, count);
#if INCIDENT
    add_incident(a, s, first);
#endif
    if (PREFETCH && (UPDATE == UPDATE_AB3 || (UPDATE == UPDATE_LSRK && a.a != 0)))
        prefetch(a, a.r, first, count);
    if (PREFETCH && UPDATE == UPDATE_AB3)
        prefetch(a, a.r1, first, count);

    int lane = threadIdx.x % LANE_ELEMS, group = threadIdx.x / LANE_ELEMS % ROW_GROUPS;
    int e0 = (threadIdx.x / (LANE_ELEMS * ROW_GROUPS) * LANE_ELEMS + lane) * COLS;
    const REAL *matrix = (const REAL *)a.matrix;
    REAL acc[ROWS][COLS][NUM_ACC] = {};
    volume_products(matrix, s, group, e0, acc);
    __syncthreads();
    lift_jumps(matrix + 3 * NP * ROW_GROUPS * ROWS, s, group, e0, acc);

    finish(a, first, count, group, e0, has_source, acc);
}
