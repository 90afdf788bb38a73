/* energy.c: the energy that a staggered scheme conserves: with fields u at the half steps
 * t - dt/2 and t + dt/2, and fields w at the whole step t,
 *   E = V / 2 sum [ share inertia u(t - dt/2) u(t + dt/2) ] + V / 2 sum [ share w (inertia w) ]
 * (for the elastic scheme: Cohen 2002, section 5.3). u(t + dt/2) is u + dt / inertia times its differences,
 * computed here and discarded. Layers count like the medium; there the sum is a norm, not an energy. Next:
 * energy.c. */
#include "../energy.h"
#include "staggered.h"

#include <math.h>

/* Field f at (x + step, y, z) with images. */
static double value(const struct fd *fd, const struct fd_planes *planes, int f, int step, int64_t y,
                    int64_t z)
{
    const struct fd_field *field = &fd->field[f];
    int sign_y, sign_z;
    int64_t j = fd_mirror(&fd->axis[1], field->half[1], field->sign[1], y, &sign_y);
    int64_t k = fd_mirror(&fd->axis[2], field->half[2], field->sign[2], z, &sign_z);
    return planes->sign[f][fd->half + step] * sign_y * sign_z *
           planes->state[f][fd->half + step][j * fd->axis[2].total + k];
}

/* dt times the difference of a derivative; places beyond M planes are not needed: forward ones end at M,
 * backward ones begin at -M. */
static double difference(const struct fd *fd, const struct fd_planes *planes,
                         const struct staggered_derivative *derivative, int64_t y, int64_t z)
{
    int on = staggered_half(fd->physics, derivative->target, derivative->axis);
    double sum = 0;
    for (int m = 1; m <= fd->half; m++) {
        int64_t high[3] = {0, y, z}, low[3] = {0, y, z};
        high[derivative->axis] += m - 1 + on;
        low[derivative->axis] += on - m;
        sum += fd->step_weight[derivative->axis][m] *
               (value(fd, planes, derivative->source, (int)high[0], high[1], high[2]) -
                value(fd, planes, derivative->source, (int)low[0], low[1], low[2]));
    }
    return sum;
}

static void corners_at(const struct fd *fd, const struct fd_planes *planes, int64_t y, int64_t z,
                       fd_corners corner)
{
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < fd->num_material; i++) {
            int64_t j = (y + (c >> 1 & 1)) % fd->axis[1].total, k = (z + (c >> 2 & 1)) % fd->axis[2].total;
            corner[c][i] = planes->material[i][c & 1][j * fd->axis[2].total + k];
        }
}

/* What a field of half steps gains in dt, times its inertia: all that the pass adds to an inertia of 1. */
static double gain(const struct fd *fd, const struct fd_planes *planes, int f, int64_t y, int64_t z)
{
    const struct staggered *p = fd->physics;
    double sum = 0;
    for (int i = 0, sign = 1; i < p->num_derivative[0]; i++)
        if (p->derivative[i].target == f) {
            sum += sign * difference(fd, planes, &p->derivative[i], y, z);
            sign *= p->curl ? -1 : 1;
        }
    return p->half_sign * sum;
}

/* Normal stresses s: s : S : s, S the inverse of lambda tr I + 2 mu on those that are not held at 0. */
static double normal_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, int64_t y,
                            int64_t z, const fd_corners corner)
{
    double lambda = corner[0][1], soft = corner[0][2], square = 0, trace = 0, share = 1;
    int num = 0;
    const int64_t at[3] = {x, y, z};
    for (int i = 0; i < 3; i++) {
        double stress = value(fd, planes, 3 + i, 0, y, z);
        share *= fd_free_node(&fd->axis[i], at[i]) ? 0.5 : fd_share(fd, 3 + i, i, at[i]);
        if (fd_free_node(&fd->axis[i], at[i]))
            continue;
        num++;
        square += stress * stress;
        trace += stress;
    }
    if (num == 0)
        return 0;
    if (isinf(soft))
        return lambda > 0 ? share * trace * trace / (num * num * lambda) : 0;
    return share * 0.5 * soft * (square - lambda * soft / (num * lambda * soft + 2) * trace * trace);
}

static double place_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, int64_t y,
                           int64_t z)
{
    const struct staggered *p = fd->physics;
    fd_corners corner;
    double total = 0;
    corners_at(fd, planes, y, z, corner);
    for (int f = 0; f < fd->num_field; f++) {
        if (p->stresses && f >= 3 && f < 6)
            continue;
        double share = fd_share(fd, f, 0, x) * fd_share(fd, f, 1, y) * fd_share(fd, f, 2, z);
        if (share == 0)
            continue;
        double here = value(fd, planes, f, 0, y, z);
        total += share * here * p->inertia((const double(*)[FD_MAX_MATERIAL])corner, f) * here;
        if (!staggered_pass(p, f))
            total += share * here * gain(fd, planes, f, y, z);
    }
    if (p->stresses)
        total += normal_energy(fd, planes, x, y, z, (const double(*)[FD_MAX_MATERIAL])corner);
    return total;
}

void fd_staggered_add_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, double *sum)
{
    for (int64_t y = 0; y < fd->axis[1].total; y++)
        for (int64_t z = 0; z < fd->axis[2].total; z++)
            *sum += place_energy(fd, planes, x, y, z);
}
