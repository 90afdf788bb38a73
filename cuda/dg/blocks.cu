/* blocks.cu: one stage of DG on tetrahedra in one pass, as fused.cu, with a quarter of the products: derivatives and
 * lifts as the four blocks of csrc/dg/blocks.h, which also has the algebra.
 *
 * block = TILE elements x all nodes. The state and the jumps of a tile stand in shared memory (tile.h); they are summed
 * over orbits (block_sums.h), multiplied (block_products.h: a thread owns ROWS rows of a block times a column of all
 * three directions of COLS elements), and what the four characters give is summed to the nodes and updates them
 * (block_finish.h). Fields may be taken in TURNS, for less shared memory. Bytes per DOF (float32): AB3 20, LSRK4 16.
 * FMA a node for each number and vector (block_columns.h): 6 (NP / 4 + NFP / 2); fused: 6 NP + 4 NFP.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), ROWS, COLS, TILE,
 * THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_BYTES (dynamic), UNROLL, MATRIX_IN_SHARED (1:
 * blocks are copied to shared memory), ON_TENSOR_CORES (the products are block_mma.h's, ROWS and COLS as there), SPLIT (1: there, in
 * float32 as pairs of FP16 numbers),
 * NODE_SUMS, FACE_SUMS (sums of each character), TILE_ROOM (tile.h), TURNS, RUN (elements that are summed at once), AHEAD, WAVE
 * (line_prefetch.h), LOCAL, INCIDENT. Matrix packing: block_products.h, block_mma.h; table: block_rows.h. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(COLS) ||           \
    !defined(TILE) || !defined(NODE_SUMS) || !defined(FACE_SUMS)
#error                                                                                                       \
    "blocks.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, ROWS, COLS, TILE, THREADS, MIN_BLOCKS, UNROLL, MATRIX_IN_SHARED, NODE_SUMS, FACE_SUMS, TURNS"
#endif

#include "dg/block_finish.h"
#if ON_TENSOR_CORES
#include "dg/block_mma.h"
#else
#include "dg/block_products.h"
#endif
#include "dg/block_sums.h"
#include "dg/incident.h"
#include "dg/line_prefetch.h"

#include "common/async.h" /* with DEVICE of case.h */

static_assert(sizeof(tile) + (SHARED_ROWS * PITCH + MATRIX_IN_SHARED * NUM_MATRIX + SPLIT * ORBIT_WORDS) *
                                 sizeof(REAL) <=
                  SHARED_BYTES,
              "the host counts the same");

/* NUM numbers of an array to shared memory. */
template <int NUM, class T> static __device__ __forceinline__ void fetch_array(T *to, const T *from)
{
    constexpr int STEP = 16 / sizeof(T);
    for (int i = threadIdx.x * STEP; i < NUM; i += THREADS * STEP)
        copy_async<STEP>(to + i, from + i);
    copy_commit();
}

/* The matrices: asked for when the block begins, if they go to shared memory. */
static __device__ __forceinline__ const REAL *fetch_matrices(const dg_args &a, REAL *shared)
{
    const REAL *matrix = SPLIT ? (const REAL *)(a.table + SPLIT_MATRIX) : (const REAL *)a.matrix;
    if (!MATRIX_IN_SHARED)
        return matrix;
    fetch_array<NUM_MATRIX>(shared, matrix);
    return shared;
}

/* Likewise orbits. */
static __device__ __forceinline__ const int *fetch_orbits(const dg_args &a, REAL *shared)
{
    if (!SPLIT)
        return a.table;
    fetch_array<ORBIT_WORDS>((int *)shared, a.table);
    return (const int *)shared;
}

/* A turn: inputs of its fields, and the products. orbits: a.table, or where it was copied to. */
template <int FIRST, class ASK>
static __device__ __forceinline__ void take_turn(const dg_args &a, const int *orbits, tile &s, REAL *x,
                                                 const REAL *matrix, const orbit &of_nodes, ASK ask)
{
    REAL *y = FACES_IN_STATE ? s.u : x + NODE_ROWS * PITCH;
#if SPLIT
    if (FIRST == 0) {
        copy_wait<0>();
        __syncthreads(); /* all sizes are seen, and orbits are here */
    }
    find_bounds<FIRST>(s);
    sum_nodes<FIRST>(orbits, s, x, orbit_of(orbits, threadIdx.x));
    __syncthreads(); /* jumps, and their scales, are complete */
    sum_faces<FIRST>(orbits, s, y, face_orbit_of(orbits, threadIdx.x));
#else
    orbit of_faces = face_orbit_of(orbits, threadIdx.x);
    sum_nodes<FIRST>(orbits, s, x, of_nodes);
    if (FIRST == 0)
        __syncthreads(); /* jumps are complete */
    sum_faces<FIRST>(orbits, s, y, of_faces);
    if (MATRIX_IN_SHARED && FIRST == 0)
        copy_wait<0>();
#endif
    __syncthreads();
    multiply<FIRST>(a, orbits, s, matrix, x, y, ask);
}

/* All turns, but for the sums of the last one's results. ask: for what is needed then. */
template <int FIRST, class ASK>
static __device__ __forceinline__ void take_turns(const dg_args &a, const int *orbits, tile &s, REAL *x,
                                                  const REAL *matrix, const orbit &of_nodes, ASK ask)
{
    if constexpr (FIRST + TOGETHER < CHUNKS) {
        take_turn<FIRST>(a, orbits, s, x, matrix, of_nodes, [] {});
        sum_results(a, x, of_nodes);
        keep_sums<FIRST>(a, s, x);
        __syncthreads();
        take_turns<FIRST + TOGETHER>(a, orbits, s, x, matrix, of_nodes, ask);
    } else
        take_turn<FIRST>(a, orbits, s, x, matrix, of_nodes, ask);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_BLOCKS)
    dg_blocks(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    REAL *x = (REAL *)(memory + sizeof(tile));
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1]; /* asked for early */
    REAL *behind = x + SHARED_ROWS * PITCH;
    const REAL *matrix = fetch_matrices(a, behind);
    const int *orbits = fetch_orbits(a, behind + MATRIX_IN_SHARED * NUM_MATRIX);
    orbit of_nodes = {};
    if (!SPLIT)
        of_nodes = orbit_of(orbits, threadIdx.x);
    load_tile(a, s, first, count);
#if INCIDENT
    if (SPLIT)
        __syncthreads(); /* the jumps' sizes are seen */
    add_incident(a, s, first);
#endif
    prefetch_memory(a, first, count);
    thread_nodes mine = nodes_of_thread();
    /* elements beyond the last one take part where threads store together */
    bool works = mine.e < (STORE_PAIRS ? TILE : count);
    long long there = first + (mine.e < count ? mine.e : count - 1);
    batch now;
    take_turns<0>(a, orbits, s, x, matrix, of_nodes, [&] {
        if (works)
            load_batch(a, there, mine.group, now);
    });
    if (!SPLIT && works)
        load_batch(a, there, mine.group, now);
    sum_results(a, x, of_nodes);
    if (works)
        finish_nodes(a, s, x, mine, count, first + mine.e, has_source, now);
}
