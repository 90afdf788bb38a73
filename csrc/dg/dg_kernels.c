/* dg_kernels.c: which kernels run a stage of DG on a CUDA device, with which tiles, and how they are
 * compiled. Not here: what they compute (cuda/dg), launching (dg_cuda.c). Measurements: benchmarks/NOTES.md. */
#include "dg_cuda.h"

#include "common/index.h"

#include <stdio.h>
#include <string.h>

/* By physics, precision and degree; measured on an H200 (degree 9: after degree 8). */
static const struct plan fused[3][2][MAX_DEGREE + 1] = {
    [UNDA_ACOUSTIC][UNDA_FLOAT32] = {[1] = {0, 2, 1, 32, 16, 4, 3},
                                     [2] = {0, 5, 1, 32, 8, 8, 6},
                                     [3] = {0, 5, 2, 64, 4, 4, 5},
                                     [4] = {0, 2, 2, 16, 3, 4, 5},
                                     [5] = {0, 4, 2, 16, 1, 4, 7},
                                     [6] = {0, 7, 2, 32, 2, 6, 14},
                                     [7] = {0, 4, 4, 8, 1, 10, 12},
                                     [8] = {0, 4, 4, 8, 4, 11, 9},
                                     [9] = {0, 4, 4, 8, 3, 11, 11}},
    [UNDA_ACOUSTIC][UNDA_FLOAT64] = {[1] = {0, 1, 1, 32, 8, 4, 3},
                                     [2] = {0, 5, 1, 32, 4, 4, 6},
                                     [3] = {0, 5, 1, 32, 4, 4, 5},
                                     [4] = {0, 5, 2, 16, 2, 4, 5},
                                     [5] = {0, 4, 2, 16, 1, 8, 7},
                                     [6] = {0, 3, 2, 8, 1, 6, 7},
                                     [7] = {0, 4, 2, 8, 1, 6, 6},
                                     [8] = {0, 3, 2, 4, 1, 8, 9},
                                     [9] = {0, 3, 2, 4, 1, 8, 11}},
    [UNDA_ELASTIC][UNDA_FLOAT32] = {[1] = {0, 1, 1, 32, 6, 4, 3},
                                    [2] = {0, 2, 1, 32, 4, 2, 6},
                                    [3] = {0, 2, 1, 16, 4, 4, 6},
                                    [4] = {0, 2, 2, 16, 3, 4, 6},
                                    [5] = {0, 1, 4, 8, 4, 4, 6},
                                    [6] = {0, 2, 2, 4, 5, 4, 6},
                                    [7] = {0, 2, 2, 4, 4, 4, 6},
                                    [8] = {0, 3, 2, 4, 3, 4, 6},
                                    [9] = {0, 3, 2, 4, 3, 4, 6}},
    [UNDA_ELASTIC][UNDA_FLOAT64] = {[1] = {0, 1, 1, 16, 10, 4, 3},
                                    [2] = {0, 1, 2, 16, 5, 4, 6},
                                    [3] = {0, 1, 2, 16, 3, 4, 6},
                                    [4] = {0, 1, 2, 4, 5, 4, 6},
                                    [5] = {0, 1, 2, 4, 4, 4, 6},
                                    [6] = {0, 3, 1, 4, 3, 4, 6},
                                    [7] = {0, 2, 2, 4, 2, 4, 6},
                                    [8] = {0, 2, 2, 8, 1, 4, 6},
                                    [9] = {0, 2, 2, 4, 1, 4, 6}},
    [UNDA_MAXWELL][UNDA_FLOAT32] = {[1] = {0, 2, 1, 32, 12, 4, 3},
                                    [2] = {0, 1, 2, 32, 5, 4, 6},
                                    [3] = {0, 2, 2, 32, 4, 4, 6},
                                    [4] = {0, 1, 4, 8, 7, 4, 6},
                                    [5] = {0, 1, 4, 8, 5, 4, 6},
                                    [6] = {0, 1, 4, 8, 3, 4, 6},
                                    [7] = {0, 1, 4, 4, 5, 4, 6},
                                    [8] = {0, 4, 2, 4, 5, 4, 6},
                                    [9] = {0, 4, 2, 4, 4, 4, 6}},
    [UNDA_MAXWELL][UNDA_FLOAT64] = {[1] = {0, 1, 2, 32, 10, 4, 3},
                                    [2] = {0, 1, 2, 32, 4, 4, 6},
                                    [3] = {0, 2, 2, 16, 5, 4, 6},
                                    [4] = {0, 1, 2, 4, 7, 4, 6},
                                    [5] = {0, 1, 2, 4, 5, 4, 6},
                                    [6] = {0, 2, 2, 4, 4, 4, 6},
                                    [7] = {0, 2, 2, 4, 3, 4, 6},
                                    [8] = {0, 2, 2, 4, 2, 4, 6},
                                    [9] = {0, 2, 2, 4, 2, 4, 6}},
};

