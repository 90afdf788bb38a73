/* diamond_level.h: makes the next level of a tile in diamond.cu. A tile's cells are in registers, those around
 * them in shared memory. Functions are compiled for each row and chunk of cells: indices of registers must be
 * constants. Next: diamond_ghosts.h, diamond_tower.h. */

/* A word for each cell of the tile: [row][column + HALF]. */
typedef REAL tile_registers[ROWS][2 * HALF];
/* Level n of the tile and its surroundings: [row + M][column + HALF]. */
typedef REAL halo_registers[ROWS + 2 * M][2 * HALF + 2 * M];

DEVICE void load_registers(const place &t, tile_registers &d, REAL *level)
{
    each<0, ROWS>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<-half_of(j), half_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            d[j][c + HALF] = *cell_of(t, level, j, c);
        });
    });
}

/* From level n to n + 1. */
struct level_step {
    REAL *cur, *old; /* levels n and n - 1 in shared memory; n + 1 takes the place of n - 1 */
    REAL *to;        /* memory of level n + 1 at column 0 of row 0 */
    const REAL *k;   /* that of the factors */
    bool first;      /* ghosts of level n came with the tower */
    bool sends;      /* those of level n + 1 go from here: no sources come to them */
    REAL *far;       /* what `to` is in the memory of a slab that needs it, */
    bool sends_far;  /* if one does, */
    bool up;         /* the one above */
};

/* ---- factors k where c varies ---- */
#if VARIABLE == VARIABLE_CACHED
/* Of row J, asked for some rows ahead; the L2 cache keeps them while the tile passes. */
template <int J> DEVICE void fetch_factors(const REAL *k, tile_registers &kk)
{
    if constexpr (in_body(J))
        each<-half_of(J), half_of(J)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            kk[J][c + HALF] = __ldg(k + c * STRIDE_Y + (long long)J * STRIDE_X);
        });
}
#elif VARIABLE == VARIABLE_CARRIED
/* k: at column 0 of row 0. */
DEVICE void load_factors(const REAL *k, tile_registers &kk)
{
    each<0, ROWS>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<-half_of(j), half_of(j)>([&](auto column) {
            constexpr int c = decltype(column)::value;
            kk[j][c + HALF] = __ldg(k + (c + M) * STRIDE_Y + (long long)j * STRIDE_X);
        });
    });
}
/* What enters at the front for the next level. */
typedef REAL front_registers[ROWS][M];
DEVICE void fetch_front(const REAL *k, front_registers &entering)
{
    each<0, ROWS>([&](auto row) {
        constexpr int j = decltype(row)::value;
        each<0, M>([&](auto column) {
            constexpr int c = decltype(column)::value;
            entering[j][c] = __ldg(k + (half_of(j) + c) * STRIDE_Y + (long long)j * STRIDE_X);
        });
    });
}
/* Factors move with the cells: M columns back. */
DEVICE void move_factors(tile_registers &kk, const front_registers &entering)
{
    each<0, ROWS>([&](auto row) {
        constexpr int j = decltype(row)::value, half = half_of(j);
        each<-half, half>([&](auto column) {
            constexpr int c = decltype(column)::value;
            if constexpr (c + M < half)
                kk[j][c + HALF] = kk[j][c + M + HALF];
            else
                kk[j][c + HALF] = entering[j][c + M - half];
        });
    });
}
#endif

