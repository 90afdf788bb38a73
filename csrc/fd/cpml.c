/* cpml.c: absorbing layers of the staggered schemes: convolutional perfectly matched layers, unsplit (Roden &
 * Gedney 2000; Komatitsch & Martin 2007). In a layer of L = n h every difference along its axis becomes
 * du/kappa + psi, psi' = b psi + a du, with x the depth of the place where the difference stands, in parts of
 * L: d = -3 c ln(R) / (2 L) x^2, kappa = 1 + (kappa_max - 1) x^2, alpha = pi f0 (1 - x), b = exp(-(d / kappa
 * + alpha) dt), a = d (b - 1) / (kappa (d + kappa alpha)). psi is kept in the layers only, one slab a
 * difference and side; corners have one of each axis. */
#include "staggered.h"

#include <math.h>

/* Depth of a place in the layers of an axis, in parts of the layer's; its side. 0 outside. */
static double depth_of(const struct fd_axis *axis, double place, int *side)
{
    double low = (double)axis->first - place, high = place - (double)(axis->first + axis->num - 1);
    int64_t width[2] = {axis->first, axis->total - axis->first - axis->num};
    *side = high > 0;
    double deep = *side ? high : low;
    return deep > 0 && width[*side] > 0 ? fmin(deep / (double)width[*side], 1) : 0;
}

static unda_status fill(struct fd *fd, int a, int half, const unda_fd_options *o, double dt)
{
    const double pi = 3.14159265358979323846;
    struct fd_axis *axis = &fd->axis[a];
    struct fd_cpml *t = &axis->cpml[half];
    TRY(array_try(&t->b, axis->total, sizeof(double), "layers"));
    TRY(array_try(&t->a, axis->total, sizeof(double), "layers"));
    TRY(array_try(&t->k, axis->total, sizeof(double), "layers"));
    for (int64_t i = 0; i < axis->total; i++) {
        int side;
        double x = depth_of(axis, (double)i + 0.5 * half, &side);
        t->k[i] = 1;
        if (x == 0)
            continue;
        int end = 2 * a + side;
        double length = (double)o->layer[end] * axis->h;
        double d = -1.5 * fd->speed_max * log(o->reflection[end]) / length * x * x;
        double kappa = 1 + (o->stretch[end] - 1) * x * x, alpha = pi * o->frequency[end] * (1 - x);
        t->b[i] = exp(-(d / kappa + alpha) * dt);
        t->a[i] = d > 0 ? d * (t->b[i] - 1) / (kappa * (d + kappa * alpha)) : 0;
        t->k[i] = 1 / kappa;
    }
    return UNDA_OK;
}

unda_status fd_cpml(struct fd *fd, const unda_fd_options *o, double dt)
{
    for (int a = 0; a < 3; a++)
        for (int half = 0; half < 2; half++)
            TRY(fill(fd, a, half, o, dt));
    return UNDA_OK;
}

void fd_list_slabs(struct fd *fd)
{
    const struct staggered *p = fd->physics;
    fd->num_slab = 0;
    for (int term = 0; term < p->num_term[0] + p->num_term[1]; term++)
        for (int side = 0; side < 2; side++) {
            int a = p->term[term].axis, half = staggered_half(p, p->term[term].target, a);
            const struct fd_axis *axis = &fd->axis[a];
            int64_t count = side ? axis->total - axis->first - axis->num : axis->first;
            fd->slab_of[term][side] = count > 0 ? fd->num_slab : -1;
            if (count == 0)
                continue;
            struct fd_slab *slab = &fd->slab[fd->num_slab++];
            *slab = (struct fd_slab){.term = term, .axis = a, .count = count};
            slab->begin = side ? axis->first + axis->num - half : 0;
            for (int i = 0; i < 3; i++)
                slab->num[i] = i == a ? count : fd->axis[i].total;
        }
}
