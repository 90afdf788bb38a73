/* cpu.c: the CPU engine of DG: tables in the solver's precision, buffers, OpenMP over blocks of elements.
 * No reduction depends on the number of threads, so neither do the results.
 * Not here: the stage itself (cpu_stage.inc.h). */
#include "cpu.h"

#include "../base/parallel.h"
#include "blocks.h"
#include "monitor.h"
#include "common/index.h"
#include "cpu_blocks.h"
#include "cpu_layer.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static unda_status new_real(unda_solver *s, void *out, int64_t count, const char *what)
{
    return array_own(&dg_cpu_tables(s)->owned, out, count, s->real_bytes, what);
}

static unda_status new_copy(unda_solver *s, void **out, const double *from, int64_t count, const char *what)
{
    TRY(new_real(s, out, count, what));
    real_copy(s, *out, from, count);
    return UNDA_OK;
}

/* [row block][column][ROWS], padded with zero rows. */
static unda_status pack(unda_solver *s, struct dg_cpu *t)
{
    const struct element *el = dg_tables(s)->space.element;
    int np = el->num_node, nf = el->num_face_node, num_face = dg_tables(s)->space.num_face;
    int64_t blocks = (np + ROWS - 1) / ROWS;
    TRY(new_real(s, &t->derivative, blocks * np * 3 * ROWS, "derivative matrix"));
    TRY(new_real(s, &t->lift, blocks * num_face * nf * ROWS, "lift matrix"));
    for (int row = 0; row < np; row++) {
        int64_t block = row / ROWS, r = row % ROWS;
        for (int k = 0; k < np; k++)
            for (int j = 0; j < 3; j++)
                real_put(s, t->derivative, ((block * np + k) * 3 + j) * ROWS + r,
                         el->derivative[((int64_t)j * np + row) * np + k]);
        for (int face = 0; face < num_face; face++)
            for (int m = 0; m < nf; m++)
                real_put(s, t->lift, ((block * num_face + face) * nf + m) * ROWS + r,
                         el->lift[((int64_t)face * np + row) * nf + m]);
    }
    return UNDA_OK;
}

/* The degree from which on the four blocks are faster than whole matrices and round no more; measured with AVX-512, both
 * fluxes and integrators (benchmarks/NOTES.md). With narrower vectors they are faster at any. */
static const int first_degree[NUM_PHYSICS] = {[UNDA_ACOUSTIC] = 5, [UNDA_ELASTIC] = 5, [UNDA_MAXWELL] = 4};

/* Whether matrices of tetrahedra are taken as blocks. */
static bool blocks_pay(const unda_solver *s)
{
    return !parallel_has_avx512() || s->options.degree >= first_degree[s->options.physics];
}

/* Tables of the blocks, and room for what a stage does with them. */
static unda_status pack_blocks(unda_solver *s, struct dg_cpu *t)
{
    const struct element *el = dg_tables(s)->space.element;
    if (s->real_bytes == 4)
        TRY(dg_cpu_pack_blocks_f32(&t->blocks, el, &t->owned));
    else
        TRY(dg_cpu_pack_blocks_f64(&t->blocks, el, &t->owned));
    int pairs = dg_tables(s)->physics->grad_div, chunks = pairs ? pairs : 2;
    t->work_bytes =
        64 * BLOCK_COLUMNS * ((int64_t)BLOCK_INPUTS(t->blocks) + (int64_t)chunks * BLOCK_RESULTS(t->blocks));
    return UNDA_OK;
}

/* The derivative of a line, and the metrics of the elements of a block side by side; a last block is filled up with
 * the last element. */
