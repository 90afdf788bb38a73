/* locate.c: finds the element that contains a point, with a tree of bounding boxes built on first use.
 * Tetrahedra only: the inverse map is affine.
 * Next: share.c (all cells that contain a point). Used by: sources and receivers of the solvers. */
#include "internal.h"
#include "vector.h"

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

static void box_add(struct box *box, const double *lower, const double *upper)
{
    for (int i = 0; i < 3; i++) {
        box->lower[i] = fmin(box->lower[i], lower[i]);
        box->upper[i] = fmax(box->upper[i], upper[i]);
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
    for (int i = 0; i < 3; i++) { /* tolerance for points slightly outside that count as inside */
        double room = 16 * INSIDE * (box.upper[i] - box.lower[i]) +
                      16 * DBL_EPSILON * fmax(fabs(box.lower[i]), fabs(box.upper[i]));
        box.lower[i] -= room;
        box.upper[i] += room;
    }
    return box;
}

static unda_status locator_new(struct unda_mesh *mesh)
{
    struct locator *locator;
    int64_t below = mesh->num_elem;
    TRY(array_own(&mesh->located, &locator, 1, sizeof *locator, "point locator"));
    do {
        int level = locator->num_level++;
        int64_t count = (below + FAN - 1) / FAN;
        TRY(array_own(&mesh->located, &locator->boxes[level], count, sizeof(struct box), "point locator"));
        locator->num_box[level] = count;
        for (int64_t i = 0; i < count; i++)
            locator->boxes[level][i] = EMPTY;
        for (int64_t i = 0; i < below; i++) {
            struct box box = level == 0 ? element_box(mesh, i) : locator->boxes[level - 1][i];
            box_add(&locator->boxes[level][i / FAN], box.lower, box.upper);
        }
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

/* Coordinate i + 1 is (x - x0) . g_i with g_i = e_j x e_k / (6 V); all relative to vertex 0. */
void mesh_barycentric(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[4],
                      double room[4])
{
    const int64_t *cell = mesh->cells + 4 * elem;
    const double *origin = mesh->vertices + 3 * cell[0];
    double edge[3][3], x[3], largest = 0;
    for (int i = 0; i < 3; i++) {
        subtract(mesh->vertices + 3 * cell[i + 1], origin, edge[i]);
        largest = fmax(largest, fabs(point[i]));
    }
    subtract(point, origin, x);
    double determinant = 6 * mesh->volumes[elem], sum[3] = {0}, slack = 4 * DBL_EPSILON * largest;
    lambda[0] = 1;
    for (int i = 0; i < 3; i++) {
        double gradient[3];
        cross(edge[(i + 1) % 3], edge[(i + 2) % 3], gradient);
        lambda[i + 1] = dot(x, gradient) / determinant;
        lambda[0] -= lambda[i + 1];
        for (int k = 0; k < 3; k++)
            sum[k] += gradient[k] / determinant;
        room[i + 1] = INSIDE + slack * norm(gradient) / determinant;
    }
    room[0] = INSIDE + slack * norm(sum);
}

static bool holds(const unda_mesh *mesh, int64_t elem, const double *point, double lambda[4])
{
    double room[4];
    mesh_barycentric(mesh, elem, point, lambda, room);
    bool inside = true;
    for (int i = 0; i < 4; i++)
        inside &= lambda[i] >= -room[i];
    return inside;
}

static bool box_holds(const struct box *box, const double *x)
{
    return x[0] >= box->lower[0] && x[0] <= box->upper[0] && x[1] >= box->lower[1] && x[1] <= box->upper[1] &&
           x[2] >= box->lower[2] && x[2] <= box->upper[2];
}

struct found {
    int64_t elem; /* the lowest so far, -1 for none */
    double lambda[4];
};

static void search(const unda_mesh *mesh, const struct locator *locator, int level, int64_t box,
                   const double *point, struct found *found)
{
    if (!box_holds(&locator->boxes[level][box], point))
        return;
    int64_t end = level == 0 ? mesh->num_elem : locator->num_box[level - 1];
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

unda_status unda_mesh_locate(const unda_mesh *mesh, int64_t num_point, const double *points, int64_t *elem,
                             double *barycentric)
{
    TRY(fork_check());
    if (!mesh || num_point < 0 || (num_point > 0 && (!points || !elem)))
        FAIL(UNDA_ERR_ARG, "mesh, points or elem is NULL, or num_point is %lld, expected 0 or more",
             (long long)num_point);
    if (mesh->shape != UNDA_TET)
        FAIL(UNDA_ERR_ARG, "points are located in tetrahedra only, this mesh has hexahedra");
    for (int64_t i = 0; i < 3 * num_point; i++)
        if (!isfinite(points[i]))
            FAIL(UNDA_ERR_ARG, "point %lld is not finite", (long long)(i / 3));
    const struct locator *locator;
    TRY(locator_get(&locator, mesh));
    for (int64_t i = 0; i < num_point; i++) {
        struct found found = {.elem = -1};
        search(mesh, locator, locator->num_level - 1, 0, points + 3 * i, &found);
        elem[i] = found.elem;
        for (int k = 0; barycentric && k < 4; k++)
            barycentric[4 * i + k] = found.lambda[k];
    }
    return UNDA_OK;
}
