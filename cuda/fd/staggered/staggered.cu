/* staggered.cu: the two passes of a step of the staggered schemes, for every physics (STAGGERED, its header
 * in cuda/physics). A block owns rows of WIDTH points per thread along z and marches along x: a thread holds
 * fields differenced along x in registers, 2 HALF planes of its WIDTH points, and reads neighbours along y
 * and z from the first-level cache, where the block's rows keep them. staggered_ghosts fills ghosts beyond
 * walls of x and y between passes; images beyond walls of z are made from neighbouring points; beyond layers
 * all values are 0. Walls of x and y and layers have kernels of their own. No barriers. Words of memory per
 * node and step: elastic 30, p-v 14, Maxwell 21, one less for each uniform material. Defines: REAL, HALF,
 * STAGGERED, LAYERS (1: any), FADES (1: some damp the fields), TILE_Y and LANES (threads of a block), WIDTH
 * (up to 16 bytes), MIN_BLOCKS (an SM; MIN_BLOCKS_INSIDE of the passes inside), PITCH; APART where there is only the
 * pass of field 0, whose next level goes to an array of its own. */
#include "common/prefetch.h"
#include "common/side.h"
#include "fd/scalar/args.h"
#include "fd/staggered/args.h"

#if !defined(REAL) || !defined(HALF) || !defined(STAGGERED) || !defined(LAYERS) || !defined(FADES) ||        \
    !defined(TILE_Y) || !defined(WIDTH) || !defined(MIN_BLOCKS) || !defined(MIN_BLOCKS_INSIDE) ||            \
    !defined(PITCH) || !defined(LANES)
#error                                                                                                       \
    "staggered.cu needs REAL, HALF, STAGGERED, LAYERS, FADES, TILE_Y, LANES, WIDTH, MIN_BLOCKS, _INSIDE and PITCH"
#endif
#define DEVICE   static __device__ __forceinline__
#define TABLE    constexpr
#define UNROLL   _Pragma("unroll")
#define FN(name) name

DEVICE float quotient(float a, float b)
{
    return __fdividef(a, b); /* 2 units in the last place; 0 of infinite b */
}
DEVICE double quotient(double a, double b)
{
    return a / b;
}
#define DIVIDE(a, b) quotient(a, b)
#include STAGGERED

#include "fd/staggered/pass.h"

#include "fd/staggered/difference.h"
#include "fd/staggered/layers.h"

/* ---- passes ---- */

/* Updates the fields of a pass at a thread's points from the differences d and the materials m. */
template <int PASS, bool WALLS>
DEVICE void update(const staggered_args &a, vec *field, const REAL (*d)[WIDTH], const REAL (*m)[WIDTH], int x,
                   int y, int z)
{
    using p = of_pass<PASS>;
    UNROLL for (int k = 0; k < WIDTH; k++) {
        REAL f[p::count], e[p::num_derivative], c[p::num_need];
        UNROLL for (int i = 0; i < p::count; i++)
            f[i] = field[i].v[k];
        UNROLL for (int i = 0; i < p::num_derivative; i++)
            e[i] = d[i][k];
        UNROLL for (int i = 0; i < p::num_need; i++)
            c[i] = m[i][k];
        if constexpr (PASS == 0)
            pass0(f, e, c);
        else
            pass1(f, e, c);
        if constexpr (WALLS) { /* sides where a field is held at 0; 64: beyond the row, all are */
            int sides = (x == 0) | (x == a.num[0] - 1) << 1 | (y == 0) << 2 | (y == a.num[1] - 1) << 3 |
                        (z + k == 0) << 4 | (z + k == a.num[2] - 1) << 5 |
                        ((unsigned)(z + k) >= (unsigned)a.num[2]) << 6;
            UNROLL for (int i = 0; i < p::count; i++)
                if (sides & a.pinned[p::first + i])
                    f[i] = 0;
        }
        UNROLL for (int i = 0; i < p::count; i++)
            field[i].v[k] = f[i];
    }
}

