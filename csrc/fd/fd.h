/* fd.h: finite differences on regular grids: axes with their layers and sides, fields, weights, points; the
 * interface of a scheme and its engines. Nodes are counted with layers ("padded") unless said otherwise, z
 * fastest. Next: method.c (options), state.c (the state in the user's numbering), material.c; scalar/ and
 * staggered/, the schemes, each with its engines; stencil.c (weights, stable step), staggered/dt.c (the same
 * in media that vary), layer.h, row.c, points.c, sources.c, terms.c, node_set.c, energy.h. */
#ifndef UNDA_FD_H
#define UNDA_FD_H

#include "../solver/solver.h"

#include "common/side.h"

enum {
    MAX_HALF = 8,
    POINT_WIDTH = 8,
    POINT_NODES = POINT_WIDTH * POINT_WIDTH * POINT_WIDTH,
    FD_MAX_FIELD = 9,
    FD_MAX_MATERIAL = 3,
    FD_MAX_DERIVATIVE = 18,
    FD_MAX_RATE = FD_MAX_FIELD + 4,
    FD_MAX_PART = 3
};

struct fd_axis {
    int64_t num;   /* the user's nodes */
    int64_t first; /* where they begin */
    int64_t total; /* nodes with layers; a layer ends in a free node */
    int32_t side[2];
    double h, origin; /* of the user's node 0 [m] */
    double *damp;     /* [total]: g of the layers, 1 elsewhere (layer.c); scalar */
    /* Of matched layers (matched.c; scalar): nodes at either side, those without the outermost one, where p
     * is 0; [6][nodes]: b of the half nodes below and above and of the node, then a. */
    int64_t matched[2];
    double *match;
    double *cpml; /* [2][4][total]: b, a, 1 / kappa, g at nodes, then half a cell on (cpml.c); staggered */
};

/* Where a field stands and what its images are. */
struct fd_field {
    int32_t half[3];    /* 1: half a cell on along that axis */
    int32_t sign[3][2]; /* of images beyond each side; or SIDE_PERIODIC, SIDE_NOTHING */
    bool broken[3][2];  /* waves there are no mirror images, though the scheme takes images: see row.c */
};

/* A memory variable, [x][y][z]: of derivative `number` of a staggered scheme in one layer, with `count` nodes
 * along the layer's axis from `begin`; or number 0 .. 2 of an axis of matched layers (matched.c). */
struct fd_memory {
    int32_t number, axis;
    int64_t begin, count, num[3];
    int64_t first, planes; /* of its num[0] planes those in the planes of x that the solver computes */
};

struct fd {
    const struct fd_scheme *scheme;
    unda_fd_options options; /* as given */
    int32_t single;          /* 1: float32 */
    /* num_array, num_material: arrays of an engine, of the state and of materials; num_parameter: parameters of
     * the user's medium. */
    int32_t half, uniform, num_field, num_array, num_material, num_parameter;
    struct fd_axis axis[3];
    struct fd_field field[FD_MAX_FIELD];
    int64_t num_node; /* with layers */
    /* Of an array in which a level can stay while steps go on in others (levels.c); 0: none can. */
    int64_t level_bytes;
    /* Planes of x that this solver computes: all, or those of a slab (slab.h). Its arrays have M planes more on
     * both sides; places, tables and numbers of planes are those of the whole grid everywhere. */
    int64_t begin, end;
    int64_t shared; /* planes below `begin` that this slab and the one below make in turn (diamond_slabs.c) */
    int32_t num_slab, *slab_device; /* of the whole grid; 0: it is not cut; [num_slab] */
    unda_solver *whole;             /* whose slab this is; NULL: no slab */
    double speed_max, rho, c;
    void *owned;         /* the arrays of axes, and `given` */
    struct fd_cpu *host; /* the engine's arrays, where they are in host memory: cpu.h */
    int64_t num_given;   /* planes whose material is given */
    uint8_t *given;      /* [axis[0].num]: which */
    int64_t material_version;
    double material_first[FD_MAX_MATERIAL]; /* as an engine has it, at the first node given; */
    bool have_first[FD_MAX_MATERIAL], varies[FD_MAX_MATERIAL]; /* varies: ever another anywhere */
    /* Of the staggered schemes: */
    const struct staggered *physics;
    double step_weight[3][MAX_HALF + 1]; /* dt D_m / h of each axis; [0] is not used */
    double half_dt;
    bool fades; /* some layer damps the fields: g in cpml is not 1 everywhere */
    int32_t num_memory, memory_of[FD_MAX_DERIVATIVE][2]; /* of a derivative at either side, or -1 */
    struct fd_memory memory[2 * FD_MAX_DERIVATIVE];
    /* Of the scalar scheme, for the step dt (stencil.c): weights of the pairs at distance m along each axis; [0]: of
     * the centre beside those from m = 2 on, with which it sums to exactly 0 in the solver's precision. */
    int32_t split; /* 1: p_tt / c^2 first, then times `speed`: cuda/physics/scalar.h */
    double weight[3][MAX_HALF + 1];
    double speed, speed_unit; /* c^2 dt^2 / h_min^2 where uniform; dt^2 / h_min^2 */
};

