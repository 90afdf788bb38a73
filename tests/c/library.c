/* library.c: scenarios for the library through its public interface alone, run one a process by
 * tests/solver/test_c_library.py, with --asan under AddressSanitizer (leaks, too) and UBSan.
 * Usage: library SCENARIO [DEVICE]; prints "key=value" lines. Linked with --wrap=calloc, so that every allocation is counted and any can
 * fail. Not here: numerics (the Python tests), the CUDA host layer (gpu_host.c). Next: rig.h, refusals.c. */
#include "rig.h"

#include <math.h>
#include <stdlib.h>

/* ---- allocations ---- */

static long num_allocation, failing = -1; /* the number of the one that fails; -1: none */

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    long number =
        __atomic_fetch_add(&num_allocation, 1, __ATOMIC_RELAXED); /* set-up has threads that allocate */
    return number == failing ? NULL : __real_calloc(count, bytes);
}

/* ---- scenarios ---- */

/* Every combination of settings, from creation to freeing, each object used in every way. */
static unda_status run_lifecycle(void)
{
    int num_solver = 0;
    for (int32_t degree = 1; degree <= 4; degree += 3)
        for (int32_t bits = 0; bits < 8; bits++, num_solver++) {
            struct rig rig = {0};
            unda_solver_options options = {.degree = degree,
                                           .precision = bits & 1,
                                           .flux = bits >> 1 & 1,
                                           .integrator = bits >> 2 & 1,
                                           .threads = 2};
            unda_status status = rig_new(&rig, &options);
            status = status == UNDA_OK ? rig_use(&rig, 3) : status;
            rig_free(&rig);
            TRY_HERE(status);
        }
    for (int32_t bits = 0; bits < 4; bits++, num_solver++) {
        struct grid grid = {0};
        unda_status status = grid_new(&grid, bits & 1, bits >> 1);
        status = status == UNDA_OK ? grid_use(&grid, 3) : status;
        grid_free(&grid);
        TRY_HERE(status);
    }
    printf("solvers=%d\n", num_solver);
    return UNDA_OK;
}

static unda_status use_rig(void)
{
    struct rig rig = {0};
    const unda_layer layers[6] = {[1] = {.begin = 0.5, .depth = 0.5, .damping = 1, .stretch = 1}};
    unda_solver_options options = {.degree = 2, .integrator = UNDA_AB3};
    /* on a device they go without launches of many steps; the rig's hexahedra are warped */
    options.layer = rig_device < 0 && rig_shape == UNDA_TET ? layers : NULL;
    unda_status status = rig_new(&rig, &options);
    status = status == UNDA_OK ? rig_use(&rig, 2) : status;
    rig_free(&rig);
    return status;
}

static unda_status use_grid(void)
{
    struct grid grid = {0};
    unda_status status = grid_new(&grid, UNDA_FLOAT32, 0);
    status = status == UNDA_OK ? grid_use(&grid, 2) : status;
    grid_free(&grid);
    return status;
}

static unda_status use_window(void)
{
    struct grid grid = {.window = 2};
    unda_status status = grid_new(&grid, UNDA_FLOAT64, 0);
    status = status == UNDA_OK ? grid_use(&grid, 3) : status;
    grid_free(&grid);
    return status;
}

static unda_status use_staggered(void)
{
    struct grid grid = {0};
    unda_status status = grid_new_staggered(&grid, UNDA_FLOAT32);
    status = status == UNDA_OK ? grid_use(&grid, 2) : status;
    grid_free(&grid);
    return status;
}

/* The whole work again and again, the n-th allocation failing (n = 0, stride, ..), until none is left to
 * fail. What can do without (the cache of kernels) may go on. */
static unda_status fail_each(unda_status (*work)(void), int stride, int *num_failed)
{
    int left = 1;
    for (failing = 0; left; failing += stride) {
        num_allocation = 0;
        unda_status status = work();
        if (status != UNDA_OK && (status != UNDA_ERR_MEMORY || !strstr(unda_error(), "no memory for ")))
            return status;
        left = num_allocation > failing;
        *num_failed += status != UNDA_OK;
    }
    failing = -1;
    return UNDA_OK;
}

