/* staggered.cu: the two passes of a step of the staggered schemes, for every physics (STAGGERED, its header
 * in cuda/physics). A block owns rows of WIDTH points per thread along z and marches along x: a thread holds
 * fields differenced along x in registers, 2 HALF planes of its WIDTH points, and reads neighbours along y
 * and z from the first-level cache, where the block's rows keep them. staggered_ghosts fills ghosts beyond
 * walls of x and y between passes; images beyond walls of z are made from neighbouring points; beyond layers
 * all values are 0. Walls of x and y and layers have kernels of their own. No barriers. Words of memory per
 * node and step: elastic 30, p-v 14, Maxwell 21, one less for each uniform material. Defines: REAL, HALF,
 * STAGGERED, LAYERS (1: any), FADES (1: some damp all terms), TILE_Y and LANES (threads of a block), WIDTH
 * (up to 16 bytes), MIN_BLOCKS (an SM; MIN_BLOCKS_INSIDE of the passes inside), PITCH. */
#include "common/prefetch.h"
#include "fd/image.h"
#include "fd/scalar_args.h"
#include "fd/staggered_args.h"

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

static_assert(WIDTH * sizeof(REAL) <= 16, "a thread loads 16 bytes at most");

constexpr int THREADS = LANES * TILE_Y;
constexpr int REACH = (HALF + WIDTH - 1) / WIDTH; /* vectors beside one that a difference along z needs */

struct __align__(WIDTH * sizeof(REAL)) vec {
    REAL v[WIDTH];
};
DEVICE vec load(const REAL *from)
{
    return *(const vec *)from;
}
/* Intrinsics, because the compiler takes a struct's store apart. */
DEVICE void store(float *to, const float (&v)[4])
{
    __stcg((float4 *)to, make_float4(v[0], v[1], v[2], v[3]));
}
DEVICE void store(float *to, const float (&v)[2])
{
    __stcg((float2 *)to, make_float2(v[0], v[1]));
}
DEVICE void store(double *to, const double (&v)[2])
{
    __stcg((double2 *)to, make_double2(v[0], v[1]));
}
template <class T> DEVICE void store(T *to, const T (&v)[1])
{
    __stcg(to, v[0]);
}

template <int N> struct number {
    static constexpr int value = N;
};
/* f(number<I>()) for I = FIRST .. END - 1: what it indexes with is a constant. */
template <int FIRST, int END, class F> DEVICE void each(F &&f)
{
    if constexpr (FIRST < END) {
        f(number<FIRST>());
        each<FIRST + 1, END>(f);
    }
}

DEVICE REAL weight(const staggered_args &a, int axis, int m)
{
    return sizeof(REAL) == 4 ? (REAL)a.weight32[axis * (FD_MAX_HALF + 1) + m]
                             : (REAL)a.weight64[axis * (FD_MAX_HALF + 1) + m];
}

/* Fields, terms and needs of a pass. */
template <int PASS> struct of_pass {
    static constexpr int first = PASS ? first1 : first0, count = PASS ? count1 : count0;
    static constexpr int term = PASS ? terms0 : 0, num_term = PASS ? terms1 : terms0;
    static constexpr int need = PASS ? needs0 : 0, num_need = PASS ? needs1 : needs0;
};
/* 1 if the place where a term stands is half a cell on along its axis. */
constexpr int half_on(int term)
{
    return stagger[terms[term].target] >> terms[term].axis & 1;
}
/* Which of the pass's terms along its axis this is; their number, of `end`. */
constexpr int number_along(int axis, int first, int end)
{
    int n = 0;
    for (int i = first; i < end; i++)
        n += terms[i].axis == axis;
    return n;
}

/* ---- differences ---- */

/* Images beyond the walls of z among the places around the vector at z, whose own begin at HERE. A wall at
 * low z is where vectors begin. */
template <int FIELD> DEVICE void image(const staggered_args &a, int z, REAL (&line)[(2 * REACH + 1) * WIDTH])
{
    constexpr int HERE = REACH * WIDTH, half = stagger[FIELD] >> 2 & 1;
    const REAL low = a.image[FIELD][0], high = a.image[FIELD][1];
    const int last = a.num[2] - 1 - z;
    if (low != 0)
        each<0, REACH>([&](auto i) {
            constexpr int side = HERE - decltype(i)::value * WIDTH; /* where place 0 is */
            if (z == HERE - side) {
                UNROLL for (int j = HERE - HALF; j < side; j++)
                    line[j] = low * line[2 * side - half - j];
            }
        });
    if (high != 0)
        each<0, WIDTH + HALF>([&](auto i) {
            constexpr int in = decltype(i)::value, side = HERE + in;     /* where the last place is */
            constexpr int end = HERE + (in < WIDTH ? in : WIDTH) + HALF; /* what places inside reach */
            if (last == in) {
                UNROLL for (int j = side - half + 1; j < end; j++)
                    line[j] = high * line[2 * side - half - j];
            }
        });
}

