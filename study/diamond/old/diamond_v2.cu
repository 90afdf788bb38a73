/* diamond.cu: many steps of the scalar wave equation at once (DiamondTorre, Levchenko et al. 2016).
 *
 * Column c of a tower at level n is x = X + M n + c: the tower walks M cells to the right a step, so that
 *     new(c) = stencil of level n at c .. c + 2M, the rows beside at c + M, and level n - 1 at c + 2M
 * never looks left. A tile of rows |u| < DTS (in units of STEP rows), 2 STEP (DTS - |u|) columns wide, then
 * depends on the towers to its right alone and cells that leave a tile leave it for good: two levels in
 * memory suffice. Towers of one stage stand 2 HALF apart in y; the next stage is HALF further left and HALF
 * aside. Words a cell and step: loads and stores 2M ROWS each, and the tips, over 2 HALF^2 cells.
 *
 * A block is a tile times ZB cells along z, one thread a z; NUM_ZB blocks, a cluster, span nz. Shared memory
 * holds two levels of the tile and its halo: [slot][z], a slot for each row and column. New values replace
 * level n - 1 a slot of 2M columns lower, values of level n stay in registers for the next tier. The halo of
 * the next level arrives by asynchronous copies as soon as a row has used that of level n - 1.
 *
 * Everything rare goes through shared memory by loops over slots of a thread's own z: images behind sides,
 * sources. Cells outside the grid are computed like all others, and written to the padding: they are
 * overwritten by images before a cell inside can see them.
 *
 * Blocks draw towers by tickets in an order in which every tower comes after those that it needs, and follow
 * their progress, LAG levels at a time.
 *
 * Defines: REAL, ORDER, DTS, STEP (a divisor of ORDER / 2), STRIDE_X, STRIDE_Y (words), ZB, NUM_ZB,
 * VARIABLE (c), LAYER, OLD (level n - 1 in registers as well). */
#if !defined(REAL) || !defined(ORDER) || !defined(DTS) || !defined(STEP) || !defined(ZB)
#error "diamond.cu needs REAL, ORDER, DTS, STEP, STRIDE_X, STRIDE_Y, ZB, NUM_ZB, VARIABLE, LAYER, OLD"
#endif
#include "fd/async.h"
#include "fd/diamond_args.h"

enum {
    M = ORDER / 2,
    HALF = STEP * DTS,
    ROWS = STEP * (2 * DTS - 1),
    THREADS = (ZB + 31) / 32 * 32,
    PITCH = ZB + 2 * M + 1, /* ghosts on both sides, and a word for threads without a cell */
    SLOTS = 2 * HALF * HALF + 2 * M * ROWS,
    SPLIT = (ROWS - M + 1) / 2, /* rows before the second barrier of a tier */
    LAG = 8,
    MARK_SOURCE = 1,
    MARK_CELL = 2,
    DONE = 0x7fffffff
};
static_assert(M % STEP == 0, "steeper edges than M columns in M rows need levels that are gone");

/* ---- the tile ---- */
static __device__ __forceinline__ constexpr int half_of(int j)
{
    int u = j / STEP - (DTS - 1);
    return STEP * (DTS - (u < 0 ? -u : u));
}
/* Rows -M .. -1 and ROWS .. ROWS + M - 1, the tips, are only looked at: as wide as any row within M. */
static __device__ __forceinline__ constexpr int tip_half(int j)
{
    int near = (j < 0 ? j : ROWS - 1 - j) + M;
    return near > STEP * (DTS - 1) ? HALF : half_of(near);
}
static __device__ __forceinline__ constexpr bool in_body(int j) { return j >= 0 && j < ROWS; }
static __device__ __forceinline__ constexpr int first_of(int j)
{
    return in_body(j) ? -half_of(j) : M - tip_half(j);
}
static __device__ __forceinline__ constexpr int last_of(int j)
{
    return in_body(j) ? half_of(j) + 2 * M : M + tip_half(j);
}
static __device__ __forceinline__ constexpr int units_before(int u)
{
    int left = 2 * DTS - 1 - u;
    return u <= DTS ? u * (u + 1) / 2 : DTS * DTS - left * (left + 1) / 2;
}
static __device__ __forceinline__ constexpr int tip_cells(int first, int j)
{
    int n = 0;
    for (int i = first; i < j; i++)
        n += 2 * tip_half(i);
    return n;
}
enum { TIPS = 2 * tip_cells(-M, 0), SHARED = (2 * SLOTS + TIPS) * PITCH };

