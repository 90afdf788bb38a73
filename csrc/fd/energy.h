/* energy.h: the energy that a scheme conserves, as a sum over planes of constant x. Next: energy.c (reads the
 * planes), scalar/energy.c, staggered/energy.c (what a plane adds). */
#ifndef UNDA_FD_ENERGY_H
#define UNDA_FD_ENERGY_H

#include "fd.h"

/* What plane x takes: arrays of the state at x - M .. x + M, the sign of each where it is an image, and the
 * materials at x and x + 1; [total y][total z] in float64. */
struct fd_planes {
    const double *state[FD_MAX_FIELD][2 * MAX_HALF + 1], *material[FD_MAX_MATERIAL][2];
    int sign[FD_MAX_FIELD][2 * MAX_HALF + 1];
};

void fd_scalar_add_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, double *sum);
double fd_scalar_energy_unit(const struct fd *fd);
void fd_staggered_add_energy(const struct fd *fd, const struct fd_planes *planes, int64_t x, double *sum);

#endif
