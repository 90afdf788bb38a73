/* fetch.h: how a tile comes from memory into shared memory, and is asked for ahead of its time. Included by
 * sem/tiles.cu. */
#ifndef UNDA_SEM_FETCH_H
#define UNDA_SEM_FETCH_H

DEVICE void unpack(const int4 &part, unsigned short *to)
{
    const unsigned word[4] = {(unsigned)part.x, (unsigned)part.y, (unsigned)part.z, (unsigned)part.w};
#pragma unroll
    for (int k = 0; k < 8; k++)
        to[k] = (unsigned short)(word[k / 2] >> k % 2 * 16);
}

/* Words of 16 bits from global memory, eight at a time. */
template <int NUM> DEVICE void load_words(unsigned short (&to)[NUM], const unsigned short *from)
{
#pragma unroll
    for (int i = 0; i < NUM / 8; i++)
        unpack(__ldg((const int4 *)from + i), to + 8 * i);
}

/* The same from shared memory. */
template <int NUM> DEVICE void read_words(unsigned short (&to)[NUM], const unsigned short *from)
{
#pragma unroll
    for (int i = 0; i < NUM / 8; i++)
        unpack(((const int4 *)from)[i], to + 8 * i);
}

/* The tile's nodes from memory. */
DEVICE void gather(const sem_tile_args &a, const sem_tile &t, values *slot)
{
    const REAL *inner = (const REAL *)a.u + (long long)t.first_inner * DIM;
    const REAL *shared = (const REAL *)a.u + a.num_inner * DIM;
    REAL *u = (REAL *)slot;
    for (int i = (int)threadIdx.x * QUAD; i < t.num_inner * DIM; i += THREADS * QUAD)
        copy_async<QUAD>(u + i, inner + i);
#pragma unroll 2
    for (int i = (int)threadIdx.x; i < t.num_shared; i += THREADS) {
        const REAL *from = shared + (long long)__ldg(a.entry + t.first_entry + i) * DIM;
#pragma unroll
        for (int k = 0; k < DIM; k++)
            copy_async(u + (t.num_inner + i) * DIM + k, from + k);
    }
}

/* A line by the slots of its nodes. */
DEVICE void pick_line(const values *u, const unsigned short *slot, REAL (&x)[DIM][N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < DIM; i++)
            x[i][k] = u[slot[k]].v[i];
}

/* Words of the pattern that stand in s.list before those of sums. */
DEVICE int num_line_word(const sem_tile &t)
{
    return PLANES ? t.num_elem * SQUARE * LINE_WORDS : 0;
}

DEVICE void fetch_words(unsigned short *to, const unsigned short *from, int num)
{
    for (int i = (int)threadIdx.x * 8; i < num; i += THREADS * 8)
        copy_async<8>(to + i, from + i);
    copy_commit();
}

/* The lists of sums of the tile's pattern, which are not needed before the end. */
DEVICE void fetch_lists(tile &s, const sem_tile &t, const unsigned short *words)
{
    fetch_words(s.list + num_line_word(t), words + HEAD_WORDS + t.num_elem * SQUARE * LINE_WORDS, t.num_list);
}

/* Asks for what elements have: REALS each or, BY_LANE, each warp's. */
template <int REALS, bool BY_LANE> DEVICE void prefetch_elements(const void *all, const sem_tile &t)
{
    const long long first = BY_LANE ? (long long)t.first_warp * WARP_CELLS : t.first_elem;
    const char *from = (const char *)all + first * REALS * sizeof(REAL);
    int bytes = t.num_elem * REALS * (int)sizeof(REAL);
#pragma unroll 1
    for (int at = (int)threadIdx.x * LINE; at < bytes; at += THREADS * LINE)
        prefetch_l2(from + at);
}

/* Asks for what a tile will read. */
DEVICE void prefetch(const sem_tile_args &a, const sem_tile &t)
{
    int i = (int)threadIdx.x * LINE, bytes = t.num_inner * (int)sizeof(REAL);
    const char *u = (const char *)a.u + (long long)t.first_inner * DIM * sizeof(REAL);
    const char *v = (const char *)a.v + (long long)t.first_inner * DIM * sizeof(REAL);
    const char *mass = (const char *)a.inverse_mass + (long long)t.first_inner * sizeof(REAL);
    for (int at = i; at < bytes * DIM; at += THREADS * LINE) {
        prefetch_l2(u + at);
        prefetch_l2(v + at);
    }
    if (i < bytes)
        prefetch_l2(mass + i);
    if (i < t.num_shared * (int)sizeof(int))
        prefetch_l2((const char *)(a.entry + t.first_entry) + i);
    if (METRIC_REALS <= 24) /* one a node is too much for L2: 41.6 GDOF/s, without 49.6 */
        prefetch_elements<METRIC_REALS, false>(a.metric, t);
    prefetch_elements<NUM_COEF * MATERIAL_NODES, PLANES && (MATERIAL_NODES > 1)>(a.coef, t);
}

#endif