static unda_status run_memory(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_rig, 1, &num_failed));
    printf("failed=%d\n", num_failed);
    return UNDA_OK;
}

/* The same of DG on hexahedra (every seventh allocation where modules are loaded each time); then what its steps
 * allocate. */
static unda_status run_hexahedra(void)
{
    int num_failed = 0;
    rig_shape = UNDA_HEX;
    TRY_HERE(fail_each(use_rig, rig_device < 0 ? 1 : 7, &num_failed));
    struct rig rig = {0};
    unda_status status =
        rig_new(&rig, &(unda_solver_options){.degree = 2, .precision = UNDA_FLOAT64, .threads = 2});
    status = status == UNDA_OK ? rig_use(&rig, 5) : status;
    long before = num_allocation;
    status = status == UNDA_OK ? rig_step(&rig, 5) : status;
    printf("failed=%d\nallocations=%ld\n", num_failed, num_allocation - before);
    int32_t index;
    const unda_receivers astray = {.size_bytes = sizeof astray,
                                   .num_point = 1,
                                   .every = 1,
                                   .num_field = 1,
                                   .points = (double[]){1e3, -2e3, 3e3},
                                   .elem = (int64_t[]){0},
                                   .fields = (int32_t[]){0}};
    if (status == UNDA_OK)
        printf("refused=%d\n", unda_solver_add_receivers(rig.solver, &astray, &index) == UNDA_ERR_ARG &&
                                   strstr(unda_error(), "has no coordinates in element 0"));
    rig_free(&rig);
    return status;
}

static unda_status run_team_faults(void)
{
    int num_same = 0, num_seen = 0;
    TRY_HERE(team_faults(&num_same, &num_seen));
    printf("same=%d\nseen=%d\n", num_same, num_seen);
    return UNDA_OK;
}

/* With an exchange for measurements, whose messages are longer on a device. */
static unda_status use_team(void)
{
    struct rig rig = {0};
    unda_status status = rig_new(&rig, &(unda_solver_options){.degree = 2, .integrator = UNDA_AB3});
    status = status == UNDA_OK ? rig_use(&rig, 2) : status;
    if (status == UNDA_OK)
        status = unda_solver_set_exchange(rig.solver, UNDA_EXCHANGE_BEFORE, rig_device < 0 ? 1.0 : 2.0);
    status = status == UNDA_OK ? rig_step(&rig, 1) : status;
    rig_free(&rig);
    return status;
}

/* The same of DG in three parts on one device. */
static unda_status run_team(void)
{
    int num_failed = 0;
    rig_parts = 3;
    TRY_HERE(fail_each(use_team, rig_device < 0 ? 1 : 7, &num_failed));
    struct rig rig = {0};
    unda_status status =
        rig_new(&rig, &(unda_solver_options){.degree = 2, .integrator = UNDA_AB3, .threads = 2});
    status = status == UNDA_OK ? rig_use(&rig, 5) : status;
    long before = num_allocation;
    status = status == UNDA_OK ? rig_step(&rig, 5) : status;
    printf("failed=%d\nallocations=%ld\n", num_failed, num_allocation - before);
    rig_free(&rig);
    return status;
}

static unda_status run_grid_memory(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_grid, 1, &num_failed));
    printf("failed=%d\n", num_failed);
    return UNDA_OK;
}

/* What a step of a grid allocates, beside what failed; frees the grid. */
static unda_status count_allocations(struct grid *grid, unda_status status, int num_failed)
{
    status = status == UNDA_OK ? grid_use(grid, 5) : status;
    long before = num_allocation;
    status = status == UNDA_OK ? grid_step(grid, 5) : status;
    printf("failed=%d\nallocations=%ld\n", num_failed, num_allocation - before);
    grid_free(grid);
    return status;
}

/* The same of the staggered schemes (every ninth allocation where modules are loaded each time); then
 * what a step of them allocates. */
static unda_status run_staggered(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_staggered, rig_device < 0 ? 1 : 9, &num_failed));
    struct grid grid = {0};
    return count_allocations(&grid, grid_new_staggered(&grid, UNDA_FLOAT64), num_failed);
}

