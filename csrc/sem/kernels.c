/* kernels.c: the ways in which forces are summed at shared nodes, the sizes of their kernels, compilation. Not here:
 * the kernels (cuda/sem), launching (cuda.c). */
#include "cuda.h"

#include <stdio.h>
#include <string.h>

enum { CELLS, AXES, BLOCKS, AHEAD, METRIC, NUM_PART };
/* Of an H200: shared memory of a block, at most; multiprocessors. */
enum { MOST_BYTES = 227 << 10, NUM_SM = 132, MOST_CELLS = 64, FEW_ELEMENTS = 16384 };

#define KERNEL(title)                                                                                        \
    {title,                                                                                                  \
     NUM_PART,                                                                                               \
     {[CELLS] = {"cells", 1, MOST_CELLS, UNDA_TUNED_BY_HALF},                                                \
      [AXES] = {"axes", 1, 2, UNDA_TUNED_BY_ONE},                                                            \
      [BLOCKS] = {"blocks", 1, 32, UNDA_TUNED_BOTH},                                                         \
      [AHEAD] = {"ahead", 1, 1 << 20, UNDA_TUNED_BY_HALF},                                                   \
      [METRIC] = {"metric", UNDA_METRIC_AFFINE, UNDA_METRIC_STORED, UNDA_TUNED_NOT}},                        \
     UNDA_HEX,                                                                                               \
     0}
static const struct kernel in_order = KERNEL("ordered"), by_colors = KERNEL("colors"),
                           atomically = KERNEL("atomic");
/* The CPU engine accepts the same names: it always adds by colours. */
const struct kernel *const sem_kernels[] = {&in_order, &by_colors, &atomically, NULL};

/* Words of a tile's pattern that are kept, at most: lists, which are filled up by category, and of planes lines. */
static int list_words(const unda_solver *s, const struct sem_plan *plan)
{
    int n = s->options.degree + 1;
    return plan->cells * (2 * n * n * n + (plan->planes ? n * n * sem_line_words(n) : 0)) + 160;
}

/* struct tile of cuda/sem/tile.h, whose members begin at multiples of 16 bytes. */
static int tile_bytes(const unda_solver *s, const struct sem_plan *plan)
{
    int node = plan->dim * s->real_bytes, bytes = 0;
    if (plan->assembly == ATOMICALLY)
        return (plan->cells * plan->pitch.elem[0] * node + 15) / 16 * 16 +
               (plan->cells * plan->pitch.elem[1] * node + 15) / 16 * 16;
    int slots = plan->most_slot + 3, second = plan->planes ? 0 : plan->cells * plan->pitch.elem[1];
    const int part[] = {slots * node, (plan->cells * plan->pitch.elem[0] + 1) * node,
                        (second > slots ? second : slots) * node, 2 * list_words(s, plan)};
    for (int i = 0; i < 4; i++)
        bytes += (part[i] + 15) / 16 * 16;
    return bytes;
}

/* A thread's plane of nodes and the forces on them are in registers: beside them it needs about a hundred of 255, of
 * float64 fifty more. */
static bool holds_planes(const unda_solver *s, int dim)
{
    int n = s->options.degree + 1;
    return n <= 8 && 2 * n * n * dim * s->real_bytes / 4 <= (s->real_bytes == 4 ? 150 : 110);
}

/* Measured: a plane is faster in fluids whose elements are enough for all threads, else a column (benchmarks/NOTES.md). */
static unda_status choose_axes(const unda_solver *s, int region, struct sem_plan *plan)
{
    int given = kernel_part(&s->options, "axes");
    const int64_t num_elem = sem_tables(s)->region[region].num_elem;
    bool fits = holds_planes(s, plan->dim), any = num_elem > 0, many = num_elem > FEW_ELEMENTS;
    if (given == 2 && plan->assembly == ATOMICALLY && any)
        FAIL(UNDA_ERR_ARG, "axes is 2 and assembly is atomic, expected axes 1: there a thread owns a column");
    if (given == 2 && !fits && any)
        FAIL(
            UNDA_ERR_ARG,
            "axes is 2 at degree %d, expected 1: a plane of nodes of %d unknowns in float%d does not fit the "
            "registers of a thread",
            s->options.degree, plan->dim, 8 * s->real_bytes);
    plan->planes = plan->assembly != ATOMICALLY && fits && (given ? given == 2 : plan->dim == 1 && many);
    return UNDA_OK;
}

