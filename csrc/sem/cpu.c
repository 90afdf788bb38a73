/* cpu.c: the CPU engine of spectral elements: tables in the solver's precision, the order of a step, OpenMP.
 * Each node is summed in a fixed order (color.c), so that results do not depend on the number of threads.
 * Not here: the operations (cpu_step.c, cpu_solid.c, cpu_fluid.c). */
#include "cpu.h"

#include "../base/parallel.h"
#include "../solver/kernel.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sem_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct sem_cpu_functions *functions(const unda_solver *s)
{
    return s->real_bytes == 4 ? &sem_cpu_functions_f32 : &sem_cpu_functions_f64;
}

static sem_cpu_task *task_of(const unda_solver *s, int region)
{
    sem_cpu_task *const tasks[NUM_REGION][2] = {
        [SOLID] = {sem_cpu_solid_f32, sem_cpu_solid_f64}, [FLUID] = {sem_cpu_fluid_f32, sem_cpu_fluid_f64}};
    return tasks[region][s->real_bytes == 8];
}

/* ---- tables ---- */

static unda_status new_real(unda_solver *s, void *out, int64_t count, const char *what)
{
    return array_own(&tables(s)->owned, out, count, s->real_bytes, what);
}

static unda_status new_copy(unda_solver *s, void *out, const double *from, int64_t count, const char *what)
{
    TRY(new_real(s, out, count, what));
    real_copy(s, *(void **)out, from, count);
    return UNDA_OK;
}

static unda_status pack_lines(unda_solver *s, struct sem_cpu *t)
{
    const struct element *el = t->sem->space.element;
    int n = el->degree + 1, rows = line_rows(n), blocks = (n + rows - 1) / rows;
    t->rows = rows;
    for (int transposed = 0; transposed < 2; transposed++) {
        TRY(new_real(s, &t->derivative[transposed], blocks * n * rows, "derivative matrix"));
        for (int row = 0; row < n; row++)
            for (int k = 0; k < n; k++)
                real_put(s, t->derivative[transposed], (row / rows * n + k) * rows + row % rows,
                         transposed ? -el->line_derivative[k * n + row] : el->line_derivative[row * n + k]);
    }
    TRY(new_real(s, &t->weight, t->num_node, "weights"));
    for (int k = 0; k < t->num_node; k++)
        real_put(s, t->weight, k, sem_weight(t->sem, k));
    return UNDA_OK;
}

static int64_t num_block(const unda_solver *s, int64_t num_elem)
{
    int64_t lanes = 64 / s->real_bytes;
    return (num_elem + lanes - 1) / lanes;
}

static unda_status pack_elements(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    const struct sem_region *from = &t->sem->region[kind];
    int64_t num = num_block(s, from->num_elem) * t->lanes;
    TRY(array_own(&t->owned, &r->node, num * t->num_node, sizeof *r->node, "nodes of elements"));
    TRY(new_real(s, &r->metric, num * t->metric_nodes * HEX_METRIC, "metric"));
    TRY(new_real(s, &r->coef, num * t->material_nodes * 2, "coefficients"));
    for (int64_t i = 0; i < num; i++) {
        int64_t at = i < from->num_elem ? i : from->num_elem - 1, elem = from->elem[at], block = i / t->lanes;
        int64_t lane = i % t->lanes;
        for (int k = 0; k < t->num_node; k++)
            r->node[(block * t->num_node + k) * t->lanes + lane] = from->node[at * t->num_node + k];
        for (int k = 0; k < t->metric_nodes; k++) {
            double metric[HEX_METRIC];
            sem_metric(t->sem, elem, k, metric);
            for (int c = 0; c < HEX_METRIC; c++)
                real_put(s, r->metric, ((block * t->metric_nodes + k) * HEX_METRIC + c) * t->lanes + lane,
                         metric[c]);
        }
        for (int k = 0; k < t->material_nodes; k++) {
            double m[3];
            sem_moduli(t->sem, elem, k, m);
            for (int c = 0; c < 2; c++)
                real_put(s, r->coef, ((block * t->material_nodes + k) * 2 + c) * t->lanes + lane,
                         kind == SOLID ? m[1 + c]
                         : c           ? 0
                                       : 1 / m[0]);
        }
    }
    return UNDA_OK;
}

