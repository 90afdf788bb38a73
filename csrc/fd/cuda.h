/* cuda.h: shared by the CUDA engines of all schemes: arrays, single nodes, sources, receivers.
 * Next: cuda.c, cuda_points.c, cuda_profile.c, levels.c; scalar/cuda.c, staggered/cuda.c (the engines),
 * cuda/fd (the kernels). */
#ifndef UNDA_FD_CUDA_H
#define UNDA_FD_CUDA_H

#include "../solver/cuda_exchange.h"
#include "fd.h"
#include "fd/scalar/args.h"

/* One of the lists of nodes of a group of receivers on the device. */
struct fd_cuda_group {
    const struct receiver_group *group;
    const struct fd_nodes *nodes;
    gpu_ptr place, row;  /* nodes of all points, each once; row: of y, see by_row */
    struct fd_range own; /* of the nodes those that this solver computes, first those in shared planes: */
    int64_t shared;      /* which single steps do not compute */
    int64_t num_point;   /* those that are weighed on the device: all, or those whose home a slab is: */
    int64_t *point;      /* NULL: all */
    gpu_ptr first, along, weight; /* first, place and weight of struct fd_nodes, of these points */
    struct fd_range cut[2];   /* of a slab: what points beside cuts take of own nodes lies in these ranges */
    gpu_ptr values, out;      /* [sample][own node], [sample][point] of one call */
    void *host, *host_cut[2]; /* [sample][point]; [sample][node of a range] */
};

/* Sources of a field: nodes and their terms. */
struct fd_cuda_sources {
    gpu_ptr place, row, first, number, weight;
    int64_t num_node;
    struct fd_range part[3]; /* of the nodes: in the low border of a slab, in the high one, inside */
};

/* Kinds of arrays: the level of a scalar state that a step only reads; the other arrays of a state; memory
 * variables; what steps do not change. */
enum { FD_CUDA_NOW = 1, FD_CUDA_STATE = 2, FD_CUDA_MEMORY = 4, FD_CUDA_FIXED = 8 };

/* Values one after the other on a device. */
struct fd_piece {
    gpu_ptr at;
    int64_t bytes;
};

/* First in an engine's tables. */
struct fd_cuda {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_stream *away; /* of border planes and their copies to other slabs; NULL: no slab */
    struct gpu_event *before, *made, *sent;
    struct gpu_message *message; /* of the next exchange with other processes, where values stand */
    struct gpu_module *point_module;
    struct gpu_kernel inject, gather, weigh, find_bad, multiply;
    int64_t pitch, plane, origin; /* nodes from row to row, plane to plane; to node (0, 0, 0) */
    struct gpu_wants wants;       /* what create allocates */
    gpu_ptr array[FD_MAX_FIELD], material[FD_MAX_MATERIAL], bad;
    gpu_ptr home[2];       /* what `array` was when it was allocated, of fields that move: levels.c */
    char *staging;         /* page-locked: what goes to the device or comes back, in pieces */
    struct gpu_pool lists; /* of `source` and `groups` */
    struct fd_cuda_sources source[FD_MAX_FIELD];
    bool by_row; /* points are looked for in rows of y from first_row to end_row - 1 alone */
    int32_t first_row, end_row;
    struct fd_cuda_group *groups;
    int32_t num_group;
    void *points;         /* `point` of groups */
    struct gpu_pool room; /* of a call: `amplitude`, values and out of `groups` */
    void *host_room;      /* host of `groups` */
    gpu_ptr amplitude;
};

_Static_assert(FD_MAX_FIELD + FD_MAX_MATERIAL + 2 * FD_MAX_DERIVATIVE + 4 <= MAX_WANT, "an engine's arrays");

