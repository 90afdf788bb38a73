/* kernel_base.c: kernels base, f1 and f1s: one stage on hexahedra as in Hanindhito et al. (2022), a block an element
 * and a thread a node; three functions a stage, then two, then two with launch bounds and shared memory. Not here:
 * the device code (cuda/dg/base.cu, f1.cu). */
#include "kernel.h"

enum { TILE, METRIC, BLOCKS };

/* Threads of a block, at most: each may have 128 registers. */
enum { MOST_THREADS = 512 };

/* An element a block, of the lowest degrees as many as make two warps of face nodes or four of nodes. */
static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    int num_node = dg_tables(s)->space.num_node;
    part[TILE] = num_node < 128 ? 128 / num_node : 1;
    part[METRIC] = dg_tables(s)->metric_kind;
}

/* Threads for so many items, in whole warps and as few turns as can be. */
static int threads_for(int items)
{
    int turns = (items + MOST_THREADS - 1) / MOST_THREADS;
    return ((items + turns - 1) / turns + 31) / 32 * 32;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    plan->tile = plan->part[TILE];
    plan->threads = threads_for(dg_tables(s)->space.num_node * plan->tile);
    return UNDA_OK;
}

static void define_lines(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    plan_define_lines(s, defines);
    gpu_define(defines, "THREADS=%d", plan->threads);
}

/* ---- base ---- */

static unda_status settle_base(const unda_solver *s, struct plan *plan)
{
    TRY(settle(s, plan));
    plan->own[1] =
        (struct block_shape){.threads = threads_for(dg_tables(s)->space.num_face_node * plan->tile)};
    return UNDA_OK;
}

static void define_base(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    define_lines(s, plan, defines);
    gpu_define(defines, "FLUX_THREADS=%d", plan->own[1].threads);
}

/* ---- f1 ---- */

static void define_f1(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    define_lines(s, plan, defines);
    gpu_define(defines, "SHARED_PARTS=%d", plan->shared_bytes > 0);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->kernel->base.num_part > BLOCKS ? plan->part[BLOCKS] : 1);
}

/* ---- f1s ---- */

/* So many blocks on an SM that a thread has the registers that it about needs, to the nearest. */
static void table_f1s(const unda_solver *s, int part[UNDA_MAX_PART])
{
    static const int need[][2] = {
        [UNDA_ACOUSTIC] = {64, 88}, [UNDA_ELASTIC] = {80, 128}, [UNDA_MAXWELL] = {72, 128}};
    _Static_assert(sizeof need / sizeof *need == NUM_PHYSICS, "registers of each physics");
    table(s, part);
    int threads = threads_for(dg_tables(s)->space.num_node * part[TILE]);
    int registers = threads * need[s->options.physics][s->options.precision];
    part[BLOCKS] = (65536 + registers / 2) / registers;
}

static unda_status settle_f1s(const unda_solver *s, struct plan *plan)
{
    enum { MOST_BYTES = 227 << 10 }; /* of a block on an H200 */
    TRY(settle(s, plan));
    int elem_bytes = (int)dg_num_value(s) * s->real_bytes;
    if (plan->tile > MOST_BYTES / elem_bytes)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected 1..%d: they share %d KB of memory",
             plan->tile, MOST_BYTES / elem_bytes, MOST_BYTES >> 10);
    plan->shared_bytes = plan->tile * elem_bytes;
    plan->own[1] = (struct block_shape){.threads = plan->threads};
    return UNDA_OK;
}

const struct dg_kernel dg_kernel_base = {
    .base = {"base",
             2,
             {[TILE] = {"tile", 1, 64, UNDA_TUNED_NOT},
              [METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT}},
             UNDA_HEX,
             true},
    .file = "dg/base.cu",
    .layout = &layout_nodes,
    .num_function = 3,
    .function = {"dg_volume", "dg_flux", "dg_integration"},
    .work = {WORK_VOLUME, WORK_FLUX, WORK_UPDATE},
    .has_rhs = true,
    .table = table,
    .settle = settle_base,
    .define = define_base};
const struct dg_kernel dg_kernel_f1 = {
    .base = {"f1",
             2,
             {[TILE] = {"tile", 1, 64, UNDA_TUNED_NOT},
              [METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT}},
             UNDA_HEX,
             true},
    .file = "dg/f1.cu",
    .layout = &layout_nodes,
    .num_function = 2,
    .function = {"dg_volume_flux", "dg_integration"},
    .work = {WORK_VOLUME | WORK_FLUX, WORK_UPDATE},
    .has_rhs = true,
    .table = table,
    .settle = settle,
    .define = define_f1};
const struct dg_kernel dg_kernel_f1s = {
    .base = {"f1s",
             3,
             {[TILE] = {"tile", 1, 64, UNDA_TUNED_NOT},
              [METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT},
              [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_NOT}},
             UNDA_HEX,
             true},
    .file = "dg/f1.cu",
    .layout = &layout_nodes,
    .num_function = 2,
    .function = {"dg_volume_flux", "dg_integration"},
    .work = {WORK_VOLUME | WORK_FLUX, WORK_UPDATE},
    .has_rhs = true,
    .table = table_f1s,
    .settle = settle_f1s,
    .define = define_f1};
