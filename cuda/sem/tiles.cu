/* tiles.cu: the forces -K u of spectral elements, and a step of the nodes.
 *
 * tiles   block = a tile of up to CELLS elements that lie together; a node of it is read once. A thread owns a column
 *         of N nodes along r_3, and works on a line along r_1 and on one along r_2 on the way: lines are in registers,
 *         where the matrix is known to the compiler, and pass through shared memory from one owner to the next, which
 *         is in the same warp up to N = 5. Forces are added node by node in a fixed order. Nodes that no other tile
 *         has step at once, the sums of the others are left apart.
 * shared  one thread a node that tiles share: the sum of their parts, walls, dashpots, the other region; a step.
 *
 * Compulsory bytes a node: u and v read and written, the inverse mass read, 4 (4 DIM + 1) in float32.
 * Defines: REAL, DEGREE, DIM (3: solid, 1: fluid), CELLS, MIN_BLOCKS, THREADS, WARP_CELLS (elements of a warp; 0: they
 * begin anywhere in one), METRIC_KIND (common/index.h), MATERIAL_NODES (of an element: 1 or NP), PLANE0, ELEM0, PLANE1,
 * ELEM1 (nodes from plane to plane and from element to element in both arrays), SHARED_BYTES, CATEGORIES
 * (csrc/sem/tiles.h), LIST_WORDS (of a tile's pattern, at most), AHEAD (tiles ahead for which a block asks; 1: none),
 * ASSEMBLY (0: parts are stored and summed in order; 1: added to the sums, tiles of one colour at a time; 2: added
 * atomically), LINE_DERIVATIVE, LINE_WEIGHTS, LINE_POINTS. */
#define DEVICE static __device__ __forceinline__
enum { N = DEGREE + 1 };
#include "common/async.h"
#include "common/line_products.h"
#include "common/prefetch.h"
#include "common/vector.h"
#include "sem/advance.h"

#define VAL      REAL
#define FN(name) name
#include "sem/column.h"
#if DIM == 3
#include "sem/solid.h"
#else
#include "sem/fluid.h"
#endif

enum {
    SQUARE = N * N,
    NP = N * SQUARE,
    NUM_METRIC = 10,
    METRIC_NODES = METRIC_KIND == METRIC_STORED ? NP : 1,
    METRIC_REALS = METRIC_KIND == METRIC_TRILINEAR ? NUM_MAP : NUM_METRIC * METRIC_NODES, /* of an element */
    NUM_COEF = 2,
    LINE_WORDS = (N + 7) / 8 * 8,
    HEAD_WORDS = (4 * CATEGORIES + 7) / 8 * 8,
    /* Of the sum of a shared node's forces. */
    SUM_WORDS = ASSEMBLY == 2 && DIM == 3 && sizeof(REAL) == 4 ? 4 : DIM,
    QUAD = 16 / sizeof(REAL),
    LINE = 128, /* bytes that are fetched at once */
    /* Most nodes of a tile, and quads of unknowns inside it, of a thread. */
    SLOT_TURNS = (CELLS * NP + THREADS - 1) / THREADS,
    QUAD_TURNS = (CELLS * NP * DIM / QUAD + THREADS - 1) / THREADS
};

static __device__ const REAL line_weight[N] = {LINE_WEIGHTS};

