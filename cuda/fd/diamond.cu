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
 * STRIDE_X and STRIDE_Y [words]; ZB, NUM_ZB; LAYER, 1 if there is a sponge; MATCHED, 1 if there is
 * a matched layer; VARIABLE, 0 if c is
 * constant, else how k comes: VARIABLE_CACHED, from the L2 cache at every step, or VARIABLE_CARRIED, in
 * registers while its cell is in the tile; OLD, 1 to keep level n - 1 in registers as well; UNROLL, 2 to have
 * code for even and odd levels, 1 where that is too long for the instruction cache; CHUNK, cells in flight at
 * once. */
#define VARIABLE_CACHED  1
#define VARIABLE_CARRIED 2
#if !defined(REAL) || !defined(ORDER) || !defined(DTS) || !defined(STEP) || !defined(ZB)
#error                                                                                                       \
    "diamond.cu needs REAL, ORDER, DTS, STEP, STRIDE_X, STRIDE_Y, ZB, NUM_ZB, LAYER, VARIABLE, OLD, UNROLL, CHUNK"
#endif
#include "fd/async.h"
#include "fd/diamond_args.h"
#include "fd/diamond_tile.h"

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

#include "fd/diamond_ghosts.h"

/* A thread's word of a cell of the tile; level: as t.own. */
static __device__ __forceinline__ REAL *cell_of(const place &t, REAL *level, int j, int c)
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
static __device__ __forceinline__ tile_row row_of(const place &t, REAL *level, int j)
{
    const int half = in_body(j) ? half_of(j) : 0;
    return {first_of(j), last_of(j), in_body(j) ? M - half : first_of(j),
            t.tips + (TIPS + j * M + half) * PITCH,
            in_body(j) ? level + slot_of(j, 0) * PITCH : t.tips + tip_slot(j, 0) * PITCH};
}
/* Asks for the cells of the tips at `from`, the memory of their level at column 0 of row 0. */
template <int FIRST> static __device__ __forceinline__ void fetch_tips(const place &t, const REAL *from)
{
    each<FIRST, FIRST + M>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<first_of(j), last_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            copy_async(t.tips + tip_slot(j, c) * PITCH, from + c * STRIDE_Y + (long long)j * STRIDE_X);
        });
    });
}

#include "fd/diamond_matched.h"
#include "fd/diamond_rare.h"

#include "fd/diamond_level.h"

/* ---- towers ---- */
/* Where tower `index` stands at level 0, and the levels [begin, end) from which it makes cells of the grid.
 * Returns whether there are any. */
static __device__ bool tower_range(const diamond_args &a, int index, place &t, int &begin, int &end)
{
    int stage = index / a.num_row, row = index % a.num_row;
    t.x = row * 2 * HALF - stage % 2 * HALF;
    t.y = a.ny - M - stage * HALF;
    int y = t.y + M; /* of column 0 of the new level 1 */
    begin = y + HALF > 0 ? 0 : (-(y + HALF)) / M + 1;
    end = y - HALF >= a.ny ? 0 : (a.ny - 1 - y + HALF) / M + 1;
    if (end > a.num_level)
        end = a.num_level;
    return begin < end && t.x < a.nx && t.x + ROWS > 0;
}
/* A call, so that only one thread pays for the fence. */
static __device__ __noinline__ void publish(int *progress, int level)
{
    store_release(progress, level);
}
/* A warp waits until the towers ahead, on both sides and in line, have made `level`, here and in the blocks
 * of which ghosts come. Returns the level that all of them have. */