static const struct kernel fused_kernel = {"fused",
                                           6,
                                           {{"rows", 1, 1024, UNDA_TUNED_BY_ONE},
                                            {"cols", 1, 1024, UNDA_TUNED_BY_HALF},
                                            {"tile", 1, 1024, UNDA_TUNED_BY_HALF},
                                            {"blocks", 1, 32, UNDA_TUNED_BOTH},
                                            {"unroll_volume", 1, 1024, UNDA_TUNED_NOT},
                                            {"unroll_lift", 1, 1024, UNDA_TUNED_NOT}}};
static const struct kernel node_kernel = {"node", 1, {{"tile", 1, 1024, UNDA_TUNED_NOT}}};
/* The CPU engine takes the same names and leaves them alone, so that a script runs on both. */
const struct kernel *const dg_kernels[] = {&fused_kernel, &node_kernel, NULL};

/* One node a thread: elements of a block, by degree. */
static const int node_tile[MAX_DEGREE + 1] = {[1] = 32, 16, 8, 4, 4, 2, 2, 1, 1};

static int row_groups(const struct dg *dg, const struct plan *plan)
{
    return (dg->num_node + plan->rows - 1) / plan->rows;
}

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* sizeof(struct tile) in tile.h. */
static int shared_of(const unda_solver *s, const struct plan *plan, int threads)
{
    const struct physics *p = dg_tables(s)->physics;
    int lanes = threads / plan->tile, banks = 128 / s->real_bytes, quad = 16 / s->real_bytes;
    lanes = lanes < 2 ? 1 : lanes < dg_tables(s)->num_face_node ? lanes : dg_tables(s)->num_face_node;
    int64_t pad = round_up((banks + lanes - 1) / lanes, plan->cols < quad ? plan->cols : quad) % banks;
    int64_t reals =
        round_up(dg_tables(s)->num_node * (p->num_ref * plan->tile + pad), quad) +
        round_up(4 * dg_tables(s)->num_face_node * (p->num_jump[dg_tables(s)->flux] * plan->tile + pad),
                 quad) +
        round_up(4 * p->num_kept * plan->tile, quad);
    return (int)(reals * s->real_bytes);
}

unda_status plan_choose(const unda_solver *s, struct plan *plan, struct launch *launch)
{
    const unda_solver_options *o = &s->options;
    *plan = fused[o->physics][o->precision][o->degree];
    if (kernel_is(o, "node")) {
        int tile = kernel_part(o, "tile");
        *plan = (struct plan){1, 1, 1, tile ? tile : node_tile[o->degree], 1, 1, 1};
        if (plan->tile < 1 || dg_tables(s)->num_node * plan->tile > 1024)
            FAIL(UNDA_ERR_ARG, "tile is %d, expected 1..%d elements a block", plan->tile,
                 1024 / dg_tables(s)->num_node);
        *launch = (struct launch){dg_tables(s)->num_node * plan->tile,
                                  shared_of(s, plan, dg_tables(s)->num_node * plan->tile),
                                  3,
                                  "dg/node.cu",
                                  {"dg_volume", "dg_surface", "dg_update"}};
        return UNDA_OK;
    }
    const struct {
        const char *name;
        int *value;
    } parts[] = {{"rows", &plan->rows},
                 {"cols", &plan->cols},
                 {"tile", &plan->tile},
                 {"blocks", &plan->min_blocks},
                 {"unroll_volume", &plan->unroll_volume},
                 {"unroll_lift", &plan->unroll_lift}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int given = kernel_part(o, parts[i].name);
        *parts[i].value = given ? given : *parts[i].value;
    }
    if (plan->tile % plan->cols)
        FAIL(UNDA_ERR_ARG, "tile is %d elements a block, expected a multiple of the %d a thread (cols)",
             plan->tile, plan->cols);
    int64_t threads = (int64_t)row_groups(dg_tables(s), plan) * (plan->tile / plan->cols);
    if (threads > 1024)
        FAIL(UNDA_ERR_ARG, "rows %d, cols %d and tile %d make %lld threads a block, expected at most 1024",
             plan->rows, plan->cols, plan->tile, (long long)threads);
    *launch = (struct launch){(int)threads, shared_of(s, plan, (int)threads), 1, "dg/fused.cu", {"dg_fused"}};
    return UNDA_OK;
}

/* ---- compiling ---- */

enum { NUM_OPTION = 14, OPTION_BYTES = 64 };

