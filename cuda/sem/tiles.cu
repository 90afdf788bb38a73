/* tiles.cu: the forces -K u of spectral elements, and a step of the nodes.
 *
 * tiles   block = up to CELLS elements that lie together. Its nodes are gathered once; a thread owns a column of N
 *         nodes along r_3, in registers, and reads the lines along r_1 and r_2 through it from shared memory. The
 *         forces are added node by node in a fixed order. Nodes that no other block has step at once, the sums of
 *         the others are stored apart.
 * shared  one thread a node that blocks share: the sum of their parts, walls, dashpots, the other region; a step.
 *
 * Compulsory bytes a node: u and v read and written, the inverse mass read, 4 (4 DIM + 1) in float32.
 * Defines: REAL, DEGREE, DIM (3: solid, 1: fluid), CELLS, MIN_BLOCKS, THREADS, METRIC_NODES and MATERIAL_NODES (of an
 * element: 1 or NP), WORDS (of a node in shared
 * memory), ASSEMBLY (0: parts are stored and summed in order; 1: added to the sums, blocks of one colour
 * at a time; 2: added atomically), LINE_DERIVATIVE, LINE_WEIGHTS. */
#include "sem/advance.h"

#define N   (DEGREE + 1)
#define NP  (N * N * N)
#define SQUARE (N * N)
#define DEVICE static __device__ __forceinline__
#define VAL REAL
#define FN(name) name
#if DIM == 3
#include "sem/solid.h"
#else
#include "sem/fluid.h"
#endif

enum { NUM_METRIC = 10, NUM_COEF = 2 };
/* The unknowns of a node as shared memory holds them: four words of which are read at once. */
struct __align__(WORDS == 4 ? 16 : sizeof(REAL)) node_values {
    REAL v[WORDS];
};

static __device__ const REAL line_matrix[N * N] = {LINE_DERIVATIVE};
static __device__ const REAL line_weight[N] = {LINE_WEIGHTS};

/* A thread's place: element `elem` of the block, column (i, j). */
struct column {
    int elem, i, j;
    bool works;
};

DEVICE column column_of(int num_elem)
{
    int t = (int)threadIdx.x, k = t % SQUARE;
    return {t / SQUARE, k % N, k / N, t < num_elem * SQUARE};
}

/* ---- geometry and material ---- */

DEVICE void load_metric(const sem_tile_args &a, long long elem, int node, REAL *metric)
{
    const REAL *from = (const REAL *)a.metric + elem * NUM_METRIC * METRIC_NODES;
#pragma unroll
    for (int i = 0; i < NUM_METRIC; i++)
        metric[i] = __ldg(from + i * METRIC_NODES + (METRIC_NODES > 1 ? node : 0));
}

DEVICE void load_coef(const sem_tile_args &a, long long elem, int node, REAL *coef)
{
    const REAL *from = (const REAL *)a.coef + elem * NUM_COEF * MATERIAL_NODES;
#pragma unroll
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = __ldg(from + i * MATERIAL_NODES + (MATERIAL_NODES > 1 ? node : 0));
}

/* ---- forces ---- */

/* Nodes of the block into shared memory, one after the other. */
DEVICE void gather(const sem_tile_args &a, int block, int num_inner, int num_slot, REAL *slot)
{
    const REAL *u = (const REAL *)a.u;
    long long first = a.first_inner[block];
    const int *entry = a.entry + a.first_entry[block];
    for (int i = (int)threadIdx.x; i < num_inner * DIM; i += THREADS)
        slot[i] = u[first * DIM + i];
    for (int i = (int)threadIdx.x + num_inner * DIM; i < num_slot * DIM; i += THREADS)
        slot[i] = u[(a.num_inner + __ldg(entry + i / DIM - num_inner)) * DIM + i % DIM];
}

