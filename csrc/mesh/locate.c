/* locate.c: finds the element that contains a point, with a tree of bounding boxes built on first use.
 * Next: inverse.c (hexahedra), share.c (all cells that contain a point). Used by: sources and receivers of the solvers. */
#include "hexahedron.h"
#include "vector.h"

#include "../base/parallel.h"

#include <float.h>
#include <pthread.h>

/* A point lies in an element when its barycentric coordinates are above -INSIDE, minus rounding. */
static const double INSIDE = 1e-10;
enum { FAN = 8, MAX_LEVEL = 12 };

/* Elements in internal order are close together, so a box for each FAN of them, a box for each FAN
 * of those boxes, and so on, are a good tree without any pointers, on graded meshes too. */
struct box {
    double lower[3], upper[3];
};
struct locator {
    int num_level;
    int64_t num_box[MAX_LEVEL];
    struct box *boxes[MAX_LEVEL]; /* [level][box]; level 0 holds elements */
};

/* Comparisons, which take an instruction where fmin and fmax, for the sake of NaN, are calls. */
static void box_add(struct box *box, const double *lower, const double *upper)
{
    for (int i = 0; i < 3; i++) {
        box->lower[i] = lower[i] < box->lower[i] ? lower[i] : box->lower[i];
        box->upper[i] = upper[i] > box->upper[i] ? upper[i] : box->upper[i];
    }
}

static const struct box EMPTY = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static struct box element_box(const struct unda_mesh *mesh, int64_t place)
{
    struct box box = EMPTY;
    int num_vertex = mesh->table->num_vertex;
    for (int v = 0; v < num_vertex; v++) {
        const double *x = mesh->vertices + 3 * mesh->sorted[place * num_vertex + v];
        box_add(&box, x, x);
    }
    if (mesh->curved) {
        struct hexahedron cell;
        struct box own;
        hexahedron_get(mesh, mesh->order[place], &cell);
        hexahedron_box(&cell, own.lower, own.upper);
        for (int i = 0; i < 3; i++) {
            double origin = mesh->vertices[3 * mesh->sorted[place * num_vertex] + i];
            own.lower[i] += origin;
            own.upper[i] += origin;
        }
        box_add(&box, own.lower, own.upper);
    }
    for (int i = 0; i < 3; i++) { /* tolerance for points slightly outside that count as inside */
        double room = 16 * INSIDE * (box.upper[i] - box.lower[i]) +
                      16 * DBL_EPSILON * fmax(fabs(box.lower[i]), fabs(box.upper[i]));
        box.lower[i] -= room;
        box.upper[i] += room;
    }
    return box;
}

static bool box_holds(const struct box *box, const double *x)
{
    return x[0] >= box->lower[0] && x[0] <= box->upper[0] && x[1] >= box->lower[1] && x[1] <= box->upper[1] &&
           x[2] >= box->lower[2] && x[2] <= box->upper[2];
}

struct growing {
    const struct unda_mesh *mesh;
    struct locator *locator;
    int level;
    int64_t below; /* boxes, or elements, that those of the level hold */
};

static void grow_boxes(void *user, int64_t begin, int64_t end)
{
    const struct growing *g = user;
    struct box *boxes = g->locator->boxes[g->level];
    for (int64_t i = begin; i < end; i++) {
        boxes[i] = EMPTY;
        for (int64_t k = FAN * i; k < FAN * (i + 1) && k < g->below; k++) {
            struct box box = g->level == 0 ? element_box(g->mesh, k) : g->locator->boxes[g->level - 1][k];
            box_add(&boxes[i], box.lower, box.upper);
        }
    }
}

