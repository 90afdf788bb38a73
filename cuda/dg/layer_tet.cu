/* layer_tet.cu: the pass over absorbing layers of tetrahedra, before or after a stage of DG by any kernel (layer.h).
 *
 * block = whole cells with at most ITEMS items between them. Traces across their axes are columns of shared memory, the jumps at
 * their faces columns of another array; thread i owns node i % NP of COLS items, for which it multiplies both by the rows of the
 * derivatives and the lift, so that an entry of a matrix, which comes from L1, is used COLS NUM_TRACE times. What items add to
 * a node of their cell is summed in shared memory, in the order of the items. Then faces that are split take turns, whose
 * corrections of the stage's flux are lifted for the first item of each cell.
 * Bytes per node, float32, LSRK: 12 NUM_FIELD, and 16 NUM_TRACE an axis; NFP nodes of each neighbour, mostly from L2.
 * Flops per node and axis: NUM_TRACE (6 NP + 2 NUM_FACE NFP).
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, MIN_BLOCKS, ITEMS, COLS. Dynamic shared memory: struct room. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(SPACE) || !defined(THREADS) ||       \
    !defined(ITEMS) || !defined(COLS)
#error "layer_tet.cu needs REAL, DEGREE, PHYSICS, SPACE, LAYOUT, THREADS, ITEMS, COLS"
#endif

#include "dg/layer.h"

enum {
    ENDS = NUM_FACE * NFP, /* nodes of all faces */
    COLUMNS = COLS * NUM_TRACE,
    PITCH = (ITEMS * NUM_TRACE + 3) / 4 * 4 + 4, /* whole quads, and not a multiple of all banks */
    FIX_PITCH = ITEMS * NUM_FIELD + 1
};

struct room {
    union {
        struct {
            REAL w[NP][PITCH], jump[ENDS][PITCH];
        };
        REAL fix[ENDS][FIX_PITCH]; /* [cell][field] */
        REAL rates[ITEMS][NUM_FIELD][NP];
    };
    int cell[ITEMS], elem[ITEMS], axis[ITEMS];
};

/* A number of a face. */
static __device__ __forceinline__ REAL face_at(const dg_layer_args &a, int cell, int face, int i)
{
    return __ldg((const REAL *)a.face + ((long long)cell * NUM_FACE + face) * FACE_NUMBER + i);
}

static __device__ __forceinline__ void load_face_coefficients(const dg_layer_args &a, int cell, int face,
                                                              int m, REAL *coef)
{
    long long at = ((long long)cell * NUM_FACE + face) * (a.face_nodes ? NFP : 1) + (a.face_nodes ? m : 0);
    for (int i = 0; i < NUM_FACE_COEF; i++)
        coef[i] = __ldg((const REAL *)a.face_coef + at * NUM_FACE_COEF + i);
}

/* What the derivative of each trace along the item's axis lifts at node m of a face. */
static __device__ __forceinline__ void jump_at(const dg_layer_args &a, const room &s, int item, int face,
                                               int m, REAL *jump)
{
    int axis = s.axis[item], cell = s.cell[item], n = __ldg(a.face_node + face * NFP + m);
    int kind = (int)face_at(a, cell, face, FACE_KIND);
    REAL along = face_at(a, cell, face, FACE_NORMAL + axis), in[NUM_TRACE], out[NUM_TRACE], z[NUM_TRACE];
    REAL sign = along < 0 ? -1 : 1, length = face_at(a, cell, face, FACE_LENGTH), coef[NUM_FACE_COEF];
    for (int i = 0; i < NUM_TRACE; i++)
        jump[i] = 0;
    if (along == 0)
        return;
    for (int i = 0; i < NUM_TRACE; i++)
        in[i] = s.w[n][item * NUM_TRACE + i];
    int neighbor = __ldg(a.neighbor + NUM_FACE * (long long)s.elem[item] + face);
    if (neighbor < 0) {
        REAL normal[3];
        for (int i = 0; i < 3; i++)
            normal[i] = face_at(a, cell, face, FACE_NORMAL + i);
        axis_reflect(-1 - neighbor, in, normal, out);
    } else
        load_trace(a, axis, NEIGHBOR_ELEM(neighbor), __ldg(a.face_node + NEIGHBOR_SIDE(neighbor) * NFP + m),
                   out);
    if (kind == FACE_MEAN)
        for (int i = 0; i < NUM_TRACE; i++)
            jump[i] = (REAL)0.5 * along * (out[i] - in[i]);
    else {
        load_face_coefficients(a, cell, face, m, coef);
        axis_flux(axis, sign, sign * along, in, out, coef, z);
        axis_jump(sign, sign * along, z, jump);
    }
    for (int i = 0; i < NUM_TRACE; i++)
        jump[i] *= length;
}

