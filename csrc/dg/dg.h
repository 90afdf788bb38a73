/* dg.h: nodal discontinuous Galerkin on affine elements (Hesthaven & Warburton 2008): tables of both engines.
 * Next: dg.c (tables), dt.c (stable step), space/ (elements), dg_cpu.inc.h (CPU stage), dg_cuda.c and cuda/dg
 * (CUDA stage). */
#ifndef UNDA_DG_H
#define UNDA_DG_H

#include "../solver/integrator.h"
#include "../solver/physics.h"
#include "../space/space.h"
#include "common/args.h"

struct dg {
    const struct physics *physics;
    struct space space;
    int32_t flux;
    /* In the space's order, float64. */
    double *material;       /* dg_material */
    int32_t material_nodes; /* of an element: 1. With more, record, face_coef and dt.c must go by node, too */
    int32_t num_word;       /* of an element's record */
    double *record;         /* [elem][num_word]: nine of the geometry, then num_coef coefficients */
    double *face_coef;      /* [elem][face][num_face_coef] */
    double *elem_dt;        /* [elem]: stable time step [s] */
    /* Of num_wave waves [num_incident], by ascending face, slots in the order they came. */
    struct dg_incident *incident;
    int32_t num_incident, num_wave;
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
/* Floating point operations of one right-hand side with its update, an element. */
int64_t dg_flops(const struct dg *dg, int integrator);
/* Compulsory bytes of one right-hand side with its update, an element. */
int64_t dg_bytes(const struct dg *dg, int integrator, int real_bytes);

/* The material at a node: one an element, or one a node where nodes are points of the quadrature. */
static inline const double *dg_material(const struct dg *dg, int64_t elem, int node)
{
    int64_t at = elem * dg->material_nodes + (dg->material_nodes > 1 ? node : 0);
    return dg->material + at * dg->physics->num_material;
}
/* How fast the local law of an element's material lets fields decay [1/s], 0 without one. */
double dg_local_rate(const struct dg *dg, int64_t elem);
/* Whether any element has one. */
bool dg_has_local(const struct dg *dg);
/* dt.c: elem_dt of all elements. */
void dg_stable_steps(struct dg *dg, int integrator);
/* The largest dt of an element among equal ones is dg_stable / (c sum_f |m_f|); measured on
 * random and sliver meshes by benchmarks/stability.py, which also writes the margins. dt.c adds weights for
 * walls, jumps of impedance and layers of flat cells. */
double dg_stable(int shape, int integrator, int flux, int degree);

#endif
