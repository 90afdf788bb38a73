/* part.c: one part of a mesh as a mesh of its own, with its ghosts and the faces that it shares with other parts.
 * Everything is copied from the whole mesh, nothing is searched: a face has the same vertices in the same order, the
 * same side numbers and turns. Next: pack.c (which sends it), space/space.c (which reads it). */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct cut {
    const struct unda_mesh *whole;
    const int32_t *part; /* [elem of the whole mesh], as its user counts */
    struct unda_mesh *mesh;
    int64_t *from; /* [internal elem]: that of the whole mesh */
    int32_t *here; /* [internal elem of the whole mesh]: the reverse, -1 where it is not in this part */
};

static unda_status check_assignment(const struct unda_mesh *mesh, int32_t num_part, const int32_t *part,
                                    int32_t which)
{
    SCRATCH int64_t *count = NULL;
    struct offenders bad = {0}, empty = {0};
    if (which < 0 || which >= num_part)
        FAIL(UNDA_ERR_ARG, "which is %d, expected 0..%d", which, num_part - 1);
    TRY(array_try(&count, num_part, sizeof *count, "parts"));
    for (int64_t elem = 0; elem < mesh->num_elem; elem++)
        if (part[elem] < 0 || part[elem] >= num_part)
            offenders_add(&bad, elem);
        else
            count[part[elem]]++;
    if (bad.count)
        FAIL(UNDA_ERR_ARG, "%lld elements are in no part of 0..%d, %s: found %d", (long long)bad.count,
             num_part - 1, offenders_first(&bad).text, part[bad.first[0]]);
    for (int32_t i = 0; i < num_part; i++)
        if (!count[i])
            offenders_add(&empty, i);
    if (empty.count)
        FAIL(UNDA_ERR_ARG, "%lld of %d parts have no element, %s; expected at least one in each",
             (long long)empty.count, num_part, offenders_first(&empty).text);
    return UNDA_OK;
}

/* Part of an internal element of the whole mesh. */
static int32_t part_of(const struct cut *c, int64_t place)
{
    return c->part[c->whole->order[place]];
}

/* The neighbours of an element that are in other parts; returns how many faces lead to them. */
static int foreign(const struct cut *c, int64_t place, int64_t others[MAX_FACE])
{
    int num = 0, num_face = c->whole->table->num_face;
    for (int face = 0; face < num_face; face++) {
        int64_t neighbor = c->whole->neighbor[num_face * place + face];
        if (neighbor >= 0 && part_of(c, neighbor / num_face) != c->mesh->part.which)
            others[num++] = neighbor / num_face;
    }
    return num;
}

static void count_elements(struct cut *c)
{
    struct mesh_part *part = &c->mesh->part;
    int64_t others[MAX_FACE];
    for (int64_t place = 0; place < c->whole->num_elem; place++) {
        if (part_of(c, place) != part->which)
            continue;
        int num = foreign(c, place, others);
        c->mesh->num_owned++;
        part->num_border += num > 0;
        part->num_cut += num;
    }
}

struct ghost {
    int32_t part;
    int64_t place;
};

