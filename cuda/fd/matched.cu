/* matched.cu: matched layers of the scalar scheme (csrc/fd/matched.c), before step.cu: what they add is taken
 * off level n - 1 of their nodes, so that the step is what it is without layers. A thread a node, along z;
 * the nodes of layers along x, then of those along y that are not among them, then of those along z. A node:
 * p, six words of memory, two of level n - 1. Defines: REAL, HALF, SPLIT (as in step.cu). */
#include "fd/scalar_args.h"

#if !defined(REAL) || !defined(HALF) || !defined(SPLIT)
#error "matched.cu needs REAL, HALF and SPLIT"
#endif
#define DEVICE        static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define FMA(a, b, c)  fma(a, b, c)
#include "fd/matched.h"

/* p at node i of an axis and its neighbours; `at` is the node's, neighbours are `stride` apart, from node 0
 * to `last`; beyond these images. */
struct neighbours {
    REAL v[2 * HALF + 1];
    DEVICE_MEMBER neighbours(const scalar_args &a, int axis, int last, const REAL *at, long long stride,
                             int i)
    {
        const bool inside = i >= HALF && i + HALF <= last;
#pragma unroll
        for (int k = -HALF; k <= HALF; k++) {
            int from = i + k;
            bool odd = false;
            while (!inside && (from < 0 || from > last)) {
                odd ^= a.side[axis][from > last] < 0;
                from = 2 * (from < 0 ? 0 : last) - from;
            }
            const REAL p = at[(from - i) * stride];
            v[HALF + k] = odd ? -p : p;
        }
    }
};

/* Node number i of those in layers along an axis. */
DEVICE int node_of(const scalar_matched &m, int i)
{
    return i < m.low ? 1 + i : m.high + i - m.low;
}

extern "C" __global__ void __launch_bounds__(256) scalar_layers(const __grid_constant__ scalar_args a)
{
    const scalar_matched *m = a.matched;
    const int num_x = a.axis == 0 ? m[0].num : a.num[0], num_z = a.axis == 2 ? m[2].num : a.num[2];
    const int at = blockIdx.x * 256 + threadIdx.x, row = at / num_z, column = at % num_z;
    const int last_y = a.wall[1] - a.wall[0], first_y = -a.wall[0], end_y = first_y + a.num[1];
    if (row >= (a.axis == 1 ? m[1].num : a.num[1]))
        return;
    const int y = a.axis == 1 ? node_of(m[1], row) : first_y + row;
    const int z = a.axis == 2 ? node_of(m[2], column) : column;
    const int iy = matched_at(m[1], y), iz = matched_at(m[2], z);
    if (y < first_y || y >= end_y || (a.axis == 2 && iy >= 0))
        return;
    for (int plane = blockIdx.y; plane < num_x; plane += gridDim.y) {
        const int x = a.axis == 0 ? node_of(m[0], plane) : plane, ix = matched_at(m[0], x);
        if (a.axis > 0 && ix >= 0)
            continue;
        const long long place = x * a.plane + (long long)y * a.pitch + z;
        const REAL *here = (const REAL *)a.p + place;
        REAL sum = 0, *q = (REAL *)a.q + place;
        const REAL old = *q;
        const long long at_x = ix * m[0].stride_x + y * m[0].stride_y + z;
        const long long at_y = x * m[1].stride_x + iy * m[1].stride_y + z;
        const long long at_z = x * m[2].stride_x + y * m[2].stride_y + iz;
        if (ix >= 0) {
            const memories<1> own = load_memories<1>(m[0], at_x);
            const neighbours p(a, 0, a.num[0] - 1, here, a.plane, x);
            add_matched<HALF, 1>(m[0], ix, at_x, own, [&](int k, int) { return p.v[HALF + k]; }, &sum);
        }
        if (iy >= 0) {
            const memories<1> own = load_memories<1>(m[1], at_y);
            const neighbours p(a, 1, last_y, here, a.pitch, y);
            add_matched<HALF, 1>(m[1], iy, at_y, own, [&](int k, int) { return p.v[HALF + k]; }, &sum);
        }
        if (iz >= 0) {
            const memories<1> own = load_memories<1>(m[2], at_z);
            const neighbours p(a, 2, a.num[2] - 1, here, 1, z);
            add_matched<HALF, 1>(m[2], iz, at_z, own, [&](int k, int) { return p.v[HALF + k]; }, &sum);
        }
#if SPLIT == 0
        *q = scalar_previous(sum, old);
#elif SPLIT == 1
        *q = scalar_previous_split(sizeof(REAL) == 4 ? (REAL)a.speed32 : (REAL)a.speed64, sum, old);
#else
        *q = scalar_previous_split(((const REAL *)a.speed)[place], sum, old);
#endif
    }
}