static unda_status pack_lines(unda_solver *s, struct dg_cpu *t)
{
    const struct dg *dg = dg_tables(s);
    const struct element *el = dg->space.element;
    int n = el->degree + 1, rows = line_rows(n), blocks = (n + rows - 1) / rows;
    int64_t words = dg->metric_words, last = dg->space.num_owned - 1;
    t->num_line_node = n;
    t->line_rows = rows;
    t->slab = n <= 4 ? n : 1; /* small elements are updated as a whole */
    t->metric_nodes = dg->metric_nodes;
    t->metric_words = dg->metric_words;
    t->trilinear = dg->metric_kind == UNDA_METRIC_TRILINEAR;
    TRY(new_copy(s, &t->coordinate, el->nodes, t->trilinear ? 3 * el->num_node : 0, "nodes"));
    t->inv_end_weight = 1 / el->line_weight[0];
    TRY(new_real(s, &t->derivative, blocks * n * rows, "derivative matrix"));
    for (int row = 0; row < n; row++)
        for (int k = 0; k < n; k++)
            real_put(s, t->derivative, (row / rows * n + k) * rows + row % rows,
                     el->line_derivative[row * n + k]);
    TRY(new_real(s, &t->metric, t->num_block * t->lanes * words, "metric"));
    for (int64_t i = 0; i < t->num_block * t->lanes; i++)
        for (int64_t k = 0; k < words; k++)
            real_put(s, t->metric, (i / t->lanes * words + k) * t->lanes + i % t->lanes,
                     dg->metric[(i < last ? i : last) * words + k]);
    return UNDA_OK;
}

/* ---- hexahedra one at a time ---- */

/* By physics, precision, lines of 4 or 8 nodes, and flux. */
static const dg_cpu_block (*const cell_stages[NUM_PHYSICS][2])[3] = {
    {dg_cpu_cells_acoustic_f32, dg_cpu_cells_acoustic_f64},
    {dg_cpu_cells_elastic_f32, dg_cpu_cells_elastic_f64},
    {dg_cpu_cells_maxwell_f32, dg_cpu_cells_maxwell_f64}};

/* The stage that takes a hexahedron at a time, NULL where there is none: lines of other lengths do not fill vectors. */
static dg_cpu_block cells_stage(const unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    int n = dg->space.element->degree + 1;
    if (!dg->metric_nodes || (n != 4 && n != 8) || !parallel_has_avx512())
        return NULL;
    int flux = dg->material_nodes > 1 ? 2 : dg->flux == UNDA_CENTRAL;
    return cell_stages[s->options.physics][s->real_bytes == 8][n == 8][flux];
}

/* A new array [item][num][node] of from [item][stride], which begins with [node][num]. */
static unda_status new_by_node(unda_solver *s, void **out, const double *from, int64_t num_item, int64_t num,
                               int64_t num_node, int64_t stride, const char *what)
{
    TRY(new_real(s, out, num_item * num * num_node, what));
    for (int64_t i = 0; i < num_item; i++)
        for (int64_t n = 0; n < num_node; n++)
            for (int64_t k = 0; k < num; k++)
                real_put(s, *out, (i * num + k) * num_node + n, from[i * stride + n * num + k]);
    return UNDA_OK;
}