/* Arrays of an engine: fields (staggered), or levels (scalar); materials from FD_MATERIAL on. */
enum { FD_P, FD_PREVIOUS, FD_MATERIAL = 64, FD_SPEED = FD_MATERIAL };

/* Nodes of an array along x, y, z, counted with layers. */
struct fd_box {
    int64_t first[3], num[3];
};

/* Planes of x. */
struct fd_span {
    int64_t begin, end;
};
/* The planes of a slab that its neighbours need, and all others. */
enum fd_part { FD_BORDER, FD_INSIDE };

struct fd_engine;
struct fd_planes;

/* Materials of the eight nodes around a place: [bits 1 2 4: one on along x y z]. */
typedef double fd_corners[8][FD_MAX_MATERIAL];

/* A scheme: what method.c and material.c leave to it. */
struct fd_scheme {
    const char *name;
    int32_t end_node; /* 1: a layer ends with a node more, where the field is 0 */
    unda_status (*check)(const unda_solver_options *options);
    const struct fd_engine *cpu, *cuda;
    int32_t num_pass; /* of a step */
    /* Fields, the stable step; then, with dt known, weights and layers. */
    unda_status (*sizes)(unda_solver *s, const unda_solver_options *options);
    unda_status (*prepare)(unda_solver *s);
    void (*info)(const unda_solver *s, unda_solver_info *info);
    /* Refuses a node's material; then what is kept of it in an array of an engine. num_free: free sides that
     * the node lies on. */
    unda_status (*check_material)(struct fd *fd, const double *material);
    double (*material)(const struct fd *fd, const double *material, int which, int num_free);
    int32_t num_rate_more; /* rates of a source beyond one for each field: of the user, then of `join` */
    int32_t num_rate_joined;
    /* What field f gains at a node, per volume, from a unit of amplitude of a source of these rates. corner:
     * what an engine keeps of the materials. free: bits 1 2 4 for x y z: the node is on a free side there. */
    double (*gain)(const struct fd *fd, const fd_corners corner, int f, const double *rates, int free);
    /* The energy is the sum of what planes of nodes add, times the volume of a cell, over the unit. */
    void (*add_energy)(const struct fd *fd, const struct fd_planes *planes, int64_t x, double *sum);
    double (*energy_unit)(const struct fd *fd); /* NULL: 2 */
    /* NULL: the one known without the medium holds. */
    unda_status (*medium_dt)(unda_solver *s, double *dt);
    /* Whether what is kept of the materials depends on dt, with medium_dt. */
    bool (*keeps_dt)(const struct fd *fd);
};
extern const struct fd_scheme fd_scalar, fd_staggered;

/* Consecutive nodes of a list, or planes. */
struct fd_range {
    int64_t first, num;
};

/* What a kernel that takes many steps at once sends: pieces of memory, and their bytes. */
struct fd_leap_room {
    int64_t num_piece, bytes;
};

