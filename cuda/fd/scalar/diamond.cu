/* diamond.cu: many steps of the scalar wave equation at once (DiamondTorre, Levchenko et al. 2016).
 *
 * Column c of a tower at level n is y = Y + M n + c, row j is x = X + j: the tower moves M cells along y per
 * step, so that new(c), the stencil of level n at c .. c + 2M and in the adjacent rows at c + M, and of level
 * n - 1 at c + 2M, never needs columns behind c. A tile of rows |u| < DTS (in units of STEP rows), 2 STEP
 * (DTS - |u|) columns wide, then depends only on the towers ahead, and cells that leave a tile never return:
 * two levels in memory suffice. Towers of one stage are 2 HALF apart in x; the next stage is HALF further
 * back and HALF aside. Words per cell and step: loads and stores of 2M ROWS each, and the tips, over 2 HALF^2
 * cells.
 *
 * A block is a tile times ZB cells along z, one thread per z; NUM_ZB blocks span nz. Shared memory
 * holds two levels of the tile and its halo: [slot][z], a slot for each row and column. New values replace
 * level n - 1 a slot of 2M columns lower, values of level n stay in registers for the next level. The halo of
 * the next level arrives by asynchronous copies as soon as a row has used that of level n - 1; a second
 * barrier in the middle of a level gives the halo of the later rows more time. Beyond the sides in z a thread
 * reads the image instead of the neighbour; its sign costs no additional operation.
 *
 * What few tiles need is handled in shared memory by loops over slots of a thread's own z: images beyond the
 * sides in x and y, sources. Cells outside the grid are computed like all others, and written to the padding:
 * they are overwritten by images before a cell inside can see them.
 *
 * Blocks take towers, or their parts along z, from a queue in which every tower comes after those that it
 * needs, and follow the progress of these, LAG levels at a time or as far as the last check showed. Parts of
 * a tower are taken one after the other: NUM_ZB concurrent blocks suffice to exclude a deadlock.
 *
 * Defines: REAL; ORDER in space; DTS and STEP, the tile (STEP divides ORDER / 2 and is at least half of it);
 * STRIDE_X and STRIDE_Y [words]; ZB, NUM_ZB; LAYER, 1 if there is a sponge; MATCHED, 1 if there is a matched
 * layer; VARIABLE, 0 if c is constant, else how k comes: VARIABLE_CACHED, from the L2 cache at every step, or
 * VARIABLE_CARRIED, in registers while its cell is in the tile; OLD, 1 to keep level n - 1 in registers as
 * well; UNROLL, 2 to have code for even and odd levels, 1 where that is too long for the instruction cache;
 * CHUNK, cells in flight at once; FAR, 1 for a slab whose towers at cuts follow those of slabs on other devices while
 * all run: they store what these need into their memory too, and tell them how far they are. */
#define VARIABLE_CACHED  1
#define VARIABLE_CARRIED 2
#if !defined(REAL) || !defined(ORDER) || !defined(DTS) || !defined(STEP) || !defined(ZB)
#error                                                                                                       \
    "diamond.cu needs REAL, ORDER, DTS, STEP, STRIDE_X, STRIDE_Y, ZB, NUM_ZB, LAYER, VARIABLE, OLD, UNROLL, CHUNK"
#endif
#include "fd/scalar/diamond_args.h"

#include "fd/scalar/diamond_tile.h"

#include "common/async.h"

/* What a thread knows of its z, and of its tower. */
struct place {
    REAL *own; /* its word of slot 0 of level n0 */
    REAL *tips;
    int z; /* threads without a cell: in the padding */
    int below[M],
        above[M]; /* from its own word to the neighbours at distance m + 1. Behind a side of the grid: */
    REAL sign[M]; /* the image, always as `below`, and its sign */
    REAL gz;
    int y, x; /* of column 0 at level n, of row 0 */
#if NUM_ZB > 1
    int jobs;      /* what this warp does for an end of the block whose cells are ghosts of a neighbour */
    int put;       /* from its own word to the first of the M cells there, */
    int ghost;     /* and to the first of the M ghosts; */
    long long far; /* from its own z in memory to that ghost */
    unsigned long long *mine, *theirs; /* boxes of this end, and those over there */
    unsigned tag;                      /* of level n of this tower */
#endif
};

#include "fd/scalar/diamond_ghosts.h"

