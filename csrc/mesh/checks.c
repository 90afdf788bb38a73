/* checks.c: refuses inputs that are not a mesh: bad counts, indices, coordinates, cell shapes.
 * faces.c checks the connectivity, periodic.c periodic sides.
 * Next: geometry.c. */
#include "hexahedron.h"

#include "../base/parallel.h"

#include <math.h>
#include <stdio.h>

/* A cell is flat when |V| <= FLAT h^3, h its longest edge; V is rounded to about 1e-16 h^3. */
static const double FLAT = 1e-14;

unda_status check_input(const unda_mesh_input *input)
{
    CHECK_SIZE(input, unda_mesh_input);
    if (input->shape != UNDA_TET && input->shape != UNDA_HEX)
        FAIL(UNDA_ERR_ARG, "shape is %d, expected %d (tetrahedra) or %d (hexahedra)", input->shape, UNDA_TET,
             UNDA_HEX);
    if (input->num_vertex < 0 || input->num_elem < 0 || input->num_boundary_face < 0 ||
        input->num_boundary < 0 || input->num_periodic < 0)
        FAIL(UNDA_ERR_ARG, "a count is negative: %lld vertices, %lld elements, %lld boundary faces",
             (long long)input->num_vertex, (long long)input->num_elem, (long long)input->num_boundary_face);
    if (input->num_elem == 0 || input->num_vertex == 0)
        FAIL(UNDA_ERR_MESH, "the mesh has %lld elements and %lld vertices, expected at least one",
             (long long)input->num_elem, (long long)input->num_vertex);
    /* faces are numbered with 32 bits: num_face * elem + face */
    int64_t limit = INT32_MAX / shape_tables[input->shape].num_face;
    if (input->num_elem > limit)
        FAIL(UNDA_ERR_MESH, "the mesh has %lld elements, the most is %lld", (long long)input->num_elem,
             (long long)limit);
    if (!input->vertices || !input->cells || (input->num_periodic > 0 && !input->periodic) ||
        (input->num_boundary_face > 0 && (!input->boundary_faces || !input->boundary_ids)))
        FAIL(UNDA_ERR_ARG, "an array of unda_mesh_input is NULL although its count is positive");
    if (input->curved && input->shape != UNDA_HEX)
        FAIL(UNDA_ERR_ARG, "curved nodes are given for tetrahedra, expected hexahedra");
    return UNDA_OK;
}

static unda_status check_finite(const struct unda_mesh *mesh)
{
    struct offenders bad = {0};
    for (int64_t v = 0; v < mesh->num_vertex; v++) {
        const double *x = mesh->vertices + 3 * v;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            offenders_add(&bad, v);
    }
    REFUSE(bad, "vertices have NaN or infinite coordinates");
    return UNDA_OK;
}

static unda_status check_range(const char *what, int64_t num_row, int num_column, const int64_t *ids,
                               int64_t limit)
{
    struct offenders bad = {0};
    for (int64_t row = 0; row < num_row; row++)
        for (int i = 0; i < num_column; i++)
            if (ids[row * num_column + i] < 0 || ids[row * num_column + i] >= limit) {
                offenders_add(&bad, row);
                break;
            }
    if (!bad.count)
        return UNDA_OK;
    const int64_t *row = ids + bad.first[0] * num_column;
    char found[192];
    int length = 0;
    for (int i = 0; i < num_column; i++)
        length += snprintf(found + length, sizeof found - (size_t)length, " %lld", (long long)row[i]);
    FAIL(UNDA_ERR_MESH, "%lld %s have vertices out of range 0..%lld, %s: found%s", (long long)bad.count, what,
         (long long)limit - 1, offenders_first(&bad).text, found);
}

static unda_status check_repeated(const char *what, int64_t num_row, int num_column, const int64_t *ids)
{
    struct offenders bad = {0};
    for (int64_t row = 0; row < num_row; row++) {
        bool repeated = false;
        for (int i = 1; i < num_column; i++)
            for (int j = 0; j < i; j++)
                repeated |= ids[row * num_column + i] == ids[row * num_column + j];
        if (repeated)
            offenders_add(&bad, row);
    }
    if (bad.count)
        FAIL(UNDA_ERR_MESH, "%lld %s name a vertex twice, %s", (long long)bad.count, what,
             offenders_first(&bad).text);
    return UNDA_OK;
}

static unda_status check_used(const struct unda_mesh *mesh)
{
    SCRATCH bool *used = NULL;
    TRY(array_try(&used, mesh->num_vertex, sizeof *used, "vertex marks"));
    for (int64_t i = 0; i < mesh->num_elem * mesh->table->num_vertex; i++)
        used[mesh->cells[i]] = true;
    struct offenders bad = {0};
    for (int64_t v = 0; v < mesh->num_vertex; v++)
        if (!used[v])
            offenders_add(&bad, v);
    REFUSE(bad, "vertices belong to no element");
    return UNDA_OK;
}

static unda_status check_boundary_ids(const struct unda_mesh *mesh)
{
    struct offenders bad = {0};
    for (int64_t i = 0; i < mesh->num_boundary_face; i++)
        if (mesh->boundary_ids[i] < 0 || mesh->boundary_ids[i] >= mesh->num_boundary)
            offenders_add(&bad, i);
    if (bad.count)
        FAIL(UNDA_ERR_MESH, "%lld boundary faces have ids out of range 0..%d, %s: found %d",
             (long long)bad.count, mesh->num_boundary - 1, offenders_first(&bad).text,
             mesh->boundary_ids[bad.first[0]]);
    return UNDA_OK;
}

