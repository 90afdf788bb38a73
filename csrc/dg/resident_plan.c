/* resident_plan.c: whether a problem takes launches of many steps (cuda/dg/resident.cu), and how: elements of a block, nodes of
 * a thread, what its registers hold. Decided when a solver is made: option "resident" of kernel fused, most steps of a
 * launch, 1 where it is not used. Not here: launches (cuda_resident.c). */
#include "cuda.h"

#include "common/index.h"

#include <string.h>

enum {
    MOST_STEP = 256, /* of a launch, which then takes about a millisecond */
    MOST_TILE = 256, /* elements of a block */
    MOST_ROWS = 2,   /* nodes of a thread */
    /* Of 16 bytes that a block sends in a stage. With more it was measured to be less than 1.3 times as fast as one
     * stage a launch, and is not used unless the option asks for it. */
    MOST_PACKET = 2950,
    NUM_FRAME = 9, /* of any physics, at most (cuda/physics) */
};

static int quads(int count)
{
    return (count + 3) / 4;
}

/* Numbers of a row of the matrices. */
static int row_words(const struct space *space)
{
    return 4 * (3 * quads(space->num_node) + space->num_face * quads(space->num_face_node));
}

static int row_groups(const unda_solver *s, const struct plan *plan)
{
    return (dg_tables(s)->space.num_node + plan->rows - 1) / plan->rows;
}

/* At least sizeof(struct tile) of cuda/dg/resident.cu. */
static int64_t tile_bytes(const unda_solver *s, int tile)
{
    const struct dg *dg = dg_tables(s);
    const struct physics *p = dg->physics;
    int vector = 16 / s->real_bytes, sides = dg->space.num_face * tile;
    int64_t state = (int64_t)tile * dg->space.num_node * ((p->num_ref + vector - 1) / vector * vector);
    int64_t jumps = (int64_t)sides * 4 * quads(dg->space.num_face_node) * p->num_jump[dg->both_jumps];
    int64_t tables =
        (int64_t)tile * ELEM_WORDS(p->num_coef) + sides * (NUM_FRAME + p->num_face_coef + p->num_lift_coef);
    return (state + jumps + tables) * s->real_bytes + 4 * sides + 16;
}

/* Registers of a thread: warps are spread over four schedulers, each of which has a quarter of them. */
static int registers(int threads)
{
    int warps = ((threads + 31) / 32 + 3) / 4, num = 65536 / 4 / (32 * warps) / 8 * 8;
    return num < 255 ? num : 255;
}

/* Those that a thread needs: for its state and sums, or its rows of the matrices as well, and what else there is. */
static int registers_needed(const unda_solver *s, const struct plan *plan, bool held)
{
    enum { ADDRESSES = 38, OTHERS = 4, MATRIX = 12, LETTERS = 4 };
    const struct physics *p = dg_tables(s)->physics;
    int row = 3 * p->num_field + p->num_ref + (held ? row_words(&dg_tables(s)->space) : MATRIX);
    return (plan->rows * row + p->num_ref) * s->real_bytes / 4 + ADDRESSES +
           (OTHERS + (held ? LETTERS : 0)) * s->real_bytes;
}

static bool holds_rows(const unda_solver *s, const struct plan *plan)
{
    return registers_needed(s, plan, true) <= registers(plan->threads);
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    gpu_define(defines, "ROWS=%d", plan->rows);
    gpu_define(defines, "HELD=%d", holds_rows(s, plan));
    gpu_define(defines, "SAMPLED=%d", s->num_monitor > 0);
}

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    (void)table;
    const struct element *el = dg_tables(s)->space.element;
    int np = el->num_node, nf = el->num_face_node, num_row = row_groups(s, plan) * plan->rows;
    double *lift = matrix + (int64_t)3 * quads(np) * num_row * 4;
    for (int row = 0; row < np; row++) {
        for (int k = 0; k < np; k++)
            for (int j = 0; j < 3; j++)
                matrix[((3 * (k / 4) + j) * num_row + row) * 4 + k % 4] =
                    el->derivative[((int64_t)j * np + row) * np + k];
        for (int face = 0; face < dg_tables(s)->space.num_face; face++)
            for (int m = 0; m < nf; m++)
                lift[((face * quads(nf) + m / 4) * num_row + row) * 4 + m % 4] =
                    el->lift[((int64_t)face * np + row) * nf + m];
    }
    return UNDA_OK;
}

static const struct dg_kernel resident_kernel = {.base = {.name = "resident"},
                                                 .file = "dg/resident.cu",
                                                 .layout = &layout_nodes,
                                                 .num_function = 1,
                                                 .function = {"dg_resident"},
                                                 .define = define,
                                                 .pack = pack};

/* A block of so many elements with shared_bytes of shared memory; false: they do not fit. */
static bool choose(const unda_solver *s, int64_t tile, int64_t shared_bytes, struct plan *plan)
{
    const struct space *space = &dg_tables(s)->space;
    if (tile > MOST_TILE || tile_bytes(s, (int)tile) > shared_bytes)
        return false;
    for (int rows = 1; rows <= MOST_ROWS; rows++) {
        *plan = (struct plan){.kernel = &resident_kernel, .tile = (int)tile, .rows = rows};
        plan->threads = row_groups(s, plan) * plan->tile;
        plan->shared_bytes = (int)tile_bytes(s, plan->tile);
        plan->num_matrix = (int64_t)row_groups(s, plan) * rows * row_words(space);
        if (plan->threads <= 1024 && registers_needed(s, plan, false) <= registers(plan->threads))
            return true;
    }
    return false;
}

