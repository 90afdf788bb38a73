/* kernel_tensor.c: kernel tensor: one stage in one pass, the products on tensor cores, float32 as two FP16 numbers. Not
 * here: the device code (cuda/dg/tensor.cu). Measurements: benchmarks/NOTES.md. */
#include "blocks.h"
#include "half.h"
#include "kernel.h"

#include <math.h>
#include <string.h>

enum { ROWS, LOTS, BLOCKS, UNROLL, AHEAD, NUM_PART };

/* Elements of a block, which tensor cores take at a time; rows of their operator; most triples of nodes of a lot. */
enum { TILE = 8, PIECE = 16, MOST_TRIPLES = 16, WARP = 32 };

/* Nodes beside a single tile, which are taken otherwise (cuda/dg/tensor_rest.h). */
enum { REST = 8 };

/* Pieces of the operator for so many rows, and for so many triples of them. */
static int num_piece(int rows)
{
    return (rows + PIECE - 1) / PIECE;
}

/* As cuda/dg/tensor_rows.h and tensor.cu have them: words before the rows, words between rows of shared memory. */
enum { HEAD = 4, PAD = 4 };

static int round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Nodes, and face nodes of face 0, as a turn of the vertices 1, 2, 3 moves them: so many triples and, last, so many
 * nodes that stay where they are. */
struct turns {
    int num, run, kept;
};
static struct turns node_turns(const unda_solver *s)
{
    int kept = s->options.degree / 3 + 1, num = dg_tables(s)->space.num_node;
    return (struct turns){num, (num - kept) / 3, kept};
}
static struct turns face_turns(const struct dg *dg)
{
    int num = dg->space.num_face_node;
    return (struct turns){num, num / 3, num % 3};
}

/* As CHUNKS of cuda/dg/block_columns.h. */
static int num_chunk(const struct dg *dg)
{
    return dg->physics->grad_div ? dg->physics->grad_div : 2;
}

/* Whether eight nodes are left beside a single tile of triples, so at degree 5 beside 16. A single chunk of fields would
 * have a single warp then. */
static bool has_rest(const unda_solver *s, int triples)
{
    const struct dg *dg = dg_tables(s);
    return dg->space.num_node == 3 * triples + REST && num_chunk(dg) > 1;
}

/* Tiles of triples; without a rest the last one is filled up. */
static int num_tile(const unda_solver *s, int triples)
{
    struct turns t = node_turns(s);
    return has_rest(s, triples) ? 1 : (t.run + t.kept + triples - 1) / triples;
}

/* Words of the operator for rows of D_1 and of the lift of face 1, and so many of the lift of face 0. */
static int matrix_words(const struct dg *dg, int rows, int face0_rows)
{
    return rows * round_up(dg->space.num_node, 8) +
           (rows + face0_rows) * round_up(dg->space.num_face_node, 8);
}

/* Of a tile of triples. */
static int tile_words(const struct dg *dg, int triples)
{
    return matrix_words(dg, PIECE * num_piece(3 * triples), PIECE * num_piece(triples));
}

/* Where the rows of the rest begin, and the operator behind them. */
static int rest_words(const struct dg *dg)
{
    return HEAD + dg->space.num_node + dg->space.num_face * dg->space.num_face_node;
}
static int operator_words(const struct dg *dg, bool rest)
{
    return round_up(rest_words(dg) + (rest ? REST : 0), 4);
}

/* struct tile of cuda/dg/tile.h as tensor_sizes.h has it: a single jump stands for itself, of others what is lifted. */
static int tile_bytes(const struct dg *dg)
{
    const struct physics *p = dg->physics;
    int jumps = p->num_jump[dg->both_jumps] > 1 ? 2 * num_chunk(dg) : 1, num_node = dg->space.num_node,
        scales = p->grad_div ? 2 * p->grad_div : 2, split = num_node * (p->num_ref * TILE + PAD),
        sums = p->num_ref * TILE * (num_node | 1);
    return 4 *
           ((split > sums ? split : sums) +
            dg->space.num_face * (dg->space.num_face_node * (jumps * TILE + PAD) + p->num_lift_coef * TILE) +
            scales * TILE);
}

