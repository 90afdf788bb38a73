/* refusals.c: every function of unda.h that can fail gets NULL for each pointer and numbers out of range; all
 * must be refused by a status and a message, and touch nothing. One line a call: "text=status message".
 * Not here: meshes with faults (test_mesh_refusals.py), the CUDA engine. Next: library.c, rig.c. */
#include "rig.h"

#include <math.h>

#define CALL(call) printf("%s=%d %s\n", #call, (call), unda_error())

static void refuse_sharing(const unda_mesh *mesh)
{
    static const double point[3] = {0.5, 0.5, 0.5}, nan_point[3] = {0, NAN, 0};
    int64_t first[2] = {-7, -7}, elem[1] = {-7};
    const unda_shared fine = {
        .size_bytes = sizeof fine, .num_point = 1, .max_cell = 1, .points = point, .first = first};
#define SHARED(assignment)                                                                                   \
    do {                                                                                                     \
        unda_shared one = fine;                                                                              \
        one.assignment;                                                                                      \
        printf("shared." #assignment "=%d %s\n", unda_mesh_share(mesh, &one), unda_error());                 \
    } while (0)
    SHARED(size_bytes = 8);
    SHARED(num_point = -1);
    SHARED(points = NULL);
    SHARED(points = nan_point);
    SHARED(first = NULL);
    SHARED(degree = -1);
    SHARED(degree = 11);
    SHARED(elem = elem); /* a vertex: one is too few */
#undef SHARED
    CALL(unda_mesh_share(NULL, &fine));
    CALL(unda_mesh_share(mesh, NULL));
    printf("untouched=%d\n", first[0] == -7 && first[1] == -7 && elem[0] == -7);
}

static void refuse_parts(const unda_mesh *mesh)
{
    int32_t part[NUM_ELEM], bad[NUM_ELEM], one[NUM_ELEM] = {0};
    double weight[NUM_ELEM] = {1};
    int64_t first[NUM_ELEM + 1], num_byte = 0;
    char block[8] = {0};
    unda_mesh *local = NULL, *kept = NULL;
    for (int i = 0; i < NUM_ELEM; i++)
        part[i] = bad[i] = i % 2;
    bad[3] = 2;
    CALL(unda_mesh_partition(NULL, 2, NULL, part));
    CALL(unda_mesh_partition(mesh, 2, NULL, NULL));
    CALL(unda_mesh_partition(mesh, 0, NULL, part));
    CALL(unda_mesh_partition(mesh, NUM_ELEM + 1, NULL, part));
    CALL(unda_mesh_partition(mesh, 2, weight, part));
    CALL(unda_mesh_graph(NULL, first, NULL, NULL));
    CALL(unda_mesh_graph(mesh, NULL, NULL, NULL));
    CALL(unda_mesh_part(NULL, mesh, 2, part, 0));
    CALL(unda_mesh_part(&local, NULL, 2, part, 0));
    CALL(unda_mesh_part(&local, mesh, 2, NULL, 0));
    CALL(unda_mesh_part(&local, mesh, 0, part, 0));
    CALL(unda_mesh_part(&local, mesh, NUM_ELEM + 1, part, 0));
    CALL(unda_mesh_part(&local, mesh, 2, part, 2));
    CALL(unda_mesh_part(&local, mesh, 2, part, -1));
    CALL(unda_mesh_part(&local, mesh, 2, bad, 0));
    CALL(unda_mesh_part(&local, mesh, 2, one, 0));
    CALL(unda_mesh_pack(NULL, &num_byte, NULL));
    CALL(unda_mesh_pack(mesh, NULL, NULL));
    CALL(unda_mesh_pack(mesh, &num_byte, block));
    CALL(unda_mesh_unpack(NULL, sizeof block, block));
    CALL(unda_mesh_unpack(&local, sizeof block, NULL));
    CALL(unda_mesh_unpack(&local, sizeof block, block));
    CALL(unda_mesh_unpack(&local, -1, block));
    printf("untouched=%d\n", local == NULL && num_byte == 0 && block[0] == 0);
    if (unda_mesh_part(&kept, mesh, 2, part, 0) != UNDA_OK)
        return;
    CALL(unda_mesh_partition(kept, 2, NULL, part));
    CALL(unda_mesh_graph(kept, first, NULL, NULL));
    CALL(unda_mesh_part(&local, kept, 1, one, 0));
    refuse_sharing(kept);
    printf("untouched=%d\n", local == NULL);
    unda_mesh_free(kept);
}

static void refuse_meshes(struct rig *rig)
{
    unda_mesh *mesh = NULL;
    unda_mesh_info info = {0};
    unda_mesh_arrays arrays = {0};
    unda_mesh_input input = {0}, empty = {.size_bytes = sizeof empty}, null = empty;
    unda_box box = {0}, flat = {.size_bytes = sizeof flat, .cells = {1, 1, 1}}, none = flat, many = flat;
    double point[3] = {0}, nan_point[3] = {NAN};
    int64_t elem;
    none.cells[1] = 0;
    many.cells[0] = many.cells[1] = many.cells[2] = INT64_MAX / 2;
    null.num_vertex = null.num_elem = 4;
    CALL(unda_mesh_new(NULL, &empty));
    CALL(unda_mesh_new(&mesh, NULL));
    CALL(unda_mesh_new(&mesh, &input));
    CALL(unda_mesh_new(&mesh, &empty));
    CALL(unda_mesh_new(&mesh, &null));
    CALL(unda_box_mesh_new(NULL, &flat));
    CALL(unda_box_mesh_new(&mesh, NULL));
    CALL(unda_box_mesh_new(&mesh, &box));
    CALL(unda_box_mesh_new(&mesh, &flat));
    CALL(unda_box_mesh_new(&mesh, &none));
    CALL(unda_box_mesh_new(&mesh, &many));
    CALL(unda_mesh_get_info(NULL, &info));
    CALL(unda_mesh_get_info(rig->mesh, NULL));
    CALL(unda_mesh_get_info(rig->mesh, &info));
    CALL(unda_mesh_get_arrays(NULL, &arrays));
    CALL(unda_mesh_get_arrays(rig->mesh, NULL));
    CALL(unda_mesh_get_arrays(rig->mesh, &arrays));
    CALL(unda_mesh_coordinates(NULL, 1, point));
    CALL(unda_mesh_coordinates(rig->mesh, 1, NULL));
    CALL(unda_mesh_coordinates(rig->mesh, INT32_MAX, point));
    CALL(unda_mesh_locate(NULL, 1, point, &elem, NULL));
    CALL(unda_mesh_locate(rig->mesh, 1, NULL, &elem, NULL));
    CALL(unda_mesh_locate(rig->mesh, 1, point, NULL, NULL));
    CALL(unda_mesh_locate(rig->mesh, -1, point, &elem, NULL));
    CALL(unda_mesh_locate(rig->mesh, 1, nan_point, &elem, NULL));
    refuse_sharing(rig->mesh);
    refuse_parts(rig->mesh);
    printf("untouched=%d\n", mesh == NULL);
}

static void refuse_elements(void)
{
    unda_element_arrays arrays = {0}, fine = {.size_bytes = sizeof fine};
    double point[3] = {NAN}, matrix[4];
    int64_t num_point = -7;
    CALL(unda_element_get_arrays(UNDA_TET, 1, NULL));
    CALL(unda_element_get_arrays(UNDA_TET, 1, &arrays));
    CALL(unda_element_get_arrays(UNDA_HEX, 11, &fine));
    CALL(unda_element_get_arrays(7, 1, &fine));
    CALL(unda_element_get_arrays(UNDA_TET, 0, &fine));
    CALL(unda_element_get_arrays(UNDA_TET, 99, &fine));
    CALL(unda_element_interpolate(UNDA_TET, 1, 1, NULL, matrix));
    CALL(unda_element_interpolate(UNDA_TET, 1, 1, point, NULL));
    CALL(unda_element_interpolate(UNDA_TET, 1, 1, point, matrix));
    CALL(unda_element_interpolate(UNDA_TET, 1, -1, point, matrix));
    CALL(unda_element_cubature(UNDA_TET, -1, &num_point, NULL, NULL));
    CALL(unda_element_cubature(UNDA_TET, 41, &num_point, NULL, NULL));
    CALL(unda_element_cubature(UNDA_TET, 2, NULL, NULL, NULL));
    CALL(unda_element_cubature(UNDA_TET, 2, &num_point, point, NULL));
    printf("untouched=%d\n", num_point == -7);
    printf("unknown=%d\n",
           unda_element_num_node(UNDA_TET, 0) == -1 && unda_element_num_face_node(9, 1) == -1);
}

static void refuse_teams(struct rig *rig)
{
    double material[2 * NUM_ELEM];
    int32_t part[NUM_ELEM] = {1}, device[3] = {UNDA_DEVICE_CPU, UNDA_DEVICE_CPU, UNDA_DEVICE_CPU};
    for (int i = 0; i < 2 * NUM_ELEM; i++)
        material[i] = 1;
    const unda_solver_options fine = {
        .size_bytes = sizeof fine, .degree = 1, .device = UNDA_DEVICE_CPU, .material = material};
    const unda_team two = {.size_bytes = sizeof two, .num_part = 2, .part = part, .device = device};
    unda_member member = {.size_bytes = sizeof member}, unsized = {0};
    unda_solver *solver = NULL;
    int64_t bytes[3];
#define TEAM(assignment)                                                                                     \
    do {                                                                                                     \
        unda_team o = two;                                                                                   \
        o.assignment;                                                                                        \
        printf("options.team." #assignment "=%d %s\n", unda_solver_new_team(&solver, rig->mesh, &fine, &o),  \
               unda_error());                                                                                \
    } while (0)
    CALL(unda_solver_new_team(NULL, rig->mesh, &fine, &two));
    CALL(unda_solver_new_team(&solver, NULL, &fine, &two));
    CALL(unda_solver_new_team(&solver, rig->mesh, NULL, &two));
    TEAM(size_bytes -= 8);
    TEAM(num_part = 0);
    TEAM(num_part = 3); /* no element is of part 2 */
    TEAM(num_part = NUM_ELEM + 1);
    TEAM(part = NULL);
    TEAM(device = NULL);
    TEAM(transport = 3);
    TEAM(transport = -1);
    device[1] = 0;
    CALL(unda_solver_new_team(&solver, rig->mesh, &fine, &two)); /* the CPU and a device */
    device[1] = -2;
    CALL(unda_solver_new_team(&solver, rig->mesh, &fine, &two));
    device[1] = UNDA_DEVICE_CPU;
    part[7] = 2;
    CALL(unda_solver_new_team(&solver, rig->mesh, &fine, &two));
    part[7] = 0;
    unda_solver_options spectral = fine;
    spectral.method = UNDA_SEM;
    CALL(unda_solver_new_team(&solver, rig->mesh, &spectral, &two));
    CALL(unda_solver_forecast_team(NULL, &fine, &two, &bytes[0], &bytes[1]));
    CALL(unda_solver_forecast_team(rig->mesh, NULL, &two, &bytes[0], &bytes[1]));
    CALL(unda_solver_forecast_team(rig->mesh, &fine, NULL, &bytes[0], &bytes[1]));
    CALL(unda_solver_forecast_team(rig->mesh, &fine, &two, NULL, NULL));
    CALL(unda_solver_get_member(NULL, 0, &member));
    CALL(unda_solver_get_member(rig->solver, 0, &member)); /* no team */
    CALL(unda_solver_set_exchange(rig->solver, UNDA_EXCHANGE_BEHIND, 1.0));
    CALL(unda_solver_set_exchange(NULL, UNDA_EXCHANGE_BEHIND, 1.0));
    CALL(unda_solver_get_member(rig->solver, 0, NULL));
    CALL(unda_solver_get_member(rig->solver, 0, &unsized));
}

static void refuse_matched_layers(struct rig *rig)
{
    double material[2 * NUM_ELEM];
    for (int i = 0; i < 2 * NUM_ELEM; i++)
        material[i] = 1;
    unda_solver *solver = NULL;
#define LAYER(...)                                                                                           \
    do {                                                                                                     \
        unda_layer layers[6] = {0};                                                                          \
        unda_layer other = {.begin = 0.5, .depth = 0.5, .damping = 1, .stretch = 1};                         \
        other.__VA_ARGS__;                                                                                   \
        layers[1] = other;                                                                                   \
        unda_solver_options o = {.size_bytes = sizeof o,                                                     \
                                 .degree = 1,                                                                \
                                 .device = UNDA_DEVICE_CPU,                                                  \
                                 .material = material,                                                       \
                                 .layer = layers};                                                           \
        printf("options.layer." #__VA_ARGS__ "=%d %s\n", unda_solver_new(&solver, rig->mesh, &o),            \
               unda_error());                                                                                \
    } while (0)
    LAYER(begin = 0.3); /* cells on both sides of the plane */
    LAYER(begin = 0.0 / 0.0);
    LAYER(depth = -1);
    LAYER(depth = 1.0 / 0.0);
    LAYER(damping = -1);
    LAYER(shift = -1);
    LAYER(stretch = 0.5);
    LAYER(ratio = -0.1);
    LAYER(ratio = 1.1);
}

static int32_t alone(void *of, int64_t num_byte, void *bytes)
{
    (void)of, (void)num_byte, (void)bytes;
    return 0;
}

static int32_t none_starts(int32_t num, void *request)
{
    (void)num, (void)request;
    return 1;
}

static int32_t none_ends(int32_t num, void *request, void *status)
{
    (void)num, (void)request, (void)status;
    return 1;
}

/* Layers of spectral elements. */
static void refuse_layers(void)
{
    const unda_box box = {
        .size_bytes = sizeof box, .shape = UNDA_HEX, .cells = {2, 1, 1}, .upper = {2, 1, 1}};
    const double material[4] = {1, 1, 1, 1};
    const int32_t boundary[6] = {0};
    int64_t elem[2] = {1, 0};
    double damping[2 * 27] = {0};
    unda_mesh *mesh = NULL;
    unda_solver *solver = NULL;
    unda_solver_options options = {.size_bytes = sizeof options,
                                   .method = UNDA_SEM,
                                   .degree = 2,
                                   .device = UNDA_DEVICE_CPU,
                                   .material = material,
                                   .boundary = boundary,
                                   .num_damped = 2,
                                   .damped_elem = elem,
                                   .damping = damping};
    if (unda_box_mesh_new(&mesh, &box) != UNDA_OK || unda_solver_new(&solver, mesh, &options) != UNDA_OK)
        return;
    unda_solver_free(solver);
    damping[28] = -1;
    CALL(unda_solver_new(&solver, mesh, &options));
    damping[28] = NAN;
    CALL(unda_solver_new(&solver, mesh, &options));
    damping[28] = 1;
    elem[0] = 0; /* twice */
    CALL(unda_solver_new(&solver, mesh, &options));
    elem[0] = 2;
    CALL(unda_solver_new(&solver, mesh, &options));
    elem[0] = -1;
    CALL(unda_solver_new(&solver, mesh, &options));
    elem[0] = 1;
    snprintf(options.kernel, sizeof options.kernel, "atomic");
    CALL(unda_solver_new(&solver, mesh, &options));
    options.kernel[0] = 0;
    options.num_damped = -1;
    CALL(unda_solver_new(&solver, mesh, &options));
    options.num_damped = 2;
    options.damping = NULL;
    CALL(unda_solver_new(&solver, mesh, &options));
    unda_mesh_free(mesh);
}

/* The first of two processes of spectral elements: of three hexahedra in a row one, and one that nobody has. */
static void refuse_spectral_ranks(void)
{
    const unda_box box = {
        .size_bytes = sizeof box, .shape = UNDA_HEX, .cells = {3, 1, 1}, .upper = {3, 1, 1}};
    const double material[6] = {1, 1, 1, 1, 1, 1};
    const int64_t place[1] = {0};
    const int32_t part[3] = {0, 1, 1};
    unda_mesh *mesh = NULL, *local = NULL;
    unda_solver *solver = NULL;
    const unda_solver_options fine = {.size_bytes = sizeof fine,
                                      .method = UNDA_SEM,
                                      .degree = 2,
                                      .device = UNDA_DEVICE_CPU,
                                      .material = material};
    if (unda_box_mesh_new(&mesh, &box) != UNDA_OK || unda_mesh_part(&local, mesh, 2, part, 0) != UNDA_OK)
        return;
    unda_ranks two = {.size_bytes = sizeof two, .num_rank = 2, .num_elem = 3, .place = place, .unite = alone};
    CALL(unda_solver_new_rank(&solver, local, &fine, &two)); /* no whole mesh */
    two.whole = local;
    CALL(unda_solver_new_rank(&solver, local, &fine, &two));
    two.whole = mesh;
    CALL(unda_solver_new_rank(&solver, local, &fine, &two)); /* elements of no process */
    unda_mesh_free(local);
    unda_mesh_free(mesh);
}

/* One of two processes, whose other one does not exist. */
static void refuse_ranks(struct rig *rig)
{
    double material[2 * NUM_ELEM];
    int32_t part[NUM_ELEM];
    int64_t place[NUM_ELEM];
    char request[2];
    for (int i = 0; i < NUM_ELEM; i++) {
        material[i] = material[NUM_ELEM + i] = 1;
        part[i] = i >= NUM_ELEM / 2;
        place[i] = i;
    }
    const unda_solver_options fine = {
        .size_bytes = sizeof fine, .degree = 1, .device = UNDA_DEVICE_CPU, .material = material};
    const unda_ranks two = {
        .size_bytes = sizeof two, .num_rank = 2, .num_elem = NUM_ELEM, .place = place, .unite = alone};
    const unda_requests given = {
        .size_bytes = sizeof given, .num = 2, .request = request, .start = none_starts, .wait = none_ends};
    unda_message message = {.size_bytes = sizeof message}, unsized_message = {0};
    unda_drive drive = {.size_bytes = sizeof drive, .num_time = 1};
    unda_solver *solver = NULL;
    unda_mesh *local = NULL;
#define RANKS(assignment)                                                                                    \
    do {                                                                                                     \
        unda_ranks o = two;                                                                                  \
        o.assignment;                                                                                        \
        printf("ranks." #assignment "=%d %s\n", unda_solver_new_rank(&solver, local, &fine, &o),             \
               unda_error());                                                                                \
    } while (0)
#define REQUESTS(assignment)                                                                                 \
    do {                                                                                                     \
        unda_requests o = given;                                                                             \
        o.assignment;                                                                                        \
        printf("requests." #assignment "=%d %s\n", unda_solver_set_requests(solver, &o), unda_error());      \
    } while (0)
    if (unda_mesh_part(&local, rig->mesh, 2, part, 0) != UNDA_OK)
        return;
    CALL(unda_solver_new_rank(NULL, local, &fine, &two));
    CALL(unda_solver_new_rank(&solver, NULL, &fine, &two));
    CALL(unda_solver_new_rank(&solver, local, NULL, &two));
    CALL(unda_solver_new_rank(&solver, local, &fine, NULL));
    CALL(unda_solver_new_rank(&solver, rig->mesh, &fine, &two)); /* no part */
    RANKS(size_bytes -= 8);
    RANKS(num_rank = 3);
    RANKS(which = 1);
    RANKS(place = NULL);
    RANKS(unite = NULL);
    CALL(unda_solver_get_message(NULL, 0, &message));
    CALL(unda_solver_get_message(rig->solver, 0, &message)); /* of one process */
    CALL(unda_solver_set_requests(NULL, &given));
    CALL(unda_solver_set_requests(rig->solver, &given));
    if (unda_solver_new_rank(&solver, local, &fine, &two) == UNDA_OK) {
        CALL(unda_solver_get_message(solver, 1, &message));
        CALL(unda_solver_get_message(solver, -1, &message));
        CALL(unda_solver_get_message(solver, 0, NULL));
        CALL(unda_solver_get_message(solver, 0, &unsized_message));
        CALL(unda_solver_set_requests(solver, NULL));
        REQUESTS(size_bytes = 0);
        REQUESTS(num = -1);
        REQUESTS(request = NULL);
        REQUESTS(start = NULL);
        REQUESTS(wait = NULL);
        CALL(unda_solver_rhs(solver, &drive)); /* without requests */
    }
    unda_solver_free(solver);
    unda_mesh_free(local);
    refuse_layers();
    refuse_spectral_ranks();
}

static void refuse_options(struct rig *rig)
{
    static const double zeros[2 * NUM_ELEM];
    static const int32_t condition[6] = {9};
    double material[2 * NUM_ELEM], nan[2 * NUM_ELEM];
    for (int i = 0; i < 2 * NUM_ELEM; i++)
        material[i] = nan[i] = 1;
    nan[2 * NUM_ELEM - 1] = NAN;
    const unda_solver_options fine = {
        .size_bytes = sizeof fine, .degree = 1, .device = UNDA_DEVICE_CPU, .material = material};
    unda_solver *solver = NULL;
    unda_kernel_resources resources = {.size_bytes = sizeof resources}, unsized = {0};
    int64_t bytes[2];
#define OPTION(assignment)                                                                                   \
    do {                                                                                                     \
        unda_solver_options o = fine;                                                                        \
        o.assignment;                                                                                        \
        printf("options." #assignment "=%d %s\n", unda_solver_new(&solver, rig->mesh, &o), unda_error());    \
    } while (0)
    CALL(unda_solver_new(NULL, rig->mesh, &fine));
    CALL(unda_solver_new(&solver, NULL, &fine));
    CALL(unda_solver_new(&solver, rig->mesh, NULL));
    CALL(unda_solver_forecast(NULL, &fine, &bytes[0], &bytes[1]));
    CALL(unda_solver_forecast(rig->mesh, NULL, &bytes[0], &bytes[1]));
    CALL(unda_solver_forecast(rig->mesh, &fine, NULL, NULL));
    CALL(unda_kernel_compile(NULL, 90, &resources));
    CALL(unda_kernel_compile(&fine, 90, NULL));
    CALL(unda_kernel_compile(&fine, 90, &unsized));
    CALL(unda_kernel_compile(&fine, 90, &resources)); /* the CPU engine has no kernels */
    OPTION(size_bytes -= 8);
    OPTION(method = 1);
    OPTION(method = -1);
    OPTION(physics = 1);
    OPTION(physics = -1);
    OPTION(degree = 0);
    OPTION(degree = 10);
    OPTION(precision = 2);
    OPTION(flux = 2);
    OPTION(integrator = 2);
    OPTION(material_by_node = 2);
    OPTION(kernel[0] = 3);
    OPTION(num_part = UNDA_MAX_PART + 1);
    unda_kernel_info kernel = {.size_bytes = sizeof kernel}, no_kernel = {0};
    CALL(unda_kernel_get(NULL, 0, &kernel));
    CALL(unda_kernel_get(&fine, -1, &kernel));
    CALL(unda_kernel_get(&fine, 99, &kernel));
    CALL(unda_kernel_get(&fine, 0, NULL));
    CALL(unda_kernel_get(&fine, 0, &no_kernel));
    OPTION(device = -2);
    OPTION(threads = -1);
    OPTION(dt = -1);
    OPTION(dt = NAN);
    OPTION(cfl = INFINITY);
    OPTION(material = NULL);
    OPTION(material = zeros);
    OPTION(material = nan);
    OPTION(boundary = condition);
#undef OPTION
    printf("untouched=%d\n", solver == NULL);
}

/* Functions that only ask. */
static void refuse_questions(unda_solver *solver)
{
    unda_solver_info info = {0};
    unda_blowup blowup = {0}, fine = {.size_bytes = sizeof fine};
    unda_profile profile = {.size_bytes = sizeof profile}, unsized = {0};
    double value;
    int32_t history;
    unda_next next = {.size_bytes = sizeof next};
    CALL(unda_solver_get_info(NULL, &info));
    CALL(unda_solver_get_info(solver, NULL));
    CALL(unda_solver_get_info(solver, &info));
    CALL(unda_solver_element_dt(NULL, &value));
    CALL(unda_solver_element_dt(solver, NULL));
    CALL(unda_solver_medium_dt(NULL, &value, &history));
    CALL(unda_solver_medium_dt(solver, NULL, NULL));
    CALL(unda_solver_exact_points(NULL, &value, NULL));
    CALL(unda_solver_exact_points(solver, NULL, NULL));
    CALL(unda_solver_get_history(NULL, &history));
    CALL(unda_solver_get_history(solver, NULL));
    CALL(unda_solver_get_blowup(NULL, &fine));
    CALL(unda_solver_get_blowup(solver, NULL));
    CALL(unda_solver_get_blowup(solver, &blowup));
    CALL(unda_solver_next(NULL, 1, &next));
    CALL(unda_solver_next(solver, 1, NULL));
    CALL(unda_solver_next(solver, -1, &next));
    CALL(unda_solver_energy(NULL, &value));
    CALL(unda_solver_energy(solver, NULL));
    CALL(unda_solver_profile(NULL, 1, &profile));
    CALL(unda_solver_profile(solver, 1, NULL));
    CALL(unda_solver_profile(solver, 1, &unsized));
    CALL(unda_solver_profile(solver, -1, &profile));
    CALL(unda_solver_profile(solver, 1, &profile)); /* CUDA only */
}

/* Of FD, asked of a DG solver. */
static void refuse_grids(unda_solver *solver)
{
    double material[2] = {1, 1};
    int64_t shape[3];
    CALL(unda_solver_clear_state(NULL));
    CALL(unda_solver_clear_state(solver));
    CALL(unda_solver_rest(NULL));
    CALL(unda_solver_rest(solver));
    CALL(unda_solver_set_material(NULL, 0, 1, material));
    CALL(unda_solver_set_material(solver, 0, 1, NULL));
    CALL(unda_solver_set_material(solver, 0, 1, material));
    CALL(unda_solver_array_shape(NULL, UNDA_WHOLE, shape));
    CALL(unda_solver_array_shape(solver, UNDA_WHOLE, NULL));
    CALL(unda_solver_array_shape(solver, UNDA_WHOLE, shape));
}

static void refuse_views(unda_solver *solver)
{
    unda_view view = {.size_bytes = sizeof view}, small = {.size_bytes = 8};
    int32_t done;
    CALL(unda_solver_view(NULL, 0, &view, NULL));
    CALL(unda_solver_view(solver, 0, NULL, NULL));
    CALL(unda_solver_view(solver, 0, &small, NULL));
    CALL(unda_solver_view(solver, -1, &view, NULL));
    CALL(unda_solver_view(solver, 99, &view, NULL));
    CALL(unda_solver_read_device(NULL, 0, 0, 0, &done));
    CALL(unda_solver_read_device(solver, 0, 0, 0, NULL));
}

static void refuse_state(unda_solver *solver)
{
    double values[4] = {0};
    CALL(unda_solver_read(NULL, UNDA_STATE, 0, 1, values));
    CALL(unda_solver_read(solver, UNDA_STATE, 0, 1, NULL));
    CALL(unda_solver_read(solver, 4, 0, 1, values));
    CALL(unda_solver_read(solver, INT32_MIN, 0, 1, values));
    CALL(unda_solver_read(solver, INT32_MAX, 0, 1, values));
    CALL(unda_solver_read(solver, -1, 0, 1, values));
    CALL(unda_solver_read(solver, UNDA_HISTORY1, 0, 1, values)); /* lsrk4 has none */
    CALL(unda_solver_read(solver, UNDA_STATE, -1, 1, values));
    CALL(unda_solver_read(solver, UNDA_STATE, NUM_ELEM, 1, values));
    CALL(unda_solver_read(solver, UNDA_STATE, 1, INT64_MAX, values));
    CALL(unda_solver_read(solver, UNDA_STATE, 0, -1, values));
    CALL(unda_solver_write(NULL, UNDA_STATE, 0, 1, values));
    CALL(unda_solver_write(solver, UNDA_STATE, 0, 1, NULL));
    CALL(unda_solver_write(solver, UNDA_RHS, 0, 1, values));
    CALL(unda_solver_set_clock(NULL, 0, 0, 0));
    CALL(unda_solver_set_clock(solver, NAN, 0, 0));
    CALL(unda_solver_set_clock(solver, 0, -1, 0));
    CALL(unda_solver_set_clock(solver, 0, INT64_MAX, 0));
    CALL(unda_solver_set_clock(solver, 0, 0, 3));
}

static void refuse_points(unda_solver *solver)
{
    static const double point[3] = {0.5, 0.5, 0.5}, rates[NUM_FIELD] = {1}, bad[NUM_FIELD] = {NAN};
    const int64_t elem = 0, outside = NUM_ELEM;
    const int32_t field = 0, unknown = 8 * NUM_FIELD;
    const unda_receivers fine = {.size_bytes = sizeof fine,
                                 .num_point = 1,
                                 .every = 1,
                                 .num_field = 1,
                                 .points = point,
                                 .elem = &elem,
                                 .fields = &field};
    int32_t index = -7;
    int64_t count = -7;
    double samples[1];
    static const int64_t elems[2] = {0, 1}, zeros[2];
    const double places[2][3] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}, both[2 * NUM_FIELD] = {1};
    const unda_source source = {
        .size_bytes = sizeof source, .num_cell = 2, .elem = elems, .places = places[0], .rates = both};
#define SOURCE(assignment)                                                                                   \
    do {                                                                                                     \
        unda_source one = source;                                                                            \
        one.assignment;                                                                                      \
        printf("source." #assignment "=%d %s\n", unda_solver_add_source(solver, &one, &index),               \
               unda_error());                                                                                \
    } while (0)
    SOURCE(size_bytes = 8);
    SOURCE(node = elems); /* on a mesh */
    SOURCE(num_cell = 0);
    SOURCE(num_cell = INT64_MAX);
    SOURCE(elem = NULL);
    SOURCE(places = NULL);
    SOURCE(rates = NULL);
    SOURCE(elem = &outside; one.num_cell = 1);
    SOURCE(places = bad; one.num_cell = 1);
    SOURCE(rates = bad; one.num_cell = 1);
    static const int64_t one_each[3] = {0, 1, 2}, none[3] = {0, 0, 2}, late[3] = {1, 1, 2},
                         few[3] = {0, 1, 1};
    SOURCE(first = one_each; one.num_source = 0);
    SOURCE(first = one_each; one.num_source = INT64_MAX);
    SOURCE(first = one_each; one.num_source = 1);
    SOURCE(first = none; one.num_source = 2);
    SOURCE(first = late; one.num_source = 2);
    SOURCE(first = few; one.num_source = 2);
#undef SOURCE
    CALL(unda_solver_add_source(NULL, &source, &index));
    CALL(unda_solver_add_source(solver, NULL, &index));
    CALL(unda_solver_add_source(solver, &source, NULL));
    CALL(unda_solver_clear_sources(NULL));
#define RECEIVERS(assignment)                                                                                \
    do {                                                                                                     \
        unda_receivers r = fine;                                                                             \
        r.assignment;                                                                                        \
        printf("receivers." #assignment "=%d %s\n", unda_solver_add_receivers(solver, &r, &index),           \
               unda_error());                                                                                \
        if (r.every == 1)                                                                                    \
            printf("sample." #assignment "=%d %s\n", unda_solver_sample(solver, &r, samples), unda_error()); \
    } while (0)
    RECEIVERS(size_bytes = 8);
    RECEIVERS(num_point = -1);
    RECEIVERS(every = 0);
    RECEIVERS(num_field = 0);
    RECEIVERS(points = NULL);
    RECEIVERS(elem = NULL);
    RECEIVERS(fields = NULL);
    RECEIVERS(elem = &outside);
    RECEIVERS(fields = &unknown);
    RECEIVERS(points = bad);
    RECEIVERS(first = elems; r.weights = NULL);
    RECEIVERS(first = elems + 1; r.weights = bad);
    RECEIVERS(first = zeros; r.weights = both);
    RECEIVERS(first = elems; r.weights = bad);
#undef RECEIVERS
    CALL(unda_solver_sample(NULL, &fine, samples));
    CALL(unda_solver_sample(solver, NULL, samples));
    CALL(unda_solver_sample(solver, &fine, NULL));
    CALL(unda_solver_add_receivers(NULL, &fine, &index));
    CALL(unda_solver_add_receivers(solver, NULL, &index));
    CALL(unda_solver_add_receivers(solver, &fine, NULL));
    CALL(unda_solver_clear_receivers(NULL));
    CALL(unda_solver_record(NULL, 0));
    CALL(unda_solver_record(solver, 9));
    CALL(unda_solver_record(solver, -1));
    CALL(unda_solver_read_integrals(NULL, 0, samples, &count));
    CALL(unda_solver_read_integrals(solver, 9, samples, &count));
    CALL(unda_solver_read_integrals(solver, 0, samples, NULL));
    CALL(unda_solver_write_integrals(NULL, 0, samples, 0));
    CALL(unda_solver_write_integrals(solver, 9, samples, 0));
    CALL(unda_solver_write_integrals(solver, 0, NULL, 0));
    CALL(unda_solver_write_integrals(solver, 0, samples, 1));
    int64_t step = 0;
    CALL(unda_solver_take_samples(NULL, 0, &step, 1, samples, &count));
    CALL(unda_solver_take_samples(solver, 9, &step, 1, samples, &count));
    CALL(unda_solver_take_samples(solver, 0, &step, -1, samples, &count));
    CALL(unda_solver_take_samples(solver, 0, NULL, 1, samples, &count));
    CALL(unda_solver_take_samples(solver, 0, &step, 1, samples, NULL));
    printf("untouched=%d\n", index == -7 && count == -7);
}

static void refuse_monitors(struct rig *rig)
{
    const int64_t outside = NUM_ELEM, twice[2] = {1, 1};
    const double bad = NAN, frequency = 1;
    int32_t index = -7;
    int64_t first = -7, count = -7;
    double values[1];
    const unda_monitor fine = {.size_bytes = sizeof fine, .every = 1};
    const unda_solver_options plain = {
        .size_bytes = sizeof plain, .degree = 2, .device = UNDA_DEVICE_CPU, .method = UNDA_DG};
#define MONITOR(assignment)                                                                                  \
    do {                                                                                                     \
        unda_monitor m = fine;                                                                               \
        m.assignment;                                                                                        \
        printf("monitor." #assignment "=%d %s\n", unda_solver_add_monitor(rig->solver, &m, &index),          \
               unda_error());                                                                                \
    } while (0)
    MONITOR(size_bytes = 8);
    MONITOR(every = 0);
    MONITOR(every = INT64_MAX);
    MONITOR(field = -1);
    MONITOR(field = 99);
    MONITOR(statistic = 4);
    MONITOR(quantity = -1);
    MONITOR(quantity = 4);
    MONITOR(quantity = UNDA_MAGNITUDE; m.field = 2);
    MONITOR(statistic = UNDA_FOURIER);
    MONITOR(lag = NAN);
    MONITOR(num_frequency = 1);
    MONITOR(num_elem = 1; m.elem = &outside);
    MONITOR(num_elem = 2; m.elem = twice);
    MONITOR(statistic = UNDA_FOURIER; m.num_frequency = 1);
    MONITOR(statistic = UNDA_FOURIER; m.num_frequency = 1; m.frequencies = &bad);
    MONITOR(statistic = UNDA_FOURIER; m.num_frequency = INT64_MAX; m.frequencies = &frequency);
#undef MONITOR
    CALL(unda_solver_add_monitor(NULL, &fine, &index));
    CALL(unda_solver_add_monitor(rig->solver, NULL, &index));
    CALL(unda_solver_add_monitor(rig->solver, &fine, NULL));
    CALL(unda_monitor_bytes(NULL, &fine, 1, &count, NULL));
    CALL(unda_monitor_bytes(&plain, NULL, 1, &count, NULL));
    CALL(unda_monitor_bytes(&plain, &fine, -1, &count, NULL));
    CALL(unda_solver_monitor_moved(NULL, 0, values));
    CALL(unda_solver_monitor_moved(rig->solver, 0, values));
    CALL(unda_solver_clear_monitors(NULL));
    CALL(unda_solver_restart_monitor(NULL, 0));
    CALL(unda_solver_restart_monitor(rig->solver, 0));
    CALL(unda_solver_read_monitor(NULL, 0, &first, &count, values));
    CALL(unda_solver_read_monitor(rig->solver, -1, &first, &count, values));
    CALL(unda_solver_write_monitor(NULL, 0, 0, 1, values));
    CALL(unda_solver_write_monitor(rig->solver, 0, 0, 1, values));
    printf("untouched=%d\n", index == -7 && first == -7 && count == -7);
}

static void refuse_incident(struct rig *rig)
{
    int64_t neighbors[NUM_ELEM][4], elem = 0, outside = NUM_ELEM;
    const int32_t face = 0, sign = 1, none = 4, twice = 2;
    int32_t index = -7;
    unda_mesh_arrays arrays = {.size_bytes = sizeof arrays, .neighbors = neighbors[0]};
    unda_solver_info before = {.size_bytes = sizeof before}, after = before;
    unda_solver_get_info(rig->solver, &before);
    CALL(unda_solver_add_incident(NULL, 1, &elem, &face, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, NULL, &face, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &elem, NULL, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &elem, &face, NULL, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &elem, &face, &sign, NULL));
    CALL(unda_solver_add_incident(rig->solver, -1, &elem, &face, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, INT64_MAX, &elem, &face, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &outside, &face, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &elem, &none, &sign, &index));
    CALL(unda_solver_add_incident(rig->solver, 1, &elem, &face, &twice, &index));
    unda_mesh_get_arrays(rig->mesh, &arrays);
    for (elem = 0; elem < NUM_ELEM; elem++)
        for (int32_t side = 0; side < 4; side++) /* absorbing, wall, exact, with the wrong sign */
            if (neighbors[elem][side] < 0) {
                const int32_t wrong = neighbors[elem][side] == -1 ? -1 : 1;
                CALL(unda_solver_add_incident(rig->solver, 1, &elem, &side, &wrong, &index));
            }
    unda_solver_get_info(rig->solver, &after);
    printf("untouched=%d\n", before.num_exact == after.num_exact && index == -7);
}

static void refuse_steps(struct rig *rig)
{
    const double amplitude = 0;
    unda_drive empty = {0}, few = {.size_bytes = sizeof few}, silent = few, open = few;
    unda_next next = {.size_bytes = sizeof next};
    unda_solver_next(rig->solver, 1, &next);
    open.num_time = silent.num_time = next.num_time;
    open.amplitudes = &amplitude;
    CALL(unda_solver_reserve(NULL, 1));
    CALL(unda_solver_reserve(rig->solver, -1));
    CALL(unda_solver_step(NULL, 1, &few));
    CALL(unda_solver_step(rig->solver, 1, NULL));
    CALL(unda_solver_step(rig->solver, 1, &empty));
    CALL(unda_solver_step(rig->solver, 1, &few));
    CALL(unda_solver_step(rig->solver, 1, &silent));
    CALL(unda_solver_step(rig->solver, 1, &open));
    CALL(unda_solver_step(rig->solver, -1, &few));
    CALL(unda_solver_step(rig->solver, MAX_STEP + 1, &few));
    CALL(unda_solver_rhs(NULL, &few));
    CALL(unda_solver_rhs(rig->solver, NULL));
    CALL(unda_solver_rhs(rig->solver, &few));
}

static void refuse_settings(void)
{
    unda_limits limits = {0}, fine = {.size_bytes = sizeof fine};
    char id[UNDA_NCCL_ID_BYTES] = "";
    unda_nccl *nccl = NULL;
    CALL(unda_set_kernel_dir(NULL));
    CALL(unda_nccl_find(NULL));
    CALL(unda_nccl_new_id(NULL));
    CALL(unda_nccl_new(NULL, 0, id, 2, 0));
    CALL(unda_nccl_new(&nccl, 0, NULL, 2, 0));
    CALL(unda_nccl_new(&nccl, 0, id, 2, 2));
    unda_nccl_free(NULL);
    CALL(unda_set_cache_dir(NULL));
    CALL(unda_add_library_dir(NULL));
    CALL(unda_device_limits(UNDA_DEVICE_CPU, 0, NULL));
    CALL(unda_device_limits(UNDA_DEVICE_CPU, 0, &limits));
    CALL(unda_device_limits(UNDA_DEVICE_CPU, -1, &fine));
    unda_link link = {0}, good = {.size_bytes = sizeof good};
    int32_t reached;
    CALL(unda_link_limits(0, 0, UNDA_TRANSPORT_AUTO, NULL));
    CALL(unda_link_limits(0, 0, UNDA_TRANSPORT_AUTO, &link));
    CALL(unda_link_limits(0, 0, UNDA_TRANSPORT_HOST + 1, &good));
    CALL(unda_link_limits(UNDA_DEVICE_CPU, 0, UNDA_TRANSPORT_AUTO, &good));
    CALL(unda_device_reach(0, 0, NULL));
    CALL(unda_device_reach(UNDA_DEVICE_CPU, 0, &reached));
    CALL(unda_device_reach(0, UNDA_DEVICE_CPU, &reached));
}

unda_status refusals(void)
{
    struct rig rig = {0};
    TRY_HERE(rig_new(&rig, &(unda_solver_options){.degree = 1}));
    TRY_HERE(rig_use(&rig, 1));
    refuse_meshes(&rig);
    refuse_elements();
    refuse_options(&rig);
    refuse_teams(&rig);
    refuse_matched_layers(&rig);
    refuse_ranks(&rig);
    refuse_questions(rig.solver);
    refuse_grids(rig.solver);
    refuse_views(rig.solver);
    refuse_state(rig.solver);
    refuse_points(rig.solver);
    refuse_monitors(&rig);
    refuse_incident(&rig);
    refuse_steps(&rig);
    refuse_settings();
    TRY_HERE(grid_refusals(rig.solver));
    unda_status status = rig_step(&rig, 1); /* it still runs */
    rig_free(&rig);
    unda_solver_free(NULL);
    unda_mesh_free(NULL);
    return status;
}
