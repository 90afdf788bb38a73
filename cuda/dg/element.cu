/* element.cu: one stage of DG in one pass, one element per thread, as the first strategy of Modave, St-Cyr &
 * Warburton (2016); they run volume, surface and update as three kernels.
 *
 * block = TILE elements; a thread takes the rows of the matrices in ROW_GROUPS turns of ROWS. All threads read
 * the same entry of a matrix at the same time, and neighbouring threads neighbouring elements (layout
 * elements.h). A tile's state and jumps are in shared memory, where a thread reads back what it wrote itself.
 * Bytes per DOF (float32): AB3 20, LSRK4 16, and the neighbours' traces value by value.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), ROWS, TILE,
 * SHARED_BYTES, LOCAL, INCIDENT. Matrix packing: products.h. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(TILE)
#error                                                                                                       \
    "element.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, ROWS, TILE, SHARED_BYTES"
#endif

#define COLS          1
#define ROW_GROUPS    ((NUM_NODE(DEGREE) + ROWS - 1) / ROWS)
#define THREADS       TILE
#define UNROLL_VOLUME 4
#define UNROLL_LIFT   3
#include "dg/products.h"

#include "dg/incident.h"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_element(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE, e = threadIdx.x;
    bool has_source = a.source_range[blockIdx.x] < a.source_range[blockIdx.x + 1];
    load_tile(a, s, first, count);
#if INCIDENT
    add_incident(a, s, first);
#endif
    const REAL *derivative = (const REAL *)a.matrix, *lift = derivative + 3 * NP * ROW_GROUPS * ROWS;
#pragma unroll 1
    for (int group = 0; group < ROW_GROUPS; group++) {
        REAL acc[ROWS][COLS][NUM_ACC] = {};
        volume_products(derivative, s, group, e, acc);
        lift_jumps(lift, s, group, e, acc);
        finish(a, first, count, group, e, has_source, acc);
    }
}
