/* line_ends.h: the flux at both ends of a line, nodes of two opposite faces. All is as on faces -r1 and +r1 of an
 * element whose axes are turned, so that only addresses know the axis. Next: lines.cu,
 * line_nodes.h. */
#ifndef UNDA_DG_LINE_ENDS_H
#define UNDA_DG_LINE_ENDS_H

#include "dg/line_fluids.h"

/* What lies outside an end: the neighbour's state, or exact data. */
struct outside {
    REAL q[NUM_FIELD];
    int neighbor;
};

/* Where the exact data of a slot begin. */
static __device__ __forceinline__ const REAL *exact_at(const dg_args &a, int slot)
{
    return (const REAL *)a.exact + ((*a.clock + a.time) * a.num_exact_face + slot) * (NFP * NUM_FIELD);
}

/* At node m of a face, behind which o.neighbor lies. On a boundary some state is read, which nothing uses: without a
 * branch the loads that follow do not wait for the table of neighbours. */
static __device__ __forceinline__ void load_neighbor(const dg_args &a, int m, outside &o)
{
    int number = o.neighbor < 0 ? 0 : o.neighbor;
    load_node<NUM_FIELD>(o.q, (const REAL *)a.q, a.num_total * NP,
                         place(NEIGHBOR_ELEM(number), __ldg(a.face_node + NEIGHBOR_SIDE(number) * NFP + m)));
}

/* Exact data in its place, where the boundary has them. */
static __device__ __forceinline__ void load_exact(const dg_args &a, int m, outside &o)
{
    if (o.neighbor <= -1 - BOUNDARY_EXACT)
        load_constant<NUM_FIELD>(o.q, exact_at(a, -1 - BOUNDARY_EXACT - o.neighbor) + m * NUM_FIELD);
}

static __device__ __forceinline__ void load_outside_of(const dg_args &a, int m, outside &o)
{
    load_neighbor(a, m, o);
    load_exact(a, m, o);
}

/* Behind both ends of a line. */
static __device__ __forceinline__ void find_neighbors(const dg_args &a, const line &at, outside o[2])
{
    int2 neighbor = __ldg((const int2 *)a.neighbor + 3 * at.elem + at.axis);
    o[0].neighbor = neighbor.x;
    o[1].neighbor = neighbor.y;
}

static __device__ __forceinline__ void load_neighbors(const dg_args &a, int m, outside o[2])
{
    load_neighbor(a, m, o[0]);
    load_neighbor(a, m, o[1]);
}

static __device__ __forceinline__ void load_exact_data(const dg_args &a, int m, outside o[2])
{
    load_exact(a, m, o[0]);
    load_exact(a, m, o[1]);
}

/* Adds what incident waves make of the jump, as incident.h does. */
static __device__ __forceinline__ void add_incident(const dg_args &a, const line &at, int side, int neighbor,
                                                    const REAL *f1, const REAL *coef, REAL upwind, REAL *y)
{
    long long face = NUM_FACE * at.elem + 2 * at.axis + side;
    for (int i = a.incident_range[blockIdx.x]; i < a.incident_range[blockIdx.x + 1]; i++) {
        const dg_incident &wave = a.incident[i];
        REAL q[NUM_FIELD], in[NUM_TRACE] = {}, out[NUM_TRACE], mirrored[NUM_TRACE], jumps[NUM_JUMP];
        REAL weight[NUM_MIRROR], sign = wave.sign;
        if (wave.face != face)
            continue;
        load_constant<NUM_FIELD>(q, exact_at(a, wave.slot) + at.m * NUM_FIELD);
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] *= sign;
        mirror(neighbor < 0 ? -1 - neighbor : BOUNDARY_ABSORBING, weight); /* absorbing: of nothing */
        trace(q, f1, out);
        reflect(out, f1, coef, weight, mirrored);
        for (int k = 0; k < NUM_TRACE; k++)
            out[k] -= mirrored[k];
        jump(in, out, f1, coef, upwind, jumps);
        for (int k = 0; k < NUM_JUMP; k++)
            y[k] += jumps[k];
    }
}

/* What the flux at one end adds to the sums of the line: own [NUM_LINE], the line's values there; s: where the
 * kernel's load_rows finds the metric. */
template <class frames>
static __device__ __forceinline__ void add_flux(const dg_args &a, const frames &s, const line &at, int side,
                                                const outside &o, const REAL *own, REAL *sum)
{
    REAL rows[9], f1[NUM_FRAME], material[NUM_FACE_COEF], coef[NUM_FACE_COEF], lift_coef[NUM_LIFT_COEF];
    REAL in[NUM_TRACE], out[NUM_TRACE], y[NUM_JUMP];
    long long face = NUM_FACE * at.elem + 2 * at.axis + side;
    load_groups<NUM_FACE_COEF>(material, (const REAL *)a.face_coef, a.num_coef_face,
                               BY_NODE ? face * NFP + at.m : face);
    load_rows(a, s, at, side, rows);
    frame(rows, side, f1);
    join_area(material, area(f1), coef);
    end_trace(a, at, side, own, f1, in);
    trace(o.q, f1, out);
    if (o.neighbor < 0 && o.neighbor > -1 - BOUNDARY_EXACT) {
        REAL weight[NUM_MIRROR];
        mirror(-1 - o.neighbor, weight);
        reflect(in, f1, coef, weight, out);
    }
    REAL upwind = ALWAYS_UPWIND || o.neighbor == -1 - BOUNDARY_ABSORBING;
    jump(in, out, f1, coef, upwind, y);
#if INCIDENT
    add_incident(a, at, side, o.neighbor, f1, coef, upwind, y);
#endif
#pragma unroll
    for (int k = 0; k < NUM_JUMP; k++)
        y[k] *= (REAL)(LINE_WEIGHT);
    lift_coefficients(f1, coef, lift_coef);
    add_jump(a, at, side, f1, lift_coef, y, sum);
}

#endif
