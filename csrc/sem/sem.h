/* sem.h: spectral elements on hexahedra (Komatitsch & Tromp 1999): Gauss-Lobatto nodes that cells share, a
 * diagonal mass matrix, Newmark's explicit scheme in time. Unknowns: the displacement u in solids, in fluids
 * a potential chi, where rho u = grad chi and p = -chi'':
 *
 *     rho u'' = div sigma(u) + f,     (1/kappa) chi'' = div((1/rho) grad chi) - Q,
 *
 * Q the injected volume. Where solid and fluid meet, the fluid sees the normal displacement and the solid
 * the pressure. Next: tables.c, material.c, metric.c (and masses), number.c (nodes), color.c (assembly),
 * sides.c (walls, coupling), dt.c, points.c, method.c, cpu.c. */
#ifndef UNDA_SEM_H
#define UNDA_SEM_H

#include "../solver/solver.h"
#include "../space/space.h"

/* A solid has three unknowns a node, a fluid one; both have three levels, the last of which is the
 * acceleration. */
enum { SOLID, FLUID, NUM_REGION };
enum { LEVEL_U, LEVEL_V, LEVEL_A, NUM_LEVEL };
enum { MOST_COLOR = 64, TASK_ELEM = 32, HEX_METRIC = 10, NUM_COEF = 3 };

/* Nodes of one region whose acceleration is not force over mass: on absorbing sides and in damping layers, where (M +
 * dt/2 C) a = f - C v, and on walls, which keep u in a subspace. Matrices [node][dim][dim]. */
struct sem_sides {
    int64_t num;
    int32_t *node;   /* [num] */
    double *rest;    /* inverse mass in the subspace */
    double *inverse; /* inverse of M + dt/2 C there, of the present dt */
    double *damping; /* C */
    int8_t *num_free;
    double *basis; /* [num][num_free <= dim][dim]: orthonormal, spans the subspace */
};

/* The elements of one kind and their nodes, numbered in the order in which elements touch them. */
struct sem_region {
    int dim;          /* unknowns a node */
    int64_t num_elem; /* in the order of the space */
    int64_t num_node;
    int32_t *elem; /* [num_elem]: of the space */
    int32_t *node; /* [num_elem][num_node of an element] */
    /* [num_elem + 1]: first number of the nodes that no element before has; those of an element ascend */
    int32_t *first;
    double *mass;        /* [num_node]: integral of rho, or of 1/kappa, times the basis function */
    int32_t num_color;   /* tasks of one colour share no node */
    int64_t num_task;    /* of TASK_ELEM consecutive elements */
    int32_t *task;       /* [num_task], by colour */
    int32_t *color_task; /* [num_color + 1]: first of each colour */
    struct sem_sides sides;
};

/* Nodes that a fluid and a solid share; area: integral of the normal that points out of the fluid. */
struct sem_coupling {
    int64_t num;
    int32_t *node[NUM_REGION]; /* [num] */
    double *area;              /* [num][3] */
};

/* What a part of a mesh shares with others: their common nodes are in each of them, and have the same bits. Forces on
 * them are sums over parts: a part sends those of its own elements, and adds all up in the order of parts. Where a solid
 * meets a fluid, who has a node of one has that of the other too, if need be without elements: the last nodes of a
 * region, whose forces come from others alone. Made by cut.c. */
struct sem_cut_region {
    int64_t num;
    int32_t *node;       /* [num]: nodes that other parts have, by their numbers in the whole */
    int64_t *first;      /* [neighbor + 1]: items of messages to each */
    int32_t *item;       /* [item]: place in `node` */
    int64_t *word;       /* [item]: where it begins among the reals of all messages */
    int64_t *first_term; /* [num + 1] */
    int64_t *term;       /* what is added up at a node: OWN_FORCE, or the word where what came begins */
    int32_t *whole;      /* [node of the region]: its number in the whole */
    int64_t *slot;       /* of a process, [node of the region]: struct sem_owners; else NULL */
    int64_t num_guest;   /* nodes without elements */
    int64_t num_border;  /* elements that have nodes of other parts: the first ones */
};
enum { OWN_FORCE = -1 };
struct sem_cut {
    int32_t which, num_neighbor;
    int32_t *neighbor;                /* [num_neighbor]: parts, ascending */
    int64_t *first_word;              /* [num_neighbor + 1]: reals of the messages of each */
    int64_t num_border, num_cut_face; /* elements with faces that other parts have; these faces */
    int64_t *elem; /* [own element]: of the whole's space; ascending twice, the border first */
    struct sem_cut_region region[NUM_REGION]; /* in a message the fluid's come first */
};

