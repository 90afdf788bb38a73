/* wave.h: the jump that an incident wave gives at a face node. The flux is linear, so it is the jump between zero and
 * the change of the outer state: the wave, minus its mirror image at a wall. */
#ifndef UNDA_DG_WAVE_H
#define UNDA_DG_WAVE_H

#include "dg/record.h"

/* What a side of a face needs to know: an element, one of its faces, and what lies behind. */
struct face_side {
    REAL g[WORDS], frame[NUM_FRAME], coef[NUM_FACE_COEF];
};

/* face: NUM_FACE elem + face. The coefficients are those of the face, or if materials are by node nothing yet. */
static __device__ __forceinline__ void load_side(const dg_args &a, int face, face_side &side)
{
    load_constant<WORDS>(side.g, (const REAL *)a.record + RECORD * (long long)FACE_ELEM(face));
    if (!BY_NODE)
        load_groups<NUM_FACE_COEF>(side.coef, (const REAL *)a.face_coef, a.num_coef_face, face);
#pragma unroll
    for (int f = 0; f < NUM_FACE; f++) /* g stays in registers */
        if (FACE_LOCAL(face) == f)
            frame(side.g, f, side.frame);
}

/* The coefficients at node m of the face, if materials are by node. */
static __device__ __forceinline__ void load_side_node(const dg_args &a, int face, int m, face_side &side)
{
    if (BY_NODE)
        load_groups<NUM_FACE_COEF>(side.coef, (const REAL *)a.face_coef, a.num_coef_face,
                                   (long long)face * NFP + m);
}

/* The jumps at node m from a wave; after load_side_node. */
static __device__ __forceinline__ void wave_jumps(const dg_args &a, const dg_incident &wave,
                                                  const face_side &side, int m, REAL *jumps)
{
    int neighbor = __ldg(a.neighbor + wave.face);
    REAL q[NUM_FIELD], in[NUM_TRACE] = {}, out[NUM_TRACE], mirrored[NUM_TRACE], weight[NUM_MIRROR];
    REAL upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING, sign = wave.sign;
    mirror(neighbor < 0 ? -1 - neighbor : BOUNDARY_ABSORBING, weight); /* absorbing: of nothing */
    const REAL *data =
        (const REAL *)a.exact + ((*a.clock + a.time) * a.num_exact_face + wave.slot) * (NFP * NUM_FIELD);
    load_constant<NUM_FIELD>(q, data + m * NUM_FIELD);
    for (int f = 0; f < NUM_FIELD; f++)
        q[f] *= sign;
    trace(q, side.frame, out);
    reflect(out, side.frame, side.coef, weight, mirrored);
    for (int k = 0; k < NUM_TRACE; k++)
        out[k] -= mirrored[k];
    jump(in, out, side.frame, side.coef, upwind, jumps);
}

#endif