/* WALLS: see march. */
template <int TERM, bool WALLS>
DEVICE void difference(const staggered_args &a, long long at, int z, REAL (*queue)[2 * HALF][WIDTH], REAL *d)
{
    constexpr int axis = terms[TERM].axis, on = half_on(TERM);
    constexpr int first = TERM < terms0 ? 0 : terms0;
    const REAL *from = (const REAL *)a.field[terms[TERM].source] + at;
    UNROLL for (int k = 0; k < WIDTH; k++)
        d[k] = 0;
    if constexpr (axis == 0) { /* [i]: plane x + on - HALF + i; the last one is loaded now */
        REAL(&line)[2 * HALF][WIDTH] = queue[number_along(0, first, TERM)];
        vec last = load(from + (on + HALF - 1) * a.plane);
        UNROLL for (int k = 0; k < WIDTH; k++) {
            UNROLL for (int j = 0; j < 2 * HALF - 1; j++)
                line[j][k] = line[j + 1][k];
            line[2 * HALF - 1][k] = last.v[k];
            UNROLL for (int m = 1; m <= HALF; m++)
                d[k] += weight(a, 0, m) * (line[HALF + m - 1][k] - line[HALF - m][k]);
        }
    } else if constexpr (axis == 1) {
        UNROLL for (int m = 1; m <= HALF; m++) {
            vec high = load(from + (on + m - 1) * (PITCH)), low = load(from + (on - m) * (PITCH));
            UNROLL for (int k = 0; k < WIDTH; k++)
                d[k] += weight(a, 1, m) * (high.v[k] - low.v[k]);
        }
    } else {
        REAL line[(2 * REACH + 1) * WIDTH];
        UNROLL for (int j = 0; j <= 2 * REACH; j++) {
            vec part = load(from + (j - REACH) * WIDTH);
            UNROLL for (int k = 0; k < WIDTH; k++)
                line[j * WIDTH + k] = part.v[k];
        }
        if constexpr (WALLS)
            image<terms[TERM].source>(a, z, line);
        UNROLL for (int k = 0; k < WIDTH; k++) {
            const int place = REACH * WIDTH + k + on;
            UNROLL for (int m = 1; m <= HALF; m++)
                d[k] += weight(a, 2, m) * (line[place + m - 1] - line[place - m]);
        }
    }
}

/* ---- materials ---- */

template <int NEED> DEVICE void material(const staggered_args &a, long long at, REAL *m)
{
    constexpr int which = needs[NEED].material, bits = needs[NEED].bits;
    const REAL *from = (const REAL *)a.material[which] + (a.vary[which] ? at : a.same) +
                       (bits & 1) * a.plane + (bits >> 1 & 1) * (PITCH);
    vec here = load(from);
    if constexpr (bits & 4) {
        UNROLL for (int k = 0; k < WIDTH - 1; k++)
            m[k] = here.v[k + 1];
        m[WIDTH - 1] = from[WIDTH];
    } else {
        UNROLL for (int k = 0; k < WIDTH; k++)
            m[k] = here.v[k];
    }
}

/* ---- layers ---- */

#if LAYERS
/* Places from .. end - 1 along an axis against the layer at one side: whether any term has it there. */
DEVICE bool in_layer(const staggered_args &a, int axis, int side, int from, int end)
{
    return side ? end >= a.num[axis] - a.count[axis][1] : from < a.count[axis][0];
}

/* Place in the memory of a layer: along x and y in rows as those of arrays, so that vectors are whole. */
template <int AXIS>
DEVICE long long slab_place(const staggered_args &a, int side, int depth, int x, int y, int z)
{
    return AXIS == 0   ? ((long long)depth * a.num[1] + y) * (PITCH) + z
           : AXIS == 1 ? ((long long)x * a.count[1][side] + depth) * (PITCH) + z
                       : ((long long)x * a.num[1] + y) * a.count[2][side] + depth;
}