static int registers_of(const unda_solver *s, const struct sem_plan *plan)
{
    int n = s->options.degree + 1;
    if (plan->assembly == ATOMICALLY)
        return n > 5 ? (3 * n * plan->dim + 48) * s->real_bytes / 4 : s->real_bytes == 4 ? 72 : 128;
    if (!plan->planes)
        return s->real_bytes == 4 ? 64 : 128;
    int registers = 2 * n * n * plan->dim * s->real_bytes / 4 + 25 * s->real_bytes;
    return registers < 255 ? registers : 255;
}

/* What follows from the number of cells of a tile, whose nodes may all be different ones, and all inside. */
static void set_cells(const unda_solver *s, struct sem_plan *plan, int cells)
{
    int n = s->options.degree + 1, of_elem = plan->planes ? n : n * n;
    plan->cells = cells;
    plan->warp_cells = of_elem <= 32 && !plan->flat ? 32 / of_elem : 0;
    plan->threads = plan->warp_cells ? (cells + plan->warp_cells - 1) / plan->warp_cells * 32
                                     : (cells * of_elem + 31) / 32 * 32;
    plan->most_slot = cells * n * n * n;
    plan->most_inner = (plan->most_slot + 3) / 4 * 4;
    plan->shared_bytes = tile_bytes(s, plan);
}

/* Cells of so many columns of which the fewest lanes of a block's warps are idle. */
static int full_warps(int square)
{
    int best = 1, best_idle = 32;
    for (int cells = 1; cells * square <= 256; cells++) {
        int threads = (cells * square + 31) / 32 * 32, idle = (threads - cells * square) * 256 / threads;
        if (idle < best_idle || (idle == best_idle && threads <= 128)) {
            best = cells;
            best_idle = idle;
        }
    }
    return best;
}

/* Of planes what two warps work on. Of columns 2 x 2 x 2 cells, fewer where an SM would have room for fewer than three
 * blocks, of float64 two. */
static void choose_cells(const unda_solver *s, struct sem_plan *plan)
{
    int square = (s->options.degree + 1) * (s->options.degree + 1), given = kernel_part(&s->options, "cells");
    int blocks = s->real_bytes == 4 ? 3 : 2;
    if (plan->assembly == ATOMICALLY) {
        set_cells(s, plan, given ? given : full_warps(square));
        return;
    }
    set_cells(s, plan, given ? given : plan->planes ? 2 * (32 / (s->options.degree + 1)) : 8);
    while (!given && !plan->planes && plan->cells > 1 &&
           (plan->shared_bytes > MOST_BYTES / blocks || plan->cells * square > 512))
        set_cells(s, plan, plan->cells / 2);
}

static void choose_blocks(const unda_solver *s, struct sem_plan *plan)
{
    int by_memory = MOST_BYTES / (plan->shared_bytes + 1024),
        by_registers = 65536 / (registers_of(s, plan) * plan->threads);
    int usual = by_memory < by_registers ? by_memory : by_registers,
        given = kernel_part(&s->options, "blocks");
    plan->blocks = given ? given : usual > 0 ? usual : 1;
    plan->ahead = kernel_part(&s->options, "ahead");
    bool stored = sem_tables(s)->metric_kind == UNDA_METRIC_STORED;
    if (!plan->ahead) /* of a metric at nodes little else stays in L2 that long */
        plan->ahead = NUM_SM * (plan->assembly == ATOMICALLY && stored ? 1 : plan->blocks);
}

