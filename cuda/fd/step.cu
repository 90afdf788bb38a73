/* step.cu: one step of the scalar scheme over the grid, or rows of y. A block owns TILE_Y rows of 32 vectors
 * along z and marches along x: a thread holds one vector of 16 bytes in 2 HALF + 1 planes, x neighbours in
 * its registers, y and z neighbours from one plane in shared memory (two buffers, one barrier a plane), the
 * loads of the next plane under way meanwhile. Values beyond a side are images, loaded from where they
 * mirror. A node and step: 3 words of memory (4 where c varies), 9 HALF + 2 flop; rows beside the tile come
 * from L2. Defines: REAL, HALF, SPLIT (0 folded, 1 one speed, 2 speeds of nodes), DAMP (1: layers), TILE_Y.
 */
#include "fd/scalar_args.h"

#if !defined(REAL) || !defined(HALF) || !defined(SPLIT) || !defined(DAMP) || !defined(TILE_Y)
#error "step.cu needs REAL, HALF, SPLIT, DAMP and TILE_Y"
#endif
#define DEVICE       static __device__ __forceinline__
#define FMA(a, b, c) fma(a, b, c)
#include "physics/scalar.h"

static_assert(sizeof(struct scalar_args) == 464, "host and device disagree on scalar_args");

constexpr int WIDTH = 16 / sizeof(REAL);
constexpr int TILE_Z = 32 * WIDTH;
constexpr int GHOST = (HALF + WIDTH - 1) / WIDTH * WIDTH; /* beside a row, in whole vectors */
constexpr int ROW = TILE_Z + 2 * GHOST;
constexpr int WINDOW = TILE_Y + 2 * HALF;
constexpr int THREADS = 32 * TILE_Y;
constexpr int ROW_JOBS = (2 * HALF + TILE_Y - 1) / TILE_Y;            /* ghost vectors a thread */
constexpr int END_JOBS = (2 * HALF * TILE_Y + THREADS - 1) / THREADS; /* ghost values a thread */
/* Blocks an SM: as many as the registers allow that hold the planes and what is on the way, for what is on
 * the way from memory is what limits the speed. */
constexpr int MIN_BLOCKS = (HALF * sizeof(REAL) <= 8    ? 1024
                            : HALF * sizeof(REAL) <= 16 ? 640
                                                        : 384) /
                           THREADS;

struct __align__(16) vec {
    REAL v[WIDTH];
};

/* Operands from the constant bank, in REAL there. */
#define CONSTANT(name) (sizeof(REAL) == 4 ? (REAL)a.name##32 : (REAL)a.name##64)
#define WEIGHT(axis, m)                                                                                      \
    (sizeof(REAL) == 4 ? (REAL)a.weight32[(axis) * (FD_MAX_HALF + 1) + (m)]                                  \
                       : (REAL)a.weight64[(axis) * (FD_MAX_HALF + 1) + (m)])

/* The node whose value times sign stands at i, as fd_image in csrc/fd/fd.h. */
DEVICE int image(const scalar_args &a, int axis, int i, REAL &sign)
{
    int first = axis == 1 ? a.wall[0] : 0, last = axis == 1 ? a.wall[1] : a.num[axis] - 1;
    if (last == first)
        return first;
    if (a.side[axis][0] == 0)
        return (i % (last + 1) + last + 1) % (last + 1);
    while (i < first || i > last) {
        sign = sign * (REAL)a.side[axis][i > last];
        i = 2 * (i < first ? first : last) - i;
    }
    return i;
}

/* Images are rare: whether this is one is the same for a warp. */
DEVICE vec load(const REAL *from, REAL sign)
{
    vec found = *(const vec *)from;
    if (sign != 1) {
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            found.v[l] *= sign;
    }
    return found;
}

/* A row of the window: its place in a plane, or -1 where nothing needs it. */
struct line {
    int at;
    REAL sign;
};

DEVICE line line_of(const scalar_args &a, int y, int z)
{
    line found = {-1, (REAL)1};
    if (y < a.num[1] + HALF && z < a.num[2])
        found.at = (image(a, 1, y, found.sign) - a.wall[0]) * a.pitch + z;
    return found;
}

