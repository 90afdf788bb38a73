/* columns.cu: one stage of DG on hexahedra whose nodes are products of Gauss-Lobatto points, in one pass: derivatives
 * along lines of nodes, the flux at the ends of lines, sources and update.
 *
 * block = TILE elements. A thread owns a column, the n = DEGREE + 1 nodes along a line of axis 3: it loads them,
 * and updates them at the end. It also takes one line of each axis: that of axis 3 is in its registers, those of
 * axes 1 and 2 pass through shared memory. So every thread does the same, and the compiler knows all steps from node
 * to node. The state is read from q and written to q_new: neighbours still read q. Bytes per DOF (float32): AB3 20,
 * LSRK4 16, and where the metric is stored 36 or 40 a node of it.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND (common/index.h), STORED_METRIC (line.h),
 * UPDATE (index.h), TILE, THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_FRAMES (1: stored
 * metrics at faces are kept in shared memory, 0: read again), PITCH_ROW, PITCH_PLANE, PITCH_ELEM (column_tile.h), BATCH
 * (nodes that a thread updates at once), KEEP_STATE (1: the state of a column stays in registers, 0: it is read
 * again), AHEAD (blocks ahead for whose state a block asks; 1: none), WAVE (line_prefetch.h), SHARED_BYTES (dynamic),
 * LINE_DERIVATIVE (n n numbers, by rows), LINE_POINT (n coordinates), LINE_WEIGHT (1 over the weight of a line's end),
 * FLUID_CELLS (line_fluids.h), LOCAL, INCIDENT. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(METRIC_KIND) ||                      \
    !defined(LINE_DERIVATIVE) || !defined(LINE_POINT) || !defined(TILE) || !defined(PITCH_ROW)
#error                                                                                                       \
    "columns.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND, UPDATE, LINE_DERIVATIVE, LINE_POINT, LINE_WEIGHT, FLUID_CELLS, TILE, THREADS, MIN_BLOCKS, AHEAD, SHARED_FRAMES, PITCH_ROW, PITCH_PLANE, PITCH_ELEM, BATCH, KEEP_STATE, SHARED_BYTES"
#endif

#include "dg/column_metric.h"
#include "dg/line_ends.h"
#include "common/line_products.h"
#include "dg/line_sums.h"
#include "dg/line_prefetch.h"

/* What a thread owns: column m of element elem, number e of the block. */
struct column {
    long long elem;
    int e, m;
    column_metric metric;
    REAL q[KEEP_STATE ? N : 1][NUM_FIELD];
    REAL sum[NUM_LINE][N]; /* what lines of axis 3 add to sums */
};

/* Where node 0 of a line begins in a slot, and the next node. */
template <int AXIS> static __device__ __forceinline__ int line_spot(int e, int m)
{
    return e * PITCH_ELEM + line_begin({0, 0, AXIS, m}, PITCH_ROW, PITCH_PLANE);
}

/* Adds the flux at both ends of a line, whose values are own[side], to what its derivatives are there. */
template <int AXIS>
static __device__ __forceinline__ void add_ends(const dg_args &a, const tile &s, const column &c,
                                                outside o[2], const REAL own[2][NUM_LINE],
                                                REAL end[2][NUM_LINE])
{
    line at = {c.elem, c.e, AXIS, c.m};
    load_exact_data(a, c.m, o);
#pragma unroll
    for (int side = 0; side < 2; side++)
        add_flux(a, frames{s, c.metric}, at, side, o[side], own[side], end[side]);
}

/* The state of a column, in reference components: into shared memory what lines of axes 1 and 2 take, into c.sum
 * what its own does. */
static __device__ __forceinline__ void load_column(const dg_args &a, tile &s, column &c, outside o[3][2])
{
    REAL q[N][NUM_FIELD];
    long long base = place(c.elem, c.m);
    int spot = line_spot<2>(c.e, c.m);
#pragma unroll
    for (int axis = 0; axis < 3; axis++)
        find_neighbors(a, {c.elem, c.e, axis, c.m}, o[axis]);
#pragma unroll
    for (int k = 0; k < N; k++)
        load_node<NUM_FIELD>(q[k], (const REAL *)a.q, a.num_total * NP, base, k * NFP);
    begin_column(a, c.elem, c.m, c.metric);
    load_neighbors(a, c.m, o[2]);
#pragma unroll
    for (int k = 0; k < N; k++) {
        REAL u[NUM_REF], metric[NUM_METRIC];
        column_node(a, c.metric, c.elem, c.m, k, metric);
        node_to_reference(a, c.elem, q[k], metric, u);
#pragma unroll
        for (int f = 0; f < NUM_REF; f++)
            if (IN_SLOT(f))
                s.u[f * SLOT + spot + k * PITCH_PLANE] = u[f];
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            c.sum[i][k] = u[LINE_REF(2, i)];
        keep_frames(s, c.e, c.m, k, metric);
#pragma unroll
        for (int f = 0; f < NUM_FIELD && KEEP_STATE; f++)
            c.q[k][f] = q[k][f];
    }
}

