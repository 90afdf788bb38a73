/* solid.h: from g[3 j + i] = du_i/dr_j to the flux w sum_k (J grad r_j)_k s_ik of a node, in place, s = lambda div u
 * + mu (grad u + grad u^T). Metric G[j] = J grad r_j, 1/J as in cuda/space/hex_gll.h; coef lambda, mu; w the weight
 * of the quadrature. DEVICE, FN and VAL are the includer's (csrc/sem/cpu_force.inc.h, cuda/sem/tiles.cu). */
DEVICE void FN(flux_at)(const VAL *metric, const VAL *coef, REAL weight, VAL *g)
{
    VAL slope[3][3], s[3][3]; /* J du_i/dx_k */
    VAL lambda = weight * metric[9] * coef[0], mu = weight * metric[9] * coef[1];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            slope[i][k] = metric[k] * g[i] + metric[3 + k] * g[3 + i] + metric[6 + k] * g[6 + i];
    VAL divergence = lambda * (slope[0][0] + slope[1][1] + slope[2][2]);
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++) {
            VAL both = slope[i][k] + slope[k][i];
            s[i][k] = s[k][i] = i == k ? mu * both + divergence : mu * both;
        }
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            g[3 * j + i] =
                metric[3 * j] * s[i][0] + metric[3 * j + 1] * s[i][1] + metric[3 * j + 2] * s[i][2];
}