struct fd_engine {
    struct engine base; /* first: an engine of FD is one of these */
    /* The nodes of a box, [x][y][z], out or in. */
    unda_status (*box)(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in);
    /* Values at nodes, by their place in [total x][total y][total z]. */
    unda_status (*gather)(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
    unda_status (*clear)(unda_solver *s);
    unda_status (*rest)(unda_solver *s); /* see unda_solver_rest */
    /* Planes of constant x of a memory variable, out or in. */
    unda_status (*memory)(unda_solver *s, int memory, int64_t first, int64_t count, void *out,
                          const void *in);
    /* Steps as slabs take them together (slabs.c): `open` fills images of a state and of materials that may
     * have been set; a pass (the scalar scheme has one) of step number `time` of the call, with sources, in
     * some planes; `close` ends the step and stores what receivers need. On devices they are queued. */
    unda_status (*open)(unda_solver *s);
    unda_status (*pass)(unda_solver *s, int pass, int64_t time, enum fd_part part);
    unda_status (*close)(unda_solver *s, int64_t time);
    unda_status (*finish)(unda_solver *s, int64_t num_step); /* the call ends: waits */
    /* Before `close`: the array with what the pass made, if `array` is one of its fields. */
    int (*fresh)(int array, int64_t time);
    /* Queues a copy of planes [plane, plane + count) of an array to another slab's from `place` on, after
     * border planes, or what was queued before `sending`; `receive` lets border planes of `to` queued later wait
     * for all that `from` sent before `sent`; `settle` waits for all. These are NULL where `send` copies at once. */
    unda_status (*sending)(unda_solver *s);
    unda_status (*sent)(unda_solver *s);
    unda_status (*receive)(unda_solver *to, unda_solver *from);
    unda_status (*settle)(unda_solver *s);
    unda_status (*send)(unda_solver *from, unda_solver *to, int array, int64_t plane, int64_t place,
                        int64_t count);
    /* Between processes: bytes of a plane with its images and padding; makes the messages of a slab, whose exchange has its
     * links' bytes, neighbor[i]: the process that neighbour i is (rank.c). */
    int64_t (*plane_bytes)(const unda_solver *s);
    unda_status (*join_rank)(unda_solver *s, const unda_ranks *ranks, const int32_t *neighbor,
                             int32_t num_neighbor);
    /* Planes of an array to a neighbour's message at an address, or from there; by NCCL they are a message of the next
     * `exchange_begin` where they stand. */
    unda_status (*carry)(unda_solver *s, int32_t neighbor, int array, struct fd_range planes, uintptr_t at,
                         bool arrives);
    /* Whether copies to another slab, on an equal device, go from device to device; NULL: yes. */
    unda_status (*reach)(unda_solver *from, unda_solver *to, bool *reached);
    /* Of list `list` of nodes (slab_samples.c) at sample i of the call: values at this slab's nodes, [node], those of
     * shared planes first, 0 where it did not make them; an engine that weighs its points itself gives only what
     * points beside cuts take. Then what such an engine has weighed, [point of the list]; NULL: it does not. */
    void (*values)(const unda_solver *s, int32_t list, int64_t i, double *values);
    void (*weighed)(const unda_solver *s, int32_t list, int64_t i, double *weighed);
    /* Kernels that take many steps of all slabs at once; NULL: there are none. The planes that slabs begin at are
     * multiples of *planes, half of which they share; 0: the kernel takes single steps. Then as many of num_step steps
     * as such a kernel takes, of the solver of the whole grid, after `open` and what slabs exchange with it; and the
     * bytes that a slab then sends a step, on average over a whole launch. */
    unda_status (*cut)(const unda_solver *s, int64_t *planes);
    unda_status (*leap)(unda_solver *whole, int64_t num_step, int64_t *done);
    int64_t (*leap_bytes)(const unda_solver *slab);
    /* At most, over a cut at once, either way; of processes, which have room for so much (rank.c). NULL: nothing. */
    struct fd_leap_room (*leap_room)(const unda_solver *slab);
};
extern const struct fd_engine fd_scalar_cpu, fd_scalar_cuda, fd_staggered_cpu, fd_staggered_cuda;
extern const struct kernel *const fd_scalar_cpu_kernels[],
    *const fd_scalar_cuda_kernels[], *const fd_staggered_cpu_kernels[], *const fd_staggered_cuda_kernels[];
/* slabs.c: several of one of these at work on one grid. */
const struct engine *fd_slabs_engine(const unda_solver_options *options);
unda_status fd_slabs_forecast(unda_solver *s, int64_t *host_bytes, int64_t *device_bytes); /* [num_slab] */
unda_status fd_slabs_member(const unda_solver *s, int32_t which, unda_member *member);

static inline struct fd *fd_tables(const unda_solver *s)
{
    return s->tables;
}
static inline const struct fd_engine *fd_engine(const unda_solver *s)
{
    return (const struct fd_engine *)s->engine;
}

/* Whole planes of constant x, [count][total y][total z], out or in. */
static inline unda_status fd_planes(unda_solver *s, int array, int64_t first, int64_t count, void *out,
                                    const void *in)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    struct fd_box box = {{first, 0, 0}, {count, axis[1].total, axis[2].total}};
    return fd_engine(s)->box(s, array, &box, out, in);
}

