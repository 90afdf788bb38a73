/* monitor.c: rows of monitors of grids: nodes along z of a box of the user's, on one device or in slabs. Half a cell beyond
 * a wall a field is an image, as when it is read (state.c). Not here: accumulating (solver/cpu_monitor.c,
 * solver/cuda_monitor.c). */
#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cpu.h"
#include "scalar/cuda.h"
#include "slabs.h"

#include <string.h>

static unda_status check(const struct fd *fd, const unda_monitor *given)
{
    TRY(monitor_check_field(given, fd->num_field));
    for (int i = 1; i < monitor_num_field(given->quantity); i++)
        for (int a = 0; a < 3; a++)
            if (fd->field[given->field + i].half[a] != fd->field[given->field].half[a])
                FAIL(UNDA_ERR_ARG,
                     "monitor: fields %d and %d stand half a cell apart, expected the same places",
                     given->field, given->field + i);
    for (int a = 0; a < 3; a++)
        if (given->first[a] < 0 || given->num[a] < 1 || given->first[a] > fd->axis[a].num - given->num[a])
            FAIL(UNDA_ERR_ARG,
                 "monitor: %lld nodes from %lld on along axis %d, expected nodes within 0..%lld",
                 (long long)given->num[a], (long long)given->first[a], a, (long long)fd->axis[a].num - 1);
    return UNDA_OK;
}

static int64_t magnitude(int64_t place)
{
    return place < 0 ? ~place : place;
}

/* Where the user's node i of a field is, ~place if it is minus that. */
static int64_t place_of(const struct fd *fd, int field, int a, int64_t i)
{
    const struct fd_field *f = &fd->field[field];
    int sign;
    int64_t place = fd_mirror(&fd->axis[a], f->half[a], f->sign[a], fd->axis[a].first + i, &sign);
    return sign < 0 ? ~place : place;
}

static bool has_plane(const struct fd *fd, int64_t place)
{
    int64_t x = place < 0 ? ~place : place;
    return x >= fd->begin && x < fd->end;
}

/* The rows of the planes that a solver computes. */
static unda_status add_planes(struct monitor *m, unda_solver *part, const unda_monitor *given)
{
    const struct fd *fd = fd_tables(part);
    struct monitor_piece *piece;
    int64_t planes = 0, num = 0;
    for (int64_t i = 0; i < given->num[0]; i++)
        planes += has_plane(fd, place_of(fd, m->field, 0, given->first[0] + i));
    const int32_t axes[3] = {(int32_t)planes, (int32_t)given->num[1], (int32_t)given->num[2]};
    TRY(monitor_add_piece(m, part, axes, &piece));
    for (int64_t i = 0; i < given->num[0]; i++) {
        int64_t place = place_of(fd, m->field, 0, given->first[0] + i);
        if (!has_plane(fd, place))
            continue;
        for (int64_t j = 0; j < given->num[1]; j++)
            piece->to[num * given->num[1] + j] = i * given->num[1] + j;
        piece->place[num++] = place;
    }
    for (int a = 1; a < 3; a++)
        for (int64_t i = 0; i < given->num[a]; i++)
            piece->place[num++] = place_of(fd, m->field, a, given->first[a] + i);
    if (!fd_cpu(part)) { /* vectors of 16 bytes of the state, whose rows are filled up to such */
        int32_t width = 16 / part->real_bytes;
        int64_t first = magnitude(piece->place[num - given->num[2]]);
        piece->pad = (int32_t)(((fd_cuda(part)->origin + first) % width + width) % width);
        piece->pitch = (int32_t)((piece->pad + given->num[2] + width - 1) / width * width);
    }
    return UNDA_OK;
}

/* So many levels are samples before they are added, where they stay: as many as take the memory of a Fourier
 * transform's sums and 12 bytes, so that a sample, which reads them and, for all, reads and writes 32 bytes a
 * frequency, moves 4 and about 8 bytes; of squares 15. */
static int32_t num_level(const struct monitor *m, int real_bytes)
{
    int32_t num = (m->num_frequency ? 12 + 16 * m->num_frequency : 60) / real_bytes;
    int32_t room = m->num_frequency ? UNDA_MAX_FREQUENCY / m->num_frequency : num;
    int32_t most = MONITOR_LEVELS * 4 / real_bytes;
    num = num < most ? num : most;
    return num < room ? num : room;
}

/* How samples are taken. Steps need not end at them on the CPU, where rows are in the cache when they are made, and
 * on one CUDA device, on which samples are launches among those of steps. There sums of all nodes take levels that
 * stay where they are, if those of the scheme can (level_bytes); else the scalar scheme has the level of the last
 * step as well, so that two are taken at once, and several samples are held where that moves less. */
