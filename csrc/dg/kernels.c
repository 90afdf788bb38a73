/* kernels.c: the kernels of a DG stage on CUDA devices: their table, the choice of one and its options,
 * their compilation and matrices. Not here: the kernels (kernel_*.c, cuda/dg), launching (cuda.c). */
#include "cuda.h"

#include "common/index.h"

#include <stdio.h>

/* The CPU engine accepts the same names and ignores them, so that a script runs on both engines. */
#define ENTRY(name) &dg_kernel_##name.base,
const struct kernel *const dg_kernels[] = {DG_KERNELS(ENTRY) NULL};

static int64_t place_nodes(const unda_solver *s, const struct plan *plan, int32_t field, unda_view *view)
{
    const struct space *space = &dg_tables(s)->space;
    int num_field = dg_tables(s)->physics->num_field;
    int64_t num_node = space->num_node, width = GROUP_WIDTH(num_field, field / 4);
    (void)plan;
    view_shape(view, (int64_t[3]){space->num_owned, 1, num_node}, (int64_t[3]){num_node * width, 0, width});
    return GROUP_INDEX(space_num_total(space) * num_node, num_field, 0, field);
}

int64_t plan_place_fields(const unda_solver *s, const struct plan *plan, int32_t field, unda_view *view)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t km = plan->km ? plan->km : 1, num_node = space->num_node;
    view_shape(view, (int64_t[3]){(space->num_owned + km - 1) / km, km, num_node},
               (int64_t[3]){plan->pitch, num_node, 1});
    return field * ((space_num_total(space) + km - 1) / km) * plan->pitch;
}

const struct layout layout_nodes = {"layout/nodes.h", 1, false, place_nodes};

static int row_groups(const struct dg *dg, const struct plan *plan)
{
    return (dg->space.num_node + plan->rows - 1) / plan->rows;
}

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

int plan_tile_pad(const unda_solver *s, const struct plan *plan, int cols)
{
    if (plan->tile_pad)
        return plan->tile_pad;
    int num_face_node = dg_tables(s)->space.num_face_node;
    int lanes = plan->threads / plan->tile, banks = 128 / s->real_bytes, quad = 16 / s->real_bytes;
    lanes = lanes < 2 ? 1 : lanes < num_face_node ? lanes : num_face_node;
    return (int)(round_up((banks + lanes - 1) / lanes, cols < quad ? cols : quad) % banks);
}

int plan_tile_bytes(const unda_solver *s, const struct plan *plan, int cols)
{
    const struct dg *dg = dg_tables(s);
    const struct physics *p = dg->physics;
    int quad = 16 / s->real_bytes, pad = plan_tile_pad(s, plan, cols);
    int64_t reals = round_up(dg->space.num_node * (p->num_ref * plan->tile + pad) + plan->tile_room, quad) +
                    round_up(dg->space.num_face * dg->space.num_face_node *
                                 (p->num_jump[dg->both_jumps] * plan->tile + pad),
                             quad) +
                    round_up(dg->space.num_face * p->num_lift_coef * plan->tile, quad);
    return (int)(reals * s->real_bytes);
}

static bool has_parts(const unda_solver_options *o, const struct kernel *kernel)
{
    for (int i = 0; i < o->num_part; i++)
        if (!kernel_takes(kernel, &o->part[i]))
            return false;
    return true;
}

static bool is_possible(const unda_solver *s, const struct dg_kernel *kernel)
{
    int capability = dg_tables(s)->capability;
    return kernel_fits(&s->options, &kernel->base) && !kernel->base.reference &&
           has_parts(&s->options, &kernel->base) && (capability == 0 || kernel->capability <= capability);
}

/* Options were checked. "auto": the first kernel of the shape that has the parts and is preferred for this case; of small
 * problems the one that takes many steps a launch. */
static const struct dg_kernel *find_kernel(const unda_solver *s)
{
    for (int i = 0; dg_kernels[i]; i++)
        if (kernel_is(&s->options, dg_kernels[i]->name))
            return (const struct dg_kernel *)dg_kernels[i];
    if (plan_is_resident(s) && is_possible(s, &dg_kernel_fused))
        return &dg_kernel_fused;
    for (int i = 0; dg_kernels[i]; i++) {
        const struct dg_kernel *kernel = (const struct dg_kernel *)dg_kernels[i];
        if (is_possible(s, kernel) && (!kernel->preferred || kernel->preferred(s)))
            return kernel;
    }
    return NULL;
}

