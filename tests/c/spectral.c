/* spectral.c: a small problem of spectral elements: a fluid on a solid, all their sides, sources, receivers; and its
 * refusals. Not here: what is checked about it (library.c). Next: rig.h. */
#include "rig.h"

#include <stdlib.h>

static const int32_t walls[6] = {UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_FIXED,    UNDA_BOUNDARY_SYMMETRY,
                                 UNDA_BOUNDARY_FREE,      UNDA_BOUNDARY_SYMMETRY, UNDA_BOUNDARY_FREE};
static const double media[SEM_ELEM][3] = {
    {2000, 3000, 1500}, {2000, 3000, 1500}, {1000, 1500, 0}, {1000, 1500, 0}};
static const double inside[2][3] = {{0.4, 0.3, 0.2}, {0.6, 0.7, 0.9}};
static const int64_t inside_elem[2] = {0, 3};

static unda_solver_options options_of(int32_t precision)
{
    return (unda_solver_options){.size_bytes = sizeof(unda_solver_options),
                                 .method = UNDA_SEM,
                                 .physics = UNDA_ELASTIC,
                                 .degree = 2,
                                 .precision = precision,
                                 .device = rig_device,
                                 .threads = 2,
                                 .material = media[0],
                                 .boundary = walls};
}

unda_status spectral_add_points(struct spectral *sem)
{
    static const double rates[2][10] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1e-3}};
    static const int64_t first[3] = {0, 1, 2};
    int32_t fields[23], index;
    for (int i = 0; i < 23; i++)
        fields[i] = i;
    const unda_source source = {.size_bytes = sizeof source,
                                .num_cell = 2,
                                .elem = inside_elem,
                                .places = inside[0],
                                .rates = rates[0],
                                .num_source = 2,
                                .first = first};
    TRY_HERE(unda_solver_add_source(sem->solver, &source, &index));
    const unda_receivers receivers = {.size_bytes = sizeof receivers,
                                      .num_point = 2,
                                      .every = 2,
                                      .num_field = 23,
                                      .points = inside[0],
                                      .elem = inside_elem,
                                      .fields = fields};
    double values[2 * 23];
    TRY_HERE(unda_solver_add_receivers(sem->solver, &receivers, &sem->group));
    return unda_solver_sample(sem->solver, &receivers, values);
}

unda_status spectral_new(struct spectral *sem, int32_t precision)
{
    const unda_box box = {
        .size_bytes = sizeof box, .shape = UNDA_HEX, .cells = {2, 1, 2}, .upper = {1, 1, 1}, .perturb = 0.1};
    const unda_solver_options options = options_of(precision);
    int64_t host, device;
    TRY_HERE(unda_box_mesh_new(&sem->mesh, &box));
    TRY_HERE(unda_solver_forecast(sem->mesh, &options, &host, &device));
    const int32_t part[SEM_ELEM] = {0, 1, 2, 0}, where[] = {rig_device, rig_device, rig_device};
    const unda_team team = {.size_bytes = sizeof team, .num_part = rig_parts, .part = part, .device = where};
    int64_t each[3];
    if (rig_parts > 1)
        TRY_HERE(unda_solver_forecast_team(sem->mesh, &options, &team, &host, each));
    TRY_HERE(unda_solver_new_team(&sem->solver, sem->mesh, &options, rig_parts > 1 ? &team : NULL));
    return spectral_add_points(sem);
}

unda_status spectral_new_rank(struct spectral *sem, const unda_mesh *part, const unda_ranks *ranks)
{
    const unda_solver_options options = options_of(UNDA_FLOAT64);
    return unda_solver_new_rank(&sem->solver, part, &options, ranks);
}

unda_status spectral_step(struct spectral *sem, int64_t num_step)
{
    static const double amplitudes[MAX_STEP + 1][2] = {{1, 2}, {3, 4}};
    char samples[2 * 23 * (MAX_STEP + 2) * sizeof(double)];
    int64_t num_sample, from = 0, end = INT64_MAX;
    unda_next next = {.size_bytes = sizeof next};
    TRY_HERE(unda_solver_next(sem->solver, num_step, &next));
    const unda_drive drive = {
        .size_bytes = sizeof drive, .num_time = next.num_time, .amplitudes = amplitudes[0]};
    TRY_HERE(unda_solver_step(sem->solver, num_step, &drive));
    TRY_HERE(unda_solver_take_samples(sem->solver, sem->group, &from, MAX_STEP + 2, samples, &num_sample));
    return unda_solver_take_samples(sem->solver, sem->group, &end, 0, NULL, &num_sample);
}

unda_status spectral_use(struct spectral *sem, int64_t num_step)
{
    double state[SEM_ELEM * SEM_NODE * SEM_FIELD] = {0}, energy, dt[SEM_ELEM];
    int32_t history;
    TRY_HERE(unda_solver_write(sem->solver, UNDA_STATE, 0, SEM_ELEM, state));
    TRY_HERE(unda_solver_set_clock(sem->solver, 0, 0, 0));
    TRY_HERE(unda_solver_record(sem->solver, sem->group));
    TRY_HERE(spectral_step(sem, num_step));
    TRY_HERE(unda_solver_read(sem->solver, UNDA_STATE, 1, SEM_ELEM - 1, state));
    TRY_HERE(unda_solver_get_history(sem->solver, &history));
    TRY_HERE(unda_solver_element_dt(sem->solver, dt));
    return unda_solver_energy(sem->solver, &energy);
}

