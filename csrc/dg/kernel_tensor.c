/* kernel_tensor.c: kernel tensor: one stage in one pass, the products on tensor cores, float32 as two FP16 numbers. Not
 * here: the device code (cuda/dg/tensor.cu). Measurements: benchmarks/NOTES.md. */
#include "kernel.h"

#include <math.h>
#include <string.h>

enum { ROWS, TILE, BLOCKS, UNROLL, NUM_PART };

/* Nodes of a tile of the operator, elements of a warp, lanes. */
enum { NODES = 8, ELEMENTS = 16, WARP = 32 };
/* As cuda/dg/tensor_products.h and tensor.cu have them: words before the operator, words between rows. */
enum { HEAD = 4, PAD = 4 };

/* Most that a block can have on compute capability 9. */
enum { MOST_SHARED = 227 << 10 };

static int round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Words of the operator for a tile of nodes. */
static int tile_words(const struct dg *dg)
{
    return NODES * (3 * round_up(dg->space.num_node, NODES) +
                    dg->space.num_face * round_up(dg->space.num_face_node, NODES));
}

/* Groups of `rows` tiles, each of one warp. */
static int num_group(const struct dg *dg, int rows)
{
    return (dg->space.num_node + NODES * rows - 1) / (NODES * rows);
}

/* struct tensor_tile of cuda/dg/tensor_split.h. */
static int tile_bytes(const struct dg *dg, int tile)
{
    const struct physics *p = dg->physics;
    int jumps = p->num_jump[dg->both_jumps],
        scales = (p->grad_div ? 2 * p->grad_div : 2) + dg->space.num_face * jumps;
    return 4 * (round_up(dg->space.num_node, NODES) * (p->num_ref * tile + PAD) +
                dg->space.num_face * (round_up(dg->space.num_face_node, NODES) * (jumps * tile + PAD) +
                                      p->num_lift_coef * tile) +
                scales * tile);
}

/* Registers of a thread that its sums, fragments and addresses need, by physics; a few spilled words are worth a block
 * more. */
static const int registers[] = {[UNDA_ACOUSTIC] = 80, [UNDA_ELASTIC] = 144, [UNDA_MAXWELL] = 112};
enum { SM_REGISTERS = 1 << 16, SM_SHARED = 228 << 10, SYSTEM_SHARED = 1 << 10 };

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const struct dg *dg = dg_tables(s);
    part[ROWS] = 1;
    while (num_group(dg, part[ROWS]) > 16)
        part[ROWS]++;
    part[TILE] = ELEMENTS;
    int need = registers[s->options.physics] * WARP * num_group(dg, part[ROWS]);
    int blocks = (SM_REGISTERS + need / 2) / need,
        room = SM_SHARED / (tile_bytes(dg, ELEMENTS) + SYSTEM_SHARED);
    blocks = blocks < room ? blocks : room;
    part[BLOCKS] = blocks > 1 ? blocks : 1;
    part[UNROLL] = 1;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    const int *part = plan->part;
    const struct dg *dg = dg_tables(s);
    if (s->options.precision != UNDA_FLOAT32)
        FAIL(UNDA_ERR_ARG,
             "kernel tensor computes in float32, found dtype float64: take kernel fused or blocks");
    if (part[TILE] != ELEMENTS && part[TILE] != 2 * ELEMENTS)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected %d or %d", part[TILE], ELEMENTS,
             2 * ELEMENTS);
    int groups = num_group(dg, part[ROWS]);
    plan->tile = part[TILE];
    plan->rows = part[ROWS];
    plan->threads = WARP * groups * (part[TILE] / ELEMENTS);
    plan->shared_bytes = tile_bytes(dg, plan->tile);
    plan->resident = part[BLOCKS];
    if (plan->threads > 1024)
        FAIL(UNDA_ERR_ARG, "rows %d and tile %d make %d threads a block, expected at most 1024", part[ROWS],
             part[TILE], plan->threads);
    if (plan->shared_bytes > MOST_SHARED)
        FAIL(UNDA_ERR_ARG,
             "kernel tensor needs %d KB of shared memory a block of %d elements of degree %d, expected at "
             "most %d: "
             "take %s",
             plan->shared_bytes >> 10, plan->tile, s->options.degree, MOST_SHARED >> 10,
             plan->tile > ELEMENTS ? "tile 16" : "kernel fused");
    plan->num_table = HEAD + (int64_t)groups * part[ROWS] * tile_words(dg);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    (void)s;
    gpu_define(defines, "ROWS=%d", plan->part[ROWS]);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "UNROLL=%d", plan->part[UNROLL]);
}