static unda_status use_sem(void)
{
    struct spectral sem = {0};
    unda_status status = spectral_new(&sem, UNDA_FLOAT32);
    status = status == UNDA_OK ? spectral_use(&sem, 2) : status;
    spectral_free(&sem);
    return status;
}

/* The same of spectral elements (every ninth allocation where modules are loaded each time); what steps allocate, and how many bad calls are refused. */
static unda_status run_sem(void)
{
    int num_failed = 0, num_call = 0, num_refused = 0;
    TRY_HERE(fail_each(use_sem, rig_device < 0 ? 1 : 9, &num_failed));
    struct spectral sem = {0};
    unda_status status = spectral_new(&sem, UNDA_FLOAT64);
    status = status == UNDA_OK ? spectral_use(&sem, 5) : status;
    status =
        status == UNDA_OK ? spectral_step(&sem, 5) : status; /* a device gets back what the energy moved */
    long before = num_allocation;
    status = status == UNDA_OK ? spectral_step(&sem, 5) : status;
    printf("failed=%d\nallocations=%ld\n", num_failed, num_allocation - before);
    spectral_free(&sem);
    TRY_HERE(status);
    TRY_HERE(spectral_refusals(&num_call, &num_refused));
    printf("calls=%d\nrefused=%d\n", num_call, num_refused);
    return UNDA_OK;
}

/* The same in three parts on one device. */
static unda_status run_sem_team(void)
{
    int num_failed = 0, num_call = 0, num_refused = 0;
    rig_parts = 3;
    TRY_HERE(fail_each(use_sem, rig_device < 0 ? 5 : 29, &num_failed));
    struct spectral sem = {0};
    unda_status status = spectral_new(&sem, UNDA_FLOAT64);
    status = status == UNDA_OK ? spectral_use(&sem, 5) : status;
    status = status == UNDA_OK ? spectral_step(&sem, 5) : status;
    long before = num_allocation;
    status = status == UNDA_OK ? spectral_step(&sem, 5) : status;
    printf("failed=%d\nallocations=%ld\n", num_failed, num_allocation - before);
    spectral_free(&sem);
    TRY_HERE(status);
    TRY_HERE(spectral_team_refusals(&num_call, &num_refused));
    printf("calls=%d\nrefused=%d\n", num_call, num_refused);
    return UNDA_OK;
}

static int num_failed_rank;
static long step_allocations;
static unda_status use_sem_ranks(void)
{
    return spectral_ranks(&num_allocation, &num_failed_rank, &step_allocations);
}

/* The same in two processes. */
static unda_status run_sem_ranks(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_sem_ranks, 7, &num_failed));
    printf("failed=%d\nallocations=%ld\n", num_failed_rank, step_allocations);
    return UNDA_OK;
}

static unda_status run_sem_team_faults(void)
{
    int num_same = 0, num_seen = 0;
    TRY_HERE(sem_team_faults(&num_same, &num_seen));
    printf("same=%d\nseen=%d\n", num_same, num_seen);
    return UNDA_OK;
}

/* The same of a grid in host memory. */
static unda_status run_window(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_window, 7, &num_failed));
    struct grid grid = {.window = 1};
    return count_allocations(&grid, grid_new(&grid, UNDA_FLOAT32, 1), num_failed);
}

static unda_status use_slabs(void)
{
    struct grid grid = {.slabs = 1};
    unda_status status = grid_new(&grid, UNDA_FLOAT32, 0);
    status = status == UNDA_OK ? grid_use(&grid, 2) : status;
    grid_free(&grid);
    return status;
}

static unda_status use_staggered_slabs(void)
{
    struct grid grid = {.slabs = 1};
    unda_status status = grid_new_staggered(&grid, UNDA_FLOAT32);
    status = status == UNDA_OK ? grid_use(&grid, 2) : status;
    grid_free(&grid);
    return status;
}

/* The same of grids in slabs (every fifteenth allocation where modules are loaded each time). */
static unda_status run_slabs(void)
{
    int num_failed = 0;
    TRY_HERE(fail_each(use_slabs, rig_device < 0 ? 1 : 15, &num_failed));
    TRY_HERE(fail_each(use_staggered_slabs, rig_device < 0 ? 3 : 15, &num_failed));
    struct grid grid = {.slabs = 1}, staggered = {.slabs = 1};
    TRY_HERE(count_allocations(&grid, grid_new(&grid, UNDA_FLOAT64, 1), num_failed));
    return count_allocations(&staggered, grid_new_staggered(&staggered, UNDA_FLOAT64), num_failed);
}

