/* dg.h: nodal discontinuous Galerkin (Hesthaven & Warburton 2008; on hexahedra Kopriva 2009): tables of both engines.
 * Next: tables.c, metric.c, dt.c (stable step), space/ (elements), cpu_stage.inc.h (CPU stage), cuda.c and cuda/dg
 * (CUDA stage). */
#ifndef UNDA_DG_H
#define UNDA_DG_H

#include "../solver/integrator.h"
#include "../physics/physics.h"
#include "../space/space.h"
#include "layer.h"
#include "common/args.h"

/* Numbers of a metric: NUM_METRIC of cuda/space/hex_gll.h. */
enum { HEX_METRIC = 10 };

struct dg {
    int capability; /* compute capability of the device, 80 for 8.0; 0: none is known yet */
    const struct physics *physics;
    struct space space;
    int32_t flux;
    /* 1: both jumps at a face are lifted; where the flux is upwind and the material the same along the face,
     * one gives the other. */
    int32_t both_jumps;
    /* In the space's order, float64. */
    double *material;       /* dg_material; of ghosts too */
    int32_t material_nodes; /* of an element: 1, or num_node where each has its own; */
    int32_t face_materials; /* of a face: 1, or num_face_node */
    int32_t num_word;       /* of an element's record */
    int32_t first_coef;     /* in a record: METRIC_WORDS on tetrahedra, 0 on hexahedra */
    double *record;         /* [elem][num_word]: a tetrahedron's geometry, then [material_nodes][num_coef] */
    int32_t metric_kind;    /* unda_metric of hexahedra; of tetrahedra 0 */
    int32_t
        metric_nodes; /* metrics that a hexahedron has: 1 where all are affine, else num_node; of tetrahedra 0 */
    int32_t
        metric_words; /* numbers of which: [metric_nodes][HEX_METRIC], or the map of cuda/space/trilinear.h */
    int32_t stored_words; /* of a node's stored metric on a device: 9 where they imply 1/J */
    double *metric;       /* [elem][metric_words], in the element's unit of length (metric.c) */
    double *face_coef;    /* [elem][face][face_materials][num_face_coef] */
    double *elem_dt;      /* [elem]: stable time step [s] */
    /* Of num_wave waves [num_incident], by ascending face, slots in the order they came. */
    struct dg_incident *incident;
    int32_t num_incident, num_wave;
    /* Of the whole problem, of which this may be a part (team.h): its elements; whether any of them has a local law, is
     * a fluid of a medium that has solids too, has incident waves. Kernels depend on them, and so do their bits. */
    int64_t num_whole;
    bool has_local, has_fluid, has_waves;
    struct dg_layers layers;
    struct integration integration;
    void *owned; /* the arrays, but for the waves */
};

/* The members that are numbers; mesh may be NULL. */
unda_status dg_sizes(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *options);
/* The arrays. */
unda_status dg_fill(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *options);
void dg_free(struct dg *dg);
/* Bytes of the tables here. */
int64_t dg_host_bytes(const struct dg *dg);
/* work.c. The parts of a stage: derivatives inside the elements, the flux with its lift, sources with the update. */
enum { WORK_VOLUME = 1, WORK_FLUX = 2, WORK_UPDATE = 4, WORK_ALL = 7 };
/* Floating point operations and compulsory bytes of some of them, an element. */
int64_t dg_work_flops(const struct dg *dg, int work, int integrator);
int64_t dg_work_bytes(const struct dg *dg, int work, int integrator, int real_bytes, bool on_device);
/* Floating point operations of one right-hand side with its update, an element. */
int64_t dg_flops(const struct dg *dg, int integrator);
/* Compulsory bytes of one right-hand side with its update, an element. */
int64_t dg_bytes(const struct dg *dg, int integrator, int real_bytes, bool on_device);

/* The material at a node. */
static inline const double *dg_material(const struct dg *dg, int64_t elem, int node)
{
    int64_t at = elem * dg->material_nodes + (dg->material_nodes > 1 ? node : 0);
    return dg->material + at * dg->physics->num_material;
}

/* Coefficients of materials become those of kernels: the one place where material and metric, of which powers say how, meet. */
void dg_join_metric(const struct powers *power, int num, double metric, double *coef);

/* metric.c: the kind that options name or that is the cheapest, and its sizes; then those of another one. */
unda_status dg_choose_metric(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *options);
void dg_set_metric(struct dg *dg, int kind);
unda_status dg_fill_metrics(struct dg *dg, int threads);
/* A hexahedron's metric at a node. */
void dg_metric(const struct dg *dg, int64_t elem, int node, double metric[HEX_METRIC]);
/* The integral of a hexahedron's basis function, which is its entry of the mass matrix [m3]. */
/* Numbers of an element on a device: those of its nodes and, where it computes 1/J, 1 / unit. */
int64_t dg_device_metric(const struct dg *dg);
/* A power of two near the size of an element, the unit of its metric [m]. */
double dg_unit(const struct dg *dg, int64_t elem);
double dg_node_volume(const struct dg *dg, int64_t elem, int node);
/* Coefficients of all faces of an element. */
static inline int64_t dg_num_face_coef(const struct dg *dg)
{
    return (int64_t)dg->space.num_face * dg->face_materials * dg->physics->num_face_coef;
}
/* The materials on both sides of a face at its node m; at a boundary both are the element's. */
static inline void dg_sides(const struct dg *dg, int64_t face, int m, const double *side[2])
{
    const struct space *space = &dg->space;
    const int32_t *node = space->element->face_node + m, neighbor = space->neighbor[face];
    int num = space->num_face_node;
    side[0] = dg_material(dg, face / space->num_face, node[face % space->num_face * num]);
    side[1] = neighbor < 0
                  ? side[0]
                  : dg_material(dg, neighbor / space->num_side, node[neighbor % space->num_side * num]);
}
/* How fast the local law of an element's material lets fields decay [1/s], 0 without one. */
double dg_local_rate(const struct dg *dg, int64_t elem);
/* dt.c: elem_dt of all elements. */
void dg_stable_steps(struct dg *dg, int integrator);

#endif
