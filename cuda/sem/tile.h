/* tile.h: what a block of threads keeps of its tile in shared memory, and what each thread owns of it. Included by
 * sem/tiles.cu. */
#ifndef UNDA_SEM_TILE_H
#define UNDA_SEM_TILE_H

#include "common/index.h"

static __device__ constexpr int least(int x, int y)
{
    return x < y ? x : y;
}
static __device__ constexpr int most(int x, int y)
{
    return x > y ? x : y;
}

enum {
    SQUARE = N * N,
    NP = N * SQUARE,
    NUM_METRIC = 10,
    METRIC_NODES = METRIC_KIND == METRIC_STORED ? NP : 1,
    METRIC_REALS = METRIC_KIND == METRIC_TRILINEAR ? NUM_MAP /* of an element */
                   : METRIC_NODES == 1             ? NUM_METRIC
                                                   : (NUM_METRIC * METRIC_NODES + 3) / 4 * 4,
    NUM_COEF = 2,
    WIDTH = ASSEMBLY == 2 && DIM == 3 ? 4 : DIM, /* words of a node in memory */
    SOLID_WIDTH = ASSEMBLY == 2 ? 4 : 3,
    QUAD = 16 / sizeof(REAL),
    LINE = 128, /* bytes that are fetched at once */
};
#if ASSEMBLY != 2
enum {
    LINE_WORDS = (N + 7) / 8 * 8,
    HEAD_WORDS = (4 * CATEGORIES + 7) / 8 * 8,
    /* Inner nodes, and quads of their unknowns, that a thread has: so many at a time. */
    SLOT_TURNS = least((MOST_INNER + THREADS - 1) / THREADS, 4),
    QUAD_TURNS = least((MOST_INNER * DIM / QUAD + THREADS - 1) / THREADS, 7)
};
#endif

static __device__ const REAL line_weight[N] = {LINE_WEIGHTS};

/* The unknowns of a node. */
struct values {
    REAL v[DIM];
};
#if ASSEMBLY == 2
/* Of the cells of a block. */
struct tile {
    __align__(16) values first[CELLS * ELEM0]; /* u, slopes along r_1, fluxes, what they add to the force */
    __align__(16) values second[CELLS * ELEM1];
};
#else
struct tile {
    __align__(16) values u[MOST_SLOT + 3]; /* by slot: inner ones are filled up to fours */
    /* u, slopes along r_1, fluxes, what they add to the force, the force; then a 0. */
    __align__(16) values first[CELLS * ELEM0 + 1];
    /* Of columns the same along r_2; last, accelerations of inner nodes and forces on the others, by slot. */
    __align__(16) values second[most(MOST_SLOT + 3, PLANES ? 0 : CELLS *ELEM1)];
    __align__(16) unsigned short list[LIST_WORDS]; /* of the pattern: of planes lines too */
};
#endif
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

/* Element `elem` of the tile and what the thread has of it: a plane r_1 = a, or a column, the node (a, b) of a face. */
struct place {
    int elem, a, b;
    bool works;
};

DEVICE place place_of(int num_elem)
{
    constexpr int OF_ELEM = PLANES ? N : SQUARE; /* threads */
    int t = (int)threadIdx.x, elem, k;
    if constexpr (WARP_CELLS > 0) {
        elem = t / 32 * WARP_CELLS + t % 32 / OF_ELEM;
        k = t % 32 % OF_ELEM;
        return {elem, k % N, k / N, t % 32 < WARP_CELLS * OF_ELEM && elem < num_elem};
    }
    elem = t / OF_ELEM;
    k = t % OF_ELEM;
    return {elem, k % N, k / N, elem < num_elem};
}

/* The row that a thread works on, as a place: of cells that follow one another without a gap one in other banks than
 * those of its warp, else its own. */
#ifdef ROW_ORDER
static __device__ const unsigned short row_of_thread[] = {ROW_ORDER};
#endif
DEVICE place row_place(const place &p, int num_elem)
{
#ifdef ROW_ORDER
    const int row = (int)threadIdx.x < CELLS * SQUARE ? row_of_thread[threadIdx.x] : CELLS * SQUARE;
    return {row / SQUARE, row % SQUARE % N, row % SQUARE / N, row < num_elem * SQUARE};
#else
    (void)num_elem;
    return p;
#endif
}

/* Values by node of this thread's plane, NUM of each, which stand in pairs, the same of all threads of a warp beside each
 * other. */
enum { LANES = WARP_CELLS * N };
template <int NUM> DEVICE const REAL *lane_values(const void *all, const sem_tile &t)
{
    return (const REAL *)all + ((long long)(t.first_warp + (int)threadIdx.x / 32) * SQUARE * NUM * LANES +
                                (int)threadIdx.x % 32 * 2);
}

/* Of the threads that work on an element. */
DEVICE void sync_element()
{
    if (WARP_CELLS > 0)
        __syncwarp();
    else
        __syncthreads();
}

#endif
