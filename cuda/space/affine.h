/* affine.h: what affine elements of all shapes have in common: products in reference coordinates. Included by
 * each shape; what the words mean: tet_affine.h. */

#if GRAD_DIV
/* One column of the volume products in two parts that share neither sums nor fields: an engine with few
 * registers takes them one after the other. */
DEVICE void FN(volume_div)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < GRAD_DIV; i++)
            acc[i] += d[j] * u[GRAD_DIV * (1 + j) + i];
}

DEVICE void FN(volume_grad)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < GRAD_DIV; i++)
            acc[GRAD_DIV * (1 + j) + i] += d[j] * u[i];
}

DEVICE void FN(volume)(const REAL *d, const VAL *u, VAL *acc)
{
    FN(volume_div)(d, u, acc);
    FN(volume_grad)(d, u, acc);
}

#else
/* One column of the volume products. */
DEVICE void FN(volume)(const REAL *d, const VAL *u, VAL *acc)
{
    for (int half = 0; half < 2; half++) {
        const VAL *v = u + 3 - 3 * half;
        VAL *sum = acc + 3 * half;
        sum[0] += d[1] * v[2];
        sum[1] += d[2] * v[0];
        sum[2] += d[0] * v[1];
        sum[0] -= d[2] * v[1];
        sum[1] -= d[0] * v[2];
        sum[2] -= d[1] * v[0];
    }
}
#endif