/* What a face that is split corrects of the stage's own flux at its node m, before the lift. */
static __device__ __forceinline__ void fix_at(const dg_layer_args &a, int cell, int elem, int face, int m,
                                              REAL *fix)
{
    REAL in[NUM_FIELD], out[NUM_FIELD], coef[NUM_FACE_COEF], row[FACE_NUMBER], acc[NUM_ACC], z[NUM_TRACE];
    REAL frame[NUM_FRAME], from[NUM_TRACE], to[NUM_TRACE];
    for (int f = 0; f < NUM_FIELD; f++)
        fix[f] = 0;
    for (int i = 0; i < FACE_NUMBER; i++)
        row[i] = face_at(a, cell, face, i);
    if ((int)row[FACE_KIND] != FACE_SPLIT)
        return;
    int neighbor = __ldg(a.neighbor + NUM_FACE * (long long)elem + face);
    load_node<NUM_FIELD>(in, (const REAL *)a.q, a.num_total * NP,
                         place_of(elem, __ldg(a.face_node + face * NFP + m)));
    load_node<NUM_FIELD>(
        out, (const REAL *)a.q, a.num_total * NP,
        place_of(NEIGHBOR_ELEM(neighbor), __ldg(a.face_node + NEIGHBOR_SIDE(neighbor) * NFP + m)));
    load_face_coefficients(a, cell, face, m, coef);
    for (int i = 0; i < NUM_ACC; i++)
        acc[i] = 0;
    for (int axis = 0; axis < 3; axis++) {
        REAL n = row[FACE_NORMAL + axis], sign = n < 0 ? -1 : 1;
        if (n == 0)
            continue;
        axis_frame(axis, frame);
        trace(in, frame, from);
        trace(out, frame, to);
        axis_flux(axis, sign, sign * n, from, to, coef, z);
        axis_side(axis, sign, frame);
        frame_add(frame, sign * n, z, acc);
    }
    face_frame(row, frame);
    trace(in, frame, from);
    trace(out, frame, to);
    face_flux(from, to, frame, coef, 1, z);
    frame_add(frame, -1, z, acc);
    unit_rates(acc, fix);
    for (int f = 0; f < NUM_FIELD; f++)
        fix[f] *= row[FACE_LENGTH];
}

