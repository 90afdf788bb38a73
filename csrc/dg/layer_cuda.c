/* layer_cuda.c: absorbing layers on a CUDA device, host side: tables, memory variables, the launch after each stage.
 * Next: cuda/dg/layer_hex.cu, layer_tet.cu. */
#include "cuda.h"

#include "common/index.h"

#include <math.h>

static bool has_psi(const unda_solver *s, int buffer)
{
    return buffer != BUF_NEW && (buffer != BUF_R1 || s->options.integrator == UNDA_AB3);
}

/* Derivatives [3][column][row], lift [face node][row]; of lines the derivative and 1 / the weight of an end. */
static int64_t num_matrix(const unda_solver *s)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t line = s->options.degree + 1;
    return dg_tables(s)->metric_nodes
               ? line * line + 1
               : (int64_t)(3 * space->num_node + space->num_face * space->num_face_node) * space->num_node;
}

void layer_list(const unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct gpu_wants *w = &t->wants;
    struct dg_cuda_layers *to = &t->layers;
    int64_t real = s->real_bytes, num_node = dg->space.num_node;
    if (l->num_elem == 0)
        return;
    gpu_want(w, 1, &to->profile, l->num_item * LAYER_NUMBER * num_node * real, "layers");
    gpu_want(w, 1, &to->gradient, l->num_elem * 9 * dg_gradient_nodes(dg) * real, "layers");
    gpu_want(w, 1, &to->coef, l->num_elem * dg->physics->num_coef * dg->material_nodes * real, "layers");
    gpu_want(w, 1, &to->face, dg_layers_num_face(dg) * real, "layers");
    gpu_want(w, 1, &to->face_coef, dg_layers_num_face_coef(dg) * real, "layers");
    gpu_want(w, 1, &to->matrix, num_matrix(s) * real, "layers");
    gpu_want(w, 1, &to->elem, 4 * l->num_elem, "layers");
    gpu_want(w, 1, &to->first, 4 * (l->num_elem + 1), "layers");
    gpu_want(w, 1, &to->axis, 4 * l->num_item, "layers");
    if (!dg->metric_nodes)
        gpu_want(w, 1, &to->block, 4 * (l->num_elem + 1), "layers");
    for (int i = 0; i < NUM_BUF; i++)
        if (has_psi(s, i))
            gpu_want(w, 1, &to->psi[i], dg_num_memory(dg) * real, "layers");
}

static unda_status upload_matrix(unda_solver *s, struct dg_cuda *t)
{
    const struct element *el = dg_tables(s)->space.element;
    int64_t num = el->num_node, face = el->num_face_node, line = el->degree + 1;
    SCRATCH double *matrix = NULL;
    TRY(array_try(&matrix, num_matrix(s), sizeof *matrix, "layers"));
    for (int64_t i = 0; dg_tables(s)->metric_nodes && i < line * line; i++)
        matrix[i] = el->line_derivative[i];
    if (dg_tables(s)->metric_nodes)
        matrix[line * line] = 1 / el->line_weight[0];
    for (int64_t row = 0; !dg_tables(s)->metric_nodes && row < num; row++) {
        for (int64_t k = 0; k < 3 * num; k++)
            matrix[k * num + row] = el->derivative[(k / num * num + row) * num + k % num];
        for (int64_t m = 0; m < el->num_face * face; m++)
            matrix[(3 * num + m) * num + row] = el->lift[(m / face * num + row) * face + m % face];
    }
    TRY(gpu_upload_reals(t->stream, t->layers.matrix, matrix, num_matrix(s), s->real_bytes));
    return gpu_sync(t->stream);
}

/* ---- blocks ---- */

/* How a block works: cuda/dg/layer_hex.cu, layer_tet.cu. */
struct pass {
    int threads, min_blocks;
    int cells;       /* hexahedra of a block */
    int items, cols; /* of tetrahedra: items of a block, of a thread */
    int64_t shared_words, shared_reals;
};

static int round_up(int number, int unit)
{
    return (number + unit - 1) / unit * unit;
}

/* Blocks on an SM with so many registers a thread. */
static int min_blocks(int threads, int registers)
{
    enum { REGISTERS = 65536, SHARED_BY_PARTITIONS = 128 };
    int blocks = REGISTERS / (registers * round_up(threads, SHARED_BY_PARTITIONS));
    return blocks > 1 ? blocks : 1;
}

