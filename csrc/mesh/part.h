/* part.h: what a part of a mesh knows of the others: which elements are its own, which faces it shares with whom.
 * Not here: who sends what, and when (solver/). Next: part.c. */
#ifndef UNDA_MESH_PART_H
#define UNDA_MESH_PART_H

#include <stdint.h>

/* Internal order: own elements that share a face with a ghost (the border), the other own ones, ghosts by part; within
 * each of these the order of the whole mesh. A stage may thus begin with the border, whose traces travel while the
 * inner elements are computed. */
struct mesh_part {
    int32_t which, num_part; /* num_part 0: a whole mesh, of which all that follows is 0 or NULL */
    int64_t num_border;
    int64_t *global; /* [num_elem]: element of the whole mesh, both as users count them; own ones ascend */
    /* The cut faces, num_face * internal elem + face, those shared with neighbor[i] from first[i] on. Each is known
     * by the lower one of the numbers that its two sides have in the whole mesh, and they ascend: on both sides face
     * k is the same one. The trace of own[k] is sent, that of ghost[k] is received. */
    int32_t num_neighbor;
    int64_t num_cut;
    int32_t *neighbor;    /* [num_neighbor]: parts, ascending */
    int64_t *first;       /* [num_neighbor + 1] */
    int64_t *own, *ghost; /* [num_cut] */
};

#endif
