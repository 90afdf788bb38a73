/* staggered_maxwell.h: electric and magnetic field on the staggered grid (Yee 1966; docs/fd_staggered.md):
 *   mu H_t = -curl E                first pass,
 *   eps E_t = curl H - sigma E      second pass, sigma E as the mean of both times.
 * eps, mu and sigma at nodes, E_i shifted by half a cell along i, H_i along the other two. A node's material
 * fills the cell around it, so E_i is given on the face between two cells, normal to it, with one half in
 * each. D_i is the same in both, E_i the mean over both, <1/eps> D_i. The loss in both,
 *   <sigma (D_i/eps)^2> = sigma' E_i^2,    sigma' = <sigma/eps^2> / <1/eps>^2 >= 0,
 * makes the energy decrease in every step; exact to first order in sigma/(omega eps). (Two conductors in
 * series are not equivalent to one: from omega = 0 on their conductivity increases from 1/<1/sigma> to
 * sigma', which would need one more field.) 1/eps and sigma dt/2 / eps^2 are stored per node. mu of H_i:
 * arithmetic mean of the four nodes around it, because H is continuous across the face that they share, and
 * mu H is the flux. */
#include "physics/staggered.h"

#define MAXWELL_FIELDS   6 /* ex ey ez hx hy hz */
#define MAXWELL_MATERIAL 3 /* 1 / eps, mu, sigma dt / 2 / eps^2 */

enum { /* of the passes */
       FN(first0) = 3,
       FN(count0) = 3,
       FN(derivatives0) = 6,
       FN(needs0) = 7,
       FN(first1) = 0,
       FN(count1) = 3,
       FN(derivatives1) = 6,
       FN(needs1) = 8
};
TABLE unsigned char FN(stagger)[] = {1, 2, 4, 6, 5, 3};
TABLE struct staggered_derivative FN(derivatives)[] = {{3, 1, 2}, {3, 2, 1}, {4, 2, 0}, {4, 0, 2},
                                                       {5, 0, 1}, {5, 1, 0}, {0, 1, 5}, {0, 2, 4},
                                                       {1, 2, 3}, {1, 0, 5}, {2, 0, 4}, {2, 1, 3}};
TABLE struct staggered_need FN(needs)[] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {0, 0},
                                           {0, 1}, {0, 2}, {0, 4}, {2, 0}, {2, 1}, {2, 2}, {2, 4}};

/* mu: here and one on along x, y, xy, z, xz, yz. */
DEVICE void FN(pass0)(REAL *f, const REAL *d, const REAL *mu)
{
    f[0] -= DIVIDE((REAL)4, (mu[0] + mu[6]) + (mu[2] + mu[4])) * (d[0] - d[1]);
    f[1] -= DIVIDE((REAL)4, (mu[0] + mu[5]) + (mu[1] + mu[4])) * (d[2] - d[3]);
    f[2] -= DIVIDE((REAL)4, (mu[0] + mu[3]) + (mu[1] + mu[2])) * (d[4] - d[5]);
}
/* m: 1 / eps, then sigma dt / 2 / eps^2, each here and one on along x, y, z. As an increase: E without curl
 * and loss stays the same to the last bit, however inexact the quotient. */
DEVICE void FN(pass1)(REAL *f, const REAL *d, const REAL *m)
{
    const REAL *soft = m, *loss = m + 4;
    UNROLL for (int i = 0; i < 3; i++) {
        REAL soft2 = soft[0] + soft[1 + i], loss2 = loss[0] + loss[1 + i];
        REAL gain = (REAL)0.5 * soft2 * (d[2 * i] - d[2 * i + 1]); /* without loss */
        f[i] += DIVIDE(soft2 * gain - 2 * loss2 * f[i], soft2 + loss2);
    }
}
