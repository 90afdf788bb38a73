/* staggered_elastic.h: velocity and stress on the staggered grid (Virieux 1986, Levander 1988;
 * docs/fd_staggered.md):
 *   rho v_t = div sigma                                           first pass,
 *   sigma_t = lambda (div v) I + mu (grad v + grad v^T)           second pass.
 * rho, lambda, mu and normal stresses at nodes, v_i shifted by half a cell along i, sigma_ij along i and j.
 * rho of a velocity: arithmetic mean of two nodes (both halves move together). mu of a shear stress: harmonic
 * mean of four, since traction is continuous; 0 where one of them is a fluid. So 1/mu is stored, infinite in
 * fluids. At nodes of free sides lambda is the value that remains when the stress normal to the side is 0
 * (csrc/physics/staggered.c). */
#include "physics/staggered.h"

#define ELASTIC_FIELDS   9 /* vx vy vz sxx syy szz syz sxz sxy */
#define ELASTIC_MATERIAL 3 /* rho, lambda, 1 / mu */

enum { /* of the passes */
       FN(first0) = 0,
       FN(count0) = 3,
       FN(derivatives0) = 9,
       FN(needs0) = 4,
       FN(first1) = 3,
       FN(count1) = 6,
       FN(derivatives1) = 9,
       FN(needs1) = 8
};
TABLE unsigned char FN(stagger)[] = {1, 2, 4, 0, 0, 0, 6, 5, 3};
TABLE struct staggered_derivative FN(derivatives)[] = {
    {0, 0, 3}, {0, 1, 8}, {0, 2, 7}, {1, 0, 8}, {1, 1, 4}, {1, 2, 6}, {2, 0, 7}, {2, 1, 6}, {2, 2, 5},
    {3, 0, 0}, {4, 1, 1}, {5, 2, 2}, {6, 2, 1}, {6, 1, 2}, {7, 2, 0}, {7, 0, 2}, {8, 1, 0}, {8, 0, 1}};
TABLE struct staggered_need FN(needs)[] = {{0, 0}, {0, 1}, {0, 2}, {0, 4}, {1, 0}, {2, 0},
                                           {2, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}};

DEVICE void FN(pass0)(REAL *f, const REAL *d, const REAL *m)
{
    UNROLL for (int i = 0; i < 3; i++)
        f[i] += (d[3 * i] + d[3 * i + 1] + d[3 * i + 2]) * DIVIDE((REAL)2, m[0] + m[1 + i]);
}

/* m: lambda, then 1 / mu here and one on along x, y, xy, z, xz, yz. */
DEVICE void FN(pass1)(REAL *f, const REAL *d, const REAL *m)
{
    const REAL *soft = m + 1;
    REAL twice_mu = DIVIDE((REAL)2, soft[0]), pressure = m[0] * (d[0] + d[1] + d[2]);
    UNROLL for (int i = 0; i < 3; i++)
        f[i] += pressure + twice_mu * d[i];
    f[3] += DIVIDE((REAL)4, (soft[0] + soft[6]) + (soft[2] + soft[4])) * (d[3] + d[4]);
    f[4] += DIVIDE((REAL)4, (soft[0] + soft[5]) + (soft[1] + soft[4])) * (d[5] + d[6]);
    f[5] += DIVIDE((REAL)4, (soft[0] + soft[3]) + (soft[1] + soft[2])) * (d[7] + d[8]);
}