static int *option(struct plan *plan)
{
    const struct kernel *kernel = &plan->kernel->base;
    for (int i = 0; i < kernel->num_part; i++)
        if (strcmp(kernel->part[i].name, "resident") == 0)
            return &plan->part[i];
    return NULL;
}

/* Packets of 16 bytes that an element sends: all fields at its face nodes, each word of 4 bytes with its tag. */
static int64_t num_packet(const unda_solver *s)
{
    const struct space *space = &dg_tables(s)->space;
    int words = dg_tables(s)->physics->num_field * s->real_bytes / 4;
    return (int64_t)space->num_face * space->num_face_node * ((words + 1) / 2);
}

static bool is_small(const unda_solver *s, int64_t tile)
{
    return num_packet(s) * tile <= MOST_PACKET;
}

/* One block on each multiprocessor, all of about the same size. */
static int64_t tile_of(const unda_solver *s, int num_sm)
{
    return (dg_tables(s)->num_whole + num_sm - 1) / num_sm;
}

/* Without a device: what an H100 would do. large: even if it is not small. */
static bool is_resident_there(const unda_solver *s, bool large, struct plan *plan)
{
    enum { NUM_SM = 132, SHARED_BYTES = 227 << 10 };
    int64_t tile = tile_of(s, NUM_SM);
    /* products 2: kernel blocks alone has tensor cores multiply in float32 */
    if (s->options.precision == UNDA_FLOAT32 && kernel_part(&s->options, "products") == 2)
        return false;
    if (dg_tables(s)->layers.given)
        return false;
    return s->options.shape == UNDA_TET && !s->options.no_graph &&
           kernel_part(&s->options, "resident") != 1 && tile > 0 && (large || is_small(s, tile)) &&
           choose(s, tile, SHARED_BYTES, plan);
}

bool plan_is_resident(const unda_solver *s)
{
    struct plan plan;
    return is_resident_there(s, false, &plan);
}

int64_t resident_mailbox_bytes(const unda_solver *s)
{
    return 2 * 16 * num_packet(s) * dg_tables(s)->space.num_owned;
}

/* Matrix and mailboxes. */
static int64_t table_bytes(const unda_solver *s, const struct plan *plan)
{
    return plan->num_matrix * s->real_bytes + resident_mailbox_bytes(s);
}

int64_t resident_forecast(const unda_solver *s, const struct plan *stage)
{
    struct plan plan, given = *stage;
    bool asked = kernel_part(&s->options, "resident") > 1;
    return !s->exchange && option(&given) && is_resident_there(s, asked, &plan) ? table_bytes(s, &plan) : 0;
}

unda_status resident_plan(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    const unda_device_info *device = gpu_info(t->gpu);
    int64_t tile = tile_of(s, device->num_sm);
    int *most = option(&t->plan);
    if (!most)
        return UNDA_OK;
    t->resident.asked = *most > 1;
    if (s->exchange && t->resident.asked)
        FAIL(UNDA_ERR_ARG,
             "resident is %d on several devices, expected 1 or nothing: a launch of many steps would wait "
             "for another one",
             *most);
    if (dg_tables(s)->layers.given && t->resident.asked)
        FAIL(
            UNDA_ERR_ARG,
            "resident is %d and the mesh has absorbing layers, expected 1 or nothing: they follow each stage",
            *most);
    bool pays = !dg_tables(s)->layers.given && (t->resident.asked || is_small(s, tile));
    if (s->exchange || *most == 1 || !pays || s->options.no_graph || !gpu_launches_together(t->gpu) ||
        !choose(s, tile, device->shared_bytes, &t->resident.plan))
        *most = 1;
    else if (*most == 0)
        *most = MOST_STEP;
    t->resident.most_step = *most;
    s->device_bytes += *most > 1 ? table_bytes(s, &t->resident.plan) : 0;
    return UNDA_OK;
}

void resident_give_up(unda_solver *s)
{
    struct dg_cuda *t = tables(s);
    *option(&t->plan) = t->resident.most_step = 1;
    s->device_bytes -= table_bytes(s, &t->resident.plan);
}

unda_status resident_compile_only(const unda_solver *s, const struct plan *stage, int compute_capability,
                                  unda_kernel_resources *resources)
{
    /* Of an H200 with about a thousand elements. */
    enum { USUAL_TILE = 8, SHARED_BYTES = 227 << 10 };
    struct gpu_defines defines = {.num = 0};
    struct plan plan, given = *stage;
    const int *most = option(&given);
    if (!most || *most < 2 || !choose(s, USUAL_TILE, SHARED_BYTES, &plan))
        return UNDA_OK;
    int update = s->options.integrator == UNDA_AB3 ? UPDATE_AB3 : UPDATE_LSRK;
    struct gpu_source source = plan_source(s, &plan, update, &defines);
    return gpu_compile_only(&source, "dg_resident", compute_capability, resources);
}
