/* difference.h: the derivatives of a pass at a thread's points, and the materials of its
 * needs. Along x from a queue of planes in registers, along y and z from the first-level cache. */

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

/* For each derivative along x: 2 HALF planes of the thread's points. */
template <int PASS> struct x_queue {
    using p = of_pass<PASS>;
    REAL line[number_along(0, p::derivative, p::derivative + p::num_derivative)][2 * HALF][WIDTH];
};
/* All but the last plane, which `difference` loads; at: the first point. */
template <int PASS> DEVICE void fill_queue(const staggered_args &a, long long at, x_queue<PASS> &queue)
{
    using p = of_pass<PASS>;
    each<p::derivative, p::derivative + p::num_derivative>([&](auto i) {
        constexpr int derivative = decltype(i)::value;
        if constexpr (derivatives[derivative].axis == 0) {
            const REAL *from = (const REAL *)a.field[derivatives[derivative].source] + at +
                               (half_on(derivative) - HALF - 1) * a.plane;
            UNROLL for (int j = 1; j < 2 * HALF; j++) {
                vec one = load(from + j * a.plane);
                UNROLL for (int k = 0; k < WIDTH; k++)
                    queue.line[number_along(0, p::derivative, derivative)][j][k] = one.v[k];
            }
        }
    });
}

/* WALLS: see march. */
template <int DERIVATIVE, bool WALLS>
DEVICE void difference(const staggered_args &a, long long at, int z, REAL (*queue)[2 * HALF][WIDTH], REAL *d)
{
    constexpr int axis = derivatives[DERIVATIVE].axis, on = half_on(DERIVATIVE);
    constexpr int first = DERIVATIVE < derivatives0 ? 0 : derivatives0;
    const REAL *from = (const REAL *)a.field[derivatives[DERIVATIVE].source] + at;
    UNROLL for (int k = 0; k < WIDTH; k++)
        d[k] = 0;
    if constexpr (axis == 0) { /* [i]: plane x + on - HALF + i; the last one is loaded now */
        REAL(&line)[2 * HALF][WIDTH] = queue[number_along(0, first, DERIVATIVE)];
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
            image<derivatives[DERIVATIVE].source>(a, z, line);
        UNROLL for (int k = 0; k < WIDTH; k++) {
            const int place = REACH * WIDTH + k + on;
            UNROLL for (int m = 1; m <= HALF; m++)
                d[k] += weight(a, 2, m) * (line[place + m - 1] - line[place - m]);
        }
    }
}

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