/* fd_place of an axis. */
static inline int64_t fd_mirror(const struct fd_axis *axis, int half, const int32_t *signs, int64_t i,
                                int *sign)
{
    *sign = 1;
    return fd_place(0, axis->total - 1, half, signs[0], signs[1], i, sign);
}
static inline int64_t fd_image(const struct fd_axis *axis, int64_t i, int *sign)
{
    return fd_mirror(axis, 0, axis->side, i, sign);
}

/* Planes of a memory variable before plane x of the grid (slab.c). */
int64_t fd_memory_before(const struct fd *fd, const struct fd_memory *memory, int64_t x);
static inline int64_t fd_memory_count(const struct fd_memory *memory)
{
    return memory->planes * memory->num[1] * memory->num[2];
}

/* On a side about which a field at nodes is odd it is 0 for good. */
static inline bool fd_pinned(const struct fd *fd, int f, int a, int64_t i)
{
    const struct fd_field *field = &fd->field[f];
    int64_t last = fd->axis[a].total - 1;
    return !field->half[a] && ((i == 0 && field->sign[a][0] < 0) || (i == last && field->sign[a][1] < 0));
}

/* Part of the cell of place i that lies inside: half at nodes on sides but for the end of a layer; nothing
 * beyond them or where pinned. */
static inline double fd_share(const struct fd *fd, int f, int a, int64_t i)
{
    const struct fd_field *field = &fd->field[f];
    int64_t last = fd->axis[a].total - 1;
    if (last == 0 || field->sign[a][0] == SIDE_PERIODIC)
        return 1;
    if (field->half[a])
        return i < last;
    bool on_side =
        (i == 0 && field->sign[a][0] != SIDE_NOTHING) || (i == last && field->sign[a][1] != SIDE_NOTHING);
    return fd_pinned(fd, f, a, i) ? 0 : on_side ? 0.5 : 1;
}

/* Whether a slab's neighbour continues the grid beyond its first (0) or last (1) plane. */
static inline bool fd_cut(const struct fd *fd, int side)
{
    bool part = fd->end - fd->begin < fd->axis[0].total;
    return part &&
           (fd->axis[0].side[0] == SIDE_PERIODIC || (side ? fd->end < fd->axis[0].total : fd->begin > 0));
}
/* Where a slab has plane x of the grid, its own or a neighbour's: beyond a periodic side by one period. */
static inline int64_t fd_held(const struct fd *fd, int64_t x)
{
    int64_t num = fd->axis[0].total;
    return x < fd->begin - fd->half ? x + num : x >= fd->end + fd->half ? x - num : x;
}
/* Solver of the whole grid, which knows all sources and materials. */
static inline unda_solver *fd_whole(unda_solver *s)
{
    return fd_tables(s)->whole ? fd_tables(s)->whole : s;
}