/* A lot is a tile of triples of a chunk of fields; a warp has so many. */
static int num_lot(const unda_solver *s, const int *part)
{
    return num_tile(s, part[ROWS]) * num_chunk(dg_tables(s));
}
static int num_threads(const unda_solver *s, const int *part)
{
    return WARP * ((num_lot(s, part) + part[LOTS] - 1) / part[LOTS]);
}

/* Registers of a thread: what its sums, operands and addresses need, with 16 triples of nodes, and the least, which do
 * for eight. */
enum { REGISTERS = 168, LEAST_REGISTERS = 128 };
enum { NUM_SM = 132, SM_REGISTERS = 1 << 16, SM_SHARED = 228 << 10, SYSTEM_SHARED = 1 << 10 };

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const struct dg *dg = dg_tables(s);
    struct turns t = node_turns(s);
    int rows = kernel_part(&s->options, "rows"), lots = kernel_part(&s->options, "lots");
    part[ROWS] = rows == 8 || rows == 16 ? rows : t.run + t.kept <= 8 ? 8 : 16;
    /* of elastic waves nine warps a block would be alone on an SM, five are not; at higher degrees two lots spill */
    bool two = s->options.physics == UNDA_ELASTIC && s->options.degree == 7 && part[ROWS] == 16;
    part[LOTS] = lots ? lots : two ? 2 : 1;
    int threads = num_threads(s, part),
        blocks = SM_REGISTERS / ((part[ROWS] == 8 ? LEAST_REGISTERS : REGISTERS) * threads),
        room = SM_SHARED / (tile_bytes(dg) + SYSTEM_SHARED);
    /* a single block has nothing to do while its threads wait for each other */
    if (blocks < 2 && 2 * LEAST_REGISTERS * threads <= SM_REGISTERS)
        blocks = 2;
    blocks = blocks < room ? blocks : room;
    part[BLOCKS] = blocks > 1 ? blocks : 1;
    part[UNROLL] = 1;
    part[AHEAD] = 1;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    const int *part = plan->part;
    const struct dg *dg = dg_tables(s);
    if (s->options.precision != UNDA_FLOAT32)
        FAIL(UNDA_ERR_ARG,
             "kernel tensor computes in float32, found dtype float64: take kernel fused or blocks");
    if (part[ROWS] % 8)
        FAIL(UNDA_ERR_ARG, "rows is %d triples of nodes, expected 8 or 16", part[ROWS]);
    if (part[LOTS] > num_lot(s, part))
        FAIL(UNDA_ERR_ARG, "a warp has %d lots, expected at most %d", part[LOTS], num_lot(s, part));
    plan->tile = TILE;
    plan->threads = num_threads(s, part);
    plan->shared_bytes = tile_bytes(dg);
    plan->resident = part[BLOCKS];
    bool rest = has_rest(s, part[ROWS]);
    plan->num_table = operator_words(dg, rest) +
                      (int64_t)num_tile(s, part[ROWS]) * tile_words(dg, part[ROWS]) +
                      (rest ? matrix_words(dg, REST, REST) : 0);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    gpu_define(defines, "TURNS=%d", 1);
    gpu_define(defines, "TRIPLES=%d", plan->part[ROWS]);
    gpu_define(defines, "REST=%d", has_rest(s, plan->part[ROWS]));
    gpu_define(defines, "LOTS=%d", plan->part[LOTS]);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "UNROLL=%d", plan->part[UNROLL]);
    gpu_define(defines, "AHEAD=%d", plan->part[AHEAD]);
    gpu_define(defines, "WAVE=%d", NUM_SM * plan->part[BLOCKS]);
}

/* ---- packing ---- */

static double largest(const double *number, int64_t num)
{
    double most = 0;
    for (int64_t i = 0; i < num; i++)
        most = fmax(most, fabs(number[i]));
    return most;
}

/* Rows of a matrix [..][num], by number, 16 of each of `pieces`, its columns in the order given: [step][piece][hi, lo]
 * [lane], of steps eight deep [step][piece][lane][hi, lo]. row < 0: zeros. */