static struct pass pass_hex(const struct dg *dg, int line, int real_bytes)
{
    int num = dg->space.num_node, wide = dg->physics->num_trace * real_bytes; /* bytes of a node's traces */
    int least = wide > 16 ? 128 : 256, most = wide > 16 ? 128 : 384;
    struct pass p = {.cells = num < least ? least / num : 1};
    int nodes = p.cells * num, own = (nodes + most - 1) / most;
    p.threads = round_up((nodes + own - 1) / own, 32);
    p.min_blocks = min_blocks(p.threads, wide <= 8    ? 72
                                         : wide <= 16 ? 80
                                         : wide <= 24 ? 96
                                         : wide <= 32 ? 128
                                                      : 168);
    p.shared_reals = line * line + 1 + (int64_t)nodes * dg->physics->num_field;
    return p;
}

/* Columns of a thread, COLS NUM_TRACE: enough to use an entry of a matrix often, few enough for the registers. */
static struct pass pass_tet(const struct dg *dg, int real_bytes)
{
    const struct space *space = &dg->space;
    int num = space->num_node, trace = dg->physics->num_trace;
    int groups = num < 256 ? 256 / num : 1, columns = real_bytes == 4 ? 8 : 4;
    struct pass p = {.threads = round_up(groups * num, 32), .cols = trace >= columns ? 1 : columns / trace};
    p.items = groups * p.cols;
    p.min_blocks = min_blocks(p.threads, real_bytes == 4 ? 80 : 128);
    int64_t pitch = (p.items * trace + 3) / 4 * 4 + 4,
            rates = (int64_t)p.items * dg->physics->num_field * num;
    int64_t columns_of_all = pitch * (num + (int64_t)space->num_face * space->num_face_node);
    p.shared_words = 3 * (int64_t)p.items;
    p.shared_reals = rates < columns_of_all ? columns_of_all : rates;
    return p;
}

static struct pass pass_of(const unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    return dg->metric_nodes ? pass_hex(dg, s->options.degree + 1, s->real_bytes)
                            : pass_tet(dg, s->real_bytes);
}

static struct gpu_shape shape_of(const unda_solver *s)
{
    struct pass p = pass_of(s);
    int64_t words = (4 * p.shared_words + 15) / 16 * 16;
    return (struct gpu_shape){
        .grid = {1}, .block = {p.threads}, .shared_bytes = (int)(words + p.shared_reals * s->real_bytes)};
}

static unda_status compile(unda_solver *s, struct dg_cuda *t)
{
    static const char *const names[NUM_LAYER_PASS] = {"dg_layer_next", "dg_layer_first", "dg_layer_other"};
    struct gpu_defines defines = {.num = 0};
    struct gpu_shape shape = shape_of(s);
    struct pass p = pass_of(s);
    bool lines = dg_tables(s)->metric_nodes;
    double begin = clock_seconds();
    plan_define(s, &t->plan, &defines);
    gpu_define(&defines, "PHYSICS=\"%s\"", dg_tables(s)->physics->header);
    gpu_define(&defines, "SPACE=\"%s\"", dg_tables(s)->space.header);
    gpu_define(&defines, "DEGREE=%d", s->options.degree);
    gpu_define(&defines, "THREADS=%d", p.threads);
    gpu_define(&defines, "MIN_BLOCKS=%d", p.min_blocks);
    if (lines)
        gpu_define(&defines, "CELLS=%d", p.cells);
    else {
        gpu_define(&defines, "ITEMS=%d", p.items);
        gpu_define(&defines, "COLS=%d", p.cols);
    }
    struct gpu_source source = {lines ? "dg/layer_hex.cu" : "dg/layer_tet.cu", defines.list, defines.num};
    TRY(gpu_module_new(&t->layers.module, t->gpu, &source));
    for (int i = 0; i < NUM_LAYER_PASS; i++)
        TRY(gpu_kernel_get(&t->layers.kernel[i], t->layers.module, names[i], shape.shared_bytes));
    s->compile_seconds += clock_seconds() - begin;
    return UNDA_OK;
}

/* Cells of tetrahedra one after the other, as many a block as have no more items than it takes. */
static unda_status upload_blocks(unda_solver *s, struct dg_cuda *t)
{
    struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cuda_layers *to = &t->layers;
    struct pass p = pass_of(s);
    if (dg->metric_nodes)
        return UNDA_OK;
    TRY(array_own(&dg->owned, &to->host_block, l->num_elem + 1, sizeof *to->host_block, "layers"));
    to->num_block = 0;
    for (int64_t cell = 0; cell < l->num_elem; cell++)
        if (cell == 0 || l->first[cell + 1] - l->first[to->host_block[to->num_block - 1]] > p.items)
            to->host_block[to->num_block++] = (int32_t)cell;
    to->host_block[to->num_block] = (int32_t)l->num_elem;
    return gpu_upload(t->stream, to->block, to->host_block, 4 * (to->num_block + 1));
}

