/* material.c: materials of elements, in the space's order, and which elements are fluids. */
#include "sem.h"

#include "../physics/physics.h"

#include <stdio.h>
#include <string.h>

void sem_moduli(const struct sem *sem, int64_t elem, int node, double moduli[3])
{
    const double *m = sem->material +
                      (elem * sem->material_nodes + (sem->material_nodes > 1 ? node : 0)) * sem->num_material;
    double vs = sem->physics == UNDA_ELASTIC ? m[2] : 0;
    moduli[0] = m[0];
    moduli[2] = m[0] * vs * vs;
    moduli[1] = m[0] * m[1] * m[1] - 2 * moduli[2];
}

static unda_status check_material(const struct sem *sem, int64_t elem, int node, const double *material)
{
    const char *why = physics_table[sem->physics]->refuse(material);
    char found[128];
    if (!why)
        return UNDA_OK;
    for (int i = 0, n = 0; i < sem->num_material; i++)
        n += snprintf(found + n, sizeof found - (size_t)n, i ? ", %g" : "%g", material[i]);
    FAIL(UNDA_ERR_ARG, "material of element %lld, node %d: %s, found %s", (long long)elem, node, why, found);
}

/* Copies materials in the space's order, and finds which elements are fluids. */
unda_status sem_copy_material(struct sem *sem, const unda_mesh *mesh, const double *material)
{
    int64_t num_node = sem->material_nodes, num = num_node * sem->num_material;
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected [%lld][%d]", (long long)mesh->num_elem,
             sem->num_material);
    TRY(array_own(&sem->owned, &sem->material, mesh->num_elem * num, sizeof(double), "materials"));
    for (int64_t e = 0; e < mesh->num_elem; e++) {
        const double *from = material + num * mesh->order[e];
        memcpy(sem->material + num * e, from, sizeof(double) * (size_t)num);
        int64_t num_fluid = 0;
        for (int n = 0; n < num_node; n++) {
            TRY(check_material(sem, mesh->order[e], n, from + n * sem->num_material));
            num_fluid += sem->physics == UNDA_ACOUSTIC || from[n * sem->num_material + 2] == 0;
        }
        if (num_fluid != 0 && num_fluid != num_node)
            FAIL(UNDA_ERR_ARG,
                 "material of element %lld: %lld of %lld nodes are a fluid, expected all nodes of an element "
                 "or none",
                 (long long)mesh->order[e], (long long)num_fluid, (long long)num_node);
        sem->kind[e] = num_fluid ? FLUID : SOLID;
    }
    return UNDA_OK;
}
