/* slabs.h: several slabs of one grid as one engine: those of all devices, or of many processes the one that this
 * process has. Next: slabs.c; rank.c (processes). */
#ifndef UNDA_FD_SLABS_H
#define UNDA_FD_SLABS_H

#include "fd.h"

struct slab {
    unda_solver solver; /* first: see slab_number */
    struct fd fd;
};

/* Arrays of which planes travel at once: an array's number as a field, the one that holds it now, and how many planes a
 * slab needs of the one below it, and of the one above. */
struct fd_travel {
    int32_t num, array[FD_MAX_FIELD], held[FD_MAX_FIELD];
    int64_t below[FD_MAX_FIELD], above[FD_MAX_FIELD];
};

/* What is known of a list of nodes of receivers. */
struct slab_list {
    int64_t num_cut;
    int64_t *cut;  /* numbers of the nodes of points beside cuts, ascending */
    int32_t *home; /* [point]: the slab that alone makes all its nodes; -1: none does, it is beside a cut */
};

struct fd_rank;
struct slab_samples;

struct slabs {
    int32_t num;        /* of the whole grid */
    int32_t first, end; /* those that are here; of the others only `fd` is made */
    struct slab *slab;  /* [num] */
    double *values;     /* at the nodes of one list of receivers, at once */
    struct slab_samples *samples;
    void *samples_owned;
    int64_t material_version;
    bool reached;         /* all neighbours' memory is */
    struct fd_rank *rank; /* NULL: all slabs are here */
};

static inline struct slabs *slabs(const unda_solver *s)
{
    return s->data;
}
static inline unda_solver *slab_of(const unda_solver *s, int32_t i)
{
    return &slabs(s)->slab[i].solver;
}
static inline const struct fd_engine *fd_slab_engine(const unda_solver *s)
{
    const struct fd_scheme *scheme = fd_tables(s)->scheme;
    return fd_tables(s)->slab_device[0] == UNDA_DEVICE_CPU ? scheme->cpu : scheme->cuda;
}
static inline int32_t slab_number(const unda_solver *slab)
{
    return (int32_t)((const struct slab *)slab - slabs(fd_tables(slab)->whole)->slab);
}
/* A slab's neighbour below (0) or above (1), around the grid. */
static inline int32_t slab_beside(const struct slabs *t, int32_t i, int side)
{
    return (i + (side ? 1 : t->num - 1)) % t->num;
}

/* The slab that has a node. */
static inline int32_t fd_slab_with(const unda_solver *s, int64_t node)
{
    int64_t x = node / fd_tables(s)->axis[2].total / fd_tables(s)->axis[1].total;
    int32_t i = 0;
    while (x >= slabs(s)->slab[i].fd.end)
        i++;
    return i;
}

/* view.c: of the slabs that are here number i, or NULL. */
unda_solver *fd_slabs_part(const unda_solver *s, int32_t i);
/* slabs.c: fills images and sends what a state that may have been set needs of neighbours; then all that is queued is
 * done. */
unda_status fd_slabs_open(unda_solver *s);
unda_status fd_slabs_settle(unda_solver *s);
/* After a pass, as the state holds its arrays. */
struct fd_travel fd_travel_after(const unda_solver *s, int pass);
/* Of one array M planes either way. */
struct fd_travel fd_travel_all(const struct fd *fd, int array);
/* Sends, and waits for what neighbours send. */
unda_status fd_slabs_travel(unda_solver *s, const struct fd_travel *travel);

/* slab_samples.c: learns of all lists of nodes, before slabs do; then one of them, and its samples of a call. */
unda_status fd_slabs_list_points(unda_solver *s);
const struct slab_list *fd_slabs_list(const unda_solver *s, int32_t number);
unda_status fd_slabs_take_samples(unda_solver *s, int32_t number, const struct receiver_group *group,
                                  const struct fd_nodes *nodes);

/* rank.c: of one of many processes. */
unda_status fd_rank_new(unda_solver *s, const unda_ranks *ranks); /* once its slab is made */
void fd_rank_free(unda_solver *s);
/* See solver/ranks.h. All meet before messages leave: none waits for those of a process that has failed, or is in another
 * call. */
unda_status fd_rank_unite(const unda_solver *s, void *bytes, int64_t num_byte);
unda_status fd_rank_least(const unda_solver *s, double *value);
/* Instead of planes of a pass `carry` carries what leaves a slab over a side, or arrives there, to the block of a message
 * or from it (see carry of struct fd_engine); all has arrived before what is queued next beside the engine's stream. */
typedef unda_status (*fd_rank_carry)(unda_solver *slab, const void *what, int32_t neighbor, int side,
                                     uintptr_t block, bool arrives);
unda_status fd_rank_exchange(unda_solver *s, fd_rank_carry carry, const void *what);
/* Border planes leave; those of neighbours are there, before what is queued next beside the engine's stream. */
unda_status fd_rank_post(unda_solver *s, const struct fd_travel *travel);
unda_status fd_rank_arrive(unda_solver *s);

#endif
