/* pass.h: vectors of points along z, and the fields, derivatives and needs of a pass of staggered.cu, as
 * constants. Next: staggered/difference.h, staggered/layers.h. */

#include "common/each.h"

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

DEVICE REAL weight(const staggered_args &a, int axis, int m)
{
    return sizeof(REAL) == 4 ? (REAL)a.weight32[axis * (FD_MAX_HALF + 1) + m]
                             : (REAL)a.weight64[axis * (FD_MAX_HALF + 1) + m];
}

/* Fields, derivatives and needs of a pass. */
template <int PASS> struct of_pass {
    static constexpr int first = PASS ? first1 : first0, count = PASS ? count1 : count0;
    static constexpr int derivative = PASS ? derivatives0 : 0,
                         num_derivative = PASS ? derivatives1 : derivatives0;
    static constexpr int need = PASS ? needs0 : 0, num_need = PASS ? needs1 : needs0;
};
/* 1 if the place where a derivative stands is half a cell on along its axis. */
constexpr int half_on(int derivative)
{
    return stagger[derivatives[derivative].target] >> derivatives[derivative].axis & 1;
}
/* Which of the pass's derivatives along its axis this is; their number, of `end`. */
constexpr int number_along(int axis, int first, int end)
{
    int n = 0;
    for (int i = first; i < end; i++)
        n += derivatives[i].axis == axis;
    return n;
}
