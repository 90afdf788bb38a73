/* fd.h: finite differences on regular grids: axes with their layers and sides, weights, points; what an
 * engine offers besides. Nodes are counted with layers ("padded") unless said otherwise, z fastest. Next:
 * fd_method.c (options, state in the user's numbering), stencil.c (weights, stable step), layer.c, points.c,
 * energy.c; scalar_cpu.c and scalar_cuda.c, the engines. */
#ifndef UNDA_FD_H
#define UNDA_FD_H

#include "../solver/solver.h"

enum { MAX_HALF = 8, POINT_WIDTH = 8, POINT_NODES = POINT_WIDTH * POINT_WIDTH * POINT_WIDTH };

/* What stands at the outermost node: the sign of images about it; 0 where the axis closes on itself. */
enum { SIDE_FREE = -1, SIDE_PERIODIC = 0, SIDE_RIGID = 1 };

struct fd_axis {
    int64_t num;   /* the user's nodes */
    int64_t first; /* where they begin */
    int64_t total; /* nodes with layers; a layer ends in a free node */
    int32_t side[2];
    double h, origin; /* of the user's node 0 [m] */
    double *damp;     /* [total]: g of the layers, 1 elsewhere (layer.c) */
};

struct fd {
    int32_t scheme, half, uniform;
    struct fd_axis axis[3];
    int64_t num_node; /* with layers */
    double speed_max, rho, c;
    int64_t num_given; /* planes of material; */
    uint8_t *given;    /* [axis[0].num]: which */
    /* Of the scalar scheme, for the step dt (stencil.c): weights of the pairs at distance m along each axis,
     * rounded so that they and the centre sum exactly in the solver's precision. */
    int32_t split;                  /* 1: p_tt / c^2 first, then times `speed`: cuda/physics/scalar.h */
    double weight[3][MAX_HALF + 1]; /* [0] is not used */
    double center;
    double speed, speed_unit; /* c^2 dt^2 / h_min^2 where uniform; dt^2 / h_min^2 */
};

/* Arrays of an engine. */
enum { FD_P, FD_PREVIOUS, FD_SPEED };

struct fd_engine {
    struct engine base; /* first: an engine of FD is one of these */
    /* Whole planes of constant x, [count][total y][total z], out or in. */
    unda_status (*planes)(unda_solver *s, int array, int64_t first, int64_t count, void *out, const void *in);
    /* Values at nodes, by their place in [total x][total y][total z]. */
    unda_status (*gather)(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
    unda_status (*clear)(unda_solver *s);
    unda_status (*rest)(unda_solver *s); /* see unda_solver_rest */
};
extern const struct fd_engine fd_scalar_cpu, fd_scalar_cuda;

static inline const struct fd_engine *fd_engine(const unda_solver *s)
{
    return (const struct fd_engine *)s->engine;
}

/* The node whose value, times *sign, stands at place i beyond the sides: images about the outermost nodes. */
static inline int64_t fd_image(const struct fd_axis *axis, int64_t i, int *sign)
{
    int64_t last = axis->total - 1;
    *sign = 1;
    if (last == 0)
        return 0;
    if (axis->side[0] == SIDE_PERIODIC)
        return (i % axis->total + axis->total) % axis->total;
    while (i < 0 || i > last) {
        *sign *= axis->side[i > last];
        i = i < 0 ? -i : 2 * last - i;
    }
    return i;
}

static inline bool fd_free_node(const struct fd_axis *axis, int64_t i)
{
    return (i == 0 && axis->side[0] == SIDE_FREE) || (i == axis->total - 1 && axis->side[1] == SIDE_FREE);
}

static inline bool fd_has_layers(const struct fd *fd)
{
    for (int a = 0; a < 3; a++)
        if (fd->axis[a].total > fd->axis[a].num)
            return true;
    return false;
}

/* stencil.c */
/* Weights of h^2 d^2/dx^2: [0] the centre, [m] each of the pair at distance m. */
void fd_second_difference(int half, double *weight);
/* The largest stable step of the scalar scheme [s]. */
double fd_scalar_stable(const struct fd *fd);
/* What depends on dt. */
void fd_scalar_weights(struct fd *fd, double dt, double dt_stable, int real_bytes);

/* layer.c: fills the damp tables. */
unda_status fd_damping(struct fd *fd, const unda_fd_options *options, double dt);

/* points.c */
/* Points of a group of receivers: the nodes around all of them, each once, and what a point takes of these.
 */
struct fd_points {
    int64_t num_point, num_node;
    int64_t *node;  /* [num_node], ascending: place in [total x][total y][total z] */
    int32_t *index; /* [num_point][8][8][8] into node, along x, y, z; -1: none */
    double *weight; /* [num_point][3][8]: along each axis */
};
struct fd_source {
    int64_t num;
    int64_t *node;  /* [num], ascending: place in [total x][total y][total z] */
    double *weight; /* [num]: added to p for each unit of amplitude */
};
unda_status fd_source_new(unda_solver *s, void **source, int64_t elem, const double *position,
                          const double *rates);
void fd_source_free(void *source);
unda_status fd_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
void fd_points_free(void *points);
unda_status fd_sample(unda_solver *s, const unda_receivers *receivers, double *values);
unda_status fd_record(unda_solver *s, struct receiver_group *group); /* engine.record */
/* What a point takes of the values of its group's nodes. */
double fd_weigh(const struct fd_points *points, int64_t point, const double *values);

/* fd_method.c: refuses to go on where the material of some planes is missing. */
unda_status fd_need_material(const unda_solver *s);

/* energy.c */
unda_status fd_energy(unda_solver *s, double *energy);

static inline const struct fd_source *fd_source(const unda_solver *s, int32_t i)
{
    return s->sources[i];
}

#endif
