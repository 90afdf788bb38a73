/* pieces.c: counts the pieces of a mesh that no face joins.
 * They are not an error: two bodies may be intended. But layers that were meshed separately look the same.
 * Next: mesh.c. */
#include "internal.h"

/* Marks all elements that can be reached from the first; each enters the stack once. */
static void flood(const struct unda_mesh *mesh, int64_t first, bool *reached, int64_t *stack)
{
    int num_face = mesh->table->num_face;
    int64_t height = 0;
    stack[height++] = first;
    reached[first] = true;
    while (height > 0) {
        const int32_t *neighbor = mesh->neighbor + num_face * stack[--height];
        for (int face = 0; face < num_face; face++) {
            int64_t other = neighbor[face] < 0 ? first : neighbor[face] / num_face;
            if (!reached[other]) {
                reached[other] = true;
                stack[height++] = other;
            }
        }
    }
}

unda_status pieces_check(const struct unda_mesh *mesh)
{
    SCRATCH bool *reached = NULL;
    SCRATCH int64_t *stack = NULL;
    int64_t num_piece = 0;
    TRY(array_try(&reached, mesh->num_elem, sizeof *reached, "mesh pieces"));
    TRY(array_try(&stack, mesh->num_elem, sizeof *stack, "mesh pieces"));
    for (int64_t elem = 0; elem < mesh->num_elem; elem++)
        if (!reached[elem]) {
            flood(mesh, elem, reached, stack);
            num_piece++;
        }
    if (num_piece > 1)
        log_add(UNDA_LOG_WARNING, "the mesh has %lld parts that no face joins: no wave passes between them",
                (long long)num_piece);
    return UNDA_OK;
}
