/* diamond.cu: many steps of the scalar wave equation at once (DiamondTorre, Levchenko et al. 2016).
 *
 * Column c of a tower at level n is x = X + M n + c: the tower walks M cells to the right a step, so that
 *     new(c) = stencil of level n at c .. c + 2M, the rows beside at c + M, and level n - 1 at c + 2M
 * never looks left. A tile of rows |u| < DTS (in units of STEP rows), 2 STEP (DTS - |u|) columns wide, then
 * depends on the towers to its right alone and cells that leave a tile leave it for good: two levels in
 * memory suffice. Towers of one stage stand 2 HALF apart in y; the next stage is HALF further left and HALF
 * aside. Words a cell and step: loads and stores 2M ROWS each, and the tips, over 2 HALF^2 cells.
 *
 * A block is a tile times ZB cells along z; NUM_ZB blocks, a cluster, span nz. A thread owns V neighbouring z;
 * GROUPS = 2 threads share them, one from the first row inwards, the other from the last. Shared memory holds two
 * levels of the tile and its halo: [slot][z], a slot for each row and column. New values replace level n - 1 a
 * slot of 2M columns lower, values of level n stay in registers for the next tier. A tier has two parts: each
 * reads, computes, and only then stores what it made and asks for the halo of the next level, by asynchronous
 * copies into slots of level n - 1 that it has used. So a halo has at least half a tier to arrive.
 *
 * Everything rare goes through shared memory by loops over slots of a thread's own z: images behind sides,
 * sources. Cells outside the grid are computed like all others, and written to the padding: they are
 * overwritten by images before a cell inside can see them.
 *
 * Blocks draw towers by tickets in an order in which every tower comes after those that it needs, and follow
 * their progress, LAG levels at a time.
 *
 * Defines: REAL, ORDER, DTS, STEP (a divisor of ORDER / 2), STRIDE_X, STRIDE_Y (words), ZB, NUM_ZB,
 * VARIABLE (c), LAYER, V, GROUPS, UNROLL (tiers in a turn of the loop). */
#if !defined(REAL) || !defined(ORDER) || !defined(DTS) || !defined(STEP) || !defined(ZB)
#error "diamond.cu needs REAL, ORDER, DTS, STEP, STRIDE_X, STRIDE_Y, ZB, NUM_ZB, VARIABLE, LAYER, V, GROUPS, UNROLL"
#endif
#include "fd/async.h"
#include "fd/diamond_args.h"

enum {
    M = ORDER / 2,
    HALF = STEP * DTS,
    ROWS = STEP * (2 * DTS - 1),
    WARPS = (ZB / V + 31) / 32, /* of a group */
    THREADS = 32 * WARPS * GROUPS,
    LEAD = (M + V - 1) / V * V, /* words before the first cell: ghosts */
    PITCH = ZB + 2 * LEAD + V,  /* and words for threads without a cell */
    SLOTS = 2 * HALF * HALF + 2 * M * ROWS,
    CUT = GROUPS == 1 ? ROWS : (ROWS + 1) / 2, /* rows of the first group */
    LAG = 16,
    MARK_SOURCE = 1,
    MARK_CELL = 2,
    DONE = 0x7fffffff
};
static_assert(M % STEP == 0, "steeper edges than M columns in M rows need levels that are gone");
static_assert(DTS > 1 && ZB % V == 0, "");

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

struct __align__(V * sizeof(REAL)) vec {
    REAL e[V];
};
static __device__ __forceinline__ vec load(const REAL *p) { return *(const vec *)p; }
static __device__ __forceinline__ void store(REAL *p, const vec &v) { *(vec *)p = v; }
static __device__ __forceinline__ void copy_vec(REAL *to, const REAL *from)
{
    copy_async((vec *)to, (const vec *)from);
}

/* What a cell does for one end of its block along z: its word is copied to a ghost, an image behind a side of
 * the grid or a cell that the neighbour in the cluster sees. */
