/* kernel_fused.c: kernel fused: one stage in one pass. Not here: the device code (cuda/dg/fused.cu).
 * Measurements: benchmarks/NOTES.md. */
#include "kernel.h"

#include <string.h>

enum { ROWS, COLS, TILE, BLOCKS, UNROLL_VOLUME, UNROLL_LIFT, PRODUCTS, RESIDENT, NUM_PART };

/* Values of part products: by whom. Tensor cores multiply eight rows and columns, four deep. */
enum { BY_THREADS = 1, ON_TENSOR_CORES };
enum { UNIT = 8, DEPTH = 4, WARP = 32 };
/* Most that a block can have on compute capability 9. */
enum { MOST_SHARED = 227 << 10 };

/* By physics, precision and degree; measured on an H200 (degree 9: after degree 8). */
static const int tiles[][2][MAX_DEGREE + 1][PRODUCTS] = {
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

/* In float64 on tensor cores, where that is faster; measured on an H100. */
static const int tensor_tiles[NUM_PHYSICS][MAX_DEGREE + 1][PRODUCTS] = {
    [UNDA_ACOUSTIC] = {[2] = {8, 1, 16, 8, 3, 3},
                       [3] = {24, 1, 16, 8, 3, 3},
                       [4] = {8, 1, 8, 6, 3, 3},
                       [5] = {8, 1, 8, 4, 3, 3},
                       [6] = {8, 2, 16, 2, 3, 3},
                       [7] = {16, 2, 16, 2, 3, 3}},
    [UNDA_ELASTIC] = {[2] = {8, 1, 8, 6, 3, 3}, [3] = {8, 1, 8, 3, 3, 3}, [4] = {8, 1, 8, 2, 3, 3}},
    [UNDA_MAXWELL] = {[2] = {16, 1, 8, 10, 3, 3},
                      [3] = {8, 1, 8, 5, 3, 3},
                      [4] = {8, 1, 8, 3, 3, 3},
                      [5] = {8, 1, 8, 2, 3, 3}}};

static int round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

static bool on_tensor_cores(const struct plan *plan)
{
    return plan->part[PRODUCTS] == ON_TENSOR_CORES;
}

static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    static const int usual[PRODUCTS] = {UNIT, 1, UNIT, 1, 3, 3};
    const unda_solver_options *o = &s->options;
    const int *measured = tensor_tiles[o->physics][o->degree];
    /* whoever names this kernel has plain arithmetic; and where both jumps are lifted nothing was measured */
    /* nor has who gives options of plain arithmetic */
    bool plain = kernel_is(o, "fused") || plan_is_resident(s);
    for (int i = 0; i < o->num_part; i++)
        plain = plain || o->part[i].value > 0;
    bool faster = plan_has_double_tensor_cores(s) && measured[ROWS] && !plain && !dg_tables(s)->both_jumps;
    int given = kernel_part(o, "products"), products = given ? given : faster ? ON_TENSOR_CORES : BY_THREADS;
    const int *from = products == BY_THREADS ? tiles[o->physics][o->precision][o->degree]
                      : measured[ROWS]       ? measured
                                             : usual;
    memcpy(part, from, sizeof tiles[0][0][0]);
    part[PRODUCTS] = products;
}

/* Steps of four columns of a matrix. */
static int num_step(const struct space *space, bool face)
{
    return round_up(face ? space->num_face_node : space->num_node, DEPTH) / DEPTH;
}

/* Entries of the rows of a warp. */
static int64_t warp_entries(const unda_solver *s, const struct plan *plan)
{
    const struct space *space = &dg_tables(s)->space;
    return (int64_t)plan->rows * DEPTH *
           (3 * num_step(space, false) + space->num_face * num_step(space, true));
}

