/* box.c: a box of bricks, cut into tetrahedra on request, as arrays that go through unda_mesh_new.
 * Neither graded nor curved: use a mesh generator for that.
 * Next: perturb.c. */
#include "box.h"

#include <math.h>

static const double MAX_PERTURB = 0.3;

/* The six orders in which a path from corner 000 to corner 111 of a brick can take the axes; the
 * three steps of each are a tetrahedron (Kuhn 1960). All bricks share the diagonal 000-111, so
 * faces match, also through periodic sides. The last three orders are odd: two vertices change
 * places to keep the volume positive. */
static const int kuhn_axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

static unda_status check_box(const unda_box *box)
{
    CHECK_SIZE(box, unda_box);
    if (box->shape != UNDA_TET && box->shape != UNDA_HEX)
        FAIL(UNDA_ERR_ARG, "shape is %d, expected %d (tetrahedra) or %d (hexahedra)", box->shape, UNDA_TET,
             UNDA_HEX);
    double bricks = 1;
    for (int i = 0; i < 3; i++) {
        if (box->cells[i] < 1)
            FAIL(UNDA_ERR_ARG, "cells[%d] is %lld, expected at least 1", i, (long long)box->cells[i]);
        double extent = box->upper[i] - box->lower[i];
        if (!isfinite(extent) || extent <= 0)
            FAIL(UNDA_ERR_ARG, "the box reaches from %g to %g along axis %d, expected lower < upper",
                 box->lower[i], box->upper[i], i);
        bricks *= (double)box->cells[i];
    }
    if (bricks * 6 * 6 > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "%g bricks are too many, the most is %d", bricks, INT32_MAX / 36);
    if (!(box->perturb >= 0 && box->perturb <= MAX_PERTURB))
        FAIL(UNDA_ERR_ARG, "perturb is %g, expected 0..%g", box->perturb, MAX_PERTURB);
    return UNDA_OK;
}

static double grid_line(const unda_box *box, int axis, int64_t index)
{
    if (index == box->cells[axis])
        return box->upper[axis];
    double part = (double)index / (double)box->cells[axis];
    return box->lower[axis] + (box->upper[axis] - box->lower[axis]) * part;
}

static void place_vertices(struct bricks *b)
{
    const unda_box *box = b->box;
    int64_t index[3], vertex = 0;
    for (index[2] = 0; index[2] <= box->cells[2]; index[2]++)
        for (index[1] = 0; index[1] <= box->cells[1]; index[1]++)
            for (index[0] = 0; index[0] <= box->cells[0]; index[0]++, vertex++)
                for (int i = 0; i < 3; i++) {
                    b->vertices[3 * vertex + i] = grid_line(box, i, index[i]);
                    b->sides[vertex] |= (uint8_t)((index[i] == 0) << 2 * i);
                    b->sides[vertex] |= (uint8_t)((index[i] == box->cells[i]) << (2 * i + 1));
                }
}

/* corners[x + 2 y + 4 z]; the hexahedron goes around bottom and top. */
static int64_t *cut_brick(int shape, const int64_t corners[8], int64_t *cell)
{
    static const int around[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    if (shape == UNDA_HEX) {
        for (int v = 0; v < 8; v++)
            cell[v] = corners[around[v]];
        return cell + 8;
    }
    for (int i = 0; i < 6; i++, cell += 4) {
        int first = 1 << kuhn_axes[i][0], second = first + (1 << kuhn_axes[i][1]);
        bool odd = i >= 3;
        cell[0] = corners[0];
        cell[1] = corners[odd ? second : first];
        cell[2] = corners[odd ? first : second];
        cell[3] = corners[7];
    }
    return cell;
}

static void make_cells(struct bricks *b)
{
    const int64_t *n = b->box->cells;
    int64_t row = n[0] + 1, layer = row * (n[1] + 1), *cell = b->cells;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                int64_t corners[8];
                for (int c = 0; c < 8; c++)
                    corners[c] = x + (c & 1) + row * (y + (c >> 1 & 1)) + layer * (z + (c >> 2));
                cell = cut_brick(b->box->shape, corners, cell);
            }
}

/* A face lies on a side when all its vertices do. */
static void name_faces(struct bricks *b)
{
    const struct shape_table *table = &shape_tables[b->box->shape];
    int64_t count = 0;
    for (int64_t elem = 0; elem < b->num_elem; elem++)
        for (int face = 0; face < table->num_face; face++) {
            const int64_t *cell = b->cells + elem * table->num_vertex;
            const int *local = table->face_vertex[face];
            unsigned common = 63;
            for (int i = 0; i < table->num_face_vertex; i++)
                common &= b->sides[cell[local[i]]];
            if (!common)
                continue;
            for (int i = 0; i < table->num_face_vertex; i++)
                b->faces[count * table->num_face_vertex + i] = cell[local[i]];
            b->ids[count++] = __builtin_ctz(common);
        }
}

static unda_status bricks_fill(struct bricks *b)
{
    const struct shape_table *table = &shape_tables[b->box->shape];
    const int64_t *n = b->box->cells;
    int per_brick = b->box->shape == UNDA_TET ? 6 : 1, per_side = b->box->shape == UNDA_TET ? 2 : 1;
    b->num_vertex = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    b->num_elem = per_brick * n[0] * n[1] * n[2];
    b->num_face = 2 * per_side * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]);
    TRY(array_own(b->owner, &b->vertices, 3 * b->num_vertex, sizeof(double), "vertices"));
    TRY(array_own(b->owner, &b->sides, b->num_vertex, sizeof(uint8_t), "vertex sides"));
    TRY(array_own(b->owner, &b->cells, b->num_elem * table->num_vertex, sizeof(int64_t), "cells"));
    TRY(array_own(b->owner, &b->faces, b->num_face * table->num_face_vertex, sizeof(int64_t), "faces"));
    TRY(array_own(b->owner, &b->ids, b->num_face, sizeof(int32_t), "face ids"));
    place_vertices(b);
    make_cells(b);
    name_faces(b);
    return b->box->perturb > 0 ? box_perturb(b) : UNDA_OK;
}

static unda_status bricks_connect(unda_mesh **mesh, const struct bricks *b)
{
    int32_t pairs[6], num_pair = 0;
    for (int32_t i = 0; i < 3; i++)
        if (b->box->periodic[i]) {
            pairs[2 * num_pair] = 2 * i;
            pairs[2 * num_pair + 1] = 2 * i + 1;
            num_pair++;
        }
    return unda_mesh_new(mesh, &(unda_mesh_input){
                                   .size_bytes = sizeof(unda_mesh_input),
                                   .shape = b->box->shape,
                                   .num_vertex = b->num_vertex,
                                   .num_elem = b->num_elem,
                                   .num_boundary_face = b->num_face,
                                   .num_boundary = 6,
                                   .num_periodic = num_pair,
                                   .vertices = b->vertices,
                                   .cells = b->cells,
                                   .boundary_faces = b->faces,
                                   .boundary_ids = b->ids,
                                   .periodic = pairs,
                               });
}

unda_status unda_box_mesh_new(unda_mesh **mesh, const unda_box *box)
{
    TRY(fork_check());
    TRY(check_box(box));
    OWNER void *owned = NULL;
    struct bricks b = {.owner = &owned, .box = box};
    TRY(bricks_fill(&b));
    return bricks_connect(mesh, &b);
}