static inline struct fd_cuda *fd_cuda(const unda_solver *s)
{
    return s->data;
}
static inline gpu_ptr fd_cuda_array(const struct fd_cuda *t, int array)
{
    return array >= FD_MATERIAL ? t->material[array - FD_MATERIAL] : t->array[array];
}
/* Address of node (0, 0, 0) of an array. */
static inline gpu_ptr fd_cuda_origin(const unda_solver *s, gpu_ptr array)
{
    return array ? array + (gpu_ptr)(fd_cuda(s)->origin * s->real_bytes) : 0;
}
/* Place in an array of the node that counts so in [total x][total y][total z]. */
static inline int64_t fd_cuda_place(const unda_solver *s, int64_t node)
{
    const struct fd_axis *y = &fd_tables(s)->axis[1], *z = &fd_tables(s)->axis[2];
    int64_t row = node / z->total;
    return fd_cuda(s)->origin + row / y->total * fd_cuda(s)->plane + row % y->total * fd_cuda(s)->pitch +
           node % z->total;
}

/* cuda.c */
unda_status fd_cuda_zero(unda_solver *s, int kinds); /* arrays of these kinds (bits) */
unda_status fd_cuda_open(unda_solver *s);            /* the device and its stream */
/* One for steps: they go before samples that are added beside them, in slabs behind border planes. */
unda_status fd_cuda_stream(const unda_solver *s, struct gpu_stream **stream);
void fd_cuda_close(unda_solver *s); /* frees what is in struct fd_cuda on the device */
void fd_cuda_define(const unda_solver *s, struct gpu_defines *defines); /* REAL and HALF */
unda_status fd_cuda_compile(unda_solver *s);
/* Weights [axis][m] as arguments of kernels, in both precisions. */
void fd_cuda_weights(const struct fd *fd, const double (*weight)[MAX_HALF + 1], float *weight32,
                     double *weight64);
int64_t fd_cuda_staging_bytes(const unda_solver *s); /* of page-locked memory */
unda_status fd_cuda_box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in);
unda_status fd_cuda_find_bad(unda_solver *s, int64_t *index);
/* A kernel on all of an array; factor: of `multiply`. */
unda_status fd_cuda_whole(unda_solver *s, const struct gpu_kernel *kernel, gpu_ptr p, double factor);

/* cuda_points.c */
unda_status fd_cuda_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
unda_status fd_cuda_list_points(unda_solver *s);
unda_status fd_cuda_reserve(unda_solver *s);
unda_status fd_cuda_drive(unda_solver *s, const unda_drive *drive);
/* Sources into an array that stands for field f, of a step of the call. */
unda_status fd_cuda_inject(unda_solver *s, int f, gpu_ptr p, int64_t time);
unda_status fd_cuda_inject_part(unda_solver *s, int f, gpu_ptr p, int64_t time, enum fd_part part);
void fd_cuda_values(const unda_solver *s, int32_t list, int64_t i, double *values);
void fd_cuda_weighed(const unda_solver *s, int32_t list, int64_t i, double *weighed);
unda_status fd_cuda_clear_samples(unda_solver *s, int64_t num_step); /* of a call of so many steps */
unda_status fd_cuda_take(unda_solver *s);                            /* receivers that are due at s->step */
unda_status fd_cuda_take_all(unda_solver *s, int); /* every group, due or not, as sample 0 of a call */
unda_status fd_cuda_fetch(unda_solver *s);         /* after the last step of a call */
void fd_cuda_points_free(unda_solver *s);

/* cuda_send.c: planes to neighbouring slabs. */
unda_status fd_cuda_send_open(unda_solver *s); /* makes what that takes */
void fd_cuda_send_free(unda_solver *s);
unda_status fd_cuda_reach(unda_solver *from, unda_solver *to, bool *reached);
/* Queues border planes beside the engine's stream. */
unda_status fd_cuda_border(unda_solver *s, int pass, int64_t time,
                           unda_status (*queue)(unda_solver *s, int pass, int64_t time, enum fd_part part));
unda_status fd_cuda_settle(unda_solver *s); /* waits for all that is queued */
unda_status fd_cuda_sending(unda_solver *s);
unda_status fd_cuda_send(unda_solver *from, unda_solver *to, int array, int64_t plane, int64_t place,
                         int64_t count);
