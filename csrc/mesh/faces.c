/* faces.c: finds elements that share a face, with a hash table of the faces' vertices: O(num_elem), by many threads.
 * Not here: outer faces (boundary.c), faces joined by a translation (periodic.c).
 * Next: boundary.c. */
#include "internal.h"
#include "vector.h"

#include "../base/parallel.h"

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
    __atomic_store_n(&mesh->neighbor[face], (int32_t)other, __ATOMIC_RELAXED);
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

static void sorted_vertices(const struct unda_mesh *mesh, int64_t face, int64_t key[4])
{
    face_vertices(mesh, face, key);
    sort4(key);
}

/* How many faces of the table have the sorted vertices key; the lowest two of them, or -1. */
static int64_t find_sorted(const struct face_table *table, const int64_t key[4], int64_t lowest[2])
{
    int64_t count = 0;
    lowest[0] = lowest[1] = -1;
    for (int64_t face = table->head[chain_of(4, key, table->mask)]; face >= 0; face = table->next[face]) {
        int64_t other[4];
        sorted_vertices(table->mesh, face, other);
        if (memcmp(key, other, sizeof other) != 0)
            continue;
        bool first = lowest[0] < 0 || face < lowest[0];
        if (first || lowest[1] < 0 || face < lowest[1])
            lowest[1] = first ? lowest[0] : face;
        if (first)
            lowest[0] = face;
        count++;
    }
    return count;
}

int64_t faces_find(const struct face_table *table, const int64_t *vertices)
{
    int64_t key[4] = {-1, -1, -1, -1}, lowest[2];
    for (int i = 0; i < table->mesh->table->num_face_vertex; i++)
        key[i] = vertices[i];
    sort4(key);
    find_sorted(table, key, lowest);
    return lowest[0];
}

/* Faces in the order in which threads come to them: who looks for one goes through its whole chain. */
static void fill_chains(void *user, int64_t begin, int64_t end)
{
    const struct face_table *table = user;
    for (int64_t face = begin; face < end; face++) {
        int64_t key[4];
        sorted_vertices(table->mesh, face, key);
        table->mesh->neighbor[face] = FACE_UNPAIRED;
        table->next[face] =
            __atomic_exchange_n(&table->head[chain_of(4, key, table->mask)], (int32_t)face, __ATOMIC_RELAXED);
    }
}

static unda_status face_table_new(struct face_table *table, void **owner, const struct unda_mesh *mesh)
{
    int64_t num_face = mesh->num_elem * mesh->table->num_face, size = 64;
    while (size < num_face / 2) /* half of all faces have the vertices of another one */
        size *= 2;
    *table = (struct face_table){.mesh = mesh, .mask = size - 1};
    TRY(array_own(owner, &table->head, size, sizeof *table->head, "face hash"));
    TRY(array_own(owner, &table->next, num_face, sizeof *table->next, "face hash"));
    memset(table->head, -1, (size_t)size * sizeof *table->head);
    parallel_parts(parallel_parts_worth(num_face, 100), num_face, fill_chains, table);
    return UNDA_OK;
}

struct pairing {
    const struct face_table *table;
    struct unda_mesh *mesh;
    int64_t num_crowded;
};

/* The lower one of two faces joins them. */
static void pair(void *user, int64_t begin, int64_t end)
{
    struct pairing *p = user;
    for (int64_t face = begin; face < end; face++) {
        int64_t key[4], lowest[2];
        if (__atomic_load_n(&p->mesh->neighbor[face], __ATOMIC_RELAXED) != FACE_UNPAIRED)
            continue;
        sorted_vertices(p->mesh, face, key);
        int64_t count = find_sorted(p->table, key, lowest);
        if (count == 1 || lowest[0] != face)
            continue;
        face_vertices(p->mesh, face, key);
        faces_join(p->mesh, face, lowest[1], key);
        if (count > 2)
            __atomic_add_fetch(&p->num_crowded, count - 2, __ATOMIC_RELAXED);
    }
}

static unda_status refuse_crowded(const struct face_table *table)
{
    const struct unda_mesh *mesh = table->mesh;
    struct offenders crowded = {0};
    int num_face = mesh->table->num_face;
    for (int64_t face = 0; face < num_face * mesh->num_elem; face++) {
        int64_t key[4], lowest[2];
        sorted_vertices(mesh, face, key);
        if (find_sorted(table, key, lowest) < 3 || face <= lowest[1])
            continue;
        offenders_add(&crowded, mesh->order[face / num_face]);
        offenders_add(&crowded, mesh->order[lowest[0] / num_face]);
        offenders_add(&crowded, mesh->order[lowest[1] / num_face]);
    }
    FAIL(UNDA_ERR_MESH, "%lld faces are shared by three or more elements, elements %s",
         (long long)crowded.count / 3, offenders_first(&crowded).text);
}

unda_status faces_match(struct face_table *table, void **owner, struct unda_mesh *mesh)
{
    TRY(face_table_new(table, owner, mesh));
    struct pairing p = {.table = table, .mesh = mesh};
    int64_t num_face = mesh->num_elem * mesh->table->num_face;
    parallel_parts(parallel_parts_worth(num_face, 200), num_face, pair, &p);
    return p.num_crowded ? refuse_crowded(table) : UNDA_OK;
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
