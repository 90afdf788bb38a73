/* advance.h: Newmark's scheme at an unknown (docs/sem.md): what becomes of its acceleration. A step that ends and one
 * that goes on round in the same way, so that results do not depend on where a run was interrupted. */
#ifndef UNDA_SEM_ADVANCE_H
#define UNDA_SEM_ADVANCE_H

#include "sem/args.h"

/* v at the middle of the next step: v + dt/2 a twice, before and after the end of this one. */
static __device__ __forceinline__ REAL half_step(REAL v, REAL a, double dt)
{
    return fma((REAL)(dt / 2), a, v);
}

static __device__ __forceinline__ void advance_to(int mode, double dt, REAL a, REAL *u, REAL *v, REAL *to)
{
    if (mode == SEM_FORCE) {
        *to = a;
        return;
    }
    REAL now = half_step(*v, a, dt);
    if (mode == SEM_CLOSE) {
        *v = now;
        *to = a;
        return;
    }
    now = half_step(now, a, dt);
    *v = now;
    *u = fma((REAL)dt, now, *u);
}

#endif
