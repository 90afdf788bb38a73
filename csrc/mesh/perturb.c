/* perturb.c: moves the interior vertices of a box at random, the same way on every machine.
 * Not those on the sides, so that boxes stay boxes and periodic sides match.
 * Next: box.c. */
#include "box.h"

/* After a perturbation each corner keeps this part of its Jacobian determinant. */
static const double KEPT_JACOBIAN = 0.1;
/* Bricks that rounding has made flat are left as they are; unda_mesh_new refuses them. */
enum { MAX_ROUND = 64 };

/* A number in [-1, 1) that depends on the seed, the vertex and the axis only: splitmix64 (Steele et
 * al. 2014). */
static double random_shift(int64_t seed, int64_t vertex, int axis)
{
    const uint64_t step = 0x9e3779b97f4a7c15u;
    uint64_t x = mix((uint64_t)seed + step) ^ (uint64_t)vertex;
    x = mix(x + step) ^ (uint64_t)axis;
    x = mix(x + step);
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static void draw_shifts(const struct bricks *b, double *shifts)
{
    const unda_box *box = b->box;
    for (int64_t v = 0; v < b->num_vertex; v++)
        for (int i = 0; i < 3 && !b->sides[v]; i++)
            shifts[3 * v + i] = box->perturb * (box->upper[i] - box->lower[i]) / (double)box->cells[i] *
                                random_shift(box->seed, v, i);
}

static double least_jacobian(const struct bricks *b, int64_t elem, const double *shifts)
{
    int num_vertex = shape_tables[b->box->shape].num_vertex;
    const int64_t *cell = b->cells + elem * num_vertex;
    double x[8][3];
    for (int v = 0; v < num_vertex; v++)
        for (int i = 0; i < 3; i++)
            x[v][i] = b->vertices[3 * cell[v] + i] - b->vertices[3 * cell[0] + i] + shifts[3 * cell[v] + i];
    return cell_geometry(b->box->shape, x).min_jacobian;
}

/* Shifts above 1/6 of a brick can turn a cell inside out. The shifts at such a cell are halved
 * until none is left. */
static void tame_shifts(const struct bricks *b, double *shifts)
{
    const unda_box *box = b->box;
    int num_vertex = shape_tables[box->shape].num_vertex;
    double regular = 1;
    for (int i = 0; i < 3; i++)
        regular *= (box->upper[i] - box->lower[i]) / (double)box->cells[i];
    bool tamed = false;
    for (int round = 0; !tamed && round < MAX_ROUND; round++) {
        tamed = true;
        for (int64_t elem = 0; elem < b->num_elem; elem++) {
            if (least_jacobian(b, elem, shifts) >= KEPT_JACOBIAN * regular)
                continue;
            tamed = false;
            for (int v = 0; v < num_vertex; v++)
                for (int i = 0; i < 3; i++)
                    shifts[3 * b->cells[elem * num_vertex + v] + i] *= 0.5;
        }
    }
}

unda_status box_perturb(struct bricks *b)
{
    SCRATCH double *shifts = NULL;
    TRY(array_try(&shifts, 3 * b->num_vertex, sizeof *shifts, "vertex shifts"));
    draw_shifts(b, shifts);
    tame_shifts(b, shifts);
    for (int64_t i = 0; i < 3 * b->num_vertex; i++)
        b->vertices[i] += shifts[i];
    return UNDA_OK;
}
