/* mesh.c: makes a mesh from arrays, step by step, and returns arrays in the user's numbering.
 * The steps are in other files, which internal.h lists in order.
 * Next: checks.c, periodic.c, order.c, faces.c, boundary.c; locate.c; partition.c. */
#include "internal.h"

#include <string.h>

/* Tetrahedron: face f lies opposite vertex f. Hexahedron: vertices as in Gmsh and VTK (bottom
 * counterclockwise, then top), faces -x +x -y +y -z +z of the reference cube. */
const struct shape_table shape_tables[2] = {
    [UNDA_TET] = {.num_vertex = 4,
                  .num_face = 4,
                  .num_face_vertex = 3,
                  .face_vertex = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}},
                  .sorted = true,
                  .axis = {1, 2, 3},
                  .jacobian = 6,
                  .normal = {{1, 1, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}},
    [UNDA_HEX] =
        {.num_vertex = 8,
         .num_face = 6,
         .num_face_vertex = 4,
         .face_vertex = {{0, 3, 7, 4}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 2, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}},
         .axis = {1, 3, 4},
         .jacobian = 1,
         .normal = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}},
};

static unda_status copy_array(struct unda_mesh *mesh, void *out, const void *from, int64_t count,
                              int64_t size, const char *what)
{
    TRY(array_own(&mesh->owned, out, count, size, what));
    if (from && count > 0) {
        void *array;
        memcpy(&array, out, sizeof array);
        memcpy(array, from, (size_t)(count * size));
    }
    return UNDA_OK;
}

static unda_status copy_input(struct unda_mesh *mesh, const unda_mesh_input *input)
{
    const struct shape_table *table = &shape_tables[input->shape];
    int64_t num_elem = input->num_elem, num_face = input->num_boundary_face;
    mesh->shape = input->shape;
    mesh->table = table;
    mesh->num_vertex = input->num_vertex;
    mesh->num_elem = mesh->num_owned = num_elem;
    mesh->num_boundary = input->num_boundary;
    mesh->num_boundary_face = num_face;
    TRY(copy_array(mesh, &mesh->vertices, input->vertices, 3 * input->num_vertex, sizeof(double),
                   "vertices"));
    TRY(copy_array(mesh, &mesh->cells, input->cells, table->num_vertex * num_elem, sizeof(int64_t), "cells"));
    TRY(copy_array(mesh, &mesh->tags, input->tags, num_elem, sizeof(int32_t), "tags"));
    TRY(copy_array(mesh, &mesh->boundary_faces, input->boundary_faces, table->num_face_vertex * num_face,
                   sizeof(int64_t), "boundary faces"));
    TRY(copy_array(mesh, &mesh->boundary_ids, input->boundary_ids, num_face, sizeof(int32_t),
                   "boundary ids"));
    if (input->curved)
        TRY(copy_array(mesh, &mesh->curved, input->curved, 81 * num_elem, sizeof(double), "curved cells"));
    TRY(array_own(&mesh->owned, &mesh->order, num_elem, sizeof(int64_t), "element order"));
    TRY(array_own(&mesh->owned, &mesh->place, num_elem, sizeof(int64_t), "element order"));
    TRY(array_own(&mesh->owned, &mesh->sorted, table->num_vertex * num_elem, sizeof(int64_t),
                  "sorted cells"));
    TRY(array_own(&mesh->owned, &mesh->neighbor, table->num_face * num_elem, sizeof(int32_t), "neighbors"));
    TRY(array_own(&mesh->owned, &mesh->turn, table->num_face * num_elem, sizeof(int8_t), "neighbors"));
    TRY(array_own(&mesh->owned, &mesh->volumes, num_elem, sizeof(double), "volumes"));
    return array_own(&mesh->owned, &mesh->quality, num_elem, sizeof(double), "quality");
}

/* Vertices of each tetrahedron by (representative, own id): a periodic face then lists its vertices
 * in the same order on both sides. Hexahedra keep their order, which carries their axes. */