DEVICE vec load_line(const REAL *plane, const line &line, REAL sign)
{
    vec none = {};
    return line.at < 0 ? none : load(plane + line.at, sign * line.sign);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    scalar_step(const __grid_constant__ scalar_args a)
{
    __shared__ __align__(16) REAL window[2][WINDOW][ROW];
    const int lane = threadIdx.x, row = threadIdx.y, thread = row * 32 + lane;
    const int z0 = blockIdx.x * TILE_Z, y0 = blockIdx.y * TILE_Y, z = z0 + lane * WIDTH, y = y0 + row;
    const int begin = blockIdx.z * a.chunk, end = begin + a.chunk < a.num[0] ? begin + a.chunk : a.num[0];
    const int row_end =
        z0 + TILE_Z < a.num[2] ? z0 + TILE_Z : a.num[2]; /* of the nodes of this tile's rows */
    const REAL *p = (const REAL *)a.p;
    const bool store = y < a.num[1] && z < a.num[2];
    const line own = line_of(a, y, z);

    line beside[ROW_JOBS];
    int beside_row[ROW_JOBS];
#pragma unroll
    for (int job = 0; job < ROW_JOBS; job++) {
        int number = job * TILE_Y + row;
        beside_row[job] = number < HALF ? number : number + TILE_Y;
        beside[job] = line_of(a, y0 - HALF + beside_row[job], z);
        if (number >= 2 * HALF)
            beside[job].at = -1;
    }
    line tip[END_JOBS]; /* single values at both ends of the rows */
    int tip_at[END_JOBS];
#pragma unroll
    for (int job = 0; job < END_JOBS; job++) {
        int number = job * THREADS + thread, at = number % (2 * HALF), tip_row = number / (2 * HALF);
        int tip_z = at < HALF ? z0 - HALF + at : row_end + at - HALF;
        tip[job].at = -1;
        tip[job].sign = 1;
        tip_at[job] = (HALF + tip_row) * ROW + GHOST + tip_z - z0;
        if (tip_row < TILE_Y && y0 + tip_row < a.num[1])
            tip[job].at = (y0 + tip_row - a.wall[0]) * a.pitch + image(a, 2, tip_z, tip[job].sign);
    }
#if DAMP
    REAL damp_y = store ? ((const REAL *)a.damp[1])[y] : (REAL)1;
    vec damp_z = {};
    if (store)
        damp_z = load((const REAL *)a.damp[2] + z, 1);
#endif

    vec queue[2 * HALF + 1]; /* planes x - HALF .. x + HALF */
#pragma unroll
    for (int i = 0; i < 2 * HALF; i++) {
        REAL sign = 1;
        int x = image(a, 0, begin - HALF + i, sign);
        queue[i + 1] = load_line(p + x * a.plane, own, sign);
    }
    /* What the next plane needs, loaded one plane ahead. */
    vec front, old = {}, side[ROW_JOBS];
    REAL value[END_JOBS];
#if SPLIT == 2
    vec next_speed = {};
#endif
    auto fetch = [&](int x) {
        REAL sign = 1;
        int ahead = x + HALF;
        if (ahead >= a.num[0])
            ahead = image(a, 0, ahead, sign);
        long long at = x * a.plane;
        front = load_line(p + ahead * a.plane, own, sign);
        if (store)
            old = *(const vec *)((const REAL *)a.q + at + own.at);
#if SPLIT == 2
        if (store)
            next_speed = *(const vec *)((const REAL *)a.speed + at + own.at);
#endif
#pragma unroll
        for (int job = 0; job < ROW_JOBS; job++)
            side[job] = load_line(p + at, beside[job], 1);
#pragma unroll
        for (int job = 0; job < END_JOBS; job++)
            value[job] = tip[job].at < 0 ? (REAL)0 : tip[job].sign * p[at + tip[job].at];
    };
    fetch(begin);

    for (int x = begin; x < end; x++) {
        REAL(*now)[ROW] = window[x & 1];
#pragma unroll
        for (int i = 0; i < 2 * HALF; i++)
            queue[i] = queue[i + 1];
        queue[2 * HALF] = front;
        const vec center = queue[HALF], previous = old;
#if SPLIT == 2
        const vec speed = next_speed;
#endif

        REAL *mine = &now[HALF + row][GHOST + lane * WIDTH];
        if (z + WIDTH <= a.num[2])
            *(vec *)mine = center;
        else /* images of the last nodes stand behind them */
            for (int l = 0; l < WIDTH; l++)
                if (z + l < a.num[2])
                    mine[l] = center.v[l];
#pragma unroll
        for (int job = 0; job < ROW_JOBS; job++)
            if (beside[job].at >= 0)
                *(vec *)&now[beside_row[job]][GHOST + lane * WIDTH] = side[job];
#pragma unroll
        for (int job = 0; job < END_JOBS; job++)
            if (tip[job].at >= 0)
                now[0][tip_at[job]] = value[job];
        if (x + 1 < end)
            fetch(x + 1);
        __syncthreads();

        vec sum, near[2 * (GHOST / WIDTH) + 1];
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_center(CONSTANT(center), center.v[l]);
#pragma unroll
        for (int m = 1; m <= HALF; m++)
#pragma unroll
            for (int l = 0; l < WIDTH; l++)
                sum.v[l] = scalar_pair(WEIGHT(0, m), queue[HALF - m].v[l], queue[HALF + m].v[l], sum.v[l]);
#pragma unroll
        for (int m = 1; m <= HALF; m++) {
            vec low = *(const vec *)(mine - m * ROW), high = *(const vec *)(mine + m * ROW);
#pragma unroll
            for (int l = 0; l < WIDTH; l++)
                sum.v[l] = scalar_pair(WEIGHT(1, m), low.v[l], high.v[l], sum.v[l]);
        }
#pragma unroll
        for (int i = 0; i < 2 * (GHOST / WIDTH) + 1; i++)
            near[i] = *(const vec *)(mine - GHOST + i * WIDTH);
#pragma unroll
        for (int m = 1; m <= HALF; m++)
#pragma unroll
            for (int l = 0; l < WIDTH; l++) {
                constexpr int W = WIDTH;
                const int low = GHOST + l - m, high = GHOST + l + m;
                sum.v[l] =
                    scalar_pair(WEIGHT(2, m), near[low / W].v[low % W], near[high / W].v[high % W], sum.v[l]);
            }
        if (!store)
            continue;
        long long at = x * a.plane + own.at;
#if SPLIT == 1
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_split(CONSTANT(speed), sum.v[l], center.v[l]);
#elif SPLIT == 2
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_split(speed.v[l], sum.v[l], center.v[l]);
#endif
#if DAMP
        REAL damp_xy = ((const REAL *)a.damp[0])[x] * damp_y;
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_advance_damped(sum.v[l], previous.v[l], damp_xy * damp_z.v[l]);
#else
#pragma unroll
        for (int l = 0; l < WIDTH; l++)
            sum.v[l] = scalar_advance(sum.v[l], previous.v[l]);
#endif
        *(vec *)((REAL *)a.q + at) = sum;
    }
}
