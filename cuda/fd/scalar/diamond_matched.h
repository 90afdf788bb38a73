/* diamond_matched.h: matched layers (csrc/fd/scalar/matched.c) in diamond.cu. Before a level is advanced,
 * the layers' terms of level n are subtracted from level n - 1 of the same cells, in shared memory; the
 * advance itself is the same as without layers. Memory variables belong to one node: they are valid wherever
 * p is. */
#if MATCHED
#include "fd/scalar/matched.h"

/* The cells of a block's z, in shared memory, and those that it advances: row j, column c. */
struct layer_cells {
    const diamond_args &a;
    const place &t;
    REAL *cur, *old;
    int z0, own; /* z of the block's first node; of t.own, counted from there */

    __device__ __forceinline__ REAL p(int j, int c, int z) const
    {
        return cell_of(t, cur, j, c)[z - own];
    }
    /* Numbers of the node in layers along x, y, z, or -1; z: within the block. */
    __device__ __forceinline__ void take_off(int j, int c, int z, int ix, int iy, int iz) const
    {
        const scalar_matched *m = a.matched;
        const long long x = t.x + j, y = t.y + M + c;
        const long long at_x = ix * m[0].stride_x + y * m[0].stride_y + z0 + z;
        const long long at_y = x * m[1].stride_x + iy * m[1].stride_y + z0 + z;
        const long long at_z = x * m[2].stride_x + y * m[2].stride_y + iz;
        REAL sum = 0;
        REAL v[2 * M + 1]; /* p of the node and its neighbours along an axis */
        const auto at = [&](int k, int) { return v[M + k]; };
        if (ix >= 0) {
#pragma unroll
            for (int k = -M; k <= M; k++)
                v[M + k] = p(j + k, c + M, z);
            add_matched<M, 1>(m[0], ix, at_x, at, &sum);
        }
        if (iy >= 0) {
#pragma unroll
            for (int k = -M; k <= M; k++)
                v[M + k] = p(j, c + M + k, z);
            add_matched<M, 1>(m[1], iy, at_y, at, &sum);
        }
        if (iz >= 0) {
            const REAL *row = cell_of(t, cur, j, c + M) - own - z0; /* at z = 0 of the grid */
#pragma unroll
            for (int k = -M; k <= M; k++) {
                const int here = z0 + z + k;
                v[M + k] = here < 0       ? (REAL)a.sign[2][0] * row[-here]
                           : here >= a.nz ? (REAL)a.sign[2][1] * row[2 * (a.nz - 1) - here]
                                          : row[here];
            }
            add_matched<M, 1>(m[2], iz, at_z, at, &sum);
        }
        REAL *last = old + z - own + slot_of(j, c + 2 * M) * PITCH;
#if VARIABLE
        *last = scalar_previous_split(((const REAL *)a.k)[x * STRIDE_X + y * STRIDE_Y + z0 + z], sum, *last);
#else
        *last = scalar_previous(sum, *last);
#endif
    }
};

/* Layers along z are a few nodes of each block's z: all threads share them, row by row. Cells in layers along
 * x and y, of which only `layered` tiles have any, are each thread's own. */
static __device__ __noinline__ void take_off_layers(const diamond_args &a, place t, const REAL *memory,
                                                    REAL *cur, REAL *old, int z0, int count, bool layered)
{
    const int own = (int)(t.own - memory) - M, first = matched_before(a.matched[2], z0);
    const int num = matched_before(a.matched[2], z0 + count) - first;
    const layer_cells cells = {a, t, cur, old, z0, own};
    for (int j = 0; j < ROWS; j++) {
        const int half = half_of(j), x = t.x + j, ix = matched_at(a.matched[0], x);
        if (x < 0 || x >= a.nx)
            continue;
        for (int i = threadIdx.x; i < 2 * half * num; i += THREADS) {
            const int c = i / num - half, y = t.y + M + c, iz = first + i % num;
            const int z = iz < a.matched[2].low ? 1 + iz : a.matched[2].high + iz - a.matched[2].low;
            if (y >= 0 && y < a.ny && ix < 0 && matched_at(a.matched[1], y) < 0)
                cells.take_off(j, c, z - z0, -1, -1, iz);
        }
        if (!layered || t.z >= a.nz)
            continue;
        for (int c = -half; c < half; c++) {
            const int y = t.y + M + c, iy = matched_at(a.matched[1], y);
            if (y >= 0 && y < a.ny && (ix >= 0 || iy >= 0))
                cells.take_off(j, c, t.z - z0, ix, iy, matched_at(a.matched[2], t.z));
        }
    }
}
#endif