unda_status plan_choose(const unda_solver *s, struct plan *plan)
{
    *plan = (struct plan){.kernel = find_kernel(s)};
    if (!plan->kernel)
        FAIL(UNDA_ERR_ARG, "no kernel has all the options that are given, from %s on: name one with its own",
             s->options.part[0].name);
    const struct kernel *kernel = &plan->kernel->base;
    plan->kernel->table(s, plan->part);
    for (int i = 0; i < kernel->num_part; i++) {
        int given = kernel_part(&s->options, kernel->part[i].name);
        plan->part[i] = given ? given : plan->part[i];
    }
    return plan->kernel->settle(s, plan);
}

unda_status plan_check_device(const struct plan *plan, int compute_capability)
{
    int least = plan->kernel->capability;
    if (compute_capability < least)
        FAIL(UNDA_ERR_ARG,
             "kernel %s needs a device of compute capability %d.%d, found %d.%d: take another kernel, or the "
             "CPU",
             plan->kernel->base.name, least / 10, least % 10, compute_capability / 10,
             compute_capability % 10);
    return UNDA_OK;
}

bool plan_has_double_tensor_cores(const unda_solver *s)
{
    enum { FIRST = 80 };
    int capability = dg_tables(s)->capability;
    return s->options.precision == UNDA_FLOAT64 && (capability == 0 || capability >= FIRST);
}

/* ---- compiling ---- */

void plan_define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    gpu_define(defines, "REAL=%s", s->real_bytes == 4 ? "float" : "double");
    gpu_define(defines, "LAYOUT=\"%s\"", plan->kernel->layout->file);
    if (plan->kernel->layout->padded) {
        gpu_define(defines, "NODES=%d", dg_tables(s)->space.num_node);
        gpu_define(defines, "PITCH=%d", plan->pitch);
        gpu_define(defines, "KM=%d", plan->km ? plan->km : 1);
    }
}

/* The derivative is a list of numbers that the compiler reads. */
void plan_define_lines(const unda_solver *s, struct gpu_defines *defines)
{
    const struct element *el = dg_tables(s)->space.element;
    int num = (el->degree + 1) * (el->degree + 1), used = 0;
    char list[4096];
    for (int i = 0; i < num; i++)
        used +=
            snprintf(list + used, sizeof list - (size_t)used, i ? ",%.17g" : "%.17g", el->line_derivative[i]);
    gpu_define(defines, "LINE_DERIVATIVE=%s", list);
    gpu_define(defines, "LINE_WEIGHT=%.17g", 1 / el->line_weight[0]);
    used = 0;
    for (int i = 0; i <= el->degree; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, i ? ",%.17g" : "%.17g", el->nodes[3 * i]);
    gpu_define(defines, "LINE_POINT=%s", list);
    gpu_define(defines, "METRIC_KIND=%d", dg_tables(s)->metric_kind);
    gpu_define(defines, "STORED_METRIC=%d", dg_tables(s)->stored_words);
    gpu_define(defines, "FLUID_CELLS=%d", dg_tables(s)->has_fluid);
}

/* Threads and shared memory of a block of a kernel's function. */
struct block_shape plan_block(const struct plan *plan, int function)
{
    struct block_shape usual = {plan->threads, plan->shared_bytes, 0, 0}, own = plan->own[function];
    struct block_shape one = own.threads ? own : usual;
    one.tile = one.tile ? one.tile : plan->tile;
    one.parts = one.parts ? one.parts : 1;
    return one;
}

struct gpu_source plan_source(const unda_solver *s, const struct plan *plan, int update,
                              struct gpu_defines *defines)
{
    plan_define(s, plan, defines);
    gpu_define(defines, "PHYSICS=\"%s\"", dg_tables(s)->physics->header);
    gpu_define(defines, "SPACE=\"%s\"", dg_tables(s)->space.header);
    gpu_define(defines, "DEGREE=%d", s->options.degree);
    gpu_define(defines, "FLUX_CENTRAL=%d", dg_tables(s)->flux == UNDA_CENTRAL);
    gpu_define(defines, "MATERIAL_NODES=%d", dg_tables(s)->material_nodes);
    gpu_define(defines, "UPDATE=%d", update);
    gpu_define(defines, "TILE=%d", plan->tile);
    gpu_define(defines, "SHARED_BYTES=%d", plan->shared_bytes);
    gpu_define(defines, "LOCAL=%d", dg_tables(s)->has_local);
    gpu_define(defines, "INCIDENT=%d", dg_tables(s)->has_waves);
    plan->kernel->define(s, plan, defines);
    return (struct gpu_source){plan->kernel->file, defines->list, defines->num};
}

