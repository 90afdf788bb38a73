/* microblock.cu: one stage of DG on tetrahedra as in Kloeckner, Warburton, Bridge & Hesthaven (2009), sections 4 and 5. The
 * state is in microblocks of KM elements (layout/fields.h), padded to PITCH nodes, whole warps: so few threads are idle
 * although Np fits no warp. Parts of the operator are functions of their own, each with its own division of work:
 *
 *   dg_gather   q at faces -> F         blocks of MB microblocks; FLUX_WP pairs of faces at a time, NFP threads each
 *   dg_lift     R = [L_0 .. L_3] F      a thread a node, all fields (microblock_products.h)
 *   dg_local    D_1, D_2, D_3 of q, to physical coordinates, with R; material, local law, sources, integrator
 *
 * F is a.products, [field][microblock][NFM]: faces of an element, nodes of a face, padded to whole warps; R is a.rhs,
 * a state. A pair of faces inside a block of dg_gather is read once and gives both sides. Blocks are runs of the
 * elements' order along a curve, where the paper grows them from seeds. As there the derivatives are taken of
 * each field as it is, 3 Np products a field and node; the other kernels take half of them in reference coordinates.
 * Bytes per DOF (float32, LSRK4): 28 + 32 NFP / NP, and what faces between blocks read twice.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (index.h), TILE (elements that the
 * ranges count), LOCAL, INCIDENT, NODES, PITCH, KM (layout/fields.h), NFM, MB, FLUX_WP, FLUX_THREADS, SEGMENT, and of the
 * two products LIFT_STRATEGY, LIFT_WP, LIFT_WI, LIFT_WS, LIFT_FIELDS, STRATEGY, WP, WI, WS, FIELDS.
 * Matrix packing: derivative [node][3][NP], then lift [NUM_FACE NFP][NP]. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(TILE) || !defined(NFM) ||            \
    !defined(MB) || !defined(FLUX_WP) || !defined(STRATEGY) || !defined(LIFT_STRATEGY)
#error                                                                                                       \
    "microblock.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, TILE, KM, NFM, MB, FLUX_WP, FLUX_THREADS, SEGMENT, [LIFT_]STRATEGY, WP, WI, WS, FIELDS"
#endif

#include "dg/microblock_faces.h"
#include "dg/microblock_products.h"
#include "dg/update.h"

typedef split<NUM_FACE * NFP, NFM, 1, LIFT_STRATEGY, LIFT_WP, LIFT_WI, LIFT_WS, LIFT_FIELDS> lift_split;
typedef split<NP, PITCH, 3, STRATEGY, WP, WI, WS, FIELDS> local_split;

static_assert(sizeof(face_block) <= GATHER_BYTES && lift_split::SHARED * sizeof(REAL) <= LIFT_BYTES &&
                  local_split::SHARED * sizeof(REAL) <= SHARED_BYTES,
              "the host counts the same");

static __device__ __forceinline__ long long num_microblock(const dg_args &a)
{
    return (a.num_elem + KM - 1) / KM;
}

extern "C" __global__ void __launch_bounds__(FLUX_THREADS) dg_gather(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    face_block &b = *(face_block *)memory;
    long long block = a.first / (MB * KM) + blockIdx.x, num = num_microblock(a);
    for (int i = threadIdx.x; i < TABLE; i += FLUX_THREADS)
        b.table[i] = __ldg(a.table + block * TABLE + i);
    if (threadIdx.x == 0)
        b.first = block * (MB * KM);
    __syncthreads();
    int pair = threadIdx.x / NFP, m = threadIdx.x % NFP;
    if (pair < FLUX_WP) {
        for (; pair < b.table[0]; pair += FLUX_WP)
            put_pair<INSIDE>(a, b, pair, m);
        for (; pair < b.table[1]; pair += FLUX_WP)
            put_pair<OUTSIDE>(a, b, pair, m);
        for (; pair < b.table[2]; pair += FLUX_WP)
            put_pair<BOUNDARY>(a, b, pair, m);
    }
    __syncthreads();
#if INCIDENT
    if (threadIdx.x < FLUX_WP * NFP)
        add_waves(a, b, threadIdx.x / NFP, m);
    __syncthreads();
#endif
    int here = num - block * MB < MB ? (int)(num - block * MB) : MB;
    for (int f = 0; f < NUM_FIELD; f++)
        for (int i = threadIdx.x; i < here * NFM; i += FLUX_THREADS)
            ((REAL *)a.products)[(f * num + block * MB) * NFM + i] = b.flux[f][i];
}

extern "C" __global__ void __launch_bounds__(lift_split::THREADS) dg_lift(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    operands o = {(const REAL *)a.matrix + 3 * NP * NP, (const REAL *)a.products, num_microblock(a) * NFM};
    multiply_block<lift_split>(
        a, (REAL *)memory, o, [&](long long elem, int node, const REAL(*sum)[NUM_FIELD]) {
            store_node<NUM_FIELD>((REAL *)a.rhs, a.num_total * NP, place(elem, node), sum[0]);
        });
}

/* From derivatives [3][NUM_FIELD] along the reference coordinates, all but the material. */
static __device__ __forceinline__ void derive(const REAL *g, const REAL (*slope)[NUM_FIELD], REAL *w)
{
    REAL acc[NUM_ACC] = {};
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const REAL along[3] = {(REAL)(j == 0), (REAL)(j == 1), (REAL)(j == 2)};
        REAL u[NUM_REF];
        to_reference(slope[j], g, u);
        volume(along, u, acc);
    }
    without_material(acc, g, w);
}

/* Nine fields in float64 have no room for what the update reads beside their derivatives. */
enum { READS_LATE = NUM_FIELD * sizeof(REAL) == 72 };
static __device__ __forceinline__ void load_both(const dg_args &a, long long at, REAL *lifted, old_state &old)
{
    load_own_node<NUM_FIELD>(lifted, (const REAL *)a.rhs, a.num_total * NP, at);
    load_old(a, at, old);
}

extern "C" __global__ void __launch_bounds__(local_split::THREADS) dg_local(const __grid_constant__ dg_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    operands o = {(const REAL *)a.matrix, (const REAL *)a.q, field_stride(a.num_total * NP)};
    multiply_block<local_split>(a, (REAL *)memory, o,
                                [&](long long elem, int node, const REAL(*slope)[NUM_FIELD]) {
                                    long long at = place(elem, node);
                                    const int *sources = a.source_range + (int)(elem - a.first) / TILE;
                                    REAL g[WORDS], w[NUM_FIELD], lifted[NUM_FIELD], rhs[NUM_FIELD] = {};
                                    old_state old;
                                    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
                                    if (!READS_LATE)
                                        load_both(a, at, lifted, old);
                                    derive(g, slope, w);
                                    if (READS_LATE)
                                        load_both(a, at, lifted, old);
#pragma unroll
                                    for (int f = 0; f < NUM_FIELD; f++)
                                        w[f] += lifted[f];
                                    const REAL *coef = coef_at(a, elem, node, g);
                                    rates(w, coef, rhs);
                                    add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
                                    add_sources(a, elem, node, sources[0], sources[1], rhs);
                                    update(a, at, old, rhs);
                                });
}
