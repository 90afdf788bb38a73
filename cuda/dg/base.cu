/* base.cu: one stage of DG on hexahedra as GAPS_base of Hanindhito et al. (2022): volume, flux and integration are
 * kernels of their own, with the contributions in device memory between them.
 *
 * block = TILE elements. Volume and integration: a thread a node, or every THREADS-th one. Flux: a thread a node of a
 * face, one face after the other: a node at an edge belongs to several, whose contributions are
 * summed in device memory. The derivative along a line is in constant memory. Theirs finds neighbours
 * by searching a regular box and computes the flux of a face once, for both sides, behind a flag; here there is the
 * table of neighbours that other meshes need, and each side computes its own, as in all kernels of this folder.
 * Bytes per DOF (float32): volume 8, flux 12 at faces and the neighbours' traces, integration 20 (AB3: 24).
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND (index.h), UPDATE (index.h), TILE,
 * THREADS, FLUX_THREADS, LINE_DERIVATIVE (n n numbers, by rows), LINE_POINT (n coordinates), LINE_WEIGHT (1 over the weight of a line's end), FLUID_CELLS,
 * LOCAL, INCIDENT. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(METRIC_KIND) ||                      \
    !defined(LINE_DERIVATIVE) || !defined(TILE) || !defined(THREADS) || !defined(FLUX_THREADS)
#error                                                                                                       \
    "base.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND, UPDATE, LINE_DERIVATIVE, LINE_POINT, LINE_WEIGHT, FLUID_CELLS, TILE, THREADS, FLUX_THREADS"
#endif

#include "dg/line_nodes.h"

extern "C" __global__ void __launch_bounds__(THREADS) dg_volume(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE;
    int nodes = num_elements(a, first) * NP;
    for (int i = threadIdx.x; i < nodes; i += THREADS) {
        long long elem = first + i / NP;
        REAL acc[NUM_ACC] = {}, part[NUM_FIELD];
        add_volume(a, elem, i % NP, acc);
        contribute(a, elem, i % NP, acc, part);
        put_contribution(a, elem, i % NP, part);
    }
}

template <int AXIS, int SIDE>
static __device__ __forceinline__ void add_faces(const dg_args &a, long long first, int face_nodes)
{
    for (int i = threadIdx.x; i < face_nodes; i += FLUX_THREADS) {
        line at = {first + i / NFP, i / NFP, AXIS, i % NFP};
        int node = line_begin(at, N, NFP) + SIDE * (N - 1) * line_step(AXIS, N, NFP);
        REAL acc[NUM_ACC] = {}, part[NUM_FIELD];
        add_face<AXIS>(a, at, SIDE, __ldg(a.neighbor + NUM_FACE * at.elem + 2 * AXIS + SIDE), acc);
        contribute(a, at.elem, node, acc, part);
        add_contribution(a, at.elem, node, part);
    }
}

extern "C" __global__ void __launch_bounds__(FLUX_THREADS) dg_flux(const __grid_constant__ dg_args a)
{
    long long first = a.first + (long long)blockIdx.x * TILE;
    int face_nodes = num_elements(a, first) * NFP;
    add_faces<0, 0>(a, first, face_nodes);
    add_faces<0, 1>(a, first, face_nodes);
    __syncthreads();
    add_faces<1, 0>(a, first, face_nodes);
    add_faces<1, 1>(a, first, face_nodes);
    __syncthreads();
    add_faces<2, 0>(a, first, face_nodes);
    add_faces<2, 1>(a, first, face_nodes);
}
