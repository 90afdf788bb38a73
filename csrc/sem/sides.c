/* sides.c: outer sides, damping layers, and the sides where a fluid meets a solid.
 *   absorbing   dashpots (Lysmer & Kuhlemeyer 1969): traction -Z v, Z = rho (vp n n^T + vs (1 - n n^T)); in
 *               fluids the normal displacement is -chi' / (rho c). They stand in a matrix C [dim][dim] a node,
 *               (M + dt/2 C) a = f - C v.
 *   layers      damping in proportion to the mass: the nodes of layers have C = integral of 2 d rho, of fluids of
 *               2 d / kappa, so that u'' + 2 d u' stands for u''. Energy decreases at any d >= 0, and the largest
 *               stable dt stays: with v+ and v- half a step after and before, M (v+ - v-)/dt + C (v+ + v-)/2 = f - K u.
 *   fixed, symmetry   of solids: u stays in the subspace orthogonal to the normals of the node's walls;
 *               fluids slide. Faces whose normals are less than 41 degrees apart are one wall, with the normal
 *               that is the integral of the node's function, so that curved walls let waves slide along them:
 *               two normals a little apart would hold at each edge what crosses it.
 *   free        of fluids: chi = 0; of solids natural, as rigid is of fluids.
 *   coupling    the fluid's equation gets the integral of n.u, the solid's that of p n, n the fluid's outward
 *               normal. */
#include "sem.h"

#include "../mesh/vector.h"
#include "../solver/kernel.h"
#include "common/index.h"

#include <math.h>
#include <string.h>

/* Outward normal times area of a face's quadrature point. */
static void face_area(const struct sem *sem, int64_t elem, int face, int node, double area[3])
{
    int n = sem->space.element->degree + 1, at[3] = {node % n, node / n % n, node / n / n}, axis = face / 2;
    const double *w = sem->space.element->line_weight;
    double weight = w[at[(axis + 1) % 3]] * w[at[(axis + 2) % 3]] * (face % 2 ? 1 : -1);
    double metric[HEX_METRIC];
    sem_metric(sem, elem, node, metric);
    for (int i = 0; i < 3; i++)
        area[i] = weight * metric[3 * axis + i];
}

/* Calls `of` for the nodes of all faces of a region that have a condition, or a neighbour of the other
 * region. */
static void each_node(struct sem *sem, int kind, bool coupled, void *to,
                      void (*of)(struct sem *sem, int64_t elem, int face, int node, int32_t id, void *to))
{
    const struct space *space = &sem->space;
    const struct sem_region *r = &sem->region[kind];
    for (int64_t i = 0; i < 6 * r->num_elem; i++) {
        int64_t elem = r->elem[i / 6];
        int face = (int)(i % 6);
        int32_t neighbor = space->neighbor[6 * elem + face];
        if (coupled ? neighbor < 0 || sem->kind[neighbor / space->num_side] == kind : neighbor >= 0)
            continue;
        for (int m = 0; m < space->num_face_node; m++) {
            int node = space->element->face_node[face * space->num_face_node + m];
            of(sem, elem, face, node, r->node[i / 6 * space->num_node + node], to);
        }
    }
}

/* ---- walls, dashpots and layers ---- */

enum { MAX_WALL = 8 }; /* at a node; so many, which are far from parallel, leave no direction */

/* Walls at a node: the sum of the areas of those of its faces that are one smooth wall. */
struct walls {
    double area[MAX_WALL][3];
    int num;
};

struct building {
    int kind;
    int32_t *place;      /* [node]: in the list, -1 */
    double (*normal)[9]; /* [listed]: orthonormal directions in which u is 0 */
    int8_t *num;         /* [listed]: how many */
    struct walls *walls; /* [listed]: of "symmetry" */
};

static bool is_natural(int kind, int condition)
{
    return kind == SOLID ? condition == BOUNDARY_FREE
                         : condition != BOUNDARY_FREE && condition != BOUNDARY_ABSORBING;
}

