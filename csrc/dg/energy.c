/* energy.c: quantities computed from a state: values at points, the energy integral. Summed in a fixed order.
 * Not here: errors against exact solutions (python/unda/method/norms.py evaluates the user's functions). */
#include "method.h"

enum { BATCH = 1024 }; /* elements read at a time: each read from a device costs a launch and a copy */

/* Room for a batch of states, as the engine holds them and in float64, [element of the batch][node][field]. */
static unda_status batch_new(const unda_solver *s, void **raw, double **q)
{
    TRY(array_try(raw, BATCH * dg_num_value(s), s->real_bytes, "states"));
    return array_try(q, BATCH * dg_num_value(s), sizeof(double), "states");
}

/* Fills q with the states of the internal elements elem[0..count). */
static unda_status batch_read(unda_solver *s, int64_t count, const int64_t *elem, void *raw, double *q)
{
    TRY(dg_engine(s)->move(s, BUF_Q, count, elem, raw, NULL));
    for (int64_t i = 0; i < count * dg_num_value(s); i++)
        q[i] = real_get(s, raw, i);
    return UNDA_OK;
}

/* ---- values at points ---- */

/* What one element has at a place, added to the values of its point. */
static void add_place(const unda_solver *s, const struct dg_points *p, int64_t place, const double *q,
                      double *values)
{
    int num_field = dg_tables(s)->physics->num_field;
    for (int32_t f = 0; f < p->num_field; f++) {
        const double *weight = receiver_weight(s, p, place, f);
        double value = p->integral[f] < 0 ? 0 : p->integrals[BUF_Q][place * p->num_integral + p->integral[f]];
        for (int n = 0; n < dg_tables(s)->space.num_node && p->integral[f] < 0; n++)
            value += weight[n] * q[n * num_field + p->field[f]];
        values[f] += value;
    }
}

unda_status dg_sample(unda_solver *s, const void *points, double *values)
{
    const struct dg_points *p = points;
    int64_t num = p->first[p->num_point], point = 0;
    SCRATCH void *raw = NULL;
    SCRATCH double *q = NULL;
    TRY(batch_new(s, &raw, &q));
    for (int64_t i = 0; i < p->num_point * p->num_field; i++)
        values[i] = 0;
    for (int64_t begin = 0; begin < num; begin += BATCH) {
        int64_t count = num - begin < BATCH ? num - begin : BATCH;
        TRY(batch_read(s, count, p->rows.elem + begin, raw, q));
        for (int64_t i = begin; i < begin + count; i++) {
            while (p->first[point + 1] <= i)
                point++;
            add_place(s, p, i, q + (i - begin) * dg_num_value(s), values + point * p->num_field);
        }
    }
    return UNDA_OK;
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

/* Of a hexahedron, whose mass matrix is diagonal. */
static double hex_energy(const struct dg *dg, int64_t elem, const double *q)
{
    double total = 0;
    for (int n = 0; n < dg->space.num_node; n++)
        total += dg_node_volume(dg, elem, n) *
                 dg->physics->energy(q + n * dg->physics->num_field, dg_material(dg, elem, n));
    return total;
}

unda_status dg_energies(unda_solver *s, double *energy)
{
    const struct dg *dg = dg_tables(s);
    const struct space *space = &dg->space;
    int64_t elem[BATCH];
    SCRATCH void *raw = NULL;
    SCRATCH double *q = NULL;
    TRY(batch_new(s, &raw, &q));
    for (int64_t first = 0; first < space->num_owned; first += BATCH) {
        int64_t left = space->num_owned - first, count = left < BATCH ? left : BATCH;
        for (int64_t i = 0; i < count; i++)
            elem[i] = first + i;
        TRY(batch_read(s, count, elem, raw, q));
        for (int64_t i = 0; i < count; i++)
            if (dg->metric_nodes)
                energy[first + i] = hex_energy(dg, first + i, q + i * dg_num_value(s));
            else
                energy[first + i] = space->mesh->table->jacobian * space_volume(space, first + i) *
                                    element_energy(dg, first + i, q + i * dg_num_value(s));
    }
    return UNDA_OK;
}

unda_status dg_energy(unda_solver *s, double *out)
{
    int64_t num = dg_tables(s)->space.num_owned;
    SCRATCH double *energy = NULL;
    TRY(array_try(&energy, num, sizeof *energy, "energies"));
    TRY(dg_energies(s, energy));
    *out = 0;
    for (int64_t e = 0; e < num; e++)
        *out += energy[e];
    return UNDA_OK;
}
