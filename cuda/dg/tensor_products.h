/* tensor_products.h: the products of kernel tensor on tensor cores, and the update from their sums.
 *
 * A warp owns 16 elements times ROWS tiles of eight nodes: C [element][node], A the state [element][k], B the operator
 * [k][node], each as hi + lo: three products, lo hi + hi lo + hi hi. Tensor cores round their sums towards zero, so
 * those of a step, 16 or 8 deep, are added to the others outside of them.
 * A lane has elements lane / 4 and 8 more; its column 2t + c of a tile is node t + 4 c, so that four lanes read and
 * write nodes beside each other.
 *
 * Operator (table, 32-bit words): inverse scale of derivative and of lift as floats, two words that are not used; then
 * by tiles of eight nodes: derivative [step][direction], lift [face][step], each [lane][hi, lo] as multiply_add
 * (common/mma.h) takes them. The host: csrc/dg/kernel_tensor.c. */
#ifndef UNDA_DG_TENSOR_PRODUCTS_H
#define UNDA_DG_TENSOR_PRODUCTS_H

#include "dg/tensor_split.h"
#include "dg/update.h"

enum {
    OPERATOR_HEAD = 4,
    STEP_WORDS = 8, /* of an operator with eight columns, by depth */
    VOLUME_WORDS = STEP_WORDS * 3 * TILE_NODES,
    TILE_WORDS = VOLUME_WORDS + STEP_WORDS * NUM_FACE * TILE_FACE_NODES
};

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

static __device__ __forceinline__ void add(float (&to)[4], const float (&from)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        to[i] += from[i];
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

/* Of a turn (block_columns.h): which of its fields column c of direction j is, and which of its sums that is for. */
static __device__ constexpr int turn_field(int j, int c)
{
    return !GRAD_DIV ? (j + 1 + c) % 3 : c == 0 ? 0 : 1 + j;
}
static __device__ constexpr int turn_sum(int j, int c)
{
    return !GRAD_DIV ? (j + 2 - c) % 3 : c == 0 ? 1 + j : 0;
}

/* acc += a step of the volume products. entry: of this lane; row: what load_columns asks this lane for, in the row of
 * the turn's first value. */
template <int CHUNK, int DEPTH>
static __device__ __forceinline__ void volume_step(const int *entry, const REAL *row,
                                                   float acc[CHUNK_SUMS][ROWS][4])
{
    split_pair<DEPTH / 8> b[ROWS][3];
    float part[CHUNK_SUMS][ROWS][4] = {};
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_operator<DEPTH>(b[r][j], entry + r * TILE_WORDS + j * STEP_WORDS * DEPTH);
    /* field by field, or the fragments of all of them are in registers at once */
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++) {
        split_pair<DEPTH / 4> a;
        load_state_part<DEPTH>(a, row + chunk_place(CHUNK, i) * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int column = 0; column < 6; column++) {
                int j = column / 2, c = column % 2;
                if (turn_field(j, c) != i)
                    continue;
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    split_pair<DEPTH / 8> d = column_sign(c) < 0 ? negative(b[r][j]) : b[r][j];
                    multiply_add(part[turn_sum(j, c)][r], product == 0 ? a.lo : a.hi,
                                 product == 1 ? d.lo : d.hi);
                }
            }
    }
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            add(acc[i][r], part[i][r]);
}

/* What a lane has of the products: its warp's first tile of nodes, its elements (the second: 8 more), its row in
 * load_columns. */
struct lane_place {
    int lane, tile, element, row_u, row_s;
};
static __device__ __forceinline__ lane_place place_of_lane()
{
    int thread = anew(threadIdx.x), lane = thread % 32, warp = thread / 32, first = warp % (TILE / 16) * 16;
    int k = lane % 8 + lane / 16 * 8, halves = first + lane / 8 % 2 * 8;
    return {lane, warp / (TILE / 16) * ROWS, first + lane / 4, k * PITCH_U + halves / 2,
            k * PITCH_S + halves / 2};
}

/* The sums of a turn, in the units of the state. */
template <int CHUNK>
static __device__ __forceinline__ void volume_turn(const int *op, const tensor_tile &s, const lane_place &at,
                                                   float acc[NUM_ACC][ROWS][4])
{
    float sum[CHUNK_SUMS][ROWS][4] = {};
    const int *entry = op + OPERATOR_HEAD + at.tile * TILE_WORDS + at.lane * 4;
    const REAL *row = s.of.u + at.row_u;
#pragma unroll(UNROLL)
    for (int step = 0; step < TILE_NODES / 16; step++, entry += STEP_WORDS * 16 * 3, row += 16 * PITCH_U)
        volume_step<CHUNK, 16>(entry, row, sum);
    if constexpr (TILE_NODES % 16)
        volume_step<CHUNK, 8>(entry - at.lane * 2, row - (at.lane >= 16 ? 8 * PITCH_U : 0), sum);
    REAL unit = __uint_as_float((unsigned)__ldg(op));
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++) {
        /* a sum has the scale of the fields it is made of */
        int group = field_scale(chunk_place(CHUNK, !GRAD_DIV ? i : i == 0 ? 1 : 0));
#pragma unroll
        for (int k = 0; k < 4; k++) {
            REAL factor = unscale(s.most[group][at.element + k / 2 * 8]);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                acc[chunk_sum(CHUNK, i)][r][k] = sum[i][r][k] * unit * factor;
        }
    }
}

