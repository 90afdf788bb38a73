/* curved.c: the nodes of curved cells: refused where they are not at the vertices, or differ on the two sides of
 * a face, periodic ones included. Next: map.c. */
#include "hexahedron.h"
#include "vector.h"

#include <float.h>
#include <string.h>

/* Of a cell's size: how far two nodes may be apart that are one. */
static const double SAME = 1e-9;

/* The tolerance for nodes of a cell [m]. */
static double slack(const struct unda_mesh *mesh, const struct hexahedron *cell, int64_t elem)
{
    double lower[3], upper[3], size[3], largest = 0;
    const double *x = mesh->vertices + 3 * mesh->cells[8 * elem];
    hexahedron_box(cell, lower, upper);
    subtract(upper, lower, size);
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, fabs(x[i]) + size[i]);
    return SAME * norm(size) + 8 * DBL_EPSILON * largest;
}

unda_status curved_check_vertices(const struct unda_mesh *mesh)
{
    struct offenders bad = {0};
    for (int64_t elem = 0; elem < mesh->num_elem; elem++) {
        struct hexahedron cell;
        hexahedron_get(mesh, elem, &cell);
        double room = slack(mesh, &cell, elem);
        bool fits = true;
        for (int i = 0; i < 81; i++)
            fits &= isfinite(mesh->curved[81 * elem + i]);
        for (int v = 0; v < 8 && fits; v++) {
            double gap[3], *node = mesh->curved + 81 * elem + 3 * hexahedron_vertex(2, v);
            const double *vertex = mesh->vertices + 3 * mesh->cells[8 * elem + v];
            subtract(node, vertex, gap);
            fits &= norm(gap) <= room;
            memcpy(node, vertex, sizeof gap);
        }
        if (!fits)
            offenders_add(&bad, elem);
    }
    REFUSE(bad, "curved elements have nodes that are not finite, or no vertex where one should be");
    return UNDA_OK;
}

/* The nodes of a face, [3][3] from a vertex of its list along the way to the `second` and away from it. */
static void face_nodes(const struct hexahedron *cell, int face, int first, int second, double nodes[9][3])
{
    const int *list = shape_tables[UNDA_HEX].face_vertex[face];
    int origin = hexahedron_vertex(2, list[first]), fourth = (2 * first - second + 4) % 4;
    int along = (hexahedron_vertex(2, list[second]) - origin) / 2;
    int across = (hexahedron_vertex(2, list[fourth]) - origin) / 2;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            memcpy(nodes[3 * j + i], cell->node[origin + i * along + j * across], sizeof nodes[0]);
}

/* Relative to the face's first vertex, which may be a period away on the other side. */
static bool agree(const struct unda_mesh *mesh, int64_t face, int64_t other)
{
    struct hexahedron here, there;
    double own[9][3], others[9][3], farthest = 0;
    int turn = mesh->turn[face], first = turn / 2, second = (first + (turn % 2 ? 3 : 1)) % 4;
    hexahedron_get(mesh, mesh->order[face / 6], &here);
    hexahedron_get(mesh, mesh->order[other / 6], &there);
    face_nodes(&here, (int)(face % 6), 0, 1, own);
    face_nodes(&there, (int)(other % 6), first, second, others);
    for (int node = 0; node < 9; node++)
        for (int i = 0; i < 3; i++)
            farthest = fmax(farthest, fabs(own[node][i] - own[0][i] - (others[node][i] - others[0][i])));
    return farthest <=
           fmin(slack(mesh, &here, mesh->order[face / 6]), slack(mesh, &there, mesh->order[other / 6]));
}

unda_status curved_check_faces(const struct unda_mesh *mesh)
{
    struct offenders apart = {0};
    for (int64_t face = 0; face < 6 * mesh->num_elem; face++) {
        int64_t other = mesh->neighbor[face];
        if (other <= face || agree(mesh, face, other))
            continue;
        offenders_add(&apart, mesh->order[face / 6]);
        offenders_add(&apart, mesh->order[other / 6]);
    }
    if (apart.count)
        FAIL(UNDA_ERR_MESH,
             "%lld curved faces differ from their neighbours' by more than 1e-9 of an element, elements %s",
             (long long)apart.count / 2, offenders_first(&apart).text);
    return UNDA_OK;
}
