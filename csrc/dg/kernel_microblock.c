/* kernel_microblock.c: kernel microblock: microblocks of elements, flux gather, lift and local differentiation as
 * functions of their own, as in Kloeckner, Warburton, Bridge & Hesthaven (2009), sections 4 and 5. Not here: the device
 * code (cuda/dg/microblock.cu).
 *
 * The table lists the pairs of faces of each block of the flux gather, [block][HEAD + 2 pairs]: how many are inside the
 * block, how many more lie between it and another block, how many more on a boundary, as ends of these lists, then
 * {face, neighbour} of each pair in this order. A pair inside the block stands there once. */
#include "cuda.h"

#include "common/index.h"

#include <string.h>

enum {
    KM,
    MB,
    FLUX_WP,
    LIFT_STRATEGY,
    LIFT_WP,
    LIFT_WI,
    LIFT_WS,
    STRATEGY,
    WP,
    WI,
    WS,
    SEGMENT,
    FIELDS,
    LIFT_FIELDS,
    NUM_PART
};
enum { FIELD_SHARED = 1, MATRIX_SHARED };
enum { GATHER, LIFT, LOCAL, NUM_FUNCTION };
enum { WARP = 32, MOST_THREADS = 1024, MOST_BYTES = 227 << 10, HEAD = 4 };

/* ---- sizes ---- */

static int round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

static int num_surface(const unda_solver *s)
{
    return dg_tables(s)->space.num_face * dg_tables(s)->space.num_face_node;
}

/* Nodes of a microblock and of its faces, with padding. */
static int node_pitch(const unda_solver *s, int km)
{
    return round_up(km * dg_tables(s)->space.num_node, WARP);
}

static int face_pitch(const unda_solver *s, const struct plan *plan)
{
    return round_up(plan->km * num_surface(s), WARP);
}

static int num_pair(const unda_solver *s, const struct plan *plan)
{
    return plan->part[MB] * plan->km * dg_tables(s)->space.num_face;
}

static int64_t blocks_of(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit;
}

static struct block_shape gather_block(const unda_solver *s, const struct plan *plan)
{
    int reals = dg_tables(s)->physics->num_field * plan->part[MB] * face_pitch(s, plan);
    return (struct block_shape){
        .threads = round_up(plan->part[FLUX_WP] * dg_tables(s)->space.num_face_node, WARP),
        .shared_bytes = reals * s->real_bytes + 4 * (HEAD + 2 * num_pair(s, plan)) + 8,
        .tile = plan->part[MB] * plan->km,
        .parts = 1};
}

/* Of products with `num` matrices of so many columns; `part`: of STRATEGY, WP, WI, WS; fields in shared memory at a
 * time; lead: reals of a microblock. */
static struct block_shape product_block(const unda_solver *s, const struct plan *plan, const int *part,
                                        int fields, int num, int columns, int lead)
{
    enum { OF_WP = 1, OF_WI, OF_WS };
    bool matrix = part[0] == MATRIX_SHARED;
    int rows = matrix ? WARP * plan->part[SEGMENT] : plan->pitch, lot = part[OF_WP] * part[OF_WI];
    int64_t reals = matrix ? (int64_t)columns * num * rows : (int64_t)fields * lot * lead;
    int64_t bytes = reals * s->real_bytes;
    return (struct block_shape){.threads = rows * part[OF_WP],
                                .shared_bytes = bytes < INT32_MAX ? (int)bytes : INT32_MAX,
                                .tile = plan->km * lot * part[OF_WS],
                                .parts = (plan->pitch + rows - 1) / rows};
}

static struct block_shape lift_block(const unda_solver *s, const struct plan *plan)
{
    return product_block(s, plan, plan->part + LIFT_STRATEGY, plan->part[LIFT_FIELDS], 1, num_surface(s),
                         face_pitch(s, plan));
}

static struct block_shape local_block(const unda_solver *s, const struct plan *plan)
{
    return product_block(s, plan, plan->part + STRATEGY, plan->part[FIELDS], 3, dg_tables(s)->space.num_node,
                         plan->pitch);
}

/* ---- the plan ---- */

/* The least number of elements that leaves fewer than 5 % of the threads without a node, as the paper's, or of up to
 * 256 nodes the one that leaves the fewest: larger blocks lost a fifth. */
