/* layer.h: what the passes over layers share (layer_hex.cu, layer_tet.cu): memory variables of a node through a stage, and
 * what it adds to the state. The equations: csrc/dg/layer.c.
 *
 * Of LSRK, r <- a r + dt f, q' <- q + b r. Where a != 0 the pass goes before the stage and adds dt / a times its share of f to
 * r, so that the stage brings it into r and q' with its own. Where a = 0 it goes after, and q' is q + b r again.
 * Either way q' is not read: 48 or 64 bytes for four fields of a node in float32, beside 16 NUM_TRACE an axis. */
#ifndef UNDA_DG_LAYER_H
#define UNDA_DG_LAYER_H

#define VAL        REAL
#define FN(name)   name
#define DEVICE     static __device__ __forceinline__
#define BOTH_JUMPS 1
#define ROOT(x)    sqrt(x)

#include "common/index.h"
#include "common/layer_args.h"
#include PHYSICS
#include SPACE
#include "dg/stretch.h"
#include LAYOUT

enum { NP = NUM_NODE(DEGREE), NFP = NUM_FACE_NODE(DEGREE) };

/* The field that is trace i across an axis: `trace` with the frame of the axis. */
DEVICE int trace_field(int axis, int i)
{
#if GRAD_DIV == 3
    return i < 3 ? i : i - 3 == axis ? 3 + axis : 12 - axis - i;
#elif GRAD_DIV
    return i == 0 ? 0 : 1 + axis;
#else
    return i / 2 * 3 + (axis + 1 + i % 2) % 3;
#endif
}

DEVICE REAL gradient_at(const dg_layer_args &a, long long cell, int i, int n)
{
    const REAL *g = (const REAL *)a.gradient;
    return __ldg(a.gradient_nodes ? g + (cell * 9 + i) * NP + n : g + cell * 9 + i);
}

DEVICE void load_coefficients(const dg_layer_args &a, long long cell, int n, REAL *coef)
{
    for (int i = 0; i < NUM_COEF; i++) {
        long long at = cell * NUM_COEF + i;
        coef[i] = __ldg((const REAL *)a.coef + (a.coef_nodes ? at * NP + n : at));
    }
}

DEVICE long long place_of(long long elem, int n)
{
    return elem_place(NUM_FIELD, NP, elem) + (long long)n * NODE_STRIDE(NUM_FIELD);
}

/* The trace across an axis at a node of a neighbour. */
DEVICE void load_trace(const dg_layer_args &a, int axis, long long elem, int n, REAL *w)
{
    REAL q[NUM_FIELD], frame[NUM_FRAME];
    load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, place_of(elem, n));
    axis_frame(axis, frame);
    trace(q, frame, w);
}

/* An item's memory variables at a node, and what r and r1 are of them. */
struct memory {
    REAL psi[NUM_TRACE], r[NUM_TRACE], r1[NUM_TRACE];
};

template <int PASS> DEVICE void load_memory(const dg_layer_args &a, long long item, int n, memory &at)
{
    bool ab3 = PASS == LAYER_FOR_OTHER && a.update == UPDATE_AB3;
    for (int i = 0; i < NUM_TRACE; i++) {
        long long place = (item * NUM_TRACE + i) * NP + n;
        at.psi[i] = ((const REAL *)a.psi)[place];
        if (PASS == LAYER_FOR_NEXT || ab3) /* at first it may hold anything */
            at.r[i] = ((const REAL *)a.psi_r)[place];
        if (ab3)
            at.r1[i] = ((const REAL *)a.psi_r1)[place];
    }
}

/* The profile of an item where it has number `at`. */
DEVICE void load_profile(const dg_layer_args &a, long long item, int at, REAL *profile)
{
    for (int i = 0; i < LAYER_NUMBER; i++)
        profile[i] = __ldg((const REAL *)a.profile + (item * LAYER_NUMBER + i) * a.profile_nodes + at);
}

/* z = (1 / kappa - 1) slope + psi, and the stage of psi. */
template <int PASS>
DEVICE void advance_memory(const dg_layer_args &a, long long item, int n, const REAL *profile,
                           const memory &at, const REAL *slope, REAL *z)
{
    for (int i = 0; i < NUM_TRACE; i++) {
        long long place = (item * NUM_TRACE + i) * NP + n;
        REAL rate = -(profile[LAYER_DECAY] * at.psi[i] + profile[LAYER_GAIN] * slope[i]), next = rate;
        z[i] = profile[LAYER_LESS] * slope[i] + at.psi[i];
        if (PASS != LAYER_FOR_OTHER) {
            next *= (REAL)a.dt;
            if (PASS == LAYER_FOR_NEXT)
                next += (REAL)a.a * at.r[i];
            ((REAL *)a.psi)[place] = at.psi[i] + (REAL)a.b * next;
        } else if (a.update == UPDATE_AB3)
            ((REAL *)a.psi)[place] =
                at.psi[i] + ((REAL)a.c0 * rate + (REAL)a.c1 * at.r1[i] + (REAL)a.c2 * at.r[i]);
        ((REAL *)a.psi_r)[place] = next;
    }
}

/* What r of the stage takes of a rate. */
template <int PASS> DEVICE REAL factor_of(const dg_layer_args &a)
{
    return PASS == LAYER_FOR_NEXT ? (REAL)(a.dt / a.a) : PASS == LAYER_FOR_FIRST ? (REAL)a.dt : (REAL)1;
}

/* The rates of a node on their way into r, which begins as what stands there. */
template <int PASS> struct gathered {
    REAL r[NUM_FIELD], sum[PASS == LAYER_FOR_OTHER ? NUM_FIELD : 1];
};

template <int PASS> DEVICE void begin_rates(const dg_layer_args &a, long long place, gathered<PASS> &to)
{
    load_own_node<NUM_FIELD>(to.r, (const REAL *)a.r, a.num_total * NP, place);
    if (PASS == LAYER_FOR_OTHER)
        for (int f = 0; f < NUM_FIELD; f++)
            to.sum[f] = 0;
}

template <int PASS> DEVICE void add_rate(const dg_layer_args &a, int f, REAL rate, gathered<PASS> &to)
{
    to.r[f] += factor_of<PASS>(a) * rate;
    if (PASS == LAYER_FOR_OTHER)
        to.sum[f] += rate;
}

/* Stores r, and brings the rates into the state that the stage wrote. q: the state before, LAYER_FOR_FIRST alone. */
template <int PASS>
DEVICE void end_rates(const dg_layer_args &a, long long place, const REAL *q, const gathered<PASS> &from)
{
    long long total = a.num_total * NP;
    REAL next[NUM_FIELD];
    store_node<NUM_FIELD>((REAL *)a.r, total, place, from.r);
    if (PASS == LAYER_FOR_NEXT || a.update == UPDATE_RHS)
        return;
    if (PASS == LAYER_FOR_OTHER)
        load_own_node<NUM_FIELD>(next, (const REAL *)a.q_new, total, place);
    for (int f = 0; f < NUM_FIELD; f++)
        next[f] = PASS == LAYER_FOR_OTHER ? next[f] + (REAL)a.c0 * from.sum[f] : q[f] + (REAL)a.b * from.r[f];
    store_node<NUM_FIELD>((REAL *)a.q_new, total, place, next);
}

/* A kernel from a template. */
#define KERNEL(name, PASS)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)                                        \
        name(const __grid_constant__ dg_layer_args a)                                                        \
    {                                                                                                        \
        pass<PASS>(a);                                                                                       \
    }

#endif
