/* line_fluids.h: to and from reference components at a node of a hexahedron, and the flux at a face, where cells may
 * be fluids among solids, which on warped ones have products of their own (physics/elastic.h). The includer defines
 * what line.h asks for, FLUID_CELLS (some cells are fluids). Next: line_ends.h. */
#ifndef UNDA_DG_LINE_FLUIDS_H
#define UNDA_DG_LINE_FLUIDS_H

#include "dg/line.h"

#define HAS_FLUID (FLUIDS && FLUID_CELLS && METRIC_KIND != METRIC_AFFINE)

#if HAS_FLUID
static __device__ __forceinline__ bool is_fluid(const dg_args &a, long long elem)
{
    return !(__ldg((const REAL *)a.record + RECORD * elem + FLUID_COEF) > 0);
}
#endif

static __device__ __forceinline__ void node_to_reference(const dg_args &a, long long elem, const REAL *q,
                                                         const REAL *metric, REAL *u)
{
#if HAS_FLUID
    if (is_fluid(a, elem)) {
        fluid_to_reference(q, metric, u);
        return;
    }
#endif
    to_reference(q, metric, u);
}

static __device__ __forceinline__ void node_from_reference(const dg_args &a, long long elem, const REAL *acc,
                                                           const REAL *metric, const REAL *coef, REAL *rhs)
{
#if HAS_FLUID
    if (is_fluid(a, elem)) {
        fluid_from_reference(acc, metric, coef, rhs);
        return;
    }
#endif
    from_reference(acc, metric, coef, rhs);
}

/* Component `axis` of a vector in registers, which have no addresses. */
static __device__ __forceinline__ REAL component(const REAL *x, int axis)
{
    return axis == 0 ? x[0] : axis == 1 ? x[1] : x[2];
}

/* The trace at an end of a line, whose values there are own, at a face with frame m. */
static __device__ __forceinline__ void end_trace(const dg_args &a, const line &at, int side, const REAL *own,
                                                 const REAL *m, REAL *trace)
{
    REAL u[NUM_REF];
#if HAS_FLUID
    if (is_fluid(a, at.elem)) {
        fluid_trace(component(own, at.axis), component(own + GRAD_DIV, at.axis), side, m, trace);
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++)
        u[LINE_REF(0, i)] = own[i];
    trace_reference(u, side, trace);
}

/* Adds the jump y there, divided by the weight, to the sums of the line. */
static __device__ __forceinline__ void add_jump(const dg_args &a, const line &at, int side, const REAL *m,
                                                const REAL *lift_coef, const REAL *y, REAL *sum)
{
    REAL acc[NUM_ACC];
#if HAS_FLUID
    if (is_fluid(a, at.elem)) {
        REAL add[2];
        fluid_lifted(y, side, m, lift_coef, add);
#pragma unroll
        for (int i = 0; i < NUM_LINE; i++)
            if (i % GRAD_DIV == at.axis)
                sum[i] += add[i / GRAD_DIV];
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++)
        acc[LINE_ACC(0, i)] = sum[i];
    apply_lift(y, side, lift_coef, acc);
#pragma unroll
    for (int i = 0; i < NUM_LINE; i++)
        sum[i] = acc[LINE_ACC(0, i)];
}

#endif