/* Slopes of u along the three axes at node k of a column. */
DEVICE void differentiate(const node_values *line, const column &c, int k, const REAL (&u)[N][DIM],
                          const REAL (&row)[2][N], REAL (&g)[3 * DIM])
{
    constexpr double matrix[N * N] = {LINE_DERIVATIVE};
#pragma unroll
    for (int i = 0; i < 3 * DIM; i++)
        g[i] = 0;
#pragma unroll
    for (int m = 0; m < N; m++) {
        const node_values x = line[k * SQUARE + c.j * N + m], y = line[k * SQUARE + m * N + c.i];
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            g[i] += row[0][m] * x.v[i];
            g[DIM + i] += row[1][m] * y.v[i];
            g[2 * DIM + i] += (REAL)matrix[k * N + m] * u[m][i];
        }
    }
}

/* The fluxes along r_1 and r_2 go to shared memory, those along r_3 add to the column's force. */
DEVICE void fluxes(const sem_tile_args &a, const column &c, long long elem, const node_values *line,
                   node_values *flux, const REAL (&u)[N][DIM], REAL (&f)[N][DIM])
{
    constexpr double matrix[N * N] = {LINE_DERIVATIVE}, weight[N] = {LINE_WEIGHTS};
    REAL row[2][N], metric[NUM_METRIC], coef[NUM_COEF], area = line_weight[c.i] * line_weight[c.j];
#pragma unroll
    for (int m = 0; m < N; m++) {
        row[0][m] = line_matrix[c.i * N + m];
        row[1][m] = line_matrix[c.j * N + m];
    }
    load_metric(a, elem, 0, metric);
    load_coef(a, elem, 0, coef);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int node = k * SQUARE + c.j * N + c.i;
        REAL g[3 * DIM];
        if (METRIC_NODES > 1)
            load_metric(a, elem, node, metric);
        if (MATERIAL_NODES > 1)
            load_coef(a, elem, node, coef);
        differentiate(line, c, k, u, row, g);
        flux_at(metric, coef, area * (REAL)weight[k], g);
#pragma unroll
        for (int axis = 0; axis < 2; axis++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                flux[axis * CELLS * NP + node].v[i] = g[axis * DIM + i];
#pragma unroll
        for (int m = 0; m < N; m++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                f[m][i] -= (REAL)matrix[k * N + m] * g[2 * DIM + i];
    }
}

/* The transposed derivatives along r_1 and r_2. */
DEVICE void add_lines(const column &c, const node_values *flux, REAL (&f)[N][DIM])
{
    REAL row[2][N];
#pragma unroll
    for (int m = 0; m < N; m++) {
        row[0][m] = line_matrix[m * N + c.i];
        row[1][m] = line_matrix[m * N + c.j];
    }
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int m = 0; m < N; m++) {
            const node_values x = flux[k * SQUARE + c.j * N + m],
                              y = flux[CELLS * NP + k * SQUARE + m * N + c.i];
#pragma unroll
            for (int i = 0; i < DIM; i++)
                f[k][i] -= row[0][m] * x.v[i] + row[1][m] * y.v[i];
        }
}

/* Sources in this element: their forces on the column. */
DEVICE void add_sources(const sem_tile_args &a, int block, const column &c, REAL (&f)[N][DIM])
{
    for (int p = a.source_first[block]; p < a.source_first[block + 1]; p++) {
        if (a.source_elem[p] != c.elem)
            continue;
        REAL amplitude = ((const REAL *)a.amplitude)[(*a.clock + a.time) * a.num_source + a.source_column[p]];
        const REAL *weight = (const REAL *)a.source_weight + ((long long)p * NP + c.j * N + c.i) * DIM;
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                f[k][i] += amplitude * weight[k * SQUARE * DIM + i];
    }
}

/* ---- nodes ---- */

DEVICE void leave(REAL *to, REAL force)
{
#if ASSEMBLY == 0
    *to = force;
#elif ASSEMBLY == 1
    *to += force;
#else
    atomicAdd(to, force);
#endif
}

