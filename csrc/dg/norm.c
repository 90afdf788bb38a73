/* norm.c: quantities computed from a state: values at points, the energy integral. Summed in a fixed order.
 * Not here: errors against exact solutions (python/unda/method/norms.py evaluates the user's functions). */
#include "dg_method.h"

enum { BATCH = 1024 }; /* elements read at a time: each read from a device costs a launch and a copy */

/* Room for the states of a batch, as the engine holds them and in float64. */
struct batch {
    void *raw;
    double *q; /* [element of the batch][node][field] */
    int64_t elem[BATCH];
};

static void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    array_free(batch->raw);
    array_free(batch->q);
    array_free(batch);
}

static int64_t num_value(const unda_solver *s)
{
    return (int64_t)dg_tables(s)->space.num_node * dg_tables(s)->physics->num_field;
}

static unda_status batch_new(struct batch **batch, const unda_solver *s)
{
    TRY(array_try(batch, 1, sizeof **batch, "states"));
    unda_status status = array_try(&(*batch)->raw, BATCH * num_value(s), s->real_bytes, "states");
    if (status == UNDA_OK)
        status = array_try(&(*batch)->q, BATCH * num_value(s), sizeof(double), "states");
    if (status != UNDA_OK)
        batch_free(*batch);
    return status;
}

/* Fills q with the states of the internal elements elem[0..count). */
static unda_status batch_read(unda_solver *s, struct batch *batch, int64_t count)
{
    bool narrow = s->real_bytes == 4;
    TRY(dg_engine(s)->read(s, BUF_Q, count, batch->elem, narrow ? batch->raw : (void *)batch->q));
    for (int64_t i = 0; narrow && i < count * num_value(s); i++)
        batch->q[i] = ((const float *)batch->raw)[i];
    return UNDA_OK;
}

/* ---- values at points ---- */

/* Adds what element `elem` has at place number i to its point's values. */
static void add_place(const unda_solver *s, const unda_receivers *r, int64_t i, int64_t elem, const double *q,
                      double *values)
{
    double weight[4 * MAX_NODE], *slope = NULL;
    int num_field = dg_tables(s)->physics->num_field, num_node = dg_tables(s)->space.num_node;
    for (int32_t f = 0; f < r->num_field; f++)
        slope = r->fields[f] >= num_field ? weight + num_node : slope;
    space_basis(&dg_tables(s)->space, elem, r->points + 3 * i, weight, slope);
    for (int32_t f = 0; f < r->num_field; f++) {
        const double *w = weight + r->fields[f] / num_field * num_node;
        double sum = 0;
        for (int n = 0; n < num_node; n++)
            sum += w[n] * q[n * num_field + r->fields[f] % num_field];
        values[f] += r->first ? r->weights[i] * sum : sum;
    }
}

static unda_status sample(unda_solver *s, struct batch *batch, const unda_receivers *r, double *values)
{
    int64_t num = receivers_num_cell(r), point = 0;
    for (int64_t i = 0; i < r->num_point * r->num_field; i++)
        values[i] = 0;
    for (int64_t begin = 0; begin < num; begin += BATCH) {
        int64_t count = num - begin < BATCH ? num - begin : BATCH;
        for (int64_t i = 0; i < count; i++)
            batch->elem[i] = dg_tables(s)->space.place[r->elem[begin + i]];
        TRY(batch_read(s, batch, count));
        for (int64_t i = begin; i < begin + count; i++) {
            while ((r->first ? r->first[point + 1] : point + 1) <= i)
                point++;
            add_place(s, r, i, batch->elem[i - begin], batch->q + (i - begin) * num_value(s),
                      values + point * r->num_field);
        }
    }
    return UNDA_OK;
}

unda_status dg_sample(unda_solver *s, const unda_receivers *receivers, double *values)
{
    struct batch *batch;
    TRY(batch_new(&batch, s));
    unda_status status = sample(s, batch, receivers, values);
    batch_free(batch);
    return status;
}

/* ---- energy ---- */

/* The energy is a quadratic form e(q, q): sum over nodes M_ij e(q_i, q_j) by polarisation,
 * e(a, b) = (e(a + b) - e(a - b)) / 4, with both of one size so that no digits are lost. */
static double element_energy(const struct dg *dg, int64_t elem, const double *q)
{
    int num_node = dg->space.num_node, num_field = dg->physics->num_field;
    double total = 0, balance = 6.0 * num_node;
    for (int i = 0; i < num_node; i++) {
        double row[MAX_FIELD] = {0}; /* balance (M q)_i */
        for (int j = 0; j < num_node; j++)
            for (int f = 0; f < num_field; f++)
                row[f] += balance * dg->space.element->mass[i * num_node + j] * q[j * num_field + f];
        double plus[MAX_FIELD], minus[MAX_FIELD];
        for (int f = 0; f < num_field; f++) {
            plus[f] = q[i * num_field + f] + row[f];
            minus[f] = q[i * num_field + f] - row[f];
        }
        const double *material = dg_material(dg, elem, i);
        total += (dg->physics->energy(plus, material) - dg->physics->energy(minus, material)) / (4 * balance);
    }
    return total;
}

static unda_status energy(unda_solver *s, struct batch *batch, double *out)
{
    double sum = 0;
    for (int64_t first = 0; first < dg_tables(s)->space.num_owned; first += BATCH) {
        int64_t left = dg_tables(s)->space.num_owned - first, count = left < BATCH ? left : BATCH;
        for (int64_t i = 0; i < count; i++)
            batch->elem[i] = first + i;
        TRY(batch_read(s, batch, count));
        for (int64_t i = 0; i < count; i++)
            sum += 6 * space_volume(&dg_tables(s)->space, first + i) *
                   element_energy(dg_tables(s), first + i, batch->q + i * num_value(s));
    }
    *out = sum;
    return UNDA_OK;
}

unda_status dg_energy(unda_solver *s, double *out)
{
    struct batch *batch;
    TRY(batch_new(&batch, s));
    unda_status status = energy(s, batch, out);
    batch_free(batch);
    return status;
}