/* The unknowns of a node. */
struct values {
    REAL v[DIM];
};
struct tile {
    __align__(16) values u[CELLS * NP + 3]; /* by slot: inner ones are filled up to fours */
    /* u, slopes along r_1, fluxes, what they add to the force, the force; then a 0. */
    __align__(16) values first[CELLS * ELEM0 + 1];
    /* The same along r_2; last, accelerations by slot. */
    __align__(16) values second[CELLS * ELEM1];
    __align__(16) unsigned short list[LIST_WORDS]; /* of the pattern */
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");
/* Inner nodes, filled up, are no more than element nodes: those of outer faces are shared, or the same twice. */
static_assert(CELLS * ELEM1 >= CELLS * NP, "accelerations have room");

/* Element `elem` of the tile and a node (a, b) of its faces: of a column, or of a line along r_1 or r_2. */
struct place {
    int elem, a, b;
    bool works;
};

DEVICE place place_of(int num_elem)
{
    int t = (int)threadIdx.x, elem, k;
    if constexpr (WARP_CELLS > 0) {
        elem = t / 32 * WARP_CELLS + t % 32 / SQUARE;
        k = t % 32 % SQUARE;
        return {elem, k % N, k / N, t % 32 < WARP_CELLS * SQUARE && elem < num_elem};
    }
    elem = t / SQUARE;
    k = t % SQUARE;
    return {elem, k % N, k / N, elem < num_elem};
}

/* Of the threads that work on an element. */
DEVICE void sync_element()
{
    if (WARP_CELLS > 0)
        __syncwarp();
    else
        __syncthreads();
}

/* ---- geometry and material ---- */

DEVICE const REAL *metric_of(const sem_tile_args &a, long long elem)
{
    return (const REAL *)a.metric + elem * METRIC_REALS;
}

DEVICE void load_metric(const sem_tile_args &a, long long elem, int node, REAL *metric)
{
    const REAL *from = metric_of(a, elem);
#pragma unroll
    for (int i = 0; i < NUM_METRIC; i++)
        metric[i] = __ldg(from + i * METRIC_NODES + (METRIC_NODES > 1 ? node : 0));
}

/* Times a number that a thread needs once. */
DEVICE void load_coef(const sem_tile_args &a, long long elem, int node, REAL factor, REAL *coef)
{
    const REAL *from = (const REAL *)a.coef + elem * NUM_COEF * MATERIAL_NODES;
#pragma unroll
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = factor * __ldg(from + i * MATERIAL_NODES + (MATERIAL_NODES > 1 ? node : 0));
}

/* ---- forces ---- */

/* Words of 16 bits that are read eight at a time. */
template <int NUM> DEVICE void load_words(unsigned short (&to)[NUM], const unsigned short *from)
{
#pragma unroll
    for (int i = 0; i < NUM / 8; i++) {
        const int4 part = __ldg((const int4 *)from + i);
        const unsigned word[4] = {(unsigned)part.x, (unsigned)part.y, (unsigned)part.z, (unsigned)part.w};
#pragma unroll
        for (int k = 0; k < 8; k++)
            to[8 * i + k] = (unsigned short)(word[k / 2] >> k % 2 * 16);
    }
}

/* The tile's nodes from memory. */
DEVICE void gather(const sem_tile_args &a, const sem_tile &t, values *slot)
{
    const REAL *inner = (const REAL *)a.u + (long long)t.first_inner * DIM;
    const REAL *shared = (const REAL *)a.u + a.num_inner * DIM;
    REAL *u = (REAL *)slot;
    for (int i = (int)threadIdx.x * QUAD; i < t.num_inner * DIM; i += THREADS * QUAD)
        copy_async<QUAD>(u + i, inner + i);
#pragma unroll 2
    for (int i = (int)threadIdx.x; i < t.num_shared; i += THREADS) {
        const REAL *from = shared + (long long)__ldg(a.entry + t.first_entry + i) * DIM;
#pragma unroll
        for (int k = 0; k < DIM; k++)
            copy_async(u + (t.num_inner + i) * DIM + k, from + k);
    }
    copy_commit();
}

/* The lists of the tile's pattern, which are not needed before the end. */
DEVICE void fetch_lists(tile &s, const sem_tile &t, const unsigned short *words)
{
    const unsigned short *from = words + HEAD_WORDS + t.num_elem * SQUARE * LINE_WORDS;
    for (int i = (int)threadIdx.x * 8; i < t.num_list; i += THREADS * 8)
        copy_async<8>(s.list + i, from + i);
    copy_commit();
}

/* Values along a line become their derivatives. */
template <bool TRANSPOSED> DEVICE void derive(REAL (&x)[DIM][N])
{
    REAL d[N];
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        differentiate<TRANSPOSED>(x[i], d);
#pragma unroll
        for (int k = 0; k < N; k++)
            x[i][k] = d[k];
    }
}

template <int STEP> DEVICE void load_line(const values *from, REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            x[i][k] = from[k * STEP].v[i];
}