struct sem {
    struct space space;
    const unda_mesh *mesh;  /* the caller's until space holds it */
    int physics, num_field; /* of the state of an element: see sem_slot */
    int num_material, material_nodes;
    int metric_kind;  /* unda_metric */
    int metric_nodes; /* metrics that an element has: 1 where all are affine, else num_node */
    int metric_words; /* numbers of which: [metric_nodes][HEX_METRIC], or the map of cuda/space/trilinear.h */
    double *material; /* [elem][material_nodes][num_material], space's order */
    double *metric;   /* [elem][metric_words] */
    int8_t *kind;     /* [elem]: SOLID or FLUID */
    int32_t *row;     /* [elem]: its place in its region */
    struct sem_region region[NUM_REGION];
    struct sem_coupling coupling;
    double *elem_dt;           /* [elem], see sem_elem_dt */
    int32_t num_valid;         /* 1: the accelerations are those of this step; 0: made before the next one */
    bool stale;                /* the state was written: accelerations are made before they are read */
    const struct sem_cut *cut; /* of a part; NULL: there are no others */
    struct sem_team *team;     /* of a problem in parts (team.h); NULL: it is in one */
    void *owned;
};

/* tables.c */
unda_status sem_sizes(struct sem *sem, const unda_mesh *mesh, const unda_solver_options *options);
unda_status sem_fill(struct sem *sem, const unda_solver_options *options);
void sem_free(struct sem *sem);
int64_t sem_host_bytes(const struct sem *sem);

/* material.c */
unda_status sem_copy_material(struct sem *sem, const unda_mesh *mesh, const double *material);
/* rho, lambda, mu; of fluids rho, kappa, 0. */
void sem_moduli(const struct sem *sem, int64_t elem, int node, double moduli[3]);

/* metric.c */
unda_status sem_fill_metric(struct sem *sem, int threads);
unda_status sem_fill_mass(struct sem *sem, struct sem_region *r, int threads);
/* Refuses units in which coefficients are outside the range of a real. */
unda_status sem_check_range(const struct sem *sem, int precision, int threads);
/* Weight of the quadrature at a node of the reference element; times J it is a volume. */
double sem_weight(const struct sem *sem, int node);
/* G[j], then 1/J (cuda/space/hex_gll.h), whatever the kind of the metric. */
void sem_metric(const struct sem *sem, int64_t elem, int node, double metric[HEX_METRIC]);
/* The sizes of a kind. */
void sem_set_metric(struct sem *sem, int kind);
/* Where the unknowns of a region stand among the fields of an element: acoustic chi chi_t chi_tt; elastic
 * u v a, three each, then chi chi_t chi_tt if there is a fluid. */
static inline int sem_slot(const struct sem *sem, int region, int level)
{
    return region == FLUID ? sem->num_field - 3 + level : 3 * level;
}

/* number.c: regions, their nodes, and the nodes that solid and fluid share. */
unda_status sem_number(struct sem *sem, const unda_mesh *mesh, int threads);
/* Counts of nodes that elements are the first to have, in r->first[1..], become their first numbers. */
unda_status sem_number_first(const struct sem *sem, struct sem_region *r);
/* The first element, of the space, that has a node of a region, and which of its nodes that is. */
void sem_node_owner(const struct sem *sem, int region, int64_t node, int64_t *elem, int *local);
/* color.c */
int sem_corner(const struct sem *sem, int corner); /* its node in an element */
unda_status sem_color(struct sem *sem, int region);
/* sides.c: sides.num and coupling.area; matrices. */
unda_status sem_sides_new(struct sem *sem, const unda_solver_options *options);
unda_status sem_couple(struct sem *sem);
/* What an element adds to the mass of one of its nodes. */
double sem_node_mass(const struct sem *sem, int64_t elem, int node);
/* The inverse matrices for a time step. */
void sem_sides_retime(struct sem *sem, double dt);
/* cut.c: the tables of part `which` of elements [elem of the space] that have these owners. */
struct sem_owners {
    int32_t num_part;
    const int32_t *of; /* [elem of the space]: its part */
    int32_t
        *local; /* [elem of the space]: its number there; those that have nodes of other parts come first */
    /* By region the parts that have a node, ascending, from first[node] on, and whether with elements. A slot is a place in
     * this list: a node and a part that has it. */
    int64_t *first[NUM_REGION];
    int32_t *part[NUM_REGION];
    bool *works[NUM_REGION];
    int32_t *number[NUM_REGION]; /* [node]: its number in the part that is being made, -1 */
    void *owned;
};
static inline int64_t sem_num_guest(const struct sem *sem, int region)
{
    return sem->cut ? sem->cut->region[region].num_guest : 0;
}
unda_status sem_owners_fill(const struct sem *whole, struct sem_owners *owners);
unda_status sem_cut_new(const struct sem *whole, const struct sem_owners *owners, int32_t which,
                        struct sem **part);
/* The mesh of a part's elements [num_owned], of which engines read the faces alone; like: of that shape. */
unda_status sem_cut_mesh(struct sem *part, const unda_mesh *like);
/* pack.c: the tables of a part as bytes, which travel to its process, and made of them. */
unda_status sem_pack(const struct sem *part, char **bytes, int64_t *num_byte);
unda_status sem_unpack(const char *bytes, int degree, const unda_mesh *like, struct sem **part);

/* dt.c */
void sem_elem_dts(struct sem *sem, int threads);

#endif
