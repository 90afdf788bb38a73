/* energy.c: the energy that the scalar scheme conserves: with levels p and p_ one step apart,
 *   E = V sum_nodes w [ ((p - p_) / dt)^2 / (2 rho c^2) - p laplace_h p_ / (2 rho) ],
 * laplace_h as in the scheme, w halved at each rigid side (Cohen 2002, section 3.4). In a sponge of
 * factors g
 *   (g + 1/g - 2) (p^2 + p_^2) / (4 rho c^2 dt^2)
 * is added to it: the step of layer.c times p' - p_ shows that this sum loses
 *   (1/g - g) (p' - p_)^2 / (4 rho c^2 dt^2)
 * in each step, so it never grows. A matched layer has more variables than p; only p is counted there, and
 * its energy has no bound. Next: energy.c. */
#include "../energy.h"

/* h^2 laplace_h p_ at (x, y, z); times c^2 dt^2 / h^2 where the weights contain that. */
static double difference(const struct fd *fd, const struct fd_planes *planes, int64_t y, int64_t z)
{
    const struct fd_axis *ay = &fd->axis[1], *az = &fd->axis[2];
    int64_t at = y * az->total + z;
    const double *const *plane = planes->state[FD_PREVIOUS] + fd->half, *old = plane[0];
    const int *sign_x = planes->sign[FD_PREVIOUS] + fd->half;
    double sum = 0;
    for (int m = 1; m <= fd->half; m++)
        for (int side = 0; side < 2; side++) {
            int sign_y, sign_z, step = side ? m : -m;
            int64_t j = fd_image(ay, y + step, &sign_y), k = fd_image(az, z + step, &sign_z);
            sum += fd->weight[0][m] * (sign_x[step] * plane[step][at] - old[at]);
            sum += fd->weight[1][m] * (sign_y * old[j * az->total + z] - old[at]);
            sum += fd->weight[2][m] * (sign_z * old[y * az->total + k] - old[at]);
        }
    return sum;
}

void fd_scalar_add_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, double *sum)
{
    const double *now = planes->state[FD_P][fd->half], *before = planes->state[FD_PREVIOUS][fd->half];
    double total = 0;
    for (int64_t y = 0; y < fd->axis[1].total; y++)
        for (int64_t z = 0; z < fd->axis[2].total; z++) {
            int64_t at = y * fd->axis[2].total + z;
            double p = now[at], old = before[at], rate = p - old;
            double speed = fd->uniform ? fd->speed : planes->material[0][0][at];
            double form = p * difference(fd, planes, y, z);
            double damp = fd->axis[0].damp[x] * fd->axis[1].damp[y] * fd->axis[2].damp[z];
            double layer = 0.5 * (damp + 1 / damp - 2) * (p * p + old * old);
            total += fd_share(fd, FD_P, 1, y) * fd_share(fd, FD_P, 2, z) *
                     ((rate * rate + layer) / speed - (fd->split ? form : form / speed));
        }
    *sum += fd_share(fd, FD_P, 0, x) * total;
}

double fd_scalar_energy_unit(const struct fd *fd)
{
    double least = fd_least_spacing(fd);
    return 2 * fd->rho * least * least;
}