unda_status sem_plan_choose(const unda_solver *s, int region, struct sem_plan *plan)
{
    *plan = (struct sem_plan){.kernel = sem_kernels[0], .dim = region == SOLID ? 3 : 1};
    for (int i = 0; sem_kernels[i]; i++)
        if (kernel_is(&s->options, sem_kernels[i]->name)) {
            plan->kernel = sem_kernels[i];
            plan->assembly = i;
        }
    TRY(choose_axes(s, region, plan));
    plan->width = plan->assembly == ATOMICALLY && plan->dim == 3 ? 4 : plan->dim;
    plan->flat = plan->assembly == ATOMICALLY || (!plan->planes && s->options.degree == 4);
    plan->pitch =
        plan->flat ? sem_pitch_flat(s->options.degree + 1) : sem_pitch(s->options.degree + 1, plan->planes);
    choose_cells(s, plan);
    if (plan->threads > 1024 || plan->shared_bytes > MOST_BYTES)
        FAIL(UNDA_ERR_ARG,
             "cells is %d a tile, expected fewer: they take %d threads and %d KB of a block, which has 1024 "
             "and %d",
             plan->cells, plan->threads, plan->shared_bytes >> 10, MOST_BYTES >> 10);
    choose_blocks(s, plan);
    return UNDA_OK;
}

/* Tiles whose cells meet have fewer nodes. Filled up, so that meshes that differ a little have one kernel. */
void sem_plan_fit(const unda_solver *s, const struct sem_tiles *t, struct sem_plan *plan)
{
    int most_slot = 1, most_inner = 1; /* a part may have nodes without elements */
    if (plan->assembly == ATOMICALLY)
        return;
    for (int64_t i = 0; i < t->num_tile; i++) {
        int inner = (int)(t->first_inner[i + 1] - t->first_inner[i]),
            shared = (int)(t->first_entry[i + 1] - t->first_entry[i]);
        most_slot = inner + shared > most_slot ? inner + shared : most_slot;
        most_inner = inner > most_inner ? inner : most_inner;
    }
    most_slot = (most_slot + 31) / 32 * 32;
    most_inner = (most_inner + 31) / 32 * 32;
    plan->most_slot = most_slot < plan->most_slot ? most_slot : plan->most_slot;
    plan->most_inner = most_inner < plan->most_inner ? most_inner : plan->most_inner;
    plan->shared_bytes = tile_bytes(s, plan);
    choose_blocks(s, plan);
}

/* ---- compiling ---- */

static void define_list(struct gpu_defines *defines, const char *name, const double *value, int num)
{
    char list[4096];
    for (int i = 0, used = 0; i < num; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, i ? ",%.17g" : "%.17g", value[i]);
    gpu_define(defines, "%s=%s", name, list);
}

static void define_rows(struct gpu_defines *defines, const struct sem_plan *plan, int n)
{
    int row[1024];
    char list[8192];
    sem_spread_rows(&plan->pitch, n, plan->cells, row);
    for (int i = 0, used = 0; i < plan->cells * n * n; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, i ? ",%d" : "%d", row[i]);
    gpu_define(defines, "ROW_ORDER=%s", list);
}

static struct gpu_source region_source(const unda_solver *s, const struct sem_plan *plan, int region,
                                       int num_category, struct gpu_defines *defines)
{
    const struct sem *sem = sem_tables(s);
    const struct element *el = sem->space.element;
    int n = el->degree + 1;
    gpu_define(defines, "REAL=%s", s->real_bytes == 4 ? "float" : "double");
    gpu_define(defines, "DEGREE=%d", el->degree);
    gpu_define(defines, "DIM=%d", sem->region[region].dim);
    gpu_define(defines, "CELLS=%d", plan->cells);
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "MIN_BLOCKS=%d", plan->blocks);
    gpu_define(defines, "SHARED_BYTES=%d", plan->shared_bytes);
    gpu_define(defines, "WARP_CELLS=%d", plan->warp_cells);
    gpu_define(defines, "PLANES=%d", plan->planes);
    gpu_define(defines, "MOST_SLOT=%d", plan->most_slot);
    gpu_define(defines, "MOST_INNER=%d", plan->most_inner);
    gpu_define(defines, "ROW0=%d", plan->pitch.row);
    gpu_define(defines, "ROW1=%d", plan->planes ? 0 : plan->pitch.row);
    for (int i = 0; i < 2; i++) {
        gpu_define(defines, "PLANE%d=%d", i, plan->pitch.plane[i]);
        gpu_define(defines, "ELEM%d=%d", i, plan->pitch.elem[i]);
    }
    gpu_define(defines, "LIST_WORDS=%d", list_words(s, plan));
    gpu_define(defines, "AHEAD=%d", plan->ahead);
    gpu_define(defines, "METRIC_KIND=%d", sem->metric_kind);
    gpu_define(defines, "MATERIAL_NODES=%d", sem->material_nodes);
    gpu_define(defines, "CATEGORIES=%d", num_category);
    gpu_define(defines, "ASSEMBLY=%d", plan->assembly);
    define_list(defines, "LINE_DERIVATIVE", el->line_derivative, n * n);
    define_list(defines, "LINE_WEIGHTS", el->line_weight, n);
    define_list(defines, "LINE_POINTS", el->line_point, n);
    if (plan->flat)
        define_rows(defines, plan, n);
    return (struct gpu_source){plan->assembly == ATOMICALLY ? "sem/cells.cu" : "sem/tiles.cu", defines->list,
                               defines->num};
}

