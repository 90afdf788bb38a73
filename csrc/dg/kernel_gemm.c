/* kernel_gemm.c: kernel gemm: one stage as products of large matrices by cuBLAS with small kernels between them, as
 * the third strategy of Modave, St-Cyr & Warburton (2016). Not here: the small kernels and what each product means
 * (cuda/dg/gemm.cu), calling cuBLAS (gpu/blas.c).
 *
 * The dimensions of each product C = A B + beta C are those of the paper's table 3: A by rows, B and C by columns; the
 * rows of A and C are padded, with zeros in A, as well as the leading dimensions:
 *                m            n                columns k        A, B, C
 *   gradient     (3 Np)pad    fields elements  Np               D_grad, state, T
 *   divergence   (Np)pad      fields elements  3 Np             D_div, T, R
 *   lift         (Np)pad      fields elements  4 Nfp            L, P, R            beta = 1 */
#include "cuda.h"

#include "common/index.h"

enum { TILE, PAD, PAD_GRADIENT, COMPUTE, NUM_PART };
enum { COMPUTE_PLAIN = 1, COMPUTE_TF32 };
enum { GRADIENT, VOLUME, DIVERGENCE, SURFACE, LIFT, UPDATE, NUM_FUNCTION };
enum { MOST_THREADS = 256, MOST_TILE = 32 }; /* of a block by default */

/* ---- sizes ---- */

struct sizes {
    int node, surface;    /* nodes of an element, of its faces */
    int pitch, gradient;  /* rows of a state and of T with padding */
    int first, num_field; /* fields whose gradient and others' divergence are taken; all */
    int derived;          /* fields whose gradient is taken: the first; of curls all */
    int64_t divergence_at, lift_at, num_matrix; /* reals before D_div and L, and of all three */
};

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static struct sizes sizes_of(const unda_solver *s, const struct plan *plan)
{
    enum { ALIGNED = 64 }; /* reals from where a matrix may begin */
    const struct dg *dg = dg_tables(s);
    struct sizes z = {.node = dg->space.num_node,
                      .surface = dg->space.num_face * dg->space.num_face_node,
                      .pitch = plan->pitch,
                      .first = dg->physics->grad_div,
                      .num_field = dg->physics->num_field};
    z.gradient = (int)round_up(3 * z.node, plan->part[PAD_GRADIENT]);
    z.derived = z.first ? z.first : z.num_field;
    int64_t derivative = round_up((int64_t)z.gradient * z.pitch, ALIGNED);
    z.divergence_at = derivative;
    z.lift_at = z.divergence_at + (z.first ? derivative : 0);
    z.num_matrix = z.lift_at + (int64_t)z.pitch * z.surface;
    return z;
}

/* Rows that are aligned to 16 bytes. */
static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    int tile = MOST_TILE;
    while (tile > 1 && tile * dg_tables(s)->space.num_node > MOST_THREADS)
        tile /= 2;
    part[TILE] = tile;
    part[PAD] = part[PAD_GRADIENT] = 16 / s->real_bytes;
    part[COMPUTE] = COMPUTE_PLAIN;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    int num_node = dg_tables(s)->space.num_node, most = 1024 / num_node;
    if (plan->part[TILE] > most)
        FAIL(UNDA_ERR_ARG, "tile is %d, expected 1..%d elements a block", plan->part[TILE], most);
    if (plan->part[COMPUTE] == COMPUTE_TF32 && s->real_bytes == 8)
        FAIL(UNDA_ERR_ARG,
             "compute is tf32 with float64, expected plain, or float32: tf32 has eleven binary digits");
    plan->tile = plan->part[TILE];
    plan->threads = num_node * plan->tile;
    plan->pitch = (int)round_up(num_node, plan->part[PAD]);
    plan->tf32 = plan->part[COMPUTE] == COMPUTE_TF32;
    plan->shared_bytes = plan_tile_bytes(s, plan, 1);
    plan->num_matrix = sizes_of(s, plan).num_matrix;
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    gpu_define(defines, "THREADS=%d", plan->threads);
    gpu_define(defines, "GRADIENT_PITCH=%d", sizes_of(s, plan).gradient);
}

static int64_t reals(const unda_solver *s, const struct plan *plan)
{
    struct sizes z = sizes_of(s, plan);
    int64_t gradients = (int64_t)z.derived * z.gradient, penalties = (int64_t)z.num_field * z.surface;
    return gradients > penalties ? gradients : penalties;
}

/* ---- matrices ---- */

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    struct sizes z = sizes_of(s, plan);
    const struct element *el = dg_tables(s)->space.element;
    (void)table;
    for (int j = 0; j < 3; j++)
        for (int row = 0; row < z.node; row++)
            for (int k = 0; k < z.node; k++) {
                double d = el->derivative[((int64_t)j * z.node + row) * z.node + k];
                matrix[((int64_t)j * z.node + row) * z.pitch + k] = d;
                if (z.first)
                    matrix[z.divergence_at + (int64_t)row * z.gradient + j * z.node + k] = d;
            }
    int num = el->num_face_node;
    for (int row = 0; row < z.node; row++)
        for (int i = 0; i < z.surface; i++)
            matrix[z.lift_at + (int64_t)row * z.surface + i] =
                el->lift[((int64_t)(i / num) * z.node + row) * num + i % num];
    return UNDA_OK;
}

/* ---- products ---- */

/* An array [field][elem][lead] that has so many rows. */
struct columns {
    gpu_ptr at;
    int rows, lead;
};