struct end {
    bool ghost, image;  /* it has a ghost; the same in memory */
    bool fetch;         /* its thread asks for a ghost of the halo */
    int delta;          /* from its own word to the ghost */
    int next;           /* and to the ghost of the halo: -M or M */
    unsigned remote;    /* ghost of its word of level n0, slot 0, in the cluster */
    REAL sign;
};
/* What a thread knows of its z, and of its tower. */
struct place {
    REAL *own;     /* its words of slot 0 of level n0 */
    REAL *tips;
    int z;         /* of the first; threads without a cell: in the padding */
    int group;
    bool edge;     /* some thread of this warp works for an end ... */
    bool both;     /* ... or for both */
    struct end end[V], other[V];
    vec gz;
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

/* Groups meet at different lines. */
static __device__ __forceinline__ void wait_part()
{
#ifdef UNDA_EMULATOR
    __syncthreads(0);
#else
    asm volatile("barrier.sync.aligned 0;" ::: "memory");
#endif
}
static __device__ __forceinline__ void wait_block()
{
#if NUM_ZB > 1
    cluster_arrive();
    cluster_wait();
#else
    wait_part();
#endif
}

/* Asks for the cells of the tips at `from`, the memory of their level at column 0 of row 0. */
template <int FIRST> static __device__ __forceinline__ void fetch_tips(const place &t, const REAL *from)
{
    each<FIRST, FIRST + M>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<first_of(j), last_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            copy_vec(t.tips + tip_slot(j, c) * PITCH, from + (long long)c * STRIDE_X + j * STRIDE_Y);
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
static __device__ __forceinline__ void mirror(const place &t, REAL *level, int j, int to, int from_row, int from, REAL sign)
{
    vec v = load(cell_of(t, level, from_row, from));
#pragma unroll
    for (int e = 0; e < V; e++)
        v.e[e] = mul(sign, v.e[e]);
    store(cell_of(t, level, j, to), v);
}
/* Two threads of the same z may write the same images of rows: the same values. */
static __device__ __noinline__ void put_mirror(const diamond_args &a, place t, REAL *level)
{
    for (int side = 0; side < 2; side++) {
        int wall = (side ? a.nx - 1 : 0) - t.x, out = side ? 1 : -1;
        if (wall + M >= -HALF && wall - M < HALF + 2 * M)
            for (int j = t.group * CUT; j < (t.group || GROUPS == 1 ? ROWS : CUT); j++)
                for (int m = 1; m <= M; m++) {
                    int ghost = wall + out * m, from = wall - out * m;
                    if (ghost >= first_of(j) && ghost < last_of(j) && from >= first_of(j) && from < last_of(j))
                        mirror(t, level, j, ghost, j, from, (REAL)a.sign[0][side]);
                }
        wall = (side ? a.ny - 1 : 0) - t.y;
        for (int m = 1; m <= M; m++) {
            int ghost = wall + out * m, from = wall - out * m;
            if (ghost < -M || ghost >= ROWS + M || from < -M || from >= ROWS + M)
                continue;
            int c0 = first_of(ghost), c1 = last_of(ghost), d0 = first_of(from), d1 = last_of(from);
            for (int c = c0 > d0 ? c0 : d0; c < (c1 < d1 ? c1 : d1); c++)
                mirror(t, level, ghost, c, from, c, (REAL)a.sign[1][side]);
        }
    }
}

/* ---- sources and records, in the level that was made ---- */
static __device__ __noinline__ void add_sources(const diamond_args &a, place t, REAL *level, REAL *to,
                                                int produced)
{
    const REAL *amplitude = (const REAL *)a.amplitude + (long long)(produced - 1) * a.num_source;
    for (int j = t.group * CUT; j < (t.group || GROUPS == 1 ? ROWS : CUT); j++)
        for (int c = -half_of(j); c < half_of(j); c++) {
            int x = t.x + c, y = t.y + j;
            if (x < 0 || x >= a.nx || y < 0 || y >= a.ny)
                continue;
            long long column = (long long)x * a.ny + y;
            for (int i = a.source_first[column]; i < a.source_first[column + 1]; i++)
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (a.source_z[i] == t.z + e) {
                        REAL *cell = level + slot_of(j, c) * PITCH + e;
                        REAL *far = to + (long long)c * STRIDE_X + j * STRIDE_Y + e;
                        REAL v = madd(((const REAL *)a.source_w)[i], amplitude[a.source_id[i]], *cell);
                        *cell = v;
                        put_ghost(t, t.end[e], level, slot_of(j, c), v);
                        put_ghost(t, t.other[e], level, slot_of(j, c), v);
                        if (c < 2 * M - half_of(j)) {
                            *far = v;
                            put_image(t.end[e], far - e, v);
                            put_image(t.other[e], far - e, v);
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
                        out[a.cell_id[i]] = level[slot_of(j, c0 + l) * PITCH + LEAD + z];
                }
            }
        }
}

/* The other end, where a thread works for both: rows as made. */
static __device__ __noinline__ void put_other(place t, REAL *level, REAL *to, int row0, int row1, int copy0, int copy1)
{
    for (int r = row0 < copy0 ? row0 : copy0; r < (row1 > copy1 ? row1 : copy1); r++) {
        int j = t.group ? ROWS - 1 - r : r;
        for (int c = -half_of(j); c < half_of(j) + 2 * M; c++)
#pragma unroll
            for (int e = 0; e < V; e++) {
                REAL *cell = level + slot_of(j, c) * PITCH, *far = to + (long long)c * STRIDE_X + j * STRIDE_Y;
                if (c >= half_of(j) && r >= copy0 && r < copy1)
                    fetch_ghost(t.other[e], cell, far);
                if (c >= half_of(j) || r < row0 || r >= row1)
                    continue;
                put_ghost(t, t.other[e], level, slot_of(j, c), cell[e]);
                if (c < 2 * M - half_of(j))
                    put_image(t.other[e], far, cell[e]);
            }
    }
}

/* ---- one tier ---- */
/* Row r of a group, counted inwards; rows from NUM on are the other group's. */
template <int GROUP> struct rows {
    static constexpr int NUM = GROUP ? ROWS - CUT : CUT;
    static constexpr int FIRST = GROUPS == 1 ? ROWS / 2 : NUM * 7 / 10;             /* rows of the first part */
    static constexpr int EARLY = FIRST + M < NUM ? FIRST + M : NUM; /* their halo is asked for in the first part */
    static __device__ __forceinline__ constexpr int at(int r) { return GROUP ? ROWS - 1 - r : r; }
    typedef vec registers[NUM][2 * HALF];
    static_assert(GROUPS == 1 || NUM - 1 + M < ROWS, "a group may need the tips on its own side only");
    /* half the columns of row r >= NUM that rows below it look at */
    static __device__ __forceinline__ constexpr int seen(int r)
    {
        int w = 0;
        for (int i = r - M; i < NUM; i++)
            w = half_of(at(i)) > w ? half_of(at(i)) : w;
        return w;
    }
};

template <int GROUP>
static __device__ __forceinline__ void load_registers(typename rows<GROUP>::registers &d, const REAL *level)
{
    each<0, rows<GROUP>::NUM>([&](auto row) {
        constexpr int r = decltype(row)::value, j = rows<GROUP>::at(r);
        each<-half_of(j), half_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            d[r][c + HALF] = load(level + slot_of(j, c) * PITCH);
        });
    });
}

