/* cpu_edges.inc.h: metrics of maps of eight vertices (cuda/space/trilinear.h) from edges that nodes share: e_j = dx/dr_j
 * does not depend on r_j, so that a line of nodes along axis j has one. Part of cpu_force.inc.h. */

struct FN(edges) {
    const VAL *map;
    const REAL *r; /* coordinates of the nodes of a line */
    VAL *of[3];    /* [line along the axis][3]: of axis 3 all, of the others those of a plane */
};

/* Edge `line` of an axis, at nodes `next` and `last` of the two axes that follow it. */
DEVICE void FN(edge)(const struct FN(edges) * e, int axis, int next, int last, int line)
{
    const VAL *mixed = e->map + MAP_MIXED;
    FN(trilinear_edge)(e->map + MAP_LINEAR + 3 * axis, mixed + 3 * axis, mixed + 3 * ((axis + 2) % 3),
                       e->map + MAP_TRIPLE, e->r[next], e->r[last], e->of[axis] + 3 * line);
}

DEVICE void FN(edges_third)(const struct FN(edges) * e, int n)
{
    for (int line = 0; line < n * n; line++)
        FN(edge)(e, 2, line % n, line / n, line);
}

DEVICE void FN(edges_plane)(const struct FN(edges) * e, int n, int plane)
{
    for (int line = 0; line < n; line++) {
        FN(edge)(e, 0, line, plane, line);
        FN(edge)(e, 1, plane, line, line);
    }
}

/* G, then 1/J at node k of the plane. */
DEVICE void FN(edges_metric)(const struct FN(edges) * edges, int n, int k, VAL *metric)
{
    const VAL *e[3] = {edges->of[0] + 3 * (k / n), edges->of[1] + 3 * (k % n), edges->of[2] + 3 * k};
    for (int axis = 0; axis < 3; axis++)
        FN(cofactor)(e[(axis + 1) % 3], e[(axis + 2) % 3], metric + 3 * axis);
    metric[9] = edges->map[MAP_PER_UNIT] / (e[0][0] * metric[0] + e[0][1] * metric[1] + e[0][2] * metric[2]);
}
