/* tet.c: the reference tetrahedron {r >= 0, r1 + r2 + r3 <= 1}: what its matrices are made of. Face f lies
 * opposite vertex f. Next: nodes_tet.c (nodes), modes.c (modes); operators.c, lift.c (matrices). */
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

/* r3 = (1 + c) / 2, r2 = (1 - r3) (1 + b) / 2, r1 = (1 - r2 - r3) (1 + a) / 2; the Jacobian is
 * (1 - b) (1 - c)^2 / 64. */
static void from_cube(const double cube[3], double r[3])
{
    double below3 = (1 - cube[2]) / 2;            /* 1 - r3 */
    double below2 = below3 * ((1 - cube[1]) / 2); /* 1 - r2 - r3 */
    r[0] = below2 * ((1 + cube[0]) / 2);
    r[1] = below3 * ((1 + cube[1]) / 2);
    r[2] = (1 + cube[2]) / 2;
}

const struct element_shape element_tet = {.num_face = 4,
                                          .num_turn = 1,
                                          .max_degree = MAX_TET_DEGREE,
                                          .num_node = num_tet_node,
                                          .num_face_node = num_triangle_node,
                                          .build = element_build_dense,
                                          .basis = element_dense_basis,
                                          .expand = element_expand_dense,
                                          .nodes = nodes_tet,
                                          .modes = modes_tet,
                                          .face_modes = modes_triangle,
                                          .list_side = list_face,
                                          .base = 3,
                                          .from_cube = from_cube,
                                          .collapse = {0, 1, 2},
                                          .jacobian = 64};
