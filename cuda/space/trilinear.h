/* trilinear.h: the map of a hexahedron of eight vertices, from which its metric is computed where it is needed:
 *   x(r) = a_0 + sum_j a_j r_j + sum_j m_j r_j r_k + b r_1 r_2 r_3,    (j, k, l) cyclic,
 *   e_j = dx/dr_j = (a_j + m_j r_k) + r_l (m_l + b r_k).
 * e_k x e_l is of degree 2 in each coordinate, so from degree 2 on its interpolant is exact, and it is the curl of
 * csrc/space/hex.c: the constant state stays one, and both sides of a face see the same normal, but for rounding.
 *
 * Words: common/index.h. Lengths are in the element's unit (csrc/dg/metric.c). Included as hex_gll.h is, and by
 * csrc/space/hex_map.c. REAL: a number. */

/* e_j from a_j, m_j, m_l, b; next: r_k, last: r_l. */
DEVICE void FN(trilinear_edge)(const VAL *a, const VAL *m_j, const VAL *m_l, const VAL *b, REAL next,
                               REAL last, VAL *e)
{
    for (int i = 0; i < 3; i++)
        e[i] = (a[i] + m_j[i] * next) + (m_l[i] + b[i] * next) * last;
}

DEVICE void FN(cofactor)(const VAL *e_k, const VAL *e_l, VAL *g)
{
    g[0] = e_k[1] * e_l[2] - e_k[2] * e_l[1];
    g[1] = e_k[2] * e_l[0] - e_k[0] * e_l[2];
    g[2] = e_k[0] * e_l[1] - e_k[1] * e_l[0];
}

/* The metric of hex_gll.h at coordinates r: rows G[j] = e_k x e_l, or e_j where edges is 1, then 1/J. */
DEVICE void FN(trilinear_metric)(const VAL *map, const REAL *r, int edges, VAL *metric)
{
    VAL e[9], g[9];
    for (int j = 0; j < 3; j++)
        FN(trilinear_edge)(map + MAP_LINEAR + 3 * j, map + MAP_MIXED + 3 * j,
                           map + MAP_MIXED + 3 * ((j + 2) % 3), map + MAP_TRIPLE, r[(j + 1) % 3],
                           r[(j + 2) % 3], e + 3 * j);
    for (int j = 0; j < 3; j++)
        FN(cofactor)(e + 3 * ((j + 1) % 3), e + 3 * ((j + 2) % 3), g + 3 * j);
    for (int i = 0; i < 9; i++)
        metric[i] = edges ? e[i] : g[i];
    metric[9] = map[MAP_PER_UNIT] / (e[0] * g[0] + e[1] * g[1] + e[2] * g[2]);
}
