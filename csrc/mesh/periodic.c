/* periodic.c: pairs the sides of periodic boundaries, first their vertices, then their faces.
 * Only translations; the two sides must match vertex by vertex.
 * Next: mesh.c, which sorts each element's vertices by the representatives found here. */
#include "internal.h"

#include "vector.h"

#include <float.h>
#include <math.h>

/* Vertices match within 1e-8 of the shortest boundary edge there, plus the rounding of x. */
static const double MATCH = 1e-8;

/* One side of a pair, or both while they are being matched. */
struct side {
    int32_t boundary;
    int64_t num_vertex;
    double
        lower[3]; /* of its bounding box: a translation moves it along, one vertex that is off does not [m] */
    double shortest; /* edge [m] */
    double *edge;    /* [mesh vertex]: shortest boundary edge at it, 0 where not on this side [m] */
};

static void add_face(struct side *side, const struct unda_mesh *mesh, const int64_t *vertices)
{
    int count = mesh->table->num_face_vertex;
    for (int i = 0; i < count; i++) {
        int64_t a = vertices[i], b = vertices[(i + 1) % count];
        double edge[3], length;
        subtract(mesh->vertices + 3 * a, mesh->vertices + 3 * b, edge);
        length = norm(edge);
        side->shortest = fmin(side->shortest, length);
        side->edge[a] = side->edge[a] > 0 ? fmin(side->edge[a], length) : length;
        side->edge[b] = side->edge[b] > 0 ? fmin(side->edge[b], length) : length;
    }
}

static unda_status side_new(struct side *side, const struct unda_mesh *mesh, int32_t boundary, void **owner)
{
    *side =
        (struct side){.boundary = boundary, .lower = {INFINITY, INFINITY, INFINITY}, .shortest = INFINITY};
    TRY(array_own(owner, &side->edge, mesh->num_vertex, sizeof *side->edge, "periodic side"));
    for (int64_t i = 0; i < mesh->num_boundary_face; i++)
        if (mesh->boundary_ids[i] == boundary)
            add_face(side, mesh, mesh->boundary_faces + i * mesh->table->num_face_vertex);
    for (int64_t v = 0; v < mesh->num_vertex; v++) {
        if (!(side->edge[v] > 0))
            continue;
        side->num_vertex++;
        for (int i = 0; i < 3; i++)
            side->lower[i] = fmin(side->lower[i], mesh->vertices[3 * v + i]);
    }
    if (side->num_vertex == 0)
        FAIL(UNDA_ERR_MESH, "periodic boundary %d has no faces", boundary);
    return UNDA_OK;
}

/* The vertices of one side in cubes as wide as its shortest edge, so that few share a cube. */
struct cubes {
    const struct unda_mesh *mesh;
    double width;
    int64_t mask, *head, *next; /* [mask + 1], [mesh vertex] */
};

static int64_t cube_of(const struct cubes *cubes, double x, int axis)
{
    double cube = floor((x - cubes->mesh->info.lower[axis]) / cubes->width);
    return (int64_t)fmin(fmax(cube, -1e18), 1e18);
}

static unda_status cubes_fill(struct cubes *cubes, const struct side *side, void **owner)
{
    const struct unda_mesh *mesh = cubes->mesh;
    int64_t size = 16;
    while (size < side->num_vertex)
        size *= 2;
    cubes->mask = size - 1;
    cubes->width = fmax(side->shortest, DBL_MIN);
    TRY(array_own(owner, &cubes->head, size, sizeof *cubes->head, "periodic vertices"));
    TRY(array_own(owner, &cubes->next, mesh->num_vertex, sizeof *cubes->next, "periodic vertices"));
    for (int64_t i = 0; i < size; i++)
        cubes->head[i] = -1;
    for (int64_t v = mesh->num_vertex - 1; v >= 0; v--) {
        if (!(side->edge[v] > 0))
            continue;
        int64_t cube[3];
        for (int i = 0; i < 3; i++)
            cube[i] = cube_of(cubes, mesh->vertices[3 * v + i], i);
        int64_t chain = chain_of(3, cube, cubes->mask);
        cubes->next[v] = cubes->head[chain];
        cubes->head[chain] = v;
    }
    return UNDA_OK;
}

