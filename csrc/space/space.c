/* space.c: makes and frees spaces: sizes, neighbours with their conditions. Not here: geometry
 * (affine.c), the mesh's connectivity (mesh/). */
#include "space.h"

#include "common/index.h"

#define SAME(name) ((int)UNDA_BOUNDARY_##name == BOUNDARY_##name)
_Static_assert(SAME(ABSORBING) && SAME(RIGID) && SAME(FREE) && SAME(FIXED) && SAME(SYMMETRY) && SAME(PEC) &&
                   SAME(PMC) && SAME(EXACT),
               "kernels use the public codes");

unda_status space_sizes(struct space *space, const unda_mesh *mesh, int shape, int degree)
{
    static const char *const headers[] = {[UNDA_TET] = "space/tet_affine.h", [UNDA_HEX] = "space/hex_gll.h"};
    TRY(element_check(shape, degree));
    space->header = headers[shape];
    space->geometry = shape == UNDA_TET ? &space_affine : &space_hex;
    space->num_face = shape_tables[shape].num_face;
    space->num_side = space->num_face * element_num_turn(shape);
    if (mesh && mesh->num_elem > INT32_MAX / space->num_side)
        FAIL(UNDA_ERR_ARG, "the mesh has %lld elements, the most is %d: neighbours are counted in 32 bits",
             (long long)mesh->num_elem, INT32_MAX / space->num_side);
    space->num_node = unda_element_num_node(shape, degree);
    space->num_face_node = unda_element_num_face_node(shape, degree);
    space->num_owned = mesh ? mesh->num_owned : 0;
    space->num_ghost = mesh ? mesh->num_elem - mesh->num_owned : 0;
    return UNDA_OK;
}

/* Neighbour codes: of the mesh's boundaries, their conditions. */
static unda_status connect(struct space *space, const int32_t *boundary, int conditions, const char *what)
{
    conditions |= 1 << UNDA_BOUNDARY_ABSORBING | 1 << UNDA_BOUNDARY_EXACT;
    for (int64_t i = 0; i < space->num_face * space->num_owned; i++) {
        int32_t neighbor = space->mesh->neighbor[i];
        if (neighbor < -space->mesh->num_boundary)
            FAIL(UNDA_ERR_ARG, "face %lld of element %lld is outside of its part of the mesh",
                 (long long)(i % space->num_face), (long long)space->order[i / space->num_face]);
        if (neighbor < 0) {
            int32_t condition = boundary ? boundary[-1 - neighbor] : UNDA_BOUNDARY_ABSORBING;
            if (condition < 0 || condition > UNDA_BOUNDARY_EXACT || !(1 << condition & conditions))
                FAIL(UNDA_ERR_ARG, "boundary %d has condition %d, expected one that %s media have",
                     -1 - neighbor, condition, what);
            neighbor = -1 - condition;
            if (condition == UNDA_BOUNDARY_EXACT)
                neighbor -= (int32_t)space->num_exact_face++;
        } else
            neighbor = neighbor / space->num_face * space->num_side + neighbor % space->num_face +
                       space->num_face * space->mesh->turn[i];
        space->neighbor[i] = neighbor;
    }
    return UNDA_OK;
}

unda_status space_fill(struct space *space, const unda_mesh *mesh, const int32_t *boundary, int conditions,
                       const char *what)
{
    int64_t num_face = space->num_face * space->num_owned;
    mesh_hold(mesh);
    space->mesh = mesh;
    space->order = mesh->order;
    space->place = mesh->place;
    TRY(array_own(&space->owned, &space->neighbor, num_face, sizeof(int32_t), "neighbours"));
    TRY(connect(space, boundary, conditions, what));
    TRY(array_own(&space->owned, &space->exact_face, space->num_exact_face, sizeof(int64_t), "exact faces"));
    for (int64_t i = 0; i < num_face; i++)
        if (space->neighbor[i] <= -1 - BOUNDARY_EXACT)
            space->exact_face[-1 - BOUNDARY_EXACT - space->neighbor[i]] = i;
    return UNDA_OK;
}

unda_status unda_mesh_coordinates(const unda_mesh *mesh, int32_t degree, double *coordinates)
{
    struct space space = {.mesh = mesh, .order = mesh ? mesh->order : NULL};
    TRY(fork_check());
    if (!mesh || !coordinates)
        FAIL(UNDA_ERR_ARG, "mesh or coordinates is NULL");
    TRY(element_new(&space.element, mesh->shape, degree)); /* refuses other shapes and degrees */
    TRY(space_sizes(&space, mesh, mesh->shape, degree));
    for (int64_t e = 0; e < mesh->num_elem; e++)
        space_coordinates(&space, e, coordinates + 3 * space.num_node * mesh->order[e]);
    element_free(space.element);
    return UNDA_OK;
}

void space_free(struct space *space)
{
    unda_mesh_free((unda_mesh *)space->mesh);
    element_free(space->element);
    arrays_free(&space->owned);
}
