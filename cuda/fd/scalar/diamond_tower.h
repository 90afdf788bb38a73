/* diamond_tower.h: towers of diamond.cu: where they stand, what they wait for, how their cells come from memory
 * and go back. Next: diamond_level.h. */

/* Where tower `index` stands at level 0, and the levels [begin, end) from which it makes cells of the grid.
 * Returns whether there are any. */
static __device__ bool tower_range(const diamond_args &a, int index, place &t, int &begin, int &end)
{
    int stage = index / a.num_row, row = index % a.num_row;
    t.x = (a.first_row + row) * 2 * HALF - stage % 2 * HALF;
    t.y = a.ny - M - stage * HALF;
    int y = t.y + M; /* of column 0 of the new level 1 */
    begin = y + HALF > 0 ? 0 : (-(y + HALF)) / M + 1;
    end = y - HALF >= a.ny ? 0 : (a.ny - 1 - y + HALF) / M + 1;
    if (end > a.num_level)
        end = a.num_level;
    return begin < end && t.x < a.nx && t.x + ROWS > 0;
}
/* ---- slabs on other devices ---- */
/* Which neighbour needs what a tower makes, 0 below, 1 above, -1 none. */
DEVICE int far_side(const diamond_args &a, int index)
{
    if (!FAR)
        return -1;
    int stage = index / a.num_row, row = index % a.num_row, side = stage % 2 ? 0 : 1;
    return row == (side ? a.num_row - 1 : 0) && a.far_told[side] ? side : -1;
}
static __device__ __noinline__ void publish_far(int *progress, int level)
{
    store_release_far(progress, level);
}
/* Until a neighbour's tower has made `level`. One that has not moved for so long will not. */
static __device__ __noinline__ int wait_far(const int *progress, int level)
{
    const long long patience = 30000000000, begin = nanoseconds();
    int seen;
    while ((seen = load_acquire_far(progress)) < level) {
        look_again();
        if (nanoseconds() - begin > patience)
            give_up();
    }
    return seen;
}
/* A call, so that only one thread executes the fence. */
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
    const int *there = a.far_progress[stage % 2 ? 0 : 1];
    if (FAR && i / WIDE == 1 && stage > 0 && (beside < 0 || beside >= a.num_row) && block >= 0 &&
        block < NUM_ZB && there)
        seen = wait_far(there + (long long)(stage - 1) * NUM_ZB + block, level);
    for (int width = 16; width > 0; width /= 2) {
        int there = __shfl_xor_sync(0xffffffffu, seen, width);
        seen = there < seen ? there : seen;
    }
    return seen;
}

/* Loops rather than code for each cell: it runs once a tower, and fetching its instructions took longer
 * than everything else. */
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
/* Stores what levels have not stored: level n or n - 1 after the last step of the tower. */
static __device__ __noinline__ void store_tower(place t, REAL *level, REAL *to, int first, int end)
{
#pragma unroll 1
    for (int j = first; j < end; j++) {
        const int half = half_of(j);
        const long long row = (long long)j * STRIDE_X;
#pragma unroll 4
        for (int c = 2 * M - half; c < half; c++)
            to[row + c * STRIDE_Y] = level[slot_of(j, c) * PITCH];
    }
}

/* A thread's cell along z in block `rank` of a tower, and its neighbours. Returns the number of cells of
 * the block. */
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
/* Finds the mailboxes of the neighbour, which may not have begun yet. */
static __device__ __noinline__ unsigned long long *boxes_of(const diamond_args &a, int index, int other,
                                                            int end)
{
    int owner;
    while ((owner = load_relaxed(a.owner + (long long)index * NUM_ZB + other)) == 0)
        look_again();
    return a.mailbox + ((owner - 1) * 2LL + end) * 2 * BOX;
}
#endif