static __device__ __noinline__ int wait_ahead(const diamond_args &a, int index, int rank, int level)
{
    enum { WIDE = NUM_ZB > 1 ? 3 : 1 };
    int stage = index / a.num_row, row = index % a.num_row, i = threadIdx.x % 32, seen = DONE;
    int beside = stage % 2 ? row - 1 : row + 1, block = rank + i % WIDE - WIDE / 2;
    int other = i / WIDE == 0   ? index - a.num_row
                : i / WIDE == 1 ? index - a.num_row - row + beside
                                : index - 2 * a.num_row;
    bool is = i < 3 * WIDE && other >= 0 && block >= 0 && block < NUM_ZB &&
              (i / WIDE != 1 || (beside >= 0 && beside < a.num_row));
    if (is)
        do {
            seen = load_acquire(a.progress + (long long)other * NUM_ZB + block);
            if (seen < level)
                look_again();
        } while (seen < level);
    for (int width = 16; width > 0; width /= 2) {
        int there = __shfl_xor_sync(0xffffffffu, seen, width);
        seen = there < seen ? there : seen;
    }
    return seen;
}

/* Loops, not code for each cell: once a tower, instructions come from far, which took longer than all else. */
static __device__ __noinline__ void load_tower(const diamond_args &a, place t, int n, long long at, REAL *cur,
                                               REAL *old)
{
    const REAL *now = (const REAL *)a.p[(n + 1) & 1] + at, *before = (const REAL *)a.p[n & 1] + at;
#pragma unroll 1
    for (int j = -M; j < ROWS + M; j++) {
        const tile_row to = row_of(t, cur, j), to_old = row_of(t, old, j);
        const long long row = (long long)j * STRIDE_X;
#pragma unroll 2
        for (int c = to.first; c < to.last; c++) {
            copy_async(to.at(c), now + row + c * STRIDE_Y);
            /* column c of level n is column c + M of level n - 1 */
            if (in_body(j) && c >= to.first + M && c + M < to.last)
                copy_async(to_old.at(c + M), before + row + c * STRIDE_Y);
        }
    }
    load_ghosts(t, cur, now);
    copy_commit();
    copy_wait<0>();
}
/* What levels have not stored: level n or n - 1 at the end of the last tower time. */
static __device__ __noinline__ void store_tower(place t, REAL *level, REAL *to)
{
#pragma unroll 1
    for (int j = 0; j < ROWS; j++) {
        const int half = half_of(j);
        const long long row = (long long)j * STRIDE_X;
#pragma unroll 4
        for (int c = 2 * M - half; c < half; c++)
            to[row + c * STRIDE_Y] = level[slot_of(j, c) * PITCH];
    }
}

/* A thread's cell along z in block `rank` of a tower, and what it knows of it. Returns the cells of the
 * block. */
