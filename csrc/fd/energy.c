/* energy.c: the energy that the scalar scheme conserves: with levels p and p_ one step apart,
 *   E = V sum_nodes w [ ((p - p_) / dt)^2 / (2 rho c^2) - p laplace_h p_ / (2 rho) ],
 * laplace_h as in the scheme, w halved at each rigid side (Cohen 2002, section 3.4). In a sponge of
 * factors g
 *   (g + 1/g - 2) (p^2 + p_^2) / (4 rho c^2 dt^2)
 * is added to it: the step of layer.c times p' - p_ shows that this sum loses
 *   (1/g - g) (p' - p_)^2 / (4 rho c^2 dt^2)
 * in each step, so it never grows. A matched layer has more variables than p; only p is counted there, and
 * its energy has no bound.
 * Read plane by plane and summed in a fixed order in float64: little memory, and the same code for
 * both engines. */
#include "fd.h"

#include <math.h>

static double half_at_rigid(const struct fd_axis *axis, int64_t i)
{
    bool low = i == 0 && axis->side[0] == SIDE_RIGID;
    bool high = i == axis->total - 1 && axis->side[1] == SIDE_RIGID;
    return axis->total > 1 && (low || high) ? 0.5 : 1;
}

/* What one plane needs: p, c^2 dt^2 / h^2, and p_ at x - M .. x + M, with the signs of images. */
struct planes {
    const double *now, *speed, *old[2 * MAX_HALF + 1];
    int sign[2 * MAX_HALF + 1];
};

static double difference(const struct fd *fd, const struct planes *p, int64_t y, int64_t z)
{
    const struct fd_axis *ay = &fd->axis[1], *az = &fd->axis[2];
    int64_t at = y * az->total + z;
    const double *old = p->old[fd->half];
    double sum = (fd->center - (fd->split ? 0 : 2)) * old[at];
    for (int m = 1; m <= fd->half; m++)
        for (int side = 0; side < 2; side++) {
            int sign_y, sign_z, step = side ? m : -m;
            int64_t j = fd_image(ay, y + step, &sign_y), k = fd_image(az, z + step, &sign_z);
            sum += fd->weight[0][m] * p->sign[fd->half + step] * p->old[fd->half + step][at];
            sum += fd->weight[1][m] * sign_y * old[j * az->total + z];
            sum += fd->weight[2][m] * sign_z * old[y * az->total + k];
        }
    return sum;
}

static double plane_energy(const struct fd *fd, const struct planes *p, int64_t x)
{
    double total = 0;
    for (int64_t y = 0; y < fd->axis[1].total; y++)
        for (int64_t z = 0; z < fd->axis[2].total; z++) {
            int64_t at = y * fd->axis[2].total + z;
            double rate = p->now[at] - p->old[fd->half][at], speed = p->speed ? p->speed[at] : fd->speed;
            double form = p->now[at] * difference(fd, p, y, z), old = p->old[fd->half][at];
            double damp = fd->axis[0].damp[x] * fd->axis[1].damp[y] * fd->axis[2].damp[z];
            double layer = 0.5 * (damp + 1 / damp - 2) * (p->now[at] * p->now[at] + old * old);
            total += half_at_rigid(&fd->axis[1], y) * half_at_rigid(&fd->axis[2], z) *
                     ((rate * rate + layer) / speed - (fd->split ? form : form / speed));
        }
    return total;
}

/* Windows of p, p_ and the speed. */
enum { NOW, OLD, SPEED, NUM_WINDOW };

static unda_status sum_planes(unda_solver *s, struct fd_window window[NUM_WINDOW], double *total)
{
    const struct fd *fd = fd_tables(s);
    for (int64_t x = 0; x < fd->axis[0].total; x++) {
        struct planes p = {0};
        int64_t plane[2 * MAX_HALF + 1];
        for (int m = -fd->half; m <= fd->half; m++)
            plane[fd->half + m] = fd_image(&fd->axis[0], x + m, &p.sign[fd->half + m]);
        TRY(fd_window_read(s, &window[OLD], FD_PREVIOUS, 2 * fd->half + 1, plane, p.old));
        TRY(fd_window_read(s, &window[NOW], FD_P, 1, &x, &p.now));
        if (!fd->uniform)
            TRY(fd_window_read(s, &window[SPEED], FD_SPEED, 1, &x, &p.speed));
        *total += half_at_rigid(&fd->axis[0], x) * plane_energy(fd, &p, x);
    }
    return UNDA_OK;
}

unda_status fd_scalar_energy(unda_solver *s, double *energy)
{
    const struct fd *fd = fd_tables(s);
    struct fd_window window[NUM_WINDOW] = {0};
    double total = 0, least = INFINITY; /* as in stencil.c */
    for (int a = 0; a < 3; a++)
        least = fd->axis[a].total > 1 && fd->axis[a].h < least ? fd->axis[a].h : least;
    unda_status status = UNDA_OK;
    for (int i = 0; i < NUM_WINDOW && status == UNDA_OK; i++)
        status = fd_window_new(s, &window[i], i == OLD ? 2 * fd->half + 1 : 1);
    if (status == UNDA_OK)
        status = sum_planes(s, window, &total);
    for (int i = 0; i < NUM_WINDOW; i++)
        fd_window_free(&window[i]);
    TRY(status);
    *energy = total * fd->axis[0].h * fd->axis[1].h * fd->axis[2].h / (2 * fd->rho * least * least);
    return UNDA_OK;
}