static __device__ __forceinline__ constexpr int slot_of(int j, int c)
{
    return 2 * STEP * STEP * units_before(j / STEP) + j % STEP * 2 * half_of(j) + 2 * M * j + c + half_of(j);
}
static __device__ __forceinline__ constexpr int tip_slot(int j, int c)
{
    return (j < 0 ? tip_cells(-M, j) : TIPS / 2 + tip_cells(ROWS, j)) + c + tip_half(j) - M;
}

/* f(i) for i = FIRST .. END - 1, each a constant: #pragma unroll gives up on bodies of this size. */
template <int I> struct number {
    static constexpr int value = I;
};
template <int FIRST, int END, class F> static __device__ __forceinline__ void each(const F &f)
{
    if constexpr (FIRST < END) {
        f(number<FIRST>());
        each<FIRST + 1, END>(f);
    }
}

/* ---- arithmetic: the same in every kernel ---- */
static __device__ __forceinline__ float add(float x, float y) { return __fadd_rn(x, y); }
static __device__ __forceinline__ float mul(float x, float y) { return __fmul_rn(x, y); }
static __device__ __forceinline__ float madd(float x, float y, float z) { return __fmaf_rn(x, y, z); }
static __device__ __forceinline__ double add(double x, double y) { return __dadd_rn(x, y); }
static __device__ __forceinline__ double mul(double x, double y) { return __dmul_rn(x, y); }
static __device__ __forceinline__ double madd(double x, double y, double z) { return __fma_rn(x, y, z); }
static __device__ __forceinline__ REAL weight(const diamond_args &a, int i)
{
    return sizeof(REAL) == 4 ? (REAL)a.w_float[i] : (REAL)a.w[i];
}

/* What a thread does for one end of its block along z: its word is copied to a ghost, an image behind a side of
 * the grid or a cell that the neighbour in the cluster sees. */
struct end {
    bool ghost, image;  /* it writes a ghost; the same in memory */
    bool fetch;         /* it asks for a ghost of the halo */
    int delta;          /* from its own word to the ghost */
    int next;           /* and to the ghost of the halo: -M or M */
    unsigned remote;    /* ghost of its word of level n0, slot 0, in the cluster */
    REAL sign;
};
/* What a thread knows of its z, and of its tower. */
struct place {
    REAL *own;     /* its word of slot 0 of level n0 */
    REAL *tips;
    int z;         /* threads without a cell: in the padding */
    bool edge;     /* some thread of this warp works for an end ... */
    bool both;     /* ... or for both */
    struct end end, other;
    REAL gz;
    int x, y;      /* of column 0 at level n, row 0 */
};

static __device__ __forceinline__ void put_ghost(const place &t, const struct end &e, REAL *level, int slot, REAL v)
{
    if (e.ghost) {
        v = mul(e.sign, v);
#if NUM_ZB > 1
        store_remote(e.remote + (unsigned)((level - t.own + slot * PITCH) * sizeof(REAL)), v);
#else
        level[slot * PITCH + e.delta] = v;
#endif
    }
}
static __device__ __forceinline__ void put_image(const struct end &e, REAL *to, REAL v)
{
    if (e.image)
        to[e.delta] = mul(e.sign, v);
}
static __device__ __forceinline__ void fetch_ghost(const struct end &e, REAL *to, const REAL *from)
{
    if (e.fetch)
        copy_async(to + e.next, from + e.next);
}

static __device__ __forceinline__ void wait_block()
{
#if NUM_ZB > 1
    cluster_arrive();
    cluster_wait();
#else
    __syncthreads();
#endif
}

/* Asks for the cells of the tips at `from`, the memory of their level at column 0 of row 0. */
template <int FIRST> static __device__ __forceinline__ void fetch_tips(const place &t, const REAL *from)
{
    each<FIRST, FIRST + M>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<first_of(j), last_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            copy_async(t.tips + tip_slot(j, c) * PITCH, from + (long long)c * STRIDE_X + j * STRIDE_Y);
        });
    });
}

