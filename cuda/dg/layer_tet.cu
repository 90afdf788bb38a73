/* layer_tet.cu: the pass over absorbing layers of tetrahedra, before or after a stage of DG by any kernel (layer.h).
 *
 * block = whole cells with at most ITEMS items between them. Traces across their axes are columns of shared memory, the jumps at
 * their faces columns of another array; thread i owns node i % NP of COLS items, for which it multiplies both by the rows of the
 * derivatives and the lift, so that an entry of a matrix, which comes from L1, is used COLS NUM_TRACE times. What items add to
 * a node of their cell is summed in shared memory, in the order of the items.
 * Bytes per node, float32, LSRK: 12 NUM_FIELD, and 16 NUM_TRACE an axis; NFP nodes of each neighbour, mostly from L2.
 * Flops per node and axis: NUM_TRACE (6 NP + 2 NUM_FACE NFP).
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, MIN_BLOCKS, SHARED_BYTES, ITEMS, COLS. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(SPACE) || !defined(THREADS) ||       \
    !defined(ITEMS) || !defined(COLS)
#error "layer_tet.cu needs REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, ITEMS, COLS"
#endif

#include "dg/layer.h"

enum {
    ENDS = NUM_FACE * NFP, /* nodes of all faces */
    COLUMNS = COLS * NUM_TRACE,
    /* whole quads, an odd number of them, so that nodes are in eight groups of banks */
    FIX_PITCH = (ITEMS * NUM_FIELD + 3) / 8 * 8 + 4,
    PITCH = (ITEMS * NUM_TRACE + 3) / 8 * 8 + 4
};

struct room {
    union {
        struct {
            REAL w[NP][PITCH], jump[ENDS][PITCH], fix[ENDS][FIX_PITCH];
        };
        struct {
            REAL rates[ITEMS][NUM_FIELD][NP], fixed[ITEMS][NUM_FIELD][NP];
        };
    };
    int cell[ITEMS], elem[ITEMS], axis[ITEMS];
};
static_assert(sizeof(room) <= SHARED_BYTES, "room for the block's shared memory");

/* What a face of a cell lifts at its node m: jumps of the traces of the cell's items, and what it corrects of the fields. */
static __device__ __forceinline__ void load_end(const dg_layer_args &a, room &s, int base, int tile, int cell,
                                                int end)
{
    int face = end / NFP, m = end % NFP, item = __ldg(a.first + cell) - base,
        last = __ldg(a.first + cell + 1) - base;
    long long elem = __ldg(a.elem + cell), side = NUM_FACE * (long long)cell + face;
    const REAL *row = (const REAL *)a.face + side * FACE_NUMBER;
    int kind = (int)__ldg(row + FACE_KIND), neighbor = __ldg(a.neighbor + NUM_FACE * elem + face);
    int n = __ldg(a.face_node + end), slot[3] = {-1, -1, -1};
    REAL in[NUM_FIELD], out[NUM_FIELD], coef[NUM_FACE_COEF], acc[NUM_ACC], normal[3],
        length = __ldg(row + FACE_LENGTH);
    bool any = kind == FACE_SPLIT;
    for (; item < last; item++)
#pragma unroll
        for (int axis = 0; axis < 3; axis++)
            if (s.axis[item] == axis)
                slot[axis] = item;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        normal[axis] = __ldg(row + FACE_NORMAL + axis);
        any = any || (slot[axis] >= 0 && normal[axis] != 0);
    }
    for (int i = 0; i < NUM_ACC; i++)
        acc[i] = 0;
    if (any) {
        load_node<NUM_FIELD>(in, (const REAL *)a.q, a.num_total * NP, place_of(elem, n));
        if (neighbor >= 0)
            n = __ldg(a.face_node + NEIGHBOR_SIDE(neighbor) * NFP + m);
        load_node<NUM_FIELD>(out, (const REAL *)a.q, a.num_total * NP,
                             place_of(neighbor < 0 ? elem : NEIGHBOR_ELEM(neighbor), n));
        for (int i = 0; i < NUM_FACE_COEF; i++)
            coef[i] =
                __ldg((const REAL *)a.face_coef + (a.face_nodes ? side * NFP + m : side) * NUM_FACE_COEF + i);
    }
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        REAL w[NUM_TRACE], beyond[NUM_TRACE], frame[NUM_FRAME], z[NUM_TRACE], jump[NUM_TRACE];
        REAL component = normal[axis], sign = component < 0 ? -1 : 1, size = sign * component;
        for (int i = 0; i < NUM_TRACE; i++)
            jump[i] = 0;
        if (component != 0 && (slot[axis] >= 0 || kind == FACE_SPLIT)) {
            axis_frame(axis, frame);
            trace(in, frame, w);
            trace(out, frame, beyond);
            if (neighbor < 0)
                axis_reflect(-1 - neighbor, w, normal, beyond);
            if (kind == FACE_MEAN)
                for (int i = 0; i < NUM_TRACE; i++)
                    jump[i] = (REAL)0.5 * component * (beyond[i] - w[i]);
            else {
                axis_flux(axis, sign, size, w, beyond, coef, z);
                axis_jump(sign, size, z, jump);
            }
            if (kind == FACE_SPLIT) {
                axis_side(axis, sign, frame);
                frame_add(frame, size, z, acc);
            }
        }
        if (slot[axis] >= 0)
            for (int i = 0; i < NUM_TRACE; i++)
                s.jump[end][slot[axis] * NUM_TRACE + i] = length * jump[i];
    }
    if (kind == FACE_SPLIT) { /* less what the stage computed with the face's own upwind flux */
        REAL w[NUM_TRACE], beyond[NUM_TRACE], frame[NUM_FRAME], z[NUM_TRACE];
        face_frame(row, frame);
        trace(in, frame, w);
        trace(out, frame, beyond);
        face_flux(w, beyond, frame, coef, 1, z);
        frame_add(frame, -1, z, acc);
    }
    REAL fix[NUM_FIELD];
    unit_rates(acc, fix);
    for (int f = 0; f < NUM_FIELD; f++)
        s.fix[end][tile * NUM_FIELD + f] = length * fix[f];
}