/* A thread's word of a cell of the tile; level: as t.own. */
DEVICE REAL *cell_of(const place &t, REAL *level, int j, int c)
{
    return !in_body(j)     ? t.tips + tip_slot(j, c) * PITCH
           : is_left(j, c) ? t.tips + (TIPS + j * M + c + half_of(j)) * PITCH
                           : level + slot_of(j, c) * PITCH;
}
/* Row j of the tile in shared memory. */
struct tile_row {
    int first, last, edge;
    REAL *left, *rest;
    __device__ __forceinline__ bool has(int c) const
    {
        return c >= first && c < last;
    }
    __device__ __forceinline__ REAL *at(int c) const
    {
        return (c < edge ? left : rest) + c * PITCH;
    }
};
DEVICE tile_row row_of(const place &t, REAL *level, int j)
{
    const int half = in_body(j) ? half_of(j) : 0;
    return {first_of(j), last_of(j), in_body(j) ? M - half : first_of(j),
            t.tips + (TIPS + j * M + half) * PITCH,
            in_body(j) ? level + slot_of(j, 0) * PITCH : t.tips + tip_slot(j, 0) * PITCH};
}
/* Asks for the cells of the tips at `from`, the memory of their level at column 0 of row 0. */
template <int FIRST> DEVICE void fetch_tips(const place &t, const REAL *from)
{
    each<FIRST, FIRST + M>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<first_of(j), last_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            copy_async(t.tips + tip_slot(j, c) * PITCH, from + c * STRIDE_Y + (long long)j * STRIDE_X);
        });
    });
}

#include "fd/scalar/diamond_matched.h"
#include "fd/scalar/diamond_rare.h"

#include "fd/scalar/diamond_level.h"

#include "fd/scalar/diamond_tower.h"

/* A tower as a block takes it. */
struct tower {
    int index, rank, count; /* the block's part along z and the cells in it */
    int begin, end, n;      /* levels from which cells of the grid are made; the present one */
    long long at;           /* of column 0 of row 0 at level n, at the thread's z, in memory */
    int follow, seen;       /* level at the last look at the towers ahead; that all of them had then */
    REAL *level[2];         /* in shared memory */
    int mark;               /* of the tile of the present level */
    bool reload, keep;      /* sources came to this level; there is a next one */
    int side;               /* on which a slab on another device needs what it makes; -1: none */
#if MATCHED
    bool layers_z; /* the block has cells in layers along z */
#endif
};
/* A warp that serves no end, if there is one, looks at other towers; its first thread speaks for the block. */
enum { IDLE = FIRST_GHOST_WARP + 2 * GHOST_WARPS, SPEAKER = IDLE < NUM_WARP ? IDLE : NUM_WARP - 1 };
DEVICE bool is_listener()
{
    return threadIdx.x / 32 == SPEAKER;
}
DEVICE bool is_speaker()
{
    return threadIdx.x == SPEAKER * 32;
}
DEVICE int *progress_of(const diamond_args &a, const tower &w)
{
    return a.progress + (long long)w.index * NUM_ZB + w.rank;
}

/* Level n of a tower and those before are where other towers find them. */
DEVICE void tell(const diamond_args &a, const tower &w, int n)
{
    publish(progress_of(a, w), n);
    if (w.side >= 0 && (n == DONE || (n - w.begin) % FAR_LAG == 0))
        publish_far(a.far_told[w.side] + (long long)(w.index / a.num_row) * NUM_ZB + w.rank, n);
}
/* Memory of a level of this parity in the slab that needs it; NULL: none does. */
DEVICE REAL *far_of(const diamond_args &a, const tower &w, int parity, long long at)
{
    return w.side >= 0 ? (REAL *)a.far[w.side][parity] + at : (REAL *)0;
}

