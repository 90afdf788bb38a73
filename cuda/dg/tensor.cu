/* tensor.cu: one stage of DG on tetrahedra in one pass, as fused.cu, with the products on tensor cores: float32 as two
 * FP16 numbers, three products, sums in float32.
 *
 * block = TILE elements x all nodes. The state and the jumps of a tile stand in shared memory (tile.h), are split there
 * (tensor_split.h) and multiplied; the sums are updated where they are, in registers (tensor_products.h). Bytes per DOF:
 * AB3 20, LSRK4 16. Error of a sum of A_ij q_j: a few 2^-22 of sum |A_ij q_j|.
 *
 * Defines: REAL (float), DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), ROWS (tiles of
 * eight nodes a warp), TILE (16 or 32), THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_BYTES
 * (dynamic), UNROLL, LOCAL, INCIDENT. Packing of the operator: tensor_products.h. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(TILE) ||           \
    !defined(THREADS) || !defined(UNROLL)
#error                                                                                                       \
    "tensor.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, ROWS, TILE, THREADS, MIN_BLOCKS, UNROLL"
#endif
#define ROW_UNIT 8
#define TILE_PAD 4 /* rows are an odd number of 16 bytes, so that eight of them stand in different banks */
#define RUN      4
#define OUTER_AHEAD (NUM_FIELD <= 4)
#include "dg/tile.h"

#include "dg/incident.h"
#include "dg/prefetch.h"
#include "dg/tensor_products.h"

/* Asks for what the update of a lane's first element reads before the lift, where registers allow; at degree 6 it cost
 * 2 %. */
enum { EARLY = NUM_FIELD <= 4 && ROWS == 1 && DEGREE != 6 };

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_BLOCKS)
    dg_tensor(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tensor_tile &s = *(tensor_tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1]; /* asked for early */
    clear(s);
    load_tile(a, s.of, first, count);
#if INCIDENT
    add_incident(a, s.of, first);
#endif
    if (UPDATE == UPDATE_AB3 || (UPDATE == UPDATE_LSRK && a.a != 0))
        prefetch(a, a.r, first, count);
    if (UPDATE == UPDATE_AB3)
        prefetch(a, a.r1, first, count);
    __syncthreads();
    split(s);
    lane_place at = place_of_lane();
    float acc[NUM_ACC][ROWS][4];
    volume_turns(a.table, s, at, acc);
    lane_nodes nodes;
    if (EARLY)
        load_nodes(a, first, count, at, 0, nodes);
    lift_faces(a.table, s, at, acc);
    at = place_of_lane();
    if (!EARLY)
        load_nodes(a, first, count, at, 0, nodes);
    finish_nodes(a, first, count, at, 0, has_source, acc, nodes);
    load_nodes(a, first, count, at, 1, nodes);
    finish_nodes(a, first, count, at, 1, has_source, acc, nodes);
}
