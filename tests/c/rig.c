/* rig.c: builds, uses and frees the problem of rig.h.
 * Not here: what is checked about it (library.c, refusals.c). */
#include "rig.h"

#include <stdlib.h>

int32_t rig_device = UNDA_DEVICE_CPU;
int32_t rig_shape = UNDA_TET;
int32_t rig_parts = 1;

/* An incident wave at faces between elements, at walls and absorbing sides of every third element. */
static unda_status add_incident(struct rig *rig, const int32_t *boundary)
{
    enum { MAX_FACE = 6 };
    int64_t neighbors[MAX_FACE * NUM_ELEM], elem[MAX_FACE * NUM_ELEM], num = 0;
    int32_t face[MAX_FACE * NUM_ELEM], sign[MAX_FACE * NUM_ELEM];
    unda_mesh_arrays arrays = {.size_bytes = sizeof arrays, .neighbors = neighbors};
    TRY_HERE(unda_mesh_get_arrays(rig->mesh, &arrays));
    int num_face = rig_shape == UNDA_HEX ? 6 : 4;
    for (int i = 0; i < num_face * NUM_ELEM; i += i % num_face == num_face - 1 ? 2 * num_face + 1 : 1) {
        int64_t other = neighbors[i];
        int32_t condition = other < 0 ? boundary[-1 - other] : UNDA_BOUNDARY_ABSORBING;
        if (condition == UNDA_BOUNDARY_EXACT)
            continue;
        elem[num] = i / num_face;
        face[num] = i % num_face;
        sign[num++] = other >= 0 ? 1 - 2 * (i % 2) : condition == UNDA_BOUNDARY_ABSORBING ? 1 : -1;
    }
    int32_t index;
    return unda_solver_add_incident(rig->solver, num, elem, face, sign, &index);
}

unda_status rig_new(struct rig *rig, const unda_solver_options *options)
{
    static const double material[3][2] = {{1000, 1500}, {2000, 3000}, {1.2, 340}};
    static const int32_t boundary[6] = {UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_FREE,
                                        UNDA_BOUNDARY_EXACT,     UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_EXACT};
    unda_box box = {.size_bytes = sizeof box, .cells = {2, 2, 1}, .upper = {1, 1, 1}, .perturb = 0.1};
    if (rig_shape == UNDA_HEX) {
        static const int64_t cells[3] = {4, 3, 2};
        box.shape = UNDA_HEX;
        memcpy(box.cells, cells, sizeof cells);
    }
    double materials[NUM_ELEM][2];
    for (int i = 0; i < NUM_ELEM; i++)
        memcpy(materials[i], material[i % 3], sizeof *materials);
    unda_solver_options full = *options;
    full.size_bytes = sizeof full;
    full.device = rig_device;
    full.material = materials[0];
    full.boundary = boundary;
    TRY_HERE(unda_box_mesh_new(&rig->mesh, &box));
    int32_t part[6 * NUM_ELEM], device[8];
    for (int i = 0; i < 6 * NUM_ELEM; i++)
        part[i] = i * i % 7 % rig_parts; /* any */
    for (int p = 0; p < 8; p++)
        device[p] = rig_device;
    unda_team team = {.size_bytes = sizeof team, .num_part = rig_parts, .part = part, .device = device};
    TRY_HERE(unda_solver_new_team(&rig->solver, rig->mesh, &full, rig_parts > 1 ? &team : NULL));
    TRY_HERE(add_incident(rig, boundary));
    rig->info.size_bytes = sizeof rig->info;
    TRY_HERE(unda_solver_get_info(rig->solver, &rig->info));
    size_t bytes = sizeof *rig->outer * (size_t)(MAX_TIME * rig->info.num_exact * NUM_FIELD);
    rig->outer = malloc(bytes); /* calloc's calls are counted: see library.c */
    memset(rig->outer, 0, bytes);
    return UNDA_OK;
}

void rig_free(struct rig *rig)
{
    unda_solver_free(rig->solver);
    unda_mesh_free(rig->mesh);
    free(rig->outer);
}

static unda_status drive(struct rig *rig, int64_t num_step, unda_drive *drive)
{
    static const double amplitudes[MAX_TIME] = {1, 2, 3};
    *drive = (unda_drive){.size_bytes = sizeof *drive, .amplitudes = amplitudes, .exact = rig->outer};
    unda_next next = {.size_bytes = sizeof next};
    unda_status status = unda_solver_next(rig->solver, num_step, &next);
    drive->num_time = next.num_time;
    return status;
}