/* The next tower, or part of one; false: there are no more. */
DEVICE bool take_tower(const diamond_args &a, place &t, REAL *memory, tower &w)
{
    __shared__ int ticket;
    __syncthreads(); /* shared memory is free */
    if (is_speaker())
        ticket = atomicAdd(a.ticket, 1);
    __syncthreads();
    w.index = a.first_tower + ticket / NUM_ZB;
    if (w.index >= a.num_tower)
        return false;
    w.side = far_side(a, w.index);
#if NUM_ZB > 1
    w.rank = ticket % NUM_ZB;
    w.count = take_place(a, t, memory, w.rank);
#endif
    return true;
}
/* Levels n and n - 1 of its first tile into shared memory, once the towers ahead have made them. */
DEVICE void begin_tower(const diamond_args &a, place &t, tower &w)
{
    w.level[0] = t.own;
    w.level[1] = t.own + SLOTS * PITCH;
    w.n = w.follow = w.begin;
    w.seen = w.mark = 0;
    w.reload = w.keep = false;
    t.y += M * w.n;
    w.at = (long long)t.y * STRIDE_Y + (long long)t.x * STRIDE_X + t.z;
#if NUM_ZB > 1
    if (is_speaker())
        store_relaxed(a.owner + (long long)w.index * NUM_ZB + w.rank, (int)blockIdx.x + 1);
    t.tag = (unsigned)w.index * (unsigned)a.num_level + (unsigned)w.n;
#endif
    if (is_listener())
        w.seen = wait_ahead(a, w.index, w.rank, w.n + LAG < a.num_level ? w.n + LAG : a.num_level);
    __syncthreads();
    load_tower(a, t, w.n, w.at, w.level[0], w.level[1]);
#if NUM_ZB > 1
    if (t.jobs & SENDS)
        t.theirs = has_high_end(threadIdx.x / 32) ? boxes_of(a, w.index, w.rank + 1, 0)
                                                  : boxes_of(a, w.index, w.rank - 1, 1);
#endif
#if MATCHED
    w.layers_z =
        matched_before(a.matched[2], w.rank * ZB) < matched_before(a.matched[2], w.rank * ZB + w.count);
#endif
}
/* The halo of level n is here, and the towers ahead have made what the next levels need. */
DEVICE void meet(const diamond_args &a, tower &w, bool far)
{
    if (w.n - w.follow == LAG) {
        int until = w.n + LAG < a.num_level ? w.n + LAG : a.num_level;
        w.follow = w.n;
        if (is_listener() && w.seen < until)
            w.seen = wait_ahead(a, w.index, w.rank, until);
    }
    if (far)
        copy_wait<0>();
    else
        copy_wait<(SPLIT + M < ROWS ? ROWS - SPLIT - M : 0) + (NUM_ZB > 1)>();
    __syncthreads();
    if (w.follow == w.n && is_speaker())
        tell(a, w, w.n);
}
/* What few tiles need of level n before it is advanced: recorded cells, images, layers. Returns whether the
 * tile reaches into layers along x or y. */
DEVICE bool complete_level(const diamond_args &a, const place &t, const tower &w, const REAL *memory,
                           REAL *cur, REAL *old, bool far)
{
    if ((w.mark & MARK_CELL) && a.due[w.n])
        record_cells(a, t, memory, cur, w.rank * ZB, w.count, w.n), __syncthreads();
    if (far)
        put_mirror(a, t, cur), __syncthreads();
    if (w.n != w.begin && !w.reload)
        send_ghosts<1>(t, cur, 0);
    bool layered = (LAYER || MATCHED) && (t.y + M - HALF < a.layer[1][0] || t.y + M + HALF > a.layer[1][1] ||
                                          t.x < a.layer[0][0] || t.x + ROWS > a.layer[0][1]);
#if MATCHED
    if (layered || w.layers_z) {
        copy_wait<0>();
        __syncthreads();
        take_off_layers(a, t, memory, cur, old, w.rank * ZB, w.count, layered);
        __syncthreads();
    }
#endif
    return layered;
}
/* Sources of the level that was made, in `made`, and its ghosts. */
DEVICE void finish_level(const diamond_args &a, place &t, const tower &w, REAL *made, REAL *to,
                         packets<0> &early)
{
    if (w.reload) {
        add_sources(a, t, made, to, w.n, far_of(a, w, (w.n - 1) & 1, w.at), w.side);
        if (w.keep && NUM_ZB > 1) {
            __syncthreads();
            send_ghosts<0>(t, made, 1);
            send_ghosts<1>(t, made, 1);
        }
    }
    if (w.keep)
        wait_ghosts<0>(t, made, early, 1);
#if NUM_ZB > 1
    t.tag++;
#endif
}
/* Level n -> n + 1: CUR is the number of level n. now: level n in registers, made: n + 1. */
template <int CUR>
DEVICE void step_tower(const diamond_args &a, place &t, tower &w, const REAL *memory, tile_registers &kk,
                       tile_registers &now, tile_registers &made, packets<0> &early)
{
    REAL *cur = w.level[CUR], *old = w.level[1 - CUR];
    const bool far = outside(a, t);
    meet(a, w, far);
    const bool layered = complete_level(a, t, w, memory, cur, old, far);
    if (far || w.reload)
        load_registers(t, now, cur);
    w.mark = a.mark ? a.mark[(t.x / HALF + 1) * (a.ny + 2 * HALF) + t.y + M + HALF] : 0;
    w.at += (long long)M * STRIDE_Y;
    w.keep = w.n + 1 < w.end;
    REAL *to = (REAL *)a.p[w.n & 1] + w.at;
    const REAL *k = VARIABLE ? (const REAL *)a.k + w.at : (const REAL *)0;
    const level_step s = {cur,
                          old,
                          to,
                          k,
                          w.n == w.begin,
                          w.keep && !(w.mark & MARK_SOURCE),
                          far_of(a, w, w.n & 1, w.at),
                          w.side >= 0,
                          w.side == 1};
    if (LAYER && layered)
        advance_level<LAYER>(a, t, s, kk, now, made, early);
    else
        advance_level<false>(a, t, s, kk, now, made, early);
    t.y += M;
    w.n++;
    w.reload = w.mark & MARK_SOURCE;
    finish_level(a, t, w, old, to, early);
}
DEVICE void swap_levels(tower &w)
{
    REAL *swap = w.level[0];
    w.level[0] = w.level[1], w.level[1] = swap;
}
/* All its levels; at the end level[1] holds level n and level[0] level n - 1. Where there is room for the code
 * of two steps, the levels take turns, so that their registers and slots are known when this is compiled. */
