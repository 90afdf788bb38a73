/* view.c: where the engines of DG keep a field (unda_solver_view). Not here: the layouts on a device (cuda/layout, each
 * with its place_view in the kernel's file). */
#include "cpu.h"
#include "cuda.h"

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
