/* kernel_lines.c: kernel lines: one stage on hexahedra, along lines of nodes. Not here: the device code
 * (cuda/dg/lines.cu). */
#include "kernel.h"

#include "common/index.h"

enum { TILE, THREADS, BLOCKS, AHEAD, METRIC, NUM_PART };

/* Of an H200: shared memory of a block, at most; multiprocessors. */
enum { MOST_BYTES = 227 << 10, NUM_SM = 132 };

/* Numbers of a block in struct tile of cuda/dg/line_tile.h: in slots of nodes, and of the metric; maps, of cells and
 * three vectors of each face, begin at a whole vector of four. Of stored metrics all that faces need or none: they
 * then read it from memory. */
static int tile_bytes(const unda_solver *s, int tile, bool frames)
{
    const struct dg *dg = dg_tables(s);
    int grad_div = dg->physics->grad_div, n = s->options.degree + 1;
    int elem = n * n * (n == 8 ? 9 : n) + (n == 4 ? 5 : 0);
    int slots = dg->physics->num_ref + (grad_div ? 3 * grad_div : 12);
    int metric = dg->metric_kind == UNDA_METRIC_AFFINE      ? tile * HEX_METRIC
                 : dg->metric_kind == UNDA_METRIC_TRILINEAR ? tile * (NUM_MAP + 6 * 12)
                 : frames                                   ? tile * 6 * n * n * (grad_div ? 3 : 6)
                                                            : 1;
    int values = slots * tile * elem;
    if (dg->metric_kind == UNDA_METRIC_TRILINEAR)
        values = (values + 3) / 4 * 4;
    return (values + metric) * s->real_bytes;
}

/* Whether the metric at faces has room in shared memory. */
static bool has_frames(const unda_solver *s, const struct plan *plan)
{
    return dg_tables(s)->metric_kind == UNDA_METRIC_STORED &&
           tile_bytes(s, plan->part[TILE], true) <= MOST_BYTES;
}

/* Registers that a thread needs to keep its values in them. Curls with a stored metric have more: four blocks of N = 7
 * would also leave L1 too little for what is read twice (benchmarks/NOTES.md). */
static int registers(const unda_solver *s)
{
    bool stored_curls = s->options.physics == UNDA_MAXWELL && dg_tables(s)->metric_kind == UNDA_METRIC_STORED;
    static const int need[][2] = {
        [UNDA_ACOUSTIC] = {64, 88}, [UNDA_ELASTIC] = {80, 168}, [UNDA_MAXWELL] = {72, 128}};
    _Static_assert(sizeof need / sizeof *need == NUM_PHYSICS, "registers of each physics");
    int more = stored_curls && s->options.precision == UNDA_FLOAT32 ? 8 : 0;
    return need[s->options.physics][s->options.precision] + more;
}

/* Blocks of so many threads on an SM, by their registers, to the nearest, and memory; warps come in fours. */
static int most_blocks(const unda_solver *s, int tile, int threads)
{
    int room = 65536 / (32 * registers(s)) / 4 * 4, warps = (threads + 31) / 32;
    int by_registers = (room + warps / 2) / warps,
        by_memory = MOST_BYTES / (tile_bytes(s, tile, true) + 1024);
    return by_registers < by_memory || by_memory == 0 ? by_registers : by_memory;
}

/* Threads that take so many nodes in so many turns; up to a quarter more where the lines then need a turn less. */
static int threads_for(int nodes, int turns, int lines)
{
    int threads = ((nodes + turns - 1) / turns + 31) / 32 * 32, line_turns = (lines + threads - 1) / threads;
    if (line_turns < 2)
        return threads;
    int more = ((lines + line_turns - 2) / (line_turns - 1) + 31) / 32 * 32;
    return 4 * more <= 5 * threads && more <= 1024 ? more : threads;
}

/* Whether two elements a block fill whole warps with the lines of each axis, which then take one turn, and a warp one
 * axis: of many fields and few nodes 3 to 5 % (benchmarks/NOTES.md). */
static bool has_whole_axes(const unda_solver *s)
{
    static const int most[] = {[UNDA_ACOUSTIC] = 0, [UNDA_ELASTIC] = 4, [UNDA_MAXWELL] = 3};
    _Static_assert(sizeof most / sizeof *most == NUM_PHYSICS, "degrees of each physics");
    int degree = s->options.degree;
    return s->options.precision == UNDA_FLOAT32 && degree >= 3 && degree <= most[s->options.physics];
}

/* About 256 nodes a block, or 128 where threads need many registers. A thread takes two nodes, more of the highest
 * degrees: while it waits for one the other is under way, which is worth 15 to 28 %. Acoustic waves on affine cells
 * have so few numbers a node that four are better, 4 to 10 % (benchmarks/NOTES.md). Where the state is most of what is
 * read, a block asks for that of the next one on its SM. */
static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const struct dg *dg = dg_tables(s);
    bool light = s->options.physics == UNDA_ACOUSTIC && s->options.precision == UNDA_FLOAT32;
    int num_node = dg->space.num_node, wanted = registers(s) > 80 ? 128 : 256;
    int tile = part[TILE] = num_node < wanted ? wanted / num_node : 1, nodes = num_node * tile;
    int turns = nodes <= 768 ? 2 : nodes <= 1024 ? 3 : 4;
    turns = light && dg->metric_kind == UNDA_METRIC_AFFINE ? 4 : turns;
    part[THREADS] = threads_for(nodes, turns, 3 * dg->space.num_face_node * tile);
    if (has_whole_axes(s)) {
        tile = part[TILE] = 2;
        part[THREADS] = 3 * ((dg->space.num_face_node * tile + 31) / 32 * 32);
    }
    int blocks = most_blocks(s, tile, part[THREADS]);
    part[BLOCKS] = blocks > 0 ? blocks : 1;
    part[AHEAD] = dg->metric_kind != UNDA_METRIC_STORED ? NUM_SM * part[BLOCKS] : 1;
    part[METRIC] = dg->metric_kind;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    plan->tile = plan->part[TILE];
    plan->threads = plan->part[THREADS];
    plan->shared_bytes = tile_bytes(s, plan->tile, has_frames(s, plan));
    int most = MOST_BYTES / (plan->shared_bytes / plan->tile);
    if (plan->shared_bytes > MOST_BYTES && most > 0)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected 1..%d: they share %d KB of memory",
             plan->tile, most, MOST_BYTES >> 10);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    plan_define_lines(s, defines);
    gpu_define(defines, "SHARED_FRAMES=%d", has_frames(s, plan));
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "AHEAD=%d", plan->part[AHEAD]);
    gpu_define(defines, "WAVE=%d", NUM_SM * plan->part[BLOCKS]);
}

const struct dg_kernel dg_kernel_lines = {
    .base = {"lines",
             NUM_PART,
             {[METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT},
              [TILE] = {"tile", 1, 1024, UNDA_TUNED_BY_HALF},
              [THREADS] = {"threads", 32, 1024, UNDA_TUNED_BY_HALF},
              [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
              [AHEAD] = {"ahead", 1, 1 << 20, UNDA_TUNED_BY_HALF}},
             UNDA_HEX},
    .file = "dg/lines.cu",
    .layout = &layout_nodes,
    .num_function = 1,
    .function = {"dg_lines"},
    .work = {WORK_ALL},
    .table = table,
    .settle = settle,
    .define = define};
