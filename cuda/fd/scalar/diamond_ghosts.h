/* diamond_ghosts.h: communication between blocks of diamond.cu along z: the cells at their ends are ghosts of
 * the neighbour. Not compiled where one block spans z. */

/* Ghosts are looked at in columns before half + M: a level's later columns are next looked at as level n - 1.
 * They come in two parts, rows before SPLIT and the others, through mailboxes: a word and beside it the tag
 * of its tower and level, stored at once, so that whoever finds the tag has the word, without a fence, which
 * would wait for all that the warp has stored to memory (a microsecond, twice a level). Warps that have no
 * such ends serve them, the work of an end shared by up to three: cells are sent after the barrier behind
 * which their part is there, and ghosts are put into shared memory before the barrier in front of which they
 * are needed, asked for some rows before. So a part is under way for half a level. Each block has mailboxes
 * for both ends and for even and odd tags: whoever sends a part of level n + 2 has had that of level n + 1,
 * which was sent when level n had been taken from its box. Nothing is sent that the neighbour does not wait
 * for, so boxes are free when a block takes its next tower. */
enum {
    PIECE = M % 4 == 0 && sizeof(REAL) == 4 ? 4
            : M % 2 == 0                    ? 2
                                            : 1,                         /* words fetched at once */
    PACKET = sizeof(REAL) == 4 && M % 2 == 0 ? 2 : 1, /* words sent at once, */
    PACKET_WORDS = PACKET * (int)sizeof(REAL) / 4     /* as so many halves of 32 bits, each with its tag */
};
DEVICE constexpr int begin_of(int part)
{
    return part ? (int)SPLIT : 0;
}
DEVICE constexpr int end_of(int part)
{
    return part ? (int)ROWS : (int)SPLIT;
}
DEVICE constexpr int num_sent(int part)
{
    int num = 0;
    for (int j = begin_of(part); j < end_of(part); j++)
        num += (2 * half_of(j) - M) * (M / PACKET);
    return num;
}
DEVICE constexpr int num_fetched(int part)
{
    return (end_of(part) - begin_of(part)) * M * (M / PIECE);
}
enum { BOX = (num_sent(0) + num_sent(1)) * PACKET_WORDS }; /* tagged halves of a level */

#if NUM_ZB > 1
/* What lanes of a warp send, and fetch where cells enter at the front: words from slot 0 of a level, and in
 * memory from column 0 of row 0. */
struct ghost_lists {
    int sent[2][num_sent(1) > num_sent(0) ? num_sent(1) : num_sent(0) + 1];
    int fetched[2][num_fetched(1)];
    long long from[2][num_fetched(1)];
};
__shared__ ghost_lists ghosts;
static_assert(ROWS - SPLIT >= SPLIT, "the second part has the most rows");

static __device__ void list_ghosts()
{
    for (int part = 0; part < 2; part++) {
        int sent = 0, fetched = 0;
        for (int j = begin_of(part); j < end_of(part); j++) {
            const int half = half_of(j), num = (2 * half - M) * (M / PACKET);
            for (int i = threadIdx.x; i < num; i += THREADS)
                ghosts.sent[part][sent + i] =
                    slot_of(j, M - half + i / (M / PACKET)) * PITCH + i % (M / PACKET) * PACKET;
            for (int i = threadIdx.x; i < M * (M / PIECE); i += THREADS) {
                const int c = half + i / (M / PIECE), piece = i % (M / PIECE) * PIECE;
                ghosts.fetched[part][fetched + i] = slot_of(j, c) * PITCH + piece;
                ghosts.from[part][fetched + i] = c * STRIDE_Y + (long long)j * STRIDE_X + piece;
            }
            sent += num;
            fetched += M * (M / PIECE);
        }
    }
}
/* Where packet i of a part of the level with this tag lies in the boxes of an end. */
template <int PART> DEVICE int packet_of(unsigned tag, int i)
{
    return (int)(tag % 2) * BOX + ((PART ? num_sent(0) : 0) + i) * PACKET_WORDS;
}
#endif

/* Which end a warp serves, and how: bits of place.jobs. Warps that have an end serve only where there are no
 * others. */