void spectral_free(struct spectral *sem)
{
    unda_solver_free(sem->solver);
    unda_mesh_free(sem->mesh);
}

/* How many of these calls are refused, as all are to be. */
unda_status spectral_refusals(int *num_call, int *num_refused)
{
    struct spectral sem = {0};
    unda_solver *none = NULL;
    unda_status status = spectral_new(&sem, UNDA_FLOAT64);
    double torn[SEM_ELEM * SEM_NODE * SEM_FIELD], rates[10] = {[3] = 1}, wet[10] = {0};
    int32_t index, field = 23, exact[6] = {UNDA_BOUNDARY_EXACT}, rigid[6] = {UNDA_BOUNDARY_RIGID};
    int64_t nowhere = SEM_ELEM;
    unda_solver_options o[8];
    for (int i = 0; i < 8; i++)
        o[i] = options_of(UNDA_FLOAT64);
    for (int i = 0; i < SEM_ELEM * SEM_NODE * SEM_FIELD; i++)
        torn[i] = i;
    o[0].degree = 1;
    o[1].degree = 11;
    o[2].physics = UNDA_MAXWELL;
    strcpy(o[3].kernel, "lines");
    o[4].boundary = exact;
    o[5].boundary = rigid; /* elastic media have none */
    o[6].material = NULL;
    o[7].material_by_node = 2;
    wet[9] = 1;
    const unda_source dry = {.size_bytes = sizeof dry,
                             .num_cell = 1,
                             .elem = inside_elem + 1,
                             .places = inside[1],
                             .rates = rates};
    const unda_source flood = {
        .size_bytes = sizeof flood, .num_cell = 1, .elem = inside_elem, .places = inside[0], .rates = wet};
    const unda_source lost = {
        .size_bytes = sizeof lost, .num_cell = 1, .elem = &nowhere, .places = inside[0], .rates = rates};
    const unda_receivers deaf = {.size_bytes = sizeof deaf,
                                 .num_point = 1,
                                 .every = 1,
                                 .num_field = 1,
                                 .points = inside[0],
                                 .elem = inside_elem,
                                 .fields = &field};
    static const double beyond[3] = {1e3, -2e3, 3e3};
    const unda_receivers astray = {.size_bytes = sizeof astray,
                                   .num_point = 1,
                                   .every = 1,
                                   .num_field = 1,
                                   .points = beyond,
                                   .elem = inside_elem,
                                   .fields = (int32_t[]){0}};
#define REFUSED(call) (++*num_call, *num_refused += (call) == UNDA_ERR_ARG && strlen(unda_error()) > 20)
    for (int i = 0; i < 8 && status == UNDA_OK; i++)
        REFUSED(unda_solver_new(&none, sem.mesh, &o[i]));
    if (status == UNDA_OK) {
        REFUSED(unda_solver_write(sem.solver, UNDA_STATE, 0, SEM_ELEM, torn));
        REFUSED(unda_solver_write(sem.solver, UNDA_RHS, 0, SEM_ELEM, torn));
        REFUSED(unda_solver_read(sem.solver, UNDA_STATE, 1, SEM_ELEM, torn));
        REFUSED(unda_solver_add_source(sem.solver, &dry, &index));
        REFUSED(unda_solver_add_source(sem.solver, &flood, &index));
        REFUSED(unda_solver_add_source(sem.solver, &lost, &index));
        REFUSED(unda_solver_add_receivers(sem.solver, &deaf, &index));
        REFUSED(unda_solver_add_receivers(sem.solver, &astray, &index));
        REFUSED(unda_solver_rhs(sem.solver, &(unda_drive){.size_bytes = sizeof(unda_drive)}));
    }
    spectral_free(&sem);
    return status;
}

unda_status spectral_team_refusals(int *num_call, int *num_refused)
{
    const unda_box box = {
        .size_bytes = sizeof box, .shape = UNDA_HEX, .cells = {2, 1, 2}, .upper = {1, 1, 1}, .perturb = 0.1};
    const unda_solver_options options = options_of(UNDA_FLOAT64);
    const int32_t part[3][SEM_ELEM] = {{0, 1, 2, 0}, {0, 1, 1, 3}, {0, 1, 1, 0}};
    const int32_t where[2][5] = {{rig_device, rig_device, rig_device, rig_device, rig_device},
                                 {rig_device, rig_device < 0 ? 0 : -1, rig_device}};
    const unda_team teams[] = {
        {sizeof(unda_team), 0, 0, part[0], where[0]},    {sizeof(unda_team), 5, 0, part[0], where[0]},
        {sizeof(unda_team), 3, 0, NULL, where[0]},       {sizeof(unda_team), 3, 0, part[0], NULL},
        {sizeof(unda_team), 3, 3, part[0], where[0]},    {sizeof(unda_team), 3, 0, part[1], where[0]},
        {sizeof(unda_team), 3, 0, part[2], where[0]},    {sizeof(unda_team), 3, 0, part[0], where[1]},
        {sizeof(unda_team) - 1, 3, 0, part[0], where[0]}};
    unda_mesh *mesh;
    TRY_HERE(unda_box_mesh_new(&mesh, &box));
    *num_call = sizeof teams / sizeof *teams;
    for (int i = 0; i < *num_call; i++) {
        unda_solver *none = NULL;
        *num_refused += unda_solver_new_team(&none, mesh, &options, &teams[i]) == UNDA_ERR_ARG && !none;
    }
    unda_mesh_free(mesh);
    return UNDA_OK;
}
