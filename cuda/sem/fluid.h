/* fluid.h: from g[j] = dchi/dr_j to the flux w (J grad r_j) . (1/rho) grad chi of a node, in place; coef 1/rho. See
 * solid.h. */
DEVICE void FN(flux_at)(const VAL *metric, const VAL *coef, REAL weight, VAL *g)
{
    VAL slope[3], scale = weight * metric[9] * coef[0];
    for (int k = 0; k < 3; k++)
        slope[k] = scale * (metric[k] * g[0] + metric[3 + k] * g[1] + metric[6 + k] * g[2]);
    for (int j = 0; j < 3; j++)
        g[j] = metric[3 * j] * slope[0] + metric[3 * j + 1] * slope[1] + metric[3 * j + 2] * slope[2];
}