unda_status sem_plan_compile(unda_solver *s, int region)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    struct sem_cuda_region *r = &t->region[region];
    struct gpu_defines defines = {.num = 0};
    struct gpu_source source = region_source(s, &r->plan, region, r->tiles.num_category, &defines);
    double begin = clock_seconds();
    TRY(gpu_module_new(&r->module, t->gpu, &source));
    TRY(gpu_kernel_get(&r->tile_kernel, r->module, r->plan.assembly == ATOMICALLY ? "sem_cells" : "sem_tiles",
                       r->plan.shared_bytes));
    TRY(gpu_kernel_get(&r->shared_kernel, r->module, "sem_shared", 0));
    if (r->plan.assembly == ATOMICALLY)
        TRY(gpu_kernel_get(&r->pad_kernel, r->module, "sem_pad", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

unda_status sem_plan_compile_keeping(unda_solver *s, int region)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    struct sem_cuda_region *r = &t->region[region];
    struct gpu_defines defines = {.num = 0};
    if (r->keep_module || r->plan.assembly == ATOMICALLY)
        return UNDA_OK;
    gpu_define(&defines, "KEEPS=1");
    struct gpu_source source = region_source(s, &r->plan, region, r->tiles.num_category, &defines);
    double begin = clock_seconds();
    TRY(gpu_module_new(&r->keep_module, t->gpu, &source));
    TRY(gpu_kernel_get(&r->keep_tile_kernel, r->keep_module, "sem_tiles", r->plan.shared_bytes));
    TRY(gpu_kernel_get(&r->keep_shared_kernel, r->keep_module, "sem_shared", 0));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

/* The most of what the metric that options name takes, or any; eight cells meet in a node. */
unda_status sem_plan_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    struct sem *sem = sem_tables(s);
    struct sem_plan plan;
    unda_kernel_resources worst = {.size_bytes = sizeof worst};
    int given = kernel_part(&s->options, "metric");
    for (int i = 0; i < 3 * NUM_REGION; i++) {
        struct gpu_defines defines = {.num = 0};
        unda_kernel_resources one = {.size_bytes = sizeof one};
        int region = i / 3, kind = UNDA_METRIC_AFFINE + i % 3;
        if ((region == SOLID && sem->physics == UNDA_ACOUSTIC) || (given && given != kind))
            continue;
        TRY(sem_plan_choose(s, region, &plan));
        sem_set_metric(sem, kind);
        struct gpu_source source = region_source(s, &plan, region, 4, &defines);
        TRY(gpu_compile_only(&source, "sem_", compute_capability, &one));
        worst.registers = one.registers > worst.registers ? one.registers : worst.registers;
        worst.spill_bytes = one.spill_bytes > worst.spill_bytes ? one.spill_bytes : worst.spill_bytes;
        worst.compile_seconds += one.compile_seconds;
        worst.cubin_bytes += one.cubin_bytes;
        worst.shared_bytes = plan.shared_bytes > worst.shared_bytes ? plan.shared_bytes : worst.shared_bytes;
        worst.threads = plan.threads > worst.threads ? plan.threads : worst.threads;
    }
    *resources = worst;
    return UNDA_OK;
}