static unda_status pack_nodes(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    const struct sem_region *from = &t->sem->region[kind];
    const struct sem_sides *sides = &from->sides;
    int64_t size = sides->num * from->dim * from->dim;
    r->dim = from->dim;
    r->num_elem = from->num_elem;
    r->num_node = from->num_node;
    r->side = sides->node;
    r->num_side = sides->num;
    TRY(new_real(s, &r->inverse_mass, r->num_node, "masses"));
    for (int64_t i = 0; i < r->num_node; i++)
        real_put(s, r->inverse_mass, i, 1 / from->mass[i]);
    for (int64_t i = 0; i < sides->num; i++)
        real_put(s, r->inverse_mass, sides->node[i], 1);
    for (int level = 0; level < NUM_LEVEL; level++) {
        TRY(new_real(s, &r->level[level], r->num_node * r->dim + SEM_SPARE, "state"));
        TRY(new_real(s, &r->kept[level], r->num_node * r->dim, "state"));
    }
    TRY(new_copy(s, &r->rest, sides->rest, size, "sides"));
    TRY(new_copy(s, &r->damping, sides->damping, size, "sides"));
    return new_copy(s, &r->inverse, sides->inverse, size, "sides");
}

static unda_status retime(unda_solver *s)
{
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_sides *sides = &tables(s)->sem->region[kind].sides;
        int dim = tables(s)->sem->region[kind].dim;
        real_copy(s, tables(s)->region[kind].inverse, sides->inverse, sides->num * dim * dim);
    }
    return UNDA_OK;
}

static unda_status forecast(unda_solver *s)
{
    const struct sem *sem = sem_tables(s);
    int64_t lanes = 64 / s->real_bytes, bytes = sem_host_bytes(sem);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        bytes += num_block(s, r->num_elem) * lanes *
                     (sem->space.num_node * (int64_t)sizeof(int32_t) +
                      s->real_bytes * (sem->metric_nodes * HEX_METRIC + sem->material_nodes * 2)) +
                 r->num_node * s->real_bytes * (1 + 2 * NUM_LEVEL * r->dim);
    }
    s->host_bytes = bytes;
    s->device_bytes = 0;
    return UNDA_OK;
}

/* ---- steps ---- */

enum { CHUNK = 2048 }; /* nodes that a thread does at a time */

/* Calls of a range in chunks, shared among the threads of a region of OpenMP. */
#define EACH_CHUNK(count, call)                                                                              \
    do {                                                                                                     \
        _Pragma("omp for schedule(static)") for (int64_t chunk = 0; chunk < ((count) + CHUNK - 1) / CHUNK;   \
                                                 chunk++)                                                    \
        {                                                                                                    \
            int64_t begin = chunk * CHUNK, end = begin + CHUNK < (count) ? begin + CHUNK : (count);          \
            call;                                                                                            \
        }                                                                                                    \
    } while (0)

/* force -= K u, colour by colour; all threads come here. */
static void add_forces(unda_solver *s, int kind, const void *u, void *force)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_region *r = &t->sem->region[kind];
    sem_cpu_task *of_task = task_of(s, kind);
    void *work = (char *)t->work + omp_get_thread_num() * t->work_bytes;
    for (int32_t color = 0; color < r->num_color; color++) {
#pragma omp for schedule(static)
        for (int64_t i = r->color_task[color]; i < r->color_task[color + 1]; i++)
            of_task(t, &t->region[kind], r->task[i], u, force, work);
    }
}

/* Accelerations of a region from a = 0, then v + half a: the last half of a step; half 0: at rest. */
static void accelerate_region(unda_solver *s, int kind, int64_t time, double half)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_cpu_region *r = &t->region[kind];
    const struct sem_cpu_functions *f = functions(s);
    const void *matrix = half > 0 ? r->inverse : r->rest;
    if (r->num_node == 0)
        return;
    add_forces(s, kind, r->level[LEVEL_U], r->level[LEVEL_A]);
    if (time >= 0 && r->sources.num) {
        const char *amplitude = (const char *)t->amplitude + time * s->num_source * s->real_bytes;
        EACH_CHUNK(r->sources.num, f->sources(r, amplitude, begin, end));
    }
    if (t->sem->coupling.num)
        EACH_CHUNK(t->sem->coupling.num, f->couple(t, kind, begin, end));
    if (r->num_side)
        EACH_CHUNK(r->num_side, f->sides(r, matrix, begin, end));
    EACH_CHUNK(r->num_node, f->finish(r, half, begin, end));
}

/* A step, or with dt = 0 the accelerations of the present state. The fluid comes first: its chi'' is the
 * pressure on the solid. */
static void take_step(unda_solver *s, double dt, int64_t time)
{
    const struct sem_cpu *t = tables(s);
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        for (int kind = 0; kind < NUM_REGION; kind++)
            EACH_CHUNK(t->region[kind].num_node, functions(s)->predict(&t->region[kind], dt, begin, end));
        accelerate_region(s, FLUID, time, dt / 2);
        accelerate_region(s, SOLID, time, dt / 2);
        parallel_restore(kept);
    }
}