static void list_once(struct sem *sem, struct building *b, int32_t id)
{
    if (b->place[id] < 0)
        b->place[id] = (int32_t)sem->region[b->kind].sides.num++;
}

static void list_node(struct sem *sem, int64_t elem, int face, int node, int32_t id, void *to)
{
    (void)node;
    struct building *b = to;
    if (!is_natural(b->kind, -1 - sem->space.neighbor[6 * elem + face]))
        list_once(sem, b, id);
}

/* The nodes of layers with d > 0: listed, or given their C. */
static void each_damped(struct sem *sem, const unda_solver_options *o, struct building *b, bool list)
{
    struct sem_region *r = &sem->region[b->kind];
    int num = sem->space.num_node;
    for (int64_t i = 0; i < o->num_damped * num; i++) {
        int64_t elem = sem->space.place[o->damped_elem[i / num]];
        int node = (int)(i % num);
        if (sem->kind[elem] != b->kind || o->damping[i] == 0)
            continue;
        int32_t id = r->node[sem->row[elem] * (int64_t)num + node];
        if (list) {
            list_once(sem, b, id);
            continue;
        }
        double *c = r->sides.damping + (int64_t)b->place[id] * r->dim * r->dim;
        for (int k = 0; k < r->dim; k++)
            c[k * (r->dim + 1)] += 2 * o->damping[i] * sem_node_mass(sem, elem, node);
    }
}

static unda_status check_layers(const struct sem *sem, const unda_solver_options *o)
{
    int64_t num = sem->space.num_owned;
    SCRATCH bool *seen = NULL;
    if (o->num_damped < 0 || (o->num_damped > 0 && !(o->damped_elem && o->damping)))
        FAIL(UNDA_ERR_ARG, "num_damped is %lld, expected 0, or more with damped_elem and damping",
             (long long)o->num_damped);
    if (o->num_damped > 0 && kernel_is(o, "atomic"))
        FAIL(UNDA_ERR_ARG, "assembly \"atomic\" has no absorbing layers, expected another one: \"ordered\"");
    TRY(array_try(&seen, o->num_damped ? num : 0, sizeof *seen, "layers"));
    for (int64_t i = 0; i < o->num_damped; i++) {
        int64_t elem = o->damped_elem[i];
        if (elem < 0 || elem >= num || seen[elem])
            FAIL(UNDA_ERR_ARG, "damped_elem[%lld] is %lld, expected elements within 0..%lld, each once",
                 (long long)i, (long long)elem, (long long)num - 1);
        seen[elem] = true;
    }
    for (int64_t i = 0; i < o->num_damped * sem->space.num_node; i++)
        if (!(o->damping[i] >= 0 && isfinite(o->damping[i])))
            FAIL(UNDA_ERR_ARG, "damping is %g at node %lld of element %lld, expected 0 or more",
                 o->damping[i], (long long)i % sem->space.num_node,
                 (long long)o->damped_elem[i / sem->space.num_node]);
    return UNDA_OK;
}

/* Below this sine two normals are one. */
static const double SAME_NORMAL = 1e-3;

/* Adds a direction to an orthonormal set, unless that has it. */
static void add_direction(int dim, const double *given, double *set, int8_t *num)
{
    double x[3] = {0}, length = 0;
    memcpy(x, given, sizeof *x * (size_t)dim);
    for (int pass = 0; pass < 2; pass++) /* twice: orthogonal to rounding */
        for (int k = 0; k < *num; k++) {
            double along = 0;
            for (int i = 0; i < dim; i++)
                along += x[i] * set[dim * k + i];
            for (int i = 0; i < dim; i++)
                x[i] -= along * set[dim * k + i];
        }
    for (int i = 0; i < dim; i++)
        length += x[i] * x[i];
    length = sqrt(length);
    if (*num < dim && length > SAME_NORMAL) {
        for (int i = 0; i < dim; i++)
            set[dim * *num + i] = x[i] / length;
        ++*num;
    }
}

/* Above this cosine two normals are of one wall. */
static const double SAME_WALL = 0.75;

