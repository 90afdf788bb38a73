/* layer_hex.cu: the pass over absorbing layers of hexahedra, before or after a stage of DG by any kernel (layer.h).
 *
 * block = CELLS cells, whose state is in shared memory; thread i owns their nodes i, i + THREADS, .. Derivatives go along lines,
 * of which only those count along which the layer's coordinate changes: in cells that layers add, one for each axis. A node at
 * the end of a line loads the one beyond it and lifts the jump, which changes that node alone. Blocks wait once.
 * Bytes per node, float32, LSRK: 12 NUM_FIELD, and 16 NUM_TRACE an axis; more at the ends of lines, mostly from L2.
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, MIN_BLOCKS, CELLS. Dynamic shared memory: struct room. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(SPACE) || !defined(THREADS) ||       \
    !defined(CELLS)
#error "layer_hex.cu needs REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, CELLS"
#endif

#include "dg/layer.h"

enum {
    LINE = DEGREE + 1,
    NUM_MATRIX = LINE * LINE + 1, /* the derivative along a line, 1 / the weight of an end */
    OWN = (CELLS * NP + THREADS - 1) / THREADS,
    EARLY =
        NUM_FIELD * sizeof(REAL) <= 24 /* registers are there for a neighbour's node while the block waits */
};

struct room {
    REAL matrix[NUM_MATRIX], q[CELLS][NUM_FIELD][NP];
};
static_assert(sizeof(room) <= SHARED_BYTES, "room for the block's shared memory");

/* Where node n is along r_j. */
static __device__ __forceinline__ int along(int j, int n)
{
    return j == 0 ? n % LINE : j == 1 ? n / LINE % LINE : n / NFP;
}

/* What lies beyond a node at the end of a line: a neighbour's state there, or a boundary, neighbor < 0. */
struct beyond {
    int neighbor;
    REAL q[NUM_FIELD];
};

/* The node of a neighbour's side that lies on node m of a face. */
static __device__ __forceinline__ int node_of(const dg_layer_args &a, int side, int m)
{
    if (side >= NUM_FACE)
        return __ldg(a.face_node + side * NFP + m);
    int one = m % LINE, other = m / LINE, end = side % 2 * (LINE - 1);
    return side / 2 == 0   ? end + LINE * one + NFP * other
           : side / 2 == 1 ? one + LINE * end + NFP * other
                           : one + LINE * other + NFP * end;
}

/* Of node n at the first or last place of a line along r_j: face 2 j or 2 j + 1. */
static __device__ __forceinline__ void load_beyond(const dg_layer_args &a, long long elem, int j, int n,
                                                   beyond &at)
{
    int m = j == 0 ? n / LINE : j == 1 ? n % LINE + n / NFP * LINE : n % NFP;
    at.neighbor = __ldg(a.neighbor + NUM_FACE * elem + 2 * j + (along(j, n) > 0));
    if (at.neighbor < 0)
        return;
    int other = node_of(a, NEIGHBOR_SIDE(at.neighbor), m);
    load_node<NUM_FIELD>(at.q, (const REAL *)a.q, a.num_total * NP,
                         place_of(NEIGHBOR_ELEM(at.neighbor), other));
}

/* Its trace across an axis; in: of the node itself. */
static __device__ __forceinline__ void trace_beyond(const dg_layer_args &a, long long cell, int axis, int j,
                                                    int n, const beyond &at, const REAL *in, REAL *out)
{
    if (at.neighbor >= 0) {
        REAL frame[NUM_FRAME];
        axis_frame(axis, frame);
        trace(at.q, frame, out);
        return;
    }
    REAL normal[3];
    for (int i = 0; i < 3; i++) {
        REAL g = gradient_at(a, cell, 3 * j + i, n);
        normal[i] = along(j, n) ? g : -g;
    }
    axis_reflect(-1 - at.neighbor, in, normal, out);
}

/* What an item needs from memory at a node, asked for early: the end is that of its first line, if EARLY. */
struct ahead {
    int kind;
    memory old;
    beyond end;
};

template <int PASS>
static __device__ __forceinline__ void look_ahead(const dg_layer_args &a, long long item, long long elem,
                                                  int n, ahead &to)
{
    to.kind = __ldg(a.axis + item);
    load_memory<PASS>(a, item, n, to.old);
    int lines = LAYER_LINES(to.kind), j = lines & 1 ? 0 : lines & 2 ? 1 : 2, at = along(j, n);
    if (EARLY && (at == 0 || at == LINE - 1))
        load_beyond(a, elem, j, n, to.end);
}

