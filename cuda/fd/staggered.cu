/* staggered.cu: the two passes of a step of the staggered schemes, for every physics (STAGGERED, its header
 * in cuda/physics). A block owns TILE_Y rows of 32 places along z and marches along x: a thread holds what is
 * differenced along x in registers, 2 HALF planes of it, and takes neighbours along y and z from the first
 * cache, where the rows of the block keep them. Ghosts beyond the sides are filled between passes by
 * staggered_ghosts, so no thread here knows of images. A node and step: elastic 30 words of memory, p-v 12,
 * Maxwell 18 to 20. Defines: REAL, HALF, STAGGERED, LAYERS (1: any), TILE_Y. */
#include "fd/scalar_args.h"
#include "fd/staggered_args.h"

#if !defined(REAL) || !defined(HALF) || !defined(STAGGERED) || !defined(LAYERS) || !defined(TILE_Y)
#error "staggered.cu needs REAL, HALF, STAGGERED, LAYERS and TILE_Y"
#endif
#define DEVICE   static __device__ __forceinline__
#define TABLE    constexpr
#define UNROLL   _Pragma("unroll")
#define PLACE    long long
#define FN(name) name
#include STAGGERED

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

/* 1 if the place where a term stands is half a cell on along its axis. */
constexpr int half_on(int term)
{
    return stagger[terms[term].target] >> terms[term].axis & 1;
}
/* Which of the pass's terms along x this is. */
constexpr int number_along_x(int first, int term)
{
    int n = 0;
    for (int i = first; i < term; i++)
        n += terms[i].axis == 0;
    return n;
}

#if LAYERS
/* Whether any term of place i has a layer along this axis. */
DEVICE bool in_layer(const staggered_args &a, int axis, int i)
{
    return i < a.count[axis][0] || i >= a.num[axis] - 1 - a.count[axis][1];
}

/* psi' = b psi + a d, d' = d / kappa + psi' in the layers of the term's axis (csrc/fd/cpml.c). */
template <int TERM> DEVICE void absorb(const staggered_args &a, REAL &d, int x, int y, int z)
{
    constexpr int axis = terms[TERM].axis, half = half_on(TERM);
    const int at = axis == 0 ? x : axis == 1 ? y : z;
    for (int side = 0; side < 2; side++) {
        int depth = at - a.begin[axis][half][side], count = a.count[axis][side];
        if ((unsigned)depth >= (unsigned)count)
            continue;
        long long i = axis == 0   ? ((long long)depth * a.num[1] + y) * a.num[2] + z
                      : axis == 1 ? ((long long)x * count + depth) * a.num[2] + z
                                  : ((long long)x * a.num[1] + y) * count + depth;
        REAL *memory = (REAL *)a.memory[TERM][side] + i;
        const REAL *b = (const REAL *)a.table[axis][half][0], *c = (const REAL *)a.table[axis][half][1],
                   *k = (const REAL *)a.table[axis][half][2];
        REAL psi = b[at] * *memory + c[at] * d;
        *memory = psi;
        d = k[at] * d + psi;
    }
}
#endif

DEVICE bool is_pinned(const staggered_args &a, int field, int x, int y, int z)
{
    int at = (x == 0) | (x == a.num[0] - 1) << 1 | (y == 0) << 2 | (y == a.num[1] - 1) << 3 | (z == 0) << 4 |
             (z == a.num[2] - 1) << 5;
    return at & a.pinned[field];
}

