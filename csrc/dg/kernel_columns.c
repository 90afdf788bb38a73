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
    static const struct pitch table[] = {{2, 5, 12},   {3, 9, 27},   {4, 19, 80},   {5, 25, 125},   {6, 37, 228},
                                         {7, 52, 369}, {9, 72, 576}, {9, 81, 753}, {10, 103, 1028}, {11, 121, 1337}};
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

/* Registers that a thread needs to keep its values in them. */
static int registers(const unda_solver *s)
{
    return s->real_bytes == 4 ? 128 : 255;
}

/* Elements a block: those that fill four warps best, or eight. */
static int best_tile(const unda_solver *s)
{
    static const int table[] = {32, 14, 8, 5, 7, 5, 2, 3, 3, 2};
    int tile = table[s->options.degree - 1];
    while (tile > 1 && tile_bytes(s, tile, false) > MOST_BYTES)
        tile--;
    return tile;
}

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const struct dg *dg = dg_tables(s);
    int tile = part[TILE] = best_tile(s), threads = threads_of(s, tile);
    int by_registers = 65536 / registers(s) / threads,
        by_memory = MOST_BYTES / (tile_bytes(s, tile, has_frames(s, tile)) + 1024);
    int blocks = by_registers < by_memory ? by_registers : by_memory;
    part[BLOCKS] = blocks > 0 ? blocks : 1;
    part[AHEAD] = dg->metric_kind != UNDA_METRIC_STORED ? NUM_SM * part[BLOCKS] : 1;
    part[METRIC] = dg->metric_kind;
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
    const struct physics *physics = dg_tables(s)->physics;
    int words = physics->num_field * s->real_bytes / 4, n = s->options.degree + 1;
    plan_define_lines(s, defines);
    gpu_define(defines, "SHARED_FRAMES=%d", has_frames(s, plan->tile));
    gpu_define(defines, "PITCH_ROW=%d", pitch(s).row);
    gpu_define(defines, "PITCH_PLANE=%d", pitch(s).plane);
    gpu_define(defines, "PITCH_ELEM=%d", pitch(s).elem);
    gpu_define(defines, "BATCH=%d", words <= 4 ? 4 : words <= 6 ? 3 : 2);
    gpu_define(defines, "KEEP_STATE=%d", words * n <= 36);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "AHEAD=%d", plan->part[AHEAD]);
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
    .table = table,
    .settle = settle,
    .define = define};
