/* layer_cuda.c: absorbing layers on a CUDA device, host side: tables, memory variables, launches before or after stages.
 * Next: layer_blocks.c, layer_items.c, cuda/dg/layer.h. */
#include "layer_cuda.h"

#include "common/index.h"

#include <stdio.h>

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

/* Of the list of blocks of tetrahedra (layer_items.c). */
int64_t layer_host_bytes(const struct dg *dg)
{
    int64_t num = dg->layers.num_elem;
    return num > 0 && !dg->metric_nodes ? (num + 1) * (int64_t)sizeof(int32_t) : 0;
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

/* The kernels, by LAYER_FOR_NEXT, .. */
static const char *const names[NUM_LAYER_PASS] = {"dg_layer_next", "dg_layer_first", "dg_layer_other"};

static unda_status compile(unda_solver *s, struct dg_cuda *t)
{
    struct gpu_defines defines = {.num = 0};
    struct layer_blocks p = layer_blocks(s);
    struct gpu_shape shape = layer_shape(s, &p);
    bool lines = dg_tables(s)->metric_nodes;
    double begin = clock_seconds();
    plan_define(s, &t->plan, &defines);
    gpu_define(&defines, "PHYSICS=\"%s\"", dg_tables(s)->physics->header);
    gpu_define(&defines, "SPACE=\"%s\"", dg_tables(s)->space.header);
    gpu_define(&defines, "DEGREE=%d", s->options.degree);
    gpu_define(&defines, "THREADS=%d", p.threads);
    gpu_define(&defines, "MIN_BLOCKS=%d", p.min_blocks);
    gpu_define(&defines, "SHARED_BYTES=%d", shape.shared_bytes);
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
    TRY(layer_items(s, t));
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
    struct layer_blocks p = layer_blocks(s);
    struct gpu_shape shape = layer_shape(s, &p);
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
    if (dg_tables(s)->metric_nodes)
        shape.grid[0] = (end - begin + p.cells - 1) / p.cells;
    else {
        a.first_block = layer_block_of(l, begin);
        shape.grid[0] = layer_block_of(l, end - 1) + 1 - a.first_block;
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

/* ---- buffers ---- */

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

/* ---- profile ---- */

struct timed_pass {
    unda_solver *s;
    struct stage stage;
};

static unda_status queue_pass(void *of)
{
    struct timed_pass *p = of;
    return launch(p->s, &p->stage, 0, dg_tables(p->s)->layers.num_elem);
}

/* A kernel as a stage launches it; the residual is in scratch memory, and memory variables gain 0. */
static unda_status time_pass(unda_solver *s, int64_t num_run, int pass, double launches,
                             unda_profile *profile)
{
    struct dg_cuda *t = tables(s);
    bool ab3 = pass == LAYER_FOR_OTHER;
    struct timed_pass timed = {s, {.update = ab3 ? UPDATE_AB3 : UPDATE_LSRK, .r = BUF_SCRATCH}};
    struct layer_blocks p = layer_blocks(s);
    struct gpu_shape shape = layer_shape(s, &p);
    int at = profile->num_kernel++;
    timed.stage.a = pass == LAYER_FOR_NEXT ? -0.5 : 0;
    snprintf(profile->name[at], sizeof profile->name[at], "%s", names[pass]);
    profile->launches[at] = launches;
    TRY(gpu_median_seconds(&(struct gpu_work){t->stream, queue_pass, &timed}, num_run,
                           &profile->seconds[at]));
    profile->stage_seconds += profile->seconds[at] * launches / dg_tables(s)->integration.kind->num_stage;
    layer_count(s, pass, &profile->flops[at], &profile->bytes[at]);
    return dg_cuda_resources(s, &t->layers.kernel[pass],
                             (struct block_shape){.threads = p.threads, .shared_bytes = shape.shared_bytes},
                             at, profile);
}

unda_status layer_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    const struct integrator *kind = dg_tables(s)->integration.kind;
    if (dg_tables(s)->layers.num_elem == 0)
        return UNDA_OK;
    if (kind->update != UPDATE_LSRK)
        return time_pass(s, num_run, LAYER_FOR_OTHER, kind->num_stage, profile);
    TRY(time_pass(s, num_run, LAYER_FOR_FIRST, 1, profile));
    return time_pass(s, num_run, LAYER_FOR_NEXT, kind->num_stage - 1, profile);
}
