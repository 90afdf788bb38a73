/* hanging.c: refuses meshes of hexahedra some of whose outer faces should be inner ones: a vertex of a neighbour
 * hangs on them, as where a coarse part meets a fine one. Cracks are no such faces: their sides share the vertices
 * of a crack's front only, or have vertices at the same places. Next: boundary.c. */
#include "internal.h"
#include "vector.h"

/* In barycentric coordinates: how far a vertex may be from a face that it hangs on. */
static const double ON = 1e-6;

/* Faces without neighbours, and those at each vertex. */
struct open_faces {
    const struct unda_mesh *mesh;
    int64_t *first; /* [num_vertex + 1]: of the list */
    int64_t *face;
};

static unda_status open_faces_list(struct open_faces *open, void **owner, const struct unda_mesh *mesh)
{
    int64_t num_face = mesh->table->num_face * mesh->num_elem, vertices[4];
    int count = mesh->table->num_face_vertex;
    open->mesh = mesh;
    TRY(array_own(owner, &open->first, mesh->num_vertex + 2, sizeof *open->first, "outer faces"));
    for (int64_t face = 0; face < num_face; face++) {
        if (mesh->neighbor[face] != FACE_UNPAIRED)
            continue;
        face_vertices(mesh, face, vertices);
        for (int i = 0; i < count; i++)
            open->first[vertices[i] + 2]++;
    }
    for (int64_t v = 0; v < mesh->num_vertex; v++)
        open->first[v + 2] += open->first[v + 1];
    TRY(array_own(owner, &open->face, open->first[mesh->num_vertex + 1], sizeof *open->face, "outer faces"));
    for (int64_t face = 0; face < num_face; face++) {
        if (mesh->neighbor[face] != FACE_UNPAIRED)
            continue;
        face_vertices(mesh, face, vertices);
        for (int i = 0; i < count; i++)
            open->face[open->first[vertices[i] + 1]++] = face;
    }
    return UNDA_OK;
}

/* Whether the vertex lies on the face, but at none of its vertices. */
static bool hangs(const struct unda_mesh *mesh, int64_t face, const int64_t corners[4], int64_t vertex)
{
    int count = mesh->table->num_face_vertex;
    const double *x = mesh->vertices + 3 * vertex;
    double lower[3], upper[3], size = 0;
    for (int i = 0; i < 3; i++) {
        lower[i] = upper[i] = mesh->vertices[3 * corners[0] + i];
        for (int k = 1; k < count; k++) {
            lower[i] = fmin(lower[i], mesh->vertices[3 * corners[k] + i]);
            upper[i] = fmax(upper[i], mesh->vertices[3 * corners[k] + i]);
        }
        size = fmax(size, upper[i] - lower[i]);
    }
    double room = (mesh->curved ? 1 : ON) * size; /* a curved face is beside its vertices */
    for (int i = 0; i < 3; i++)
        if (x[i] < lower[i] - room || x[i] > upper[i] + room)
            return false;
    for (int k = 0; k < count; k++) {
        double gap[3];
        subtract(x, mesh->vertices + 3 * corners[k], gap);
        if (norm(gap) <= ON * size)
            return false;
    }
    double lambda[MAX_FACE], rounding[MAX_FACE];
    int num_face = mesh->table->num_face;
    mesh_coordinates(mesh, mesh->order[face / num_face], x, lambda, rounding);
    bool on = fabs(lambda[face % num_face]) <= ON;
    for (int i = 0; i < num_face; i++)
        on &= lambda[i] >= -ON;
    return on;
}

/* An outer face at one of the vertices of a face that has a vertex on it, or -1. */
static int64_t hanging_at(const struct open_faces *open, int64_t face)
{
    const struct unda_mesh *mesh = open->mesh;
    int count = mesh->table->num_face_vertex;
    int64_t corners[4], others[4];
    face_vertices(mesh, face, corners);
    for (int i = 0; i < count; i++)
        for (int64_t k = open->first[corners[i]]; k < open->first[corners[i] + 1]; k++) {
            face_vertices(mesh, open->face[k], others);
            for (int j = 0; j < count && open->face[k] != face; j++)
                if (hangs(mesh, face, corners, others[j]))
                    return open->face[k];
        }
    return -1;
}

unda_status faces_check_hanging(const struct unda_mesh *mesh)
{
    OWNER void *owned = NULL;
    struct open_faces open;
    struct offenders bad = {0};
    int num_face = mesh->table->num_face;
    TRY(open_faces_list(&open, &owned, mesh));
    for (int64_t face = 0; face < num_face * mesh->num_elem; face++) {
        int64_t other = mesh->neighbor[face] == FACE_UNPAIRED ? hanging_at(&open, face) : -1;
        if (other < 0)
            continue;
        offenders_add(&bad, mesh->order[face / num_face]);
        offenders_add(&bad, mesh->order[other / num_face]);
    }
    if (bad.count)
        FAIL(UNDA_ERR_MESH,
             "%lld faces have vertices of neighbours on them (hanging nodes), elements %s; expected whole "
             "faces "
             "that two elements share",
             (long long)bad.count / 2, offenders_first(&bad).text);
    return UNDA_OK;
}