/* ---- packing ---- */

/* FP16 of x, |x| < 2^15, to the nearest; *value: what it is. */
static uint32_t half(double x, double *value)
{
    enum { BIAS = 15, PLACES = 10 };
    int exponent = 1 - BIAS; /* of subnormal numbers and zero */
    if (fabs(x) >= ldexp(1, exponent))
        exponent = ilogb(x);
    double places = nearbyint(ldexp(fabs(x), PLACES - exponent));
    *value = copysign(ldexp(places, exponent - PLACES), x);
    /* the leading one of a normal number adds one to the exponent */
    return ((uint32_t)(exponent + BIAS - 1) << PLACES) + (uint32_t)places + (signbit(x) ? 0x8000u : 0);
}

/* The exponent that takes the largest of num numbers to 2^14 and more. */
static int scale_of(const double *number, int64_t num)
{
    double most = 0;
    for (int64_t i = 0; i < num; i++)
        most = fmax(most, fabs(number[i]));
    return 14 - ilogb(most);
}

/* The inverse of such a scale, as the bits of a float. */
static int32_t inverse(int scale)
{
    float value = ldexpf(1, -scale);
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rows first .. first + 7 of a matrix [num_row][num], [step][lane][hi, lo]; the steps of `beside` matrices alternate,
 * and this one is number `which`. */
static void pack_tile(const double *matrix, int num_row, int num, int first, int scale, int beside, int which,
                      int32_t *to)
{
    for (int k0 = 0, depth; k0 < round_up(num, NODES); k0 += depth, to += beside * NODES * depth) {
        depth = round_up(num, NODES) - k0 < 16 ? 8 : 16;
        for (int lane = 0; lane < WARP; lane++) {
            /* column g of the product is node g / 2 or g / 2 + 4 of the tile */
            int g = lane / 4, row = first + g / 2 + g % 2 * 4;
            for (int pair = 0; pair < depth / 8; pair++) {
                uint32_t hi[2] = {0}, lo[2] = {0};
                for (int i = 0; i < 2; i++) {
                    int k = k0 + 8 * pair + lane % 4 * 2 + i;
                    double value, rest,
                        x = row < num_row && k < num ? ldexp(matrix[row * num + k], scale) : 0;
                    hi[i] = half(x, &value);
                    lo[i] = half(x - value, &rest);
                }
                int32_t *word = to + which * NODES * depth + lane * (depth / 4) + pair;
                word[0] = (int32_t)(hi[0] | hi[1] << 16);
                word[depth / 8] = (int32_t)(lo[0] | lo[1] << 16);
            }
        }
    }
}

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    (void)matrix;
    const struct dg *dg = dg_tables(s);
    const struct element *el = dg->space.element;
    int np = el->num_node, nf = el->num_face_node, tiles = num_group(dg, plan->rows) * plan->rows;
    int derivative = scale_of(el->derivative, (int64_t)3 * np * np),
        lift = scale_of(el->lift, (int64_t)el->num_face * np * nf);
    table[0] = inverse(derivative);
    table[1] = inverse(lift);
    for (int tile = 0; tile < tiles; tile++) {
        int32_t *to = table + HEAD + (int64_t)tile * tile_words(dg);
        for (int j = 0; j < 3; j++)
            pack_tile(el->derivative + (int64_t)j * np * np, np, np, NODES * tile, derivative, 3, j, to);
        to += 3 * NODES * round_up(np, NODES);
        for (int face = 0; face < el->num_face; face++, to += NODES * round_up(nf, NODES))
            pack_tile(el->lift + (int64_t)face * np * nf, np, nf, NODES * tile, lift, 1, 0, to);
    }
    return UNDA_OK;
}

const struct dg_kernel dg_kernel_tensor = {.base = {"tensor",
                                                    NUM_PART,
                                                    {[ROWS] = {"rows", 1, 28, UNDA_TUNED_BY_ONE},
                                                     [TILE] = {"tile", 16, 32, UNDA_TUNED_BY_HALF},
                                                     [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
                                                     [UNROLL] = {"unroll", 1, 16, UNDA_TUNED_NOT}},
                                                    .reference = true},
                                           .file = "dg/tensor.cu",
                                           .layout = &layout_nodes,
                                           .num_function = 1,
                                           .function = {"dg_tensor"},
                                           .work = {WORK_ALL},
                                           .capability = 80,
                                           .table = table,
                                           .settle = settle,
                                           .define = define,
                                           .pack = pack};
