/* launch.c: ghosts and the launches of a pass of the staggered schemes on CUDA devices. Not here:
 * the blocks (staggered/boxes.c), the order of a step (staggered/cuda.c). Next:
 * cuda/fd/staggered/staggered.cu. */
#include "cuda.h"

enum { SAME = 8 }; /* two vectors */

/* ---- ghosts ---- */

bool staggered_ghost_axes(const unda_solver *s, int pass, bool sides, int *axes)
{
    const struct staggered *p = fd_tables(s)->physics;
    bool any = false;
    for (int i = 0; i < p->count[pass]; i++) {
        const struct fd_field *field = &fd_tables(s)->field[p->first[pass] + i];
        axes[i] = p->stagger[p->first[pass] + i];
        for (int n = 0; n < p->num_derivative[0] + p->num_derivative[1]; n++)
            axes[i] |= (p->derivative[n].source == p->first[pass] + i) << p->derivative[n].axis;
        for (int axis = 0; axis < 3; axis++)
            if ((field->sign[axis][0] == SIDE_NOTHING && field->sign[axis][1] == SIDE_NOTHING) ||
                (axis == 2 && staggered_images(fd_tables(s))) || (axis == 0 && !sides))
                axes[i] &= ~(1 << axis);
        any = any || axes[i];
    }
    return any;
}

/* Fills the images of fields along the axes (bits) for which they are needed, at least one, along y and z beside
 * rows of some planes. */
static unda_status fill_ghosts(unda_solver *s, int num, const gpu_ptr *array, const struct fd_field *field,
                               const int *axes, struct staggered_planes planes)
{
    const struct fd *fd = fd_tables(s);
    struct fd_cuda *t = fd_cuda(s);
    struct staggered_ghost_args a = {
        .plane = t->plane, .origin = t->origin, .side = {!fd_cut(fd, 0), !fd_cut(fd, 1)}};
    int64_t jobs = 0, ghosts = 2 * fd->half + 1, most = 0, num_plane = 0;
    for (int i = 0; i < planes.num; i++) {
        a.begin[i] = (int)planes.span[i].begin;
        a.num_plane[i] = (int)(planes.span[i].end - planes.span[i].begin);
        num_plane += a.num_plane[i];
    }
    const int64_t blocks[3] = {ghosts * (fd->axis[1].total + 2 * fd->half), ghosts * num_plane, num_plane};
    for (int axis = 0; axis < 3; axis++)
        a.num[axis] = (int)fd->axis[axis].total;
    for (int f = 0; f < num; f++) {
        a.field[f] = POINTER(array[f]);
        for (int axis = 0; axis < 3; axis++) {
            a.half[f] |= field[f].half[axis] << axis;
            for (int side = 0; side < 2; side++)
                a.sign[f][axis][side] = field[f].sign[axis][side];
            if (axes[f] >> axis & 1) {
                a.job_field[jobs] = (signed char)f;
                a.job_axis[jobs++] = (signed char)axis;
                most = blocks[axis] > most ? blocks[axis] : most;
            }
        }
    }
    struct gpu_shape shape = {.grid = {most, jobs, 1}, .block = {GPU_BLOCK}};
    return gpu_launch(&tables(s)->ghosts, t->stream, &shape, &a, sizeof a);
}

unda_status staggered_fill_pass(unda_solver *s, int pass, struct staggered_planes planes, bool sides)
{
    const struct staggered *p = fd_tables(s)->physics;
    int axes[FD_MAX_FIELD], first = p->first[pass];
    if (!staggered_ghost_axes(s, pass, sides, axes))
        return UNDA_OK;
    return fill_ghosts(s, p->count[pass], fd_cuda(s)->array + first, fd_tables(s)->field + first, axes,
                       planes);
}

/* Where such a material is read: at the user's first z of the first row. */
static int64_t same_place(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    return fd_cuda(s)->origin + fd->begin * fd_cuda(s)->plane + fd->axis[2].first;
}

/* A material that is the same everywhere must be so for two vectors from any place where a vector begins,
 * also one row or plane further, however short rows are. */
static unda_status repeat(unda_solver *s, gpu_ptr material, double value)
{
    const struct fd_cuda *t = fd_cuda(s);
    int64_t real = s->real_bytes, same = same_place(s);
    double all[SAME];
    for (int k = 0; k < SAME; k++)
        real_put(s, all, k, value);
    for (int i = 0; i < 4; i++)
        TRY(gpu_upload(t->stream,
                       material + (gpu_ptr)((same + (i & 1) * t->plane + (i >> 1) * t->pitch) * real), all,
                       SAME * real));
    return UNDA_OK;
}

unda_status staggered_fill_materials(unda_solver *s)
{
    const struct fd_field even[FD_MAX_MATERIAL] = {fd_even_field(fd_tables(s)), fd_even_field(fd_tables(s)),
                                                   fd_even_field(fd_tables(s))};
    const int axes[FD_MAX_MATERIAL] = {7, 7, 7};
    if (tables(s)->material_version == fd_tables(s)->material_version)
        return UNDA_OK;
    TRY(fill_ghosts(s, fd_tables(s)->num_material, fd_cuda(s)->material, even, axes, staggered_all(s)));
    for (int i = 0; i < fd_tables(s)->num_material; i++)
        if (!fd_tables(s)->varies[i])
            TRY(repeat(s, fd_cuda(s)->material[i], fd_tables(s)->material_first[i]));
    tables(s)->material_version = fd_tables(s)->material_version;
    return UNDA_OK;
}

