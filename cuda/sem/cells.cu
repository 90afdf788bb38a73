/* cells.cu: a step of spectral elements whose forces are added atomically.
 *
 * cells   block = CELLS elements that follow one another. A thread owns a column of nodes: it reads them from memory by
 *         number, passes lines through shared memory (work_column.h), and adds dt M^-1 times the force on each node to
 *         the node's velocity, 16 bytes a request. Nodes that no other element has step at once.
 * shared  the others: u += dt v; walls, dashpots, the other region (shared.h).
 *
 * Compulsory bytes a node: u and v read and written, numbers of element nodes read. A node's unknowns are WIDTH words, so
 * that they are moved at once: those of a solid's u are followed by the inverse mass, of v and a by 0.
 * Defines: as tiles.cu, without those of tiles and patterns. */
#define DEVICE static __device__ __forceinline__
enum { N = DEGREE + 1 };
#include "common/async.h"
#include "common/early.h"
#include "common/line_products.h"
#include "common/prefetch.h"
#include "common/reduce.h"
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

#include "sem/lines.h"
#include "sem/work_column.h"

#include "sem/shared.h"

#include "sem/record_first.h"

DEVICE void load_node(const void *level, long long node, REAL (&x)[WIDTH])
{
    load_vector<WIDTH>(x, (const REAL *)level + node * WIDTH);
}
DEVICE void store_node(void *level, long long node, const REAL (&x)[WIDTH])
{
    store_vector<WIDTH>((REAL *)level + node * WIDTH, x);
}

DEVICE void ask(const void *from, long long first, int bytes)
{
#pragma unroll 1
    for (int at = (int)threadIdx.x * LINE; at < bytes; at += THREADS * LINE)
        prefetch_l2((const char *)from + first + at);
}

/* Asks for what cells read whose nodes and numbers stand beside each other. */
DEVICE void ask_ahead(const sem_tile_args &a, long long elem)
{
    constexpr int INNER = (N - 2) * (N - 2) * (N - 2), OF_NODES = WIDTH * INNER * (int)sizeof(REAL);
    ask(a.u, elem * OF_NODES, CELLS * OF_NODES);
    ask(a.v, elem * OF_NODES, CELLS * OF_NODES);
    ask(a.entry, elem * NP * (int)sizeof(int), CELLS * NP * (int)sizeof(int));
    if (METRIC_NODES == 1)
        ask(a.metric, elem * METRIC_REALS * (int)sizeof(REAL), CELLS * METRIC_REALS * (int)sizeof(REAL));
}

/* A column of u by the numbers of its nodes; `pad`: what stands behind the unknowns of each. */
DEVICE void gather_column(const sem_tile_args &a, const int *number, int (&node)[N], REAL (&pad)[N],
                          REAL (&column)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        node[k] = __ldg(number + k * SQUARE);
#pragma unroll
    for (int k = 0; k < N; k++) {
        REAL u[WIDTH];
        load_node(a.u, node[k], u);
        pad[k] = u[WIDTH - 1];
#pragma unroll
        for (int i = 0; i < DIM; i++)
            column[i][k] = u[i];
    }
}

/* What forces on these nodes are multiplied by: M^-1, which is the pad of a solid. */
DEVICE void find_factors(const sem_tile_args &a, const int (&node)[N], REAL (&pad)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        if (a.mode == SEM_FORCE)
            pad[k] = 1;
        else if (a.mode == SEM_CLOSE || WIDTH == DIM)
            pad[k] = __ldg((const REAL *)a.inverse_mass + node[k]);
}

/* Of nodes that no other element has: v, then a step. */
typedef REAL inner_nodes[N - 2][WIDTH];
DEVICE void load_inner(const sem_tile_args &a, const int (&node)[N], inner_nodes &v)
{
#pragma unroll
    for (int k = 0; k < N - 2; k++)
        load_node(a.v, node[k + 1], v[k]);
}
DEVICE void step_inner(const sem_tile_args &a, const int (&node)[N], const REAL (&factor)[N],
                       const REAL (&force)[DIM][N], inner_nodes &v)
{
#pragma unroll
    for (int k = 1; k < N - 1; k++) {
        REAL u[WIDTH], to[WIDTH] = {};
        load_node(a.u, node[k], u);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            advance_to(a.mode, a.dt, force[i][k] * factor[k], u + i, v[k - 1] + i, to + i);
        if (a.mode != SEM_FORCE)
            store_node(a.v, node[k], v[k - 1]);
        if (a.mode == SEM_STEP)
            store_node(a.u, node[k], u);
        else
            store_node(a.a, node[k], to);
    }
}

/* Adds to the others dt M^-1 times the force to the velocity or, at last, M^-1 times it to the acceleration; forces on
 * sides are summed apart. */
DEVICE void leave(const sem_tile_args &a, const int (&node)[N], bool has_inner, const REAL (&factor)[N],
                  const REAL (&force)[DIM][N])
{
    REAL *to = (REAL *)(a.mode == SEM_STEP ? a.v : a.a), *sides = (REAL *)a.shared - a.first_side * WIDTH;
    const REAL dt = a.mode == SEM_STEP ? (REAL)a.dt : 1;
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (has_inner && k > 0 && k < N - 1)
            continue;
        REAL part[WIDTH] = {};
        const bool side = node[k] >= a.first_side;
#pragma unroll
        for (int i = 0; i < DIM; i++)
            part[i] = (side ? 1 : dt * factor[k]) * force[i][k];
        add_atomically((side ? sides : to) + (long long)node[k] * WIDTH, part);
    }
}

extern "C" __global__ void sem_pad(const __grid_constant__ sem_pad_args a)
{
    const long long node = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (node < a.num)
        ((REAL *)a.u)[node * WIDTH + WIDTH - 1] = ((const REAL *)a.inverse_mass)[node];
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    sem_cells(const __grid_constant__ sem_tile_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    if ((int)blockIdx.x < a.record.num_block) {
        record_first(a.record);
        return;
    }
    const int block = a.first + (int)blockIdx.x - a.record.num_block;
    wait_for_previous();
    const long long begin = (long long)block * CELLS, left = a.num_elem - begin;
    const int num = left < CELLS ? (int)left : CELLS;
    const place p = place_of(num), r = row_place(p, num);
    const lines_in at = lines_of(s, p, r);
    const int sources = find_sources(a, block);
    const bool has_inner = p.works && p.a > 0 && p.a < N - 1 && p.b > 0 && p.b < N - 1;
    REAL x[DIM][N], f[DIM][N], factor[N];
    int node[N];
    if (p.works) {
        gather_column(a, a.entry + begin * NP + p.elem * NP + p.b * N + p.a, node, factor, f);
        store_line<PLANE0>(at.column, f);
    }
    if (AHEAD > 1 && blockIdx.x + AHEAD + 1 < gridDim.x)
        ask_ahead(a, begin + (long long)AHEAD * CELLS);
    __syncthreads();
    if (r.works) {
        load_line<1>(at.row, x);
        derive<false>(x);
    }
    work_on_lines(a, s, p, r.works, at, begin + p.elem, x, f);
    constexpr bool EARLY = N < 6; /* there are registers */
    inner_nodes v;
    if (EARLY && has_inner)
        load_inner(a, node, v);
    wait_for_readers(a.record);
    __syncthreads();
    add_sources(a, sources, p, f);
    if (!p.works)
        return;
    add_lines(at, f);
    find_factors(a, node, factor);
    if (!EARLY && has_inner)
        load_inner(a, node, v);
    if (has_inner)
        step_inner(a, node, factor, f, v);
    leave(a, node, has_inner, factor, f);
}
