/* staggered_acoustic.h: pressure and velocity on the staggered grid (Virieux 1984; docs/fd_staggered.md):
 *   rho v_t + grad p = 0           first pass,
 *   p_t + rho c^2 div v = 0        second pass.
 * p, rho and rho c^2 at nodes, v_i shifted by half a cell along i, where a pressure difference accelerates
 * the mean mass of the two adjacent nodes: rho is their arithmetic mean. Every physics defines: fields in the
 * order of the state, pass by pass; the differences and materials that each field needs (staggered.h); the
 * update of one node. The includer defines REAL, DEVICE, UNROLL, TABLE and FN. */
#include "physics/staggered.h"

#define ACOUSTIC_FIELDS   4 /* p vx vy vz */
#define ACOUSTIC_MATERIAL 2 /* rho, rho c^2 */

enum { /* of the passes */
       FN(first0) = 1,
       FN(count0) = 3,
       FN(derivatives0) = 3,
       FN(needs0) = 4,
       FN(first1) = 0,
       FN(count1) = 1,
       FN(derivatives1) = 3,
       FN(needs1) = 1
};
TABLE unsigned char FN(stagger)[] = {0, 1, 2, 4};
TABLE struct staggered_derivative FN(derivatives)[] = {{1, 0, 0}, {2, 1, 0}, {3, 2, 0},
                                                       {0, 0, 1}, {0, 1, 2}, {0, 2, 3}};
TABLE struct staggered_need FN(needs)[] = {{0, 0}, {0, 1}, {0, 2}, {0, 4}, {1, 0}};

/* f: the fields of a pass; d: dt times the differences of its derivatives; m: what it needs of materials. */
DEVICE void FN(pass0)(REAL *f, const REAL *d, const REAL *m)
{
    UNROLL for (int i = 0; i < 3; i++)
        f[i] -= d[i] * DIVIDE((REAL)2, m[0] + m[1 + i]);
}
DEVICE void FN(pass1)(REAL *f, const REAL *d, const REAL *m)
{
    f[0] -= m[0] * (d[0] + d[1] + d[2]);
}