template <int CHUNK = 0>
static __device__ __forceinline__ void volume_turns(const int *op, const tensor_tile &s, const lane_place &at,
                                                    float acc[NUM_ACC][ROWS][4])
{
    volume_turn<CHUNK>(op, s, at, acc);
    if constexpr (CHUNK + 1 < CHUNKS)
        volume_turns<CHUNK + 1>(op, s, at, acc);
}

template <int DEPTH>
static __device__ __forceinline__ void lift_step(const int *entry, const REAL *row,
                                                 float y[NUM_JUMP][ROWS][4])
{
    split_pair<DEPTH / 8> b[ROWS];
    float part[NUM_JUMP][ROWS][4] = {};
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        load_operator<DEPTH>(b[r], entry + r * TILE_WORDS);
#pragma unroll
    for (int k = 0; k < NUM_JUMP; k++) {
        split_pair<DEPTH / 4> a;
        load_state_part<DEPTH>(a, row + k * TILE);
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                multiply_add(part[k][r], product == 0 ? a.lo : a.hi, product == 1 ? b[r].lo : b[r].hi);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            add(y[k][r], part[k][r]);
    }
}

/* acc += lifted jumps, one face after the other. */
static __device__ __forceinline__ void lift_faces(const int *op, const tensor_tile &s, const lane_place &at,
                                                  float acc[NUM_ACC][ROWS][4])
{
    const int *entry = op + OPERATOR_HEAD + at.tile * TILE_WORDS + VOLUME_WORDS + at.lane * 4;
    const REAL *row = s.of.s + at.row_s;
    REAL unit = __uint_as_float((unsigned)__ldg(op + 1));
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++) {
        float y[NUM_JUMP][ROWS][4] = {};
#pragma unroll
        for (int step = 0; step < TILE_FACE_NODES / 16; step++)
            lift_step<16>(entry + STEP_WORDS * 16 * step, row + 16 * PITCH_S * step, y);
        if constexpr (TILE_FACE_NODES % 16)
            lift_step<8>(entry + STEP_WORDS * (TILE_FACE_NODES - 8) - at.lane * 2,
                         row + PITCH_S * (TILE_FACE_NODES - 8) - (at.lane >= 16 ? 8 * PITCH_S : 0), y);
        entry += STEP_WORDS * TILE_FACE_NODES;
        row += PITCH_S * TILE_FACE_NODES;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int e = at.element + 8 * half;
            REAL lift_coef[NUM_LIFT_COEF], factor[NUM_JUMP];
#pragma unroll
            for (int k = 0; k < NUM_LIFT_COEF; k++)
                lift_coef[k] = s.of.lift_coef[face][k][e];
#pragma unroll
            for (int k = 0; k < NUM_JUMP; k++)
                factor[k] = unscale(s.most[jump_scale(face, k)][e]);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int c = 2 * half; c < 2 * half + 2; c++) {
                    REAL y1[NUM_JUMP], acc1[NUM_ACC];
#pragma unroll
                    for (int k = 0; k < NUM_JUMP; k++)
                        y1[k] = y[k][r][c] * unit * factor[k];
#pragma unroll
                    for (int i = 0; i < NUM_ACC; i++)
                        acc1[i] = acc[i][r][c];
                    apply_lift(y1, face, lift_coef, acc1);
#pragma unroll
                    for (int i = 0; i < NUM_ACC; i++)
                        acc[i][r][c] = acc1[i];
                }
        }
    }
}

/* Nodes of one of a lane's elements, and what the update reads of them. */
struct lane_nodes {
    old_state old[ROWS][2];
};
static __device__ __forceinline__ void load_nodes(const dg_args &a, long long first, int count,
                                                  const lane_place &at, int half, lane_nodes &to)
{
    int begin = at.tile * 8 + at.lane % 4, e = at.element + 8 * half;
    if (e >= count)
        return;
#pragma unroll
    for (int n = 0; n < 2 * ROWS; n++)
        if (begin + 4 * n < NP)
            load_old(a, place(first + e, begin + 4 * n), to.old[n / 2][n % 2]);
}

/* From the sums to dq/dt and the update. */
static __device__ __forceinline__ void finish_nodes(const dg_args &a, long long first, int count,
                                                    const lane_place &at, int half, bool has_source,
                                                    float acc[NUM_ACC][ROWS][4], lane_nodes &nodes)
{
    int begin = at.tile * 8 + at.lane % 4, e = at.element + 8 * half;
    if (e >= count)
        return;
    long long elem = first + e;
    REAL g[WORDS];
    load_constant<WORDS>(g, (const REAL *)a.record + RECORD * elem);
#pragma unroll
    for (int n = 0; n < 2 * ROWS; n++) {
        int node = begin + 4 * n;
        if (node >= NP)
            break;
        REAL rhs[NUM_FIELD], acc1[NUM_ACC];
        old_state &old = nodes.old[n / 2][n % 2];
#pragma unroll
        for (int i = 0; i < NUM_ACC; i++)
            acc1[i] = acc[i][n / 2][2 * half + n % 2];
        const REAL *coef = coef_at(a, elem, node, g);
        from_reference(acc1, g, coef, rhs);
        add_local(old, coef + NUM_COEF - NUM_LOCAL, rhs);
        if (has_source)
            add_sources(a, elem, node, a.source_range[blockIdx.x], a.source_range[blockIdx.x + 1], rhs);
        update(a, place(elem, node), old, rhs);
    }
}

#endif