/* How materials go on beyond sides: evenly. */
static inline struct fd_field fd_even_field(const struct fd *fd)
{
    struct fd_field even = {.half = {0}};
    for (int i = 0; i < 6; i++)
        even.sign[i / 2][i % 2] = fd->axis[i / 2].side[i % 2] != SIDE_PERIODIC;
    return even;
}

static inline bool fd_free_node(const struct fd_axis *axis, int64_t i)
{
    return (i == 0 && axis->side[0] == SIDE_FREE) || (i == axis->total - 1 && axis->side[1] == SIDE_FREE);
}

/* Where a place in [total x][total y][total z] is along each axis. */
static inline void fd_coordinates(const struct fd *fd, int64_t node, int64_t at[3])
{
    at[0] = node / fd->axis[2].total / fd->axis[1].total;
    at[1] = node / fd->axis[2].total % fd->axis[1].total;
    at[2] = node % fd->axis[2].total;
}
/* Bits 1 2 4 of the axes x y z on whose free sides it lies. */
static inline int fd_free_sides(const struct fd *fd, int64_t node)
{
    int64_t at[3];
    fd_coordinates(fd, node, at);
    return fd_free_node(&fd->axis[0], at[0]) | fd_free_node(&fd->axis[1], at[1]) << 1 |
           fd_free_node(&fd->axis[2], at[2]) << 2;
}

/* stencil.c */
/* Weights of h^2 d^2/dx^2: [0] the centre, [m] each of the pair at distance m. */
void fd_second_difference(int half, double *weight);
/* The largest stable step of the scalar scheme [s]. */
double fd_scalar_stable(const struct fd *fd);
/* The least spacing of axes that have more than one node. */
double fd_least_spacing(const struct fd *fd);
/* What depends on dt. */
void fd_scalar_weights(struct fd *fd, double dt, double dt_stable, int real_bytes);
/* Weights of h d/dx half a cell away: [m] of the pair at distance m - 1/2. */
void fd_staggered_difference(int half, double *weight);
double fd_staggered_stable(const struct fd *fd);

/* slab.c: this solver computes planes [begin, end). */
void fd_own(struct fd *fd, int64_t begin, int64_t end);
static inline struct fd_span fd_planes_of(const struct fd *fd)
{
    return (struct fd_span){fd->begin, fd->end};
}
/* With those that it shares. */
static inline struct fd_span fd_planes_made(const struct fd *fd)
{
    return (struct fd_span){fd->begin - fd->shared, fd->end};
}
/* The spans of a part; returns their number, 0 .. 2. */
int fd_spans(const struct fd *fd, enum fd_part part, struct fd_span span[2]);
/* How many of the nodes, ascending, lie before a place; those of them that lie in some planes. */
int64_t fd_num_before(const int64_t *node, int64_t num, int64_t place);
struct fd_range fd_nodes_in(const struct fd *fd, const int64_t *node, int64_t num, struct fd_span span);

/* range.c: refuse numbers that are not 0 in float64 and beyond the solver's precision. `what`: in messages. */
struct physics;
unda_status fd_check_range(const struct fd *fd, const char *what, int num, const double *values);
unda_status fd_check_units(const struct fd *fd, const struct physics *physics, const double *material);
unda_status fd_check_steps(const unda_solver *s);

/* row.c */
/* Weights w(x) w(y) w(z) over nodes of one field, images folded in. */
struct fd_product {
    int32_t field; /* -1: no such part */
    int32_t node[3][POINT_WIDTH];
    double weight[3][POINT_WIDTH]; /* 0 where there is no node */
};
/* Rows of field f at points [num][3], as sums of products: row [fd_num_part][num], first of the field itself,
 * then of others beside sides. like[axis]: rows of a field whose lines along the axis are alike, or NULL. */
unda_status fd_rows(unda_solver *s, int f, int64_t num, const double *points,
                    const struct fd_product *const like[3], struct fd_product *row);