/* The derivatives along their axes of COLS items' traces. */
static __device__ __forceinline__ void slopes_of(const dg_layer_args &a, const room &s, int first, int n,
                                                 REAL (&slope)[COLS][NUM_TRACE])
{
    const REAL *matrix = (const REAL *)a.matrix + n;
    REAL sum[3][COLUMNS], lifted[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
        sum[0][c] = sum[1][c] = sum[2][c] = lifted[c] = 0;
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
#pragma unroll 6
    for (int m = 0; m < ENDS; m++) {
        REAL x[COLUMNS], d = __ldg(matrix + (3 * NP + m) * NP);
        load_vector<COLUMNS>(x, s.jump[m] + first * NUM_TRACE);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            lifted[c] += d * x[c];
    }
#pragma unroll
    for (int k = 0; k < COLS; k++) {
        REAL g[3];
        for (int j = 0; j < 3; j++)
            g[j] = gradient_at(a, s.cell[first + k], 3 * j + s.axis[first + k], 0);
#pragma unroll
        for (int i = 0; i < NUM_TRACE; i++) {
            int c = k * NUM_TRACE + i;
            slope[k][i] = g[0] * sum[0][c] + g[1] * sum[1][c] + g[2] * sum[2][c] + lifted[c];
        }
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

static __device__ __forceinline__ void load_jumps(const dg_layer_args &a, room &s, int num)
{
    for (int i = threadIdx.x; i < num * ENDS; i += THREADS) {
        int item = i / ENDS, end = i % ENDS;
        REAL jump[NUM_TRACE];
        jump_at(a, s, item, end / NFP, end % NFP, jump);
        for (int k = 0; k < NUM_TRACE; k++)
            s.jump[end][item * NUM_TRACE + k] = jump[k];
    }
}

/* Corrections at all faces of the cells [begin, end). */
static __device__ __forceinline__ void load_fixes(const dg_layer_args &a, room &s, int begin, int end)
{
    for (int i = threadIdx.x; i < (end - begin) * ENDS; i += THREADS) {
        int cell = i / ENDS, at = i % ENDS;
        REAL fix[NUM_FIELD];
        fix_at(a, begin + cell, __ldg(a.elem + begin + cell), at / NFP, at % NFP, fix);
        for (int f = 0; f < NUM_FIELD; f++)
            s.fix[at][cell * NUM_FIELD + f] = fix[f];
    }
}

/* Adds to the rates of node n what the faces of a cell, which is number `cell` of the block, correct. */
static __device__ __forceinline__ void add_fixes(const dg_layer_args &a, const room &s, int cell, int n,
                                                 const REAL *coef, REAL *to)
{
    const REAL *lift = (const REAL *)a.matrix + 3 * NP * NP + n;
    REAL sum[NUM_FIELD], add[NUM_FIELD];
    for (int f = 0; f < NUM_FIELD; f++)
        sum[f] = 0;
#pragma unroll 4
    for (int m = 0; m < ENDS; m++) {
        REAL d = __ldg(lift + m * NP);
        for (int f = 0; f < NUM_FIELD; f++)
            sum[f] += d * s.fix[m][cell * NUM_FIELD + f];
    }
    rates(sum, coef, add);
    for (int f = 0; f < NUM_FIELD; f++)
        to[f] += add[f];
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
    REAL sum[COLS][NUM_FIELD], slope[COLS][NUM_TRACE];
    memory old[COLS];
    load_items(a, s, begin, end);
    __syncthreads();
    load_traces(a, s, num);
    __syncthreads();
    load_jumps(a, s, num);
    for (int c = 0; c < COLS; c++) /* in flight during the products */
        if (c < mine)
            load_memory<PASS>(a, base + first + c, n, old[c]);
    __syncthreads();
    if (mine > 0) {
        slopes_of(a, s, first, n, slope);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            REAL profile[LAYER_NUMBER], coef[NUM_COEF], z[NUM_TRACE];
            long long item = base + first + c;
            if (c >= mine)
                break;
            load_profile(a, item, a.profile_nodes == 1 ? 0 : n, profile);
            load_coefficients(a, s.cell[first + c], n, coef);
            advance_memory<PASS>(a, item, n, profile, old[c], slope[c], z);
            axis_rates(s.axis[first + c], z, coef, sum[c]);
        }
    }
    __syncthreads(); /* nobody reads traces and jumps any more */
    load_fixes(a, s, begin, end);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < COLS; c++) {
        if (c >= mine || __ldg(a.first + s.cell[first + c]) != base + first + c)
            continue; /* the first item of a cell */
        REAL coef[NUM_COEF];
        load_coefficients(a, s.cell[first + c], n, coef);
        add_fixes(a, s, s.cell[first + c] - begin, n, coef, sum[c]);
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < COLS; c++)
        for (int f = 0; f < NUM_FIELD && c < mine; f++)
            s.rates[first + c][f][n] = sum[c][f];
    __syncthreads();
    add_items<PASS>(a, s, begin, end);
}

KERNEL(dg_layer_next, LAYER_FOR_NEXT)
KERNEL(dg_layer_first, LAYER_FOR_FIRST)
KERNEL(dg_layer_other, LAYER_FOR_OTHER)
