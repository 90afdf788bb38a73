/* tables.c: makes the tables of spectral elements that engines use, step by step. Not here: materials (material.c),
 * metrics and masses (metric.c), nodes (number.c), walls and coupling (sides.c), the stable step (dt.c). */
#include "sem.h"

#include "../physics/physics.h"
#include "../solver/kernel.h"

unda_status sem_sizes(struct sem *sem, const unda_mesh *mesh, const unda_solver_options *o)
{
    if (o->physics != UNDA_ACOUSTIC && o->physics != UNDA_ELASTIC)
        FAIL(UNDA_ERR_ARG,
             "physics is %d, expected 0 (acoustic) or 1 (elastic): continuous elements have spurious "
             "modes of Maxwell's equations, which DG solves",
             o->physics);
    if ((mesh ? mesh->shape : o->shape) != UNDA_HEX)
        FAIL(UNDA_ERR_ARG,
             "the mesh has tetrahedra, expected hexahedra: their tensor nodes make the mass matrix "
             "diagonal");
    TRY(space_sizes(&sem->space, mesh, UNDA_HEX, o->degree));
    TRY(element_new(&sem->space.element, UNDA_HEX, o->degree));
    sem->mesh = mesh;
    sem->physics = o->physics;
    sem->num_material = physics_table[o->physics]->num_material;
    sem->material_nodes = o->material_by_node ? sem->space.num_node : 1;
    sem->region[SOLID].dim = 3;
    sem->region[FLUID].dim = 1;
    int kind;
    TRY(space_choose_metric(mesh, kernel_part(o, "metric"), o->degree, &kind));
    sem_set_metric(sem, kind);
    if (!mesh) /* kernels are compiled without one */
        return UNDA_OK;
    TRY(array_own(&sem->owned, &sem->kind, mesh->num_elem, sizeof *sem->kind, "kinds of elements"));
    TRY(array_own(&sem->owned, &sem->row, mesh->num_elem, sizeof *sem->row, "elements"));
    TRY(sem_copy_material(sem, mesh, o->material));
    TRY(sem_number(sem, mesh, o->threads));
    sem->num_field = o->physics == UNDA_ACOUSTIC ? 3 : sem->region[FLUID].num_elem ? 12 : 9;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_color(sem, kind));
    return UNDA_OK;
}

unda_status sem_fill(struct sem *sem, const unda_solver_options *o)
{
    TRY(sem_fill_metric(sem, o->threads));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_fill_mass(sem, &sem->region[kind], o->threads));
    TRY(sem_check_range(sem, o->precision, o->threads));
    TRY(sem_sides_new(sem, o));
    TRY(sem_couple(sem));
    TRY(array_own(&sem->owned, &sem->elem_dt, sem->space.num_owned, sizeof(double), "time steps"));
    sem_elem_dts(sem, o->threads);
    return UNDA_OK;
}

int64_t sem_host_bytes(const struct sem *sem)
{
    int64_t real = sizeof(double);
    int64_t bytes =
        sem->space.num_owned * (real * (sem->material_nodes * sem->num_material + sem->metric_words + 1) +
                                10 * (int64_t)sizeof(int32_t) + 1);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        bytes += r->num_elem * (sem->space.num_node + 1) * (int64_t)sizeof(int32_t) + real * r->num_node;
    }
    return bytes;
}

void sem_free(struct sem *sem)
{
    if (!sem)
        return;
    space_free(&sem->space);
    arrays_free(&sem->owned);
    array_free(sem);
}
