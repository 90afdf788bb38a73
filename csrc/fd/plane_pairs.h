/* plane_pairs.h: what sources add to the nodes of a field, plane by plane of x: of 100,000 sources there are 5e7 terms, those
 * of a plane stay in a cache while they are put in order; some planes at once, a thread each.
 * Next: terms.c (by node, for devices), lines.c (row by row, for the CPU), which put them in order. */
#ifndef UNDA_PLANE_PAIRS_H
#define UNDA_PLANE_PAIRS_H

#include "fd.h"

/* Sources that reach planes, and room for their terms. */
struct fd_reached {
    int64_t *first;  /* [total x + 1]: where those of each plane begin */
    int32_t *source; /* ascending in each plane */
    int64_t *term,
        *node; /* [total x + 1]: where there is room for the terms of each plane, for its nodes with terms */
    int64_t most, most_sources; /* of a plane: terms, sources */
};
/* Of field f; owner: of the arrays. */
unda_status fd_reached_new(const unda_solver *s, int f, void **owner, struct fd_reached *reached);

/* A plane, and what a thread needs for it. */
struct fd_plane {
    struct fd_plane_materials materials;
    struct fd_pair *pair; /* what each source adds to the plane, one after the other */
    int64_t *end;         /* of source number i of the plane among them */
    int32_t *count;       /* [nodes of the plane], 0 before and after */
};

/* Of each plane that sources reach, some at once: `take`, then, in the order of planes, `place`, then `put`, which may be
 * NULL. */
struct fd_plane_taker {
    void (*take)(void *of, int64_t x, const struct fd_plane *plane);
    void (*place)(void *of, int64_t x);
    void (*put)(void *of, int64_t x, const struct fd_plane *plane);
    void *of;
};
unda_status fd_each_plane(unda_solver *s, int f, const struct fd_reached *reached,
                          const struct fd_plane_taker *taker);

#endif
