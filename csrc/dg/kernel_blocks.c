/* kernel_blocks.c: kernel blocks: one stage in one pass, the products as the four blocks of blocks.h; its sizes and
 * their choice. Not here: the blocks (blocks.c), their order in memory (kernel_blocks_pack.c), the device code
 * (cuda/dg/blocks.cu). Measurements: benchmarks/NOTES.md. */
#include "kernel_blocks.h"

#include <string.h>

enum { ROWS, COLS, TILE, BLOCKS, UNROLL, MATRIX, TURNS, AHEAD, PRODUCTS, NUM_PART };

/* Values of part matrix: where the products read the blocks' entries. */
enum { THROUGH_CACHES = 1, IN_SHARED };
/* Values of part products: by whom. Tensor cores multiply eight columns at once; in float64 eight rows and four inputs, in
 * float32, as pairs of FP16 numbers, sixteen of each. */
enum { BY_THREADS = 1, ON_TENSOR_CORES };
enum { SPLIT_CAPABILITY = 80 };

/* Chunks of two columns a direction: cuda/dg/block_columns.h. */
static int num_chunk(const unda_solver *s)
{
    int pairs = dg_tables(s)->physics->grad_div;
    return pairs ? pairs : 2;
}

/* Columns of a direction that are taken at a time. */
static int num_column(const unda_solver *s, const struct plan *plan)
{
    return 2 * num_chunk(s) / plan->part[TURNS];
}

struct block_rows blocks_rows(const unda_solver *s, const struct plan *plan)
{
    int rows = plan->rows;
    struct block_rows at = {.sizes = blocks_sizes(s->options.degree),
                            .pitch = DIRECTIONS * num_column(s, plan) * plan->tile + 4};
    for (int i = 0; i < NUM_BLOCK; i++) {
        int block = blocks_order[i];
        at.node[block] = at.num_node;
        at.face[block] = at.num_face;
        at.result[block] = at.tiles * rows;
        at.num_node += at.sizes.nodes[block ^ 1];
        at.num_face += at.sizes.faces[block];
        at.tiles += (at.sizes.nodes[block] + rows - 1) / rows;
    }
    at.num_result = at.tiles * rows;
    return at;
}

bool blocks_on_tensor_cores(const struct plan *plan)
{
    return plan->part[PRODUCTS] == ON_TENSOR_CORES;
}

bool blocks_split(const unda_solver *s, const struct plan *plan)
{
    return blocks_on_tensor_cores(plan) && s->options.precision == UNDA_FLOAT32;
}

/* Rows and inputs of a step there. */
static int unit_rows(const unda_solver *s)
{
    return s->options.precision == UNDA_FLOAT32 ? 16 : 8;
}
int blocks_unit_inputs(const unda_solver *s)
{
    return s->options.precision == UNDA_FLOAT32 ? 16 : 4;
}

/* Inputs of a block there, whole steps; in float32 those of nodes and those of faces are apart. */
static int num_input(const unda_solver *s, const struct block_sizes *sizes, int block)
{
    int depth = blocks_unit_inputs(s), nodes = sizes->nodes[block ^ 1], faces = sizes->faces[block];
    return s->options.precision == UNDA_FLOAT32
               ? blocks_round_up(nodes, depth) + blocks_round_up(faces, depth)
               : blocks_round_up(nodes + faces, depth);
}

int blocks_warp_entries(const unda_solver *s, const struct block_sizes *sizes, int rows)
{
    int inputs = 0;
    for (int block = 0; block < NUM_BLOCK; block++)
        inputs += num_input(s, sizes, block);
    return inputs * rows;
}

/* Tiles of rows that warps or threads take: of each block, or on tensor cores of orbits. */
static int num_tile(const struct plan *plan, const struct block_rows *at)
{
    return blocks_on_tensor_cores(plan) ? blocks_round_up(at->sizes.nodes[0], plan->rows) / plan->rows
                                        : at->tiles;
}

static int64_t count_entries(const unda_solver *s, const struct plan *plan, const struct block_rows *at)
{
    /* the last column asks for one more, the last step for two */
    if (blocks_on_tensor_cores(plan))
        return num_tile(plan, at) * blocks_warp_entries(s, &at->sizes, plan->rows) +
               2 * blocks_unit_inputs(s) * plan->rows;
    int count = plan->rows;
    for (int block = 0; block < NUM_BLOCK; block++)
        count += blocks_round_up(at->sizes.nodes[block], plan->rows) * block_columns(&at->sizes, block);
    return blocks_round_up(count, 4); /* whole vectors */
}

