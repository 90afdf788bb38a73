/* tiles.c: makes tiles, step by step. Not here: which elements make one (cluster.c). Next: tile_making.h. */
#include "tile_making.h"

#include <string.h>

/* Few, by where in the tile they stand: tiles of the same form have one pattern, however cells are numbered. */
static void sort_by_cell(int32_t *elem, int32_t num, const uint8_t *cell)
{
    for (int32_t i = 1; i < num; i++) {
        int32_t at = i, now = elem[i];
        for (; at > 0 && cell[elem[at - 1]] > cell[now]; at--)
            elem[at] = elem[at - 1];
        elem[at] = now;
    }
}

static unda_status list_elements(struct sem_tiles *t)
{
    TRY(array_own(&t->owned, &t->first_elem, t->num_tile + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->elem, t->num_elem, sizeof(int32_t), "tiles"));
    for (int64_t row = 0; row < t->num_elem; row++)
        t->first_elem[t->tile[row] + 1]++;
    for (int64_t i = 0; i < t->num_tile; i++)
        t->first_elem[i + 1] += t->first_elem[i];
    for (int64_t row = t->num_elem - 1; row >= 0; row--) /* first_elem ends where the tile began */
        t->elem[--t->first_elem[t->tile[row] + 1]] = (int32_t)row;
    for (int64_t i = 0; i < t->num_tile; i++)
        t->first_elem[i] = t->first_elem[i + 1];
    t->first_elem[t->num_tile] = (int32_t)t->num_elem;
    for (int64_t i = 0; i < t->num_tile; i++)
        sort_by_cell(t->elem + t->first_elem[i], t->first_elem[i + 1] - t->first_elem[i], t->cell);
    return UNDA_OK;
}

/* Entries by shared node, ascending: counted, then put in their places by any thread, then sorted. */
static unda_status list_sums(struct sem_tiles *t, int threads)
{
    int64_t num = t->num_node - t->num_inner;
    TRY(array_own(&t->owned, &t->first_sum, num + 1, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->sum, t->num_entry, sizeof(int32_t), "tiles"));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < t->num_entry; i++)
        __atomic_add_fetch(&t->first_sum[t->entry[i] + 1], 1, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < num; i++)
        t->first_sum[i + 1] += t->first_sum[i];
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < t->num_entry; i++)
        t->sum[__atomic_sub_fetch(&t->first_sum[t->entry[i] + 1], 1, __ATOMIC_RELAXED)] = (int32_t)i;
    memmove(t->first_sum, t->first_sum + 1, sizeof *t->first_sum * (size_t)num);
    t->first_sum[num] = (int32_t)t->num_entry;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < num; i++)
        for (int32_t k = t->first_sum[i] + 1; k < t->first_sum[i + 1]; k++)
            for (int32_t j = k; j > t->first_sum[i] && t->sum[j - 1] > t->sum[j]; j--)
                SWAP(t->sum[j - 1], t->sum[j]);
    return UNDA_OK;
}

static unda_status make(struct making *m)
{
    TRY(tile_making_new(m));
    TRY(tile_number(m));
    return tile_draw(m);
}

unda_status sem_tiles_new(const struct sem *sem, int region, int cells, bool colored, int threads,
                          struct sem_tiles *t)
{
    struct making m = {sem, &sem->region[region], t, .num = sem->space.num_node};
    t->cells = cells;
    t->num_elem = sem->region[region].num_elem;
    fork_mark();
    m.threads = parallel_worth(threads, t->num_elem * m.num, LEAST_COUPLED);
    TRY(array_own(&t->owned, &t->tile, t->num_elem, sizeof(int32_t), "tiles"));
    TRY(array_own(&t->owned, &t->cell, t->num_elem, sizeof(uint8_t), "tiles"));
    TRY(sem_cluster(sem, region, t));
    TRY(list_elements(t));
    unda_status status = make(&m);
    arrays_free(&m.owned);
    TRY(status);
    TRY(list_sums(t, m.threads));
    return colored ? tile_color(t) : tile_one_color(t);
}

void sem_tiles_free(struct sem_tiles *t)
{
    array_free(t->words);
    arrays_free(&t->owned);
    *t = (struct sem_tiles){0};
}
