/* lift.c: the faces of the reference tetrahedron: their nodes and the lift matrices.
 * Not here: which faces of a mesh meet (mesh/), areas and normals (dg/).
 * Next: operators.c.
 *
 * lift_f = M^-1 E_f M_triangle, where E_f puts the nodes of face f among the element's (Hesthaven &
 * Warburton 2008, chapter 10). On a real element of volume V the surface term is the sum over
 * faces of |grad lambda_f| lift_f (jump on face f), with |grad lambda_f| = area_f / (3 V) because
 * the mass matrices scale by V / (1/6) and area_f / (1/2). */
#include "internal.h"

static int node_of(int degree, const int index[4])
{
    int i = index[1], j = index[2], k = index[3], left = degree - k;
    int layers = num_tet_node(degree) - num_tet_node(left);
    int rows = num_triangle_node(left) - num_triangle_node(left - j);
    return layers + rows + i;
}

/* Nodes of the face opposite vertex face, its vertices taken as a < b < c: weight of b fastest.
 * Elements whose vertices are sorted by global number thus list a common face alike. */
static void list_face(int degree, int face, int32_t *face_node)
{
    int a = face == 0, b = face <= 1 ? 2 : 1, c = face == 3 ? 2 : 3;
    for (int j = 0; j <= degree; j++)
        for (int i = 0; i + j <= degree; i++) {
            int index[4] = {0};
            index[a] = degree - i - j;
            index[b] = i;
            index[c] = j;
            *face_node++ = node_of(degree, index);
        }
}

/* Mass matrix of the unit triangle. All faces have the same nodes; on face 3 s is (r1, r2). */
static unda_status build_face_mass(const struct element *element, wide *mass)
{
    int n = element->num_face_node;
    wide values[MAX_FACE_NODE * MAX_FACE_NODE], inverse[MAX_FACE_NODE * MAX_FACE_NODE];
    for (int m = 0; m < n; m++) {
        int node = element->face_node[3 * n + m];
        modes_triangle(element->degree, element->nodes + 3 * node, values + m * n);
    }
    dense_multiply(n, n, n, values, values, inverse);
    return dense_invert(n, inverse, mass);
}

unda_status element_build_faces(struct element *element, const wide *inv_mass)
{
    int n = element->num_node, m = element->num_face_node;
    for (int face = 0; face < 4; face++)
        list_face(element->degree, face, element->face_node + face * m);
    wide face_mass[MAX_FACE_NODE * MAX_FACE_NODE];
    TRY(build_face_mass(element, face_mass));
    for (int face = 0; face < 4; face++)
        for (int node = 0; node < n; node++) {
            wide columns[MAX_FACE_NODE], row[MAX_FACE_NODE];
            for (int j = 0; j < m; j++)
                columns[j] = inv_mass[node * n + element->face_node[face * m + j]];
            dense_multiply(1, m, m, columns, face_mass, row); /* the face mass is symmetric */
            dense_round(m, row, element->lift + ((int64_t)face * n + node) * m);
        }
    return UNDA_OK;
}