static double distance(const double *x, const double *y)
{
    return fmax(fmax(fabs(x[0] - y[0]), fabs(x[1] - y[1])), fabs(x[2] - y[2]));
}

/* The vertex of the side in these cubes that lies at x within the tolerance, or -1. */
static int64_t cubes_find(const struct cubes *cubes, const double x[3], double tolerance)
{
    int64_t low[3], high[3], cube[3], best = -1;
    for (int i = 0; i < 3; i++) { /* a tolerance of a quarter cube reaches two cubes at most */
        low[i] = cube_of(cubes, x[i] - tolerance, i);
        high[i] = cube_of(cubes, x[i] + tolerance, i);
    }
    for (cube[0] = low[0]; cube[0] <= high[0]; cube[0]++)
        for (cube[1] = low[1]; cube[1] <= high[1]; cube[1]++)
            for (cube[2] = low[2]; cube[2] <= high[2]; cube[2]++)
                for (int64_t v = cubes->head[chain_of(3, cube, cubes->mask)]; v >= 0; v = cubes->next[v]) {
                    double gap = distance(x, cubes->mesh->vertices + 3 * v);
                    if (gap <= tolerance) {
                        tolerance = gap;
                        best = v;
                    }
                }
    return best;
}

static double rounding(const struct unda_mesh *mesh)
{
    double largest = 0;
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, fmax(fabs(mesh->info.lower[i]), fabs(mesh->info.upper[i])));
    return 8 * DBL_EPSILON * largest;
}

static unda_status match_vertices(const struct cubes *cubes, const struct side *from, const struct side *to,
                                  int64_t *partner)
{
    const struct unda_mesh *mesh = cubes->mesh;
    struct offenders alone = {0};
    double slack = rounding(mesh), shift[3];
    for (int i = 0; i < 3; i++)
        shift[i] = to->lower[i] - from->lower[i];
    for (int64_t v = 0; v < mesh->num_vertex; v++) {
        partner[v] = -1;
        if (!(from->edge[v] > 0))
            continue;
        double x[3];
        for (int i = 0; i < 3; i++)
            x[i] = mesh->vertices[3 * v + i] + shift[i];
        partner[v] = cubes_find(cubes, x, fmin(MATCH * from->edge[v] + slack, cubes->width / 4));
        if (partner[v] < 0)
            offenders_add(&alone, v);
    }
    if (alone.count || from->num_vertex != to->num_vertex)
        FAIL(UNDA_ERR_MESH,
             "periodic boundaries %d and %d do not match: they have %lld and %lld vertices; "
             "shifted by (%g, %g, %g), %lld of the first side find no partner within 1e-8 of an edge%s%s",
             from->boundary, to->boundary, (long long)from->num_vertex, (long long)to->num_vertex, shift[0],
             shift[1], shift[2], (long long)alone.count, alone.count ? ", vertices " : "",
             alone.count ? offenders_first(&alone).text : "");
    return UNDA_OK;
}

static unda_status match_sides(const struct unda_mesh *mesh, const int32_t *pair, int64_t *partner)
{
    struct side from, to;
    struct cubes cubes = {.mesh = mesh};
    OWNER void *owned = NULL;
    TRY(side_new(&from, mesh, pair[0], &owned));
    TRY(side_new(&to, mesh, pair[1], &owned));
    TRY(cubes_fill(&cubes, &to, &owned));
    return match_vertices(&cubes, &from, &to, partner);
}

