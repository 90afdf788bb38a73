/* scalar_cpu.c: the CPU engine of the scalar scheme: OpenMP over blocks of rows.
 * Results do not depend on the number of threads. Not here: arrays and points (fd_cpu.c), the rows
 * (scalar_cpu.inc.h). */
#include "scalar_cpu.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

static struct scalar_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct scalar_cpu_code *code(const unda_solver *s)
{
    return s->real_bytes == 4 ? &scalar_cpu_f32 : &scalar_cpu_f64;
}

static unda_status forecast(unda_solver *s)
{
    struct scalar_cpu t = {0};
    fd_cpu_lay_out(s, &t.base);
    int64_t total = s->fd->axis[0].total + s->fd->axis[1].total + s->fd->axis[2].total;
    s->host_bytes = (s->fd->uniform ? 2 : 3) * t.base.count * s->real_bytes + total * (s->real_bytes + 9);
    s->device_bytes = 0;
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    const struct fd *fd = s->fd;
    struct scalar_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads = parallel_threads(s->options.threads);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    fd_cpu_lay_out(s, &t->base);
    TRY(fd_cpu_allocate(s, &t->base));
    for (int a = 0; a < 3; a++) {
        TRY(array_try(&t->damp[a], fd->axis[a].total, s->real_bytes, "layers"));
        TRY(array_try(&t->damped[a], fd->axis[a].total, 1, "layers"));
        for (int64_t i = 0; i < fd->axis[a].total; i++) {
            fd_cpu_put(s, t->damp[a], i, fd->axis[a].damp[i]);
            t->damped[a][i] = fd->axis[a].damp[i] != 1;
            t->damped_z |= a == 2 && t->damped[a][i];
        }
    }
    return UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct scalar_cpu *t = tables(s);
    for (int a = 0; a < 3; a++) {
        array_free(t->damp[a]);
        array_free(t->damped[a]);
    }
    fd_cpu_free(&t->base);
    array_free(t);
    s->data = NULL;
}

/* ---- steps ---- */

enum { BLOCK_X = 8, BLOCK_Y = 16 }; /* nodes of a block: its rows and their neighbours stay in the cache */

static void step_rows(unda_solver *s)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t num[2] = {(axis[0].total + BLOCK_X - 1) / BLOCK_X, (axis[1].total + BLOCK_Y - 1) / BLOCK_Y};
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t block = 0; block < num[0] * num[1]; block++) {
        int64_t begin[2] = {block % num[0] * BLOCK_X, block / num[0] * BLOCK_Y}, end[2];
        end[0] = begin[0] + BLOCK_X < axis[0].total ? begin[0] + BLOCK_X : axis[0].total;
        end[1] = begin[1] + BLOCK_Y < axis[1].total ? begin[1] + BLOCK_Y : axis[1].total;
        code(s)->rows(s->fd, tables(s), begin, end);
    }
}

static void swap(struct fd_cpu *t)
{
    void *kept = t->array[0];
    t->array[0] = t->array[1];
    t->array[1] = kept;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct fd_cpu *t = fd_cpu(s);
    const struct fd_field *p = s->fd->field;
    fd_cpu_fill_ghosts(s, t->array[0], p); /* the state may have been set */
    for (int64_t i = 0; i < num_step; i++) {
        step_rows(s);
        fd_cpu_inject(s, t->array[1], 0, i);
        swap(t);
        fd_cpu_fill_ghosts(s, t->array[0], p);
        s->step++;
        for (int32_t g = 0; g < s->num_group; g++)
            if (receiver_due(s->groups[g], s->step))
                TRY(fd_cpu_record(s, s->groups[g]));
    }
    return UNDA_OK;
}

/* From p and 0 a step gives 2 p + c^2 dt^2 laplace p: half of it is both the next level and the last. */
static unda_status rest(unda_solver *s)
{
    struct fd_cpu *t = fd_cpu(s);
    memset(t->array[1], 0, (size_t)(t->count * s->real_bytes));
    fd_cpu_fill_ghosts(s, t->array[0], s->fd->field);
    step_rows(s);
    for (int64_t i = 0; i < t->count; i++)
        fd_cpu_put(s, t->array[1], i, 0.5 * fd_cpu_get(s, t->array[1], i));
    return UNDA_OK;
}

const struct fd_engine fd_scalar_cpu = {.base = {.name = "cpu",
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .record = fd_cpu_record,
                                                 .drive = fd_cpu_drive,
                                                 .run = run,
                                                 .find_bad = fd_cpu_find_bad,
                                                 .forecast = forecast},
                                        .planes = fd_cpu_planes,
                                        .gather = fd_cpu_gather,
                                        .clear = fd_cpu_clear,
                                        .rest = rest};
