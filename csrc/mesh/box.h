/* box.h: the arrays of a box of bricks, shared by box.c, which makes them, and perturb.c.
 * unda_mesh_new makes a mesh of them.
 * Next: box.c. */
#ifndef UNDA_BOX_H
#define UNDA_BOX_H

#include "internal.h"

/* Everything about the box while its arrays are made. */
struct bricks {
    void **owner; /* of the arrays below */
    const unda_box *box;
    int64_t num_vertex, num_elem, num_face;
    double *vertices;
    int64_t *cells, *faces;
    int32_t *ids;
    uint8_t *sides; /* [num_vertex]: bit b set on boundary b */
};

/* perturb.c: moves the interior vertices at random. */
unda_status box_perturb(struct bricks *bricks);

#endif
