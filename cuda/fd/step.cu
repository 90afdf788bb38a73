/* step.cu: one step of the scalar scheme over the grid, or rows of y. A block owns TILE_Y rows of 32 vectors
 * along z and marches along x: a thread holds one vector of 16 bytes in 2 HALF + 1 planes, x neighbours in
 * its registers, y and z neighbours from one plane in shared memory (two buffers, one barrier a plane). While
 * a plane is computed, data of the next one are loaded into registers and (rows next to the tile) shared
 * memory, and data of the one after that into L2. Values beyond a side are images, loaded from the mirrored
 * position; blocks away from sides run code without them. Per node and step: 3 words of memory (4 where c
 * varies), 9 HALF + 2 flop; rows next to the tile come from L2. In blocks with matched layers the layers'
 * terms are subtracted from level n - 1 (step_matched.h): 6 more words per node and axis. Defines: REAL,
 * HALF, SPLIT (0 folded, 1 one speed, 2 speeds of nodes), DAMP (1: sponges), MATCHED (1: matched layers),
 * TILE_Y. */
#include "common/prefetch.h"
#include "fd/async.h"
#include "fd/image.h"
#include "fd/scalar_args.h"

#if !defined(REAL) || !defined(HALF) || !defined(SPLIT) || !defined(DAMP) || !defined(MATCHED) ||            \
    !defined(TILE_Y)
#error "step.cu needs REAL, HALF, SPLIT, DAMP, MATCHED and TILE_Y"
#endif
#define DEVICE        static __device__ __forceinline__
#define UNROLL        _Pragma("unroll")
#define FMA(a, b, c)  fma(a, b, c)
#define DEVICE_MEMBER __device__ __forceinline__
#include "physics/scalar.h"

constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int TILE_Z = 32 * WIDTH;
constexpr int GHOST = (HALF + WIDTH - 1) / WIDTH * WIDTH; /* beside a row, in whole vectors */
constexpr int ROW = TILE_Z + 2 * GHOST;
constexpr int WINDOW = TILE_Y + 2 * HALF;
constexpr int THREADS = 32 * TILE_Y;
constexpr int ROW_JOBS = (2 * HALF + TILE_Y - 1) / TILE_Y;            /* ghost vectors a thread */
constexpr int END_JOBS = (2 * HALF * TILE_Y + THREADS - 1) / THREADS; /* ghost values a thread */
/* Warps an SM: as many as the registers allow that hold the planes and what is on the way, for what is on the
 * way from memory is what limits the speed. */
constexpr int WORDS = HALF * sizeof(REAL) / 4;
constexpr int WARPS = WORDS <= 1                     ? 32
                      : WORDS <= 2                   ? (SPLIT == 2 ? 24 : 32)
                      : WORDS <= 4 - (DAMP || SPLIT) ? 24
                      : WORDS <= 5                   ? 16
                                                     : 8;
constexpr int MIN_BLOCKS = WARPS > TILE_Y ? WARPS / TILE_Y : 1;

struct __align__(16) vec {
    REAL v[WIDTH];
};

/* Operands from the constant bank, in REAL there. */
#define CONSTANT(name) (sizeof(REAL) == 4 ? (REAL)a.name##32 : (REAL)a.name##64)
#define WEIGHT(axis, m)                                                                                      \
    (sizeof(REAL) == 4 ? (REAL)a.weight32[(axis) * (FD_MAX_HALF + 1) + (m)]                                  \
                       : (REAL)a.weight64[(axis) * (FD_MAX_HALF + 1) + (m)])

/* The node of y or z whose value stands at i; `odd` changes where its sign does. */
DEVICE int image(const scalar_args &a, int axis, int i, bool &odd)
{
    int sign = 1;
    /* Only staggered schemes have such sides: code for them would slow the step. */
    __builtin_assume(a.side[axis][0] != SIDE_NOTHING && a.side[axis][1] != SIDE_NOTHING);
    i = fd_place(axis == 1 ? a.wall[0] : 0, axis == 1 ? a.wall[1] : a.num[axis] - 1, 0, a.side[axis][0],
                 a.side[axis][1], i, &sign);
    odd ^= sign < 0;
    return i;
}

DEVICE void negate(vec &v)
{
    UNROLL for (int l = 0; l < WIDTH; l++)
        v.v[l] = -v.v[l];
}
DEVICE vec load(const REAL *from)
{
    return *(const vec *)from;
}

#if MATCHED
#include "fd/step_matched.h"
#endif

/* Where the row at y stands in a plane from z on, or -1 where nothing needs it. */
DEVICE int row_of(const scalar_args &a, int y, int z, bool &odd)
{
    return y < a.num[1] + HALF && z < a.num[2] ? (image(a, 1, y, odd) - a.wall[0]) * a.pitch + z : -1;
}

/* A block's planes. EDGE: whether some of its threads are beyond sides, or some rows images along y.
 * LAYERED: whether some of its nodes are in matched layers. */
