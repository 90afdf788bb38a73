/* lift.c: the faces of a reference element: their nodes and the lift matrices.
 * Not here: which faces of a mesh meet (mesh/), areas and normals (dg/).
 * Next: operators.c.
 *
 * lift_f = M^-1 E_f M_face, where E_f puts the nodes of face f among the element's (Hesthaven & Warburton
 * 2008, chapter 10). On a real affine element the surface term is the sum over faces of |m_f| lift_f (jump on
 * face f), m_f the normal in the lengths of grad r_j: on a tetrahedron of volume V it is area_f / (3 V) long,
 * because the mass matrices scale by V / (1/6) and area_f / (1/2). */
#include "internal.h"

/* Mass matrix of the unit face. */
static unda_status build_face_mass(const struct element *element, wide *mass)
{
    const struct element_shape *shape = element_shape(element->shape);
    int n = element->num_face_node;
    wide values[MAX_TRIANGLE_NODE * MAX_TRIANGLE_NODE], inverse[MAX_TRIANGLE_NODE * MAX_TRIANGLE_NODE];
    for (int m = 0; m < n; m++) {
        int node = element->face_node[shape->base * n + m];
        shape->face_modes(element->degree, element->nodes + 3 * node, values + m * n);
    }
    dense_multiply(n, n, n, values, values, inverse);
    return dense_invert(n, inverse, mass);
}

unda_status element_build_faces(struct element *element, const wide *inv_mass)
{
    int n = element->num_node, m = element->num_face_node;
    for (int side = 0; side < element->num_side; side++)
        element_shape(element->shape)->list_side(element->degree, side, element->face_node + side * m);
    wide face_mass[MAX_TRIANGLE_NODE * MAX_TRIANGLE_NODE];
    TRY(build_face_mass(element, face_mass));
    for (int face = 0; face < element->num_face; face++)
        for (int node = 0; node < n; node++) {
            wide columns[MAX_TRIANGLE_NODE], row[MAX_TRIANGLE_NODE];
            for (int j = 0; j < m; j++)
                columns[j] = inv_mass[node * n + element->face_node[face * m + j]];
            dense_multiply(1, m, m, columns, face_mass, row); /* the face mass is symmetric */
            dense_round(m, row, element->lift + ((int64_t)face * n + node) * m);
        }
    return UNDA_OK;
}
