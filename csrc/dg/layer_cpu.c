/* layer_cpu.c: absorbing layers on the CPU: tables in the solver's precision, memory variables, OpenMP over cells. The results
 * do not depend on the number of threads. Not here: the pass itself (cpu_layer.inc.h). */
#include "cpu_layer.h"

#include "../base/parallel.h"

#include <omp.h>
#include <string.h>

static int pitch_of(const unda_solver *s)
{
    int lanes = 64 / s->real_bytes, num = dg_tables(s)->space.num_node;
    return (num + lanes - 1) / lanes * lanes;
}

/* Buffers of memory variables: all but that of the new state, and of r1 where there is none. */
static bool has_psi(const unda_solver *s, int buffer)
{
    return buffer != BUF_NEW && (buffer != BUF_R1 || s->options.integrator == UNDA_AB3);
}

/* Reals of derivatives and lift. */
static int64_t num_matrix(const unda_solver *s)
{
    const struct space *space = &dg_tables(s)->space;
    int64_t line = s->options.degree + 1;
    return dg_tables(s)->metric_nodes
               ? line * line
               : (3 * space->num_node + space->num_face * space->num_face_node) * (int64_t)pitch_of(s);
}

int64_t dg_cpu_layers_bytes(const unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    int64_t pitch = pitch_of(s), buffers = s->options.integrator == UNDA_AB3 ? NUM_BUF - 1 : NUM_BUF - 2;
    int64_t gradient = 9 * (dg_gradient_nodes(dg) > 1 ? pitch : 1);
    int64_t coef = dg->physics->num_coef * (dg->material_nodes > 1 ? pitch : 1);
    int64_t item = pitch * (LAYER_NUMBER + buffers * dg->physics->num_trace);
    int64_t faces = dg_layers_num_face(dg) + dg_layers_num_face_coef(dg);
    return l->num_elem > 0 ? s->real_bytes * (l->num_elem * (gradient + coef) + faces + l->num_item * item +
                                              num_matrix(s))
                           : 0;
}

/* to [row][pitch] of from [row][num]; one number a row stays one. */
static unda_status new_rows(unda_solver *s, void **to, const double *from, int64_t num_row, int64_t num)
{
    int64_t pitch = num > 1 ? pitch_of(s) : 1;
    TRY(array_own(&dg_cpu_tables(s)->owned, to, num_row * pitch, s->real_bytes, "layers"));
    for (int64_t row = 0; row < num_row; row++)
        for (int64_t i = 0; i < num; i++)
            real_put(s, *to, row * pitch + i, from[row * num + i]);
    return UNDA_OK;
}

/* Columns of derivatives and of the lift, [column][pitch]; of hexahedra the derivative along a line. */
static unda_status new_matrix(unda_solver *s, struct dg_cpu_layers *l)
{
    const struct element *el = dg_tables(s)->space.element;
    int64_t num = el->num_node, face = el->num_face_node, pitch = l->pitch;
    TRY(array_own(&dg_cpu_tables(s)->owned, &l->matrix, num_matrix(s), s->real_bytes, "layers"));
    if (dg_tables(s)->metric_nodes) {
        real_copy(s, l->matrix, el->line_derivative, num_matrix(s));
        return UNDA_OK;
    }
    for (int64_t row = 0; row < num; row++) {
        for (int64_t k = 0; k < 3 * num; k++)
            real_put(s, l->matrix, k * pitch + row, el->derivative[(k / num * num + row) * num + k % num]);
        for (int64_t m = 0; m < el->num_face * face; m++)
            real_put(s, l->matrix, (3 * num + m) * pitch + row,
                     el->lift[(m / face * num + row) * face + m % face]);
    }
    return UNDA_OK;
}

static unda_status new_faces(unda_solver *s, struct dg_cpu_layers *l)
{
    const struct dg *dg = dg_tables(s);
    int64_t num = dg_layers_num_face(dg), num_coef = dg_layers_num_face_coef(dg);
    void *owned = &dg_cpu_tables(s)->owned;
    if (num == 0)
        return UNDA_OK;
    TRY(array_own(owned, &l->face, num, s->real_bytes, "layers"));
    TRY(array_own(owned, &l->face_coef, num_coef, s->real_bytes, "layers"));
    real_copy(s, l->face, dg->layers.face, num);
    real_copy(s, l->face_coef, dg->layers.face_coef, num_coef);
    return UNDA_OK;
}

