/* diamond_tile.h: the tile of diamond.cu: rows and columns, slots in shared memory, loops over them that are
 * unrolled. Next: diamond_ghosts.h, diamond_rare.h. */
#define DEVICE       static __device__ __forceinline__
#define FMA(a, b, c) fma(a, b, c)
#include "common/each.h"
#include "physics/scalar.h"

enum {
    M = ORDER / 2,
    HALF = STEP * DTS,
    ROWS = STEP * (2 * DTS - 1),
    THREADS = (ZB + 31) / 32 * 32,
    PITCH = (ZB + 31) / 32 * 32 + 2 * M, /* a word per thread, and ghosts on both sides of those with cells */
    SLOTS = 2 * HALF * HALF + M * ROWS,
    LAG = 16,          /* levels, at least, between two looks at the towers ahead */
    FAR_LAG = 4 * LAG, /* the same, that towers of other devices are told */
    K_AHEAD = 3,       /* rows */
    MARK_SOURCE = 1,
    MARK_CELL = 2,
    DONE = 0x7fffffff
};
static_assert(2 * STEP >= M, "rows of fewer than M columns");
static_assert(UNROLL == 2 || !OLD, "level n - 1 is in the registers that a lone copy of the code overwrites");
static_assert(M % STEP == 0, "steeper edges than M columns in M rows need levels that are gone");

/* ---- the tile ---- */
DEVICE constexpr int half_of(int j)
{
    int u = j / STEP - (DTS - 1);
    return STEP * (DTS - (u < 0 ? -u : u));
}
DEVICE constexpr int cells_before(int j)
{
    int num = 0;
    for (int i = 0; i < j; i++)
        num += 2 * half_of(i);
    return num;
}
DEVICE constexpr int middle_row()
{
    int j = 0;
    while (2 * cells_before(j + 1) <= cells_before(ROWS))
        j++;
    return j;
}
/* Rows of a tower at a cut that a neighbour needs: planes are [cut - HALF - M, cut - STEP) for the one above, whose tower
 * is the last one, at cut - 2 HALF, and [cut - HALF, cut - STEP + M) for the one below. */
DEVICE constexpr bool goes_up(int j)
{
    return j >= HALF - M;
}
DEVICE constexpr bool goes_down(int j)
{
    return j < HALF - STEP + M;
}
/* Rows before the second barrier of a level. Halos of later rows may arrive late: half of the rows; where
 * z is split, as many cells before as after it, so that both parts of the ghosts have the same time to
 * arrive. */
enum { SPLIT = NUM_ZB == 1 ? (ROWS - M + 1) / 2 : middle_row() };
/* Rows -M .. -1 and ROWS .. ROWS + M - 1, the tips, are only read: as wide as any row within M. */
DEVICE constexpr int tip_half(int j)
{
    int near = (j < 0 ? j : ROWS - 1 - j) + M;
    return near > STEP * (DTS - 1) ? HALF : half_of(near);
}
DEVICE constexpr bool in_body(int j)
{
    return j >= 0 && j < ROWS;
}
DEVICE constexpr int first_of(int j)
{
    return in_body(j) ? -half_of(j) : M - tip_half(j);
}
DEVICE constexpr int last_of(int j)
{
    return in_body(j) ? half_of(j) + 2 * M : M + tip_half(j);
}
DEVICE constexpr int units_before(int u)
{
    int left = 2 * DTS - 1 - u;
    return u <= DTS ? u * (u + 1) / 2 : DTS * DTS - left * (left + 1) / 2;
}
DEVICE constexpr int tip_cells(int first, int j)
{
    int n = 0;
    for (int i = first; i < j; i++)
        n += 2 * tip_half(i);
    return n;
}
enum { TIPS = 2 * tip_cells(-M, 0), SHARED = (2 * SLOTS + TIPS + M * ROWS) * PITCH };
/* The first M columns of a row are read by no other z, and never as level n - 1: one level of them is enough. */
DEVICE constexpr bool is_left(int j, int c)
{
    return c < M - half_of(j);
}

DEVICE constexpr int slot_of(int j, int c)
{
    return 2 * STEP * STEP * units_before(j / STEP) + j % STEP * 2 * half_of(j) + M * j + c + half_of(j) - M;
}
DEVICE constexpr int tip_slot(int j, int c)
{
    return (j < 0 ? tip_cells(-M, j) : TIPS / 2 + tip_cells(ROWS, j)) + c + tip_half(j) - M;
}

/* Along an axis; m = 0: the centre. */
DEVICE REAL weight(const diamond_args &a, int axis, int m)
{
    const int i = axis * (M + 1) + m;
    return sizeof(REAL) == 4 ? (REAL)a.w_float[i] : (REAL)a.w[i];
}
