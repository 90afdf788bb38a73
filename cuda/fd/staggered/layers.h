/* layers.h: absorbing layers in staggered.cu (csrc/fd/staggered/cpml.c): memory variables of derivatives, damping
 * of fields. Not compiled where there are none. */
#if LAYERS

/* Whether places from .. end - 1 along an axis reach into the layer at one side, of any derivative. */
DEVICE bool in_layer(const staggered_args &a, int axis, int side, int from, int end)
{
    return side ? end >= a.num[axis] - a.count[axis][1] : from < a.count[axis][0];
}

/* Place in a memory variable: in layers along x and y rows are those of arrays, so that vectors are whole. */
template <int AXIS>
DEVICE long long memory_place(const staggered_args &a, int side, int depth, int x, int y, int z)
{
    return AXIS == 0   ? ((long long)depth * a.num[1] + y) * (PITCH) + z
           : AXIS == 1 ? ((long long)x * a.count[1][side] + depth) * (PITCH) + z
                       : ((long long)x * a.num[1] + y) * a.count[2][side] + depth;
}

/* Prefetches the memory variables of plane x, the next one. */
template <int PASS, int AXIS> DEVICE void absorb_soon(const staggered_args &a, int side, int x, int y, int z)
{
    using p = of_pass<PASS>;
    const int at = AXIS == 0 ? x : AXIS == 1 ? y : z;
    each<p::derivative, p::derivative + p::num_derivative>([&](auto i) {
        constexpr int derivative = decltype(i)::value;
        if constexpr (derivatives[derivative].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(derivative)][side];
            depth = AXIS == 2 && depth < 0 ? 0 : depth;
            if ((unsigned)depth < (unsigned)a.count[AXIS][side])
                prefetch_l2((const REAL *)a.memory[derivative][side] +
                            memory_place<AXIS>(a, side, depth, x, y, z));
        }
    });
}

/* psi' = b psi + a d, d' = d / kappa + psi' in the layer at one side of an axis (csrc/fd/staggered/cpml.c), of all
 * derivatives along it. Along z each place has its own depth. */
template <int PASS, int AXIS>
DEVICE void absorb(const staggered_args &a, int side, REAL (*d)[WIDTH], int x, int y, int z)
{
    using p = of_pass<PASS>;
    constexpr int num = number_along(AXIS, p::derivative, p::derivative + p::num_derivative);
    const int count = a.count[AXIS][side], at = AXIS == 0 ? x : AXIS == 1 ? y : z;
    REAL *memory[num];
    vec psi[num];
    each<p::derivative, p::derivative + p::num_derivative>([&](auto i) {
        constexpr int derivative = decltype(i)::value, n = number_along(AXIS, p::derivative, derivative);
        if constexpr (derivatives[derivative].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(derivative)][side];
            memory[n] = (REAL *)a.memory[derivative][side] + memory_place<AXIS>(a, side, depth, x, y, z);
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
    each<p::derivative, p::derivative + p::num_derivative>([&](auto i) {
        constexpr int derivative = decltype(i)::value, n = number_along(AXIS, p::derivative, derivative);
        if constexpr (derivatives[derivative].axis == AXIS) {
            int depth = at - a.begin[AXIS][half_on(derivative)][side];
            const void *const *table = a.table[AXIS][half_on(derivative)];
            UNROLL for (int k = 0; k < WIDTH; k++) {
                int on = AXIS == 2 ? k : 0;
                REAL &one = d[derivative - p::derivative][k], &value = psi[n].v[k];
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

/* q' = g q of a pass's fields, g of the three axes (csrc/fd/staggered/cpml.c). */
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

/* Calls f(axis, side) for each layer into which the points at (x, y, z) reach. */
template <class F> DEVICE void each_layer(const staggered_args &a, int x, int y, int z, const F &f)
{
#pragma unroll 1
    for (int side = 0; side < 2; side++) {
        if (in_layer(a, 2, side, z, z + WIDTH))
            f(number<2>(), side);
        if (in_layer(a, 1, side, y, y + 1))
            f(number<1>(), side);
        if (in_layer(a, 0, side, x, x + 1))
            f(number<0>(), side);
    }
}
/* Prefetches what these layers need. */
template <int PASS> DEVICE void absorb_all_soon(const staggered_args &a, int x, int y, int z)
{
    each_layer(a, x, y, z,
               [&](auto axis, int side) { absorb_soon<PASS, decltype(axis)::value>(a, side, x, y, z); });
}
/* Damps the derivatives there. */
template <int PASS> DEVICE void absorb_all(const staggered_args &a, REAL (*d)[WIDTH], int x, int y, int z)
{
    each_layer(a, x, y, z,
               [&](auto axis, int side) { absorb<PASS, decltype(axis)::value>(a, side, d, x, y, z); });
}

#endif