/* The derivatives of the traces along an item's axis at node n, with the central flux. */
static __device__ __forceinline__ void slope_of(const dg_layer_args &a, const room &s, int tile,
                                                long long cell, long long elem, ahead &has, int n,
                                                REAL *slope)
{
    int axis = LAYER_AXIS(has.kind), lines = LAYER_LINES(has.kind);
    const REAL *w[NUM_TRACE];
#pragma unroll
    for (int i = 0; i < NUM_TRACE; i++) {
        w[i] = s.q[tile][trace_field(axis, i)] + n;
        slope[i] = 0;
    }
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const int step = j == 0 ? 1 : j == 1 ? LINE : LINE * LINE;
        if (!(lines >> j & 1))
            continue;
        int at = along(j, n);
        REAL sum[NUM_TRACE], g = gradient_at(a, cell, 3 * j + axis, n);
#pragma unroll
        for (int i = 0; i < NUM_TRACE; i++)
            sum[i] = 0;
        if (at == 0 || at == LINE - 1) {
            REAL in[NUM_TRACE], out[NUM_TRACE];
            REAL half = (at ? (REAL)0.5 : (REAL)-0.5) * s.matrix[LINE * LINE];
#pragma unroll
            for (int i = 0; i < NUM_TRACE; i++)
                in[i] = *w[i];
            if constexpr (EARLY) {
                if (lines & ((1 << j) - 1)) /* else it is there */
                    load_beyond(a, elem, j, n, has.end);
                trace_beyond(a, cell, axis, j, n, has.end, in, out);
            } else {
                beyond end;
                load_beyond(a, elem, j, n, end);
                trace_beyond(a, cell, axis, j, n, end, in, out);
            }
#pragma unroll
            for (int i = 0; i < NUM_TRACE; i++)
                sum[i] = half * (out[i] - in[i]);
        }
#pragma unroll
        for (int k = 0; k < LINE; k++) {
            REAL d = s.matrix[at * LINE + k];
#pragma unroll
            for (int i = 0; i < NUM_TRACE; i++)
                sum[i] += d * w[i][(k - at) * step];
        }
#pragma unroll
        for (int i = 0; i < NUM_TRACE; i++)
            slope[i] += g * sum[i];
    }
}

/* Where node n has its profile. */
static __device__ __forceinline__ int profile_place(const dg_layer_args &a, int kind, int n)
{
    return a.profile_nodes == NP ? n : along(LAYER_ALONG(kind), n);
}

template <int PASS> static __device__ __forceinline__ void pass(const dg_layer_args &a)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    room &s = *(room *)bytes;
    long long begin = a.first_cell + (long long)blockIdx.x * CELLS, total = a.num_total * NP;
#pragma unroll
    for (int own = 0; own < OWN; own++) {
        int i = threadIdx.x + own * THREADS, tile = i / NP, n = i % NP;
        if (tile < CELLS && begin + tile < a.last_cell) {
            REAL q[NUM_FIELD];
            load_node<NUM_FIELD>(q, (const REAL *)a.q, total, place_of(__ldg(a.elem + begin + tile), n));
#pragma unroll
            for (int f = 0; f < NUM_FIELD; f++)
                s.q[tile][f][n] = q[f];
        }
    }
    for (int i = threadIdx.x; i < NUM_MATRIX; i += THREADS)
        s.matrix[i] = __ldg((const REAL *)a.matrix + i);
#pragma unroll 1
    for (int own = 0; own < OWN; own++) {
        int i = threadIdx.x + own * THREADS, tile = i / NP, n = i % NP;
        bool mine = tile < CELLS && begin + tile < a.last_cell;
        long long cell = mine ? begin + tile : begin, elem = __ldg(a.elem + cell), place = place_of(elem, n);
        int item = __ldg(a.first + cell), last = __ldg(a.first + cell + 1);
        REAL coef[NUM_COEF];
        gathered<PASS> sum;
        ahead has;
        if (mine) { /* loads in flight while the block waits */
            begin_rates(a, place, sum);
            look_ahead<PASS>(a, item, elem, n, has);
            load_coefficients(a, cell, n, coef);
        }
        if (own == 0)
            __syncthreads();
        if (!mine)
            continue;
#pragma unroll 1
        for (; item < last; item++) {
            int axis = LAYER_AXIS(has.kind);
            REAL profile[LAYER_NUMBER], slope[NUM_TRACE], z[NUM_TRACE], rates[NUM_FIELD];
            load_profile(a, item, profile_place(a, has.kind, n), profile);
            slope_of(a, s, tile, cell, elem, has, n, slope);
            advance_memory<PASS>(a, item, n, profile, has.old, slope, z);
            if (item + 1 < last)
                look_ahead<PASS>(a, item + 1, elem, n, has);
            axis_rates(axis, z, coef, rates);
#pragma unroll
            for (int f = 0; f < NUM_FIELD; f++)
                add_rate(a, f, rates[f] - profile[LAYER_FADE] * s.q[tile][f][n], sum);
        }
        REAL q[NUM_FIELD];
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] = s.q[tile][f][n];
        end_rates(a, place, q, sum);
    }
}

KERNEL(dg_layer_next, LAYER_FOR_NEXT)
KERNEL(dg_layer_first, LAYER_FOR_FIRST)
KERNEL(dg_layer_other, LAYER_FOR_OTHER)