/* WALLS, LAYERED: whether there may be walls among the places or those around them, and layers. */
template <int PASS, bool WALLS, bool LAYERED>
DEVICE void march(const staggered_args &a, int y, int z, const int begin, const int end)
{
    using p = of_pass<PASS>;
    long long at = a.origin + (long long)begin * a.plane + (long long)y * (PITCH) + z;
    x_queue<PASS> queue;
    fill_queue(a, at, queue);
#pragma unroll 1
    for (int x = begin; x < end; x++, at += a.plane) {
        REAL d[p::num_derivative][WIDTH], m[p::num_need][WIDTH];
        vec field[p::count];
#if LAYERS
        if constexpr (LAYERED)
            if (x + 1 < end)
                absorb_all_soon<PASS>(a, x + 1, y, z);
#endif
        each<0, p::num_derivative>([&](auto i) {
            constexpr int n = decltype(i)::value;
            difference<p::derivative + n, WALLS>(a, at, z, queue.line, d[n]);
        });
        UNROLL for (int i = 0; i < p::count; i++)
            field[i] = load((const REAL *)a.field[p::first + i] + at);
        each<0, p::num_need>([&](auto i) {
            constexpr int n = decltype(i)::value;
            material<p::need + n>(a, at, m[n]);
        });
#if LAYERS
        if constexpr (LAYERED)
            absorb_all<PASS>(a, d, x, y, z);
#endif
#if LAYERS && FADES
        if constexpr (LAYERED)
            fade<PASS>(a, field, x, y, z);
#endif
        update<PASS, WALLS>(a, field, d, m, x, y, z);
#if LAYERS && FADES
        if constexpr (LAYERED)
            fade<PASS>(a, field, x, y, z);
#endif
        UNROLL for (int i = 0; i < p::count; i++) {
#if APART
            REAL *to = (REAL *)(p::first + i == 0 ? a.next : a.field[p::first + i]);
#else
            REAL *to = (REAL *)a.field[p::first + i];
#endif
            store(to + at, field[i].v); /* beyond the row: into ghosts */
        }
    }
}

/* A block of a box of the grid, see staggered/args.h. SHELL: what is at walls of x and y, and layers; else
 * the strips at walls of z run beside those that know of none, which read the same rows of memory. Codes that
 * know of walls or layers and one that does not share no loop, and layers no kernel: they spoil each other's
 * order of loads and arithmetic (benchmarks/NOTES.md). */
template <int PASS, bool SHELL, bool LAYERED> DEVICE void pass(const staggered_args &a)
{
    int block = blockIdx.x, number = 0;
    while (block >= a.box[number].blocks)
        block -= a.box[number++].blocks;
    const staggered_box &box = a.box[number];
    const int lanes = box.lanes, rows = THREADS / lanes, thread = threadIdx.y * LANES + threadIdx.x;
    const int across = box.across, along = box.along;
    const int strip = block % across * lanes, z = box.begin[2] + (strip + thread % lanes) * WIDTH;
    const int y = box.begin[1] + block / across % along * rows + thread / lanes;
    const int begin = box.begin[0] + block / across / along * box.planes;
    const int end = begin + box.planes < box.end[0] ? begin + box.planes : box.end[0];
    if (thread / lanes >= rows || y >= box.end[1] || z >= box.end[2] || z + WIDTH <= 0)
        return;
    const int from = box.begin[2] + strip * WIDTH;
    if (SHELL || from < a.clear[0] || from + lanes * WIDTH > a.clear[1])
        march<PASS, true, LAYERED>(a, y, z, begin, end);
    else
        march<PASS, false, false>(a, y, z, begin, end);
}

#define KERNEL(name, PASS, SHELL, LAYERED, BLOCKS)                                                           \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                            \
        name(const __grid_constant__ staggered_args a)                                                       \
    {                                                                                                        \
        pass<PASS, SHELL, LAYERED>(a);                                                                       \
    }
