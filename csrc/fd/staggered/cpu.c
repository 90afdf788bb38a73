/* cpu.c: the CPU engine of the staggered schemes: memory variables of layers, OpenMP over
 * rows, two passes. Results do not depend on the number of threads. Not here: arrays and points (cpu.c),
 * the rows (staggered/cpu_step.c). */
#include "cpu.h"

#include "../../base/parallel.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static struct staggered_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct staggered_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &staggered_cpu_f32 : &staggered_cpu_f64;
}

static void lay_out(const unda_solver *s, struct staggered_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    fd_cpu_lay_out(s, &t->base);
    int derivatives = fd->physics->num_derivative[0] > fd->physics->num_derivative[1]
                          ? fd->physics->num_derivative[0]
                          : fd->physics->num_derivative[1];
    t->scratch_row = (fd->axis[2].total * s->real_bytes + 127) / 128 * 128 + 64;
    t->scratch_bytes = derivatives * t->scratch_row;
}

static unda_status forecast(unda_solver *s)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    struct staggered_cpu t = {0};
    lay_out(s, &t);
    s->host_bytes =
        fd_cpu_bytes(s, &t.base) + 8 * (axis[0].total + axis[1].total + axis[2].total) * (s->real_bytes + 8);
    s->device_bytes = 0;
    return UNDA_OK;
}

/* What depends on dt. */
static unda_status retime(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct staggered_cpu *t = tables(s);
    for (int a = 0; a < 3; a++) {
        TRY(fd_cpu_reals(s, &t->weight[a], fd->step_weight[a], MAX_HALF + 1));
        TRY(fd_cpu_reals(s, &t->table[a], fd->axis[a].cpml, 8 * fd->axis[a].total));
    }
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct staggered_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads = parallel_worth(s->options.threads, fd->num_node * fd->num_field, LEAST_COUPLED);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    fd_tables(s)->host = &t->base;
    lay_out(s, t);
    TRY(fd_cpu_allocate(s, &t->base));
    TRY(array_own(&t->base.owned, &t->scratch, s->threads * t->scratch_bytes, 1, "rows"));
    return retime(s);
}

static const struct kernel step = {.name = "step"};
const struct kernel *const fd_staggered_cpu_kernels[] = {&step, NULL};

static void describe(const unda_solver *s, unda_solver_info *info)
{
    (void)s;
    kernel_describe(info, "step");
}

/* ---- steps ---- */

static void fill_pass(unda_solver *s, int pass, struct fd_span span, bool sides)
{
    const struct staggered *p = fd_tables(s)->physics;
    for (int f = p->first[pass]; f < p->first[pass] + p->count[pass]; f++)
        fd_cpu_fill_ghosts(s, tables(s)->base.array[f], &fd_tables(s)->field[f], span, sides);
}

static void fill_materials(unda_solver *s)
{
    struct staggered_cpu *t = tables(s);
    struct fd_field even = fd_even_field(fd_tables(s));
    if (t->material_version == fd_tables(s)->material_version)
        return;
    for (int i = 0; i < fd_tables(s)->num_material; i++)
        fd_cpu_fill_ghosts(s, t->base.material[i], &even, fd_planes_of(fd_tables(s)), true);
    t->material_version = fd_tables(s)->material_version;
}

/* Blocks of rows march along x, so that the neighbouring planes stay in a core's cache. */
enum { BLOCK_Y = 16, NO_TIME = -1 };

