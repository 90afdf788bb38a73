/* mesh.h: the mesh as the solvers see it: elements in internal order, sorted vertices, neighbours.
 * Next: mesh.c (connectivity and checks), order.c (space-filling curve), locate.c, box.c; partition.c, part.c. */
#ifndef UNDA_MESH_H
#define UNDA_MESH_H

#include "../base/base.h"
#include "part.h"

#include <stdatomic.h>

enum { MAX_FACE = 6 }; /* of an element, of any shape */
/* A face of a ghost that is nobody's here: its neighbour is in another part. No boundary has that number. */
enum { FACE_OUTSIDE = INT32_MIN };

/* What meshes and spaces know of a shape; its matrices: element/. The origin of the reference coordinates r_j is
 * vertex 0. */
struct shape_table {
    int num_vertex, num_face, num_face_vertex;
    int face_vertex[MAX_FACE][4]; /* local vertices of each face */
    bool sorted;                  /* vertices of cells are sorted, which moves faces to other numbers */
    int axis[3];                  /* vertex at r_j = 1, all other coordinates 0 */
    int jacobian;                 /* det dx/dr over the volume of an affine cell */
    int normal[MAX_FACE][3];      /* outward: the sum over j of normal[j] grad r_j */
};
extern const struct shape_table shape_tables[2]; /* by unda_shape */

struct unda_mesh {
    int32_t shape, num_boundary;
    const struct shape_table *table;
    int64_t num_vertex, num_elem, num_boundary_face;
    double *vertices;        /* [num_vertex][3] [m] */
    int64_t *cells;          /* [num_elem][num_vertex], user order of elements and of vertices in them */
    double *curved;          /* [num_elem][27][3], user order, unda.h; NULL where cells are straight [m] */
    int32_t *tags;           /* [num_elem], user order */
    int64_t *boundary_faces; /* [num_boundary_face][num_face_vertex] */
    int32_t *boundary_ids;   /* [num_boundary_face] */
    int64_t *boundary_place; /* [num_boundary_face]: num_face * internal elem + face */
    int64_t *order;          /* [num_elem]: user element of each internal one */
    int64_t *place;          /* [num_elem]: internal element of each user one */
    /* Internal order from here. Each tetrahedron's vertices are sorted by global id (periodic
     * representatives), so both sides of a face list its nodes in the same order. */
    int64_t *sorted;   /* [internal elem][num_vertex] vertex ids */
    int32_t *neighbor; /* [internal elem][num_face]: num_face * elem + face, or -1 - boundary id;
                                  faces numbered in the sorted order (tet: face f opposite sorted vertex f) */
    int8_t *turn; /* [internal elem][num_face]: how the neighbour lists the face's vertices: 2 * the place of
                     this one's first + 1 if it goes around the other way; 0: alike */
    double *volumes, *quality; /* [num_elem], user order */
    int64_t num_owned;         /* elements that are no ghosts: the first ones, in the user's order as well */
    struct mesh_part part;
    void *owned; /* these arrays */
    unda_mesh_info info;
    struct locator *locator; /* built on first use, thread-safe: locate.c */
    void *located;           /* it and its arrays */
    atomic_int holders;      /* reference count: the user and each solver; the last one frees the mesh */
};

/* The number, in internal order, of a user's face of a user's element. */
int64_t mesh_face(const struct unda_mesh *mesh, int64_t elem, int face);
/* map.c: the point x and the edges dx/dr_j (rows) of a user's hexahedron at the reference coordinates r. */
void mesh_map(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3]);
/* The same of many points, r and x [num][3], without edges. */
void mesh_map_points(const unda_mesh *mesh, int64_t elem, int num, const double *r, double *x);
/* The same relative to its vertex 0 or, if it is curved, to its middle, which is that of any order of its axes. */
void mesh_arm(const unda_mesh *mesh, int64_t elem, const double r[3], double x[3], double edge[3][3]);
/* inverse.c: the reference coordinates r of a point; of any point in the hexahedron, and of some beyond. False
 * where none are found. */
bool mesh_inverse(const unda_mesh *mesh, int64_t elem, const double x[3], double r[3]);
/* Refuses a point that has no coordinates in the user's element: it is far from it. */
unda_status mesh_check_point(const unda_mesh *mesh, int64_t elem, const double x[3]);
/* Adds a reference, which unda_mesh_free releases. */
void mesh_hold(const unda_mesh *mesh);

#endif