/* Threads that the products of a tile of rows take. */
static int threads_of_rows(const unda_solver *s, const struct plan *plan)
{
    int columns = num_column(s, plan) * plan->tile;
    if (blocks_on_tensor_cores(plan))
        return WARP * (DIRECTIONS * columns / UNIT / plan->part[COLS]);
    return columns / plan->part[COLS];
}

/* Elements beside each other that are summed at once: 16 bytes, where the tile has them. */
static int run_of(const unda_solver *s, int tile)
{
    int run = 16 / s->real_bytes;
    while (tile % run)
        run /= 2;
    return run;
}

/* A pitch that lets rows of four words stand in different banks (cuda/dg/block_sizes.h). */
static int odd_quads(int words)
{
    return words / 4 % 2 ? words : words + 4;
}

/* Words that the sums of jumps have more than the state, whose place they take. */
static int missing_room(const unda_solver *s, const struct plan *plan, const struct block_rows *at)
{
    const struct physics *p = dg_tables(s)->physics;
    int words = p->num_ref * plan->tile;
    int pitch =
        blocks_split(s, plan) ? odd_quads(words) : words + plan_tile_pad(s, plan, run_of(s, plan->tile));
    return at->num_face * at->pitch - at->num_node * pitch;
}

/* As pairs of FP16 numbers: struct tile of cuda/dg/tile.h with the sizes that decide their scales. */
static int split_tile_bytes(const unda_solver *s, const struct plan *plan)
{
    enum { MOST_GROUP = 8 };
    const struct dg *dg = dg_tables(s);
    const struct physics *p = dg->physics;
    int tile = plan->tile, unit = tile == 4 ? 8 : 4, faces = dg->space.num_face,
        nodes = dg->space.num_face_node;
    int most = blocks_round_up(nodes, unit), lanes = plan->threads / tile,
        jumps = p->num_jump[dg->both_jumps];
    lanes = (lanes < most ? lanes : most) / unit * unit;
    int slots = lanes / (lanes % MOST_GROUP == 0 ? MOST_GROUP : unit),
        kinds = p->grad_div ? 2 * p->grad_div : 2;
    int state = dg->space.num_node * odd_quads(p->num_ref * tile) + plan->tile_room,
        jump = faces * nodes * odd_quads(jumps * tile);
    return 4 * (blocks_round_up(state, 4) + jump +
                tile * (faces * p->num_lift_coef + (kinds + faces * jumps) * slots + kinds +
                        DIRECTIONS * num_column(s, plan)));
}

/* Threads of a block and its memory; tile and rows are known. */
static void size(const unda_solver *s, struct plan *plan)
{
    struct block_rows at = blocks_rows(s, plan);
    int work = blocks_round_up(num_tile(plan, &at) * threads_of_rows(s, plan), WARP);
    plan->threads = blocks_round_up(work, plan->tile);
    bool split = blocks_split(s, plan);
    /* The sums of jumps take the place of the state where a single turn has read it by then (block_rows.h). */
    int room = missing_room(s, plan, &at);
    plan->tile_room = room > 0 && blocks_on_tensor_cores(plan) && plan->part[TURNS] == 1 ? room : 0;
    bool apart = plan->part[TURNS] > 1 || room > plan->tile_room;
    int inputs = at.num_node + (apart ? at.num_face : 0);
    int results = blocks_on_tensor_cores(plan) ? at.num_node : at.num_result;
    int rows = inputs > results ? inputs : results;
    int orbit_words = ORBIT_WORDS * (at.sizes.nodes[0] + at.sizes.faces[0]);
    plan->shared_bytes =
        rows * at.pitch * s->real_bytes + (split ? split_tile_bytes(s, plan) + 4 * orbit_words
                                                 : plan_tile_bytes(s, plan, run_of(s, plan->tile)));
    int64_t entries = count_entries(s, plan, &at);
    if (plan->part[MATRIX] == IN_SHARED)
        plan->shared_bytes += (int)entries * s->real_bytes;
    plan->num_matrix = split ? 0 : entries;
    plan->num_table = orbit_words + (split ? HEAD + entries : NODE_WORDS * at.num_node);
}

/* Bytes that a block can have on an H200; and has by default. */
enum { MOST_SHARED = 227 << 10, USUAL_SHARED = 160 << 10 };

/* Blocks that shared memory lets an SM of an H200 run at once. */
static int blocks_by_memory(const struct plan *plan)
{
    enum { SM_SHARED = 228 << 10, BLOCK_EXTRA = 1 << 10 };
    return SM_SHARED / (plan->shared_bytes + BLOCK_EXTRA);
}