template <int STEP> DEVICE void store_line(values *to, const REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            to[k * STEP].v[i] = x[i][k];
}

/* A line by the slots of its nodes. */
DEVICE void pick_line(const values *u, const unsigned short *slot, REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            x[i][k] = u[slot[k]].v[i];
}

/* What stands behind is not mixed with what stands before: computing a metric at several nodes at once would take more
 * registers than there are. */
DEVICE void keep_apart()
{
#ifdef __CUDACC__
    __syncwarp(__activemask());
#endif
}

/* Slopes along r_3, fluxes at the nodes of a column; those along r_3 become its force at once. */
DEVICE void work_on_column(const sem_tile_args &a, tile &s, const place &p, long long elem,
                           REAL (&slope)[DIM][N])
{
    constexpr double weight[N] = {LINE_WEIGHTS}, point[N] = {LINE_POINTS};
    values *first = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *second = s.second + p.elem * ELEM1 + p.b * N + p.a;
    REAL area = line_weight[p.a] * line_weight[p.b], metric[NUM_METRIC], coef[NUM_COEF];
    column edges;
    if constexpr (METRIC_KIND == METRIC_TRILINEAR)
        edges = load_column(metric_of(a, elem), p.a, p.b);
    else
        load_metric(a, elem, 0, metric);
    load_coef(a, elem, 0, area, coef);
    derive<false>(slope);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int node = k * SQUARE + p.b * N + p.a;
        REAL g[3 * DIM];
        if (METRIC_KIND == METRIC_TRILINEAR && k == N / 2)
            keep_apart();
        if constexpr (METRIC_KIND == METRIC_TRILINEAR)
            metric_at(edges, (REAL)point[k], metric);
        else if (METRIC_NODES > 1)
            load_metric(a, elem, node, metric);
        if (MATERIAL_NODES > 1)
            load_coef(a, elem, node, area, coef);
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            g[i] = first[k * PLANE0].v[i];
            g[DIM + i] = second[k * PLANE1].v[i];
            g[2 * DIM + i] = slope[i][k];
        }
        flux_at(metric, coef, (REAL)weight[k], g);
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            first[k * PLANE0].v[i] = g[i];
            second[k * PLANE1].v[i] = g[DIM + i];
        }
#pragma unroll
        for (int i = 0; i < DIM; i++)
            slope[i][k] = g[2 * DIM + i];
    }
    derive<true>(slope);
}

/* Sources in this element: their forces on a column. */
DEVICE void add_sources(const sem_tile_args &a, const sem_tile &t, const place &p, REAL (&f)[DIM][N])
{
    for (int part = a.source_first[t.number]; part < a.source_first[t.number + 1]; part++) {
        if (a.source_elem[part] != p.elem)
            continue;
        REAL amplitude =
            ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + a.source_column[part]];
        const REAL *weight = (const REAL *)a.source_weight + ((long long)part * NP + p.b * N + p.a) * DIM;
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                f[i][k] -= amplitude * weight[k * SQUARE * DIM + i];
    }
}

/* What all axes and sources add to the nodes of a column. */
DEVICE void store_force(tile &s, const place &p, const REAL (&f)[DIM][N])
{
    values *first = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *second = s.second + p.elem * ELEM1 + p.b * N + p.a;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            first[k * PLANE0].v[i] = -(f[i][k] + first[k * PLANE0].v[i] + second[k * PLANE1].v[i]);
}

/* The lines of all threads, from u by slot to the force on element nodes in s.first. */
DEVICE void work(const sem_tile_args &a, tile &s, const sem_tile &t, const place &p,
                 const unsigned short *slot)
{
    values *row = s.first + p.elem * ELEM0 + p.b * PLANE0 + p.a * N;
    values *column = s.first + p.elem * ELEM0 + p.b * N + p.a,
           *line = s.second + p.elem * ELEM1 + p.b * PLANE1 + p.a;
    REAL x[DIM][N], y[DIM][N], f[DIM][N];
    if (p.works) {
        pick_line(s.u, slot, x);
        store_line<1>(row, x);
        derive<false>(x);
    }
    sync_element();
    if (p.works) {
        load_line<N>(s.first + p.elem * ELEM0 + p.b * PLANE0 + p.a, y);
        load_line<PLANE0>(column, f);
        derive<false>(y);
        store_line<N>(line, y);
    }
    sync_element();
    if (p.works)
        store_line<1>(row, x);
    sync_element();
    if (p.works)
        work_on_column(a, s, p, t.first_elem + p.elem, f);
    sync_element();
    if (p.works) {
        load_line<1>(row, x);
        derive<true>(x);
        store_line<1>(row, x);
        load_line<N>(line, y);
        derive<true>(y);
        store_line<N>(line, y);
    }
    sync_element();
    if (p.works) {
        if (a.time >= 0)
            add_sources(a, t, p, f);
        store_force(s, p, f);
    }
}