unda_status plan_compile(unda_solver *s, int update)
{
    struct dg_cuda *t = tables(s);
    const struct dg_kernel *kernel = t->plan.kernel;
    int at = variant(s, update);
    if (t->stage_module[at])
        return UNDA_OK;
    struct gpu_defines defines = {.num = 0};
    struct gpu_source source = plan_source(s, &t->plan, update, &defines);
    double begin = clock_seconds();
    TRY(gpu_module_new(&t->stage_module[at], t->gpu, &source));
    for (int i = 0; i < kernel->num_function; i++) {
        if (plan_is_product(&t->plan, i))
            continue;
        TRY(gpu_kernel_get(&t->stage_kernel[at][i], t->stage_module[at], kernel->function[i],
                           plan_block(&t->plan, i).shared_bytes));
        if (t->plan.resident)
            TRY(gpu_kernel_leave_l1(&t->stage_kernel[at][i], t->plan.resident));
    }
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

static void keep_worst(unda_kernel_resources *worst, const unda_kernel_resources *one)
{
    worst->registers = one->registers > worst->registers ? one->registers : worst->registers;
    worst->spill_bytes = one->spill_bytes > worst->spill_bytes ? one->spill_bytes : worst->spill_bytes;
    worst->compile_seconds = one->compile_seconds;
    worst->cubin_bytes = one->cubin_bytes;
}

/* The largest numbers of a stage's functions so far. */
static unda_status compile_functions(const unda_solver *s, int compute_capability,
                                     unda_kernel_resources *worst)
{
    struct gpu_defines defines = {.num = 0};
    struct plan plan;
    TRY(plan_choose(s, &plan));
    TRY(plan_check_device(&plan, compute_capability));
    int update = s->options.integrator == UNDA_AB3 ? UPDATE_AB3 : UPDATE_LSRK;
    struct gpu_source source = plan_source(s, &plan, update, &defines);
    for (int i = 0; i < plan.kernel->num_function; i++) {
        if (plan_is_product(&plan, i))
            continue;
        unda_kernel_resources one = {.size_bytes = sizeof one};
        TRY(gpu_compile_only(&source, plan.kernel->function[i], compute_capability, &one));
        keep_worst(worst, &one);
    }
    unda_kernel_resources one = {.size_bytes = sizeof one};
    TRY(resident_compile_only(s, &plan, compute_capability, &one));
    if (one.registers)
        keep_worst(worst, &one);
    worst->shared_bytes = plan.shared_bytes;
    worst->threads = plan.threads;
    return UNDA_OK;
}

/* Without a mesh, whose hexahedra may have any metric: all, or the one that options name. */
unda_status plan_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    struct dg *dg = dg_tables(s);
    unda_kernel_resources worst = {.size_bytes = sizeof worst};
    dg->capability = compute_capability;
    if (dg->metric_nodes) {
        TRY(element_new(&dg->space.element, UNDA_HEX, s->options.degree));
        int given = kernel_part(&s->options, "metric");
        for (int kind = UNDA_METRIC_AFFINE; kind < UNDA_METRIC_STORED && !given; kind++) {
            dg_set_metric(dg, kind);
            TRY(compile_functions(s, compute_capability, &worst));
        }
        dg_set_metric(dg, given ? given : UNDA_METRIC_STORED);
    }
    TRY(compile_functions(s, compute_capability, &worst));
    *resources = worst;
    return UNDA_OK;
}

/* ---- matrices ---- */

void plan_count_rows(const unda_solver *s, struct plan *plan)
{
    const struct space *space = &dg_tables(s)->space;
    plan->num_matrix = (int64_t)row_groups(dg_tables(s), plan) * plan->rows *
                       (3 * space->num_node + space->num_face * space->num_face_node);
}

unda_status plan_pack_rows(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    (void)table;
    const struct element *el = dg_tables(s)->space.element;
    int np = el->num_node, nf = el->num_face_node, groups = row_groups(dg_tables(s), plan);
    int64_t column = (int64_t)groups * plan->rows;
    for (int row = 0; row < np; row++) {
        double *to = matrix + (int64_t)(row % groups) * plan->rows + row / groups;
        for (int k = 0; k < np; k++)
            for (int j = 0; j < 3; j++)
                to[(3 * k + j) * column] = el->derivative[((int64_t)j * np + row) * np + k];
        for (int face = 0; face < dg_tables(s)->space.num_face; face++)
            for (int m = 0; m < nf; m++)
                to[(3 * np + face * nf + m) * column] = el->lift[((int64_t)face * np + row) * nf + m];
    }
    return UNDA_OK;
}