static unda_status locator_new(struct unda_mesh *mesh)
{
    struct locator *locator;
    int64_t below = mesh->num_owned;
    TRY(array_own(&mesh->located, &locator, 1, sizeof *locator, "point locator"));
    do {
        int level = locator->num_level++;
        int64_t count = (below + FAN - 1) / FAN;
        TRY(array_own(&mesh->located, &locator->boxes[level], count, sizeof(struct box), "point locator"));
        locator->num_box[level] = count;
        parallel_parts(parallel_parts_worth(count, 1000), count, grow_boxes,
                       &(struct growing){mesh, locator, level, below});
        below = count;
    } while (below > 1);
    mesh->locator = locator;
    return UNDA_OK;
}

/* The only part of a mesh that changes after unda_mesh_new; the lock admits one builder. */
static unda_status locator_get(const struct locator **out, const unda_mesh *mesh)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct unda_mesh *changed = (struct unda_mesh *)mesh;
    pthread_mutex_lock(&lock);
    unda_status status = mesh->locator ? UNDA_OK : locator_new(changed);
    if (status != UNDA_OK)
        arrays_free(&changed->located);
    *out = mesh->locator;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Rounding of a point's coordinates [m]. */
static double rounding(const double *point)
{
    return 4 * DBL_EPSILON * fmax(fmax(fabs(point[0]), fabs(point[1])), fabs(point[2]));
}

/* grad r_j = e_k x e_l / det of the edges at the point. */
static void hex_coordinates(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[MAX_FACE],
                            double room[MAX_FACE])
{
    double r[3], x[3], edge[3][3], gradient[3], slack = rounding(point);
    bool found = mesh_inverse(mesh, elem, point, r);
    mesh_map(mesh, elem, r, x, edge);
    for (int j = 0; j < 3; j++) {
        cross(edge[(j + 1) % 3], edge[(j + 2) % 3], gradient);
        lambda[2 * j] = found ? r[j] : -INFINITY;
        lambda[2 * j + 1] = found ? 1 - r[j] : -INFINITY;
        room[2 * j] = room[2 * j + 1] = INSIDE + slack * norm(gradient) / fabs(dot(edge[j], gradient));
    }
}

/* r_j = (x - x0) . g_j with g_j = e_k x e_l / det; all relative to vertex 0. lambda_f is 0 on face f, and its
 * gradient is minus the face's normal. */
static void tet_coordinates(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[MAX_FACE],
                            double room[MAX_FACE])
{
    const struct shape_table *table = mesh->table;
    const int64_t *cell = mesh->cells + table->num_vertex * elem;
    const double *origin = mesh->vertices + 3 * cell[0];
    double edge[3][3], gradient[3][3], r[3], x[3], slack = rounding(point);
    for (int j = 0; j < 3; j++)
        subtract(mesh->vertices + 3 * cell[table->axis[j]], origin, edge[j]);
    subtract(point, origin, x);
    double determinant = table->jacobian * mesh->volumes[elem];
    for (int j = 0; j < 3; j++) {
        cross(edge[(j + 1) % 3], edge[(j + 2) % 3], gradient[j]);
        r[j] = dot(x, gradient[j]) / determinant;
    }
    for (int face = 0; face < table->num_face; face++) {
        const int *normal = table->normal[face];
        double sum[3] = {0};
        lambda[face] = normal[0] + normal[1] + normal[2] > 0; /* at vertex 0 */
        for (int j = 0; j < 3; j++) {
            lambda[face] -= normal[j] * r[j];
            for (int i = 0; i < 3; i++)
                sum[i] += normal[j] * gradient[j][i];
        }
        room[face] = INSIDE + slack * norm(sum) / determinant;
    }
}

void mesh_coordinates(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[MAX_FACE],
                      double room[MAX_FACE])
{
    (mesh->shape == UNDA_TET ? tet_coordinates : hex_coordinates)(mesh, elem, point, lambda, room);
}

static bool holds(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[MAX_FACE])
{
    double room[MAX_FACE];
    if (mesh->shape == UNDA_HEX) { /* whose coordinates take far longer */
        struct box box = element_box(mesh, mesh->place[elem]);
        if (!box_holds(&box, point))
            return false;
    }
    mesh_coordinates(mesh, elem, point, lambda, room);
    bool inside = true;
    for (int i = 0; i < mesh->table->num_face; i++)
        inside &= lambda[i] >= -room[i];
    return inside;
}

