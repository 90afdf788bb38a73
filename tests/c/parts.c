/* parts.c: parts of meshes as spaces see them: neighbours, sides and turns of each own element are those of the whole
 * mesh, also after a part has been sent as a block of memory. Looks inside the library. Not here: cells, vertices, lists
 * of faces (tests/mesh/test_partition.py). */
#include "rig.h"

#include "space/space.h"

#include <stdlib.h>

enum { NUM_PART = 3, MAX_CELL = 6 * 4 * 3 * 2 };

static unsigned next_random(unsigned *state)
{
    *state = 1664525u * *state + 1013904223u;
    return *state >> 16;
}

/* Turns the axes of hexahedra about z and x, as often as chance has it. */
static void turn_cells(int64_t num_elem, int64_t *cells)
{
    static const int turn[2][8] = {{1, 2, 3, 0, 5, 6, 7, 4}, {3, 2, 6, 7, 0, 1, 5, 4}};
    unsigned state = 1;
    for (int64_t elem = 0; elem < num_elem; elem++)
        for (unsigned i = next_random(&state) % 6; i > 0; i--) {
            const int *one = turn[next_random(&state) % 2];
            int64_t before[8], *cell = cells + 8 * elem;
            memcpy(before, cell, sizeof before);
            for (int v = 0; v < 8; v++)
                cell[v] = before[one[v]];
        }
}

/* A box, periodic along x, and of hexahedra whose faces meet in every way. */
static unda_status whole_new(unda_mesh **mesh, int32_t shape)
{
    static const int32_t pair[2] = {0, 1};
    static double vertices[5 * 4 * 3][3];
    static int64_t cells[MAX_CELL * 8], faces[2 * MAX_CELL * 4];
    static int32_t ids[2 * MAX_CELL];
    const unda_box box = {
        .size_bytes = sizeof box, .shape = shape, .cells = {4, 3, 2}, .upper = {1, 1, 1}, .perturb = 0.1};
    const unda_mesh_arrays arrays = {.size_bytes = sizeof arrays,
                                     .vertices = vertices[0],
                                     .cells = cells,
                                     .boundary_faces = faces,
                                     .boundary_ids = ids};
    unda_mesh_info info = {.size_bytes = sizeof info};
    unda_mesh *straight;
    TRY_HERE(unda_box_mesh_new(&straight, &box));
    unda_mesh_get_info(straight, &info);
    unda_mesh_get_arrays(straight, &arrays);
    unda_mesh_free(straight);
    if (shape == UNDA_HEX)
        turn_cells(info.num_elem, cells);
    return unda_mesh_new(mesh, &(unda_mesh_input){.size_bytes = sizeof(unda_mesh_input),
                                                  .shape = shape,
                                                  .num_vertex = info.num_vertex,
                                                  .num_elem = info.num_elem,
                                                  .num_boundary_face = info.num_boundary_face,
                                                  .num_boundary = info.num_boundary,
                                                  .num_periodic = 1,
                                                  .vertices = vertices[0],
                                                  .cells = cells,
                                                  .boundary_faces = faces,
                                                  .boundary_ids = ids,
                                                  .periodic = pair});
}

static unda_status space_new(struct space *space, const unda_mesh *mesh)
{
    static const int32_t boundary[6] = {UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_FREE,
                                        UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_FREE,  UNDA_BOUNDARY_ABSORBING};
    memset(space, 0, sizeof *space);
    TRY_HERE(space_sizes(space, mesh, mesh->shape, 2));
    return space_fill(space, mesh, boundary, ~0, "all");
}

/* Neighbours of own elements that are not what the whole mesh's space says. */
static int count_wrong(const struct space *whole, const struct space *part)
{
    const unda_mesh *mesh = part->mesh;
    int wrong = part->num_owned != mesh->num_owned || part->num_ghost != mesh->num_elem - mesh->num_owned;
    for (int64_t i = 0; i < part->num_face * part->num_owned; i++) {
        int64_t elem = whole->place[mesh->part.global[part->order[i / part->num_face]]];
        int32_t wanted = whole->neighbor[part->num_face * elem + i % part->num_face];
        int32_t found = part->neighbor[i];
        if (found >= 0) {
            int64_t other = part->order[found / part->num_side];
            found = (int32_t)whole->place[mesh->part.global[other]] * part->num_side + found % part->num_side;
        }
        wrong += found != wanted;
    }
    return wrong;
}

static unda_status send(unda_mesh **mesh, const unda_mesh *from)
{
    int64_t num_byte;
    TRY_HERE(unda_mesh_pack(from, &num_byte, NULL));
    void *block = malloc((size_t)num_byte);
    unda_status status = unda_mesh_pack(from, &num_byte, block);
    status = status == UNDA_OK ? unda_mesh_unpack(mesh, num_byte, block) : status;
    free(block);
    return status;
}

static unda_status count_in(const struct space *whole, const unda_mesh *mesh, int *num)
{
    struct space space;
    unda_status status = space_new(&space, mesh);
    if (status == UNDA_OK)
        *num += count_wrong(whole, &space);
    space_free(&space);
    return status;
}

/* Finds what is wrong with a part; then with one of its turns, of an element that has a neighbour there, changed. */
static unda_status compare(const struct space *whole, const unda_mesh *mesh, int *num_wrong, int *num_seen)
{
    int face = 0;
    TRY_HERE(count_in(whole, mesh, num_wrong));
    while (mesh->neighbor[face] < 0)
        face++;
    mesh->turn[face] ^= 1;
    return count_in(whole, mesh, num_seen);
}

static unda_status compare_parts(const unda_mesh *mesh, const struct space *whole, int *num_wrong,
                                 int *num_seen)
{
    int32_t part[MAX_CELL];
    unsigned state = 7;
    TRY_HERE(unda_mesh_partition(mesh, NUM_PART, NULL, part));
    for (int64_t i = 0; i < mesh->num_elem / 4; i++) /* and any others */
        part[next_random(&state) % mesh->num_elem] = (int32_t)(next_random(&state) % NUM_PART);
    for (int32_t which = 0; which < NUM_PART; which++) {
        unda_mesh *local = NULL, *sent = NULL;
        unda_status status = unda_mesh_part(&local, mesh, NUM_PART, part, which);
        status = status == UNDA_OK ? send(&sent, local) : status;
        unda_mesh_free(local);
        status = status == UNDA_OK ? compare(whole, sent, num_wrong, num_seen) : status;
        unda_mesh_free(sent);
        TRY_HERE(status);
    }
    return UNDA_OK;
}

unda_status parts(int *num_turned, int *num_wrong, int *num_seen)
{
    *num_turned = *num_wrong = *num_seen = 0;
    for (int32_t shape = UNDA_TET; shape <= UNDA_HEX; shape++) {
        unda_mesh *mesh;
        struct space whole;
        TRY_HERE(whole_new(&mesh, shape));
        for (int64_t i = 0; i < mesh->table->num_face * mesh->num_elem; i++)
            *num_turned += mesh->turn[i] != 0;
        unda_status status = space_new(&whole, mesh);
        status = status == UNDA_OK ? compare_parts(mesh, &whole, num_wrong, num_seen) : status;
        space_free(&whole);
        unda_mesh_free(mesh);
        TRY_HERE(status);
    }
    return UNDA_OK;
}
