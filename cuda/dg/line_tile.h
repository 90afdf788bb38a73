/* line_tile.h: what a block of kernel lines keeps in shared memory, and where: NUM_SLOT numbers of each node, and
 * what faces need of the metric. The includer defines what case.h asks for, TILE, THREADS, METRIC_KIND, LINE_POINT,
 * SHARED_FRAMES.
 * Next: line.h, line_ends.h, lines.cu. */
#ifndef UNDA_DG_LINE_TILE_H
#define UNDA_DG_LINE_TILE_H

#include "dg/line.h"

/* Slots: NUM_REF reference components, then what lines add to sums. A component that lines of one axis alone
 * read makes room for what they write. */
#if GRAD_DIV
#define NUM_SLOT          (NUM_REF + 3 * GRAD_DIV)
#define LINE_OUT(axis, i) ((i) < GRAD_DIV ? NUM_REF + GRAD_DIV * (axis) + (i) : LINE_REF(axis, i))
#else
#define NUM_SLOT          (NUM_REF + 3 * NUM_LINE)
#define LINE_OUT(axis, i) (NUM_REF + NUM_LINE * (axis) + (i))
#endif

enum {
    NODES = NP * TILE, /* of a block; thread t takes t, t + THREADS, ... */
    /* Lines of an axis, [element][node of the face]: whole warps, if there are threads enough. */
    AXIS_WARPS = (NFP * TILE + 31) / 32 * 32,
    AXIS_LINES = 3 * AXIS_WARPS <= THREADS ? AXIS_WARPS : NFP * TILE,
    NODE_TURNS = (NODES + THREADS - 1) / THREADS,
    LINE_TURNS = (3 * AXIS_LINES + THREADS - 1) / THREADS,
    /* Measured by counting: with these few nodes of a warp share a bank, whatever the axis. */
    PITCH_ROW = N == 8 ? 9 : N,
    PITCH_PLANE = N * PITCH_ROW,
    PITCH_ELEM = N * PITCH_PLANE + (N == 4 ? 5 : 0),
    SLOT = TILE * PITCH_ELEM,
    FACE_MAP = 12, /* three vectors of a face */
    MAP_WORDS = NUM_MAP + NUM_FACE * FACE_MAP,
    /* Nodes that a thread loads before it waits for the first. Of curls on many nodes two cost more than they gain. */
    AT_ONCE = sizeof(REAL) == 4 && (GRAD_DIV || N < 7) ? 2 : 1,
    /* Whether it asks for what updates read before it waits for the other lines: two nodes have room for it. */
    OLD_EARLY = AT_ONCE == 2 && NODE_TURNS <= 2 && NUM_FIELD * (UPDATE == UPDATE_AB3 ? 3 : 2) <= 18,
    /* Whether it keeps the state, and the metric, of its nodes in registers, or reads them twice. */
    KEEP_STATE = NODE_TURNS <= 2 && NUM_FIELD * sizeof(REAL) <= 16,
    KEEP_METRIC = !AFFINE && NODE_TURNS == 1 && NUM_FIELD * sizeof(REAL) <= 24,
    /* Of degree 8 in float32, where the compiler spills a vector too many: whether a node's element is known to be the
     * block's only one; whether its metric waits for its state, or two maps are in registers beside two states. */
    TIGHT = N == 9 && sizeof(REAL) == 4,
    ONE_ELEMENT = TIGHT && TILE == 1,
    METRIC_LATE = TIGHT && TRILINEAR && KEEP_STATE
};

