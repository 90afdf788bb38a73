/* hanging.c: refuses meshes of hexahedra some of whose outer faces should be inner ones: a vertex of another cell
 * lies on them or on their edges, as where a coarse part meets a fine one. Where a map has bent such a mesh the
 * vertices are beside the straight edge, but edges of outer faces still lead along it from end to end. Cracks are no
 * such faces: their sides share vertices, or have vertices at the same places. Next: boundary.c. */
#include "internal.h"
#include "vector.h"

/* How far a vertex may be from a face that it hangs on, in coordinates of the face's cell. */
static const double ON = 1e-6;

/* Vertices of faces without neighbours, and these faces at each. */
struct open_faces {
    const struct unda_mesh *mesh;
    int64_t *first; /* [num_vertex + 2]: of the list */
    int64_t *face;
    int64_t vertex;           /* whose cells are looked at */
    int8_t *seen;             /* [face]: one with a vertex on it; made for the first */
    struct offenders faces;   /* cells of such faces and those on their other side */
    struct offenders corners; /* cells that a vertex of another one touches at an edge */
    void *owned;
};

static unda_status open_faces_list(struct open_faces *open)
{
    const struct unda_mesh *mesh = open->mesh;
    int64_t num_face = mesh->table->num_face * mesh->num_elem, vertices[4];
    int count = mesh->table->num_face_vertex;
    TRY(array_own(&open->owned, &open->first, mesh->num_vertex + 2, sizeof *open->first, "outer faces"));
    for (int64_t face = 0; face < num_face; face++) {
        if (mesh->neighbor[face] != FACE_UNPAIRED)
            continue;
        face_vertices(mesh, face, vertices);
        for (int i = 0; i < count; i++)
            open->first[vertices[i] + 2]++;
    }
    for (int64_t v = 0; v < mesh->num_vertex; v++)
        open->first[v + 2] += open->first[v + 1];
    int64_t num = open->first[mesh->num_vertex + 1];
    TRY(array_own(&open->owned, &open->face, num, sizeof *open->face, "outer faces"));
    for (int64_t face = 0; face < num_face; face++) {
        if (mesh->neighbor[face] != FACE_UNPAIRED)
            continue;
        face_vertices(mesh, face, vertices);
        for (int i = 0; i < count; i++)
            open->face[open->first[vertices[i] + 1]++] = face;
    }
    return UNDA_OK;
}

/* Whether the cell has a vertex at that place. */
static bool has_vertex(const struct unda_mesh *mesh, int64_t place, const double *x)
{
    const int64_t *cell = mesh->sorted + place * mesh->table->num_vertex;
    double size = 0, nearest = INFINITY;
    for (int v = 0; v < mesh->table->num_vertex; v++) {
        double gap[3], edge[3];
        subtract(mesh->vertices + 3 * cell[v], x, gap);
        subtract(mesh->vertices + 3 * cell[v], mesh->vertices + 3 * cell[0], edge);
        nearest = fmin(nearest, norm(gap));
        size = fmax(size, norm(edge));
    }
    return nearest <= ON * size;
}

/* Bits of the faces of a cell on which a point of it lies. */
static unsigned faces_at(const struct unda_mesh *mesh, int64_t place, const double *x)
{
    double lambda[MAX_FACE], rounding[MAX_FACE];
    unsigned on = 0;
    mesh_coordinates(mesh, mesh->order[place], x, lambda, rounding);
    for (int face = 0; face < mesh->table->num_face; face++) {
        if (lambda[face] < -ON)
            return 0;
        on |= (unsigned)(lambda[face] <= ON) << face;
    }
    return on;
}

/* Whether the middle of one face lies on the other: then they overlap. */
static bool covers(const struct unda_mesh *mesh, int64_t face, int64_t other)
{
    int num_face = mesh->table->num_face, side = (int)(other % num_face);
    double r[3] = {0.5, 0.5, 0.5}, middle[3], edge[3][3];
    r[side / 2] = side % 2;
    mesh_map(mesh, mesh->order[other / num_face], r, middle, edge);
    return faces_at(mesh, face / num_face, middle) >> (face % num_face) & 1;
}

/* Counts each face once. */
static void add_pair(struct open_faces *open, struct offenders *to, int64_t face, int64_t beside, int bit)
{
    const struct unda_mesh *mesh = open->mesh;
    int64_t count = to->count + !(open->seen[face] & bit);
    offenders_add(to, mesh->order[face / mesh->table->num_face]);
    offenders_add(to, mesh->order[beside / mesh->table->num_face]);
    open->seen[face] |= (int8_t)bit;
    to->count = count;
}

/* A vertex on a face: which faces at that vertex are on its other side? */
static unda_status add_hanging(struct open_faces *open, int64_t face)
{
    const struct unda_mesh *mesh = open->mesh;
    const int64_t *first = open->first + open->vertex;
    bool overlap = false;
    if (!open->seen)
        TRY(array_own(&open->owned, &open->seen, mesh->table->num_face * mesh->num_elem, sizeof *open->seen,
                      "hanging nodes"));
    for (int64_t k = first[0]; k < first[1]; k++)
        if (covers(mesh, face, open->face[k]) || covers(mesh, open->face[k], face)) {
            add_pair(open, &open->faces, face, open->face[k], 1);
            overlap = true;
        }
    if (!overlap)
        add_pair(open, &open->corners, face, open->face[first[0]], 2);
    return UNDA_OK;
}

