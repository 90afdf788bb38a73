/* layer.c: absorbing layers of DG: complex-frequency-shifted perfectly matched layers, unsplit (Roden & Gedney 2000;
 * Komatitsch & Martin 2007), multiaxial ones (Meza-Fajardo & Papageorgiou 2008) and sponges, in planar layers across the
 * axes. With u_t = R(u), the rate that a stage computes, and A_i d_i u the part of the equations that has derivatives along
 * axis i, a layer adds
 *
 *     u_t = R(u) + sum_i A_i ((1 / kappa_i - 1) D_i u + psi_i) - sum_i e_i u,
 *     psi_i' = -(d_i / kappa_i + alpha_i) psi_i - d_i / kappa_i^2 D_i u,
 *
 * so that in the frequency domain d_i becomes d_i / s_i, s_i = kappa_i + d_i / (alpha_i + i omega). Profiles are those of
 * csrc/fd/staggered/cpml.c, at the nodes (unda.h). At walls D_i takes the mirror image; at absorbing sides and those with exact
 * data it has no jump, since the stage's flux imposes the outer state. psi_i has the numbers of the trace across axis i
 * (cuda/dg/stretch.h) and goes through the stages of the integrator as the fields do.
 *
 * Hexahedra. D_i is the derivative with the central flux; what the upwind flux adds to it acts on jumps alone, which waves
 * that are resolved do not have, and damps in the layer as it does elsewhere. Fields that vary slowly see 1 / s_i = S_i, a real
 * number. In prisms along the axis, whose edges are along it or across it, products along lines commute with multiplications by
 * the S_j of other axes, so that the energy weighted with W = 1 / (S_x S_y S_z) is that of the interior: W S_i D_i is skew, and
 * the upwind flux still takes from it. In other hexahedra waves grow.
 *
 * Tetrahedra have oblique faces, where the upwind flux penalizes the normal part of v, n_i n_j [v_j]. With S = 1 / s the p of
 * sound sees, once v is eliminated, s + sum_ij D_i M_ij D_j^H with
 *
 *     M = (i omega s_i^2 delta_ij + s_i X_ij s_j)^-1,    X_ij ~ n_i n_j,
 *
 * and the real part of y^H (s_i n_i)(s_j n_j) y is negative for some y if s_i != s_j: waves grow. So in layers the penalty is
 * split by axes as well: D_i is the derivative with the flux
 *
 *     (1 - |n_i|) central + |n_i| (upwind, of a face across axis i),
 *
 * a penalty of n_i^2, and the pass replaces the stage's flux at oblique faces by the sum of these over all axes. X is diagonal
 * then and stretched once, X_ii = n_i^2 / s_i, and with s_i that are the same everywhere
 *
 *     s + sum_i P_i / s_i + sum_i D_i (s s_i^2 + N_i s_i)^-1 D_i^H
 *
 * is positive real on any mesh, since Re(i omega s_i^2) >= 0 and Re(s_i) > 0: no mode of sound grows. So s_i has one value in
 * all tetrahedra of a layer, that of x = 3^-1/2 (d is the mean of damping x^2 then); it changes at the plane where the layer
 * begins, a face of cells, on whose sides fields are smooth. One value a cell would be a staircase that scatters, and varying
 * within cells, waves grow. The fade e depends on the cell, by the mean of x^2 between the planes that bound it: at the front
 * it would reflect. But modes of P and S waves together that go back in the layer grow by d where nothing fades them, so
 * where e is to outweigh d (ratios above `few`) d and e go together, both by that mean, and return more. On both sides of
 * all faces that are not across axis i s_i is the same otherwise, as light needs in three dimensions. Measured in 100,000
 * steps, and in eigenvalues: benchmarks/NOTES.md. Faces at oblique walls and where solid touches fluid are
 * as on hexahedra: the flux across an axis is not theirs. With the central flux of the whole problem nothing is penalized.
 *
 * The pass reads what a stage reads and adds to what it writes, after it on the CPU, on devices before it where it can
 * (cuda/dg/layer.h); cells outside layers and the stage itself are as they are without layers.
 * Next: layer_faces.c (faces of tetrahedra), cpu_layer.inc.h, layer_cuda.c (engines). */
#include "dg.h"

#include "method.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- which cells ---- */

static const char *const side_names[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};