static unda_status accelerate(unda_solver *s, int64_t time)
{
    take_step(s, 0, time);
    return UNDA_OK;
}

static unda_status stiffness(unda_solver *s, int kind, const void *u, void *force)
{
    const struct sem_region *r = &sem_tables(s)->region[kind];
    memset(force, 0, (size_t)(r->num_node * r->dim * s->real_bytes));
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        add_forces(s, kind, u, force);
        parallel_restore(kept);
    }
    return UNDA_OK;
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct sem *sem = sem_tables(s);
    int64_t time = 0;
    if (!sem->num_valid) {
        TRY(sem_settle(s)); /* walls; then accelerations with sources */
        TRY(accelerate(s, time++));
    }
    sem->num_valid = 1;
    for (int64_t i = 0; i < num_step; i++) {
        take_step(s, s->dt, time++);
        s->step++;
        TRY(solver_after_step(s));
    }
    return UNDA_OK;
}

/* ---- points ---- */

/* After a step: the receivers that are due. */
static unda_status record_due(unda_solver *s, void *of)
{
    (void)of;
    void *levels[NUM_REGION][NUM_LEVEL];
    for (int kind = 0; kind < NUM_REGION; kind++)
        memcpy(levels[kind], tables(s)->region[kind].level, sizeof levels[kind]);
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        if (!receiver_due(group, s->step))
            continue;
        int64_t num = group->num_point * group->num_field;
        int64_t sample = group->held + receiver_num_since(group, s->begin, s->step) - 1;
        for (int64_t i = 0; i < num; i++)
            real_put(
                s, group->samples, sample * num + i,
                sem_value(s, group->points, i / group->num_field, (int32_t)(i % group->num_field), levels));
    }
    return UNDA_OK;
}

/* What a source adds to an unknown. */
struct part {
    int64_t at;
    int32_t source;
    double value;
};

static int by_unknown(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->source > y->source) - (x->source < y->source);
}

static unda_status list_parts(unda_solver *s, int kind, struct part *part, int64_t num)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_sources *list = &t->region[kind].sources;
    qsort(part, (size_t)num, sizeof *part, by_unknown);
    *list = (struct sem_cpu_sources){0};
    for (int64_t i = 0; i < num; i++)
        list->num += i == 0 || part[i].at != part[i - 1].at;
    TRY(array_own(&t->listed, &list->at, list->num, sizeof *list->at, "sources"));
    TRY(array_own(&t->listed, &list->first, list->num + 1, sizeof *list->first, "sources"));
    TRY(array_own(&t->listed, &list->source, num, sizeof *list->source, "sources"));
    TRY(array_own(&t->listed, &list->value, num, s->real_bytes, "sources"));
    for (int64_t i = 0, k = -1; i < num; i++) {
        if (i == 0 || part[i].at != part[i - 1].at)
            list->first[++k] = i;
        list->at[k] = part[i].at;
        list->source[i] = part[i].source;
        real_put(s, list->value, i, part[i].value);
    }
    list->first[list->num] = num;
    return UNDA_OK;
}

static unda_status list_points(unda_solver *s)
{
    const struct sem *sem = sem_tables(s);
    int64_t room = 0;
    arrays_free(&tables(s)->listed);
    for (int32_t i = 0; i < s->num_source; i++)
        room += ((const struct sem_source *)s->sources[i])->places.num * 3 * sem->space.num_node;
    for (int kind = 0; kind < NUM_REGION; kind++) {
        SCRATCH struct part *part = NULL;
        int64_t num = 0;
        TRY(array_try(&part, room, sizeof *part, "sources"));
        for (int32_t i = 0; i < s->num_source; i++) {
            const struct sem_source *source = s->sources[i];
            for (int64_t k = 0; k < source->places.num; k++) {
                int64_t at[3 * MAX_NODE];
                double value[3 * MAX_NODE];
                int region;
                int64_t count = sem_source_row(s, source, k, &region, at, value);
                for (int64_t n = 0; n < count && region == kind; n++)
                    if (value[n] != 0)
                        part[num++] = (struct part){at[n], i, value[n]};
            }
        }
        TRY(list_parts(s, kind, part, num));
    }
    return UNDA_OK;
}

static unda_status reserve(unda_solver *s)
{
    return array_grow(&tables(s)->amplitude, 0, (s->max_step + 1) * s->num_source, s->real_bytes,
                      "source amplitudes");
}

static unda_status drive(unda_solver *s, const unda_drive *drive)
{
    real_copy(s, tables(s)->amplitude, drive->amplitudes, drive->num_time * s->num_source);
    return UNDA_OK;
}

/* ---- state ---- */

