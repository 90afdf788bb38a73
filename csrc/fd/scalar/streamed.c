/* streamed.c: grids larger than the device's memory. The state is in page-locked host memory, and a window
 * of rows along y moves over the grid (the calculation window of Levchenko et al. 2016): rows are copied to
 * the device and back once in `levels` steps.
 *
 * Slabs of rows enter at the high end of y. Window w takes rows [front(w), front(w - 1)) + M (n + 1) from
 * level n to the next, front(w) = num_y - M - (w + 1) slab: M rows higher at each level, so it reads no row
 * below front(w). Level n of the rows above still exists: earlier windows have replaced it by level n + 2
 * only from front(w - 1) + M (n + 2) on. So two arrays suffice, and rows from front(w) + M levels on are
 * complete. Towers of kernel diamond advance in the same direction; a stage reaches `reach` rows further.
 *
 * While a window is computed, the slab of the next one is copied in and the finished rows of the previous one
 * are copied out, on streams of their own; then all three synchronise. The device holds `rows` rows from
 * `low` on; if the next slab is below, rows still needed move up within the arrays.
 *
 * Not here: the size of the window (streamed_plan.c), computing it (scalar/step.c, diamond.c). */
#include "streamed.h"

#include "../../base/parallel.h"

#include <string.h>
#include <unistd.h>

/* ---- the state on the host ---- */

static int64_t host_plane(const unda_solver *s, const struct scalar_cuda *t)
{
    return fd_tables(s)->axis[1].total * t->base.pitch * s->real_bytes;
}

int64_t streamed_bytes(const unda_solver *s, const struct scalar_cuda *t)
{
    return streamed_arrays(s) * fd_tables(s)->axis[0].total * host_plane(s, t);
}

static const int arrays[3] = {FD_P, FD_PREVIOUS, FD_SPEED};

void streamed_clear(unda_solver *s, int array)
{
    const struct fd_cpu *host = &scalar_cuda(s)->streamed.host;
    int32_t num_thread = parallel_threads(s->options.threads);
    int64_t bytes = host->stride[0] * s->real_bytes;
    char *values = fd_cpu_array(host, array);
#pragma omp parallel for schedule(static) num_threads(num_thread)
    for (int64_t x = 0; x < fd_tables(s)->axis[0].total; x++)
        memset(values + x * bytes, 0, (size_t)bytes);
}

unda_status streamed_create(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct streamed *w = &t->streamed;
    int64_t there = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    if (s->host_bytes > there)
        FAIL(UNDA_ERR_MEMORY, "the state needs %lld bytes of host memory, there are %lld",
             (long long)s->host_bytes, (long long)there);
    fd_tables(s)->host = &w->host;
    int64_t pitch = t->base.pitch, num_y = fd_tables(s)->axis[1].total;
    w->host.stride[0] = num_y * pitch;
    w->host.stride[1] = pitch;
    w->host.count = fd_tables(s)->axis[0].total * num_y * pitch;
    for (int i = 0; i < streamed_arrays(s); i++) {
        void **host = i < 2 ? &w->host.array[i] : &w->host.material[0];
        TRY(gpu_host_alloc(t->base.gpu, host, w->host.count * s->real_bytes, "state"));
        streamed_clear(s, arrays[i]);
        w->memory[i] = fd_cuda_array(&t->base, arrays[i]);
    }
    TRY(gpu_stream_new(&w->up, t->base.gpu));
    return gpu_stream_new(&w->down, t->base.gpu);
}

/* Shifts the engine's arrays, so that they can be indexed as if they began at row 0. */
static void aim(struct scalar_cuda *t, int64_t row_bytes, int64_t low)
{
    gpu_ptr *all[] = {&t->base.array[0], &t->base.array[1], &t->base.material[0]};
    for (int i = 0; i < 3; i++)
        *all[i] = t->streamed.memory[i] ? t->streamed.memory[i] - (gpu_ptr)(low * row_bytes) : 0;
}

void streamed_destroy(unda_solver *s)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct streamed *w = &t->streamed;
    for (int i = 0; i < 3; i++)
        gpu_host_free(t->base.gpu, fd_cpu_array(&w->host, arrays[i]));
    gpu_stream_free(w->up);
    gpu_stream_free(w->down);
}

/* ---- passes ---- */

static int64_t front(const unda_solver *s, int64_t window)
{
    return fd_tables(s)->axis[1].total - fd_tables(s)->half - (window + 1) * scalar_cuda(s)->streamed.slab;
}

void streamed_rows(const unda_solver *s, int64_t window, int64_t n, int64_t *first, int64_t *end)
{
    int64_t lean = fd_tables(s)->half * (n + 1);
    *first = most(0, front(s, window) + lean);
    *end = least(fd_tables(s)->axis[1].total, front(s, window - 1) + lean);
}

/* Rows from here on are finished once this window is, in a pass of so many levels. */
static int64_t done_from(const unda_solver *s, int64_t window, int64_t levels)
{
    const struct streamed *w = &scalar_cuda(s)->streamed;
    return most(
        0, least(fd_tables(s)->axis[1].total, front(s, window) + w->reach + fd_tables(s)->half * levels));
}

