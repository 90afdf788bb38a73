/* points.c: point sources and receivers in elements.
 * A source, dq/dt = rates delta(x - x_s) f(t), is projected on the polynomials of one element: coefficients
 * M^-1 phi(x_s) / (6 V), M the reference mass matrix (Hesthaven & Warburton 2008, section 3.2). A receiver
 * takes the interpolant of its element, or a derivative of it. Where several elements share the point both
 * are means over them (mesh/share.c), and transposes of each other. Not here: time functions
 * (python/unda/problem/timefunction.py), buffers of samples (solver/receiver.c). */
#include "method.h"

#include "../base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* So many one thread takes, while the others still spin. */
enum { FEW_POINTS = 100 };

/* Row i: values of the basis functions at a place and, where num_weight is 4, their derivatives along x, y, z. */
static unda_status fill_row(const unda_solver *s, struct dg_rows *rows, int64_t i, const double *place)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t elem = rows->elem[i];
    double *weight = rows->weight + i * rows->num_weight * space->num_node;
    TRY(mesh_check_point(space->mesh, space->order[elem], place));
    space_basis(space, elem, place, weight, rows->num_weight > 1 ? weight + space->num_node : NULL);
    return UNDA_OK;
}

/* Room for the rows of places in elements, and numbers of these. */
static unda_status rows_new(const unda_solver *s, struct dg_rows *rows, int64_t num, const int64_t *elem,
                            int num_weight)
{
    const struct space *space = &dg_tables(s)->space;
    rows->num = num;
    rows->num_weight = num_weight;
    TRY(array_own(&rows->owned, &rows->elem, num, sizeof *rows->elem, "elements of points"));
    TRY(array_own(&rows->owned, &rows->weight, num * num_weight * space->num_node, sizeof *rows->weight,
                  "weights of points"));
    for (int64_t i = 0; i < num; i++)
        rows->elem[i] = space->place[elem[i]];
    return UNDA_OK;
}

/* Threads keep errors for themselves: the first row that has one is made again. */
static unda_status fill_rows(const unda_solver *s, struct dg_rows *rows, const double *places)
{
    int64_t bad = rows->num;
    int32_t threads = parallel_few(s->options.threads);
#pragma omp parallel for schedule(static) num_threads(threads)                                               \
    reduction(min : bad) if (rows->num > FEW_POINTS)
    for (int64_t i = 0; i < rows->num; i++)
        if (fill_row(s, rows, i, places + 3 * i) != UNDA_OK && i < bad)
            bad = i;
    return bad == rows->num ? UNDA_OK : fill_row(s, rows, bad, places + 3 * bad);
}

void dg_rows_free(void *owner)
{
    struct dg_rows *rows = owner;
    if (rows)
        arrays_free(&rows->owned);
    array_free(rows);
}

/* ---- sources ---- */

/* A row phi(x) becomes M^-1 phi(x), M the mass matrix of the element. */
static void project(const struct dg *dg, int64_t elem, double *row)
{
    int num_node = dg->space.num_node;
    for (int n = 0; dg->metric_nodes && n < num_node; n++)
        row[n] /= dg_node_volume(dg, elem, n);
    if (dg->metric_nodes)
        return;
    double basis[MAX_NODE], scale = 1 / (dg->space.mesh->table->jacobian * space_volume(&dg->space, elem));
    memcpy(basis, row, sizeof *row * (size_t)num_node);
    for (int n = 0; n < num_node; n++) {
        double sum = 0;
        for (int k = 0; k < num_node; k++)
            sum += dg->space.element->inv_mass[n * num_node + k] * basis[k];
        row[n] = scale * sum;
    }
}

unda_status dg_check_source(int64_t num_elem, int num_field, const unda_source *given)
{
    if (!given->elem)
        FAIL(UNDA_ERR_ARG, "elem of unda_source is NULL");
    for (int64_t i = 0; i < given->num_cell; i++) {
        for (int f = 0; f < num_field; f++)
            if (!isfinite(given->rates[i * num_field + f]))
                FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", f,
                     given->rates[i * num_field + f]);
        if (given->elem[i] < 0 || given->elem[i] >= num_elem)
            FAIL(UNDA_ERR_ARG, "element of the source is %lld, expected 0..%lld", (long long)given->elem[i],
                 (long long)num_elem - 1);
    }
    return UNDA_OK;
}