template <bool EDGE, bool LAYERED>
DEVICE void march(const scalar_args &a, REAL (*window)[WINDOW][ROW], REAL *along_z)
{
    const int lane = threadIdx.x, row = threadIdx.y, thread = row * 32 + lane;
    const int z0 = blockIdx.x * TILE_Z, y0 = blockIdx.y * TILE_Y, z = z0 + lane * WIDTH, y = y0 + row;
    const int begin = blockIdx.z * a.chunk, end = begin + a.chunk < a.num[0] ? begin + a.chunk : a.num[0];
    const int row_end =
        z0 + TILE_Z < a.num[2] ? z0 + TILE_Z : a.num[2]; /* of the nodes of this tile's rows */
    const bool store = !EDGE || (y < a.num[1] && z < a.num[2]);
    const REAL *p = (const REAL *)a.p;
    bool own_odd = false;
    const int own = row_of(a, y, z, own_odd);

    int beside[ROW_JOBS], beside_to[ROW_JOBS]; /* rows beyond the tile: from where in a plane to where here */
    bool beside_odd[ROW_JOBS];
    UNROLL for (int job = 0; job < ROW_JOBS; job++) {
        const int number = job * TILE_Y + row, at = number < HALF ? number : number + TILE_Y;
        beside_odd[job] = false;
        beside[job] = number < 2 * HALF ? row_of(a, y0 - HALF + at, z, beside_odd[job]) : -1;
        beside_to[job] = at * ROW + GHOST + lane * WIDTH;
    }
    int tip[END_JOBS], tip_to[END_JOBS]; /* single values at both ends of the rows */
    bool tip_odd[END_JOBS];
    UNROLL for (int job = 0; job < END_JOBS; job++) {
        const int number = job * THREADS + thread, at = number % (2 * HALF), tip_row = number / (2 * HALF);
        const int tip_z = at < HALF ? z0 - HALF + at : row_end + at - HALF;
        tip[job] = -1;
        tip_odd[job] = false;
        tip_to[job] = (HALF + tip_row) * ROW + GHOST + tip_z - z0;
        if (tip_row < TILE_Y && y0 + tip_row < a.num[1])
            tip[job] = (y0 + tip_row - a.wall[0]) * a.pitch + image(a, 2, tip_z, tip_odd[job]);
    }
#if DAMP
    REAL damp_y = store ? ((const REAL *)a.damp[1])[y] : (REAL)1;
    vec damp_z = {};
    if (store)
        damp_z = load((const REAL *)a.damp[2] + z);
#endif

#if MATCHED
    const layers_of_row layers(a, y, row_end, store, along_z + row * TILE_Z);
#endif

    /* A plane of this thread's row; beyond sides along x its image, which the host looked up: code for it in
     * the loop cost a seventh of its instructions. */
    auto plane = [&](int x) {
        bool odd = EDGE && own_odd;
        vec found = {};
        if (x < 0 || x >= a.num[0]) {
            x = x < 0 ? a.beyond[0][-1 - x] : a.beyond[1][x - a.num[0]];
            odd ^= x < 0;
            x = x < 0 ? -1 - x : x;
        }
        if (!EDGE || own >= 0)
            found = load(p + x * a.plane + own);
        if (odd)
            negate(found);
        return found;
    };
    vec queue[2 * HALF + 1]; /* planes x - HALF .. x + HALF */
    UNROLL for (int i = 0; i < 2 * HALF; i++)
        queue[i + 1] = plane(begin - HALF + i);
    /* What the next plane needs: on its way while this one is computed, what comes after it on its way to L2.
     */
    vec front, old = {};
    REAL value[END_JOBS];
#if SPLIT == 2
    vec next_speed = {};
#endif
    auto fetch = [&](int x) {
        const long long at = x * a.plane;
        front = plane(x + HALF);
        if (store)
            old = load((const REAL *)a.q + at + own);
#if SPLIT == 2
        if (store)
            next_speed = load((const REAL *)a.speed + at + own);
#endif
        UNROLL for (int job = 0; job < ROW_JOBS; job++)
            if (beside[job] >= 0)
                copy_async((vec *)(window[x & 1][0] + beside_to[job]), (const vec *)(p + at + beside[job]));
        copy_commit();
        UNROLL for (int job = 0; job < END_JOBS; job++)
            value[job] = tip[job] < 0 ? (REAL)0 : p[at + tip[job]];
#if MATCHED
        if constexpr (LAYERED)
            layers.prefetch(a, x);
#endif
        if (store && x + 1 < end) {
            if (x + 1 + HALF < a.num[0])
                prefetch_l2(p + (x + 1 + HALF) * a.plane + own);
            prefetch_l2((const REAL *)a.q + at + a.plane + own);
#if SPLIT == 2
            prefetch_l2((const REAL *)a.speed + at + a.plane + own);
#endif
        }
    };
    fetch(begin);

    for (int x = begin; x < end; x++) {
        REAL(*now)[ROW] = window[x & 1];
        UNROLL for (int i = 0; i < 2 * HALF; i++)
            queue[i] = queue[i + 1];
        queue[2 * HALF] = front;
        const vec center = queue[HALF];
        vec previous = old;
#if SPLIT == 2
        const vec speed = next_speed;
#endif
        REAL *mine = &now[HALF + row][GHOST + lane * WIDTH];
        if (!EDGE || z + WIDTH <= a.num[2])
            *(vec *)mine = center;
        else /* images of the last nodes stand behind them */
            for (int l = 0; l < WIDTH; l++)
                if (z + l < a.num[2])
                    mine[l] = center.v[l];
        UNROLL for (int job = 0; job < END_JOBS; job++)
            if (tip[job] >= 0)
                now[0][tip_to[job]] = tip_odd[job] ? -value[job] : value[job];
        copy_wait<0>();
        if constexpr (EDGE) {
            UNROLL for (int job = 0; job < ROW_JOBS; job++)
                if (beside[job] >= 0 && beside_odd[job])
                    negate(*(vec *)(now[0] + beside_to[job]));
        }
        __syncthreads(); /* the other window is free as well */
        if (x + 1 < end)
            fetch(x + 1);
#if MATCHED
        if constexpr (LAYERED) {
            const vec added = layers.add(a, x, queue, mine);
            UNROLL for (int l = 0; l < WIDTH; l++)
                previous.v[l] =
#if SPLIT == 0
                    scalar_previous(added.v[l], previous.v[l]);
#elif SPLIT == 1
                    scalar_previous_split(CONSTANT(speed), added.v[l], previous.v[l]);
#else
                    scalar_previous_split(speed.v[l], added.v[l], previous.v[l]);
#endif
        }
#endif

        vec sum, near[2 * (GHOST / WIDTH) + 1];
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_center(CONSTANT(center), center.v[l]);
        UNROLL for (int m = 1; m <= HALF; m++) {
            UNROLL for (int l = 0; l < WIDTH; l++)
                sum.v[l] = scalar_pair(WEIGHT(0, m), queue[HALF - m].v[l], queue[HALF + m].v[l], sum.v[l]);
        }
        UNROLL for (int m = 1; m <= HALF; m++) {
            vec low = load(mine - m * ROW), high = load(mine + m * ROW);
            UNROLL for (int l = 0; l < WIDTH; l++)
                sum.v[l] = scalar_pair(WEIGHT(1, m), low.v[l], high.v[l], sum.v[l]);
        }
        UNROLL for (int i = 0; i < 2 * (GHOST / WIDTH) + 1; i++)
            near[i] = load(mine - GHOST + i * WIDTH);
        UNROLL for (int m = 1; m <= HALF; m++) {
            UNROLL for (int l = 0; l < WIDTH; l++) {
                constexpr int W = WIDTH;
                const int low = GHOST + l - m, high = GHOST + l + m;
                sum.v[l] =
                    scalar_pair(WEIGHT(2, m), near[low / W].v[low % W], near[high / W].v[high % W], sum.v[l]);
            }
        }
        if (!store)
            continue;
#if SPLIT == 1
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_split(CONSTANT(speed), sum.v[l], center.v[l]);
#elif SPLIT == 2
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_split(speed.v[l], sum.v[l], center.v[l]);
#endif
#if DAMP
        REAL damp_xy = ((const REAL *)a.damp[0])[x] * damp_y;
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_advance_damped(sum.v[l], previous.v[l], damp_xy * damp_z.v[l]);
#else
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_advance(sum.v[l], previous.v[l]);
#endif
        *(vec *)((REAL *)a.q + x * a.plane + own) = sum;
    }
}

