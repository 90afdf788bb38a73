/* layer.c: sponges of the scalar scheme (matched layers: matched.c). In a layer of thickness L = n h beyond
 * the last of the user's nodes waves obey (d/dt + s)^2 p = c^2 laplace p, s = 3 c ln(1/R) / (2 L) (x / L)^2,
 * which reduces the amplitude by R over the way there and back; one step multiplies both levels by g = exp(-s
 * dt) = g_x g_y g_z, local to a node and without memory variables: p' = g (2 p + c^2 dt^2 laplace p - g
 * p_old). Stable whenever the scheme is stable without it: a mode obeys a z - b + d / z = 0 with |b| <= 2 <=
 * a + d and d <= a. p = 0 beyond the last node. */
#include "layer.h"

#include <math.h>

unda_status fd_damping(struct fd *fd, double dt)
{
    const unda_fd_options *o = &fd->options;
    for (int a = 0; a < 3; a++) {
        struct fd_axis *axis = &fd->axis[a];
        TRY(array_own(&fd->owned, &axis->damp, axis->total, sizeof(double), "layers"));
        for (int64_t i = 0; i < axis->total; i++) {
            int64_t low = axis->first - i, high = i - (axis->first + axis->num - 1);
            int side = high > 0;
            double depth = (double)(side ? high : low) / (double)o->layer[2 * a + side];
            double rate = 1.5 * fd->speed_max * log(1 / o->reflection[2 * a + side]) /
                          ((double)o->layer[2 * a + side] * axis->h);
            axis->damp[i] =
                (low > 0 || high > 0) && !axis->matched[side] ? exp(-rate * depth * depth * dt) : 1;
        }
    }
    return UNDA_OK;
}