/* ---- images behind sides x and y, in level n ---- */
static __device__ __forceinline__ REAL *cell_of(const place &t, REAL *level, int j, int c)
{
    return in_body(j) ? level + slot_of(j, c) * PITCH : t.tips + tip_slot(j, c) * PITCH;
}
static __device__ bool outside(const diamond_args &a, const place &t)
{
#ifdef NOFAR
    return false;
#endif
    return t.x < HALF || t.x + HALF + 2 * M > a.nx || t.y < M || t.y + ROWS + M > a.ny;
}
static __device__ __noinline__ void put_mirror(const diamond_args &a, place t, REAL *level)
{
    for (int side = 0; side < 2; side++) {
        int wall = (side ? a.nx - 1 : 0) - t.x, out = side ? 1 : -1;
        REAL sign = (REAL)a.sign[0][side];
        if (wall + M >= -HALF && wall - M < HALF + 2 * M)
            for (int j = 0; j < ROWS; j++)
                for (int m = 1; m <= M; m++) {
                    int ghost = wall + out * m, from = wall - out * m;
                    if (ghost >= first_of(j) && ghost < last_of(j) && from >= first_of(j) && from < last_of(j))
                        *cell_of(t, level, j, ghost) = mul(sign, *cell_of(t, level, j, from));
                }
        wall = (side ? a.ny - 1 : 0) - t.y;
        sign = (REAL)a.sign[1][side];
        for (int m = 1; m <= M; m++) {
            int ghost = wall + out * m, from = wall - out * m;
            if (ghost < -M || ghost >= ROWS + M || from < -M || from >= ROWS + M)
                continue;
            int c0 = first_of(ghost), c1 = last_of(ghost), d0 = first_of(from), d1 = last_of(from);
            for (int c = c0 > d0 ? c0 : d0; c < (c1 < d1 ? c1 : d1); c++)
                *cell_of(t, level, ghost, c) = mul(sign, *cell_of(t, level, from, c));
        }
    }
}

/* ---- sources and records, in the level that was made ---- */
static __device__ __noinline__ void add_sources(const diamond_args &a, place t, REAL *level, REAL *to,
                                                int produced)
{
    const REAL *amplitude = (const REAL *)a.amplitude + (long long)(produced - 1) * a.num_source;
    for (int j = 0; j < ROWS; j++)
        for (int c = -half_of(j); c < half_of(j); c++) {
            int x = t.x + c, y = t.y + j;
            if (x < 0 || x >= a.nx || y < 0 || y >= a.ny)
                continue;
            long long column = (long long)x * a.ny + y;
            for (int i = a.source_first[column]; i < a.source_first[column + 1]; i++)
                if (a.source_z[i] == t.z) {
                    REAL *cell = level + slot_of(j, c) * PITCH, *far = to + (long long)c * STRIDE_X + j * STRIDE_Y;
                    REAL v = madd(((const REAL *)a.source_w)[i], amplitude[a.source_id[i]], *cell);
                    *cell = v;
                    put_ghost(t, t.end, level, slot_of(j, c), v);
                    put_ghost(t, t.other, level, slot_of(j, c), v);
                    if (c < 2 * M - half_of(j)) {
                        *far = v;
                        put_image(t.end, far, v);
                        put_image(t.other, far, v);
                    }
                }
        }
}
static __device__ __noinline__ void record_cells(const diamond_args &a, place t, const REAL *level, int z0,
                                                 int count, int produced)
{
    REAL *out = (REAL *)a.record + (long long)((produced - a.due) / a.every) * a.num_cell;
    int lane = threadIdx.x % 32;
    /* A warp takes every THREADS / 32-nd row, a lane looks up a column of it. */
    for (int j = threadIdx.x / 32; j < ROWS; j += THREADS / 32)
        for (int c0 = -half_of(j); c0 < half_of(j); c0 += 32) {
            int c = c0 + lane, x = t.x + c, y = t.y + j, first = 0, last = 0;
            if (c < half_of(j) && x >= 0 && x < a.nx && y >= 0 && y < a.ny) {
                first = a.cell_first[(long long)x * a.ny + y];
                last = a.cell_first[(long long)x * a.ny + y + 1];
            }
            for (int l = 0; l < 32 && c0 + l < half_of(j); l++) {
                int from = __shfl_sync(0xffffffffu, first, l), end = __shfl_sync(0xffffffffu, last, l);
                for (int i = from + lane; i < end; i += 32) {
                    int z = a.cell_z[i] - z0;
                    if (z >= 0 && z < count)
                        out[a.cell_id[i]] = level[slot_of(j, c0 + l) * PITCH + M + z];
                }
            }
        }
}

