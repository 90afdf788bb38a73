/* step_matched.h: matched layers (csrc/fd/scalar/matched.c) in step.cu: their contribution to the
 * differences of a thread's nodes, along x from its planes, along y and z from the plane in shared memory. A
 * warp owns a row: its nodes in layers along z are distributed over the lanes, so that few lanes are idle;
 * the sums return to the node's lane through shared memory. */
#include "fd/scalar/matched.h"

/* Memories of nodes from `place` on, into L2. */
DEVICE void prefetch_memories(const scalar_matched &m, long long place)
{
    UNROLL for (int k = 0; k < 3; k++)
        prefetch_l2((const REAL *)m.memory + k * m.part + place);
}

struct layers_of_row {
    REAL *along_z;   /* [TILE_Z] of this row: what layers along z add */
    long long at[3]; /* of the thread's first memory along x, y; of the lane's along z; without x */
    int iy, num_z, first_z;
    unsigned in_z; /* which of the thread's nodes are in layers along z */
    bool store;

    DEVICE_MEMBER layers_of_row(const scalar_args &a, int row, int row_end, bool store, REAL *along_z)
        : along_z(along_z), store(store)
    {
        const scalar_matched *m = a.matched;
        const int z0 = blockIdx.x * TILE_Z, z = z0 + threadIdx.x * WIDTH, y = row - a.wall[0];
        iy = store ? matched_at(m[1], y) : -1;
        first_z = matched_before(m[2], z0);
        num_z = row < a.num[1] ? matched_between(m[2], z0, row_end) : 0;
        at[0] = y * m[0].stride_y + z;
        at[1] = iy * m[1].stride_y + z;
        at[2] = y * m[2].stride_y + first_z + threadIdx.x;
        in_z = 0;
        UNROLL for (int l = 0; l < WIDTH; l++)
            in_z |= (unsigned)(matched_at(m[2], z + l) >= 0) << l;
    }
    /* Memories of plane x, ahead of their use. */
    DEVICE_MEMBER void prefetch(const scalar_args &a, int x) const
    {
        const scalar_matched *m = a.matched;
        const int ix = matched_at(m[0], x);
        if (store && ix >= 0)
            prefetch_memories(m[0], ix * m[0].stride_x + at[0]);
        if (iy >= 0)
            prefetch_memories(m[1], x * m[1].stride_x + at[1]);
        if ((int)threadIdx.x < num_z)
            prefetch_memories(m[2], x * m[2].stride_x + at[2]);
    }
    /* queue: planes x - HALF .. x + HALF of the thread's nodes; mine: these nodes in plane x, rows ROW apart.
     */
    DEVICE_MEMBER vec add(const scalar_args &a, int x, const vec *queue, const REAL *mine) const
    {
        const scalar_matched *m = a.matched;
        const int z0 = blockIdx.x * TILE_Z, ix = matched_at(m[0], x);
        const REAL *row = mine - threadIdx.x * WIDTH;
        for (int i = threadIdx.x; i < num_z; i += 32) {
            const long long place = x * m[2].stride_x + at[2] + i - threadIdx.x;
            const REAL *node = row + matched_node(m[2], first_z + i) - z0;
            REAL sum = 0;
            add_matched<HALF, 1>(m[2], first_z + i, place, [&](int k, int) { return node[k]; }, &sum);
            along_z[node - row] = sum;
        }
        __syncwarp();
        vec sum = {};
        const auto along_x = [&](int k, int l) { return queue[HALF + k].v[l]; };
        const auto along_y = [&](int k, int l) { return mine[k * ROW + l]; };
        if (store && ix >= 0)
            add_matched<HALF, WIDTH>(m[0], ix, ix * m[0].stride_x + at[0], along_x, sum.v);
        if (iy >= 0)
            add_matched<HALF, WIDTH>(m[1], iy, x * m[1].stride_x + at[1], along_y, sum.v);
        UNROLL for (int l = 0; l < WIDTH; l++)
            if (in_z >> l & 1)
                sum.v[l] = sum.v[l] + along_z[threadIdx.x * WIDTH + l];
        return sum;
    }
};
