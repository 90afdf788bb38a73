/* layer.cu: the pass over absorbing layers after a stage of DG, by any kernel: adds their share to the state and the residual
 * that the stage has written, and takes memory variables through the stage. The equations: csrc/dg/layer.c.
 *
 * block = a cell of layers; thread i owns nodes i, i + THREADS, ... Its traces are in shared memory, an axis at a time; faces
 * take turns, whose jumps are there as well. Bytes per node of an axis (float32, LSRK): memory variables 16 NUM_TRACE,
 * profiles 16; and 20 NUM_FIELD of the state, once. Limited by latency on few cells.
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, TENSOR (1: hexahedra, whose derivatives are along lines). Dynamic
 * shared memory: NUM_TRACE (NP + NFP) reals, then NP shorts. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(SPACE) || !defined(THREADS)
#error "layer.cu needs REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, TENSOR"
#endif

#define VAL        REAL
#define FN(name)   name
#define DEVICE     static __device__ __forceinline__
#define BOTH_JUMPS 0
#define ROOT(x)    sqrt(x)

#include "common/index.h"
#include "common/layer_args.h"
#include PHYSICS
#include SPACE
#include "dg/stretch.h"
#include LAYOUT

enum {
    NP = NUM_NODE(DEGREE),
    NFP = NUM_FACE_NODE(DEGREE),
    OWN = (NP + THREADS - 1) / THREADS, /* nodes of a thread */
    LINE = DEGREE + 1
};

struct room {
    REAL w[NUM_TRACE][NP], jump[NUM_TRACE][NFP];
    short where[NP]; /* which node of the present face a node is, -1: none */
};

static __device__ __forceinline__ REAL gradient_at(const dg_layer_args &a, long long cell, int i, int n)
{
    const REAL *g = (const REAL *)a.gradient;
    return a.gradient_nodes ? g[(cell * 9 + i) * NP + n] : g[cell * 9 + i];
}

/* d r_j / d x_axis times the derivatives of the traces along r_j, at node n. */
static __device__ __forceinline__ void volume(const dg_layer_args &a, const room &s, long long cell, int axis,
                                              int n, REAL *slope)
{
    const REAL *d = (const REAL *)a.matrix;
    for (int j = 0; j < 3; j++) {
        REAL g = gradient_at(a, cell, 3 * j + axis, n);
#if TENSOR
        int step = j == 0 ? 1 : j == 1 ? LINE : LINE * LINE, at = n / step % LINE;
        for (int k = 0; k < LINE; k++)
            for (int i = 0; i < NUM_TRACE; i++)
                slope[i] += g * d[at * LINE + k] * s.w[i][n + (k - at) * step];
#else
        for (int k = 0; k < NP; k++)
            for (int i = 0; i < NUM_TRACE; i++)
                slope[i] += g * d[(j * NP + k) * NP + n] * s.w[i][k];
#endif
    }
}

/* The jumps at a face with the central flux, (w+ - w-) / 2 times the normal's component along the axis. */
static __device__ __forceinline__ void jumps(const dg_layer_args &a, room &s, long long cell, int axis,
                                             int face)
{
    long long elem = a.elem[cell], total = a.num_total * NP;
    int neighbor = a.neighbor[NUM_FACE * elem + face];
    for (int m = threadIdx.x; m < NFP; m += THREADS) {
        REAL normal[3], in[NUM_TRACE], out[NUM_TRACE];
        int n = a.face_node[face * NFP + m];
        for (int i = 0; i < 3; i++) {
#if TENSOR
            REAL g = gradient_at(a, cell, 3 * (face / 2) + i, n);
            normal[i] = face % 2 ? g : -g;
#else
            normal[i] = face == 0 ? gradient_at(a, cell, i, n) + gradient_at(a, cell, 3 + i, n) +
                                        gradient_at(a, cell, 6 + i, n)
                                  : -gradient_at(a, cell, 3 * (face - 1) + i, n);
#endif
        }
        for (int i = 0; i < NUM_TRACE; i++)
            in[i] = s.w[i][n];
        if (neighbor < 0) {
            axis_reflect(-1 - neighbor, in, normal, out);
        } else {
            REAL q[NUM_FIELD], frame[NUM_FRAME];
            int other = a.face_node[NEIGHBOR_SIDE(neighbor) * NFP + m];
            for (int f = 0; f < NUM_FIELD; f++)
                q[f] =
                    ((const REAL *)a.q)[state_index(total, NUM_FIELD, NP, NEIGHBOR_ELEM(neighbor), other, f)];
            axis_frame(axis, frame);
            trace(q, frame, out);
        }
        for (int i = 0; i < NUM_TRACE; i++)
            s.jump[i][m] = (REAL)0.5 * normal[axis] * (out[i] - in[i]);
        s.where[n] = (short)m;
    }
}

