/* range.c: refuses units in which values leave the range of the solver's precision: an engine would round them
 * to 0 or infinity, and the run would return zeros or look unstable. dg/tables.c does the same. Not here: amplitudes
 * (solver/source.c), states (Python). */
#include "fd.h"

#include "../physics/physics.h"

#include <float.h>
#include <math.h>

enum { ROOM = 8 }; /* kernels add up to four coefficients, and divide two by the sum */

unda_status fd_check_range(const struct fd *fd, const char *what, int num, const double *values)
{
    double lowest = fd->single ? FLT_MIN : DBL_MIN, highest = fd->single ? FLT_MAX : DBL_MAX;
    double least = INFINITY, most = 0;
    bool within = true;
    for (int i = 0; i < num; i++) {
        double x = fabs(values[i]);
        within = within && x >= lowest && x <= highest;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    if (!within)
        FAIL(UNDA_ERR_ARG, "%s reach from %.3g to %.3g, beyond %s; use other units%s", what, least, most,
             fd->single ? "float32" : "float64", fd->single ? " or float64" : "");
    return UNDA_OK;
}

/* Engines multiply by and divide by Z, Z c (a modulus, or 1 / eps) and Z / c (rho, or mu) of each wave, of
 * speed c and impedance Z. */
unda_status fd_check_units(const struct fd *fd, const struct physics *physics, const double *material)
{
    double speed[MAX_WAVE], impedance[MAX_WAVE], values[6 * MAX_WAVE];
    int num = 0;
    physics->waves(material, speed, impedance);
    for (int i = 0; i < physics->num_wave; i++) {
        double z = impedance[i], part[3] = {z, z * speed[i], z / speed[i]};
        if (speed[i] == 0) /* S waves of a fluid */
            continue;
        for (int k = 0; k < 3; k++) {
            values[num++] = ROOM * part[k];
            values[num++] = ROOM / part[k];
        }
    }
    return fd_check_range(fd, "coefficients of a material", num, values);
}

/* dt and the volume of a cell, which are float64 in either precision. */
unda_status fd_check_steps(const unda_solver *s)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    double volume = axis[0].h * axis[1].h * axis[2].h;
    if (axis[0].total * axis[1].total * axis[2].total == 1)
        FAIL(UNDA_ERR_ARG, "the grid has one node along each axis, expected more along one at least");
    if (!isnormal(s->dt_stable) || !isnormal(volume))
        FAIL(
            UNDA_ERR_ARG,
            "the stable step is %.3g s and the volume of a cell %.3g m3 (speed %.3g m/s, spacing %.3g, %.3g, "
            "%.3g m), beyond float64; use other units",
            s->dt_stable, volume, fd_tables(s)->speed_max, axis[0].h, axis[1].h, axis[2].h);
    return UNDA_OK;
}
