/* staggered.h: a physics on the staggered grid as the host sees it. The equations are in
 * cuda/physics/staggered_NAME.h; the table of all is in csrc/physics/staggered.c. */
#ifndef UNDA_FD_STAGGERED_H
#define UNDA_FD_STAGGERED_H

#include "../fd.h"

#include "physics/staggered.h"

/* A slope that a side gives: of a field along `normal`, the side's, as far as the medium's part of it goes
 * minus the derivative along `along` of field `source`. */
struct staggered_slope {
    int32_t normal, along, source;
};

struct staggered {
    int32_t number; /* unda_physics */
    const char *header;
    int32_t num_field, num_material, num_parameter;
    int32_t first[2], count[2], num_derivative[2]; /* of the passes: the half steps, the whole ones */
    const struct staggered_derivative *derivative; /* those of pass 0, then those of pass 1 */
    const unsigned char *stagger;                  /* [num_field] bits 1 2 4 */
    const struct staggered_need *need;             /* those of pass 0, then those of pass 1 */
    int32_t num_need[2];
    /* Sign of a field's images about a side. */
    int (*parity)(int32_t condition, int field, int axis);
    int32_t half_sign; /* of what pass 0 adds */
    int32_t curl;      /* 1: of two derivatives of a field the second one is subtracted */
    int32_t stresses;  /* 1: fields 3, 4, 5 are normal stresses, whose energy is not the sum of theirs */
    /* Sides about which no wave is a mirror image; slopes there, [num_field][2]; their medium's part at a
     * node on the side, on num_free free ones. NULL: none. */
    bool (*breaks)(int32_t condition);
    const struct staggered_slope *slope;
    double (*slope_of)(const double *material, int field, int num_free);
    /* Rates of the part of a source's row over field `source`; those past the user's are the physics' own. */
    void (*join)(int source, double rate, double *rates);
    /* What is kept of a node's material. */
    double (*material)(const struct fd *fd, const double *material, int which, int num_free);
    /* The field's share of the energy at a place, per volume; `other`: all fields there (for normal
     * stresses). */
    double (*inertia)(const fd_corners corner, int field);
    /* Its gain from a source of these rates. free: bits 1 2 4 for x y z: the node is on a free side there. */
    double (*gain)(const fd_corners corner, int field, const double *rates, int free);
};
extern const struct staggered *const staggered_physics[]; /* by unda_physics */

static inline int staggered_pass(const struct staggered *p, int field)
{
    return field >= p->first[1] && field < p->first[1] + p->count[1];
}
static inline int staggered_half(const struct staggered *p, int field, int axis)
{
    return p->stagger[field] >> axis & 1;
}

#endif
