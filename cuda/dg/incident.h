/* incident.h: the contribution of incident waves (wave.h) to the jumps at faces of a tile's elements. */
#ifndef UNDA_DG_INCIDENT_H
#define UNDA_DG_INCIDENT_H

#include "dg/tile.h"
#include "dg/wave.h"

static __device__ __forceinline__ void face_incident(const dg_args &a, tile &s, const dg_incident &wave,
                                                     int e, int lane)
{
    face_side side;
    load_side(a, wave.face, side);
    for (int m = lane; m < NFP; m += LANES) {
        REAL jumps[NUM_JUMP];
        load_side_node(a, wave.face, m, side);
        wave_jumps(a, wave, side, m, jumps);
        add_jumps(a, s, FACE_LOCAL(wave.face), m, e, jumps);
    }
}

/* After load_tile: the threads of an element add to the jumps that they stored themselves. Compiled only
 * where there are waves (INCIDENT): even a call that is never made costs registers. */
static __device__ __attribute__((noinline)) void add_incident(const dg_args &a, tile &s, long long first)
{
    int end = a.incident_range[blockIdx.x + 1];
#pragma unroll 1
    for (int k = threadIdx.x; k < TILE * LANES; k += THREADS) {
        element_lane mine = lane_of(k);
        long long elem = first + mine.e;
        int i = a.incident_range[blockIdx.x];
        while (i < end && FACE_ELEM(a.incident[i].face) < elem)
            i++;
        for (; i < end && FACE_ELEM(a.incident[i].face) == elem; i++)
            face_incident(a, s, a.incident[i], mine.e, mine.lane);
    }
}

#endif