static int64_t root(int64_t *parent, int64_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void join(int64_t *parent, int64_t a, int64_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static unda_status check_pairs(const unda_mesh_input *input)
{
    for (int32_t i = 0; i < 2 * input->num_periodic; i++) {
        if (input->periodic[i] < 0 || input->periodic[i] >= input->num_boundary)
            FAIL(UNDA_ERR_MESH, "periodic pair %d names boundary %d, expected 0..%d", i / 2,
                 input->periodic[i], input->num_boundary - 1);
        for (int32_t j = 0; j < i; j++)
            if (input->periodic[i] == input->periodic[j])
                FAIL(UNDA_ERR_MESH, "boundary %d is a periodic side twice, in pairs %d and %d",
                     input->periodic[i], j / 2, i / 2);
    }
    return UNDA_OK;
}

unda_status periodic_vertices(struct periodic *periodic, void **owner, const struct unda_mesh *mesh,
                              const unda_mesh_input *input)
{
    TRY(check_pairs(input));
    int64_t count = mesh->num_vertex;
    *periodic = (struct periodic){.num_pair = input->num_periodic, .pairs = input->periodic};
    TRY(array_own(owner, &periodic->partner, count * input->num_periodic, sizeof(int64_t),
                  "periodic vertices"));
    TRY(array_own(owner, &periodic->representative, count, sizeof(int64_t), "periodic vertices"));
    int64_t *parent = periodic->representative;
    for (int64_t v = 0; v < count; v++)
        parent[v] = v;
    for (int32_t i = 0; i < input->num_periodic; i++) {
        int64_t *partner = periodic->partner + i * count;
        TRY(match_sides(mesh, input->periodic + 2 * i, partner));
        for (int64_t v = 0; v < count; v++)
            if (partner[v] >= 0)
                join(parent, v, partner[v]);
    }
    for (int64_t v = 0; v < count; v++)
        parent[v] = root(parent, v);
    return UNDA_OK;
}

static unda_status pair_sides(const struct face_table *table, struct unda_mesh *mesh, const int32_t *pair,
                              const int64_t *partner)
{
    int num_face_vertex = mesh->table->num_face_vertex;
    struct offenders lost = {0}, turned = {0};
    for (int64_t i = 0; i < mesh->num_boundary_face; i++) {
        if (mesh->boundary_ids[i] != pair[0])
            continue;
        const int64_t *vertices = mesh->boundary_faces + i * num_face_vertex;
        int64_t image[4];
        for (int k = 0; k < num_face_vertex; k++)
            image[k] = partner[vertices[k]];
        int64_t face = faces_find(table, vertices), other = faces_find(table, image);
        if (other < 0 || mesh->neighbor[other] != -1 - pair[1]) {
            offenders_add(&lost, i);
            continue;
        }
        face_vertices(mesh, face, image);
        for (int k = 0; k < num_face_vertex; k++)
            image[k] = partner[image[k]];
        faces_join(mesh, face, other, image);
        if (mesh->table->sorted && mesh->turn[face]) /* one side is reached by two periods */
            offenders_add(&turned, i);
    }
    if (lost.count)
        FAIL(UNDA_ERR_MESH,
             "periodic boundaries %d and %d: their vertices match but %lld faces do not, boundary faces %s",
             pair[0], pair[1], (long long)lost.count, offenders_first(&lost).text);
    if (turned.count)
        FAIL(UNDA_ERR_MESH,
             "periodic boundaries %d and %d: %lld faces cannot be oriented alike on both sides, "
             "boundary faces %s; use at least 3 cells in each periodic direction",
             pair[0], pair[1], (long long)turned.count, offenders_first(&turned).text);
    return UNDA_OK;
}

unda_status faces_pair_periodic(const struct face_table *table, const struct periodic *periodic,
                                struct unda_mesh *mesh)
{
    for (int32_t i = 0; i < periodic->num_pair; i++)
        TRY(pair_sides(table, mesh, periodic->pairs + 2 * i, periodic->partner + i * mesh->num_vertex));
    return UNDA_OK;
}