unda_status dg_cpu_layers_new(unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cpu_layers *t = &dg_cpu_tables(s)->layers;
    if (l->num_elem == 0)
        return UNDA_OK;
    t->pitch = pitch_of(s);
    TRY(new_rows(s, &t->profile, l->profile, l->num_item * LAYER_NUMBER, dg->space.num_node));
    TRY(new_rows(s, &t->gradient, l->gradient, l->num_elem * 9, dg_gradient_nodes(dg)));
    TRY(new_rows(s, &t->coef, l->coef, l->num_elem * dg->physics->num_coef, dg->material_nodes));
    TRY(new_matrix(s, t));
    TRY(new_faces(s, t));
    for (int i = 0; i < NUM_BUF; i++)
        if (has_psi(s, i))
            TRY(array_own(&dg_cpu_tables(s)->owned, &t->psi[i],
                          l->num_item * dg->physics->num_trace * t->pitch, s->real_bytes, "layers"));
    return array_own(&dg_cpu_tables(s)->owned, &t->work, (int64_t)s->threads * LAYER_VALUES * t->pitch,
                     s->real_bytes, "work space");
}

unda_status dg_cpu_layers_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                               const void *in)
{
    struct dg_cpu_layers *t = &dg_cpu_tables(s)->layers;
    int64_t bytes = dg_array_bytes(s, UNDA_MEMORY);
    for (int64_t i = 0; i < count; i++)
        dg_memory_move(s, elem[i], t->pitch, t->psi[buffer], out ? (char *)out + i * bytes : NULL,
                       in ? (const char *)in + i * bytes : NULL);
    return UNDA_OK;
}

void dg_cpu_layers_copy(unda_solver *s, int to, int from)
{
    const struct dg *dg = dg_tables(s);
    void **psi = dg_cpu_tables(s)->layers.psi;
    int64_t num = dg->layers.num_item * dg->physics->num_trace * dg_cpu_tables(s)->layers.pitch;
    if (dg->layers.num_elem > 0)
        memcpy(psi[to], psi[from], (size_t)(num * s->real_bytes));
}

unda_status dg_cpu_layers_pass(unda_solver *s, const struct stage *stage, int64_t first, int64_t last)
{
    const struct dg *dg = dg_tables(s);
    struct dg_cpu *t = dg_cpu_tables(s);
    int64_t begin, end, work = (int64_t)LAYER_VALUES * t->layers.pitch * s->real_bytes;
    if (dg->layers.num_elem == 0)
        return UNDA_OK;
    dg_layers_range(&dg->layers, first, last, &begin, &end);
    struct dg_layer_args a = dg_layer_arguments(s, stage);
    a.q = t->buffer[BUF_Q];
    a.q_new = t->buffer[BUF_NEW];
    a.r = t->buffer[stage->r];
    a.psi = t->layers.psi[BUF_Q];
    a.psi_r = t->layers.psi[stage->r];
    a.psi_r1 = t->layers.psi[BUF_R1];
    a.gradient = t->layers.gradient;
    a.coef = t->layers.coef;
    a.profile = t->layers.profile;
    a.face = t->layers.face;
    a.face_coef = t->layers.face_coef;
    a.elem = dg->layers.elem;
    a.first = dg->layers.first;
    a.axis = dg->layers.axis;
    a.neighbor = dg->space.neighbor;
    a.face_node = t->face_node;
    a.matrix = t->layers.matrix;
    a.pitch = t->layers.pitch;
    const dg_cpu_layer *passes = dg->metric_nodes
                                     ? (s->real_bytes == 8 ? dg_cpu_layer_hex_f64 : dg_cpu_layer_hex_f32)
                                 : s->real_bytes == 8 ? dg_cpu_layer_tet_f64
                                                      : dg_cpu_layer_tet_f32;
    dg_cpu_layer pass = passes[s->options.physics];
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        void *room = (char *)t->layers.work + omp_get_thread_num() * work;
#pragma omp for schedule(static)
        for (int64_t cell = begin; cell < end; cell++)
            pass(t, &a, cell, room);
        parallel_restore(kept);
    }
    return UNDA_OK;
}