/* The other end, where a thread works for both: rows [j0, j1) as made. */
static __device__ __noinline__ void put_other(place t, REAL *level, REAL *to, int j0, int j1)
{
    for (int j = j0; j < j1; j++)
        for (int c = -half_of(j); c < half_of(j) + 2 * M; c++) {
            REAL *cell = level + slot_of(j, c) * PITCH, *far = to + (long long)c * STRIDE_X + j * STRIDE_Y;
            if (c < half_of(j))
                put_ghost(t, t.other, level, slot_of(j, c), *cell);
            else
                fetch_ghost(t.other, cell, far);
            if (c < 2 * M - half_of(j))
                put_image(t.other, far, *cell);
        }
}

/* ---- one tier ---- */
typedef REAL tile_registers[ROWS][2 * HALF];

static __device__ __forceinline__ void load_registers(tile_registers &d, const REAL *level)
{
    each<0, ROWS>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<-half_of(j), half_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            d[j][c + HALF] = level[slot_of(j, c) * PITCH];
        });
    });
}

/* What rows J0 .. J1 - 1 as made owe to the ends of the block. */
template <int J0, int J1>
static __device__ __forceinline__ void put_ends(const place &t, REAL *level, REAL *to, tile_registers &o)
{
    if (t.edge) {
        each<J0, J1>([&](auto row) {
            constexpr int j = decltype(row)::value, half = half_of(j);
            each<-half, half>([&](auto column) {
                constexpr int c = decltype(column)::value;
                put_ghost(t, t.end, level, slot_of(j, c), o[j][c + HALF]);
                if constexpr (c < 2 * M - half)
                    put_image(t.end, to + (long long)c * STRIDE_X + j * STRIDE_Y, o[j][c + HALF]);
            });
            each<half, half + 2 * M>([&](auto column) {
                constexpr int c = decltype(column)::value;
                fetch_ghost(t.end, level + slot_of(j, c) * PITCH, to + (long long)c * STRIDE_X + j * STRIDE_Y);
            });
        });
        if (t.both)
            put_other(t, level, to, J0, J1);
    }
    copy_commit();
}

/* Makes level n + 1 of the tile. d: level n in registers; o: what it becomes (OLD: level n - 1 before). cur, old:
 * the levels in shared memory; to: memory of level n + 1 at column 0 of row 0. Groups of copies: a row each, in
 * the middle and at the end those of put_ends. */
template <bool LAYERED>
static __device__ __forceinline__ void tier(const diamond_args &a, const place &t, REAL *cur, REAL *old,
                                            REAL *to, const REAL *k, tile_registers &d,
                                            tile_registers &o)
{
    REAL h[ROWS + 2 * M][2 * HALF + 2 * M]; /* level n: h[row + M][column + HALF] */
    each<-M, ROWS + M>([&](auto row) {
        constexpr int next = decltype(row)::value, j = next - M; /* j: the row to be made */
        if constexpr (j == SPLIT) {
            put_ends<0, SPLIT>(t, old, to, o);
            copy_wait<SPLIT + 1>();
            __syncthreads();
        }
        each<first_of(next), last_of(next)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            if constexpr (!in_body(next))
                h[next + M][c + HALF] = t.tips[tip_slot(next, c) * PITCH];
            else if constexpr (c < half_of(next))
                h[next + M][c + HALF] = d[next][c + HALF];
            else
                h[next + M][c + HALF] = cur[slot_of(next, c) * PITCH];
        });
        if constexpr (j >= 0) {
            constexpr int half = half_of(j);
            REAL gy = 1;
            if (LAYERED)
                gy = ((const REAL *)a.gy)[t.y + j];
            each<-half, half>([&](auto column) {
                constexpr int c = decltype(column)::value, i = c + M + HALF; /* of the cell itself */
                REAL acc = mul(weight(a, 0), h[j + M][i]);
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, m), add(h[j + M][i + m], h[j + M][i - m]), acc);
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, M + m), add(h[j + M + m][i], h[j + M - m][i]), acc);
                const REAL *centre = cur + slot_of(j, c + M) * PITCH;
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, 2 * M + m), add(centre[m], centre[-m]), acc);
#if VARIABLE
                acc = madd(k[(long long)c * STRIDE_X + j * STRIDE_Y], acc, add(h[j + M][i], h[j + M][i]));