#if !APART
KERNEL(staggered_pass0, 0, false, false, MIN_BLOCKS_INSIDE)
#endif
KERNEL(staggered_pass1, 1, false, false, MIN_BLOCKS_INSIDE)
#if !APART
KERNEL(staggered_walls0, 0, true, false, MIN_BLOCKS)
#endif
KERNEL(staggered_walls1, 1, true, false, MIN_BLOCKS)
#if LAYERS && !APART
KERNEL(staggered_layers0, 0, true, true, MIN_BLOCKS)
#endif
#if LAYERS
KERNEL(staggered_layers1, 1, true, true, MIN_BLOCKS)
#endif

#if !APART
/* ---- ghosts ---- */

DEVICE int mirror(const staggered_ghost_args &a, int field, int axis, int i, int &sign)
{
    const int *side = a.sign[field][axis];
    return fd_place(0, a.num[axis] - 1, a.half[field] >> axis & 1, side[0], side[1], i, &sign);
}

/* Images beyond both sides along one axis, of one field: blockIdx.y says of which. Beyond sides along z of
 * all x and y inside, along y with the ghosts of z, along x with all: together all ghosts, each from a place
 * inside, so that none waits for others. A block has one plane of x, or a row along z of a ghost plane. */
extern "C" __global__ void __launch_bounds__(256)
    staggered_ghosts(const __grid_constant__ staggered_ghost_args a)
{
    constexpr int GHOSTS = 2 * HALF + 1; /* with the last place, an image if it is half a cell on */
    const int field = a.job_field[blockIdx.y], axis = a.job_axis[blockIdx.y], thread = threadIdx.x;
    const int last = a.num[axis] - 1, row = blockIdx.x;
    const bool last_too = (a.half[field] >> axis & 1) && a.sign[field][axis][0] != 0 && last > 0;
    const int planes = a.num_plane[0] + a.num_plane[1];
    const int rows = axis == 0 ? GHOSTS * (a.num[1] + 2 * HALF) : axis == 1 ? GHOSTS * planes : planes;
    REAL *p = (REAL *)a.field[field] + a.origin;
    auto ghost = [&](int number) { return number < HALF ? number - HALF : last + number - HALF; };
    auto plane = [&](int i) { return i < a.num_plane[0] ? a.begin[0] + i : a.begin[1] + i - a.num_plane[0]; };
    int sign = 1;
    if (row >= rows)
        return;
    if (axis == 2) {
        __shared__ int image[GHOSTS], odd[GHOSTS]; /* along z */
        if (thread < GHOSTS) {
            odd[thread] = 1;
            image[thread] = mirror(a, field, 2, ghost(thread), odd[thread]);
        }
        __syncthreads();
        const int x = plane(row);
        const REAL *__restrict__ from = p + mirror(a, field, 0, x, sign) * a.plane;
        REAL *__restrict__ to = p + x * a.plane; /* what is written is not read */
#pragma unroll 4
        for (int i = thread; i < a.num[1] * GHOSTS; i += 256) {
            const int y = i / GHOSTS, number = i - y * GHOSTS;
            int both = sign * odd[number];
            const int line = mirror(a, field, 1, y, both) * (PITCH);
            if ((number != HALF || last_too) && both != 0)
                to[y * (PITCH) + ghost(number)] = (REAL)both * from[line + image[number]];
        }
    } else {
        const int number = row % GHOSTS, other = row / GHOSTS, end = a.num[2] - 1;
        const int x = axis == 0 ? ghost(number) : plane(other), y = axis == 0 ? other - HALF : ghost(number);
        if ((number == HALF && !last_too) || (axis == 0 && !a.side[number >= HALF]))
            return;
        const int from_x = mirror(a, field, 0, x, sign), from_y = mirror(a, field, 1, y, sign);
        if (sign == 0)
            return;
        const REAL *__restrict__ from = p + from_x * a.plane + (long long)from_y * (PITCH);
        REAL *__restrict__ to = p + x * a.plane + (long long)y * (PITCH);
#pragma unroll 4
        for (int z = thread; z < end; z += 256)
            to[z] = (REAL)sign * from[z];
        if (thread < GHOSTS) {
            const int z = thread < HALF ? thread - HALF : end + thread - HALF;
            const int from_z = mirror(a, field, 2, z, sign);
            if (sign != 0)
                to[z] = (REAL)sign * from[from_z];
        }
    }
}
#endif