/* Stores rows R0 .. R1 - 1 as made, asks for the halo of rows C0 .. C1 - 1 and serves the ends of the block. */
template <int GROUP, int R0, int R1, int C0, int C1>
static __device__ __forceinline__ void flush(const place &t, REAL *level, REAL *to, typename rows<GROUP>::registers &o)
{
    each<C0, C1>([&](auto row) {
        constexpr int j = rows<GROUP>::at(decltype(row)::value), half = half_of(j);
        each<half, half + 2 * M>([&](auto column) {
            constexpr int c = decltype(column)::value;
            copy_vec(level + slot_of(j, c) * PITCH, to + (long long)c * STRIDE_X + j * STRIDE_Y);
        });
    });
    if constexpr (R0 == 0)
        fetch_tips<GROUP ? ROWS : -M>(t, to);
    if constexpr (R0 > 0 && GROUPS == 1)
        fetch_tips<ROWS>(t, to);
    each<R0, R1>([&](auto row) {
        constexpr int r = decltype(row)::value, j = rows<GROUP>::at(r), half = half_of(j);
        each<-half, half>([&](auto column) {
            constexpr int c = decltype(column)::value;
            store(level + slot_of(j, c) * PITCH, o[r][c + HALF]);
            if constexpr (c < 2 * M - half)
                store(to + (long long)c * STRIDE_X + j * STRIDE_Y, o[r][c + HALF]);
        });
    });
    if (t.edge) {
        each<0, V>([&](auto element) {
            constexpr int e = decltype(element)::value;
            each<C0, C1>([&](auto row) {
                constexpr int j = rows<GROUP>::at(decltype(row)::value), half = half_of(j);
                each<half, half + 2 * M>([&](auto column) {
                    constexpr int c = decltype(column)::value;
                    fetch_ghost(t.end[e], level + slot_of(j, c) * PITCH, to + (long long)c * STRIDE_X + j * STRIDE_Y);
                });
            });
            each<R0, R1>([&](auto row) {
                constexpr int r = decltype(row)::value, j = rows<GROUP>::at(r), half = half_of(j);
                each<-half, half>([&](auto column) {
                    constexpr int c = decltype(column)::value;
                    put_ghost(t, t.end[e], level, slot_of(j, c), o[r][c + HALF].e[e]);
                    if constexpr (c < 2 * M - half)
                        put_image(t.end[e], to + (long long)c * STRIDE_X + j * STRIDE_Y, o[r][c + HALF].e[e]);
                });
            });
        });
        if (t.both)
            put_other(t, level, to, R0, R1, C0, C1);
    }
    copy_commit();
}

