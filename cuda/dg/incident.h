/* incident.h: the contribution of incident waves to the jumps at faces of a tile's elements. The flux is
 * linear, so each adds the jump between zero and the change of the outer state: the wave, minus its mirror
 * image at a wall. */
#ifndef UNDA_DG_INCIDENT_H
#define UNDA_DG_INCIDENT_H

#include "dg/tile.h"

static __device__ __forceinline__ void face_incident(const dg_args &a, tile &s, const dg_incident &wave,
                                                     int e, int lane)
{
    REAL g[WORDS], f1[NUM_FRAME], coef[NUM_FACE_COEF], weight[NUM_MIRROR];
    int face = FACE_LOCAL(wave.face), neighbor = __ldg(a.neighbor + wave.face);
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * (long long)FACE_ELEM(wave.face));
    if (!BY_NODE)
        load_groups<NUM_FACE_COEF>(coef, (const REAL *)a.face_coef, a.num_coef_face, wave.face);
#pragma unroll
    for (int f = 0; f < NUM_FACE; f++) /* g stays in registers */
        if (face == f)
            frame(g, f, f1);
    mirror(neighbor < 0 ? -1 - neighbor : BOUNDARY_ABSORBING, weight); /* absorbing: of nothing */
    REAL upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING, sign = wave.sign;
    const REAL *data =
        (const REAL *)a.exact + ((*a.clock + a.time) * a.num_exact_face + wave.slot) * (NFP * NUM_FIELD);
    for (int m = lane; m < NFP; m += LANES) {
        REAL q[NUM_FIELD], in[NUM_TRACE] = {}, out[NUM_TRACE], mirrored[NUM_TRACE], jumps[NUM_JUMP];
        load_constant<NUM_FIELD>(q, data + m * NUM_FIELD);
        if (BY_NODE)
            load_groups<NUM_FACE_COEF>(coef, (const REAL *)a.face_coef, a.num_coef_face,
                                       (long long)wave.face * NFP + m);
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] *= sign;
        trace(q, f1, out);
        reflect(out, f1, coef, weight, mirrored);
        for (int k = 0; k < NUM_TRACE; k++)
            out[k] -= mirrored[k];
        jump(in, out, f1, coef, upwind, jumps);
        for (int k = 0; k < NUM_JUMP; k++)
            s.s[(face * TILE_FACE_NODES + m) * PITCH_S + k * TILE + e] += jumps[k];
    }
}

/* After load_tile: the threads of an element add to the jumps that they stored themselves. Compiled only
 * where there are waves (INCIDENT): even a call that is never made costs registers. */
static __device__ __attribute__((noinline)) void add_incident(const dg_args &a, tile &s, long long first)
{
    int end = a.incident_range[blockIdx.x + 1];
#pragma unroll 1
    for (int k = threadIdx.x; k < TILE * LANES; k += THREADS) {
        long long elem = first + k / LANES;
        int i = a.incident_range[blockIdx.x];
        while (i < end && FACE_ELEM(a.incident[i].face) < elem)
            i++;
        for (; i < end && FACE_ELEM(a.incident[i].face) == elem; i++)
            face_incident(a, s, a.incident[i], k / LANES, k % LANES);
    }
}

#endif
