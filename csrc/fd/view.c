/* view.c: where the engines of grids keep a field (unda_solver_view). Not here: images beyond walls (state.c). */
#include "cpu.h"
#include "cuda.h"

/* The user's nodes of an array in which node (0, 0, 0) with layers is at `origin`. */
static unda_status place(const unda_solver *s, uint64_t origin, const int64_t stride[3], unda_view *view,
                         const int64_t *row)
{
    view->address = origin;
    if (row)
        FAIL(UNDA_ERR_ARG, "row is not NULL, expected NULL: rows of grids are those of the user");
    for (int a = 0; a < 3; a++) {
        view->num[a] = fd_tables(s)->axis[a].num;
        view->stride[a] = stride[a];
        view->address += (uint64_t)(fd_tables(s)->axis[a].first * stride[a] * s->real_bytes);
    }
    return UNDA_OK;
}

unda_status fd_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct fd_cpu *t = fd_cpu(s);
    uint64_t origin = (uintptr_t)t->array[field] + (uint64_t)(t->origin * s->real_bytes);
    return place(s, origin, t->stride, view, row);
}

unda_status fd_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct fd_cuda *t = fd_cuda(s);
    if (fd_cpu(s)) /* streamed.c: the state is in host memory */
        return fd_cpu_view(s, field, view, row);
    view->device = s->options.device;
    TRY(place(s, fd_cuda_origin(s, t->array[field]), (int64_t[3]){t->plane, t->pitch, 1}, view, row));
    return gpu_sync(t->stream);
}
