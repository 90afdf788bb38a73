/* diamond_ghosts.h: what blocks of diamond.cu along z, a cluster, tell each other: the cells at their ends
 * are ghosts of the neighbour. Without a cluster nothing of this is there. */

/* Ghosts are looked at in columns before half + M: a level's later columns are next looked at as level n - 1.
 * They come in two parts, rows before SPLIT and the others; a part is sent half a tier before it is looked
 * at, by stores that count themselves at the neighbour's meeting: no fence, which would wait for all that the
 * warp has stored to memory (a microsecond, twice a level). Whoever sends a part has read what the neighbour
 * overwrites with its next one; rows that send nothing have no ghosts but those fetched. A neighbour may send
 * the next level's before this block has waited, but not those of the level after: meetings of even and odd
 * levels take turns. */
enum {
    PIECE = M % 4 == 0 && sizeof(REAL) == 4 ? 4
            : M % 2 == 0                    ? 2
                                            : 1, /* words at once */
    ITEMS = M / PIECE         /* of a slot */
};
static __device__ __forceinline__ constexpr int begin_of(int part)
{
    return part ? (int)SPLIT : 0;
}
static __device__ __forceinline__ constexpr int end_of(int part)
{
    return part ? (int)ROWS : (int)SPLIT;
}
static __device__ __forceinline__ constexpr int num_sent(int part)
{
    int num = 0;
    for (int j = begin_of(part); j < end_of(part); j++)
        num += (2 * half_of(j) - M) * ITEMS;
    return num;
}
static __device__ __forceinline__ constexpr int num_fetched(int part)
{
    return (end_of(part) - begin_of(part)) * M * ITEMS;
}
static __device__ __forceinline__ constexpr int part_bytes(int part)
{
    return num_sent(part) * PIECE * (int)sizeof(REAL);
}

#if NUM_ZB > 1
/* What lanes of a warp at an end send, and fetch where cells enter at the front: words from slot 0 of a
 * level, and in memory from column 0 of row 0. */
static __shared__ struct {
    int sent[2][num_sent(1) > num_sent(0) ? num_sent(1) : num_sent(0) + 1];
    int fetched[2][num_fetched(1)];
    long long from[2][num_fetched(1)];
} ghosts;
static_assert(ROWS - SPLIT >= SPLIT, "the second part is the longer one");

static __device__ void list_ghosts()
{
    for (int part = 0; part < 2; part++) {
        int sent = 0, fetched = 0;
        for (int j = begin_of(part); j < end_of(part); j++) {
            const int half = half_of(j), num = (2 * half - M) * ITEMS;
            for (int i = threadIdx.x; i < num; i += THREADS)
                ghosts.sent[part][sent + i] = slot_of(j, M - half + i / ITEMS) * PITCH + i % ITEMS * PIECE;
            for (int i = threadIdx.x; i < M * ITEMS; i += THREADS) {
                const int c = half + i / ITEMS, piece = i % ITEMS * PIECE;
                ghosts.fetched[part][fetched + i] = slot_of(j, c) * PITCH + piece;
                ghosts.from[part][fetched + i] = c * STRIDE_Y + (long long)j * STRIDE_X + piece;
            }
            sent += num;
            fetched += M * ITEMS;
        }
    }
}
#endif

/* Where a part of a level is met: [level is odd][part]. */
static __device__ __forceinline__ unsigned meeting_of(unsigned first, unsigned round, int part)
{
    return first + 8 * (round % 2 * 2 + part);
}

/* The cells of `level` that the neighbour looks at. */
template <int PART> static __device__ __forceinline__ void send_ghosts(const place &t, const REAL *level)
{
#if NUM_ZB > 1
    if (!t.edge)
        return;
    __syncwarp();
    const unsigned meeting = meeting_of(t.remote_meeting, t.round, PART);
    const REAL *from = level + t.put;
    const unsigned to = t.remote + (unsigned)((level - t.own) * (int)sizeof(REAL));
    each<0, (num_sent(PART) + 31) / 32>([&](auto turn) {
        const int i = decltype(turn)::value * 32 + threadIdx.x % 32;
        if (i < num_sent(PART)) {
            const int word = ghosts.sent[PART][i];
            store_async<PIECE>(to + (unsigned)(word * (int)sizeof(REAL)), from + word, meeting);
        }
    });
#endif
}
/* Waits for what neighbours have sent of the level before. */
template <int PART> static __device__ __forceinline__ void wait_ghosts(const place &t)
{
#if NUM_ZB > 1
    if (!t.edge)
        return;
    const unsigned round = t.round - 1, meeting = meeting_of(t.meeting, round, PART);
    meeting_wait(meeting, round / 2 % 2);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        meeting_expect(meeting, part_bytes(PART)); /* two levels on */
#endif
}
static __device__ __forceinline__ void next_round(place &t)
{
#if NUM_ZB > 1
    t.round++;
#endif
}

/* Asks for the ghosts of what enters at the front; to: memory at column 0 of row 0. A group of copies. */
template <int PART>
static __device__ __forceinline__ void fetch_ghosts(const place &t, REAL *level, const REAL *to)
{
#if NUM_ZB > 1
    if (t.edge)
        each<0, (num_fetched(PART) + 31) / 32>([&](auto turn) {
            const int i = decltype(turn)::value * 32 + threadIdx.x % 32;
            if (i < num_fetched(PART))
                copy_async<PIECE>(level + t.ghost + ghosts.fetched[PART][i],
                                  to + t.far + ghosts.from[PART][i]);
        });
    copy_commit();
#endif
}
/* Asks for those of a whole tile, when a tower begins. */
static __device__ __forceinline__ void load_ghosts(const place &t, REAL *level, const REAL *now)
{
#if NUM_ZB > 1
    if (!t.edge)
        return;
    const int piece = threadIdx.x % 32 % ITEMS * PIECE;
#pragma unroll 1
    for (int j = 0; j < ROWS; j++)
        for (int c = M - half_of(j) + threadIdx.x % 32 / ITEMS; c < half_of(j) + M; c += 32 / ITEMS)
            copy_async<PIECE>(level + t.ghost + slot_of(j, c) * PITCH + piece,
                              now + t.far + c * STRIDE_Y + (long long)j * STRIDE_X + piece);
#endif
}