/* ---- launches ---- */

/* Sides (bits) on which the last places stay 0. */
static int pinned_sides(const struct fd *fd, int f)
{
    /* beyond rows all values are 0: behind layers always, elsewhere until ghosts are filled */
    int sides = 64;
    for (int a = 0; a < 3; a++) {
        const struct fd_field *field = &fd->field[f];
        bool beyond =
            field->half[a] && (field->sign[a][1] == SIDE_NOTHING || (a == 2 && staggered_images(fd)));
        sides |= fd_pinned(fd, f, a, 0) << (2 * a);
        sides |= (beyond || fd_pinned(fd, f, a, fd->axis[a].total - 1)) << (2 * a + 1);
    }
    return sides;
}

static void fill_layers(const unda_solver *s, struct staggered_args *a)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered *p = fd->physics;
    for (int i = 0; i < 6; i++) /* without a layer there is nothing before its beginning */
        a->begin[i / 2][i % 2][1] = INT32_MAX;
    for (int n = 0; n < p->num_derivative[0] + p->num_derivative[1]; n++)
        for (int side = 0; side < 2; side++) {
            int number = fd->memory_of[n][side];
            if (number < 0)
                continue;
            const struct fd_memory *memory = &fd->memory[number];
            int half = staggered_half(p, p->derivative[n].target, memory->axis);
            int64_t row = memory->axis == 2 ? memory->num[2] : fd_cuda(s)->pitch;
            int64_t before = memory->first * memory->num[1] * row; /* a slab begins with plane `first` */
            a->memory[n][side] =
                POINTER(tables(s)->memory[number] +
                        (gpu_ptr)((staggered_memory_origin(s, tables(s), number) - before) * s->real_bytes));
            a->begin[memory->axis][half][side] = (int)memory->begin;
            a->count[memory->axis][side] = (int)memory->count;
        }
    for (int i = 0; i < 24; i++)
        a->table[i / 8][i / 4 % 2][i % 4] =
            POINTER(tables(s)->table[i / 8] + (gpu_ptr)(i % 8 * fd->axis[i / 8].total * s->real_bytes));
}

static struct staggered_args arguments(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered_cuda *t = tables(s);
    struct staggered_args a = {
        .plane = t->base.plane, .origin = t->base.origin, .same = same_place(s), .next = POINTER(t->next)};
    staggered_find_clear(s, a.clear);
    for (int f = 0; f < fd->num_field; f++) {
        a.field[f] = POINTER(t->base.array[f]);
        a.pinned[f] = pinned_sides(fd, f);
        for (int side = 0; side < 2 && staggered_images(fd); side++)
            a.image[f][side] =
                fd->field[f].sign[2][side] == SIDE_NOTHING ? 0 : (signed char)fd->field[f].sign[2][side];
    }
    for (int i = 0; i < fd->num_material; i++) {
        a.vary[i] = fd->varies[i];
        a.material[i] = POINTER(t->base.material[i]);
    }
    fill_layers(s, &a);
    for (int i = 0; i < 3; i++)
        a.num[i] = (int)fd->axis[i].total;
    fd_cuda_weights(fd, fd->step_weight, a.weight32, a.weight64);
    return a;
}

static unda_status launch_part(unda_solver *s, int pass, enum staggered_part part,
                               struct staggered_planes planes, struct staggered_args *a,
                               struct gpu_stream *stream)
{
    const struct staggered_cuda *t = tables(s);
    struct gpu_shape shape = {.grid = {0}, .block = {t->tile.lanes, t->tile.rows, 1}};
    int num = staggered_cut(s, &t->tile, part, planes, a->box);
    for (int i = 0; i < num; i++)
        shape.grid[0] += a->box[i].blocks;
    const struct gpu_kernel *kernel = t->next ? &t->apart[part] : &t->pass[pass][part];
    return num ? gpu_launch(kernel, stream, &shape, a, sizeof *a) : UNDA_OK;
}

unda_status staggered_launch_part(unda_solver *s, int pass, enum staggered_part part)
{
    struct staggered_args a = arguments(s);
    return launch_part(s, pass, part, staggered_all(s), &a, fd_cuda(s)->stream);
}

/* The parts write different places, and none reads what another writes, so they run concurrently; the
 * interior is launched last, since the others take longer per place. */
unda_status staggered_launch_pass(unda_solver *s, int pass, struct staggered_planes planes)
{
    struct staggered_cuda *t = tables(s);
    struct staggered_args a = arguments(s);
    TRY(gpu_event_record(t->before, t->base.stream));
    TRY(gpu_stream_wait(t->beside, t->before));
    unda_status status = launch_part(s, pass, STAGGERED_LAYERS, planes, &a, t->beside);
    if (status == UNDA_OK)
        status = launch_part(s, pass, STAGGERED_WALLS, planes, &a, t->beside);
    if (status == UNDA_OK)
        status = launch_part(s, pass, STAGGERED_INSIDE, planes, &a, t->base.stream);
    TRY(gpu_event_record(t->after, t->beside));
    /* also after a failure: whoever waits for one event has both */
    TRY(gpu_stream_wait(t->base.stream, t->after));
    return status;
}
