/* integrator.h: time integrators as tables of stages, for any method whose state is in buffers of elements.
 * A stage evaluates the right-hand side f(q) of some elements and updates their part of the buffers:
 *
 *     UPDATE_RHS   r <- f
 *     UPDATE_LSRK  r <- a r + dt f,  q' <- q + b r
 *     UPDATE_AB3   q' <- q + dt (c0 f + c1 r1 + c2 r),  r <- f
 *
 * Next: integrator.c (the tables, a step), dg/method.c (a method that uses them). */
#ifndef UNDA_INTEGRATOR_H
#define UNDA_INTEGRATOR_H

#include "solver.h"

/* State buffers of an engine: q, q', r, r1 and scratch; a step exchanges their roles. */
enum { BUF_Q, BUF_NEW, BUF_R, BUF_R1, BUF_SCRATCH, NUM_BUF };

struct stage {
    int update;
    int r;        /* the buffer that r is */
    int64_t time; /* row of the sampled sources and exact data */
    double a, b, c0, c1, c2;
};

struct integrator {
    int num_stage;
    /* right-hand sides of earlier steps that a step needs: r1 of the last one, r of the one before */
    int num_level;
    const struct integrator *start; /* the integrator that takes steps until these exist */
    int update;
    const double (*stage)[6]; /* [num_stage]: time [dt], a, b, c0, c1, c2 */
};
extern const struct integrator *const integrators[]; /* by unda_integrator */

/* The progress of a run; in a method's tables. */
struct integration {
    const struct integrator *kind;
    int32_t num_valid; /* levels that are there */
    int64_t num_elem;
};

int64_t integration_num_time(const struct integration *in, int64_t num_step);
void integration_times(const unda_solver *s, const struct integration *in, int64_t num_step, double *times);
/* A stage of all elements. */
unda_status integration_stage(unda_solver *s, const struct integration *in, const struct stage *stage);
/* Takes one step with data from row *time on, and advances *time; then calls the step hooks. */
unda_status integration_step(unda_solver *s, struct integration *in, int64_t *time);

#endif