/* What a step allocates once it has run with as many steps. */
static unda_status run_steps(void)
{
    struct rig rig = {0};
    struct grid grid = {0};
    unda_status status = rig_new(&rig, &(unda_solver_options){.degree = 3});
    status = status == UNDA_OK ? rig_use(&rig, 5) : status;
    status = status == UNDA_OK ? grid_new(&grid, UNDA_FLOAT32, 0) : status;
    status = status == UNDA_OK ? grid_use(&grid, 5) : status;
    long before = num_allocation;
    status = status == UNDA_OK ? rig_step(&rig, 5) : status;
    status = status == UNDA_OK ? grid_step(&grid, 5) : status;
    printf("allocations=%ld\n", num_allocation - before);
    rig_free(&rig);
    grid_free(&grid);
    return status;
}

/* A blow-up is reported and leaves a solver that can be read, reset and freed. */
static unda_status run_unstable(void)
{
    struct rig rig = {0};
    unda_blowup blowup = {.size_bytes = sizeof blowup};
    unda_status status = rig_new(&rig, &(unda_solver_options){.degree = 2, .dt = 1e9});
    status = status == UNDA_OK ? rig_use(&rig, 1) : status;
    for (int i = 0; i < 60 && status == UNDA_OK; i++)
        status = rig_step(&rig, 1);
    printf("stepped=%d %s\n", status, unda_error());
    TRY_HERE(unda_solver_get_blowup(rig.solver, &blowup));
    printf("elem=%lld\ngood=%d\n", (long long)blowup.elem, blowup.last_good_step < blowup.step);
    /* A clock that is set makes a new beginning: what was good by the old one is not restored. */
    const int64_t begin = 100;
    TRY_HERE(unda_solver_set_clock(rig.solver, 0, begin, 0));
    for (int i = 0; i < 60 && rig_step(&rig, 1) == UNDA_OK; i++)
        ;
    TRY_HERE(unda_solver_get_blowup(rig.solver, &blowup));
    TRY_HERE(unda_solver_get_info(rig.solver, &rig.info));
    printf("again=%d\n", blowup.last_good_step >= begin && rig.info.step == blowup.last_good_step);
    rig_free(&rig);
    return status == UNDA_ERR_UNSTABLE ? UNDA_OK : UNDA_ERR_INTERNAL;
}

/* The clock is set after good steps, then a step blows up that no later one saw good: nothing of the old
 * clock comes back. */
static unda_status run_clock(void)
{
    struct rig rig = {0};
    unda_blowup blowup = {.size_bytes = sizeof blowup};
    static double huge[NUM_ELEM * MAX_RIG_NODE * NUM_FIELD];
    TRY_HERE(rig_new(&rig, &(unda_solver_options){.degree = 1, .precision = UNDA_FLOAT64}));
    TRY_HERE(rig_use(&rig, 2));
    TRY_HERE(unda_solver_set_clock(rig.solver, 0, 100, 0));
    unda_status status = rig_step(&rig, 1);
    TRY_HERE(status);
    for (int i = 0; i < NUM_ELEM * MAX_RIG_NODE * NUM_FIELD; i++)
        huge[i] = NAN;
    TRY_HERE(unda_solver_write(rig.solver, UNDA_STATE, 0, NUM_ELEM, huge));
    TRY_HERE(unda_solver_set_clock(rig.solver, 0, 7, 0));
    status = rig_step(&rig, 1);
    TRY_HERE(unda_solver_get_blowup(rig.solver, &blowup));
    TRY_HERE(unda_solver_get_info(rig.solver, &rig.info));
    TRY_HERE(unda_solver_read(rig.solver, UNDA_STATE, 0, 1, huge));
    printf("refused=%d\nstep=%lld\nkept=%d\n", status == UNDA_ERR_UNSTABLE, (long long)rig.info.step,
           isnan(huge[0]));
    rig_free(&rig);
    return UNDA_OK;
}