/* Nodes and weights of fields f and g along axis a are the same, at points that are far from broken sides. */
bool fd_rows_alike(const struct fd *fd, int f, int g, int a);
int fd_num_part(const struct fd *fd);
/* Nodes one after the other along z. */
struct fd_run {
    int64_t node;      /* the first */
    int32_t num, line; /* line: 8 i + j of the weights along x and y; of a second run there, 64 more */
};
enum { POINT_LINES = POINT_WIDTH * POINT_WIDTH };
/* Runs [2 POINT_LINES] of a product; returns their number. place[k]: where the node of weight k along z stands
 * in the first run of a line; if negative, ~place[k] in the second, which points near a periodic side have. */
int fd_product_runs(const struct fd *fd, const struct fd_product *p, struct fd_run *run, int32_t *place);
/* Refuses a point that does not lie on the user's grid. */
unda_status fd_inside(const struct fd *fd, const double *x, const char *what, int64_t number);

/* sources.c */
/* A product of a row, transposed: its weights over the nodes' shares of their cells, and the source's rates. */
struct fd_tap {
    struct fd_product product;
    double rates[FD_MAX_RATE];
    bool beside; /* some of its nodes are on a free side */
};
struct fd_pair {
    int64_t node; /* place in [total x][total y][total z] */
    double weight;
};
struct fd_source {
    int32_t first[FD_MAX_FIELD + 1]; /* where the taps that drive each field begin, or the pairs */
    bool drives;                     /* some node gains something */
    double most;                     /* that a unit of amplitude adds to a field */
    struct fd_pair *pair;            /* behind the struct, of a source node by node: ascending; NULL: taps */
    struct fd_tap tap[];
};
unda_status fd_sources_new(unda_solver *s, void **sources, const unda_source *given);
double fd_source_most(const void *source);

/* terms.c */
/* What sources add to a field. */
struct fd_terms {
    int64_t num_node, num;
    int64_t *node;   /* [num_node], ascending: place in [total x][total y][total z] */
    int64_t *first;  /* [num_node + 1]: where the terms of each begin */
    int32_t *source; /* [num], ascending at each node */
    void *weight;    /* [num] REAL: added for each unit of that source's amplitude */
};
/* Those of field f; owner: of the arrays, see array_own. */
unda_status fd_terms_new(unda_solver *s, int f, void **owner, struct fd_terms *terms);
/* slab.c: of them the nodes that this solver computes; terms->num counts all. */
unda_status fd_own_terms(unda_solver *s, int f, void **owner, struct fd_terms *terms);

/* points.c */
/* Nodes of one field around points of a group of receivers, each once, and what a point takes of these. */
struct fd_nodes {
    int32_t field, column; /* of the state; of the group's fields: the one that takes the values */
    bool adds;             /* to what another field's nodes gave */
    int64_t num_node, num_point;
    int64_t *node;   /* [num_node], ascending: place in [total x][total y][total z] */
    int64_t *point;  /* [num_point]: number in the group */
    int32_t num_run; /* 1, or 2 where a point has a second run on each line */
    int32_t *first;  /* [num_point][num_run][8][8]: number of the first node of each; -1: none */
    int32_t *place;  /* [num_point][8]: along z, see fd_product_runs */
    double *weight;  /* [num_point][3][8]: along each axis */
};
struct fd_points {
    int32_t num_field, num_nodes;
    void *owned;            /* all arrays */
    struct fd_nodes *nodes; /* [num_nodes]: of each field, all points; then what some take of other fields */
};
unda_status fd_points_check(const unda_solver *s, const unda_receivers *receivers);
unda_status fd_points_new(unda_solver *s, void **points, const unda_receivers *receivers);
void fd_points_free(void *points);
unda_status fd_sample(unda_solver *s, const void *points, double *values);
/* Number of the node of weight k along z on a line of a point, -1: none. */
int64_t fd_point_node(const struct fd_nodes *nodes, int64_t point, int line, int k);
/* What point number `point` of those nodes takes of their values. */
double fd_weigh(const struct fd_nodes *nodes, int64_t point, const double *values);
/* Value number i, [sample][point], of a call's samples of these nodes: into the group's samples. */
void fd_add_sample(const unda_solver *s, const struct receiver_group *group, const struct fd_nodes *nodes,
                   int64_t i, double value);
