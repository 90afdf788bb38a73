/* cpu_solid.inc.h: from g[j][i] = du_i/dr_j to the flux w sum_k (J grad r_j)_k s_ik of a node, in place.
 * Metric G[j], 1/J as in cuda/space/hex_gll.h; coef lambda, mu. Part of cpu_force.inc.h. */
INLINE void FN(flux)(const VEC *metric, const VEC *coef, REAL weight, VEC *g)
{
    VEC slope[3][3], s[3][3]; /* du_i/dx_k */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            slope[i][k] =
                metric[9] * (metric[k] * g[i] + metric[3 + k] * g[3 + i] + metric[6 + k] * g[6 + i]);
    VEC divergence = coef[0] * (slope[0][0] + slope[1][1] + slope[2][2]);
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            s[i][k] = s[k][i] =
                weight * (coef[1] * (slope[i][k] + slope[k][i]) + (i == k ? divergence : (VEC){0}));
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            g[3 * j + i] =
                metric[3 * j] * s[i][0] + metric[3 * j + 1] * s[i][1] + metric[3 * j + 2] * s[i][2];
}
