/* f1.cu: one stage of DG on hexahedra as GAPS_f1 and GAPS_f1s of Hanindhito et al. (2022): volume and flux are one
 * kernel, which looks neighbours and the faces of a node up in tables; integration is another one.
 *
 * block = TILE elements; a thread computes a node, or every THREADS-th one, and the flux at those of its faces that
 * it lies on. Contributions are summed in device memory, where only this thread touches those of its node, or
 * (f1s) in shared memory. The derivative along a line is in constant memory.
 * Bytes per DOF (float32): 8 and the neighbours' traces, with the contributions in device memory 8 more for each
 * face of a node; integration 20 (AB3: 24).
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND (index.h), UPDATE (index.h), TILE,
 * THREADS, MIN_BLOCKS (least number on an SM; limits registers), SHARED_PARTS (1: f1s), SHARED_BYTES (dynamic),
 * LINE_DERIVATIVE (n n numbers, by rows), LINE_POINT (n coordinates), LINE_WEIGHT (1 over the weight of a line's end), FLUID_CELLS, LOCAL, INCIDENT. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(METRIC_KIND) ||                      \
    !defined(LINE_DERIVATIVE) || !defined(TILE) || !defined(THREADS) || !defined(SHARED_PARTS)
#error                                                                                                       \
    "f1.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, METRIC_KIND, UPDATE, LINE_DERIVATIVE, LINE_POINT, LINE_WEIGHT, FLUID_CELLS, TILE, THREADS, MIN_BLOCKS, SHARED_PARTS, SHARED_BYTES"
#endif

#include "dg/line_nodes.h"

/* The faces that each node of an element lies on: bit f is set for face f. */
struct node_faces {
    unsigned char of[NP];
    constexpr node_faces() : of()
    {
        for (int node = 0; node < NP; node++) {
            int i[3] = {node % N, node / N % N, node / NFP};
            for (int axis = 0; axis < 3; axis++) {
                of[node] |= i[axis] == 0 ? 1 << 2 * axis : 0;
                of[node] |= i[axis] == N - 1 ? 2 << 2 * axis : 0;
            }
        }
    }
};
static __device__ const node_faces faces;

/* ---- contributions: [field][node of the block] in shared memory, or as the right-hand side in device memory ---- */

static_assert(!SHARED_PARTS || NUM_FIELD * TILE * NP * sizeof(REAL) <= SHARED_BYTES,
              "the host counts the same");

static __device__ __forceinline__ void put_part(const dg_args &a, REAL *shared, long long elem, int i,
                                                const REAL *part)
{
    if (!SHARED_PARTS)
        put_contribution(a, elem, i % NP, part);
#pragma unroll
    for (int f = 0; f < NUM_FIELD && SHARED_PARTS; f++)
        shared[f * (TILE * NP) + i] = part[f];
}

static __device__ __forceinline__ void add_part(const dg_args &a, REAL *shared, long long elem, int i,
                                                const REAL *part)
{
    if (!SHARED_PARTS)
        add_contribution(a, elem, i % NP, part);
#pragma unroll
    for (int f = 0; f < NUM_FIELD && SHARED_PARTS; f++)
        shared[f * (TILE * NP) + i] += part[f];
}

/* ---- the kernel ---- */

/* The flux at the face of an axis that node i of the block lies on, if it does: it is node m there. */
template <int AXIS>
static __device__ __forceinline__ void add_face_of(const dg_args &a, REAL *shared, long long elem, int i,
                                                   int m)
{
    int on = faces.of[i % NP] >> 2 * AXIS & 3;
    if (on == 0)
        return;
    REAL acc[NUM_ACC] = {}, part[NUM_FIELD];
    line at = {elem, i / NP, AXIS, m};
    int side = on >> 1;
    add_face<AXIS>(a, at, side, __ldg(a.neighbor + NUM_FACE * elem + 2 * AXIS + side), acc);
    contribute(a, elem, i % NP, acc, part);
    add_part(a, shared, elem, i, part);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    dg_volume_flux(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    REAL *shared = (REAL *)memory;
    long long first = a.first + (long long)blockIdx.x * TILE;
    int nodes = num_elements(a, first) * NP;
    for (int i = threadIdx.x; i < nodes; i += THREADS) {
        int node = i % NP;
        long long elem = first + i / NP;
        REAL acc[NUM_ACC] = {}, part[NUM_FIELD];
        add_volume(a, elem, node, acc);
        contribute(a, elem, node, acc, part);
        put_part(a, shared, elem, i, part);
        add_face_of<0>(a, shared, elem, i, node / N);
        add_face_of<1>(a, shared, elem, i, node % N + node / NFP * N);
        add_face_of<2>(a, shared, elem, i, node % NFP);
        if (!SHARED_PARTS)
            continue;
#pragma unroll
        for (int f = 0; f < NUM_FIELD; f++)
            part[f] = shared[f * (TILE * NP) + i];
        put_contribution(a, elem, node, part);
    }
}