struct found {
    int64_t elem; /* the lowest so far, -1 for none */
    double lambda[MAX_FACE];
};

static void search(const unda_mesh *mesh, const struct locator *locator, int level, int64_t box,
                   const double *point, struct found *found)
{
    if (!box_holds(&locator->boxes[level][box], point))
        return;
    int64_t end = level == 0 ? mesh->num_owned : locator->num_box[level - 1];
    for (int64_t i = FAN * box; i < FAN * (box + 1) && i < end; i++) {
        if (level > 0) {
            search(mesh, locator, level - 1, i, point, found);
            continue;
        }
        struct found here = {.elem = mesh->order[i]};
        if ((found->elem < 0 || here.elem < found->elem) && holds(mesh, here.elem, point, here.lambda))
            *found = here;
    }
}

static unda_status search_near(const unda_mesh *mesh, const struct locator *locator, int level, int64_t box,
                               const double *point, double room,
                               unda_status (*look)(void *user, int64_t place), void *user)
{
    int64_t end = level == 0 ? mesh->num_owned : locator->num_box[level - 1];
    for (int64_t i = FAN * box; i < FAN * (box + 1) && i < end; i++) {
        struct box here = level == 0 ? element_box(mesh, i) : locator->boxes[level - 1][i];
        double slack = 0;
        for (int k = 0; k < 3; k++)
            slack = fmax(slack, room * (here.upper[k] - here.lower[k]));
        for (int k = 0; k < 3; k++) {
            here.lower[k] -= slack;
            here.upper[k] += slack;
        }
        if (!box_holds(&here, point))
            continue;
        if (level == 0)
            TRY(look(user, i));
        else
            TRY(search_near(mesh, locator, level - 1, i, point, room, look, user));
    }
    return UNDA_OK;
}

unda_status locate_near(const unda_mesh *mesh, const double *point, double room,
                        unda_status (*look)(void *user, int64_t place), void *user)
{
    const struct locator *locator;
    TRY(locator_get(&locator, mesh));
    return search_near(mesh, locator, locator->num_level - 1, 0, point, room, look, user);
}

struct locating {
    const unda_mesh *mesh;
    const struct locator *locator;
    const double *points;
    int64_t *elem;
    double *barycentric;
};

static void locate_part(void *user, int64_t begin, int64_t end)
{
    const struct locating *l = user;
    int num_face = l->mesh->table->num_face;
    for (int64_t i = begin; i < end; i++) {
        struct found found = {.elem = -1};
        search(l->mesh, l->locator, l->locator->num_level - 1, 0, l->points + 3 * i, &found);
        l->elem[i] = found.elem;
        for (int k = 0; l->barycentric && k < num_face; k++)
            l->barycentric[num_face * i + k] = found.lambda[k];
    }
}

unda_status unda_mesh_locate(const unda_mesh *mesh, int64_t num_point, const double *points, int64_t *elem,
                             double *barycentric)
{
    TRY(fork_check());
    if (!mesh || num_point < 0 || (num_point > 0 && (!points || !elem)))
        FAIL(UNDA_ERR_ARG, "mesh, points or elem is NULL, or num_point is %lld, expected 0 or more",
             (long long)num_point);
    for (int64_t i = 0; i < 3 * num_point; i++)
        if (!isfinite(points[i]))
            FAIL(UNDA_ERR_ARG, "point %lld is not finite", (long long)(i / 3));
    enum { NANOSECONDS = 2000 }; /* a point */
    const struct locator *locator;
    TRY(locator_get(&locator, mesh));
    parallel_parts(parallel_parts_worth(num_point, NANOSECONDS), num_point, locate_part,
                   &(struct locating){mesh, locator, points, elem, barycentric});
    return UNDA_OK;
}
