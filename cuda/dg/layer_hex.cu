/* layer_hex.cu: the pass over absorbing layers of hexahedra, before or after a stage of DG by any kernel (layer.h).
 *
 * block = CELLS cells, whose state is in shared memory; thread i owns their nodes i, i + THREADS, .. Derivatives go along lines,
 * of which only those count along which the layer's coordinate changes: in cells that layers add, one for each axis. A node at
 * the end of a line loads the one beyond it and lifts the jump, which changes that node alone. Blocks wait once.
 * Bytes per node, float32, LSRK: 12 NUM_FIELD, and 16 NUM_TRACE an axis; more at the ends of lines, mostly from L2.
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, MIN_BLOCKS, SHARED_BYTES, CELLS. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(SPACE) || !defined(THREADS) ||       \
    !defined(CELLS)
#error "layer_hex.cu needs REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, CELLS"
#endif

#include "dg/layer.h"

enum {
    LINE = DEGREE + 1,
    NUM_MATRIX = LINE * LINE + 1, /* the derivative along a line, 1 / the weight of an end */
    OWN = (CELLS * NP + THREADS - 1) / THREADS
};

struct room {
    REAL matrix[NUM_MATRIX], q[CELLS][NUM_FIELD][NP];
};
static_assert(sizeof(room) <= SHARED_BYTES, "room for the block's shared memory");

/* The trace beyond the end of a line along r_j, at node n of a cell: face 2 j, or 2 j + 1 for a last node. */
static __device__ __forceinline__ void beyond(const dg_layer_args &a, long long cell, long long elem,
                                              int axis, int j, bool last, int n, const REAL *in, REAL *out)
{
    int face = 2 * j + last, neighbor = __ldg(a.neighbor + NUM_FACE * elem + face);
    if (neighbor < 0) {
        REAL normal[3];
        for (int i = 0; i < 3; i++) {
            REAL g = gradient_at(a, cell, 3 * j + i, n);
            normal[i] = last ? g : -g;
        }
        axis_reflect(-1 - neighbor, in, normal, out);
        return;
    }
    int m = j == 0 ? n / LINE : j == 1 ? n % LINE + n / NFP * LINE : n % NFP;
    int other = __ldg(a.face_node + NEIGHBOR_SIDE(neighbor) * NFP + m);
    load_trace(a, axis, NEIGHBOR_ELEM(neighbor), other, out);
}

/* The derivatives of the traces along an item's axis at node n, with the central flux. */
static __device__ __forceinline__ void slope_of(const dg_layer_args &a, const room &s, int tile,
                                                long long cell, long long elem, int kind, int n, REAL *slope)
{
    int axis = LAYER_AXIS(kind);
    const REAL *w[NUM_TRACE];
#pragma unroll
    for (int i = 0; i < NUM_TRACE; i++) {
        w[i] = s.q[tile][trace_field(axis, i)] + n;
        slope[i] = 0;
    }
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const int step = j == 0 ? 1 : j == 1 ? LINE : LINE * LINE;
        if (!(LAYER_LINES(kind) >> j & 1))
            continue;
        int at = n / step % LINE;
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
            beyond(a, cell, elem, axis, j, at > 0, n, in, out);
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
    int j = LAYER_ALONG(kind);
    int at = j == 0 ? n % LINE : j == 1 ? n / LINE % LINE : n / NFP;
    return a.profile_nodes == NP ? n : at;
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
        memory old;
        if (mine) { /* loads in flight while the block waits */
            load_memory<PASS>(a, item, n, old);
            begin_rates(a, place, sum);
            load_coefficients(a, cell, n, coef);
        }
        if (own == 0)
            __syncthreads();
        if (!mine)
            continue;
#pragma unroll 1
        for (; item < last; item++) {
            int kind = __ldg(a.axis + item);
            REAL profile[LAYER_NUMBER], slope[NUM_TRACE], z[NUM_TRACE], rates[NUM_FIELD];
            load_profile(a, item, profile_place(a, kind, n), profile);
            slope_of(a, s, tile, cell, elem, kind, n, slope);
            advance_memory<PASS>(a, item, n, profile, old, slope, z);
            if (item + 1 < last)
                load_memory<PASS>(a, item + 1, n, old);
            axis_rates(LAYER_AXIS(kind), z, coef, rates);
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
