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
            f[0] += area[i] * ((const REAL *)a.solid_u)[SOLID_WIDTH * (long long)partner + i];
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

/* The rest of a step of nodes on no side, of whose velocity (of SEM_CLOSE: acceleration) cells have made what it is:
 * QUAD unknowns from this one on. */
DEVICE void go_on(const sem_shared_args &a, long long at)
{
    REAL x[QUAD], y[QUAD], *to = (REAL *)(a.mode == SEM_STEP ? a.u : a.v) + at;
    const REAL *from = (const REAL *)(a.mode == SEM_STEP ? a.v : a.a) + at;
    const REAL dt = (REAL)(a.mode == SEM_STEP ? a.dt : a.dt / 2);
    const long long left = a.first_side * WIDTH - at;
    if (a.mode == SEM_FORCE)
        return;
    if (left < QUAD) {
        for (int i = 0; i < left; i++)
            to[i] = fma(dt, from[i], to[i]);
        return;
    }
    load_vector<QUAD>(x, from);
    load_vector<QUAD>(y, to);
#pragma unroll
    for (int i = 0; i < QUAD; i++)
        y[i] = fma(dt, x[i], y[i]);
    store_vector<QUAD>(to, y);
}

/* The force on a node: parts in order, or their sum, which is 0 from now on. */
DEVICE void take_force(const sem_shared_args &a, long long node, REAL (&f)[DIM])
{
#if ASSEMBLY == 0
    const REAL *from = (const REAL *)a.shared;
    for (int k = __ldg(a.first + node); k < __ldg(a.first + node + 1); k++) {
        const REAL *part = from + (long long)__ldg(a.entry + k) * DIM;
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] += part[i];
    }
#else
    REAL *sum = (REAL *)a.shared + (node - (ASSEMBLY == 2 ? a.first_side : 0)) * WIDTH;
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        f[i] = sum[i];
        sum[i] = 0;
    }
#endif
}

/* It becomes the acceleration. */
DEVICE void accelerate(const sem_shared_args &a, long long node, REAL (&f)[DIM])
{
    if (a.mode == SEM_FORCE)
        return;
    if (node >= a.first_side)
        at_side(a, node - a.first_side, (const REAL *)a.v + node * WIDTH, f);
    REAL inverse = __ldg((const REAL *)a.inverse_mass + node);
#pragma unroll
    for (int i = 0; i < DIM; i++)
        f[i] *= inverse;
    if (DIM == 1 && node >= a.first_side)
        ((REAL *)a.pressure)[node - a.first_side] = f[0];
}

#if ASSEMBLY == 2
/* Blocks of 256 threads: first those of nodes on sides, which take longest, a thread a node; then some unknowns a thread. */
extern "C" __global__ void sem_shared(const __grid_constant__ sem_shared_args a)
{
    wait_for_previous();
    const long long num_block = (a.num - a.first_side + 255) / 256;
    if (blockIdx.x >= num_block) {
        go_on(a, ((blockIdx.x - num_block) * 256 + threadIdx.x) * QUAD);
        return;
    }
    const long long node = a.first_side + (long long)blockIdx.x * 256 + threadIdx.x;
    if (node >= a.num)
        return;
    REAL f[DIM] = {}, u[WIDTH], v[WIDTH], to[WIDTH] = {};
    load_vector<WIDTH>(u, (const REAL *)a.u + node * WIDTH);
    load_vector<WIDTH>(v, (const REAL *)a.v + node * WIDTH);
    take_force(a, node, f);
    accelerate(a, node, f);
#pragma unroll
    for (int i = 0; i < DIM; i++)
        advance_to(a.mode, a.dt, f[i], u + i, v + i, to + i);
    if (a.mode != SEM_FORCE)
        store_vector<WIDTH>((REAL *)a.v + node * WIDTH, v);
    if (a.mode == SEM_STEP)
        store_vector<WIDTH>((REAL *)a.u + node * WIDTH, u);
    else
        store_vector<WIDTH>((REAL *)a.a + node * WIDTH, to);
}
#else
/* A thread sums for a node, and advances unknowns that stand beside each other, so that whole lines are read and
 * written. Blocks are of 256 threads. */
extern "C" __global__ void sem_shared(const __grid_constant__ sem_shared_args a)
{
    wait_for_previous();
    __shared__ __align__(16) REAL acceleration[256 * DIM];
    const long long first = (long long)blockIdx.x * blockDim.x, node = first + threadIdx.x;
    if (node < a.num) {
        REAL f[DIM] = {};
        take_force(a, node, f);
        accelerate(a, node, f);
#pragma unroll
        for (int i = 0; i < DIM; i++)
            acceleration[(int)threadIdx.x * DIM + i] = f[i];
    }
    __syncthreads();
    for (int i = (int)threadIdx.x * QUAD; i < (int)blockDim.x * DIM; i += (int)blockDim.x * QUAD) {
        const long long at = first * DIM + i, left = a.num * DIM - at;
        REAL *u = (REAL *)a.u + at, *v = (REAL *)a.v + at, *to = (REAL *)a.a + at;
        if (left < QUAD) {
            for (int k = 0; k < left; k++)
                advance_to(a.mode, a.dt, acceleration[i + k], u + k, v + k, to + k);
            continue;
        }
        REAL of_u[QUAD], of_v[QUAD], of_a[QUAD];
        load_vector<QUAD>(of_a, acceleration + i);
        if (a.mode == SEM_FORCE) {
            store_vector<QUAD>(to, of_a);
            continue;
        }
        load_vector<QUAD>(of_u, u);
        load_vector<QUAD>(of_v, v);
        REAL result[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; k++)
            advance_to(a.mode, a.dt, of_a[k], of_u + k, of_v + k, result + k);
        store_vector<QUAD>(v, of_v);
        store_end(a.mode, u, of_u, to, result);
    }
}
#endif

#endif
