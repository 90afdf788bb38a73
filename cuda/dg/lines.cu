/* lines.cu: one stage of DG on hexahedra whose nodes are products of Gauss-Lobatto points, in one pass: derivatives
 * along lines of nodes, the flux at the ends of lines, sources and update.
 *
 * block = TILE elements. A thread owns a node, or every THREADS-th one: it loads it, and updates it at the end.
 * In between the 3 n^2 lines of an element, n = DEGREE + 1, are spread over the same threads: n values of each
 * component from shared memory, their derivatives back. The state is read from q and written to q_new: neighbours
 * still read q. Bytes per DOF (float32): AB3 20, LSRK4 16, and where the metric is stored 36 or 40 a node of it.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND (common/index.h), STORED_METRIC (line.h),
 * UPDATE (index.h), TILE, THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_FRAMES (0:
 * the metric at faces is read again from memory), AHEAD (blocks ahead for whose state a block asks; 1: none), WAVE
 * (line_prefetch.h), SHARED_BYTES (dynamic), LINE_DERIVATIVE (n n numbers, by rows), LINE_POINT (n coordinates),
 * LINE_WEIGHT (1 over the weight of a line's end), FLUID_CELLS (line_fluids.h), LOCAL, INCIDENT. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(METRIC_KIND) ||                      \
    !defined(LINE_DERIVATIVE) || !defined(LINE_POINT) || !defined(TILE) || !defined(THREADS)
#error                                                                                                       \
    "lines.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND, UPDATE, LINE_DERIVATIVE, LINE_POINT, LINE_WEIGHT, FLUID_CELLS, TILE, THREADS, MIN_BLOCKS, AHEAD, SHARED_FRAMES, SHARED_BYTES"
#endif

#include "dg/line_ends.h"
#include "common/line_products.h"
#include "dg/line_tile.h"
#include "dg/line_sums.h"
#include "dg/line_prefetch.h"

/* The state and the metric of a thread's node of this turn. In memory the nodes of a block follow one another. A thread
 * that has none loads the first one: without a branch all loads are under way at once. */
static __device__ __forceinline__ void load_state(const dg_args &a, long long first, int count, int turn,
                                                  REAL *q, REAL *metric)
{
    int i = threadIdx.x + turn * THREADS;
    if (i >= count * NP)
        i = 0;
    load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, place(first, i));
    if (!METRIC_LATE)
        load_metric(a, first + elem_of(i), node_of(i), metric);
}

/* The state in reference components, into shared memory. */
static __device__ __forceinline__ void keep_state(const dg_args &a, tile &s, long long first, int turn,
                                                  const REAL *q, REAL *metric)
{
    int i = threadIdx.x + turn * THREADS, e = elem_of(i), node = node_of(i);
    REAL u[NUM_REF];
    if (METRIC_LATE)
        load_metric(a, first + e, node, metric);
    node_to_reference(a, first + e, q, metric, u);
#pragma unroll
    for (int f = 0; f < NUM_REF; f++)
        s.u[f * SLOT + spot(e, node)] = u[f];
    keep_metric(a, s, first + e, e, node, metric);
}

/* Derivatives along a line that begins at a spot; inner nodes are stored, the ends are handed out, with the values
 * there. */
template <int AXIS>
static __device__ __forceinline__ void derive(tile &s, int begin, REAL own[2][NUM_LINE],
                                              REAL end[2][NUM_LINE])
{
    constexpr int STEP = line_step(AXIS, PITCH_ROW, PITCH_PLANE);
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++) {
        const REAL *from = s.u + LINE_REF(AXIS, i) * SLOT + begin;
        REAL *to = s.u + LINE_OUT(AXIS, i) * SLOT + begin, x[N], d[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            x[k] = from[k * STEP];
        differentiate(x, d);
#pragma unroll
        for (int k = 1; k < N - 1; k++)
            to[k * STEP] = LINE_SIGN(i) * d[k];
#pragma unroll
        for (int side = 0; side < 2; side++) {
            own[side][i] = x[side * (N - 1)];
            end[side][i] = LINE_SIGN(i) * d[side * (N - 1)];
        }
    }
}