struct tile {
    REAL u[NUM_SLOT * SLOT]; /* [slot][element][plane][row][node] */
    /* [element][NUM_METRIC], or [element][MAP_WORDS], or [element][face][FRAME_WORDS][node of the face] */
    __align__(TRILINEAR ? 16 : sizeof(REAL)) REAL metric[AFFINE          ? TILE * NUM_METRIC
                                                         : TRILINEAR     ? TILE * MAP_WORDS
                                                         : SHARED_FRAMES ? TILE * NUM_FACE * FRAME_WORDS * NFP
                                                                         : 1];
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

/* Node i of a block: its element there, and its number in it. */
static __device__ __forceinline__ int elem_of(int i)
{
    return ONE_ELEMENT ? 0 : i / NP;
}
static __device__ __forceinline__ int node_of(int i)
{
    return ONE_ELEMENT ? i : i % NP;
}

/* Where node `node` of element e of the block stands in a slot. */
static __device__ __forceinline__ int spot(int e, int node)
{
    return e * PITCH_ELEM + node / NFP * PITCH_PLANE + node / N % N * PITCH_ROW + node % N;
}

/* The line that a thread takes; false if it takes none. */
static __device__ __forceinline__ bool line_at(long long first, int count, int number, line &at)
{
    int axis = number / AXIS_LINES, place = number % AXIS_LINES, e = place / NFP;
    at = {first + e, e, axis, place % NFP};
    return axis < 3 && e < count;
}

/* ---- metric ---- */

/* The same once the block has loaded its state: where it has room, from shared memory. */
static __device__ __forceinline__ void load_metric_again(const dg_args &a, const tile &s, long long elem,
                                                         int e, int node, REAL *metric)
{
    if constexpr (AFFINE) {
#pragma unroll
        for (int k = 0; k < NUM_METRIC; k++)
            metric[k] = s.metric[e * NUM_METRIC + k];
    } else if constexpr (TRILINEAR) {
        REAL map[NUM_MAP];
        load_vector<NUM_MAP>(map, s.metric + e * MAP_WORDS);
        map_metric(map, node, metric);
    } else
        load_metric(a, elem, node, metric);
}

/* Keeps the map of element e, and those of its faces: on r_j = 0 or 1 is
 *   e_k = (a_k + r_j m_j) + r_l (m_k + r_j b),    e_l = (a_l + r_j m_l) + r_k (m_k + r_j b).
 * A node keeps four words or, of few nodes, several times that many. */
static __device__ __forceinline__ void keep_map(tile &s, int e, int node, const REAL *map)
{
    for (int i = node; i < MAP_WORDS / 4; i += NP) {
        REAL *to = s.metric + e * MAP_WORDS + 4 * i;
        REAL words[4];
        if (i < NUM_MAP / 4) {
            load_constant<4>(words, map + 4 * i);
#pragma unroll
            for (int c = 0; c < 4; c++)
                to[c] = words[c];
            continue;
        }
        int face = (i - NUM_MAP / 4) / 3, which = (i - NUM_MAP / 4) % 3;
        int j = face / 2, k = (j + 1) % 3, l = (j + 2) % 3;
        /* Vectors of the map: a_1 .. a_3, m_1 .. m_3, b. */
        int vector = which == 2 ? 3 + k : which == 1 ? l : k;
        int step = which == 2 ? 6 : which == 1 ? 3 + l : 3 + j;
#pragma unroll
        for (int c = 0; c < 3; c++)
            to[c] = __ldg(map + 3 * vector + c) + (face % 2 ? __ldg(map + 3 * step + c) : 0);
    }
}

/* Keeps what the ends of lines need of the metric at a node of element e. */
static __device__ __forceinline__ void keep_metric(const dg_args &a, tile &s, long long elem, int e, int node,
                                                   const REAL *metric)
{
    if constexpr (TRILINEAR) {
        keep_map(s, e, node, (const REAL *)a.metric + elem * NUM_MAP);
        return;
    }
    if constexpr (AFFINE) {
        for (int k = 0; k < NUM_METRIC && node == 0; k++)
            s.metric[e * NUM_METRIC + k] = metric[k];
        return;
    }
    int i[3] = {node % N, node / N % N, node / NFP};
    int m[3] = {i[1] + N * i[2], i[0] + N * i[2], i[0] + N * i[1]};
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        if (!SHARED_FRAMES || i[axis] % (N - 1) != 0)
            continue;
        REAL *to = s.metric + (e * NUM_FACE + 2 * axis + (i[axis] > 0)) * (FRAME_WORDS * NFP) + m[axis];
#pragma unroll
        for (int k = 0; k < FRAME_WORDS; k++)
            to[k * NFP] = metric[(3 * (axis + FIRST_ROW) + k) % 9];
    }
}

/* e_k and e_l at an end of a line of axis j, or their product G[j], in the places of the rows of axis 1. */
static __device__ __forceinline__ void map_rows(const REAL *face, const line &at, REAL *rows)
{
    int first = at.m % N, second = at.m / N;
    REAL r_k = __ldg(line_point + (at.axis == 1 ? second : first));
    REAL r_l = __ldg(line_point + (at.axis == 1 ? first : second));
    REAL along[FACE_MAP], e_k[3], e_l[3];
    load_vector<FACE_MAP>(along, face);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        e_k[i] = along[i] + r_l * along[8 + i];
        e_l[i] = along[4 + i] + r_k * along[8 + i];
    }
    if (GRAD_DIV)
        cofactor(e_k, e_l, rows);
#pragma unroll
    for (int i = 0; i < 3 && !GRAD_DIV; i++) {
        rows[3 + i] = e_k[i];
        rows[6 + i] = e_l[i];
    }
}

/* The metric at an end, its rows turned as if the axis were the first: only the rows that a frame needs. */
static __device__ __forceinline__ void load_rows(const dg_args &a, const tile &s, const line &at, int side,
                                                 REAL *rows)
{
    if constexpr (TRILINEAR) {
        map_rows(s.metric + at.e * MAP_WORDS + NUM_MAP + (2 * at.axis + side) * FACE_MAP, at, rows);
        return;
    }
    const REAL *from = s.metric + (at.e * NUM_FACE + 2 * at.axis + side) * (FRAME_WORDS * NFP) + at.m;
    int node = line_begin(at, N, NFP) + side * (N - 1) * line_step(at.axis, N, NFP);
#pragma unroll
    for (int k = 0; k < FRAME_WORDS; k++) {
        int value = (3 * (at.axis + FIRST_ROW) + k) % 9;
        rows[3 * FIRST_ROW + k] =
            AFFINE          ? s.metric[at.e * NUM_METRIC + value]
            : SHARED_FRAMES ? from[k * NFP]
                            : __ldg((const REAL *)a.metric +
                                    GROUP_INDEX(a.num_metric, STORED_METRIC, at.elem * NP + node, value));
    }
}

#endif
