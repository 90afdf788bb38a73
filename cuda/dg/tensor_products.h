/* tensor_products.h: the products of kernel tensor on tensor cores.
 *
 * A warp owns 16 elements times eight triples of nodes of one chunk of fields (block_columns.h): C [element][node], A the
 * state [element][k], B the operator [k][node], each as hi + lo: three products, lo hi + hi lo + hi hi. Tensor cores
 * round their sums towards zero, so those of a step, 16 or 8 deep, are added to the others outside of them.
 * By symmetry (tensor_rows.h) rows C^r a of D_1, r = 0, 1, 2, are all that is stored: D_(j + 1) at the node C^(r + j) a is
 * row C^r a of D_1 times the state at rows turned j times. Lifts of faces 1, 2, 3 likewise by that of face 1, and that
 * of face 0 at C^r a by its row a and jumps turned r times.
 * A lane has elements lane / 4 and 8 more; its columns are triples 2t, 2t + 1.
 *
 * Operator (table, 32-bit words): inverse scale of derivative and of lift as floats, two words that are not used; rows
 * (tensor_rows.h); then by tiles of eight triples: derivative D_1 [step][r], lift of face 1 [step][r], lift of face 0
 * [step], each [lane][hi, lo] as multiply_add (common/mma.h) takes them. The host: csrc/dg/kernel_tensor.c. */
#ifndef UNDA_DG_TENSOR_PRODUCTS_H
#define UNDA_DG_TENSOR_PRODUCTS_H

#include "dg/tensor_split.h"

/* One operand of a step, both parts. */
template <int NUM> struct split_pair {
    unsigned hi[NUM], lo[NUM];
};

template <int DEPTH>
static __device__ __forceinline__ void load_operator(split_pair<DEPTH / 8> &b, const int *entry)
{
    if constexpr (DEPTH == 16) {
        int4 words = __ldg((const int4 *)entry);
        b = {{(unsigned)words.x, (unsigned)words.y}, {(unsigned)words.z, (unsigned)words.w}};
    } else {
        int2 words = __ldg((const int2 *)entry);
        b = {{(unsigned)words.x}, {(unsigned)words.y}};
    }
}

/* Of a row of values, which this lane names. */
template <int DEPTH>
static __device__ __forceinline__ void load_state_part(split_pair<DEPTH / 4> &a, const REAL *row)
{
    load_columns(a.hi, row);
    load_columns(a.lo, row + PAIRS);
}

template <int NUM> static __device__ __forceinline__ split_pair<NUM> negative(split_pair<NUM> b)
{
#pragma unroll
    for (int i = 0; i < NUM; i++) {
        b.hi[i] ^= 0x80008000;
        b.lo[i] ^= 0x80008000;
    }
    return b;
}

/* Product number 0, 1 or 2 of the three. */
template <int DEPTH>
static __device__ __forceinline__ void
multiply_part(float (&c)[4], int product, const split_pair<DEPTH / 4> &a, const split_pair<DEPTH / 8> &b)
{
    multiply_add(c, product == 0 ? a.lo : a.hi, product == 1 ? b.lo : b.hi);
}

/* What a lane has of the products: its warp's tile of triples and chunk, the first of its elements, its column and row
 * in load_columns. */
struct lane_place {
    int lane, tile, chunk, element, depth, offset;
};
static __device__ __forceinline__ lane_place place_of_lane()
{
    constexpr int GROUPS = TILE / 16;
    int thread = anew(threadIdx.x), lane = thread % 32, warp = thread / 32, first = warp % GROUPS * 16;
    return {lane,
            warp / GROUPS % ORBIT_TILES,
            warp / (GROUPS * ORBIT_TILES),
            first + lane / 4,
            lane % 8 + lane / 16 * 8,
            (first + lane / 8 % 2 * 8) / 2};
}

/* The row that a lane names for a step which begins at k, of so many; behind the last any row will do. */
template <int DEPTH, int COUNT> static __device__ __forceinline__ int row_of_step(const lane_place &at, int k)
{
    int row = k + (DEPTH == 16 ? at.depth : at.lane % 8);
    return row < COUNT ? row : COUNT - 1;
}

/* Of a turn (block_columns.h): which of its fields column c of direction j is, which of its sums that is for, and the
 * last direction that adds to a sum. */
static __device__ constexpr int turn_field(int j, int c)
{
    return !GRAD_DIV ? (j + 1 + c) % 3 : c == 0 ? 0 : 1 + j;
}
static __device__ constexpr int turn_sum(int j, int c)
{
    return !GRAD_DIV ? (j + 2 - c) % 3 : c == 0 ? 1 + j : 0;
}
static __device__ constexpr int last_turn(int sum)
{
    return !GRAD_DIV ? (sum == 0 ? 2 : sum == 1 ? 2 : 1) : sum == 0 ? 2 : sum - 1;
}