/* Cells z - M .. z + M + V - 1 around a thread's own: w[M + i]. */
static __device__ __forceinline__ void load_window(REAL (&w)[2 * M + V], const REAL *centre, const vec &own)
{
#pragma unroll
    for (int e = 0; e < V; e++)
        w[M + e] = own.e[e];
#pragma unroll
    for (int i = 1; i <= M; i++) {
        if (V == 2 && i + 1 <= M && i % 2 == 1) {
            vec low = load(centre - i - 1), high = load(centre + V - 1 + i);
#pragma unroll
            for (int e = 0; e < V; e++)
                w[M - i - 1 + e] = low.e[e], w[M + V - 1 + i + e] = high.e[e];
        } else if (V == 1 || i % 2 == 1) {
            w[M - i] = centre[-i];
            w[M + V - 1 + i] = centre[V - 1 + i];
        }
    }
}

/* Makes level n + 1 of a group's rows. d: level n in registers; o: what was made. cur, old: the levels in shared
 * memory; to: memory of level n + 1 at column 0 of row 0. */
template <int GROUP, bool LAYERED>
static __device__ __forceinline__ void tier(const diamond_args &a, const place &t, REAL *cur, REAL *old, REAL *to,
                                            const REAL *k, typename rows<GROUP>::registers &d,
                                            typename rows<GROUP>::registers &o)
{
    typedef rows<GROUP> my;
    constexpr int NUM = my::NUM, FIRST = my::FIRST, EARLY = my::EARLY;
    vec h[NUM + 2 * M][2 * HALF + 2 * M]; /* level n: h[row + M][column + HALF] */
    vec early[M][2 * M];                  /* halo of level n - 1 of rows FIRST .. EARLY - 1 */

    auto fetch = [&](auto row) {
        constexpr int r = decltype(row)::value, j = my::at(r);
        constexpr bool other = r >= NUM && in_body(j);
        each<(other ? M - my::seen(r) : first_of(j)), (other ? M + my::seen(r) : last_of(j))>([&](auto column) {
            constexpr int c = decltype(column)::value;
            if constexpr (!in_body(j))
                h[r + M][c + HALF] = load(t.tips + tip_slot(j, c) * PITCH);
            else if constexpr (r < NUM && c < half_of(j))
                h[r + M][c + HALF] = d[r][c + HALF];
            else
                h[r + M][c + HALF] = load(cur + slot_of(j, c) * PITCH);
        });
    };
    auto make = [&](auto row) {
        constexpr int r = decltype(row)::value, j = my::at(r), half = half_of(j);
        REAL gy = 1;
        if (LAYERED)
            gy = ((const REAL *)a.gy)[t.y + j];
        each<-half, half>([&](auto column) {
            constexpr int c = decltype(column)::value, i = c + M + HALF; /* of the cell itself */
            vec before;
            if constexpr (r >= FIRST && r < EARLY && c + 2 * M >= half)
                before = early[r - FIRST][c + 2 * M - half];
            else
                before = load(old + slot_of(j, c + 2 * M) * PITCH);
            REAL w[2 * M + V];
            load_window(w, cur + slot_of(j, c + M) * PITCH, h[r + M][i]);
#pragma unroll
            for (int e = 0; e < V; e++) {
                REAL p = h[r + M][i].e[e], acc = mul(weight(a, 0), p), v;
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, m), add(h[r + M][i + m].e[e], h[r + M][i - m].e[e]), acc);
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, M + m), add(h[r + M + m][i].e[e], h[r + M - m][i].e[e]), acc);
#pragma unroll
                for (int m = 1; m <= M; m++)
                    acc = madd(weight(a, 2 * M + m), add(w[M + e + m], w[M + e - m]), acc);
#if VARIABLE
                acc = madd(k[(long long)c * STRIDE_X + j * STRIDE_Y + e], acc, add(p, p));
#endif
                if (LAYERED) {
                    REAL g = mul(mul(((const REAL *)a.gx)[t.x + M + c], gy), t.gz.e[e]);
                    v = mul(g, madd(-g, before.e[e], acc));
                } else if (LAYER)
                    v = mul(t.gz.e[e], madd(-t.gz.e[e], before.e[e], acc));
                else
                    v = add(acc, -before.e[e]);
                o[r][c + HALF].e[e] = v;
            }
        });
    };

    each<-M, M>(fetch);
    each<0, FIRST>([&](auto row) {
        fetch(number<decltype(row)::value + M>());
        make(row);
    });
    each<FIRST, EARLY>([&](auto row) {
        constexpr int r = decltype(row)::value, j = my::at(r);
        each<0, 2 * M>([&](auto column) {
            constexpr int c = decltype(column)::value;
            early[r - FIRST][c] = load(old + slot_of(j, half_of(j) + c) * PITCH);
        });
    });
    flush<GROUP, 0, FIRST, 0, EARLY>(t, old, to, o);
    copy_wait<1>();
    wait_part();
    each<FIRST, NUM>([&](auto row) {
        fetch(number<decltype(row)::value + M>());
        make(row);
    });
    flush<GROUP, FIRST, NUM, EARLY, NUM>(t, old, to, o);
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
    for (int r = -M; r < (GROUPS == 1 ? ROWS + M : t.group ? ROWS - CUT : CUT); r++) {
        int j = t.group ? ROWS - 1 - r : r;
        for (int c = first_of(j); c < last_of(j); c++) {
            long long far = (long long)c * STRIDE_X + j * STRIDE_Y;
            REAL *cell = cell_of(t, cur, j, c);
            copy_vec(cell, now + far);
            if (!in_body(j))
                continue;
#pragma unroll
            for (int e = 0; e < V; e++) {
                fetch_ghost(t.end[e], cell, now + far);
                fetch_ghost(t.other[e], cell, now + far);
            }
            /* column c of level n is column c + M of level n - 1 */
            if (c + M >= first_of(j) + 2 * M && c + M < last_of(j))
                copy_vec(cell_of(t, old, j, c + M), before + far);
        }
    }
    copy_commit();
    copy_wait<0>();
}
static __device__ __noinline__ void store_tower(const diamond_args &a, place t, const REAL *level, REAL *to)
{
    for (int j = t.group * CUT; j < (t.group || GROUPS == 1 ? ROWS : CUT); j++)
        for (int c = 2 * M - half_of(j); c < half_of(j); c++) {
            vec v = load(level + slot_of(j, c) * PITCH);
            REAL *far = to + (long long)c * STRIDE_X + j * STRIDE_Y;
            store(far, v);
#pragma unroll
            for (int e = 0; e < V; e++) {
                put_image(t.end[e], far, v.e[e]);
                put_image(t.other[e], far, v.e[e]);
            }
        }
}

