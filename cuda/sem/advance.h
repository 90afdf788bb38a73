/* advance.h: Newmark's scheme at an unknown (docs/sem.md): what becomes of its acceleration. A step that ends and one
 * that goes on round in the same way, so that results do not depend on where a run was interrupted. */
#ifndef UNDA_SEM_ADVANCE_H
#define UNDA_SEM_ADVANCE_H

#include "common/vector.h"
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
#if KEEPS
    *to = mode == SEM_KEEP_V ? now : a;
#endif
    now = half_step(now, a, dt);
    *v = now;
    *u = fma((REAL)dt, now, *u);
}

/* Unknowns side by side: u of the next step, or what stays in a's memory; with KEEPS both. */
template <int NUM>
static __device__ __forceinline__ void store_end(int mode, REAL *u, const REAL (&of_u)[NUM], REAL *a,
                                                 const REAL (&of_a)[NUM])
{
#if KEEPS
    store_vector<NUM>(u, of_u);
    store_vector<NUM>(a, of_a);
#else
    if (mode == SEM_STEP)
        store_vector<NUM>(u, of_u);
    else
        store_vector<NUM>(a, of_a);
#endif
}

#endif
