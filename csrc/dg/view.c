/* view.c: where the engines of DG keep a field (unda_solver_view, unda_solver_read_device). Not here: the layouts on a device
 * (cuda/layout, each with its place_view in the kernel's file). */
#include "../solver/device_read.h"
#include "cpu.h"
#include "cuda.h"
#include "team.h"

/* Rows are elements in the space's order, then room that no element has. */
static void number_rows(const unda_solver *s, const unda_view *view, int64_t *row)
{
    const struct space *space = &dg_tables(s)->space;
    for (int64_t i = 0; row && i < view->num[0] * view->num[1]; i++)
        row[i] = i < space->num_owned ? space->order[i] : -1;
}

unda_status dg_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct space *space = &dg_tables(s)->space;
    view_shape(view, (int64_t[3]){space->num_owned, 1, space->num_node},
               (int64_t[3]){dg_num_value(s), 0, dg_cpu_place(s, 1, 0)});
    view->address =
        (uintptr_t)dg_cpu_tables(s)->buffer[BUF_Q] + (uint64_t)(dg_cpu_place(s, 0, field) * s->real_bytes);
    number_rows(s, view, row);
    return UNDA_OK;
}

unda_status dg_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct dg_cuda *t = tables(s);
    int64_t first = t->plan.kernel->layout->place_view(s, &t->plan, field, view);
    view->device = s->options.device;
    view->address = t->buffer[BUF_Q] + (gpu_ptr)(first * s->real_bytes);
    number_rows(s, view, row);
    return gpu_sync(t->stream);
}

unda_status dg_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece)
{
    const struct dg_cuda *t = tables(s);
    unda_view view = {.num = {0}};
    TRY(device_read_check(field, dg_tables(s)->physics->num_field));
    int64_t first = t->plan.kernel->layout->place_view(s, &t->plan, field, &view);
    *piece =
        (struct device_piece){.gpu = t->gpu,
                              .stream = t->stream,
                              .num_row = dg_tables(s)->space.num_owned,
                              .args = {.from = POINTER(t->buffer[BUF_Q] + (gpu_ptr)(first * s->real_bytes)),
                                       .stride = {view.stride[0], view.stride[1], view.stride[2]},
                                       .width = dg_tables(s)->space.num_node,
                                       .lanes = (int)view.num[1]}};
    return UNDA_OK;
}

void dg_list_rows(const unda_solver *s, const unda_solver *whole, int table, int64_t *row, int32_t *node)
{
    const struct space *space = &dg_tables(s)->space;
    const int64_t *user = whole != s && dg_team_of(whole)->owner ? space->mesh->part.global : NULL;
    (void)table;
    (void)node;
    for (int64_t i = 0; i < space->num_owned; i++)
        row[i] = user ? user[space->order[i]] : space->order[i];
}
