/* grid.c: a small problem of finite differences: layers, a free and a rigid side, two sources, receivers; and
 * its refusals. Not here: what is checked about it (library.c). Next: rig.h. */
#include "rig.h"

#include <math.h>

enum { NX = 6, NY = 5, NZ = 4, NUM_NODE = NX * NY * NZ };

static const int32_t sides[6] = {UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_FREE,
                                 UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_RIGID, UNDA_BOUNDARY_FREE};
static const unda_fd_options fine_grid = {.size_bytes = sizeof fine_grid,
                                          .order = 4,
                                          .shape = {NX, NY, NZ},
                                          .spacing = {10, 11, 12},
                                          .speed_max = 2000,
                                          .layer = {2, 0, 0, 3, 0, 0},
                                          .reflection = {0.01, 0, 0, 0.01, 0, 0}};

/* On one device, or in slabs. */
static unda_status new_solver(struct grid *grid, const unda_solver_options *options)
{
    const int32_t device[2] = {rig_device, rig_device};
    const unda_team team = {.size_bytes = sizeof team, .num_part = 2, .device = device};
    return unda_solver_new_team(&grid->solver, NULL, options, grid->slabs ? &team : NULL);
}

unda_status grid_new(struct grid *grid, int32_t precision, int32_t uniform)
{
    static const double material[2] = {1000, 2000};
    double varying[NY * NZ][2];
    unda_fd_options fd = fine_grid;
    fd.uniform = uniform;
    fd.window = grid->window;
    fd.order = grid->slabs ? 2 : fd.order; /* a slab has 2 M + 2 planes at least */
    const unda_solver_options options = {.size_bytes = sizeof options,
                                         .method = UNDA_FD,
                                         .precision = precision,
                                         .device = rig_device,
                                         .threads = 2,
                                         .material = uniform ? material : NULL,
                                         .boundary = sides,
                                         .fd = &fd};
    int64_t host, device;
    TRY_HERE(unda_solver_forecast(NULL, &options, &host, &device));
    TRY_HERE(new_solver(grid, &options));
    for (int i = 0; i < NY * NZ; i++) {
        varying[i][0] = 1000;
        varying[i][1] = 1500 + i;
    }
    for (int i = 0; i < NX && !uniform; i++)
        TRY_HERE(unda_solver_set_material(grid->solver, i, 1, varying[0]));
    return UNDA_OK;
}

unda_status grid_new_staggered(struct grid *grid, int32_t precision)
{
    static const int32_t walls[6] = {UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_FIXED,    UNDA_BOUNDARY_FREE,
                                     UNDA_BOUNDARY_ABSORBING, UNDA_BOUNDARY_SYMMETRY, UNDA_BOUNDARY_FREE};
    double material[NY * NZ][3];
    unda_fd_options fd = fine_grid;
    fd.scheme = UNDA_STAGGERED;
    fd.order = grid->slabs ? 2 : fd.order;
    for (int end = 0; end < 6; end++)
        fd.stretch[end] = 1;
    fd.ratio[0] = fd.ratio[3] = 0.5;
    const unda_solver_options options = {.size_bytes = sizeof options,
                                         .method = UNDA_FD,
                                         .physics = UNDA_ELASTIC,
                                         .precision = precision,
                                         .device = rig_device,
                                         .threads = 1, /* no waiting for one that others keep from its core */
                                         .boundary = walls,
                                         .fd = &fd};
    int64_t host, device;
    grid->staggered = 1;
    TRY_HERE(unda_solver_forecast(NULL, &options, &host, &device));
    TRY_HERE(new_solver(grid, &options));
    for (int i = 0; i < NY * NZ; i++) {
        material[i][0] = 1000;
        material[i][1] = 1500 + i;
        material[i][2] = i < NZ ? 0 : 800; /* a fluid at y = 0 */
    }
    for (int i = 0; i < NX; i++)
        TRY_HERE(unda_solver_set_material(grid->solver, i, 1, material[0]));
    double dt;
    int32_t again;
    return unda_solver_medium_dt(grid->solver, &dt, &again);
}

/* The memory of the layers, out and in again. */
static unda_status move_layers(unda_solver *solver)
{
    enum { ROOM = 1000, NUM_FIELD = 9 };
    double values[ROOM];
    int64_t shape[3];
    int num = 0;
    while (unda_solver_array_shape(solver, UNDA_WHOLE + NUM_FIELD + num, shape) == UNDA_OK) {
        int32_t array = UNDA_WHOLE + NUM_FIELD + num++;
        if (shape[0] * shape[1] * shape[2] > ROOM)
            return UNDA_ERR_INTERNAL;
        TRY_HERE(unda_solver_read(solver, array, 0, shape[0], values));
        TRY_HERE(unda_solver_write(solver, array, 1, shape[0] - 1, values));
    }
    return num == 12 ? UNDA_OK : UNDA_ERR_INTERNAL; /* six differences along x, six along y */
}