/* Nodes number i of all that a group has. */
static inline const struct fd_nodes *fd_nodes_of(const struct receiver_group *group, int32_t i)
{
    return &((const struct fd_points *)group->points)->nodes[i];
}
static inline int32_t fd_num_nodes(const struct receiver_group *group)
{
    return ((const struct fd_points *)group->points)->num_nodes;
}

/* state.c */
unda_status fd_check_planes(int64_t first, int64_t count, int64_t num);
unda_status fd_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out, const void *in);
unda_status fd_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup);
unda_status fd_array_shape(const unda_solver *s, int32_t array, int64_t *shape);

/* monitor.c: see struct method, struct engine. */
unda_status fd_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given);
unda_status fd_monitor_ways(unda_solver *s, const unda_solver_options *options, const unda_monitor *given,
                            int64_t num_value, struct monitor *m);
unda_status fd_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                const struct monitor_sample *sample);
/* Of so many of `most` steps those to the next sample that a CUDA engine takes within its steps; the samples that are due at
 * the present one. */
int64_t fd_cuda_until_sample(const unda_solver *s, int64_t most);
/* Launches those that are due at the present step, but leaves the first one that a step can take in `later`, if that is not
 * NULL, for the kernel of the next step or fd_cuda_sample_rest. */
struct fd_later;
unda_status fd_cuda_sample(unda_solver *s, struct fd_later *later);
unda_status fd_cuda_sample_rest(struct fd_later *later);
unda_status fd_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece);
unda_status fd_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample);
unda_status monitor_cpu_new(struct monitor *m, struct monitor_piece *piece);
/* Samples, if they are due at a step of the call, of rows [begin, end) of plane x, of `num` fields from `first` on; array:
 * theirs; earlier: that of one field a step before, or NULL. */
void fd_cpu_sample(unda_solver *s, void *const *array, const void *earlier, int first, int num, int64_t step,
                   int64_t x, int64_t begin, int64_t end);

/* material.c: unda_solver_set_material; refuses to go on where the material of some planes is missing. */
unda_status fd_set_material(unda_solver *s, int64_t first, int64_t count, const double *material);
unda_status fd_need_material(const unda_solver *s);

/* staggered/scheme.c: whether a pass makes a field of which differences along x are taken. */
bool fd_staggered_travels(const struct fd *fd, int pass, int field);

/* staggered/dt.c: the largest step proved stable in the medium that is given [s]. */
unda_status fd_staggered_medium_dt(unda_solver *s, double *dt);

/* rank.c: the solver of this process's slab, to which neighbours have sent materials; s itself where the grid is in one
 * process. Then of such a solver: `bytes` go to both neighbours and come from them, and a value becomes the largest that
 * any process has; nothing is done where the grid is in one process. */
unda_status fd_rank_slab(unda_solver *s, unda_solver **slab);
unda_status fd_rank_swap(unda_solver *slab, void *const out[2], void *const in[2], int64_t bytes);
/* Of a slab whose messages these are: packs those of a neighbour, and unpacks all; begin and end of CPU engines. */
unda_status fd_rank_pack(unda_solver *slab, int32_t neighbor, uintptr_t to);
unda_status fd_rank_unpack(unda_solver *slab, uintptr_t from);
unda_status fd_rank_begin(unda_solver *slab);
unda_status fd_rank_end(unda_solver *slab);
unda_status fd_rank_most(const unda_solver *slab, double *value);

/* energy.c: the energy that the scheme conserves; what the planes of x add that a solver computes, and the energy of all
 * of these sums. */
unda_status fd_energy(unda_solver *s, double *energy);
unda_status fd_add_energies(unda_solver *s, double *sum);
double fd_energy_of(const struct fd *fd, double sum);

#endif