/* ---- the surroundings of a row ---- */
/* Level n of row J, from registers and shared memory. */
template <int J>
DEVICE void load_row(const place &t, const REAL *cur, const tile_registers &d, halo_registers &h)
{
    each<first_of(J), last_of(J)>([&](auto column) {
        constexpr int c = decltype(column)::value;
        if constexpr (!in_body(J))
            h[J + M][c + HALF] = t.tips[tip_slot(J, c) * PITCH];
        else if constexpr (c < half_of(J))
            h[J + M][c + HALF] = d[J][c + HALF];
        else
            h[J + M][c + HALF] = cur[slot_of(J, c) * PITCH];
    });
}
/* Asks for the halo of level n + 1 at row J, whose level n - 1 has been used: a group of copies. */
template <int J> DEVICE void fetch_row(const place &t, const level_step &s)
{
    each<half_of(J), half_of(J) + 2 * M>([&](auto column) {
        constexpr int c = decltype(column)::value;
        copy_async(s.old + slot_of(J, c) * PITCH, s.to + c * STRIDE_Y + (long long)J * STRIDE_X);
    });
    if constexpr (J == 0)
        fetch_tips<-M>(t, s.to);
    if constexpr (J == ROWS - 1)
        fetch_tips<ROWS>(t, s.to);
    copy_commit();
}
/* Before row J is made: ghosts along z; in the middle of a level the block meets. */
template <int J>
DEVICE void exchange_ghosts(const place &t, const level_step &s, packets<1> &second, packets<0> &early)
{
    if constexpr (J == SPLIT / 2)
        if (!s.first)
            ask_ghosts<1>(t, second, 0);
    if constexpr (J == (SPLIT + ROWS) / 2)
        ask_ghosts<0>(t, early, 1);
    if constexpr (J == SPLIT) {
        fetch_ghosts<0>(t, s.old, s.to);
        if (!s.first)
            wait_ghosts<1>(t, s.cur, second, 0);
        copy_wait<SPLIT + (NUM_ZB > 1)>();
        __syncthreads();
        if (s.sends)
            send_ghosts<0>(t, s.old, 1);
    }
}

/* ---- the cells of a row ---- */
/* Cells [C0, C1) of row J: L p, from neighbours along x, y, z, in that order. */
template <int J, int C0, int C1>
DEVICE void sum_neighbours(const diamond_args &a, const place &t, const halo_registers &h,
                           const REAL (&below)[CHUNK][M], const REAL (&above)[CHUNK][M], REAL (&acc)[CHUNK])
{
    each<0, 3 * M>([&](auto pair) {
        constexpr int axis = decltype(pair)::value / M, m = decltype(pair)::value % M + 1;
        constexpr int dx = axis == 0 ? m : 0, dy = axis == 1 ? m : 0;
        const REAL w = weight(a, axis, m);
        each<C0, C1>([&](auto column) {
            constexpr int c = decltype(column)::value, i = c + M + HALF;
            const REAL p = h[J + M][i];
            REAL &sum = acc[c - C0];
            if constexpr (axis == 2) {
                const REAL low = below[c - C0][m - 1], high = above[c - C0][m - 1];
                sum = m > 1 ? scalar_pair_image(w, t.sign[m - 1], low, high, sum)
                            : scalar_first_image(w, t.sign[m - 1], low, high, p, sum);
            } else {
                const REAL low = h[J + M - dx][i - dy], high = h[J + M + dx][i + dy];
                sum = m > 1 ? scalar_pair(w, low, high, sum) : scalar_first(w, low, high, p, sum);
            }
            if (m == 1 && M > 1)
                sum = scalar_center(weight(a, axis, 0), p, sum);
        });
    });
}
/* The layers' factor of a cell (with LAYER); gx: that of the row. */
template <bool LAYERED> DEVICE REAL damping(const diamond_args &a, const place &t, int c, REAL gx)
{
    return LAYERED ? gx * __ldg((const REAL *)a.gy + t.y + M + c) * t.gz : t.gz;
}
/* The next level of a cell from L p; p: level n, last: level n - 1, g: the layers' factor, k: the cell's where c
 * varies. */
DEVICE REAL next_level(REAL k, REAL p, REAL last, REAL g, REAL sum)
{
    if (VARIABLE)
        sum = LAYER ? scalar_split_damped(k, sum, p, last, g) : scalar_split(k, sum, p, last);
    else
        sum = LAYER ? scalar_change_damped(sum, p, last, g) : scalar_change(sum, p, last);
    return LAYER ? scalar_advance_damped(p, sum, g) : scalar_advance(p, sum);
}
/* Cells [C0, C1) of row J side by side: their chains of operations hide each other's latency. o: level n + 1
 * (OLD: level n - 1 before). */
