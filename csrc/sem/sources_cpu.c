/* sources_cpu.c: what sources add to forces on the CPU: unknown by unknown, each sum in the order of sources.
 * Not here: what a source adds to the nodes of a cell (points.c), when (order.c). */
#include "cpu.h"

#include <string.h>

/* So many one thread takes, in their order. */
enum { FEW_SOURCES = 1000 };

/* A source's place in a cell; `number` counts all in the order of sources. */
struct site {
    int32_t source, place, number;
};

/* Those of a region, and where their terms go: until they are sorted each has one for every unknown of its cell along the
 * axes that any of them drives or, where most would be 0, of the nodes to which it adds anything. */
struct listing {
    int32_t kind, num_thread;
    int num_axis, axis[3]; /* components of unknowns */
    bool few_nodes;
    int64_t num_node, num_site;
    struct site *sites;
    int64_t *counts; /* [thread][node]: of its sites; then the place of the next one's first term */
    int64_t *num;    /* [node]: of all sites; so many terms of an unknown stand side by side */
    bool *is_early;  /* [node]; NULL: none is */
    void *owned;
};

/* Those in a region cell by cell, so that terms that are written one after the other stand side by side; of few the order
 * is that of sources. */
static unda_status list_sites(const unda_solver *s, struct listing *l)
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
                if (sem->kind[elem] != l->kind)
                    continue;
                int64_t *at = &first[(num_cell > 1 ? elem : 0) + !put];
                if (put)
                    l->sites[*at] = (struct site){i, k, number++};
                ++*at;
            }
        }
        for (int64_t e = 0; e < num_cell && !put; e++)
            first[e + 1] += first[e];
        l->num_site = first[num_cell];
        if (!put && l->num_site > INT32_MAX)
            FAIL(UNDA_ERR_ARG,
                 "sources stand in %lld elements, counted each time, expected 2147483647 at most",
                 (long long)l->num_site);
        if (!put)
            TRY(array_own(&l->owned, &l->sites, l->num_site, sizeof *l->sites, "sources"));
    }
    return UNDA_OK;
}

static void find_axes(const unda_solver *s, struct listing *l)
{
    int driven = 0;
    for (int64_t i = 0; i < l->num_site; i++)
        driven |= sem_source_driven(s, s->sources[l->sites[i].source], l->sites[i].place);
    for (int d = 0; d < sem_tables(s)->region[l->kind].dim; d++)
        if (driven >> d & 1)
            l->axis[l->num_axis++] = d;
}

/* Which nodes other parts of the mesh have. */
static unda_status find_early(const unda_solver *s, struct listing *l)
{
    const struct sem *sem = sem_tables(s);
    if (!sem->cut)
        return UNDA_OK;
    const struct sem_cut_region *c = &sem->cut->region[l->kind];
    TRY(array_own(&l->owned, &l->is_early, sem->region[l->kind].num_node, sizeof *l->is_early, "sources"));
    for (int64_t i = 0; i < c->num; i++)
        l->is_early[c->node[i]] = true;
    return UNDA_OK;
}

static int64_t elem_of(const unda_solver *s, const struct site *site)
{
    return ((const struct sem_source *)s->sources[site->source])->places.place[site->place].elem;
}

/* What a site adds: [node][component]. */
static void find_row(const unda_solver *s, const struct site *site, double *value)
{
    int64_t at[3 * MAX_NODE];
    int region;
    (void)sem_source_row(s, s->sources[site->source], site->place, &region, at, value);
}

static bool adds_to(const double *value, int node, int dim)
{
    bool any = false;
    for (int d = 0; d < dim; d++)
        any = any || value[node * dim + d] != 0;
    return any;
}

/* Whether sites add to less than half of their cells' nodes, as those do that stand on nodes: then memory is worth more
 * than the time of computing each row twice, first to count. Of some of them. */
static bool are_nodes_few(const unda_solver *s, const struct listing *l)
{
    enum { SAMPLE = 64 };
    double value[3 * MAX_NODE];
    int num_node = sem_tables(s)->space.num_node;
    int64_t all = 0, some = 0;
    for (int64_t i = 0; i < l->num_site; i += l->num_site / SAMPLE + 1, all += num_node) {
        find_row(s, &l->sites[i], value);
        for (int n = 0; n < num_node; n++)
            some += adds_to(value, n, sem_tables(s)->region[l->kind].dim);
    }
    return 2 * some < all;
}