/* to = A from, or more, of fields [first, first + num) of the elements [begin, end). A has `to.lead` rows, `matrix` reals
 * into the packed ones, and row by row so many reals as a column of from. All elements of all fields are one matrix. */
static unda_status multiply_fields(unda_solver *s, int64_t matrix, const struct columns *from,
                                   const struct columns *to, int first, int num, int64_t begin, int64_t end,
                                   bool add)
{
    const struct dg_cuda *t = tables(s);
    int64_t total = space_num_total(&dg_tables(s)->space), at = first * total + begin;
    bool one = end - begin == total && num * total <= INT32_MAX;
    struct gpu_product product = {.m = to->lead,
                                  .n = one ? num * total : end - begin,
                                  .k = from->rows,
                                  .count = one ? 1 : num,
                                  .a = t->matrix + (gpu_ptr)(matrix * s->real_bytes),
                                  .b = from->at + (gpu_ptr)(at * from->lead * s->real_bytes),
                                  .c = to->at + (gpu_ptr)(at * to->lead * s->real_bytes),
                                  .lead_a = from->lead,
                                  .lead_b = from->lead,
                                  .lead_c = to->lead,
                                  .step_b = total * from->lead,
                                  .step_c = total * to->lead,
                                  .add = add};
    return gpu_blas_multiply(t->blas, &product);
}

static unda_status multiply(unda_solver *s, int part, int64_t begin, int64_t end)
{
    const struct dg_cuda *t = tables(s);
    struct sizes z = sizes_of(s, &t->plan);
    struct columns state = {t->buffer[BUF_Q], z.node, z.pitch}, rhs = {t->rhs, z.node, z.pitch};
    struct columns gradients = {t->products, 3 * z.node, z.gradient};
    struct columns penalties = {t->products, z.surface, z.surface};
    if (part == GRADIENT)
        return multiply_fields(s, 0, &state, &gradients, 0, z.derived, begin, end, false);
    if (part == DIVERGENCE && z.first == 0)
        return UNDA_OK;
    if (part == DIVERGENCE)
        return multiply_fields(s, z.divergence_at, &gradients, &rhs, 0, z.first, begin, end, false);
    if (z.first)
        TRY(multiply_fields(s, z.lift_at, &penalties, &rhs, 0, z.first, begin, end, true));
    return multiply_fields(s, z.lift_at, &penalties, &rhs, z.first, z.num_field - z.first, begin, end, true);
}

/* ---- work ---- */

/* Without padding; each input is read once and each output written once. Matrices stay in the caches. */
static void count(const unda_solver *s, int part, double *flops, double *bytes)
{
    const struct dg *dg = dg_tables(s);
    struct sizes z = sizes_of(s, &tables(s)->plan);
    double np = z.node, face = z.surface, all = z.num_field, first = z.first, derived = z.derived;
    double metric = METRIC_WORDS, moved = 0, neighbors = 0;
    *flops = 0;
    if (part == GRADIENT) {
        *flops = 2 * 3 * np * np * derived;
        moved = (np + 3 * np) * derived;
    } else if (part == VOLUME) {
        *flops = np * dg->physics->reference_flops;
        moved = np * (3 * derived + (all - first) + (first > 0 ? (all - first) + 3 * first : 0)) + metric;
    } else if (part == DIVERGENCE) {
        *flops = 2 * 3 * np * np * first;
        moved = (3 * np + np) * first;
    } else if (part == SURFACE) {
        int both = dg->both_jumps;
        *flops = face * (dg->physics->jump_flops[both] + dg->physics->lift_flops[both]);
        moved = np * all + face * all + metric + (double)dg_num_face_coef(dg);
        neighbors = dg->space.num_face * (double)sizeof(int32_t);
    } else if (part == LIFT) {
        *flops = 2 * np * face * all;
        moved = (face + 2 * np) * all;
    } else {
        *flops = (double)dg_work_flops(dg, WORK_UPDATE, s->options.integrator);
        *bytes = (double)dg_work_bytes(dg, WORK_UPDATE, s->options.integrator, s->real_bytes, true);
        moved = dg->material_nodes * dg->physics->num_coef;
        *bytes += moved * s->real_bytes;
        return;
    }
    *bytes = moved * s->real_bytes + neighbors;
}

static const struct dg_library library = {.product = {[GRADIENT] = true, [DIVERGENCE] = true, [LIFT] = true},
                                          .multiply = multiply,
                                          .reals = reals,
                                          .count = count};
static const struct layout layout_fields = {"layout/fields.h", 1, true, plan_place_fields};

const struct dg_kernel dg_kernel_gemm = {
    .base = {"gemm",
             NUM_PART,
             {[TILE] = {"tile", 1, 1024, UNDA_TUNED_NOT},
              [PAD] = {"pad", 1, 1024, UNDA_TUNED_POWERS},
              [PAD_GRADIENT] = {"pad_gradient", 1, 1024, UNDA_TUNED_POWERS},
              [COMPUTE] = {"compute", COMPUTE_PLAIN, COMPUTE_TF32, UNDA_TUNED_NOT}}},
    .file = "dg/gemm.cu",
    .layout = &layout_fields,
    .num_function = NUM_FUNCTION,
    .function = {"gradient", "dg_volume", "divergence", "dg_surface", "lift", "dg_update"},
    .has_rhs = true,
    .library = &library,
    .table = table,
    .pack = pack,
    .settle = settle,
    .define = define};
