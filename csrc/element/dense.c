/* dense.c: the dense linear algebra needed to build an element, in extended precision.
 * Plain loops, a few milliseconds at degree 9; not for time stepping.
 * Next: operators.c. */
#include "internal.h"

#include <math.h>

static void swap_rows(int n, wide *matrix, int a, int b)
{
    for (int j = 0; a != b && j < n; j++) {
        wide kept = matrix[a * n + j];
        matrix[a * n + j] = matrix[b * n + j];
        matrix[b * n + j] = kept;
    }
}

static int pivot_row(int n, const wide *matrix, int column)
{
    int best = column;
    for (int i = column + 1; i < n; i++)
        if (fabsl(matrix[i * n + column]) > fabsl(matrix[best * n + column]))
            best = i;
    return best;
}

static void scale_row(int n, wide factor, wide *row)
{
    for (int j = 0; j < n; j++)
        row[j] *= factor;
}

static void add_row(int n, wide factor, const wide *other, wide *row)
{
    for (int j = 0; j < n; j++)
        row[j] += factor * other[j];
}

/* Gauss-Jordan elimination with partial pivoting. */
unda_status dense_invert(int n, wide *matrix, wide *inverse)
{
    for (int i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        int pivot = pivot_row(n, matrix, k);
        if (!(fabsl(matrix[pivot * n + k]) > 0))
            FAIL(UNDA_ERR_INTERNAL, "matrix of size %d is singular at column %d", n, k);
        swap_rows(n, matrix, k, pivot);
        swap_rows(n, inverse, k, pivot);
        wide scale = 1 / matrix[k * n + k];
        scale_row(n, scale, matrix + k * n);
        scale_row(n, scale, inverse + k * n);
        for (int i = 0; i < n; i++) {
            wide factor = i == k ? 0 : -matrix[i * n + k];
            if (factor == 0)
                continue;
            add_row(n, factor, matrix + k * n, matrix + i * n);
            add_row(n, factor, inverse + k * n, inverse + i * n);
        }
    }
    return UNDA_OK;
}

void dense_multiply(int rows, int cols, int inner, const wide *left, const wide *right, wide *product)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            wide sum = 0;
            for (int k = 0; k < inner; k++)
                sum += left[i * inner + k] * right[j * inner + k];
            product[i * cols + j] = sum;
        }
}

void dense_transpose(int n, const wide *from, wide *to)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[j * n + i] = from[i * n + j];
}

void dense_round(int64_t count, const wide *from, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}
