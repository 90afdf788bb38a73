/* step.cu: one step of the scalar scheme over the grid, rows of y or planes of x. A block owns TILE_Y rows of 32 vectors
 * along z and marches along x: a thread holds one vector of 16 bytes in 2 HALF + 1 planes, x neighbours in
 * its registers, y and z neighbours from one plane in shared memory (two buffers, one barrier a plane). While
 * a plane is computed, data of the next one are loaded into registers and (rows next to the tile) shared
 * memory, and data of the one after that into L2. Values beyond a side are images, loaded from the mirrored
 * position; blocks away from sides run code without them. Per node and step: 3 words of memory (4 where c
 * varies), 9 HALF + 9 flop, 6 more from order 4 on; rows next to the tile come from L2. In blocks with matched layers
 * the layers' terms are subtracted from level n - 1 (step_matched.h): 6 more words per node and axis. Defines: REAL,
 * HALF, SPLIT (0 folded, 1 one speed, 2 speeds of nodes), DAMP (1: sponges), MATCHED (1: matched layers),
 * TILE_Y; MONITOR where there is one (2: the next level goes to an array of its own; 1: that, and samples are taken,
 * step_monitor.h). */
#include "common/prefetch.h"
#include "common/side.h"
#include "fd/scalar/args.h"

#if !defined(REAL) || !defined(HALF) || !defined(SPLIT) || !defined(DAMP) || !defined(MATCHED) ||            \
    !defined(TILE_Y)
#error "step.cu needs REAL, HALF, SPLIT, DAMP, MATCHED and TILE_Y"
#endif
#define DEVICE        static __device__ __forceinline__
#define UNROLL        _Pragma("unroll")
#define FMA(a, b, c)  fma(a, b, c)
#define DEVICE_MEMBER __device__ __forceinline__
#include "common/async.h"
#include "physics/scalar.h"

constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int TILE_Z = 32 * WIDTH;
constexpr int GHOST = (HALF + WIDTH - 1) / WIDTH * WIDTH; /* beside a row, in whole vectors */
constexpr int ROW = TILE_Z + 2 * GHOST;
constexpr int WINDOW = TILE_Y + 2 * HALF;
constexpr int THREADS = 32 * TILE_Y;
constexpr int ROW_JOBS = (2 * HALF + TILE_Y - 1) / TILE_Y;            /* ghost vectors a thread */
constexpr int END_JOBS = (2 * HALF * TILE_Y + THREADS - 1) / THREADS; /* ghost values a thread */
/* Warps an SM: as many as the registers allow that hold the planes and the loads in flight, because the
 * loads in flight limit the speed. */
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