unda_status fd_cuda_sent(unda_solver *s);
unda_status fd_cuda_receive(unda_solver *to, unda_solver *from);
/* The engine's stream waits for all that is queued beside it; what is queued beside that of `to` waits for what `from`
 * had queued beside its own then. */
unda_status fd_cuda_join(unda_solver *s);
unda_status fd_cuda_follow(unda_solver *to, unda_solver *from);
int64_t fd_cuda_plane_bytes(const unda_solver *s);
unda_status fd_cuda_join_rank(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor,
                              int32_t num_neighbor);
unda_status fd_cuda_carry(unda_solver *s, int32_t neighbor, int array, struct fd_range planes, uintptr_t at,
                          bool arrives);
unda_status fd_cuda_carry_piece(unda_solver *s, int32_t neighbor, struct fd_piece piece, uintptr_t at,
                                bool arrives);
/* view.c */
unda_status fd_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
unda_status fd_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece);
#define FD_CUDA_SLAB                                                                                         \
    .sending = fd_cuda_sending, .send = fd_cuda_send, .sent = fd_cuda_sent, .receive = fd_cuda_receive,      \
    .base.exchange_begin = cuda_exchange_begin, .base.exchange_end = cuda_exchange_end,                      \
    .plane_bytes = fd_cuda_plane_bytes, .join_rank = fd_cuda_join_rank, .carry = fd_cuda_carry,              \
    .values = fd_cuda_values, .weighed = fd_cuda_weighed, .reach = fd_cuda_reach, .settle = fd_cuda_settle,  \
    .base.monitor_new = fd_cuda_monitor_new, .base.monitor_take = fd_cuda_monitor_take,                      \
    .base.monitors_end = fd_cuda_monitors_end, .base.view = fd_cuda_view, .base.piece = fd_cuda_piece

/* levels.c */
/* Where the next level goes: to an array of the state, unless a sample is there. */
unda_status fd_cuda_next_level(const unda_solver *s, gpu_ptr *next);
/* Before steps that overwrite all levels in place: samples among them go elsewhere. */
unda_status fd_cuda_keep_levels(unda_solver *s);
/* Compiles the pass of pressures that writes to another array. */
unda_status staggered_compile_apart(unda_solver *s);
unda_status fd_cuda_monitors_end(unda_solver *s); /* the state is in its own arrays again */
/* The present level is a sample, or (slot -1) none, and all that are left are added. */
struct monitor;
struct monitor_sample;
unda_status fd_cuda_take_level(const struct monitor *m, const struct monitor_sample *sample);
unda_status fd_cuda_drop_levels(const struct monitor *m); /* those that are left are not added */

/* cuda_profile.c */
/* All launches of one kernel in a step. */
#define FD_CUDA_RECORD "record"
struct fd_cuda_part {
    const char *name; /* FD_CUDA_RECORD: of receivers, not counted to the step's time */
    unda_status (*queue)(unda_solver *s, int which);
    int which;
    int64_t num;   /* launches that `queue` makes */
    double a_step; /* launches a step */
};
struct fd_cuda_profile {
    struct fd_cuda_part part[12];
    int num_part, kinds; /* arrays (bits) that parts and steps overwrite, put back afterwards */
    /* A whole step, where its parts are at work at once; else NULL. */
    unda_status (*step)(unda_solver *s, int);
};
void fd_cuda_add_part(struct fd_cuda_profile *what, struct fd_cuda_part part); /* unless it has no launch */
/* Sources, which `inject` puts into all fields that have any, and receivers. */
void fd_cuda_add_points(const unda_solver *s, struct fd_cuda_profile *what,
                        unda_status (*inject)(unda_solver *s, int));
unda_status fd_cuda_profile(unda_solver *s, const struct fd_cuda_profile *what, int64_t num_run,
                            unda_profile *out);

#endif
