/* source.c: point sources. dq/dt = rates delta(x - x_s) f(t) projected on the polynomials of one element:
 * coefficients M^-1 phi(x_s) / (6 V), M the reference mass matrix (Hesthaven & Warburton 2008, section 3.2).
 * Not here: time functions (python/unda/timefunction.py). */
#include "solver.h"

#include <math.h>

void point_sources_free(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_source; i++)
        array_free(s->sources[i].weight);
    array_free(s->sources);
    s->sources = NULL;
    s->num_source = 0;
}

static void project(const unda_solver *s, int64_t elem, const double *position, const double *rates,
                    double *weight)
{
    const struct dg *dg = s->dg;
    int num_node = dg->num_node, num_field = dg->physics->num_field;
    double basis[MAX_NODE], scale = 1 / (6 * dg_volume(s->mesh, elem));
    dg_basis(dg, s->mesh, elem, position, basis, NULL);
    for (int n = 0; n < num_node; n++) {
        double sum = 0;
        for (int k = 0; k < num_node; k++)
            sum += dg->element->inv_mass[n * num_node + k] * basis[k];
        for (int f = 0; f < num_field; f++)
            weight[n * num_field + f] = scale * sum * rates[f];
    }
}

static unda_status add(unda_solver *s, int64_t elem, const double *position, const double *rates)
{
    for (int i = 0; i < 3; i++)
        if (!isfinite(position[i]))
            FAIL(UNDA_ERR_ARG, "coordinate %d of the source is %g, expected a finite number", i, position[i]);
    for (int i = 0; i < s->dg->physics->num_field; i++)
        if (!isfinite(rates[i]))
            FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", i, rates[i]);
    if (elem < 0 || elem >= s->mesh->num_elem)
        FAIL(UNDA_ERR_ARG, "element of the source is %lld, expected 0..%lld", (long long)elem,
             (long long)s->mesh->num_elem - 1);
    struct source *grown, source = {.elem = s->mesh->place[elem]};
    TRY(array_try(&grown, s->num_source + 1, sizeof *grown, "sources"));
    unda_status status =
        array_try(&source.weight, s->dg->num_node * s->dg->physics->num_field, sizeof(double), "source");
    if (status != UNDA_OK) {
        array_free(grown);
        return status;
    }
    project(s, source.elem, position, rates, source.weight);
    for (int32_t i = 0; i < s->num_source; i++)
        grown[i] = s->sources[i];
    grown[s->num_source] = source;
    array_free(s->sources);
    s->sources = grown;
    s->num_source++;
    s->point_version++;
    return UNDA_OK;
}

unda_status unda_solver_add_source(unda_solver *s, int64_t elem, const double *position, const double *rates,
                                   int32_t *index)
{
    if (!position || !rates || !index)
        FAIL(UNDA_ERR_ARG, "position, rates or index is NULL");
    TRY(solver_enter(s));
    unda_status status = add(s, elem, position, rates);
    if (status == UNDA_OK)
        *index = s->num_source - 1;
    return solver_leave(s, status);
}

unda_status unda_solver_clear_sources(unda_solver *s)
{
    TRY(solver_enter(s));
    point_sources_free(s);
    incident_free(s);
    s->point_version++;
    return solver_leave(s, UNDA_OK);
}
