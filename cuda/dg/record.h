/* record.h: an element's record: its metric and its material, or the materials of its nodes; and what the derivatives
 * of an element give before the material comes in. Next: tile.h. */
#ifndef UNDA_DG_RECORD_H
#define UNDA_DG_RECORD_H

#include "dg/case.h"

enum {
    WORDS = ELEM_WORDS(NUM_COEF), /* what is loaded of a record: all but the coefficients of other nodes */
    RECORD = ELEM_WORDS(MATERIAL_NODES * NUM_COEF)
};

/* Coefficients of a node's material; g: the element's record. Those of its local law are the last. */
static __device__ __forceinline__ const REAL *coef_at(const dg_args &a, long long elem, int node,
                                                      const REAL *g)
{
    return METRIC_WORDS + (BY_NODE ? (const REAL *)a.record + RECORD * elem + NUM_COEF * node : g);
}

/* acc in reference coordinates to physical ones, without the material: `rates` of the physics adds that. */
static __device__ __forceinline__ void without_material(const REAL *acc, const REAL *g, REAL *w)
{
    const REAL unit[NUM_COEF] = UNIT_COEF;
    from_reference(acc, g, unit, w);
}

#endif