struct operand {
    const double *matrix;
    const int *row, *column;
    int pieces, num, scale;
};
/* hi and lo of the word of a lane for these columns of a row, of which k is the first. */
static void pack_word(const struct operand *o, int row, int k, int32_t *hi, int32_t *lo)
{
    uint32_t word[2] = {0};
    for (int i = 0; i < 2; i++) {
        double x = row >= 0 && k + i < o->num ? o->matrix[(int64_t)row * o->num + o->column[k + i]] : 0;
        uint32_t both = half_split(x, o->scale);
        word[0] |= (both & 0xffff) << 16 * i;
        word[1] |= both >> 16 << 16 * i;
    }
    *hi = (int32_t)word[0];
    *lo = (int32_t)word[1];
}
static void pack_piece(const struct operand *o, const int *rows, int k0, int depth, int32_t *to)
{
    int words = depth / 4;
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < words; i++) {
            int row = rows[lane / 4 + i % 2 * 8], k = k0 + i / 2 * 8 + lane % 4 * 2;
            int32_t *hi = to + lane * 4 + i;
            pack_word(o, row, k, hi, hi + (depth == 16 ? WARP : 1) * words);
        }
}
static int32_t *pack_matrix(const struct operand *o, int32_t *to)
{
    for (int k0 = 0, depth; k0 < round_up(o->num, 8); k0 += depth) {
        depth = round_up(o->num, 8) - k0 < 16 ? 8 : 16;
        for (int piece = 0; piece < o->pieces; piece++, to += PIECE * depth)
            pack_piece(o, o->row + piece * PIECE, k0, depth, to);
    }
    return to;
}

/* The same of eight rows, [step][lane][hi, lo]. */
static int32_t *pack_eight(const struct operand *o, int32_t *to)
{
    for (int k0 = 0, depth; k0 < round_up(o->num, 8); k0 += depth) {
        depth = round_up(o->num, 8) - k0 < 16 ? 8 : 16;
        int words = depth / 8;
        for (int lane = 0; lane < WARP; lane++, to += 2 * words)
            for (int i = 0; i < words; i++)
                pack_word(o, o->row[lane / 4], k0 + 8 * i + lane % 4 * 2, to + i, to + words + i);
    }
    return to;
}

/* The order of points that `turn` moves: one of each triple, then what it becomes, then that again, then points that
 * stay where they are. */
static void order_by_turn(const struct turns *t, const int *turn, int *order)
{
    int triples = 0, kept = 0;
    for (int n = 0; n < t->num; n++) {
        int next = turn[n], last = turn[next];
        if (next == n)
            order[3 * t->run + kept++] = n;
        else if (n < next && n < last) {
            order[triples] = n;
            order[t->run + triples] = next;
            order[2 * t->run + triples++] = last;
        }
    }
}

struct orders {
    int node[MOST_BLOCK_NODE], face0[MOST_BLOCK_FACE_NODE], face1[MOST_BLOCK_FACE_NODE];
};

/* Rows of nodes and of jumps; see cuda/dg/tensor_rows.h. */
static void pack_rows(const struct element *el, const struct orders *orders, const int *face_turn,
                      int32_t *row_node, int32_t *face_row)
{
    int nf = el->num_face_node, jump_row[4 * MOST_BLOCK_FACE_NODE];
    for (int i = 0; i < el->num_node; i++)
        row_node[i] = orders->node[i];
    for (int m = 0; m < nf; m++) {
        int second = face_turn[nf + m];
        jump_row[orders->face0[m]] = jump_row[nf + m] = m;
        jump_row[second] = jump_row[face_turn[second]] = m;
    }
    for (int i = 0; i < el->num_face * nf; i++)
        face_row[i] = el->face_node[i] | jump_row[i] << 16;
}

/* The nodes behind so many triples: of a triple all three, then those that stay where they are. word: as
 * cuda/dg/tensor_rows.h has it, with the places here of C^-1 and C^-2 of the node. */
static void pack_rest_nodes(const struct turns *t, const int *order, int triples, int node[REST],
                            int32_t word[REST])
{
    int num = 0;
    for (int triple = triples; triple < t->run; triple++)
        for (int r = 0; r < 3; r++, num++) {
            node[num] = order[r * t->run + triple];
            word[num] = node[num] | (num - r + (r + 2) % 3) << 16 | (num - r + (r + 1) % 3) << 24;
        }
    for (int kept = 0; kept < t->kept; kept++, num++) {
        node[num] = order[3 * t->run + kept];
        word[num] = node[num] | num << 16 | num << 24;
    }
}

