/* kernel_fused.c: kernel fused: one stage in one pass. Not here: the device code (cuda/dg/fused.cu).
 * Measurements: benchmarks/NOTES.md. */
#include "kernel.h"

#include <string.h>

enum { ROWS, COLS, TILE, BLOCKS, UNROLL_VOLUME, UNROLL_LIFT, RESIDENT, NUM_PART };

/* By physics, precision and degree; measured on an H200 (degree 9: after degree 8). */
static const int tiles[][2][MAX_DEGREE + 1][NUM_PART] = {
    [UNDA_ACOUSTIC][UNDA_FLOAT32] = {[1] = {2, 1, 32, 16, 4, 3},
                                     [2] = {5, 1, 32, 8, 8, 6},
                                     [3] = {5, 2, 64, 4, 4, 5},
                                     [4] = {2, 2, 16, 3, 4, 5},
                                     [5] = {4, 2, 16, 1, 4, 7},
                                     [6] = {7, 2, 32, 2, 6, 14},
                                     [7] = {4, 4, 8, 1, 10, 12},
                                     [8] = {4, 4, 8, 4, 11, 9},
                                     [9] = {4, 4, 8, 3, 11, 11}},
    [UNDA_ACOUSTIC][UNDA_FLOAT64] = {[1] = {1, 1, 32, 8, 4, 3},
                                     [2] = {5, 1, 32, 4, 4, 6},
                                     [3] = {5, 1, 32, 4, 4, 5},
                                     [4] = {5, 2, 16, 2, 4, 5},
                                     [5] = {4, 2, 16, 1, 8, 7},
                                     [6] = {3, 2, 8, 1, 6, 7},
                                     [7] = {4, 2, 8, 1, 6, 6},
                                     [8] = {3, 2, 4, 1, 8, 9},
                                     [9] = {3, 2, 4, 1, 8, 11}},
    [UNDA_ELASTIC][UNDA_FLOAT32] = {[1] = {1, 1, 32, 6, 4, 3},
                                    [2] = {2, 1, 32, 4, 2, 6},
                                    [3] = {2, 1, 16, 4, 4, 6},
                                    [4] = {2, 2, 16, 3, 4, 6},
                                    [5] = {1, 4, 8, 4, 4, 6},
                                    [6] = {2, 2, 4, 5, 4, 6},
                                    [7] = {2, 2, 4, 4, 4, 6},
                                    [8] = {3, 2, 4, 3, 4, 6},
                                    [9] = {3, 2, 4, 3, 4, 6}},
    [UNDA_ELASTIC][UNDA_FLOAT64] =
        {[1] = {1, 1, 16, 10, 4, 3},
         [2] = {1, 2, 16, 5, 4, 6},
         [3] = {1, 2, 16, 3, 4, 6},
         [4] = {1, 2, 4, 5, 4, 6},
         [5] = {1, 2, 4, 4, 4, 6},
         [6] = {3, 1, 4, 3, 4, 6},
         [7] = {2, 2, 4, 2, 4, 6},
         [8] = {2, 2, 8, 1, 4, 6},
         [9] = {2, 2, 4, 1, 4, 6}},
    [UNDA_MAXWELL][UNDA_FLOAT32] =
        {[1] = {2, 1, 32, 12, 4, 3},
         [2] = {1, 2, 32, 5, 4, 6},
         [3] = {2, 2, 32, 4, 4, 6},
         [4] = {1, 4, 8, 7, 4, 6},
         [5] = {1, 4, 8, 5, 4, 6},
         [6] = {1, 4, 8, 3, 4, 6},
         [7] = {1, 4, 4, 5, 4, 6},
         [8] = {4, 2, 4, 5, 4, 6},
         [9] = {4, 2, 4, 4, 4, 6}},
    [UNDA_MAXWELL][UNDA_FLOAT64] =
        {[1] = {1, 2, 32, 10, 4, 3},
         [2] = {1, 2, 32, 4, 4, 6},
         [3] = {2, 2, 16, 5, 4, 6},
         [4] = {1, 2, 4, 7, 4, 6},
         [5] = {1, 2, 4, 5, 4, 6},
         [6] = {2, 2, 4, 4, 4, 6},
         [7] = {2, 2, 4, 3, 4, 6},
         [8] = {2, 2, 4, 2, 4, 6},
         [9] = {2, 2, 4, 2, 4, 6}},
};

_Static_assert(sizeof tiles / sizeof *tiles == NUM_PHYSICS, "tiles of each physics");

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    const unda_solver_options *o = &s->options;
    memcpy(part, tiles[o->physics][o->precision][o->degree], sizeof tiles[0][0][0]);
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    const int *part = plan->part;
    if (part[TILE] % part[COLS])
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected a multiple of the %d a thread (cols)",
             part[TILE], part[COLS]);
    int64_t groups = (dg_tables(s)->space.num_node + part[ROWS] - 1) / part[ROWS];
    int64_t threads = groups * (part[TILE] / part[COLS]);
    if (threads > 1024)
        FAIL(UNDA_ERR_ARG, "rows %d, cols %d and tile %d make %lld threads a block, expected at most 1024",
             part[ROWS], part[COLS], part[TILE], (long long)threads);
    plan->tile = part[TILE];
    plan->rows = part[ROWS];
    plan->threads = (int)threads;
    plan->shared_bytes = plan_tile_bytes(s, plan, part[COLS]);
    plan_count_rows(s, plan);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    (void)s;
    gpu_define(defines, "ROWS=%d", plan->part[ROWS]);
    gpu_define(defines, "COLS=%d", plan->part[COLS]);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->part[BLOCKS]);
    gpu_define(defines, "UNROLL_VOLUME=%d", plan->part[UNROLL_VOLUME]);
    gpu_define(defines, "UNROLL_LIFT=%d", plan->part[UNROLL_LIFT]);
}

const struct dg_kernel dg_kernel_fused = {
    .base = {"fused",
             NUM_PART,
             {[ROWS] = {"rows", 1, 1024, UNDA_TUNED_BY_ONE},
              [COLS] = {"cols", 1, 1024, UNDA_TUNED_BY_HALF},
              [TILE] = {"tile", 1, 1024, UNDA_TUNED_BY_HALF},
              [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},
              [UNROLL_VOLUME] = {"unroll_volume", 1, 1024, UNDA_TUNED_NOT},
              [UNROLL_LIFT] = {"unroll_lift", 1, 1024, UNDA_TUNED_NOT},
              [RESIDENT] = {"resident", 1, 65535, UNDA_TUNED_NOT}}},
    .file = "dg/fused.cu",
    .layout = &layout_nodes,
    .num_function = 1,
    .function = {"dg_fused"},
    .work = {WORK_ALL},
    .table = table,
    .settle = settle,
    .define = define,
    .pack = plan_pack_rows};
