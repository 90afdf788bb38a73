/* diamond_rare.h: code that few tiles of diamond.cu need: images beyond the sides in x and y, sources,
 * recorded cells, all with loops over slots in shared memory. */
/* ---- images behind sides x and y, in level n ---- */
static __device__ bool outside(const diamond_args &a, const place &t)
{
    return t.y < HALF || t.y + HALF + 2 * M > a.ny || t.x < M || t.x + ROWS + M > a.nx;
}
/* Several values are read before the first is written, so that no read waits for a write. */
static __device__ __noinline__ void put_mirror(const diamond_args &a, place t, REAL *level)
{
    for (int side = 0; side < 2; side++) {
        const int out = side ? 1 : -1, wall = (side ? a.ny - 1 : 0) - t.y;
        const REAL sign = (REAL)a.sign[1][side];
        if (wall + M < -HALF || wall - M >= HALF + 2 * M)
            continue;
#pragma unroll 1
        for (int j = 0; j < ROWS; j++) {
            const tile_row row = row_of(t, level, j);
            REAL value[M];
#pragma unroll
            for (int m = 1; m <= M; m++)
                if (row.has(wall - out * m))
                    value[m - 1] = sign * *row.at(wall - out * m);
#pragma unroll
            for (int m = 1; m <= M; m++)
                if (row.has(wall - out * m) && row.has(wall + out * m))
                    *row.at(wall + out * m) = value[m - 1];
        }
    }
    for (int side = 0; side < 2; side++) {
        const int out = side ? 1 : -1, wall = (side ? a.nx - 1 : 0) - t.x;
        const REAL sign = (REAL)a.sign[0][side];
        for (int m = 1; m <= M; m++) {
            const int ghost = wall + out * m, from = wall - out * m;
            if (ghost < -M || ghost >= ROWS + M || from < -M || from >= ROWS + M)
                continue;
            const tile_row to = row_of(t, level, ghost), source = row_of(t, level, from);
            const int c0 = to.first > source.first ? to.first : source.first,
                      c1 = to.last < source.last ? to.last : source.last;
            enum { AT_ONCE = 2 };
            for (int c = c0; c < c1; c += AT_ONCE) {
                REAL value[AT_ONCE];
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    if (c + i < c1)
                        value[i] = sign * *source.at(c + i);
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    if (c + i < c1)
                        *to.at(c + i) = value[i];
            }
        }
    }
}

/* ---- sources and records, in the level that was made ---- */
/* there: what `to` is in the memory of the slab on that side; NULL: it does not need it. */
static __device__ __noinline__ void add_sources(const diamond_args &a, place t, REAL *level, REAL *to,
                                                int produced, REAL *there, int side)
{
    const REAL *amplitude = (const REAL *)a.amplitude + (long long)(produced - 1) * a.num_source;
    for (int j = 0; j < ROWS; j++)
        for (int c = -half_of(j); c < half_of(j); c++) {
            int y = t.y + c, x = t.x + j;
            if (x < 0 || x >= a.nx || y < 0 || y >= a.ny)
                continue;
            long long column = (long long)x * a.ny + y;
            for (int i = a.source_first[column]; i < a.source_first[column + 1]; i++)
                if (a.source_z[i] == t.z) {
                    REAL *cell = cell_of(t, level, j, c), *far = to + c * STRIDE_Y + (long long)j * STRIDE_X;
                    REAL v = scalar_source(((const REAL *)a.source_w)[i], amplitude[a.source_id[i]], *cell);
                    *cell = v;
                    if (c < 2 * M - half_of(j)) {
                        *far = v;
                        if (FAR && there && (side ? goes_up(j) : goes_down(j)))
                            there[far - to] = v;
                    }
                }
        }
}
static __device__ __noinline__ void record_cells(const diamond_args &a, place t, const REAL *memory,
                                                 REAL *level, int z0, int count, int produced)
{
    void *const *sample = a.sample + produced * a.num_group;
    int lane = threadIdx.x % 32;
    /* A warp takes every THREADS / 32-nd row, a lane looks up a column of it. */
    for (int j = threadIdx.x / 32; j < ROWS; j += THREADS / 32)
        for (int c0 = -half_of(j); c0 < half_of(j); c0 += 32) {
            int c = c0 + lane, y = t.y + c, x = t.x + j, first = 0, last = 0;
            if (c < half_of(j) && x >= 0 && x < a.nx && y >= 0 && y < a.ny) {
                first = a.cell_first[(long long)x * a.ny + y];
                last = a.cell_first[(long long)x * a.ny + y + 1];
            }
            for (int l = 0; l < 32 && c0 + l < half_of(j); l++) {
                int from = __shfl_sync(0xffffffffu, first, l), end = __shfl_sync(0xffffffffu, last, l);
                for (int i = from + lane; i < end; i += 32) {
                    int z = a.cell_z[i] - z0;
                    REAL *to = (REAL *)sample[a.cell_group[i]];
                    if (z >= 0 && z < count && to)
                        to[a.cell_id[i]] = memory[cell_of(t, level, j, c0 + l) - t.own + M + z];
                }
            }
        }
}
