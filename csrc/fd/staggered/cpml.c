/* cpml.c: absorbing layers of the staggered schemes: convolutional perfectly matched layers, unsplit (Roden &
 * Gedney 2000; Komatitsch & Martin 2007), multiaxial ones (Meza-Fajardo & Papageorgiou 2008) and sponges;
 * docs/fd_staggered.md, docs/absorbing_layers.md. With x the depth as a fraction of the layer's
 * thickness L = n h, the damping is
 *
 *     D = -3 c ln(R) / (2 L) x^2,    kappa = 1 + (kappa_max - 1) x^2.
 *
 * A fraction r of it damps the fields, q_t + e q = .., e = r D / kappa; the rest, d = (1 - r) D, damps only
 * derivatives along the layer's axis, where du becomes
 *
 *     du/kappa + psi,    psi' = b psi + a du,
 *     b = exp(-(d / kappa + alpha) dt),    a = d (b - 1) / (kappa (d + kappa alpha)),
 *     alpha = pi f0 (1 - x) + e.
 *
 * psi is stored in the layers only, one array per difference and side; corners have one of each axis. r is
 * ratio x^2, which keeps reflections at the layer's front small, or 1 everywhere. ratio = 0 is the CPML, in
 * which waves of opposite phase and group velocity grow. r = 1 needs no memory variables and is stable in any
 * medium between any walls: a pass replaces q by
 *
 *     g (g q + gain),    g = exp(-e dt / 2) = g_x g_y g_z,
 *
 * which is q+ - q = dt' L p - dt d' (q+ + q) / 2, d' >= 0, dt' <= dt. With u at half steps, w at whole steps,
 * m = (w + w_+) / 2 and norms weighted with the inertia
 *
 *     F = |u|^2 / 2 - |dt L u|^2 / 8 + |m|^2 / 2 + |dt d' m|^2 / 8
 *
 * decreases in a step by
 *
 *     dt / 4 (<d' (u + u_+), u + u_+> + (<d' s, s> + <d' s_+, s_+>) / 2),    s = w + w_+,
 *
 * and is a norm as long as dt |L| < 2: up to the step that is stable without layers. */
#include "../layer.h"
#include "staggered.h"

#include <math.h>

/* Depth of a place in the layers of an axis, as a fraction of the layer's thickness, and its side; 0
 * outside. */
static double depth_of(const struct fd_axis *axis, double place, int *side)
{
    double low = (double)axis->first - place, high = place - (double)(axis->first + axis->num - 1);
    int64_t width[2] = {axis->first, axis->total - axis->first - axis->num};
    *side = high > 0;
    double deep = *side ? high : low;
    return deep > 0 && width[*side] > 0 ? fmin(deep / (double)width[*side], 1) : 0;
}

static void fill(const struct fd *fd, int a, int half, double dt)
{
    const unda_fd_options *o = &fd->options;
    const struct fd_axis *axis = &fd->axis[a];
    double *t[4];
    for (int k = 0; k < 4; k++)
        t[k] = axis->cpml + (4 * half + k) * axis->total;
    for (int64_t i = 0; i < axis->total; i++) {
        int side;
        double x = depth_of(axis, (double)i + 0.5 * half, &side);
        t[2][i] = t[3][i] = 1;
        if (x == 0)
            continue;
        int end = 2 * a + side;
        double length = (double)o->layer[end] * axis->h;
        double all = -1.5 * fd->speed_max * log(o->reflection[end]) / length * x * x;
        double part = o->ratio[end] < 1 ? o->ratio[end] * x * x : 1;
        double kappa = 1 + (o->stretch[end] - 1) * x * x, e = part * all / kappa;
        double d = (1 - part) * all, alpha = M_PI * o->frequency[end] * (1 - x) + e;
        t[0][i] = exp(-(d / kappa + alpha) * dt);
        t[1][i] = d > 0 ? d * (t[0][i] - 1) / (kappa * (d + kappa * alpha)) : 0;
        t[2][i] = 1 / kappa;
        t[3][i] = exp(-0.5 * e * dt);
    }
}

unda_status fd_cpml(struct fd *fd, double dt)
{
    for (int a = 0; a < 3; a++) {
        if (!fd->axis[a].cpml)
            TRY(array_own(&fd->owned, &fd->axis[a].cpml, 8 * fd->axis[a].total, sizeof(double), "layers"));
        fill(fd, a, 0, dt);
        fill(fd, a, 1, dt);
    }
    return UNDA_OK;
}

/* A layer that only damps the fields and stretches nothing needs no memory variables. */
void fd_list_memory(struct fd *fd)
{
    const unda_fd_options *o = &fd->options;
    const struct staggered *p = fd->physics;
    fd->num_memory = 0;
    for (int n = 0; n < p->num_derivative[0] + p->num_derivative[1]; n++)
        for (int side = 0; side < 2; side++) {
            int a = p->derivative[n].axis, half = staggered_half(p, p->derivative[n].target, a);
            const struct fd_axis *axis = &fd->axis[a];
            int64_t count = side ? axis->total - axis->first - axis->num : axis->first;
            bool none = count == 0 || (o->ratio[2 * a + side] == 1 && o->stretch[2 * a + side] == 1);
            fd->fades = fd->fades || (count > 0 && o->ratio[2 * a + side] > 0);
            fd->memory_of[n][side] = none ? -1 : fd->num_memory;
            if (none)
                continue;
            fd_add_memory(fd, n, a, count)->begin = side ? axis->first + axis->num - half : 0;
        }
}
