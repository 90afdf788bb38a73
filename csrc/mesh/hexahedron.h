/* hexahedron.h: one hexahedron as a map from the unit cube, apart from the mesh.
 * Not here: reference elements of methods (element/). Next: map.c, inverse.c. */
#ifndef UNDA_HEXAHEDRON_H
#define UNDA_HEXAHEDRON_H

#include "internal.h"

struct hexahedron {
    int degree; /* of the map in each coordinate, 1 or 2 */
    double node[27]
               [3]; /* at r = i / degree along each axis, the first one fastest, relative to vertex 0 [m] */
};

extern const int hexahedron_corner[8][3]; /* r of each vertex */

/* Gauss's rule of three points on [0, 1], exact to degree 5. */
static const double gauss3_point[3] = {0.1127016653792583, 0.5, 0.8872983346207417};
static const double gauss3_weight[3] = {5 / 18.0, 8 / 18.0, 5 / 18.0};

/* map.c */
int hexahedron_vertex(int degree, int v); /* the node of a vertex */
void hexahedron_straight(double x[8][3], struct hexahedron *out);
void hexahedron_get(const unda_mesh *mesh, int64_t elem, struct hexahedron *out);
/* The point x, relative to vertex 0, and the edges dx/dr_j (rows). */
void hexahedron_map(const struct hexahedron *cell, const double r[3], double x[3], double edge[3][3]);

/* inverse.c: a box that holds the cell, relative to vertex 0. */
void hexahedron_box(const struct hexahedron *cell, double lower[3], double upper[3]);

/* geometry.c */
struct cell_geometry hexahedron_geometry(const struct hexahedron *cell);

#endif
