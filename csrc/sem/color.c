/* color.c: the order of assembly. A task is a run of elements along the space's order, which one thread adds
 * to the nodes one after the other; tasks of a colour share no node and run side by side, colours one after
 * the other. So sums at shared nodes have a fixed order, whatever the number of threads, and most of what a
 * task adds stays in its processor's cache. Greedy colouring: each task takes the first colour that none of
 * the tasks before it with which it shares a node has. */
#include "walk.h"

#include "../base/parallel.h"

/* For a part of the tasks the ones before each with which it shares nodes. */
struct before {
    OWN_LINE int64_t begin;
    int64_t end; /* tasks */
    int64_t num, room;
    int32_t *list; /* [num], task after task */
};

static unda_status add_before(struct before *b, int64_t first, int32_t task)
{
    for (int64_t i = first; i < b->num; i++)
        if (b->list[i] == task)
            return UNDA_OK;
    if (b->num == b->room) {
        TRY(array_grow(&b->list, b->num, 2 * b->room + 64, sizeof *b->list, "colours"));
        b->room = 2 * b->room + 64;
    }
    b->list[b->num++] = task;
    return UNDA_OK;
}

/* Elements that share a node share a corner. */
static unda_status list_task(const struct sem_walker *w, const struct sem_region *r, int64_t task,
                             struct sem_spots *spots, struct before *b)
{
    int n = w->sem->space.element->degree + 1;
    int64_t end = (task + 1) * TASK_ELEM < r->num_elem ? (task + 1) * TASK_ELEM : r->num_elem;
    int64_t first = b->num;
    for (int64_t row = task * TASK_ELEM; row < end; row++)
        for (int corner = 0; corner < 8; corner++) {
            int node = (n - 1) * (corner % 2 + n * (corner / 2 % 2 + n * (corner / 4)));
            int64_t spot = sem_spot(r->elem[row], node);
            TRY(sem_walk(w, spot, spots, NULL));
            for (int64_t i = 0; i < spots->num; i++) {
                int32_t other = w->sem->row[sem_spot_elem(spots->list[i])] / TASK_ELEM;
                if (other < task && sem_is_kin(w, spots->list[i], spot))
                    TRY(add_before(b, first, other));
            }
        }
    return UNDA_OK;
}

static unda_status list_part(const struct sem_walker *w, const struct sem_region *r, int32_t *num_before,
                             struct before *b)
{
    struct sem_spots spots = {0};
    unda_status status = UNDA_OK;
    for (int64_t task = b->begin; task < b->end && status == UNDA_OK; task++) {
        int64_t before = b->num;
        status = list_task(w, r, task, &spots, b);
        num_before[task] = (int32_t)(b->num - before);
    }
    array_free(spots.list);
    return status;
}

static unda_status take_colors(struct sem_region *r, const struct before *parts, int num_part,
                               const int32_t *num_before, int8_t *color)
{
    for (int part = 0; part < num_part; part++) {
        const int32_t *list = parts[part].list;
        for (int64_t task = parts[part].begin; task < parts[part].end; list += num_before[task++]) {
            uint64_t taken = 0;
            for (int32_t i = 0; i < num_before[task]; i++)
                taken |= (uint64_t)1 << color[list[i]];
            if (~taken == 0)
                FAIL(UNDA_ERR_MESH,
                     "more than %d runs of cells meet in one, expected fewer: vertices with very many cells",
                     MOST_COLOR);
            color[task] = (int8_t)__builtin_ctzll(~taken);
            r->num_color = color[task] >= r->num_color ? color[task] + 1 : r->num_color;
        }
    }
    return UNDA_OK;
}

static void sort_by_color(struct sem_region *r, const int8_t *color)
{
    int32_t num = 0;
    for (int32_t c = 0; c < r->num_color; c++) {
        r->color_task[c] = num;
        for (int64_t task = 0; task < r->num_task; task++)
            if (color[task] == c)
                r->task[num++] = (int32_t)task;
    }
    r->color_task[r->num_color] = num;
}

static unda_status color_parts(const struct sem_walker *w, struct sem_region *r, int threads,
                               struct before *parts)
{
    SCRATCH int32_t *num_before = NULL;
    SCRATCH int8_t *color = NULL;
    TRY(array_try(&num_before, r->num_task, sizeof *num_before, "colours"));
    TRY(array_try(&color, r->num_task, sizeof *color, "colours"));
    bool bad = false;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(|| : bad)
    for (int part = 0; part < threads; part++) {
        parts[part].begin = r->num_task * part / threads;
        parts[part].end = r->num_task * (part + 1) / threads;
        bad = list_part(w, r, num_before, &parts[part]) != UNDA_OK || bad;
    }
    if (bad)
        FAIL(UNDA_ERR_MEMORY, "no memory for colours of %lld runs of cells", (long long)r->num_task);
    TRY(take_colors(r, parts, threads, num_before, color));
    sort_by_color(r, color);
    return UNDA_OK;
}

unda_status sem_color(struct sem *sem, int region, int threads)
{
    struct sem_region *r = &sem->region[region];
    SCRATCH struct sem_walker *w = NULL;
    SCRATCH struct before *parts = NULL;
    r->num_task = (r->num_elem + TASK_ELEM - 1) / TASK_ELEM;
    threads = parallel_worth(threads, r->num_elem * sem->space.num_node, LEAST_SCALAR);
    TRY(array_try(&w, 1, sizeof *w, "colours"));
    TRY(array_try(&parts, threads, sizeof *parts, "colours"));
    TRY(array_own(&sem->owned, &r->task, r->num_task, sizeof *r->task, "tasks"));
    TRY(array_own(&sem->owned, &r->color_task, MOST_COLOR + 1, sizeof *r->color_task, "tasks"));
    sem_walker_fill(w, sem, sem->mesh);
    unda_status status = color_parts(w, r, threads, parts);
    for (int part = 0; part < threads; part++)
        array_free(parts[part].list);
    return status;
}
