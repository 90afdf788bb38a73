/* norm.c: numbers of a state: values at points, the energy integral. Summed in a fixed order.
 * Not here: errors against exact solutions (python/unda/norms.py evaluates the user's functions). */
#include "solver.h"

/* q [node][field] of one internal element as doubles. */
static unda_status read_element(unda_solver *s, int64_t elem, double *q)
{
    float narrow[MAX_NODE * MAX_FIELD];
    int num_value = s->dg->num_node * s->dg->physics->num_field;
    void *to = s->real_bytes == 4 ? (void *)narrow : (void *)q;
    TRY(s->engine->read(s, BUF_Q, 1, &elem, to));
    for (int i = 0; s->real_bytes == 4 && i < num_value; i++)
        q[i] = narrow[i];
    return UNDA_OK;
}

static unda_status sample(unda_solver *s, int64_t num_point, const double *points, const int64_t *elem,
                          double *values)
{
    double q[MAX_NODE * MAX_FIELD], basis[MAX_NODE];
    int num_field = s->dg->physics->num_field;
    for (int64_t i = 0; i < num_point; i++) {
        if (elem[i] < 0 || elem[i] >= s->mesh->num_elem)
            FAIL(UNDA_ERR_ARG, "point %lld: element %lld, expected 0..%lld", (long long)i, (long long)elem[i],
                 (long long)s->mesh->num_elem - 1);
        int64_t place = s->mesh->place[elem[i]];
        TRY(read_element(s, place, q));
        dg_basis(s->dg, s->mesh, place, points + 3 * i, basis);
        for (int f = 0; f < num_field; f++) {
            double sum = 0;
            for (int n = 0; n < s->dg->num_node; n++)
                sum += basis[n] * q[n * num_field + f];
            values[i * num_field + f] = sum;
        }
    }
    return UNDA_OK;
}

unda_status unda_solver_sample(unda_solver *s, int64_t num_point, const double *points, const int64_t *elem,
                               double *values)
{
    if (num_point < 0 || (num_point > 0 && (!points || !elem || !values)))
        FAIL(UNDA_ERR_ARG, "points, elem or values is NULL, or num_point is %lld, expected >= 0",
             (long long)num_point);
    TRY(solver_enter(s));
    return solver_leave(s, sample(s, num_point, points, elem, values));
}

/* The energy is a quadratic form e(q, q): sum over nodes M_ij e(q_i, q_j) by polarisation,
 * e(a, b) = (e(a + b) - e(a - b)) / 4, with both of one size so that no digits are lost. */
static double element_energy(const struct dg *dg, int64_t elem, const double *q)
{
    int num_node = dg->num_node, num_field = dg->physics->num_field;
    const double *material = dg->material + dg->physics->num_material * elem;
    double total = 0, balance = 6.0 * num_node;
    for (int i = 0; i < num_node; i++) {
        double row[MAX_FIELD] = {0}; /* balance (M q)_i */
        for (int j = 0; j < num_node; j++)
            for (int f = 0; f < num_field; f++)
                row[f] += balance * dg->element->mass[i * num_node + j] * q[j * num_field + f];
        double plus[MAX_FIELD], minus[MAX_FIELD];
        for (int f = 0; f < num_field; f++) {
            plus[f] = q[i * num_field + f] + row[f];
            minus[f] = q[i * num_field + f] - row[f];
        }
        total += (dg->physics->energy(plus, material) - dg->physics->energy(minus, material)) / (4 * balance);
    }
    return total;
}

static unda_status energy(unda_solver *s, double *out)
{
    double q[MAX_NODE * MAX_FIELD], sum = 0;
    for (int64_t e = 0; e < s->dg->num_elem; e++) {
        TRY(read_element(s, e, q));
        sum += 6 * dg_volume(s->mesh, e) * element_energy(s->dg, e, q);
    }
    *out = sum;
    return UNDA_OK;
}

unda_status unda_solver_energy(unda_solver *s, double *out)
{
    if (!out)
        FAIL(UNDA_ERR_ARG, "energy is NULL");
    TRY(solver_enter(s));
    return solver_leave(s, energy(s, out));
}