/* A mesh may be freed before its solvers. */
static unda_status run_owners(void)
{
    struct rig rig = {0};
    TRY_HERE(rig_new(&rig, &(unda_solver_options){.degree = 2}));
    unda_mesh_free(rig.mesh);
    rig.mesh = NULL;
    double dt[NUM_ELEM];
    TRY_HERE(unda_solver_element_dt(rig.solver, dt));
    const double place[3] = {0.3, 0.3, 0.3}, rates[NUM_FIELD] = {1};
    const int64_t elem = 3;
    const unda_source source = {
        .size_bytes = sizeof source, .num_cell = 1, .elem = &elem, .places = place, .rates = rates};
    TRY_HERE(unda_solver_add_source(rig.solver, &source, &rig.source));
    rig_free(&rig);
    printf("freed=1\n");
    return UNDA_OK;
}

static unda_status use_parts(void)
{
    int turned, wrong, seen;
    return parts(&turned, &wrong, &seen);
}

static unda_status run_parts(void)
{
    int turned, wrong, seen, num_failed = 0;
    TRY_HERE(parts(&turned, &wrong, &seen));
    TRY_HERE(fail_each(use_parts, 5, &num_failed)); /* of six parts that are made alike */
    printf("turned=%d\nwrong=%d\nseen=%d\nfailed=%d\n", turned, wrong, seen, num_failed);
    return UNDA_OK;
}

/* What the sanitizers must find: the negative twins of all the others. */
static unda_status run_overrun(void)
{
    struct rig rig = {0};
    TRY_HERE(rig_new(&rig, &(unda_solver_options){.degree = 1}));
    double *coordinates = malloc(sizeof *coordinates);
    TRY_HERE(unda_mesh_coordinates(rig.mesh, 1, coordinates));
    free(coordinates);
    rig_free(&rig);
    return UNDA_OK;
}

static unda_status run_leak(void)
{
    struct rig rig = {0};
    TRY_HERE(rig_new(&rig, &(unda_solver_options){.degree = 1}));
    rig.solver = NULL;
    rig_free(&rig);
    return UNDA_OK;
}

static unda_status run_overflow(void)
{
    volatile int32_t most = INT32_MAX;
    most = most + 1;
    printf("overflow=%d\n", most);
    return UNDA_OK;
}

static unda_status run_ranges_fused(void)
{
    return ranges("fused");
}

static unda_status run_ranges_node(void)
{
    return ranges("node");
}

static unda_status run_ranges_gemm(void)
{
    return ranges("gemm");
}

static unda_status run_ranges_microblock(void)
{
    return ranges("microblock");
}

static const struct {
    const char *name;
    unda_status (*run)(void);
} scenarios[] = {
    {"lifecycle", run_lifecycle},
    {"memory", run_memory},
    {"hexahedra", run_hexahedra},
    {"team", run_team},
    {"team_faults", run_team_faults},
    {"sem_team", run_sem_team},
    {"sem_team_faults", run_sem_team_faults},
    {"sem_ranks", run_sem_ranks},
    {"grid_memory", run_grid_memory},
    {"staggered", run_staggered},
    {"window", run_window},
    {"slabs", run_slabs},
    {"sem", run_sem},
    {"far", run_far},
    {"far_counts", run_far_counts},
    {"steps", run_steps},
    {"clock", run_clock},
    {"owners", run_owners},
    {"unstable", run_unstable},
    {"parts", run_parts},
    {"refusals", refusals},
    {"overrun", run_overrun},
    {"leak", run_leak},
    {"overflow", run_overflow},
    {"ranges_fused", run_ranges_fused},
    {"ranges_node", run_ranges_node},
    {"ranges_gemm", run_ranges_gemm},
    {"ranges_microblock", run_ranges_microblock},
};

int main(int argc, char **argv)
{
    unda_status status = UNDA_ERR_ARG;
    if (argc > 2)
        rig_device = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a sanitizer ends the process */
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0)
            status = scenarios[i].run();
    printf("status=%d %s\n", status, status == UNDA_OK ? "" : unda_error());
    return status;
}
