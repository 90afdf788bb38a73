/* shared.h: a step of the nodes that tiles share. Included by sem/tiles.cu. */
#ifndef UNDA_SEM_SHARED_H
#define UNDA_SEM_SHARED_H

/* What walls, dashpots and the other region make of the force on a side's node: the acceleration. */
DEVICE void at_side(const sem_shared_args &a, long long side, const REAL *v, REAL *f)
{
    int partner = __ldg(a.partner + side), row = __ldg(a.side + side);
    const REAL *area = (const REAL *)a.area + 3 * side;
    if (partner >= 0 && DIM == 1)
        for (int i = 0; i < 3; i++)
            f[0] += area[i] * ((const REAL *)a.solid_u)[3 * (long long)partner + i];
    if (partner >= 0 && DIM == 3)
        for (int i = 0; i < DIM; i++)
            f[i] -= area[i] * ((const REAL *)a.pressure)[partner];
    if (row < 0)
        return;
    const REAL *matrix = (const REAL *)a.matrix + (long long)row * DIM * DIM;
    const REAL *damping = (const REAL *)a.damping + (long long)row * DIM * DIM;
    REAL rest[DIM];
    for (int i = 0; i < DIM; i++) {
        rest[i] = f[i];
        for (int k = 0; k < DIM; k++)
            rest[i] -= damping[i * DIM + k] * v[k];
    }
    for (int i = 0; i < DIM; i++) {
        f[i] = 0;
        for (int k = 0; k < DIM; k++)
            f[i] += matrix[i * DIM + k] * rest[k];
    }
}

/* The rest of a step of nodes on no side, of whose velocity (of SEM_CLOSE: acceleration) tiles have made what it is:
 * QUAD unknowns from this one on. */
DEVICE void go_on(const sem_shared_args &a, long long at)
{
    REAL v[QUAD], other[QUAD], *to = (REAL *)(a.mode == SEM_STEP ? a.u : a.v) + at;
    const int num = (int)(a.first_side * DIM - at < QUAD ? a.first_side * DIM - at : QUAD);
    if (a.mode == SEM_FORCE)
        return;
    const REAL *from = (const REAL *)(a.mode == SEM_STEP ? a.v : a.a) + at;
    const REAL dt = (REAL)(a.mode == SEM_STEP ? a.dt : a.dt / 2);
    if (num < QUAD) {
        for (int i = 0; i < num; i++)
            to[i] = fma(dt, from[i], to[i]);
        return;
    }
    load_vector<QUAD>(v, from);
    load_vector<QUAD>(other, to);
#pragma unroll
    for (int i = 0; i < QUAD; i++)
        other[i] = fma(dt, v[i], other[i]);
    store_vector<QUAD>(to, other);
}

extern "C" __global__ void sem_shared(const __grid_constant__ sem_shared_args a)
{
    long long node = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    REAL f[DIM] = {};
#if ASSEMBLY == 2
    const long long num_quad = (a.first_side * DIM + QUAD - 1) / QUAD;
    if (node < num_quad) {
        go_on(a, node * QUAD);
        return;
    }
    node += a.first_side - num_quad;
#endif
    if (node >= a.num)
        return;
#if ASSEMBLY == 0
    const REAL *from = (const REAL *)a.shared;
    for (int k = __ldg(a.first + node); k < __ldg(a.first + node + 1); k++) {
        REAL part[SUM_WORDS];
        load_constant<SUM_WORDS>(part, from + (long long)__ldg(a.entry + k) * SUM_WORDS);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] += part[i];
    }
#else
    REAL *sum = (REAL *)a.shared + (node - (ASSEMBLY == 2 ? a.first_side : 0)) * DIM;
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        f[i] = sum[i];
        sum[i] = 0;
    }
#endif
    REAL *u = (REAL *)a.u + node * DIM, *v = (REAL *)a.v + node * DIM, *to = (REAL *)a.a + node * DIM;
    if (a.mode != SEM_FORCE) {
        if (node >= a.first_side)
            at_side(a, node - a.first_side, v, f);
        REAL inverse = __ldg((const REAL *)a.inverse_mass + node);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] *= inverse;
        if (DIM == 1 && node >= a.first_side)
            ((REAL *)a.pressure)[node - a.first_side] = f[0];
    }
#pragma unroll
    for (int i = 0; i < DIM; i++)
        advance_to(a.mode, a.dt, f[i], u + i, v + i, to + i);
}

#endif