/* A line of axis 1 or 2, in shared memory: inner nodes are done one component after the other. */
template <int AXIS>
static __device__ __forceinline__ void take_line(const dg_args &a, tile &s, const column &c, outside o[2])
{
    constexpr int STEP = line_step(AXIS, PITCH_ROW, PITCH_PLANE);
    int spot = line_spot<AXIS>(c.e, c.m);
    REAL own[2][NUM_LINE], end[2][NUM_LINE];
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++) {
        REAL u[N], d[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            u[k] = s.u[LINE_REF(AXIS, i) * SLOT + spot + k * STEP];
        differentiate(u, d);
#pragma unroll
        for (int k = 1; k < N - 1; k++)
            s.u[LINE_OUT(AXIS, i) * SLOT + spot + k * STEP] = LINE_SIGN(i) * d[k];
#pragma unroll
        for (int side = 0; side < 2; side++) {
            own[side][i] = u[side * (N - 1)];
            end[side][i] = LINE_SIGN(i) * d[side * (N - 1)];
        }
    }
    add_ends<AXIS>(a, s, c, o, own, end);
#pragma unroll
    for (int side = 0; side < 2; side++)
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            s.u[LINE_OUT(AXIS, i) * SLOT + spot + side * (N - 1) * STEP] = end[side][i];
}

/* The line that is the column, in registers. */
static __device__ __forceinline__ void take_column(const dg_args &a, const tile &s, column &c, outside o[2])
{
    REAL own[2][NUM_LINE], end[2][NUM_LINE];
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++) {
        REAL d[N];
        differentiate(c.sum[i], d);
#pragma unroll
        for (int side = 0; side < 2; side++) {
            own[side][i] = c.sum[i][side * (N - 1)];
            end[side][i] = LINE_SIGN(i) * d[side * (N - 1)];
        }
#pragma unroll
        for (int k = 0; k < N; k++)
            c.sum[i][k] = LINE_SIGN(i) * d[k];
    }
    add_ends<2>(a, s, c, o, own, end);
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++) {
        c.sum[i][0] = end[0][i];
        c.sum[i][N - 1] = end[1][i];
    }
}

/* The sums of node k of a column become dq/dt, and its new state. */
static __device__ __forceinline__ void finish(const dg_args &a, const tile &s, const column &c, int k,
                                              long long base, old_state &old, const REAL *element_coef)
{
    REAL acc[NUM_ACC], rhs[NUM_FIELD], coef[NUM_COEF], metric[NUM_METRIC];
    bool begun[NUM_ACC] = {};
    int spot = line_spot<2>(c.e, c.m) + k * PITCH_PLANE;
    column_node(a, c.metric, c.elem, c.m, k, metric);
#pragma unroll
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = element_coef[i];
    if (BY_NODE)
        load_constant<NUM_COEF>(coef, (const REAL *)a.record + RECORD * c.elem + NUM_COEF * (c.m + k * NFP));
    scale(a, metric, coef);
#pragma unroll
    for (int axis = 0; axis < 3; axis++)
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            add_to(acc, begun, LINE_ACC(axis, i),
                   axis == 2 ? c.sum[i][k] : s.u[LINE_OUT(axis, i) * SLOT + spot]);
    node_from_reference(a, c.elem, acc, metric, coef, rhs);
    add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
    update<STEPPED>(a, base, old, rhs, k * NFP);
}

static __device__ __forceinline__ void finish_column(const dg_args &a, const tile &s, const column &c)
{
    long long base = place(c.elem, c.m);
    REAL coef[NUM_COEF];
    load_constant<NUM_COEF>(coef, (const REAL *)a.record + RECORD * c.elem);
#pragma unroll
    for (int begin = 0; begin < N; begin += BATCH) {
        old_state old[BATCH];
#pragma unroll
        for (int k = begin; k < N && k < begin + BATCH; k++)
            load_old(a, base, old[k - begin], k * NFP, KEEP_STATE ? c.q[k * KEEP_STATE] : nullptr);
#pragma unroll
        for (int k = begin; k < N && k < begin + BATCH; k++)
            finish(a, s, c, k, base, old[k - begin], coef);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    dg_columns(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
    column c;
    outside o[3][2];
    c.e = threadIdx.x / NFP;
    c.m = threadIdx.x % NFP;
    c.elem = first + c.e;
    bool active = c.e < count;
    if (active)
        load_column(a, s, c, o);
    prefetch_memory(a, first, count);
    if (active) {
        take_column(a, s, c, o[2]);
        load_neighbors(a, c.m, o[0]);
    }
    wait_for_element();
    if (active) {
        load_neighbors(a, c.m, o[1]);
        take_line<0>(a, s, c, o[0]);
        take_line<1>(a, s, c, o[1]);
    }
    wait_for_element();
    if (!active)
        return;
    finish_column(a, s, c);
    drive(a, first, c.e * NP + c.m, NFP, (c.e + 1) * NP, source_first, source_last);
}