enum {
    SENDS = 1,
    TAKES = 2,
    FETCHES = 4,
    NUM_WARP = THREADS / 32,
    GHOST_WARPS = NUM_WARP < 4   ? 1
                  : NUM_WARP < 8 ? NUM_WARP / 2 - 1
                                 : 3, /* of an end */
    FIRST_GHOST_WARP = NUM_WARP < 4 ? 0 : 1
};
DEVICE bool has_high_end(int warp)
{
    return warp >= FIRST_GHOST_WARP + GHOST_WARPS;
}
DEVICE int jobs_of(int warp)
{
    const int i = warp - FIRST_GHOST_WARP - (has_high_end(warp) ? GHOST_WARPS : 0);
    int jobs = 0;
    for (int job = 0; job < 3; job++)
        jobs |= job % GHOST_WARPS == i ? 1 << job : 0;
    return jobs;
}

/* f(turn, i) for i = 0 .. NUM - 1, distributed over the lanes of a warp. */
template <int NUM, class F> DEVICE void each_lane(const F &f)
{
    each<0, (NUM + 31) / 32>([&](auto turn) {
        const int i = decltype(turn)::value * 32 + threadIdx.x % 32;
        if (i < NUM)
            f(turn, i);
    });
}
/* Sends the cells of `level`, n + ahead, that the neighbour looks at. */
template <int PART> DEVICE void send_ghosts(const place &t, const REAL *level, int ahead)
{
#if NUM_ZB > 1
    if (!(t.jobs & SENDS))
        return;
    each_lane<num_sent(PART)>([&](auto, int i) {
        store_tagged<PACKET>(t.theirs + packet_of<PART>(t.tag + ahead, i),
                             level + t.put + ghosts.sent[PART][i], t.tag + ahead);
    });
#endif
}
/* What the lanes found in the mailboxes of a part. */
template <int PART> struct packets {
    enum { TURNS = (num_sent(PART) + 31) / 32 };
    unsigned long long found[TURNS ? TURNS : 1][PACKET_WORDS];
};
/* Reads what the neighbour has sent of level n + ahead; whether it was there is checked when it is needed. */
template <int PART> DEVICE void ask_ghosts(const place &t, packets<PART> &asked, int ahead)
{
#if NUM_ZB > 1
    if (!(t.jobs & TAKES))
        return;
    each_lane<num_sent(PART)>([&](auto turn, int i) {
        load_words(asked.found[decltype(turn)::value], t.mine + packet_of<PART>(t.tag + ahead, i));
    });
#endif
}
/* Stores it in shared memory, as soon as it is there. */
template <int PART> DEVICE void wait_ghosts(const place &t, REAL *level, packets<PART> &asked, int ahead)
{
#if NUM_ZB > 1
    if (!(t.jobs & TAKES))
        return;
    each_lane<num_sent(PART)>([&](auto turn, int i) {
        take_tagged<PACKET>(level + t.ghost + ghosts.sent[PART][i], asked.found[decltype(turn)::value],
                            t.mine + packet_of<PART>(t.tag + ahead, i), t.tag + ahead);
    });
#endif
}

/* Requests the ghosts of what enters at the front; to: memory at column 0 of row 0. A group of copies. */
template <int PART> DEVICE void fetch_ghosts(const place &t, REAL *level, const REAL *to)
{
#if NUM_ZB > 1
    if (t.jobs & FETCHES)
        each_lane<num_fetched(PART)>([&](auto, int i) {
            copy_async<PIECE>(level + t.ghost + ghosts.fetched[PART][i], to + t.far + ghosts.from[PART][i]);
        });
    copy_commit();
#endif
}
/* Requests those of a whole tile, when a tower begins. */
DEVICE void load_ghosts(const place &t, REAL *level, const REAL *now)
{
#if NUM_ZB > 1
    if (!(t.jobs & FETCHES))
        return;
    const int piece = threadIdx.x % 32 % (M / PIECE) * PIECE;
#pragma unroll 1
    for (int j = 0; j < ROWS; j++)
        for (int c = M - half_of(j) + threadIdx.x % 32 / (M / PIECE); c < half_of(j) + M;
             c += 32 / (M / PIECE))
            copy_async<PIECE>(level + t.ghost + slot_of(j, c) * PITCH + piece,
                              now + t.far + c * STRIDE_Y + (long long)j * STRIDE_X + piece);
#endif
}