/* A cell that may hold the vertex. */
static unda_status look(void *user, int64_t place)
{
    struct open_faces *open = user;
    const struct unda_mesh *mesh = open->mesh;
    const double *x = mesh->vertices + 3 * open->vertex;
    int num_face = mesh->table->num_face;
    unsigned outer = 0;
    for (int face = 0; face < num_face; face++)
        outer |= (unsigned)(mesh->neighbor[num_face * place + face] == FACE_UNPAIRED) << face;
    if (!outer || has_vertex(mesh, place, x))
        return UNDA_OK;
    outer &= faces_at(mesh, place, x);
    for (int face = 0; face < num_face; face++)
        if (outer >> face & 1)
            TRY(add_hanging(open, num_face * place + face));
    return UNDA_OK;
}

/* ---- edges ---- */

/* Of the length of a part of an edge: how far a vertex may be from where it would divide the edge evenly. Other
 * edges of whole meshes lead round a tunnel, which would have to be as flat as this. */
static const double BESIDE = 0.4;
enum { MOST_PART = 4 };

struct edge {
    int64_t face, from, to;
    int num_part;
};

/* Whether outer faces lead from a vertex, which ends part `part` of the edge, to the end of it; the face that does. */
static bool leads_on(const struct open_faces *open, const struct edge *edge, int64_t vertex, int part,
                     int64_t *face)
{
    const struct unda_mesh *mesh = open->mesh;
    const double *from = mesh->vertices + 3 * edge->from, *to = mesh->vertices + 3 * edge->to;
    int count = mesh->table->num_face_vertex;
    for (int64_t k = open->first[vertex]; k < open->first[vertex + 1]; k++) {
        int64_t list[4], cell = open->face[k] / mesh->table->num_face;
        face_vertices(mesh, open->face[k], list);
        for (int i = 0; i < count; i++) {
            int64_t next = list[i];
            if ((list[(i + 1) % count] != vertex && list[(i + count - 1) % count] != vertex) ||
                cell == edge->face / mesh->table->num_face)
                continue;
            if (part == edge->num_part && next == edge->to) {
                *face = open->face[k];
                return true;
            }
            double gap[3], length[3];
            subtract(to, from, length);
            for (int j = 0; j < 3; j++)
                gap[j] = mesh->vertices[3 * next + j] - from[j] - length[j] * part / edge->num_part;
            if (part < edge->num_part && norm(gap) <= BESIDE / edge->num_part * norm(length) &&
                leads_on(open, edge, next, part + 1, face))
                return true;
        }
    }
    return false;
}

/* How many edges of an outer face are divided; the face of another cell that ends the last of them. */
static int count_divided(const struct open_faces *open, int64_t face, int64_t *beside)
{
    int64_t list[4];
    int count = open->mesh->table->num_face_vertex, found = 0;
    face_vertices(open->mesh, face, list);
    for (int i = 0; i < count; i++) {
        struct edge edge = {face, list[i], list[(i + 1) % count], 2};
        while (edge.num_part <= MOST_PART && !leads_on(open, &edge, edge.from, 1, beside))
            edge.num_part++;
        found += edge.num_part <= MOST_PART;
    }
    return found;
}

/* Faces with two divided edges lie on finer ones; beside them there are some with one. */
static unda_status find_divided(const struct open_faces *open)
{
    const struct unda_mesh *mesh = open->mesh;
    struct offenders some[2] = {{0}};
    for (int64_t face = 0; face < mesh->table->num_face * mesh->num_elem; face++) {
        int64_t beside = 0;
        int found = mesh->neighbor[face] == FACE_UNPAIRED ? count_divided(open, face, &beside) : 0;
        if (found == 0)
            continue;
        struct offenders *to = &some[found > 1];
        int64_t count = to->count + 1;
        offenders_add(to, mesh->order[face / mesh->table->num_face]);
        offenders_add(to, mesh->order[beside / mesh->table->num_face]);
        to->count = count;
    }
    const struct offenders *bad = &some[some[1].count > 0];
    if (bad->count)
        FAIL(UNDA_ERR_MESH,
             "edges of %lld %s are divided by other elements (hanging nodes), elements %s; expected whole "
             "faces that "
             "two elements share",
             (long long)bad->count, bad->count == 1 ? "face" : "faces", offenders_first(bad).text);
    return UNDA_OK;
}

static unda_status find(struct open_faces *open)
{
    TRY(open_faces_list(open));
    for (open->vertex = 0; open->vertex < open->mesh->num_vertex; open->vertex++)
        if (open->first[open->vertex] < open->first[open->vertex + 1])
            TRY(locate_near(open->mesh, open->mesh->vertices + 3 * open->vertex, ON, look, open));
    const struct offenders *bad = open->faces.count ? &open->faces : &open->corners;
    if (bad->count)
        FAIL(UNDA_ERR_MESH,
             "%lld %s of other elements on %s (hanging nodes), elements %s; expected whole faces that two "
             "elements share",
             (long long)bad->count, bad->count == 1 ? "face has vertices" : "faces have vertices",
             bad->count == 1 ? "it" : "them", offenders_first(bad).text);
    return find_divided(open);
}

unda_status faces_check_hanging(const struct unda_mesh *mesh)
{
    struct open_faces open = {.mesh = mesh};
    unda_status status = find(&open);
    arrays_free(&open.owned);
    return status;
}
