/* internal.h: shared by the files of csrc/mesh, in the order in which mesh.c calls it.
 * Solvers use mesh.h only.
 * Next: mesh.c. */
#ifndef UNDA_MESH_INTERNAL_H
#define UNDA_MESH_INTERNAL_H

#include "mesh.h"

/* offenders.c: collects the ids that break a rule: how many, and the lowest three. */
struct offenders {
    int64_t count;    /* how often a rule was broken */
    int64_t first[3]; /* the lowest distinct ids, num_first of them */
    int num_first;
};
void offenders_add(struct offenders *offenders, int64_t id);
struct offenders_text {
    char text[96];
};
/* "first 17, 29, 31" (at most three); the struct is a buffer that needs no freeing. */
struct offenders_text offenders_first(const struct offenders *offenders);
/* Refuses a mesh in which there are any: "3 elements are flat, first 17, 29, 31". */
#define REFUSE(offenders, what)                                                                              \
    do {                                                                                                     \
        if ((offenders).count)                                                                               \
            FAIL(UNDA_ERR_MESH, "%lld " what ", %s", (long long)(offenders).count,                           \
                 offenders_first(&(offenders)).text);                                                        \
    } while (0)

/* Mixes the bits of a number: the finaliser of splitmix64 (Steele et al. 2014). */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Some numbers' chain of a hash table that has mask + 1. */
static inline int64_t chain_of(int count, const int64_t *key, int64_t mask)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < count; i++)
        hash = mix(hash ^ (uint64_t)key[i]);
    return (int64_t)(hash & (uint64_t)mask);
}

/* checks.c: indices, coordinates and shapes of the cells; fills volumes, quality and info. */
unda_status check_input(const unda_mesh_input *input);
unda_status check_cells(const struct unda_mesh *mesh);
unda_status check_geometry(struct unda_mesh *mesh, bool fix_orientation);

/* geometry.c: one cell at a time; x is [vertex][3] relative to any origin near the cell. Curved cells:
 * hexahedron.h. */
struct cell_geometry {
    double volume;       /* [m3], negative when inverted */
    double min_jacobian; /* smallest Jacobian determinant over vertices and nodes [m3] */
    double longest;      /* longest distance between two vertices [m] */
    double
        insphere; /* 6 volume / surface (between the vertices): the insphere diameter of a tetrahedron or a cube [m] */
    double quality; /* tetrahedron: 3 inradius / circumradius; hexahedron: least scaled Jacobian */
};
struct cell_geometry cell_geometry(int shape, double x[8][3]);
void cell_coordinates(const struct unda_mesh *mesh, int64_t elem, double x[8][3]);

/* order.c: fills order and place along a Hilbert curve. */
unda_status order_elements(struct unda_mesh *mesh);

/* periodic.c: vertex and face maps of the periodic pairs. */
struct periodic {
    int32_t num_pair;
    const int32_t *pairs;    /* [num_pair][2] boundary ids, borrowed */
    int64_t *partner;        /* [num_pair][num_vertex]: vertex on the second side, -1 elsewhere */
    int64_t *representative; /* [num_vertex]: smallest vertex it coincides with */
};
unda_status periodic_vertices(struct periodic *periodic, void **owner, const struct unda_mesh *mesh,
                              const unda_mesh_input *input);

/* faces.c: a hash of all faces by their sorted vertices, and the neighbours found with it. A face
 * is num_face * internal elem + local face. */
enum { FACE_UNPAIRED = INT32_MIN };
struct face_table {
    const struct unda_mesh *mesh;
    int64_t mask;
    int32_t *head; /* [mask + 1]: a face of each chain or -1; the order in a chain is any */
    int32_t *next; /* [num_face * num_elem] */
};
unda_status faces_match(struct face_table *table, void **owner, struct unda_mesh *mesh);
int64_t faces_find(const struct face_table *table, const int64_t *vertices);
void face_vertices(const struct unda_mesh *mesh, int64_t face, int64_t vertices[4]);
/* Makes two faces neighbours, given the vertices of the first as the second one has them. */
void faces_join(struct unda_mesh *mesh, int64_t face, int64_t other, const int64_t vertices[4]);
unda_status faces_name(const struct face_table *table, struct unda_mesh *mesh);
unda_status faces_pair_periodic(const struct face_table *table, const struct periodic *periodic,
                                struct unda_mesh *mesh);
unda_status faces_check_sides(const struct unda_mesh *mesh);
/* hanging.c: before faces have names. */
unda_status faces_check_hanging(const struct unda_mesh *mesh);

/* curved.c: the nodes of curved cells: at their vertices, which they then share exactly, and on both sides of
 * each face. */
unda_status curved_check_vertices(const struct unda_mesh *mesh);
unda_status curved_check_faces(const struct unda_mesh *mesh);

/* pieces.c: warns, in the log, of a mesh in pieces that no face joins. */
unda_status pieces_check(const struct unda_mesh *mesh);

/* mesh.c: what info counts. */
void mesh_fill_info(struct unda_mesh *mesh);

/* partition.c: refuses counts of parts that a mesh has no elements for, and parts of parts. */
unda_status partition_check(const struct unda_mesh *mesh, int32_t num_part);

/* pack.c: the arrays that a mesh whose counts are known holds, for part.c and for blocks of memory. */
unda_status pack_allocate(struct unda_mesh *mesh, bool curved);

/* locate.c */
/* Calls look with the internal number of each element whose bounding box, larger by `room` of its size, holds the
 * point. */
unda_status locate_near(const unda_mesh *mesh, const double *point, double room,
                        unda_status (*look)(void *user, int64_t place), void *user);
/* Coordinates of a point in a user's element, one for each of its faces: 0 on it and 1 as far away as the
 * element goes (barycentric ones of a tetrahedron; r1, 1 - r1, r2, ... of a hexahedron, -INFINITY where it has
 * none); and the tolerance below which each counts as 0. */
void mesh_coordinates(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[MAX_FACE],
                      double room[MAX_FACE]);

#endif
