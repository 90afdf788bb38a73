/* space.h: the elements of a mesh as a method on it sees them: reference element, order, neighbours,
 * geometry. No physics and no fields. Next: space.c, affine.c, hex.c, hex_map.c (for kernels: cuda/space). */
#ifndef UNDA_SPACE_H
#define UNDA_SPACE_H

#include "../element/element.h"
#include "../mesh/mesh.h"

struct space;
/* Geometry of a shape. */
struct space_geometry {
    void (*coordinates)(const struct space *space, int64_t elem, double *x);
    void (*basis)(const struct space *space, int64_t elem, const double *x, double *basis, double *gradient);
};
extern const struct space_geometry space_affine, space_hex; /* affine.c, hex.c */

/* Elements are numbered as they stand in memory: first the num_owned that this part computes, then the
 * num_ghost of other parts that it reads. */
struct space {
    const unda_mesh *mesh; /* held; NULL where only sizes are known */
    struct element *element;
    const struct space_geometry *geometry;
    const char *header;                        /* as kernels include it */
    int32_t num_node, num_face, num_face_node; /* of an element, of a face */
    int32_t num_side;                          /* num_face times the ways in which a neighbour's can lie */
    int64_t num_owned, num_ghost;
    const int64_t *order; /* [element]: that of the user; ghosts have the same number */
    const int64_t *place; /* [element of the user]: here */
    int32_t *neighbor;    /* [owned][face], common/index.h */
    int64_t *exact_face;  /* [num_exact_face]: num_face * elem + face, those with outer data */
    int64_t num_exact_face;
    void *owned; /* the arrays that are not the mesh's */
};

/* The members that are numbers; mesh may be NULL. UNDA_ERR_ARG where its shape has no such degree. */
unda_status space_sizes(struct space *space, const unda_mesh *mesh, int shape, int degree);
/* The rest; conditions: bits 1 << unda_boundary that `what` media have; boundary: [num_boundary], or NULL for
 * absorbing sides. */
unda_status space_fill(struct space *space, const unda_mesh *mesh, const int32_t *boundary, int conditions,
                       const char *what);
void space_free(struct space *space);
/* The number that users of the whole mesh know an element by. */
static inline int64_t space_user(const struct space *space, int64_t elem)
{
    const int64_t *global = space->mesh->part.global;
    return global ? global[space->order[elem]] : space->order[elem];
}
/* Elements that a state holds. */
static inline int64_t space_num_total(const struct space *space)
{
    return space->num_owned + space->num_ghost;
}

/* Coordinates [node][3] of an element's nodes. */
static inline void space_coordinates(const struct space *space, int64_t elem, double *x)
{
    space->geometry->coordinates(space, elem, x);
}
/* Basis functions at a point: basis [node] and, unless NULL, their gradient [3][node] [1/m]. */
static inline void space_basis(const struct space *space, int64_t elem, const double *x, double *basis,
                               double *gradient)
{
    space->geometry->basis(space, elem, x, basis, gradient);
}

/* affine.c: an element's edges e_j = dx/dr_j, rows j; grad r_j, rows j, returns det dx/dr, of either sign. */
void space_edges(const struct space *space, int64_t elem, double edge[3][3]);
double space_gradients(const struct space *space, int64_t elem, double gradient[9]);
/* |m_f| of its faces, the outward normals in the lengths of grad r_j; returns det. */
double space_face_scales(const struct space *space, int64_t elem, double *scale);
double space_volume(const struct space *space, int64_t elem); /* [m3] */

/* hex.c. The metric [num][10] of cuda/space/hex_gll.h at the first num nodes, 1 or all: G[j], or `edges`, then 1/J. */
unda_status space_metric(const struct space *space, int64_t elem, bool edges, int num, double *metric);
/* Refuses an element whose Jacobian is not positive at a node. */
unda_status space_check_fold(const struct space *space, int64_t elem, int node, double jacobian);

/* hex_map.c: the first hexahedron that is not affine, else not the trilinear image of its vertices, up to their rounding;
 * -1 without one. */
int64_t space_find_warped(const unda_mesh *mesh, bool affine);
/* The kind of metric (unda_metric) that is given, refused where it is not exact; 0: the cheapest that is. Without a
 * mesh the one for any. */
unda_status space_choose_metric(const unda_mesh *mesh, int given, int degree, int *kind);
/* The map of cuda/space/trilinear.h in metres, but for 1 / unit; the metric [10] that such a map has at r. */
void space_trilinear_map(const struct space *space, int64_t elem, double *map);
void space_trilinear_metric(const double *map, const double r[3], bool edges, double *metric);

#endif