/* Rows from here on are no longer needed while this window is computed. */
static int64_t needed_to(const unda_solver *s, int64_t window, int64_t levels)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    return least(fd_tables(s)->axis[1].total + t->pad_y, front(s, window - 1) + t->streamed.reach +
                                                             fd_tables(s)->half * levels +
                                                             streamed_rows_above(fd_tables(s), &t->streamed));
}

static gpu_ptr device_row(const struct scalar_cuda *t, int array, int64_t x, int64_t y, int64_t real)
{
    return t->streamed.memory[array] +
           (gpu_ptr)((x * t->base.plane + (y - t->streamed.low) * t->base.pitch) * real);
}

/* Copies rows [first, end) of the grid to the device, or back. */
static unda_status move(unda_solver *s, int64_t first, int64_t end, bool up)
{
    const struct scalar_cuda *t = scalar_cuda(s);
    const struct streamed *w = &t->streamed;
    int64_t real = s->real_bytes, row = t->base.pitch * real, plane = t->base.plane * real;
    for (int i = 0; i < (up ? streamed_arrays(s) : 2) && first < end; i++) {
        gpu_ptr device = device_row(t, i, t->pad_x, first, real);
        char *host = (char *)fd_cpu_array(&w->host, arrays[i]) + first * row;
        int64_t bytes = (end - first) * row, num = fd_tables(s)->axis[0].total;
        TRY(up ? gpu_upload_parts_async(w->up, device, plane, host, host_plane(s, t), bytes, num)
               : gpu_download_parts_async(w->down, host, host_plane(s, t), device, plane, bytes, num));
    }
    return UNDA_OK;
}

/* Makes room for the rows of the next window: rows move up, the highest first, in parts that do not
 * overlap their destination. */
static unda_status make_room(unda_solver *s, int64_t window, int64_t levels)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct streamed *w = &t->streamed;
    int64_t lowest = -t->pad_y, top = needed_to(s, window, levels), real = s->real_bytes;
    int64_t wanted = most(lowest, front(s, window + 1));
    if (wanted >= w->low)
        return UNDA_OK;
    int64_t low = most(lowest, top - w->rows), up = w->low - low;
    if (low > wanted)
        FAIL(UNDA_ERR_INTERNAL, "window %lld takes rows %lld to %lld, the device holds %lld",
             (long long)window, (long long)wanted, (long long)top - 1, (long long)w->rows);
    int64_t bottom = most(w->low, front(s, window)), planes = fd_tables(s)->axis[0].total + 2 * t->pad_x;
    for (int64_t end = top; end > bottom; end -= up) {
        int64_t first = most(bottom, end - up), plane = t->base.plane * real;
        for (int i = 0; i < streamed_arrays(s); i++)
            TRY(gpu_copy_parts_async(t->base.stream, device_row(t, i, 0, first + up, real), plane,
                                     device_row(t, i, 0, first, real), plane,
                                     (end - first) * t->base.pitch * real, planes));
    }
    w->low = low;
    return gpu_sync(t->base.stream);
}

static unda_status pass_over(unda_solver *s, const struct streamed_pass *pass)
{
    struct scalar_cuda *t = scalar_cuda(s);
    struct streamed *w = &t->streamed;
    int64_t half = fd_tables(s)->half, num_y = fd_tables(s)->axis[1].total, levels = pass->levels;
    int64_t num = (num_y - half + half * levels + w->reach + w->slab - 1) / w->slab;
    w->low = most(-t->pad_y, needed_to(s, 0, levels) - w->rows);
    TRY(move(s, most(0, front(s, 0)), num_y, true));
    TRY(gpu_sync(w->up));
    for (int64_t i = 0; i <= num; i++) {
        TRY(make_room(s, i, levels));
        aim(t, t->base.pitch * s->real_bytes, w->low);
        TRY(move(s, most(0, front(s, i + 1)), most(0, front(s, i)), true));
        if (i > 0)
            TRY(move(s, done_from(s, i - 1, levels), i > 1 ? done_from(s, i - 2, levels) : num_y, false));
        if (i < num) /* last: more launches than a stream accepts at once would delay the copies */
            TRY(pass->work(s, pass, i));
        TRY(gpu_sync(w->up));
        TRY(gpu_sync(w->down));
        TRY(gpu_sync(t->base.stream));
    }
    return UNDA_OK;
}

unda_status streamed_run(unda_solver *s, int64_t num_step)
{
    struct scalar_cuda *t = scalar_cuda(s);
    for (int64_t done = 0; done < num_step;) {
        struct streamed_pass pass = {least(num_step - done, t->streamed.levels), t->kernel->window};
        TRY(pass_over(s, &pass));
        if (pass.levels % 2)
            SWAP(t->streamed.host.array[FD_P], t->streamed.host.array[FD_PREVIOUS]);
        done += pass.levels;
        s->step += pass.levels;
    }
    return UNDA_OK;
}

static unda_status launch_window(unda_solver *s, const struct streamed_pass *pass, int64_t window)
{
    (void)pass;
    int64_t first, end;
    streamed_rows(s, window, 0, &first, &end);
    return first < end ? scalar_step_launch(s, fd_planes_of(fd_tables(s)), first, end) : UNDA_OK;
}

unda_status streamed_half_step(unda_solver *s)
{
    streamed_clear(s, FD_PREVIOUS);
    TRY(pass_over(s, &(struct streamed_pass){1, launch_window}));
    fd_cpu_multiply(s, FD_PREVIOUS, 0.5);
    return UNDA_OK;
}
