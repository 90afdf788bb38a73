/* sums.h: what becomes of the forces on element nodes: their sums node by node, a step of the nodes inside the tile.
 * Included by sem/tiles.cu. */
#ifndef UNDA_SEM_SUMS_H
#define UNDA_SEM_SUMS_H

/* The sum of the forces at these places. */
template <int NUM> DEVICE void add_places(const values *force, const unsigned short *list, REAL (&sum)[DIM])
{
#pragma unroll
    for (int k = 0; k < NUM; k++) {
        const values one = force[list[k]];
#pragma unroll
        for (int i = 0; i < DIM; i++)
            sum[i] += one.v[i];
    }
}

/* The sum of the forces on the node of a slot; head: ends of the categories of its kind, then where lists begin. */
template <int CATEGORY>
DEVICE void add_slot(const tile &s, const int (&end)[CATEGORIES + 1], const int (&start)[CATEGORIES],
                     int slot, REAL (&sum)[DIM])
{
    if (CATEGORY == CATEGORIES - 1 || slot < end[CATEGORY + 1])
        add_places<1 << CATEGORY>(s.first, s.list + start[CATEGORY] + ((slot - end[CATEGORY]) << CATEGORY),
                                  sum);
    else if constexpr (CATEGORY + 1 < CATEGORIES)
        add_slot<CATEGORY + 1>(s, end, start, slot, sum);
}

/* Ends of the categories of inner (0) or shared (1) nodes, with their beginning, and where their lists begin. */
DEVICE void read_head(const sem_tile &t, const unsigned short (&head)[HEAD_WORDS], int kind,
                      int (&end)[CATEGORIES + 1], int (&start)[CATEGORIES])
{
    end[0] = kind ? t.num_inner : 0;
#pragma unroll
    for (int k = 0; k < CATEGORIES; k++) {
        end[k + 1] = kind ? head[CATEGORIES + k] : head[k];
        start[k] = (kind ? head[3 * CATEGORIES + k] : head[2 * CATEGORIES + k]) - HEAD_WORDS -
                   t.num_elem * SQUARE * LINE_WORDS + num_line_word(t);
    }
}

/* What the update of inner nodes reads from memory, asked for early; where a thread has more nodes or quads than fit,
 * those of the next turns when the first are done. */
struct old_state {
    REAL v[QUAD_TURNS][QUAD], inverse[SLOT_TURNS];
};

DEVICE void load_inverse(const sem_tile_args &a, const sem_tile &t, int first, old_state &old)
{
#pragma unroll
    for (int turn = 0; turn < SLOT_TURNS; turn++) {
        int slot = first + (int)threadIdx.x + turn * THREADS;
        old.inverse[turn] =
            slot < t.num_inner ? __ldg((const REAL *)a.inverse_mass + t.first_inner + slot) : 0;
    }
}

DEVICE void load_velocity(const sem_tile_args &a, const sem_tile &t, int first, old_state &old)
{
#pragma unroll
    for (int turn = 0; turn < QUAD_TURNS; turn++) {
        int i = first + ((int)threadIdx.x + turn * THREADS) * QUAD;
        if (i < t.num_inner * DIM)
            load_vector<QUAD>(old.v[turn], (const REAL *)a.v + (long long)t.first_inner * DIM + i);
    }
}

/* Sums the forces on the tile's nodes [slot][DIM] into shared memory, of inner ones accelerations, or adds those on the
 * others to where they meet the parts of other tiles. */
DEVICE void add_up(const sem_tile_args &a, tile &s, const sem_tile &t,
                   const unsigned short (&head)[HEAD_WORDS], old_state &old)
{
    REAL *acceleration = (REAL *)s.second;
    int end[CATEGORIES + 1], start[CATEGORIES];
    read_head(t, head, 0, end, start);
#pragma unroll 1
    for (int first = 0; first < t.num_inner; first += SLOT_TURNS * THREADS) {
        if (first > 0)
            load_inverse(a, t, first, old);
#pragma unroll
        for (int turn = 0; turn < SLOT_TURNS; turn++) {
            int slot = first + (int)threadIdx.x + turn * THREADS;
            REAL sum[DIM] = {};
            if (slot >= t.num_inner)
                break;
            add_slot<0>(s, end, start, slot, sum);
#pragma unroll
            for (int i = 0; i < DIM; i++)
                acceleration[slot * DIM + i] = a.mode == SEM_FORCE ? sum[i] : sum[i] * old.inverse[turn];
        }
    }
    read_head(t, head, 1, end, start);
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < t.num_shared; i += THREADS) {
        REAL sum[DIM] = {};
        add_slot<0>(s, end, start, t.num_inner + i, sum);
        REAL *to = ASSEMBLY == 0 ? acceleration + (t.num_inner + i) * DIM
                                 : (REAL *)a.shared + (long long)__ldg(a.entry + t.first_entry + i) * DIM;
#pragma unroll
        for (int k = 0; k < DIM; k++)
            to[k] = ASSEMBLY == 0 ? sum[k] : to[k] + sum[k];
    }
}

/* Parts that wait for those of other tiles. They come from shared memory, so that whole lines are written. */
DEVICE void store_parts(const sem_tile_args &a, const tile &s, const sem_tile &t)
{
    REAL *to = (REAL *)a.shared + (long long)t.first_entry * DIM;
    for (int i = (int)threadIdx.x; i < t.num_shared * DIM; i += THREADS)
        to[i] = ((const REAL *)s.second)[t.num_inner * DIM + i];
}

/* Inner nodes, whose number is a multiple of four. */
DEVICE void advance_inner(const sem_tile_args &a, const tile &s, const sem_tile &t, old_state &old)
{
    long long begin = (long long)t.first_inner * DIM;
#pragma unroll 1
    for (int first = 0; first < t.num_inner * DIM; first += QUAD_TURNS * THREADS * QUAD) {
        if (first > 0)
            load_velocity(a, t, first, old);
#pragma unroll
        for (int turn = 0; turn < QUAD_TURNS; turn++) {
            int i = first + ((int)threadIdx.x + turn * THREADS) * QUAD;
            REAL u[QUAD], to[QUAD], acceleration[QUAD];
            if (i >= t.num_inner * DIM)
                break;
            load_vector<QUAD>(acceleration, (const REAL *)s.second + i);
            load_vector<QUAD>(u, (const REAL *)s.u + i);
#pragma unroll
            for (int k = 0; k < QUAD; k++)
                advance_to(a.mode, a.dt, acceleration[k], u + k, old.v[turn] + k, to + k);
            if (a.mode != SEM_FORCE)
                store_vector<QUAD>((REAL *)a.v + begin + i, old.v[turn]);
            store_end(a.mode, (REAL *)a.u + begin + i, u, (REAL *)a.a + begin + i, to);
        }
    }
}

#endif