static int choose_km(const unda_solver *s)
{
    enum { MOST_NODES = 256 };
    int np = dg_tables(s)->space.num_node, best = 1;
    for (int km = 1; km == 1 || node_pitch(s, km) <= MOST_NODES; km++) {
        int pitch = node_pitch(s, km);
        if (20 * km * np > 19 * pitch)
            return km;
        best = km * node_pitch(s, best) > best * pitch ? km : best;
    }
    return best;
}

static int at_least_one(int count)
{
    return count > 1 ? count : 1;
}

/* By measurement on an H100 (benchmarks/NOTES.md), light in float32: fields in shared memory, but for derivatives of
 * degree 1; blocks of some 256 threads, of the gather at low degrees half as many; blocks of the gather of 32 elements
 * or more, so that most faces have both sides in it; one microblock a thread, of the lift four, with a third of the fields
 * at a time: more sums in registers leave too few warps. Segments of two warps, if the matrices of the derivatives
 * then fit. */
static void table(const unda_solver *s, int part[UNDA_MAX_PART])
{
    enum { THREADS = 256, ELEMENTS = 32, BYTES = 48 << 10, LOW = 2 };
    int given = kernel_part(&s->options, "km");
    struct plan plan = {.km = given ? given : choose_km(s)};
    plan.pitch = node_pitch(s, plan.km);
    int *p = plan.part;
    p[KM] = plan.km;
    p[MB] = at_least_one(ELEMENTS / plan.km);
    p[FLUX_WP] =
        at_least_one(THREADS / (s->options.degree <= LOW ? 2 : 1) / dg_tables(s)->space.num_face_node);
    p[LIFT_STRATEGY] = FIELD_SHARED;
    bool first = s->options.degree == 1 && s->real_bytes == 4;
    p[STRATEGY] = first ? MATRIX_SHARED : FIELD_SHARED;
    p[LIFT_WP] = p[WP] = at_least_one(THREADS / plan.pitch);
    p[WP] = first ? 4 : p[WP];
    p[LIFT_WI] = s->real_bytes == 4 ? 4 : 1;
    p[WI] = p[LIFT_WS] = 1;
    p[WS] = first ? 8 : 1;
    p[SEGMENT] = first || 3 * dg_tables(s)->space.num_node * 2 * WARP * s->real_bytes > MOST_BYTES ? 1 : 2;
    p[FIELDS] = dg_tables(s)->physics->num_field;
    p[LIFT_FIELDS] = (p[FIELDS] + 2) / 3;
    while (p[MB] > 1 && gather_block(s, &plan).shared_bytes > BYTES)
        p[MB] /= 2;
    while (p[LIFT_FIELDS] > 1 && lift_block(s, &plan).shared_bytes > BYTES)
        p[LIFT_FIELDS] = (p[LIFT_FIELDS] + 1) / 2;
    while (p[STRATEGY] == FIELD_SHARED && p[FIELDS] > 1 && local_block(s, &plan).shared_bytes > BYTES)
        p[FIELDS] = (p[FIELDS] + 1) / 2;
    memcpy(part, p, NUM_PART * sizeof *p);
}