unda_status rig_step(struct rig *rig, int64_t num_step)
{
    char samples[2 * NUM_FIELD * (MAX_STEP + 2) * sizeof(double)];
    unda_drive driven;
    TRY_HERE(drive(rig, num_step, &driven));
    TRY_HERE(unda_solver_step(rig->solver, num_step, &driven));
    for (int i = 0; i < 2; i++) {
        int64_t num_sample, from = 0, end = INT64_MAX;
        TRY_HERE(
            unda_solver_take_samples(rig->solver, rig->groups[i], &from, MAX_STEP + 2, samples, &num_sample));
        TRY_HERE(unda_solver_take_samples(rig->solver, rig->groups[i], &end, 0, NULL, &num_sample));
    }
    return UNDA_OK;
}

static unda_status add_points(struct rig *rig)
{
    enum { MAX_CELL = 64 };
    static const double points[2][3] = {{0.5, 0.5, 0.5}, {0.8, 0.1, 0.2}};
    static const int32_t fields[2][NUM_FIELD] = {{0}, {3, 1, 5, 14}}; /* dvx/dx, dvy/dz */
    int64_t first[3], elem[MAX_CELL], alone[2];
    double places[3 * MAX_CELL], weights[MAX_CELL], barycentric[2][6], rates[MAX_CELL * NUM_FIELD];
    for (int i = 0; i < MAX_CELL * NUM_FIELD; i++)
        rates[i] = 1;
    const unda_shared shared = {.size_bytes = sizeof shared,
                                .num_point = 2,
                                .max_cell = MAX_CELL,
                                .degree = 2,
                                .points = points[0],
                                .first = first,
                                .elem = elem,
                                .places = places,
                                .weights = weights};
    TRY_HERE(unda_mesh_locate(rig->mesh, 2, points[0], alone, barycentric[0]));
    TRY_HERE(unda_mesh_share(rig->mesh, &shared));
    const unda_source source = {
        .size_bytes = sizeof source, .num_cell = first[1], .elem = elem, .places = places, .rates = rates};
    TRY_HERE(unda_solver_add_source(rig->solver, &source, &rig->source));
    for (int i = 0; i < 2; i++) {
        unda_receivers receivers = {.size_bytes = sizeof receivers,
                                    .num_point = 2,
                                    .every = 1 + i,
                                    .num_field = i ? NUM_FIELD : 1,
                                    .points = i ? places : points[0],
                                    .elem = i ? elem : alone,
                                    .fields = fields[i],
                                    .first = i ? first : NULL,
                                    .weights = i ? weights : NULL};
        TRY_HERE(unda_solver_add_receivers(rig->solver, &receivers, &rig->groups[i]));
    }
    double values[2][NUM_FIELD];
    const unda_receivers sampled = {.size_bytes = sizeof sampled,
                                    .num_point = 2,
                                    .num_field = NUM_FIELD,
                                    .points = places,
                                    .elem = elem,
                                    .fields = fields[1],
                                    .first = first,
                                    .weights = weights};
    return unda_solver_sample(rig->solver, &sampled, values[0]);
}

/* Everything that reads a solver or its mesh. */
static unda_status read_all(struct rig *rig)
{
    static double values[NUM_ELEM * MAX_RIG_NODE * NUM_FIELD], energy;
    unda_mesh_info info = {.size_bytes = sizeof info};
    unda_drive driven;
    TRY_HERE(drive(rig, 0, &driven));
    driven.num_time = 1;
    TRY_HERE(unda_solver_rhs(rig->solver, &driven));
    TRY_HERE(unda_solver_read(rig->solver, UNDA_RHS, 0, NUM_ELEM, values));
    TRY_HERE(unda_solver_read(rig->solver, UNDA_STATE, 5, 1, values));
    TRY_HERE(unda_solver_energy(rig->solver, &energy));
    TRY_HERE(unda_solver_element_dt(rig->solver, values));
    TRY_HERE(unda_mesh_coordinates(rig->mesh, 1, values));
    TRY_HERE(unda_solver_exact_points(rig->solver, rig->outer, NULL));
    memset(rig->outer, 0, sizeof *rig->outer * 3 * (size_t)rig->info.num_exact);
    return unda_mesh_get_info(rig->mesh, &info);
}

unda_status rig_use(struct rig *rig, int64_t num_step)
{
    static const double zeros[NUM_ELEM * MAX_RIG_NODE * NUM_FIELD];
    TRY_HERE(unda_solver_reserve(rig->solver, MAX_STEP));
    TRY_HERE(add_points(rig));
    TRY_HERE(unda_solver_write(rig->solver, UNDA_STATE, 0, NUM_ELEM, zeros));
    TRY_HERE(unda_solver_set_clock(rig->solver, 0, 0, 0));
    for (int i = 0; i < 2; i++)
        TRY_HERE(unda_solver_record(rig->solver, rig->groups[i]));
    TRY_HERE(rig_step(rig, num_step));
    return read_all(rig);
}
