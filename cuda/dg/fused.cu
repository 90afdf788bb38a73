/* fused.cu: one stage of DG in one pass: volume, both sides of the flux, lift, sources and update.
 *
 * block = TILE elements x all nodes. A thread owns ROWS nodes (rows of the matrices) of COLS elements
 * (products.h). The state is read from q and written to q_new: neighbours still read q. Bytes per DOF
 * (float32): AB3 20, LSRK4 16; flops per node: 12 NP + 8 NFP and a few dozen (dg_flops).
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), ROWS, COLS,
 * TILE, MIN_BLOCKS (least number on an SM; limits registers), SHARED_BYTES (dynamic), UNROLL_VOLUME,
 * UNROLL_LIFT, ON_TENSOR_CORES (float64: the products are products_mma.h's, ROWS and COLS as there), LOCAL. Matrix
 * packing: products.h, products_mma.h. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(COLS) ||           \
    !defined(TILE)
#error                                                                                                       \
    "fused.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, ROWS, COLS, TILE, MIN_BLOCKS"
#endif

#define ROW_GROUPS ((NUM_NODE(DEGREE) + ROWS - 1) / ROWS)
#if ON_TENSOR_CORES
#define THREADS (32 * ROW_GROUPS * (TILE / 8 / COLS))
#include "dg/products_mma.h"
#else
#define THREADS (ROW_GROUPS * (TILE / COLS))
#include "dg/products.h"
#endif

#include "dg/incident.h"
#include "dg/prefetch.h"

enum {
    ELEM_GROUPS = TILE / COLS,
    LANE_ELEMS = ELEM_GROUPS % 4 == 0   ? 4
                 : ELEM_GROUPS % 2 == 0 ? 2
                                        : 1 /* element groups in line first */
};

/* Prefetches what the update will read while the products run; not for acoustics from degree 6 on, where
 * it only displaces the matrices. */
enum { PREFETCH = NUM_FIELD > 4 || DEGREE < 6 };

/* Whether the tile has a source is asked for before anything else, or while jumps are lifted: of sound on tensor cores
 * that saves spills. */
enum { ASKS_LATE = ON_TENSOR_CORES && NUM_FIELD == 4 };
static __device__ __forceinline__ bool source_in_tile(const dg_args &a)
{
    return a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1];
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_BLOCKS)
    dg_fused(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    bool has_source = !ASKS_LATE && source_in_tile(a); /* asked for early */
    load_tile(a, s, first, count);
#if INCIDENT
    add_incident(a, s, first);
#endif
    if (PREFETCH && (UPDATE == UPDATE_AB3 || (UPDATE == UPDATE_LSRK && a.a != 0)))
        prefetch(a, a.r, first, count);
    if (PREFETCH && UPDATE == UPDATE_AB3)
        prefetch(a, a.r1, first, count);

#if ON_TENSOR_CORES
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp % ROW_GROUPS;
    int e0 = warp / ROW_GROUPS * COLS * 8;
    const REAL *entry = (const REAL *)a.matrix + group * WARP_ENTRIES + lane;
    lane_sums sums = {};
    volume_products(entry, s, lane, e0, sums);
    if (ASKS_LATE)
        has_source = source_in_tile(a);
    __syncthreads();
    lift_jumps(entry, s, lane, e0, sums);
    finish(a, first, count, lane, group * ROWS + lane / 4, e0, has_source, sums);
#else
    int lane = threadIdx.x % LANE_ELEMS, group = threadIdx.x / LANE_ELEMS % ROW_GROUPS;
    int e0 = (threadIdx.x / (LANE_ELEMS * ROW_GROUPS) * LANE_ELEMS + lane) * COLS;
    const REAL *matrix = (const REAL *)a.matrix;
    REAL acc[ROWS][COLS][NUM_ACC] = {};
    volume_products(matrix, s, group, e0, acc);
    __syncthreads();
    lift_jumps(matrix + 3 * NP * ROW_GROUPS * ROWS, s, group, e0, acc);

    finish(a, first, count, group, e0, has_source, acc);
#endif
}