/* ---- nodes ---- */

/* Adds a tile's part of a force, or stores it. Four words are added at once where the sums have so many. */
DEVICE void leave(const sem_tile_args &a, long long entry, const REAL (&force)[DIM])
{
    REAL *to = (REAL *)a.shared + (ASSEMBLY == 0 ? entry : (long long)__ldg(a.entry + entry)) * SUM_WORDS;
    if constexpr (SUM_WORDS == 4)
        atomicAdd((float4 *)to, make_float4((float)force[0], (float)force[1], (float)force[2], 0));
    else
#pragma unroll
        for (int i = 0; i < DIM; i++)
            if (ASSEMBLY == 2)
                atomicAdd(to + i, force[i]);
            else
                to[i] = ASSEMBLY == 1 ? to[i] + force[i] : force[i];
}

/* The sum of the forces at these places. */
template <int NUM> DEVICE void add_places(const values *force, const unsigned short *list, REAL (&sum)[DIM])
{
#pragma unroll
    for (int k = 0; k < NUM; k++) {
        const values one = force[list[k]];
#pragma unroll
        for (int i = 0; i < DIM; i++)
            sum[i] += one.v[i];
    }
}

/* The sum of the forces on the node of a slot; head: ends of the categories of its kind, then where lists begin. */
template <int CATEGORY>
DEVICE void add_slot(const tile &s, const int (&end)[CATEGORIES + 1], const int (&start)[CATEGORIES],
                     int slot, REAL (&sum)[DIM])
{
    if (CATEGORY == CATEGORIES - 1 || slot < end[CATEGORY + 1])
        add_places<1 << CATEGORY>(s.first, s.list + start[CATEGORY] + ((slot - end[CATEGORY]) << CATEGORY),
                                  sum);
    else if constexpr (CATEGORY + 1 < CATEGORIES)
        add_slot<CATEGORY + 1>(s, end, start, slot, sum);
}

/* Ends of the categories of inner (0) or shared (1) nodes, with their beginning, and where their lists begin. */
DEVICE void read_head(const sem_tile &t, const unsigned short (&head)[HEAD_WORDS], int kind,
                      int (&end)[CATEGORIES + 1], int (&start)[CATEGORIES])
{
    end[0] = kind ? t.num_inner : 0;
#pragma unroll
    for (int k = 0; k < CATEGORIES; k++) {
        end[k + 1] = kind ? head[CATEGORIES + k] : head[k];
        start[k] = (kind ? head[3 * CATEGORIES + k] : head[2 * CATEGORIES + k]) - HEAD_WORDS -
                   t.num_elem * SQUARE * LINE_WORDS;
    }
}

/* Sums the forces on the tile's nodes; accelerations of inner ones [slot][DIM] into shared memory, the others' to
 * where they meet the parts of other tiles. */
DEVICE void add_up(const sem_tile_args &a, tile &s, const sem_tile &t,
                   const unsigned short (&head)[HEAD_WORDS], const REAL (&inverse)[SLOT_TURNS])
{
    REAL *acceleration = (REAL *)s.second;
    int end[CATEGORIES + 1], start[CATEGORIES];
    read_head(t, head, 0, end, start);
#pragma unroll
    for (int turn = 0; turn < SLOT_TURNS; turn++) {
        int slot = (int)threadIdx.x + turn * THREADS;
        REAL sum[DIM] = {};
        if (slot >= t.num_inner)
            break;
        add_slot<0>(s, end, start, slot, sum);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            acceleration[slot * DIM + i] = a.mode == SEM_FORCE ? sum[i] : sum[i] * inverse[turn];
    }
    read_head(t, head, 1, end, start);
    for (int i = (int)threadIdx.x; i < t.num_shared; i += THREADS) {
        REAL sum[DIM] = {};
        add_slot<0>(s, end, start, t.num_inner + i, sum);
        leave(a, t.first_entry + i, sum);
    }
}