template <bool LAYERED, int J, int C0, int C1>
DEVICE void make_cells(const diamond_args &a, const place &t, const level_step &s, REAL gx,
                       const tile_registers &kk, const halo_registers &h, tile_registers &o)
{
    constexpr int half = half_of(J);
    REAL acc[CHUNK], before[CHUNK], below[CHUNK][M], above[CHUNK][M];
    each<C0, C1>([&](auto column) {
        constexpr int c = decltype(column)::value;
        const REAL *centre = s.cur + slot_of(J, c + M) * PITCH;
#pragma unroll
        for (int m = 0; m < M; m++) {
            below[c - C0][m] = centre[t.below[m]];
            above[c - C0][m] = centre[t.above[m]];
        }
        before[c - C0] = OLD && c + 2 * M < half ? o[J][c + (c + 2 * M < half) * 2 * M + HALF]
                                                 : s.old[slot_of(J, c + 2 * M) * PITCH];
    });
    each<C0, C1>([&](auto column) { acc[decltype(column)::value - C0] = 0; });
    sum_neighbours<J, C0, C1>(a, t, h, below, above, acc);
    each<C0, C1>([&](auto column) {
        constexpr int c = decltype(column)::value;
        REAL v = next_level(VARIABLE ? kk[J][c + HALF] : (REAL)1, h[J + M][c + M + HALF], before[c - C0],
                            LAYER ? damping<LAYERED>(a, t, c, gx) : 1, acc[c - C0]);
        o[J][c + HALF] = v;
        *cell_of(t, s.old, J, c) = v;
        if constexpr (c < 2 * M - half) {
            s.to[c * STRIDE_Y + (long long)J * STRIDE_X] = v;
            if (FAR && s.sends_far && ((goes_down(J) && goes_up(J)) || (s.up ? goes_up(J) : goes_down(J))))
                s.far[c * STRIDE_Y + (long long)J * STRIDE_X] = v;
        }
    });
}
template <bool LAYERED, int J>
DEVICE void make_row(const diamond_args &a, const place &t, const level_step &s, tile_registers &kk,
                     const halo_registers &h, tile_registers &o)
{
    constexpr int half = half_of(J);
#if VARIABLE == VARIABLE_CACHED
    fetch_factors<J + K_AHEAD>(s.k, kk);
#endif
    REAL gx = LAYERED ? ((const REAL *)a.gx)[t.x + J] : (REAL)1;
    each<0, (2 * half + CHUNK - 1) / CHUNK>([&](auto chunk) {
        constexpr int c0 = -half + decltype(chunk)::value * CHUNK, c1 = c0 + CHUNK < half ? c0 + CHUNK : half;
        make_cells<LAYERED, J, c0, c1>(a, t, s, gx, kk, h, o);
    });
}

/* Makes level n + 1 of the tile. d: level n in registers; o: what it becomes (OLD: level n - 1 before);
 * early: the first part of the ghosts of level n + 1, asked for. Groups of copies: a row each, in the middle
 * and at the end those of fetch_ghosts. */
template <bool LAYERED>
DEVICE void advance_level(const diamond_args &a, const place &t, const level_step &s, tile_registers &kk,
                          const tile_registers &d, tile_registers &o, packets<0> &early)
{
    packets<1> second;
    halo_registers h;
#if VARIABLE == VARIABLE_CACHED
    each<0, K_AHEAD>([&](auto row) { fetch_factors<decltype(row)::value>(s.k, kk); });
#elif VARIABLE == VARIABLE_CARRIED
    front_registers entering;
    fetch_front(s.k, entering);
#endif
    each<-M, ROWS + M>([&](auto row) {
        constexpr int next = decltype(row)::value, j = next - M; /* j: the row to be made */
        exchange_ghosts<j>(t, s, second, early);
        load_row<next>(t, s.cur, d, h);
        if constexpr (j >= 0) {
            make_row<LAYERED, j>(a, t, s, kk, h, o);
            fetch_row<j>(t, s);
        }
    });
    fetch_ghosts<1>(t, s.old, s.to);
#if VARIABLE == VARIABLE_CARRIED
    move_factors(kk, entering);
#endif
}
