/* cuda_layers.c: absorbing layers of the scalar scheme on a CUDA device: damping factors of nodes,
 * memory variables of matched layers. Not here: their tables (layer.c, matched.c), the kernels (cuda/fd). */
#include "cuda.h"

/* ---- damping factors ---- */

/* A whole number of vectors: tiles read so far, and multiply values that are never used. */
int64_t scalar_cuda_damp_margin(const struct scalar_cuda *t)
{
    return (2 * (t->pad_x > t->pad_y ? t->pad_x : t->pad_y) + 31) / 32 * 32;
}

unda_status scalar_cuda_set_damping(unda_solver *s, bool on)
{
    struct scalar_cuda *t = scalar_cuda(s);
    int64_t margin = scalar_cuda_damp_margin(t);
    for (int a = 0; a < 3; a++) {
        int64_t num = fd_tables(s)->axis[a].total;
        SCRATCH double *damp = NULL;
        TRY(array_try(&damp, num + 2 * margin, sizeof *damp, "layers"));
        for (int64_t i = 0; i < num + 2 * margin; i++)
            damp[i] = on && i >= margin && i < margin + num ? fd_tables(s)->axis[a].damp[i - margin] : 1;
        TRY(gpu_upload_reals(t->base.stream, t->damp_memory[a], damp, num + 2 * margin, s->real_bytes));
        t->damp[a] = t->damp_memory[a] + (gpu_ptr)(margin * s->real_bytes);
    }
    return UNDA_OK;
}

/* ---- matched layers ---- */

/* Rows in planes have the pitch of the state. */
static int64_t memory_row(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    return axis == 2 ? fd_matched(&fd_tables(s)->axis[2]) : t->base.pitch;
}
static int64_t memory_plane(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    const struct fd_axis *y = &fd_tables(s)->axis[1];
    return (axis == 1 ? fd_matched(y) : y->total) * memory_row(s, t, axis);
}
/* Any of the three of an axis; NULL: it has no matched layers. */
static const struct fd_memory *memory_of(const struct fd *fd, int axis)
{
    for (int i = 0; i < fd->num_memory; i++)
        if (fd->memory[i].axis == axis)
            return &fd->memory[i];
    return NULL;
}
/* Its planes before the first that is on the device, and those that are. */
static struct fd_range memory_planes(const struct fd *fd, const struct fd_memory *memory)
{
    struct fd_span made = fd_planes_made(fd);
    int64_t first = memory ? fd_memory_before(fd, memory, made.begin) : 0;
    return (struct fd_range){first, memory ? fd_memory_before(fd, memory, made.end) - first : 0};
}
static int64_t memory_part(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    const struct fd_memory *memory = memory_of(fd_tables(s), axis);
    int64_t unit = 128 / s->real_bytes;
    int64_t planes = memory_planes(fd_tables(s), memory).num;
    return (planes * memory_plane(s, t, axis) + unit - 1) / unit * unit;
}
/* Of plane `plane` of its first memory variable. */
static gpu_ptr memory_at(const unda_solver *s, const struct scalar_cuda *t, int axis, int64_t plane)
{
    const struct fd_memory *memory = memory_of(fd_tables(s), axis);
    int64_t first = memory_planes(fd_tables(s), memory).first;
    return t->memory[axis] + (gpu_ptr)((plane - first) * memory_plane(s, t, axis) * s->real_bytes);
}
int64_t scalar_cuda_memory_bytes(const unda_solver *s, const struct scalar_cuda *t, int axis)
{
    return 3 * memory_part(s, t, axis) * s->real_bytes;
}

void scalar_cuda_matched(const unda_solver *s, struct scalar_matched matched[3])
{
    const struct scalar_cuda *t = scalar_cuda(s);
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd_tables(s)->axis[a];
        struct scalar_matched *m = &matched[a];
        m->memory = POINTER(memory_at(s, t, a, 0));
        m->table = POINTER(t->table[a]);
        m->stride_x = memory_plane(s, t, a);
        m->stride_y = memory_row(s, t, a);
        m->part = memory_part(s, t, a);
        m->low = (int)axis->matched[0];
        m->high = (int)(axis->total - 1 - axis->matched[1]);
        m->num = (int)fd_matched(axis);
        for (int k = 1; k <= fd_tables(s)->half; k++) {
            double first = fd_flux_weight(fd_tables(s), a, 1);
            m->flux64[k] = k == 1 ? first : fd_flux_weight(fd_tables(s), a, k) / first;
            m->flux32[k] = (float)m->flux64[k];
        }
    }
}

/* Planes of constant x of one memory variable, without the padding of rows. */
unda_status scalar_cuda_memory(unda_solver *s, int number, int64_t first, int64_t count, void *out,
                               const void *in)
{
    struct scalar_cuda *t = scalar_cuda(s);
    const struct fd_memory *memory = &fd_tables(s)->memory[number];
    int64_t real = s->real_bytes, row = memory->num[2] * real, pitch = memory_row(s, t, memory->axis) * real;
    gpu_ptr at = memory_at(s, t, memory->axis, first) +
                 (gpu_ptr)(memory->number * memory_part(s, t, memory->axis) * real);
    int64_t rows = count * memory->num[1];
    TRY(out ? gpu_download_parts_async(t->base.stream, out, row, at, pitch, row, rows)
            : gpu_upload_parts_async(t->base.stream, at, pitch, in, row, row, rows));
    return gpu_sync(t->base.stream);
}

struct fd_piece scalar_cuda_memory_piece(const unda_solver *s, int number, struct fd_span planes)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct fd_memory *memory = &fd_tables(s)->memory[number];
    int64_t first = fd_memory_before(fd_tables(s), memory, planes.begin), real = s->real_bytes;
    int64_t num = fd_memory_before(fd_tables(s), memory, planes.end) - first;
    return (struct fd_piece){memory_at(s, t, memory->axis, first) +
                                 (gpu_ptr)(memory->number * memory_part(s, t, memory->axis) * real),
                             num * memory_plane(s, t, memory->axis) * real};
}

int64_t scalar_cuda_memory_plane_bytes(const unda_solver *s, int number)
{
    return memory_plane(s, scalar_cuda(s), fd_tables(s)->memory[number].axis) * s->real_bytes;
}
