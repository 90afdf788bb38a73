/* cpu.c: the CPU engine of the scalar scheme: OpenMP over blocks of rows.
 * Kernel step advances one level at a time. Kernel tiled (time skewing: Wolf & Lam 1991) advances the rows in
 * a core's cache by `depth` levels: a block of rows marches along x, and at each front advances level after
 * level, each M planes and M rows behind the previous one. It then needs nothing from the blocks above, and
 * from the block below only planes that this has passed. A thread computes a block from end to end, because
 * its planes would otherwise leave the cache, and waits only if the block below is not far enough ahead. Two
 * arrays suffice, because a block overwrites rows at least M below those that the next one still reads. Every
 * node gets the same operations in both kernels, and results do not depend on the number of threads. Not
 * here: arrays and points (cpu.c), the rows (scalar/cpu_step.c). */
#include "cpu.h"

#include "../../base/parallel.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <string.h>

static struct scalar_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct scalar_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &scalar_cpu_f32 : &scalar_cpu_f64;
}

/* The memory in which a core works: with kernel step the neighbouring planes are in its own cache of 1 MB;
 * with kernel tiled the tile with all its levels is partly in the shared cache. Measured:
 * benchmarks/NOTES.md. */
enum { STEP_BYTES = 600 << 10, TILE_BYTES = 15 << 17, MAX_DEPTH = 8, STEP_Y = 32, TILE_Y = 16 };

/* Bytes of the planes around a front: both levels, and the speeds of nodes. */
static int64_t front_bytes(const unda_solver *s, int64_t row_bytes, int64_t depth, int64_t rows)
{
    int64_t half = fd_tables(s)->half;
    int64_t planes = 2 * ((depth + 1) * half + 1) + (fd_tables(s)->uniform ? 0 : (depth - 1) * half + 1);
    return planes * (rows + (depth + 1) * half) * row_bytes;
}

/* Where "auto" takes kernel tiled. Small grids stay in the cache anyway, and a tile that fits no cache
 * gains nothing. Tiles cannot wrap around periodic axes. */
static void choose_tile(const unda_solver *s, struct scalar_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    int64_t half = fd->half, num_y = fd->axis[1].total, num_x = fd->end - fd->begin,
            row_bytes = t->base.stride[1] * s->real_bytes;
    bool vain = row_bytes * (fd->uniform ? 2 : 3) * num_y * num_x < TILE_BYTES ||
                front_bytes(s, row_bytes, 2, TILE_Y) > TILE_BYTES;
    bool step = (!kernel_is(&s->options, "tiled") && vain) || kernel_is(&s->options, "step") ||
                fd->axis[0].side[0] == SIDE_PERIODIC || fd->axis[1].side[0] == SIDE_PERIODIC || fd->whole;
    int64_t rows = step ? STEP_Y : TILE_Y, depth = step ? 1 : MAX_DEPTH;
    if (step)
        while (rows > 8 && (2 * half + 1) * (rows + 2 * half) * row_bytes > STEP_BYTES)
            rows /= 2;
    else { /* as many blocks for each thread */
        int64_t num_block = (num_y + rows - 1) / rows;
        num_block = (num_block + s->threads - 1) / s->threads * s->threads;
        rows = (num_y + num_block - 1) / num_block;
    }
    int given = kernel_part(&s->options, "rows");
    t->block_y = given ? given : (int)rows;
    while (depth > 2 && front_bytes(s, row_bytes, depth, t->block_y) > TILE_BYTES)
        depth--;
    given = kernel_part(&s->options, "depth");
    t->depth = given && !step ? given : (int)depth;
    t->num_block = (num_y + t->block_y - 1) / t->block_y;
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cpu t = {0};
    fd_cpu_lay_out(s, &t.base);
    int64_t total = fd_tables(s)->axis[0].total + fd_tables(s)->axis[1].total + fd_tables(s)->axis[2].total;
    s->host_bytes = fd_cpu_bytes(s, &t.base) + total * (s->real_bytes + 9);
    s->device_bytes = 0;
    return UNDA_OK;
}