template <int PASS> DEVICE void march(const staggered_args &a)
{
    constexpr int first = PASS ? first1 : first0, count = PASS ? count1 : count0;
    constexpr int begin_term = PASS ? terms0 : 0, num_term = PASS ? terms1 : terms0;
    constexpr int along_x = number_along_x(begin_term, begin_term + num_term);
    const int z = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    const int begin = blockIdx.z * a.chunk, end = begin + a.chunk < a.num[0] ? begin + a.chunk : a.num[0];
    if (y >= a.num[1] || z >= a.num[2])
        return;
    const REAL *medium[3] = {(const REAL *)a.material[0], (const REAL *)a.material[1],
                             (const REAL *)a.material[2]};
    const PLACE step[3] = {a.plane, a.pitch, 1};
    PLACE at = a.origin + (PLACE)begin * a.plane + (PLACE)y * a.pitch + z;

#if LAYERS
    const bool deep_yz = in_layer(a, 1, y) || in_layer(a, 2, z);
#endif

    /* [i]: plane x + half_on - HALF + i; the last one is loaded as the block comes to x. */
    REAL queue[along_x][2 * HALF];
    each<0, num_term>([&](auto i) {
        constexpr int term = begin_term + decltype(i)::value;
        if constexpr (terms[term].axis == 0) {
            const REAL *from =
                (const REAL *)a.field[terms[term].source] + at + (half_on(term) - HALF - 1) * a.plane;
            UNROLL for (int j = 1; j < 2 * HALF; j++) queue[number_along_x(begin_term, term)][j] =
                from[j * a.plane];
        }
    });

    for (int x = begin; x < end; x++, at += a.plane) {
        REAL d[num_term], f[count];
#if LAYERS
        const bool deep = deep_yz || in_layer(a, 0, x);
#endif
        each<0, num_term>([&](auto i) {
            constexpr int term = begin_term + decltype(i)::value, axis = terms[term].axis;
            const REAL *from = (const REAL *)a.field[terms[term].source] + at + half_on(term) * step[axis];
            REAL sum = 0;
            if constexpr (axis == 0) {
                REAL(&line)[2 * HALF] = queue[number_along_x(begin_term, term)];
                UNROLL for (int j = 0; j < 2 * HALF - 1; j++) line[j] = line[j + 1];
                line[2 * HALF - 1] = from[(HALF - 1) * a.plane];
                UNROLL for (int m = 1; m <= HALF; m++) sum +=
                    weight(a, axis, m) * (line[HALF + m - 1] - line[HALF - m]);
            } else {
                UNROLL for (int m = 1; m <= HALF; m++) sum +=
                    weight(a, axis, m) * (from[(m - 1) * step[axis]] - from[-m * step[axis]]);
            }
#if LAYERS
            if (deep)
                absorb<term>(a, sum, x, y, z);
#endif
            d[decltype(i)::value] = sum;
        });
        UNROLL for (int i = 0; i < count; i++) f[i] = ((const REAL *)a.field[first + i])[at];
        if constexpr (PASS == 0)
            pass0(f, d, medium, at, step);
        else
            pass1(f, d, medium, at, step);
        UNROLL for (int i = 0; i < count; i++)((REAL *)a.field[first + i])[at] =
            is_pinned(a, first + i, x, y, z) ? (REAL)0 : f[i];
    }
}

extern "C" __global__ void __launch_bounds__(32 * TILE_Y)
    staggered_pass0(const __grid_constant__ staggered_args a)
{
    march<0>(a);
}
extern "C" __global__ void __launch_bounds__(32 * TILE_Y)
    staggered_pass1(const __grid_constant__ staggered_args a)
{
    march<1>(a);
}

/* Images beyond both sides along one axis, of all lines along it, with the ghosts of the axes after it (which
 * were filled before). One thread a line. */
extern "C" __global__ void staggered_ghosts(const __grid_constant__ staggered_ghost_args a)
{
    const int axis = a.axis, one = axis == 0 ? 1 : 0, two = axis == 2 ? 1 : 2, wide = a.stencil;
    const long long step[3] = {a.plane, a.pitch, 1};
    const int more_one = one > axis ? wide : 0, more_two = two > axis ? wide : 0;
    const long long num_two = a.num[two] + 2 * more_two, num = (a.num[one] + 2 * more_one) * num_two;
    const int last = a.num[axis] - 1;
    const bool closed = a.sign[0] == 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num;
         i += (long long)gridDim.x * blockDim.x) {
        REAL *line = (REAL *)a.field + a.origin + (i / num_two - more_one) * step[one] +
                     (i % num_two - more_two) * step[two];
        for (int k = -wide; k <= last + wide; k++) {
            if (k == 0)
                k = last + (closed || last == 0 || !a.half);
            int from = k, sign = 1;
            if (last == 0)
                from = 0;
            else if (closed)
                from = (k % (last + 1) + last + 1) % (last + 1);
            else
                while (from < 0 || from > last - a.half) {
                    sign *= a.sign[from >= 0];
                    from = (from < 0 ? 0 : 2 * last) - a.half - from;
                }
            line[k * step[axis]] = (REAL)sign * line[from * step[axis]];
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
