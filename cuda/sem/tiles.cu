/* tiles.cu: the forces -K u of spectral elements, and a step of the nodes.
 *
 * tiles   block = a tile of up to CELLS elements that lie together; a node of it is read once. A thread owns a column
 *         or a plane of nodes; derivatives along the other axes are taken by whoever has whole lines in registers,
 *         where the matrix is known to the compiler, and pass through shared memory (work_column.h, work_plane.h).
 *         Forces are added node by node in a fixed order. Nodes that no other tile has step at once, the sums of the
 *         others are left apart (sums.h).
 * shared  one thread a node that tiles share: the sum of their parts, walls, dashpots, the other region; a step
 *         (shared.h).
 *
 * Compulsory bytes a node: u and v read and written, the inverse mass read, 4 (4 DIM + 1) in float32.
 * Defines: REAL, DEGREE, DIM (3: solid, 1: fluid), CELLS, MIN_BLOCKS, THREADS, PLANES (1: a thread owns a plane, 0: a
 * column), WARP_CELLS (elements of a warp; 0: they begin anywhere in one), ROW_ORDER (if so, the row on which each thread
 * works, so that those of a warp are in different banks), METRIC_KIND (common/index.h), MATERIAL_NODES
 * (of an element: 1 or NP), ROW0, PLANE0, ELEM0, ROW1, PLANE1, ELEM1 (nodes from row to row, plane to plane and element to
 * element in both arrays), MOST_SLOT, MOST_INNER (nodes of a tile, those inside it, at most), SHARED_BYTES, CATEGORIES
 * (csrc/sem/tiles.h), LIST_WORDS (of a tile's pattern that are kept, at most), AHEAD (tiles ahead for which a block
 * asks; 1: none), ASSEMBLY (0: parts are stored and summed in order; 1: added to the sums, tiles of one colour at a
 * time; cells.cu 2: added atomically to the velocity), LINE_DERIVATIVE, LINE_WEIGHTS, LINE_POINTS. */
#define DEVICE static __device__ __forceinline__
enum { N = DEGREE + 1 };
#include "common/async.h"
#include "common/early.h"
#include "common/line_products.h"
#include "common/prefetch.h"
#include "common/vector.h"
#include "sem/advance.h"

#define VAL      REAL
#define FN(name) name
#if DIM == 3
#include "sem/solid.h"
#else
#include "sem/fluid.h"
#endif

#include "sem/tile.h"

#include "sem/fetch.h"
#include "sem/lines.h"
#if PLANES
#include "sem/work_plane.h"
#else
#include "sem/tile_column.h"
#endif
#include "sem/sums.h"

#include "sem/shared.h"

#include "sem/record_first.h"

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    sem_tiles(const __grid_constant__ sem_tile_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    const int block = (int)blockIdx.x - a.record.num_block;
    if (block < 0) {
        record_first(a.record);
        return;
    }
    const sem_tile t = a.tile[a.first + block];
    const bool asks = AHEAD > 1 && blockIdx.x + AHEAD < gridDim.x;
    const sem_tile next = a.tile[a.first + block + (asks ? AHEAD : 0)];
    const unsigned short *words = a.words + t.pattern;
    const place p = place_of(t.num_elem);
    lines_of_thread own;
    wait_for_previous();
    gather(a, t, s.u);
    find_lines(a, own, s, t, p, words + HEAD_WORDS);
    if (threadIdx.x == 0)
        s.first[CELLS * ELEM0] = {};
    fetch_lists(s, t, words);
    copy_wait<1>();
    __syncthreads();
    if (asks)
        prefetch(a, next);
    work(a, s, t, p, own);
    old_state old;
    unsigned short head[HEAD_WORDS];
    load_inverse(a, t, 0, old);
    load_velocity(a, t, 0, old);
    load_words(head, words);
    copy_wait<0>();
    __syncthreads();
    add_up(a, s, t, head, old);
    wait_for_readers(a.record);
    __syncthreads();
    advance_inner(a, s, t, old);
    if (ASSEMBLY == 0)
        store_parts(a, s, t);
}