unda_status grid_step(struct grid *grid, int64_t num_step)
{
    static const double amplitudes[2 * MAX_STEP] = {1, 2};
    const unda_drive drive = {.size_bytes = sizeof drive, .num_time = num_step, .amplitudes = amplitudes};
    double samples[4 * (MAX_STEP + 2)];
    int64_t num_sample, from = 0, end = INT64_MAX;
    TRY_HERE(unda_solver_step(grid->solver, num_step, &drive));
    TRY_HERE(unda_solver_take_samples(grid->solver, grid->group, &from, MAX_STEP + 2, samples, &num_sample));
    return unda_solver_take_samples(grid->solver, grid->group, &end, 0, NULL, &num_sample);
}

unda_status grid_use(struct grid *grid, int64_t num_step)
{
    static const double points[2][3] = {{12, 23, 31}, {49, 1, 0}}, rates[10] = {1000};
    static const int32_t fields[2] = {0, 4};
    double state[NUM_NODE], energy, values[4];
    const unda_receivers receivers = {.size_bytes = sizeof receivers,
                                      .num_point = 2,
                                      .every = 2,
                                      .num_field = grid->staggered ? 2 : 1,
                                      .points = points[0],
                                      .fields = fields};
    unda_solver_info info = {.size_bytes = sizeof info};
    int32_t source;
    for (int i = 0; i < 2; i++) {
        const unda_source given = {
            .size_bytes = sizeof given, .num_cell = 1, .places = points[i], .rates = rates};
        TRY_HERE(unda_solver_add_source(grid->solver, &given, &source));
    }
    TRY_HERE(unda_solver_add_receivers(grid->solver, &receivers, &grid->group));
    TRY_HERE(unda_solver_reserve(grid->solver, MAX_STEP));
    TRY_HERE(unda_solver_clear_state(grid->solver));
    memset(state, 0, sizeof state);
    TRY_HERE(unda_solver_write(grid->solver, UNDA_FIELD, 0, NX, state));
    TRY_HERE(unda_solver_rest(grid->solver));
    TRY_HERE(grid_step(grid, num_step));
    TRY_HERE(unda_solver_read(grid->solver, UNDA_FIELD + 1, 1, 2, state));
    TRY_HERE(unda_solver_energy(grid->solver, &energy));
    TRY_HERE(unda_solver_sample(grid->solver, &receivers, values));
    TRY_HERE(unda_solver_get_info(grid->solver, &info));
    if (grid->staggered)
        TRY_HERE(move_layers(grid->solver));
    return info.num_elem == NUM_NODE && info.padded[0] == NX + (grid->staggered ? 2 : 3) ? UNDA_OK
                                                                                         : UNDA_ERR_INTERNAL;
}

void grid_free(struct grid *grid)
{
    unda_solver_free(grid->solver);
}

/* ---- refusals ---- */

#define CALL(call) printf("%s=%d %s\n", #call, (call), unda_error())

