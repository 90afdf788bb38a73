/* kernel_columns.c: kernel columns: one stage on hexahedra, along lines of nodes. Not here: the device code
 * (cuda/dg/columns.cu). */
#include "kernel.h"

#include "common/index.h"

enum { TILE, BLOCKS, AHEAD, METRIC, NUM_PART };

/* Of an H200: shared memory of a block, at most; multiprocessors. */
enum { MOST_BYTES = 227 << 10, NUM_SM = 132 };

/* Words of shared memory from a row of nodes, a plane and an element to the next one, by the number of nodes of a line:
 * so that few threads of a warp read the same bank, along each axis (benchmarks/NOTES.md). */
struct pitch {
    int row, plane, elem;
};

static struct pitch pitch(const unda_solver *s)
{
    static const struct pitch table[] = {{2, 5, 12},      {3, 9, 27},     {4, 19, 80},  {5, 25, 125},
                                         {6, 37, 228},    {7, 52, 369},   {9, 72, 576}, {9, 81, 753},
                                         {10, 103, 1028}, {11, 121, 1337}};
    return table[s->options.degree - 1];
}

/* Numbers of a block in struct tile of cuda/dg/column_tile.h: in slots of nodes, and of stored metrics all that faces
 * of axes 1 and 2 need or none: they are then read from memory. */
static int tile_bytes(const unda_solver *s, int tile, bool frames)
{
    const struct dg *dg = dg_tables(s);
    int grad_div = dg->physics->grad_div, slots = grad_div ? 5 * grad_div : 10;
    int metric = frames ? tile * 4 * dg->space.num_face_node * (grad_div ? 3 : 6) : 1;
    return (slots * tile * pitch(s).elem + metric) * s->real_bytes;
}

/* Whether the metric at faces has room in shared memory. */
static bool has_frames(const unda_solver *s, int tile)
{
    return dg_tables(s)->metric_kind == UNDA_METRIC_STORED && tile_bytes(s, tile, true) <= MOST_BYTES;
}

static int threads_of(const unda_solver *s, int tile)
{
    return (tile * dg_tables(s)->space.num_face_node + 31) / 32 * 32;
}

/* Words of a node's state. */
static int words(const unda_solver *s)
{
    return dg_tables(s)->physics->num_field * s->real_bytes / 4;
}

/* Elements a block: few that fill the warps of about 128 threads. */
static int best_tile(const unda_solver *s)
{
    static const int table[] = {32, 14, 8, 5, 3, 3, 2, 1, 1, 1};
    int tile = table[s->options.degree - 1];
    while (tile > 1 && tile_bytes(s, tile, false) > MOST_BYTES)
        tile--;
    return tile;
}

/* Warps on an SM. 12 leave a thread 168 registers, 16 leave it 128. Where the metric is computed more warps are
 * better; where a thread has few values, of low degrees, too (benchmarks/NOTES.md). */
static int most_warps(const unda_solver *s)
{
    static const int few[] = {20, 16, 24};
    const struct dg *dg = dg_tables(s);
    if (words(s) == 4 && dg->metric_kind == UNDA_METRIC_AFFINE)
        return s->options.degree <= 3 ? few[s->options.degree - 1] : 12;
    if (words(s) > 12)
        return 8;
    return words(s) <= 6 && dg->metric_kind != UNDA_METRIC_STORED ? 16 : 12;
}

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const struct dg *dg = dg_tables(s);
    int tile = part[TILE] = best_tile(s), warps = threads_of(s, tile) / 32;
    int by_registers = (most_warps(s) + warps / 2) / warps,
        by_memory = MOST_BYTES / (tile_bytes(s, tile, has_frames(s, tile)) + 1024);
    int blocks = by_registers < by_memory ? by_registers : by_memory;
    part[BLOCKS] = blocks > 0 ? blocks : 1;
    part[AHEAD] = dg->metric_kind != UNDA_METRIC_STORED ? NUM_SM * part[BLOCKS] : 1;
    part[METRIC] = dg->metric_kind;
}

/* Up to which degree it was measured to be faster than kernel lines, by metric and words of a node's state
 * (benchmarks/NOTES.md): of few fields, of computed metrics. Elsewhere, and with ab3, whose update reads more, it needs
 * more registers than it gains. */
static bool preferred(const unda_solver *s)
{
    static const int most[][10] = {[UNDA_METRIC_AFFINE] = {[4] = 10, [6] = 3, [8] = 4},
                                   [UNDA_METRIC_TRILINEAR] = {[4] = 10, [6] = 4, [8] = 10, [9] = 5},
                                   [UNDA_METRIC_STORED] = {[6] = 2}};
    int degree = s->options.degree, num = words(s);
    if (num > 9 || (s->options.integrator == UNDA_AB3 && degree > 3))
        return false;
    return degree <= most[dg_tables(s)->metric_kind][num];
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    plan->tile = plan->part[TILE];
    plan->threads = threads_of(s, plan->tile);
    plan->shared_bytes = tile_bytes(s, plan->tile, has_frames(s, plan->tile));
    if (plan->threads > 1024)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected 1..%d: each has %d threads, a block 1024",
             plan->tile, 1024 / dg_tables(s)->space.num_face_node, dg_tables(s)->space.num_face_node);
    int most = MOST_BYTES / (plan->shared_bytes / plan->tile);
    if (plan->shared_bytes > MOST_BYTES && most > 0)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected 1..%d: they share %d KB of memory",
             plan->tile, most, MOST_BYTES >> 10);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    int num = words(s);
    plan_define_lines(s, defines);
    gpu_define(defines, "SHARED_FRAMES=%d", has_frames(s, plan->tile));
    gpu_define(defines, "PITCH_ROW=%d", pitch(s).row);
    gpu_define(defines, "PITCH_PLANE=%d", pitch(s).plane);
    gpu_define(defines, "PITCH_ELEM=%d", pitch(s).elem);
    gpu_define(defines, "BATCH=%d", num <= 4 ? 4 : num <= 6 ? 3 : 2);
    gpu_define(defines, "KEEP_STATE=%d", num * (s->options.degree + 1) <= 36);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "AHEAD=%d", plan->part[AHEAD]);
    gpu_define(defines, "WAVE=%d", NUM_SM * plan->part[BLOCKS]);
}

const struct dg_kernel dg_kernel_columns = {
    .base = {"columns",
             NUM_PART,
             {[METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT},
              [TILE] = {"tile", 1, 1024, UNDA_TUNED_BY_HALF},
              [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
              [AHEAD] = {"ahead", 1, 1 << 20, UNDA_TUNED_BY_HALF}},
             UNDA_HEX},
    .file = "dg/columns.cu",
    .layout = &layout_nodes,
    .num_function = 1,
    .function = {"dg_columns"},
    .work = {WORK_ALL},
    .preferred = preferred,
    .table = table,
    .settle = settle,
    .define = define};
