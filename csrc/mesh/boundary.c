/* boundary.c: assigns every outer face to its boundary, or reports those that have none.
 * Boundary conditions belong to the solvers.
 * Next: periodic.c. */
#include "internal.h"

#include <stdio.h>

/* Without a list of boundary faces there is one boundary and every outer face belongs to it. */
static unda_status list_outer_faces(struct unda_mesh *mesh)
{
    int num_face = mesh->table->num_face, num_face_vertex = mesh->table->num_face_vertex;
    int64_t count = 0;
    for (int64_t face = 0; face < num_face * mesh->num_elem; face++)
        count += mesh->neighbor[face] == FACE_UNPAIRED;
    TRY(array_own(&mesh->owned, &mesh->boundary_faces, count * num_face_vertex, sizeof *mesh->boundary_faces,
                  "boundary faces"));
    TRY(array_own(&mesh->owned, &mesh->boundary_ids, count, sizeof *mesh->boundary_ids, "boundary ids"));
    mesh->num_boundary_face = 0;
    for (int64_t elem = 0; elem < mesh->num_elem; elem++)
        for (int local = 0; local < num_face; local++) {
            int64_t face = num_face * mesh->place[elem] + local, vertices[4];
            if (mesh->neighbor[face] != FACE_UNPAIRED)
                continue;
            face_vertices(mesh, face, vertices);
            for (int i = 0; i < num_face_vertex; i++)
                mesh->boundary_faces[mesh->num_boundary_face * num_face_vertex + i] = vertices[i];
            mesh->num_boundary_face++;
        }
    return UNDA_OK;
}

static unda_status check_named(const struct unda_mesh *mesh)
{
    struct offenders bare = {0};
    int64_t example[4] = {0};
    int num_face = mesh->table->num_face;
    for (int64_t elem = 0; elem < mesh->num_elem; elem++)
        for (int local = 0; local < num_face; local++) {
            int64_t face = num_face * mesh->place[elem] + local;
            if (mesh->neighbor[face] != FACE_UNPAIRED)
                continue;
            if (bare.count == 0)
                face_vertices(mesh, face, example);
            offenders_add(&bare, elem);
        }
    if (!bare.count)
        return UNDA_OK;
    char found[96];
    int length = 0;
    for (int i = 0; i < mesh->table->num_face_vertex; i++)
        length += snprintf(found + length, sizeof found - (size_t)length, " %lld", (long long)example[i]);
    FAIL(UNDA_ERR_MESH, "%lld outer faces belong to no boundary, elements %s; the first has vertices%s",
         (long long)bare.count, offenders_first(&bare).text, found);
}

unda_status faces_name(const struct face_table *table, struct unda_mesh *mesh)
{
    if (mesh->num_boundary == 1 && mesh->num_boundary_face == 0)
        TRY(list_outer_faces(mesh));
    TRY(array_own(&mesh->owned, &mesh->boundary_place, mesh->num_boundary_face, sizeof *mesh->boundary_place,
                  "boundary faces"));
    struct offenders unknown = {0}, interior = {0}, twice = {0};
    for (int64_t i = 0; i < mesh->num_boundary_face; i++) {
        int64_t face = faces_find(table, mesh->boundary_faces + i * mesh->table->num_face_vertex);
        if (face < 0)
            offenders_add(&unknown, i);
        else if (mesh->neighbor[face] >= 0)
            offenders_add(&interior, i);
        else if (mesh->neighbor[face] != FACE_UNPAIRED)
            offenders_add(&twice, i);
        else
            mesh->neighbor[face] = -1 - mesh->boundary_ids[i];
        mesh->boundary_place[i] = face;
    }
    REFUSE(unknown, "boundary faces are not faces of any element");
    REFUSE(interior, "boundary faces lie inside the mesh, between two elements");
    REFUSE(twice, "boundary faces are listed twice");
    return check_named(mesh);
}