static void refuse_grids(void)
{
    static const double material[2] = {1000, 2000};
    static const int32_t half[6] = {UNDA_BOUNDARY_PERIODIC}, exact[6] = {UNDA_BOUNDARY_EXACT};
    unda_solver *solver = NULL;
    unda_fd_options fd = fine_grid;
    fd.uniform = 1;
    const unda_solver_options fine = {.size_bytes = sizeof fine,
                                      .method = UNDA_FD,
                                      .device = UNDA_DEVICE_CPU,
                                      .material = material,
                                      .boundary = sides,
                                      .fd = &fd};
#define OPTIONS(assignment)                                                                                  \
    do {                                                                                                     \
        unda_solver_options o = fine;                                                                        \
        o.assignment;                                                                                        \
        printf("options." #assignment "=%d %s\n", unda_solver_new(&solver, NULL, &o), unda_error());         \
    } while (0)
#define GRID(assignment)                                                                                     \
    do {                                                                                                     \
        unda_fd_options kept = fd;                                                                           \
        fd.assignment;                                                                                       \
        printf("options.fd." #assignment "=%d %s\n", unda_solver_new(&solver, NULL, &fine), unda_error());   \
        fd = kept;                                                                                           \
    } while (0)
    OPTIONS(fd = NULL);
    OPTIONS(boundary = NULL);
    OPTIONS(boundary = half);
    OPTIONS(boundary = exact);
    OPTIONS(material = NULL);
    OPTIONS(physics = UNDA_ELASTIC);
    OPTIONS(num_part = 1);
    OPTIONS(num_part = -1);
    OPTIONS(dt = NAN);
    OPTIONS(sample_dt = -1);
    GRID(size_bytes = 0);
    GRID(scheme = 9);
    GRID(order = 3);
    GRID(order = 18);
    GRID(shape[1] = 0);
    GRID(shape[2] = INT64_MAX);
    GRID(spacing[0] = 0);
    GRID(spacing[0] = NAN);
    GRID(origin[0] = INFINITY);
    GRID(speed_max = 0);
    GRID(speed_max = 1999);
    GRID(layer[0] = 0);
    GRID(layer[0] = INT64_MAX);
    GRID(reflection[0] = 1);
    GRID(reflection[0] = NAN);
    GRID(window = -2);
    GRID(window = 1); /* on the CPU */
#undef GRID
#undef OPTIONS
    printf("untouched=%d\n", solver == NULL);
    double energy;
    fd.uniform = 0;
    if (unda_solver_new(&solver, NULL, &fine) == UNDA_OK)
        CALL(unda_solver_energy(solver, &energy)); /* no material is given yet */
    unda_solver_free(solver);
}

static void refuse_uses(unda_solver *solver, unda_solver *other)
{
    static double values[4 * NUM_NODE], outside[3] = {-1}, rate = 1, nan = NAN;
    static const double two_densities[2 * 2 * NY * NZ] = {1, 1, 2, 1}, point[3] = {12, 23, 31};
    static const double twice[2][3] = {{12, 23, 31}, {12, 23, 31}};
    const int64_t first[2] = {0, 1};
    int64_t shape[3];
    int32_t index, unknown = 1;
    unda_receivers receivers = {.size_bytes = sizeof receivers,
                                .num_point = 1,
                                .every = 1,
                                .num_field = 1,
                                .points = point,
                                .fields = &unknown};
    const unda_drive drive = {.size_bytes = sizeof drive, .num_time = 1};
    CALL(unda_solver_clear_state(NULL));
    CALL(unda_solver_clear_state(other)); /* DG */
    CALL(unda_solver_rest(NULL));
    CALL(unda_solver_rest(other));
    CALL(unda_solver_set_material(NULL, 0, 1, values));
    CALL(unda_solver_set_material(other, 0, 1, values));
    CALL(unda_solver_set_material(solver, 0, 1, NULL));
    CALL(unda_solver_set_material(solver, -1, 1, two_densities));
    CALL(unda_solver_set_material(solver, 0, NX + 1, two_densities));
    CALL(unda_solver_set_material(solver, 0, 1, two_densities));
    CALL(unda_solver_set_material(solver, 0, 1, values)); /* zeros */
    CALL(unda_solver_read(solver, UNDA_STATE, 0, 1, values));
    CALL(unda_solver_read(solver, INT32_MIN, 0, 1, values));
    CALL(unda_solver_read(solver, INT32_MAX, 0, 1, values));
    CALL(unda_solver_array_shape(solver, INT32_MIN, shape));
    CALL(unda_solver_set_clock(solver, 0, INT64_MAX, 0));
    CALL(unda_solver_read(solver, UNDA_FIELD + 2, 0, 1, values));
    CALL(unda_solver_read(solver, UNDA_FIELD, 0, NX + 1, values));
    CALL(unda_solver_read(solver, UNDA_WHOLE, 0, NX + 4, values));
    CALL(unda_solver_element_dt(solver, values));
    CALL(unda_solver_medium_dt(other, values, &index));
    CALL(unda_solver_exact_points(solver, values, NULL));
    CALL(unda_solver_rhs(solver, &drive));
    unda_source given = {.size_bytes = sizeof given, .num_cell = 1, .places = outside, .rates = &rate};
    CALL(unda_solver_add_source(solver, &given, &index));
    given.places = twice[0];
    given.num_cell = 2;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.num_cell = 1;
    given.rates = &nan;
    CALL(unda_solver_add_source(solver, &given, &index));
    static const int64_t nodes[4] = {1, 0, -1, (int64_t)NX * NY * NZ};
    static const int32_t fields[3] = {0, 0, 99};
    given = (unda_source){
        .size_bytes = sizeof given, .num_cell = 1, .node = nodes, .field = fields, .weight = &nan};
    CALL(unda_solver_add_source(solver, &given, &index));
    given.weight = twice[0];
    given.field = fields + 2;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.field = NULL;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.field = fields;
    given.node = nodes + 2;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.node = nodes + 3;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.node = nodes;
    given.num_cell = 2;
    CALL(unda_solver_add_source(solver, &given, &index));
    given.num_cell = 1;
    given.places = outside;
    CALL(unda_solver_add_source(solver, &given, &index));
    CALL(unda_solver_add_receivers(solver, &receivers, &index));
    receivers.first = first;
    receivers.weights = &rate;
    CALL(unda_solver_add_receivers(solver, &receivers, &index));
    receivers.first = NULL;
    receivers.points = outside;
    unknown = 0;
    CALL(unda_solver_add_receivers(solver, &receivers, &index));
    CALL(unda_solver_profile(solver, 1, &(unda_profile){.size_bytes = sizeof(unda_profile)}));
}

unda_status grid_refusals(unda_solver *other)
{
    struct grid grid = {0};
    refuse_grids();
    TRY_HERE(grid_new(&grid, UNDA_FLOAT64, 0));
    refuse_uses(grid.solver, other);
    unda_status status = grid_use(&grid, 1); /* it still runs */
    grid_free(&grid);
    return status;
}