static void count_terms(const unda_solver *s, const struct listing *l, const struct site *site, int num,
                        const int32_t *node, int64_t *counts)
{
    const struct sem *sem = sem_tables(s);
    double value[3 * MAX_NODE];
    for (int i = 0; i < num && l->few_nodes; i++) {
        find_row(s, &site[i], value);
        for (int n = 0; n < sem->space.num_node; n++)
            counts[node[n]] += adds_to(value, n, sem->region[l->kind].dim);
    }
    for (int n = 0; n < sem->space.num_node && !l->few_nodes; n++)
        counts[node[n]] += num;
}

/* Sites of a cell whose terms are listed together, so that those of an unknown are written one after the other. */
enum { AT_ONCE = 8 };

/* What `num` sites of a cell add, with their numbers in place of sources. */
static void put_terms(const unda_solver *s, const struct listing *l, const struct site *site, int num,
                      const int32_t *node, int64_t *counts, struct sem_cpu_sources *list)
{
    const struct sem *sem = sem_tables(s);
    double value[AT_ONCE][3 * MAX_NODE];
    int dim = sem->region[l->kind].dim;
    for (int i = 0; i < num; i++)
        find_row(s, &site[i], value[i]);
    for (int n = 0; n < sem->space.num_node; n++) {
        int which[AT_ONCE], count = 0;
        for (int i = 0; i < num; i++)
            if (!l->few_nodes || adds_to(value[i], n, dim))
                which[count++] = i;
        int64_t place = counts[node[n]];
        for (int a = 0; a < l->num_axis; a++, place += l->num[node[n]])
            for (int k = 0; k < count; k++) {
                list->source[place + k] = site[which[k]].number;
                real_put(s, list->value, place + k, value[which[k]][n * dim + l->axis[a]]);
            }
        counts[node[n]] += count;
    }
}

/* The sites of a thread: counted or, with a list, what they add. */
static void each_part(const unda_solver *s, const struct listing *l, int32_t thread,
                      struct sem_cpu_sources *list)
{
    const struct sem *sem = sem_tables(s);
    int64_t *counts = l->counts + thread * l->num_node, end = l->num_site * (thread + 1) / l->num_thread;
    for (int64_t i = l->num_site * thread / l->num_thread, stop; i < end; i = stop) {
        int64_t elem = elem_of(s, &l->sites[i]);
        const int32_t *node = sem->region[l->kind].node + (int64_t)sem->row[elem] * sem->space.num_node;
        for (stop = i + 1; stop < end && stop < i + AT_ONCE && elem_of(s, &l->sites[stop]) == elem;)
            stop++;
        if (list)
            put_terms(s, l, &l->sites[i], (int)(stop - i), node, counts, list);
        else
            count_terms(s, l, &l->sites[i], (int)(stop - i), node, counts);
    }
}

static void all_parts(const unda_solver *s, const struct listing *l, struct sem_cpu_sources *list)
{
#pragma omp parallel for schedule(static) num_threads(l->num_thread)
    for (int32_t t = 0; t < l->num_thread; t++)
        each_part(s, l, t, list);
}

/* Room for the terms of unknowns, which ascend, those of nodes that other parts have before the others: returns in *early
 * how many these are. */
static unda_status place_terms(const unda_solver *s, struct listing *l, void **owner,
                               struct sem_cpu_sources *list, int64_t *early)
{
    const struct sem_cpu_region *r = &((struct sem_cpu *)s->data)->region[l->kind];
    int64_t num = 0, unknown = 0, total = 0;
    for (int64_t i = 0; i < l->num_node; i++) {
        for (int32_t t = 0; t < l->num_thread; t++)
            l->num[i] += l->counts[t * l->num_node + i];
        list->num += l->num[i] > 0 ? l->num_axis : 0;
        num += l->num[i] * l->num_axis;
    }
    TRY(array_own(owner, &list->at, list->num, sizeof *list->at, "sources"));
    TRY(array_own(owner, &list->first, list->num + 1, sizeof *list->first, "sources"));
    TRY(array_own(owner, &list->source, num, sizeof *list->source, "sources"));
    TRY(array_own(owner, &list->value, num, s->real_bytes, "sources"));
    for (int is_early = l->is_early ? 1 : 0; is_early >= 0; is_early--)
        for (int64_t i = 0; i < l->num_node; i++) {
            if (l->num[i] == 0 || (l->is_early && l->is_early[i] != is_early))
                continue;
            int64_t place = total;
            for (int32_t t = 0; t < l->num_thread; t++) {
                int64_t here = l->counts[t * l->num_node + i];
                l->counts[t * l->num_node + i] = place;
                place += here;
            }
            for (int a = 0; a < l->num_axis; a++) {
                list->at[unknown++] = i * r->pitch + l->axis[a];
                list->first[unknown] = total += l->num[i];
            }
            *early += is_early ? l->num_axis : 0;
        }
    return UNDA_OK;
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
            for (; i < middle && j < end; at++) { /* no branch: which comes first is as good as random */
                bool first = from[i].number <= from[j].number;
                to[at] = from[first ? i : j];
                i += first;
                j += !first;
            }
            while (i < middle)
                to[at++] = from[i++];
            while (j < end)
                to[at++] = from[j++];
        }
        SWAP(from, to);
    }
    return from;
}