static void find_ways(struct monitor *m, bool is_scalar, bool on_cpu, bool is_whole, int real_bytes,
                      int64_t level_bytes)
{
    m->inside = on_cpu || is_whole;
    m->batch = num_level(m, real_bytes);
    if (is_whole && m->batch > 1 && m->statistic >= UNDA_SQUARES && m->field == FD_P &&
        m->quantity == UNDA_AS_IT_IS)
        m->level_bytes = level_bytes;
    if (m->level_bytes)
        return;
    m->pairs = m->inside && m->every == 1 && is_scalar && m->num_frequency == 0;
    m->batch = m->pairs ? 1 : monitor_hold(m, real_bytes, on_cpu);
}

/* Whether it is of all nodes. Options that say no shape are of any grid; then `given` does not either. */
static bool has_all(const unda_fd_options *f, const unda_monitor *given)
{
    return memcmp(f->shape, given->num, sizeof f->shape) == 0;
}

unda_status fd_monitor_ways(unda_solver *s, const unda_solver_options *o, const unda_monitor *given,
                            int64_t num_value, struct monitor *m)
{
    int real_bytes = o->precision == UNDA_FLOAT32 ? 4 : 8;
    bool on_cpu = o->device == UNDA_DEVICE_CPU, is_scalar = o->fd->scheme == UNDA_SCALAR;
    int64_t level_bytes = !on_cpu && (is_scalar || o->physics == UNDA_ACOUSTIC) ? num_value * real_bytes : 0;
    if (o->fd->shape[0] > 0) {
        TRY(s->method->sizes(s, NULL, o));
        TRY(s->engine->forecast(s));
        level_bytes = fd_tables(s)->level_bytes;
    }
    find_ways(m, is_scalar, on_cpu, !on_cpu, real_bytes, has_all(o->fd, given) ? level_bytes : 0);
    return UNDA_OK;
}

unda_status fd_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given)
{
    bool cut = fd_tables(s)->num_slab > 0;
    int32_t first = cut ? slabs(s)->first : 0, end = cut ? slabs(s)->end : 1;
    TRY(check(fd_tables(s), given));
    find_ways(m, !fd_tables(s)->physics, s->options.device == UNDA_DEVICE_CPU, !cut && !fd_cpu(s),
              s->real_bytes, has_all(&fd_tables(s)->options, given) ? fd_tables(s)->level_bytes : 0);
    m->num_row = given->num[0] * given->num[1];
    m->row = given->num[2];
    TRY(array_own(&m->owned, &m->piece, end - first, sizeof *m->piece, "monitors"));
    for (int32_t i = first; i < end; i++)
        TRY(add_planes(m, cut ? slab_of(s, i) : s, given));
    return UNDA_OK;
}

/* ---- engines ---- */

unda_status fd_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                const struct monitor_sample *sample)
{
    const struct fd_cpu *t = fd_cpu(piece->part);
    struct monitor_view view = {.value = t->origin, .stride = {t->stride[0], t->stride[1]}, .step = 1};
    for (int i = 0; i < monitor_num_field(m->quantity); i++)
        view.base[i] = (uintptr_t)t->array[m->field + i];
    monitor_cpu_take(piece, &view, sample);
    return UNDA_OK;
}

/* The places of an axis ascend by one, but that the last one may be an image of one before. */
static bool has_image(const int64_t *place, int32_t num)
{
    return place[0] < 0 || place[num - 1] != place[0] + num - 1;
}

/* Rows [begin, end) of y of the piece's values at number i of x. */
static void sample_plane(const struct monitor_piece *piece, const struct monitor_view *view,
                         const struct monitor_sample *sample, int64_t i, int64_t begin, int64_t end)
{
    int32_t num = piece->num_axis[1];
    const int64_t *y = piece->place + piece->num_axis[0];
    bool image = has_image(y, num);
    int64_t first = y[0], behind = first + num - image, last = magnitude(y[num - 1]);
    monitor_cpu_rows(piece, view, sample, i, (begin > first ? begin : first) - first,
                     (end < behind ? end : behind) - first);
    if (image && last >= begin && last < end)
        monitor_cpu_rows(piece, view, sample, i, num - 1, num);
}

