/* stencil.c: weights of centred differences of any even order, and the stable step in a uniform medium.
 *
 * Order 2M: h^2 p_xx = C_0 p_i + sum_m C_m (p_(i+m) + p_(i-m)), C_m = 2 (-1)^(m+1) (M!)^2 / (m^2 (M-m)!
 * (M+m)!), C_0 = -2 sum C_m (Fornberg 1988; half of C_0 is given in table 1 of Levchenko et al. 2016). */
#include "fd.h"

#include <math.h>
#include <string.h>

void fd_second_difference(int half, double *weight)
{
    double ratio = 1; /* (M!)^2 / ((M-m)! (M+m)!) */
    weight[0] = 0;
    for (int m = 1; m <= half; m++) {
        ratio *= (double)(half - m + 1) / (half + m);
        weight[m] = (m % 2 ? 2 : -2) * ratio / ((double)m * m);
        weight[0] -= 2 * weight[m];
    }
}

/* A mode exp(i k x) turns by sin^2(w dt / 2) = (c dt / 2)^2 sum_a S(k_a h_a) / h_a^2, S(t) = -(C_0 + 2 sum
 * C_m cos(m t)), largest at t = pi. An axis of one node has no difference. */
double fd_scalar_stable(const struct fd *fd)
{
    double weight[MAX_HALF + 1], top, sum = 0;
    fd_second_difference(fd->half, weight);
    top = -weight[0];
    for (int m = 1; m <= fd->half; m++)
        top -= (m % 2 ? -2 : 2) * weight[m];
    for (int a = 0; a < 3; a++)
        if (fd->axis[a].total > 1)
            sum += top / (fd->axis[a].h * fd->axis[a].h);
    return sum > 0 ? 2 / (fd->speed_max * sqrt(sum)) : INFINITY;
}

double fd_least_spacing(const struct fd *fd)
{
    double least = INFINITY;
    for (int a = 0; a < 3; a++)
        least = fmin(least, fd->axis[a].total > 1 ? fd->axis[a].h : INFINITY);
    return least;
}

/* Rounds the weights of an axis in the solver's precision. Those from m = 2 on become multiples of the unit of the
 * second one, so that they and their centre, weight[0], sum to exactly 0: else constants would grow like
 * exp(n sqrt(error)). The first pair is taken less 2 p, whatever its weight. Of all ways to round the others up or
 * down, takes the one whose second moment, sum m^2 w_m, changes least, so that long waves keep their speed. */
static void round_weights(int half, double *weight, int digits)
{
    double second = half > 1 && weight[2] != 0 ? weight[2] : 1, unit = ldexp(1, ilogb(second) - digits + 1);
    double moment = 0, best = INFINITY, kept[MAX_HALF + 1] = {0};
    for (int m = 1; m <= half; m++)
        moment += m * m * weight[m];
    for (int choice = 0; choice < 1 << (half - 1); choice++) {
        double tried[MAX_HALF + 1] = {0, digits == 24 ? (float)weight[1] : weight[1]}, sum = tried[1];
        for (int m = 2; m <= half; m++) {
            tried[m] = unit * (floor(weight[m] / unit) + (choice >> (m - 2) & 1));
            tried[0] -= 2 * tried[m];
            sum += m * m * tried[m];
        }
        if (fabs(sum - moment) < best) {
            best = fabs(sum - moment);
            memcpy(kept, tried, sizeof kept);
        }
    }
    memcpy(weight, kept, (size_t)(half + 1) * sizeof *weight);
}

/* With dt in them, or, where c varies and with small steps, which make them small, without (split). */
void fd_scalar_weights(struct fd *fd, double dt, double dt_stable, int real_bytes)
{
    double weight[MAX_HALF + 1], least = fd_least_spacing(fd);
    fd_second_difference(fd->half, weight);
    fd->split = !fd->uniform || dt < 0.1 * dt_stable;
    fd->speed_unit = dt * dt / (least * least);
    fd->speed = fd->c * fd->c * fd->speed_unit;
    for (int a = 0; a < 3; a++) {
        double scale = fd->axis[a].total > 1 ? least / fd->axis[a].h : 0;
        for (int m = 1; m <= fd->half; m++)
            fd->weight[a][m] = weight[m] * scale * scale * (fd->split ? 1 : fd->speed);
        round_weights(fd->half, fd->weight[a], real_bytes == 4 ? 24 : 53);
    }
}

/* D_m = (-1)^(m-1) ((2M-1)!!)^2 / (2^(2M-2) (M+m-1)! (M-m)! (2m-1)^2): exact on polynomials of degree 2M
 * (Fornberg 1988); 1; 9/8, -1/24; .. */
void fd_staggered_difference(int half, double *weight)
{
    for (int m = 1; m <= half; m++) {
        double square = 2 * m - 1, product = 1;
        /* prod_(j != m) (2j-1)^2 / ((2j-1)^2 - (2m-1)^2): Lagrange in the squares of the distances. */
        for (int j = 1; j <= half; j++)
            if (j != m)
                product *= (2.0 * j - 1) * (2.0 * j - 1) / ((2.0 * j - 1) * (2.0 * j - 1) - square * square);
        weight[m] = product / square;
    }
}

/* A mode turns by sin(w dt / 2) = (c dt / 2) |d|, d_a = (2 / h_a) sum_m D_m sin((m - 1/2) k_a h_a), largest
 * at k_a h_a = pi, where all terms have one sign. */
double fd_staggered_stable(const struct fd *fd)
{
    double weight[MAX_HALF + 1], top = 0, sum = 0;
    fd_staggered_difference(fd->half, weight);
    for (int m = 1; m <= fd->half; m++)
        top += fabs(weight[m]);
    for (int a = 0; a < 3; a++)
        if (fd->axis[a].total > 1)
            sum += 1 / (fd->axis[a].h * fd->axis[a].h);
    return sum > 0 ? 1 / (fd->speed_max * top * sqrt(sum)) : INFINITY;
}
