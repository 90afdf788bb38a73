/* cpu.h: arrays in host memory, and what the CPU engines of all schemes share: ghosts, points.
 * Next: cpu.c, cpu_ghosts.c (ghosts); scalar/cpu.c, staggered/cpu.c (the engines). */
#ifndef UNDA_FD_CPU_H
#define UNDA_FD_CPU_H

#include "fd.h"

/* Values at one of the lists of nodes of a group of receivers, not yet weighted, in one call. */
struct fd_cpu_samples {
    const struct receiver_group *group;
    const struct fd_nodes *nodes;
    struct fd_range own; /* of the nodes, those that this solver computes */
    double *values;      /* [sample][own] */
};

/* What sources add to a field: nodes side by side along z from node z on gain amplitude[source] times as many weights. */
struct fd_line {
    int32_t source, z, num;
};
/* The lines of a row, in the order of sources, and where they and their weights begin. */
struct fd_row_lines {
    int64_t line, weight, num_line, num_weight;
};
struct fd_lines {
    struct fd_row_lines *row; /* [total x][total y]; NULL: there are no sources */
    struct fd_line *line;
    void *weight; /* REAL */
};

/* Arrays [x][y][z] of REAL. Those of CPU engines, in whose tables this comes first, have M ghost nodes on
 * every side: images of nodes inside. Those of streamed.c have none, and take the first three lines only. */
struct fd_cpu {
    int64_t stride[3], origin, count; /* origin: of node (0, 0, 0); count: values of an array */
    void *array[FD_MAX_FIELD];        /* of the state */
    void *material[FD_MAX_MATERIAL];
    void *memory[2 * FD_MAX_DERIVATIVE]; /* memory variables of layers */
    void *owned;                         /* these arrays and the engines' tables */
    const double *amplitude;             /* [time][source], of the call */
    struct fd_lines lines[FD_MAX_FIELD]; /* of sources */
    void *lists;                         /* their arrays, and `samples` */
    struct fd_cpu_samples *samples;      /* of each list of nodes of each group */
    int32_t num_samples;
    void *room; /* their values */
};

/* Fills ghosts of an array: beside the rows of one plane, in z and y; then whole planes of ghosts, beside
 * the grid in x. */
typedef void (*fd_ghosts)(const struct fd *fd, const struct fd_cpu *t, void *array,
                          const struct fd_field *field, int64_t x);
struct fd_cpu_code {
    fd_ghosts plane_ghosts, ghost_plane;
    int64_t (*find_bad)(const void *row, int64_t num);
};
extern const struct fd_cpu_code fd_cpu_f32, fd_cpu_f64;

/* CALL(half) with half a constant up to order 8, so that gcc unrolls the sums over it. */
#define WITH_HALF(half, CALL)                                                                                \
    ((half) == 1   ? CALL(1)                                                                                 \
     : (half) == 2 ? CALL(2)                                                                                 \
     : (half) == 3 ? CALL(3)                                                                                 \
     : (half) == 4 ? CALL(4)                                                                                 \
                   : CALL(half))

static inline struct fd_cpu *fd_cpu(const unda_solver *s) /* NULL: they are on a device */
{
    return fd_tables(s)->host;
}

/* Places in these arrays: of (x, y, z), and of a place in [total x][total y][total z]. */
static inline int64_t fd_cpu_place(const struct fd_cpu *t, int64_t x, int64_t y, int64_t z)
{
    return t->origin + x * t->stride[0] + y * t->stride[1] + z;
}
static inline int64_t fd_cpu_at(const struct fd *fd, const struct fd_cpu *t, int64_t node)
{
    int64_t at[3];
    fd_coordinates(fd, node, at);
    return fd_cpu_place(t, at[0], at[1], at[2]);
}
static inline void *fd_cpu_array(const struct fd_cpu *t, int array)
{
    return array >= FD_MATERIAL ? t->material[array - FD_MATERIAL] : t->array[array];
}