/* The area element of a face of an affine cell: |G[j]|. */
static double affine_area(const struct dg *dg, int64_t elem, int axis)
{
    const double *m = dg->metric + elem * HEX_METRIC, *a = m + (axis + 1) % 3 * 3,
                 *b = m + (axis + 2) % 3 * 3;
    double g[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        g[i] = dg->physics->grad_div ? m[3 * axis + i] : a[j] * b[k] - a[k] * b[j];
    }
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* Coefficients of faces whose nodes have one area in common are multiplied by its powers once and for all. */
static void join_areas(unda_solver *s, struct dg_cpu *t)
{
    const struct dg *dg = dg_tables(s);
    const struct physics *p = dg->physics;
    for (int64_t i = 0; i < dg->space.num_owned * dg->space.num_face; i++) {
        double area = affine_area(dg, i / dg->space.num_face, (int)(i % dg->space.num_face) / 2);
        for (int k = 0; k < p->num_face_coef; k++)
            real_put(s, t->cell_face_coef, i * p->num_face_coef + k,
                     dg->face_coef[i * p->num_face_coef + k] * pow(area, p->face_coef_power[k].metric));
    }
}

/* [column][lane], [vector of a plane][column][lane] and the matrix, as cpu_cell.inc.h takes them. */
static unda_status pack_cell_lines(unda_solver *s, struct dg_cpu *t)
{
    const struct element *el = dg_tables(s)->space.element;
    int n = el->degree + 1, lanes = t->lanes, rows = lanes / n, planes = n / rows;
    int64_t at = 0;
    TRY(new_real(s, &t->derivative, (1 + planes) * n * lanes + n * n, "derivative matrix"));
    for (int k = 0; k < n; k++)
        for (int l = 0; l < lanes; l++)
            real_put(s, t->derivative, at++, el->line_derivative[l % n * n + k]);
    for (int p = 0; p < planes; p++)
        for (int k = 0; k < n; k++)
            for (int l = 0; l < lanes; l++)
                real_put(s, t->derivative, at++, el->line_derivative[(p * rows + l / n) * n + k]);
    for (int i = 0; i < n * n; i++)
        real_put(s, t->derivative, at++, el->line_derivative[i]);
    return UNDA_OK;
}

static unda_status pack_cells(unda_solver *s, struct dg_cpu *t)
{
    const struct dg *dg = dg_tables(s);
    const struct element *el = dg->space.element;
    const struct physics *p = dg->physics;
    int64_t num = dg->space.num_owned, by_node = dg->metric_kind == UNDA_METRIC_STORED;
    t->metric_nodes = dg->metric_nodes;
    t->metric_words = dg->metric_words;
    t->trilinear = dg->metric_kind == UNDA_METRIC_TRILINEAR;
    t->inv_end_weight = 1 / el->line_weight[0];
    t->num_line_node = el->degree + 1;
    TRY(pack_cell_lines(s, t));
    TRY(new_by_node(s, &t->coordinate, el->nodes, 1, 3, el->num_node, 3 * el->num_node, "nodes"));
    TRY(new_by_node(s, &t->metric, dg->metric, num, by_node ? HEX_METRIC : dg->metric_words,
                    by_node ? el->num_node : 1, dg->metric_words, "metric"));
    TRY(new_by_node(s, &t->cell_coef, dg->record, num, p->num_coef, dg->material_nodes, dg->num_word,
                    "materials"));
    TRY(new_by_node(s, &t->cell_face_coef, dg->face_coef, num * dg->space.num_face, p->num_face_coef,
                    dg->face_materials, dg->face_materials * p->num_face_coef, "face coefficients"));
    if (dg->metric_nodes == 1 && dg->face_materials == 1)
        join_areas(s, t);
    return UNDA_OK;
}

static unda_status list_faces(const struct space *space, struct dg_cpu *t)
{
    int num = space->num_face_node, all = space->num_side * num;
    TRY(array_own(&t->owned, &t->face_node, all + num, sizeof *t->face_node, "face nodes"));
    memcpy(t->face_node, space->element->face_node, (size_t)all * sizeof *t->face_node);
    for (int m = 0; m < num; m++)
        t->face_node[all + m] = m;
    return UNDA_OK;
}

/* Buffers of a stage, used again and again, that stay in the last cache; larger ones are asked for early. Where all is
 * there, asking takes a tenth longer than it saves. */
enum { CACHED_BYTES = 16 << 20 };

static unda_status allocate(unda_solver *s, struct dg_cpu *t)
{
    const struct dg *dg = dg_tables(s);
    const struct physics *p = dg->physics;
    int64_t num_value = space_num_total(&dg->space) * dg_num_value(s);
    t->lanes = 64 / s->real_bytes;
    t->num_block = (dg->space.num_owned + t->lanes - 1) / t->lanes;
    t->by_cell = cells_stage(s);
    TRY(t->by_cell         ? pack_cells(s, t)
        : dg->metric_nodes ? pack_lines(s, t)
        : blocks_pay(s)    ? pack_blocks(s, t)
                           : pack(s, t));
    TRY(list_faces(&dg->space, t));
    if (!t->by_cell) {
        TRY(new_copy(s, &t->record, dg->record, dg->num_word * dg->space.num_owned, "geometry"));
        TRY(new_copy(s, &t->face_coef, dg->face_coef, dg_num_face_coef(dg) * dg->space.num_owned,
                     "face coefficients"));
    }
    for (int i = 0; i < NUM_BUF; i++)
        if (i != BUF_R1 || s->options.integrator == UNDA_AB3)
            TRY(new_real(s, &t->buffer[i], num_value, "state"));
    int buffers = s->options.integrator == UNDA_AB3 ? 4 : 3;
    t->read_ahead = buffers * num_value * s->real_bytes > CACHED_BYTES;
    bool lines = dg->metric_nodes;
    int words = p->num_field + (lines ? p->grad_div ? 2 * p->grad_div : 4 : p->num_ref);
    int wide = p->num_field > p->num_ref ? p->num_field : p->num_ref;
    words += dg->metric_kind == UNDA_METRIC_TRILINEAR ? HEX_METRIC : 0;
    t->work_bytes += 64 * ((int64_t)dg->space.num_node * words +
                           (lines ? 2 * t->slab * dg->space.num_face_node * wide : 0) +
                           dg->space.num_face * dg->space.num_face_node * p->num_jump[dg->both_jumps]);
    TRY(array_own(&t->owned, &t->work, s->threads, t->work_bytes, "work space"));
    return UNDA_OK;
}

/* Entries of a tetrahedron's derivative and lift. */
static int64_t matrix_entries(const unda_solver *s)
{
    const struct space *space = &dg_tables(s)->space;
    struct block_sizes sizes = blocks_sizes(s->options.degree);
    int64_t entries = 0;
    for (int i = 0; i < NUM_BLOCK; i++)
        entries += (int64_t)sizes.nodes[i] * block_columns(&sizes, i);
    return blocks_pay(s) ? entries
                         : (space->num_node + ROWS - 1) / ROWS * ROWS *
                               (int64_t)(3 * space->num_node + space->num_face * space->num_face_node);
}

static unda_status forecast(unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    int64_t state = space_num_total(&dg->space) * dg_num_value(s);
    int64_t tables = dg->space.num_owned * (dg->num_word + dg->metric_words + dg_num_face_coef(dg));
    int64_t matrix = dg->metric_nodes ? 0 : matrix_entries(s);
    int buffers = s->options.integrator == UNDA_AB3 ? NUM_BUF : NUM_BUF - 1;
    s->host_bytes =
        dg_host_bytes(dg) + s->real_bytes * (buffers * state + tables + matrix) + dg_cpu_layers_bytes(s);
    s->device_bytes = 0;
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    struct dg_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads =
        parallel_worth(s->options.threads, dg_tables(s)->space.num_owned * dg_num_value(s), LEAST_COUPLED);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    t->num_node = dg_tables(s)->space.num_node;
    t->num_face_node = dg_tables(s)->space.num_face_node;
    t->num_word = dg_tables(s)->num_word;
    t->num_face_coef = (int)dg_num_face_coef(dg_tables(s));
    t->upwind = dg_tables(s)->flux == UNDA_UPWIND;
    t->by_node = dg_tables(s)->material_nodes > 1;
    TRY(solver_add_hook(s, dg_cpu_record_due, NULL));
    t->has_local = dg_tables(s)->has_local;
    TRY(allocate(s, t));
    return dg_cpu_layers_new(s);
}

static void destroy(unda_solver *s)
{
    struct dg_cpu *t = dg_cpu_tables(s);
    arrays_free(&t->listed);
    arrays_free(&t->owned);
    array_free(t->amplitude);
    array_free(t->exact);
    array_free(t);
    s->data = NULL;
}

/* An element's values from [node][field] to how the engine holds them, or back. */
static void place_values(const unda_solver *s, char *to, const char *from, bool into)
{
    int num_field = dg_tables(s)->physics->num_field;
    if (!dg_cpu_tables(s)->by_cell) {
        memcpy(to, from, (size_t)dg_elem_bytes(s));
        return;
    }
    for (int64_t i = 0; i < dg_num_value(s); i++) {
        int64_t held = dg_cpu_place(s, i / num_field, i % num_field) * s->real_bytes, at = i * s->real_bytes;
        memcpy(to + (into ? held : at), from + (into ? at : held), (size_t)s->real_bytes);
    }
}

/* ---- sampled data ---- */

static unda_status list_points(unda_solver *s)
{
    struct dg_cpu *t = dg_cpu_tables(s);
    arrays_free(&t->listed);
    TRY(dg_parts_new(s, t->lanes, t->num_block, &t->parts, &t->listed));
    if (!t->by_cell)
        return UNDA_OK;
    SCRATCH char *weight = NULL;
    int64_t bytes = dg_elem_bytes(s);
    TRY(array_try(&weight, 1, bytes, "sources"));
    for (int64_t i = 0; i < t->parts.num; i++) {
        char *part = (char *)t->parts.weight + i * bytes;
        memcpy(weight, part, (size_t)bytes);
        place_values(s, part, weight, true);
    }
    return UNDA_OK;
}

static unda_status reserve(unda_solver *s)
{
    struct dg_cpu *t = dg_cpu_tables(s);
    int64_t num_time = dg_max_time(s);
    TRY(array_grow(&t->amplitude, 0, num_time * s->num_source, s->real_bytes, "source amplitudes"));
    return array_grow(&t->exact, 0, dg_num_exact(s, num_time), s->real_bytes, "exact data");
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    real_copy(s, dg_cpu_tables(s)->amplitude, drive->amplitudes, drive->num_time * s->num_source);
    real_copy(s, dg_cpu_tables(s)->exact, drive->exact, dg_num_exact(s, drive->num_time));
    return UNDA_OK;
}

/* ---- stages ---- */

/* By unda_shape, unda_physics and precision. */
static const dg_cpu_block *const stages[][NUM_PHYSICS][2] = {
    {{dg_cpu_acoustic_f32, dg_cpu_acoustic_f64},
     {dg_cpu_elastic_f32, dg_cpu_elastic_f64},
     {dg_cpu_maxwell_f32, dg_cpu_maxwell_f64}},
    {{dg_cpu_hex_acoustic_f32, dg_cpu_hex_acoustic_f64},
     {dg_cpu_hex_elastic_f32, dg_cpu_hex_elastic_f64},
     {dg_cpu_hex_maxwell_f32, dg_cpu_hex_maxwell_f64}}};

static int64_t block(const unda_solver *s)
{
    return dg_cpu_tables(s)->lanes;
}

static unda_status stage(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end)
{
    struct dg_cpu *t = dg_cpu_tables(s);
    TRY(dg_check_range(s, begin, end));
    struct dg_args a = dg_stage_args(s, stage);
    a.q = t->buffer[BUF_Q];
    a.q_new = t->buffer[BUF_NEW];
    a.r = t->buffer[stage->r];
    a.r1 = t->buffer[BUF_R1];
    a.record = t->record;
    a.face_coef = t->face_coef;
    a.neighbor = dg_tables(s)->space.neighbor;
    a.face_node = t->face_node;
    a.exact = t->exact;
    a.amplitude = t->amplitude;
    a.source_weight = t->parts.weight;
    a.source_elem = t->parts.elem;
    a.source_column = t->parts.source;
    a.source_range = t->parts.range;
    a.incident = dg_tables(s)->incident;
    a.incident_range = t->parts.incident_range;
    int64_t first = (begin + t->lanes - 1) / t->lanes, last = (end + t->lanes - 1) / t->lanes;
    const struct dg *dg = dg_tables(s);
    dg_cpu_block block_stage = t->by_cell
                                   ? cells_stage(s)
                                   : stages[dg->space.element->shape][s->options.physics][s->real_bytes == 8]
                                           [dg->both_jumps + (dg->material_nodes > 1)];
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        void *work = (char *)t->work + omp_get_thread_num() * t->work_bytes;
#pragma omp for schedule(static)
        for (int64_t i = first; i < last; i++)
            block_stage(t, &a, stage->update, i * t->lanes, i, work);
        parallel_restore(kept);
    }
    return dg_cpu_layers_pass(s, stage, begin, end);
}