/* A block of the launch, if it is one of those with nodes in layers, or one of those without. */
template <bool LAYERED> DEVICE void step(const scalar_args &a)
{
    __shared__ __align__(16) REAL window[2][WINDOW][ROW];
    const int first = blockIdx.y * TILE_Y, end = first + TILE_Y;
    REAL *along_z = nullptr;
#if MATCHED
    __shared__ __align__(16) REAL sums[LAYERED ? TILE_Y * TILE_Z : 1];
    along_z = sums;
    const int x = blockIdx.z * a.chunk, y = first - a.wall[0], z = blockIdx.x * TILE_Z;
    if (LAYERED != (matched_between(a.matched[0], x, x + a.chunk) > 0 ||
                    matched_between(a.matched[1], y, y + TILE_Y) > 0 ||
                    matched_between(a.matched[2], z, z + TILE_Z) > 0))
        return;
#endif
    if (first < HALF || end + HALF > a.num[1] || (int)(blockIdx.x + 1) * TILE_Z > a.num[2])
        march<true, LAYERED>(a, window, along_z);
    else
        march<false, LAYERED>(a, window, along_z);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    scalar_step(const __grid_constant__ scalar_args a)
{
    step<false>(a);
}

#if MATCHED
/* Two blocks an SM: with more, what layers need spills. */
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    scalar_step_layers(const __grid_constant__ scalar_args a)
{
    step<true>(a);
}
#endif