/* What the update of inner nodes reads from memory, asked for early. */
struct old_state {
    REAL v[QUAD_TURNS][QUAD], inverse[SLOT_TURNS];
};

DEVICE void load_old(const sem_tile_args &a, const sem_tile &t, old_state &old)
{
#pragma unroll
    for (int turn = 0; turn < SLOT_TURNS; turn++) {
        int slot = (int)threadIdx.x + turn * THREADS;
        old.inverse[turn] =
            slot < t.num_inner ? __ldg((const REAL *)a.inverse_mass + t.first_inner + slot) : 0;
    }
#pragma unroll
    for (int turn = 0; turn < QUAD_TURNS; turn++) {
        int i = ((int)threadIdx.x + turn * THREADS) * QUAD;
        if (i < t.num_inner * DIM)
            load_vector<QUAD>(old.v[turn], (const REAL *)a.v + (long long)t.first_inner * DIM + i);
    }
}

/* Inner nodes, whose number is a multiple of four. */
DEVICE void advance_inner(const sem_tile_args &a, const tile &s, const sem_tile &t, old_state &old)
{
    long long first = (long long)t.first_inner * DIM;
#pragma unroll
    for (int turn = 0; turn < QUAD_TURNS; turn++) {
        int i = ((int)threadIdx.x + turn * THREADS) * QUAD;
        REAL u[QUAD], to[QUAD], acceleration[QUAD];
        if (i >= t.num_inner * DIM)
            break;
        load_vector<QUAD>(acceleration, (const REAL *)s.second + i);
        load_vector<QUAD>(u, (const REAL *)s.u + i);
#pragma unroll
        for (int k = 0; k < QUAD; k++)
            advance_to(a.mode, a.dt, acceleration[k], u + k, old.v[turn] + k, to + k);
        if (a.mode != SEM_FORCE)
            store_vector<QUAD>((REAL *)a.v + first + i, old.v[turn]);
        if (a.mode == SEM_STEP)
            store_vector<QUAD>((REAL *)a.u + first + i, u);
        else
            store_vector<QUAD>((REAL *)a.a + first + i, to);
    }
}

/* Asks for what elements have: REALS each. */
template <int REALS> DEVICE void prefetch_elements(const void *all, const sem_tile &t)
{
    const char *from = (const char *)all + (long long)t.first_elem * REALS * sizeof(REAL);
    int bytes = t.num_elem * REALS * (int)sizeof(REAL);
#pragma unroll 1
    for (int at = (int)threadIdx.x * LINE; at < bytes; at += THREADS * LINE)
        prefetch_l2(from + at);
}

