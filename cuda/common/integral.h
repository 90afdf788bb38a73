/* integral.h: a stage of the integral over time of what stands at a place, on both engines. u' = q is one more equation
 * of the system that is stepped: it is updated as the state is, from q before the stage:
 *
 *     UPDATE_RHS   r <- q
 *     UPDATE_LSRK  r <- a r + dt q,  u <- u + b r
 *     UPDATE_AB3   u <- u + c0 q + c1 r1 + c2 r,  r <- q        c0, c1, c2 times dt [s]
 *
 * Next: csrc/dg/integral.c. */
#ifndef UNDA_INTEGRAL_H
#define UNDA_INTEGRAL_H

#include "common/args.h"
#include "common/index.h"
#include "physics/sum.h"

/* Where the value is q. The first stage of a step takes nothing of r (a = 0), whatever is there. */
DEVICE void integral_advance(const struct integral_args *s, int stage, double q, double *u, double *r,
                             double r1)
{
    if (s->update == UPDATE_LSRK) {
        *r = s->a[stage] == 0 ? s->dt * q : SUM2(s->a[stage], *r, s->dt, q);
        *u = PLUS(*u, s->b[stage], *r);
        return;
    }
    if (s->update == UPDATE_AB3)
        *u += SUM3(s->c0, q, s->c1, r1, s->c2, *r);
    *r = q;
}

#endif
