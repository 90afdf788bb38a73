/* plane_pairs.h: what sources add to the nodes of a field, plane by plane of x: of 100,000 sources there are 5e7 terms, those
 * of a plane stay in a cache while they are put in order; some planes at once, a thread each.
 * Next: terms.c (by node, for devices), lines.c (row by row, for the CPU), which put them in order. */
#ifndef UNDA_PLANE_PAIRS_H
#define UNDA_PLANE_PAIRS_H

#include "fd.h"

/* Materials in planes x and x + 1, [total y][total z], where they vary. */
struct fd_plane_materials {
    double *value[FD_MAX_MATERIAL][2];
};

/* Gains of a field in plane x from sources of these rates times scale, over scale, [total y][total z], of nodes where known
 * has the number. */
struct fd_gains {
    int64_t x;
    uint32_t number; /* of the rates and planes, so far; 0: there were none */
    double rates[FD_MAX_RATE], scale;
    double uniform; /* the gain that all nodes have that are alike, scale included */
    double *gain;
    uint32_t *known;
};

/* A plane, and what a thread needs for it. */
struct fd_plane {
    struct fd_plane_materials materials;
    struct fd_gains *gains;
    struct fd_pair *pair; /* what each source adds to the plane, one after the other */
    int64_t *end;         /* of source number i of the plane among them */
    int32_t *count;       /* [nodes of the plane], 0 before and after */
};

/* source_plane.c */
/* What a unit of a source's amplitude adds to the nodes of field f in plane x, each node once. Returns their number. */
int64_t fd_source_plane(const struct fd *fd, int f, const struct fd_source *source, int64_t x,
                        const struct fd_plane *plane, struct fd_pair *pair);
/* Adds at most how many nodes of each plane x a source reaches to count[x]; the nodes whose materials count for those
 * of a plane, some one after the other at a time. */
void fd_source_count(const struct fd *fd, int f, const struct fd_source *source, int64_t *count);
void fd_source_each_material(const struct fd *fd, int f, const struct fd_source *source, int64_t x,
                             void (*take)(void *of, int64_t node, int64_t num), void *of);
/* Whether a field's gain depends on a rate: each rate drives its field; a volume, and strains beside fixed sides, what bears
 * them: pressure, or all normal stresses, of which each drives all where a fluid or a free side is. */
bool fd_rate_drives(const struct fd *fd, int rate, int f);
/* Whether materials are the same everywhere; whether a tap's nodes also all have one gain, which this is. */
bool fd_is_uniform(const struct fd *fd);
bool fd_is_alike(const struct fd *fd, const struct fd_tap *tap);
double fd_uniform_gain(const struct fd *fd, int f, const double *rates);

/* Sources that reach planes, and room for their terms. */
struct fd_reached {
    void *const *of; /* all sources */
    int64_t *first;  /* [total x + 1]: where those of each plane begin */
    int32_t *source; /* their numbers, ascending in each plane */
    int64_t *term,
        *node; /* [total x + 1]: where there is room for the terms of each plane, for its nodes with terms */
    int64_t most, most_sources; /* of a plane: terms, sources */
};
/* Of field f; owner: of the arrays. */
unda_status fd_reached_new(const struct fd *fd, int f, int64_t num, void *const *sources, void **owner,
                           struct fd_reached *reached);

/* Of each plane that sources reach, some at once: `take`, then, in the order of planes, `place`, then `put`, of which
 * the last two may be NULL. */
struct fd_plane_taker {
    void (*take)(void *of, int64_t x, const struct fd_plane *plane);
    void (*place)(void *of, int64_t x);
    void (*put)(void *of, int64_t x, const struct fd_plane *plane);
    void *of;
};
unda_status fd_each_plane(unda_solver *s, int f, const struct fd_reached *reached,
                          const struct fd_plane_taker *taker);

#endif