DEVICE void climb_tower(const diamond_args &a, place &t, tower &w, const REAL *memory)
{
    tile_registers d, o, kk;
    packets<0> early;
    load_registers(t, d, w.level[0]);
#if VARIABLE == VARIABLE_CARRIED
    load_factors((const REAL *)a.k + w.at, kk);
#endif
    load_registers(t, o, w.level[1]);
#if UNROLL == 1
    do {
        step_tower<0>(a, t, w, memory, kk, d, o, early);
        swap_levels(w);
        each<0, ROWS>([&](auto row) {
            constexpr int j = decltype(row)::value;
            each<-half_of(j), half_of(j)>([&](auto column) {
                constexpr int c = decltype(column)::value;
                d[j][c + HALF] = o[j][c + HALF];
            });
        });
    } while (w.keep);
    swap_levels(w);
#else
    for (;;) {
        step_tower<0>(a, t, w, memory, kk, d, o, early);
        if (!w.keep)
            break;
        step_tower<1>(a, t, w, memory, kk, o, d, early);
        if (!w.keep) {
            swap_levels(w);
            break;
        }
    }
#endif
}
/* What its levels have not stored or recorded. */
DEVICE void end_tower(const diamond_args &a, const place &t, const tower &w, const REAL *memory)
{
    if (w.end == a.num_level) {
        const long long last = w.at - (long long)M * STRIDE_Y;
        store_tower(t, w.level[1], (REAL *)a.p[(w.n + 1) & 1] + w.at, 0, ROWS);
        store_tower(t, w.level[0], (REAL *)a.p[w.n & 1] + last, 0, ROWS);
        if (w.side >= 0) {
            const int first = w.side ? HALF - M : 0, end = w.side ? ROWS : HALF - STEP + M;
            store_tower(t, w.level[1], far_of(a, w, (w.n + 1) & 1, w.at), first, end);
            store_tower(t, w.level[0], far_of(a, w, w.n & 1, last), first, end);
        }
    }
    copy_wait<0>();
    __syncthreads();
    if ((w.mark & MARK_CELL) && a.due[w.n])
        record_cells(a, t, memory, w.level[1], w.rank * ZB, w.count, w.n);
    if (is_speaker())
        tell(a, w, DONE);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) fd_diamond(const __grid_constant__ diamond_args a)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    REAL *memory = (REAL *)bytes;
    place t;
    tower w;
    w.rank = 0;
    w.count = take_place(a, t, memory, 0);
#if NUM_ZB > 1
    list_ghosts();
#endif
    while (take_tower(a, t, memory, w)) {
        if (!tower_range(a, w.index, t, w.begin, w.end)) {
            if (is_speaker())
                tell(a, w, DONE);
            continue;
        }
        begin_tower(a, t, w);
        climb_tower(a, t, w, memory);
        end_tower(a, t, w, memory);
    }
}

/* Which tiles hold sources or recorded cells: byte [tile][y + HALF] of a tile of new values whose column 0 is
 * y and whose row 0 is x = HALF (tile - 1). */
extern "C" __global__ void fd_diamond_mark(const __grid_constant__ diamond_args a)
{
    int y = (int)(blockIdx.x * blockDim.x + threadIdx.x) - HALF, tile = blockIdx.y, mark = 0;
    if (y >= a.ny + HALF)
        return;
    for (int j = 0; j < ROWS; j++)
        for (int c = -half_of(j); c < half_of(j); c++) {
            int x = (tile - 1) * HALF + j;
            if (x < 0 || x >= a.nx || y + c < 0 || y + c >= a.ny)
                continue;
            long long column = (long long)x * a.ny + y + c;
            if (a.source_first && a.source_first[column] < a.source_first[column + 1])
                mark |= MARK_SOURCE;
            if (a.cell_first && a.cell_first[column] < a.cell_first[column + 1])
                mark |= MARK_CELL;
        }
    ((unsigned char *)a.mark)[(long long)tile * (a.ny + 2 * HALF) + y + HALF] = (unsigned char)mark;
}