static void add_wall(struct walls *w, const double area[3])
{
    int at = 0;
    while (at < w->num && dot(w->area[at], area) < SAME_WALL * norm(w->area[at]) * norm(area))
        at++;
    if (at == MAX_WALL)
        return;
    for (int i = 0; i < 3; i++)
        w->area[at][i] += area[i];
    w->num += at == w->num;
}

static void damp(const struct sem *sem, int64_t elem, int node, const double area[3], int dim,
                 double *damping)
{
    double m[3], size = norm(area);
    sem_moduli(sem, elem, node, m);
    if (dim == 1) {
        damping[0] += size / sqrt(m[0] * m[1]); /* rho c = sqrt(rho kappa) */
        return;
    }
    double zp = sqrt(m[0] * (m[1] + 2 * m[2])), zs = sqrt(m[0] * m[2]);
    for (int i = 0; i < 9; i++)
        damping[i] += (zp - zs) * area[i / 3] * area[i % 3] / size + (i % 4 == 0 ? zs * size : 0);
}

static void apply_condition(struct sem *sem, int64_t elem, int face, int node, int32_t id, void *to)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    struct building *b = to;
    int condition = -1 - sem->space.neighbor[6 * elem + face], dim = sem->region[b->kind].dim;
    double area[3];
    if (is_natural(b->kind, condition))
        return;
    int32_t at = b->place[id];
    face_area(sem, elem, face, node, area);
    if (condition == BOUNDARY_ABSORBING)
        damp(sem, elem, node, area, dim, sem->region[b->kind].sides.damping + (int64_t)at * dim * dim);
    else if (condition == BOUNDARY_SYMMETRY)
        add_wall(&b->walls[at], area);
    else
        for (int i = 0; i < dim; i++)
            add_direction(dim, axes[i], b->normal[at], &b->num[at]);
}

static void hold_walls(int dim, const struct walls *w, double *set, int8_t *num)
{
    for (int k = 0; k < w->num; k++) {
        double normal[3], size = norm(w->area[k]);
        for (int i = 0; i < 3; i++)
            normal[i] = w->area[k][i] / size;
        add_direction(dim, normal, set, num);
    }
}

/* An orthonormal basis of what is orthogonal to a set: its directions, then the others. */
static void complete(int dim, double *set, int8_t num, double *basis, int8_t *num_free)
{
    int8_t all = num;
    while (all < dim) { /* the axis that has most outside */
        int best = 0;
        double most = -1;
        for (int i = 0; i < dim; i++) {
            double left = 1;
            for (int k = 0; k < all; k++)
                left -= set[dim * k + i] * set[dim * k + i];
            if (left > most) {
                most = left;
                best = i;
            }
        }
        double axis[3] = {best == 0, best == 1, best == 2};
        add_direction(dim, axis, set, &all);
    }
    *num_free = (int8_t)(dim - num);
    memcpy(basis, set + dim * num, sizeof *set * (size_t)(dim * *num_free));
}

/* inverse = B^T (B (m + half C) B^T)^-1 B, B the basis; by Gauss and Jordan, the matrix is positive
 * definite. */
static void invert(int dim, const struct sem_sides *sides, int64_t i, double mass, double half,
                   double *inverse)
{
    int num = sides->num_free[i];
    const double *b = sides->basis + dim * dim * i, *c = sides->damping + dim * dim * i;
    double a[3][6] = {{0}};
    for (int row = 0; row < num; row++) {
        a[row][num + row] = 1;
        for (int column = 0; column < num; column++) {
            a[row][column] = row == column ? mass : 0;
            for (int k = 0; k < dim * dim; k++)
                a[row][column] += half * b[dim * row + k / dim] * c[k] * b[dim * column + k % dim];
        }
    }
    for (int pivot = 0; pivot < num; pivot++) {
        double scale = 1 / a[pivot][pivot];
        for (int k = 0; k < 2 * num; k++)
            a[pivot][k] *= scale;
        for (int row = 0; row < num; row++) {
            double factor = a[row][pivot];
            for (int k = 0; k < 2 * num && row != pivot; k++)
                a[row][k] -= factor * a[pivot][k];
        }
    }
    for (int k = 0; k < dim * dim; k++) {
        inverse[k] = 0;
        for (int row = 0; row < num; row++)
            for (int column = 0; column < num; column++)
                inverse[k] += b[dim * row + k / dim] * a[row][num + column] * b[dim * column + k % dim];
    }
}

