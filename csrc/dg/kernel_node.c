/* kernel_node.c: kernel node: three functions per stage, one node per thread, as in Modave, St-Cyr &
 * Warburton (2016). Not here: the device code (cuda/dg/node.cu). */
#include "kernel.h"

/* Elements of a block, by degree. */
static const int tiles[MAX_DEGREE + 1] = {[1] = 32, 16, 8, 4, 4, 2, 2, 1, 1};

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    part[0] = tiles[s->options.degree];
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    int most = 1024 / dg_tables(s)->space.num_node;
    if (plan->part[0] > most)
        FAIL(UNDA_ERR_ARG, "tile is %d, expected 1..%d elements a block", plan->part[0], most);
    plan->tile = plan->part[0];
    plan->rows = 1;
    plan->threads = dg_tables(s)->space.num_node * plan->tile;
    plan->shared_bytes = plan_tile_bytes(s, plan, 1);
    plan_count_rows(s, plan);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    (void)s;
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "COLS=1");
}

const struct dg_kernel dg_kernel_node = {.base = {"node", 1, {{"tile", 1, 1024, UNDA_TUNED_NOT}}},
                                         .file = "dg/node.cu",
                                         .layout = &layout_nodes,
                                         .num_function = 3,
                                         .function = {"dg_volume", "dg_surface", "dg_update"},
                                         .work = {WORK_VOLUME, WORK_FLUX, WORK_UPDATE},
                                         .has_rhs = true,
                                         .table = table,
                                         .settle = settle,
                                         .define = define,
                                         .pack = plan_pack_rows};
