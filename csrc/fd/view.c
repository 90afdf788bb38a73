/* view.c: where the engines of grids keep a field (unda_solver_view, unda_solver_read_device). In a view, half a cell beyond a
 * wall, is what stands there; what is read has images (state.c). */
#include "../solver/device_read.h"
#include "cpu.h"
#include "cuda.h"
#include "slabs.h"

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
    TRY(fd_cuda_monitors_end(s)); /* in memory that is there as long as the solver */
    view->device = s->options.device;
    TRY(place(s, fd_cuda_origin(s, t->array[field]), (int64_t[3]){t->plane, t->pitch, 1}, view, row));
    return gpu_sync(t->stream);
}

/* Where the user's node i of a field is, ~place if it is minus that. */
static int64_t place_of(const struct fd *fd, int32_t field, int axis, int64_t i)
{
    const struct fd_field *f = &fd->field[field];
    int sign;
    int64_t at = fd_mirror(&fd->axis[axis], f->half[axis], f->sign[axis], fd->axis[axis].first + i, &sign);
    return sign < 0 ? ~at : at;
}

unda_status fd_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece)
{
    const struct fd_cuda *t = fd_cuda(s);
    const struct fd *fd = fd_tables(s);
    TRY(device_read_check(field, fd->num_array));
    if (fd_cpu(s)) /* streamed.c: the state is in host memory */
        return UNDA_OK;
    /* Of the user's planes those that it has, with what images there are of them: slabs at sides are thicker than that. */
    int64_t before = fd->axis[0].first, first = fd->begin > before ? fd->begin - before : 0,
            end = fd->end < before + fd->axis[0].num ? fd->end - before : fd->axis[0].num,
            num = end > first ? end - first : 0;
    *piece = (struct device_piece){
        .gpu = t->gpu,
        .stream = t->stream,
        .table = READ_BOX,
        .args = {.from = POINTER(fd_cuda_origin(s, t->array[field])), .stride = {t->plane, t->pitch, 1}}};
    for (int a = 0; a < 3 && num > 0; a++) {
        int64_t begin = a ? 0 : first, count = a ? fd->axis[a].num : num;
        piece->args.first[a] = (int)place_of(fd, field, a, begin);
        piece->args.last[a] = (int)place_of(fd, field, a, begin + count - 1);
        piece->args.num_axis[a] = (int)count;
    }
    bool alone = fd->whole && slabs(fd->whole)->rank; /* the array is of this process's planes */
    piece->first = alone ? 0 : first * fd->axis[1].num * fd->axis[2].num;
    return UNDA_OK;
}

unda_solver *fd_slabs_part(const unda_solver *s, int32_t i)
{
    return slabs(s)->first + i < slabs(s)->end ? slab_of(s, slabs(s)->first + i) : NULL;
}
