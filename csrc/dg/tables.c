/* tables.c: the tables of nodal DG that both engines use, in float64: materials, faces' coefficients, counts. Not
 * here: elements and neighbours (space/), metrics of hexahedra (metric.c), the stable step (dt.c), stages
 * (cpu_stage.inc.h, cuda.c). */
#include "dg.h"

#include "common/index.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unda_status check_material(const struct dg *dg, int64_t elem, int node, const double *material)
{
    const char *why = dg->physics->refuse(material);
    char found[128], at[32] = "";
    if (!why)
        return UNDA_OK;
    for (int i = 0, n = 0; i < dg->physics->num_material; i++)
        n += snprintf(found + n, sizeof found - (size_t)n, i ? ", %g" : "%g", material[i]);
    if (dg->material_nodes > 1)
        snprintf(at, sizeof at, ", node %d", node);
    FAIL(UNDA_ERR_ARG, "material of element %lld%s: %s, found %s", (long long)elem, at, why, found);
}

/* Refuses an element some of whose nodes lack a kind of wave that others have: what slips at a fluid ends at a
 * face. */
static unda_status check_kinds(const struct dg *dg, int64_t elem)
{
    for (int n = 1; n < dg->material_nodes; n++) {
        double speed[MAX_WAVE], first[MAX_WAVE] = {0}, here[MAX_WAVE] = {0};
        dg->physics->waves(dg_material(dg, elem, 0), speed, first);
        dg->physics->waves(dg_material(dg, elem, n), speed, here);
        for (int kind = 0; kind < dg->physics->num_wave; kind++)
            if ((first[kind] > 0) != (here[kind] > 0))
                FAIL(UNDA_ERR_ARG,
                     "material of element %lld: one of nodes 0 and %d is a fluid, expected all nodes of an "
                     "element or none",
                     (long long)space_user(&dg->space, elem), n);
    }
    return UNDA_OK;
}

void dg_join_metric(const struct powers *power, int num, double metric, double *coef)
{
    for (int i = 0; i < num; i++) {
        double factor = 1;
        for (int k = 0; k < abs(power[i].metric); k++)
            factor *= metric;
        if (power[i].material > 0)
            coef[i] = power[i].metric < 0 ? coef[i] / factor : coef[i] * factor;
        else
            coef[i] = power[i].metric < 0 ? 1 / (coef[i] * factor) : factor / coef[i];
    }
}

/* A tetrahedron's metric stands in its record, and its det in the coefficients; a hexahedron's stands apart. Returns
 * the factor of the coefficients. */
static double copy_metric(struct dg *dg, int64_t elem)
{
    double edge[3][3], gradient[METRIC_WORDS];
    if (dg->metric_nodes)
        return 1;
    space_edges(&dg->space, elem, edge);
    double det = space_gradients(&dg->space, elem, gradient);
    memcpy(dg->record + dg->num_word * elem, dg->physics->grad_div ? gradient : edge[0], sizeof gradient);
    return det;
}

static void copy_element(struct dg *dg, int64_t elem, const double *material)
{
    size_t num = (size_t)dg->material_nodes * dg->physics->num_material;
    memcpy(dg->material + num * elem, material + num * dg->space.order[elem], sizeof *material * num);
}

/* Materials, those of ghosts too, and each element's record. */
static unda_status copy_material(struct dg *dg, const double *material)
{
    const struct physics *physics = dg->physics;
    int num_material = physics->num_material;
    size_t num_value = (size_t)dg->material_nodes * num_material; /* of an element */
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected [%lld][%d]", (long long)space_num_total(&dg->space),
             num_material);
    for (int64_t e = 0; e < dg->space.num_owned; e++) {
        for (int n = 0; n < dg->material_nodes; n++)
            TRY(check_material(dg, space_user(&dg->space, e), n,
                               material + num_value * dg->space.order[e] + n * num_material));
        copy_element(dg, e, material);
        TRY(check_kinds(dg, e));
        double det = copy_metric(dg, e);
        for (int n = 0; n < dg->material_nodes; n++) {
            double *coef = dg->record + dg->num_word * e + dg->first_coef + n * physics->num_coef;
            physics->coefficients(dg_material(dg, e, n), coef);
            dg_join_metric(physics->coef_power, physics->num_coef, det, coef);
        }
    }
    for (int64_t e = dg->space.num_owned; e < space_num_total(&dg->space); e++)
        copy_element(dg, e, material);
    return UNDA_OK;
}

