/* cpu.c: the CPU engine of spectral elements: its life, sources and receivers, copies of the state.
 * Not here: its tables (blocks.c), the order of a step (order.c). */
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
enum { FEW_SAMPLES = 8, FEW_SOURCES = 1000 };

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

/* A source's place in a cell; `number` counts all in the order of sources. */
struct site {
    int32_t source, place, number;
};

/* Those in a region cell by cell, so that terms that are written one after the other stand side by side; of few the order
 * is that of sources. */
static unda_status list_sites(const unda_solver *s, int kind, void **owner, struct site **sites, int64_t *num)
{
    const struct sem *sem = sem_tables(s);
    int64_t num_cell = s->num_source < FEW_SOURCES ? 1 : sem->space.num_owned;
    SCRATCH int64_t *first = NULL;
    TRY(array_try(&first, num_cell + 1, sizeof *first, "sources"));
    for (int put = 0; put < 2; put++) {
        int32_t number = 0;
        for (int32_t i = 0; i < s->num_source; i++) {
            const struct sem_places *places = &((const struct sem_source *)s->sources[i])->places;
            for (int32_t k = 0; k < places->num; k++) {
                int64_t elem = places->place[k].elem;
                if (sem->kind[elem] != kind)
                    continue;
                int64_t *at = &first[(num_cell > 1 ? elem : 0) + !put];
                if (put)
                    (*sites)[*at] = (struct site){i, k, number++};
                ++*at;
            }
        }
        for (int64_t e = 0; e < num_cell && !put; e++)
            first[e + 1] += first[e];
        *num = first[num_cell];
        if (!put && *num > INT32_MAX)
            FAIL(UNDA_ERR_ARG,
                 "sources stand in %lld elements, counted each time, expected 2147483647 at most",
                 (long long)*num);
        if (!put)
            TRY(array_own(owner, sites, *num, sizeof **sites, "sources"));
    }
    return UNDA_OK;
}

/* Sites [begin, end): counts[unknown] counts their terms or, once that is the place of the next one, lists them, with
 * numbers of sites in place of sources. */
static void each_part(const unda_solver *s, const struct site *sites, int64_t begin, int64_t end,
                      int64_t *counts, struct sem_cpu_sources *list)
{
    for (int64_t i = begin; i < end; i++) {
        int64_t at[3 * MAX_NODE];
        double value[3 * MAX_NODE];
        int region;
        int64_t count = sem_source_row(s, s->sources[sites[i].source], sites[i].place, &region, at, value);
        for (int64_t n = 0; n < count; n++) {
            if (value[n] == 0)
                continue;
            int64_t place = counts[at[n]]++;
            if (!list)
                continue;
            list->source[place] = sites[i].number;
            real_put(s, list->value, place, value[n]);
        }
    }
}

/* The same of all sites, a range a thread: counts [thread][unknown]. */
static void all_parts(const unda_solver *s, const struct site *sites, int64_t num_site, int32_t num_thread,
                      int64_t num_unknown, int64_t *counts, struct sem_cpu_sources *list)
{
#pragma omp parallel for schedule(static) num_threads(num_thread)
    for (int32_t t = 0; t < num_thread; t++)
        each_part(s, sites, num_site * t / num_thread, num_site * (t + 1) / num_thread,
                  counts + t * num_unknown, list);
}

/* A term of an unknown; number: of its site. */
struct term {
    int64_t number;
    double value;
};

/* Where the numbers that ascend from `at` on end. */
static int64_t piece_end(const struct term *term, int64_t at, int64_t num)
{
    for (at++; at < num && term[at - 1].number <= term[at].number;)
        at++;
    return at;
}

/* Terms by number: cells have left ascending pieces, which are merged in pairs until one is left, in either array. */
static const struct term *merge_pieces(struct term *from, struct term *to, int64_t num)
{
    while (piece_end(from, 0, num) < num) {
        for (int64_t at = 0; at < num;) {
            int64_t i = at, middle = piece_end(from, at, num), j = middle;
            int64_t end = middle < num ? piece_end(from, middle, num) : num;
            for (; at < end; at++)
                to[at] = j == end || (i < middle && from[i].number <= from[j].number) ? from[i++] : from[j++];
        }
        SWAP(from, to);
    }
    return from;
}

/* The terms of an unknown, from `first` on, in the order of sources. term: room for twice as many. */
static void sort_terms(const unda_solver *s, struct sem_cpu_sources *list, int64_t first, int64_t num,
                       const int32_t *source, struct term *term)
{
    for (int64_t k = 0; k < num; k++)
        term[k] = (struct term){list->source[first + k], real_get(s, list->value, first + k)};
    const struct term *sorted = merge_pieces(term, term + num, num);
    for (int64_t k = 0; k < num; k++) {
        list->source[first + k] = source[sorted[k].number];
        real_put(s, list->value, first + k, sorted[k].value);
    }
}