unda_status check_cells(const struct unda_mesh *mesh)
{
    int num_vertex = mesh->table->num_vertex, num_face_vertex = mesh->table->num_face_vertex;
    TRY(check_finite(mesh));
    TRY(check_range("elements", mesh->num_elem, num_vertex, mesh->cells, mesh->num_vertex));
    TRY(check_range("boundary faces", mesh->num_boundary_face, num_face_vertex, mesh->boundary_faces,
                    mesh->num_vertex));
    TRY(check_repeated("elements", mesh->num_elem, num_vertex, mesh->cells));
    TRY(check_repeated("boundary faces", mesh->num_boundary_face, num_face_vertex, mesh->boundary_faces));
    TRY(check_boundary_ids(mesh));
    return check_used(mesh);
}

/* Tetrahedron: swaps the last two vertices. Hexahedron: swaps bottom and top. */
static void turn_cell(const struct unda_mesh *mesh, int64_t elem)
{
    int num_vertex = mesh->table->num_vertex, half = num_vertex / 2;
    int first = num_vertex == 4 ? 2 : 0, step = num_vertex == 4 ? 1 : half;
    int64_t *cell = mesh->cells + elem * num_vertex;
    for (int i = first; i < first + step; i++) {
        int64_t kept = cell[i];
        cell[i] = cell[i + step];
        cell[i + step] = kept;
    }
    double *node = mesh->curved ? mesh->curved + 81 * elem : NULL;
    for (int i = 0; node && i < 27; i++)
        SWAP(node[i], node[54 + i]);
}

static struct cell_geometry geometry_of(const struct unda_mesh *mesh, int64_t elem)
{
    if (mesh->curved) {
        struct hexahedron cell;
        hexahedron_get(mesh, elem, &cell);
        return hexahedron_geometry(&cell);
    }
    double x[8][3];
    cell_coordinates(mesh, elem, x);
    return cell_geometry(mesh->shape, x);
}

static bool is_flat(const struct cell_geometry *geometry)
{
    double h = geometry->longest;
    return !(fabs(geometry->volume) > FLAT * h * h * h); /* also when anything overflowed to NaN */
}

static void add_to_info(struct unda_mesh *mesh, int64_t elem, const struct cell_geometry *geometry)
{
    unda_mesh_info *info = &mesh->info;
    mesh->volumes[elem] = geometry->volume;
    mesh->quality[elem] = geometry->quality;
    if (elem >= mesh->num_owned)
        return;
    info->volume += geometry->volume;
    info->min_volume = fmin(info->min_volume, geometry->volume);
    info->max_volume = fmax(info->max_volume, geometry->volume);
    info->min_insphere = fmin(info->min_insphere, geometry->insphere);
    if (geometry->quality < info->min_quality) {
        info->min_quality = geometry->quality;
        info->worst_elem = elem;
    }
}

static void add_to_box(unda_mesh_info *info, int64_t count, const double *x)
{
    for (int64_t point = 0; point < count; point++)
        for (int i = 0; i < 3; i++) {
            info->lower[i] = fmin(info->lower[i], x[3 * point + i]);
            info->upper[i] = fmax(info->upper[i], x[3 * point + i]);
        }
}

/* Of vertices and nodes: curved sides may reach a little further. */
static void bounding_box(struct unda_mesh *mesh)
{
    unda_mesh_info *info = &mesh->info;
    for (int i = 0; i < 3; i++) {
        info->lower[i] = INFINITY;
        info->upper[i] = -INFINITY;
    }
    add_to_box(info, mesh->num_vertex, mesh->vertices);
    if (mesh->curved)
        add_to_box(info, 27 * mesh->num_elem, mesh->curved);
}

struct measuring {
    const struct unda_mesh *mesh;
    struct cell_geometry *of; /* [elem] */
    bool fix_orientation;
};

static void measure(void *user, int64_t begin, int64_t end)
{
    const struct measuring *m = user;
    for (int64_t elem = begin; elem < end; elem++) {
        m->of[elem] = geometry_of(m->mesh, elem);
        if (m->fix_orientation && m->of[elem].volume < 0) {
            turn_cell(m->mesh, elem);
            m->of[elem] = geometry_of(m->mesh, elem);
        }
    }
}

unda_status check_geometry(struct unda_mesh *mesh, bool fix_orientation)
{
    SCRATCH struct cell_geometry *geometry = NULL;
    struct offenders flat = {0}, inverted = {0};
    int64_t folded = 0; /* of positive volume: Jacobian determinants of both signs */
    bounding_box(mesh);
    mesh->info.min_volume = mesh->info.min_insphere = mesh->info.min_quality = INFINITY;
    TRY(array_try(&geometry, mesh->num_elem, sizeof *geometry, "geometry of cells"));
    parallel_parts(parallel_parts_worth(mesh->num_elem, 500), mesh->num_elem, measure,
                   &(struct measuring){mesh, geometry, fix_orientation});
    for (int64_t elem = 0; elem < mesh->num_elem; elem++) {
        if (is_flat(&geometry[elem]))
            offenders_add(&flat, elem);
        else if (!(geometry[elem].min_jacobian > 0)) {
            offenders_add(&inverted, elem);
            folded += geometry[elem].volume > 0;
        }
        add_to_info(mesh, elem, &geometry[elem]);
    }
    REFUSE(flat, "elements have zero volume (below 1e-14 of the cube of their longest edge)");
    if (inverted.count)
        FAIL(UNDA_ERR_MESH, "%lld inverted elements, %s%s", (long long)inverted.count,
             offenders_first(&inverted).text,
             fix_orientation || folded == inverted.count
                 ? ": twisted, their Jacobian determinant changes sign; renumbering does not help"
                 : "; pass fix_orientation=True to renumber them");
    return UNDA_OK;
}