/* The node of y or z whose value stands at i; `odd` is flipped where the sign changes. */
DEVICE int image(const scalar_args &a, int axis, int i, bool &odd)
{
    int sign = 1;
    /* Only staggered schemes have such sides; code for them would slow the step. */
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
#include "fd/scalar/step_matched.h"
#endif

#if MONITOR
#define NEXT a.monitor.next
#else
#define NEXT a.q
#endif
#if MONITOR == 1
#include "fd/scalar/step_monitor.h"
#endif

/* Where the row at y begins in a plane, counted from z; -1 where nothing needs it. */
DEVICE int row_of(const scalar_args &a, int y, int z, bool &odd)
{
    return y < a.num[1] + HALF && z < a.num[2] ? (image(a, 1, y, odd) - a.wall[0]) * a.pitch + z : -1;
}

/* What a tile reads of a plane beyond its own nodes, distributed over the block's threads: whole vectors
 * of the rows below and above, and single values at both ends of its rows. Places count from a plane's
 * first node and from the beginning of the shared plane; -1: none. */
struct surroundings {
    int row[ROW_JOBS], row_to[ROW_JOBS];
    bool row_odd[ROW_JOBS];
    int tip[END_JOBS], tip_to[END_JOBS];
    bool tip_odd[END_JOBS];
    REAL value[END_JOBS]; /* of the next plane, in flight */

    DEVICE_MEMBER surroundings(const scalar_args &a, int y0, int z0, int row_end)
    {
        const int lane = threadIdx.x, thread = threadIdx.y * 32 + lane;
        UNROLL for (int job = 0; job < ROW_JOBS; job++) {
            const int number = job * TILE_Y + threadIdx.y, at = number < HALF ? number : number + TILE_Y;
            row_odd[job] = false;
            row[job] = number < 2 * HALF ? row_of(a, y0 - HALF + at, z0 + lane * WIDTH, row_odd[job]) : -1;
            row_to[job] = at * ROW + GHOST + lane * WIDTH;
        }
        UNROLL for (int job = 0; job < END_JOBS; job++) {
            const int number = job * THREADS + thread, at = number % (2 * HALF),
                      tip_row = number / (2 * HALF);
            const int tip_z = at < HALF ? z0 - HALF + at : row_end + at - HALF;
            tip[job] = -1;
            tip_odd[job] = false;
            tip_to[job] = (HALF + tip_row) * ROW + GHOST + tip_z - z0;
            if (tip_row < TILE_Y && y0 + tip_row < a.num[1])
                tip[job] = (y0 + tip_row - a.wall[0]) * a.pitch + image(a, 2, tip_z, tip_odd[job]);
        }
    }
    /* Loads those of a plane: rows to shared memory, ends to registers. */
    DEVICE_MEMBER void fetch(const REAL *plane, REAL (*window)[ROW])
    {
        UNROLL for (int job = 0; job < ROW_JOBS; job++)
            if (row[job] >= 0)
                copy_async((vec *)(window[0] + row_to[job]), (const vec *)(plane + row[job]));
        copy_commit();
        UNROLL for (int job = 0; job < END_JOBS; job++)
            value[job] = tip[job] < 0 ? (REAL)0 : plane[tip[job]];
    }
    /* Stores them in shared memory; rows that are images with the other sign change it there. */
    template <bool EDGE> DEVICE_MEMBER void settle(REAL (*window)[ROW]) const
    {
        UNROLL for (int job = 0; job < END_JOBS; job++)
            if (tip[job] >= 0)
                window[0][tip_to[job]] = tip_odd[job] ? -value[job] : value[job];
        copy_wait<0>();
        if constexpr (EDGE) {
            UNROLL for (int job = 0; job < ROW_JOBS; job++)
                if (row[job] >= 0 && row_odd[job])
                    negate(*(vec *)(window[0] + row_to[job]));
        }
    }
};

/* Adds what pair m along an axis gives to L p (physics/scalar.h), the first one with the centre. */
DEVICE REAL add_pair(const scalar_args &a, int axis, int m, REAL low, REAL high, REAL p, REAL sum)
{
    if (m > 1)
        return scalar_pair(WEIGHT(axis, m), low, high, sum);
    sum = scalar_first(WEIGHT(axis, 1), low, high, p, sum);
    return HALF > 1 ? scalar_center(WEIGHT(axis, 0), p, sum) : sum;
}

/* L p at a thread's nodes. queue: planes x - HALF .. x + HALF of these nodes; mine: the nodes in shared memory. */
DEVICE vec differences(const scalar_args &a, const vec *queue, const REAL *mine)
{
    vec sum = {}, near[2 * (GHOST / WIDTH) + 1];
    const vec p = queue[HALF];
    UNROLL for (int m = 1; m <= HALF; m++) {
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = add_pair(a, 0, m, queue[HALF - m].v[l], queue[HALF + m].v[l], p.v[l], sum.v[l]);
    }
    UNROLL for (int m = 1; m <= HALF; m++) {
        vec low = load(mine - m * ROW), high = load(mine + m * ROW);
        UNROLL for (int l = 0; l < WIDTH; l++)
            sum.v[l] = add_pair(a, 1, m, low.v[l], high.v[l], p.v[l], sum.v[l]);
    }
    UNROLL for (int i = 0; i < 2 * (GHOST / WIDTH) + 1; i++)
        near[i] = load(mine - GHOST + i * WIDTH);
    UNROLL for (int m = 1; m <= HALF; m++) {
        UNROLL for (int l = 0; l < WIDTH; l++) {
            constexpr int W = WIDTH;
            const int low = GHOST + l - m, high = GHOST + l + m;
            sum.v[l] =
                add_pair(a, 2, m, near[low / W].v[low % W], near[high / W].v[high % W], p.v[l], sum.v[l]);
        }
    }
    return sum;
}

/* A thread's WIDTH nodes of each plane. EDGE: whether they may lie beyond sides, or be images along y. */
template <bool EDGE> struct column {
    int own; /* place in a plane; -1: nothing needs it */
    bool own_odd, store;
    vec front, old, speed; /* p HALF planes ahead, q and c^2 of the next plane, in flight */

    DEVICE_MEMBER column(const scalar_args &a, int y, int z)
        : own_odd(false), store(!EDGE || (y < a.num[1] && z < a.num[2])), old{}, speed{}
    {
        own = row_of(a, y, z, own_odd);
    }
    /* p of a plane; beyond sides along x of its image, which the host looked up: code for that in the loop was
     * a seventh of its instructions. */
    DEVICE_MEMBER vec plane(const scalar_args &a, int x) const
    {
        bool odd = EDGE && own_odd;
        vec found = {};
        if (x < a.held[0] || x >= a.held[1]) {
            x = x < a.held[0] ? a.beyond[0][a.held[0] - 1 - x] : a.beyond[1][x - a.held[1]];
            odd ^= x < 0;
            x = x < 0 ? -1 - x : x;
        }
        if (!EDGE || own >= 0)
            found = load((const REAL *)a.p + x * a.plane + own);
        if (odd)
            negate(found);
        return found;
    }
    DEVICE_MEMBER void fetch(const scalar_args &a, int x)
    {
        front = plane(a, x + HALF);
        if (store)
            old = load((const REAL *)a.q + x * a.plane + own);
        if (SPLIT == 2 && store)
            speed = load((const REAL *)a.speed + x * a.plane + own);
    }
    /* Into L2. */
    DEVICE_MEMBER void prefetch(const scalar_args &a, int x) const
    {
        if (x + HALF < a.held[1])
            prefetch_l2((const REAL *)a.p + (x + HALF) * a.plane + own);
        prefetch_l2((const REAL *)a.q + x * a.plane + own);
        if (SPLIT == 2)
            prefetch_l2((const REAL *)a.speed + x * a.plane + own);
    }
};

#if SPLIT == 1
#define SPEED(l) CONSTANT(speed)
#else
#define SPEED(l) speed.v[l]
#endif

#if MATCHED
/* The previous level, minus what layers add to the differences. */
DEVICE vec matched_previous(const scalar_args &a, vec speed, vec added, vec previous)
{
    UNROLL for (int l = 0; l < WIDTH; l++)
        previous.v[l] = SPLIT == 0 ? scalar_previous(added.v[l], previous.v[l])
                                   : scalar_previous_split(SPEED(l), added.v[l], previous.v[l]);
    return previous;
}
#endif

/* The next level, from that sum. */
DEVICE vec next_level(const scalar_args &a, vec speed, vec sum, vec center, vec previous, vec damp)
{
    UNROLL for (int l = 0; l < WIDTH; l++) {
        if (SPLIT)
            sum.v[l] = DAMP ? scalar_split_damped(SPEED(l), sum.v[l], center.v[l], previous.v[l], damp.v[l])
                            : scalar_split(SPEED(l), sum.v[l], center.v[l], previous.v[l]);
        else
            sum.v[l] = DAMP ? scalar_change_damped(sum.v[l], center.v[l], previous.v[l], damp.v[l])
                            : scalar_change(sum.v[l], center.v[l], previous.v[l]);
        sum.v[l] = DAMP ? scalar_advance_damped(center.v[l], sum.v[l], damp.v[l])
                        : scalar_advance(center.v[l], sum.v[l]);
    }
    return sum;
}

/* A block's planes. EDGE: whether some of its threads are beyond sides, or some rows images along y.
 * LAYERED: whether some of its nodes are in matched layers. */
template <bool EDGE, bool LAYERED>
DEVICE void march(const scalar_args &a, REAL (*window)[WINDOW][ROW], REAL *along_z)
{
    const int row = threadIdx.y, z0 = blockIdx.x * TILE_Z, y0 = blockIdx.y * TILE_Y;
    const int z = z0 + threadIdx.x * WIDTH, y = y0 + row;
    const int begin = a.begin + blockIdx.z * a.chunk, end = begin + a.chunk < a.end ? begin + a.chunk : a.end;
    const int row_end = z0 + TILE_Z < a.num[2] ? z0 + TILE_Z : a.num[2]; /* of the tile's rows */
    column<EDGE> nodes(a, y, z);
    surroundings around(a, y0, z0, row_end);
    vec damp = {};
#if DAMP
    REAL damp_y = nodes.store ? ((const REAL *)a.damp[1])[y] : (REAL)1;
    vec damp_z = {};
    if (nodes.store)
        damp_z = load((const REAL *)a.damp[2] + z);
#endif
#if MATCHED
    const layers_of_row layers(a, y, row_end, nodes.store, along_z + row * TILE_Z);
#endif

#if MONITOR == 1
    samples_of_row samples(a, y, z, nodes.store);
#endif

    vec queue[2 * HALF + 1]; /* planes x - HALF .. x + HALF */
    UNROLL for (int i = 0; i < 2 * HALF; i++)
        queue[i + 1] = nodes.plane(a, begin - HALF + i);
    /* Data of the next plane are in flight while this one is computed, those of the plane after it on
     * their way to L2. */
    auto fetch = [&](int x) {
        nodes.fetch(a, x);
        around.fetch((const REAL *)a.p + x * a.plane, window[x & 1]);
#if MATCHED
        if constexpr (LAYERED)
            layers.prefetch(a, x);
#endif
        if (nodes.store && x + 1 < end)
            nodes.prefetch(a, x + 1);
#if MONITOR == 1
        samples.fetch(a, x);
        if (x + 1 < end)
            samples.prefetch(a, x + 1);
#endif
    };
    fetch(begin);

    for (int x = begin; x < end; x++) {
        REAL(*now)[ROW] = window[x & 1];
        UNROLL for (int i = 0; i < 2 * HALF; i++)
            queue[i] = queue[i + 1];
        queue[2 * HALF] = nodes.front;
        const vec center = queue[HALF], speed = nodes.speed;
        vec previous = nodes.old;
#if MONITOR == 1
        samples.keep(a, x, previous, center);
#endif
        REAL *mine = &now[HALF + row][GHOST + threadIdx.x * WIDTH];
        if (!EDGE || z + WIDTH <= a.num[2])
            *(vec *)mine = center;
        else /* images of the last nodes stand behind them */
            for (int l = 0; l < WIDTH; l++)
                if (z + l < a.num[2])
                    mine[l] = center.v[l];
        around.settle<EDGE>(now);
        __syncthreads(); /* the other shared plane is free as well */
        if (x + 1 < end)
            fetch(x + 1);
#if MATCHED
        if constexpr (LAYERED)
            previous = matched_previous(a, speed, layers.add(a, x, queue, mine), previous);
#endif
#if DAMP
        const REAL damp_xy = ((const REAL *)a.damp[0])[x] * damp_y;
        UNROLL for (int l = 0; l < WIDTH; l++)
            damp.v[l] = damp_xy * damp_z.v[l];
#endif
        const vec sum = differences(a, queue, mine);
        if (!nodes.store)
            continue;
        *(vec *)((REAL *)NEXT + x * a.plane + nodes.own) = next_level(a, speed, sum, center, previous, damp);
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
    const int x = a.begin + blockIdx.z * a.chunk, y = first - a.wall[0], z = blockIdx.x * TILE_Z;
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
/* Two blocks an SM: with more, code for layers spills. */
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    scalar_step_layers(const __grid_constant__ scalar_args a)
{
    step<true>(a);
}
#endif