/* A line's share of the sums, with the flux at its ends; what lies outside was asked for before. */
static __device__ __forceinline__ void sum_line(const dg_args &a, tile &s, const line &at, const outside o[2])
{
    int begin = at.e * PITCH_ELEM + line_begin(at, PITCH_ROW, PITCH_PLANE);
    int step = line_step(at.axis, PITCH_ROW, PITCH_PLANE);
    REAL own[2][NUM_LINE], end[2][NUM_LINE];
    if (at.axis == 0) /* a constant: so are all steps from node to node */
        derive<0>(s, begin, own, end);
    else if (at.axis == 1)
        derive<1>(s, begin, own, end);
    else
        derive<2>(s, begin, own, end);
#pragma unroll
    for (int side = 0; side < 2; side++) {
        add_flux(a, s, at, side, o[side], own[side], end[side]);
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            s.u[LINE_OUT(at.axis, i) * SLOT + begin + side * (N - 1) * step] = end[side][i];
    }
}

/* The sums of a thread's node of this turn become dq/dt, and its new state. q, kept: what load_state loaded. */
static __device__ __forceinline__ void finish(const dg_args &a, const tile &s, long long first, int turn,
                                              const REAL *q, const REAL *kept, old_state &old)
{
    int i = threadIdx.x + turn * THREADS, e = elem_of(i), node = node_of(i);
    long long elem = first + e, at = place(first, threadIdx.x);
    REAL acc[NUM_ACC], rhs[NUM_FIELD], coef[NUM_COEF], metric[NUM_METRIC];
    bool begun[NUM_ACC] = {};
    if (!OLD_EARLY)
        load_old(a, at, old, turn * THREADS, KEEP_STATE ? q : nullptr);
    if (!KEEP_METRIC)
        load_metric_again(a, s, elem, e, node, metric);
#pragma unroll
    for (int k = 0; k < NUM_METRIC && KEEP_METRIC; k++)
        metric[k] = kept[k];
    load_constant<NUM_COEF>(coef, (const REAL *)a.record + RECORD * elem + (BY_NODE ? NUM_COEF * node : 0));
    scale(a, metric, coef);
#pragma unroll
    for (int axis = 0; axis < 3; axis++)
#pragma unroll
        for (int k = 0; k < NUM_LINE; k++)
            add_to(acc, begun, LINE_ACC(axis, k), s.u[LINE_OUT(axis, k) * SLOT + spot(e, node)]);
    node_from_reference(a, elem, acc, metric, coef, rhs);
    add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
    update<STEPPED>(a, at, old, rhs, turn * THREADS);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) dg_lines(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
    REAL q[NODE_TURNS][NUM_FIELD], metric[NODE_TURNS][NUM_METRIC];
    old_state old[NODE_TURNS];
    outside o[2];
    line at;
    if (!line_at(first, count, threadIdx.x, at))
        at = {first, 0, 0, 0};
    find_neighbors(a, at, o);
#pragma unroll
    for (int begin = 0; begin < NODE_TURNS; begin += AT_ONCE) {
#pragma unroll
        for (int turn = begin; turn < NODE_TURNS && turn < begin + AT_ONCE; turn++)
            load_state(a, first, count, turn, q[turn], metric[turn]);
        if (begin == 0)
            load_neighbors(a, at.m, o);
#pragma unroll
        for (int turn = begin; turn < NODE_TURNS && turn < begin + AT_ONCE; turn++)
            if (threadIdx.x + turn * THREADS < count * NP)
                keep_state(a, s, first, turn, q[turn], metric[turn]);
    }
    prefetch_memory(a, first, count);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < LINE_TURNS; turn++) {
        if (!line_at(first, count, threadIdx.x + turn * THREADS, at))
            continue;
        if (turn > 0) {
            find_neighbors(a, at, o);
            load_neighbors(a, at.m, o);
        }
        load_exact_data(a, at.m, o);
        sum_line(a, s, at, o);
    }
#pragma unroll
    for (int turn = 0; turn < NODE_TURNS && OLD_EARLY; turn++)
        if (threadIdx.x + turn * THREADS < count * NP)
            load_old(a, place(first, threadIdx.x), old[turn], turn * THREADS, KEEP_STATE ? q[turn] : nullptr);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < NODE_TURNS; turn++)
        if (threadIdx.x + turn * THREADS < count * NP)
            finish(a, s, first, turn, q[turn], metric[turn], old[turn]);
    drive(a, first, threadIdx.x, THREADS, count * NP, source_first, source_last);
}
