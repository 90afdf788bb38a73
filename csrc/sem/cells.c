/* cells.c: the elements of a region in runs, each of which a block of threads works on where forces are added
 * atomically, and the numbers that nodes have then: those inside elements element by element, then those that elements
 * share, last those on sides; the last two by the first element that has them, face by face. Next: cuda/sem/cells.cu. */
#include "tiles.h"

#include "../base/parallel.h"

#include <string.h>

enum { NONE = -1, SIDE = SEM_ON_SIDE, NUM_KIND = 27 };

/* By axis whether a node is at the lower end, between or at the upper one; how often it is at an end. */
static int kind_of(int n, int node, int *num_end)
{
    int kind = 0;
    *num_end = 0;
    for (int axis = 0, at = node; axis < 3; axis++, at /= n) {
        int end = at % n == 0 ? 1 : at % n == n - 1 ? 2 : 0;
        kind = 3 * kind + end;
        *num_end += end > 0;
    }
    return kind;
}

/* Nodes inside an element, then those of one face after the other, edge after edge, vertices. */
static void order_nodes(int n, int16_t *order)
{
    int next = 0, num_end;
    for (int ends = 0; ends <= 3; ends++)
        for (int kind = 0; kind < NUM_KIND; kind++)
            for (int node = 0; node < n * n * n; node++)
                if (kind_of(n, node, &num_end) == kind && num_end == ends)
                    order[next++] = (int16_t)node;
}

static unda_status list_runs(struct sem_tiles *t)
{
    TRY(array_own(&t->owned, &t->first_elem, t->num_tile + 1, sizeof(int32_t), "cells"));
    TRY(array_own(&t->owned, &t->elem, t->num_elem, sizeof(int32_t), "cells"));
    for (int64_t row = 0; row < t->num_elem; row++) {
        t->tile[row] = (int32_t)(row / t->cells);
        t->elem[row] = (int32_t)row;
    }
    for (int64_t i = 0; i <= t->num_tile; i++)
        t->first_elem[i] = (int32_t)(i * t->cells < t->num_elem ? i * t->cells : t->num_elem);
    return UNDA_OK;
}

/* Of each element the numbers with which those of its nodes begin that it shares and is the first to have: [0] on no
 * side, [1] on sides. */
static void count_first(const struct sem_region *r, struct sem_tiles *t, int64_t inner, int64_t (*first)[2],
                        int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < r->num_elem; row++) {
        int64_t side = 0;
        for (int32_t node = r->first[row]; node < r->first[row + 1]; node++)
            side += t->node[node] == SIDE;
        first[row][0] = r->first[row + 1] - r->first[row] - inner - side;
        first[row][1] = side;
    }
    int64_t total[2] = {0};
    for (int64_t row = 0; row < r->num_elem; row++)
        for (int k = 0; k < 2; k++)
            total[k] += first[row][k];
    t->num_inner = sem_tile_slots(r->num_elem * inner);
    t->first_side = t->num_inner + total[0];
    t->num_node = t->first_side + total[1];
    int64_t next[2] = {t->num_inner, t->first_side};
    for (int64_t row = 0; row < r->num_elem; row++)
        for (int k = 0; k < 2; k++) {
            int64_t num = first[row][k];
            first[row][k] = next[k];
            next[k] += num;
        }
}

static void number_nodes(const struct sem *sem, const struct sem_region *r, struct sem_tiles *t,
                         int64_t inner, int64_t (*first)[2], int threads)
{
    int num = sem->space.num_node;
    int16_t order[MAX_NODE];
    order_nodes(sem->space.element->degree + 1, order);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < r->num_elem; row++)
        for (int i = 0; i < num; i++) {
            int32_t node = r->node[row * num + order[i]];
            if (node < r->first[row] || node >= r->first[row + 1] || t->node[node] >= 0)
                continue;
            t->node[node] = (int32_t)(i < inner ? row * inner + i : first[row][t->node[node] == SIDE]++);
        }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < r->num_elem * num; i++)
        t->entry[i] = t->node[r->node[i]];
}

unda_status sem_cells_new(const struct sem *sem, int region, int cells, int threads, struct sem_tiles *t)
{
    const struct sem_region *r = &sem->region[region];
    int n = sem->space.element->degree + 1;
    int64_t inner = (int64_t)(n - 2) * (n - 2) * (n - 2);
    SCRATCH int64_t(*first)[2] = NULL;
    t->cells = cells;
    t->num_elem = r->num_elem;
    t->num_tile = (r->num_elem + cells - 1) / cells;
    t->num_node = r->num_node + 3; /* inner ones are filled up to fours */
    TRY(sem_tiles_check(t));
    t->num_entry = r->num_elem * sem->space.num_node;
    fork_mark();
    threads = parallel_worth(threads, t->num_entry, LEAST_COUPLED);
    TRY(array_own(&t->owned, &t->tile, t->num_elem, sizeof(int32_t), "cells"));
    TRY(list_runs(t));
    TRY(array_own(&t->owned, &t->node, r->num_node, sizeof(int32_t), "cells"));
    TRY(array_own(&t->owned, &t->entry, t->num_entry, sizeof(int32_t), "cells"));
    TRY(array_try(&first, r->num_elem, sizeof *first, "cells"));
    memset(t->node, NONE, sizeof *t->node * (size_t)r->num_node);
    sem_mark_sides(sem, region, threads, t->node);
    count_first(r, t, inner, first, threads);
    number_nodes(sem, r, t, inner, first, threads);
    for (int64_t i = r->num_node - sem_num_guest(sem, region); i < r->num_node; i++)
        t->node[i] = (int32_t)t->num_node++;
    return tile_one_color(t);
}
