/* share.c: all cells that share a point: two at a face, more at an edge or a vertex, periodic images
 * included. The search starts in one cell that contains the point and crosses the faces on which it lies, so
 * that rounding is decided only once, and cells across a crack, which no face joins, do not count. Next:
 * locate.c (the first cell); python/unda/method/_sites.py (which of them a source or a receiver takes). */
#include "hexahedron.h"
#include "vector.h"

#include "../base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* A cell as seen at a point. */
struct holder {
    int64_t place;    /* internal element */
    unsigned support; /* bits of the sorted vertices between which the point lies */
    double x[3];      /* the point, moved along by periods [m] */
    double weight;
};

struct holders {
    struct holder *list;
    int64_t count, room;
};

static unda_status holders_add(struct holders *all, const struct holder *one)
{
    if (all->count == all->room) {
        TRY(array_grow(&all->list, all->count, 2 * all->room + 64, sizeof *all->list, "cells of points"));
        all->room = 2 * all->room + 64;
    }
    all->list[all->count++] = *one;
    return UNDA_OK;
}

/* Bits of the vertices of an internal face in its element. */
static unsigned vertices_of(const unda_mesh *mesh, int face)
{
    unsigned bits = 0;
    for (int i = 0; i < mesh->table->num_face_vertex; i++)
        bits |= 1u << mesh->table->face_vertex[face][i];
    return bits;
}

static unsigned support_of(const unda_mesh *mesh, int64_t elem, const double *x)
{
    double lambda[MAX_FACE], room[MAX_FACE];
    unsigned support = (1u << mesh->table->num_vertex) - 1;
    mesh_coordinates(mesh, elem, x, lambda, room);
    for (int face = 0; face < mesh->table->num_face; face++)
        if (lambda[face] <= room[face])
            support &= vertices_of(mesh, (int)(mesh_face(mesh, elem, face) % mesh->table->num_face));
    return support;
}

/* The neighbour across a face on which the point lies. */
static struct holder behind(const unda_mesh *mesh, const struct holder *from, int face, int64_t neighbor)
{
    const struct shape_table *table = mesh->table;
    struct holder to = *from;
    const int *own = table->face_vertex[face], *list = table->face_vertex[neighbor % table->num_face];
    int n = table->num_face_vertex, turn = mesh->turn[table->num_face * from->place + face], other[4];
    for (int i = 0; i < n; i++)
        other[i] = list[(turn / 2 + (turn % 2 ? n - i : i)) % n];
    to.place = neighbor / table->num_face;
    to.support = 0;
    for (int i = 0; i < n; i++)
        if (from->support >> own[i] & 1)
            to.support |= 1u << other[i];
    const double *here = mesh->vertices + 3 * mesh->sorted[table->num_vertex * from->place + own[0]];
    const double *there = mesh->vertices + 3 * mesh->sorted[table->num_vertex * to.place + other[0]];
    for (int i = 0; i < 3 && here != there; i++)
        to.x[i] += there[i] - here[i];
    return to;
}