/* Sums the forces on unknown i of the block's slots, and steps it, or leaves its part. */
DEVICE void finish(const sem_tile_args &a, int block, int num_inner, int num_slot, const unsigned short *words,
                   int num_node, const REAL *force)
{
    const unsigned short *place = words + num_node, *list = place + num_slot + 1;
    long long inner = (long long)a.first_inner[block] * DIM, entry = a.first_entry[block];
    for (int i = (int)threadIdx.x; i < num_slot * DIM; i += THREADS) {
        int slot = i / DIM, end = __ldg(place + slot + 1);
        REAL sum = 0;
        for (int k = __ldg(place + slot); k < end; k++)
            sum += force[__ldg(list + k) * DIM + i % DIM];
        if (slot < num_inner) {
            REAL *u = (REAL *)a.u + inner + i, *v = (REAL *)a.v + inner + i, *to = (REAL *)a.a + inner + i;
            REAL inverse = __ldg((const REAL *)a.inverse_mass + a.first_inner[block] + slot);
            advance_to(a.mode, a.dt, a.mode == SEM_FORCE ? sum : sum * inverse, u, v, to);
        } else {
#if ASSEMBLY == 0
            leave((REAL *)a.shared + (entry - num_inner) * DIM + i, sum);
#else
            leave((REAL *)a.shared + (long long)__ldg(a.entry + entry + slot - num_inner) * DIM + i % DIM, sum);
#endif
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    sem_tiles(const __grid_constant__ sem_tile_args a)
{
    extern __shared__ __align__(16) unsigned char memory[];
    int block = __ldg(a.order + a.first + blockIdx.x);
    int first = a.first_elem[block], num_elem = a.first_elem[block + 1] - first, num_node = num_elem * NP;
    int num_inner = a.first_inner[block + 1] - a.first_inner[block];
    int num_slot = num_inner + a.first_entry[block + 1] - a.first_entry[block];
    const unsigned short *words = a.words + a.pattern[block];
    /* lines of u, later forces; fluxes along r_1 and r_2, before them u by slot */
    node_values *line = (node_values *)memory, *flux = line + CELLS * NP;
    REAL *slot = (REAL *)flux, *force = (REAL *)memory, u[N][DIM], f[N][DIM] = {};
    column c = column_of(num_elem);
    node_values *own = line + c.elem * NP;
    gather(a, block, num_inner, num_slot, slot);
    __syncthreads();
    if (c.works)
#pragma unroll
        for (int k = 0; k < N; k++) {
            int node = k * SQUARE + c.j * N + c.i, from = __ldg(words + c.elem * NP + node);
#pragma unroll
            for (int i = 0; i < DIM; i++)
                own[node].v[i] = u[k][i] = slot[from * DIM + i];
        }
    __syncthreads();
    if (c.works)
        fluxes(a, c, first + c.elem, own, flux + c.elem * NP, u, f);
    __syncthreads();
    if (c.works) {
        add_lines(c, flux + c.elem * NP, f);
        if (a.time >= 0)
            add_sources(a, block, c, f);
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int i = 0; i < DIM; i++)
                force[(c.elem * NP + k * SQUARE + c.j * N + c.i) * DIM + i] = f[k][i];
    }
    __syncthreads();
    finish(a, block, num_inner, num_slot, words, num_node, force);
}

/* ---- nodes that blocks share ---- */

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

extern "C" __global__ void sem_shared(const __grid_constant__ sem_shared_args a)
{
    long long node = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= a.num)
        return;
    REAL f[DIM] = {}, *from = (REAL *)a.shared;
#if ASSEMBLY == 0
    for (int k = __ldg(a.first + node); k < __ldg(a.first + node + 1); k++) {
        const REAL *part = from + (long long)__ldg(a.entry + k) * DIM;
#pragma unroll
        for (int i = 0; i < DIM; i++)
            f[i] += part[i];
    }
#else
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        f[i] = from[node * DIM + i];
        from[node * DIM + i] = 0;
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