/* Asks for the memories of plane x, which is the next one. */
template <int PASS, int AXIS> DEVICE void absorb_soon(const staggered_args &a, int side, int x, int y, int z)
{
    using p = of_pass<PASS>;
    const int at = AXIS == 0 ? x : AXIS == 1 ? y : z;
    each<p::term, p::term + p::num_term>([&](auto i) {
        constexpr int term = decltype(i)::value;
        if constexpr (terms[term].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(term)][side];
            depth = AXIS == 2 && depth < 0 ? 0 : depth;
            if ((unsigned)depth < (unsigned)a.count[AXIS][side])
                prefetch_l2((const REAL *)a.memory[term][side] + slab_place<AXIS>(a, side, depth, x, y, z));
        }
    });
}

/* psi' = b psi + a d, d' = d / kappa + psi' in the layer at one side of an axis (csrc/fd/cpml.c), of all
 * terms that are differenced along it. Along z each place has its own depth. */
template <int PASS, int AXIS>
DEVICE void absorb(const staggered_args &a, int side, REAL (*d)[WIDTH], int x, int y, int z)
{
    using p = of_pass<PASS>;
    constexpr int num = number_along(AXIS, p::term, p::term + p::num_term);
    const int count = a.count[AXIS][side], at = AXIS == 0 ? x : AXIS == 1 ? y : z;
    REAL *memory[num];
    vec psi[num];
    each<p::term, p::term + p::num_term>([&](auto i) {
        constexpr int term = decltype(i)::value, n = number_along(AXIS, p::term, term);
        if constexpr (terms[term].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(term)][side];
            memory[n] = (REAL *)a.memory[term][side] + slab_place<AXIS>(a, side, depth, x, y, z);
            if constexpr (AXIS < 2) {
                if ((unsigned)depth < (unsigned)count)
                    psi[n] = load(memory[n]);
            } else {
                UNROLL for (int k = 0; k < WIDTH; k++)
                    if ((unsigned)(depth + k) < (unsigned)count)
                        psi[n].v[k] = memory[n][k];
            }
        }
    });
    each<p::term, p::term + p::num_term>([&](auto i) {
        constexpr int term = decltype(i)::value, n = number_along(AXIS, p::term, term);
        if constexpr (terms[term].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(term)][side];
            const void *const *table = a.table[AXIS][half_on(term)];
            UNROLL for (int k = 0; k < WIDTH; k++) {
                int on = AXIS == 2 ? k : 0;
                REAL &one = d[term - p::term][k], &value = psi[n].v[k];
                if ((unsigned)(depth + on) < (unsigned)count) {
                    value =
                        ((const REAL *)table[0])[at + on] * value + ((const REAL *)table[1])[at + on] * one;
                    one = ((const REAL *)table[2])[at + on] * one + value;
                    if (AXIS == 2)
                        memory[n][k] = value;
                }
            }
            if constexpr (AXIS < 2) {
                if ((unsigned)depth < (unsigned)count)
                    store(memory[n], psi[n].v);
            }
        }
    });
}

/* q' = g q of a pass's fields, g of the three axes (csrc/fd/cpml.c). */
template <int PASS> DEVICE void fade(const staggered_args &a, vec *field, int x, int y, int z)
{
    using p = of_pass<PASS>;
    each<0, p::count>([&](auto i) {
        constexpr int n = decltype(i)::value, bits = stagger[p::first + n];
        const REAL *along = (const REAL *)a.table[2][bits >> 2 & 1][3];
        const REAL across =
            ((const REAL *)a.table[0][bits & 1][3])[x] * ((const REAL *)a.table[1][bits >> 1 & 1][3])[y];
        UNROLL for (int k = 0; k < WIDTH; k++)
            if ((unsigned)(z + k) < (unsigned)a.num[2])
                field[n].v[k] *= across * along[z + k];
    });
}
#endif

/* ---- passes ---- */