/* Asks for what a tile will read. */
DEVICE void prefetch(const sem_tile_args &a, const sem_tile &t)
{
    int i = (int)threadIdx.x * LINE, bytes = t.num_inner * (int)sizeof(REAL);
    const char *u = (const char *)a.u + (long long)t.first_inner * DIM * sizeof(REAL);
    const char *v = (const char *)a.v + (long long)t.first_inner * DIM * sizeof(REAL);
    const char *mass = (const char *)a.inverse_mass + (long long)t.first_inner * sizeof(REAL);
    for (int at = i; at < bytes * DIM; at += THREADS * LINE) {
        prefetch_l2(u + at);
        prefetch_l2(v + at);
    }
    if (i < bytes)
        prefetch_l2(mass + i);
    if (i < t.num_shared * (int)sizeof(int))
        prefetch_l2((const char *)(a.entry + t.first_entry) + i);
    if (METRIC_REALS <= 24) /* one a node is too much for L2: 41.6 GDOF/s, without 49.6 */
        prefetch_elements<METRIC_REALS>(a.metric, t);
    prefetch_elements<NUM_COEF * MATERIAL_NODES>(a.coef, t);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    sem_tiles(const __grid_constant__ sem_tile_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    const sem_tile t = a.tile[a.first + blockIdx.x];
    const bool asks = AHEAD > 1 && blockIdx.x + AHEAD < gridDim.x;
    const sem_tile next = a.tile[a.first + blockIdx.x + (asks ? AHEAD : 0)];
    const unsigned short *words = a.words + t.pattern;
    const place p = place_of(t.num_elem);
    unsigned short slot[LINE_WORDS];
    gather(a, t, s.u);
    if (p.works)
        load_words(slot, words + HEAD_WORDS + (p.elem * SQUARE + p.b * N + p.a) * LINE_WORDS);
    if (threadIdx.x == 0)
        s.first[CELLS * ELEM0] = {};
    fetch_lists(s, t, words);
    copy_wait<1>();
    __syncthreads();
    if (asks)
        prefetch(a, next);
    work(a, s, t, p, slot);
    old_state old;
    unsigned short head[HEAD_WORDS];
    load_old(a, t, old);
    load_words(head, words);
    copy_wait<0>();
    __syncthreads();
    add_up(a, s, t, head, old.inverse);
    __syncthreads();
    advance_inner(a, s, t, old);
}

/* ---- nodes that tiles share ---- */

/* What walls, dashpots and the other region make of the force on a side's node: the acceleration. */
DEVICE void at_side(const sem_shared_args &a, long long side, const REAL *v, REAL *f)
{
    int partner = __ldg(a.partner + side), row = __ldg(a.side + side);
    const REAL *area = (const REAL *)a.area + 3 * side;
    if (partner >= 0 && DIM == 1)
        for (int i = 0; i < 3; i++)
            f[0] += area[i] * ((const REAL *)a.solid_u)[3 * (long long)partner + i];
    if (partner >= 0 && DIM == 3)
        for (int i = 0; i < DIM; i++)
            f[i] -= area[i] * ((const REAL *)a.pressure)[partner];
    if (row < 0)
        return;
    const REAL *matrix = (const REAL *)a.matrix + (long long)row * DIM * DIM;
    const REAL *damping = (const REAL *)a.damping + (long long)row * DIM * DIM;
    REAL rest[DIM];
    for (int i = 0; i < DIM; i++) {
        rest[i] = f[i];
        for (int k = 0; k < DIM; k++)
            rest[i] -= damping[i * DIM + k] * v[k];
    }
    for (int i = 0; i < DIM; i++) {
        f[i] = 0;
        for (int k = 0; k < DIM; k++)
            f[i] += matrix[i * DIM + k] * rest[k];
    }
}

extern "C" __global__ void sem_shared(const __grid_constant__ sem_shared_args a)
{
    long long node = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= a.num)
        return;
    REAL f[DIM] = {}, *from = (REAL *)a.shared;
#if ASSEMBLY == 0
    for (int k = __ldg(a.first + node); k < __ldg(a.first + node + 1); k++) {
        const REAL *part = from + (long long)__ldg(a.entry + k) * DIM;
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] += part[i];
    }
#else
    REAL sum[SUM_WORDS], zero[SUM_WORDS] = {};
    load_vector<SUM_WORDS>(sum, from + node * SUM_WORDS);
    store_vector<SUM_WORDS>(from + node * SUM_WORDS, zero);
#pragma unroll
    for (int i = 0; i < DIM; i++)
        f[i] = sum[i];
#endif
    REAL *u = (REAL *)a.u + node * DIM, *v = (REAL *)a.v + node * DIM, *to = (REAL *)a.a + node * DIM;
    if (a.mode != SEM_FORCE) {
        if (node >= a.first_side)
            at_side(a, node - a.first_side, v, f);
        REAL inverse = __ldg((const REAL *)a.inverse_mass + node);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] *= inverse;
        if (DIM == 1 && node >= a.first_side)
            ((REAL *)a.pressure)[node - a.first_side] = f[0];
    }
#pragma unroll
    for (int i = 0; i < DIM; i++)
        advance_to(a.mode, a.dt, f[i], u + i, v + i, to + i);
}
