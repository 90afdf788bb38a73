/* gemm.cu: what stands between the matrix products of a stage of DG, as the third strategy of Modave, St-Cyr &
 * Warburton (2016), section 3.3. The products are cuBLAS's (csrc/dg/kernel_gemm.c), each with a column for every
 * element and field:
 *
 *   gradient     [D_1; D_2; D_3] a -> T            of the first fields a (p, v); of E and H both
 *   dg_volume    L(T) -> R of the other fields,    G b -> T (by which it replaces what it reads)
 *   divergence   [D_1 D_2 D_3] T -> R of the first fields; not of E and H, whose curls are made of gradients
 *   dg_surface   jumps -> P at the face nodes, as all fields gain them but for the material
 *   lift         R + [L_0 .. L_3] P -> R           of the first fields, then of the others
 *   dg_update    material, local law, sources and integrator
 *
 * R is a.rhs, [field][elem][PITCH] as a state. T and P share a.products, since one is dead when the other begins:
 * T [field][elem][GRADIENT_PITCH], row j NP + node; P [field][elem][NUM_FACE NFP]. One thread a node, block = TILE
 * elements; the paper computes the jumps of both sides of a face at once, here each element does its own.
 * Bytes per DOF (float32, LSRK4): 53, 57, 64 (acoustic, elastic, Maxwell) + 32 NFP / NP, of which the update 20.
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), TILE, THREADS,
 * SHARED_BYTES, LOCAL, INCIDENT, NODES, PITCH (layout/fields.h), GRADIENT_PITCH. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(TILE) || !defined(THREADS) ||        \
    !defined(GRADIENT_PITCH)
#error                                                                                                       \
    "gemm.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, TILE, THREADS, SHARED_BYTES, GRADIENT_PITCH"
#endif

#define COLS 1
#include "dg/incident.h"
#include "dg/tile.h"
#include "dg/update.h"

enum { NUM_GRADIENT = GRAD_DIV ? GRAD_DIV : NUM_FIELD, NUM_FIRST = GRAD_DIV };

/* Row `node` of D_1 of gradient f in the element's column of T; that of D_j is j NP on. */
static __device__ __forceinline__ REAL *gradient_at(const dg_args &a, int f, long long elem, int node)
{
    return (REAL *)a.products + (f * a.num_total + elem) * GRADIENT_PITCH + node;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_volume(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        long long elem = first + i / NP, at = place(elem, i % NP);
        REAL g[WORDS], acc[NUM_ACC] = {}, w[NUM_FIELD];
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
#if GRAD_DIV
        for (int j = 0; j < 3; j++)
            for (int f = 0; f < GRAD_DIV; f++)
                acc[GRAD_DIV * (1 + j) + f] = gradient_at(a, f, elem, i % NP)[j * NP];
        REAL q[NUM_FIELD], u[NUM_REF];
        load_node<NUM_FIELD>(q, (const REAL *)a.q, a.num_total * NP, at);
        to_reference(q, g, u);
        for (int j = 0; j < 3; j++)
            for (int f = 0; f < GRAD_DIV; f++)
                gradient_at(a, f, elem, i % NP)[j * NP] = u[GRAD_DIV * (1 + j) + f];
#else
        for (int j = 0; j < 3; j++) { /* derivatives along r_j of fields in components along the edges */
            const REAL along[3] = {(REAL)(j == 0), (REAL)(j == 1), (REAL)(j == 2)};
            REAL slope[NUM_FIELD], u[NUM_REF];
            for (int f = 0; f < NUM_FIELD; f++)
                slope[f] = gradient_at(a, f, elem, i % NP)[j * NP];
            to_reference(slope, g, u);
            volume(along, u, acc);
        }
#endif
        without_material(acc, g, w);
        for (int f = NUM_FIRST; f < NUM_FIELD; f++)
            ((REAL *)a.rhs)[f * field_stride(a.num_total * NP) + at] = w[f];
    }
}

/* What all fields gain at a face node of an element of the tile from its jumps, but for the material. */
static __device__ __forceinline__ void put_penalty(const dg_args &a, const tile &s, int face, int e,
                                                   long long elem, int m)
{
    REAL g[WORDS], y[NUM_JUMP], lift_coef[NUM_LIFT_COEF], acc[NUM_ACC] = {}, w[NUM_FIELD];
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
    for (int k = 0; k < NUM_JUMP; k++)
        y[k] = s.s[(face * NFP + m) * PITCH_S + k * TILE + e];
    for (int k = 0; k < NUM_LIFT_COEF; k++)
        lift_coef[k] = s.lift_coef[face][k][e];
    apply_lift(y, face, lift_coef, acc);
    without_material(acc, g, w);
    for (int f = 0; f < NUM_FIELD; f++)
        ((REAL *)a.products)[(f * a.num_total + elem) * (NUM_FACE * NFP) + face * NFP + m] = w[f];
}

/* Whether a thread takes all faces of an element at once, or one face after the other. Before sm_90 the compiler spills
 * in the second way; on sm_90 the first takes up to 16 registers more. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
enum { FACES_INSIDE = 0 };
#else
enum { FACES_INSIDE = 1 };
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_surface(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    load_tile(a, s, first, count);
#if INCIDENT
    add_incident(a, s, first);
#endif
    __syncthreads();
    constexpr int OUTER = FACES_INSIDE ? 1 : NUM_FACE, INNER = FACES_INSIDE ? NUM_FACE : 1;
#pragma unroll
    for (int outer = 0; outer < OUTER; outer++)
        for (int i = threadIdx.x; i < count * NFP; i += THREADS)
#pragma unroll
            for (int inner = 0; inner < INNER; inner++)
                put_penalty(a, s, outer + inner, i / NFP, first + i / NFP, i % NFP);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dg_update(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE, left = a.num_elem - first;
    int count = left < TILE ? (int)left : TILE;
    int source_first = a.source_range[blockIdx.x], source_last = a.source_range[blockIdx.x + 1];
    for (int i = threadIdx.x; i < count * NP; i += THREADS) {
        long long elem = first + i / NP, at = place(elem, i % NP);
        REAL w[NUM_FIELD], rhs[NUM_FIELD] = {}, g[WORDS];
        old_state old;
        load_own_node<NUM_FIELD>(w, (const REAL *)a.rhs, a.num_total * NP, at);
        load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
        load_old(a, at, old);
        const REAL *coef = coef_at(a, elem, i % NP, g);
        rates(w, coef, rhs);
        add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
        add_sources(a, elem, i % NP, source_first, source_last, rhs);
        update(a, at, old, rhs);
    }
}