static int by_element(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* The position in the first cell determines that in all others; the first stays first, the others are sorted
 * by the user's numbers. A small cell may contain several images of one point. */
static unda_status find(const unda_mesh *mesh, int64_t elem, unsigned support, const double *x,
                        struct holders *all)
{
    int64_t begin = all->count;
    struct holder one = {.place = mesh->place[elem], .support = support};
    memcpy(one.x, x, sizeof one.x);
    TRY(holders_add(all, &one));
    for (int64_t i = begin; i < all->count; i++)
        for (int face = 0; face < mesh->table->num_face; face++) {
            const struct holder from = all->list[i];
            int64_t neighbor = mesh->neighbor[mesh->table->num_face * from.place + face];
            if (from.support & ~vertices_of(mesh, face) || neighbor < 0)
                continue;
            one = behind(mesh, &from, face, neighbor);
            bool known = false;
            for (int64_t k = begin; k < all->count && !known; k++)
                known = all->list[k].place == one.place && all->list[k].support == one.support;
            if (!known)
                TRY(holders_add(all, &one));
        }
    for (int64_t i = begin; i < all->count; i++)
        all->list[i].place = mesh->order[all->list[i].place];
    qsort(all->list + begin + 1, (size_t)(all->count - begin - 1), sizeof *all->list, by_element);
    return UNDA_OK;
}

/* Mean of |y - x|^2 over a tetrahedron: (sum |a_v|^2 + |sum a_v|^2) / 20, a_v from x to vertex v [m2]. */
static double tet_square(const unda_mesh *mesh, int64_t elem, const double *x)
{
    double total = 0, sum[3] = {0};
    for (int v = 0; v < 4; v++) {
        double arm[3];
        subtract(mesh->vertices + 3 * mesh->cells[4 * elem + v], x, arm);
        total += dot(arm, arm);
        for (int i = 0; i < 3; i++)
            sum[i] += arm[i];
    }
    return (total + dot(sum, sum)) / 20;
}

/* Over a hexahedron by three Gauss points along each axis: exact for straight cells, where it is of degree 4. */
static double hex_square(const unda_mesh *mesh, int64_t elem, const double *x)
{
    double total = 0, volume = 0;
    for (int point = 0; point < 27; point++) {
        double r[3], y[3], edge[3][3], normal[3], arm[3], weight = 1;
        for (int axis = 0, at = point; axis < 3; axis++, at /= 3) {
            r[axis] = gauss3_point[at % 3];
            weight *= gauss3_weight[at % 3];
        }
        mesh_map(mesh, elem, r, y, edge);
        cross(edge[1], edge[2], normal);
        subtract(y, x, arm);
        weight *= dot(edge[0], normal);
        volume += weight;
        total += weight * dot(arm, arm);
    }
    return total / volume;
}

/* The polynomial of degree N in one cell that acts like delta(y - x) on all of that degree errs first at
 * degree N + 1, by about the cell's size as seen from x, its root mean square distance R, to that power.
 * Errors of different cells have different signs: the mean with the least variance has weights R^-2(N + 1),
 * scaled to the sum 1 (inverse-variance weighting, Cochran 1937). */
static void weigh(const unda_mesh *mesh, int degree, struct holder *list, int64_t count)
{
    double least = INFINITY, sum = 0;
    if (count == 1) { /* what follows would give the same */
        list[0].weight = 1;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        list[i].weight = (mesh->shape == UNDA_TET ? tet_square : hex_square)(mesh, list[i].place, list[i].x);
        least = fmin(least, list[i].weight);
    }
    for (int64_t i = 0; i < count; i++)
        sum += list[i].weight = pow(least / list[i].weight, degree + 1);
    for (int64_t i = 0; i < count; i++)
        list[i].weight /= sum;
}

/* The support of each point in its first cell, which takes the most time. */
struct supporting {
    const unda_mesh *mesh;
    const double *points;
    const int64_t *elem;
    unsigned *support;
};

static void support_part(void *user, int64_t begin, int64_t end)
{
    const struct supporting *p = user;
    for (int64_t i = begin; i < end; i++)
        p->support[i] = p->elem[i] < 0 ? 0 : support_of(p->mesh, p->elem[i], p->points + 3 * i);
}

static unda_status share(const unda_mesh *mesh, const unda_shared *shared, int64_t *first,
                         struct holders *all)
{
    enum { NANOSECONDS = 500 }; /* a point */
    SCRATCH int64_t *elem = NULL;
    SCRATCH unsigned *support = NULL;
    TRY(array_try(&elem, shared->num_point, sizeof *elem, "cells of points"));
    TRY(array_try(&support, shared->num_point, sizeof *support, "cells of points"));
    TRY(unda_mesh_locate(mesh, shared->num_point, shared->points, elem, NULL));
    parallel_parts(parallel_parts_worth(shared->num_point, NANOSECONDS), shared->num_point, support_part,
                   &(struct supporting){mesh, shared->points, elem, support});
    for (int64_t i = 0; i < shared->num_point; i++) {
        first[i] = all->count;
        if (elem[i] < 0)
            continue;
        TRY(find(mesh, elem[i], support[i], shared->points + 3 * i, all));
        weigh(mesh, shared->degree, all->list + first[i], all->count - first[i]);
    }
    first[shared->num_point] = all->count;
    if (shared->elem && all->count > shared->max_cell)
        FAIL(UNDA_ERR_ARG, "max_cell is %lld, expected at least the %lld cells of these points",
             (long long)shared->max_cell, (long long)all->count);
    return UNDA_OK;
}

static void copy_out(const unda_shared *shared, const int64_t *first, const struct holders *all)
{
    memcpy(shared->first, first, (size_t)(shared->num_point + 1) * sizeof *first);
    for (int64_t i = 0; shared->elem && i < all->count; i++) {
        shared->elem[i] = all->list[i].place;
        if (shared->places)
            memcpy(shared->places + 3 * i, all->list[i].x, sizeof all->list[i].x);
        if (shared->weights)
            shared->weights[i] = all->list[i].weight;
    }
}

unda_status unda_mesh_share(const unda_mesh *mesh, const unda_shared *shared)
{
    TRY(fork_check());
    CHECK_SIZE(shared, unda_shared);
    if (!mesh || !shared->first || shared->num_point < 0 || (shared->num_point && !shared->points))
        FAIL(UNDA_ERR_ARG, "mesh, first or points is NULL, or num_point is %lld, expected 0 or more",
             (long long)shared->num_point);
    if (mesh->num_owned < mesh->num_elem)
        FAIL(UNDA_ERR_ARG,
             "the mesh is part %d of %d: elements that share a point may be in others, expected the "
             "whole mesh",
             mesh->part.which, mesh->part.num_part);
    if (shared->degree < 0 || shared->degree > 10)
        FAIL(UNDA_ERR_ARG, "degree is %d, expected 0..10", shared->degree);
    SCRATCH int64_t *first = NULL;
    struct holders all = {0};
    TRY(array_try(&first, shared->num_point + 1, sizeof *first, "cells of points"));
    unda_status status = share(mesh, shared, first, &all);
    if (status == UNDA_OK)
        copy_out(shared, first, &all);
    array_free(all.list);
    return status;
}