static unda_status check_block(const char *function, struct block_shape block)
{
    if (block.threads > MOST_THREADS)
        FAIL(UNDA_ERR_ARG, "%s would have %d threads a block, expected up to %d: make km, segment or wp less",
             function, block.threads, MOST_THREADS);
    if (block.shared_bytes > MOST_BYTES)
        FAIL(UNDA_ERR_ARG,
             "%s needs %d KB of shared memory a block, expected up to %d: make mb, segment, fields, wp or wi "
             "less",
             function, block.shared_bytes >> 10, MOST_BYTES >> 10);
    return UNDA_OK;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static unda_status settle(const unda_solver *s, struct plan *plan)
{
    enum { MOST_TILE = 1 << 20 };
    int num_field = dg_tables(s)->physics->num_field;
    for (int i = 0; i < 2; i++) {
        int given = plan->part[i ? LIFT_FIELDS : FIELDS];
        if (given > num_field)
            FAIL(UNDA_ERR_ARG, "%s is %d, expected 1..%d", i ? "lift_fields" : "fields", given, num_field);
    }
    plan->rows = 1;
    plan_count_rows(s, plan);
    plan->km = plan->part[KM];
    plan->pitch = node_pitch(s, plan->km);
    plan->own[GATHER] = gather_block(s, plan);
    plan->own[LIFT] = lift_block(s, plan);
    plan->own[LOCAL] = local_block(s, plan);
    int64_t tile = 1;
    for (int i = 0; i < NUM_FUNCTION; i++) {
        TRY(check_block(plan->kernel->function[i], plan->own[i]));
        tile = common_multiple(tile, plan->own[i].tile);
    }
    if (tile > MOST_TILE)
        FAIL(
            UNDA_ERR_ARG,
            "blocks of %d, %d and %d elements end together after %lld, expected up to %d: choose mb, wp, wi, "
            "ws that divide each other",
            plan->own[GATHER].tile, plan->own[LIFT].tile, plan->own[LOCAL].tile, (long long)tile, MOST_TILE);
    plan->tile = (int)tile;
    plan->threads = plan->own[LOCAL].threads;
    plan->shared_bytes = plan->own[LOCAL].shared_bytes;
    plan->num_table = blocks_of(dg_tables(s)->space.num_owned, plan->own[GATHER].tile) *
                      (HEAD + 2 * (int64_t)num_pair(s, plan));
    return UNDA_OK;
}

static void define(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines)
{
    const int *part = plan->part;
    gpu_define(defines, "NFM=%d", face_pitch(s, plan));
    gpu_define(defines, "MB=%d", part[MB]);
    gpu_define(defines, "FLUX_WP=%d", part[FLUX_WP]);
    gpu_define(defines, "FLUX_THREADS=%d", plan->own[GATHER].threads);
    gpu_define(defines, "GATHER_BYTES=%d", plan->own[GATHER].shared_bytes);
    gpu_define(defines, "LIFT_BYTES=%d", plan->own[LIFT].shared_bytes);
    gpu_define(defines, "LIFT_STRATEGY=%d", part[LIFT_STRATEGY]);
    gpu_define(defines, "LIFT_WP=%d", part[LIFT_WP]);
    gpu_define(defines, "LIFT_WI=%d", part[LIFT_WI]);
    gpu_define(defines, "LIFT_WS=%d", part[LIFT_WS]);
    gpu_define(defines, "STRATEGY=%d", part[STRATEGY]);
    gpu_define(defines, "WP=%d", part[WP]);
    gpu_define(defines, "WI=%d", part[WI]);
    gpu_define(defines, "WS=%d", part[WS]);
    gpu_define(defines, "SEGMENT=%d", WARP * part[SEGMENT]);
    gpu_define(defines, "FIELDS=%d", part[FIELDS]);
    gpu_define(defines, "LIFT_FIELDS=%d", part[LIFT_FIELDS]);
}

static int64_t scratch(const unda_solver *s, const struct plan *plan)
{
    return blocks_of(dg_tables(s)->space.num_owned, plan->km) * face_pitch(s, plan) *
           dg_tables(s)->physics->num_field;
}

/* ---- pairs of faces ---- */

enum { INSIDE, OUTSIDE, BOUNDARY, TWICE, NUM_KIND };

/* What a face of a block [begin, end) of elements is; TWICE: it is its neighbour's pair. */
static int kind_of(int32_t face, int32_t neighbor, int64_t begin, int64_t end)
{
    if (neighbor < 0)
        return BOUNDARY;
    int64_t elem = neighbor >> 2;
    if (elem < begin || elem >= end)
        return OUTSIDE;
    return face < neighbor ? INSIDE : TWICE;
}

static void list_pairs(const struct space *space, int64_t begin, int64_t end, int32_t *table)
{
    int32_t next[NUM_KIND] = {0};
    int64_t first = begin * space->num_face, last = end * space->num_face;
    for (int64_t face = first; face < last; face++)
        table[kind_of((int32_t)face, space->neighbor[face], begin, end)]++;
    table[OUTSIDE] += table[INSIDE];
    table[BOUNDARY] += table[OUTSIDE];
    table[TWICE] = 0;
    next[OUTSIDE] = table[INSIDE];
    next[BOUNDARY] = table[OUTSIDE];
    for (int64_t face = first; face < last; face++) {
        int32_t neighbor = space->neighbor[face];
        int kind = kind_of((int32_t)face, neighbor, begin, end);
        if (kind == TWICE)
            continue;
        int32_t *pair = table + HEAD + 2 * next[kind]++;
        pair[0] = (int32_t)face;
        pair[1] = neighbor;
    }
}

static unda_status pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t tile = plan->own[GATHER].tile, num = space->num_owned,
            step = HEAD + 2 * (int64_t)num_pair(s, plan);
    for (int64_t begin = 0; begin < num; begin += tile)
        list_pairs(space, begin, begin + tile < num ? begin + tile : num, table + begin / tile * step);
    return plan_pack_rows(s, plan, matrix, table);
}