/* The defines of a stage's kernels. */
static int defines(const unda_solver *s, const struct plan *plan, const struct launch *launch, int update,
                   char text[NUM_OPTION][OPTION_BYTES])
{
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"DEGREE", s->options.degree},
                   {"FLUX_CENTRAL", dg_tables(s)->flux == UNDA_CENTRAL},
                   {"UPDATE", update},
                   {"TILE", plan->tile},
                   {"SHARED_BYTES", launch->shared_bytes},
                   {plan->node ? "THREADS" : "ROWS", plan->node ? launch->threads : plan->rows},
                   {"COLS", plan->cols},
                   {"MIN_BLOCKS", plan->min_blocks},
                   {"UNROLL_VOLUME", plan->unroll_volume},
                   {"UNROLL_LIFT", plan->unroll_lift},
                   {"DECAYS", dg_decays(dg_tables(s))},
                   {"INCIDENT", dg_tables(s)->num_incident > 0}};
    int num = 0;
    snprintf(text[num++], OPTION_BYTES, "-DREAL=%s",
             s->options.precision == UNDA_FLOAT32 ? "float" : "double");
    snprintf(text[num++], OPTION_BYTES, "-DPHYSICS=\"%s\"", dg_tables(s)->physics->header);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        snprintf(text[num++], OPTION_BYTES, "-D%s=%d", numbers[i].name, numbers[i].value);
    return num;
}

unda_status plan_compile(unda_solver *s, int update)
{
    struct dg_cuda *t = tables(s);
    int at = variant(s, update);
    if (t->stage_module[at])
        return UNDA_OK;
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    struct gpu_source source = {t->launch.file, options, defines(s, &t->plan, &t->launch, update, text)};
    for (int i = 0; i < source.num_option; i++)
        options[i] = text[i];
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->stage_module[at], t->gpu, &source));
    for (int i = 0; i < t->launch.num_part; i++)
        TRY(gpu_kernel_get(&t->stage_kernel[at][i], t->stage_module[at], t->launch.part[i],
                           t->launch.shared_bytes));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

/* The worst of a stage's kernels. */
unda_status plan_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    char text[NUM_OPTION][OPTION_BYTES];
    const char *options[NUM_OPTION];
    struct plan plan;
    struct launch launch;
    unda_kernel_resources worst = {.size_bytes = sizeof worst};
    TRY(plan_choose(s, &plan, &launch));
    int update = s->options.integrator == UNDA_AB3 ? UPDATE_AB3 : UPDATE_LSRK;
    struct gpu_source source = {launch.file, options, defines(s, &plan, &launch, update, text)};
    for (int i = 0; i < source.num_option; i++)
        options[i] = text[i];
    for (int i = 0; i < launch.num_part; i++) {
        unda_kernel_resources part = {.size_bytes = sizeof part};
        TRY(gpu_compile_only(&source, launch.part[i], compute_capability, &part));
        worst.registers = part.registers > worst.registers ? part.registers : worst.registers;
        worst.spill_bytes = part.spill_bytes > worst.spill_bytes ? part.spill_bytes : worst.spill_bytes;
        worst.compile_seconds = part.compile_seconds;
        worst.cubin_bytes = part.cubin_bytes;
    }
    worst.shared_bytes = launch.shared_bytes;
    worst.threads = launch.threads;
    *resources = worst;
    return UNDA_OK;
}

/* ---- matrices ---- */

int64_t plan_matrix_count(const unda_solver *s, const struct plan *plan)
{
    return (int64_t)row_groups(dg_tables(s), plan) * plan->rows *
           (3 * dg_tables(s)->num_node + 4 * dg_tables(s)->num_face_node);
}

unda_status plan_pack_matrix(const unda_solver *s, double **packed, int64_t *count)
{
    const struct element *el = dg_tables(s)->element;
    const struct plan *plan = &tables(s)->plan;
    int np = el->num_node, nf = el->num_face_node, groups = row_groups(dg_tables(s), plan);
    int64_t column = (int64_t)groups * plan->rows;
    *count = plan_matrix_count(s, plan);
    TRY(array_try(packed, *count, sizeof **packed, "matrix"));
    for (int row = 0; row < np; row++) {
        double *to = *packed + (int64_t)(row % groups) * plan->rows + row / groups;
        for (int k = 0; k < np; k++)
            for (int j = 0; j < 3; j++)
                to[(3 * k + j) * column] = el->derivative[((int64_t)j * np + row) * np + k];
        for (int face = 0; face < 4; face++)
            for (int m = 0; m < nf; m++)
                to[(3 * np + face * nf + m) * column] = el->lift[((int64_t)face * np + row) * nf + m];
    }
    return UNDA_OK;
}
