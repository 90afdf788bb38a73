/* box_mode.c: unda from C: a mode of a box with free walls, p = sin(pi x) sin(pi y) sin(pi z) cos(sqrt(3) pi
 * c t). Prints the largest error at the nodes of the cells and fails if it is above 1e-4. Compile beside a
 * checkout (UNDA = its path): gcc -I$UNDA/csrc box_mode.c $UNDA/python/unda/libunda.so -lm -o box_mode &&
 * LD_LIBRARY_PATH=$UNDA/python/unda ./box_mode */
#include "unda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6, CELLS = 3, NUM_NODE = (N + 1) * (N + 2) * (N + 3) / 6 };

/* Every call that can fail gives a status; the message is the thread's last. */
static void check(unda_status status)
{
    if (status != UNDA_OK) {
        fprintf(stderr, "%s\n", unda_error());
        exit(1);
    }
}

static double mode(const double *x, double t)
{
    return sin(M_PI * x[0]) * sin(M_PI * x[1]) * sin(M_PI * x[2]) * cos(sqrt(3) * M_PI * t);
}

int main(void)
{
    unda_box box = {.size_bytes = sizeof box, .upper = {1, 1, 1}, .cells = {CELLS, CELLS, CELLS}};
    unda_mesh *mesh;
    check(unda_box_mesh_new(&mesh, &box));
    int64_t num_elem = 6 * CELLS * CELLS * CELLS;

    double *material = malloc(2 * sizeof(double) * num_elem);
    int32_t boundary[6];
    for (int64_t e = 0; e < num_elem; e++)
        material[2 * e] = material[2 * e + 1] = 1; /* rho [kg/m3], c [m/s] */
    for (int i = 0; i < 6; i++)
        boundary[i] = UNDA_BOUNDARY_FREE;
    unda_solver_options options = {.size_bytes = sizeof options,
                                   .degree = N,
                                   .precision = UNDA_FLOAT64,
                                   .device = UNDA_DEVICE_CPU,
                                   .material = material,
                                   .boundary = boundary};
    unda_solver *solver;
    check(unda_solver_new(&solver, mesh, &options));

    double(*x)[3] = malloc(sizeof(*x) * num_elem * NUM_NODE);
    double(*q)[4] = calloc(num_elem * NUM_NODE, sizeof *q); /* p vx vy vz */
    check(unda_mesh_coordinates(mesh, N, x[0]));
    for (int64_t i = 0; i < num_elem * NUM_NODE; i++)
        q[i][0] = mode(x[i], 0);
    check(unda_solver_write(solver, UNDA_STATE, 0, num_elem, q));

    unda_solver_info info = {.size_bytes = sizeof info};
    check(unda_solver_get_info(solver, &info));
    int64_t steps = (int64_t)ceil(0.5 / info.dt);
    unda_next next = {.size_bytes = sizeof next};
    check(unda_solver_next(solver, steps, &next));
    unda_drive drive = {.size_bytes = sizeof drive,
                        .num_time = next.num_time}; /* no sources, no exact data */
    check(unda_solver_step(solver, steps, &drive));

    check(unda_solver_read(solver, UNDA_STATE, 0, num_elem, q));
    double worst = 0;
    for (int64_t i = 0; i < num_elem * NUM_NODE; i++)
        worst = fmax(worst, fabs(q[i][0] - mode(x[i], steps * info.dt)));
    printf("unda %s: %lld steps, largest error %.2e\n", unda_version(), (long long)steps, worst);
    unda_solver_free(solver);
    unda_mesh_free(mesh);
    free(material);
    free(x);
    free(q);
    return worst < 1e-4 ? 0 : 1;
}