static unda_status allocate_matched(unda_solver *s, struct scalar_cpu *t)
{
    const struct fd *fd = fd_tables(s);
    for (int32_t i = 0; i < fd->num_memory; i++) {
        const struct fd_memory *memory = &fd->memory[i];
        struct scalar_cpu_matched *m = &t->matched[memory->axis];
        m->memory[memory->number] = t->base.memory[i];
        m->stride[0] = memory->num[1] * memory->num[2];
        m->stride[1] = memory->num[2];
        m->first = memory->first;
    }
    for (int a = 0; a < 3; a++)
        TRY(fd_cpu_reals(s, &t->matched[a].table, fd->axis[a].match, 6 * fd_matched(&fd->axis[a])));
    t->is_matched = fd_is_matched(fd);
    t->row = t->is_matched ? t->base.stride[1] : 0;
    return array_own(&t->base.owned, &t->addition, s->threads * t->row, s->real_bytes, "layers");
}

/* g of the layers, or 1 everywhere. */
static void set_damping(unda_solver *s, bool on)
{
    const struct fd *fd = fd_tables(s);
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < fd->axis[a].total; i++)
            real_put(s, tables(s)->damp[a], i, on ? fd->axis[a].damp[i] : 1);
}

static unda_status create(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct scalar_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads = parallel_worth(s->options.threads, fd->num_node, LEAST_SCALAR);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    fd_tables(s)->host = &t->base;
    fd_cpu_lay_out(s, &t->base);
    choose_tile(s, t);
    TRY(array_own(&t->base.owned, &t->passed, t->num_block, sizeof *t->passed, "time tiles"));
    TRY(fd_cpu_allocate(s, &t->base));
    for (int a = 0; a < 3; a++) {
        TRY(array_own(&t->base.owned, &t->damp[a], a < 2 ? fd->axis[a].total : t->base.stride[1],
                      s->real_bytes, "layers"));
        TRY(array_own(&t->base.owned, &t->damped[a], fd->axis[a].total, 1, "layers"));
        for (int64_t i = 0; i < fd->axis[a].total; i++) {
            t->damped[a][i] = fd->axis[a].damp[i] != 1;
            t->damped_z |= a == 2 && t->damped[a][i];
        }
    }
    set_damping(s, true);
    if (fd->uniform && fd->split) {
        TRY(array_own(&t->base.owned, &t->speed, t->base.stride[1], s->real_bytes, "materials"));
        for (int64_t i = 0; i < t->base.stride[1]; i++)
            real_put(s, t->speed, i, fd->speed);
    }
    return allocate_matched(s, t);
}

/* ---- steps ---- */

/* Advances rows [begin, end) of plane x from step `time` of the call to the next, with layers, sources and
 * receivers. */
static void advance(unda_solver *s, int64_t time, int64_t x, int64_t begin, int64_t end)
{
    struct scalar_cpu *t = tables(s);
    void *next = t->base.array[(time + 1) % 2];
    int64_t num_y = fd_tables(s)->axis[1].total, num_z = fd_tables(s)->axis[2].total;
    begin = begin > 0 ? begin : 0;
    end = end < num_y ? end : num_y;
    if (x < 0 || x >= fd_tables(s)->axis[0].total || begin >= end)
        return;
    int64_t first = (x * num_y + begin) * num_z, last = (x * num_y + end) * num_z;
    code(s)->rows(fd_tables(s), t, t->base.array[time % 2], next, x, begin, end);
    fd_cpu_inject(s, next, 0, time, first, last);
    code(s)->ghosts(fd_tables(s), t, next, x, begin, end);
    fd_cpu_keep(s, next, 0, s->begin + time + 1, first, last);
    fd_cpu_sample(s, &next, t->base.array[time % 2], 0, 1, s->begin + time + 1, x, begin, end);
}

/* Advances a block by `depth` steps, from step `time` of the call on. */
static void advance_block(unda_solver *s, int64_t time, int64_t depth, int64_t block)
{
    struct scalar_cpu *t = tables(s);
    int64_t num_x = fd_tables(s)->axis[0].total, num_y = fd_tables(s)->axis[1].total,
            half = fd_tables(s)->half, rows = t->block_y;
    for (int64_t front = 0; front < num_x + (depth - 1) * half; front++) {
        while (block > 0 && atomic_load_explicit(&t->passed[block - 1], memory_order_acquire) <= front)
            sched_yield();
        for (int64_t level = 0; level < depth; level++) {
            int64_t begin = block == 0 ? 0 : block * rows - level * half;
            int64_t end = block == t->num_block - 1 ? num_y : (block + 1) * rows - level * half;
            advance(s, time + level, front - level * half, begin, end);
        }
        atomic_store_explicit(&t->passed[block], front + 1, memory_order_release);
    }
}