#endif
                REAL before = OLD && c + 2 * M < half ? o[j][c + (c + 2 * M < half) * 2 * M + HALF]
                                                      : old[slot_of(j, c + 2 * M) * PITCH];
                REAL v;
                if (LAYERED) {
                    REAL g = mul(mul(((const REAL *)a.gx)[t.x + M + c], gy), t.gz);
                    v = mul(g, madd(-g, before, acc));
                } else if (LAYER)
                    v = mul(t.gz, madd(-t.gz, before, acc));
                else
                    v = add(acc, -before);
                o[j][c + HALF] = v;
                old[slot_of(j, c) * PITCH] = v;
                if constexpr (c < 2 * M - half)
                    to[(long long)c * STRIDE_X + j * STRIDE_Y] = v;
            });
            each<half, half + 2 * M>([&](auto column) {
                constexpr int c = decltype(column)::value;
                copy_async(old + slot_of(j, c) * PITCH, to + (long long)c * STRIDE_X + j * STRIDE_Y);
            });
            if constexpr (j == 0)
                fetch_tips<-M>(t, to);
            if constexpr (j == ROWS - 1)
                fetch_tips<ROWS>(t, to);
            copy_commit();
        }
    });
    put_ends<SPLIT, ROWS>(t, old, to, o);
}

/* ---- towers ---- */
/* Where tower `index` stands: x of column 0 at level 0, y of row 0; -> false if it never meets the grid. */
static __device__ bool tower_range(const diamond_args &a, int index, place &t, int &begin, int &end)
{
    int stage = index / a.num_row, row = index % a.num_row;
    t.y = row * 2 * HALF - stage % 2 * HALF;
    t.x = a.nx - M - stage * HALF;
    int x = t.x + M; /* of column 0 of the new level 1 */
    begin = x + HALF > 0 ? 0 : (-(x + HALF)) / M + 1;
    end = x - HALF >= a.nx ? 0 : (a.nx - 1 - x + HALF) / M + 1;
    if (end > a.num_level)
        end = a.num_level;
    return begin < end && t.y < a.ny && t.y + ROWS > 0;
}
/* Waits until the towers to the right have made `level`. */
static __device__ void wait_right(const diamond_args &a, int index, int level)
{
    int stage = index / a.num_row, row = index % a.num_row;
    int beside = stage % 2 ? row - 1 : row + 1;
    for (int i = 0; i < 3; i++) {
        int other = i == 0 ? index - a.num_row : i == 1 ? index - a.num_row - row + beside : index - 2 * a.num_row;
        if (other < 0 || (i == 1 && (beside < 0 || beside >= a.num_row)))
            continue;
        while (load_acquire(a.progress + other) < level)
            ;
    }
}

static __device__ __noinline__ void load_tower(const diamond_args &a, place t, int n, long long at, REAL *cur, REAL *old)
{
    const REAL *now = (const REAL *)a.p[(n + 1) & 1] + at, *before = (const REAL *)a.p[n & 1] + at;
    for (int j = -M; j < ROWS + M; j++)
        for (int c = first_of(j); c < last_of(j); c++) {
            long long far = (long long)c * STRIDE_X + j * STRIDE_Y;
            REAL *cell = cell_of(t, cur, j, c);
            copy_async(cell, now + far);
            if (!in_body(j))
                continue;
            fetch_ghost(t.end, cell, now + far);
            fetch_ghost(t.other, cell, now + far);
            /* column c of level n is column c + M of level n - 1 */
            if (c + M >= first_of(j) + 2 * M && c + M < last_of(j))
                copy_async(cell_of(t, old, j, c + M), before + far);
        }
    copy_commit();
    copy_wait<0>();
}
static __device__ __noinline__ void store_tower(const diamond_args &a, place t, const REAL *level, REAL *to)
{
    for (int j = 0; j < ROWS; j++)
        for (int c = 2 * M - half_of(j); c < half_of(j); c++) {
            REAL v = level[slot_of(j, c) * PITCH], *far = to + (long long)c * STRIDE_X + j * STRIDE_Y;
            *far = v;
            put_image(t.end, far, v);
            put_image(t.other, far, v);
        }
}