/* The derivatives along their axes of COLS items' traces, with the flux at faces, and what faces correct of COLS cells. */
static __device__ __forceinline__ void products(const dg_layer_args &a, const room &s, int first, int n,
                                                REAL (&slope)[COLS][NUM_TRACE], REAL (&fix)[COLS * NUM_FIELD])
{
    const REAL *matrix = (const REAL *)a.matrix + n;
    REAL sum[3][COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
        sum[0][c] = sum[1][c] = sum[2][c] = 0;
#pragma unroll 5
    for (int k = 0; k < NP; k++) {
        REAL x[COLUMNS];
        load_vector<COLUMNS>(x, s.w[k] + first * NUM_TRACE);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            REAL d = __ldg(matrix + (j * NP + k) * NP);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                sum[j][c] += d * x[c];
        }
    }
#pragma unroll
    for (int k = 0; k < COLS; k++) {
        REAL g[3];
        for (int j = 0; j < 3; j++)
            g[j] = gradient_at(a, s.cell[first + k], 3 * j + s.axis[first + k], 0);
#pragma unroll
        for (int i = 0; i < NUM_TRACE; i++) {
            int c = k * NUM_TRACE + i;
            slope[k][i] = g[0] * sum[0][c] + g[1] * sum[1][c] + g[2] * sum[2][c];
        }
    }
#pragma unroll
    for (int c = 0; c < COLS * NUM_FIELD; c++)
        fix[c] = 0;
#pragma unroll 5
    for (int m = 0; m < ENDS; m++) {
        REAL x[COLUMNS], y[COLS * NUM_FIELD], d = __ldg(matrix + (3 * NP + m) * NP);
        load_vector<COLUMNS>(x, s.jump[m] + first * NUM_TRACE);
        load_vector<COLS * NUM_FIELD>(y, s.fix[m] + first * NUM_FIELD);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            slope[c / NUM_TRACE][c % NUM_TRACE] += d * x[c];
#pragma unroll
        for (int c = 0; c < COLS * NUM_FIELD; c++)
            fix[c] += d * y[c];
    }
}

static __device__ __forceinline__ void load_items(const dg_layer_args &a, room &s, int begin, int end)
{
    int base = __ldg(a.first + begin);
    for (int cell = begin + threadIdx.x; cell < end; cell += THREADS)
        for (int item = __ldg(a.first + cell); item < __ldg(a.first + cell + 1); item++) {
            s.cell[item - base] = cell;
            s.elem[item - base] = __ldg(a.elem + cell);
            s.axis[item - base] = LAYER_AXIS(__ldg(a.axis + item));
        }
    for (int i = __ldg(a.first + end) - base + threadIdx.x; i < ITEMS; i += THREADS) {
        s.cell[i] = begin; /* of columns that nobody wants */
        s.axis[i] = 0;
    }
}

static __device__ __forceinline__ void load_traces(const dg_layer_args &a, room &s, int num)
{
    for (int i = threadIdx.x; i < num * NP; i += THREADS) {
        int item = i / NP, n = i % NP;
        REAL w[NUM_TRACE];
        load_trace(a, s.axis[item], s.elem[item], n, w);
        for (int k = 0; k < NUM_TRACE; k++)
            s.w[n][item * NUM_TRACE + k] = w[k];
    }
}