/* Cell `cell` of a thread that owns cells from `first` on, and the low or high end of a block of `count` cells. */
static __device__ struct end end_of(const diamond_args &a, int high, int rank, int first, int cell, int count)
{
    int m = high ? count - 1 - cell : cell; /* cells away from the end */
    bool side = high ? rank * ZB + count == a.nz : rank == 0;
    struct end e;
    e.fetch = cell < count && m < M;
    e.image = cell < count && side && m >= 1 && m <= M;
    e.ghost = side ? e.image : e.fetch;
    e.delta = (high ? 2 * m : -2 * m) + cell - first;
    e.next = (high ? M : -M) + cell - first;
    e.sign = side ? (REAL)a.sign[2][high] : (REAL)1;
    e.remote = 0;
#if NUM_ZB > 1
    /* the image here, else beyond the far end of the neighbour, where this cell is its ghost */
    extern __shared__ __align__(16) unsigned char memory[];
    int word = side ? LEAD + first + e.delta : high ? LEAD - 1 - m : LEAD + ZB + m;
    e.remote = remote_address(shared_address(memory), side ? rank : high ? rank + 1 : rank - 1) +
               (unsigned)(word * sizeof(REAL));
#endif
    return e;
}

/* A block's life, for the threads of one group. */
template <int GROUP> static __device__ void run(const diamond_args &a, unsigned char *memory, int *ticket)
{
    int rank = 0;
#if NUM_ZB > 1
    rank = cluster_rank();
#endif
    const int first = (threadIdx.x - GROUP * WARPS * 32) * V, z0 = rank * ZB;
    const int count = a.nz - z0 < ZB ? a.nz - z0 : ZB;
    const bool speaker = threadIdx.x == WARPS / 2 * 32; /* a thread that has no end to serve, if possible */
    place t;
    t.group = GROUP;
    t.z = first < count ? z0 + first : (a.nz + M + V - 1) / V * V;
    t.own = (REAL *)memory + (first < count ? LEAD + first : ZB + 2 * LEAD);
    t.tips = t.own + 2 * SLOTS * PITCH;
    bool at_end[2] = {false, false};
#pragma unroll
    for (int e = 0; e < V; e++) {
        t.gz.e[e] = LAYER && first < count ? ((const REAL *)a.gz)[t.z + e] : (REAL)1;
        struct end low = end_of(a, 0, rank, first, first + e, count), high = end_of(a, 1, rank, first, first + e, count);
        bool at_low = low.ghost || low.fetch, at_high = high.ghost || high.fetch;
        t.end[e] = at_low ? low : high;
        t.other[e] = high;
        if (!at_low || !at_high)
            t.other[e].ghost = t.other[e].image = t.other[e].fetch = false;
        at_end[0] = at_end[0] || at_low || at_high;
        at_end[1] = at_end[1] || (at_low && at_high);
    }
    t.edge = __ballot_sync(0xffffffffu, at_end[0]) != 0;
    t.both = __ballot_sync(0xffffffffu, at_end[1]) != 0;

    for (;;) {
        wait_block(); /* shared memory is free */
        if (speaker && rank == 0) {
            int drawn = atomicAdd(a.ticket, 1);
            *ticket = drawn;
#if NUM_ZB > 1
            for (int r = 1; r < NUM_ZB; r++)
                store_remote(remote_address(shared_address(ticket), r), drawn);
#endif
        }
        wait_block();
        const int index = *ticket;
        if (index >= a.num_tower)
            break;
        int n, end;
        if (!tower_range(a, index, t, n, end)) {
            if (speaker && rank == 0)
                store_release(a.progress + index, DONE);
            continue;
        }
        const int tile = t.y / HALF + 1;
        REAL *cur = t.own, *old = t.own + SLOTS * PITCH;
        t.x += M * n;
        long long at = (long long)t.x * STRIDE_X + (long long)t.y * STRIDE_Y + t.z;
        int follow = n, mark = 0;
        bool reload = false;
        if (speaker)
            wait_right(a, index, n + LAG < a.num_level ? n + LAG : a.num_level);
        wait_part();
        load_tower(a, t, n, at, cur, old);
        typename rows<GROUP>::registers d, o;
        load_registers<GROUP>(d, cur);

        /* Level n -> n + 1: the halo is here, the block meets, recorded cells, images, then the tile. */
        auto step = [&](auto &now, auto &made) {
            bool far = outside(a, t);
            if (n - follow == LAG) {
                follow = n;
                if (speaker)
                    wait_right(a, index, n + LAG < a.num_level ? n + LAG : a.num_level);
            }
            if (far)
                copy_wait<0>();
            else
                copy_wait<1>();
            wait_block();
            if (follow == n && speaker && rank == 0)
                store_release(a.progress + index, n);
            if ((mark & MARK_CELL) && a.every && n >= a.due && (n - a.due) % a.every == 0)
                record_cells(a, t, (const REAL *)memory + (cur - t.own), z0, count, n);
            if (far)
                put_mirror(a, t, cur);
            if (far || reload)
                load_registers<GROUP>(now, cur);
            mark = a.mark ? a.mark[tile * (a.nx + 2 * HALF) + t.x + M + HALF] : 0;
            at += (long long)M * STRIDE_X;
            REAL *to = (REAL *)a.p[n & 1] + at;
            const REAL *k = VARIABLE ? (const REAL *)a.k + at : (const REAL *)0;
            bool layered = LAYER && (t.x + M - HALF < a.layer[0][0] || t.x + M + HALF > a.layer[0][1] ||
                                     t.y < a.layer[1][0] || t.y + ROWS > a.layer[1][1]);
            if (LAYER && layered)
                tier<GROUP, LAYER>(a, t, cur, old, to, k, now, made);
            else
                tier<GROUP, false>(a, t, cur, old, to, k, now, made);
            t.x += M;
            n++;
            reload = mark & MARK_SOURCE;
            if (reload)
                add_sources(a, t, old, to, n);
            REAL *swap = cur;
            cur = old, old = swap;
        };
        while (n < end) {
#if UNROLL == 1
            step(d, o);
            each<0, rows<GROUP>::NUM>([&](auto row) {
                constexpr int r = decltype(row)::value, half = half_of(rows<GROUP>::at(r));
                each<-half, half>([&](auto column) {
                    constexpr int c = decltype(column)::value;
                    d[r][c + HALF] = o[r][c + HALF];
                });
            });
#else
            step(d, o);
            if (n < end)
                step(o, d);
#endif
        }
        if (end == a.num_level) {
            store_tower(a, t, cur, (REAL *)a.p[(n + 1) & 1] + at);
            store_tower(a, t, old, (REAL *)a.p[n & 1] + at - (long long)M * STRIDE_X);
        }
        copy_wait<0>();
        wait_block();
        if ((mark & MARK_CELL) && a.every && n >= a.due && (n - a.due) % a.every == 0)
            record_cells(a, t, (const REAL *)memory + (cur - t.own), z0, count, n);
        if (speaker && rank == 0)
            store_release(a.progress + index, DONE);
    }
}

extern "C" __global__ void
#if NUM_ZB > 1
    __cluster_dims__(NUM_ZB, 1, 1)
#endif
        __launch_bounds__(THREADS, 1) fd_diamond(const __grid_constant__ diamond_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int ticket;
    if (GROUPS == 1 || threadIdx.x < WARPS * 32)
        run<0>(a, memory, &ticket);
    else
        run<GROUPS - 1>(a, memory, &ticket);
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