void fd_cpu_sample(unda_solver *s, void *const *array, const void *earlier, int first, int num, int64_t step,
                   int64_t x, int64_t begin, int64_t end)
{
    const unda_solver *whole = fd_whole(s);
    const struct fd_cpu *t = fd_cpu(s);
    struct monitor_view view = {
        .earlier = (uintptr_t)earlier, .value = t->origin, .stride = {t->stride[0], t->stride[1]}, .step = 1};
    for (int32_t i = 0; i < whole->num_monitor; i++) {
        const struct monitor *m = whole->monitors[i];
        struct monitor_sample sample;
        if (m->field < first || m->field >= first + num || !monitor_due(whole, m, step, &sample))
            continue;
        for (int k = 0; k < monitor_num_field(m->quantity); k++)
            view.base[k] = (uintptr_t)array[m->field - first + k];
        for (int32_t k = 0; k < m->num_piece; k++) {
            const struct monitor_piece *piece = &m->piece[k];
            int32_t num_x = piece->num_axis[0];
            bool image = has_image(piece->place, num_x);
            int64_t at = x - piece->place[0];
            if (piece->part != s)
                continue;
            if (at >= 0 && at < num_x - image)
                sample_plane(piece, &view, &sample, at, begin, end);
            if (image && magnitude(piece->place[num_x - 1]) == x)
                sample_plane(piece, &view, &sample, num_x - 1, begin, end);
        }
    }
}

/* Whether a step can take samples, which kernel step of the scalar scheme does of extremes. */
static bool can_wait(const struct monitor *m)
{
    return m->statistic < UNDA_SQUARES && m->quantity == UNDA_AS_IT_IS;
}

/* Of several that are due at once a step takes the first. */
static unda_status compile_with_step(struct monitor *m, const struct monitor_piece *piece)
{
    unda_solver *s = piece->part;
    bool first = scalar_cuda(s)->kernel == &scalar_step;
    for (int32_t i = 0; i < s->num_monitor; i++)
        first = first && s->monitors[i]->num_moved > 0;
    m->num_moved = first ? 0 : m->num_moved;
    return scalar_step_compile_monitor(s, SCALAR_EXTREME);
}

unda_status fd_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece)
{
    const struct fd_cuda *t = fd_cuda(piece->part);
    struct gpu_defines defines = {.num = 0};
    gpu_define(&defines, "REAL=%s", piece->part->real_bytes == 4 ? "float" : "double");
    if (fd_cpu(piece->part))
        return monitor_cpu_new(m, piece);
    if (m->inside && !fd_tables(piece->part)->physics && can_wait(m))
        TRY(compile_with_step(m, piece));
    if (m->level_bytes)
        TRY(fd_tables(piece->part)->physics ? staggered_compile_apart(piece->part)
                                            : scalar_step_compile_monitor(piece->part, SCALAR_APART));
    return cuda_monitor_new(m, piece, t->gpu, t->stream, &defines, MONITOR_OF_GRID);
}

static unda_status take(const struct monitor *m, const struct monitor_piece *piece,
                        const struct monitor_sample *sample)
{
    const struct fd_cuda *t = fd_cuda(piece->part);
    struct monitor_args args = {.stride = {t->plane, t->pitch}};
    if (m->level_bytes && !sample->first)
        return fd_cuda_take_level(m, sample);
    if (m->level_bytes)
        TRY(fd_cuda_drop_levels(m));
    for (int i = 0; i < monitor_num_field(m->quantity); i++)
        args.q[i] = POINTER(fd_cuda_origin(piece->part, t->array[m->field + i]));
    if (sample->two)
        args.earlier = POINTER(fd_cuda_origin(piece->part, t->array[FD_PREVIOUS]));
    return cuda_monitor_take(piece, sample, &args);
}

unda_status fd_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample)
{
    if (fd_cpu(piece->part))
        return fd_cpu_monitor_take(m, piece, sample);
    TRY(take(m, piece, sample));
    /* neighbours may write to planes that slabs share as soon as their own next steps do */
    return fd_tables(piece->part)->whole ? gpu_sync(fd_cuda(piece->part)->stream) : UNDA_OK;
}

int64_t fd_cuda_until_sample(const unda_solver *s, int64_t most)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor *m = s->monitors[i];
        int64_t left = m->every - (s->step - m->first) % m->every;
        most = m->inside && left < most ? left : most;
    }
    return most;
}

unda_status fd_cuda_sample(unda_solver *s, struct fd_later *later)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor *m = s->monitors[i];
        struct monitor_sample sample;
        if (!monitor_due(s, m, s->step, &sample))
            continue;
        if (later && !later->monitor && can_wait(m) && m->num_piece)
            *later = (struct fd_later){m, sample};
        else
            for (int32_t k = 0; k < m->num_piece; k++)
                TRY(take(m, &m->piece[k], &sample));
    }
    return UNDA_OK;
}

unda_status fd_cuda_sample_rest(struct fd_later *later)
{
    const struct monitor *m = later->monitor;
    later->monitor = NULL;
    return m ? take(m, m->piece, &later->sample) : UNDA_OK;
}
