/* cpu.c: the CPU engine of spectral elements: its life, receivers, copies of the state.
 * Not here: its tables (blocks.c), the order of a step (order.c), sources (sources_cpu.c). */
#include "cpu.h"

#include "../base/parallel.h"
#include "../solver/kernel.h"
#include "monitor.h"

#include <stdlib.h>
#include <string.h>

static struct sem_cpu *tables(const unda_solver *s)
{
    return s->data;
}

/* ---- points ---- */

/* So many samples one thread takes, while the others still spin. */
enum { FEW_SAMPLES = 8 };

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
#pragma omp parallel for schedule(static) num_threads(s->threads) if (num > FEW_SAMPLES)
        for (int64_t i = 0; i < num; i++)
            real_put(
                s, group->samples, sample * num + i,
                sem_value(s, group->points, i / group->num_field, (int32_t)(i % group->num_field), levels));
    }
    return UNDA_OK;
}

/* The groups of nodes of cells in which receivers are. */
static unda_status watch(unda_solver *s)
{
    struct sem_cpu *t = tables(s);
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(array_own(&t->listed, &t->region[kind].watched, t->region[kind].num_node / GROUP_NODES + 1,
                      sizeof(bool), "receivers"));
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct sem_places *places = &((const struct sem_points *)s->groups[g]->points)->places;
        for (int64_t i = 0; i < places->num * t->num_node; i++) {
            int64_t elem = places->place[i / t->num_node].elem;
            int kind = t->sem->kind[elem];
            int64_t at = t->sem->row[elem] * (int64_t)t->num_node + i % t->num_node;
            t->region[kind].watched[t->sem->region[kind].node[at] / GROUP_NODES] = true;
        }
    }
    return UNDA_OK;
}

static unda_status list_points(unda_solver *s)
{
    arrays_free(&tables(s)->listed);
    TRY(watch(s));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_cpu_list_sources(s, kind, &tables(s)->listed));
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

/* ---- life ---- */

static unda_status create(unda_solver *s)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cpu *t;
    TRY(sem_cpu_forecast(s));
    fork_mark();
    s->threads = parallel_worth(s->options.threads,
                                3 * sem->region[SOLID].num_node + sem->region[FLUID].num_node, LEAST_COUPLED);
    TRY(array_try(&t, 1, sizeof *t, "CPU engine"));
    s->data = t;
    t->sem = sem;
    TRY(sem_cpu_blocks_new(s));
    TRY(sem_cpu_order_new(s));
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
                                            .run = sem_cpu_run,
                                            .find_bad = sem_find_bad,
                                            .list_points = list_points,
                                            .reserve = reserve,
                                            .copy = copy,
                                            .retime = sem_cpu_retime,
                                            .forecast = sem_cpu_forecast,
                                            .profile = sem_cpu_profile,
                                            .describe = describe,
                                            .view = sem_cpu_view,
                                            .settle = sem_settle,
                                            .monitor_new = monitor_cpu_new,
                                            .monitor_take = sem_cpu_monitor_take,
                                            .exchange_begin = sem_cpu_exchange_begin,
                                            .exchange_end = sem_cpu_exchange_end},
                                   .level = level,
                                   .accelerate = sem_cpu_accelerate,
                                   .stiffness = sem_cpu_stiffness,
                                   .join = sem_cpu_join,
                                   .join_rank = sem_cpu_join_rank,
                                   .run_team = sem_cpu_run,
                                   .accelerate_team = sem_cpu_accelerate};
