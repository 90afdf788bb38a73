/* faces.c: finds elements that share a face, with a hash table of the faces' vertices: O(num_elem).
 * Not here: outer faces (boundary.c), faces joined by a translation (periodic.c).
 * Next: boundary.c. */
#include "internal.h"
#include "vector.h"

#include <string.h>

/* The vertices of a face, ascending; unused ones are -1 and stand first. */
static void sort4(int64_t v[4])
{
    static const int pairs[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (int i = 0; i < 5; i++) {
        int64_t a = v[pairs[i][0]], b = v[pairs[i][1]];
        v[pairs[i][0]] = a < b ? a : b;
        v[pairs[i][1]] = a < b ? b : a;
    }
}

/* In the order of the element's (sorted) vertices; the fourth of a triangle is -1. */
void face_vertices(const struct unda_mesh *mesh, int64_t face, int64_t vertices[4])
{
    const struct shape_table *shape = mesh->table;
    const int64_t *cell = mesh->sorted + face / shape->num_face * shape->num_vertex;
    const int *local = shape->face_vertex[face % shape->num_face];
    vertices[3] = -1;
    for (int i = 0; i < shape->num_face_vertex; i++)
        vertices[i] = cell[local[i]];
}

/* Neighbour and turn of one face; at[i]: place of its vertex i in the other one's list. */
static void join(struct unda_mesh *mesh, int64_t face, int64_t other, const int at[4])
{
    mesh->neighbor[face] = (int32_t)other;
    mesh->turn[face] = (int8_t)(2 * at[0] + (at[1] != (at[0] + 1) % mesh->table->num_face_vertex));
}

void faces_join(struct unda_mesh *mesh, int64_t face, int64_t other, const int64_t vertices[4])
{
    int64_t there[4];
    int at[4] = {0}, back[4] = {0};
    face_vertices(mesh, other, there);
    for (int i = 0; i < mesh->table->num_face_vertex; i++)
        for (int k = 0; k < mesh->table->num_face_vertex; k++)
            if (vertices[i] == there[k]) {
                at[i] = k;
                back[k] = i;
            }
    join(mesh, face, other, at);
    join(mesh, other, face, back);
}

/* A face of the table with the sorted vertices key, or -1. */
static int64_t find_sorted(const struct face_table *table, const int64_t key[4])
{
    for (int64_t face = table->head[chain_of(4, key, table->mask)]; face >= 0; face = table->next[face]) {
        int64_t other[4];
        face_vertices(table->mesh, face, other);
        sort4(other);
        if (memcmp(key, other, sizeof other) == 0)
            return face;
    }
    return -1;
}

int64_t faces_find(const struct face_table *table, const int64_t *vertices)
{
    int64_t key[4] = {-1, -1, -1, -1};
    for (int i = 0; i < table->mesh->table->num_face_vertex; i++)
        key[i] = vertices[i];
    sort4(key);
    return find_sorted(table, key);
}

static unda_status face_table_new(struct face_table *table, void **owner, const struct unda_mesh *mesh)
{
    int64_t num_face = mesh->num_elem * mesh->table->num_face, size = 64;
    while (size < num_face / 2) /* half of all faces meet one that is there already */
        size *= 2;
    table->mesh = mesh;
    table->mask = size - 1;
    TRY(array_own(owner, &table->head, size, sizeof *table->head, "face hash"));
    TRY(array_own(owner, &table->next, num_face, sizeof *table->next, "face hash"));
    for (int64_t i = 0; i < size; i++)
        table->head[i] = -1;
    return UNDA_OK;
}

unda_status faces_match(struct face_table *table, void **owner, struct unda_mesh *mesh)
{
    TRY(face_table_new(table, owner, mesh));
    struct offenders crowded = {0};
    int num_face = mesh->table->num_face;
    for (int64_t face = 0; face < num_face * mesh->num_elem; face++) {
        int64_t key[4];
        face_vertices(mesh, face, key);
        sort4(key);
        mesh->neighbor[face] = FACE_UNPAIRED;
        int64_t other = find_sorted(table, key);
        if (other < 0) {
            int64_t chain = chain_of(4, key, table->mask);
            table->next[face] = table->head[chain];
            table->head[chain] = (int32_t)face;
        } else if (mesh->neighbor[other] == FACE_UNPAIRED) {
            face_vertices(mesh, face, key);
            faces_join(mesh, face, other, key);
        } else {
            offenders_add(&crowded, mesh->order[face / num_face]);
            offenders_add(&crowded, mesh->order[other / num_face]);
            offenders_add(&crowded, mesh->order[mesh->neighbor[other] / num_face]);
        }
    }
    if (crowded.count)
        FAIL(UNDA_ERR_MESH, "%lld faces are shared by three or more elements, elements %s",
             (long long)crowded.count / 3, offenders_first(&crowded).text);
    return UNDA_OK;
}

/* On which side of a face its element lies: positive along the normal. */
static double depth(const struct unda_mesh *mesh, int64_t face, const double *normal)
{
    int num_vertex = mesh->table->num_vertex;
    const int64_t *cell = mesh->sorted + face / mesh->table->num_face * num_vertex;
    int64_t vertices[4];
    face_vertices(mesh, face, vertices);
    double sum = 0;
    for (int v = 0; v < num_vertex; v++) {
        double arm[3];
        subtract(mesh->vertices + 3 * cell[v], mesh->vertices + 3 * vertices[0], arm);
        sum += dot(normal, arm);
    }
    return sum;
}

static void face_normal(const struct unda_mesh *mesh, int64_t face, double normal[3])
{
    int64_t vertices[4];
    face_vertices(mesh, face, vertices);
    const double *origin = mesh->vertices + 3 * vertices[0];
    double a[3], b[3];
    subtract(mesh->vertices + 3 * vertices[1], origin, a);
    subtract(mesh->vertices + 3 * vertices[2], origin, b);
    cross(a, b, normal);
}

/* A right-handed hexahedron lists the vertices of these faces (1) or of the others (0) counterclockwise as seen
 * from outside. Two that share a face lie on its two sides if they go around it in opposite ways as seen from
 * their own outsides: a face may be warped, and has no one normal then. */
static bool same_side(const struct unda_mesh *mesh, int64_t face, int64_t other)
{
    static const bool outward[6] = {0, 1, 1, 0, 0, 1};
    if (mesh->shape == UNDA_HEX)
        return (outward[face % 6] == outward[other % 6]) != mesh->turn[face] % 2;
    double normal[3];
    face_normal(mesh, face, normal);
    return (depth(mesh, face, normal) > 0) == (depth(mesh, other, normal) > 0);
}

/* Two elements that share a face must lie on its two sides, or they overlap. */
unda_status faces_check_sides(const struct unda_mesh *mesh)
{
    struct offenders overlap = {0};
    int num_face = mesh->table->num_face;
    for (int64_t face = 0; face < num_face * mesh->num_elem; face++) {
        int64_t other = mesh->neighbor[face];
        if (other <= face)
            continue;
        if (same_side(mesh, face, other)) {
            offenders_add(&overlap, mesh->order[face / num_face]);
            offenders_add(&overlap, mesh->order[other / num_face]);
        }
    }
    if (overlap.count)
        FAIL(UNDA_ERR_MESH, "%lld pairs of elements overlap: same side of a shared face, elements %s",
             (long long)overlap.count / 2, offenders_first(&overlap).text);
    return UNDA_OK;
}
