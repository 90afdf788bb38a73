/* matched.c: perfectly matched layers of the scalar scheme: convolutional, unsplit, of second order in time
 * (Komatitsch & Martin 2007; Pasalic & McGarry 2010), here for fluxes of any order. Along its axis a layer
 * takes (1/s) d/dx ((1/s) dp/dx), s = 1 + d / (alpha + i omega), in place of p_xx. The difference of order 2M
 * is one of two fluxes, h^2 L p = F(+1/2) - F(-1/2), F = sum_k g_k (p_k - p_(1-k)), g_k = C_k + .. + C_M of
 * stencil.c; each is stretched at its own position, so that the sum telescopes in the layer as it does
 * outside, all of L is stretched, and the layer's front does not reflect long waves:
 *
 *     m = b m + a F at both half nodes,   e = F(+) - F(-) + m(+) - m(-),   z = b z + a e at the node,
 *     L p becomes L p + m(+) - m(-) + z.
 *
 * All three belong to the node (neighbours each keep their own m), so a step needs no more neighbours than
 * without layers. In a layer of n nodes x is the depth from the half node where it begins, as a fraction of n
 * h: d = -2 c ln(R) / (n h) x^3, alpha = pi f0 (1 - x), b = exp(-(d + alpha) dt), a = d (b - 1) / (d +
 * alpha).
 *
 * The stable step is that without layers. A mode z^n obeys (z - 2 + 1/z) p = -c^2 dt^2 A(z) p, where A is the
 * operator with 1/s = 1 + a / (1 - b / z) at nodes and half nodes. For |z| >= 1 that lies in the disc between
 * alpha / (d + alpha) >= 0 and 1 + a / (1 + b) < 1, so |1/s| <= 1, and |A| is at most its largest value
 * without layers, 4 / (c dt_stable)^2: below that step no mode passes z = -1, where instability begins. */
#include "../layer.h"

#include <math.h>

double fd_flux_weight(const struct fd *fd, int axis, int k)
{
    double sum = 0;
    for (int m = fd->half; m >= k; m--)
        sum += fd->weight[axis][m];
    return sum;
}

unda_status fd_matched_tables(struct fd *fd, double dt)
{
    const unda_fd_options *o = &fd->options;
    for (int axis = 0; axis < 3; axis++) {
        struct fd_axis *along = &fd->axis[axis];
        int64_t num = fd_matched(along);
        double scale = fd_flux_weight(fd, axis, 1);
        TRY(array_own(&fd->owned, &along->match, 6 * num, sizeof(double), "layers"));
        for (int64_t i = 0; i < num; i++) {
            int side = i >= along->matched[0];
            int64_t width = along->matched[side];
            double deep = (double)(side ? i - along->matched[0] + 1 : width - i);
            double place[3] = {deep - (side ? 1 : 0), deep - (side ? 0 : 1), deep - 0.5};
            for (int k = 0; k < 3; k++) {
                int end = 2 * axis + side;
                double *b = &along->match[k * num + i], *a = &along->match[(3 + k) * num + i];
                double x = place[k] / (double)width, length = (double)width * along->h;
                double d = -2 * fd->speed_max * log(o->reflection[end]) / length * x * x * x;
                double alpha = M_PI * o->frequency[end] * (1 - x);
                *b = exp(-(d + alpha) * dt);
                *a = d > 0 ? d * (*b - 1) / (d + alpha) * (k < 2 ? scale : 1) : 0;
            }
        }
    }
    return UNDA_OK;
}

struct fd_memory *fd_add_memory(struct fd *fd, int number, int axis, int64_t count)
{
    struct fd_memory *memory = &fd->memory[fd->num_memory++];
    *memory = (struct fd_memory){.number = number, .axis = axis, .count = count};
    for (int i = 0; i < 3; i++)
        memory->num[i] = i == axis ? count : fd->axis[i].total;
    return memory;
}

void fd_list_matched(struct fd *fd)
{
    fd->num_memory = 0;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3 && fd_matched(&fd->axis[a]); k++)
            fd_add_memory(fd, k, a, fd_matched(&fd->axis[a]));
}