static unda_status check(const unda_layer *layer)
{
    for (int i = 0; i < 6; i++) {
        const unda_layer *at = layer + i;
        if (at->depth == 0)
            continue;
        if (!(isfinite(at->begin) && isfinite(at->depth) && at->depth > 0))
            FAIL(UNDA_ERR_ARG,
                 "layer %s begins at %g m and is %g m deep, expected finite numbers, the second above 0",
                 side_names[i], at->begin, at->depth);
        if (!(isfinite(at->damping) && at->damping >= 0 && isfinite(at->shift) && at->shift >= 0))
            FAIL(UNDA_ERR_ARG, "layer %s has damping %g 1/s and shift %g 1/s, expected finite numbers >= 0",
                 side_names[i], at->damping, at->shift);
        if (!(isfinite(at->stretch) && at->stretch >= 1 && at->ratio >= 0 && at->ratio <= 1))
            FAIL(UNDA_ERR_ARG, "layer %s has stretch %g and ratio %g, expected >= 1 and 0..1", side_names[i],
                 at->stretch, at->ratio);
        if (i % 2 && layer[i - 1].depth > 0 && !(layer[i - 1].begin < at->begin))
            FAIL(UNDA_ERR_ARG, "layers %s and %s begin at %g and %g m, expected the first below the second",
                 side_names[i - 1], side_names[i], layer[i - 1].begin, at->begin);
    }
    return UNDA_OK;
}

/* How far a point is beyond the plane where a layer begins. */
static double beyond(const unda_layer *layer, int side, double x)
{
    return side % 2 ? x - layer->begin : layer->begin - x;
}

/* The side in whose layer a cell lies along an axis, -1 outside layers. Cells that the plane cuts are refused. */
static unda_status find_side(const unda_mesh *mesh, const unda_layer *layers, int64_t user, int axis,
                             int *side)
{
    int num = mesh->table->num_vertex;
    *side = -1;
    for (int i = 2 * axis; i < 2 * axis + 2; i++) {
        const unda_layer *at = layers + i;
        double least = INFINITY, most = -INFINITY;
        if (at->depth == 0)
            continue;
        for (int v = 0; v < num; v++) {
            double depth = beyond(at, i, mesh->vertices[3 * mesh->cells[user * num + v] + axis]);
            least = fmin(least, depth);
            most = fmax(most, depth);
        }
        double small = 1e-6 * (most - least);
        if (least < -small && most > small)
            FAIL(UNDA_ERR_MESH,
                 "element %lld reaches from %g to %g m beyond the plane where layer %s begins, expected "
                 "cells on one "
                 "side of it",
                 (long long)(mesh->part.global ? mesh->part.global[user] : user), least, most, side_names[i]);
        if (most > small)
            *side = i;
    }
    return UNDA_OK;
}

unda_status dg_layers_count(struct dg *dg, const unda_mesh *mesh, const unda_layer *layer)
{
    struct dg_layers *l = &dg->layers;
    bool any = false;
    for (int i = 0; layer && i < 6; i++)
        any = any || layer[i].depth != 0;
    if (!any)
        return UNDA_OK;
    l->given = true;
    TRY(check(layer));
    memcpy(l->side, layer, sizeof l->side);
    for (int64_t e = 0; mesh && e < mesh->num_owned; e++) {
        int64_t before = l->num_item;
        for (int axis = 0, side; axis < 3; axis++) {
            TRY(find_side(mesh, layer, e, axis, &side));
            l->num_item += side >= 0;
        }
        l->num_elem += l->num_item > before;
    }
    return UNDA_OK;
}

int dg_gradient_nodes(const struct dg *dg)
{
    return dg->metric_nodes > 1 ? dg->space.num_node : 1;
}

static int num_trace(const struct dg *dg)
{
    return dg->physics->num_trace;
}

int64_t dg_num_memory(const struct dg *dg)
{
    return dg->layers.num_item * num_trace(dg) * dg->space.num_node;
}

int64_t dg_layers_bytes(const struct dg *dg)
{
    const struct dg_layers *l = &dg->layers;
    int64_t cell = 9 * dg_gradient_nodes(dg) + (int64_t)dg->material_nodes * dg->physics->num_coef + 1;
    int64_t item = (int64_t)LAYER_NUMBER * dg->space.num_node;
    int64_t words = l->num_elem > 0 ? 2 * l->num_elem + 1 + l->num_item : 0;
    int64_t faces = dg_layers_num_face(dg) + dg_layers_num_face_coef(dg);
    return (l->num_elem * cell + l->num_item * item + faces) * (int64_t)sizeof(double) +
           words * (int64_t)sizeof(int32_t);
}