static unda_status build_sides(struct sem *sem, int kind, const unda_solver_options *o)
{
    struct sem_region *r = &sem->region[kind];
    struct sem_sides *sides = &r->sides;
    struct building b = {.kind = kind};
    SCRATCH int32_t *place = NULL;
    SCRATCH double(*normal)[9] = NULL;
    SCRATCH int8_t *num = NULL;
    SCRATCH struct walls *walls = NULL;
    TRY(array_try(&place, r->num_node, sizeof *place, "sides"));
    for (int64_t i = 0; i < r->num_node; i++)
        place[i] = -1;
    b.place = place;
    each_node(sem, kind, false, &b, list_node);
    each_damped(sem, o, &b, true);
    TRY(array_try(&normal, sides->num, sizeof *normal, "sides"));
    TRY(array_try(&num, sides->num, sizeof *num, "sides"));
    TRY(array_try(&walls, sides->num, sizeof *walls, "sides"));
    b.normal = normal;
    b.num = num;
    b.walls = walls;
    int64_t size = sides->num * r->dim * r->dim;
    TRY(array_own(&sem->owned, &sides->node, sides->num, sizeof(int32_t), "sides"));
    TRY(array_own(&sem->owned, &sides->rest, size, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &sides->inverse, size, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &sides->damping, size, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &sides->basis, size, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &sides->num_free, sides->num, sizeof(int8_t), "sides"));
    each_node(sem, kind, false, &b, apply_condition);
    each_damped(sem, o, &b, false);
    for (int64_t i = 0; i < r->num_node; i++)
        if (place[i] >= 0)
            sides->node[place[i]] = (int32_t)i;
    for (int64_t i = 0; i < sides->num; i++) {
        hold_walls(r->dim, &walls[i], normal[i], &num[i]);
        complete(r->dim, normal[i], num[i], sides->basis + r->dim * r->dim * i, &sides->num_free[i]);
        invert(r->dim, sides, i, r->mass[sides->node[i]], 0, sides->rest + r->dim * r->dim * i);
    }
    return UNDA_OK;
}

unda_status sem_sides_new(struct sem *sem, const unda_solver_options *o)
{
    TRY(check_layers(sem, o));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(build_sides(sem, kind, o));
    return UNDA_OK;
}

void sem_sides_retime(struct sem *sem, double dt)
{
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_region *r = &sem->region[kind];
        for (int64_t i = 0; i < r->sides.num; i++)
            invert(r->dim, &r->sides, i, r->mass[r->sides.node[i]], dt / 2,
                   r->sides.inverse + r->dim * r->dim * i);
    }
}

/* ---- coupling ---- */

struct pairing {
    int32_t *place; /* [fluid node]: among the shared nodes */
    double *area;
};

static void add_area(struct sem *sem, int64_t elem, int face, int node, int32_t id, void *to)
{
    struct pairing *pairing = to;
    double area[3];
    face_area(sem, elem, face, node, area);
    for (int i = 0; i < 3; i++)
        pairing->area[3 * (int64_t)pairing->place[id] + i] += area[i];
}

unda_status sem_couple(struct sem *sem)
{
    struct sem_coupling *c = &sem->coupling;
    SCRATCH int32_t *place = NULL;
    TRY(array_try(&place, sem->region[FLUID].num_node, sizeof *place, "shared nodes"));
    for (int64_t i = 0; i < c->num; i++)
        place[c->node[FLUID][i]] = (int32_t)i;
    struct pairing pairing = {place, c->area};
    each_node(sem, FLUID, true, &pairing, add_area);
    return UNDA_OK;
}