static void sort_vertices(struct unda_mesh *mesh, const int64_t *representative)
{
    int count = mesh->table->num_vertex;
    for (int64_t place = 0; place < mesh->num_elem; place++) {
        int64_t *sorted = mesh->sorted + place * count;
        memcpy(sorted, mesh->cells + mesh->order[place] * count, (size_t)count * sizeof *sorted);
        for (int i = 1; i < count && mesh->table->sorted; i++)
            for (int j = i; j > 0; j--) {
                int64_t a = sorted[j - 1], b = sorted[j];
                int64_t rank_a = representative ? representative[a] : a;
                int64_t rank_b = representative ? representative[b] : b;
                if (rank_a < rank_b || (rank_a == rank_b && a < b))
                    break;
                sorted[j - 1] = b;
                sorted[j] = a;
            }
    }
}

void mesh_fill_info(struct unda_mesh *mesh)
{
    int64_t num_face = mesh->num_owned * mesh->table->num_face;
    unda_mesh_info *info = &mesh->info;
    for (int64_t face = 0; face < num_face; face++)
        info->num_interior_face += mesh->neighbor[face] > face;
    info->size_bytes = sizeof *info;
    info->shape = mesh->shape;
    info->num_boundary = mesh->num_boundary;
    info->num_vertex = mesh->num_vertex;
    info->num_elem = mesh->num_elem;
    info->num_boundary_face = mesh->num_boundary_face;
    info->curved = mesh->curved != NULL;
    info->num_owned = mesh->num_owned;
    info->num_border = mesh->part.num_border;
    info->num_cut_face = mesh->part.num_cut;
    info->which = mesh->part.which;
    info->num_part = mesh->part.num_part;
    info->num_neighbor_part = mesh->part.num_neighbor;
}

static unda_status connect(struct unda_mesh *mesh, const unda_mesh_input *input)
{
    OWNER void *owned = NULL;
    struct periodic periodic = {0};
    struct face_table table;
    TRY(copy_input(mesh, input));
    TRY(check_cells(mesh));
    if (mesh->curved)
        TRY(curved_check_vertices(mesh));
    TRY(check_geometry(mesh, input->fix_orientation));
    if (input->num_periodic > 0)
        TRY(periodic_vertices(&periodic, &owned, mesh, input));
    TRY(order_elements(mesh));
    sort_vertices(mesh, periodic.representative);
    TRY(faces_match(&table, &owned, mesh));
    if (mesh->shape == UNDA_HEX)
        TRY(faces_check_hanging(mesh));
    TRY(faces_name(&table, mesh));
    TRY(faces_pair_periodic(&table, &periodic, mesh));
    TRY(faces_check_sides(mesh));
    if (mesh->curved)
        TRY(curved_check_faces(mesh));
    TRY(pieces_check(mesh));
    mesh_fill_info(mesh);
    return UNDA_OK;
}

unda_status unda_mesh_new(unda_mesh **out, const unda_mesh_input *input)
{
    TRY(fork_check());
    if (!out)
        FAIL(UNDA_ERR_ARG, "mesh is NULL");
    TRY(check_input(input));
    struct unda_mesh *mesh;
    TRY(array_try(&mesh, 1, sizeof *mesh, "mesh"));
    atomic_init(&mesh->holders, 1);
    return COMPLETE(out, mesh, unda_mesh_free, connect(mesh, input));
}

void mesh_hold(const unda_mesh *mesh)
{
    atomic_fetch_add(&((unda_mesh *)mesh)->holders, 1);
}

void unda_mesh_free(unda_mesh *mesh)
{
    if (!mesh || atomic_fetch_sub(&mesh->holders, 1) > 1)
        return;
    arrays_free(&mesh->owned);
    arrays_free(&mesh->located);
    array_free(mesh);
}

