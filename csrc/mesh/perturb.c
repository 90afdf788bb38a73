/* perturb.c: moves the interior vertices of a box at random, the same way on every machine.
 * Not those on the sides, so that boxes stay boxes and periodic sides match.
 * Next: box.c. */
#include "box.h"

#include "../base/parallel.h"

#include <string.h>

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

/* What a round of taming knows. */
struct taming {
    const struct bricks *b;
    const double *shifts;
    double least;     /* Jacobian determinant */
    uint8_t *suspect; /* [elem]: below it when the round began */
    uint8_t *moved;   /* [vertex]: in this round */
};

static void suspect(void *user, int64_t begin, int64_t end)
{
    const struct taming *t = user;
    for (int64_t elem = begin; elem < end; elem++)
        t->suspect[elem] = !(least_jacobian(t->b, elem, t->shifts) >= t->least);
}

/* Whether a cell is below now, after those before it have moved. */
static bool is_wild(const struct taming *t, int64_t elem)
{
    int num_vertex = shape_tables[t->b->box->shape].num_vertex;
    bool moved = false;
    for (int v = 0; v < num_vertex; v++)
        moved |= t->moved[t->b->cells[elem * num_vertex + v]];
    return moved ? !(least_jacobian(t->b, elem, t->shifts) >= t->least) : t->suspect[elem];
}

/* Shifts above 1/6 of a brick can turn a cell inside out. The shifts at such a cell are halved
 * until none is left, cell after cell: threads only say of which cells nothing else is to be done. */
static unda_status tame_shifts(const struct bricks *b, double *shifts)
{
    SCRATCH uint8_t *suspects = NULL;
    SCRATCH uint8_t *moved = NULL;
    const unda_box *box = b->box;
    int num_vertex = shape_tables[box->shape].num_vertex;
    double regular = 1;
    for (int i = 0; i < 3; i++)
        regular *= (box->upper[i] - box->lower[i]) / (double)box->cells[i];
    TRY(array_try(&suspects, b->num_elem, sizeof *suspects, "vertex shifts"));
    TRY(array_try(&moved, b->num_vertex, sizeof *moved, "vertex shifts"));
    struct taming t = {b, shifts, KEPT_JACOBIAN * regular, suspects, moved};
    bool tamed = false;
    for (int round = 0; !tamed && round < MAX_ROUND; round++) {
        tamed = true;
        memset(moved, 0, (size_t)b->num_vertex);
        parallel_parts(parallel_parts_worth(b->num_elem, 500), b->num_elem, suspect, &t);
        for (int64_t elem = 0; elem < b->num_elem; elem++) {
            if (!is_wild(&t, elem))
                continue;
            tamed = false;
            for (int v = 0; v < num_vertex; v++) {
                int64_t vertex = b->cells[elem * num_vertex + v];
                moved[vertex] = 1;
                for (int i = 0; i < 3; i++)
                    shifts[3 * vertex + i] *= 0.5;
            }
        }
    }
    return UNDA_OK;
}

unda_status box_perturb(struct bricks *b)
{
    SCRATCH double *shifts = NULL;
    TRY(array_try(&shifts, 3 * b->num_vertex, sizeof *shifts, "vertex shifts"));
    draw_shifts(b, shifts);
    TRY(tame_shifts(b, shifts));
    for (int64_t i = 0; i < 3 * b->num_vertex; i++)
        b->vertices[i] += shifts[i];
    return UNDA_OK;
}
