/* column.h: the metric at the nodes of a column along r_3 of a hexahedron of eight vertices, from its map
 * (cuda/space/trilinear.h): e_3 is the same at all of them, e_1 and e_2 are linear in r_3. Maps are in metres, so that
 * their last number is 1. Included by cuda/sem/tiles.cu. */
#ifndef UNDA_SEM_COLUMN_H
#define UNDA_SEM_COLUMN_H

#include "common/index.h"
#include "common/vector.h"
#include "space/trilinear.h"

/* Within a unit in the last place or two, and normal: the host refuses other J (csrc/sem/tables.c). */
static __device__ __forceinline__ float reciprocal(float x)
{
#ifdef __CUDACC__ /* a division would look whether x is too large */
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1 / x;
#endif
}
static __device__ __forceinline__ double reciprocal(double x)
{
    return 1 / x;
}

/* e_1 and e_2 at the column's lower end and their slopes along it; e_3. */
struct column {
    REAL start[2][3], slope[2][3], up[3];
};

static __device__ const REAL line_point[N] = {LINE_POINTS};

/* map: [i][8], the numbers of a component of x beside each other, so that few of them are in registers at once. */
DEVICE column load_column(const REAL *map, int a, int b)
{
    REAL r_1 = line_point[a], r_2 = line_point[b];
    column c;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        REAL m[NUM_MAP / 3];
        load_constant<NUM_MAP / 3>(m, map + i * (NUM_MAP / 3));
        const REAL *linear = m, *mixed = m + 3, triple = m[6];
        c.start[0][i] = linear[0] + mixed[0] * r_2;
        c.slope[0][i] = mixed[2] + triple * r_2;
        c.start[1][i] = linear[1] + mixed[0] * r_1;
        c.slope[1][i] = mixed[1] + triple * r_1;
        c.up[i] = (linear[2] + mixed[2] * r_1) + (mixed[1] + triple * r_1) * r_2;
    }
    return c;
}

/* The metric of cuda/space/hex_gll.h at a height that the compiler knows. */
DEVICE void metric_at(const column &c, REAL r_3, REAL *metric)
{
    REAL e[2][3];
#pragma unroll
    for (int i = 0; i < 6; i++)
        e[i / 3][i % 3] =
            r_3 == 0 ? c.start[i / 3][i % 3] : c.start[i / 3][i % 3] + c.slope[i / 3][i % 3] * r_3;
    cofactor(e[1], c.up, metric);
    cofactor(c.up, e[0], metric + 3);
    cofactor(e[0], e[1], metric + 6);
    metric[9] = reciprocal(c.up[0] * metric[6] + c.up[1] * metric[7] + c.up[2] * metric[8]);
}

#endif