unda_status unda_mesh_get_info(const unda_mesh *mesh, unda_mesh_info *info)
{
    TRY(fork_check());
    if (!mesh)
        FAIL(UNDA_ERR_ARG, "mesh is NULL");
    CHECK_SIZE(info, unda_mesh_info);
    *info = mesh->info;
    return UNDA_OK;
}

/* Position of vertex v in a list of count vertices. */
static int position(const int64_t *vertices, int count, int64_t v)
{
    int at = 0;
    while (at < count - 1 && vertices[at] != v)
        at++;
    return at;
}

/* A face of a tetrahedron goes by its opposite vertex: its place differs in sorted and cells. */
static int64_t user_face(const struct unda_mesh *mesh, int64_t face)
{
    int num_face = mesh->table->num_face, num_vertex = mesh->table->num_vertex;
    int64_t place = face / num_face, elem = mesh->order[place];
    int local = (int)(face % num_face);
    if (mesh->table->sorted)
        local =
            position(mesh->cells + elem * num_vertex, num_vertex, mesh->sorted[place * num_vertex + local]);
    return num_face * elem + local;
}

int64_t mesh_face(const struct unda_mesh *mesh, int64_t elem, int face)
{
    int num_vertex = mesh->table->num_vertex;
    int64_t place = mesh->place[elem];
    if (mesh->table->sorted)
        face = position(mesh->sorted + place * num_vertex, num_vertex, mesh->cells[elem * num_vertex + face]);
    return mesh->table->num_face * place + face;
}

static void copy_neighbors(const struct unda_mesh *mesh, int64_t *neighbors)
{
    for (int64_t face = 0; face < mesh->table->num_face * mesh->num_elem; face++) {
        int64_t other = mesh->neighbor[face];
        neighbors[user_face(mesh, face)] = other < 0 ? other : user_face(mesh, other);
    }
}

unda_status unda_mesh_get_arrays(const unda_mesh *mesh, const unda_mesh_arrays *arrays)
{
    TRY(fork_check());
    if (!mesh)
        FAIL(UNDA_ERR_ARG, "mesh is NULL");
    CHECK_SIZE(arrays, unda_mesh_arrays);
    int64_t num_elem = mesh->num_elem, num_face = mesh->num_boundary_face;
    array_give(arrays->vertices, mesh->vertices, 3 * mesh->num_vertex, sizeof(double));
    array_give(arrays->cells, mesh->cells, mesh->table->num_vertex * num_elem, sizeof(int64_t));
    if (mesh->curved)
        array_give(arrays->curved, mesh->curved, 81 * num_elem, sizeof(double));
    array_give(arrays->tags, mesh->tags, num_elem, sizeof(int32_t));
    array_give(arrays->boundary_faces, mesh->boundary_faces, mesh->table->num_face_vertex * num_face,
               sizeof(int64_t));
    array_give(arrays->boundary_ids, mesh->boundary_ids, num_face, sizeof(int32_t));
    array_give(arrays->order, mesh->order, num_elem, sizeof(int64_t));
    array_give(arrays->volumes, mesh->volumes, num_elem, sizeof(double));
    array_give(arrays->quality, mesh->quality, num_elem, sizeof(double));
    if (arrays->neighbors)
        copy_neighbors(mesh, arrays->neighbors);
    if (mesh->part.global)
        array_give(arrays->global, mesh->part.global, num_elem, sizeof(int64_t));
    array_give(arrays->neighbor_parts, mesh->part.neighbor, mesh->part.num_neighbor, sizeof(int32_t));
    if (mesh->part.first)
        array_give(arrays->first_cut, mesh->part.first, mesh->part.num_neighbor + 1, sizeof(int64_t));
    for (int64_t i = 0; i < mesh->part.num_cut; i++) {
        if (arrays->cut_own)
            arrays->cut_own[i] = user_face(mesh, mesh->part.own[i]);
        if (arrays->cut_ghost)
            arrays->cut_ghost[i] = user_face(mesh, mesh->part.ghost[i]);
    }
    return UNDA_OK;
}
