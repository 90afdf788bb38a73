/* layer_cuda.c: absorbing layers on a CUDA device, host side: tables, memory variables, the launch after each stage.
 * Next: cuda/dg/layer.cu. */
#include "cuda.h"

#include "common/index.h"

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
    gpu_want(w, 1, &to->matrix, num_matrix(s) * real, "layers");
    gpu_want(w, 1, &to->elem, 4 * l->num_elem, "layers");
    gpu_want(w, 1, &to->first, 4 * (l->num_elem + 1), "layers");
    gpu_want(w, 1, &to->axis, 4 * l->num_item, "layers");
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

/* Threads of a block, and shared memory: struct room of cuda/dg/layer.cu. */
static struct gpu_shape shape_of(const unda_solver *s)
{
    enum { WARP = 32, MOST = 512 };
    const struct dg *dg = dg_tables(s);
    int num = dg->space.num_node, threads = (num + WARP - 1) / WARP * WARP;
    int64_t reals = (int64_t)dg->physics->num_trace * (num + dg->space.num_face_node);
    int64_t bytes = reals * s->real_bytes + 2 * num;
    return (struct gpu_shape){
        .grid = {1}, .block = {threads < MOST ? threads : MOST}, .shared_bytes = (int)((bytes + 7) / 8 * 8)};
}

static unda_status compile(unda_solver *s, struct dg_cuda *t)
{
    struct gpu_defines defines = {.num = 0};
    struct gpu_shape shape = shape_of(s);
    double begin = clock_seconds();
    plan_define(s, &t->plan, &defines);
    gpu_define(&defines, "PHYSICS=\"%s\"", dg_tables(s)->physics->header);
    gpu_define(&defines, "SPACE=\"%s\"", dg_tables(s)->space.header);
    gpu_define(&defines, "DEGREE=%d", s->options.degree);
    gpu_define(&defines, "THREADS=%d", (int)shape.block[0]);
    gpu_define(&defines, "TENSOR=%d", dg_tables(s)->metric_nodes > 0);
    struct gpu_source source = {"dg/layer.cu", defines.list, defines.num};
    TRY(gpu_module_new(&t->layers.module, t->gpu, &source));
    TRY(gpu_kernel_get(&t->layers.kernel, t->layers.module, "dg_layer", shape.shared_bytes));
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
    TRY(gpu_upload_reals(t->stream, to->profile, l->profile, l->num_item * LAYER_NUMBER * dg->space.num_node,
                         real));
    TRY(gpu_upload_reals(t->stream, to->gradient, l->gradient, l->num_elem * 9 * dg_gradient_nodes(dg),
                         real));
    TRY(gpu_upload_reals(t->stream, to->coef, l->coef,
                         l->num_elem * dg->physics->num_coef * dg->material_nodes, real));
    TRY(gpu_upload(t->stream, to->elem, l->elem, 4 * l->num_elem));
    TRY(gpu_upload(t->stream, to->first, l->first, 4 * (l->num_elem + 1)));
    TRY(gpu_upload(t->stream, to->axis, l->axis, 4 * l->num_item));
    s->num_launch += dg->integration.kind->num_stage;
    return gpu_sync(t->stream);
}

void layer_free(struct dg_cuda *t)
{
    gpu_module_free(t->layers.module);
}

unda_status layer_pass(unda_solver *s, const struct stage *stage, int64_t first, int64_t last)
{
    const struct dg *dg = dg_tables(s);
    struct dg_cuda *t = tables(s);
    struct gpu_shape shape = shape_of(s);
    int64_t begin, end;
    if (dg->layers.num_elem == 0)
        return UNDA_OK;
    dg_layers_range(&dg->layers, first, last, &begin, &end);
    if (begin == end)
        return UNDA_OK;
    struct dg_layer_args a = dg_layer_arguments(s, stage);
    a.q = POINTER(t->buffer[BUF_Q]);
    a.q_new = POINTER(t->buffer[BUF_NEW]);
    a.r = POINTER(t->buffer[stage->r]);
    a.psi = POINTER(t->layers.psi[BUF_Q]);
    a.psi_r = POINTER(t->layers.psi[stage->r]);
    a.psi_r1 = POINTER(t->layers.psi[BUF_R1]);
    a.gradient = POINTER(t->layers.gradient);
    a.coef = POINTER(t->layers.coef);
    a.profile = POINTER(t->layers.profile);
    a.elem = POINTER(t->layers.elem);
    a.first = POINTER(t->layers.first);
    a.axis = POINTER(t->layers.axis);
    a.neighbor = POINTER(t->neighbor);
    a.face_node = POINTER(t->face_node);
    a.matrix = POINTER(t->layers.matrix);
    a.first_cell = begin;
    shape.grid[0] = end - begin;
    return gpu_launch(&t->layers.kernel, t->stream, &shape, &a, sizeof a);
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