/* ---- state ---- */

static void swap(unda_solver *s, int a, int b)
{
    void **buffer = dg_cpu_tables(s)->buffer, *kept = buffer[a];
    buffer[a] = buffer[b];
    buffer[b] = kept;
    if (a != BUF_NEW && b != BUF_NEW)
        SWAP(dg_cpu_tables(s)->layers.psi[a], dg_cpu_tables(s)->layers.psi[b]);
    dg_swap_integrals(s, a, b);
}

static unda_status move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                        const void *in)
{
    int64_t bytes = dg_elem_bytes(s);
    for (int64_t i = 0; i < count; i++) {
        char *state = (char *)dg_cpu_tables(s)->buffer[buffer] + elem[i] * bytes;
        place_values(s, in ? state : (char *)out + i * bytes, in ? (const char *)in + i * bytes : state, in);
    }
    return UNDA_OK;
}

static unda_status copy(unda_solver *s, int to, int from)
{
    memcpy(dg_cpu_tables(s)->buffer[to], dg_cpu_tables(s)->buffer[from],
           (size_t)(dg_elem_bytes(s) * space_num_total(&dg_tables(s)->space)));
    dg_cpu_layers_copy(s, to, from);
    return UNDA_OK;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    kernel_describe_part(info, "metric", dg_tables(s)->metric_kind);
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    const void *q = dg_cpu_tables(s)->buffer[BUF_Q];
    int64_t num_value = dg_num_value(s), num_field = dg_tables(s)->physics->num_field,
            num_node = num_value / num_field;
    int64_t count = dg_tables(s)->space.num_owned * num_value, first = count;
#pragma omp parallel for schedule(static) num_threads(s->threads) reduction(min : first)
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(real_get(s, q, i))) {
            int64_t value = i % num_value, node = value % num_node * num_field + value / num_node;
            int64_t place = dg_cpu_tables(s)->by_cell ? i - value + node : i;
            first = place < first ? place : first;
        }
    *index = first < count ? first : -1;
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    int64_t time = 0;
    for (int64_t i = 0; i < num_step; i++)
        TRY(integration_step(s, &dg_tables(s)->integration, &time));
    return UNDA_OK;
}

const struct dg_engine dg_cpu = {.base = {.name = "cpu",
                                          .kernels = dg_kernels,
                                          .create = create,
                                          .destroy = destroy,
                                          .describe = describe,
                                          .drive = drive,
                                          .run = run,
                                          .find_bad = find_bad,
                                          .list_points = list_points,
                                          .reserve = reserve,
                                          .block = block,
                                          .stage = stage,
                                          .integrate = dg_cpu_integrate,
                                          .copy = copy,
                                          .swap = swap,
                                          .exchange_begin = dg_cpu_exchange_begin,
                                          .exchange_end = dg_cpu_exchange_end,
                                          .forecast = forecast,
                                          .view = dg_cpu_view,
                                          .monitor_new = monitor_cpu_new,
                                          .monitor_take = dg_cpu_monitor_take},
                                 .move = move,
                                 .move_memory = dg_cpu_layers_move,
                                 .join = dg_cpu_join,
                                 .join_rank = dg_cpu_join_rank,
                                 .join_bytes = dg_cpu_join_bytes,
                                 .run_team = dg_team_take_steps};
