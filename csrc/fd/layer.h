/* layer.h: absorbing layers: where they are, their tables and memory variables. Next: layer.c (sponges) and
 * matched.c (matched layers) of the scalar scheme, cpml.c (all layers of the staggered schemes). */
#ifndef UNDA_FD_LAYER_H
#define UNDA_FD_LAYER_H

#include "fd.h"

/* Nodes of matched layers along an axis, those at the low side first, and the number of node i among them;
 * -1: none. */
static inline int64_t fd_matched(const struct fd_axis *axis)
{
    return axis->matched[0] + axis->matched[1];
}
static inline int64_t fd_matched_at(const struct fd_axis *axis, int64_t i)
{
    int64_t high = i - (axis->total - 1 - axis->matched[1]);
    return i >= 1 && i <= axis->matched[0]        ? i - 1
           : high >= 0 && high < axis->matched[1] ? axis->matched[0] + high
                                                  : -1;
}

/* Which layers there are: matched ones, or others. */
static inline bool fd_is_matched(const struct fd *fd)
{
    return fd_matched(&fd->axis[0]) + fd_matched(&fd->axis[1]) + fd_matched(&fd->axis[2]) > 0;
}
static inline bool fd_is_damped(const struct fd *fd)
{
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd->axis[a];
        if ((axis->first > 0 && !axis->matched[0]) ||
            (axis->total > axis->first + axis->num && !axis->matched[1]))
            return true;
    }
    return false;
}
static inline bool fd_has_layers(const struct fd *fd)
{
    return fd_is_matched(fd) || fd_is_damped(fd);
}

/* layer.c: fills the damp tables. */
unda_status fd_damping(struct fd *fd, double dt);

/* matched.c: fills the match tables, lists the memory variables; weights of the flux's pairs, that is of
 * p_k - p_(1-k). */
unda_status fd_matched_tables(struct fd *fd, double dt);
void fd_list_matched(struct fd *fd);
double fd_flux_weight(const struct fd *fd, int axis, int k);
/* Appends a memory variable, number `number` of its layer. */
struct fd_memory *fd_add_memory(struct fd *fd, int number, int axis, int64_t count);

/* cpml.c: fills the cpml tables and lists the memory variables. */
unda_status fd_cpml(struct fd *fd, double dt);
void fd_list_memory(struct fd *fd);

#endif