/* The block that cell `cell` is in. */
static int64_t block_of(const struct dg_cuda_layers *l, int64_t cell)
{
    int64_t low = 0, high = l->num_block;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (l->host_block[middle] <= cell)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- profiles ---- */

/* Whether a profile is the same, but for rounding, wherever nodes have one place along r_j; j = -1: everywhere. */
static bool goes_along(const double *profile, int line, int num_node, int j)
{
    const double small = 1e-10; /* nodes' coordinates differ by rounding */
    int step = j <= 0 ? 1 : j == 1 ? line : line * line;
    for (int i = 0; i < LAYER_NUMBER; i++)
        for (int n = 0; n < num_node; n++) {
            double at = profile[i * num_node + n];
            double first = profile[i * num_node + (j < 0 ? 0 : n / step % line * step)];
            if (fabs(at - first) > small * fabs(first))
                return false;
        }
    return true;
}

/* The r_j along which the profiles of each item go, -1 of tetrahedra; false: of some they do not go along one. */
static bool find_along(const unda_solver *s, int32_t *along)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    int num_node = dg->space.num_node, begin = dg->metric_nodes ? 0 : -1, end = dg->metric_nodes ? 3 : 0;
    for (int64_t item = 0; item < l->num_item; item++) {
        const double *profile = l->profile + item * LAYER_NUMBER * num_node;
        int j = begin;
        while (j < end && !goes_along(profile, s->options.degree + 1, num_node, j))
            j++;
        if (j == end)
            return false;
        along[item] = j;
    }
    return true;
}

/* Along which lines the coordinate on an axis changes: bits. */
static int lines_of(const struct dg *dg, int64_t cell, int axis)
{
    int num = dg_gradient_nodes(dg), lines = 0;
    const double *gradient = dg->layers.gradient + cell * 9 * num;
    for (int j = 0; j < 3; j++)
        for (int n = 0; n < num; n++)
            if (gradient[(3 * j + axis) * num + n] != 0)
                lines |= 1 << j;
    return lines;
}

/* Profiles, of as few nodes as have different ones, and what the kernel knows of items. */
static unda_status upload_items(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cuda_layers *to = &t->layers;
    int num_node = dg->space.num_node, line = s->options.degree + 1;
    SCRATCH int32_t *along = NULL;
    SCRATCH double *profile = NULL;
    TRY(array_try(&along, l->num_item, sizeof *along, "layers"));
    to->profile_nodes = !find_along(s, along) ? num_node : dg->metric_nodes ? line : 1;
    TRY(array_try(&profile, l->num_item * LAYER_NUMBER * to->profile_nodes, sizeof *profile, "layers"));
    for (int64_t row = 0; row < l->num_item * LAYER_NUMBER; row++)
        for (int64_t i = 0; i < to->profile_nodes; i++) {
            int j = to->profile_nodes == num_node ? 0 : along[row / LAYER_NUMBER];
            int64_t step = j <= 0 ? 1 : j == 1 ? line : line * line;
            profile[row * to->profile_nodes + i] = l->profile[row * num_node + i * step];
        }
    TRY(gpu_upload_reals(t->stream, to->profile, profile, l->num_item * LAYER_NUMBER * to->profile_nodes,
                         s->real_bytes));
    for (int64_t cell = 0; cell < l->num_elem; cell++)
        for (int64_t item = l->first[cell]; item < l->first[cell + 1]; item++) {
            int j = to->profile_nodes == line ? along[item] : 0;
            along[item] = LAYER_ITEM(l->axis[item], lines_of(dg, cell, l->axis[item]), j);
        }
    TRY(gpu_upload(t->stream, to->axis, along, 4 * l->num_item));
    return upload_blocks(s, t);
}

unda_status layer_fill(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cuda_layers *to = &t->layers;
    int real = s->real_bytes;
    if (l->num_elem == 0)
        return UNDA_OK;
    TRY(compile(s, t));
    TRY(upload_matrix(s, t));
    TRY(upload_items(s, t));
    TRY(gpu_upload_reals(t->stream, to->gradient, l->gradient, l->num_elem * 9 * dg_gradient_nodes(dg),
                         real));
    TRY(gpu_upload_reals(t->stream, to->coef, l->coef,
                         l->num_elem * dg->physics->num_coef * dg->material_nodes, real));
    if (!dg->metric_nodes) {
        TRY(gpu_upload_reals(t->stream, to->face, l->face, dg_layers_num_face(dg), real));
        TRY(gpu_upload_reals(t->stream, to->face_coef, l->face_coef, dg_layers_num_face_coef(dg), real));
    }
    TRY(gpu_upload(t->stream, to->elem, l->elem, 4 * l->num_elem));
    TRY(gpu_upload(t->stream, to->first, l->first, 4 * (l->num_elem + 1)));
    s->num_launch += dg->integration.kind->num_stage;
    return gpu_sync(t->stream);
}