/* Blocks that an H200 runs at once, as far as shared memory and threads decide. */
static int blocks_at_once(const struct plan *plan)
{
    enum { NUM_SM = 132, SM_THREADS = 2048 };
    int by_memory = blocks_by_memory(plan), by_threads = SM_THREADS / plan->threads;
    return NUM_SM * (by_memory < by_threads ? by_memory : by_threads);
}

/* Blocks an SM for which registers are left: never more than memory lets run, which would cost spills for nothing. */
static int least_blocks(const struct plan *plan)
{
    int room = blocks_by_memory(plan);
    return plan->part[BLOCKS] < room ? plan->part[BLOCKS] : room;
}

/* By physics, precision and degree; measured on an H100. */
static const int tiles[NUM_PHYSICS][2][MAX_DEGREE + 1][NUM_PART] = {
    [UNDA_ACOUSTIC][UNDA_FLOAT32] = {[3] = {8, 2, 32, 2, 2, THROUGH_CACHES, 1, 1, BY_THREADS},
                                     [4] = {8, 2, 16, 4, 4, IN_SHARED, 1, 1, BY_THREADS},
                                     [5] = {8, 2, 16, 1, 4, IN_SHARED, 1, 396, BY_THREADS},
                                     [6] = {8, 2, 8, 5, 2, THROUGH_CACHES, 1, 660, BY_THREADS},
                                     [7] = {8, 2, 8, 4, 4, THROUGH_CACHES, 1, 528, BY_THREADS},
                                     [8] = {8, 2, 8, 3, 2, THROUGH_CACHES, 1, 1, BY_THREADS}},
    [UNDA_ACOUSTIC][UNDA_FLOAT64] = {[3] = {8, 2, 8, 7, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [4] = {8, 3, 8, 5, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [5] = {8, 3, 4, 8, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [6] = {8, 3, 4, 5, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [7] = {8, 3, 4, 4, 4, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [8] = {8, 3, 4, 3, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                     [9] = {8, 3, 4, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES}},
    [UNDA_ELASTIC][UNDA_FLOAT64] = {[5] = {8, 3, 4, 3, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [6] = {8, 3, 4, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [7] = {8, 3, 4, 1, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [8] = {8, 3, 4, 1, 2, THROUGH_CACHES, 3, 1, ON_TENSOR_CORES},
                                    [9] = {8, 3, 4, 1, 2, THROUGH_CACHES, 3, 1, ON_TENSOR_CORES}},
    [UNDA_MAXWELL][UNDA_FLOAT64] = {[5] = {8, 6, 4, 4, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [6] = {8, 6, 4, 3, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [7] = {8, 3, 4, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                                    [8] = {8, 3, 4, 2, 2, THROUGH_CACHES, 2, 1, ON_TENSOR_CORES},
                                    [9] = {8, 3, 4, 1, 2, THROUGH_CACHES, 2, 1, ON_TENSOR_CORES}}};

/* In float32 on tensor cores, measured on an H100: where they are faster than by threads and than fused. Below degree 9
 * "auto" has taken kernel tensor before. */
static const int split_tiles[NUM_PHYSICS][MAX_DEGREE + 1][NUM_PART] = {
    [UNDA_ACOUSTIC] = {[9] = {16, 3, 8, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES}},
    [UNDA_ELASTIC] = {[7] = {16, 3, 4, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                      [8] = {32, 3, 4, 2, 1, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                      [9] = {16, 3, 4, 1, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES}},
    [UNDA_MAXWELL] = {[8] = {16, 3, 4, 3, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES},
                      [9] = {16, 3, 4, 2, 2, THROUGH_CACHES, 1, 1, ON_TENSOR_CORES}}};

/* What was not measured: eight rows in float32, four in float64, of as many elements a block as there is room for. */
static void usual_parts(const unda_solver *s, struct plan *plan)
{
    int *part = plan->part;
    part[ROWS] = plan->rows = s->real_bytes == 4 ? 8 : 4;
    part[COLS] = 2;
    part[BLOCKS] = 1;
    part[UNROLL] = 2;
    part[MATRIX] = THROUGH_CACHES;
    part[AHEAD] = 1;
    part[TILE] = plan->tile = 8;
    for (size(s, plan); plan->shared_bytes > USUAL_SHARED; size(s, plan))
        part[TILE] = plan->tile /= 2;
}

/* Threads that a block should not exceed where nothing was measured. */
enum { MOST_THREADS = 768 };
/* Threads of an SM that have 100 registers each, which products in float32 need. */
enum { MOST_HELD = 640 };

/* On tensor cores: four elements, the fewest that leave no lane idle. */
static void usual_tensor_parts(const unda_solver *s, struct plan *plan)
{
    int *part = plan->part;
    part[ROWS] = plan->rows = unit_rows(s);
    part[COLS] = 3;
    part[BLOCKS] = 1;
    part[UNROLL] = 2;
    part[MATRIX] = THROUGH_CACHES;
    part[AHEAD] = 1;
    part[TILE] = plan->tile = 4;
    size(s, plan);
    part[TURNS] = plan->shared_bytes > USUAL_SHARED ? num_chunk(s) : 1;
    for (size(s, plan); plan->threads > MOST_THREADS; size(s, plan))
        part[ROWS] = plan->rows += unit_rows(s);
}

/* In float32 eight, a strip of columns, where two blocks have room. */
static void usual_split_parts(const unda_solver *s, struct plan *plan)
{
    usual_tensor_parts(s, plan);
    struct plan wide = *plan;
    wide.part[TILE] = wide.tile = 8;
    size(s, &wide);
    if (2 * wide.shared_bytes <= MOST_SHARED && 2 * wide.threads <= MOST_HELD)
        *plan = wide;
    int room = MOST_SHARED / plan->shared_bytes, held = MOST_HELD / plan->threads, *part = plan->part;
    part[BLOCKS] = room < held ? room : held;
    part[BLOCKS] = part[BLOCKS] > 1 ? part[BLOCKS] : 1;
}

/* Whether a tile of plain arithmetic is asked for. */
static bool wants_threads(const unda_solver_options *o)
{
    return !kernel_part(o, "products") &&
           (kernel_part(o, "rows") || kernel_part(o, "cols") || kernel_part(o, "tile"));
}

/* Whether products in float32 on tensor cores are asked for: where they are the fastest, at degree 9, float32's floor is
 * more than twice that of plain sums (benchmarks/NOTES.md). */
static bool wants_split(const unda_solver *s)
{
    const unda_solver_options *o = &s->options;
    int capability = dg_tables(s)->capability;
    return o->precision == UNDA_FLOAT32 && (!capability || capability >= SPLIT_CAPABILITY) &&
           kernel_part(o, "products") == ON_TENSOR_CORES;
}

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const unda_solver_options *o = &s->options;
    int given = kernel_part(o, "products");
    int products = given ? given : plan_has_double_tensor_cores(s) ? ON_TENSOR_CORES : BY_THREADS;
    struct plan plan = {.part = {[TURNS] = 1, [PRODUCTS] = products}};
    bool split = products == ON_TENSOR_CORES && o->precision == UNDA_FLOAT32;
    const int *measured =
        split ? split_tiles[o->physics][o->degree] : tiles[o->physics][o->precision][o->degree];
    if (measured[PRODUCTS] == products)
        memcpy(plan.part, measured, sizeof tiles[0][0][0]);
    else if (products == ON_TENSOR_CORES && o->precision == UNDA_FLOAT32)
        usual_split_parts(s, &plan);
    else if (products == ON_TENSOR_CORES)
        usual_tensor_parts(s, &plan);
    else
        usual_parts(s, &plan);
    memcpy(part, plan.part, sizeof plan.part);
}

static unda_status check_tensor(const unda_solver *s, const struct plan *plan)
{
    const int *part = plan->part;
    int columns = DIRECTIONS * num_column(s, plan) * part[TILE];
    int rows = unit_rows(s), capability = dg_tables(s)->capability;
    if (s->options.precision == UNDA_FLOAT32 && capability && capability < SPLIT_CAPABILITY)
        FAIL(UNDA_ERR_ARG,
             "products is %d, in float32 on tensor cores, and needs a device of compute capability %d.%d, "
             "found "
             "%d.%d: take products %d",
             ON_TENSOR_CORES, SPLIT_CAPABILITY / 10, SPLIT_CAPABILITY % 10, capability / 10, capability % 10,
             BY_THREADS);
    if (part[ROWS] % rows || part[TILE] % 4 || WARP % part[TILE] || columns / UNIT % part[COLS])
        FAIL(UNDA_ERR_ARG,
             "rows is %d, tile %d and cols %d, expected rows a multiple of %d, tile 4, 8, 16 or 32, and cols "
             "a "
             "divisor of %d: tensor cores multiply %d rows and eight columns at once; or take products %d",
             part[ROWS], part[TILE], part[COLS], rows, columns / UNIT, rows, BY_THREADS);
    return UNDA_OK;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    const int *part = plan->part;
    if (blocks_on_tensor_cores(plan))
        TRY(check_tensor(s, plan));
    else if (part[TILE] % part[COLS] || part[COLS] > 4)
        FAIL(UNDA_ERR_ARG,
             "tile is %d elements a block, expected a multiple of the %d a thread (cols), at most 4",
             part[TILE], part[COLS]);
    if (num_chunk(s) % part[TURNS])
        FAIL(UNDA_ERR_ARG, "turns is %d, expected 1 or %d, in which the fields of %s can be taken",
             part[TURNS], num_chunk(s), dg_tables(s)->physics->name);
    plan->tile = part[TILE];
    plan->rows = part[ROWS];
    size(s, plan);
    if (blocks_split(s, plan) && plan->threads < 4 * plan->tile)
        FAIL(UNDA_ERR_ARG,
             "cols %d and tile %d make %d threads a block, expected four an element at least: take fewer "
             "cols or elements",
             part[COLS], part[TILE], plan->threads);
    if (plan->threads > 1024)
        FAIL(UNDA_ERR_ARG, "rows %d, cols %d and tile %d make %d threads a block, expected at most 1024",
             part[ROWS], part[COLS], part[TILE], plan->threads);
    if (plan->shared_bytes > MOST_SHARED)
        FAIL(UNDA_ERR_ARG,
             "tile %d needs %d KB of shared memory a block at degree %d, expected at most %d: take "
             "fewer elements",
             part[TILE], plan->shared_bytes >> 10, s->options.degree, MOST_SHARED >> 10);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    struct block_sizes sizes = blocks_sizes(s->options.degree);
    const int *n = sizes.nodes, *f = sizes.faces;
    gpu_define(defines, "ROWS=%d", plan->rows);
    gpu_define(defines, "COLS=%d", plan->part[COLS]);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", least_blocks(plan));
    gpu_define(defines, "UNROLL=%d", plan->part[UNROLL]);
    gpu_define(defines, "MATRIX_IN_SHARED=%d", plan->part[MATRIX] == IN_SHARED);
    gpu_define(defines, "ON_TENSOR_CORES=%d", blocks_on_tensor_cores(plan));
    gpu_define(defines, "SPLIT=%d", blocks_split(s, plan));
    gpu_define(defines, "NODE_SUMS=%d,%d,%d,%d", n[0], n[1], n[2], n[3]);
    gpu_define(defines, "FACE_SUMS=%d,%d,%d,%d", f[0], f[1], f[2], f[3]);
    gpu_define(defines, "TILE_ROOM=%d", plan->tile_room);
    gpu_define(defines, "TURNS=%d", plan->part[TURNS]);
    gpu_define(defines, "AHEAD=%d", plan->part[AHEAD]);
    gpu_define(defines, "WAVE=%d", blocks_at_once(plan));
    gpu_define(defines, "RUN=%d", run_of(s, plan->tile));
}

/* Where it was measured to be faster than fused (benchmarks/NOTES.md). */
static bool preferred(const unda_solver *s)
{
    const unda_solver_options *o = &s->options;
    bool lsrk = o->integrator == UNDA_LSRK4;
    const int first[] = {[UNDA_ACOUSTIC] = 4, [UNDA_ELASTIC] = lsrk ? 5 : 6, [UNDA_MAXWELL] = 6};
    if (wants_split(s))
        return true;
    if (dg_tables(s)->both_jumps)
        return false;
    if (o->precision == UNDA_FLOAT64)
        return plan_has_double_tensor_cores(s) && !wants_threads(o) && o->degree >= first[o->physics];
    return o->physics == UNDA_ACOUSTIC && lsrk && o->degree >= 5 && o->degree <= 8;
}

const struct dg_kernel dg_kernel_blocks = {
    .base = {"blocks",
             NUM_PART,
             {[ROWS] = {"rows", 1, 64, UNDA_TUNED_BY_ONE},
              [COLS] = {"cols", 1, 36, UNDA_TUNED_BY_HALF},
              [TILE] = {"tile", 1, 32, UNDA_TUNED_BY_HALF},
              [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
              [UNROLL] = {"unroll", 1, 64, UNDA_TUNED_NOT},
              [MATRIX] = {"matrix", THROUGH_CACHES, IN_SHARED, UNDA_TUNED_BY_ONE},
              [TURNS] = {"turns", 1, 3, UNDA_TUNED_NOT},
              [AHEAD] = {"ahead", 1, 1 << 20, UNDA_TUNED_BY_HALF},
              [PRODUCTS] = {"products", BY_THREADS, ON_TENSOR_CORES, UNDA_TUNED_NOT}}},
    .file = "dg/blocks.cu",
    .layout = &layout_nodes,
    .num_function = 1,
    .function = {"dg_blocks"},
    .work = {WORK_ALL},
    .preferred = preferred,
    .table = table,
    .settle = settle,
    .define = define,
    .pack = blocks_pack};