/* The terms of an unknown that are not 0, from `first` on, in the order of sources; returns how many there are. term: room
 * for twice as many. */
static int64_t sort_terms(const unda_solver *s, struct sem_cpu_sources *list, int64_t first, int64_t num,
                          const int32_t *source, struct term *term)
{
    int64_t left = 0;
    for (int64_t k = 0; k < num; k++)
        term[k] = (struct term){list->source[first + k], real_get(s, list->value, first + k)};
    const struct term *sorted = merge_pieces(term, term + num, num);
    for (int64_t k = 0; k < num; k++)
        if (sorted[k].value != 0) {
            list->source[first + left] = source[sorted[k].number];
            real_put(s, list->value, first + left++, sorted[k].value);
        }
    return left;
}

/* left: how many terms of each unknown are not 0; those are close together then, and so are unknowns that have some. */
static void close_gaps(const unda_solver *s, const int64_t *left, int64_t early, struct sem_cpu_sources *list)
{
    int64_t num = 0, total = 0, begin = 0;
    for (int64_t i = 0; i < list->num; i++) {
        int64_t from = begin;
        begin = list->first[i + 1];
        if (left[i] == 0)
            continue;
        if (from > total) {
            memmove(list->source + total, list->source + from, (size_t)left[i] * sizeof *list->source);
            memmove((char *)list->value + total * s->real_bytes, (char *)list->value + from * s->real_bytes,
                    (size_t)(left[i] * s->real_bytes));
        }
        list->at[num++] = list->at[i];
        list->first[num] = total += left[i];
        list->num_early += i < early;
    }
    list->num = num;
}

/* In the order of sources, in which each unknown's sum is taken. */
static unda_status sort_parts(const unda_solver *s, const struct listing *l, int64_t early,
                              struct sem_cpu_sources *list)
{
    int64_t most = 0;
    int32_t num_thread = l->num_thread;
    SCRATCH int32_t *source = NULL;
    SCRATCH int64_t *left = NULL;
    SCRATCH struct term *terms = NULL;
    TRY(array_try(&source, l->num_site, sizeof *source, "sources"));
    TRY(array_try(&left, list->num, sizeof *left, "sources"));
    for (int64_t i = 0; i < l->num_site; i++)
        source[l->sites[i].number] = l->sites[i].source;
    for (int64_t i = 0; i < list->num; i++)
        most = list->first[i + 1] - list->first[i] > most ? list->first[i + 1] - list->first[i] : most;
    TRY(array_try(&terms, 2 * most * num_thread, sizeof *terms, "sources"));
#pragma omp parallel for schedule(static) num_threads(num_thread)
    for (int32_t t = 0; t < num_thread; t++)
        for (int64_t i = list->num * t / num_thread; i < list->num * (t + 1) / num_thread; i++)
            left[i] = sort_terms(s, list, list->first[i], list->first[i + 1] - list->first[i], source,
                                 terms + 2 * most * t);
    close_gaps(s, left, early, list);
    return UNDA_OK;
}

static unda_status list_terms(const unda_solver *s, struct listing *l, void **owner,
                              struct sem_cpu_sources *list)
{
    int64_t early = 0;
    TRY(array_own(&l->owned, &l->counts, l->num_thread * l->num_node, sizeof *l->counts, "sources"));
    TRY(array_own(&l->owned, &l->num, l->num_node, sizeof *l->num, "sources"));
    TRY(find_early(s, l));
    TRY(list_sites(s, l));
    find_axes(s, l);
    l->few_nodes = are_nodes_few(s, l);
    all_parts(s, l, NULL);
    TRY(place_terms(s, l, owner, list, &early));
    all_parts(s, l, list);
    return sort_parts(s, l, early, list);
}

unda_status sem_cpu_list_sources(unda_solver *s, int kind, void **owner)
{
    struct sem_cpu_region *r = &((struct sem_cpu *)s->data)->region[kind];
    struct listing l = {.kind = kind,
                        .num_thread = s->num_source < FEW_SOURCES ? 1 : s->threads,
                        .num_node = s->num_source > 0 ? r->num_node : 0};
    r->sources = (struct sem_cpu_sources){0};
    unda_status status = list_terms(s, &l, owner, &r->sources);
    arrays_free(&l.owned);
    return status;
}