/* ---- what stands at their nodes ---- */

/* Up to this ratio the fade is for what hardly moves. */
static const double few = 0.02;

/* Whether s has one value in a layer, of a mesh whose cells have one value each. */
static bool uniform(const struct dg *dg, const unda_layer *layer)
{
    return !dg->metric_nodes && (dg->physics->num_wave == 1 || layer->ratio <= few);
}

/* fade: depth over that of the layer, of what damps all fields and, unless s has one value, stretches the coordinate. */
static void put_profile(const unda_layer *layer, bool one_s, double fade, int num_node, double *profile)
{
    double x = one_s ? sqrt(1.0 / 3) : fade;
    double kappa = 1 + (layer->stretch - 1) * x * x, ratio = layer->ratio;
    double e = layer->damping * fade * fade * (ratio < 1 ? ratio * fade * fade : 1) / kappa;
    double d = layer->damping * x * x * (ratio < 1 ? 1 - ratio * x * x : 0);
    double alpha = layer->shift * (1 - x) + (one_s ? 0 : e);
    profile[LAYER_LESS * num_node] = 1 / kappa - 1;
    profile[LAYER_DECAY * num_node] = d / kappa + alpha;
    profile[LAYER_GAIN * num_node] = d / (kappa * kappa);
    profile[LAYER_FADE * num_node] = e;
}

/* The depth of a point over that of the layer. */
static double part_of_depth(const unda_layer *layer, int side, double x)
{
    return fmin(fmax(beyond(layer, side, x) / layer->depth, 0), 1);
}

/* The same between planes that bound a cell whose nodes are x: the root of the mean square. */
static double mean_part(const struct dg *dg, const unda_layer *layer, int side, const double *x)
{
    double least = 1, most = 0;
    for (int n = 0; n < dg->space.num_node; n++) {
        double part = part_of_depth(layer, side, x[3 * n + side / 2]);
        least = fmin(least, part);
        most = fmax(most, part);
    }
    return sqrt((least * least + least * most + most * most) / 3);
}

static unda_status put_gradient(const struct dg *dg, int64_t elem, double *gradient)
{
    int num = dg_gradient_nodes(dg);
    SCRATCH double *metric = NULL;
    if (!dg->metric_nodes) {
        space_gradients(&dg->space, elem, gradient);
        return UNDA_OK;
    }
    TRY(array_try(&metric, (int64_t)num * HEX_METRIC, sizeof *metric, "metric"));
    TRY(space_metric(&dg->space, elem, false, num, metric));
    for (int n = 0; n < num; n++)
        for (int i = 0; i < 9; i++)
            gradient[i * num + n] = metric[n * HEX_METRIC + i] * metric[n * HEX_METRIC + 9];
    return UNDA_OK;
}

static void put_coefficients(const struct dg *dg, int64_t elem, double *coef)
{
    double at[MAX_COEF];
    const struct physics *physics = dg->physics;
    for (int n = 0; n < dg->material_nodes; n++) {
        physics->coefficients(dg_material(dg, elem, n), at);
        for (int i = 0; i < physics->num_coef; i++)
            coef[i * dg->material_nodes + n] = physics->coef_power[i].material > 0 ? at[i] : 1 / at[i];
    }
}

/* The items of element e, cell `cell` of layers, which has `sides`. */
static void put_items(struct dg *dg, int64_t e, int64_t cell, const int sides[3])
{
    struct dg_layers *l = &dg->layers;
    int num_node = dg->space.num_node;
    double x[3 * MAX_NODE], decay = 0, fade = 0;
    int32_t item = l->first[cell];
    space_coordinates(&dg->space, e, x);
    for (int axis = 0; axis < 3; axis++) {
        double most = 0, most_fade = 0;
        if (sides[axis] < 0)
            continue;
        int side = sides[axis];
        const unda_layer *layer = &l->side[side];
        double mean = mean_part(dg, layer, side, x);
        for (int n = 0; n < num_node; n++) {
            double *profile = l->profile + (int64_t)item * LAYER_NUMBER * num_node + n;
            double fade = dg->metric_nodes ? part_of_depth(layer, side, x[3 * n + axis]) : mean;
            put_profile(layer, uniform(dg, layer), fade, num_node, profile);
            most = fmax(most, profile[LAYER_DECAY * num_node]);
            most_fade = fmax(most_fade, profile[LAYER_FADE * num_node]);
        }
        l->axis[item++] = axis;
        decay = fmax(decay, most);
        fade += most_fade;
    }
    l->first[cell + 1] = item;
    l->rate[cell] = decay + fade;
}