static unda_status check_tensor(const unda_solver *s, const struct plan *plan)
{
    const int *part = plan->part;
    if (s->options.precision != UNDA_FLOAT64)
        FAIL(UNDA_ERR_ARG, "products is %d, on tensor cores, found dtype float32, expected float64: take %d",
             ON_TENSOR_CORES, BY_THREADS);
    if (part[RESIDENT] > 1)
        FAIL(UNDA_ERR_ARG,
             "resident is %d with products %d, expected 1: launches of many steps multiply by threads; or "
             "take products %d",
             part[RESIDENT], ON_TENSOR_CORES, BY_THREADS);
    if (part[ROWS] % UNIT || part[TILE] % UNIT || part[TILE] / UNIT % part[COLS])
        FAIL(UNDA_ERR_ARG,
             "rows is %d, tile %d and cols %d, expected rows and tile multiples of %d, and cols a divisor of "
             "tile / %d: tensor cores multiply eight rows and columns at once; or take products %d",
             part[ROWS], part[TILE], part[COLS], UNIT, UNIT, BY_THREADS);
    return UNDA_OK;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    const int *part = plan->part;
    bool tensor = on_tensor_cores(plan);
    if (tensor) {
        TRY(check_tensor(s, plan));
        plan->part[RESIDENT] = 1; /* launches of many steps have the sums of the other way */
    } else if (part[TILE] % part[COLS])
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected a multiple of the %d a thread (cols)",
             part[TILE], part[COLS]);
    int64_t groups = (dg_tables(s)->space.num_node + part[ROWS] - 1) / part[ROWS];
    int64_t threads = groups * (tensor ? part[TILE] / UNIT / part[COLS] * WARP : part[TILE] / part[COLS]);
    if (threads > 1024)
        FAIL(UNDA_ERR_ARG, "rows %d, cols %d and tile %d make %lld threads a block, expected at most 1024",
             part[ROWS], part[COLS], part[TILE], (long long)threads);
    plan->tile = part[TILE];
    plan->rows = part[ROWS];
    plan->threads = (int)threads;
    plan->tile_pad = tensor ? DEPTH : 0;
    plan->shared_bytes = plan_tile_bytes(s, plan, part[COLS]);
    if (plan->shared_bytes > MOST_SHARED)
        FAIL(UNDA_ERR_ARG,
             "tile %d needs %d KB of shared memory a block, expected at most %d: take a smaller tile%s",
             part[TILE], plan->shared_bytes >> 10, MOST_SHARED >> 10, tensor ? ", or products 1" : "");
    if (tensor)
        plan->num_matrix = groups * warp_entries(s, plan);
    else
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
    gpu_define(defines, "ON_TENSOR_CORES=%d", on_tensor_cores(plan));
}

/* A step's entries of a warp, [row tile][lane]: row g of a tile, column t in lane 4 g + t. */
static void pack_steps(const double *from, int64_t pitch, int num_row, int num_column, int between,
                       double *to)
{
    for (int row = 0; row < num_row; row++)
        for (int k = 0; k < num_column; k++)
            to[k / DEPTH * between + row / UNIT * WARP + row % UNIT * DEPTH + k % DEPTH] =
                from[row * pitch + k];
}

/* As cuda/dg/products_mma.h has it. */
static void pack_fragments(const unda_solver *s, const struct plan *plan, double *matrix)
{
    const struct element *el = dg_tables(s)->space.element;
    const struct space *space = &dg_tables(s)->space;
    int np = el->num_node, nf = el->num_face_node, step = plan->rows * DEPTH;
    for (int first = 0; first < np; first += plan->rows) {
        int num_row = np - first < plan->rows ? np - first : plan->rows;
        for (int j = 0; j < 3; j++)
            pack_steps(el->derivative + ((int64_t)j * np + first) * np, np, num_row, np, 3 * step,
                       matrix + j * step);
        double *lift = matrix + 3 * num_step(space, false) * step;
        for (int face = 0; face < space->num_face; face++, lift += num_step(space, true) * step)
            pack_steps(el->lift + ((int64_t)face * np + first) * nf, nf, num_row, nf, step, lift);
        matrix += warp_entries(s, plan);
    }
}

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table_of_none)
{
    if (!on_tensor_cores(plan))
        return plan_pack_rows(s, plan, matrix, table_of_none);
    pack_fragments(s, plan, matrix);
    return UNDA_OK;
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
              [PRODUCTS] = {"products", BY_THREADS, ON_TENSOR_CORES, UNDA_TUNED_NOT},

              [RESIDENT] = {"resident", 1, 65535, UNDA_TUNED_NOT}}},
    .file = "dg/fused.cu",
    .layout = &layout_nodes,
    .num_function = 1,
    .function = {"dg_fused"},
    .work = {WORK_ALL},
    .table = table,
    .settle = settle,
    .define = define,
    .pack = pack};