static unda_status new_source(const unda_solver *s, void **out, const unda_source *given, int64_t first,
                              int64_t num_cell)
{
    int64_t num_field = dg_tables(s)->physics->num_field;
    struct dg_source *source;
    TRY(array_try(&source, 1, sizeof *source, "source"));
    *out = source;
    TRY(rows_new(s, &source->rows, num_cell, given->elem + first, 1));
    TRY(array_own(&source->rows.owned, &source->rates, num_cell * num_field, sizeof(double), "source"));
    memcpy(source->rates, given->rates + first * num_field, sizeof(double) * (size_t)(num_cell * num_field));
    return UNDA_OK;
}

static unda_status fill_source(const unda_solver *s, struct dg_source *source, const double *places)
{
    const struct dg *dg = dg_tables(s);
    for (int64_t i = 0; i < source->rows.num; i++) {
        TRY(fill_row(s, &source->rows, i, places + 3 * i));
        project(dg, source->rows.elem[i], source->rows.weight + i * dg->space.num_node);
    }
    return UNDA_OK;
}

/* Threads keep errors for themselves: the first source that has one is taken again. */
unda_status dg_sources_new(unda_solver *s, void **out, const unda_source *given)
{
    int64_t num = given->first ? given->num_source : 1, bad = num;
    int32_t threads = parallel_few(s->options.threads);
    TRY(dg_check_source(dg_tables(s)->space.num_owned, dg_tables(s)->physics->num_field, given));
    if (!given->first)
        TRY(new_source(s, out, given, 0, given->num_cell));
    for (int64_t i = 0; given->first && i < num; i++)
        TRY(new_source(s, &out[i], given, given->first[i], given->first[i + 1] - given->first[i]));
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad) if (num > FEW_POINTS)
    for (int64_t i = 0; i < num; i++)
        if (fill_source(s, out[i], given->places + 3 * (given->first ? given->first[i] : 0)) != UNDA_OK &&
            i < bad)
            bad = i;
    return bad == num ? UNDA_OK
                      : fill_source(s, out[bad], given->places + 3 * (given->first ? given->first[bad] : 0));
}

/* ---- parts by element ---- */

struct part {
    int64_t elem;
    int32_t source;
    const double *row, *rates; /* [node], [field] */
};

static int by_element(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->elem != y->elem ? (x->elem > y->elem) - (x->elem < y->elem)
                              : (x->source > y->source) - (x->source < y->source);
}

static unda_status sort_parts(const unda_solver *s, struct part *part, struct dg_parts *out, void **owner)
{
    int64_t num_node = dg_tables(s)->space.num_node, num_field = dg_tables(s)->physics->num_field, num = 0;
    for (int32_t i = 0; i < s->num_source; i++) {
        const struct dg_source *source = s->sources[i];
        for (int64_t k = 0; k < source->rows.num; k++)
            part[num++] = (struct part){.elem = source->rows.elem[k],
                                        .source = i,
                                        .row = source->rows.weight + k * num_node,
                                        .rates = source->rates + k * num_field};
    }
    qsort(part, (size_t)num, sizeof *part, by_element);
    TRY(array_own(owner, &out->elem, num, sizeof *out->elem, "sources"));
    TRY(array_own(owner, &out->source, num, sizeof *out->source, "sources"));
    TRY(array_own(owner, &out->weight, num * num_node * num_field, s->real_bytes, "sources"));
    for (int64_t i = 0; i < num; i++) {
        out->elem[i] = (int32_t)part[i].elem;
        out->source[i] = part[i].source;
        for (int64_t k = 0; k < num_node * num_field; k++)
            real_put(s, out->weight, i * num_node * num_field + k,
                     part[i].row[k / num_field] * part[i].rates[k % num_field]);
    }
    return UNDA_OK;
}