unda_status dg_layers_fill(struct dg *dg)
{
    struct dg_layers *l = &dg->layers;
    int64_t num_node = dg->space.num_node, num_coef = (int64_t)dg->material_nodes * dg->physics->num_coef;
    if (l->num_elem == 0)
        return UNDA_OK;
    TRY(array_own(&dg->owned, &l->elem, l->num_elem, sizeof *l->elem, "layers"));
    TRY(array_own(&dg->owned, &l->first, l->num_elem + 1, sizeof *l->first, "layers"));
    TRY(array_own(&dg->owned, &l->axis, l->num_item, sizeof *l->axis, "layers"));
    TRY(array_own(&dg->owned, &l->rate, l->num_elem, sizeof *l->rate, "layers"));
    TRY(array_own(&dg->owned, &l->profile, l->num_item * LAYER_NUMBER * num_node, sizeof(double), "layers"));
    TRY(array_own(&dg->owned, &l->gradient, 9 * dg_gradient_nodes(dg) * l->num_elem, sizeof(double),
                  "layers"));
    TRY(array_own(&dg->owned, &l->coef, num_coef * l->num_elem, sizeof(double), "layers"));
    int64_t cell = 0;
    for (int64_t e = 0; e < dg->space.num_owned; e++) {
        int sides[3];
        for (int axis = 0; axis < 3; axis++)
            TRY(find_side(dg->space.mesh, l->side, dg->space.order[e], axis, &sides[axis]));
        if (sides[0] < 0 && sides[1] < 0 && sides[2] < 0)
            continue;
        l->elem[cell] = (int32_t)e;
        put_items(dg, e, cell, sides);
        put_coefficients(dg, e, l->coef + num_coef * cell);
        TRY(put_gradient(dg, e, l->gradient + 9 * dg_gradient_nodes(dg) * cell));
        cell++;
    }
    return dg_layers_faces(dg);
}

/* ---- stages ---- */

/* The first cell of layers from an element on. */
static int64_t first_from(const struct dg_layers *l, int64_t elem)
{
    int64_t low = 0, high = l->num_elem;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (l->elem[middle] < elem)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void dg_layers_range(const struct dg_layers *l, int64_t first, int64_t last, int64_t *begin, int64_t *end)
{
    *begin = first_from(l, first);
    *end = first_from(l, last);
}

struct dg_layer_args dg_layer_arguments(const unda_solver *s, const struct stage *stage)
{
    const struct dg *dg = dg_tables(s);
    return (struct dg_layer_args){.num_total = space_num_total(&dg->space),
                                  .a = stage->a,
                                  .b = stage->b,
                                  .dt = s->dt,
                                  .c0 = s->dt * stage->c0,
                                  .c1 = s->dt * stage->c1,
                                  .c2 = s->dt * stage->c2,
                                  .update = stage->update,
                                  .gradient_nodes = dg_gradient_nodes(dg) > 1,
                                  .coef_nodes = dg->material_nodes > 1,
                                  .face_nodes = dg->face_materials > 1};
}

void dg_memory_move(const unda_solver *s, int64_t elem, int64_t pitch, void *psi, void *out, const void *in)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    int64_t num = num_trace(dg), num_node = dg->space.num_node, cell = first_from(l, elem);
    if (out)
        memset(out, 0, (size_t)(3 * num_node * num * s->real_bytes));
    if (cell == l->num_elem || l->elem[cell] != elem)
        return;
    for (int64_t item = l->first[cell]; item < l->first[cell + 1]; item++)
        for (int64_t n = 0; n < num_node; n++)
            for (int64_t i = 0; i < num; i++) {
                int64_t user = (l->axis[item] * num_node + n) * num + i, here = (item * num + i) * pitch + n;
                if (out)
                    real_put(s, out, user, real_get(s, psi, here));
                else
                    real_put(s, psi, here, in ? real_get(s, in, user) : 0);
            }
}