/* This thread and the low or high end of a block of `count` cells. */
static __device__ struct end end_of(const diamond_args &a, int high, int rank, int thread, int count)
{
    int m = high ? count - 1 - thread : thread; /* cells away from the end */
    bool side = high ? rank * ZB + count == a.nz : rank == 0;
    struct end e;
    e.fetch = thread < count && m < M;
    e.image = thread < count && side && m >= 1 && m <= M;
    e.ghost = side ? e.image : e.fetch;
    e.delta = high ? 2 * m : -2 * m;
    e.next = high ? M : -M;
    e.sign = side ? (REAL)a.sign[2][high] : (REAL)1;
    e.remote = 0;
#if NUM_ZB > 1
    /* the image here, else beyond the far end of the neighbour, where this cell is its ghost */
    extern __shared__ __align__(16) unsigned char memory[];
    int word = side ? M + thread + e.delta : high ? M - 1 - m : M + ZB + m;
    e.remote = remote_address(shared_address(memory), side ? rank : high ? rank + 1 : rank - 1) +
               (unsigned)(word * sizeof(REAL));
#endif
    return e;
}

extern "C" __global__ void
#if NUM_ZB > 1
    __cluster_dims__(NUM_ZB, 1, 1)
#endif
        __launch_bounds__(THREADS, 1) fd_diamond(const __grid_constant__ diamond_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int ticket;
    int rank = 0;
#if NUM_ZB > 1
    rank = cluster_rank();
#endif
    const int thread = threadIdx.x, z0 = rank * ZB, count = a.nz - z0 < ZB ? a.nz - z0 : ZB;
    const bool has_cell = thread < count;
    place t;
    t.z = has_cell ? z0 + thread : a.nz + M;
    t.own = (REAL *)memory + (has_cell ? M + thread : ZB + 2 * M);
    t.tips = t.own + 2 * SLOTS * PITCH;
    t.gz = LAYER && has_cell ? ((const REAL *)a.gz)[t.z] : (REAL)1;
    struct end low = end_of(a, 0, rank, thread, count), high = end_of(a, 1, rank, thread, count);
    bool at_low = low.ghost || low.fetch, at_high = high.ghost || high.fetch;
    t.end = at_low ? low : high;
    t.other = high;
    if (!at_low || !at_high)
        t.other.ghost = t.other.image = t.other.fetch = false;
    t.edge = __ballot_sync(0xffffffffu, at_low || at_high) != 0;
    t.both = __ballot_sync(0xffffffffu, at_low && at_high) != 0;

    for (;;) {
        wait_block(); /* shared memory is free */
        if (thread == 0 && rank == 0) {
            int drawn = atomicAdd(a.ticket, 1);
            ticket = drawn;
#if NUM_ZB > 1
            for (int r = 1; r < NUM_ZB; r++)
                store_remote(remote_address(shared_address(&ticket), r), drawn);
#endif
        }
        wait_block();
        const int index = ticket;
        if (index >= a.num_tower)
            break;
        int n, end;
        if (!tower_range(a, index, t, n, end)) {
            if (thread == 0 && rank == 0)
                store_release(a.progress + index, DONE);
            continue;
        }
        const int tile = t.y / HALF + 1;
        REAL *level[2] = {t.own, t.own + SLOTS * PITCH};
        t.x += M * n;
        long long at = (long long)t.x * STRIDE_X + (long long)t.y * STRIDE_Y + t.z;
        int follow = n;
        if (thread == 0)
            wait_right(a, index, n + LAG < a.num_level ? n + LAG : a.num_level);
        __syncthreads();
        load_tower(a, t, n, at, level[0], level[1]);

        tile_registers d, o;
        load_registers(d, level[0]);
        load_registers(o, level[1]);
        bool reload = false, keep;
        int mark = 0;

/* Level n -> n + 1: the halo is here, the block meets, images, recorded cells, then the tile. A macro, because
 * the two levels take turns and their registers and slots must be known when this is compiled. */
#define TIER(CUR, D, O)                                                                                            \
    {                                                                                                              \
        REAL *cur = level[CUR], *old = level[1 - CUR];                                                             \
        bool far = outside(a, t);                                                                                  \
        if (n - follow == LAG) {                                                                                   \
            follow = n;                                                                                            \
            if (thread == 0)                                                                                       \
                wait_right(a, index, n + LAG < a.num_level ? n + LAG : a.num_level);                               \
        }                                                                                                          \
        if (far)                                                                                                   \
            copy_wait<0>();                                                                                        \
        else                                                                                                       \
            copy_wait<(SPLIT + M < ROWS ? ROWS - SPLIT - M : 0) + 1>();                                                \
        wait_block();                                                                                              \
        if (follow == n && thread == 0 && rank == 0)                                                               \
            store_release(a.progress + index, n);                                                                  \
        if ((mark & MARK_CELL) && a.every && n >= a.due && (n - a.due) % a.every == 0)                             \
            record_cells(a, t, (const REAL *)memory + (cur - t.own), z0, count, n);                                \
        if (far)                                                                                                   \
            put_mirror(a, t, cur);                                                                                 \
        if (far || reload)                                                                                         \
            load_registers(D, cur);                                                                                \
        mark = a.mark ? a.mark[tile * (a.nx + 2 * HALF) + t.x + M + HALF] : 0;                                     \
        at += (long long)M * STRIDE_X;                                                                             \
        REAL *to = (REAL *)a.p[n & 1] + at;                                                                        \
        const REAL *k = VARIABLE ? (const REAL *)a.k + at : (const REAL *)0;                                       \
        keep = n + 1 < end;                                                                                        \
        bool layered = LAYER && (t.x + M - HALF < a.layer[0][0] || t.x + M + HALF > a.layer[0][1] ||               \
                                 t.y < a.layer[1][0] || t.y + ROWS > a.layer[1][1]);                               \
        if (LAYER && layered)                                                                                      \
            tier<LAYER>(a, t, cur, old, to, k, D, O);                                                        \
        else                                                                                                       \
            tier<false>(a, t, cur, old, to, k, D, O);                                                        \
        t.x += M;                                                                                                  \
        n++;                                                                                                       \
        reload = mark & MARK_SOURCE;                                                                               \
        if (reload)                                                                                                \
            add_sources(a, t, old, to, n);                                                                         \
    }
        for (;;) {
            TIER(0, d, o)
            if (!keep)
                break;
            TIER(1, o, d)
            if (!keep) {
                REAL *swap = level[0];
                level[0] = level[1], level[1] = swap;
                break;
            }
        }
        /* now level[1] holds level n, level[0] holds n - 1 */
        if (end == a.num_level) {
            store_tower(a, t, level[1], (REAL *)a.p[(n + 1) & 1] + at);
            store_tower(a, t, level[0], (REAL *)a.p[n & 1] + at - (long long)M * STRIDE_X);
        }
        copy_wait<0>();
        wait_block();
        if ((mark & MARK_CELL) && a.every && n >= a.due && (n - a.due) % a.every == 0)
            record_cells(a, t, (const REAL *)memory + (level[1] - t.own), z0, count, n);
        if (thread == 0 && rank == 0)
            store_release(a.progress + index, DONE);
    }
}

/* Which tiles hold sources or recorded cells: byte [y / HALF][x + HALF] of a tile of new values whose column 0
 * is x and whose row 0 is HALF (y / HALF - 1). */
extern "C" __global__ void fd_diamond_mark(const __grid_constant__ diamond_args a)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) - HALF, tile = blockIdx.y, mark = 0;
    if (x >= a.nx + HALF)
        return;
    for (int j = 0; j < ROWS; j++)
        for (int c = -half_of(j); c < half_of(j); c++) {
            int y = (tile - 1) * HALF + j;
            if (x + c < 0 || x + c >= a.nx || y < 0 || y >= a.ny)
                continue;
            long long column = (long long)(x + c) * a.ny + y;
            if (a.source_first && a.source_first[column] < a.source_first[column + 1])
                mark |= MARK_SOURCE;
            if (a.cell_first && a.cell_first[column] < a.cell_first[column + 1])
                mark |= MARK_CELL;
        }
    ((unsigned char *)a.mark)[(long long)tile * (a.nx + 2 * HALF) + x + HALF] = (unsigned char)mark;
}
