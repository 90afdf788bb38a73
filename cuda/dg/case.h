/* case.h: what a kernel of DG is compiled for, and where the fields of a node stand. The includer defines REAL,
 * DEGREE, PHYSICS, SPACE, FLUX_CENTRAL, MATERIAL_NODES, LAYOUT. Next: tile.h, line_ends.h. */
#ifndef UNDA_DG_CASE_H
#define UNDA_DG_CASE_H

#include "common/args.h"
#include "common/index.h"

#define FN(name) name
#define VAL      REAL
#define ROOT(x)  sqrt(x)
#define DEVICE   static __device__ __forceinline__
/* Where the material varies along a face one jump does not give the other. */
#define BOTH_JUMPS (FLUX_CENTRAL || MATERIAL_NODES > 1)
#include PHYSICS
#include SPACE
#include "common/prefetch.h"
#include LAYOUT

enum {
    NP = NUM_NODE(DEGREE),
    NFP = NUM_FACE_NODE(DEGREE),
    BY_NODE = MATERIAL_NODES > 1,
    ALWAYS_UPWIND = BY_NODE && !FLUX_CENTRAL /* where `jump` must be told; absorbing faces are */
};

/* Where the fields of a node begin in a state. */
static __device__ __forceinline__ long long place(long long elem, int node)
{
    return elem_place(NUM_FIELD, NP, elem) + (long long)node * NODE_STRIDE(NUM_FIELD);
}

#endif