static __device__ __forceinline__ void load_ends(const dg_layer_args &a, room &s, int begin, int end)
{
    int base = __ldg(a.first + begin);
    for (int i = threadIdx.x; i < (end - begin) * ENDS; i += THREADS)
        load_end(a, s, base, i / ENDS, begin + i / ENDS, i % ENDS);
}

/* Sums what the items of each cell add to its nodes. */
template <int PASS>
static __device__ __forceinline__ void add_items(const dg_layer_args &a, const room &s, int begin, int end)
{
    int base = __ldg(a.first + begin);
    for (int i = threadIdx.x; i < (end - begin) * NP; i += THREADS) {
        int cell = begin + i / NP, n = i % NP, item = __ldg(a.first + cell), last = __ldg(a.first + cell + 1);
        long long place = place_of(__ldg(a.elem + cell), n), total = a.num_total * NP;
        REAL q[NUM_FIELD], fade = 0;
        gathered<PASS> sum;
        begin_rates(a, place, sum);
        for (int f = 0; f < NUM_FIELD; f++)
            add_rate(a, f, s.fixed[cell - begin][f][n], sum);
        for (; item < last; item++) {
            for (int f = 0; f < NUM_FIELD; f++)
                add_rate(a, f, s.rates[item - base][f][n], sum);
            fade += __ldg((const REAL *)a.profile +
                          (item * (long long)LAYER_NUMBER + LAYER_FADE) * a.profile_nodes +
                          (a.profile_nodes == 1 ? 0 : n));
        }
        if (fade != 0 || PASS == LAYER_FOR_FIRST)
            load_node<NUM_FIELD>(q, (const REAL *)a.q, total, place);
        for (int f = 0; f < NUM_FIELD && fade != 0; f++)
            add_rate(a, f, -fade * q[f], sum);
        end_rates(a, place, q, sum);
    }
}

template <int PASS> static __device__ __forceinline__ void pass(const dg_layer_args &a)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    room &s = *(room *)bytes;
    int block = (int)(a.first_block + blockIdx.x);
    int begin = max(__ldg(a.block + block), (int)a.first_cell);
    int end = min(__ldg(a.block + block + 1), (int)a.last_cell);
    int base = __ldg(a.first + begin), num = __ldg(a.first + end) - base;
    int first = threadIdx.x / NP * COLS, n = threadIdx.x % NP, mine = min(num - first, COLS);
    int cells = min(end - begin - first, COLS);
    REAL gained[COLS][NUM_FIELD], fixed[COLS][NUM_FIELD];
    memory old[COLS];
    load_items(a, s, begin, end);
    __syncthreads();
    load_traces(a, s, num);
    __syncthreads();
    load_ends(a, s, begin, end);
    for (int c = 0; c < COLS; c++) /* in flight during the products */
        if (c < mine)
            load_memory<PASS>(a, base + first + c, n, old[c]);
    __syncthreads();
    if (mine > 0) {
        REAL slope[COLS][NUM_TRACE], fix[COLS * NUM_FIELD];
        products(a, s, first, n, slope, fix);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL profile[LAYER_NUMBER], coef[NUM_COEF], z[NUM_TRACE];
            long long item = base + first + c;
            if (c >= mine)
                break;
            load_profile(a, item, a.profile_nodes == 1 ? 0 : n, profile);
            load_coefficients(a, s.cell[first + c], n, coef);
            advance_memory<PASS>(a, item, n, profile, old[c], slope[c], z);
            axis_rates(s.axis[first + c], z, coef, gained[c]);
        }
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL coef[NUM_COEF];
            if (c >= cells)
                break;
            load_coefficients(a, begin + first + c, n, coef);
            for (int f = 0; f < NUM_FIELD; f++)
                fixed[c][f] = 0;
            rates(fix + c * NUM_FIELD, coef, fixed[c]);
        }
    }
    __syncthreads(); /* nobody reads traces and jumps any more */
#pragma unroll
    for (int c = 0; c < COLS; c++)
        for (int f = 0; f < NUM_FIELD; f++) {
            if (c < mine)
                s.rates[first + c][f][n] = gained[c][f];
            if (c < cells)
                s.fixed[first + c][f][n] = fixed[c][f];
        }
    __syncthreads();
    add_items<PASS>(a, s, begin, end);
}

KERNEL(dg_layer_next, LAYER_FOR_NEXT)
KERNEL(dg_layer_first, LAYER_FOR_FIRST)
KERNEL(dg_layer_other, LAYER_FOR_OTHER)
