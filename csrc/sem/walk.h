/* walk.h: the element nodes that are one node, found by walking through faces from any of them: by any number of
 * threads, and without a table. Used by: number.c. */
#ifndef UNDA_SEM_WALK_H
#define UNDA_SEM_WALK_H

#include "sem.h"

/* How to walk from an element node through the faces on which it lies. */
struct sem_walker {
    const struct sem *sem;
    const unda_mesh *mesh;
    int num, num_face_node;         /* nodes of an element, of a face */
    int16_t place[MAX_NODE][6];     /* [node][face]: among the nodes of the face, -1: not on it */
    bool inside[MAX_NODE], overall; /* on no face; overall: both regions count as one */
};
void sem_walker_fill(struct sem_walker *walker, const struct sem *sem, const unda_mesh *mesh);

/* An element node as one number; those of one element after those of another. */
enum { SPOT_BITS = 11 };
_Static_assert(MAX_NODE <= 1 << SPOT_BITS, "a node of an element has room");
static inline int64_t sem_spot(int64_t elem, int node)
{
    return elem << SPOT_BITS | node;
}
static inline int64_t sem_spot_elem(int64_t spot)
{
    return spot >> SPOT_BITS;
}
static inline int sem_spot_node(int64_t spot)
{
    return (int)(spot & ((1 << SPOT_BITS) - 1));
}

/* Element nodes that are one node, in the order in which they were found; a thread has one such list. */
struct sem_spots {
    int64_t num, room, *list;
};
/* Lists those of `spot`. Where `first` is asked for, whether it is the first of its kind, the list ends with one that
 * comes before it. */
unda_status sem_walk(const struct sem_walker *walker, int64_t spot, struct sem_spots *spots, bool *first);
/* Whether two of them are of one region, or `overall`. */
static inline bool sem_is_kin(const struct sem_walker *w, int64_t spot, int64_t other)
{
    return w->overall || w->sem->kind[sem_spot_elem(spot)] == w->sem->kind[sem_spot_elem(other)];
}

#endif