/* A thread's share of one step of some planes. */
static void advance_planes(unda_solver *s, int64_t time, struct fd_span span)
{
    struct scalar_cpu *t = tables(s);
    int64_t num_x = span.end - span.begin, rows = t->block_y;
    uint32_t kept = parallel_flush();
#pragma omp for schedule(static)
    for (int64_t i = 0; i < num_x * t->num_block; i++)
        advance(s, time, span.begin + i % num_x, i / num_x * rows, i / num_x * rows + rows);
    parallel_restore(kept);
}

static void advance_tile(unda_solver *s, int64_t time, int64_t depth)
{
    struct scalar_cpu *t = tables(s);
    for (int64_t block = 0; block < t->num_block; block++)
        atomic_store(&t->passed[block], 0);
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        if (depth == 1)
            advance_planes(s, time, fd_planes_of(fd_tables(s)));
        else
            for (int64_t block = omp_get_thread_num(); block < t->num_block; block += omp_get_num_threads())
                advance_block(s, time, depth, block);
        parallel_restore(kept);
    }
}

static unda_status open(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t x = fd->begin; x < fd->end; x++)
        code(s)->ghosts(fd, tables(s), fd_cpu(s)->array[0], x, 0, fd->axis[1].total);
    return UNDA_OK;
}

static unda_status finish(unda_solver *s, int64_t num_step)
{
    if (num_step % 2)
        SWAP(fd_cpu(s)->array[FD_P], fd_cpu(s)->array[FD_PREVIOUS]);
    s->step += num_step;
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct scalar_cpu *t = tables(s);
    TRY(open(s));
    for (int64_t done = 0; done < num_step;) {
        int64_t depth = num_step - done < t->depth ? num_step - done : t->depth;
        advance_tile(s, done, depth);
        done += depth;
    }
    TRY(finish(s, num_step));
    fd_cpu_weigh(s);
    return UNDA_OK;
}

static unda_status pass(unda_solver *s, int pass, int64_t time, enum fd_part part)
{
    struct fd_span span[2];
    (void)pass;
    for (int i = fd_spans(fd_tables(s), part, span); i-- > 0;) {
#pragma omp parallel num_threads(s->threads)
        advance_planes(s, time, span[i]);
    }
    return UNDA_OK;
}

static unda_status close(unda_solver *s, int64_t time) /* rows stored what receivers need */
{
    (void)s;
    (void)time;
    return UNDA_OK;
}

static int fresh(int array, int64_t time)
{
    (void)array;
    return (time + 1) % 2 ? FD_PREVIOUS : FD_P;
}

/* From p and 0 a step gives 2 p + c^2 dt^2 laplace p, half of which is both the next level and the
 * previous one. Layers damp changes in time, and at rest there are none. */
static unda_status rest(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    memset(t->base.array[1], 0, (size_t)(t->base.count * s->real_bytes));
    TRY(open(s));
    set_damping(s, false);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t x = fd_tables(s)->begin; x < fd_tables(s)->end; x++)
        code(s)->rows(fd_tables(s), t, t->base.array[0], t->base.array[1], x, 0, fd_tables(s)->axis[1].total);
    set_damping(s, true);
    fd_cpu_multiply(s, FD_PREVIOUS, 0.5);
    fd_cpu_clear_memory(s);
    return UNDA_OK;
}

static const struct kernel step = {
    "step", 2, {{"depth", 1, 16, UNDA_TUNED_NOT}, {"rows", 1, INT32_MAX, UNDA_TUNED_NOT}}, 0, false};
static const struct kernel tiled = {
    "tiled", 2, {{"depth", 1, 16, UNDA_TUNED_NOT}, {"rows", 1, INT32_MAX, UNDA_TUNED_NOT}}, 0, false};
const struct kernel *const fd_scalar_cpu_kernels[] = {&step, &tiled, NULL};

static void describe(const unda_solver *s, unda_solver_info *info)
{
    kernel_describe(info, tables(s)->depth > 1 ? "tiled" : "step");
    kernel_describe_part(info, "depth", tables(s)->depth);
    kernel_describe_part(info, "rows", tables(s)->block_y);
}

const struct fd_engine fd_scalar_cpu = {FD_CPU_ENGINE,
                                        .base.kernels = fd_scalar_cpu_kernels,
                                        .base.create = create,
                                        .base.run = run,
                                        .base.forecast = forecast,
                                        .base.describe = describe,
                                        .rest = rest,
                                        .open = open,
                                        .pass = pass,
                                        .close = close,
                                        .fresh = fresh,
                                        .finish = finish};