static __device__ __forceinline__ void lift(const dg_layer_args &a, const room &s, int face, int n,
                                            REAL *slope)
{
    const REAL *lifts = (const REAL *)a.matrix;
#if TENSOR
    if (s.where[n] >= 0)
        for (int i = 0; i < NUM_TRACE; i++)
            slope[i] += lifts[LINE * LINE] * s.jump[i][s.where[n]];
#else
    for (int m = 0; m < NFP; m++)
        for (int i = 0; i < NUM_TRACE; i++)
            slope[i] += lifts[(3 * NP + face * NFP + m) * NP + n] * s.jump[i][m];
#endif
}

/* The share of an axis in the rates of node n, and the stage of its memory variables. */
static __device__ __forceinline__ void stretch(const dg_layer_args &a, long long cell, long long item,
                                               int axis, int n, const REAL *slope, const REAL *q, REAL *rhs)
{
    const REAL *profile = (const REAL *)a.profile + item * LAYER_NUMBER * NP + n;
    REAL *psi = (REAL *)a.psi, *psi_r = (REAL *)a.psi_r;
    REAL z[NUM_TRACE], coef[NUM_COEF], rates[NUM_FIELD];
    for (int i = 0; i < NUM_TRACE; i++) {
        long long at = (item * NUM_TRACE + i) * NP + n;
        REAL old = psi[at];
        REAL rate = -(profile[LAYER_DECAY * NP] * old + profile[LAYER_GAIN * NP] * slope[i]);
        z[i] = profile[LAYER_LESS * NP] * slope[i] + old;
        if (a.update == UPDATE_LSRK) {
            REAL r = (REAL)a.dt * rate;
            if (a.a != 0) /* at first it may hold anything */
                r += (REAL)a.a * psi_r[at];
            psi_r[at] = r;
            psi[at] = old + (REAL)a.b * r;
            continue;
        }
        if (a.update == UPDATE_AB3)
            psi[at] = old + ((REAL)a.c0 * rate + (REAL)a.c1 * ((const REAL *)a.psi_r1)[at] +
                             (REAL)a.c2 * psi_r[at]);
        psi_r[at] = rate;
    }
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = ((const REAL *)a.coef)[a.coef_nodes ? (cell * NUM_COEF + i) * NP + n : cell * NUM_COEF + i];
    axis_rates(axis, z, coef, rates);
    for (int f = 0; f < NUM_FIELD; f++)
        rhs[f] += rates[f] - profile[LAYER_FADE * NP] * q[f];
}

extern "C" __global__ void __launch_bounds__(THREADS) dg_layer(const __grid_constant__ dg_layer_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    room &s = *(room *)memory;
    long long cell = a.first_cell + blockIdx.x, elem = a.elem[cell], total = a.num_total * NP;
    REAL q[OWN][NUM_FIELD], rhs[OWN][NUM_FIELD];
    for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS)
        for (int f = 0; f < NUM_FIELD; f++) {
            q[own][f] = ((const REAL *)a.q)[state_index(total, NUM_FIELD, NP, elem, n, f)];
            rhs[own][f] = 0;
        }
    for (long long item = a.first[cell]; item < a.first[cell + 1]; item++) {
        int axis = a.axis[item];
        REAL frame[NUM_FRAME], slope[OWN][NUM_TRACE];
        axis_frame(axis, frame);
        for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS) {
            REAL w[NUM_TRACE];
            trace(q[own], frame, w);
            for (int i = 0; i < NUM_TRACE; i++) {
                s.w[i][n] = w[i];
                slope[own][i] = 0;
            }
        }
        __syncthreads();
        for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS)
            volume(a, s, cell, axis, n, slope[own]);
        for (int face = 0; face < NUM_FACE; face++) {
            for (int n = threadIdx.x; n < NP; n += THREADS)
                s.where[n] = -1;
            __syncthreads();
            jumps(a, s, cell, axis, face);
            __syncthreads();
            for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS)
                lift(a, s, face, n, slope[own]);
            __syncthreads();
        }
        for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS)
            stretch(a, cell, item, axis, n, slope[own], q[own], rhs[own]);
    }
    REAL to_r = a.update == UPDATE_LSRK ? (REAL)a.dt : (REAL)1;
    REAL to_q = a.update == UPDATE_LSRK ? (REAL)(a.b * a.dt) : (REAL)a.c0;
    for (int own = 0, n = threadIdx.x; own < OWN && n < NP; own++, n += THREADS)
        for (int f = 0; f < NUM_FIELD; f++) {
            long long at = state_index(total, NUM_FIELD, NP, elem, n, f);
            ((REAL *)a.r)[at] += to_r * rhs[own][f];
            if (a.update != UPDATE_RHS)
                ((REAL *)a.q_new)[at] += to_q * rhs[own][f];
        }
}