/* In the order of sources, in which each unknown's sum is taken. */
static unda_status sort_parts(const unda_solver *s, const struct site *sites, int64_t num_site,
                              int32_t num_thread, struct sem_cpu_sources *list)
{
    int64_t most = 0;
    SCRATCH int32_t *source = NULL;
    SCRATCH struct term *terms = NULL;
    TRY(array_try(&source, num_site, sizeof *source, "sources"));
    for (int64_t i = 0; i < num_site; i++)
        source[sites[i].number] = sites[i].source;
    for (int64_t i = 0; i < list->num; i++)
        most = list->first[i + 1] - list->first[i] > most ? list->first[i + 1] - list->first[i] : most;
    TRY(array_try(&terms, 2 * most * num_thread, sizeof *terms, "sources"));
#pragma omp parallel for schedule(static) num_threads(num_thread)
    for (int32_t t = 0; t < num_thread; t++)
        for (int64_t i = list->num * t / num_thread; i < list->num * (t + 1) / num_thread; i++)
            sort_terms(s, list, list->first[i], list->first[i + 1] - list->first[i], source,
                       terms + 2 * most * t);
    return UNDA_OK;
}

/* Which nodes other parts of the mesh have; NULL: none. */
static unda_status find_early(const unda_solver *s, int kind, bool **is_early)
{
    const struct sem *sem = sem_tables(s);
    if (!sem->cut)
        return UNDA_OK;
    const struct sem_cut_region *c = &sem->cut->region[kind];
    TRY(array_try(is_early, sem->region[kind].num_node, sizeof **is_early, "sources"));
    for (int64_t i = 0; i < c->num; i++)
        (*is_early)[c->node[i]] = true;
    return UNDA_OK;
}

/* Of one unknown how many there are; counts become places, the first of which is given. */
static int64_t places_of(int64_t *counts, int32_t num_thread, int64_t num_unknown, int64_t first)
{
    int64_t num = 0;
    for (int32_t t = 0; t < num_thread; t++) {
        int64_t here = counts[t * num_unknown];
        counts[t * num_unknown] = first + num;
        num += here;
    }
    return num;
}

/* Unknowns ascend, those of nodes that other parts have before the others: sorted by counting. */
static unda_status list_sources(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    struct sem_cpu_sources *list = &r->sources;
    int64_t num_unknown = s->num_source > 0 ? r->num_node * r->dim : 0, num = 0, place = 0, total = 0,
            num_site = 0;
    OWNER void *owned = NULL;
    struct site *sites = NULL;
    int32_t num_thread = s->num_source < FEW_SOURCES ? 1 : s->threads;
    SCRATCH int64_t *counts = NULL;
    SCRATCH bool *is_early = NULL;
    TRY(array_try(&counts, num_thread * num_unknown, sizeof *counts, "sources"));
    TRY(find_early(s, kind, &is_early));
    TRY(list_sites(s, kind, &owned, &sites, &num_site));
    all_parts(s, sites, num_site, num_thread, num_unknown, counts, NULL);
    *list = (struct sem_cpu_sources){0};
    for (int64_t i = 0; i < num_unknown; i++) {
        int64_t here = 0;
        for (int32_t k = 0; k < num_thread; k++)
            here += counts[k * num_unknown + i];
        list->num += here > 0;
        list->num_early += here > 0 && is_early && is_early[i / r->dim];
        num += here;
    }
    TRY(array_own(&t->listed, &list->at, list->num, sizeof *list->at, "sources"));
    TRY(array_own(&t->listed, &list->first, list->num + 1, sizeof *list->first, "sources"));
    TRY(array_own(&t->listed, &list->source, num, sizeof *list->source, "sources"));
    TRY(array_own(&t->listed, &list->value, num, s->real_bytes, "sources"));
    for (int early = is_early ? 1 : 0; early >= 0; early--)
        for (int64_t i = 0; i < num_unknown; i++) {
            if (is_early && is_early[i / r->dim] != early)
                continue;
            int64_t here = places_of(counts + i, num_thread, num_unknown, total);
            if (here == 0)
                continue;
            list->at[place] = i / r->dim * r->pitch + i % r->dim;
            total += here;
            list->first[++place] = total;
        }
    all_parts(s, sites, num_site, num_thread, num_unknown, counts, list);
    return sort_parts(s, sites, num_site, num_thread, list);
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
        TRY(list_sources(s, kind));
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