/* What faces need of the materials on both sides; on hexahedra of these alone. */
static void fill_faces(struct dg *dg)
{
    const struct physics *physics = dg->physics;
    for (int64_t i = 0; i < dg->space.num_face * dg->space.num_owned; i++) {
        double scale[MAX_FACE], length = 1;
        if (!dg->metric_nodes) {
            double det = space_face_scales(&dg->space, i / dg->space.num_face, scale);
            length = scale[i % dg->space.num_face] * (physics->grad_div ? 1 : det);
        }
        for (int m = 0; m < dg->face_materials; m++) {
            const double *side[2];
            double *coef = dg->face_coef + physics->num_face_coef * (dg->face_materials * i + m);
            dg_sides(dg, i, m, side);
            physics->face_coefficients(side[0], side[1], coef);
            dg_join_metric(physics->face_coef_power, physics->num_face_coef, length, coef);
        }
    }
}

/* Refuses units in which coefficients are outside the range of a real: they would become 0 or infinity. */
static unda_status check_range(const struct dg *dg, int precision)
{
    const struct physics *physics = dg->physics;
    bool map = dg->metric_kind == UNDA_METRIC_TRILINEAR;
    int num_coef = dg->material_nodes * physics->num_coef, num_metric = dg->metric_words;
    int first = map ? MAP_PER_UNIT : HEX_METRIC - 1;
    int64_t num_face_coef = dg_num_face_coef(dg);
    double low = precision == UNDA_FLOAT32 ? FLT_MIN : DBL_MIN;
    double high = precision == UNDA_FLOAT32 ? FLT_MAX : DBL_MAX;
    for (int64_t e = 0; e < dg->space.num_owned; e++) {
        const double *coef = dg->record + dg->num_word * e + dg->first_coef;
        const double *metric = dg->metric + (int64_t)dg->metric_words * e;
        const double *face = dg->face_coef + num_face_coef * e;
        double least = dg->elem_dt[e], most = least;
        for (int i = first; i < num_metric; i += map ? NUM_MAP : HEX_METRIC) { /* the others are near 1 */
            least = fmin(least, metric[i]);
            most = fmax(most, metric[i]);
        }
        for (int i = 0; i < num_coef + num_face_coef; i++) {
            double x = fabs(i < num_coef ? coef[i] : face[i - num_coef]);
            least = x > 0 ? fmin(least, x) : least; /* exact zeros stay zeros */
            most = fmax(most, x);
        }
        if (!(least >= low && most <= high))
            FAIL(UNDA_ERR_ARG,
                 "element %lld: its coefficients reach from %.3g to %.3g, beyond %s; use other units%s",
                 (long long)space_user(&dg->space, e), least, most,
                 precision == UNDA_FLOAT32 ? "float32" : "float64",
                 precision == UNDA_FLOAT32 ? " or float64" : "");
    }
    return UNDA_OK;
}

double dg_local_rate(const struct dg *dg, int64_t elem)
{
    double rate = 0;
    for (int n = 0; n < dg->material_nodes; n++)
        rate = fmax(rate, dg->physics->local_rate(dg_material(dg, elem, n)));
    return rate;
}

static bool any_local(const struct dg *dg)
{
    for (int64_t e = 0; e < dg->space.num_owned; e++)
        if (dg_local_rate(dg, e) > 0)
            return true;
    return false;
}

