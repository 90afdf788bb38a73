/* points.c: point sources and receivers in elements.
 * A source, dq/dt = rates delta(x - x_s) f(t), is projected on the polynomials of one element: coefficients
 * M^-1 phi(x_s) / (6 V), M the reference mass matrix (Hesthaven & Warburton 2008, section 3.2). A receiver
 * takes the interpolant of its element, or a derivative of it.
 * Not here: time functions (python/unda/timefunction.py), buffers of samples (solver/receiver.c). */
#include "dg_method.h"

#include <math.h>

/* ---- sources ---- */

void dg_source_free(void *source)
{
    if (!source)
        return;
    array_free(((struct dg_source *)source)->weight);
    array_free(source);
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

unda_status dg_source_new(unda_solver *s, void **out, int64_t elem, const double *position,
                          const double *rates)
{
    int num_field = s->dg->physics->num_field;
    for (int i = 0; i < num_field; i++)
        if (!isfinite(rates[i]))
            FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", i, rates[i]);
    if (elem < 0 || elem >= s->mesh->num_elem)
        FAIL(UNDA_ERR_ARG, "element of the source is %lld, expected 0..%lld", (long long)elem,
             (long long)s->mesh->num_elem - 1);
    struct dg_source *source;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    unda_status status = array_try(&source->weight, s->dg->num_node * num_field, sizeof(double), "source");
    if (status != UNDA_OK) {
        dg_source_free(source);
        return status;
    }
    source->elem = s->mesh->place[elem];
    project(s, source->elem, position, rates, source->weight);
    *out = source;
    return UNDA_OK;
}

/* ---- receivers ---- */

unda_status dg_points_check(const unda_solver *s, const unda_receivers *r)
{
    if (r->num_point > 0 && !r->elem)
        FAIL(UNDA_ERR_ARG, "elem of unda_receivers is NULL");
    for (int64_t i = 0; i < r->num_point; i++)
        if (r->elem[i] < 0 || r->elem[i] >= s->mesh->num_elem)
            FAIL(UNDA_ERR_ARG, "receiver %lld: element %lld, expected 0..%lld", (long long)i,
                 (long long)r->elem[i], (long long)s->mesh->num_elem - 1);
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= 4 * s->dg->physics->num_field)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d", r->fields[i],
                 4 * s->dg->physics->num_field - 1);
    return UNDA_OK;
}

void dg_points_free(void *points)
{
    struct dg_points *p = points;
    if (!p)
        return;
    array_free(p->elem);
    array_free(p->field);
    array_free(p->derivative);
    array_free(p->weight);
    array_free(p);
}

static unda_status fill(unda_solver *s, struct dg_points *p, const unda_receivers *r)
{
    int num_node = s->dg->num_node, num_field = s->dg->physics->num_field;
    p->num_weight = 1;
    TRY(array_try(&p->elem, r->num_point, sizeof(int64_t), "receiver elements"));
    TRY(array_try(&p->field, r->num_field, sizeof(int32_t), "receiver fields"));
    TRY(array_try(&p->derivative, r->num_field, sizeof(int32_t), "receiver fields"));
    for (int32_t f = 0; f < r->num_field; f++) {
        p->field[f] = r->fields[f] % num_field;
        p->derivative[f] = r->fields[f] / num_field;
        if (p->derivative[f] > 0)
            p->num_weight = 4;
    }
    int64_t num_weight = (int64_t)p->num_weight * num_node;
    TRY(array_try(&p->weight, r->num_point * num_weight, sizeof(double), "receiver weights"));
    for (int64_t i = 0; i < r->num_point; i++) {
        double *weight = p->weight + i * num_weight;
        p->elem[i] = s->mesh->place[r->elem[i]];
        dg_basis(s->dg, s->mesh, p->elem[i], r->points + 3 * i, weight,
                 p->num_weight > 1 ? weight + num_node : NULL);
    }
    return UNDA_OK;
}

unda_status dg_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    struct dg_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    unda_status status = fill(s, p, r);
    if (status != UNDA_OK) {
        dg_points_free(p);
        return status;
    }
    *points = p;
    return UNDA_OK;
}