unda_status dg_parts_new(const unda_solver *s, int64_t size, int64_t num_block, struct dg_parts *parts,
                         void **owner)
{
    SCRATCH struct part *part = NULL;
    *parts = (struct dg_parts){0};
    for (int32_t i = 0; i < s->num_source; i++)
        parts->num += dg_source(s, i)->rows.num;
    if (parts->num > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "sources stand in %lld elements, counted each time, expected 2147483647 at most",
             (long long)parts->num);
    TRY(array_try(&part, parts->num, sizeof *part, "sources"));
    TRY(sort_parts(s, part, parts, owner));
    TRY(array_own(owner, &parts->range, num_block + 1, sizeof *parts->range, "source ranges"));
    for (int64_t block = 0, i = 0; block <= num_block; block++) {
        while (i < parts->num && parts->elem[i] < block * size)
            i++;
        parts->range[block] = (int32_t)i;
    }
    if (!dg_tables(s)->has_waves)
        return UNDA_OK;
    TRY(array_own(owner, &parts->incident_range, num_block + 1, sizeof(int32_t), "incident waves"));
    incident_ranges(s, size, num_block, parts->incident_range);
    return UNDA_OK;
}

/* ---- receivers ---- */

unda_status dg_points_check(const unda_solver *s, const unda_receivers *r)
{
    return dg_check_receivers(dg_tables(s)->space.num_owned, dg_tables(s)->physics->num_field, r);
}

unda_status dg_check_receivers(int64_t num_elem, int num_field, const unda_receivers *r)
{
    if (r->num_point > 0 && !r->elem)
        FAIL(UNDA_ERR_ARG, "elem of unda_receivers is NULL");
    for (int64_t i = 0; i < receivers_num_cell(r); i++)
        if (r->elem[i] < 0 || r->elem[i] >= num_elem)
            FAIL(UNDA_ERR_ARG, "receiver %lld: element %lld, expected 0..%lld", (long long)i,
                 (long long)r->elem[i], (long long)num_elem - 1);
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= 8 * num_field)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d", r->fields[i], 8 * num_field - 1);
    return UNDA_OK;
}

unda_status dg_points_new(unda_solver *s, void **points, const unda_receivers *r)
{
    int num_node = dg_tables(s)->space.num_node, num_field = dg_tables(s)->physics->num_field, num_weight = 1;
    struct dg_points *p;
    TRY(array_try(&p, 1, sizeof *p, "receivers"));
    *points = p;
    p->num_point = r->num_point;
    p->num_field = r->num_field;
    TRY(array_own(&p->rows.owned, &p->first, r->num_point + 1, sizeof *p->first, "receivers"));
    for (int64_t i = 0; i <= r->num_point; i++)
        p->first[i] = r->first ? r->first[i] : i;
    TRY(array_own(&p->rows.owned, &p->field, r->num_field, sizeof *p->field, "receiver fields"));
    TRY(array_own(&p->rows.owned, &p->derivative, r->num_field, sizeof *p->derivative, "receiver fields"));
    TRY(array_own(&p->rows.owned, &p->integral, r->num_field, sizeof *p->integral, "receiver fields"));
    TRY(array_own(&p->rows.owned, &p->integrand, r->num_field, sizeof *p->integrand, "receiver fields"));
    for (int32_t f = 0; f < r->num_field; f++) {
        p->field[f] = r->fields[f] % num_field;
        p->derivative[f] = r->fields[f] / num_field % 4;
        num_weight = p->derivative[f] > 0 ? 4 : num_weight;
        p->integral[f] = r->fields[f] < 4 * num_field ? -1 : p->num_integral;
        if (p->integral[f] >= 0)
            p->integrand[p->num_integral++] = f;
    }
    for (int i = 0; i < NUM_BUF; i++)
        TRY(array_own(&p->rows.owned, &p->integrals[i], receivers_num_cell(r) * p->num_integral,
                      sizeof(double), "integrals"));
    TRY(rows_new(s, &p->rows, receivers_num_cell(r), r->elem, num_weight));
    TRY(fill_rows(s, &p->rows, r->points));
    for (int64_t i = 0; r->first && i < p->rows.num * num_weight * num_node; i++)
        p->rows.weight[i] *= r->weights[i / (num_weight * num_node)];
    return UNDA_OK;
}