void fd_cpu_lay_out(const unda_solver *s, struct fd_cpu *t);
int64_t fd_cpu_bytes(const unda_solver *s, const struct fd_cpu *t); /* what fd_cpu_allocate takes */
unda_status fd_cpu_allocate(unda_solver *s, struct fd_cpu *t);
/* A table in the precision of the solver, made where it is NULL. */
unda_status fd_cpu_reals(const unda_solver *s, void **out, const double *from, int64_t num);
void fd_cpu_clear_memory(unda_solver *s);
void fd_cpu_multiply(unda_solver *s, int array, double factor); /* all values of an array */
/* Ghosts beside rows of planes [begin, end), and (sides) in planes beyond the sides of x. */
void fd_cpu_fill_ghosts(unda_solver *s, void *array, const struct fd_field *field, struct fd_span span,
                        bool sides);
/* lines.c: of field f, in planes that this solver computes; owner: of the arrays. */
unda_status fd_lines_new(unda_solver *s, int f, void **owner, struct fd_lines *lines);
/* Whether these fields have the same lines, as normal stresses of an explosion in a uniform solid do. */
bool fd_lines_alike(const unda_solver *s, int e, int f);
/* cpu_inject.c: adds those of row number x [total y] + y to its values. */
void fd_cpu_inject_f32(const struct fd_lines *lines, int64_t row, const double *amplitude, void *values);
void fd_cpu_inject_f64(const struct fd_lines *lines, int64_t row, const double *amplitude, void *values);

/* Adds the sources of step number `time` of the call to places [begin, end) of field f, as indices of
 * [total x][total y][total z]. */
void fd_cpu_inject(unda_solver *s, void *array, int f, int64_t time, int64_t begin, int64_t end);
/* Stores what receivers need of those places at the given step. */
void fd_cpu_keep(unda_solver *s, const void *array, int f, int64_t step, int64_t begin, int64_t end);
void fd_cpu_weigh(unda_solver *s); /* samples of the call that ends */

/* Of struct fd_engine. */
unda_status fd_cpu_box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in);
unda_status fd_cpu_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
unda_status fd_cpu_memory(unda_solver *s, int number, int64_t first, int64_t count, void *out,
                          const void *in);
unda_status fd_cpu_clear(unda_solver *s);
unda_status fd_cpu_find_bad(unda_solver *s, int64_t *index);
void fd_cpu_destroy(unda_solver *s);
unda_status fd_cpu_list_points(unda_solver *s);
unda_status fd_cpu_reserve(unda_solver *s);
unda_status fd_cpu_drive(unda_solver *s, const unda_drive *drive);
unda_status fd_cpu_send(unda_solver *from, unda_solver *to, int array, int64_t plane, int64_t place,
                        int64_t count);
int64_t fd_cpu_plane_bytes(const unda_solver *s);
unda_status fd_cpu_join_rank(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor,
                             int32_t num_neighbor);
unda_status fd_cpu_carry(unda_solver *s, int32_t neighbor, int array, struct fd_range planes, uintptr_t at,
                         bool arrives);
void fd_cpu_values(const unda_solver *s, int32_t list, int64_t i, double *values);
/* view.c */
unda_status fd_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
/* What the engines have in common. */
#define FD_CPU_ENGINE                                                                                        \
    .base.name = "cpu", .base.destroy = fd_cpu_destroy, .base.drive = fd_cpu_drive,                          \
    .base.find_bad = fd_cpu_find_bad, .base.list_points = fd_cpu_list_points,                                \
    .base.reserve = fd_cpu_reserve, .box = fd_cpu_box, .gather = fd_cpu_gather, .clear = fd_cpu_clear,       \
    .memory = fd_cpu_memory, .send = fd_cpu_send, .plane_bytes = fd_cpu_plane_bytes,                         \
    .base.exchange_begin = fd_rank_begin, .base.exchange_end = fd_rank_end, .join_rank = fd_cpu_join_rank,   \
    .carry = fd_cpu_carry, .values = fd_cpu_values, .base.monitor_new = monitor_cpu_new,                     \
    .base.monitor_take = fd_cpu_monitor_take, .base.view = fd_cpu_view

#endif