static unda_status level(unda_solver *s, int region, int level, void **values)
{
    *values = tables(s)->region[region].level[level];
    return UNDA_OK;
}

/* To and from: 0 the state, 1 what is kept of it. */
static unda_status copy(unda_solver *s, int to, int from)
{
    for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++) {
        struct sem_cpu_region *r = &tables(s)->region[i / NUM_LEVEL];
        void *const *into = to ? r->kept : r->level, *const *out_of = from ? r->kept : r->level;
        parallel_copy(into[i % NUM_LEVEL], out_of[i % NUM_LEVEL], r->num_node * r->dim * s->real_bytes,
                      s->threads);
    }
    return UNDA_OK;
}

/* ---- profile ---- */

/* The forces of one colour, as in a step, into an array that is not the state's. */
static void time_color(unda_solver *s, int kind, int32_t color, void *force)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_region *r = &t->sem->region[kind];
    sem_cpu_task *of_task = task_of(s, kind);
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        void *work = (char *)t->work + omp_get_thread_num() * t->work_bytes;
#pragma omp for schedule(static)
        for (int64_t i = r->color_task[color]; i < r->color_task[color + 1]; i++)
            of_task(t, &t->region[kind], r->task[i], t->region[kind].level[LEVEL_U], force, work);
        parallel_restore(kept);
    }
}

/* Each colour: a step passes over them one after the other. */
static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    static const char *const names[NUM_REGION] = {[SOLID] = "solid", [FLUID] = "fluid"};
    const struct sem *sem = sem_tables(s);
    SCRATCH double *seconds = NULL;
    TRY(array_try(&seconds, num_run, sizeof *seconds, "profile"));
    profile->num_kernel = 0;
    for (int kind = NUM_REGION - 1; kind >= 0; kind--) {
        const struct sem_region *r = &sem->region[kind];
        SCRATCH void *force = NULL;
        TRY(array_try(&force, r->num_node * r->dim + SEM_SPARE, s->real_bytes, "profile"));
        for (int32_t color = 0; color < r->num_color; color++) {
            int at = profile->num_kernel++;
            for (int64_t run = 0; run < num_run; run++) {
                double begin = clock_seconds();
                time_color(s, kind, color, force);
                seconds[run] = clock_seconds() - begin;
            }
            snprintf(profile->name[at], sizeof profile->name[at], "%s color %d", names[kind], color);
            profile->seconds[at] = array_median(seconds, num_run);
            profile->launches[at] = 1;
            profile->stage_seconds += profile->seconds[at];
        }
    }
    return UNDA_OK;
}

/* ---- life ---- */

static unda_status create(unda_solver *s)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cpu *t;
    TRY(forecast(s));
    fork_mark();
    s->threads = parallel_worth(s->options.threads,
                                3 * sem->region[SOLID].num_node + sem->region[FLUID].num_node, LEAST_COUPLED);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    t->sem = sem;
    t->lanes = 64 / s->real_bytes;
    t->num_line_node = s->options.degree + 1;
    t->num_node = sem->space.num_node;
    t->metric_nodes = sem->metric_nodes;
    t->material_nodes = sem->material_nodes;
    TRY(pack_lines(s, t));
    for (int kind = 0; kind < NUM_REGION; kind++) {
        TRY(pack_nodes(s, kind));
        TRY(pack_elements(s, kind));
    }
    TRY(new_copy(s, &t->area, sem->coupling.area, 3 * sem->coupling.num, "coupling"));
    t->work_bytes = 64 * 3 * (2 * (int64_t)t->num_node + 3 * t->num_line_node * t->num_line_node);
    TRY(array_own(&t->owned, &t->work, s->threads, t->work_bytes, "work space"));
    TRY(solver_add_hook(s, record_due, NULL));
    return sem_find_stable(s);
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    kernel_describe_part(info, "metric", sem_tables(s)->metric_kind);
}

static void destroy(unda_solver *s)
{
    struct sem_cpu *t = tables(s);
    arrays_free(&t->listed);
    arrays_free(&t->owned);
    array_free(t->amplitude);
    array_free(t);
    s->data = NULL;
}

const struct sem_engine sem_cpu = {.base = {.name = "cpu",
                                            .kernels = sem_kernels,
                                            .create = create,
                                            .destroy = destroy,
                                            .drive = drive,
                                            .run = run,
                                            .find_bad = sem_find_bad,
                                            .list_points = list_points,
                                            .reserve = reserve,
                                            .copy = copy,
                                            .retime = retime,
                                            .forecast = forecast,
                                            .profile = profile,
                                            .describe = describe},
                                   .level = level,
                                   .accelerate = accelerate,
                                   .stiffness = stiffness};