/* D_1 and lifts in rows of the rest. */
static void pack_rest(const struct element *el, const struct orders *orders, const int *node, int scale,
                      int32_t *to)
{
    int np = el->num_node, nf = el->num_face_node;
    to = pack_eight(&(struct operand){el->derivative, node, orders->node, 1, np, scale}, to);
    to = pack_eight(&(struct operand){el->lift + (int64_t)np * nf, node, orders->face1, 1, nf, scale}, to);
    pack_eight(&(struct operand){el->lift, node, orders->face0, 1, nf, scale}, to);
}

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    (void)matrix;
    const struct dg *dg = dg_tables(s);
    const struct element *el = dg->space.element;
    int np = el->num_node, nf = el->num_face_node;
    /* takes the largest number of the operator to 2^14 and more */
    int scale = half_scale(fmax(largest(el->derivative, (int64_t)3 * np * np),
                                largest(el->lift, (int64_t)el->num_face * np * nf)));
    struct turns nodes = node_turns(s), faces = face_turns(dg);
    struct orders orders;
    int turn[MOST_BLOCK_NODE], face_turn[4 * MOST_BLOCK_FACE_NODE];
    TRY(blocks_turn(el, turn, face_turn));
    order_by_turn(&nodes, turn, orders.node);
    order_by_turn(&faces, face_turn, orders.face0);
    for (int m = 0; m < nf; m++)
        orders.face1[m] = m;
    table[0] = half_inverse(scale);
    pack_rows(el, &orders, face_turn, table + HEAD, table + HEAD + np);
    int triples = plan->part[ROWS], all = num_piece(3 * triples), first = num_piece(triples);
    bool has_eight = has_rest(s, triples);
    int32_t *to = table + operator_words(dg, has_eight);
    for (int tile = 0; tile < num_tile(s, triples); tile++) {
        /* r = 0, 1, 2 of all triples, and what fills the last piece; of face 0 the first are needed */
        int row[4 * MOST_TRIPLES];
        for (int i = 0; i < 4 * MOST_TRIPLES; i++) {
            int r = i / triples, orbit = triples * tile + i % triples, kept = orbit - nodes.run;
            row[i] = r > 2               ? -1
                     : kept < 0          ? orders.node[r * nodes.run + orbit]
                     : kept < nodes.kept ? orders.node[3 * nodes.run + kept]
                                         : -1;
        }
        to = pack_matrix(&(struct operand){el->derivative, row, orders.node, all, np, scale}, to);
        to = pack_matrix(&(struct operand){el->lift + (int64_t)np * nf, row, orders.face1, all, nf, scale},
                         to);
        to = pack_matrix(&(struct operand){el->lift, row, orders.face0, first, nf, scale}, to);
    }
    if (has_eight) {
        int rest_node[REST];
        pack_rest_nodes(&nodes, orders.node, triples, rest_node, table + rest_words(dg));
        pack_rest(el, &orders, rest_node, scale, to);
    }
    return UNDA_OK;
}

/* Where it was measured to be faster than fused and blocks (benchmarks/NOTES.md). */
static bool preferred(const unda_solver *s)
{
    const unda_solver_options *o = &s->options;
    if (o->precision != UNDA_FLOAT32 || dg_tables(s)->both_jumps)
        return false;
    /* at degree 9 float32's floor of elastic waves in fluids and of light is more than twice that of plain sums */
    int first = o->physics == UNDA_ELASTIC ? 4 : 3, last = o->physics == UNDA_ACOUSTIC ? 9 : 8;
    return o->degree >= first && o->degree <= last;
}

const struct dg_kernel dg_kernel_tensor = {.base = {"tensor",
                                                    NUM_PART,
                                                    {[ROWS] = {"rows", 8, 16, UNDA_TUNED_BY_HALF},
                                                     [LOTS] = {"lots", 1, 16, UNDA_TUNED_BOTH},
                                                     [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
                                                     [UNROLL] = {"unroll", 1, 64, UNDA_TUNED_NOT},
                                                     [AHEAD] = {"ahead", 1, 1 << 20, UNDA_TUNED_BY_HALF}}},
                                           .file = "dg/tensor.cu",
                                           .layout = &layout_nodes,
                                           .num_function = 1,
                                           .function = {"dg_tensor"},
                                           .work = {WORK_ALL},
                                           .capability = 80,
                                           .preferred = preferred,
                                           .table = table,
                                           .settle = settle,
                                           .define = define,
                                           .pack = pack};