static bool any_fluid(const struct dg *dg)
{
    double speed[MAX_WAVE], impedance[MAX_WAVE];
    for (int64_t e = 0; dg->physics->num_wave > 1 && e < dg->space.num_owned; e++) {
        dg->physics->waves(dg_material(dg, e, 0), speed, impedance);
        if (!(impedance[1] > 0))
            return true;
    }
    return false;
}

unda_status dg_fill(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *o)
{
    const struct physics *physics = dg->physics;
    int64_t num_elem = dg->space.num_owned;
    TRY(space_fill(&dg->space, mesh, o->boundary, physics->conditions, physics->name));
    TRY(element_new(&dg->space.element, mesh->shape, o->degree));
    TRY(array_own(&dg->owned, &dg->material,
                  space_num_total(&dg->space) * dg->material_nodes * physics->num_material, sizeof(double),
                  "materials"));
    TRY(array_own(&dg->owned, &dg->record, num_elem * dg->num_word, sizeof(double), "geometry"));
    TRY(array_own(&dg->owned, &dg->metric, num_elem * dg->metric_words, sizeof(double), "geometry"));
    TRY(array_own(&dg->owned, &dg->face_coef, num_elem * dg_num_face_coef(dg), sizeof(double),
                  "face coefficients"));
    TRY(array_own(&dg->owned, &dg->elem_dt, num_elem, sizeof(double), "time steps"));
    if (dg->metric_nodes)
        TRY(dg_fill_metrics(dg, o->threads));
    TRY(copy_material(dg, o->material));
    fill_faces(dg);
    dg->has_local = any_local(dg);
    dg->has_fluid = any_fluid(dg);
    TRY(dg_layers_fill(dg));
    dg_stable_steps(dg, o->integrator);
    return check_range(dg, o->precision);
}

unda_status dg_sizes(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *o)
{
    if (o->physics < 0 || o->physics >= NUM_PHYSICS)
        FAIL(UNDA_ERR_ARG, "physics is %d, expected 0 (%s) to %d (%s): the library solves no others",
             o->physics, physics_table[0]->name, NUM_PHYSICS - 1, physics_table[NUM_PHYSICS - 1]->name);
    int shape = mesh ? mesh->shape : o->shape;
    TRY(space_sizes(&dg->space, mesh, shape, o->degree));
    dg->physics = physics_table[o->physics];
    dg->flux = o->flux;
    bool hex = shape == UNDA_HEX;
    dg->both_jumps = o->flux == UNDA_CENTRAL || o->material_by_node || hex;
    dg->material_nodes = o->material_by_node ? dg->space.num_node : 1;
    dg->face_materials = o->material_by_node ? dg->space.num_face_node : 1;
    dg->integration =
        (struct integration){.kind = integrators[o->integrator], .num_elem = dg->space.num_owned};
    dg->num_whole = dg->space.num_owned;
    int num_coef = dg->material_nodes * dg->physics->num_coef;
    dg->first_coef = hex ? 0 : METRIC_WORDS;
    dg->num_word = hex ? (num_coef + 3) / 4 * 4 : ELEM_WORDS(num_coef);
    if (hex)
        TRY(dg_choose_metric(dg, mesh, o));
    return dg_layers_count(dg, mesh, o->layer);
}

int64_t dg_host_bytes(const struct dg *dg)
{
    const struct physics *p = dg->physics;
    int64_t materials = dg->material_nodes * p->num_material;
    int64_t reals = dg->num_word + dg->metric_words + dg_num_face_coef(dg) + 1;
    return (materials * space_num_total(&dg->space) + reals * dg->space.num_owned) * (int64_t)sizeof(double) +
           dg->space.num_face * dg->space.num_owned * (int64_t)sizeof(int32_t) + dg_layers_bytes(dg);
}

void dg_free(struct dg *dg)
{
    if (!dg)
        return;
    space_free(&dg->space);
    array_free(dg->incident);
    arrays_free(&dg->owned);
    array_free(dg);
}