static int by_part(const void *a, const void *b)
{
    const struct ghost *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Own elements to their places; returns the number of ghosts, which `here` marks by 0. */
static int64_t list_owned(struct cut *c, struct ghost *ghosts)
{
    int64_t others[MAX_FACE], border = 0, inner = c->mesh->part.num_border, num_ghost = 0;
    for (int64_t place = 0; place < c->whole->num_elem; place++) {
        if (part_of(c, place) != c->mesh->part.which)
            continue;
        int num = foreign(c, place, others);
        c->from[num > 0 ? border++ : inner++] = place;
        for (int i = 0; i < num; i++) {
            if (c->here[others[i]] >= 0)
                continue;
            c->here[others[i]] = 0;
            ghosts[num_ghost++] = (struct ghost){part_of(c, others[i]), others[i]};
        }
    }
    return num_ghost;
}

static unda_status list_elements(struct cut *c, void **owner)
{
    struct ghost *ghosts;
    count_elements(c);
    int64_t num_owned = c->mesh->num_owned, room = c->mesh->part.num_cut;
    TRY(array_own(owner, &c->from, num_owned + room, sizeof *c->from, "elements of a part"));
    TRY(array_own(owner, &c->here, c->whole->num_elem, sizeof *c->here, "elements of a part"));
    TRY(array_own(owner, &ghosts, room, sizeof *ghosts, "ghosts"));
    memset(c->here, -1, (size_t)c->whole->num_elem * sizeof *c->here);
    int64_t num_ghost = list_owned(c, ghosts);
    qsort(ghosts, (size_t)num_ghost, sizeof *ghosts, by_part);
    for (int64_t i = 0; i < num_ghost; i++)
        c->from[num_owned + i] = ghosts[i].place;
    c->mesh->num_elem = num_owned + num_ghost;
    for (int64_t i = 0; i < c->mesh->num_elem; i++)
        c->here[c->from[i]] = (int32_t)i;
    return UNDA_OK;
}

/* Numbers of the vertices here, -1 elsewhere: they ascend with those of the whole mesh. */
static unda_status number_vertices(struct cut *c, void **owner, int64_t **number)
{
    const struct unda_mesh *whole = c->whole;
    int num_vertex = whole->table->num_vertex;
    int64_t count = 0;
    TRY(array_own(owner, number, whole->num_vertex, sizeof **number, "vertices of a part"));
    for (int64_t i = 0; i < c->mesh->num_elem; i++)
        for (int v = 0; v < num_vertex; v++)
            (*number)[whole->sorted[num_vertex * c->from[i] + v]] = 1;
    for (int64_t v = 0; v < whole->num_vertex; v++)
        (*number)[v] = (*number)[v] ? count++ : -1;
    c->mesh->num_vertex = count;
    return UNDA_OK;
}

/* The boundary faces of own elements. */
static bool is_listed(const struct cut *c, int64_t i)
{
    int32_t elem = c->here[c->whole->boundary_place[i] / c->whole->table->num_face];
    return elem >= 0 && elem < c->mesh->num_owned;
}

/* As users count: own elements in the order of the whole mesh, ghosts as inside. */
static void number_elements(struct cut *c)
{
    struct unda_mesh *mesh = c->mesh;
    int64_t count = 0;
    for (int64_t elem = 0; elem < c->whole->num_elem; elem++)
        if (c->part[elem] == mesh->part.which)
            mesh->place[count++] = c->here[c->whole->place[elem]];
    for (; count < mesh->num_elem; count++)
        mesh->place[count] = count;
    for (int64_t elem = 0; elem < mesh->num_elem; elem++) {
        mesh->order[mesh->place[elem]] = elem;
        mesh->part.global[elem] = c->whole->order[c->from[mesh->place[elem]]];
    }
}

static void copy_elements(struct cut *c, const int64_t *number)
{
    const struct unda_mesh *whole = c->whole;
    struct unda_mesh *mesh = c->mesh;
    int num_vertex = whole->table->num_vertex;
    for (int64_t v = 0; v < whole->num_vertex; v++)
        if (number[v] >= 0)
            memcpy(mesh->vertices + 3 * number[v], whole->vertices + 3 * v, 3 * sizeof *mesh->vertices);
    for (int64_t elem = 0; elem < mesh->num_elem; elem++) {
        int64_t from = mesh->part.global[elem], place = mesh->place[elem];
        for (int v = 0; v < num_vertex; v++) {
            mesh->cells[num_vertex * elem + v] = number[whole->cells[num_vertex * from + v]];
            mesh->sorted[num_vertex * place + v] = number[whole->sorted[num_vertex * c->from[place] + v]];
        }
        mesh->tags[elem] = whole->tags[from];
        if (mesh->curved)
            memcpy(mesh->curved + 81 * elem, whole->curved + 81 * from, 81 * sizeof *mesh->curved);
    }
}

static void copy_faces(struct cut *c, const int64_t *number)
{
    const struct unda_mesh *whole = c->whole;
    struct unda_mesh *mesh = c->mesh;
    int num_face = whole->table->num_face, num_face_vertex = whole->table->num_face_vertex;
    for (int64_t i = 0; i < num_face * mesh->num_elem; i++) {
        int64_t face = num_face * c->from[i / num_face] + i % num_face;
        int32_t other = whole->neighbor[face], elem = other < 0 ? -1 : c->here[other / num_face];
        mesh->neighbor[i] = other < 0 ? other : elem < 0 ? FACE_OUTSIDE : num_face * elem + other % num_face;
        mesh->turn[i] = whole->turn[face];
    }
    int64_t count = 0;
    for (int64_t i = 0; i < whole->num_boundary_face; i++) {
        if (!is_listed(c, i))
            continue;
        int64_t face = whole->boundary_place[i];
        for (int v = 0; v < num_face_vertex; v++)
            mesh->boundary_faces[num_face_vertex * count + v] =
                number[whole->boundary_faces[num_face_vertex * i + v]];
        mesh->boundary_ids[count] = whole->boundary_ids[i];
        mesh->boundary_place[count++] = num_face * (int64_t)c->here[face / num_face] + face % num_face;
    }
}

struct cut_face {
    int32_t part;
    int64_t key; /* the lower number of its two sides in the whole mesh */
    int64_t own, ghost;
};

static int by_key(const void *a, const void *b)
{
    const struct cut_face *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static void find_cut_faces(const struct cut *c, struct cut_face *faces)
{
    const struct unda_mesh *mesh = c->mesh;
    int64_t num_face = mesh->table->num_face, count = 0;
    for (int64_t i = 0; i < num_face * mesh->part.num_border; i++) {
        int64_t other = mesh->neighbor[i];
        if (other < num_face * mesh->num_owned)
            continue;
        int64_t place = c->from[other / num_face];
        int64_t here = num_face * c->from[i / num_face] + i % num_face;
        int64_t there = num_face * place + other % num_face;
        faces[count++] = (struct cut_face){part_of(c, place), here < there ? here : there, i, other};
    }
}

static unda_status list_cut_faces(const struct cut *c)
{
    struct unda_mesh *mesh = c->mesh;
    struct mesh_part *part = &mesh->part;
    SCRATCH struct cut_face *faces = NULL;
    TRY(array_try(&faces, part->num_cut, sizeof *faces, "cut faces"));
    find_cut_faces(c, faces);
    qsort(faces, (size_t)part->num_cut, sizeof *faces, by_key);
    int32_t count = 0;
    for (int64_t i = 0; i < part->num_cut; i++) {
        if (i == 0 || faces[i].part != faces[i - 1].part) {
            part->neighbor[count] = faces[i].part;
            part->first[count++] = i;
        }
        part->own[i] = faces[i].own;
        part->ghost[i] = faces[i].ghost;
    }
    part->first[count] = part->num_cut;
    return UNDA_OK;
}

/* Ghosts stand by part, so each part among them is a neighbour. */
static int32_t count_neighbors(const struct cut *c)
{
    int32_t count = 0;
    for (int64_t i = c->mesh->num_owned; i < c->mesh->num_elem; i++)
        count += i == c->mesh->num_owned || part_of(c, c->from[i]) != part_of(c, c->from[i - 1]);
    return count;
}

static unda_status fill(struct cut *c)
{
    const struct unda_mesh *whole = c->whole;
    struct unda_mesh *mesh = c->mesh;
    int64_t *number;
    OWNER void *owned = NULL;
    TRY(list_elements(c, &owned));
    TRY(number_vertices(c, &owned, &number));
    mesh->part.num_neighbor = count_neighbors(c);
    for (int64_t i = 0; i < whole->num_boundary_face; i++)
        mesh->num_boundary_face += is_listed(c, i);
    TRY(pack_allocate(mesh, whole->curved != NULL));
    number_elements(c);
    copy_elements(c, number);
    copy_faces(c, number);
    TRY(list_cut_faces(c));
    TRY(check_geometry(mesh, false)); /* the same numbers as those of the whole mesh */
    mesh_fill_info(mesh);
    return UNDA_OK;
}

unda_status unda_mesh_part(unda_mesh **local, const unda_mesh *whole, int32_t num_part, const int32_t *part,
                           int32_t which)
{
    TRY(fork_check());
    if (!local || !whole || !part)
        FAIL(UNDA_ERR_ARG, "local, mesh or part is NULL");
    TRY(partition_check(whole, num_part));
    TRY(check_assignment(whole, num_part, part, which));
    struct unda_mesh *mesh;
    TRY(array_try(&mesh, 1, sizeof *mesh, "mesh"));
    atomic_init(&mesh->holders, 1);
    mesh->shape = whole->shape;
    mesh->table = whole->table;
    mesh->num_boundary = whole->num_boundary;
    mesh->part.which = which;
    mesh->part.num_part = num_part;
    return COMPLETE(local, mesh, unda_mesh_free,
                    fill(&(struct cut){.whole = whole, .part = part, .mesh = mesh}));
}
