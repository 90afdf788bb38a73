/* cpu.c: the CPU engine of spectral elements: its life, sources and receivers, copies of the state.
 * Not here: its tables (blocks.c), the order of a step (order.c). */
#include "cpu.h"

#include "../base/parallel.h"
#include "../solver/kernel.h"

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

/* What a source adds to an unknown; is_late: of a node that no other part has. */
struct part {
    int64_t at;
    int32_t source;
    bool is_late;
    double value;
};

static int by_unknown(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->is_late != y->is_late)
        return x->is_late ? 1 : -1;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->source > y->source) - (x->source < y->source);
}

/* Which parts are of nodes of other parts of the mesh. */
static unda_status find_late(const unda_solver *s, int kind, struct part *part, int64_t num)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_cut_region *c = sem->cut ? &sem->cut->region[kind] : NULL;
    SCRATCH bool *is_shared = NULL;
    TRY(array_try(&is_shared, c ? sem->region[kind].num_node : 0, sizeof *is_shared, "sources"));
    for (int64_t i = 0; c && i < c->num; i++)
        is_shared[c->node[i]] = true;
    for (int64_t i = 0; i < num; i++)
        part[i].is_late = !c || !is_shared[part[i].at / sem->region[kind].dim];
    return UNDA_OK;
}

static unda_status list_parts(unda_solver *s, int kind, struct part *part, int64_t num)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    struct sem_cpu_sources *list = &r->sources;
    TRY(find_late(s, kind, part, num));
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
        list->num_early = part[i].is_late ? list->num_early : k + 1;
        list->at[k] = part[i].at / r->dim * r->pitch + part[i].at % r->dim;
        list->source[i] = part[i].source;
        real_put(s, list->value, i, part[i].value);
    }
    list->first[list->num] = num;
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
    const struct sem *sem = sem_tables(s);
    int64_t room = 0;
    arrays_free(&tables(s)->listed);
    TRY(watch(s));
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
                        part[num++] = (struct part){.at = at[n], .source = i, .value = value[n]};
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
                                            .exchange_begin = sem_cpu_exchange_begin,
                                            .exchange_end = sem_cpu_exchange_end},
                                   .level = level,
                                   .accelerate = sem_cpu_accelerate,
                                   .stiffness = sem_cpu_stiffness,
                                   .join = sem_cpu_join,
                                   .join_rank = sem_cpu_join_rank,
                                   .run_team = sem_cpu_run,
                                   .accelerate_team = sem_cpu_accelerate};