/* What a step adds to rows [begin, end) of plane x, and what monitors take of them. */
static void end_rows(unda_solver *s, int pass, int64_t time, int64_t x, int64_t begin, int64_t end)
{
    const struct staggered *p = fd_tables(s)->physics;
    int64_t num_y = fd_tables(s)->axis[1].total, num_z = fd_tables(s)->axis[2].total;
    void *const *array = fd_cpu(s)->array + p->first[pass];
    for (int i = 0; i < p->count[pass]; i++)
        fd_cpu_inject(s, array[i], p->first[pass] + i, time, (x * num_y + begin) * num_z,
                      (x * num_y + end) * num_z);
    fd_cpu_sample(s, array, NULL, p->first[pass], p->count[pass], s->begin + time + 1, x, begin, end);
}
/* time: of the step in the call; NO_TIME: neither sources nor monitors. */
static void pass_rows(unda_solver *s, int pass, int64_t time, struct fd_span span)
{
    struct staggered_cpu *t = tables(s);
    int64_t num_x = span.end - span.begin, num_y = fd_tables(s)->axis[1].total;
    int64_t num_block = (num_y + BLOCK_Y - 1) / BLOCK_Y;
#pragma omp parallel num_threads(s->threads)
    {
        char *scratch = t->scratch + omp_get_thread_num() * t->scratch_bytes;
        uint32_t kept = parallel_flush();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < num_x * num_block; i++) {
            int64_t first = i / num_x * BLOCK_Y, last = first + BLOCK_Y < num_y ? first + BLOCK_Y : num_y;
            for (int64_t y = first; y < last; y++)
                code(s)->row(fd_tables(s), t, pass, span.begin + i % num_x, y, scratch);
            if (time != NO_TIME)
                end_rows(s, pass, time, span.begin + i % num_x, first, last);
        }
        parallel_restore(kept);
    }
}

static unda_status open(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    fill_materials(s);
    for (int pass = 0; pass < 2; pass++)
        fill_pass(s, pass, fd_planes_of(fd), true);
    return UNDA_OK;
}

static unda_status pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    const struct fd *fd = fd_tables(s);
    struct fd_span span[2];
    for (int i = fd_spans(fd, part, span); i-- > 0;) {
        pass_rows(s, pass, time, span[i]);
        fill_pass(s, pass, span[i], part == FD_INSIDE); /* of planes beyond sides when all are made */
    }
    return UNDA_OK;
}

static unda_status close(unda_solver *s, int64_t time)
{
    for (int f = 0; f < fd_tables(s)->num_field; f++)
        fd_cpu_keep(s, fd_cpu(s)->array[f], f, s->begin + time + 1, 0, fd_tables(s)->num_node);
    return UNDA_OK;
}

static int fresh(int array, int64_t time)
{
    (void)time;
    return array;
}

static unda_status finish(unda_solver *s, int64_t num_step)
{
    s->step += num_step;
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    TRY(open(s));
    for (int64_t i = 0; i < num_step; i++) {
        TRY(pass(s, 0, i, FD_INSIDE));
        TRY(pass(s, 1, i, FD_INSIDE));
        TRY(close(s, i));
    }
    TRY(finish(s, num_step));
    fd_cpu_weigh(s);
    return UNDA_OK;
}

/* From fields of 0 a pass gives the half-step fields what they gain in dt; minus half of it is their value
 * half a step earlier. */
static unda_status rest(unda_solver *s)
{
    const struct staggered *p = fd_tables(s)->physics;
    struct fd_cpu *t = fd_cpu(s);
    TRY(fd_need_material(s));
    TRY(open(s));
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        memset(t->array[f], 0, (size_t)(t->count * s->real_bytes));
    pass_rows(s, 0, NO_TIME, fd_planes_of(fd_tables(s)));
    fill_pass(s, 0, fd_planes_of(fd_tables(s)), true);
    for (int f = p->first[0]; f < p->first[0] + p->count[0]; f++)
        fd_cpu_multiply(s, f, -0.5);
    fd_cpu_clear_memory(s);
    return UNDA_OK;
}

const struct fd_engine fd_staggered_cpu = {FD_CPU_ENGINE,
                                           .base.kernels = fd_staggered_cpu_kernels,
                                           .base.create = create,
                                           .base.run = run,
                                           .base.retime = retime,
                                           .base.forecast = forecast,
                                           .base.describe = describe,
                                           .rest = rest,
                                           .open = open,
                                           .pass = pass,
                                           .close = close,
                                           .fresh = fresh,
                                           .finish = finish};
