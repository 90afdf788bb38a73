/* kernel_element.c: kernel element: one element per thread, as in Modave, St-Cyr & Warburton (2016). Not here:
 * the device code (cuda/dg/element.cu). */
#include "kernel.h"

enum { ROWS, TILE, NUM_PART };

/* [block][node][field][32 elements], cuda/layout/elements.h. */
enum { BLOCK = 32 }; /* elements of cuda/layout/elements.h */

static int64_t place_view(const unda_solver *s, const struct plan *plan, int32_t field, unda_view *view)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t num_field = dg_tables(s)->physics->num_field;
    (void)plan;
    view_shape(view, (int64_t[3]){(space->num_owned + BLOCK - 1) / BLOCK, BLOCK, space->num_node},
               (int64_t[3]){BLOCK * num_field * space->num_node, 1, BLOCK * num_field});
    return BLOCK * field;
}

static const struct layout layout_elements = {"layout/elements.h", BLOCK, false, place_view};

static void size(const unda_solver *s, struct plan *plan)
{
    plan->rows = plan->part[ROWS];
    plan->tile = plan->threads = plan->part[TILE];
    plan->shared_bytes = plan_tile_bytes(s, plan, 1);
}

/* Rows: a thread has about 36 sums in registers. Elements: as many as let two blocks share an SM's memory. */
static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    enum { SUMS = 36, MOST_BYTES = 100 << 10 };
    const struct dg *dg = dg_tables(s);
    int rows = SUMS / dg->physics->num_ref * 4 / s->real_bytes;
    struct plan plan = {
        .part = {[ROWS] = rows < dg->space.num_node ? rows : dg->space.num_node, [TILE] = 128}};
    for (size(s, &plan); plan.shared_bytes > MOST_BYTES; size(s, &plan))
        plan.part[TILE] /= 2;
    part[ROWS] = plan.rows;
    part[TILE] = plan.tile;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    int num_node = dg_tables(s)->space.num_node;
    if (plan->part[ROWS] > num_node)
        FAIL(UNDA_ERR_ARG, "rows is %d, expected 1..%d nodes at a time", plan->part[ROWS], num_node);
    size(s, plan);
    plan_count_rows(s, plan);
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    (void)s;
    gpu_define(defines, "ROWS=%d", plan->rows);
}

const struct dg_kernel dg_kernel_element = {
    .base = {"element",
             NUM_PART,
             {[ROWS] = {"rows", 1, 1024, UNDA_TUNED_BY_ONE}, [TILE] = {"tile", 1, 1024, UNDA_TUNED_BY_HALF}}},
    .file = "dg/element.cu",
    .layout = &layout_elements,
    .num_function = 1,
    .function = {"dg_element"},
    .work = {WORK_ALL},
    .table = table,
    .settle = settle,
    .define = define,
    .pack = plan_pack_rows};