/* The scales of what the chunk's first sum and the others are made of; halves of a lane's elements. */
struct volume_scales {
    REAL of[2][2];
};
static __device__ __forceinline__ volume_scales load_scales(const int *op, const tile &s,
                                                            const lane_place &at)
{
    REAL unit = __uint_as_float((unsigned)__ldg(op));
    volume_scales scales;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            scales.of[i][half] =
                unit *
                unscale(
                    s.most[field_scale(chunk_place(at.chunk, !GRAD_DIV ? 0 : 1 - i))][at.element + 8 * half]);
    return scales;
}

/* The operator of a step: rows of each run. */
template <int DEPTH> struct step_operator {
    split_pair<DEPTH / 8> of[3];
    __device__ __forceinline__ void load(const int *entry)
    {
#pragma unroll
        for (int r = 0; r < 3; r++)
            load_operator<DEPTH>(of[r], entry + r * STEP_WORDS * DEPTH);
    }
};

/* acc += a step of the volume products. row: where this lane's row of the chunk's first field would be, were it row 0. */
template <int DEPTH>
static __device__ __forceinline__ void volume_step(const step_operator<DEPTH> &b, const REAL *row,
                                                   const lane_place &at, int k, const volume_scales &scales,
                                                   float acc[CHUNK_SUMS][3][4])
{
    float part[CHUNK_SUMS][3][4] = {};
    int node = row_of_step<DEPTH, NP>(at, k);
#pragma unroll
    for (int j = 0; j < 3; j++) {
        split_pair<DEPTH / 4> a[2];
#pragma unroll
        for (int c = 0; c < 2; c++)
            load_state_part<DEPTH>(a[c], row + turned<RUN_ROWS>(node, j) * PITCH_U +
                                             (chunk_place(0, turn_field(j, c)) - chunk_place(0, 0)) * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int c = 0; c < 2; c++)
#pragma unroll
                for (int r = 0; r < 3; r++)
                    multiply_part<DEPTH>(part[turn_sum(j, c)][(r + j) % 3], product, a[c],
                                         column_sign(c) < 0 ? negative(b.of[r]) : b.of[r]);
#pragma unroll
        for (int i = 0; i < CHUNK_SUMS; i++)
            if (last_turn(i) == j)
#pragma unroll
                for (int r = 0; r < 3; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        acc[i][r][c] += part[i][r][c] * scales.of[GRAD_DIV && i > 0][c / 2];
    }
}

/* acc += the sums of a chunk. */
static __device__ __forceinline__ void volume_products(const int *op, const tile &s, const lane_place &at,
                                                       float acc[CHUNK_SUMS][3][4])
{
    volume_scales scales = load_scales(op, s, at);
    const int *entry = op + OPERATOR + at.tile * OPERATOR_WORDS + at.lane * 4;
    const REAL *row = s.u + chunk_place(at.chunk, 0) * TILE + at.offset;
    constexpr int WHOLE = DEPTH_NODES / 16 * 16;
    step_operator<16> next; /* asked for a step before it is used */
    if (WHOLE > 0)
        next.load(entry);
#pragma unroll(UNROLL)
    for (int k = 0; k < WHOLE; k += 16) {
        step_operator<16> now = next;
        entry += 3 * STEP_WORDS * 16;
        if (k + 16 < WHOLE)
            next.load(entry);
        volume_step<16>(now, row, at, k, scales, acc);
    }
    if constexpr (DEPTH_NODES % 16) {
        step_operator<8> last;
        last.load(entry - at.lane * 2);
        volume_step<8>(last, row, at, DEPTH_NODES - 8, scales, acc);
    }
}

/* y += a step of the lift of a face. entry: of this lane, of the face's lift; row: as above, of the face's first jump. */
template <int FACE, int DEPTH>
static __device__ __forceinline__ void lift_step(const int *entry, const REAL *row, const lane_place &at,
                                                 int k, float y[NUM_JUMP][3][4])
{
    constexpr int OPERANDS = FACE ? 3 : 1, ROWS = FACE ? 1 : 3;
    split_pair<DEPTH / 8> b[OPERANDS];
    int node = row_of_step<DEPTH, NFP>(at, k);
#pragma unroll
    for (int r = 0; r < OPERANDS; r++)
        load_operator<DEPTH>(b[r], entry + r * STEP_WORDS * DEPTH);
#pragma unroll
    for (int jump = 0; jump < NUM_JUMP; jump++) {
        split_pair<DEPTH / 4> a[ROWS];
        float part[3][4] = {};
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            load_state_part<DEPTH>(a[r], row + turned<FACE_RUN_ROWS>(node, r) * PITCH_S + jump * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int r = 0; r < 3; r++)
                multiply_part<DEPTH>(part[FACE ? (r + FACE - 1) % 3 : r], product, a[r % ROWS],
                                     b[r % OPERANDS]);
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                y[jump][r][c] += part[r][c];
    }
}

/* Sum i of a chunk, of all sums. */
static __device__ __forceinline__ REAL sum_of_chunk(const REAL all[NUM_ACC], int chunk, int i)
{
    REAL sum = all[chunk_sum(0, i)];
#pragma unroll
    for (int other = 1; other < CHUNKS; other++)
        sum = chunk == other ? all[chunk_sum(other, i)] : sum;
    return sum;
}

/* acc += the lifted jumps of a face, those of a chunk. */
template <int FACE>
static __device__ __forceinline__ void lift_face(const int *op, const tile &s, const lane_place &at,
                                                 float acc[CHUNK_SUMS][3][4])
{
    constexpr int OPERANDS = FACE ? 3 : 1;
    const int *entry =
        op + OPERATOR + at.tile * OPERATOR_WORDS + VOLUME_WORDS + (FACE ? 0 : LIFT_WORDS) + at.lane * 4;
    const REAL *row = s.s + FACE * NFP * PITCH_S + at.offset;
    float y[NUM_JUMP][3][4] = {};
#pragma unroll
    for (int k = 0; k < DEPTH_FACE / 16 * 16; k += 16)
        lift_step<FACE, 16>(entry + OPERANDS * STEP_WORDS * k, row, at, k, y);
    if constexpr (DEPTH_FACE % 16)
        lift_step<FACE, 8>(entry + OPERANDS * STEP_WORDS * (DEPTH_FACE - 8) - at.lane * 2, row, at,
                           DEPTH_FACE - 8, y);
    REAL unit = __uint_as_float((unsigned)__ldg(op + 1));
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int e = at.element + 8 * half;
        REAL lift_coef[NUM_LIFT_COEF], factor[NUM_JUMP];
#pragma unroll
        for (int k = 0; k < NUM_LIFT_COEF; k++)
            lift_coef[k] = s.lift_coef[FACE][k][e];
#pragma unroll
        for (int k = 0; k < NUM_JUMP; k++)
            factor[k] = unit * unscale(s.most[jump_scale(FACE, k)][e]);
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int c = 2 * half; c < 2 * half + 2; c++) {
                REAL y1[NUM_JUMP], all[NUM_ACC];
#pragma unroll
                for (int k = 0; k < NUM_JUMP; k++)
                    y1[k] = y[k][r][c] * factor[k];
#pragma unroll
                for (int i = 0; i < NUM_ACC; i++)
                    all[i] = -0.0f; /* x + -0 is x, which the compiler knows */
                apply_lift(y1, FACE, lift_coef, all);
#pragma unroll
                for (int i = 0; i < CHUNK_SUMS; i++)
                    acc[i][r][c] += sum_of_chunk(all, at.chunk, i);
            }
    }
}

