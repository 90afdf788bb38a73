/* index.h: integers that mean something in the tables, the same for host and kernels.
 * A neighbour is 4 * elem + face; negative ones are boundaries. No includes: NVRTC reads this alone. */
#ifndef UNDA_INDEX_H
#define UNDA_INDEX_H

/* Words of an element's record: nine gradients grad r_j, then NUM_COEF coefficients, padded to fours. */
#define ELEM_WORDS(num_coef) ((9 + (num_coef) + 3) / 4 * 4)

/* neighbor = -1 - condition; from BOUNDARY_EXACT on, -1 - BOUNDARY_EXACT - slot with exact outer data. */
#define BOUNDARY_ABSORBING 0
#define BOUNDARY_RIGID     1
#define BOUNDARY_FREE      2
#define BOUNDARY_EXACT     3

/* What a stage does with the right-hand side r of dq/dt = r. */
#define UPDATE_RHS  0 /* store r */
#define UPDATE_LSRK 1 /* res = a res + dt r, q' = q + b res (Carpenter & Kennedy 1994) */
#define UPDATE_AB3  2 /* q' = q + dt (c0 r + c1 r1 + c2 r2), keep r in place of r2 */

#endif