/* WALLS, LAYERED: whether there may be walls among the places or those around them, and layers. */
template <int PASS, bool WALLS, bool LAYERED>
DEVICE void march(const staggered_args &a, int y, int z, const int begin, const int end)
{
    using p = of_pass<PASS>;
    long long at = a.origin + (long long)begin * a.plane + (long long)y * (PITCH) + z;
    REAL queue[number_along(0, p::term, p::term + p::num_term)][2 * HALF][WIDTH];
    each<p::term, p::term + p::num_term>([&](auto i) {
        constexpr int term = decltype(i)::value;
        if constexpr (terms[term].axis == 0) {
            const REAL *from =
                (const REAL *)a.field[terms[term].source] + at + (half_on(term) - HALF - 1) * a.plane;
            UNROLL for (int j = 1; j < 2 * HALF; j++) {
                vec one = load(from + j * a.plane);
                UNROLL for (int k = 0; k < WIDTH; k++)
                    queue[number_along(0, p::term, term)][j][k] = one.v[k];
            }
        }
    });
#pragma unroll 1
    for (int x = begin; x < end; x++, at += a.plane) {
        REAL d[p::num_term][WIDTH], m[p::num_need][WIDTH];
        vec field[p::count];
#if LAYERS
        if constexpr (LAYERED) {
#pragma unroll 1
            for (int side = 0; side < 2 && x + 1 < end; side++) {
                if (in_layer(a, 2, side, z, z + WIDTH))
                    absorb_soon<PASS, 2>(a, side, x + 1, y, z);
                if (in_layer(a, 1, side, y, y + 1))
                    absorb_soon<PASS, 1>(a, side, x + 1, y, z);
                if (in_layer(a, 0, side, x + 1, x + 2))
                    absorb_soon<PASS, 0>(a, side, x + 1, y, z);
            }
        }
#endif
        each<0, p::num_term>([&](auto i) {
            constexpr int n = decltype(i)::value;
            difference<p::term + n, WALLS>(a, at, z, queue, d[n]);
        });
        UNROLL for (int i = 0; i < p::count; i++)
            field[i] = load((const REAL *)a.field[p::first + i] + at);
        each<0, p::num_need>([&](auto i) {
            constexpr int n = decltype(i)::value;
            material<p::need + n>(a, at, m[n]);
        });
#if LAYERS
        if constexpr (LAYERED) {
#pragma unroll 1
            for (int side = 0; side < 2; side++) {
                if (in_layer(a, 2, side, z, z + WIDTH))
                    absorb<PASS, 2>(a, side, d, x, y, z);
                if (in_layer(a, 1, side, y, y + 1))
                    absorb<PASS, 1>(a, side, d, x, y, z);
                if (in_layer(a, 0, side, x, x + 1))
                    absorb<PASS, 0>(a, side, d, x, y, z);
            }
        }
#endif
#if LAYERS && FADES
        if constexpr (LAYERED)
            fade<PASS>(a, field, x, y, z);
#endif
        UNROLL for (int k = 0; k < WIDTH; k++) {
            REAL f[p::count], e[p::num_term], c[p::num_need];
            UNROLL for (int i = 0; i < p::count; i++)
                f[i] = field[i].v[k];
            UNROLL for (int i = 0; i < p::num_term; i++)
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
#if LAYERS && FADES
        if constexpr (LAYERED)
            fade<PASS>(a, field, x, y, z);
#endif
        UNROLL for (int i = 0; i < p::count; i++) {
            REAL *to = (REAL *)a.field[p::first + i] + at;
            store(to, field[i].v); /* beyond the row: into ghosts */
        }
    }
}

/* A block of a box of the grid, see staggered_args.h. SHELL: what is at walls of x and y, and layers; else
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
KERNEL(staggered_pass0, 0, false, false, MIN_BLOCKS_INSIDE)
KERNEL(staggered_pass1, 1, false, false, MIN_BLOCKS_INSIDE)
KERNEL(staggered_walls0, 0, true, false, MIN_BLOCKS)
KERNEL(staggered_walls1, 1, true, false, MIN_BLOCKS)
#if LAYERS
KERNEL(staggered_layers0, 0, true, true, MIN_BLOCKS)
KERNEL(staggered_layers1, 1, true, true, MIN_BLOCKS)
#endif

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
    const int rows = axis == 0 ? GHOSTS * (a.num[1] + 2 * HALF) : axis == 1 ? GHOSTS * a.num[0] : a.num[0];
    REAL *p = (REAL *)a.field[field] + a.origin;
    auto ghost = [&](int number) { return number < HALF ? number - HALF : last + number - HALF; };
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
        const REAL *__restrict__ from = p + mirror(a, field, 0, row, sign) * a.plane;
        REAL *__restrict__ to = p + row * a.plane; /* what is written is not read */
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
        const int x = axis == 0 ? ghost(number) : other, y = axis == 0 ? other - HALF : ghost(number);
        if (number == HALF && !last_too)
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

/* What fields of half steps gain in dt becomes what they are half a step before they vanish. */
extern "C" __global__ void staggered_turn(const __grid_constant__ scalar_whole_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, total = (long long)a.num[0] * a.num[1] * a.num[2];
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step)
        ((REAL *)a.p)[i / a.num[2] / a.num[1] * a.plane + i / a.num[2] % a.num[1] * a.pitch + i % a.num[2]] *=
            (REAL)-0.5;
}