/* Nodes of a lane's columns, or -1. */
struct column_nodes {
    int of[3][2];
};
static __device__ __forceinline__ column_nodes nodes_of_columns(const int *table, const lane_place &at)
{
    column_nodes nodes;
#pragma unroll
    for (int c = 0; c < 2; c++) {
        int orbit = at.tile * 8 + at.lane % 4 * 2 + c, kept = orbit - RUN_ROWS;
#pragma unroll
        for (int r = 0; r < 3; r++)
            nodes.of[r][c] =
                kept >= (r == 0 ? KEPT : 0)
                    ? -1
                    : __ldg(table + ROW_NODES + (kept < 0 ? r * RUN_ROWS + orbit : 3 * RUN_ROWS + kept));
    }
    return nodes;
}

/* The sums of a warp's triples, in the place of the state: see tensor_sizes.h. */
static __device__ __forceinline__ REAL *sums_place(tile &s, int chunk, int e, int node)
{
    return s.u + ((chunk * TILE + e) * NODE_PITCH + node) * CHUNK_SUMS;
}
static __device__ __forceinline__ void store_sums(tile &s, const lane_place &at, const column_nodes &nodes,
                                                  const float acc[CHUNK_SUMS][3][4])
{
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int r = 0; r < 3; r++) {
            REAL sums[CHUNK_SUMS];
#pragma unroll
            for (int i = 0; i < CHUNK_SUMS; i++)
                sums[i] = acc[i][r][c];
            int node = nodes.of[r][c % 2];
            if (node >= 0)
                store_own_vector<CHUNK_SUMS>(sums_place(s, at.chunk, at.element + c / 2 * 8, node), sums);
        }
}

/* All sums of a tile, in the place of its fields. */
static __device__ __forceinline__ void multiply(const int *table, tile &s)
{
    lane_place at = place_of_lane();
    float acc[CHUNK_SUMS][3][4] = {};
    lift_face<0>(table, s, at, acc);
    lift_face<1>(table, s, at, acc);
    lift_face<2>(table, s, at, acc);
    lift_face<3>(table, s, at, acc);
    volume_products(table, s, at, acc);
    column_nodes nodes = nodes_of_columns(table, at);
    __syncthreads();
    store_sums(s, at, nodes, acc);
}

#endif
