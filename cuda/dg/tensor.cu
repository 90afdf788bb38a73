/* tensor.cu: one stage of DG on tetrahedra in one pass, as fused.cu, with the products on tensor cores: float32 as two
 * FP16 numbers, three products, sums in float32.
 *
 * block = TILE elements x all nodes. The state and the jumps of a tile come to shared memory (tensor_load.h), are split
 * there (tensor_split.h) and multiplied (tensor_products.h); the sums take their place, and are updated
 * (tensor_finish.h).
 * Bytes per DOF: AB3 20, LSRK4 16. Error of a sum of A_ij q_j: a few 2^-22 of sum |A_ij q_j|.
 *
 * Defines: REAL (float), DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), TILE (8),
 * TURNS (1: chunks of fields, block_columns.h, are taken at once), TRIPLES, LOTS (tensor_fragments.h), REST
 * (tensor_rest.h), THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_BYTES (dynamic), UNROLL, AHEAD,
 * WAVE (line_prefetch.h), LOCAL, INCIDENT. Packing of the operator: tensor_fragments.h. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(TILE) || !defined(TURNS) ||          \
    !defined(TRIPLES) || !defined(REST) || !defined(LOTS) || !defined(THREADS) || !defined(UNROLL)
#error                                                                                                       \
    "tensor.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, TILE, TRIPLES, REST, TURNS, LOTS, THREADS, MIN_BLOCKS, UNROLL"
#endif
#define TILE_PAD                                                                                             \
    4 /* rows are an odd number of 16 bytes, so that eight beside each other stand in different banks */
#define RUN 4
#include "dg/tensor_finish.h"

#include "dg/incident.h"
#include "dg/line_prefetch.h"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_BLOCKS)
    dg_tensor(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    face_of_lane face;
    state_pairs states;
    ask_states(a, s, first, count, face);
    load_row_nodes(a, states);
    clear_sizes(s);
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1]; /* asked for early */
    copy_wait<0>();
    __syncthreads();
    prefetch_memory(a, first, count);
    if (EARLY)
        take_states(a, s, first, count, states);
    tile_jumps(a, s, face);
#if INCIDENT
    __syncthreads();
    add_incident(a, s, first);
#endif
    if (!EARLY)
        take_states(a, s, first, count, states);
    __syncthreads();
    split_states(s, states);
    split_jumps(s);
    __syncthreads();
    multiply(a.table, s);
    own_nodes mine = nodes_of_thread();
    long long elem = first + (mine.e < count ? mine.e : 0);
    REAL g[WORDS];
    batch now, next;
    load_batch(a, elem, mine.lane, 0, now);
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
    if (EARLY)
        load_batch(a, elem, mine.lane, BATCH, next);
    __syncthreads();
    if (mine.e >= count)
        return;
    if (!EARLY)
        load_batch(a, elem, mine.lane, BATCH, next);
    finish(a, s, mine, elem, g, factors_of(a), now, next);
    if (has_source)
        add_sources_again(a, elem, mine.lane);
}