static __device__ int take_place(const diamond_args &a, place &t, REAL *memory, int rank)
{
    const int thread = threadIdx.x, z0 = rank * ZB, count = a.nz - z0 < ZB ? a.nz - z0 : ZB;
    const bool has_cell = thread < count;
    t.z = has_cell ? z0 + thread : a.nz + M;
    t.own = memory + (has_cell ? M + thread : 2 * M + thread); /* behind the ghosts */
    t.tips = t.own + 2 * SLOTS * PITCH;
    t.gz = LAYER && has_cell ? ((const REAL *)a.gz)[t.z] : (REAL)1;
#pragma unroll
    for (int m = 1; m <= M; m++) {
        t.below[m - 1] = has_cell ? -m : 0;
        t.above[m - 1] = has_cell ? m : 0;
        t.sign[m - 1] = 1;
        if (has_cell && t.z < m) {
            t.below[m - 1] = m - 2 * t.z;
            t.sign[m - 1] = (REAL)a.sign[2][0];
        } else if (has_cell && t.z + m >= a.nz) {
            t.below[m - 1] = 2 * (a.nz - 1 - t.z) - m;
            t.above[m - 1] = -m;
            t.sign[m - 1] = (REAL)a.sign[2][1];
        }
    }
#if NUM_ZB > 1
    const int warp = thread / 32;
    const bool low = !has_high_end(warp), is = low ? rank > 0 : z0 + count < a.nz;
    const int own = (int)(t.own - memory), ghost = low ? 0 : M + count;
    t.jobs = is ? jobs_of(warp) : 0;
    t.put = (low ? M : count) - own;
    t.ghost = ghost - own;
    t.far = z0 - M + ghost - t.z;
    t.mine = a.mailbox + (blockIdx.x * 2LL + !low) * 2 * BOX;
#endif
    return count;
}
#if NUM_ZB > 1
/* Finds the boxes of the neighbour, which may not have begun yet. */
static __device__ __noinline__ unsigned long long *boxes_of(const diamond_args &a, int index, int other,
                                                            int end)
{
    int owner;
    while ((owner = load_relaxed(a.owner + (long long)index * NUM_ZB + other)) == 0)
        look_again();
    return a.mailbox + ((owner - 1) * 2LL + end) * 2 * BOX;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) fd_diamond(const __grid_constant__ diamond_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int ticket;
    /* a warp that serves no end, if there is one */
    enum { IDLE = FIRST_GHOST_WARP + 2 * GHOST_WARPS, SPEAKER = IDLE < NUM_WARP ? IDLE : NUM_WARP - 1 };
    const bool listener = threadIdx.x / 32 == SPEAKER, speaker = threadIdx.x == SPEAKER * 32;
    place t;
    int rank = 0, count = take_place(a, t, (REAL *)memory, 0);
#if NUM_ZB > 1
    list_ghosts();
#endif

    for (;;) {
        __syncthreads(); /* shared memory is free */
        if (speaker)
            ticket = atomicAdd(a.ticket, 1);
        __syncthreads();
        const int index = a.first_tower + ticket / NUM_ZB;
        if (index >= a.num_tower)
            break;
#if NUM_ZB > 1
        rank = ticket % NUM_ZB;
        count = take_place(a, t, (REAL *)memory, rank);
#endif
        int begin, end;
        if (!tower_range(a, index, t, begin, end)) {
            if (speaker)
                publish(a.progress + (long long)index * NUM_ZB + rank, DONE);
            continue;
        }
        const int tile = t.x / HALF + 1;
        REAL *level[2] = {t.own, t.own + SLOTS * PITCH};
        int n = begin;
        t.y += M * n;
        long long at = (long long)t.y * STRIDE_Y + (long long)t.x * STRIDE_X + t.z;
        int follow = n, seen = 0;
#if NUM_ZB > 1
        if (speaker)
            store_relaxed(a.owner + (long long)index * NUM_ZB + rank, (int)blockIdx.x + 1);
        t.tag = (unsigned)index * (unsigned)a.num_level + (unsigned)n;
#endif
        if (listener)
            seen = wait_ahead(a, index, rank, n + LAG < a.num_level ? n + LAG : a.num_level);
        __syncthreads();
        load_tower(a, t, n, at, level[0], level[1]);
#if NUM_ZB > 1
        if (t.jobs & SENDS)
            t.theirs = has_high_end(threadIdx.x / 32) ? boxes_of(a, index, rank + 1, 0)
                                                      : boxes_of(a, index, rank - 1, 1);
#endif

        tile_registers d, o, kk;
        load_registers(t, d, level[0]);
#if VARIABLE == VARIABLE_CARRIED
        load_factors((const REAL *)a.k + at, kk);
#endif
        load_registers(t, o, level[1]);
        bool reload = false, keep = false;
#if MATCHED
        const bool layers_z =
            matched_before(a.matched[2], rank * ZB) < matched_before(a.matched[2], rank * ZB + count);
#endif
        int mark = 0;
        packets<0> early;

        /* Level n -> n + 1: the halo is here, the block meets, recorded cells, images, then the tile. The two
         * levels take turns, so that their registers and slots are known when this is compiled. */
        auto step = [&](auto turn, tile_registers &now, tile_registers &made) __attribute__((always_inline)) {
            constexpr int CUR = decltype(turn)::value;
            REAL *cur = level[CUR], *old = level[1 - CUR];
            bool far = outside(a, t);
            if (n - follow == LAG) {
                int until = n + LAG < a.num_level ? n + LAG : a.num_level;
                follow = n;
                if (listener && seen < until)
                    seen = wait_ahead(a, index, rank, until);
            }
            if (far)
                copy_wait<0>();
            else
                copy_wait<(SPLIT + M < ROWS ? ROWS - SPLIT - M : 0) + (NUM_ZB > 1)>();
            __syncthreads();
            if (follow == n && speaker)
                publish(a.progress + (long long)index * NUM_ZB + rank, n);
            if ((mark & MARK_CELL) && a.due[n])
                record_cells(a, t, (const REAL *)memory, cur, rank * ZB, count, n), __syncthreads();
            if (far)
                put_mirror(a, t, cur), __syncthreads();
            if (n != begin && !reload)
                send_ghosts<1>(t, cur, 0);
            bool layered =
                (LAYER || MATCHED) && (t.y + M - HALF < a.layer[1][0] || t.y + M + HALF > a.layer[1][1] ||
                                       t.x < a.layer[0][0] || t.x + ROWS > a.layer[0][1]);
#if MATCHED
            if (layered || layers_z) {
                copy_wait<0>();
                __syncthreads();
                take_off_layers(a, t, (const REAL *)memory, cur, old, rank * ZB, count, layered);
                __syncthreads();
            }
#endif
            if (far || reload)
                load_registers(t, now, cur);
            mark = a.mark ? a.mark[tile * (a.ny + 2 * HALF) + t.y + M + HALF] : 0;
            at += (long long)M * STRIDE_Y;
            REAL *to = (REAL *)a.p[n & 1] + at;
            const REAL *k = VARIABLE ? (const REAL *)a.k + at : (const REAL *)0;
            keep = n + 1 < end;
            const level_step s = {cur, old, to, k, n == begin, keep && !(mark & MARK_SOURCE)};
            if (LAYER && layered)
                advance_level<LAYER>(a, t, s, kk, now, made, early);
            else
                advance_level<false>(a, t, s, kk, now, made, early);
            t.y += M;
            n++;
            reload = mark & MARK_SOURCE;
            if (reload) {
                add_sources(a, t, old, to, n);
                if (keep && NUM_ZB > 1) {
                    __syncthreads();
                    send_ghosts<0>(t, old, 1);
                    send_ghosts<1>(t, old, 1);
                }
            }
            if (keep)
                wait_ghosts<0>(t, old, early, 1);
#if NUM_ZB > 1
            t.tag++;
#endif
        };
#if UNROLL == 1
        do {
            step(number<0>(), d, o);
            REAL *swap = level[0];
            level[0] = level[1], level[1] = swap;
            each<0, ROWS>([&](auto row) {
                constexpr int j = decltype(row)::value;
                each<-half_of(j), half_of(j)>([&](auto column) {
                    constexpr int c = decltype(column)::value;
                    d[j][c + HALF] = o[j][c + HALF];
                });
            });
        } while (keep);
        REAL *swap = level[0];
        level[0] = level[1], level[1] = swap;
#else
        for (;;) {
            step(number<0>(), d, o);
            if (!keep)
                break;
            step(number<1>(), o, d);
            if (!keep) {
                REAL *swap = level[0];
                level[0] = level[1], level[1] = swap;
                break;
            }
        }
#endif
        /* now level[1] holds level n, level[0] holds n - 1 */
        if (end == a.num_level) {
            store_tower(t, level[1], (REAL *)a.p[(n + 1) & 1] + at);
            store_tower(t, level[0], (REAL *)a.p[n & 1] + at - (long long)M * STRIDE_Y);
        }
        copy_wait<0>();
        __syncthreads();
        if ((mark & MARK_CELL) && a.due[n])
            record_cells(a, t, (const REAL *)memory, level[1], rank * ZB, count, n);
        if (speaker)
            publish(a.progress + (long long)index * NUM_ZB + rank, DONE);
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