void layer_free(struct dg_cuda *t)
{
    gpu_module_free(t->layers.module);
}

/* Which of the kernels a stage takes. */
static int pass_for(const struct stage *stage)
{
    return stage->update != UPDATE_LSRK ? LAYER_FOR_OTHER : stage->a == 0 ? LAYER_FOR_FIRST : LAYER_FOR_NEXT;
}

static unda_status launch(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end)
{
    struct dg_cuda *t = tables(s);
    const struct dg_cuda_layers *l = &t->layers;
    struct gpu_shape shape = shape_of(s);
    struct dg_layer_args a = dg_layer_arguments(s, stage);
    a.q = POINTER(t->buffer[BUF_Q]);
    a.q_new = POINTER(t->buffer[BUF_NEW]);
    a.r = POINTER(t->buffer[stage->r]);
    a.psi = POINTER(l->psi[BUF_Q]);
    a.psi_r = POINTER(l->psi[stage->r]);
    a.psi_r1 = POINTER(l->psi[BUF_R1]);
    a.gradient = POINTER(l->gradient);
    a.coef = POINTER(l->coef);
    a.profile = POINTER(l->profile);
    a.face = POINTER(l->face);
    a.face_coef = POINTER(l->face_coef);
    a.elem = POINTER(l->elem);
    a.first = POINTER(l->first);
    a.axis = POINTER(l->axis);
    a.block = POINTER(l->block);
    a.neighbor = POINTER(t->neighbor);
    a.face_node = POINTER(t->face_node);
    a.matrix = POINTER(l->matrix);
    a.profile_nodes = l->profile_nodes;
    a.first_cell = begin;
    a.last_cell = end;
    if (dg_tables(s)->metric_nodes) {
        int cells = pass_of(s).cells;
        shape.grid[0] = (end - begin + cells - 1) / cells;
    } else {
        a.first_block = block_of(l, begin);
        shape.grid[0] = block_of(l, end - 1) + 1 - a.first_block;
    }
    return gpu_launch(&l->kernel[pass_for(stage)], t->stream, &shape, &a, sizeof a);
}

unda_status layer_pass(unda_solver *s, const struct stage *stage, int64_t first, int64_t last, bool before)
{
    const struct dg_layers *l = &dg_tables(s)->layers;
    int64_t begin, end;
    if (l->num_elem == 0 || before != (pass_for(stage) == LAYER_FOR_NEXT))
        return UNDA_OK;
    dg_layers_range(l, first, last, &begin, &end);
    return begin == end ? UNDA_OK : launch(s, stage, begin, end);
}

void layer_swap(unda_solver *s, int a, int b)
{
    gpu_ptr *psi = tables(s)->layers.psi;
    if (a != BUF_NEW && b != BUF_NEW)
        SWAP(psi[a], psi[b]);
}

unda_status layer_copy(unda_solver *s, int to, int from)
{
    const struct dg *dg = dg_tables(s);
    const gpu_ptr *psi = tables(s)->layers.psi;
    return dg->layers.num_elem == 0
               ? UNDA_OK
               : gpu_copy_async(tables(s)->stream, psi[to], psi[from], dg_num_memory(dg) * s->real_bytes);
}

/* Goes by way of the host, which knows whose they are. */
unda_status layer_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                       const void *in)
{
    const struct dg *dg = dg_tables(s);
    struct dg_cuda *t = tables(s);
    int64_t bytes = dg_array_bytes(s, UNDA_MEMORY), all = dg_num_memory(dg) * s->real_bytes;
    SCRATCH void *psi = NULL;
    if (dg->layers.num_elem == 0 && !out)
        return UNDA_OK;
    TRY(array_try(&psi, all, 1, "layers"));
    if (all > 0)
        TRY(gpu_download(t->stream, psi, t->layers.psi[buffer], all));
    for (int64_t i = 0; i < count; i++)
        dg_memory_move(s, elem[i], dg->space.num_node, psi, out ? (char *)out + i * bytes : NULL,
                       in ? (const char *)in + i * bytes : NULL);
    return out || all == 0 ? UNDA_OK : gpu_upload(t->stream, t->layers.psi[buffer], psi, all);
}