/* ---- work ---- */

/* As the paper counts it: products of every field, both sides of each face. Each input is read once and each output
 * written once, without padding; what a gather reads of other blocks is not counted. */
static void count(const unda_solver *s, int part, double *flops, double *bytes)
{
    const struct dg *dg = dg_tables(s);
    double np = dg->space.num_node, face = num_surface(s), all = dg->physics->num_field, moved = 0;
    int both = dg->both_jumps;
    *flops = *bytes = 0;
    if (part == GATHER) {
        *flops = face * (dg->physics->jump_flops[both] + dg->physics->lift_flops[both]);
        moved = (np + face) * all + METRIC_WORDS + (double)dg_num_face_coef(dg);
        *bytes = dg->space.num_face * (double)sizeof(int32_t);
    } else if (part == LIFT) {
        *flops = 2 * np * face * all;
        moved = (face + np) * all;
    } else {
        *flops = np * (2 * 3 * np * all + 3 * dg->physics->reference_flops) +
                 (double)dg_work_flops(dg, WORK_UPDATE, s->options.integrator);
        *bytes = (double)dg_work_bytes(dg, WORK_UPDATE, s->options.integrator, s->real_bytes, true);
        moved = METRIC_WORDS + dg->material_nodes * dg->physics->num_coef;
    }
    *bytes += moved * s->real_bytes;
}

static const struct layout layout_microblocks = {"layout/fields.h", 1, true, plan_place_fields};

const struct dg_kernel dg_kernel_microblock = {
    .base = {"microblock",
             NUM_PART,
             {[KM] = {"km", 1, 256, UNDA_TUNED_BY_ONE},
              [MB] = {"mb", 1, 256, UNDA_TUNED_BY_HALF},
              [FLUX_WP] = {"flux_wp", 1, 256, UNDA_TUNED_BY_HALF},
              [LIFT_STRATEGY] = {"lift_strategy", FIELD_SHARED, MATRIX_SHARED, UNDA_TUNED_BY_ONE},
              [LIFT_WP] = {"lift_wp", 1, 32, UNDA_TUNED_BOTH},
              [LIFT_WI] = {"lift_wi", 1, 16, UNDA_TUNED_BY_ONE},
              [LIFT_WS] = {"lift_ws", 1, 64, UNDA_TUNED_BY_HALF},
              [STRATEGY] = {"strategy", FIELD_SHARED, MATRIX_SHARED, UNDA_TUNED_BY_ONE},
              [WP] = {"wp", 1, 32, UNDA_TUNED_BOTH},
              [WI] = {"wi", 1, 16, UNDA_TUNED_BY_ONE},
              [WS] = {"ws", 1, 64, UNDA_TUNED_BY_HALF},
              [SEGMENT] = {"segment", 1, 32, UNDA_TUNED_BOTH},
              [FIELDS] = {"fields", 1, 16, UNDA_TUNED_BY_ONE},
              [LIFT_FIELDS] = {"lift_fields", 1, 16, UNDA_TUNED_BY_ONE}}},
    .file = "dg/microblock.cu",
    .layout = &layout_microblocks,
    .num_function = NUM_FUNCTION,
    .function = {"dg_gather", "dg_lift", "dg_local"},
    .work = {WORK_FLUX, WORK_FLUX, WORK_VOLUME | WORK_UPDATE},
    .has_rhs = true,
    .table = table,
    .settle = settle,
    .define = define,
    .pack = pack,
    .scratch = scratch,
    .count = count};
